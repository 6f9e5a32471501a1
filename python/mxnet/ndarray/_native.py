"""Running an operator and making a native array, below the class NDArray."""
import contextlib
import ctypes

import numpy as np

from .. import _dtypes
from .._operators import functions as _op_functions
from .._binding import array_of, array_of_lists, filled, invoke, is_recorded as _recorded, is_traced as _recording, new_array   # noqa: F401  (_recording: for the modules of arrays)
from ..base import NDArrayHandle, _LIB, check_call, error_class, _MXTypeError
from ..context import Context

_handle_of = {}


def _call(name, inputs, out=None, **params):
    """Runs the operator `name`; parameters that are None are left out."""
    handle = _handle_of.get(name) or _handle(name)
    for v in params.values():
        if v is None:
            params = {k: v for k, v in params.items() if v is not None}
            break
    return invoke(handle, inputs, tuple(params), tuple(params.values()), out)


def _handle(name):
    handle = _handle_of[name] = _op_functions.op_info(name).handle
    return handle


def _as_shape(shape):
    if type(shape) is tuple:
        for d in shape:
            if type(d) is not int:
                break
        else:
            return shape
    try:
        if hasattr(shape, "__index__") and not getattr(shape, "ndim", 0):
            return (shape.__index__(),)
        return tuple(d.__index__() for d in shape)
    except (AttributeError, TypeError, ValueError):
        raise _MXTypeError(f"[shape] got {shape!r}; accepted: an integer or a sequence of integers") from None


def _device(ctx):
    if not isinstance(ctx, Context):
        raise _MXTypeError(f"[context] got {ctx!r}; accepted: a Context such as mx.cpu(0)")
    return ctx.device_typeid, ctx.device_id


def _new_array(shape, ctx, dtype, delay=False, numpy=False):
    """An array of the class of results, or with `numpy` of that of mx.np's, with whatever the
    memory held; with `delay` the memory comes with the first use."""
    return new_array(_as_shape(shape), *_device(ctx), _dtypes.number(dtype), delay, numpy)


def _new_from_shared_mem(shared_pid, shared_id, shape, dtype):
    """The handle of an array, on cpu_shared, in a segment of this or another process."""
    handle, dims = NDArrayHandle(), (ctypes.c_int * len(shape))(*shape)
    check_call(_LIB.MXNDArrayCreateFromSharedMemEx(ctypes.c_int(shared_pid), ctypes.c_int(shared_id), dims, ctypes.c_int(len(shape)),
                                                   ctypes.c_int(_dtypes.number(dtype)), ctypes.byref(handle)))
    return handle


def _numbers_of(values, dtype):
    """A NumPy array of objects or texts as numbers, or None. Tables of mixed columns and the fields
    of a split line are such; a None is NaN, as 1.x has it."""
    try:
        return values.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return None


def from_values(source, ctx, dtype, numpy=False, converts=False):
    """An array, with `numpy` one of mx.np, with the values of a number, nested lists or a NumPy
    array; TypeError for what is no rectangular collection of numbers. Objects and texts
    become numbers where NumPy makes them so; in mx.np with `converts` alone."""
    number = _dtypes.number(dtype)
    if number == _dtypes.BFLOAT16:
        return _call("Cast", (from_values(source, ctx, "float32", numpy, converts),), dtype="bfloat16")
    if type(source) in (list, tuple):      # pylint: disable=unidiomatic-typecheck
        made = array_of_lists(source, *_device(ctx), number, numpy)
        if made is not None:
            return made
    try:
        values = np.asarray(source)
    except ValueError:
        values = None
    if values is not None and values.dtype.kind in "OUS" and (converts or not numpy) and not isinstance(source, (str, bytes)):
        values = _numbers_of(values, _dtypes.TYPES[number])
    if values is None or values.dtype.kind not in "fiubV" or values.dtype.kind == "V" and values.dtype.name != "bfloat16":
        if hasattr(source, "toarray"):      # a sparse matrix, and mx.nd.array takes SciPy's
            raise TypeError(f"[array] got a {type(source).__name__}, where a dense array is made; accepted: what its toarray() gives")
        # TypeError as in 1.x; of lists of unequal lengths ValueError as well, as in NumPy
        kind = error_class(TypeError, ValueError) if values is None or isinstance(source, np.ndarray) else TypeError
        raise kind(f"[array] got a {type(source).__name__} that is no rectangular collection of {'real ' if numpy else ''}numbers; "
                   "accepted: numbers, nested lists of equal lengths, arrays")
    if values.dtype.kind == "f" and _dtypes.TYPES[number] is np.uint64 and isinstance(source, (list, tuple)):
        with contextlib.suppress(OverflowError):    # NumPy makes doubles of whole numbers that int64 cannot hold
            values = np.asarray(source, "uint64")
    if values.dtype != _dtypes.TYPES[number] or not values.flags.c_contiguous:
        values = np.ascontiguousarray(values, dtype=_dtypes.TYPES[number]).reshape(values.shape)
    return array_of(values, *_device(ctx), number, numpy)


def _new_filled(name, shape, ctx, dtype, value=None, numpy=False):
    """What the operator `name` (``_zeros``, ``_ones``; ``_full`` with a value) writes into a new
    array, with `numpy` one of mx.np."""
    return filled(_handle_of.get(name) or _handle(name), value, _as_shape(shape), *_device(ctx), _dtypes.number(dtype), numpy)


def shared(array, cls):
    """The array as one of another class: memory and autograd's history are shared."""
    handle = NDArrayHandle()
    check_call(_LIB.MXShallowCopyNDArray(array.handle, ctypes.byref(handle)))
    return cls(handle, array.writable)


def view_as(array, shape, dtype_number):
    """The bytes of the array as a shape of another dtype: memory is shared, autograd's history is
    not."""
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayViewAs(array.handle, len(shape), (ctypes.c_int64 * len(shape))(*shape), dtype_number, ctypes.byref(handle)))
    return type(array)(handle, array.writable)


def reread_shape(shape, old, new):
    """The shape of an array with elements of `old` bytes when they are read as elements of `new`
    bytes. Raises NumPy's errors."""
    if old == new:
        return shape
    if not shape:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    length, rest = divmod(shape[-1] * old, new)
    if rest:
        raise ValueError("When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of "
                         f"the array; here {new} of {shape[-1] * old}.")
    return (*shape[:-1], length)


def _new_empty_handle():
    """Handle of an array without shape and memory; an operator's output gives it both."""
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayCreateNone(ctypes.byref(handle)))
    return handle
