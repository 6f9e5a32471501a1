"""Factorizations of mx.np.linalg: what their results are called, and orthogonal bases of the whole
space in place of those that are large enough."""

from collections import namedtuple

import numpy as onp

from ._dispatch import call
from ._joining import concatenate

__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "full_q",
    "full_svd",
]

# NumPy's names of them.
EigResult = namedtuple("EigResult", ["eigenvalues", "eigenvectors"])
EighResult = namedtuple("EighResult", ["eigenvalues", "eigenvectors"])
QRResult = namedtuple("QRResult", ["Q", "R"])
SlogdetResult = namedtuple("SlogdetResult", ["sign", "logabsdet"])
SVDResult = namedtuple("SVDResult", ["U", "S", "Vh"])


def _of(a):
    return {"dtype": onp.dtype(a.dtype).name, "ctx": str(a.context)}


def _square_q(a):
    """A square q of matrices (..., m, n) with m > n, whose first n columns span those of `a`."""
    m, n = a.shape[-2:]
    unit = call("_npi_eye", (), N=m, M=m - n, **_of(a))
    unit = call("_npi_broadcast_to", (unit,), shape=a.shape[:-1] + (m - n,))
    return call("_npi_qr", (concatenate((a, unit), axis=-1),))[0]


def full_q(a):
    """`q`, square, and `r`, with zeros below, of matrices (..., m, n) with m > n."""
    m, n = a.shape[-2:]
    r = call("_npi_qr", (a,))[1]
    below = call("_npi_zeros", (), shape=a.shape[:-2] + (m - n, n), **_of(a))
    return _square_q(a), concatenate((r, below), axis=-2)


def _filled_up(columns):
    """Orthonormal columns (..., m, k) with m - k others behind them."""
    k = columns.shape[-1]
    if columns.shape[-2] == k:
        return columns
    rest = call("slice_axis", (_square_q(columns),), axis=-1, begin=k, end=columns.shape[-2])
    return concatenate((columns, rest), axis=-1)


def full_svd(u, s, vh):
    """The factors with square matrices of singular vectors."""
    turned = call("_npi_swapaxes", (vh,), dim1=-1, dim2=-2)
    return _filled_up(u), s, call("_npi_swapaxes", (_filled_up(turned),), dim1=-1, dim2=-2)
