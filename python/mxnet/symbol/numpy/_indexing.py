"""``x[key]`` of symbols with NumPy's rules. Shapes are not known, so the graph says what to do for
any shape."""
import numbers

import numpy as onp

from .._symbol import Symbol
from ._symbol import _Symbol, create

__all__ = ["getitem"]

# Codes of npx.reshape: copy a dimension, drop one of size 1, copy all that are left.
_KEEP, _DROP, _REST = -2, -3, -4


def getitem(x, key):
    """``x[key]`` for integers, slices, None, Ellipsis, symbols of integers or bools, and tuples of
    these.

    Raises
    ------
    IndexError
        for other keys, and for symbols mixed with slices.
    """
    if isinstance(key, Symbol):
        return create("_npi_advanced_indexing", [x, key], {})
    keys = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, Symbol) for k in keys):
        if not all(isinstance(k, Symbol) for k in keys):
            raise _bad(key)
        from ... import numpy as np
        stacked = np.stack([k.astype("int64") for k in keys])
        return create("_npx_gather_nd", [x, stacked], {})
    if any(not (k is None or k is Ellipsis or isinstance(k, slice) or _is_int(k)) for k in keys):
        raise _bad(key)
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), len(keys))
    if any(k is Ellipsis for k in keys[at + 1:]):
        raise IndexError(f"[_Symbol] key {key!r} has more than one ellipsis")
    return _from_the_front(_from_the_back(x, keys[at + 1:]), keys[:at])


def _is_int(k):
    return isinstance(k, (numbers.Integral, onp.integer)) and not isinstance(k, (bool, onp.bool_))


def _bad(key):
    return IndexError(f"[_Symbol] Only integer, slice, None, Ellipsis, symbol or tuple of these types are supported! Received key={key}")


def _bounds(k):
    """(begin, end, step) of an integer or a slice."""
    if isinstance(k, slice):
        return k.start, k.stop, k.step
    k = int(k)
    return k, None if k == -1 else k + 1, 1


def _from_the_front(x, keys):
    """The first axes by `keys`: one ``slice``, and a reshape that drops and inserts axes."""
    axes = [k for k in keys if k is not None]
    bounds = [_bounds(k) for k in axes]
    if any(b != (None, None, None) for b in bounds):
        begin, end, step = zip(*bounds)
        steps = {} if all(s in (None, 1) for s in step) else {"step": step}
        x = create("_npx_slice", [x], {"begin": begin, "end": end, **steps})
    if any(_is_int(k) for k in axes):
        x = create("_npx_reshape", [x], {"newshape": (*(_DROP if _is_int(k) else _KEEP for k in axes), _REST)})
    at = 0
    for k in keys:
        if k is None:
            x = create("_npi_expand_dims", [x], {"axis": at})
        at += not _is_int(k)
    return x


def _from_the_back(x, keys):
    """The last axes by `keys`, which are counted from the end."""
    axis = -sum(k is not None for k in keys)
    new, drop, left = [], [], -sum(not _is_int(k) for k in keys)
    for k in keys:
        if k is None:
            new.append(left)
        elif k != slice(None):
            begin, end, step = _bounds(k)
            if step not in (None, 1):
                raise IndexError(f"[_Symbol] a slice with step {step} behind an ellipsis; accepted: one before it, or step 1")
            x = create("slice_axis", [x], {"axis": axis, "begin": begin or 0, "end": end})
        if _is_int(k):
            drop.append(axis)
        axis += k is not None
        left += not _is_int(k)
    if drop:
        x = create("_npi_squeeze", [x], {"axis": tuple(drop)})
    for axis in reversed(new):    # from the last one, so that the others keep their places
        x = create("_npi_expand_dims", [x], {"axis": axis})
    return x


_Symbol.__getitem__ = getitem
