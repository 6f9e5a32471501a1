"""Running sums and products of mx.np."""

import numpy as onp

from .. import _dtypes
from .._binding import is_traced
from ._dispatch import call, deliver, dtype_name, is_symbol, operand
from ._joining import axis_of, concatenate, shape_of, with_axis
from ._reductions import _without_nan, cumsum

__all__ = ["cumulative_sum", "cumulative_prod", "cumprod", "nancumprod"]

# NumPy's dtypes for running products, where they are not those of the array.
_WIDER = {kind: onp.cumprod(onp.zeros(0, kind)).dtype.name for kind in ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")}


def _line(function, x, axis):
    """`x` and the axis to run along; None stands for that of a vector, as in NumPy."""
    x = operand(x)
    if axis is not None:
        return x, axis
    if not is_symbol(x) and x.ndim > 1:
        raise ValueError(
            f"[{function}] an array of {x.ndim} dimensions without axis; accepted: "
            "a vector, or an axis"
        )
    return (
        call("_npi_reshape", (x,), newshape=(-1,)) if not is_symbol(x) and x.ndim == 0 else x
    ), 0


def _with_start(run, start, axis, include_initial):
    if not include_initial:
        return run
    shape = list(shape_of("cumulative", run))
    shape[axis] = 1
    first = call(
        "_npi_full",
        (),
        shape=tuple(shape),
        value=start,
        dtype=_dtypes.name(run.dtype),
        ctx=str(run.context),
    )
    return concatenate((first, run), axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sums along a dimension, in the dtype of `x` (bool: int64) or in `dtype`. Only a
    vector may do without `axis`. With `include_initial` a zero stands before them.

    Examples
    --------
    >>> mx.np.cumulative_sum(mx.np.array([1, 2, 3]), include_initial=True)
    array([0., 1., 3., 6.])
    """
    x, axis = _line("cumulative_sum", x, axis)
    return deliver(_with_start(cumsum(x, axis, dtype), 0.0, axis, include_initial), out)


def _scanned(a, axis, size):
    """Running products by doubling: every element takes in the product of as many before it."""
    reach = 1
    while reach < size:
        head = call("slice_axis", (a,), axis=axis, begin=0, end=reach)
        rest = call("slice_axis", (a,), axis=axis, begin=reach, end=size)
        before = call("slice_axis", (a,), axis=axis, begin=0, end=size - reach)
        a = concatenate((head, call("_npi_multiply", (rest, before))), axis)
        reach *= 2
    return call("_npi_copy", (a,)) if size < 2 else a


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along a dimension, or of the array taken as a vector; in `dtype`, or NumPy's
    dtype for them, that of `a` or a wider integer. Differentiable.

    Examples
    --------
    >>> mx.np.cumprod(mx.np.array([1, 2, 3]))
    array([1., 2., 6.])
    """
    a = operand(a)
    if axis is None:
        a, axis = call("_npi_reshape", (a,), newshape=(-1,)), 0
    a = with_axis(a, axis)
    shape = shape_of("cumprod", a)
    axis = axis_of("cumprod", axis, len(shape))
    kind = dtype_name(dtype) or _dtypes.name(a.dtype)
    if dtype is None:
        kind = _WIDER.get(kind, kind)
    a = a if _dtypes.name(a.dtype) == kind else call("_npi_cast", (a,), dtype=kind)
    # The operator of its own has no gradient, and a GPU's arrays would go over the host.
    if not is_traced() and a.context.device_type.startswith("cpu"):
        return deliver(call("_npi_cumprod", (a,), axis=axis), out)
    return deliver(_scanned(a, axis, shape[axis]), out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """:func:`cumprod` that counts NaN as 1.

    Examples
    --------
    >>> mx.np.nancumprod(mx.np.array([2.0, mx.np.nan, 3.0]))
    array([2., 2., 6.])
    """
    return cumprod(_without_nan(a, 1)[0], axis, dtype, out)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running products along a dimension, as :func:`cumprod`. Only a vector may do without `axis`.
    With `include_initial` a one stands before them.

    Examples
    --------
    >>> mx.np.cumulative_prod(mx.np.array([1, 2, 3]), include_initial=True)
    array([1., 1., 2., 6.])
    """
    x, axis = _line("cumulative_prod", x, axis)
    return deliver(_with_start(cumprod(x, axis, dtype), 1.0, axis, include_initial), out)
