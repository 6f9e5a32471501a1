"""The set functions of the array API standard."""
from collections import namedtuple

from ._dispatch import call, operand

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]

UniqueAll = namedtuple("UniqueAll", ["values", "indices", "inverse_indices", "counts"])
UniqueCounts = namedtuple("UniqueCounts", ["values", "counts"])
UniqueInverse = namedtuple("UniqueInverse", ["values", "inverse_indices"])


def _shaped(inverse, x):
    return call("_npi_reshape", (inverse,), newshape=tuple(x.shape))


def unique_all(x):
    """The different elements of an array in order, with the first index of each, the index among
    the results of each element of `x` (in its shape), and how often each stands there.

    Examples
    --------
    >>> mx.np.unique_all(mx.np.array([2, 1, 2])).counts.tolist()
    [1, 2]
    """
    x = operand(x)
    values, indices, inverse, counts = call("_npi_unique", (x,), return_index=True, return_inverse=True, return_counts=True)
    return UniqueAll(values, indices, _shaped(inverse, x), counts)


def unique_counts(x):
    """The different elements of an array in order, and how often each stands there.

    Examples
    --------
    >>> mx.np.unique_counts(mx.np.array([2, 1, 2])).counts.tolist()
    [1, 2]
    """
    return UniqueCounts(*call("_npi_unique", (operand(x),), return_counts=True))


def unique_inverse(x):
    """The different elements of an array in order, and the index among them of each element of `x`,
    in its shape.

    Examples
    --------
    >>> mx.np.unique_inverse(mx.np.array([2, 1, 2])).inverse_indices.tolist()
    [1, 0, 1]
    """
    x = operand(x)
    values, inverse = call("_npi_unique", (x,), return_inverse=True)
    return UniqueInverse(values, _shaped(inverse, x))


def unique_values(x):
    """The different elements of an array, in order.

    Examples
    --------
    >>> mx.np.unique_values(mx.np.array([2, 1, 2]))
    array([1., 2.])
    """
    return call("_npi_unique", (operand(x),))
