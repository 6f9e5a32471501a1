"""Sparse arrays out of nothing, of definitions, and of other arrays."""
import numpy as np

from .. import _dtypes
from .._binding import NDArrayBase
from .._startup.names import hint_of_any
from ..base import mx_real_t, _MXTypeError, _MXValueError
from ..context import current_context
from ._array import NDArray
from ._creation import SPARSE
from ._creation import array as dense_array
from ._creation import zeros as dense_zeros
from ._dlpack import from_dlpack
from ._native import _as_shape
from ._sparse_arrays import BaseSparseNDArray, CSRNDArray, RowSparseNDArray, new_array
from ._sparse_native import check_stype, set_part

__all__ = ["array", "csr_matrix", "empty", "row_sparse_array", "zeros"]


def is_scipy(value):
    """Whether it is a sparse matrix or array of SciPy, in any format."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz") and not isinstance(value, NDArrayBase)


def _default_dtype(source, dtype):
    """The given dtype, or that of the array; float32 of lists and numbers."""
    if dtype is not None:
        return dtype
    return source.dtype if isinstance(source, (NDArray, np.ndarray)) or is_scipy(source) else mx_real_t


def _dense(values, dtype, whole=False):
    """Values as a dense array; memory of NumPy's is shared where it can be, for as long as it takes
    to copy a part. whole: numbers of rows and columns, of which none is cut off."""
    if isinstance(values, BaseSparseNDArray):
        raise TypeError(f"[sparse] a {values.stype} array as a part of another one; accepted: dense arrays and lists")
    if isinstance(values, NDArray):
        return values if values._dtype_id == _dtypes.number(dtype) else values.astype(dtype)
    values = np.asarray(values)
    if _dtypes.number(dtype) != _dtypes.BFLOAT16:
        kind = _dtypes.TYPES[_dtypes.number(dtype)]
        if whole and values.dtype.kind == "f" and (values != values.astype(kind)).any():
            raise ValueError(f"[sparse] fractions as {np.dtype(kind).name}; accepted: whole numbers")
        values = np.ascontiguousarray(values, dtype=kind).reshape(values.shape)
        if values.flags.writeable and values.size:
            return from_dlpack(values)
    return dense_array(values, dtype=dtype)


def _filled(stype, shape, ctx, dtype, parts):
    """An array of these parts: (number, values, dtype)."""
    out = new_array(stype, shape, ctx or current_context(), dtype)
    for number, values, kind in parts:
        set_part(out, number, _dense(values, kind, whole=number >= 0))
    return out


def _check_shape(given, found):
    if given is not None and tuple(_as_shape(given)) != tuple(found):
        raise ValueError(f"Shape mismatch detected. {tuple(found)} v.s. {tuple(given)}")


def _dimensions(values):
    return values.ndim if hasattr(values, "ndim") else np.ndim(values)


def _numpy(values):
    return values.asnumpy() if isinstance(values, NDArray) else np.asarray(values)


# ---- csr

def _csr_of_parts(data, indices, indptr, shape, ctx, dtype):
    dtype = _default_dtype(data, dtype)
    if _dimensions(data) != 1 or _dimensions(indices) != 1 or _dimensions(indptr) != 1:
        raise ValueError("[csr_matrix] invalid shape: accepted: data, indices and indptr of one dimension")
    if shape is None:
        columns = _numpy(indices)
        shape = (len(indptr) - 1, int(columns.max()) + 1 if columns.size else 0)
    shape = _as_shape(shape)
    if len(shape) != 2:
        raise ValueError(f"[csr_matrix] invalid shape {shape}; accepted: two dimensions")
    if len(data) != len(indices):
        raise _MXValueError(f"[csr_matrix] {len(data)} values and {len(indices)} indices; accepted: as many")
    return _filled("csr", shape, ctx, dtype, [(-1, data, dtype), (0, indptr, "int64"), (1, indices, "int64")])


def _csr_of_coordinates(data, row, col, shape, ctx, dtype):
    """Of values at (row, col); those at one place are added."""
    data, row, col = _numpy(data), _numpy(row), _numpy(col)
    dtype = data.dtype if dtype is None else dtype
    row, col = row.astype(np.int64), col.astype(np.int64)
    if not data.shape == row.shape == col.shape or data.ndim != 1:
        raise ValueError(f"[csr_matrix] values of shape {data.shape} at rows {row.shape} and columns {col.shape}; accepted: one dimension, "
                         "and as many of each")
    if shape is None:
        shape = (int(row.max()) + 1, int(col.max()) + 1) if len(row) else (0, 0)
    shape = _as_shape(shape)
    if len(shape) != 2:
        raise ValueError(f"[csr_matrix] invalid shape {shape}; accepted: two dimensions")
    for axis, positions in enumerate((row, col)):
        if len(positions) and not 0 <= positions.min() <= positions.max() < shape[axis]:
            bad = positions.max() if positions.max() >= shape[axis] else positions.min()
            raise ValueError(f"[csr_matrix] axis {axis} index {bad} exceeds matrix dimension {shape[axis]}")
    order = np.lexsort((col, row))
    data, row, col = data[order], row[order], col[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
    if not first.all():
        data = np.add.reduceat(data, np.flatnonzero(first)) if data.dtype != bool else np.logical_or.reduceat(data, np.flatnonzero(first))
        row, col = row[first], col[first]
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=shape[0]), out=indptr[1:])
    return _csr_of_parts(data, col, indptr, shape, ctx, dtype)


def _csr_of_scipy(matrix, shape, ctx, dtype):
    _check_shape(shape, matrix.shape)
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:     # kernels want ascending columns, each once
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return _csr_of_parts(matrix.data, matrix.indices, matrix.indptr, matrix.shape, ctx, matrix.dtype if dtype is None else dtype)


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """A :class:`CSRNDArray` of one of these:

    - a dense array, NumPy array or nested list of two dimensions: its elements that are not 0;
    - another CSRNDArray, or a sparse matrix of SciPy;
    - ``(M, N)``: a matrix that stores nothing;
    - ``(data, indices, indptr)``: the parts. Columns have to be ascending in each row where an
      operator needs that; what lies outside of `shape` is an error when the matrix is used
      (:meth:`check_format`);
    - ``(data, (row, col))``: values at these places; those at one place are added.

    `shape` follows from the largest indices where it is not given. `dtype` is that of the values,
    float32 for lists. Raises ValueError for another `shape` than the source has.

    >>> mx.nd.sparse.csr_matrix(([1, 2], ([0, 1], [2, 0])), shape=(2, 3), dtype='float32').asnumpy()
    array([[0., 0., 1.],
           [2., 0., 0.]], dtype=float32)
    >>> mx.nd.sparse.csr_matrix([[0, 1], [2, 0]]).indices.asnumpy()
    array([1, 0])
    """
    if isinstance(arg1, tuple):
        if len(arg1) == 2 and isinstance(arg1[1], (tuple, list)) and len(arg1[1]) == 2:
            return _csr_of_coordinates(arg1[0], *arg1[1], shape, ctx, dtype)
        if len(arg1) == 2:
            _check_shape(shape, _as_shape(arg1))
            return new_array("csr", arg1, ctx or current_context(), mx_real_t if dtype is None else dtype)
        if len(arg1) == 3:
            if all(_dimensions(part) == 0 for part in arg1):
                raise ValueError(f"[csr_matrix] shape {arg1}; accepted: two dimensions")
            return _csr_of_parts(*arg1, shape, ctx, dtype)
        raise ValueError(f"Unexpected length of input tuple: {len(arg1)}; accepted: 2 (shape, coordinates) or 3 (data, indices, indptr)")
    if isinstance(arg1, RowSparseNDArray):
        raise ValueError("[csr_matrix] Unexpected input type: RowSparseNDArray; accepted: what its tostype('default') gives")
    if isinstance(arg1, CSRNDArray):
        _check_shape(shape, arg1.shape)
        return array(arg1, ctx, dtype)
    if is_scipy(arg1):
        return _csr_of_scipy(arg1, shape, ctx, dtype)
    dense = dense_array(arg1, ctx=ctx, dtype=_default_dtype(arg1, dtype))
    _check_shape(shape, dense.shape)
    return dense.tostype("csr")


# ---- row_sparse

def _ascending(data, indices):
    """Rows and their numbers, the numbers ascending. 1.x computes with rows in any order; kernels
    here look for them by bisection. Numbers on a GPU stay there: what reads them looks at their
    order."""
    if isinstance(indices, NDArray) and indices.context.device_type == "gpu":
        return data, indices
    rows = _numpy(indices)
    if not (rows[1:] < rows[:-1]).any():
        return data, indices
    order = np.argsort(rows, kind="stable")
    dtype = None if isinstance(data, (NDArray, np.ndarray)) else mx_real_t
    return np.asarray(_numpy(data), dtype)[order], rows[order]


def _rows_of_parts(data, indices, shape, ctx, dtype):
    dtype = _default_dtype(data, dtype)
    if _dimensions(indices) != 1 or _dimensions(data) < 1:
        raise ValueError("[row_sparse_array] invalid shape: accepted: rows of values, and a list of their numbers")
    values = data.shape if hasattr(data, "shape") else np.shape(data)
    if shape is None:
        rows = _numpy(indices)
        shape = (int(rows.max()) + 1 if rows.size else 0, *values[1:])
    shape = _as_shape(shape)
    if len(shape) != len(values) or values[1:] != shape[1:]:
        raise ValueError(f"[row_sparse_array] invalid shape: rows of shape {tuple(values)} of an array of shape {shape}; "
                         f"accepted: {('n', *shape[1:])}")
    if values[0] != len(indices):
        raise _MXValueError(f"[row_sparse_array] {values[0]} rows and {len(indices)} indices; accepted: as many")
    data, indices = _ascending(data, indices)
    return _filled("row_sparse", shape, ctx, dtype, [(-1, data, dtype), (0, indices, "int64")])


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """A :class:`RowSparseNDArray` of one of these:

    - a dense array, NumPy array or nested list: its rows that are not all 0;
    - another RowSparseNDArray;
    - ``(D0, D1, ...)``, at least two: an array of that shape that stores nothing;
    - ``(data, indices)``: rows and their numbers. Numbers that are not ascending are sorted, unless
      they are on a GPU; one that is there twice is an error when the array is used
      (:meth:`check_format`).

    `shape` follows from the largest index where it is not given. `dtype` is that of the values,
    float32 for lists. Raises ValueError for another `shape` than the source has.

    >>> x = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [0, 2]), shape=(4, 2))
    >>> x.shape, x.indices.asnumpy()
    ((4, 2), array([0, 2]))
    """
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise ValueError(f"Unexpected length of input tuple: {len(arg1)}; accepted: (data, indices), or a shape of two dimensions "
                             "or more")
        if len(arg1) > 2 or all(_dimensions(part) == 0 for part in arg1):
            _check_shape(shape, _as_shape(arg1))
            return new_array("row_sparse", arg1, ctx or current_context(), mx_real_t if dtype is None else dtype)
        return _rows_of_parts(*arg1, shape, ctx, dtype)
    if isinstance(arg1, CSRNDArray):
        raise ValueError("[row_sparse_array] Unexpected input type: CSRNDArray; accepted: what its tostype('default') gives")
    if isinstance(arg1, RowSparseNDArray):
        _check_shape(shape, arg1.shape)
        return array(arg1, ctx, dtype)
    if is_scipy(arg1):
        raise TypeError("[row_sparse_array] a sparse matrix of SciPy; accepted: what its toarray() gives, and csr_matrix of it")
    dense = dense_array(arg1, ctx=ctx, dtype=_default_dtype(arg1, dtype))
    _check_shape(shape, dense.shape)
    return dense.tostype("row_sparse")


# ---- any

def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """An array of zeros in the storage `stype`: 'csr', 'row_sparse' or 'default'.

    >>> x = mx.nd.sparse.zeros('csr', (2, 3))
    >>> x.stype, x.shape, x.data.size
    ('csr', (2, 3), 0)
    """
    check_stype("zeros", stype)
    if stype == "default":
        return dense_zeros(shape, ctx=ctx, dtype=dtype, **kwargs)
    unknown = [k for k in kwargs if k != "name" and not k.startswith("__")]
    if unknown:
        near = hint_of_any(unknown, ["stype", "shape", "ctx", "dtype"])
        raise _MXTypeError(f"[zeros] got unexpected arguments {', '.join(unknown)}; {near}accepted: stype, shape, ctx, dtype")
    return new_array(stype, shape, ctx or current_context(), mx_real_t if dtype is None else dtype)


def empty(stype, shape, ctx=None, dtype=None):
    """An array of the storage 'csr' or 'row_sparse' that stores nothing.

    >>> mx.nd.sparse.empty('row_sparse', (2, 3)).indices.shape
    (0,)
    """
    check_stype("empty", stype, ("csr", "row_sparse"))
    return zeros(stype, shape, ctx, dtype)


def array(source_array, ctx=None, dtype=None):
    """A copy of a sparse array or of a sparse matrix of SciPy, with its dtype or another one.

    Raises ValueError for dense ones, which `tostype` or `mx.nd.array` take.

    >>> x = mx.nd.sparse.zeros('csr', (2, 3))
    >>> mx.nd.sparse.array(x, dtype='float64').dtype.__name__
    'float64'
    """
    ctx = ctx or current_context()
    if is_scipy(source_array):
        return _csr_of_scipy(source_array, None, ctx, dtype)
    if isinstance(source_array, BaseSparseNDArray):
        same = dtype is None or _dtypes.number(dtype) == source_array._dtype_id
        return (source_array if same else source_array.astype(dtype)).copyto(ctx)
    if isinstance(source_array, NDArrayBase):
        from ..base import CheckedValueError
        raise CheckedValueError("[sparse.array] a dense array; accepted: x.tostype('csr') and x.tostype('row_sparse') make sparse ones")
    raise ValueError(f"[sparse.array] got a {type(source_array).__name__}; accepted: sparse arrays and matrices of SciPy "
                     "(mx.nd.array makes dense ones)")


SPARSE.update(array=array, empty=empty, zeros=zeros)
