"""Functions of mx.np that reduce arrays over axes: sums, means, extremes, truths, statistics."""
import operator

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, NumpyFunction, is_traced
from ._dispatch import call, default_float, deliver, dtype_name, is_symbol, operand

__all__ = ["all", "alltrue", "amax", "amin", "any", "argmax", "argmin", "average", "bincount", "corrcoef", "count_nonzero", "cov",
           "cumsum", "histogram", "max", "mean", "median", "min", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
           "nanvar", "percentile", "prod", "product", "ptp", "quantile", "sometrue", "std", "sum", "var"]

_NOTHING = getattr(onp, "_NoValue", None)
_INTEGER = (int, onp.integer)
_INTERPOLATIONS = ("linear", "midpoint", "lower", "higher", "nearest")


def _axes(axis):
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
    if out is not None and not isinstance(out, NDArrayBase):
        raise TypeError(f"[{name}] `out` is a {type(out).__name__}; accepted: an array of mx.np")
    if out is not None and not is_symbol(a) and like is not None and _dtypes.name(out.dtype) == like:
        return call(name, (a,), out, **params)
    return deliver(call(name, (a,), None, **params), out)


def _masked(a, where, value):
    """`a` with `value` where the mask is False."""
    where = operand(where, a, "bool")
    fill = call("zeros_like", (a,))
    if value:
        fill = call("_npi_add_scalar", (fill,), scalar=float(value), is_int=float(value).is_integer())
        fill = call("_npi_cast", (fill,), dtype=_dtypes.name(a.dtype))
    return call("_npi_where", (where, a, fill))


def _no_mask(where):
    return where is None or where is True or where is _NOTHING


def _natural(a, counts):
    """The dtype of a sum (`counts`: bool becomes int64) or an extreme."""
    if is_symbol(a):
        return None
    name = _dtypes.name(a.dtype)
    return "int64" if counts and name == "bool" else name


def _compiled(record):
    """Decorator of functions whose calls with a, axis and keepdims alone go to the record."""
    def decorate(function):
        attributes = {"__name__": function.__name__, "__qualname__": function.__name__, "__module__": "mxnet.numpy",
                      "__doc__": function.__doc__, "__wrapped__": function}
        return NumpyFunction(function, attributes, record, "", "", "reduce")
    return decorate


def _sum_like(record, a, axis, dtype, out, keepdims, initial, where, neutral):
    a = operand(a)
    dtype, keepdims, initial = dtype_name(_given(dtype)), bool(_given(keepdims, False)), _given(initial)
    if not _no_mask(where):
        a = _masked(a, where, neutral)
    if dtype is not None and not is_symbol(a) and a.dtype not in (onp.float32, onp.float64) or dtype and dtype.startswith(("int", "uint")):
        if is_symbol(a) or _dtypes.name(a.dtype) != dtype and not dtype == "bool":
            a = call("_npi_cast", (a,), dtype=dtype)    # NumPy casts first, then adds
    return _reduce(record, a, out, dtype or _natural(a, True), axis=_axes(axis), dtype=dtype, keepdims=keepdims,
                   initial=None if initial is None else float(initial))


@_compiled("_npi_sum")
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


@_compiled("_npi_prod")
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
        return call("_npi_sum", (ones,), axis=_axes(axis), keepdims=keepdims)
    sizes = a.shape if axis is None else [a.shape[i] for i in _axes(axis)]
    return int(onp.prod(sizes))


@_compiled("_npi_mean")
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
        dtype = dtype or _quotient(a)
        total, count = sum(a, axis, dtype, None, keepdims, None, where), _count(a, axis, keepdims, where)
        return deliver(call("_npi_true_divide", (total, call("_npi_cast", (count,), dtype=dtype))), out)
    return _reduce("_npi_mean", a, out, dtype or _quotient(a), axis=_axes(axis), dtype=dtype, keepdims=keepdims)


def _quotient(a):
    """The dtype of means of `a`."""
    name = "float32" if is_symbol(a) else _dtypes.name(a.dtype)
    return name if "float" in name else default_float()


def _variance(record, a, axis, dtype, out, ddof, keepdims, correction, where):
    a = operand(a)
    keepdims, dtype = bool(_given(keepdims, False)), dtype_name(_given(dtype))
    freedom = ddof if correction is None or correction is _NOTHING else correction
    if _no_mask(where) and float(freedom).is_integer():
        return _reduce(record, a, out, dtype or _quotient(a), axis=_axes(axis), dtype=dtype, ddof=int(freedom), keepdims=keepdims)
    where = True if _no_mask(where) else where
    centre = mean(a, axis, dtype or _quotient(a), None, True, where)
    apart = call("_npi_square", (call("_npi_subtract", (a, centre)),))
    count = _count(a, axis, keepdims, operand(where, a, "bool") if where is not True else operand(onp.True_, a))
    rest = call("_npi_maximum_scalar", (call("_npi_subtract_scalar", (count,), scalar=float(freedom), is_int=False),), scalar=0.0,
                is_int=True)
    total, rest = sum(apart, axis, None, None, keepdims, None, where), call("_npi_cast", (rest,), dtype=_quotient(apart))
    result = call("_npi_true_divide", (total, rest))
    return deliver(call("_npi_sqrt", (result,)) if record == "_npi_std" else result, out)


@_compiled("_npi_var")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, where=None):
    """Variance over axes: the mean square distance from the mean, with a divisor of N - ddof.

    Parameters
    ----------
    a, axis, dtype, out, keepdims, where
        As for :func:`mean`.
    ddof : int or float
        Delta degrees of freedom.
    correction : int or float, optional
        Another name of it, that of the array API.

    Examples
    --------
    >>> mx.np.var(mx.np.array([1.0, 3.0])).asnumpy().item()
    1.0
    """
    return _variance("_npi_var", a, axis, dtype, out, ddof, keepdims, correction, where)


@_compiled("_npi_std")
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, where=None):
    """Standard deviation over axes, the square root of :func:`var`.

    Examples
    --------
    >>> mx.np.std(mx.np.array([1.0, 3.0])).asnumpy().item()
    1.0
    """
    return _variance("_npi_std", a, axis, dtype, out, ddof, keepdims, correction, where)


def _extreme(record, a, axis, out, keepdims, initial, where):
    a = operand(a)
    initial = _given(initial)
    if not _no_mask(where):
        if initial is None:
            raise ValueError(f"[{record}] `where` needs `initial`, which counts where no element is chosen")
        a = _masked(a, where, initial)
    return _reduce(record, a, out, _natural(a, False), axis=_axes(axis), keepdims=bool(_given(keepdims, False)),
                   initial=None if initial is None else float(initial))


@_compiled("_npi_max")
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


@_compiled("_npi_min")
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
    return _reduce(record, a, out, "bool", axis=_axes(axis), keepdims=bool(_given(keepdims, False)))


@_compiled("_npi_all")
def all(a, axis=None, out=None, keepdims=False, where=None):   # pylint: disable=redefined-builtin
    """Whether all elements over axes are not 0 (NaN is not), as bool; arguments as for :func:`sum`.

    Examples
    --------
    >>> mx.np.all(mx.np.array([[1.0, 2.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [True, False]
    """
    return _truths("_npi_all", a, axis, out, keepdims, where, 1)


@_compiled("_npi_any")
def any(a, axis=None, out=None, keepdims=False, where=None):   # pylint: disable=redefined-builtin
    """Whether any element over axes is not 0 (NaN is not), as bool; arguments as for :func:`sum`.

    Examples
    --------
    >>> mx.np.any(mx.np.array([[0.0, 0.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [False, True]
    """
    return _truths("_npi_any", a, axis, out, keepdims, where, 0)


alltrue, sometrue = all, any


@_compiled("_npi_argmax")
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


@_compiled("_npi_argmin")
def argmin(a, axis=None, out=None, keepdims=False):
    """Index of the smallest element along an axis; arguments as for :func:`argmax`.

    Examples
    --------
    >>> mx.np.argmin(mx.np.array([[1.0, 5.0], [3.0, 0.0]]), axis=1).asnumpy().tolist()
    [0, 1]
    """
    return _reduce("_npi_argmin", operand(a), out, "int64", axis=axis, keepdims=bool(_given(keepdims, False)))


@_compiled("_npi_cumsum")
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
    count = sum(call("_npi_not_equal_scalar", (a,), scalar=0.0, is_int=True), axis, None, None, keepdims)
    return int(count.asnumpy()) if axis is None and not keepdims and not is_symbol(a) else count


def _without_nan(a, value):
    """`a` with `value` for NaN, and where there is none."""
    a = operand(a)
    number = call("_npi_logical_not", (call("_npi_isnan", (a,)),))
    return _masked(a, number, value), number


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """:func:`sum` that counts NaN as 0.

    Examples
    --------
    >>> mx.np.nansum(mx.np.array([1.0, mx.np.nan])).asnumpy().item()
    1.0
    """
    return sum(_without_nan(a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """:func:`prod` that counts NaN as 1.

    Examples
    --------
    >>> mx.np.nanprod(mx.np.array([3.0, mx.np.nan])).asnumpy().item()
    3.0
    """
    return prod(_without_nan(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def nancumsum(a, axis=None, dtype=None, out=None):
    """:func:`cumsum` that counts NaN as 0.

    Examples
    --------
    >>> mx.np.nancumsum(mx.np.array([1.0, mx.np.nan, 2.0])).asnumpy().tolist()
    [1.0, 1.0, 3.0]
    """
    return cumsum(_without_nan(a, 0)[0], axis, dtype, out)


def _and(mask, where):
    return mask if _no_mask(where) else call("_npi_logical_and", (mask, operand(where, mask, "bool")))


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """:func:`mean` of the elements that are numbers; NaN where there is none.

    Examples
    --------
    >>> mx.np.nanmean(mx.np.array([1.0, mx.np.nan, 2.0])).asnumpy().item()
    1.5
    """
    a, number = _without_nan(a, 0)
    return mean(a, axis, dtype, out, keepdims, _and(number, where))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None):
    """:func:`var` of the elements that are numbers.

    Examples
    --------
    >>> mx.np.nanvar(mx.np.array([1.0, mx.np.nan, 3.0])).asnumpy().item()
    1.0
    """
    a, number = _without_nan(a, 0)
    return var(a, axis, dtype, out, ddof, keepdims, where=_and(number, where))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None):
    """:func:`std` of the elements that are numbers.

    Examples
    --------
    >>> mx.np.nanstd(mx.np.array([1.0, mx.np.nan, 3.0])).asnumpy().item()
    1.0
    """
    a, number = _without_nan(a, 0)
    return std(a, axis, dtype, out, ddof, keepdims, where=_and(number, where))


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


def average(a, axis=None, weights=None, returned=False, out=None):
    """Weighted mean over axes.

    Parameters
    ----------
    a : ndarray
        Data; integers give floats as for :func:`mean`.
    axis : int or tuple of int, optional
        What to reduce; None is everything.
    weights : ndarray, optional
        Of the shape of `a`, or a vector along the one axis. None: all are 1.
    returned : bool
        Whether the sum of the weights is returned, too: ``(average, sum)``.
    out : ndarray, optional
        Where the average goes.

    Examples
    --------
    >>> mx.np.average(mx.np.array([1.0, 2.0]), weights=mx.np.array([3.0, 1.0])).asnumpy().item()
    1.25
    """
    a = operand(a)
    if weights is not None:
        weights = operand(weights, a)
        if axis is not None and not is_symbol(a) and len(weights.shape) == 1 and len(a.shape) > 1:
            axes = _axes(axis)
            if len(axes) != 1 or weights.shape != (a.shape[axes[0]],):
                raise ValueError(f"[average] weights have shape {weights.shape}; accepted: {a.shape}, or a vector along the one axis")
            where = axes[0] % len(a.shape)
            weights = call("_npi_reshape", (weights,), newshape=(-1,) + (1,) * (len(a.shape) - 1 - where))
    inputs = (a,) if weights is None else (a, weights)
    result, total = call("_npi_average", inputs, axis=_axes(axis), returned=True, weighted=weights is not None)
    result = deliver(result, out)
    return (result, total) if returned else result


def _places(q, n, interpolation):
    """Between which two of n sorted elements a percentile lies, and how far."""
    if not 0 <= q <= 100:
        raise ValueError(f"[percentile] q is {q}; accepted: 0 to 100")
    at = q / 100 * (n - 1)
    low, high = int(onp.floor(at)), int(onp.ceil(at))
    if interpolation not in ("linear", "midpoint"):
        low = high = {"lower": low, "higher": high, "nearest": int(onp.rint(at))}[interpolation]
    return low, high, 0.0 if low == high else 0.5 if interpolation == "midpoint" else at - low


def _differentiable(a, q, axis, interpolation, keepdims):
    """Percentiles by sorting, which autograd can record; `q` are NumPy's."""
    ndim = len(a.shape)
    axes = list(range(ndim)) if axis is None else sorted(i % ndim for i in axis)
    kept = [i for i in range(ndim) if i not in axes]
    if "float" not in _dtypes.name(a.dtype):
        a = call("_npi_cast", (a,), dtype=default_float())
    shape = tuple(a.shape[i] for i in kept)
    n = int(onp.prod([a.shape[i] for i in axes]))
    rows = call("_npi_reshape", (call("_npi_transpose", (a,), axes=tuple(kept + axes)) if ndim > 1 else a,), newshape=shape + (n,))
    rows = call("_npi_sort", (rows,), axis=-1)
    results = []
    for value in onp.ravel(q):
        low, high, rest = _places(float(value), n, interpolation)
        result, upper = (call("slice_axis", (rows,), axis=-1, begin=i, end=i + 1) for i in (low, high))
        if rest:
            apart = call("_npi_multiply_scalar", (call("_npi_subtract", (upper, result)),), scalar=rest, is_int=False)
            result = call("_npi_add", (result, apart))
        results.append(call("_npi_reshape", (result,), newshape=(1,) + shape))
    result = results[0] if len(results) == 1 else call("_npi_concatenate", results, dim=0)
    shape = tuple(1 if i in axes else a.shape[i] for i in range(ndim)) if keepdims else shape
    return call("_npi_reshape", (result,), newshape=onp.shape(q) + shape)


def _quantile(a, q, axis, out, interpolation, method, keepdims, scale):
    a = operand(a)
    axis, interpolation, keepdims = _axes(axis), method or interpolation or "linear", bool(keepdims)
    params = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims}
    number = isinstance(q, (int, float, onp.number))
    if is_traced() and not is_symbol(a) and not isinstance(q, NDArrayBase) and interpolation in _INTERPOLATIONS and a.size:
        return deliver(_differentiable(a, onp.asarray(q, "float64") * scale, axis, interpolation, keepdims), out)
    if number:
        return deliver(call("_npi_percentile", (a,), q_scalar=float(q) * scale, **params), out)
    q = operand(onp.asarray(q, "float64") if isinstance(q, (list, tuple)) else q, a)
    if scale != 1:
        q = call("_npi_multiply_scalar", (q,), scalar=float(scale), is_int=False)
    return deliver(call("_npi_percentile", (a, q), **params), out)


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False, *, method=None):
    """The values below which `q` percent of the elements lie.

    Parameters
    ----------
    a : ndarray
        Data; integers give floats as for :func:`mean`.
    q : number or ndarray
        Between 0 and 100; the shape of an array stands before that of the result.
    axis : int or tuple of int, optional
        What to reduce; None is everything.
    out : ndarray, optional
        Where the result goes.
    overwrite_input : None or bool
        Has no effect.
    interpolation, method : str
        Two names of one thing: what counts between two elements. "linear", "lower", "higher",
        "midpoint" or "nearest".
    keepdims : bool
        Whether the axes stay with size 1.

    Examples
    --------
    >>> mx.np.percentile(mx.np.array([1.0, 2.0, 3.0]), 25).asnumpy().item()
    1.5
    """
    del overwrite_input
    return _quantile(a, q, axis, out, interpolation, method, keepdims, 1)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False, *, method=None):
    """:func:`percentile` with `q` between 0 and 1.

    Examples
    --------
    >>> mx.np.quantile(mx.np.array([1.0, 2.0, 3.0]), 0.25).asnumpy().item()
    1.5
    """
    del overwrite_input
    return _quantile(a, q, axis, out, interpolation, method, keepdims, 100)


def median(a, axis=None, out=None, overwrite_input=None, keepdims=False):
    """The middle of the sorted elements, or the mean of the two middle ones.

    Examples
    --------
    >>> mx.np.median(mx.np.array([1.0, 9.0, 3.0, 4.0])).asnumpy().item()
    3.5
    """
    del overwrite_input
    return _quantile(a, 50.0, axis, out, "linear", None, keepdims, 1)


def bincount(x, weights=None, minlength=0):
    """How often each number occurs in a vector of integers that are not negative: int32 for int32,
    otherwise int64, or the sums of weights in their dtype.

    Waits for the data, whose largest element decides on the result's length.

    Examples
    --------
    >>> mx.np.bincount(mx.np.array([0, 2, 2], dtype="int32")).asnumpy().tolist()
    [1, 0, 2]
    """
    x = operand(x)
    inputs = (x,) if weights is None else (x, operand(weights, x))
    return call("_npi_bincount", inputs, minlength=operator.index(minlength), has_weights=weights is not None)


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):   # pylint: disable=redefined-builtin
    """How many elements fall into each of several intervals, and their edges.

    Parameters
    ----------
    a : ndarray
        Data of any shape. Without `range` its extremes are waited for.
    bins : int or ndarray
        Number of intervals of one width, or their rising edges.
    range : (float, float), optional
        Where the first begins and the last ends.
    normed : None
        Only None is accepted.
    weights : ndarray, optional
        What each element counts.
    density : bool, optional
        True: counts are divided by their sum and the widths.

    Returns
    -------
    tuple
        The counts (int64, or floats) and the edges.

    Examples
    --------
    >>> mx.np.histogram(mx.np.array([1.0, 2.0, 2.0]), bins=2, range=(0.0, 3.0))[0].asnumpy().tolist()
    [1, 2]
    """
    if normed:
        raise NotImplementedError("[histogram] normed=True is not offered; accepted: density=True")
    a = operand(a)
    if weights is not None:
        counts, edges = onp.histogram(a.asnumpy(), bins.asnumpy() if isinstance(bins, NDArrayBase) else bins, range,
                                      weights=operand(weights, a).asnumpy(), density=bool(density))
        return operand(counts, a), operand(edges, a)
    if _dtypes.name(a.dtype) in ("bool", "float16", "bfloat16") or "int" in _dtypes.name(a.dtype):
        a = call("_npi_cast", (a,), dtype="float64" if "int" in _dtypes.name(a.dtype) else default_float())
    if isinstance(bins, _INTEGER):
        low, high = _span(a, range)
        counts, edges = call("_npi_histogram", (a,), bin_cnt=int(bins), range=(low, high))
    else:
        edges = call("_npi_cast", (operand(bins, a),), dtype=_dtypes.name(a.dtype))
        counts, edges = call("_npi_histogram", (a, edges))
    if density:
        floats = call("_npi_cast", (counts,), dtype=_dtypes.name(edges.dtype))
        counts = call("_npi_true_divide", (call("_npi_true_divide", (floats, edges[1:] - edges[:-1])), sum(floats)))
    return counts, edges


def _span(a, given):
    """Where a histogram begins and ends."""
    if given is not None:
        low, high = float(given[0]), float(given[1])
    elif a.size == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(min(a).asnumpy()), float(max(a).asnumpy())
    if not (onp.isfinite(low) and onp.isfinite(high)) or low > high:
        raise ValueError(f"[histogram] the range is ({low}, {high}); accepted: finite numbers that do not fall")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariance matrix of variables, which are the rows of a matrix.

    Parameters
    ----------
    m : ndarray
        A vector or matrix.
    y : ndarray, optional
        More variables.
    rowvar : bool
        False: the variables are columns.
    bias : bool
        True: sums of products are divided by N, not N - 1.
    ddof : int, optional
        They are divided by N - ddof.
    fweights, aweights : ndarray, optional
        How often observations count, and how much.
    dtype : dtype, optional
        Of the result; float64 otherwise.

    Examples
    --------
    >>> mx.np.cov(mx.np.array([[0.0, 2.0], [2.0, 0.0]])).asnumpy().tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    rows = _observations(m, rowvar, dtype)
    if y is not None:
        rows = call("_npi_concatenate", (rows, _observations(y, rowvar, dtype or _dtypes.name(rows.dtype))), dim=0)
    count, weights = rows.shape[1], None
    for given in (fweights, aweights):
        if given is not None:
            own = call("_npi_cast", (operand(given, rows),), dtype=_dtypes.name(rows.dtype))
            weights = own if weights is None else call("_npi_multiply", (weights, own))
    freedom = (0 if bias else 1) if ddof is None else ddof
    centre = average(rows, 1, weights)
    apart = call("_npi_subtract", (rows, centre.reshape(-1, 1)))
    weighted = apart if weights is None else call("_npi_multiply", (apart, weights))
    if weights is None:
        divisor = float(count - freedom)
    else:
        total = float(sum(weights).asnumpy())
        second = total if aweights is None else float(sum(call("_npi_multiply", (weights, operand(aweights, rows)))).asnumpy())
        divisor = total - freedom * second / total if freedom else total
    product_ = call("_npi_matmul", (weighted, call("_npi_transpose", (apart,))))
    result = call("_npi_multiply_scalar", (product_,), scalar=1.0 / divisor if divisor > 0 else float("nan"), is_int=False)
    return result.reshape(()) if result.shape == (1, 1) else result


def _observations(m, rowvar, dtype):
    """A matrix of floats with a variable in each row."""
    m = operand(m)
    m = call("_npi_cast", (m,), dtype=dtype_name(dtype) or "float64")
    if len(m.shape) > 2:
        raise ValueError(f"[cov] data has shape {m.shape}; accepted: at most two dimensions")
    if len(m.shape) < 2:
        return m.reshape(1, -1)
    return m if rowvar or m.shape[0] == 1 else call("_npi_transpose", (m,))


def corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None):
    """Correlation matrix: :func:`cov` divided by the variables' standard deviations. `bias` and
    `ddof` have no effect.

    Examples
    --------
    >>> mx.np.corrcoef(mx.np.array([[0.0, 2.0], [2.0, 0.0]])).asnumpy().round(4).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    del bias, ddof
    c = cov(x, y, rowvar, dtype=dtype)
    if len(c.shape) == 0:
        return call("_npi_true_divide", (c, c))
    n = c.shape[0]
    root = call("_npi_sqrt", (call("_npi_diagonal", (c,)),))
    c = call("_npi_true_divide", (call("_npi_true_divide", (c, root.reshape(n, 1))), root.reshape(1, n)))
    return call("_npi_clip", (c,), a_min=-1.0, a_max=1.0)
