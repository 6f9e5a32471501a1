"""Functions of mx.np that reduce arrays over axes: sums, means, extremes, truths, statistics."""
import operator
from math import inf

import numpy as onp

from .. import _dtypes
from .._arrays.tracing import is_deferred_compute
from ..ndarray._native import _recording
from ._dispatch import call, check_out, compiled, default_float, deliver, dtype_name, is_symbol, operand

__all__ = ["all", "alltrue", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "cumsum", "max", "mean", "min", "nancumsum",
           "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "product", "ptp", "sometrue", "std", "sum",
           "var"]

_NOTHING = getattr(onp, "_NoValue", None)
_BOOL = _dtypes.number("bool")


def axes_of(axis):
    """An axis argument as the records take it: None or a tuple of ints."""
    if axis is None:
        return None
    if isinstance(axis, (tuple, list)):
        return tuple(operator.index(a) for a in axis)
    return (operator.index(axis),)


def _given(value, otherwise=None):
    """An argument that NumPy may pass as its mark for "not given"."""
    return otherwise if value is _NOTHING else value


def _reduce(name, a, out, like=None, **params):
    """The record's result, in `out` if there is one: directly where that has the dtype `like`."""
    check_out(name, out)
    if out is not None and not is_symbol(a) and like is not None and _dtypes.name(out.dtype) == like:
        return call(name, (a,), out, **params)
    return deliver(call(name, (a,), None, **params), out)


def _masked(a, where, value):
    """`a` with `value` where the mask is False."""
    return call("_npi_where_rscalar", (operand(where, a, "bool"), a), scalar=float(value))


def _no_mask(where):
    return where is None or where is True or where is _NOTHING


def _natural(a, counts):
    """The dtype of a sum (`counts`: bool becomes int64) or an extreme."""
    if is_symbol(a):
        return None
    name = _dtypes.name(a.dtype)
    return "int64" if counts and name == "bool" else name


def _adds_wide(a, dtype):
    """Whether the record adds `a` as if it had the dtype `dtype`: it keeps integers in int64, whose
    last bits are those of narrower sums, and in float64 where the result is a float."""
    whole = ("int", "uint", "bool")
    return _dtypes.name(a.dtype).startswith(whole) and dtype.startswith((*whole, "float32", "float64"))


def _sum_like(record, a, axis, dtype, out, keepdims, initial, where, neutral):
    a = operand(a)
    dtype, keepdims, initial = dtype_name(_given(dtype)), bool(_given(keepdims, False)), _given(initial)
    if not _no_mask(where):
        a = _masked(a, where, neutral)
    if dtype == "bool" and not is_symbol(a):
        a = call("_npi_cast", (a,), dtype="bool")       # whether any, or all, are not 0
    elif dtype and (dtype.startswith(("int", "uint")) or not is_symbol(a) and a.dtype not in (onp.float32, onp.float64)):
        if is_symbol(a) or _dtypes.name(a.dtype) != dtype and not _adds_wide(a, dtype):
            a = call("_npi_cast", (a,), dtype=dtype)    # NumPy casts first, then adds
    return _reduce(record, a, out, dtype or _natural(a, True), axis=axes_of(axis), dtype=dtype, keepdims=keepdims,
                   initial=None if initial is None else float(initial))


@compiled("_npi_sum")
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):   # pylint: disable=redefined-builtin
    """Sum of elements over axes.

    Parameters
    ----------
    a : ndarray
        Data of any shape and dtype.
    axis : int or tuple of int, optional
        What to sum over; None is everything, () nothing.
    dtype : dtype, optional
        Of the result, and to add in. Otherwise that of `a`, int64 for bool; unlike in NumPy small
        integers stay small.
    out : ndarray, optional
        Where the result goes.
    keepdims : bool
        Whether the axes stay with size 1.
    initial : number, optional
        Is added.
    where : ndarray of bool, optional
        The elements to add.

    Examples
    --------
    >>> mx.np.sum(mx.np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0).asnumpy().tolist()
    [4.0, 6.0]
    """
    return _sum_like("_npi_sum", a, axis, dtype, out, keepdims, initial, where, 0)


@compiled("_npi_prod")
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """Product of elements over axes; arguments as for :func:`sum`.

    Examples
    --------
    >>> mx.np.prod(mx.np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1).asnumpy().tolist()
    [2.0, 12.0]
    """
    return _sum_like("_npi_prod", a, axis, dtype, out, keepdims, initial, where, 1)


product = prod


def _count(a, axis, keepdims, where=None):
    """How many elements are behind each result, as an array if there is a mask."""
    if not _no_mask(where):
        mask = operand(where, a, "bool")
        ones = call("_npi_logical_or", (mask, call("_npi_broadcast_to", (mask,), shape=a.shape)))
        return call("_npi_sum", (ones,), axis=axes_of(axis), keepdims=keepdims)
    sizes = a.shape if axis is None else [a.shape[i] for i in axes_of(axis)]
    return int(onp.prod(sizes))


@compiled("_npi_mean")
def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """Arithmetic mean over axes; arguments as for :func:`sum`.

    Integers and bool give float32 (float64 with NumPy's default dtypes); floats keep their dtype.
    The mean of nothing is NaN.

    Examples
    --------
    >>> mx.np.mean(mx.np.array([[1.0, 2.0], [3.0, 4.0]])).asnumpy().item()
    2.5
    """
    a = operand(a)
    keepdims, dtype = bool(_given(keepdims, False)), dtype_name(_given(dtype))
    if not _no_mask(where):
        dtype = dtype or quotient_of(a)
        total, count = sum(a, axis, dtype, None, keepdims, None, where), _count(a, axis, keepdims, where)
        result = call("_npi_true_divide", (total, call("_npi_cast", (count,), dtype=dtype)))
        return deliver(result if "float" in dtype else call("_npi_cast", (result,), dtype=dtype), out)
    return _reduce("_npi_mean", a, out, dtype or quotient_of(a), axis=axes_of(axis), dtype=dtype, keepdims=keepdims)


def quotient_of(a):
    """The dtype of means of `a`."""
    name = "float32" if is_symbol(a) else _dtypes.name(a.dtype)
    return name if "float" in name else default_float()


def _variance(record, a, axis, dtype, out, ddof, keepdims, correction, where, centre=None, undefined=0.0):
    # `undefined`: what a divisor that is not positive is taken for
    a, centre = operand(a), _given(centre)
    keepdims, dtype = bool(_given(keepdims, False)), dtype_name(_given(dtype))
    freedom = ddof if correction is None or correction is _NOTHING else correction
    if centre is None and _no_mask(where) and float(freedom).is_integer():
        return _reduce(record, a, out, dtype or quotient_of(a), axis=axes_of(axis), dtype=dtype, ddof=int(freedom), keepdims=keepdims)
    where = True if _no_mask(where) else where
    whole = dtype is not None and "float" not in dtype      # the exact variance, cut off, as the record has it
    a = a if dtype is None or whole else call("_npi_cast", (a,), dtype=dtype)
    centre = mean(a, axis, dtype if dtype and not whole else quotient_of(a), None, True, where) if centre is None else operand(centre, a)
    apart = call("_npi_square", (call("_npi_subtract", (a, centre)),))
    count = _count(a, axis, keepdims, operand(where, a, "bool") if where is not True else operand(onp.True_, a))
    rest = call("_npi_cast", (call("_npi_subtract_scalar", (count,), scalar=float(freedom), is_int=False),), dtype=quotient_of(apart))
    positive = call("_npi_greater_scalar", (rest,), scalar=0.0, is_int=True)
    rest = call("_npi_where_rscalar", (positive, rest), scalar=undefined)
    total = sum(apart, axis, None, None, keepdims, None, where)
    result = call("_npi_true_divide", (total, rest))
    result = _root(result) if record == "_npi_std" else result
    return deliver(call("_npi_cast", (result,), dtype=dtype) if whole else result, out)


def _root(variance):
    # The gradient at 0 is 0, as that of `_npi_std`; the square root's own is infinite there.
    other = call("_npi_not_equal_scalar", (variance,), scalar=0.0, is_int=True)
    root = call("_npi_sqrt", (call("_npi_where_rscalar", (other, variance), scalar=1.0),))
    return call("_npi_where_rscalar", (other, root), scalar=0.0)


@compiled("_npi_var")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, where=None, mean=None):   # noqa: E501 pylint: disable=redefined-outer-name
    """Variance over axes: the mean square distance from the mean, with a divisor of N - ddof.

    Parameters
    ----------
    a, axis, dtype, out, keepdims, where
        As for :func:`mean`.
    ddof : int or float
        Delta degrees of freedom.
    correction : int or float, optional
        Another name of it, that of the array API.
    mean : ndarray, optional
        The mean, if it is known, with the axes of size 1.

    Examples
    --------
    >>> mx.np.var(mx.np.array([1.0, 3.0])).asnumpy().item()
    1.0
    """
    return _variance("_npi_var", a, axis, dtype, out, ddof, keepdims, correction, where, mean)


@compiled("_npi_std")
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, where=None, mean=None):   # noqa: E501 pylint: disable=redefined-outer-name
    """Standard deviation over axes, the square root of :func:`var`, with the same arguments.

    Examples
    --------
    >>> mx.np.std(mx.np.array([1.0, 3.0])).asnumpy().item()
    1.0
    """
    return _variance("_npi_std", a, axis, dtype, out, ddof, keepdims, correction, where, mean)


def _extreme(record, a, axis, out, keepdims, initial, where):
    a = operand(a)
    initial = _given(initial)
    if not _no_mask(where):
        if initial is None:
            raise ValueError(f"[{record}] `where` needs `initial`, which counts where no element is chosen")
        a = _masked(a, where, initial)
    return _reduce(record, a, out, _natural(a, False), axis=axes_of(axis), keepdims=bool(_given(keepdims, False)),
                   initial=None if initial is None else float(initial))


@compiled("_npi_max")
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):   # pylint: disable=redefined-builtin
    """Largest element over axes, NaN if there is one.

    Parameters
    ----------
    a : ndarray
        Data of any shape and dtype, which the result has. Axes must not be empty, unless there is
        `initial`.
    axis : int or tuple of int, optional
        What to reduce; None is everything.
    out : ndarray, optional
        Where the result goes.
    keepdims : bool
        Whether the axes stay with size 1.
    initial : number, optional
        Takes part.
    where : ndarray of bool, optional
        The elements that take part; needs `initial`.

    Examples
    --------
    >>> mx.np.max(mx.np.array([[1.0, 2.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [2.0, 3.0]
    """
    return _extreme("_npi_max", a, axis, out, keepdims, initial, where)


@compiled("_npi_min")
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):   # pylint: disable=redefined-builtin
    """Smallest element over axes, NaN if there is one; arguments as for :func:`max`.

    Examples
    --------
    >>> mx.np.min(mx.np.array([[1.0, 2.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [1.0, 0.0]
    """
    return _extreme("_npi_min", a, axis, out, keepdims, initial, where)


amax, amin = max, min


def _truths(record, a, axis, out, keepdims, where, neutral):
    a = operand(a)
    if not _no_mask(where):
        a = _masked(call("_npi_not_equal_scalar", (a,), scalar=0.0, is_int=True), where, neutral)
    return _reduce(record, a, out, "bool", axis=axes_of(axis), keepdims=bool(_given(keepdims, False)))


@compiled("_npi_all")
def all(a, axis=None, out=None, keepdims=False, where=None):   # pylint: disable=redefined-builtin
    """Whether all elements over axes are not 0 (NaN is not), as bool; arguments as for :func:`sum`.

    Examples
    --------
    >>> mx.np.all(mx.np.array([[1.0, 2.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [True, False]
    """
    return _truths("_npi_all", a, axis, out, keepdims, where, 1)


@compiled("_npi_any")
def any(a, axis=None, out=None, keepdims=False, where=None):   # pylint: disable=redefined-builtin
    """Whether any element over axes is not 0 (NaN is not), as bool; arguments as for :func:`sum`.

    Examples
    --------
    >>> mx.np.any(mx.np.array([[0.0, 0.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [False, True]
    """
    return _truths("_npi_any", a, axis, out, keepdims, where, 0)


alltrue, sometrue = all, any


@compiled("_npi_argmax")
def argmax(a, axis=None, out=None, keepdims=False):
    """Index of the largest element along an axis, int64: the first of equals, the first NaN.

    Parameters
    ----------
    a : ndarray
        Data of any dtype; the axis must not be empty.
    axis : int, optional
        Where to search; None is the flattened array.
    out : ndarray, optional
        Where the result goes.
    keepdims : bool
        Whether the axis stays with size 1.

    Examples
    --------
    >>> mx.np.argmax(mx.np.array([[1.0, 5.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [1, 0]
    """
    return _reduce("_npi_argmax", operand(a), out, "int64", axis=axis, keepdims=bool(_given(keepdims, False)))


@compiled("_npi_argmin")
def argmin(a, axis=None, out=None, keepdims=False):
    """Index of the smallest element along an axis; arguments as for :func:`argmax`.

    Examples
    --------
    >>> mx.np.argmin(mx.np.array([[1.0, 5.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [0, 1]
    """
    return _reduce("_npi_argmin", operand(a), out, "int64", axis=axis, keepdims=bool(_given(keepdims, False)))


@compiled("_npi_cumsum")
def cumsum(a, axis=None, dtype=None, out=None):
    """Running sum along an axis, or of the flattened array.

    Examples
    --------
    >>> mx.np.cumsum(mx.np.array([1.0, 2.0, 3.0])).asnumpy().tolist()
    [1.0, 3.0, 6.0]
    """
    a, dtype = operand(a), dtype_name(_given(dtype))
    return _reduce("_npi_cumsum", a, out, dtype or _natural(a, True), axis=axis, dtype=dtype)


def ptp(a, axis=None, out=None, keepdims=False):
    """Distance of the largest and the smallest element over axes.

    Examples
    --------
    >>> mx.np.ptp(mx.np.array([1.0, 5.0, 3.0])).asnumpy().item()
    4.0
    """
    a = operand(a)
    return deliver(call("_npi_subtract", (max(a, axis, None, keepdims), min(a, axis, None, keepdims))), out)


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements over axes are not 0: int64, or without axes a whole number of Python, which
    is waited for.

    Examples
    --------
    >>> mx.np.count_nonzero(mx.np.array([1.0, 0.0, 3.0]))
    2
    """
    a = operand(a)
    if is_symbol(a):
        return sum(call("_npi_not_equal_scalar", (a,), scalar=0.0, is_int=True), axis, None, None, keepdims)
    a = a if a._dtype_id == _BOOL else a != 0
    return sum(a).item() if axis is None and not keepdims else sum(a, axis=axis, keepdims=keepdims)


def _without_nan(a, value):
    """`a` with `value` for NaN, and where there is none."""
    a = operand(a)
    number = call("_npi_logical_not", (call("_npi_isnan", (a,)),))
    return _masked(a, number, value), number


def _filled(a, value):
    """`a` with `value` for NaN."""
    a = operand(a)
    # of nan_to_num infinities have no gradient
    if is_symbol(a) or "float" not in _dtypes.name(a.dtype) or _recording() or is_deferred_compute():
        return _without_nan(a, value)[0]
    return call("_npi_nan_to_num", (a,), nan=float(value), posinf=inf, neginf=-inf)    # in one pass


def _widest(a, dtype):
    """`dtype`, or without one that in which NumPy adds up integers: it does so in 2.0 as well."""
    kind = "" if dtype is not None or is_symbol(a) else _dtypes.name(a.dtype)
    return ("uint64" if kind[0] == "u" else "int64") if "int" in kind else dtype


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """:func:`sum` that counts NaN as 0.

    Examples
    --------
    >>> mx.np.nansum(mx.np.array([1.0, mx.np.nan])).asnumpy().item()
    1.0
    """
    rest = _filled(a, 0)
    return sum(rest, axis, _widest(rest, dtype), out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """:func:`prod` that counts NaN as 1.

    Examples
    --------
    >>> mx.np.nanprod(mx.np.array([3.0, mx.np.nan])).asnumpy().item()
    3.0
    """
    rest = _filled(a, 1)
    return prod(rest, axis, _widest(rest, dtype), out, keepdims, initial, where)


def nancumsum(a, axis=None, dtype=None, out=None):
    """:func:`cumsum` that counts NaN as 0.

    Examples
    --------
    >>> mx.np.nancumsum(mx.np.array([1.0, mx.np.nan, 2.0])).asnumpy().tolist()
    [1.0, 1.0, 3.0]
    """
    rest = _filled(a, 0)
    return cumsum(rest, axis, _widest(rest, dtype), out)


def _and(mask, where):
    return mask if _no_mask(where) else call("_npi_logical_and", (mask, operand(where, mask, "bool")))


def _check_float(name, a, dtype):
    """As NumPy: deviations of floats are floats."""
    if _given(dtype) is not None and "float" in _dtypes.name(a.dtype) and "float" not in dtype_name(dtype):
        raise TypeError(f"[{name}] dtype is {dtype_name(dtype)} for an array of {_dtypes.name(a.dtype)}; accepted: a dtype of floats")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """:func:`mean` of the elements that are numbers; NaN where there is none.

    Examples
    --------
    >>> mx.np.nanmean(mx.np.array([1.0, mx.np.nan, 2.0])).asnumpy().item()
    1.5
    """
    a, number = _without_nan(a, 0)
    _check_float("nanmean", a, dtype)
    return mean(a, axis, dtype, out, keepdims, _and(number, where))


def _undefined(a):
    """What NumPy takes a divisor for that is not positive: NaN beside floats."""
    return float("nan") if "float" in _dtypes.name(a.dtype) else 0.0


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, *, mean=None, correction=None):   # noqa: E501 pylint: disable=redefined-outer-name
    """:func:`var` of the elements that are numbers.

    Examples
    --------
    >>> mx.np.nanvar(mx.np.array([1.0, mx.np.nan, 3.0])).asnumpy().item()
    1.0
    """
    a, number = _without_nan(a, 0)
    _check_float("nanvar", a, dtype)
    return _variance("_npi_var", a, axis, dtype, out, ddof, keepdims, correction, _and(number, where), mean, _undefined(a))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, *, mean=None, correction=None):   # noqa: E501 pylint: disable=redefined-outer-name
    """:func:`std` of the elements that are numbers.

    Examples
    --------
    >>> mx.np.nanstd(mx.np.array([1.0, mx.np.nan, 3.0])).asnumpy().item()
    1.0
    """
    a, number = _without_nan(a, 0)
    _check_float("nanstd", a, dtype)
    return _variance("_npi_std", a, axis, dtype, out, ddof, keepdims, correction, _and(number, where), mean, _undefined(a))


def _nan_extreme(function, limit, a, axis, out, keepdims, initial, where):
    a = operand(a)
    if "float" not in _dtypes.name(a.dtype):
        return function(a, axis, out, keepdims, initial, where)
    rest, number = _without_nan(a, limit)
    found = any(_and(number, where), axis, None, keepdims)
    result = function(rest, axis, None, keepdims, limit if _given(initial) is None and not _no_mask(where) else initial, where)
    if _given(initial) is None:     # NaN where there is nothing else
        nothing = call("_npi_multiply_scalar", (call("ones_like", (result,)),), scalar=float("nan"), is_int=False)
        result = call("_npi_where", (found, result, nothing))
    return deliver(result, out)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """:func:`max` of the elements that are numbers; NaN where there is none.

    Examples
    --------
    >>> mx.np.nanmax(mx.np.array([1.0, mx.np.nan])).asnumpy().item()
    1.0
    """
    return _nan_extreme(max, -float("inf"), a, axis, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """:func:`min` of the elements that are numbers; NaN where there is none.

    Examples
    --------
    >>> mx.np.nanmin(mx.np.array([1.0, mx.np.nan])).asnumpy().item()
    1.0
    """
    return _nan_extreme(min, float("inf"), a, axis, out, keepdims, initial, where)
