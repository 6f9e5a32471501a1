"""NDArrays in messages between processes: what travels is the name of a shared memory segment, not
the values."""
import pickle
from io import BytesIO
from multiprocessing.reduction import ForkingPickler

from ... import ndarray as nd
from ..._arrays.classes import is_np_ndarray

__all__ = ['dumps', 'rebuild_ndarray', 'reduce_ndarray']


def rebuild_ndarray(pid, number, shape, dtype):
    """The NDArray in the segment (pid, number), on cpu_shared."""
    return nd.NDArray(nd.ndarray._new_from_shared_mem(pid, number, shape, dtype))


def reduce_ndarray(array):
    """How ForkingPickler packs an NDArray: its segment, where the values are copied first unless
    they are in one."""
    return rebuild_ndarray, array._to_shared_mem()


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
