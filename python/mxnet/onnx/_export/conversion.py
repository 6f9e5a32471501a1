"""What a converter sees of one node, and the nodes that it writes."""
import numpy as np

from ... import _dtypes
from ...base import MXNetError
from .bodies import Body
from .package import onnx
from .shapes import is_static
from .writing import Writer

__all__ = ["Conversion", "Dimensions"]


class Dimensions:
    """Sizes of free dimensions, as nodes of the ONNX graph: made once each."""

    def __init__(self, graph, sources):
        self._graph, self._sources = graph, sources
        self._shapes, self._made = {}, {}

    def inside(self, graph):
        """The same in a graph that a node of this one holds: what is made here serves there, and
        not the other way round."""
        inner = Dimensions(graph, self._sources)
        inner._shapes, inner._made = dict(self._shapes), dict(self._made)
        return inner

    def size(self, dim, nearby):
        """The name of an int64 tensor of one number that has the size `dim`, computed from a shape
        of `nearby` or of the model's inputs; None where it is no simple function of these."""
        if dim in self._made:
            return self._made[dim]
        sources = [v for v in [*nearby, *self._sources] if v is not None and v.dims is not None]
        name = self._alone(dim, sources) or self._product(dim, sources)
        if name is not None:
            self._made[dim] = name
        return name

    def _alone(self, dim, sources):
        """A size that is one of theirs, a multiple or a part of it, or a fixed difference away."""
        places = [(v, axis, d) for v in sources for axis, d in enumerate(v.dims)
                  if not is_static(d)]
        for value, axis, found in places:
            if found == dim:
                return self._gather(value, axis)
        for value, axis, found in places:
            for kind, number in self._steps(found, dim):
                return self._add(kind, self._gather(value, axis), number)
        return None

    @staticmethod
    def _steps(found, dim):
        for kind, top, bottom in (("Mul", dim, found), ("Div", found, dim)):
            if all(b and t % b == 0 and t // b == top[0] // bottom[0] for t, b in zip(top, bottom)):
                yield kind, top[0] // bottom[0]
        if all(t - f == dim[0] - found[0] for t, f in zip(dim, found)):
            yield "Add", dim[0] - found[0]

    def _product(self, dim, sources):
        """A size that is a product of two of theirs, and of a number."""
        places = {d: (v, axis) for v in reversed(sources) for axis, d in enumerate(v.dims)
                  if not is_static(d)}
        for first in places:
            for second in places:
                both = tuple(a * b for a, b in zip(first, second))
                if all(b and d % b == 0 and d // b == dim[0] // both[0]
                       for d, b in zip(dim, both)):
                    name = self._graph.add("Mul", [self._gather(*places[first]),
                                                   self._gather(*places[second])], "size")[0]
                    return self._add("Mul", name, dim[0] // both[0])
        return None

    def _add(self, kind, name, number):
        if kind != "Add" and number == 1:
            return name
        return self._graph.add(kind, [name, self._graph.constant([number], np.int64, "number")],
                               "size")[0]

    def _gather(self, value, axis):
        if value.name not in self._shapes:
            self._shapes[value.name] = self._graph.add("Shape", [value.name], value.name)[0]
        index = self._graph.constant([axis], np.int64, "number")
        return self._graph.add("Gather", [self._shapes[value.name], index], "size")[0]


class Conversion(Writer):
    """One node of the symbol.

    Attributes
    ----------
    name, op : str
    params : dict
        The operator's parameters, with defaults.
    inputs, outputs : list of Value
        What is known of what it reads and of its results. ``c[i]`` is the ONNX name of input i.
    opset : int
    subgraphs : tuple of Symbol
        Graphs that the node holds.
    """

    def __init__(self, graph, dimensions, node, inputs, outputs, inner=None):
        self._graph, self._dimensions, self._node = graph, dimensions, node
        self.name, self.op_name, self.params = node.name, node.op, node.params
        self.inputs, self.outputs, self.opset = inputs, outputs, graph.opset
        self.subgraphs, self._inner = node.subgraphs, inner

    def __getitem__(self, i):
        return self.inputs[i].name

    def __len__(self):
        return len(self.inputs)

    # ---- what is known

    def dims(self, i=0):
        """Dimensions of input i; an error where they depend on values."""
        return self.dims_of(self.inputs[i])

    def out_dims(self, i=0):
        """Dimensions of output i."""
        return self.dims_of(self.outputs[i])

    def dims_of(self, value):
        """Dimensions of a value; an error where they depend on values."""
        if value.dims is None:
            raise self.unsupported("a shape that depends on values", "shapes that can be inferred")
        return value.dims

    def shape(self, i=0):
        """Sizes of input i, with those that were given for free dimensions."""
        return tuple(d[0] for d in self.dims(i))

    def out_shape(self, i=0):
        """Sizes of output i."""
        return tuple(d[0] for d in self.out_dims(i))

    def ndim(self, i=0):
        """Number of dimensions of input i."""
        return len(self.dims(i))

    def dtype(self, i=0):
        """Dtype of input i."""
        return self.inputs[i].dtype

    def out_dtype(self, i=0):
        """Dtype of output i."""
        return self.outputs[i].dtype

    def constant(self, i):
        """The values of input i, if they are known now; else None."""
        value = self.inputs[i].constant
        return None if value is None else np.asarray(value)

    def never_zero(self, name):
        """Whether a result is known to have no zeros."""
        tensor = self._graph.constants.get(name)
        return tensor is not None and bool(onnx().numpy_helper.to_array(tensor).all())

    def axis(self, axis, i=0):
        """An axis of input i that is not negative."""
        return axis % self.ndim(i) if axis < 0 else axis

    def is_float(self, i=0):
        """Whether input i has floating-point numbers."""
        return is_float(self.inputs[i].dtype)

    def unsupported(self, given, accepted):
        """The error of a node that ONNX has no equal for."""
        return MXNetError(f"[onnx.export_model] node {self.name!r}, operator {self.op_name}: "
                          f"{given} cannot be exported; accepted: {accepted}")

    # ---- nodes

    def op(self, kind, *inputs, outputs=1, domain="", **attrs):
        """Add an ONNX node; returns the name of its result, or a list of several."""
        made = self._graph.add(kind, inputs, self.name, outputs, domain, attrs)
        return made if outputs > 1 else made[0]

    def run(self, symbol, given):
        """The values that `symbol`, a graph that the node holds, returns for the values `given` of
        its variables: its nodes become nodes of this graph."""
        return self._inner(self._graph, self._dimensions, symbol, given)

    def body(self):
        """A new graph for an ONNX node to hold (:class:`.bodies.Body`)."""
        return Body(self, self._graph, self._dimensions, self._inner)

    def const(self, values, dtype=None):
        """A constant, of the dtype of input 0 if `dtype` is not given."""
        dtype = self.inputs[0].dtype if dtype is None else dtype
        return self._graph.constant(values, dtype, f"{self.name}_const")

    def ints(self, *values):
        """A constant of whole numbers (int64) in one dimension."""
        return self._graph.constant(list(values), np.int64, f"{self.name}_const")

    def input_as(self, i, dtype):
        """Input i in the dtype `dtype`."""
        return self.cast_from(self[i], self.dtype(i), dtype)

    # ---- shapes

    def size(self, dim):
        """A size as an int64 tensor of one number."""
        if is_static(dim):
            return self.ints(dim[0])
        name = self._dimensions.size(dim, self.inputs)
        if name is None:
            raise self.unsupported(f"a free dimension of sizes {dim}",
                                   "sizes that are multiples, parts or products of free ones")
        return name

    def sizes(self, dims):
        """A shape as an int64 tensor: a constant if it depends on no free dimension."""
        if all(map(is_static, dims)):
            return self.ints(*(d[0] for d in dims))
        return self.op("Concat", *(self.size(d) for d in dims), axis=0)

    def reshape(self, name, dims, old=None):
        """`name` in the shape `dims`, whatever free dimensions are then; `old` is its shape."""
        dims = [(d,) if isinstance(d, int) else d for d in dims]
        target = [d[0] for d in dims]
        free = [i for i, d in enumerate(dims) if not is_static(d)]
        for i in list(free):
            if len(free) > 1 and old is not None and i < len(old) and old[i] == dims[i]:
                target[i] = 0       # stays as it is
                free.remove(i)
        keeps_zero = 0 in [d[0] for d in dims]
        if keeps_zero and not free and self.opset < 14:
            return self._without_elements(name, target)
        if len(free) > 1 or (keeps_zero and free):
            return self.op("Reshape", name, self.sizes(dims),
                           allowzero=1 if keeps_zero and self.opset >= 14 else None)
        if free:
            target[free[0]] = -1
        return self.op("Reshape", name, self.ints(*target),
                       allowzero=1 if keeps_zero and self.opset >= 14 else None)

    def _without_elements(self, name, sizes):
        """`name`, which has no elements, in a shape that Reshape of old opsets takes a 0 in for
        the size that is there."""
        flat = self.op("Reshape", name, self.ints(-1))
        axes = [axis for axis in range(len(sizes)) if axis != sizes.index(0)]
        return self.op("Expand", self.unsqueeze(flat, *axes) if axes else flat, self.ints(*sizes))

    def reshape_out(self, name, i=0, source=0):
        """`name`, of the shape of input `source`, in the shape of output i."""
        return self.reshape(name, self.out_dims(i), self.inputs[source].dims)

    def expand(self, name, dims):
        """`name` repeated to the shape `dims`."""
        return self.op("Expand", name, self.sizes(dims))


def is_float(dtype):
    """Whether `dtype` is one of floating-point numbers, bfloat16 among them."""
    return _dtypes.number(dtype) in _dtypes.FLOATS
