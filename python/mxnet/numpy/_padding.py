"""``mx.np.pad``: the modes that are one operator, and the others made of operators."""
import importlib

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, is_traced
from ._dispatch import call, dtype_name, is_symbol, operand

__all__ = ["pad"]

# One operator each, where no keyword asks for more.
_NATIVE = ("constant", "edge", "maximum", "minimum", "reflect", "symmetric")
_KEYWORDS = {
    "constant": ("constant_values",), "linear_ramp": ("end_values",), "reflect": ("reflect_type",), "symmetric": ("reflect_type",),
    "maximum": ("stat_length",), "minimum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",),
    "edge": (), "wrap": (), "empty": (),
}


def _pairs(what, value, ndim, whole=True):
    """(before, behind) for each dimension, of a number, a pair, or pairs."""
    if type(value) is int and value >= 0:
        return [(value, value)] * ndim
    if isinstance(value, NDArrayBase):
        value = value.asnumpy()
    if isinstance(value, dict):
        full = [(0, 0)] * ndim
        for axis, pair in value.items():
            full[axis] = tuple(pair) if isinstance(pair, (tuple, list)) else (pair, pair)
        value = full
    values = onp.asarray(value)
    try:
        if values.dtype.kind not in ("iu" if whole else "iufb"):
            raise ValueError
        pairs = onp.broadcast_to(values, (ndim, 2))
    except ValueError:
        raise (TypeError if values.dtype.kind not in "iufb" or whole and values.dtype.kind not in "iu" else ValueError)(
            f"[pad] {what}={value!r}; accepted: a number, a pair, or a pair for each of {ndim} dimensions") from None
    if whole and (pairs < 0).any():
        raise ValueError(f"[pad] {what}={value!r}; must not be negative")
    return [tuple(p) for p in pairs.tolist()]


def _part(a, axis, begin, end):
    return call("slice_axis", (a,), axis=axis, begin=begin, end=end)


def _joined(parts, axis):
    parts = [p for p in parts if p is not None]
    return parts[0] if len(parts) == 1 else call("_npi_concatenate", parts, dim=axis)


def _spread(line, axis, count):
    """One entry of a dimension as `count` of them; None for 0."""
    return call("_npi_repeat", (line,), repeats=count, axis=axis) if count else None


def _is_whole(a):
    return a.dtype != _dtypes.bfloat16 and onp.dtype(a.dtype).kind in "iub"


def _statistic(mode, a, axis, length, front):
    """The mean, median or extreme of the entries of a dimension that are nearest to one end."""
    size = a.shape[axis]
    length = size if length is None else min(length, size)
    if length < 1:
        raise ValueError("[pad] stat_length is 0; accepted: at least 1")
    near = _part(a, axis, 0, length) if front else _part(a, axis, size - length, size)
    if mode in ("maximum", "minimum"):
        return call("_npi_max" if mode == "maximum" else "_npi_min", (near,), axis=(axis,), keepdims=True)
    whole = _is_whole(a)
    numbers = call("_npi_cast", (near,), dtype="float64") if whole else near
    if mode == "mean":
        out = call("_npi_mean", (numbers,), axis=(axis,), keepdims=True)
    else:
        numbers = call("_npi_sort", (numbers,), axis=axis)
        out = call("_npi_mean", (_part(numbers, axis, (length - 1) // 2, length // 2 + 1),), axis=(axis,), keepdims=True)
    return call("_npi_cast", (call("_npi_around", (out,)),), dtype=dtype_name(a.dtype)) if whole else out


def _ramp(a, axis, count, end, front):
    """`count` values from `end` to the first or last entry, without this one."""
    if not count:
        return None
    size = a.shape[axis]
    edge = call("_npi_cast", (_part(a, axis, 0, 1) if front else _part(a, axis, size - 1, size),), dtype="float64")
    steps = onp.arange(count) / count
    steps = steps if front else steps[::-1]
    weight = operand(steps.reshape([-1 if d == axis else 1 for d in range(len(a.shape))]), like=a)
    rise = call("_npi_multiply", (call("_npi_subtract_scalar", (edge,), scalar=float(end)), weight))
    out = call("_npi_add_scalar", (rise,), scalar=float(end))
    if _is_whole(a):
        out = call("_npi_floor", (out,))
    return call("_npi_cast", (out,), dtype=dtype_name(a.dtype))


def _mirrored(a, axis, before, behind, symmetric):
    """Padding by point reflection at the ends (reflect_type "odd"), as often as it takes."""
    while before or behind:
        size = a.shape[axis]
        reach = size if symmetric else size - 1
        if reach < 1:   # a single entry stands for itself
            return _joined([_spread(_part(a, axis, 0, 1), axis, before), a, _spread(_part(a, axis, size - 1, size), axis, behind)], axis)
        skip = 0 if symmetric else 1
        front, back = min(before, reach), min(behind, reach)
        parts = [None, a, None]
        if front:
            turned = call("_npi_flip", (_part(a, axis, skip, skip + front),), axis=(axis,))
            parts[0] = call("_npi_subtract", (call("_npi_multiply_scalar", (_part(a, axis, 0, 1),), scalar=2), turned))
        if back:
            turned = call("_npi_flip", (_part(a, axis, size - skip - back, size - skip),), axis=(axis,))
            parts[2] = call("_npi_subtract", (call("_npi_multiply_scalar", (_part(a, axis, size - 1, size),), scalar=2), turned))
        a = _joined([p if p is None or p.dtype == a.dtype else call("_npi_cast", (p,), dtype=dtype_name(a.dtype)) for p in parts], axis)
        before, behind = before - front, behind - back
    return a


def _constant(a, axis, count, value):
    if not count:
        return None
    shape = [count if d == axis else s for d, s in enumerate(a.shape)]
    return call("_npi_full", (), shape=tuple(shape), value=float(value), dtype=dtype_name(a.dtype), ctx=str(a.context))


def _one_dimension(a, axis, before, behind, mode, given):
    if mode in ("constant", "empty"):
        front, back = given.get("constant_values", [(0, 0)] * len(a.shape))[axis]
        return _joined([_constant(a, axis, before, front), a, _constant(a, axis, behind, back)], axis)
    if mode == "linear_ramp":
        front, back = given.get("end_values", [(0, 0)] * len(a.shape))[axis]
        return _joined([_ramp(a, axis, before, front, True), a, _ramp(a, axis, behind, back, False)], axis)
    if mode == "wrap":
        size = a.shape[axis]
        places = operand(onp.arange(-before, size + behind) % size, like=a)
        return call("_npi_take", (a, places), axis=axis, mode="wrap")
    if mode in ("reflect", "symmetric"):
        return _mirrored(a, axis, before, behind, mode == "symmetric")
    lengths = given.get("stat_length", [(None, None)] * len(a.shape))[axis]
    ends = [_spread(_statistic(mode, a, axis, length, i == 0), axis, count) if count else None
            for i, (length, count) in enumerate(zip(lengths, (before, behind)))]
    return _joined([ends[0], a, ends[1]], axis)


def pad(x=None, pad_width=None, mode="constant", **kwargs):   # pylint: disable=redefined-outer-name
    """Entries around an array: `pad_width` before and behind each dimension, as a number, a pair,
    or a pair for each dimension.

    Parameters
    ----------
    x : array
        Any shape and dtype.
    pad_width : int or tuple
        How many.
    mode : str
        "constant" (`constant_values`, 0 if not given), "edge", "linear_ramp" (to `end_values`),
        "maximum", "minimum", "mean", "median" (of `stat_length` entries nearest to the end, or
        all), "reflect" and "symmetric" (`reflect_type` "even" or "odd"), "wrap", or "empty", which
        is 0 here. A function with the arguments that NumPy gives it is called on the host.

    Raises
    ------
    ValueError
        For an unknown mode, a keyword that it does not have, or a negative width.
    TypeError
        For a width that is no integer, and on a symbol for anything but a pair for each dimension.

    Notes
    -----
    Functions as `mode` have no gradient.

    Examples
    --------
    >>> mx.np.pad(mx.np.array([1, 2, 3]), 2, mode="reflect")
    array([3., 2., 1., 2., 3., 2., 1.])
    """
    x = kwargs.pop("array", x)      # NumPy's name
    if callable(mode):
        run = importlib.import_module("mxnet.numpy.fallback").run      # which stands on this module
        return run("pad", onp.pad, (operand(x), pad_width, mode), kwargs)
    if mode not in _KEYWORDS:
        raise ValueError(f"[pad] mode={mode!r}; accepted: {', '.join(sorted(_KEYWORDS))}")
    unknown = [k for k in kwargs if k not in _KEYWORDS[mode]]
    if unknown:
        raise ValueError(f"[pad] {', '.join(unknown)} with mode {mode!r}; accepted: {', '.join(_KEYWORDS[mode]) or 'no keyword'}")
    reflect_type = kwargs.pop("reflect_type", "even")
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"[pad] reflect_type={reflect_type!r}; accepted: even, odd")
    x = operand(x)
    constant = kwargs.get("constant_values", 0)
    extreme = mode in ("minimum", "maximum") and not is_symbol(x) and is_traced()      # of the operator they have no gradient
    simple = mode in _NATIVE and not extreme and reflect_type == "even" and kwargs.get("stat_length") is None and onp.ndim(constant) == 0
    if is_symbol(x):
        if not simple:
            raise NotImplementedError(f"[pad] mode {mode!r} with these keywords on a symbol; accepted: arrays")
        if onp.shape(pad_width)[1:] != (2,):
            raise TypeError(f"[pad] pad_width={pad_width!r} on a symbol, whose dimensions are not known; accepted: a pair for each")
        width = tuple(tuple(p) for p in pad_width)
    else:
        width = tuple(_pairs("pad_width", pad_width, x.ndim))
    if simple:
        return call("_npi_pad", (x,), pad_width=width, mode=mode, constant_values=float(constant) if constant else None)
    given = {k: _pairs(k, v, x.ndim, whole=k == "stat_length") for k, v in kwargs.items() if v is not None}
    for axis, (before, behind) in enumerate(width):
        if not before and not behind:
            continue
        if x.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(f"[pad] dimension {axis} of {tuple(x.shape)} is empty; only mode constant can pad it")
        x = _one_dimension(x, axis, before, behind, mode, given)
    return x
