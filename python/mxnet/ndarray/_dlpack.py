"""Memory taken from and given to other libraries: DLPack capsules and
``__cuda_array_interface__``."""
import ctypes

import numpy as np

from .. import _dtypes
from ..base import NDArrayHandle, _LIB, check_call, CheckedTypeError
from ..context import gpu
from ._array import NDArray
from ._capsule import PLAIN, VERSIONED, export, stream_number
from ._native import _new_array

__all__ = ["from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write"]

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_name = ctypes.pythonapi.PyCapsule_SetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_incref, _decref = ctypes.pythonapi.Py_IncRef, ctypes.pythonapi.Py_DecRef
_incref.restype = _decref.restype = None
_incref.argtypes = _decref.argtypes = [ctypes.py_object]
# Names of a capsule before and after a consumer took it, and who reads it.
_FORMS = ((VERSIONED, b"used_" + VERSIONED, lambda pointer, out: _LIB.MXNDArrayFromDLPackVersioned(pointer, out)),
          (PLAIN, b"used_" + PLAIN, lambda pointer, out: _LIB.MXNDArrayFromDLPackEx(pointer, ctypes.c_bool(False), out)))
_LEGACY_STREAM, _NO_ORDER = 1, -1
_CUDA = 2


def to_dlpack_for_write(data):
    """DLPack capsule that shares memory with `data`, for writing, once pending work on it is
    done.

    Examples
    --------
    >>> mx.npx.from_dlpack(mx.npx.to_dlpack_for_write(mx.np.ones(2)))
    array([1., 1.])
    """
    if not isinstance(data, NDArray):
        raise TypeError(f"[to_dlpack] got a {type(data).__name__}; accepted: NDArray")
    return export(data)


def to_dlpack_for_read(data):
    """DLPack capsule that shares memory with `data`, for reading, once pending writes are done.

    Examples
    --------
    >>> mx.npx.from_dlpack(mx.npx.to_dlpack_for_read(mx.np.ones(2)))
    array([1., 1.])
    """
    return to_dlpack_for_write(data)


def from_dlpack(dlpack):
    """Array that shares memory with a DLPack capsule or an object that has ``__dlpack__`` or
    ``__cuda_array_interface__``. A capsule is used up.

    Of memory that is for reading only the array is a copy. On a GPU, what is done with the array
    comes after what its producer has on its stream by now.

    >>> x = mx.nd.arange(3)
    >>> same = mx.nd.from_dlpack(x)
    >>> same[0] = 9
    >>> x.asnumpy()
    array([9., 1., 2.], dtype=float32)
    """
    if hasattr(dlpack, "__dlpack__"):
        dlpack = _ask(dlpack)
    elif hasattr(dlpack, "__cuda_array_interface__"):
        return _from_cuda_array(dlpack)
    for name, used, read in _FORMS:
        if _capsule_is(dlpack, used):
            raise ValueError("[from_dlpack] the capsule is used up; each can be consumed once")
        if _capsule_is(dlpack, name):
            handle = NDArrayHandle()
            check_call(read(ctypes.c_void_p(_capsule_pointer(dlpack, name)), ctypes.byref(handle)))
            _capsule_name(dlpack, used)
            return NDArray(handle)
    raise CheckedTypeError(f"[from_dlpack] got a {type(dlpack).__name__}; accepted: an object with "
                           f"__dlpack__ or __cuda_array_interface__, or a fresh DLPack capsule")


def of_other_library(value):
    """An array of PyTorch or of another library as NumPy's, or as a copy of ours where NumPy has no
    such dtype or device. Gradients stay behind. TypeError, in the words of that library, where
    there are no plain numbers in memory."""
    value = value.detach() if hasattr(value, "detach") else value
    try:
        return np.asarray(value)
    except (RuntimeError, ValueError, BufferError) as refused:    # views that are negated, say, whose memory has other numbers
        raise TypeError(str(refused)) from refused
    except TypeError as refused:
        try:
            return from_dlpack(value).copy()
        except Exception as error:
            raise refused from error


def _ask(producer):
    # The legacy default stream is where producers and our streams meet: the array's first operation
    # waits for it.
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
    if not dtype.isnative:
        raise TypeError(f"[dtype] {dtype.str!r} of {who}; accepted: the machine's byte order")
    if interface.get("mask") is not None:
        raise ValueError(f"[{who}] of a masked array; accepted: arrays without a mask")
    for size, stride in zip(reversed(shape), reversed(strides or ())):
        if size != 1 and stride != expected and 0 not in shape:
            raise ValueError(f"[{who}] strides {tuple(strides)} of shape {shape} are not row-major; make the array contiguous first")
        expected *= size
    if 0 in shape:
        return _new_array(shape, gpu(0), dtype.name)
    handle = NDArrayHandle()
    _incref(producer)
    try:
        check_call(_LIB.MXNDArrayFromCudaArray(ctypes.c_void_p(address), len(shape),
                                               (ctypes.c_int64 * len(shape))(*shape),
                                               _dtypes.number(dtype), ctypes.c_int64(stream),
                                               ctypes.c_void_p(id(producer)), ctypes.byref(handle)))
    except Exception:
        _decref(producer)
        raise
    shared = NDArray(handle)
    return shared.copy() if read_only else shared
