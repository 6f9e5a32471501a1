"""The file of a model, with weights that were trained: in their dtypes, and in their bits."""
import numpy as np

from ..base import MXNetError

__all__ = ["written"]

_MADE = ("_parameters", "_transpose")   # behind a name: floats of packed numbers, another order


def written(package, source, within, parameters):
    """The model of a file, as the package `onnx` has it, with other weights.

    Parameters
    ----------
    package : module
        ``onnx``.
    source : str
        The path; None where the model was loaded from bytes.
    within : tuple
        Of a subgraph: its name and node, behind those that it lies in.
    parameters : dict of str to Parameter
        By the names of `to_block`.

    Raises
    ------
    MXNetError
        for a model that was loaded from bytes, and for trained parameters that are no weights of
        the file.
    """
    if source is None:
        raise MXNetError("[onnx.export_model] a block of a model that was loaded from bytes; accepted: models of files")
    made = package.load(source)
    graphs = _graphs_to(made.graph, within)
    for name, parameter in parameters.items():
        found, trained = _find(graphs, name), parameter.grad_req != "null"
        if found is None:
            if trained:
                raise MXNetError(f"[onnx.export_model] parameter {name} is no weight of {source}, but made of some; accepted: "
                                 "parameters that are one weight each")
            continue
        tensor, suffix = found
        values = _as_stored(package, tensor, parameter.data().asnumpy(), suffix, graphs)
        if list(values.shape) == list(tensor.dims):
            tensor.CopyFrom(package.numpy_helper.from_array(values, tensor.name))
        elif trained:
            raise MXNetError(f"[onnx.export_model] weight {tensor.name} has shape {tuple(tensor.dims)} in the file, and is trained in the "
                             f"shape {values.shape}; accepted: weights that are trained as they are in the file, or transposed")
    return made


def _graphs_to(graph, within):
    """The graph at that place, behind those that it lies in, the innermost first."""
    graphs = [graph]
    for name, node in within:
        graph = next(inner for n, inner in _held(graph, name) if node is None or node in (n.name, *n.output[:1]))
        graphs.insert(0, graph)
    return graphs


def _nodes(graph):
    """Nodes, and those of the graphs that they hold."""
    for node in graph.node:
        yield node
        for _, inner in _graphs_of(node):
            yield from _nodes(inner)


def _graphs_of(node):
    """The names of the graphs that a node holds, and these."""
    return [(attribute.name, attribute.g) for attribute in node.attribute if attribute.HasField("g")]


def _held(graph, name):
    """Nodes that hold a graph of that name, and it."""
    return ((node, inner) for node in _nodes(graph) for called, inner in _graphs_of(node) if called == name)


def _tensors(graph):
    """Initializers of a graph, and of those that its nodes hold."""
    yield from graph.initializer
    for node in _nodes(graph):
        for _, inner in _graphs_of(node):
            yield from inner.initializer


def _find(graphs, name):
    """The initializer that a parameter was made of, and what its name has behind it."""
    for suffix in ("", *_MADE):
        if name.endswith(suffix):
            wanted = name[:len(name) - len(suffix)]
            for graph in graphs:
                for tensor in _tensors(graph):
                    if tensor.name == wanted:
                        return tensor, suffix
    return None


def _as_stored(package, tensor, values, suffix, graphs):
    """Floats as a tensor of the file has them."""
    proto = package.TensorProto
    if tensor.data_type not in (proto.FLOAT, proto.DOUBLE, proto.FLOAT16, proto.BFLOAT16):
        return _packed(package, tensor, values, graphs) if values.dtype.kind == "f" else values
    if suffix == "_transpose" and values.ndim == 2:
        values = values.T
    return values.astype(package.helper.tensor_dtype_to_np_dtype(tensor.data_type))


# ---- numbers of few bits

def _packed(package, tensor, floats, graphs):
    """Floats as the numbers of few bits that their node reads, in its steps."""
    for graph in graphs:
        for node in _nodes(graph):
            if tensor.name in node.input and node.op_type in _FORMS and node.domain == "com.microsoft":
                form = _FORMS[node.op_type](package, node, list(node.input).index(tensor.name), graphs)
                return form.packed(floats).reshape(tuple(tensor.dims))
    raise MXNetError(f"[onnx.export_model] weight {tensor.name} is trained as floats and packed in the file; accepted: weights of "
                     f"{', '.join(_FORMS)}, and weights that are stored as they are trained")


class _Steps:
    """Scales and zero points of a packed weight, one for each block of a row.

    `bits` of each number, the low ones first in a byte; `zeros`: None, or in numbers.
    """

    def __init__(self, package, node, graphs, bits, block):
        self._package, self._node, self._graphs = package, node, graphs
        self.bits, self.block, self.zeros, self.groups = bits, block, None, None

    def array(self, i):
        """The constant in input i of the node; None where it is left out."""
        name = self._node.input[i] if i < len(self._node.input) else ""
        for graph in self._graphs:
            for tensor in _tensors(graph):
                if name and tensor.name == name:
                    return self._package.numpy_helper.to_array(tensor)
        if not name:
            return None
        raise MXNetError(f"[onnx.export_model] input {name} of the node {self._node.name or self._node.output[0]} is computed; accepted: "
                         "scales and zero points that are constants of the file")

    def unpacked(self, array, rows, count):
        """`count` numbers of each row."""
        parts = [(array.reshape(rows, -1, 1) >> (self.bits * i)) & ((1 << self.bits) - 1) for i in range(8 // self.bits)]
        return np.concatenate(parts, axis=2).reshape(rows, -1)[:, :count]

    def packed(self, floats):
        """The bytes of floats (..., numbers of a row)."""
        size = floats.shape[-1]
        blocks = -(-size // self.block)
        scales = self.scales.astype(np.float32).reshape(*floats.shape[:-1], blocks)
        zeros = np.float32(1 << (self.bits - 1)) if self.zeros is None else self.zeros.astype(np.float32).reshape(scales.shape)
        place = self.groups if self.groups is not None else np.arange(size) // self.block
        steps = np.take(scales, place, -1)
        offsets = zeros if self.zeros is None else np.take(zeros, place, -1)
        whole = np.rint(np.divide(floats, steps, out=np.zeros_like(floats, dtype=np.float32), where=steps != 0)) + offsets
        whole = np.clip(whole, 0, (1 << self.bits) - 1).astype(np.uint8)
        whole = np.concatenate([whole, np.zeros((*whole.shape[:-1], blocks * self.block - size), np.uint8)], -1)
        each = 8 // self.bits
        return sum(whole[..., i::each] << (self.bits * i) for i in range(each)).astype(np.uint8)


def _attributes(package, node):
    return {a.name: package.helper.get_attribute_value(a) for a in node.attribute}


class _NBits(_Steps):
    """MatMulNBits: weight, scales, zeros, the block of each column."""

    def __init__(self, package, node, _, graphs):
        said = _attributes(package, node)
        super().__init__(package, node, graphs, said.get("bits", 4), said["block_size"])
        self.scales, zeros, self.groups = self.array(2), self.array(3), self.array(4)
        rows, blocks = said["N"], -(-said["K"] // self.block)
        if self.groups is not None:
            self.groups = self.groups[:said["K"]]
        if zeros is not None:
            self.zeros = zeros if zeros.dtype.kind == "f" else self.unpacked(zeros, rows, blocks)


class _Experts(_Steps):
    """QMoE: weight, scales and bias of each product, and zeros of all behind them."""

    def __init__(self, package, node, at, graphs):
        said = _attributes(package, node)
        bits, block = said.get("expert_weight_bits", 4), said.get("block_size", 0)
        super().__init__(package, node, graphs, bits, block)
        packed = self.array(at)
        self.scales, zeros = self.array(at + 1), self.array(10 + (at + 1) // 3)
        experts, rows = packed.shape[:2]
        self.block = block or packed.shape[2] * 8 // bits
        blocks = self.scales.size // (experts * rows)
        if zeros is not None:
            apart = experts * rows if block else experts
            self.zeros = self.unpacked(zeros, apart, experts * rows * blocks // apart)


_FORMS = {"MatMulNBits": _NBits, "QMoE": _Experts}
