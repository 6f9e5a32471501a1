"""Parts of complex numbers: arrays of mx.np hold none; NumPy's arrays get what NumPy gives."""

import builtins

import numpy as onp

from .._binding import NDArrayBase
from ._dispatch import call, is_symbol, operand
from ._ufuncs import call_as_ufunc

__all__ = ["conj", "conjugate", "imag", "real", "iscomplex", "iscomplexobj", "isreal", "isrealobj"]


def _is_ours(x):
    return isinstance(x, NDArrayBase) or is_symbol(x)


def _is_host_complex(x):
    return isinstance(x, (onp.ndarray, onp.generic, builtins.complex)) and onp.iscomplexobj(x)


def conj(x, out=None, where=True, **kwargs):
    """The complex conjugate: a copy, because elements are real. Complex arrays of NumPy get
    NumPy's. `where` and others are those of NumPy's ufuncs.

    Examples
    --------
    >>> mx.np.conj(mx.np.array([1.0, -2.0]))
    array([ 1., -2.])
    """
    if _is_host_complex(x):
        return onp.conj(x)
    return call_as_ufunc("conj", lambda values: call("_npi_copy", (values,)), (x,), "same", out, where, kwargs)


conjugate = conj


def real(val):
    """The real parts: the array itself, because elements are real. Complex arrays of NumPy give an
    array of mx.np.

    Examples
    --------
    >>> mx.np.real(mx.np.array([1.0]))
    array([1.])
    """
    if _is_ours(val):
        return val
    parts = onp.real(val)
    return operand(parts) if _is_host_complex(val) and parts.ndim else parts


def imag(val):
    """The imaginary parts: zeros of the array's shape and dtype, because elements are real. Complex
    arrays of NumPy give an array of mx.np.

    Examples
    --------
    >>> mx.np.imag(mx.np.array([1.0]))
    array([0.])
    """
    if _is_ours(val):
        return call("zeros_like", (val,))
    parts = onp.imag(val)
    return operand(parts) if _is_host_complex(val) and parts.ndim else parts


def iscomplex(x):
    """Whether elements have an imaginary part: false for all of an array of mx.np.

    Examples
    --------
    >>> mx.np.iscomplex(mx.np.array([1.0]))
    array([False])
    """
    return (
        call("_npi_cast", (call("zeros_like", (x,)),), dtype="bool")
        if _is_ours(x)
        else onp.iscomplex(x)
    )


def isreal(x):
    """Whether elements have no imaginary part: true for all of an array of mx.np.

    Examples
    --------
    >>> mx.np.isreal(mx.np.array([1.0]))
    array([ True])
    """
    return (
        call("_npi_cast", (call("ones_like", (x,)),), dtype="bool")
        if _is_ours(x)
        else onp.isreal(x)
    )


def iscomplexobj(x):
    """Whether an array's dtype is complex: never of an array of mx.np.

    Examples
    --------
    >>> mx.np.iscomplexobj(mx.np.ones(1))
    False
    """
    return False if _is_ours(x) else onp.iscomplexobj(x)


def isrealobj(x):
    """Whether an array's dtype is not complex: always of an array of mx.np.

    Examples
    --------
    >>> mx.np.isrealobj(mx.np.ones(1))
    True
    """
    return not iscomplexobj(x)
