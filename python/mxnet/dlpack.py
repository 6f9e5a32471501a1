"""DLPack for array classes: functions that make functions, as MXNet 2.0 has them, and the structs
of the exchange. `mx.nd.from_dlpack` and its neighbours are what programs call."""
import ctypes
import enum

from .base import NDArrayHandle, _LIB, check_call
from .ndarray import NDArray, from_dlpack, from_numpy, to_dlpack_for_read, to_dlpack_for_write

__all__ = ["DLContext", "DLDataType", "DLDeviceType", "DLManagedTensor", "DLTensor", "ndarray_from_dlpack", "ndarray_from_numpy",
           "ndarray_to_dlpack_for_read", "ndarray_to_dlpack_for_write"]


class DLDeviceType(enum.IntEnum):
    """Numbers of kinds of devices."""

    DLCPU = 1
    DLGPU = 2
    DLCPUPINNED = 3
    DLOPENCL = 4
    DLVULKAN = 7
    DLMETAL = 8
    DLVPI = 9
    DLROCM = 10
    DLEXTDEV = 12


class DLContext(ctypes.Structure):
    """A device: its kind (:class:`DLDeviceType`) and its number."""

    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    """The type of elements: signed integers 0, unsigned ones 1, floats 2; bits; lanes of a
    vector."""

    _fields_ = [("type_code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]
    TYPE_MAP = {"int32": (0, 32, 1), "int64": (0, 64, 1), "bool": (1, 1, 1), "uint8": (1, 8, 1), "uint32": (1, 32, 1),
                "uint64": (1, 64, 1), "float16": (2, 16, 1), "float32": (2, 32, 1), "float64": (2, 64, 1)}


class DLTensor(ctypes.Structure):
    """Memory with a shape; strides count elements, null: row-major."""

    _fields_ = [("data", ctypes.c_void_p), ("ctx", DLContext), ("ndim", ctypes.c_int), ("dtype", DLDataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    """A :class:`DLTensor` with the function that gives it back."""


DLManagedTensor._fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p),
                            ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor)))]


def _as_class(array, array_cls):
    if array_cls is NDArray:
        return array
    handle = NDArrayHandle()
    check_call(_LIB.MXShallowCopyNDArray(array.handle, ctypes.byref(handle)))
    return array_cls(handle=handle)


def ndarray_from_dlpack(array_cls):
    """The function from DLPack capsules to arrays of `array_cls`."""
    def read(dlpack):
        """An array that shares memory with a capsule, which is used up."""
        return _as_class(from_dlpack(dlpack), array_cls)
    return read


def ndarray_to_dlpack_for_read():
    """:func:`mxnet.nd.to_dlpack_for_read`."""
    return to_dlpack_for_read


def ndarray_to_dlpack_for_write():
    """:func:`mxnet.nd.to_dlpack_for_write`."""
    return to_dlpack_for_write


def ndarray_from_numpy(array_cls, array_create_fn):
    """The function from NumPy arrays to arrays of `array_cls`. `array_create_fn` makes a copy, of
    (array, dtype)."""
    def read(ndarray, zero_copy=True):
        """An array of the same values; with `zero_copy` it shares the memory, and the NumPy array
        becomes read-only."""
        if not zero_copy:
            return array_create_fn(ndarray, dtype=ndarray.dtype)
        return _as_class(from_numpy(ndarray), array_cls)
    return read
