"""NDArrays in messages between processes: what travels is the name of a shared memory segment, not the values."""
import ctypes
import pickle
from io import BytesIO
from multiprocessing.reduction import ForkingPickler

from ... import context as context_mod, ndarray as nd
from ...base import _LIB, check_call

__all__ = ['dumps', 'rebuild_ndarray', 'reduce_ndarray']


def rebuild_ndarray(pid, fd, shape, dtype):
    """The NDArray in the segment (pid, fd), on cpu_shared."""
    handle = ctypes.c_void_p()
    dims = (ctypes.c_int * len(shape))(*shape)
    check_call(_LIB.MXNDArrayCreateFromSharedMemEx(ctypes.c_int(pid), ctypes.c_int(fd), dims, ctypes.c_int(len(shape)), ctypes.c_int(dtype),
                                                   ctypes.byref(handle)))
    return nd.NDArray(handle)


def _flag(array):
    flag = ctypes.c_int()
    check_call(_LIB.MXNDArrayGetDType(array.handle, ctypes.byref(flag)))
    return flag.value


def reduce_ndarray(array):
    """How ForkingPickler packs an NDArray: its segment, where the values are copied first unless they are in one."""
    if array.context.device_type != 'cpu_shared':
        array = array.as_in_context(context_mod.Context('cpu_shared', 0))
    array.wait_to_read()    # the reader sees memory, not the engine of this process
    pid, fd = ctypes.c_int(-1), ctypes.c_int(-1)
    check_call(_LIB.MXNDArrayGetSharedMemHandle(array.handle, ctypes.byref(pid), ctypes.byref(fd)))
    return rebuild_ndarray, (pid.value, fd.value, array.shape, _flag(array))


ForkingPickler.register(nd.NDArray, reduce_ndarray)


def dumps(value):
    """`value` as bytes, with its NDArrays as segments."""
    buffer = BytesIO()
    ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()
