"""Indexing of NDArrays: ``x[key]`` and ``x[key] = value`` with the key forms of NumPy.

Keys are normalised once: ellipsis and missing axes become slices, negative indices positive. Basic
keys (integers, slices, None) become row views where rows are asked for and strided slices
otherwise; keys with arrays or lists gather and scatter.
"""
import numbers
from math import nan, prod

import numpy as np

from .._arrays.classes import is_np_ndarray
from .._binding import set_mode
from .._dtypes import name as _name
from .._binding.written_parts import is_written, note_part
from .._arrays.tracing import is_deferred_compute, note_alias
from ..base import integer_types, error_class, _MXValueError
from ._array import NDArray
from ._creation import array, empty
from ._native import _call, _recorded, _recording


def _is_array(k):
    return isinstance(k, (NDArray, np.ndarray, list, tuple))


def _bad(key, shape, why):
    return error_class(IndexError, ValueError)(f"[indexing] key {key!r} for an array of shape {shape}: {why}")


def _normalise(a, key):
    """Returns the key as a list with one entry per axis of `a` (plus None for new axes)."""
    if not isinstance(key, tuple):
        if isinstance(key, slice) and a.ndim == 0 and key == slice(None) and not is_np_ndarray(a):
            return []       # 1.x: `x[:]` is all of an array without dimensions; of mx.np it is an IndexError, as in NumPy
        key = (key,)
    if not _basic(key):
        key = tuple(_as_mask(k) for k in key)
    used = 0
    for k in key:
        if k is None or k is Ellipsis:
            continue
        used += k.ndim if _is_bool_mask(k) else 1
    if sum(k is Ellipsis for k in key) > 1:
        raise _bad(key, a.shape, "more than one ellipsis")
    if used > a.ndim:
        raise _bad(key, a.shape, f"{used} axes are indexed, the array has {a.ndim}")
    out = []
    for k in key:
        if k is Ellipsis:
            out += [slice(None)] * (a.ndim - used)
        else:
            out.append(k)
    if not any(k is Ellipsis for k in key):
        out += [slice(None)] * (a.ndim - used)
    return out


def _as_mask(k):
    """Boolean arrays and lists as NumPy arrays (one without dimensions as the number), everything
    else as it is."""
    leaf = k
    while isinstance(leaf, (list, tuple)) and leaf:
        leaf = leaf[0]
    if leaf is not k:
        return np.asarray(k) if isinstance(leaf, (bool, np.bool_)) else k
    if getattr(k, "dtype", None) != np.bool_ or _is_int(k):
        return k
    mask = k if isinstance(k, np.ndarray) else k.asnumpy()
    return mask if mask.ndim else int(mask)


def _basic(keys):
    return all(k is None or isinstance(k, slice) or _is_int(k) for k in keys)


def _is_int(k):
    return isinstance(k, (numbers.Integral, np.bool_)) or isinstance(k, integer_types)   # True counts as 1, as in 1.x


def _check_int(k, size, axis, shape):
    k = int(k)
    if not -size <= k < size:
        raise IndexError(f"[indexing] index {k} is out of range for axis {axis} of an array of "
                         f"shape {shape}; accepted: {-size} to {size - 1}")
    return k + size if k < 0 else k


def _ranges(a, keys):
    """(begin, end, step, shape of the result, shape before dropping and inserting axes) of a basic
    key."""
    begin, end, step, result, kept = [], [], [], [], []
    axis = 0
    for k in keys:
        if k is None:
            result.append(1)
            continue
        size = a.shape[axis]
        if isinstance(k, slice):
            b, e, s = k.indices(size)
            n = len(range(b, e, s))
            begin.append(b)
            end.append(b + n * s)
            step.append(s)
            result.append(n)
            kept.append(n)
        else:
            i = _check_int(k, size, axis, a.shape)
            begin.append(i)
            end.append(i + 1)
            step.append(1)
            kept.append(1)
        axis += 1
    return begin, end, step, tuple(result), tuple(kept)


def _slice_params(begin, end, step):
    # a negative end of a reversed slice means "before the first element", which the operator spells
    # None
    return {"begin": tuple(begin), "end": tuple(None if s < 0 and e < 0 else e for e, s in zip(end, step)), "step": tuple(step)}


def is_whole(key):
    """Whether a key is ``:`` or ``()``, for which 1.9.1 and 2.0 give the array itself."""
    if isinstance(key, slice):
        return key.start is None and key.stop is None and (key.step is None or _is_int(key.step) and key.step == 1)
    return isinstance(key, tuple) and not key


def getitem(a, key):
    """``a[key]``."""
    if is_whole(key):
        return a
    out, together = _get(a, key)
    if is_deferred_compute():
        note_alias(a, out, together)
    elif together and _recording():
        note_part(out, a, key)
    return out


def _get(a, key):
    """``a[key]``, and whether its elements lie side by side in `a`."""
    if _is_int(key) and a.ndim > 0:
        i = _check_int(key, a.shape[0], 0, a.shape)
        if a.ndim == 1 and not _np_shape():
            return _rows(a, i, i + 1), True   # 1.x: a scalar is an array of shape (1,)
        return _drop_first(_rows(a, i, i + 1)), True
    keys = _normalise(a, key)
    if _basic(keys):
        return _basic_get(a, keys)
    return _advanced_get(a, keys), False


def _np_shape():
    from ..util import is_np_shape   # `import mxnet` does without that module
    return is_np_shape()


def _rows(a, begin, end):
    if _recorded(a):
        return _call("slice_axis", (a,), axis=0, begin=begin, end=end)
    return a._slice(begin, end)


def _drop_first(a):
    return _reshape(a, a.shape[1:])


def _reshape(a, shape):
    """Exact sizes; a view where possible."""
    if tuple(shape) == a.shape:
        return a
    if not shape and not _np_shape():
        shape = (1,)
    return a._reshape_exact(tuple(shape))


def _basic_get(a, keys):
    begin, end, step, result, kept = _ranges(a, keys)
    if 0 in kept and _recorded(a):
        return _nothing_of(a, result), False
    if a.ndim and _full_behind(a, 1, begin, kept, step) and step[0] == 1:
        if kept[0] == a.shape[0]:
            return _reshape(a, result) if result != a.shape else _view(a), True
        return _reshape(_rows(a, begin[0], end[0]), result), True
    if 0 in kept:
        return _nothing_of(a, result), False
    # Elements that lie side by side are a view, as in 1.x: one index on each axis before `first`,
    # everything behind it.
    first = next((i for i, n in enumerate(kept) if n != 1), a.ndim)
    together = a.ndim > 0 and (first == a.ndim or step[first] == 1) and _full_behind(a, first + 1, begin, kept, step)
    if together and not _recorded(a):
        offset = 0
        for b, size in zip(begin, a.shape):
            offset = offset * size + b
        return _reshape(a._reshape_view((-1,), False)._slice(offset, offset + prod(kept)), result), True
    return _reshape(_call("slice", (a,), **_slice_params(begin, end, step)), result), together


def _nothing_of(a, shape):
    """An array of a shape without elements, as a part of `a`: its gradient adds nothing."""
    if not _recorded(a):
        return empty(shape, a.context, a.dtype)
    return _reshape(_call("take", (a, empty((0,), a.context, "int64")), axis=0, mode="clip"), shape)


def _full_behind(a, axis, begin, kept, step):
    """Whether everything is selected, in order, on `axis` and those behind it."""
    return all(begin[i] == 0 and kept[i] == a.shape[i] and (step[i] == 1 or kept[i] == 1) for i in range(axis, a.ndim))


def _view(a):
    return _call("identity", (a,)) if _recorded(a) else a._slice(0, a.shape[0])


# ---- advanced keys

def _is_bool_mask(key):
    return isinstance(key, np.ndarray) and key.dtype == np.bool_


def _plan(a, keys):
    """
    For a key with arrays: integer index arrays per axis (broadcast together), and where their axes
    stand in the result. Returns (list of int64 arrays, one per axis of `a`, broadcastable to the
    result), result shape.
    """
    arrays, axis = [], 0
    entries = []
    for k in keys:
        if k is None:
            entries.append(("new", None, None))
            continue
        if isinstance(k, slice):
            entries.append(("slice", axis, np.arange(*k.indices(a.shape[axis]), dtype=np.int64)))
        else:
            v = k.asnumpy() if isinstance(k, NDArray) else np.asarray(k)
            if v.dtype == np.bool_:
                if v.shape != a.shape[axis:axis + v.ndim]:
                    raise IndexError(f"[indexing] a mask of shape {v.shape} for an array of shape "
                                     f"{a.shape}; accepted: {a.shape[axis:axis + v.ndim]}")
                for part in np.nonzero(v):
                    entries.append(("array", axis, _checked(part, a, axis)))
                    arrays.append(part)
                    axis += 1
                continue
            if v.size == 0:
                v = v.astype(np.int64)
            if v.dtype.kind == "f":
                whole = v.astype(np.int64)   # 1.x: indices of operators are often float32, and so are their NumPy copies
                if isinstance(k, (float, np.generic)) or not isinstance(k, NDArray) and (whole != v).any():
                    raise _bad(k, a.shape, "a fraction is no index; accepted: integers, booleans, slices, None, ...")
                v = whole
            if v.dtype.kind not in "iu":
                raise _bad(k, a.shape, f"dtype {v.dtype} is no index; accepted: integers, booleans, slices, None, ...")
            entries.append(("array", axis, _checked(v.astype(np.int64), a, axis)))
            arrays.append(v)
        axis += 1
    try:
        block = np.broadcast_shapes(*[e[2].shape for e in entries if e[0] == "array"])
    except ValueError:
        raise _bad(tuple(keys), a.shape, "the index arrays cannot be broadcast together") from None
    positions = [i for i, e in enumerate(entries) if e[0] == "array"]
    together = positions == list(range(positions[0], positions[-1] + 1))
    before = [e for i, e in enumerate(entries) if e[0] != "array" and (together and i < positions[0])]
    after = [e for i, e in enumerate(entries) if e[0] != "array"
             and e not in before] if not together else [e for i, e in enumerate(entries)
                                                        if i > positions[-1]]
    result = [1 if e[0] == "new" else len(e[2]) for e in before] + list(block) + [1 if e[0] == "new" else len(e[2]) for e in after]
    ndim = len(result)
    index = [None] * a.ndim
    for place, e in enumerate(before):
        if e[0] == "slice":
            index[e[1]] = e[2].reshape([-1 if i == place else 1 for i in range(ndim)])
    for offset, e in enumerate(after):
        place = len(before) + len(block) + offset
        if e[0] == "slice":
            index[e[1]] = e[2].reshape([-1 if i == place else 1 for i in range(ndim)])
    for e in entries:
        if e[0] == "array":
            v = np.broadcast_to(e[2], block)
            index[e[1]] = v.reshape([1] * len(before) + list(block) + [1] * len(after))
    return index, tuple(result), arrays, entries, together


def _checked(v, a, axis):
    size = a.shape[axis]
    if v.size and (v.min() < -size or v.max() >= size):
        raise IndexError(f"[indexing] indices from {v.min()} to {v.max()} are out of range for "
                         f"axis {axis} of an array of shape {a.shape}; accepted: {-size} to "
                         f"{size - 1}")
    return np.where(v < 0, v + size, v)


def _flat(a, index, result):
    """Row-major positions of the selected elements, int64, of the result's shape."""
    flat = np.zeros(result, dtype=np.int64)
    stride = 1
    for axis in range(a.ndim - 1, -1, -1):
        flat += index[axis] * stride
        stride *= a.shape[axis]
    return flat


def _advanced_get(a, keys):
    index, result, arrays, entries, _ = _plan(a, keys)
    if 0 in result:
        return _nothing_of(a, result)
    # rows picked by one array are a plain take
    if len(arrays) == 1 and entries[0][0] == "array" and all(e[0] == "slice"
                                                             and len(e[2]) == a.shape[e[1]]
                                                             and _forward(e[2])
                                                             for e in entries[1:]):
        return _reshape(_call("take", (a, array(entries[0][2], ctx=a.context, dtype="int64")), axis=0, mode="clip"), result)
    flat = _flat(a, index, result)
    return _reshape(_call("take", (a.reshape((-1,)), array(flat, ctx=a.context, dtype="int64")), axis=0, mode="clip"), result)


def _forward(positions):
    return len(positions) < 2 or positions[1] > positions[0]


def setitem(a, key, value):
    """``a[key] = value``; `value`: number, array or nested list, broadcast to the selection."""
    if not a.writable:
        raise ValueError("[indexing] the array is read-only")
    if is_written(a, key, value):
        return
    if _recording() and _has_history(a):
        if gives_all_values(a, key, value):
            unrecorded(setitem, a, key, value)
            return
        raise _MXValueError("[indexing] assignment to an array with a gradient while autograd records "
                            "is not differentiable; use where() or concatenate")
    if isinstance(key, bool):
        key = slice(None)   # 1.x: `x[True] = v` and `x[False] = v` write all of it, although `x[True]` reads row 1
    keys = _normalise(a, key)
    if not isinstance(value, (NDArray, list, tuple, range)) and getattr(value, "ndim", 0) == 0:
        value = _number(value, _name(a.dtype))
    # Writing through a view would escape the tape: while autograd records, the array itself is the
    # output of a recorded operator.
    recording = _recording()
    if _basic(keys):
        begin, end, step, result, kept = _ranges(a, keys)
        if 0 in kept:
            return
        whole = all(b == 0 and e == n and s == 1 for b, e, s, n in zip(begin, end, step, a.shape))
        rows = _contiguous(a, begin, end, step) and not recording
        if isinstance(value, float):
            if whole:
                _call("_full", (), a, shape=a.shape, dtype=_name(a.dtype), value=value)
            elif rows:
                target = a._slice(begin[0], end[0])
                _call("_full", (), target, shape=target.shape, dtype=_name(a.dtype), value=value)
            else:
                _call("_slice_assign_scalar", (a,), a, scalar=value, **_slice_params(begin, end, step))
            return
        if isinstance(value, np.ndarray) and value.dtype == a.dtype and value.dtype.kind in "fiu" and value.flags["C_CONTIGUOUS"] and rows:
            target = a if a.ndim == 0 else a._slice(begin[0], end[0])
            if value.shape == target.shape:   # without an array in between
                target._copy_from(value, value.nbytes)
                return
        value = value if isinstance(value, NDArray) else array(value, ctx=a.context, dtype=a.dtype)
        value = value.as_in_context(a.context).astype(a.dtype, copy=False)
        plain = _ranges(a, [k for k in keys if k is not None])[3] if any(k is None for k in keys) else result
        value = _fit(value, result, kept, plain)
        if whole and recording:
            _call("_copyto", (_reshape(value, a.shape),), a)
        elif rows:
            target = a if a.ndim == 0 else a._slice(begin[0], end[0])
            value.copyto(target) if value.shape == target.shape else _reshape(value, target.shape).copyto(target)
        else:
            _call("_slice_assign", (a, value), a, **_slice_params(begin, end, step))
        return
    index, result, _, _, _ = _plan(a, keys)
    if 0 in result:
        return
    flat = _flat(a, index, result).reshape(1, -1)
    value = value if isinstance(value, NDArray) else array(value, ctx=a.context, dtype=a.dtype)
    value = _fit(value.astype(a.dtype, copy=False), result, result)
    line, flat = a.reshape((-1,)), array(flat, ctx=a.context, dtype="int64")
    changed = _call("_scatter_set_nd", (line, value.reshape((-1,)), flat), None if recording else line, shape=line.shape)
    if recording:
        _call("_copyto", (_reshape(changed, a.shape),), a)


def gives_all_values(a, key, value):
    """Whether the value is an array of NumPy and for all of `a`, and autograd records: 1.x and 2.0
    write it then although `a` has a gradient, and do not record it."""
    if not isinstance(value, np.ndarray) or is_deferred_compute():
        return False
    keys = _normalise(a, slice(None) if isinstance(key, bool) else key)
    if not _basic(keys):
        return False
    begin, end, step = _ranges(a, keys)[:3]
    return all(b == 0 and e == n and s == 1 for b, e, s, n in zip(begin, end, step, a.shape))


def unrecorded(function, *arguments):
    """What a function gives while autograd does not record."""
    before = set_mode(False, None)[0]
    try:
        return function(*arguments)
    finally:
        set_mode(before, None)


def _number(value, dtype):
    """A value for an array of that dtype as a float. NumPy takes None for NaN, and for False."""
    if value is None and ("float" in dtype or dtype == "bool"):
        return nan if dtype != "bool" else 0.0
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"[indexing] a value {value!r} of type {type(value).__name__}; accepted: "
                        f"numbers, arrays and nested lists of numbers") from None


def _has_history(a):
    return a.grad is not None


def _contiguous(a, begin, end, step):
    """True for whole rows."""
    return a.ndim == 0 or step[0] == 1 and all(b == 0 and e == n and s == 1 for b, e, s, n in list(zip(begin, end, step, a.shape))[1:])


def _fit(value, result, kept, plain=None):
    """`value` broadcast to the selection of shape `result` and given the shape with all axes.

    `plain`: the shape without new axes, which a value may have as well, and which goes first (1.x).
    """
    shape, fitting = value.shape, None
    for target in (result if plain is None or len(shape) > len(plain) else plain, result):
        while len(shape) > len(target) and shape[0] == 1:
            shape = shape[1:]
        if _broadcasts(shape, target):
            fitting = tuple(target)
            break
    if fitting is None:
        raise _MXValueError(f"[indexing] a value of shape {value.shape} does not fit a selection of shape {tuple(result)}")
    value = _reshape(value, shape)
    if tuple(shape) != fitting:
        value = _reshape(value, (1,) * (len(fitting) - len(shape)) + tuple(shape)) if len(fitting) else value
        if value.shape != fitting:
            value = _call("broadcast_to", (value,), shape=fitting)
    return _reshape(value, kept)


def _broadcasts(shape, target):
    try:
        return np.broadcast_shapes(shape, target) == tuple(target)
    except ValueError:
        return False
