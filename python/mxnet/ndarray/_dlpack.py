"""DLPack: capsules that share an array's memory."""
import ctypes

from ..base import NDArrayHandle, _LIB, check_call
from .ndarray import NDArray

__all__ = ["from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write"]

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_name = ctypes.pythonapi.PyCapsule_SetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_free_unused_capsule = ctypes.cast(_LIB.MXNDArrayFreeDLPackCapsule, ctypes.c_void_p)
_DLTENSOR, _USED = b"dltensor", b"used_dltensor"


def to_dlpack_for_write(data):
    """DLPack capsule that shares memory with `data`, for writing, once pending work on it is done."""
    if not isinstance(data, NDArray):
        raise TypeError(f"[to_dlpack] got a {type(data).__name__}; accepted: NDArray")
    tensor = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayToDLPack(ctypes.c_void_p(data.handle), ctypes.byref(tensor)))
    return _capsule_new(tensor, _DLTENSOR, _free_unused_capsule)


def to_dlpack_for_read(data):
    """DLPack capsule that shares memory with `data`, for reading, once pending writes are done."""
    return to_dlpack_for_write(data)


def from_dlpack(dlpack):
    """Array that shares memory with a DLPack capsule or an object that has ``__dlpack__``. The capsule is used up."""
    if hasattr(dlpack, "__dlpack__"):
        on_gpu = hasattr(dlpack, "__dlpack_device__") and dlpack.__dlpack_device__()[0] == 2
        dlpack = dlpack.__dlpack__(stream=1) if on_gpu else dlpack.__dlpack__()   # 1: the legacy default stream, for which the array's first reader waits
    if _capsule_is(dlpack, _USED):
        raise ValueError("[from_dlpack] the capsule is used up; each can be consumed once")
    if not _capsule_is(dlpack, _DLTENSOR):
        raise TypeError(f"[from_dlpack] got a {type(dlpack).__name__}; accepted: an object with __dlpack__ or a fresh DLPack capsule (named 'dltensor')")
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayFromDLPackEx(ctypes.c_void_p(_capsule_pointer(dlpack, _DLTENSOR)), ctypes.c_bool(False), ctypes.byref(handle)))
    _capsule_name(dlpack, _USED)
    return NDArray(handle)
