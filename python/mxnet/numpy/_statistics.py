"""Statistics of mx.np: averages with weights, percentiles, histograms, covariances."""
import importlib
import operator

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, is_traced
from .._arrays.tracing import is_deferred_compute
from ..ndarray._native import _recording
from ._dispatch import call, default_float, deliver, dtype_name, is_symbol, operand
from ._joining import shape_of
from ._norms import checked
from ._reductions import axes_of, max, mean, min, sum   # pylint: disable=redefined-builtin

__all__ = ["average", "bincount", "corrcoef", "cov", "histogram", "median", "percentile", "quantile"]

_INTEGER = (int, onp.integer)
_INTERPOLATIONS = ("linear", "midpoint", "lower", "higher", "nearest")
# Methods of percentiles that NumPy computes (Hyndman, Fan: "Sample quantiles in statistical
# packages", The American Statistician 50, 1996).
_ELSEWHERE = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
              "median_unbiased", "normal_unbiased")


def average(a, axis=None, weights=None, returned=False, out=None, *, keepdims=False):
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
    keepdims : bool
        Whether the axes stay with size 1.

    Examples
    --------
    >>> mx.np.average(mx.np.array([1.0, 2.0]), weights=mx.np.array([3.0, 1.0])).asnumpy().item()
    1.25
    """
    a = operand(a)
    if axis is not None and not is_symbol(a) and a.ndim:
        checked("average", a, axis)
    if weights is not None:
        weights = operand(weights, a)
        if axis is not None and not is_symbol(a) and len(weights.shape) == 1 and len(a.shape) > 1:
            axes = axes_of(axis)
            if len(axes) != 1 or weights.shape != (a.shape[axes[0]],):
                raise ValueError(f"[average] weights have shape {weights.shape}; accepted: {a.shape}, or a vector along the one axis")
            where = axes[0] % len(a.shape)
            weights = call("_npi_reshape", (weights,), newshape=(-1,) + (1,) * (len(a.shape) - 1 - where))
    inputs = (a,) if weights is None else (a, weights)
    if not is_symbol(a) and _nothing_to_reduce(a, axes_of(axis)):     # NaN, as the mean is
        result = mean(a, axis, keepdims=keepdims)
        return (deliver(result, out), call("zeros_like", (result,))) if returned else deliver(result, out)
    result, total = call("_npi_average", inputs, axis=axes_of(axis), returned=True, weighted=weights is not None)
    if keepdims:
        ndim = len(shape_of("average", a))
        axes = range(ndim) if axis is None else [i % (ndim or 1) for i in axes_of(axis)]
        kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
        result, total = (call("_npi_reshape", (x,), newshape=kept) for x in (result, total))
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


def sorted_rows(a, axis):
    """(rows, shape, kept): what `axis` reduces, sorted, NaN at the end, as the last dimension
    behind those of `shape`, which is `kept` with axes of size 1 where dimensions are kept."""
    ndim = len(a.shape)
    whole = axis is None or ndim == 0 and set(axis) <= {0, -1}     # shape () counts as (1,)
    axes = list(range(ndim)) if whole else sorted(checked("percentile", a, axis))
    others = [i for i in range(ndim) if i not in axes]
    if "float" not in _dtypes.name(a.dtype):
        a = call("_npi_cast", (a,), dtype=default_float())
    shape = tuple(a.shape[i] for i in others)
    n = int(onp.prod([a.shape[i] for i in axes]))
    rows = call("_npi_reshape", (call("_npi_transpose", (a,), axes=tuple(others + axes)) if ndim > 1 else a,), newshape=shape + (n,))
    return call("_npi_sort", (rows,), axis=-1), shape, tuple(1 if i in axes else a.shape[i] for i in range(ndim))


def _nan_where_one_is(result, rows):
    """`result`, with NaN for the rows in which one is: sorted, it comes last."""
    n = rows.shape[-1]
    last = call("slice_axis", (rows,), axis=-1, begin=n - 1, end=n)
    return call("_npi_where", (call("_npi_equal", (last, last)), result, last))


def _differentiable(a, q, axis, interpolation, keepdims):
    """Percentiles by sorting, which autograd can record; `q` are NumPy's."""
    rows, shape, kept = sorted_rows(a, axis)
    n = rows.shape[-1]
    results = []
    for value in onp.ravel(q):
        low, high, rest = _places(float(value), n, interpolation)
        result, upper = (call("slice_axis", (rows,), axis=-1, begin=i, end=i + 1) for i in (low, high))
        if rest:
            apart = call("_npi_multiply_scalar", (call("_npi_subtract", (upper, result)),), scalar=rest, is_int=False)
            result = call("_npi_add", (result, apart))
        results.append(call("_npi_reshape", (_nan_where_one_is(result, rows),), newshape=(1,) + shape))
    result = results[0] if len(results) == 1 else call("_npi_concatenate", results, dim=0)
    return call("_npi_reshape", (result,), newshape=onp.shape(q) + (kept if keepdims else shape))


def _by_places(a, q, axis, interpolation, keepdims):
    """Percentiles by sorting in a graph, which knows the shape of `q` alone: it gets no gradient,
    as elsewhere."""
    rows, shape, kept = sorted_rows(a, axis)
    asked = tuple(q.shape)
    q = call("_npi_reshape", (call("_npi_cast", (call("BlockGrad", (q,)),), dtype="float64"),), newshape=(-1,))
    q = call("_npi_true_divide_scalar", (q,), scalar=100.0, is_int=False)    # exactly as the operator rounds
    place = call("_npi_multiply_scalar", (q,), scalar=float(rows.shape[-1] - 1), is_int=False)
    below, above = ((call("_npi_around", (place,)),) * 2 if interpolation == "nearest" else
                    (call("_npi_floor", (place,)), call("_npi_ceil", (place,))))
    if interpolation in ("lower", "higher"):
        below = above = below if interpolation == "lower" else above
    result = call("take", (rows, below), axis=-1, mode="clip")
    if below is not above:
        part = call("_npi_subtract", (place, below))
        if interpolation == "midpoint":
            part = call("_npi_multiply_scalar", (call("_npi_ceil", (part,)),), scalar=0.5, is_int=False)
        part = call("_npi_cast", (part,), dtype=_dtypes.name(rows.dtype))
        apart = call("_npi_subtract", (call("take", (rows, above), axis=-1, mode="clip"), result))
        between = call("_npi_add", (result, call("_npi_multiply", (apart, part))))
        result = call("_npi_where", (call("_npi_greater_scalar", (part,), scalar=0.0), between, result))   # infinities have no distance
    result = _nan_where_one_is(result, rows)
    if shape:
        result = call("_npi_transpose", (result,), axes=(len(shape), *range(len(shape))))
    return call("_npi_reshape", (result,), newshape=asked + (kept if keepdims else shape))


def _nothing_to_reduce(a, axis):
    """Whether results are of no elements: they are NaN, as the mean is. The operator refuses axes
    that the array does not have."""
    ndim = len(a.shape)
    return not a.size and 0 in (a.shape if axis is None else [a.shape[i] for i in axis if -ndim <= i < ndim])


def _quantile(a, q, axis, out, interpolation, method, keepdims, scale):
    a = operand(a)
    axis, interpolation, keepdims = axes_of(axis), method or interpolation or "linear", bool(keepdims)
    params = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims}
    if isinstance(q, NDArrayBase) and _recording() and not is_deferred_compute():
        q = q.asnumpy()     # what is recorded reads places, which the values tell
    number = isinstance(q, (int, float, onp.number))
    if not is_symbol(a) and _nothing_to_reduce(a, axis):
        nan = mean(a, axis, keepdims=keepdims)
        return deliver(call("_npi_broadcast_to", (nan,), shape=(() if number else onp.shape(q)) + tuple(nan.shape)), out)
    if is_traced() and not is_symbol(a) and not isinstance(q, NDArrayBase) and interpolation in _INTERPOLATIONS and a.size:
        return deliver(_differentiable(a, onp.asarray(q, "float64") * scale, axis, interpolation, keepdims), out)
    if isinstance(q, NDArrayBase) and is_deferred_compute() and not is_symbol(a) and interpolation in _INTERPOLATIONS and a.size:
        q = q if scale == 1 else call("_npi_multiply_scalar", (q,), scalar=float(scale), is_int=False)
        return deliver(_by_places(a, q, axis, interpolation, keepdims), out)
    if number:
        return deliver(call("_npi_percentile", (a,), q_scalar=float(q) * scale, **params), out)
    q = operand(onp.asarray(q, "float64") if isinstance(q, (list, tuple)) else q, a)
    if scale != 1:
        q = call("_npi_multiply_scalar", (q,), scalar=float(scale), is_int=False)
    return deliver(call("_npi_percentile", (a, q), **params), out)


def _by_numpy(name, a, q, axis, out, method, keepdims, weights):
    """What NumPy computes of percentiles."""
    run = importlib.import_module("mxnet.numpy.fallback").run      # which stands on this module
    kwargs = {"axis": axes_of(axis), "method": method, "keepdims": keepdims}
    if weights is not None:
        kwargs["weights"] = weights
    return deliver(operand(run(name, getattr(onp, name), (operand(a), q), kwargs)), out)


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False, *, method=None, weights=None):   # noqa: E501
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
        "midpoint" or "nearest"; NumPy computes its other methods.
    weights : ndarray, optional
        How much each element counts; `method` is "inverted_cdf" then. NumPy computes them.
    keepdims : bool
        Whether the axes stay with size 1.

    Examples
    --------
    >>> mx.np.percentile(mx.np.array([1.0, 2.0, 3.0]), 25).asnumpy().item()
    1.5
    """
    del overwrite_input
    if weights is not None or (method or interpolation) in _ELSEWHERE:
        return _by_numpy("percentile", a, q, axis, out, method or interpolation, keepdims, weights)
    return _quantile(a, q, axis, out, interpolation, method, keepdims, 1)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False, *, method=None, weights=None):   # noqa: E501
    """:func:`percentile` with `q` between 0 and 1.

    Examples
    --------
    >>> mx.np.quantile(mx.np.array([1.0, 2.0, 3.0]), 0.25).asnumpy().item()
    1.5
    """
    del overwrite_input
    if weights is not None or (method or interpolation) in _ELSEWHERE:
        return _by_numpy("quantile", a, q, axis, out, method or interpolation, keepdims, weights)
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
    x = operand(x if isinstance(x, NDArrayBase) or onp.size(x) else onp.zeros(0, "int64"))
    inputs = (x,) if weights is None else (x, operand(weights, x))
    return call("_npi_bincount", inputs, minlength=operator.index(minlength), has_weights=weights is not None)


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):   # pylint: disable=redefined-builtin
    """How many elements fall into each of several intervals, and their edges.

    Parameters
    ----------
    a : ndarray
        Data of any shape. Without `range` its extremes are waited for.
    bins : int, ndarray or str
        Number of intervals of one width, their rising edges, or the name of a rule of NumPy, such
        as "auto", by which the data tell the number.
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
    if isinstance(bins, str):
        bins = len(onp.histogram_bin_edges(a.asnumpy(), bins, range)) - 1
    elif isinstance(bins, (list, tuple, onp.ndarray)) and (onp.diff(bins) < 0).any():
        raise ValueError(f"[histogram] bins are {bins}; accepted: edges that do not fall")
    if _dtypes.name(a.dtype) in ("bool", "float16", "bfloat16") or "int" in _dtypes.name(a.dtype):
        a = call("_npi_cast", (a,), dtype="float64" if "int" in _dtypes.name(a.dtype) else default_float())
    if isinstance(bins, _INTEGER):
        low, high = _span(a, range)
        number = int(bins)
        counts, edges = call("_npi_histogram", (a,), bin_cnt=number, range=(low, high))
    else:
        edges = call("_npi_cast", (operand(bins, a),), dtype=_dtypes.name(a.dtype))
        number = edges.size - 1
        counts, edges = call("_npi_histogram", (a, edges))
    if weights is not None:
        counts = _sums_of_weights(a, edges, number, operand(weights, a))
    if density:
        floats = call("_npi_cast", (counts,), dtype=_dtypes.name(edges.dtype))
        counts = call("_npi_true_divide", (call("_npi_true_divide", (floats, edges[1:] - edges[:-1])), sum(floats)))
    return counts, edges


def _sums_of_weights(a, edges, number, weights):
    """The weights of the elements in that many bins between edges, summed in double."""
    if not is_deferred_compute() and weights.shape != a.shape:     # else the operator compares
        raise ValueError(f"[histogram] weights have shape {weights.shape}; accepted: {a.shape}, that of the data")
    a, values = (call("_npi_reshape", (x,), newshape=(-1,)) for x in (a, weights))
    # From 1 on in the bins, 0 below and the largest number above; the last edge is in the last bin.
    last = call("_npi_cast", (call("_npi_equal", (a, edges[-1:])),), dtype="int64")
    places = call("_npi_subtract", (call("_searchsorted", (edges, a), right=True), last))
    sums = call("_npi_zeros", (), shape=(number + 2,), dtype="float64", ctx=str(a.context))
    values = call("_npi_cast", (values,), dtype="float64")
    sums = call("_npx_index_add", (sums, call("_npi_reshape", (places,), newshape=(1, -1)), values))
    return call("_npi_cast", (sums[1:-1],), dtype=_dtypes.name(weights.dtype))


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
    product_ = call("dot", (weighted, apart), transpose_b=True)
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
