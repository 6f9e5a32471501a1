"""Medians, percentiles and quantiles of the elements that are numbers: NumPy computes them, and
operators where autograd records or a block is traced."""
import importlib

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, is_traced
from .._arrays.tracing import is_deferred_compute
from ..ndarray._native import _recording
from ._dispatch import call, deliver, is_symbol, operand
from ._reductions import axes_of
from ._statistics import sorted_rows

__all__ = ["nanmedian", "nanpercentile", "nanquantile"]

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _at(rows, place):
    """The element of each row at a place, numbers of the rows' shape without the last dimension."""
    return call("pick", (rows, place), axis=-1, mode="clip")


def _between(rows, count, q, method):
    """The quantile q of the first `count` elements of each row."""
    place = call("_npi_multiply_scalar", (call("_npi_subtract_scalar", (count,), scalar=1.0),), scalar=q)
    if method == "nearest":
        return _at(rows, call("_npi_around", (place,)))
    low, high = call("_npi_floor", (place,)), call("_npi_ceil", (place,))
    if method in ("lower", "higher"):
        return _at(rows, low if method == "lower" else high)
    below, above = _at(rows, low), _at(rows, high)
    part = call("_npi_cast", (call("_npi_subtract", (place, low)),), dtype=_dtypes.name(rows.dtype))
    if method == "midpoint":
        part = call("_npi_multiply_scalar", (call("_npi_ceil", (part,)),), scalar=0.5)
    between = call("_npi_add", (below, call("_npi_multiply", (call("_npi_subtract", (above, below)), part))))
    return call("_npi_where", (call("_npi_greater_scalar", (part,), scalar=0.0), between, below))    # infinities have no distance


def _recorded(name, a, q, given, axis, out, method, keepdims):
    """`q`: fractions; `given`: what the program gave for them."""
    a = a if "float" in _dtypes.name(a.dtype) else call("_npi_cast", (a,), dtype="float64")    # as NumPy does
    rows, shape, kept = sorted_rows(a, axis)
    count = call("_npi_sum", (call("_npi_cast", (call("_npi_equal", (rows, rows)),), dtype="float64"),), axis=(-1,))
    results = [call("_npi_reshape", (_between(rows, count, float(value), method),), newshape=(1,) + shape) for value in onp.ravel(q)]
    result = results[0] if len(results) == 1 else call("_npi_concatenate", results, dim=0)
    if name != "nanmedian" and rows.dtype != _dtypes.bfloat16:     # NumPy's dtype depends on its version, and on the type of `given`
        wanted = getattr(onp, name)(onp.zeros(1, rows.dtype), given, method=method).dtype
        result = result if result.dtype == wanted else call("_npi_cast", (result,), dtype=_dtypes.name(wanted))
    return deliver(call("_npi_reshape", (result,), newshape=onp.shape(q) + (kept if keepdims else shape)), out)


def _quantile(name, a, q, axis, out, method, keepdims, scale, options):
    """`options`: what only NumPy knows."""
    if isinstance(q, NDArrayBase) and _recording() and not is_deferred_compute():
        q = q.asnumpy()     # what is recorded reads places, which the values tell
    if (is_traced() and not is_symbol(a) and isinstance(a, NDArrayBase) and a.size and method in _METHODS and not options
            and not isinstance(q, NDArrayBase)):
        fractions = onp.asarray(q, "float64") / scale
        if not ((fractions >= 0) & (fractions <= 1)).all():
            raise ValueError(f"[{name}] q is {q}; accepted: 0 to {scale}")
        return _recorded(name, a, fractions, q, axes_of(axis), out, method, bool(keepdims))
    run = importlib.import_module("mxnet.numpy.fallback").run      # which stands on this module
    arguments = {"axis": axes_of(axis), "keepdims": keepdims, **options}
    if name != "nanmedian":
        arguments["method"] = method
    result = run(name, getattr(onp, name), (a,) if name == "nanmedian" else (a, q), arguments)
    result = onp.asarray(result) if isinstance(result, onp.generic) else result    # which keeps its dtype
    return deliver(operand(result, next((v for v in (a, q) if isinstance(v, NDArrayBase)), None)), out)


def nanmedian(a, axis=None, out=None, overwrite_input=None, keepdims=False):
    """Medians of the elements that are numbers; NaN where there is none. Differentiable.

    Examples
    --------
    >>> mx.np.nanmedian(mx.np.array([1, mx.np.nan, 4])).item()
    2.5
    """
    del overwrite_input
    return _quantile("nanmedian", a, 0.5, axis, out, "linear", keepdims, 1, {})


def nanpercentile(a, q, axis=None, out=None, overwrite_input=None, method=None, keepdims=False, *, weights=None, interpolation=None):   # noqa: E501
    """:func:`percentile` of the elements that are numbers; NaN where there is none. Differentiable
    in the methods "linear", "lower", "higher", "midpoint" and "nearest" without weights.

    Examples
    --------
    >>> mx.np.nanpercentile(mx.np.array([1, mx.np.nan, 4]), 50).item()
    2.5
    """
    del overwrite_input
    options = {} if weights is None else {"weights": weights}
    return _quantile("nanpercentile", a, q, axis, out, method or interpolation or "linear", keepdims, 100, options)


def nanquantile(a, q, axis=None, out=None, overwrite_input=None, method=None, keepdims=False, *, weights=None, interpolation=None):   # noqa: E501
    """:func:`nanpercentile` with `q` between 0 and 1.

    Examples
    --------
    >>> mx.np.nanquantile(mx.np.array([1, mx.np.nan, 4]), 0.5).item()
    2.5
    """
    del overwrite_input
    options = {} if weights is None else {"weights": weights}
    return _quantile("nanquantile", a, q, axis, out, method or interpolation or "linear", keepdims, 1, options)
