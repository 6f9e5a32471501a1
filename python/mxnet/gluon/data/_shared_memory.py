"""NDArrays in messages between processes: what travels is the name of a shared memory segment, not
the values."""
import ctypes
import pickle
from io import BytesIO
from multiprocessing.reduction import ForkingPickler

from ... import context as context_mod, ndarray as nd
from ...base import _LIB, check_call
from ..._array_class import is_np_ndarray

__all__ = ['dumps', 'rebuild_ndarray', 'reduce_ndarray']


def rebuild_ndarray(pid, number, shape, dtype):
    """The NDArray in the segment (pid, number), on cpu_shared."""
    handle = ctypes.c_void_p()
    dims = (ctypes.c_int * len(shape))(*shape)
    check_call(_LIB.MXNDArrayCreateFromSharedMemEx(ctypes.c_int(pid), ctypes.c_int(number), dims,
                                                   ctypes.c_int(len(shape)), ctypes.c_int(dtype),
                                                   ctypes.byref(handle)))
    return nd.NDArray(handle)


def reduce_ndarray(array):
    """How ForkingPickler packs an NDArray: its segment, where the values are copied first unless
    they are in one."""
    if array.context.device_type != 'cpu_shared':
        array = array.as_in_context(context_mod.Context('cpu_shared', 0))
    array.wait_to_read()    # the reader sees memory, not the engine of this process
    pid, number, flag = ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_int()

    def announce():
        check_call(_LIB.MXNDArrayGetSharedMemHandle(array.handle, ctypes.byref(pid), ctypes.byref(number)))
    try:
        announce()
    except ValueError:
        array = array.copy()    # a view from the middle of its segment
        announce()
    check_call(_LIB.MXNDArrayGetDType(array.handle, ctypes.byref(flag)))
    return rebuild_ndarray, (pid.value, number.value, array.shape, flag.value)


ForkingPickler.register(nd.NDArray, reduce_ndarray)


def _rebuild_np(*segment):
    return rebuild_ndarray(*segment).as_np_ndarray()


class _Pickler(ForkingPickler):
    def reducer_override(self, value):
        """Arrays of mx.np, whose class is not loaded with this module."""
        return (_rebuild_np, reduce_ndarray(value.as_nd_ndarray())[1]) if is_np_ndarray(value) else NotImplemented


def dumps(value):
    """`value` as bytes, with its NDArrays as segments."""
    buffer = BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()
