"""Vectors that slide along each other: ``mx.np.convolve`` and ``mx.np.correlate``."""

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase
from ._dispatch import call, operand, promoted
from ._joining import concatenate, entries

__all__ = ["convolve", "correlate"]


def convolve(a, v, mode="full"):
    """The discrete convolution of two vectors: of length m + n - 1 ("full"), max(m, n) ("same"), or
    where they overlap wholly ("valid"). Dtypes meet. Differentiable.

    Examples
    --------
    >>> mx.np.convolve(mx.np.array([1, 2, 3]), mx.np.array([0, 1, 0.5]))
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    return _slid(a, v, mode, True)


def _slid(a, v, mode, turned):
    """The convolution, or, unless `v` is `turned`, the correlation."""
    like = a if isinstance(a, NDArrayBase) else v
    a, v = operand(a, like=like), operand(v, like=like)
    if a.dtype is not v.dtype:
        a, v = promoted([a, v])
    m, n = a.size, v.size
    if a.ndim != 1 or v.ndim != 1 or not m or not n:
        raise ValueError(
            f"[convolve] shapes {a.shape} and {v.shape}; accepted: vectors that are not empty"
        )
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"[convolve] mode={mode!r}; accepted: full, same, valid")
    swapped = n > m
    if swapped:
        a, v, n = v, a, m
    if a.dtype == onp.bool_ or a.context.device_type == "gpu":
        result = _by_product(a, v if turned else call("_npi_flip", (v,), axis=0), mode)
        return call("_npi_flip", (result,), axis=0) if swapped and not turned else result
    sides = (n // 2, (n - 1) // 2) if mode == "same" else (0, 0)
    return call(
        "_npi_convolve", (a, v), before=sides[0], after=sides[1], full=mode == "full", turned=turned,
        reversed=swapped and not turned,
    )


def _by_product(a, v, mode):
    """The convolution as a product of matrices: the rows are stretches of `a`, of which neighbours
    overlap, and column c of the other one is the turned filter, moved on by c."""
    m, n = a.size, v.size
    length = min(max(16, -(-(n - 1) // 16) * 16), 512)
    rows, more = -(-(m + n - 1) // length), -(-(n - 1) // length)
    stretches = _between_zeros(a, n - 1, (rows + more) * length).reshape(rows + more, length)
    if more:
        stretches = concatenate([entries(stretches, 0, i, i + rows) for i in range(more + 1)], axis=1)
    place = onp.arange(length) - onp.arange((more + 1) * length)[:, None] + n - 1
    place = onp.where((place >= 0) & (place < n), place, n)
    moved = call("_npi_take", (_between_zeros(v, 0, n + 1), operand(place, like=a)), axis=0, mode="clip")
    result = call("_npi_dot", (stretches, moved)).reshape(-1)
    begin = {"full": 0, "same": (n - 1) // 2, "valid": n - 1}[mode]
    count = {"full": m + n - 1, "same": m, "valid": m - n + 1}[mode]
    return entries(result, 0, begin, begin + count)


def correlate(a, v, mode="valid"):
    """The sums of products of two vectors that are moved along each other: where they overlap
    wholly ("valid"), as many as in the longer ("same"), or all ("full"). Dtypes meet.
    Differentiable.

    Examples
    --------
    >>> mx.np.correlate(mx.np.array([1, 2, 3]), mx.np.array([0, 1, 0.5]))
    array([3.5])
    """
    return _slid(a, v, mode, False)


def _between_zeros(a, before, length):
    """A vector of `length` elements: `before` zeros, those of `a`, and zeros."""
    def zeros(count):
        return call("_npi_zeros", (), shape=(count,), dtype=_dtypes.name(a.dtype), ctx=str(a.context))

    behind = length - before - a.size
    parts = ([zeros(before)] if before else []) + [a] + ([zeros(behind)] if behind else [])
    return concatenate(parts) if len(parts) > 1 else a
