"""What moves numbers, and changes none: shapes, parts, repetitions."""
import numpy as np

from .sampling import counted
from .shapes import is_static
from .table import converts
from .terms import term

__all__ = []

_LAST = np.iinfo(np.int64).max
_FIRST = np.iinfo(np.int64).min


# ---- shapes

@converts("Reshape", "_np_reshape", "_npx_reshape", "reshape_like", "_np_atleast_1d",
          "_contrib_dynamic_reshape")
def _(c):
    if len(c.outputs) > 1:
        return [c.reshape(c[i], c.out_dims(i), c.dims(i)) for i in range(len(c))]
    if c.outputs[0].dims is None and len(c) > 1 and c.op_name == "_contrib_dynamic_reshape":
        return c.op("Reshape", c[0], c.input_as(1, np.int64))
    return c.reshape_out(c[0])


@converts("_np_atleast_2d", "_np_atleast_3d")
def _(c):
    return [c.reshape(c[i], c.out_dims(i), c.dims(i)) for i in range(len(c))]


@converts("Flatten")
def _(c):
    return c.op("Flatten", c[0], axis=1) if c.ndim() > 1 else c.unsqueeze(c[0], 1)


@converts("expand_dims")
def _(c):
    return c.unsqueeze(c[0], c.params["axis"])


@converts("squeeze", "_np_squeeze")
def _(c):
    if len(c.out_dims()) == c.ndim():
        return c.op("Identity", c[0])
    axes = c.params["axis"]
    if axes is None or (len(axes) != c.ndim() - len(c.out_dims())):
        return c.reshape_out(c[0])
    return c.squeeze(c[0], *axes)


@converts("transpose", "_np_transpose")
def _(c):
    axes = list(c.params["axes"]) or list(range(c.ndim()))[::-1]
    return c.op("Transpose", c[0], perm=[c.axis(a) for a in axes])


@converts("SwapAxis")
def _(c):
    axes = list(range(c.ndim()))
    one, other = c.axis(c.params["dim1"]), c.axis(c.params["dim2"])
    axes[one], axes[other] = other, one
    return c.op("Transpose", c[0], perm=axes)


@converts("_np_moveaxis")
def _(c):
    source = [c.axis(a) for a in c.params["source"]]
    axes = [a for a in range(c.ndim()) if a not in source]
    for place, axis in sorted((c.axis(p), a) for p, a in zip(c.params["destination"], source)):
        axes.insert(place, axis)
    return c.op("Transpose", c[0], perm=axes)


@converts("_npi_rollaxis")
def _(c):
    axis, start = c.axis(c.params["axis"]), c.params["start"]
    start += c.ndim() if start < 0 else 0
    axes = [a for a in range(c.ndim()) if a != axis]
    axes.insert(start - (axis < start), axis)
    return c.op("Transpose", c[0], perm=axes)


@converts("_npi_rot90")
def _(c):
    first, second = (c.axis(a) for a in c.params["axes"] or (0, 1))
    turns, x = c.params["k"] % 4, c[0]
    if turns in (1, 2):
        x = _reversed(c, x, [second])
    if turns in (2, 3):
        x = _reversed(c, x, [first] if turns == 2 else [second])
    axes = list(range(c.ndim()))
    if turns == 1:
        axes[first], axes[second] = second, first
    elif turns == 3:
        axes[first], axes[second] = second, first
        return _reversed(c, c.op("Transpose", c[0], perm=axes), [second])
    return c.transpose(x, axes) if turns else c.op("Identity", x)


@converts("shape_array")
def _(c):
    return c.op("Shape", c[0])


@converts("size_array")
def _(c):
    return c.op("Reshape", c.op("Size", c[0]), c.ints(1))


# ---- parts

def _ends(step, begin, end):
    """What stands for None in a slice."""
    if begin is None:
        begin = 0 if step > 0 else _LAST
    if end is None:
        end = _LAST if step > 0 else _FIRST
    return begin, end


@converts("slice")
def _(c):
    params, axes = c.params, []
    for axis, (begin, end) in enumerate(zip(params["begin"], params["end"])):
        step = (params["step"] or ())[axis:axis + 1]
        step = step[0] if step and step[0] else 1
        if not (begin in (None, 0) and end is None and step == 1):
            axes.append((axis, *_ends(step, begin, end), step))
    if not axes:
        return c.op("Identity", c[0])
    axes, begins, ends, steps = zip(*axes)
    return c.op("Slice", c[0], c.ints(*begins), c.ints(*ends), c.ints(*axes), c.ints(*steps))


@converts("slice_axis")
def _(c):
    begin, end = _ends(1, c.params["begin"], c.params["end"])
    return c.slice(c[0], c.axis(c.params["axis"]), begin, end)


@converts("slice_like")
def _(c):
    axes = [c.axis(a) for a in c.params["axes"]] or list(range(c.ndim(1)))
    sizes = c.sizes([c.dims(1)[a] for a in axes])
    return c.op("Slice", c[0], c.ints(*[0] * len(axes)), sizes, c.ints(*axes))


def split(c, x, axis, dims):
    """Parts of `x` that have the sizes `dims` along `axis`."""
    if len(dims) == 1:
        return [c.op("Identity", x)]
    if all(map(is_static, dims)):
        return c.op("Split", x, c.ints(*(d[0] for d in dims)), outputs=len(dims), axis=axis)
    if len(set(dims)) == 1:
        more = {"num_outputs": len(dims)} if c.opset >= 18 else {}
        return c.op("Split", x, outputs=len(dims), axis=axis, **more)
    return c.op("Split", x, c.sizes(dims), outputs=len(dims), axis=axis)


@converts("SliceChannel")
def _(c):
    axis, count = c.axis(c.params["axis"]), c.params["num_outputs"]
    whole = c.dims()[axis]
    parts = split(c, c[0], axis, [tuple(s // count for s in whole)] * count)
    return [c.squeeze(p, axis) for p in parts] if c.params["squeeze_axis"] else parts


def _split_axis(c):
    if c.op_name == "_npi_hsplit":
        return min(1, c.ndim() - 1)
    return c.params.get("axis", 2)


@converts("_split_v2", "_npi_hsplit", "_npi_dsplit")
def _(c):
    axis, squeezed = c.axis(_split_axis(c)), c.params["squeeze_axis"]
    count = len(c.outputs)
    parts = split(c, c[0], axis, [(1,) if squeezed else c.out_dims(i)[axis] for i in range(count)])
    return [c.squeeze(p, axis) for p in parts] if squeezed else parts


def _reversed(c, x, axes):
    n = len(axes)
    return c.op("Slice", x, c.ints(*[_LAST] * n), c.ints(*[_FIRST] * n), c.ints(*axes),
                c.ints(*[-1] * n))


@converts("reverse", "_npi_flip")
def _(c):
    axes = c.params["axis"]
    axes = range(c.ndim()) if axes is None or axes == () else axes
    return _reversed(c, c[0], [c.axis(a) for a in axes])


@converts("_np_roll")
def _(c):
    shift, axes, x = c.params["shift"], c.params["axis"], c[0]
    if axes is None:
        x = _rolled(c, c.op("Reshape", x, c.ints(-1)), 0, shift[0])
        return c.reshape_out(x)
    shifts = shift * len(axes) if len(shift) == 1 else shift
    if not axes:
        return c.op("Identity", x)
    for axis, places in zip(axes, shifts):
        x = _rolled(c, x, c.axis(axis), places, c.dims()[c.axis(axis)])
    return x


def _rolled(c, x, axis, places, size=None):
    if size is not None and is_static(size):
        places %= size[0]
    if not places:
        return c.op("Identity", x)
    return c.op("Concat", c.slice(x, axis, -places, _LAST), c.slice(x, axis, 0, -places), axis=axis)


# ---- joins

def _joined(c, axis, inputs=None):
    inputs = inputs or [c.input_as(i, c.out_dtype()) for i in range(len(c))]
    return c.op("Concat", *inputs, axis=axis)


@converts("Concat", "_rnn_param_concat")
def _(c):
    return _joined(c, c.params["dim"])


@converts("_npi_concatenate")
def _(c):
    if c.params.get("axis", 0) is None:
        flat = [c.op("Reshape", c.input_as(i, c.out_dtype()), c.ints(-1)) for i in range(len(c))]
        return _joined(c, 0, flat)
    return _joined(c, c.params.get("axis", c.params.get("dim", 0)))


@converts("stack", "_npi_stack")
def _(c):
    axis = c.params["axis"]
    axis += c.ndim() + 1 if axis < 0 else 0
    parts = [c.unsqueeze(c.input_as(i, c.out_dtype()), axis) for i in range(len(c))]
    return _joined(c, axis, parts)


def _with_rank(c, i, rank, columns=False):
    """Input i with at least `rank` dimensions; a vector is a row, or a column."""
    x, ndim = c.input_as(i, c.out_dtype()), c.ndim(i)
    for have in range(ndim, rank):
        x = c.unsqueeze(x, {0: 0, 1: 1 if columns else 0, 2: 2}[have])
    return x


@converts("_npi_vstack")
def _(c):
    return _joined(c, 0, [_with_rank(c, i, 2) for i in range(len(c))])


@converts("_npi_hstack")
def _(c):
    return _joined(c, 1 if c.ndim() > 1 else 0, [_with_rank(c, i, 1) for i in range(len(c))])


@converts("_npi_column_stack")
def _(c):
    return _joined(c, 1, [_with_rank(c, i, 2, columns=True) for i in range(len(c))])


@converts("_npi_dstack")
def _(c):
    return _joined(c, 2, [_with_rank(c, i, 3) for i in range(len(c))])


# ---- repetitions

@converts("tile")
def _(c):
    reps, ndim, x = list(c.params["reps"]), c.ndim(), c[0]
    if len(reps) > ndim:
        x = c.unsqueeze(x, *range(len(reps) - ndim))
    reps = [1] * (ndim - len(reps)) + reps
    return c.op("Tile", x, c.ints(*reps))


@converts("repeat", "_npi_repeats")
def _(c):
    repeats, axis, x, ndim = c.params["repeats"], c.params["axis"], c[0], c.ndim()
    if axis is None:
        x, axis, ndim = c.op("Reshape", x, c.ints(-1)), 0, 1
    axis += ndim if axis < 0 else 0
    if not isinstance(repeats, int) and len(repeats) > 1:
        places = np.repeat(np.arange(len(repeats)), repeats)
        return c.op("Gather", x, c.const(places, np.int64), axis=axis)
    repeats = repeats if isinstance(repeats, int) else repeats[0]
    reps = [1] * (ndim + 1)
    reps[axis + 1] = repeats
    x = c.op("Tile", c.unsqueeze(x, axis + 1), c.ints(*reps))
    return c.reshape_out(x)


@converts("broadcast_to", "_npi_broadcast_to", "broadcast_axis", "broadcast_like")
def _(c):
    return c.expand(c[0], c.out_dims())


_PADDED = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


@converts("Pad")
def _(c):
    return _pad(c, c.params["pad_width"], c.params["constant_value"])


@converts("_npi_pad")
def _(c):
    widths = [n for pair in c.params["pad_width"] for n in pair]
    if len(widths) == 2 and c.ndim() > 1:
        widths *= c.ndim()
    if c.params["reflect_type"] != "even":
        raise c.unsupported("reflect_type 'odd'", "'even'")
    return _pad(c, widths, c.params["constant_values"] or c.params["constant_value"])


def _pad(c, widths, value):
    mode = c.params["mode"]
    if mode in ("reflect", "symmetric") and all(map(is_static, c.dims())):
        sizes = [n[0] for n in c.dims() for _ in (0, 1)]
        if mode == "symmetric" or any(w >= n for w, n in zip(widths, sizes)):
            return _gathered(c, widths, mode)
    if mode not in _PADDED:
        raise c.unsupported(f"mode {mode!r}", ", ".join(_PADDED))
    pads = c.ints(*widths[::2], *widths[1::2])
    return c.op("Pad", c[0], pads, c.const(value) if mode == "constant" else None, mode=mode)


def _gathered(c, widths, mode):
    """Padding that comes from positions of the array: ONNX reflects less than a whole axis."""
    x = c[0]
    for axis, size in enumerate(c.shape()):
        pair = tuple(widths[2 * axis:2 * axis + 2])
        if any(pair):
            x = c.op("Gather", x, c.const(np.pad(np.arange(size), pair, mode), np.int64), axis=axis)
    return x if any(widths) else c.op("Identity", x)


@converts("depth_to_space")
def _(c):
    return c.op("DepthToSpace", c[0], blocksize=c.params["block_size"])


@converts("space_to_depth")
def _(c):
    """ONNX's puts the rows and columns of a block in front of the channels, as this does."""
    return c.op("SpaceToDepth", c[0], blocksize=c.params["block_size"])


# ---- triangles and diagonals

@converts("_npi_tril", "_npi_triu")
def _(c):
    upper, k = c.op_name.endswith("triu"), c.params["k"]
    if c.opset >= 14 and c.ndim() > 1:
        return c.op("Trilu", c[0], c.const(k, np.int64), upper=int(upper))
    rows, columns = (counted(c, dim, np.int64) for dim in c.out_dims()[-2:])
    rows = rows.unsqueeze(1) + k
    kept = columns >= rows if upper else columns <= rows
    return kept.where(term(c, 0), 0).name


@converts("diag", "_np_diag", "_np_diagonal")
def _(c):
    return _diagonal(c)


@converts("_np_trace")
def _(c):
    return c.cast_from(c.reduce("Sum", _diagonal(c), [-1], False), c.dtype(), c.out_dtype())


def _diagonal(c):
    """The diagonal of a matrix: elements of the two axes as one."""
    params, ndim = c.params, c.ndim()
    k = params.get("k", params.get("offset", 0))
    first, second = c.axis(params.get("axis1", 0)), c.axis(params.get("axis2", 1))
    if ndim == 1 or not all(map(is_static, (c.dims()[first], c.dims()[second]))):
        raise c.unsupported("a vector, or a matrix of free size", "matrices of fixed size")
    rows, columns = c.shape()[first], c.shape()[second]
    axes = [a for a in range(ndim) if a not in (first, second)] + [first, second]
    x = c.transpose(c[0], axes)
    others = [d for a, d in enumerate(c.dims()) if a not in (first, second)]
    x = c.reshape(x, [*others, (rows * columns,)])
    places = [r * columns + r + k for r in range(rows) if 0 <= r + k < columns]
    return c.op("Gather", x, c.const(places, np.int64), axis=-1)
