"""Arrays over the bytes of files: mapped, so that they cost no memory until they are read."""
import math
import mmap
import os

import numpy as np

from .. import _dtypes
from ..base import MXNetError, _MXOSError, as_mxnet_error, error_class, open_file
from ..context import Context, current_context
from ..ndarray._dlpack import from_dlpack
from ..ndarray._native import _new_array, shared, view_as
from ..ndarray.ndarray import NDArray
from ..util import is_np_array

__all__ = ["AXES", "Bytes", "array_class", "array_over", "check_shape", "copied_array", "is_shared"]

AXES = 32                   # dimensions that a tensor of a file may have
_LARGEST = 2 ** 48          # elements: products of dimensions stay far from where they overflow
_BOOL = _dtypes.number("bool")


class Bytes:
    """The bytes of a file, as a NumPy array of uint8 in `data`, and what to call it in messages.

    Of a path they are mapped: pages are read when they are touched and given back when memory is
    short. Whoever writes to them gets private copies, so the file never changes. With ``mapped``
    false, and of an open file, they are read.
    """

    def __init__(self, source, function, mapped=True):
        self.function, self.path = function, None
        if hasattr(source, "read"):
            self.name = repr(getattr(source, "name", None) or type(source).__name__)
            content = source.read()
            if not isinstance(content, (bytes, bytearray, memoryview)):
                raise error_class(MXNetError, TypeError)(f"[{function}] got a file that is open for text; accepted: one that is open "
                                                         "for bytes, as open(path, 'rb') gives")
            self.data = np.frombuffer(bytearray(content), np.uint8)     # of bytes nobody may write
            return
        if not isinstance(source, (str, bytes, os.PathLike)):
            raise error_class(MXNetError, TypeError)(f"[{function}] got {type(source).__name__}; accepted: a path, or a file that is "
                                                     "open for bytes")
        self.path, self.name = os.fspath(source), repr(os.fsdecode(source))
        with open_file(source, "rb") as file:
            self.data = self._of_file(file, mapped)

    @staticmethod
    def _of_file(file, mapped):
        try:
            size = os.fstat(file.fileno()).st_size
            if mapped and size:
                return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
            return np.frombuffer(bytearray(file.read()), np.uint8)
        except (ValueError, OSError) as error:      # of a pipe, or a file system that maps nothing
            if isinstance(error, OSError) and not mapped:
                raise as_mxnet_error(error) from None
            return np.frombuffer(bytearray(file.read()), np.uint8)

    def error(self, what):
        """The error to raise for contents that are wrong: an OSError and an MXNetError."""
        return _MXOSError(f"[{self.function}] {self.name}, {len(self.data)} bytes: {what}")


def array_class(array_type, function):
    """Whether arrays are those of mx.np, from the argument `array_type` of a function."""
    if array_type is None:
        return bool(is_np_array())
    if array_type in ("np", "nd"):
        return array_type == "np"
    if isinstance(array_type, type) and issubclass(array_type, NDArray):
        return bool(array_type is not NDArray and array_type.__module__.startswith("mxnet.numpy"))
    raise error_class(MXNetError, ValueError)(f"[{function}] array_type={array_type!r}; accepted: 'nd', 'np', or None for 'np' where "
                                              "npx.set_np() is active and 'nd' elsewhere")


def check_shape(shape, what):
    """The number of elements of a shape that a file holds. ValueError for one that no array can
    have; `what` names it."""
    if len(shape) > AXES:
        raise ValueError(f"{what} has {len(shape)} dimensions; accepted: up to {AXES}")
    for size in shape:
        if type(size) is not int or size < 0:   # pylint: disable=unidiomatic-typecheck  (a bool is no size)
            shown = repr(size)[:40] if isinstance(size, (int, float, str)) else f"a {type(size).__name__}"
            raise ValueError(f"{what} has the dimension {shown}; accepted: whole numbers from 0")
        if size > _LARGEST:
            raise ValueError(f"{what} has the dimension {size}; accepted: up to 2**48")
    count = math.prod(shape)
    if count > _LARGEST:
        raise ValueError(f"{what} has {count:.3g} elements; accepted: up to 2**48")
    return count


def array_over(values, shape, dtype, numpy=False, ctx=None):
    """An array of `shape` and `dtype` (a name) over `values`, bytes as a flat NumPy array of uint8:
    on the CPU it shares their memory, if elements lie where processors want them. Values of bool
    are copied, since their bytes may hold anything."""
    number = _dtypes.number(dtype)
    if number == _BOOL:
        values = (values != 0).view(np.uint8)
    here = ctx or current_context()
    if not len(values):
        made = _new_array(shape, here, dtype)
        return _of_class(made, numpy)
    if not _is_aligned(values, number):
        values = values.copy()
    made = view_as(from_dlpack(values), shape, number)
    if made.context != here:
        made = made.copyto(here)
    return _of_class(made, numpy)


def _is_aligned(values, number):
    return not values.ctypes.data % _dtypes.ITEM_BYTES[number]


def is_shared(values, dtype, ctx=None):
    """Whether `array_over` shares the memory of these values."""
    number = _dtypes.number(dtype)
    return number != _BOOL and _is_aligned(values, number) and (ctx or current_context()) == Context("cpu", 0)


def copied_array(values, strides, shape, dtype, numpy=False, ctx=None):
    """As `array_over`, of elements that lie `strides` (in elements) apart from the first one. The
    caller has checked that all of them are inside."""
    width = _dtypes.ITEM_BYTES[_dtypes.number(dtype)]
    kind = np.dtype(f"u{width}")
    count = len(values) // width
    flat = np.frombuffer(values[:count * width].tobytes() if values.ctypes.data % width else values, kind, count)
    spread = np.lib.stride_tricks.as_strided(flat, shape, [stride * width for stride in strides], writeable=False)
    return array_over(np.array(spread, order="C").reshape(-1).view(np.uint8), shape, dtype, numpy, ctx)


def _of_class(array, numpy):
    if not numpy:
        return array
    from ..numpy import ndarray
    return shared(array, ndarray)
