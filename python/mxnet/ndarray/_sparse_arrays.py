"""The classes of sparse arrays: what dense ones have and these do in another way."""
import ctypes
import numbers
import warnings

import numpy as np

from .. import _dtypes
from .._binding import NDArrayBase, _set_sparse_classes
from ..base import NDArrayHandle, NotSupportedForSparseNDArray, _LIB, check_call, error_class
from ..context import Context
from . import _internal
from ._array import NDArray
from ._creation import array as dense_array
from ._native import _call
from ._sparse_native import INDEX_PARTS, check_format, copy_of_part, index_dtype, new_sparse

__all__ = ["BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray"]


def new_array(stype, shape, ctx, dtype):
    """An array that stores nothing."""
    return (CSRNDArray if stype == "csr" else RowSparseNDArray)(new_sparse(stype, shape, ctx, dtype))


def ndarray_class(handle, writable=True, stype=-1):
    """An array of the class of its storage, on a handle; `stype`, its number, follows from the
    array."""
    del stype
    return NDArray(handle, writable)


def _no_number(self):
    raise TypeError(f"[NDArray] a {type(self).__name__} is no number; accepted: a dense array of size 1 (tostype('default') makes one)")


class BaseSparseNDArray(NDArray):
    """An array that stores some of its elements, or rows; all others are 0.

    `RowSparseNDArray` and `CSRNDArray` are its two kinds. Operators that have no kernel for a
    storage run on dense copies, and say so once. There are no views of sparse arrays:
    ``reshape`` and ``size`` are for dense ones (``tostype('default')``).

    >>> x = mx.nd.array([[0, 1], [0, 0]]).tostype('csr')
    >>> isinstance(x, mx.nd.sparse.BaseSparseNDArray), x.stype, x.shape
    (True, 'csr', (2, 2))
    """

    __module__ = "mxnet.ndarray.sparse"
    __slots__ = []

    def __repr__(self):
        return f"\n<{type(self).__name__} {'x'.join(str(d) for d in self.shape)} @{self.context}>"

    __str__ = __repr__

    def _repr_html_(self):
        from .._display.html import sparse_html
        return sparse_html(self)

    def __format__(self, spec):
        if spec:
            raise TypeError(f"[format] {spec!r} for a {type(self).__name__}; accepted: no format")
        return str(self)

    # ---- what sparse arrays have not

    @property
    def size(self):
        """Not of sparse arrays: NotImplementedError. ``data.size`` counts what is stored."""
        raise NotImplementedError("[size] of a sparse array; accepted: math.prod(x.shape), or x.data.size for what is stored")

    def reshape(self, *shape, **kwargs):
        """Not of sparse arrays: NotSupportedForSparseNDArray."""
        raise NotSupportedForSparseNDArray(self.reshape, None, shape, *([kwargs] if kwargs else []))

    def _at(self, idx):
        raise NotSupportedForSparseNDArray(self._at, "[idx]", idx)

    def _slice(self, start, stop):
        raise NotSupportedForSparseNDArray(self._slice, None, start, stop)

    def _reshape_view(self, shape, reverse):
        raise NotSupportedForSparseNDArray(self.reshape, None, shape, reverse)

    def _sync_copyfrom(self, source_array):
        raise NotImplementedError("[copyfrom] into a sparse array; accepted: x[:] = value")

    __float__ = __int__ = __index__ = _no_number

    def __bool__(self):
        raise ValueError("[bool] a sparse array has no truth value; accepted: a dense array of size 1")

    def __contains__(self, value):
        return bool((self.asnumpy() == value).any())

    def tolist(self):
        """All elements as nested lists.

        >>> mx.nd.array([[0, 1]]).tostype('csr').tolist()
        [[0.0, 1.0]]
        """
        return self.asnumpy().tolist()

    item = NDArray.asscalar

    def as_np_ndarray(self):
        """Not of sparse arrays, which ``mx.np`` does not have: ValueError."""
        raise ValueError(f"[as_np_ndarray] a {self.stype} array; accepted: what tostype('default') makes")

    def _to_shared_mem(self):
        raise TypeError(f"[shared memory] a {self.stype} array; accepted: dense arrays (pickles hold sparse ones)")

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"[__array__] a {self.stype} array as one of NumPy, where its zeros take memory; accepted: what asnumpy() gives")

    def __dlpack__(self, **_):
        raise BufferError(f"[__dlpack__] a {self.stype} array; accepted: dense arrays (tostype('default') makes one, data is one)")

    def to_dlpack_for_read(self):
        """Not of sparse arrays: BufferError."""
        return self.__dlpack__()

    to_dlpack_for_write = to_dlpack_for_read

    @property
    def grad(self):
        """Gradient array attached by ``attach_grad``, of any storage; None without one."""
        handle = NDArrayHandle()
        check_call(_LIB.MXNDArrayGetGrad(self.handle, ctypes.byref(handle)))
        return NDArray(handle) if handle.value else None

    # ---- parts

    @property
    def _num_aux(self):
        return INDEX_PARTS[self.stype]

    def _aux_type(self, i):
        return _dtypes.type_of(index_dtype(self, i))

    @property
    def _aux_types(self):
        return [self._aux_type(i) for i in range(self._num_aux)]

    def _aux_data(self, i):
        return NDArray(copy_of_part(self, i))

    def _data(self):
        return NDArray(copy_of_part(self, -1))

    @property
    def data(self):
        """A copy of the stored values: of shape (n,) for csr, (n, ...) for n rows of row_sparse.

        >>> mx.nd.array([[0, 5], [6, 0]]).tostype('csr').data.asnumpy()
        array([5., 6.], dtype=float32)
        """
        return self._data()

    def check_format(self, full_check=True):
        """Raises MXNetError where the parts do not belong together: numbers of values and indices
        and the ends; with `full_check` also indices out of range, not ascending or repeated.

        >>> x = mx.nd.sparse.row_sparse_array(([[1], [2]], [0, 9]), shape=(4, 1))
        >>> x.check_format(full_check=False)
        >>> x.check_format()
        Traceback (most recent call last):
        mxnet.base.MXNetError: [check_format] indices[1] is 9; accepted: 0 to 3
        """
        check_format(self, full_check)

    # ---- values in and out

    def asnumpy(self):
        """All elements as a NumPy array.

        >>> mx.nd.sparse.zeros('csr', (2, 2)).asnumpy()
        array([[0., 0.],
               [0., 0.]], dtype=float32)
        """
        return self.tostype("default").asnumpy()

    def _assign(self, value):
        """``self[:] = value``."""
        if isinstance(value, NDArray):
            if value.handle.value != self.handle.value:
                value.copyto(self)
        elif isinstance(value, (np.ndarray, np.generic, list, tuple)):
            warnings.warn(f"Assigning non-NDArray object to {type(self).__name__} is not efficient", RuntimeWarning, stacklevel=3)
            dense_array(value, ctx=self.context, dtype=self.dtype).copyto(self)
        else:
            raise TypeError(f"[{type(self).__name__}] x[:] = {type(value).__name__}; accepted: arrays and nested lists of numbers")

    # ---- copies

    def copy(self):
        """A new array of the same storage with the same contents.

        >>> mx.nd.sparse.zeros('csr', (2, 2)).copy().stype
        'csr'
        """
        return self.copyto(self.context)

    def copyto(self, other):
        """Copies into a dense array or one of the same storage, of the same shape, or to a device;
        returns the target. Raises TypeError for another storage.

        >>> x = mx.nd.array([[0, 1]]).tostype('csr')
        >>> x.copyto(mx.nd.zeros((1, 2))).asnumpy()
        array([[0., 1.]], dtype=float32)
        """
        if isinstance(other, NDArrayBase):
            if other.handle.value == self.handle.value:
                warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
                return False
            if other.stype not in ("default", self.stype):
                raise TypeError(f"[copyto] from {self.stype} to {other.stype}; accepted: an array of storage 'default' or {self.stype!r}")
            return _call("_copyto", (self,), other)
        if isinstance(other, Context):
            return _call("_copyto", (self,), new_array(self.stype, self.shape, other, self.dtype))
        raise TypeError(f"[copyto] got {type(other).__name__}; accepted: NDArray or Context")

    def astype(self, dtype, copy=True):
        """Array of another dtype and the same storage; itself when `copy` is false and the dtype is
        the same.

        >>> x = mx.nd.array([[0, 1]]).tostype('row_sparse')
        >>> x.astype('float64').data.asnumpy()
        array([[0., 1.]])
        """
        if not copy and self._dtype_id == _dtypes.number(dtype):
            return self
        return _call("_copyto", (self,), new_array(self.stype, self.shape, self.context, dtype))

    def tostype(self, stype):
        """A copy in another storage: 'default', or the array's own. Raises ValueError for the other
        sparse one.

        >>> mx.nd.sparse.zeros('csr', (1, 2)).tostype('default').asnumpy()
        array([[0., 0.]], dtype=float32)
        """
        if stype in INDEX_PARTS and stype != self.stype:
            raise ValueError(f"[tostype] cast_storage from {self.stype} to {stype} is not supported; "
                             f"accepted: 'default' and {self.stype!r}")
        return _call("cast_storage", (self,), stype=stype)

    def as_nd_ndarray(self):
        """The array as one of ``mx.nd``: itself."""
        return self

    # ---- arithmetic: operators with arrays of the same shape keep what they can

    def __add__(self, other):
        return _arithmetic().add(self, other)

    def __sub__(self, other):
        return _arithmetic().subtract(self, other)

    def __mul__(self, other):
        return _arithmetic().multiply(self, other)

    def __truediv__(self, other):
        return _arithmetic().divide(self, other)

    def __iadd__(self, other):
        return _arithmetic().add(self, other, out=self)

    def __isub__(self, other):
        return _arithmetic().subtract(self, other, out=self)

    def __imul__(self, other):
        return _arithmetic().multiply(self, other, out=self)

    def __itruediv__(self, other):
        return _arithmetic().divide(self, other, out=self)


def _arithmetic():
    from . import _sparse_arithmetic
    return _sparse_arithmetic


class CSRNDArray(BaseSparseNDArray):
    """A matrix of compressed sparse rows: for each row the columns that are stored, and their
    values.

    `data` has the values, `indices` their columns, and the elements of row r are numbers
    ``indptr[r]`` to ``indptr[r + 1] - 1`` of both. Columns are ascending in each row. ``x[i]`` and
    ``x[i:j]`` are matrices of these rows. :func:`mxnet.nd.sparse.csr_matrix` makes one.

    >>> x = mx.nd.sparse.csr_matrix(([5, 6, 7], [1, 0, 2], [0, 1, 3]), shape=(2, 3))
    >>> x.asnumpy()
    array([[0., 5., 0.],
           [6., 0., 7.]], dtype=float32)
    >>> x[1].asnumpy(), x.indices.asnumpy(), x.indptr.asnumpy()
    (array([[6., 0., 7.]], dtype=float32), array([1, 0, 2]), array([0, 1, 3]))
    """

    __module__ = "mxnet.ndarray.sparse"
    __slots__ = []

    @property
    def stype(self):
        """Storage type: 'csr'.

        >>> mx.nd.sparse.zeros('csr', (2, 3)).stype
        'csr'
        """
        return "csr"

    @property
    def indices(self):
        """A copy of the columns of the stored values, int64.

        >>> mx.nd.array([[0, 5], [6, 0]]).tostype('csr').indices.asnumpy()
        array([1, 0])
        """
        return self._aux_data(1)

    @property
    def indptr(self):
        """A copy of where each row begins among the stored values, and where the last one ends.

        >>> mx.nd.array([[0, 5], [6, 0]]).tostype('csr').indptr.asnumpy()
        array([0, 1, 2])
        """
        return self._aux_data(0)

    def __getitem__(self, key):
        rows = self.shape[0]
        if hasattr(key, "__index__") and not isinstance(key, NDArrayBase):
            begin = key.__index__()
            if not -rows <= begin < rows:
                raise IndexError(f"[indexing] index {begin} is out of range for axis 0 of an array of shape {self.shape}; "
                                 f"accepted: {-rows} to {rows - 1}")
            begin += rows if begin < 0 else 0
            return self._rows(begin, begin + 1)
        if isinstance(key, slice):
            if key.step is not None and key.step != 1:
                raise ValueError("CSRNDArray only supports continuous slicing on axis 0")
            if key.start is None and key.stop is None:
                return self
            begin, end, _ = key.indices(rows)
            return self._rows(begin, max(begin, end))
        if isinstance(key, tuple):
            raise ValueError("Multi-dimension indexing is not supported")
        raise ValueError(f"[indexing] a {type(key).__name__} as key of a CSRNDArray; accepted: integers and slices of rows")

    def _rows(self, begin, end):
        if begin == end:
            return new_array("csr", (0, self.shape[1]), self.context, self.dtype)
        return _call("slice", (self,), begin=(begin,), end=(end,))

    def __setitem__(self, key, value):
        if not self.writable:
            raise ValueError("Failed to assign to a readonly CSRNDArray")
        if not isinstance(key, slice):
            raise error_class(TypeError, IndexError)("[indexing] CSRNDArray only supports [:] for assignment")
        if key.step is not None or key.start is not None or key.stop is not None:
            raise ValueError("[indexing] assignment with slice for CSRNDArray; accepted: x[:] = value")
        if isinstance(value, numbers.Number):
            raise ValueError("[indexing] assigning numeric types to CSRNDArray; accepted: arrays")
        self._assign(value)

    def asscipy(self):
        """The matrix as ``scipy.sparse.csr_matrix``, with the values' dtype. It has a copy of the
        parts, so that what is done to it does not change the array. Parts that lead outside raise
        ``MXNetError``: SciPy would follow them.

        >>> mx.nd.array([[0, 5], [6, 0]]).tostype('csr').asscipy().toarray()
        array([[0., 5.],
               [6., 0.]], dtype=float32)
        """
        try:
            from scipy.sparse import csr_matrix
        except ImportError:
            raise ImportError("[asscipy] SciPy cannot be imported; accepted: pip install scipy") from None
        if self.shape[0]:
            self[0:1].wait_to_read()   # a kernel looks at all parts, once
        parts = [_numpy_of(part) for part in (self.data, self.indices, self.indptr)]
        return csr_matrix(tuple(parts), shape=self.shape, dtype=parts[0].dtype)


def _numpy_of(array):
    """The values of an array that nobody else has, without another copy where they are on the
    host."""
    if array.context.device_type == "gpu" or array.dtype == "bfloat16":
        return array.asnumpy()
    array.wait_to_read()
    try:
        shared = np.from_dlpack(array)
    except (BufferError, TypeError, RuntimeError):
        return array.asnumpy()
    return shared if shared.flags.writeable else shared.copy()


class RowSparseNDArray(BaseSparseNDArray):
    """An array that stores some of its rows: `data` has them, `indices` their numbers, ascending.

    Gradients of embeddings are such. :func:`mxnet.nd.sparse.row_sparse_array` makes one.

    >>> x = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 3]), shape=(4, 2))
    >>> x.asnumpy()
    array([[0., 0.],
           [1., 2.],
           [0., 0.],
           [3., 4.]], dtype=float32)
    >>> x.indices.asnumpy()
    array([1, 3])
    """

    __module__ = "mxnet.ndarray.sparse"
    __slots__ = []

    @property
    def stype(self):
        """Storage type: 'row_sparse'.

        >>> mx.nd.sparse.zeros('row_sparse', (2, 3)).stype
        'row_sparse'
        """
        return "row_sparse"

    @property
    def indices(self):
        """A copy of the numbers of the stored rows, int64.

        >>> mx.nd.array([[0], [5], [6]]).tostype('row_sparse').indices.asnumpy()
        array([1, 2])
        """
        return self._aux_data(0)

    def retain(self, *args, **kwargs):
        """The rows of `indices` alone, see :func:`mxnet.nd.sparse.retain`.

        >>> x = mx.nd.sparse.row_sparse_array(([[1], [2]], [1, 3]), shape=(4, 1))
        >>> x.retain(mx.nd.array([0, 3])).asnumpy().ravel()
        array([0., 0., 0., 2.], dtype=float32)
        """
        return _internal._sparse_retain(self, *args, **kwargs)

    def __getitem__(self, key):
        if isinstance(key, slice):
            if key.start is None and key.stop is None and key.step is None:
                return self
            raise NotImplementedError("RowSparseNDArray only supports [:] for __getitem__; "
                                      "accepted: x.retain(rows), or rows of tostype('default')")
        if hasattr(key, "__index__") and not isinstance(key, NDArrayBase):
            raise NotImplementedError("[indexing] an integer as key of a RowSparseNDArray; accepted: x[:], x.retain(rows)")
        if isinstance(key, tuple):
            raise ValueError("Multi-dimension indexing is not supported")
        raise ValueError(f"[indexing] a {type(key).__name__} as key of a RowSparseNDArray; accepted: x[:], x.retain(rows)")

    def __setitem__(self, key, value):
        if not self.writable:
            raise ValueError("Failed to assign to a readonly RowSparseNDArray")
        if key is Ellipsis:
            key = slice(None)
        if not isinstance(key, slice):
            raise TypeError("RowSparseNDArray only supports [:] for assignment")
        if key.step is not None or key.start is not None or key.stop is not None:
            raise ValueError("[indexing] assignment with slice for RowSparseNDArray; accepted: x[:] = value")
        if isinstance(value, numbers.Number):
            _call("_full", (), self, shape=self.shape, dtype=_dtypes.name(self.dtype), value=float(value))
        else:
            self._assign(value)


_set_sparse_classes(RowSparseNDArray, CSRNDArray)
