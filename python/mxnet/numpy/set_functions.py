"""The set functions of the array API standard. Unlike for ``unique``, a NaN differs from every
other."""
from collections import namedtuple

import numpy as onp

from .. import _dtypes
from ._dispatch import call, is_symbol, operand

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]

UniqueAll = namedtuple("UniqueAll", ["values", "indices", "inverse_indices", "counts"])
UniqueCounts = namedtuple("UniqueCounts", ["values", "counts"])
UniqueInverse = namedtuple("UniqueInverse", ["values", "inverse_indices"])


def _shaped(inverse, x):
    return call("_npi_reshape", (inverse,), newshape=tuple(x.shape))


def _has_nan(x):
    return not is_symbol(x) and x.size and "float" in _dtypes.name(x.dtype) and bool(call("_npi_any", (call("_npi_isnan", (x,)),)))


def _different(x):
    """Values, first indices, inverse indices and counts, where every NaN is different from all."""
    flat = call("_npi_reshape", (x,), newshape=(-1,))
    order = call("_npi_argsort", (flat,), axis=0, is_ascend=True, dtype="int64")
    ordered = call("_npi_take", (flat, order), axis=0, mode="clip")
    values = ordered.asnumpy().astype("float64")
    starts = onp.flatnonzero(onp.concatenate(([True], values[1:] != values[:-1])))
    numbers = onp.zeros(values.size, "int64")
    numbers[order.asnumpy()] = onp.repeat(onp.arange(starts.size), onp.diff(starts, append=values.size))
    first = operand(starts.astype("int64"), like=x)
    return (call("_npi_take", (ordered, first), axis=0, mode="clip"), call("_npi_take", (order, first), axis=0, mode="clip"),
            operand(numbers, like=x), operand(onp.diff(starts, append=values.size).astype("int64"), like=x))


def unique_all(x):
    """The different elements of an array in order, with the first index of each, the index among
    the results of each element of `x` (in its shape), and how often each stands there.

    Examples
    --------
    >>> mx.np.unique_all(mx.np.array([2, 1, 2])).counts.tolist()
    [1, 2]
    """
    x = operand(x)
    found = _different(x) if _has_nan(x) else call("_npi_unique", (x,), return_index=True, return_inverse=True, return_counts=True)
    values, indices, inverse, counts = found
    return UniqueAll(values, indices, _shaped(inverse, x), counts)


def unique_counts(x):
    """The different elements of an array in order, and how often each stands there.

    Examples
    --------
    >>> mx.np.unique_counts(mx.np.array([2, 1, 2])).counts.tolist()
    [1, 2]
    """
    x = operand(x)
    if _has_nan(x):
        values, _, _, counts = _different(x)
        return UniqueCounts(values, counts)
    return UniqueCounts(*call("_npi_unique", (x,), return_counts=True))


def unique_inverse(x):
    """The different elements of an array in order, and the index among them of each element of `x`,
    in its shape.

    Examples
    --------
    >>> mx.np.unique_inverse(mx.np.array([2, 1, 2])).inverse_indices.tolist()
    [1, 0, 1]
    """
    x = operand(x)
    if _has_nan(x):
        values, _, inverse, _ = _different(x)
    else:
        values, inverse = call("_npi_unique", (x,), return_inverse=True)
    return UniqueInverse(values, _shaped(inverse, x))


def unique_values(x):
    """The different elements of an array, in order.

    Examples
    --------
    >>> mx.np.unique_values(mx.np.array([2, 1, 2]))
    array([1., 2.])
    """
    x = operand(x)
    return _different(x)[0] if _has_nan(x) else call("_npi_unique", (x,))
