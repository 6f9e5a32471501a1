"""Shapes and dtypes of all results of a graph.

A dimension that stays free is inferred for two sizes of it. So a dimension of a result is a tuple
of numbers: its size with the sizes that were given, then its size with each free one changed. It
depends on none where these are equal, and two dimensions that have the same tuple are the same
function of the free ones.
"""
import numpy as np

from ... import util
from ...base import MXNetError

__all__ = ["Inferred", "Value", "infer", "infer_inner", "is_static"]

_FACTOR = 3     # so that a reshape that splits a free dimension stays possible


class Value:
    """What is known of a result.

    Attributes: ``name`` in the ONNX graph, ``dims`` (tuple of dimensions, each a tuple of sizes;
    None where it depends on values), ``dtype``, ``constant`` (NumPy array, or None where it is not
    known before the model runs), made of ``array``, an NDArray. ``quantized`` is what
    `quantized.py` notes of results of 8-bit operators.
    """

    __slots__ = ("name", "dims", "dtype", "array", "quantized")

    def __init__(self, name, dims, dtype):
        self.name, self.dims, self.dtype = name, dims, dtype
        self.array = self.quantized = None

    @property
    def constant(self):
        """The values, if they are known now."""
        return None if self.array is None else self.array.asnumpy()

    @property
    def shape(self):
        """The shape with the sizes that were given."""
        return None if self.dims is None else tuple(d[0] for d in self.dims)


def is_static(dim):
    """Whether a dimension depends on no free one."""
    return all(size == dim[0] for size in dim)


def _infer_once(internals, shapes, partial):
    function = internals.infer_shape_partial if partial else internals.infer_shape
    try:
        return function(**shapes)[1]
    except MXNetError as error:
        raise MXNetError(f"[onnx.export_model] shapes do not fit together: {error}") from error


def _changed(shapes, free, label):
    """`shapes` with the free dimension `label` larger."""
    return {name: tuple(size * _FACTOR if free.get(name, {}).get(axis) == label else size
                        for axis, size in enumerate(shape)) for name, shape in shapes.items()}


def _infer_shapes(internals, shapes, free, partial):
    results = [_infer_once(internals, shapes, partial)]
    if results[0] is None:
        _raise_unknown(internals, shapes)
    labels = sorted({label for axes in free.values() for label in axes.values()})
    for label in labels:
        try:
            changed = _infer_once(internals, _changed(shapes, free, label), partial)
        except MXNetError as error:
            where = [f"{n!r}, axis {a}" for n, axes in free.items()
                     for a, found in axes.items() if found == label]
            raise MXNetError(f"[onnx.export_model] dimension {label!r} of {'; '.join(where)} "
                             "cannot be free, because the graph has one size of it: "
                             f"{error}") from error
        results.append(changed)
    return results


def _raise_unknown(internals, shapes):
    arguments = internals.infer_shape_partial(**shapes)[0]
    unknown = [name for name, shape in zip(internals.list_arguments(), arguments)
               if not shape or any(size <= 0 for size in shape)]
    raise MXNetError("[onnx.export_model] the shapes of " + ", ".join(unknown) + " are not known; "
                     "accepted: in_shapes with a shape for each input")


class Inferred:
    """What is known of all results of a graph.

    Attributes: ``nodes`` of the graph; ``found``, {(index of node, output): (dims, dtype)} of all
    results that can be seen; ``variants``, how many inferences there were; ``numpy``, whether
    shapes are NumPy's.
    """

    def __init__(self, internals, results, dtypes, numpy_semantics):
        self.nodes, self.variants, self.numpy = internals.nodes(), len(results), numpy_semantics
        types = _infer_types(internals, dtypes)
        self.found = {}
        for i, (node, output) in enumerate(self.nodes.heads):
            dims = _dims([result[i] for result in results], numpy_semantics)
            self.found[node.index, output] = dims, types[i]


def infer(symbol, shapes, dtypes, free):
    """What can be known of all results of `symbol` (:class:`Inferred`).

    Parameters
    ----------
    shapes, dtypes : dict
        Of inputs and parameters, by name.
    free : dict of str to dict of int to str
        Axes of inputs that stay free, with the label of each.
    """
    internals = symbol.get_internals()
    # Where an array has the shape (), that is no unknown shape.
    numpy_semantics = util.is_np_shape() or not all(shapes.values()) or any(node.op.startswith("_np")
                                                      for node in internals.nodes())
    with util.np_shape(numpy_semantics):
        results = _infer_shapes(internals, shapes, free, internals.has_dynamic_shape())
    return Inferred(internals, results, dtypes, numpy_semantics)


def infer_inner(symbol, values, outer):
    """The same of a graph that a node holds, whose variables are `values`, by name. `outer` is
    what was inferred of the graph around it."""
    internals = symbol.get_internals()
    partial = internals.has_dynamic_shape() or any(v.dims is None for v in values.values())
    with util.np_shape(outer.numpy):
        results = [_infer_once(internals, {name: tuple(d[i] for d in v.dims)
                                           for name, v in values.items() if v.dims is not None},
                               partial) for i in range(outer.variants)]
    return Inferred(internals, results, {name: v.dtype for name, v in values.items()}, outer.numpy)


def _infer_types(internals, dtypes):
    known = {name: dtype for name, dtype in dtypes.items()}
    types = internals.infer_type_partial(**known)[1]
    return [np.float32 if dtype is None else dtype for dtype in types]


def _dims(variants, numpy_semantics):
    """The dimensions of a result from its shape in each inference."""
    lowest = 0 if numpy_semantics else 1
    for shape in variants:
        if shape is None or any(size < lowest for size in shape):
            return None
        if not shape and not numpy_semantics:
            return None
    if len({len(shape) for shape in variants}) > 1:
        return None
    return tuple(zip(*variants))
