"""Functions about dtypes and shapes: what dtypes hold, what can become what."""
from collections import namedtuple

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase
from ._dispatch import call, device_of, dtype_name, is_symbol, operand, promoted_dtype

__all__ = ["astype", "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


class finfo_obj(namedtuple("finfo_obj", "bits eps max min smallest_normal")):   # pylint: disable=invalid-name
    """The limits of a floating dtype; `dtype` says of which."""

    dtype = None


class iinfo_obj(namedtuple("iinfo_obj", "bits max min")):   # pylint: disable=invalid-name
    """The limits of an integer dtype; `dtype` says of which."""

    dtype = None


_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f", "complex floating": "c",
          "numeric": "iufc"}


def _dtype(value):
    """A dtype as NumPy knows it, of an array or whatever names one."""
    if isinstance(value, NDArrayBase):
        value = value.dtype
    return onp.dtype(_dtypes.TYPES[_dtypes.number(value)]) if not isinstance(value, onp.dtype) else value


def can_cast(from_, to, casting="safe"):
    """Whether values of one dtype are kept by another one.

    Parameters
    ----------
    from_ : dtype, number or ndarray
        What is cast; an array stands for its dtype, a number for its dtype in NumPy.
    to : dtype
        What it becomes.
    casting : str
        The rule, as in NumPy: "no", "equiv", "safe", "same_kind" or "unsafe".

    Examples
    --------
    >>> mx.np.can_cast("int32", "int64"), mx.np.can_cast("int64", "int32")
    (True, False)
    """
    if isinstance(from_, NDArrayBase):
        from_ = from_.dtype
    elif isinstance(from_, (bool, int, float)):
        from_ = onp.asarray(from_).dtype
    return bool(onp.can_cast(_dtype(from_), _dtype(to), casting))


def finfo(dtype):
    """The limits of a floating dtype, or of an array's: bits, eps, max, min, smallest_normal,
    dtype.

    Examples
    --------
    >>> mx.np.finfo("float32").bits
    32
    """
    dtype = dtype.dtype if isinstance(dtype, NDArrayBase) else dtype
    if _dtypes.name(dtype) == "bfloat16":
        limits = finfo_obj(16, 2.0 ** -7, (2 - 2.0 ** -7) * 2.0 ** 127, -(2 - 2.0 ** -7) * 2.0 ** 127, 2.0 ** -126)
        limits.dtype = _dtypes.bfloat16
        return limits
    info = onp.finfo(_dtype(dtype))
    limits = finfo_obj(info.bits, float(info.eps), float(info.max), float(info.min), float(info.tiny))
    limits.dtype = _dtype(dtype)
    return limits


def iinfo(dtype):
    """The limits of an integer dtype, or of an array's: bits, max, min, dtype.

    Examples
    --------
    >>> mx.np.iinfo("int8")
    iinfo_obj(bits=8, max=127, min=-128)
    """
    dtype = _dtype(dtype)
    info = onp.iinfo(dtype)
    limits = iinfo_obj(info.bits, info.max, info.min)
    limits.dtype = dtype
    return limits


def isdtype(dtype, kind):
    """Whether a dtype is of a kind: "bool", "signed integer", "unsigned integer", "integral", "real
    floating", "complex floating", "numeric", a dtype, or a tuple of these.

    Examples
    --------
    >>> mx.np.isdtype(mx.np.float32, "real floating"), mx.np.isdtype(mx.np.int8, ("bool", mx.np.int16))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any([isdtype(dtype, k) for k in kind])
    dtype = _dtype(dtype)
    if isinstance(kind, str) and kind in _KINDS:
        return ("f" if dtype == _dtypes.bfloat16 else onp.dtype(dtype).kind) in _KINDS[kind]
    try:
        return dtype == _dtype(kind)
    except TypeError:
        raise ValueError(f"[isdtype] kind={kind!r}; accepted: {', '.join(_KINDS)}, a dtype, or a tuple of them") from None


def result_type(*arrays_and_dtypes):
    """The dtype in which arrays, numbers and dtypes meet, as :func:`mxnet.np.add` has them meet: an
    integer beside a float takes the float's dtype, unless NumPy's default dtypes are on; numbers
    take the dtype of what is beside them, if it has room for them. Nothing is computed.

    Examples
    --------
    >>> mx.np.result_type("int64", "float32").name
    'float32'
    """
    if not arrays_and_dtypes:
        raise ValueError("[result_type] got nothing; accepted: at least one array or dtype")
    numbers = [v for v in arrays_and_dtypes if type(v) in (bool, int, float)]
    others = [v for v in arrays_and_dtypes if type(v) not in (bool, int, float)]
    if not others:
        return onp.result_type(*numbers)
    ids = [_dtypes.number(v.dtype if isinstance(v, (NDArrayBase, onp.ndarray, onp.generic)) else v) for v in others]
    dtype = _dtypes.TYPES[promoted_dtype(ids, numbers)]
    return dtype if dtype is _dtypes.bfloat16 else onp.dtype(dtype)


def astype(x, dtype, /, *, copy=True, device=None):
    """An array in another dtype, of the same shape; `x` itself if `copy` is false and nothing
    changes. Fractions become integers by cutting them off. `device` says where the result is.

    Examples
    --------
    >>> mx.np.astype(mx.np.array([1.5, 2.0]), "int32")
    array([1, 2], dtype=int32)
    """
    x = operand(x)
    if is_symbol(x):
        return call("_npi_cast", (x,), dtype=dtype_name(dtype))
    result = x.astype(dtype, copy=copy)
    return result if device is None else result.as_in_context(device_of(device=device))


def broadcast_shapes(*args):
    """The shape in which shapes, tuples or whole numbers, meet. Raises ValueError if they do not.

    Examples
    --------
    >>> mx.np.broadcast_shapes((2, 1), 3)
    (2, 3)
    """
    return onp.broadcast_shapes(*args)
