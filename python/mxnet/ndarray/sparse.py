"""Sparse arrays: classes, creation, arithmetic, and the operators that know sparse storage."""
# Functions of operators are added here when they are asked for, `sum` and `slice` among them: what
# is written in Python stands in other modules.
from .._operators import sparse_names as _sparse_names
from .._operators.functions import ndarray_function as _ndarray_function
from . import _sparse_arithmetic, _sparse_arrays
from ._sparse_arithmetic import add, divide, multiply, subtract
from ._sparse_arrays import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from ._sparse_arrays import ndarray_class as _ndarray_cls
from ._sparse_creation import array, csr_matrix, empty, row_sparse_array, zeros

__all__ = [*_sparse_arrays.__all__, *_sparse_arithmetic.__all__, "csr_matrix", "row_sparse_array", "_ndarray_cls",
           *_sparse_names.known()]

__getattr__, __dir__ = _sparse_names.attach(__name__, _ndarray_function)
