"""Functions of the array API standard for which 1.x and 2.0 fixed other rules in mx.np: values of
Python keep their kind, and sums of small integers are wide."""

import builtins

import numpy as onp

from ..._binding import NDArrayBase
from .. import _creation, _cumulative, _reductions
from .._dispatch import call, default_float, device_of, from_values, is_symbol, operand

__all__ = ["asarray", "arange", "full", "cumulative_sum", "cumulative_prod", "prod", "sign", "sum"]

_WHOLE = (builtins.int, onp.integer)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """`obj` as an array: itself if it is one of mx.np, of that dtype and on that device.

    Without `dtype`, Python's numbers become bool, int64 or the default float (float32 unless
    ``npx.set_np(dtype=True)`` was called), and other arrays keep theirs. mx.np.asarray makes the
    default float of everything. `copy` True makes a new array in any case; False refuses to.

    Examples
    --------
    >>> mx.np.array_api.asarray([1, 2])
    array([1, 2], dtype=int64)
    """
    if isinstance(obj, NDArrayBase) or dtype is not None or copy is False:
        return _creation.asarray(obj, dtype, device, copy)
    values = (
        obj if isinstance(obj, (onp.ndarray, onp.generic)) else onp.asarray(_creation._plain(obj))
    )
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"[asarray] {values.dtype} is no dtype of arrays here; accepted: real numbers and bools"
        )
    if not isinstance(obj, (onp.ndarray, onp.generic)) and values.dtype.kind == "f":
        values = values.astype(default_float())
    return from_values(
        values, device_of(None, device), values.dtype
    )


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one value: bool, int64 or the default float, as the value, unless `dtype` says
    otherwise.

    Examples
    --------
    >>> mx.np.array_api.full((2,), 3)
    array([3, 3], dtype=int64)
    """
    if dtype is None and type(fill_value) is builtins.int:
        dtype = "int64"
    return _creation.full(shape, fill_value, dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Values from `start` up to but without `stop`, `step` apart; from 0 to `start` if it is alone.
    int64 for whole numbers, otherwise the default float.

    Examples
    --------
    >>> mx.np.array_api.arange(3)
    array([0, 1, 2], dtype=int64)
    """
    if dtype is None:
        whole = all(isinstance(v, _WHOLE) for v in (start, stop, step) if v is not None)
        dtype = "int64" if whole else default_float()
    return _creation.arange(start, stop, step, dtype, device=device)


def wide(x, dtype):
    """The dtype to add in: `dtype`, or 64 bits for integers and bools."""
    if dtype is not None or is_symbol(x):
        return dtype
    return {"b": "int64", "i": "int64", "u": "uint64"}.get(getattr(x.dtype, "kind", "f"))


def sum(x, /, *, axis=None, dtype=None, keepdims=False):  # pylint: disable=redefined-builtin
    """Sums over axes, of integers in int64 or uint64; see :func:`mxnet.np.sum`.

    Examples
    --------
    >>> mx.np.array_api.sum(mx.np.ones(300, dtype="int8"))
    array(300, dtype=int64)
    """
    x = operand(x)
    return _reductions.sum(x, axis=axis, dtype=wide(x, dtype), keepdims=keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Products over axes, of integers in int64 or uint64; see :func:`mxnet.np.prod`.

    Examples
    --------
    >>> mx.np.array_api.prod(mx.np.full(10, 2, dtype="int8"))
    array(1024, dtype=int64)
    """
    x = operand(x)
    return _reductions.prod(x, axis=axis, dtype=wide(x, dtype), keepdims=keepdims)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums, of integers in int64 or uint64; see :func:`mxnet.np.cumulative_sum`.

    Examples
    --------
    >>> mx.np.array_api.cumulative_sum(mx.np.ones(3, dtype="int8"))
    array([1, 2, 3], dtype=int64)
    """
    x = operand(x)
    return _cumulative.cumulative_sum(
        x, axis=axis, dtype=wide(x, dtype), include_initial=include_initial
    )


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products, of integers in int64 or uint64; see :func:`mxnet.np.cumulative_prod`.

    Examples
    --------
    >>> mx.np.array_api.cumulative_prod(mx.np.full(3, 2, dtype="int8"))
    array([2, 4, 8], dtype=int64)
    """
    x = operand(x)
    return _cumulative.cumulative_prod(
        x, axis=axis, dtype=wide(x, dtype), include_initial=include_initial
    )


def sign(x, /):
    """-1, 0 or 1 by the sign of each element, in its dtype; NaN for NaN.

    Examples
    --------
    >>> mx.np.array_api.sign(mx.np.array([-2.0, mx.np.nan]))
    array([-1., nan])
    """
    x = operand(x)
    signs = call("_npi_sign", (x,))
    if is_symbol(x) or getattr(x.dtype, "kind", "f") != "f":
        return signs
    return call("_npi_where", (call("_npi_isnan", (x,)), x, signs))
