"""``mx.np.linalg``: NumPy's linear algebra, in batches, with gradients.

Arrays are float32 or float64; integers and bools are computed in float64. Matrices lie in the last
two dimensions. What is no matrix that a function takes (singular, not positive definite) is an
error, a ValueError as NumPy's LinAlgError is, and of the class that `LinAlgError` is here.
"""
from itertools import pairwise

import numpy as onp

from .. import _dtypes, autograd
from .._binding import NDArrayBase
from .._arrays.tracing import is_deferred_compute
from ..base import _MXValueError
from ..ndarray._native import _recording
from . import _norms, _products
from ._dispatch import call, dtype_name, is_symbol, operand, promoted
from ._full_bases import EigResult, EighResult, QRResult, SVDResult, SlogdetResult, full_q, full_svd
from ._products import outer, tensordot

__all__ = ["norm", "svd", "cholesky", "qr", "inv", "det", "slogdet", "solve", "tensorinv", "tensorsolve", "pinv", "eigvals", "eigvalsh",
           "eig", "eigh", "lstsq", "matrix_rank", "matrix_norm", "vector_norm", "matrix_transpose", "svdvals", "vecdot", "cross",
           "diagonal", "matmul", "outer", "tensordot", "trace", "matrix_power", "multi_dot", "cond"]
LinAlgError = _MXValueError     # what the functions here raise for matrices that they do not take
_ROUNDING = {"finfoEps32": float(onp.finfo("float32").eps), "finfoEps64": float(onp.finfo("float64").eps)}


def _real(a):
    """`a` as an operand; integers and bools as float64."""
    a = operand(a)
    if not is_symbol(a) and onp.dtype(a.dtype).kind in "iub":
        return a.astype("float64")
    return a


def _ndim(x, function, argument):
    if is_symbol(x):
        raise _MXValueError(f"[{function}] the number of dimensions of a symbol is not known; give {argument}")
    return x.ndim


# ---- norms
def _of_matrices(x, order, axes, keepdims):
    if order in (None, "fro", "f"):
        return _norms.root_of_squares(x, axes, keepdims)
    rows, columns = axes
    if order in ("nuc", 2, -2):
        values = svdvals(call("_np_moveaxis", (x,), source=axes, destination=(-2, -1)))
        if order == "nuc":
            result = _norms.total(values, (-1,), False)
        else:
            result = call("_np_max" if order == 2 else "_np_min", (values,), axis=(-1,))
        if not keepdims:
            return result
        for axis in sorted(a % x.ndim if not is_symbol(x) else a for a in axes):
            result = call("_npi_expand_dims", (result,), axis=axis)
        return result
    if order not in (1, -1, onp.inf, -onp.inf):
        raise _MXValueError(f"[norm] ord is {order!r}; accepted for matrices: None, 'fro', 'nuc', inf, -inf, 1, -1, 2, -2")
    first, last = (rows, columns) if order in (1, -1) else (columns, rows)
    sums = _norms.total(call("abs", (x,)), (first,), True)
    result = call("_np_max" if order > 0 else "_np_min", (sums,), axis=(last,), keepdims=True)
    return result if keepdims else call("_np_squeeze", (result,), axis=axes)


def norm(x, ord=None, axis=None, keepdims=False):   # pylint: disable=redefined-builtin
    """Norms of vectors or matrices.

    With one `axis`, or for an array of one dimension, norms of vectors: `ord` is None (or 2), inf,
    -inf, 0, or a number p, for ``sum(abs(x)**p)**(1/p)``. With two, or for a matrix, norms of
    matrices: None (or 'fro'), 'nuc', inf, -inf, 1, -1, 2, -2. With the texts
    'inf' and '-inf' of 1.9.1, and without `axis`, all elements are one vector. Without `ord` and
    `axis` the norm of all elements. `keepdims` keeps the dimensions, with size 1. Integers are
    computed in float64.

    Examples
    --------
    >>> mx.np.linalg.norm(mx.np.array([[3, 4], [0, 12]]), axis=1)
    array([ 5., 12.])
    """
    x, text, ord = _real(x), ord, _norms.order_of(ord)
    if axis is None and isinstance(text, str) and text != ord:
        return _norms.of_vectors(x, ord, tuple(range(_ndim(x, "norm", "axis"))), keepdims)
    if axis is None:
        if ord is None and not keepdims:
            return call("_npi_norm", (x,))
        ndim = _ndim(x, "norm", "axis")
        axis = tuple(range(ndim))
        if ord is None:
            return call("_np_reshape", (call("_npi_norm", (x,)),), newshape=(1,) * ndim)
    axes = _norms.checked("norm", x, axis)
    if len(axes) == 1:
        return _norms.of_vectors(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _of_matrices(x, ord, axes, keepdims)
    raise _MXValueError(f"[norm] {len(axes)} dimensions; accepted: 1, norms of vectors, or 2, norms of matrices")


def vector_norm(x, ord=None, axis=None, keepdims=False):   # pylint: disable=redefined-builtin
    """Norms of vectors along one dimension or several, or of all elements; `ord` as for
    :func:`norm`, 2 where it is None.

    Examples
    --------
    >>> mx.np.linalg.vector_norm(mx.np.array([[3, 4], [0, 12]]), ord=1)
    array(19.)
    """
    x = _real(x)
    if axis is None:
        if ord in (None, 2) and not keepdims:
            return call("_npi_norm", (x,))
        axis = tuple(range(_ndim(x, "vector_norm", "axis")))
        return _norms.of_vectors(x, ord, axis, keepdims)
    return _norms.of_vectors(x, ord, _norms.checked("vector_norm", x, axis), keepdims)


def matrix_norm(x, ord="fro", axis=(-2, -1), keepdims=False):   # pylint: disable=redefined-builtin
    """Norms of the matrices along the dimensions `axis`; `ord` as for :func:`norm`.

    Examples
    --------
    >>> mx.np.linalg.matrix_norm(mx.np.array([[3, 0], [0, 4]]), ord='nuc')
    array(7.)
    """
    x = _real(x)
    return _of_matrices(x, ord, _norms.checked("matrix_norm", x, axis), keepdims)


# ---- factorizations
def svd(a, full_matrices=False, compute_uv=True, hermitian=False):
    """Singular values and vectors ``(ut, l, v)`` with ``a = (ut * l[..., None, :]) @ v``.

    `a` has shape (..., m, n). With k the smaller of m and n: `ut` is (..., m, k) with orthonormal
    columns, `l` (..., k) in descending order, `v` (..., k, n) with orthonormal rows, of each of
    which the element of largest absolute value is positive. `full_matrices` makes `ut` (..., m, m)
    and `v` (..., n, n); without `compute_uv` there is `l` alone. The result is a named tuple (U, S,
    Vh). With `hermitian` only the lower triangles are read. Differences from NumPy: the reduced
    form is the default.

    Examples
    --------
    >>> ut, l, v = mx.np.linalg.svd(mx.np.array([[3, 0, 0], [0, 4, 0]]))
    >>> l
    array([4., 3.])
    """
    if hermitian:
        a = operand(a)
        a = _lower_mirrored(a)
    if not compute_uv:
        return svdvals(a)
    parts = tuple(call("_npi_svd", (_real(a),)))
    return SVDResult(*(full_svd(*parts) if full_matrices else parts))


def _lower_mirrored(a):
    """Symmetric matrices of the lower triangles."""
    low = call("_npi_tril", (a,), k=0)
    return low + call("_npi_swapaxes", (call("_npi_tril", (a,), k=-1),), dim1=-1, dim2=-2)


def svdvals(a):
    """The singular values of matrices, in descending order.

    Examples
    --------
    >>> mx.np.linalg.svdvals(mx.np.array([[3, 0], [0, 4]]))
    array([4., 3.])
    """
    return call("_npi_svdvals", (_real(a),))


def cholesky(a, upper=False):
    """Lower triangular factors l with ``a = l @ l.T`` of positive definite matrices, or with
    `upper` upper triangular factors u with ``a = u.T @ u``. Only that triangle of `a` is read.
    Other matrices are an error.

    Examples
    --------
    >>> mx.np.linalg.cholesky(mx.np.array([[4, 2], [2, 5]]))
    array([[2., 0.],
           [1., 2.]])
    """
    return call("_npi_cholesky", (_real(a),), lower=not upper)


def qr(a, mode="reduced"):
    """Factors q, with orthonormal columns, and r, upper triangular, with ``a = q @ r``.

    `a` has shape (..., m, n). With k the smaller of m and n, `q` is (..., m, k) and `r` (..., k,
    n). `mode` 'r' gives `r` alone; 'complete' makes `q` square, with zeros below in `r`.

    Examples
    --------
    >>> q, r = mx.np.linalg.qr(mx.np.array([[3, 0], [4, 5]]))
    >>> r.round(3)
    array([[-5., -4.],
           [ 0.,  3.]])
    """
    if mode not in ("reduced", "r", "complete"):
        raise _MXValueError(f"[qr] mode is {mode!r}; accepted: 'reduced', 'r', 'complete'")
    a = _real(a)
    if mode == "complete" and _ndim(a, "qr", "another mode") >= 2 and a.shape[-2] > a.shape[-1]:
        return QRResult(*full_q(a))
    q, r = call("_npi_qr", (a,))
    return r if mode == "r" else QRResult(q, r)


def _triangle(function, uplo, upper):
    """'L' or 'U', from 1.9.1's UPLO and 2.0's upper, which may stand at the same place."""
    if isinstance(uplo, (bool, onp.bool_)):
        return "U" if uplo else "L"
    if upper:
        return "U"
    if uplo not in ("L", "l", "U", "u"):
        raise _MXValueError(f"[{function}] UPLO is {uplo!r}; accepted: 'L', 'U'")
    return uplo.upper()


def eigh(a, UPLO="L", upper=False):   # pylint: disable=invalid-name
    """Eigenvalues w, ascending, and eigenvectors v, as columns, of symmetric matrices.

    The lower triangle is read, or with ``UPLO='U'`` (in 2.0: `upper`) the upper one. Of each
    vector the element of largest absolute value is positive. The gradient is symmetric.

    Examples
    --------
    >>> w, v = mx.np.linalg.eigh(mx.np.array([[2, 1], [1, 2]]))
    >>> w.round(4)
    array([1., 3.])
    """
    return EighResult(*call("_npi_eigh", (operand(a),), UPLO=_triangle("eigh", UPLO, upper)))


def eigvalsh(a, UPLO="L", upper=False):   # pylint: disable=invalid-name
    """The eigenvalues of symmetric matrices, ascending; see :func:`eigh`.

    Examples
    --------
    >>> mx.np.linalg.eigvalsh(mx.np.array([[2, 1], [1, 2]])).round(4)
    array([1., 3.])
    """
    return call("_npi_eigvalsh", (operand(a),), UPLO=_triangle("eigvalsh", UPLO, upper))


def eig(a):
    """Eigenvalues w and eigenvectors v, as columns of length 1, of square matrices.

    Difference from NumPy: there are no complex arrays, so eigenvalues that are not real are an
    error.

    Examples
    --------
    >>> w, v = mx.np.linalg.eig(mx.np.array([[2, 0], [0, 3]]))
    >>> w
    array([2., 3.])
    """
    return EigResult(*call("_npi_eig", (operand(a),)))


def eigvals(a):
    """The eigenvalues of square matrices, which must be real; see :func:`eig`.

    Examples
    --------
    >>> mx.np.linalg.eigvals(mx.np.array([[2, 1], [0, 3]]))
    array([2., 3.])
    """
    return call("_npi_eigvals", (operand(a),))


# ---- equations and inverses
def inv(a):
    """Inverses of square matrices. A singular one is an error.

    Examples
    --------
    >>> mx.np.linalg.inv(mx.np.array([[2, 0], [0, 4]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return call("_npi_inv", (_real(a),))


def det(a):
    """Determinants of square matrices.

    Examples
    --------
    >>> mx.np.linalg.det(mx.np.array([[1, 2], [3, 4]])).round(4)
    array(-2.)
    """
    return call("_npi_det", (_real(a),))


def slogdet(a):
    """Signs of determinants, and the logarithms of their absolute values.

    Examples
    --------
    >>> sign, logdet = mx.np.linalg.slogdet(mx.np.array([[1, 0], [0, -1]]))
    >>> sign, logdet
    (array(-1.), array(0.))
    """
    return SlogdetResult(*call("_npi_slogdet", (_real(a),)))


def solve(a, b):
    """Solutions x of ``a @ x = b`` for square matrices; `b` has shape (..., n), vectors, or (...,
    n, k).

    Dimensions before these are broadcast. A singular matrix is an error. Two dtypes meet in
    float64.

    Examples
    --------
    >>> mx.np.linalg.solve(mx.np.array([[2, 0], [0, 4]]), mx.np.array([1, 2]))
    array([0.5, 0.5])
    """
    array = next((v for v in (a, b) if isinstance(v, NDArrayBase)), None)
    a, b = operand(a, like=array), operand(b, like=array)
    if not is_symbol(a) and not is_symbol(b) and a.ndim >= 2 and b.shape[:a.ndim - 1] != a.shape[:-1] and b.ndim >= 1:
        columns = b.ndim > 1
        batch = onp.broadcast_shapes(a.shape[:-2], b.shape[:-2] if columns else ())
        a = call("_npi_broadcast_to", (a,), shape=batch + a.shape[-2:])
        b = call("_npi_broadcast_to", (b,), shape=batch + (b.shape[-2:] if columns else b.shape))
    return call("_npi_solve", (a, b))


def tensorinv(a, ind=2):
    """The inverse of a tensor as a matrix: its rows are the first `ind` dimensions, its columns the
    others, which are as large together. The result has the others first.

    Examples
    --------
    >>> mx.np.linalg.tensorinv(mx.np.eye(6).reshape(2, 3, 6)).shape
    (6, 2, 3)
    """
    return call("_npi_tensorinv", (operand(a),), ind=ind)


def tensorsolve(a, b, axes=None):
    """The tensor x with ``tensordot(a, x, x.ndim) = b``. `axes` of `a` are moved behind the others
    before.

    Examples
    --------
    >>> mx.np.linalg.tensorsolve(mx.np.eye(6).reshape(2, 3, 6), mx.np.ones((2, 3)))
    array([1., 1., 1., 1., 1., 1.])
    """
    array = next((v for v in (a, b) if isinstance(v, NDArrayBase)), None)
    axes = (axes,) if isinstance(axes, int) else axes
    return call("_npi_tensorsolve", (operand(a, like=array), operand(b, like=array)), a_axes=tuple(axes or ()))


def pinv(a, rcond=1e-15, hermitian=False, rtol=None):
    """Pseudo-inverses of matrices; singular values up to `rcond` (in 2.0: `rtol`) times the
    largest one count as 0. `rcond` is a number, or an array of one for each matrix. With
    `hermitian` only the lower triangles are read. Differentiable where the rank does not change.

    Examples
    --------
    >>> mx.np.linalg.pinv(mx.np.array([[2, 0], [0, 0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    a = operand(a)
    rcond = rtol if rtol is not None else 1e-15 if rcond is None else rcond
    if isinstance(rcond, (int, float)):
        return call("_npi_pinv_scalar_rcond", (a,), rcond=float(rcond), hermitian=bool(hermitian))
    return call("_npi_pinv", (a, operand(rcond, like=a)), hermitian=bool(hermitian))


def lstsq(a, b, rcond="warn"):
    """Least squares: ``(x, residuals, rank, s)`` with the smallest norm of ``a @ x - b``.

    `a` is (m, n), `b` (m,) or (m, k). `x` is (n,) or (n, k); `residuals` the sums of squares, or
    of shape (0,) where the rank is less than n or m is at most n; `s` the singular values of `a`.
    Of those, what is at most `rcond` times the largest one counts as 0: None is the rounding error
    times the larger of m and n; 'warn', the default, and -1 the rounding error. `x` and `residuals`
    are differentiable where the rank does not change.

    Examples
    --------
    >>> x, residuals, rank, s = mx.np.linalg.lstsq(mx.np.array([[1, 0], [0, 2], [0, 0]]), mx.np.array([1, 4, 3]))
    >>> x, residuals
    (array([1., 2.]), array([9.]))
    """
    array = next((v for v in (a, b) if isinstance(v, NDArrayBase)), None)
    inputs = operand(a, like=array), operand(b, like=array)
    options = {"rcond": -1.0 if rcond in (None, "warn") else float(rcond), "new_default": rcond is None, **_ROUNDING}
    if is_deferred_compute() and not any(map(is_symbol, inputs)):
        return _lstsq_of_graph(*inputs, options)
    if not _recording():
        return tuple(call("_npi_lstsq", inputs, **options))
    with autograd.pause():
        found = call("_npi_lstsq", inputs, **options)
    a, b = (call("_npi_cast", (x,), dtype=_dtypes.name(found[0].dtype)) for x in inputs)
    kept = int(found[2].asnumpy())      # the rank
    x = _pinv_of_rank(a, kept) @ b
    apart = a @ x - b
    residuals = (apart * apart).sum(axis=0).reshape(found[1].shape) if found[1].size else found[1]
    return x, residuals, found[2], found[3]


def _lstsq_of_graph(a, b, options):
    """:func:`lstsq` in a graph, which does not know the rank, with gradients of `x` and
    `residuals`."""
    x, residuals, rank, s = (call("BlockGrad", (v,)) for v in call("_npi_lstsq", (a, b), **options))
    if not a.size or not b.size:
        return x, residuals, rank, s
    a, b = (call("_npi_cast", (v,), dtype=_dtypes.name(x.dtype)) for v in (a, b))
    rounding = float(onp.finfo(x.dtype).eps)
    part = rounding * max(a.shape) if options["new_default"] else options["rcond"] if options["rcond"] >= 0 else rounding
    x = call("_npi_pinv_scalar_rcond", (a,), rcond=part) @ b
    if a.shape[0] <= a.shape[1]:      # there are none
        return x, residuals, rank, s
    apart = a @ x - b
    sums = (apart * apart).sum(axis=0).reshape(-1)
    return x, sums[(rank == a.shape[1]).reshape(1).repeat(sums.size)], rank, s


def _pinv_of_rank(a, rank):
    """The pseudo-inverse of a matrix of which so many singular values count."""
    u, s, v = svd(a)
    return v[:rank].T @ (u[:, :rank].T / s[:rank].reshape(-1, 1))


def matrix_rank(M=None, rtol=None, hermitian=False, tol=None, *, A=None):   # pylint: disable=invalid-name
    """Ranks of matrices: how many singular values are larger than a number, as int64.

    The number is the largest singular value times the larger of the matrix's sizes times the
    rounding error; or `rtol` (in NumPy: `tol`), one number or one for each matrix. With
    `hermitian` only the lower triangles are read. A vector has rank 1, or 0 if it is zero. `A` is
    NumPy's name of `M`.

    Examples
    --------
    >>> mx.np.linalg.matrix_rank(mx.np.array([[1, 2], [2, 4]]))
    array(1, dtype=int64)
    """
    M, tol = operand(M if A is None else A), rtol if tol is None else tol
    if tol is None:
        return call("_npi_matrix_rank_none_tol", (M,), hermitian=bool(hermitian), **_ROUNDING)
    return call("_npi_matrix_rank", (M, operand(tol, like=M)), hermitian=bool(hermitian))


def cond(x, p=None):
    """Condition numbers of matrices: the largest singular value over the smallest, or with `p` (an
    `ord` of :func:`norm` for matrices) the norm times that of the inverse.

    Examples
    --------
    >>> mx.np.linalg.cond(mx.np.array([[2, 0], [0, 4]]))
    array(2.)
    """
    x = _real(x)
    if p in (None, 2, -2):
        values = svdvals(x)
        largest, smallest = (call(name, (values,), axis=(-1,)) for name in ("_np_max", "_np_min"))
        return smallest / largest if p == -2 else largest / smallest
    return matrix_norm(x, p) * matrix_norm(inv(x), p)


def matrix_power(a, n):
    """The product of `n` times the same square matrix; its inverse, where `n` is negative; the
    identity, where it is 0.

    Examples
    --------
    >>> mx.np.linalg.matrix_power(mx.np.array([[1, 1], [0, 1]]), 5)
    array([[1., 5.],
           [0., 1.]])
    """
    a = operand(a)
    if not isinstance(n, (int, onp.integer)) or isinstance(n, bool):
        raise TypeError(f"[matrix_power] n is {n!r}; accepted: whole numbers")
    if not is_symbol(a) and (a.ndim < 2 or a.shape[-1] != a.shape[-2]):
        raise _MXValueError(f"[matrix_power] a has shape {a.shape}; square matrices are accepted")
    if n == 0:
        size = a.shape[-1] if not is_symbol(a) else None
        if size is None:
            raise _MXValueError("[matrix_power] the size of a symbol is not known; accepted for symbols: n other than 0")
        unit = call("_npi_eye", (), N=size, M=size, dtype=onp.dtype(a.dtype).name, ctx=str(a.context))
        return call("_npi_broadcast_to", (unit,), shape=a.shape)
    if n < 0:
        a, n = inv(a), -n
    result = None
    while True:
        if n & 1:
            result = a if result is None else call("_npi_matmul", (result, a))
        n >>= 1
        if not n:
            return result
        a = call("_npi_matmul", (a, a))


def multi_dot(arrays, *, out=None):
    """The product of several matrices, in the order that takes least work. The first and the last
    may be vectors.

    Examples
    --------
    >>> mx.np.linalg.multi_dot([mx.np.ones((2, 3)), mx.np.ones((3, 4)), mx.np.ones((4,))])
    array([12., 12.])
    """
    arrays = promoted(arrays)
    if len(arrays) < 2:
        raise _MXValueError(f"[multi_dot] got {len(arrays)} arrays; accepted: at least 2")
    if any(is_symbol(a) for a in arrays):
        raise _MXValueError("[multi_dot] the sizes of symbols are not known; accepted: arrays")
    shapes = [a.shape for a in arrays]
    for i, (array, shape) in enumerate(zip(arrays, shapes)):
        if len(shape) != 2 and not (len(shape) == 1 and i in (0, len(arrays) - 1)):
            raise _MXValueError(f"[multi_dot] array {i} has shape {array.shape}; accepted: matrices, and vectors as the first and the last")
    for i, (shape, following) in enumerate(pairwise(shapes)):     # einsum would repeat a size of 1
        if shape[-1] != following[0]:
            raise _MXValueError(f"[multi_dot] arrays {i} and {i + 1} have shapes {shape} and {following}; "
                                "accepted: as many columns as the next matrix has rows")
    letters = [chr(ord("a") + i) for i in range(len(arrays) + 1)]
    terms = [letters[i + 1] if i == 0 and len(s) == 1 else letters[i] if len(s) == 1 else letters[i] + letters[i + 1]
             for i, s in enumerate(shapes)]
    result = ("" if len(shapes[0]) == 1 else letters[0]) + ("" if len(shapes[-1]) == 1 else letters[-1])
    return call("_npi_einsum", arrays, out, num_args=len(arrays), subscripts=",".join(terms) + "->" + result)


# ---- what mx.np has as well
def matrix_transpose(a):
    """The matrices in the last two dimensions, transposed.

    Examples
    --------
    >>> mx.np.linalg.matrix_transpose(mx.np.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    return call("_npi_swapaxes", (operand(a),), dim1=-1, dim2=-2)


def diagonal(a, offset=0):
    """The diagonals of the matrices in the last two dimensions, `offset` above the main one.

    Examples
    --------
    >>> mx.np.linalg.diagonal(mx.np.array([[1, 2], [3, 4]]))
    array([1., 4.])
    """
    return call("_npi_diagonal", (operand(a),), offset=offset, axis1=-2, axis2=-1)


def trace(a, offset=0, dtype=None):
    """The sums of the diagonals of the matrices in the last two dimensions, in `dtype` or in that
    of `a`.

    Examples
    --------
    >>> mx.np.linalg.trace(mx.np.ones((2, 3, 3)))
    array([3., 3.])
    """
    a = operand(a) if dtype is None else call("_npi_cast", (operand(a),), dtype=dtype_name(dtype))
    return _products.trace(a, offset=offset, axis1=-2, axis2=-1)


def vecdot(a, b, axis=None):
    """Sums of products along one dimension, the last one where `axis` is None; the others are
    broadcast.

    Examples
    --------
    >>> mx.np.linalg.vecdot(mx.np.ones((2, 3)), mx.np.ones(3))
    array([3., 3.])
    """
    return _products.vecdot(a, b, axis=-1 if axis is None else axis)


def cross(a, b, axis=-1):
    """Cross products of vectors of 3 components along `axis`.

    Examples
    --------
    >>> mx.np.linalg.cross(mx.np.array([1, 0, 0]), mx.np.array([0, 1, 0]))
    array([0., 0., 1.])
    """
    return _products.cross(a, b, axis=axis)


def matmul(a, b):
    """Products of matrices; see :func:`mxnet.np.matmul`.

    Examples
    --------
    >>> mx.np.linalg.matmul(mx.np.ones((2, 3)), mx.np.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
    """
    return _products.matmul(a, b)


def __dir__():
    return __all__
