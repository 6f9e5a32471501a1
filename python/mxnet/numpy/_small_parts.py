"""Functions of mx.np that need no operator of their own: other forms of arrays, products of vectors
and matrices, numbers as texts, NumPy's treatment of errors."""
import numpy as onp

from .._binding import NDArrayBase
from ._creation import asarray
from ._dispatch import call, promoted

__all__ = ["asanyarray", "require", "iterable", "ndenumerate", "matvec", "vecmat", "base_repr", "binary_repr",
           "format_float_positional", "format_float_scientific", "errstate", "seterr", "geterr", "poly1d"]

errstate = onp.errstate


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """:func:`asarray`: there are no subclasses that could be kept.

    Examples
    --------
    >>> mx.np.asanyarray([1.5])
    array([1.5])
    """
    return asarray(a, dtype, device, copy, order=order, like=like)


def require(a, dtype=None, requirements=None, *, like=None):
    """`a` as an array of that dtype, which lies in memory row by row and can be written.
    `requirements` are NumPy's; "F", columns, is refused.

    Examples
    --------
    >>> mx.np.require([1, 2], "int32", ["C", "W"])
    array([1, 2], dtype=int32)
    """
    wanted = {str(r).upper() for r in ([requirements] if isinstance(requirements, str) else requirements or ())}
    if wanted & {"F", "FORTRAN", "F_CONTIGUOUS"}:
        raise NotImplementedError(f"[require] requirements={requirements!r}; accepted: C, A, W, O, E, for arrays lie in memory row by row")
    return asarray(a, dtype, like=like)


def iterable(y):
    """Whether ``for`` can go through something: no array of shape () can be.

    Examples
    --------
    >>> mx.np.iterable(mx.np.ones(2)), mx.np.iterable(3)
    (True, False)
    """
    return bool(y.ndim) if isinstance(y, NDArrayBase) else onp.iterable(y)


def ndenumerate(arr):
    """Pairs of the indices of an element and its value, a number of NumPy. Reads the array.

    Examples
    --------
    >>> [(i, float(v)) for i, v in mx.np.ndenumerate(mx.np.array([[1.5, 2.5]]))]
    [((0, 0), 1.5), ((0, 1), 2.5)]
    """
    return onp.ndenumerate(arr.asnumpy() if isinstance(arr, NDArrayBase) else arr)


def matvec(x1, x2, /):
    """Products of matrices (..., m, n) and vectors (..., n), of shape (..., m).

    Examples
    --------
    >>> mx.np.matvec(mx.np.array([[1, 2], [3, 4]]), mx.np.array([1, 1]))
    array([3., 7.])
    """
    x1, x2 = promoted((x1, x2))
    return call("_npi_squeeze", (call("_npi_matmul", (x1, call("_npi_expand_dims", (x2,), axis=-1))),), axis=(-1,))


def vecmat(x1, x2, /):
    """Products of vectors (..., n) and matrices (..., n, m), of shape (..., m).

    Examples
    --------
    >>> mx.np.vecmat(mx.np.array([1, 1]), mx.np.array([[1, 2], [3, 4]]))
    array([4., 6.])
    """
    x1, x2 = promoted((x1, x2))
    return call("_npi_squeeze", (call("_npi_matmul", (call("_npi_expand_dims", (x1,), axis=-2), x2)),), axis=(-2,))


def base_repr(number, base=2, padding=0):
    """A whole number as a text in a base of 2 to 36, with so many zeros in front.

    Examples
    --------
    >>> mx.np.base_repr(30, 16)
    '1E'
    """
    return onp.base_repr(int(number), base, padding)


def binary_repr(num, width=None):
    """A whole number as a text of bits; negative ones with `width` bits are the two's complement.

    Examples
    --------
    >>> mx.np.binary_repr(-3, width=5)
    '11101'
    """
    return onp.binary_repr(int(num), width)


def _scalar(x):
    return x.asnumpy()[()] if isinstance(x, NDArrayBase) else x


def format_float_positional(x, *args, **kwargs):
    """A number as a text without an exponent; other arguments are those of NumPy's function.

    Examples
    --------
    >>> mx.np.format_float_positional(mx.np.array(0.1), precision=3)
    '0.1'
    """
    return onp.format_float_positional(_scalar(x), *args, **kwargs)


def format_float_scientific(x, *args, **kwargs):
    """A number as a text with an exponent; other arguments are those of NumPy's function.

    Examples
    --------
    >>> mx.np.format_float_scientific(mx.np.array(1500.0))
    '1.5e+03'
    """
    return onp.format_float_scientific(_scalar(x), *args, **kwargs)


def seterr(all=None, divide=None, over=None, under=None, invalid=None):    # pylint: disable=redefined-builtin
    """What NumPy does about errors of floats; returns what it did. mx.np never warns of them.

    Examples
    --------
    >>> before = mx.np.seterr(divide="ignore"); mx.np.seterr(**before)["divide"]
    'ignore'
    """
    return onp.seterr(all, divide, over, under, invalid)


def geterr():
    """What NumPy does about errors of floats; see :func:`seterr`.

    Examples
    --------
    >>> sorted(mx.np.geterr())
    ['divide', 'invalid', 'over', 'under']
    """
    return onp.geterr()


def poly1d(c_or_r, r=False, variable=None):
    """NumPy's polynomial with these coefficients, the highest power first, or with these roots. It
    computes arrays of mx.np where it is called with one.

    Examples
    --------
    >>> mx.np.poly1d(mx.np.array([1, 0, 2]))(mx.np.array([3.0, 4.0]))
    array([11., 18.])
    """
    return onp.poly1d(c_or_r.asnumpy() if isinstance(c_or_r, NDArrayBase) else c_or_r, r, variable)
