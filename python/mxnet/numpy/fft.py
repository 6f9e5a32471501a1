"""``mx.np.fft``: discrete Fourier transforms, with NumPy's names and arguments.

mx.np has no complex dtype. So complex results are NumPy's complex arrays, real results arrays of
mx.np, and arguments may be either. NumPy computes the transforms on the host, which is warned of
once for each function; while autograd records or a block is traced they are a ValueError, because
they have no gradient. The functions of frequencies and shifts are native.

float32 gives complex64 and back; float64, integers and bools give complex128 and float64.
"""

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase
from . import fallback
from ._creation import arange
from ._dispatch import call, default_float, deliver, dtype_name, is_symbol
from ._joining import as_tuple, concatenate
from ._manipulation import roll

__all__ = [
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]

_SINGLE = ("float16", "float32", "complex64", "bfloat16")


def _transform(name, a, out, **params):
    """NumPy's transform of that name, in single precision for what is single."""
    kind = (
        _dtypes.name(a.dtype)
        if isinstance(a, NDArrayBase)
        else getattr(getattr(a, "dtype", None), "name", None)
    )
    single = kind in _SINGLE

    def computed(a):
        result = getattr(onp.fft, name)(a, **params)
        return (
            result.astype({"c": "complex64", "f": "float32"}[result.dtype.kind], copy=False)
            if single
            else result
        )

    result = fallback.run("fft." + name, computed, (a,), {}, always=True)
    if out is None:
        return result
    if isinstance(out, onp.ndarray):
        out[...] = result.asnumpy() if isinstance(result, NDArrayBase) else result
        return out
    if not isinstance(result, NDArrayBase):
        raise TypeError(
            f"[fft.{name}] the result is complex, which `out`, an array of mx.np, cannot hold; "
            "accepted: a NumPy array"
        )
    return deliver(result, out)


# ---- of one dimension


def fft(a, n=None, axis=-1, norm=None, out=None):
    """The Fourier transform along a dimension.

    Parameters
    ----------
    a : ndarray, or complex array of NumPy
        Data of any shape.
    n : int, optional
        The length that is transformed: the dimension is cut, or filled up with zeros.
    axis : int
        The dimension.
    norm : {None, "backward", "ortho", "forward"}
        Where the factor 1/n is: in the inverse transform (None, too), its root in both, or here.
    out : array, optional
        Where the result goes.

    Returns
    -------
    numpy.ndarray
        complex64 or complex128, with `n` entries in the dimension.

    Raises
    ------
    ValueError
        While autograd records or a block is traced.

    Examples
    --------
    >>> mx.np.fft.fft(mx.np.array([1, 0, 0, 0])).real.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _transform("fft", a, out, n=n, axis=axis, norm=norm)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of :func:`fft`, as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.ifft(mx.np.fft.fft(mx.np.array([1, 2]))).real.tolist()
    [1.0, 2.0]
    """
    return _transform("ifft", a, out, n=n, axis=axis, norm=norm)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The Fourier transform of real data: the frequencies that are not negative, ``n // 2 + 1`` of
    them, as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.rfft(mx.np.ones(4)).real.tolist()
    [4.0, 0.0, 0.0]
    """
    return _transform("rfft", a, out, n=n, axis=axis, norm=norm)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of :func:`rfft`: an array of mx.np with `n` entries in the dimension, or twice as
    many as `a` has after the first.

    Examples
    --------
    >>> mx.np.fft.irfft(mx.np.fft.rfft(mx.np.array([1, 2, 3, 4])))
    array([1., 2., 3., 4.])
    """
    return _transform("irfft", a, out, n=n, axis=axis, norm=norm)


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """The real transform, an array of mx.np, of data whose second half is the complex conjugate of
    the first, which is given.

    Examples
    --------
    >>> mx.np.fft.hfft(mx.np.array([1, 0, 0]))
    array([1., 1., 1., 1.])
    """
    return _transform("hfft", a, out, n=n, axis=axis, norm=norm)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of :func:`hfft`, as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.ihfft(mx.np.ones(4)).real.tolist()
    [1.0, 0.0, 0.0]
    """
    return _transform("ihfft", a, out, n=n, axis=axis, norm=norm)


# ---- of several dimensions


def _of_several(name, a, out, s, axes, norm):
    given = {"s": s, "norm": norm}
    if axes is not None or name.endswith("2"):
        given["axes"] = axes
    return _transform(name, a, out, **given)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The Fourier transform along two dimensions, as a complex array of NumPy; `s` gives the
    lengths that are transformed.

    Examples
    --------
    >>> mx.np.fft.fft2(mx.np.ones((2, 2))).real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return _of_several("fft2", a, out, s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of :func:`fft2`, as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.ifft2(mx.np.ones((2, 2))).real.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return _of_several("ifft2", a, out, s, axes, norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The Fourier transform of real data along two dimensions, of which the last has half of the
    frequencies (see :func:`rfft`), as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.rfft2(mx.np.ones((4, 4))).shape
    (4, 3)
    """
    return _of_several("rfft2", a, out, s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of :func:`rfft2`: an array of mx.np.

    Examples
    --------
    >>> mx.np.fft.irfft2(mx.np.fft.rfft2(mx.np.ones((2, 2))))
    array([[1., 1.],
           [1., 1.]])
    """
    return _of_several("irfft2", a, out, s, axes, norm)


def fftn(a, s=None, axes=None, norm=None, out=None):
    """The Fourier transform along several dimensions, all where `axes` is None, as a complex array
    of NumPy; `s` gives the lengths that are transformed.

    Examples
    --------
    >>> mx.np.fft.fftn(mx.np.ones((2, 2, 2)))[0, 0, 0].real.item()
    8.0
    """
    return _of_several("fftn", a, out, s, axes, norm)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of :func:`fftn`, as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.ifftn(mx.np.ones((2, 2, 2)))[0, 0, 0].real.item()
    1.0
    """
    return _of_several("ifftn", a, out, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """The Fourier transform of real data along several dimensions, of which the last has half of
    the frequencies (see :func:`rfft`), as a complex array of NumPy.

    Examples
    --------
    >>> mx.np.fft.rfftn(mx.np.ones((2, 4, 6))).shape
    (2, 4, 4)
    """
    return _of_several("rfftn", a, out, s, axes, norm)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of :func:`rfftn`: an array of mx.np.

    Examples
    --------
    >>> mx.np.fft.irfftn(mx.np.fft.rfftn(mx.np.ones((2, 2)))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return _of_several("irfftn", a, out, s, axes, norm)


# ---- frequencies and shifts


def _length(function, n):
    if isinstance(n, bool) or not isinstance(n, (int, onp.integer)):
        raise ValueError(f"[fft.{function}] n is {n!r}; accepted: a whole number")
    if n < 1:
        raise ValueError(f"[fft.{function}] n is {n}; accepted: 1 or more")
    return int(n)


def fftfreq(n, d=1.0, dtype=None, device=None):
    """The frequencies of the `n` entries of :func:`fft`, in cycles for each unit of the distance
    `d` between data: 0, the positive ones, the negative ones. `dtype` is the default float without
    it.

    Examples
    --------
    >>> mx.np.fft.fftfreq(4, 0.5)
    array([ 0. ,  0.5, -1. , -0.5])
    """
    n = _length("fftfreq", n)
    kind = dtype_name(dtype, default_float())
    numbers = concatenate(
        (
            arange(0, (n - 1) // 2 + 1, dtype=kind, device=device),
            arange(-(n // 2), 0, dtype=kind, device=device),
        )
    )
    return call("_npi_true_divide_scalar", (numbers,), scalar=float(n * d))


def rfftfreq(n, d=1.0, dtype=None, device=None):
    """The frequencies of the entries of :func:`rfft`, 0 and the positive ones, for `n` entries of
    data; see :func:`fftfreq`.

    Examples
    --------
    >>> mx.np.fft.rfftfreq(4, 0.5)
    array([0. , 0.5, 1. ])
    """
    n = _length("rfftfreq", n)
    numbers = arange(
        0,
        n // 2 + 1,
        dtype=dtype_name(dtype, default_float()),
        device=device,
    )
    return call("_npi_true_divide_scalar", (numbers,), scalar=float(n * d))


def _shifted(x, axes, sign, function):
    if not isinstance(x, NDArrayBase) and not is_symbol(x):
        return function(x, axes)  # complex arrays of NumPy
    axes = tuple(range(len(x.shape))) if axes is None else as_tuple(axes)
    steps = tuple(sign * (x.shape[axis] // 2) for axis in axes)
    return roll(x, steps, axes) if axes else call("_npi_copy", (x,))


def fftshift(x, axes=None):
    """The entries with frequency 0 moved to the middle of dimensions, all where `axes` is None: an
    array of mx.np, differentiable. NumPy's arrays give NumPy's.

    Examples
    --------
    >>> mx.np.fft.fftshift(mx.np.fft.fftfreq(4))
    array([-0.5 , -0.25,  0.  ,  0.25])
    """
    return _shifted(x, axes, 1, onp.fft.fftshift)


def ifftshift(x, axes=None):
    """The inverse of :func:`fftshift`.

    Examples
    --------
    >>> mx.np.fft.ifftshift(mx.np.fft.fftshift(mx.np.arange(3)))
    array([0., 1., 2.])
    """
    return _shifted(x, axes, -1, onp.fft.ifftshift)


def __dir__():
    return __all__
