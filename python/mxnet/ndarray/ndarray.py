"""Arrays and the functions that make and combine them; results of operators are computed
asynchronously."""
# ruff: noqa: F401  (programs of 1.x take from this module what it imports)
import ctypes

import numpy as np

from .._binding import NDArrayBase, _set_indexing
from .._dtypes import bfloat16
from .._arrays.tape import GRAD_REQS as _GRAD_REQ_MAP
from ..base import NDArrayHandle, _LIB, check_call
from ..context import Context
from . import _indexing
from ._array import NDArray
from ._arithmetic import *  # noqa: F403
from ._arithmetic import __all__ as _arithmetic_names
from ._creation import *  # noqa: F403
from ._creation import __all__ as _creation_names
from ._dlpack import from_dlpack, to_dlpack_for_read, to_dlpack_for_write
from . import _sparse_arrays    # sets the classes of sparse results
from ._native import _new_empty_handle, _new_from_shared_mem

__all__ = ["NDArray", "bfloat16", "from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write",
           *_arithmetic_names, *_creation_names]

_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT, _STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = range(-1, 3)
_STORAGE_TYPE_STR_TO_ID = {"undefined": _STORAGE_TYPE_UNDEFINED, "default": _STORAGE_TYPE_DEFAULT,
                           "row_sparse": _STORAGE_TYPE_ROW_SPARSE, "csr": _STORAGE_TYPE_CSR}
_STORAGE_TYPE_ID_TO_STR = {v: k for k, v in _STORAGE_TYPE_STR_TO_ID.items()}

_set_indexing(_indexing.getitem, _indexing.setitem)
