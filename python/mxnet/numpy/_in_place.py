"""``a OP= b`` where the result has another dtype than `a`; the bindings call it."""
import numpy as onp

from .. import _dtypes
from ._dispatch import call


def _check_kind(have, want):
    """NumPy casts a result back within its kind, and refuses to otherwise."""
    narrow = have.replace("bfloat", "float"), want.replace("bfloat", "float")
    if not onp.can_cast(*narrow, "same_kind"):
        raise TypeError(f"[operator] the result is {have}, which the array of {want} in place cannot take; accepted: one of the same "
                        "kind")


def cast_in_place(a, record, other):
    """The result for two arrays, written into `a`."""
    result = call(record, (a, other))
    _check_kind(_dtypes.name(result.dtype), _dtypes.name(a.dtype))
    return call("_copyto", (result,), a)


def whole_in_place(a, number):
    """What a float stands for beside the integers of `a`. 1.9.1 cuts fractions off, NumPy refuses
    all floats."""
    if not number.is_integer() or abs(number) > 1e15:
        _check_kind("float64", _dtypes.name(a.dtype))
    return int(number)
