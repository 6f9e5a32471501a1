"""Random sparse arrays for tests."""
import numpy as np

from .. import ndarray as nd
from ..base import error_class
from ._defaults import default_context, default_dtype

__all__ = ["create_sparse_array", "create_sparse_array_zd", "rand_sparse_ndarray", "shuffle_csr_column_indices"]


def _check(where, accepted, text):
    if not accepted:
        raise error_class(ValueError, AssertionError)(f"[{where}] {text}")


def shuffle_csr_column_indices(csr):
    """Shuffles the columns of each row of a ``scipy.sparse.csr_matrix`` in place; values stay where
    they are.

    >>> import numpy, scipy.sparse
    >>> matrix = scipy.sparse.csr_matrix(numpy.ones((1, 3)))
    >>> mx.test_utils.shuffle_csr_column_indices(matrix)
    >>> sorted(matrix.indices.tolist())
    [0, 1, 2]
    """
    for begin, end in zip(csr.indptr[:-1], csr.indptr[1:]):
        np.random.shuffle(csr.indices[begin:end])
    csr.has_sorted_indices = False


class _Parts:
    """The parts of a csr matrix, as `shuffle_csr_column_indices` takes one."""

    def __init__(self, data, indices, indptr):
        self.data, self.indices, self.indptr = data, indices, indptr


def _uniform_csr(shape, density, dtype, data_init):
    count = int(round(density * shape[0] * shape[1]))
    places = np.sort(np.random.choice(shape[0] * shape[1], count, replace=False)) if count else np.zeros(0, np.int64)
    rows = places // max(shape[1], 1)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int64)
    data = np.random.rand(count) if data_init is None else np.full(count, data_init)
    return _Parts(data.astype(dtype), places % max(shape[1], 1), indptr)


def _powerlaw_csr(shape, density, dtype):
    """Each row has twice as many elements as the one before, from its first column on, until all of
    them are used up."""
    rows, columns = shape
    left = int(rows * columns * density)
    _check("rand_sparse_ndarray", left >= 2 * rows, f"density {density} for shape {shape}; accepted: at least two elements for each row")
    left -= rows
    counts, wanted = [], 2
    for _ in range(rows):       # one for each row, then more for the first ones
        more = max(min(wanted, columns) - 1, 0)
        more = min(more, left)
        counts.append(1 + more)
        left -= more
        wanted *= 2
    indices = np.concatenate([np.arange(n) for n in counts])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return _Parts(np.random.uniform(1, 2, len(indices)).astype(dtype), indices.astype(np.int64), indptr.astype(np.int64))


def rand_sparse_ndarray(shape, stype, density=None, dtype=None, distribution=None, data_init=None, rsp_indices=None, modifier_func=None,
                        shuffle_csr_indices=False, ctx=None):
    """A random array of storage 'row_sparse' or 'csr', and its parts.

    Parameters
    ----------
    shape : tuple of int
        Two dimensions for csr.
    stype : {'row_sparse', 'csr'}
    density : float, optional
        Share of the rows (row_sparse) or elements (csr) that are stored; random when None.
    dtype : type, optional
    distribution : {'uniform', 'powerlaw'}, optional
        Where the elements lie; 'powerlaw' is of csr: rows have 2, 4, 8, ... elements.
    data_init : number, optional
        The value of all; random in [0, 1) when None.
    rsp_indices : NumPy array, optional
        The stored rows of a row_sparse array.
    modifier_func : callable, optional
        Applied to each value of a row_sparse array.
    shuffle_csr_indices : bool
        Whether the columns of each csr row are out of order.
    ctx : Context, optional

    Returns
    -------
    (RowSparseNDArray, (NumPy array of values, NumPy array of rows)), or
    (CSRNDArray, (indptr, indices, data))

    Raises
    ------
    ValueError
        for another storage or distribution.

    Examples
    --------
    >>> array, (indptr, indices, data) = mx.test_utils.rand_sparse_ndarray((4, 3), 'csr', density=0.5)
    >>> array.stype, data.shape, indptr.shape
    ('csr', (6,), (5,))
    """
    ctx = default_context() if ctx is None else ctx
    density = np.random.rand() if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    distribution = "uniform" if distribution is None else distribution
    _check("rand_sparse_ndarray", stype in ("row_sparse", "csr"), f"unknown storage type {stype!r}; accepted: 'row_sparse', 'csr'")
    if stype == "row_sparse":
        _check("rand_sparse_ndarray", distribution == "uniform", f"distribution {distribution!r} for row_sparse; accepted: 'uniform'")
        rows = np.flatnonzero(np.random.rand(shape[0]) < density) if rsp_indices is None else np.asarray(rsp_indices)
        _check("rand_sparse_ndarray", len(rows) <= shape[0], f"{len(rows)} rows of shape {shape}; accepted: up to {shape[0]}")
        if not len(rows):
            return nd.zeros(shape, stype="row_sparse", dtype=dtype, ctx=ctx), (np.array([], dtype=dtype), np.array([]))
        values = np.random.rand(len(rows), *shape[1:]).astype(dtype)
        if data_init is not None:
            values.fill(data_init)
        if modifier_func is not None:
            values = np.vectorize(modifier_func, otypes=[np.float64])(values).astype(dtype)
        return nd.sparse.row_sparse_array((values, rows), shape=shape, dtype=dtype, ctx=ctx), (values, rows)
    _check("rand_sparse_ndarray", len(shape) == 2, f"shape {shape} for csr; accepted: two dimensions")
    _check("rand_sparse_ndarray", distribution in ("uniform", "powerlaw"),
           f"distribution {distribution!r}; accepted: 'uniform', 'powerlaw'")
    parts = _uniform_csr(shape, density, dtype, data_init) if distribution == "uniform" else _powerlaw_csr(shape, density, dtype)
    if shuffle_csr_indices:
        shuffle_csr_column_indices(parts)
    array = nd.sparse.csr_matrix((parts.data, parts.indices, parts.indptr), shape, ctx=ctx, dtype=dtype)
    return array, (array.indptr, array.indices, array.data)


def create_sparse_array(shape, stype, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, density=.5,
                        shuffle_csr_indices=False):
    """A random array of storage 'row_sparse' or 'csr', as :func:`rand_sparse_ndarray` makes it;
    `rsp_indices` may be a list in any order.

    >>> mx.test_utils.create_sparse_array((4, 3), 'row_sparse', data_init=2, rsp_indices=[2, 1]).asnumpy()
    array([[0., 0., 0.],
           [2., 2., 2.],
           [2., 2., 2.],
           [0., 0., 0.]], dtype=float32)
    """
    _check("create_sparse_array", stype in ("row_sparse", "csr"), f"Unknown storage type: {stype}; accepted: row_sparse, csr")
    if stype == "row_sparse" and rsp_indices is not None:
        rsp_indices = np.sort(np.asarray(rsp_indices))
        _check("create_sparse_array", len(rsp_indices) <= shape[0], f"{len(rsp_indices)} rows of shape {shape}; accepted: up to {shape[0]}")
    return rand_sparse_ndarray(shape, stype, density=density, data_init=data_init, rsp_indices=rsp_indices, dtype=dtype,
                               modifier_func=modifier_func, shuffle_csr_indices=shuffle_csr_indices)[0]


def create_sparse_array_zd(shape, stype, density, data_init=None, rsp_indices=None, dtype=None, modifier_func=None,
                           shuffle_csr_indices=False):
    """:func:`create_sparse_array` of any density, 0 among them; a row_sparse array has the rows
    `rsp_indices`, none without them.

    >>> mx.test_utils.create_sparse_array_zd((4, 3), 'row_sparse', 0).indices.shape
    (0,)
    """
    if stype == "row_sparse":
        density = 0.0
    return create_sparse_array(shape, stype, data_init=data_init, rsp_indices=rsp_indices, dtype=dtype, modifier_func=modifier_func,
                               density=density, shuffle_csr_indices=shuffle_csr_indices)
