"""The nodes of a graph, as :meth:`Symbol.nodes` gives them."""
import ctypes
import functools
import re

import numpy as np

from .._operators.functions import op_info
from ..base import SymbolHandle, _LIB, check_call, py_str

__all__ = ["Node", "Nodes", "nodes_of"]

_OPERATOR, _ARGUMENT, _AUXILIARY = range(3)    # enum MXNodeKind


class Node:
    """One node of a graph: a variable, or a use of an operator.

    Attributes
    ----------
    index : int
        Its place in the graph.
    name : str
    op : str
        Name of the operator; "null" for a variable, as in symbol files.
    attrs : dict of str to str
        What it was given, as texts: the operator's parameters, and hidden attributes such as
        ``__lr_mult__``.
    inputs : tuple of (Node, int)
        What it reads: nodes, and which output of each.
    outputs : tuple of str
        Names of all outputs, of those too that a symbol of the node does not show.
    subgraphs : tuple of Symbol
        The graphs that an operator such as ``_foreach`` holds.
    is_auxiliary : bool
        Whether it is a variable that an operator writes.
    """

    __slots__ = ("index", "name", "op", "attrs", "inputs", "outputs", "subgraphs", "is_auxiliary", "_params")

    def __init__(self, index, name, op, attrs, inputs, outputs, subgraphs, is_auxiliary):
        self.index, self.name, self.op, self.attrs, self.inputs = index, name, op, attrs, inputs
        self.outputs, self.subgraphs, self.is_auxiliary = outputs, subgraphs, is_auxiliary
        self._params = None

    def __repr__(self):
        return f"<Node {self.name}: {self.op}>"

    @property
    def is_variable(self):
        """Whether the node is a variable."""
        return self.op == "null"

    @property
    def params(self):
        """The operator's parameters as numbers, bools, texts, None and tuples of them; those that
        were not given have their defaults.

        >>> net = mx.sym.Convolution(mx.sym.var('x'), kernel=(3, 3), num_filter=8)
        >>> params = net.nodes()[-1].params
        >>> params['kernel'], params['num_filter'], params['no_bias']
        ((3, 3), 8, False)
        """
        if self._params is None:
            self._params = {} if self.is_variable else _values(self.op, self.attrs)
        return self._params


class Nodes(tuple):
    """The nodes of a graph, each behind those that it reads.

    `heads` has the outputs of the symbol: (node, which output of it).
    """

    heads = ()


# ---- values of parameters

_TYPE_TEXT = re.compile(r"(?s)(.*?)(?:,\s*(?:required|optional,\s*default=(.*)))?")
_INNER_TUPLE = re.compile(r"[\[(]([^\[\]()]*)[\])]")


def _value(kind, text):
    """The value of a parameter of the type `kind` that `text` stands for."""
    if kind.startswith(("string", "ptr")) or not text:
        return text
    if text == "None":
        return None
    if kind.startswith("{"):
        return text
    if kind.startswith("boolean"):
        return text in ("True", "true", "1")
    if kind.startswith("tuple of <Shape"):
        return tuple(_numbers(kind, inner) for inner in _INNER_TUPLE.findall(text[1:-1]))
    if text[0] in "([" or kind.startswith(("Shape", "tuple")):
        return _numbers(kind, text.strip("()[]"))
    return _number(kind, text)


def _numbers(kind, text):
    parts = (part.strip() for part in text.split(","))
    return tuple(_number(kind, part) for part in parts if part)


def _number(kind, text):
    if text == "None":
        return None
    for read in (functools.partial(_float, kind),) if "float" in kind or "double" in kind else (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text    # of a type that this does not know


def _float(kind, text):
    """A number that is kept in 32 bits is the shortest that rounds to it: 0.9 for 0.899999976."""
    value = float(text)
    return float(str(np.float32(value))) if "float" in kind and abs(value) < 3e38 else value


@functools.lru_cache(None)
def _parameters(op):
    """{name: (type, default or None)} of an operator's parameters."""
    found = {}
    for name, text, _ in op_info(op).params:
        kind, default = _TYPE_TEXT.fullmatch(text).groups()
        if default is not None and len(default) > 1 and default[0] == default[-1] == "'":
            default = default[1:-1]
        found[name] = kind, default
    return found


def _values(op, attrs):
    known = _parameters(op)
    values = {name: _value(kind, attrs.get(name, default))
              for name, (kind, default) in known.items() if name in attrs or default is not None}
    # a custom operator has arguments of its own
    values.update((name, text) for name, text in attrs.items() if name not in known and not name.startswith("__"))
    return values


# ---- the call

def _texts(array, begin, end):
    found = array[begin:end]
    try:
        return tuple(map(bytes.decode, found))
    except UnicodeDecodeError:
        return tuple(map(py_str, found))


def nodes_of(symbol):
    """What :meth:`Symbol.nodes` returns."""
    count, heads_count = ctypes.c_uint(), ctypes.c_uint()
    names, operators, outputs, attrs = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(4))
    kinds, graphs = ctypes.POINTER(ctypes.c_int)(), ctypes.POINTER(SymbolHandle)()
    input_ptr, inputs, output_ptr, attr_ptr, graph_ptr, heads = (ctypes.POINTER(ctypes.c_uint)() for _ in range(6))
    check_call(_LIB.MXSymbolGetNodes(symbol.handle, *map(ctypes.byref, (
        count, names, operators, kinds, input_ptr, inputs, output_ptr, outputs, attr_ptr, attrs, graph_ptr, graphs, heads_count, heads))))
    n = count.value
    inner = [type(symbol)(SymbolHandle(graphs[i])) for i in range(graph_ptr[n])]
    names, operators, kinds = _texts(names, 0, n), _texts(operators, 0, n), kinds[:n]
    input_ptr, output_ptr, attr_ptr, graph_ptr = (begins[:n + 1] for begins in (input_ptr, output_ptr, attr_ptr, graph_ptr))
    inputs = inputs[:2 * input_ptr[n]]
    outputs, attrs = _texts(outputs, 0, output_ptr[n]), _texts(attrs, 0, 2 * attr_ptr[n])
    nodes = []
    for i in range(n):
        given = slice(2 * attr_ptr[i], 2 * attr_ptr[i + 1], 2), slice(2 * attr_ptr[i] + 1, 2 * attr_ptr[i + 1], 2)
        read = inputs[2 * input_ptr[i]:2 * input_ptr[i + 1]]
        nodes.append(Node(i, names[i], operators[i], dict(zip(attrs[given[0]], attrs[given[1]])),
                          tuple(zip(map(nodes.__getitem__, read[::2]), read[1::2])), outputs[output_ptr[i]:output_ptr[i + 1]],
                          tuple(inner[graph_ptr[i]:graph_ptr[i + 1]]), kinds[i] == _AUXILIARY))
    result = Nodes(nodes)
    result.heads = tuple((nodes[heads[2 * i]], heads[2 * i + 1]) for i in range(heads_count.value))
    return result


class _SymbolNodes:
    """The part of :class:`Symbol` that lists its nodes."""

    __slots__ = ()

    def nodes(self):
        """The nodes of the graph: a tuple of objects, each behind those that it reads.

        A node has `name`, `op` ("null" for a variable), `params` (the operator's parameters as
        Python values, with defaults), `attrs` (what was given, as texts), `inputs` (pairs of a node
        and which of its outputs), `outputs` (their names), `subgraphs`, `is_variable`,
        `is_auxiliary` and its place `index`. The tuple's `heads` are the outputs of the symbol, as
        pairs like the inputs.

        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
        >>> [(node.name, node.op) for node in net.nodes()]
        [('x', 'null'), ('fc_weight', 'null'), ('fc_bias', 'null'), ('fc', 'FullyConnected')]
        >>> layer = net.nodes()[-1]
        >>> layer.params['num_hidden'], layer.params['no_bias'], layer.attrs
        (3, False, {'num_hidden': '3'})
        >>> [(source.name, output) for source, output in layer.inputs]
        [('x', 0), ('fc_weight', 0), ('fc_bias', 0)]
        """
        return nodes_of(self)

    def has_dynamic_shape(self):
        """Does an operator in it have results whose shape depends on values?

        >>> x = mx.sym.var('x')
        >>> mx.sym.contrib.boolean_mask(x, x).has_dynamic_shape(), mx.sym.exp(x).has_dynamic_shape()
        (True, False)
        """
        found = ctypes.c_bool()
        check_call(_LIB.MXCheckDynamicShapeOp(self.handle, ctypes.byref(found)))
        return found.value
