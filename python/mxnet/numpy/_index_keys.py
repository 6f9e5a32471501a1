"""What a key of ``x[key]`` says: one entry for each part of it, checked against the array's shape.

Entries are None (a new axis), integers, slices, and :class:`Places` (integer arrays and masks).
"""
import operator

import numpy as onp

from .._binding import NDArrayBase
from ..base import error_class

__all__ = ["Places", "bad_key", "checked_index", "entries"]


class Places:
    """Part of a key that is an array.

    Attributes
    ----------
    values : mx.np.ndarray or numpy.ndarray
        Indices, or truth values of a mask.
    mask : bool
        Whether it is a mask.
    axes : int
        How many axes it stands for: 1, or a mask's number of dimensions.
    """

    __slots__ = ("values", "mask", "axes")

    def __init__(self, values, mask):
        self.values, self.mask = values, mask
        self.axes = values.ndim if mask else 1


def bad_key(key, why):
    """The error for a key that no array accepts."""
    text = str(key) if isinstance(key, (str, int, float)) else type(key).__name__
    return error_class(IndexError, ValueError)(f"[indexing] key {text!r}: {why}; accepted: integers, slices, ..., None, and arrays "
                                               "of integers or booleans")


def checked_index(index, axis, size):
    """An index from 0 on of an axis; IndexError if it has none."""
    if not -size <= index < size:
        raise IndexError(f"[indexing] index {index} is out of bounds for axis {axis} with size {size}")
    return index + size if index < 0 else index


def _entry(k):
    if k is None or k is Ellipsis or type(k) is int:
        return k
    if isinstance(k, slice):
        return slice(*(None if v is None else _bound(v) for v in (k.start, k.stop, k.step)))
    if isinstance(k, (bool, onp.bool_)):
        return Places(onp.asarray(k), True)
    if isinstance(k, NDArrayBase):
        return Places(k.as_np_ndarray(), k.dtype == onp.bool_)
    if isinstance(k, (list, tuple, range, onp.ndarray)):
        return _from_host(k)
    if hasattr(k, "__array__") and getattr(k, "ndim", 0):     # another library's, such as a Series of pandas
        return _from_host(onp.asarray(k))
    try:
        return operator.index(k)
    except TypeError:
        raise bad_key(k, "it is no index") from None


def _bound(value):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"[indexing] a slice has the bound {value!r}; accepted: integers and None") from None


def _plain(k):
    if isinstance(k, (list, tuple)):
        return [_plain(v) for v in k]
    return k.asnumpy() if isinstance(k, NDArrayBase) else k


def _from_host(k):
    try:
        values = onp.asarray(_plain(k))
    except ValueError:
        raise bad_key(k, "it is no rectangular array") from None
    if values.dtype == onp.bool_:
        return Places(values, True)
    if values.size == 0 and not isinstance(k, onp.ndarray):
        values = values.astype("int64")
    if values.dtype.kind == "f":
        whole = values.astype("int64")   # 2.0 makes float32 of integers, so indices may be that
        if (whole != values).any():
            raise bad_key(k, "it has fractions")
        values = whole
    if values.dtype.kind not in "iu":
        raise bad_key(k, f"its dtype is {values.dtype}")
    return Places(values.astype("int64", copy=False), False)


def entries(key, ndim):
    """The entries of a key, for all axes of an array with `ndim` dimensions. An ellipsis is left
    only where it stands for no axis between two entries that are no slices."""
    found = [_entry(k) for k in key] if isinstance(key, tuple) else [_entry(key)]
    used = sum(k.axes if isinstance(k, Places) else k is not None and k is not Ellipsis for k in found)
    if used > ndim:
        raise IndexError(f"[indexing] too many indices for an array of {ndim} dimensions: {used} were given")
    rest = [slice(None)] * (ndim - used)
    at = [i for i, k in enumerate(found) if k is Ellipsis]
    if len(at) > 1:
        raise IndexError("[indexing] an index can only have a single ellipsis ('...')")
    if not at:
        return found + rest
    before, after = found[:at[0]], found[at[0] + 1:]
    if not rest and before and after and _chooses(before[-1]) and _chooses(after[0]):
        rest = [Ellipsis]    # of no axis: it keeps arrays apart
    return before + rest + after


def _chooses(k):
    return k is not None and not isinstance(k, slice)
