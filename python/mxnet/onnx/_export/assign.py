"""What puts elements in, takes them out, or replaces them."""
import numpy as np

from ... import _dtypes, ndarray as nd
from ... import util
from ..._operators.functions import ndarray_function
from .indexing import coordinates_last, whole
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = []


def _fixed(c, i=0):
    if not all(map(is_static, c.dims(i))):
        raise c.unsupported("a free size", "fixed sizes")
    return c.shape(i)


# ---- truth values say where

def _mask(c):
    """The mask with axes of size 1, where data has others."""
    first = c.params["start_axis"]
    first = c.axis(first) if first < 0 else first
    mask = c.input_as(1, np.bool_)
    behind = range(first + c.ndim(1), c.ndim())
    axes = [*range(first), *behind]
    return c.unsqueeze(mask, *axes) if axes else mask


@converts("_npi_boolean_mask_assign_scalar")
def _(c):
    return c.op("Where", _mask(c), c.const(c.params["value"], c.dtype()), c[0])


@converts("_npi_boolean_mask_assign_tensor")
def _(c):
    """A value for all places, or one for each."""
    value, first, n = c.input_as(2, c.dtype()), c.params["start_axis"], c.ndim(1)
    if c.inputs[2].dims is not None and np.prod(c.shape(2), dtype=int) == 1 and all(map(is_static, c.dims(2))):
        return c.op("Where", _mask(c), c.op("Reshape", value, c.const(np.zeros(0), np.int64)), c[0])
    order = [*range(first, first + n), *range(first), *range(first + n, c.ndim())]
    places = c.op("Transpose", c.op("NonZero", c.input_as(1, np.bool_)), perm=[1, 0])
    count = c.op("Slice", c.op("Shape", places), c.ints(0), c.ints(1))
    outer, inner = c.dims()[:first], c.dims()[first + n:]
    shape = [c.sizes(part) for part in (outer, inner) if part]
    shape.insert(1 if outer else 0, count)
    value = c.op("Expand", value, shape[0] if len(shape) == 1 else c.op("Concat", *shape, axis=0))
    value = c.transpose(value, [first, *range(first), *range(first + 1, c.ndim() - n + 1)])
    made = c.op("ScatterND", c.transpose(c[0], order), places, value)
    return c.transpose(made, list(np.argsort(order)))


# ---- positions say where

@converts("_index_axes_assign")
def _(c):
    """Values at positions along neighbouring axes, each of an array of its own."""
    axis, count = c.params["axis"], len(c) - 2
    rank = max(c.ndim(i) for i in range(2, len(c)))
    total = whole(c, 2)
    for i in range(3, len(c)):
        total = c.op("Add", total, whole(c, i))
    shape = c.op("Shape", total)
    parts = [c.unsqueeze(c.op("Expand", whole(c, i), shape), rank) for i in range(2, len(c))]
    places = parts[0] if count == 1 else c.op("Concat", *parts, axis=rank)
    outer, inner = c.dims()[:axis], c.dims()[axis + count:]
    sizes = [c.sizes(outer)] if outer else []
    sizes += [shape] if rank else []
    sizes += [c.sizes(inner)] if inner else []
    value = c.input_as(1, c.dtype())
    if sizes:
        value = c.op("Expand", value, sizes[0] if len(sizes) == 1 else c.op("Concat", *sizes, axis=0))
    value = c.transpose(value, [*range(axis, axis + rank), *range(axis),
                                *range(axis + rank, len(outer) + rank + len(inner))])
    order = [*range(axis, axis + count), *range(axis), *range(axis + count, c.ndim())]
    made = c.op("ScatterND", c.transpose(c[0], order), places, value)
    return c.transpose(made, list(np.argsort(order)))


@converts("_onnx_scatter_fold")
def _(c):
    """What :func:`mx.onnx.load` makes of ScatterND with a reduction."""
    fold = c.params["fold"]
    least = 16 if fold in ("add", "mul") else 18
    if c.opset < least:
        raise c.unsupported(f"opset {c.opset}", f"{least} and newer")
    dtype = np.float32 if _dtypes.name(c.dtype()) == "float16" else c.dtype()    # readers fold no halves
    made = c.op("ScatterND", c.input_as(0, dtype), coordinates_last(c, 1), c.input_as(2, dtype), reduction=fold)
    return c.cast_from(made, dtype, c.dtype())


@converts("fill_element_0index")
def _(c):
    """One number of each row is replaced."""
    places = c.unsqueeze(c.input_as(2, np.int64), 1)
    return c.op("ScatterElements", c[0], places, c.unsqueeze(c[1], 1), axis=1)


@converts("_sparse_retain")
def _(c):
    """Rows that are named stay, the others become zero."""
    places = c.input_as(1, np.int64)
    rows = c.op("Gather", c[0], places, axis=0)
    return c.op("ScatterND", c.expand(c.const(0), c.dims()), c.unsqueeze(places, 1), rows)


@converts("_npi_fill_diagonal")
def _(c):
    """Which places are filled, and by what, depends on sizes alone."""
    shape, values = _fixed(c), [float(v) for v in c.params["val"]]
    count = int(np.prod(shape))
    marked = _computed(c, [np.zeros(shape)], val=(1.0,))
    places = np.flatnonzero(marked)
    given = _computed(c, [np.zeros(shape)], val=tuple(values)).ravel()[places]
    flat = c.op("Reshape", c[0], c.ints(count))
    flat = c.op("ScatterElements", flat, c.const(places, np.int64), c.const(given, c.dtype()), axis=0)
    return c.op("Reshape", flat, c.ints(*shape))


def _computed(c, arrays, **changed):
    """The result of the node's operator for other arrays, computed now in float64."""
    params = {k: v for k, v in {**c.params, **changed}.items() if v is not None}
    with util.np_shape(True):
        given = [nd.array(a, dtype="float64") for a in arrays]
        return ndarray_function(c.op_name)(*given, **params).asnumpy()


# ---- elements that are put in or taken out

def _places(c, i):
    """Positions: a number or a slice of the node, or constants."""
    params = c.params
    if params["int_ind"] is not None:
        return params["int_ind"]
    if any(params[name] is not None for name in ("start", "stop", "step")):
        return slice(params["start"], params["stop"], params["step"])
    known = c.constant(i) if i < len(c) else None
    if known is None:
        raise c.unsupported("positions that are inputs", "constants")
    return known if known.dtype == bool else known.astype(np.int64)


def _line(c):
    """(input 0, the axis, its size): all elements are one axis if none is given."""
    axis = c.params["axis"]
    if axis is None:
        return c.op("Reshape", c[0], c.ints(-1)), 0, int(np.prod(_fixed(c), dtype=int))
    axis = c.axis(axis)
    if not is_static(c.dims()[axis]):
        raise c.unsupported("an axis of a free size", "a fixed one")
    return c[0], axis, c.shape()[axis]


@converts("_npi_delete")
def _(c):
    x, axis, size = _line(c)
    left = np.delete(np.arange(size), _places(c, 1))
    return c.op("Gather", x, c.const(left, np.int64), axis=axis)


@converts("_npi_insert_scalar", "_npi_insert_slice", "_npi_insert_tensor")
def _(c):
    """Rows of both arrays side by side, in the order that NumPy gives positions."""
    x, axis, size = _line(c)
    given = c.params["val"] is None
    places = _places(c, 2 if given else 1)
    whole_number = isinstance(places, int) or np.ndim(places) == 0 and not isinstance(places, slice)
    places = int(places) if whole_number else places
    dims = [(size,)] if c.params["axis"] is None else list(c.dims())
    count = len(np.insert(np.arange(size), places, -1)) - size
    chosen = np.arange(size)[places] if isinstance(places, slice) else np.atleast_1d(places)
    if chosen.size == 1:        # all values are for that position
        count, places = c.out_dims()[axis][0] - size, int(chosen.ravel()[0])
    value = c.input_as(1, c.out_dtype()) if given else c.const(c.params["val"], c.out_dtype())
    if whole_number and given and 0 < c.ndim(1) and axis:
        value = _moved(c, value, axis, len(dims))
    value = c.expand(value, [*dims[:axis], (count,), *dims[axis + 1:]])
    marks = -1 - np.arange(count)
    order = np.insert(np.arange(size), places, marks)
    order = np.where(order < 0, size - 1 - order, order)
    both = c.op("Concat", c.cast_from(x, c.dtype(), c.out_dtype()), value, axis=axis)
    return c.op("Gather", both, c.const(order, np.int64), axis=axis)


def _moved(c, value, axis, ndim):
    """NumPy puts the first axis of values where one position is."""
    have = c.ndim(1)
    if have < ndim:
        value = c.unsqueeze(value, *range(ndim - have))
    return c.transpose(value, [*range(1, axis + 1), 0, *range(axis + 1, ndim)])


@converts("_np_diagflat")
def _(c):
    """All elements along a diagonal."""
    count, size = int(np.prod(_fixed(c), dtype=int)), c.out_shape()[0]
    rows = np.arange(count) + max(0, -c.params["k"])
    places = rows * size + rows + c.params["k"]
    flat = c.op("Reshape", c[0], c.ints(-1))
    zeros = c.expand(c.const(0), [(size * size,)])
    made = c.op("ScatterElements", zeros, c.const(places, np.int64), flat, axis=0)
    return c.op("Reshape", made, c.ints(size, size))


@converts("_npi_diag_indices_from")
def _(c):
    dim = c.dims()[0]
    count = c.const(dim[0], np.int64) if is_static(dim) else c.op("Squeeze", c.size(dim))
    row = c.op("Range", c.const(0, np.int64), count, c.const(1, np.int64))
    rows = c.op("Expand", row, c.op("Concat", c.ints(c.out_shape()[0]), c.size(dim), axis=0))
    return c.cast_from(rows, np.int64, c.out_dtype())


# ---- arrays that depend on nothing

@converts("_eye", "_npi_eye", "_npi_identity", "_npi_tri", "_linspace", "_npi_logspace", "_npi_blackman",
          "_npi_hamming", "_npi_hanning", "_npi_indices", "_npi_tril_indices")
def _(c):
    """Computed now."""
    params = {k: v for k, v in c.params.items() if v is not None and k != "ctx"}
    with util.np_shape(True):
        made = ndarray_function(c.op_name)(**params)
    if len(c.outputs) > 1:
        return [c.const(one.asnumpy(), c.out_dtype(i)) for i, one in enumerate(made)]
    return c.const(made.asnumpy(), c.out_dtype())


@converts("_sum_like")
def _(c):
    """Sums over the axes that an operand was broadcast along."""
    dims, like = c.dims(), c.out_dims()
    ahead = len(dims) - len(like)
    axes = [a for a, d in enumerate(like, ahead) if d != dims[a]]
    x = term(c, 0)
    x = x.reduce("Sum", [*range(ahead), *axes]) if ahead or axes else x
    return c.reshape(x.name, like) if ahead else x.name


@converts("multi_sum_sq")
def _(c):
    """The sum of squares of each array."""
    sums = []
    for i in range(len(c)):
        flat = Term(c, c.op("Reshape", c.input_as(i, np.float32), c.ints(-1)), np.float32)
        sums.append((flat * flat).reduce("Sum", [0]).name)
    return sums[0] if len(sums) == 1 else c.op("Concat", *sums, axis=0)


@converts("multi_all_finite")
def _(c):
    """1 where nothing in any array is infinite or no number."""
    if not c.params["init_output"]:
        raise c.unsupported("init_output=False", "True")
    worst = []
    for i in range(len(c)):
        flat = Term(c, c.op("Reshape", c.input_as(i, np.float32), c.ints(-1)), np.float32)
        bad = (flat * 0).op("IsNaN", dtype=np.bool_).to(np.float32)
        worst.append(bad.reduce("Max", [0]).name)
    both = worst[0] if len(worst) == 1 else c.op("Max", *worst)
    return c.cast_from(c.op("Sub", c.const(1, np.float32), both), np.float32, c.out_dtype())


@converts("_npx_constraint_check")
def _(c):
    """Whether all are true; ONNX has no errors of its own."""
    flat = c.op("Reshape", c.cast(c.input_as(0, np.bool_), np.int32), c.ints(-1))
    return c.cast(c.reshape(c.reduce("Min", flat, [0], True), c.out_dims()), np.bool_)
