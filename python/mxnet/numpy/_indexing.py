"""``x[key]`` and ``x[key] = value`` of mx.np arrays, for the keys that the compiled binding leaves
to Python.

Keys of integers and slices become views where the elements lie side by side and strided slices
otherwise. Keys with arrays become one gathering (``_index_axes``) or one scattering operator
(``_index_axes_assign``): each axis from the first one that is not taken whole to the last one gets
an array of indices, shaped so that all of them together have the axes of the result in NumPy's
order.
"""
import numbers
from math import prod

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase
from .._binding.written_parts import is_written, lies_together, note_part
from .._arrays.tracing import is_deferred_compute, note_alias, stop
from ..base import _MXValueError
from ..ndarray._indexing import gives_all_values, is_whole, unrecorded
from ..ndarray._native import _recorded, _recording
from ._dispatch import call, empty_array, filled_array, from_values
from ._index_keys import Places, checked_index, entries
from ._traced_indexing import basic, chosen_by_values, gather, on_device, scatter, shapes_are_values
from ._views import shown_as

__all__ = ["getitem", "setitem", "shaped"]

_LARGEST_EXACT = 2 ** 53    # of whole numbers in double


def getitem(a, key):
    """``a[key]``."""
    if is_whole(key) and (a.ndim or not isinstance(key, slice)):
        return a
    keys = entries(key, a.ndim)
    basic = not any(isinstance(k, Places) for k in keys)
    if basic:
        out = _basic_get(a, [k for k in keys if k is not Ellipsis], key)
    else:
        found = _lone_mask(a, keys)
        if found:
            out = _masked(a, *found)
        else:
            out = gather(a, keys) if chosen_by_values(keys) or shapes_are_values((a,)) else _gather(a, keys)
    if basic and is_deferred_compute():     # else it is a copy
        note_alias(a, out, lies_together(keys))
    return out


def shaped(a, shape):
    """The same elements in another shape: a view, or a recorded operation."""
    shape = tuple(shape)
    if shape == a.shape:
        return a
    if 0 in shape or _recorded(a):
        return call("_npi_reshape", (a,), newshape=shape)
    return a._reshape_view(shape, False)


# ---- integers, slices and new axes

class _Ranges:
    """The selection of a basic key: begin, step and count on each axis; `result` is the shape of
    what it gives."""

    __slots__ = ("begin", "step", "count", "result")

    def __init__(self, shape, keys):
        self.begin, self.step, self.count, self.result = [], [], [], []
        for k in keys:
            if k is None:
                self.result.append(1)
                continue
            axis = len(self.begin)
            if isinstance(k, slice):
                begin, end, step = k.indices(shape[axis])
                count = len(range(begin, end, step))
                if not count:       # operators take the begin -1 of a falling slice for the last element
                    begin, step = 0, 1
                self.result.append(count)
            else:
                begin, step, count = checked_index(k, axis, shape[axis]), 1, 1
            self.begin.append(begin)
            self.step.append(step)
            self.count.append(count)

    def params(self):
        """Of the operators that take begin, end and step."""
        ends = [b + n * s for b, n, s in zip(self.begin, self.count, self.step)]
        # a negative end: before the first element
        return {"begin": tuple(self.begin), "end": tuple(None if e < 0 else e for e in ends), "step": tuple(self.step)}

    def offset(self, shape):
        """Where the selection begins if its elements lie side by side, else None."""
        first = next((i for i, n in enumerate(self.count) if n != 1), len(shape))
        if first < len(shape) and self.step[first] != 1:
            return None
        offset = 0
        for i, size in enumerate(shape):
            if i > first and (self.count[i] != size or self.step[i] != 1 and size != 1):
                return None
            offset = offset * size + self.begin[i]
        return offset


def _basic_get(a, keys, key):
    if is_deferred_compute():
        return basic(a, keys)
    view = shown_as(a, lambda x: x[(*keys, ...)])
    if view is not None:
        return view
    shape = a.shape
    if not shape:
        out = shaped(_view(a), (1,) * len(keys))
        return note_part(out, a, key) if _recording() else out
    r = _Ranges(shape, keys)
    if _recorded(a):
        whole = r.count == list(shape) and all(s == 1 for s in r.step)
        out = shaped(call("identity" if whole else "slice", (a,), **({} if whole else r.params())), r.result)
        return out if r.offset(shape) is None else note_part(out, a, key)
    if 0 in r.count:
        return empty_array(tuple(r.result), a.context, a.dtype)
    offset = r.offset(shape)
    if offset is None:
        return shaped(call("slice", (a,), **r.params()), r.result)
    out = shaped(_span(a, offset, prod(r.count)), r.result)
    return note_part(out, a, key) if _recording() else out


def _view(a):
    return call("identity", (a,)) if _recorded(a) else a._reshape_view(a.shape, False)


def _span(a, offset, count):
    """View of elements that lie side by side, as a vector."""
    return a._reshape_view((a.size,), False)._slice(offset, offset + count)


# ---- arrays

def _lone_mask(a, keys):
    """(mask, its first axis) of a key whose other entries take axes whole, or None."""
    masks = [i for i, k in enumerate(keys) if isinstance(k, Places) and k.mask and k.axes]
    if len(masks) != 1 or not all(isinstance(k, slice) and k == slice(None) for i, k in enumerate(keys) if i != masks[0]):
        return None
    return _checked_mask(a, keys[masks[0]], masks[0]), masks[0]


def _checked_mask(a, places, axis):
    """The values of a mask that fits the axes from `axis` on."""
    mask = places.values
    if is_deferred_compute() and isinstance(mask, NDArrayBase) and mask.ndim == 1:
        return mask     # the operator compares; the shapes may depend on values
    for i, (n, size) in enumerate(zip(mask.shape, a.shape[axis:])):
        if n != size:
            raise IndexError(f"[indexing] boolean index did not match indexed array along axis {axis + i}; size of axis is {size} but "
                             f"size of corresponding boolean axis is {n}")
    return mask


def _masked(a, mask, axis):
    ndim = mask.ndim
    mask = on_device(a, mask, "bool")
    if ndim > 1:
        shape = a.shape
        if is_deferred_compute() and shape[1:] == mask.shape[1:]:     # a graph that is exported serves other sizes, too
            a, mask = (call("_npi_reshape", (v,), newshape=(-1,)) for v in (a, mask))
        else:
            a = shaped(a, shape[:axis] + (prod(shape[axis:axis + ndim]),) + shape[axis + ndim:])
            mask = shaped(mask, (mask.size,))
    return call("_npi_boolean_mask", (a, mask), axis=axis)


def _without_truth_values(a, keys):
    """The array and the key with an axis of size 1, of which 1 or 0 entries are taken, for each
    truth value."""
    if not any(isinstance(k, Places) and k.mask and not k.axes for k in keys):
        return a, keys
    shape, keys, axis = list(a.shape), list(keys), 0
    for i, k in enumerate(keys):
        if isinstance(k, Places) and not k.axes:
            shape.insert(axis, 1)
            keys[i] = Places(onp.zeros(int(bool(k.values)), "int64"), False)
        if k is not None and k is not Ellipsis:
            axis += keys[i].axes if isinstance(keys[i], Places) else 1
    return shaped(a, shape), keys


def _parts(a, keys):
    """The key as (entry, axis): None, slices, integers and index arrays. New axes have no axis."""
    out, axis, shape = [], 0, a.shape
    for k in keys:
        if k is None or k is Ellipsis:
            out.append((k, None))
            continue
        if isinstance(k, Places) and k.mask:
            mask = _checked_mask(a, k, axis)
            for part in onp.nonzero(mask if isinstance(mask, onp.ndarray) else mask.asnumpy()):
                out.append((part, axis))
                axis += 1
            continue
        if isinstance(k, Places):
            k = k.values
        elif not isinstance(k, slice):
            k = checked_index(k, axis, shape[axis])
        out.append((k, axis))
        axis += 1
    return out


def _check_host(values, axis, shape, empty):
    """Looks at indices that are on the host; the operator does that for the others, if it has
    anything to read."""
    if empty and isinstance(values, NDArrayBase) and not is_deferred_compute():
        values = values.asnumpy()
    if isinstance(values, onp.ndarray):
        size, low, high = shape[axis], values.min(), values.max()
        if low < -size or high >= size:
            raise IndexError(f"[indexing] index {high if high >= size else low} is out of bounds for axis {axis} with size {size}")


class _Plan:
    """How ``_index_axes`` reads a key with arrays.

    Attributes
    ----------
    axis : int
        The first axis that gets an index array.
    arrays : list
        Those arrays, which broadcast to the axes of the result that they give.
    result : list of int
        Shape of ``a[key]``.
    pieces : list of int
        The same without new axes, which is what the operator gives.
    """

    __slots__ = ("axis", "arrays", "result", "pieces")

    def __init__(self, a, keys):
        shape, parts = a.shape, _parts(a, keys)
        chosen = [i for i, (k, axis) in enumerate(parts) if axis is not None and not isinstance(k, slice)]
        block = _block([parts[i][0].shape for i in chosen if not isinstance(parts[i][0], int)])
        together = chosen[-1] - chosen[0] + 1 == len(chosen)
        before = chosen[0] if together else 0    # else the axes of the arrays come first
        slices = [i for i, (k, _) in enumerate(parts) if isinstance(k, slice)]
        sizes = {i: len(range(*parts[i][0].indices(shape[parts[i][1]]))) for i in slices}
        front, back = [i for i in slices if i < before], [i for i in slices if i >= before]
        self.pieces = [sizes[i] for i in front] + block + [sizes[i] for i in back]
        if 0 not in block:    # as in NumPy: nothing is looked up otherwise
            for k, axis in parts:
                _check_host(k, axis, shape, 0 in self.pieces)
        place = {i: n for n, i in enumerate(front)}
        place.update({i: n + len(front) + len(block) for n, i in enumerate(back)})
        self.result = self._result(parts, sizes, block, before)
        special = [axis for k, axis in parts if axis is not None and not _whole(k, shape[axis])]
        last = max(special)
        self.axis = min(special) if together else 0
        end = len(self.pieces) - (len(shape) - 1 - last)    # of the axes that index arrays give
        self.arrays = []
        for i, (k, axis) in enumerate(parts):
            # its axes are followed by those of the arrays and slices behind it
            if axis is None or not self.axis <= axis <= last:
                continue
            if isinstance(k, slice):
                k, behind = onp.arange(*k.indices(shape[axis])), end - 1 - place[i]
            else:
                k, behind = onp.asarray(k) if isinstance(k, int) else k, end - len(front) - len(block)
            self.arrays.append(_with_axes(k, behind))

    @staticmethod
    def _result(parts, sizes, block, before):
        def sized(entries_):
            return [1 if k is None else sizes[i] for i, (k, _) in entries_ if k is None or isinstance(k, slice)]
        numbered = list(enumerate(parts))
        return sized(numbered[:before]) + block + sized(numbered[before:])


def _whole(k, size):
    return isinstance(k, slice) and k.indices(size) == (0, size, 1)


def _with_axes(values, behind):
    """An index array with axes of size 1 behind it, if it has any axis."""
    if not behind or not values.ndim:
        return values
    shape = values.shape + (1,) * behind
    return values.reshape(shape) if isinstance(values, onp.ndarray) else shaped(values, shape)


def _block(shapes):
    try:
        return list(onp.broadcast_shapes(*shapes))
    except ValueError:
        raise IndexError("[indexing] shape mismatch: indexing arrays could not be broadcast together with shapes "
                         + " ".join(map(str, shapes))) from None


def _gather(a, keys):
    a, keys = _without_truth_values(a, keys)
    plan = _Plan(a, keys)
    return shaped(call("_index_axes", [a, *(on_device(a, v) for v in plan.arrays)], axis=plan.axis), plan.result)


# ---- assignment

def setitem(a, key, value):
    """``a[key] = value``: a number, an array or nested lists, broadcast to the selection and cast
    to the array's dtype."""
    if not a.writable:
        raise ValueError("[indexing] the array is read-only")
    if is_written(a, key, value):
        return
    if _recording() and not is_deferred_compute() and a.grad is not None:
        if gives_all_values(a, key, value):
            unrecorded(setitem, a, key, value)
            return
        raise _MXValueError("[indexing] assignment to an array with a gradient while autograd records is not differentiable; accepted: "
                            "np.where, or assignment to a result")
    keys = entries(key, a.ndim)
    value = _value(a, value)
    sized = not is_deferred_compute() or not shapes_are_values((a, value))
    if not any(isinstance(k, Places) for k in keys):
        if not sized:
            stop("a part is assigned that has a shape which depends on values")
        _basic_set(a, [k for k in keys if k is not Ellipsis], value)
        return
    found = _lone_mask(a, keys) if sized else None
    if found and _masked_set(a, *found, value):
        return
    if sized and not chosen_by_values(keys):
        _scatter(a, keys, value)
    else:
        scatter(a, keys, _as_array(a, value))


def _value(a, value):
    """What is to be assigned: a float, or an mx.np array of the dtype of `a` on its device."""
    if value is None and a.dtype.kind in "fb":      # as NumPy
        return float("nan") if a.dtype.kind == "f" else 0.0
    if isinstance(value, NDArrayBase):
        if value.as_np_ndarray() is not value:
            raise TypeError("[indexing] got an array of mx.nd to assign to one of mx.np; accepted: value.as_np_ndarray()")
        return value.as_in_context(a.context).astype(a.dtype, copy=False)
    if isinstance(value, (numbers.Real, onp.bool_)):
        if not isinstance(value, numbers.Integral) or abs(int(value)) <= _LARGEST_EXACT:
            return float(value)
    elif not isinstance(value, (list, tuple, range, onp.ndarray)) and hasattr(value, "__array__"):    # such as a Series of pandas
        value = onp.asarray(value)
    elif not isinstance(value, (list, tuple, range, onp.ndarray)):
        raise TypeError(f"[indexing] a value of type {type(value).__name__}; accepted: numbers, arrays and nested lists of numbers")
    return from_values(_host_values(value), a.context, a.dtype)


def _host_values(value):
    if isinstance(value, (list, tuple)):
        return [_host_values(v) for v in value]
    return value.asnumpy() if isinstance(value, NDArrayBase) else value


def _fitted(value, result, pieces):
    """`value` as one that broadcasts to `pieces`, the selection `result` without its new axes."""
    shape = value.shape
    while len(shape) > len(result) and shape[0] == 1:
        shape = shape[1:]
    if len(shape) > len(result) or any(n not in (1, size) for n, size in zip(shape[::-1], result[::-1])):
        raise ValueError(f"[indexing] could not broadcast an array of shape {value.shape} into the selection of shape {tuple(result)}")
    if list(pieces) != list(result):
        shape = _aligned((1,) * (len(result) - len(shape)) + tuple(shape), result, pieces)
    return shaped(value, shape)


def _aligned(shape, result, pieces):
    """`shape`, which broadcasts to `result`, without or with axes of size 1 so that it broadcasts
    to `pieces`."""
    out, left = [], [n for n, size in zip(shape, result) if size != 1]
    for size in pieces:
        out.append(1 if size == 1 else left.pop(0))
    return tuple(out)


def _basic_set(a, keys, value):
    shape = a.shape
    if not shape:
        _write(a, value if isinstance(value, float) else shaped(_fitted(value, [1] * len(keys), []), ()))
        return
    r = _Ranges(shape, keys)
    if not isinstance(value, float):
        value = _fitted(value, r.result, r.count)
    if 0 in r.count:
        return
    offset = None if _recording() else r.offset(shape)
    if offset is not None:
        _write(shaped(_span(a, offset, prod(r.count)), r.count), value)
    elif isinstance(value, float):
        call("_slice_assign_scalar", (a,), a, scalar=value, **r.params())
    else:
        call("_slice_assign", (a, _broadcast(value, r.count)), a, **r.params())


def _broadcast(value, shape):
    return value if value.shape == tuple(shape) else call("_npi_broadcast_to", (value,), shape=tuple(shape))


def _write(target, value):
    """Fills a whole array with a number or an array that broadcasts to it."""
    if isinstance(value, float):
        call("_npi_full", (), target, shape=target.shape, dtype=_dtypes.name(target.dtype), value=value)
    else:
        call("_copyto", (_broadcast(value, target.shape),), target)


def _as_array(a, value):
    return filled_array("_npi_full", (), a.context, a.dtype, value) if isinstance(value, float) else value


def _masked_set(a, mask, axis, value):
    """Writes where a mask says, if every chosen place gets the same; returns whether it did."""
    inner = a.shape[axis + mask.ndim:]
    value = _as_array(a, value)
    shape = value.shape
    if len(shape) > len(inner):
        if len(shape) != len(inner) + 1 or shape[0] != 1 or axis:
            return False
        shape = shape[1:]
    if any(n not in (1, size) for n, size in zip(shape[::-1], inner[::-1])):
        return False
    if a.size:
        mask = on_device(a, mask, "bool")
        call("_npi_where", (shaped(mask, mask.shape + (1,) * len(inner)), shaped(value, shape), a), a)
    return True


def _scatter(a, keys, value):
    target, keys = _without_truth_values(a, keys)
    plan = _Plan(target, keys)
    value = _fitted(_as_array(a, value), plan.result, plan.pieces)
    if 0 in plan.pieces:
        return
    inputs = [target, value, *(on_device(a, v) for v in plan.arrays)]
    if target is a or not _recording():    # else the target is a result of a recorded operator
        call("_index_axes_assign", inputs, target, axis=plan.axis)
    else:
        call("_copyto", (shaped(call("_index_axes_assign", inputs, axis=plan.axis), a.shape),), a)
