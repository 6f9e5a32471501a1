"""What reads or sorts by position."""
import numpy as np

from ... import _dtypes
from .activations import positions_along
from .shapes import is_static
from .table import converts

__all__ = ["coordinates_last", "whole"]

_NUMBERS = np.iinfo(np.int64)


def whole(c, i):
    """Input i as int64."""
    return c.input_as(i, np.int64)


def _last(c, dim):
    """The last position of a size, without dimensions."""
    if is_static(dim):
        return c.const(dim[0] - 1, np.int64)
    return c.op("Sub", c.op("Squeeze", c.size(dim)), c.const(1, np.int64))


def _inside(c, index, dim, mode):
    """Positions within a size: the nearest one, or those behind the end again from the front."""
    if mode == "wrap":
        size = c.const(dim[0], np.int64) if is_static(dim) else c.op("Squeeze", c.size(dim))
        return c.op("Mod", index, size)
    if mode == "clip":
        return c.op("Clip", index, c.const(0, np.int64), _last(c, dim))
    return index


@converts("take")
def _(c):
    axis = c.axis(c.params["axis"])
    known, mode = c.constant(1), c.params["mode"]
    if known is not None and is_static(c.dims()[axis]):
        if known.size and 0 <= known.min() and known.max() < c.shape()[axis]:
            mode = "raise"      # positions are there already
    index = _inside(c, whole(c, 1), c.dims()[axis], mode)
    return c.op("Gather", c[0], index, axis=axis)


@converts("pick")
def _(c):
    """One number of each row, by its position along an axis."""
    axis, x = c.params["axis"], c[0]
    index = whole(c, 1)
    if axis is None:
        x = c.op("Reshape", x, c.ints(-1))
        index = c.op("Reshape", index, c.ints(-1))
        size = c.sizes(c.dims())
        count = c.op("ReduceProd", size, keepdims=0)
        top = c.op("Sub", count, c.const(1, np.int64))
        index = c.op("Clip", index, c.const(0, np.int64), top)
        return c.reshape_out(c.op("Gather", x, index, axis=0), source=1)
    axis = c.axis(axis)
    if c.ndim(1) < c.ndim():
        index = c.unsqueeze(index, axis)
    index = _inside(c, index, c.dims()[axis], c.params["mode"])
    x = c.op("GatherElements", x, index, axis=axis)
    return x if c.params["keepdims"] else c.squeeze(x, axis)


@converts("batch_take")
def _(c):
    last = c.ndim() - 1
    index = _inside(c, c.unsqueeze(whole(c, 1), last), c.dims()[last], "clip")
    return c.squeeze(c.op("GatherElements", c[0], index, axis=last), last)


def coordinates_last(c, i):
    """Coordinates of points, which have the first axis, in the last one."""
    return c.transpose(whole(c, i), [*range(1, c.ndim(i)), 0])


@converts("gather_nd")
def _(c):
    return c.op("GatherND", c[0], coordinates_last(c, 1))


@converts("scatter_nd")
def _(c):
    zeros = c.expand(c.const(0), c.out_dims())
    return c.op("ScatterND", zeros, coordinates_last(c, 1), c[0])


@converts("_scatter_set_nd")
def _(c):
    return c.op("ScatterND", c[0], coordinates_last(c, 2), c[1])


@converts("_npx_index_update", "_npx_index_add")
def _(c):
    """Numbers at coordinates are replaced, or others are added to them."""
    adds = c.op_name.endswith("add")
    if adds and c.opset < 16:
        raise c.unsupported(f"opset {c.opset}", "16 and newer")
    places = coordinates_last(c, 1) if c.ndim(1) > 1 else c.unsqueeze(whole(c, 1), 1)
    shape = c.op("Concat", c.op("Slice", c.op("Shape", places), c.ints(0), c.ints(-1)),
                 c.sizes(c.dims()[_coordinates(c):]), axis=0)
    dtype = np.float32 if adds and _dtypes.name(c.dtype()) == "float16" else c.dtype()    # readers add no halves
    value = c.op("Expand", c.input_as(2, dtype), shape)
    made = c.op("ScatterND", c.input_as(0, dtype), places, value, reduction="add" if adds else None)
    return c.cast_from(made, dtype, c.dtype())


def _coordinates(c):
    return c.shape(1)[0] if c.ndim(1) > 1 else 1


@converts("_contrib_index_copy")
def _(c):
    return c.op("ScatterND", c[0], c.unsqueeze(whole(c, 1), 1), c[2])


@converts("_index_axes")
def _(c):
    """Positions along consecutive axes, each of an array of its own."""
    axis, count = c.axis(c.params["axis"]), len(c) - 1
    if any(np.dtype(c.dtype(i)) == np.bool_ for i in range(1, len(c))):
        raise c.unsupported("an index of truth values", "whole numbers")
    indices = []
    rank = max(c.ndim(i) for i in range(1, len(c)))
    shape = c.op("Shape", _broadcast_sum(c))
    for i in range(1, len(c)):
        indices.append(c.unsqueeze(c.op("Expand", whole(c, i), shape), rank))
    index = indices[0] if count == 1 else c.op("Concat", *indices, axis=rank)
    if axis == 0:
        return c.op("GatherND", c[0], index)
    order = [*range(axis, axis + count), *range(axis), *range(axis + count, c.ndim())]
    x = c.op("GatherND", c.transpose(c[0], order), index)
    ndim = len(c.out_dims())
    return c.transpose(x, [*range(rank, rank + axis), *range(rank), *range(rank + axis, ndim)])


def _broadcast_sum(c):
    total = whole(c, 1)
    for i in range(2, len(c)):
        total = c.op("Add", total, whole(c, i))
    return total


@converts("_npi_advanced_indexing")
def _(c):
    if np.dtype(c.dtype(1)) == np.bool_:
        return _selected(c, c[1], 0)
    return c.op("Gather", c[0], whole(c, 1), axis=0)


@converts("_contrib_boolean_mask")
def _(c):
    return _selected(c, c.input_as(1, np.bool_), c.axis(c.params["axis"]))


def _selected(c, condition, axis):
    if c.ndim(1) == 1:
        return c.op("Compress", c[0], condition, axis=axis)
    places = c.op("Transpose", c.op("NonZero", condition), perm=[1, 0])
    return c.op("GatherND", c[0], places)


@converts("_npx_nonzero")
def _(c):
    places = c.op("Transpose", c.op("NonZero", c[0]), perm=[1, 0])
    return c.cast(places, c.out_dtype()) if np.dtype(c.out_dtype()) != np.int64 else places


@converts("_slice_assign")
def _(c):
    return _assigned(c, lambda dims: c.expand(c[1], dims))


@converts("_slice_assign_scalar")
def _(c):
    return _assigned(c, lambda dims: c.expand(c.const(c.params["scalar"]), dims))


def _assigned(c, value):
    """Numbers of a part are replaced: their positions are known, for sizes are."""
    if not all(map(is_static, c.dims())):
        raise c.unsupported("a free size", "fixed sizes")
    params, shape = c.params, c.shape()
    parts = []
    for axis in range(len(params["begin"])):
        step = (params["step"] or ())[axis:axis + 1]
        parts.append(slice(params["begin"][axis], params["end"][axis],
                           step[0] if step and step[0] else None))
    places = np.arange(int(np.prod(shape))).reshape(shape)[tuple(parts)]
    flat = c.op("Reshape", c[0], c.ints(-1))
    filled = value([(size,) for size in places.shape])
    flat = c.op("ScatterElements", flat, c.const(places.ravel(), np.int64),
                c.op("Reshape", filled, c.ints(-1)), axis=0)
    return c.op("Reshape", flat, c.ints(*shape))


# ---- one of many

@converts("one_hot")
def _(c):
    """Rows of zeros where a position is out of range."""
    params = c.params
    index = c.unsqueeze(whole(c, 0), c.ndim())
    hit = c.op("Equal", index, c.const(np.arange(params["depth"]), np.int64))
    on, off = (c.const(params[name], c.out_dtype()) for name in ("on_value", "off_value"))
    return c.op("Where", hit, on, off)


# ---- order

def _ranked(c, x, dim, axis, count, largest):
    """(values, positions) of the first `count` along an axis; all of them if it is None."""
    count = c.size(dim) if count is None else c.ints(count)
    return c.op("TopK", x, count, outputs=2, axis=axis, largest=int(largest), sorted=1)


def _flattened(c):
    """(input 0, the axis to sort along, its size): all numbers are one axis if none is given."""
    axis = c.params["axis"]
    if axis is not None:
        return c[0], c.axis(axis), c.dims()[c.axis(axis)]
    total = tuple(int(np.prod(sizes)) for sizes in zip(*c.dims()))
    return c.op("Reshape", c[0], c.ints(-1)), 0, total


@converts("topk")
def _(c):
    params = c.params
    x, axis, dim = _flattened(c)
    count = params["k"] if params["k"] > 0 else None
    values, places = _ranked(c, x, dim, axis, count, not params["is_ascend"])
    kind = params["ret_typ"]
    if kind == "value":
        return values
    if kind == "indices":
        return c.cast_from(places, np.int64, c.out_dtype())
    if kind == "both":
        return [values, c.cast_from(places, np.int64, c.out_dtype(1))]
    zeros = c.expand(c.const(0), c.dims())
    if params["axis"] is None:
        zeros = c.op("Reshape", zeros, c.ints(-1))
    ones = c.op("Expand", c.const(1), c.op("Shape", places))
    return c.reshape_out(c.op("ScatterElements", zeros, places, ones, axis=axis))


@converts("sort")
def _(c):
    x, axis, dim = _flattened(c)
    return _ranked(c, x, dim, axis, None, not c.params["is_ascend"])[0]


@converts("argsort")
def _(c):
    x, axis, dim = _flattened(c)
    places = _ranked(c, x, dim, axis, None, not c.params["is_ascend"])[1]
    return c.cast_from(places, np.int64, c.out_dtype())


# ---- sequences

def _within(c, axis):
    """Where steps of sequences are below their lengths: (steps, batch) or (batch, steps) with ones
    behind."""
    ndim = c.ndim()
    lengths = c.unsqueeze(whole(c, 1), axis)
    if ndim > 2:
        lengths = c.unsqueeze(lengths, *range(2, ndim))
    return c.op("Less", positions_along(c, axis), lengths)


@converts("SequenceMask")
def _(c):
    if not c.params["use_sequence_length"]:
        return c.op("Identity", c[0])
    axis = c.axis(c.params["axis"])
    return c.op("Where", _within(c, axis), c[0], c.const(c.params["value"]))


@converts("SequenceLast")
def _(c):
    axis = c.axis(c.params["axis"])
    if not c.params["use_sequence_length"]:
        return c.op("Gather", c[0], c.const(-1, np.int64), axis=axis)
    x = c[0] if axis == 1 else c.transpose(c[0], [1, 0, *range(2, c.ndim())])
    last = c.op("Sub", c.unsqueeze(whole(c, 1), 1), c.const(1, np.int64))
    last = _inside(c, last, c.dims()[axis], "clip")
    return c.op("GatherND", x, last, batch_dims=1)


@converts("SequenceReverse")
def _(c):
    if c.params["use_sequence_length"]:
        lengths = c.op("Clip", whole(c, 1), c.const(0, np.int64), c.op("Squeeze", c.size(c.dims()[0])))
        return c.op("ReverseSequence", c[0], lengths, time_axis=0, batch_axis=1)
    return c.op("Slice", c[0], c.ints(_NUMBERS.max), c.ints(_NUMBERS.min), c.ints(0), c.ints(-1))


# ---- indices of several dimensions as one number

def _strides(c):
    """How far apart neighbours of each dimension are; the first size is not needed."""
    shape = list(c.params["shape"])
    return [int(np.prod(shape[i + 1:])) for i in range(len(shape))]


def _column(c, strides):
    return c.const(np.array(strides).reshape(-1, *[1] * (len(c.out_dims()) - 1)), np.int64)


@converts("_ravel_multi_index")
def _(c):
    steps = np.array(_strides(c)).reshape(-1, *[1] * (c.ndim() - 1))
    parts = c.op("Mul", c.input_as(0, np.int64), c.const(steps, np.int64))
    return c.cast_from(c.reduce("Sum", parts, [0], False), np.int64, c.out_dtype())


@converts("_unravel_index")
def _(c):
    """What is left of the number when larger strides are taken off."""
    strides = _strides(c)
    rest = c.unsqueeze(c.input_as(0, np.int64), 0)
    if len(strides) > 1:
        wraps = [np.iinfo(np.int64).max, *strides[:-1]]
        rest = c.op("Mod", rest, _column(c, wraps))
    return c.cast_from(c.op("Div", rest, _column(c, strides)), np.int64, c.out_dtype())


@converts("_onehot_encode")
def _(c):
    depth = c.shape(1)[1]
    index = c.input_as(0, np.int64)
    return c.op("OneHot", index, c.ints(depth), c.const([0, 1], c.out_dtype()), axis=-1)
