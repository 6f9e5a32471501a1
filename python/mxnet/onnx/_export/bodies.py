"""Graphs that ONNX nodes hold: bodies of loops, branches."""
from .package import onnx, tensor_type
from .shapes import Value, is_static
from .writing import Writer

__all__ = ["Body"]


class Body(Writer):
    """A graph that an ONNX node holds. It reads names of the graphs around it, too.

    Made by :meth:`.Conversion.body`; ``input`` and ``run`` come first, then ``proto``.
    """

    def __init__(self, conversion, graph, dimensions, inner):
        self._conversion, self._outer, self._inner = conversion, graph, inner
        self._graph = graph.inside()
        self._dimensions = dimensions.inside(self._graph)
        self._inputs, self.opset = [], conversion.opset
        self.const, self.ints = conversion.const, conversion.ints

    def input(self, hint, dims, dtype):
        """A new input."""
        value = Value(self._graph.unique(hint), dims, dtype)
        self._inputs.append(value)
        return value

    def op(self, kind, *inputs, **attrs):
        """Add an ONNX node of one result to the body."""
        return self._graph.add(kind, inputs, self._conversion.name, attrs=attrs)[0]

    def run(self, symbol, given):
        """The values that `symbol` returns for the values `given`."""
        return self._inner(self._graph, self._dimensions, symbol, given)

    def proto(self, outputs):
        """The ONNX graph that returns the values `outputs`."""
        made, names = {n for node in self._graph.nodes for n in node.output}, []
        for value in outputs:
            if value.name in made and value.name not in names:
                names.append(value.name)
            else:       # of outside, an input, or the same twice
                names.append(self.op("Identity", value.name))
        self._graph.prune(names)
        helper = onnx().helper
        return helper.make_graph(
            self._graph.nodes, self._graph.unique(f"{self._conversion.name}_graph"),
            [_described(v.name, v) for v in self._inputs],
            [_described(name, v) for name, v in zip(names, outputs)])


def _described(name, value):
    sizes = None if value.dims is None else [d[0] if is_static(d) else None for d in value.dims]
    return onnx().helper.make_tensor_value_info(name, tensor_type(value.dtype), sizes)
