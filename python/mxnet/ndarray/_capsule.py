"""DLPack capsules of arrays, and the streams that order their consumers' work."""
import ctypes
import weakref

from ..base import _LIB, check_call

__all__ = ["PLAIN", "VERSIONED", "export", "lend", "stream_number"]

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"   # names of a capsule that nobody has taken
_HOST_WAITS = 0

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_free_unused_capsule = ctypes.cast(_LIB.MXNDArrayFreeDLPackCapsule, ctypes.c_void_p)


def stream_number(stream, on_gpu, who, default):
    """The consumer's or producer's `stream` as the library takes it; `default` stands for None on a
    GPU."""
    if stream is None:
        return default if on_gpu else _HOST_WAITS
    if isinstance(stream, bool) or not hasattr(stream, "__index__"):
        raise TypeError(f"[{who}] stream={stream!r}; accepted: None or an int")
    stream = stream.__index__()
    if not on_gpu:
        raise ValueError(f"[{who}] stream={stream} for an array that is not on a GPU; accepted: None")
    if stream == 0 or not -1 <= stream < 2 ** 63:
        raise ValueError(f"[{who}] stream={stream}; accepted: None, -1 (no order), 1 (legacy "
                         f"default stream), 2 (per-thread default stream) or a stream's address")
    return stream


def export(data, stream=_HOST_WAITS, versioned=False, copied=False):
    """Capsule of `data`; `stream` as `stream_number` gives it."""
    tensor = ctypes.c_void_p()
    handle, stream = data.handle, ctypes.c_int64(stream)
    if versioned:
        check_call(_LIB.MXNDArrayToDLPackVersioned(handle, stream, ctypes.c_bool(copied), ctypes.byref(tensor)))
    else:
        check_call(_LIB.MXNDArrayToDLPackForStream(handle, stream, ctypes.byref(tensor)))
    return _capsule_new(tensor, VERSIONED if versioned else PLAIN, _free_unused_capsule)


_lent = {}


def lend(array):
    """For consumers that hold the Python object `array` while they use its memory, and may drop it
    with kernels under way.

    As with DLPack, the memory is used again when these have passed.
    """
    if id(array) in _lent:
        return
    _lent[id(array)] = export(array)    # whose end does it
    weakref.finalize(array, _lent.pop, id(array)).atexit = False
