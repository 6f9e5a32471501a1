"""The ONNX graph that is being made: nodes, and constants, each under a name of its own."""
import copy
import re

import numpy as np

from .package import onnx, tensor_type

__all__ = ["Graph", "all_nodes", "graphs_of", "identifier"]


def _bfloat16_bits(array):
    """float32 numbers as those 16 bits that are nearest, ties to even."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), (bits >> 16) | 0x40, rounded).astype(np.uint16)


class Graph:
    """Nodes and constants of an ONNX graph.

    Parameters
    ----------
    opset : int
        Version of the operators.
    names : iterable of str
        Names that are taken: those of inputs, outputs and parameters.
    """

    def __init__(self, opset, names=()):
        self.opset = opset
        self.nodes = []
        self.constants = {}        # name: TensorProto
        self.arrays = {}           # name: NDArray that becomes a constant if a node reads it
        self.domains = set()
        self._names = set(names)
        self._by_value = {}        # so that equal small constants are one

    def inside(self):
        """A graph for a node of this one to hold: it has nodes of its own, and all else is
        theirs in common."""
        inner = copy.copy(self)
        inner.nodes = []
        return inner

    def unique(self, hint):
        """A name that is not taken, like `hint`."""
        name, number = hint, 0
        while name in self._names:
            number += 1
            name = f"{hint}_{number}"
        self._names.add(name)
        return name

    def add(self, kind, inputs, hint, outputs=1, domain="", attrs=None):
        """A node; returns the list of its results' names. None among `inputs` is an input that is
        left out."""
        inputs = [name or "" for name in inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        made = [self.unique(f"{hint}_{kind.lower()}" + (str(i) if outputs > 1 else ""))
                for i in range(outputs)]
        attrs = {key: value for key, value in (attrs or {}).items() if value is not None}
        node = onnx().helper.make_node(kind, inputs, made, name=made[0], domain=domain, **attrs)
        if domain:
            self.domains.add(domain)
        self.nodes.append(node)
        return made

    def constant(self, values, dtype, hint):
        """The name of a constant; equal ones of up to 64 numbers are the same."""
        array = np.asarray(values, dtype=np.float32 if tensor_type(dtype) ==
                           onnx().TensorProto.BFLOAT16 else dtype)
        key = None
        if array.size <= 64:
            key = tensor_type(dtype), array.shape, array.tobytes()
            if key in self._by_value:
                return self._by_value[key]
        name = self.unique(hint)
        self.add_tensor(name, array, dtype)
        if key is not None:
            self._by_value[key] = name
        return name

    def add_tensor(self, name, array, dtype):
        """A constant of the name `name`; `array` has float32 for bfloat16."""
        kind = tensor_type(dtype)
        if kind == onnx().TensorProto.BFLOAT16:
            array = _bfloat16_bits(np.asarray(array))
        array = np.asarray(array)
        tensor = onnx().TensorProto(name=name, data_type=kind, dims=array.shape)
        tensor.raw_data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        self.constants[name] = tensor

    def rename(self, start, old, new):
        """Give a result that was made behind node `start` the name `new`, if it is free. Returns
        the name that it has then."""
        if new in self._names and new != old:
            return old
        for node in self.nodes[start:]:
            if old in node.output:
                break
        else:
            return old
        for node in self.nodes[start:]:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name == old:
                        names[i] = new
            if node.name == old:
                node.name = new
        self._names.add(new)
        return new

    def prune(self, outputs):
        """Drop nodes that no output needs. Returns the names that are read."""
        needed, kept = set(outputs), []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                needed.update(_read(node))
                kept.append(node)
        self.nodes = kept[::-1]
        return needed


def graphs_of(node):
    """The graphs that an ONNX node holds."""
    return [a.g for a in node.attribute if a.HasField("g")]


def all_nodes(nodes):
    """ONNX nodes, and those of the graphs that they hold."""
    for node in nodes:
        yield node
        for graph in graphs_of(node):
            yield from all_nodes(graph.node)


def _read(node):
    """What a node reads, and its inner graphs."""
    names = {name for inner in all_nodes([node]) for name in inner.input}
    return names.union(value.name for inner in all_nodes([node]) for graph in graphs_of(inner)
                       for value in graph.output)


def identifier(name):
    """A name of a node without what some readers refuse."""
    return re.sub(r"\s+", "_", name) or "node"
