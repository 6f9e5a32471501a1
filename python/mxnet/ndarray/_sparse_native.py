"""Making native sparse arrays and reading their parts, below their classes."""
import ctypes

from .. import _dtypes
from ..base import NDArrayHandle, _LIB, check_call
from ._native import _as_shape, _device

STYPES = {"default": 0, "row_sparse": 1, "csr": 2}
INDEX_PARTS = {"row_sparse": 1, "csr": 2}


def check_stype(function, stype, accepted=tuple(STYPES)):
    """ValueError for what is no storage type."""
    if stype not in accepted:
        raise ValueError(f"[{function}] unknown storage type {stype!r}; accepted: {', '.join(map(repr, accepted))}")


def new_sparse(stype, shape, ctx, dtype):
    """The handle of an array that stores nothing yet; its indices are int64."""
    shape, parts, handle = _as_shape(shape), INDEX_PARTS[stype], NDArrayHandle()
    kind, number = _device(ctx)
    check_call(_LIB.MXNDArrayCreateSparseEx64(
        ctypes.c_int(STYPES[stype]), (ctypes.c_int64 * len(shape))(*shape), ctypes.c_int(len(shape)), ctypes.c_int(kind),
        ctypes.c_int(number), ctypes.c_int(1), ctypes.c_int(_dtypes.number(dtype)), ctypes.c_uint(parts),
        (ctypes.c_int * parts)(*[_dtypes.number("int64")] * parts), (ctypes.c_int * parts)(*[1] * parts),
        (ctypes.c_int64 * parts)(), ctypes.byref(handle)))
    return handle


def set_part(array, part, values):
    """Fills the values (-1) or an index array from a dense array."""
    check_call(_LIB.MXNDArraySyncCopyFromNDArray(array.handle, values.handle, ctypes.c_int(part)))


def copy_of_part(array, part):
    """The handle of a dense copy of the values (-1) or of an index array."""
    handle = NDArrayHandle()
    if part < 0:
        check_call(_LIB.MXNDArrayGetDataNDArray(array.handle, ctypes.byref(handle)))
    else:
        check_call(_LIB.MXNDArrayGetAuxNDArray64(array.handle, ctypes.c_int64(part), ctypes.byref(handle)))
    return handle


def index_dtype(array, part):
    """The number of the dtype as which an index array is shown."""
    dtype = ctypes.c_int()
    check_call(_LIB.MXNDArrayGetAuxType64(array.handle, ctypes.c_int64(part), ctypes.byref(dtype)))
    return dtype.value


def check_format(array, full):
    """Throws where the parts are not what they have to be."""
    check_call(_LIB.MXNDArraySyncCheckFormat(array.handle, ctypes.c_bool(full)))
