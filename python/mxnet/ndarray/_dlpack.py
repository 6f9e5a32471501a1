"""Memory shared with other libraries: DLPack capsules and ``__cuda_array_interface__``."""
import ctypes
import weakref

import numpy as np

from .. import _dtypes
from ..base import NDArrayHandle, _LIB, check_call, CheckedTypeError
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
_incref, _decref = ctypes.pythonapi.Py_IncRef, ctypes.pythonapi.Py_DecRef
_incref.restype = _decref.restype = None
_incref.argtypes = _decref.argtypes = [ctypes.py_object]
_free_unused_capsule = ctypes.cast(_LIB.MXNDArrayFreeDLPackCapsule, ctypes.c_void_p)
# What a capsule holds: name before and after a consumer took it, and who reads it.
_PLAIN = (b"dltensor", b"used_dltensor", lambda pointer, out: _LIB.MXNDArrayFromDLPackEx(pointer, ctypes.c_bool(False), out))
_VERSIONED = (b"dltensor_versioned", b"used_dltensor_versioned", lambda pointer, out: _LIB.MXNDArrayFromDLPackVersioned(pointer, out))
_HOST_WAITS, _LEGACY_STREAM, _NO_ORDER = 0, 1, -1
_CUDA = 2


def stream_number(stream, on_gpu, who, default):
    """The consumer's or producer's `stream` as the library takes it; `default` stands for None on a GPU."""
    if stream is None:
        return default if on_gpu else _HOST_WAITS
    if isinstance(stream, bool) or not hasattr(stream, "__index__"):
        raise TypeError(f"[{who}] stream={stream!r}; accepted: None or an int")
    stream = stream.__index__()
    if not on_gpu:
        raise ValueError(f"[{who}] stream={stream} for an array that is not on a GPU; accepted: None")
    if stream == 0 or not -1 <= stream < 2 ** 63:
        raise ValueError(f"[{who}] stream={stream}; accepted: None, -1 (no order), 1 (legacy default stream), 2 (per-thread default stream) or a stream's address")
    return stream


def export(data, stream=_HOST_WAITS, versioned=False, copied=False):
    """Capsule of `data`; `stream` as `stream_number` gives it."""
    tensor = ctypes.c_void_p()
    handle, stream = ctypes.c_void_p(data.handle), ctypes.c_int64(stream)
    if versioned:
        check_call(_LIB.MXNDArrayToDLPackVersioned(handle, stream, ctypes.c_bool(copied), ctypes.byref(tensor)))
    else:
        check_call(_LIB.MXNDArrayToDLPackForStream(handle, stream, ctypes.byref(tensor)))
    return _capsule_new(tensor, (_VERSIONED if versioned else _PLAIN)[0], _free_unused_capsule)


_lent = {}


def lend(array):
    """For consumers that hold the Python object `array` while they use its memory, and may drop it with kernels under way: as with DLPack the memory is used again when these have passed."""
    if id(array) in _lent:
        return
    _lent[id(array)] = export(array)    # whose end does it
    weakref.finalize(array, _lent.pop, id(array)).atexit = False


def to_dlpack_for_write(data):
    """DLPack capsule that shares memory with `data`, for writing, once pending work on it is done."""
    if not isinstance(data, NDArray):
        raise TypeError(f"[to_dlpack] got a {type(data).__name__}; accepted: NDArray")
    return export(data)


def to_dlpack_for_read(data):
    """DLPack capsule that shares memory with `data`, for reading, once pending writes are done."""
    return to_dlpack_for_write(data)


def from_dlpack(dlpack):
    """Array that shares memory with a DLPack capsule or an object that has ``__dlpack__`` or ``__cuda_array_interface__``. A capsule is used up.

    Of memory that is for reading only the array is a copy. On a GPU, what is done with the array comes after what its producer has on its stream by now.
    """
    if hasattr(dlpack, "__dlpack__"):
        dlpack = _ask(dlpack)
    elif hasattr(dlpack, "__cuda_array_interface__"):
        return _from_cuda_array(dlpack)
    for name, used, read in (_VERSIONED, _PLAIN):
        if _capsule_is(dlpack, used):
            raise ValueError("[from_dlpack] the capsule is used up; each can be consumed once")
        if _capsule_is(dlpack, name):
            handle = NDArrayHandle()
            check_call(read(ctypes.c_void_p(_capsule_pointer(dlpack, name)), ctypes.byref(handle)))
            _capsule_name(dlpack, used)
            return NDArray(handle)
    raise CheckedTypeError(f"[from_dlpack] got a {type(dlpack).__name__}; accepted: an object with __dlpack__ or __cuda_array_interface__, or a fresh DLPack capsule")


def _ask(producer):
    # The legacy default stream is where producers and our streams meet: the array's first operation waits for it.
    on_gpu = hasattr(producer, "__dlpack_device__") and producer.__dlpack_device__()[0] == _CUDA
    options = {"stream": _LEGACY_STREAM} if on_gpu else {}
    try:
        return producer.__dlpack__(max_version=(1, 0), **options)
    except TypeError:   # of before DLPack 1.0
        return producer.__dlpack__(**options)


def _from_cuda_array(producer):
    interface = producer.__cuda_array_interface__
    who = "__cuda_array_interface__"
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    strides, expected = interface.get("strides"), dtype.itemsize
    address, read_only = interface["data"]
    stream = stream_number(interface.get("stream"), True, who, _NO_ORDER)
    if interface.get("mask") is not None:
        raise ValueError(f"[{who}] of a masked array; accepted: arrays without a mask")
    for size, stride in zip(reversed(shape), reversed(strides or ())):
        if size != 1 and stride != expected and 0 not in shape:
            raise ValueError(f"[{who}] strides {tuple(strides)} of shape {shape} are not row-major; make the array contiguous first")
        expected *= size
    if 0 in shape:
        from ..context import gpu
        from ._creation import empty
        return empty(shape, gpu(0), dtype.name)
    handle = NDArrayHandle()
    _incref(producer)
    try:
        check_call(_LIB.MXNDArrayFromCudaArray(ctypes.c_void_p(address), len(shape), (ctypes.c_int64 * len(shape))(*shape), _dtypes.number(dtype), ctypes.c_int64(stream),
                                               ctypes.c_void_p(id(producer)), ctypes.byref(handle)))
    except Exception:
        _decref(producer)
        raise
    shared = NDArray(handle)
    return shared.copy() if read_only else shared
