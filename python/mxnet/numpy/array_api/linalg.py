"""Linear algebra of the array API standard: functions of mx.np.linalg, and those for which 1.x and
2.0 fixed other rules there."""

import numpy as onp

from .. import linalg as _linalg
from .._dispatch import call, operand, promoted
from ._functions import wide

_SAME = """
    cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
    matrix_transpose outer pinv qr slogdet svdvals tensordot vecdot vector_norm
""".split()
__all__ = [*_SAME, "solve", "svd", "trace"]

for _name in _SAME:
    globals()[_name] = getattr(_linalg, _name)


def solve(x1, x2, /):
    """Solutions x of ``x1 @ x = x2`` for square matrices. `x2` is one vector (n,), or matrices
    (..., n, k), never a batch of vectors. Dimensions before these are broadcast. A singular matrix
    is an error.

    Examples
    --------
    >>> mx.np.array_api.linalg.solve(mx.np.array([[2, 0], [0, 4]]), mx.np.array([1, 2]))
    array([0.5, 0.5])
    """
    x1, x2 = promoted((x1, x2))
    if x2.ndim == 1:
        return solve(x1, x2.reshape(-1, 1))[..., 0]
    batch = onp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return _linalg.solve(_batched(x1, batch), _batched(x2, batch))


def _batched(x, batch):
    return (
        x if x.shape[:-2] == batch else call("_npi_broadcast_to", (x,), shape=batch + x.shape[-2:])
    )


def svd(x, /, *, full_matrices=True):
    """Singular values and vectors ``(U, S, Vh)``; see :func:`mxnet.np.linalg.svd`, whose default is
    the reduced form.

    Examples
    --------
    >>> mx.np.array_api.linalg.svd(mx.np.array([[3, 0, 0], [0, 4, 0]])).Vh.shape
    (3, 3)
    """
    return _linalg.svd(operand(x), full_matrices)


def trace(x, /, *, offset=0, dtype=None):
    """The sums of the diagonals of matrices, of integers in int64 or uint64.

    Examples
    --------
    >>> mx.np.array_api.linalg.trace(mx.np.ones((2, 2), dtype="int8"))
    array(2, dtype=int64)
    """
    x = operand(x)
    return _linalg.trace(x, offset, wide(x, dtype))


def __dir__():
    return __all__
