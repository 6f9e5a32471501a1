"""Running an operator and making a native array, below the class NDArray."""
import ctypes

import numpy as np

from .. import _dtypes, _opgen
from ..base import NDArrayHandle, _LIB, check_call
from ..context import Context
from ._internal import invoke

_handle_of = {}


def _call(name, inputs, out=None, **params):
    """Runs the operator `name`; parameters that are None are left out."""
    handle = _handle_of.get(name)
    if handle is None:
        handle = _handle_of[name] = _opgen.op_info(name).handle
    keys = tuple(k for k, v in params.items() if v is not None)
    return invoke(handle, inputs, keys, tuple(params[k] for k in keys), out)


def _recording():
    flag = ctypes.c_bool()
    _LIB.MXAutogradIsRecording(ctypes.byref(flag))
    if flag.value:
        return True
    deferred = ctypes.c_int()
    _LIB.MXNDArrayIsDeferredCompute(ctypes.byref(deferred))
    return bool(deferred.value)


def _as_shape(shape):
    try:
        return (shape.__index__(),) if hasattr(shape, "__index__") and not getattr(shape, "ndim", 0) else tuple(d.__index__() for d in shape)
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"[shape] got {shape!r}; accepted: an integer or a sequence of integers") from None


def _new_handle(shape, ctx, dtype, delay=False):
    shape = _as_shape(shape)
    if not isinstance(ctx, Context):
        raise TypeError(f"[context] got {ctx!r}; accepted: a Context such as mx.cpu(0)")
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayCreateEx64((ctypes.c_int64 * len(shape))(*shape), ctypes.c_int(len(shape)), ctypes.c_int(ctx.device_typeid),
                                        ctypes.c_int(ctx.device_id), ctypes.c_int(delay), ctypes.c_int(_dtypes.number(dtype)), ctypes.byref(handle)))
    return handle


def _new_empty_handle():
    """Handle of an array without shape and memory; an operator's output gives it both."""
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayCreateNone(ctypes.byref(handle)))
    return handle


def _dense_only(function, stype):
    if stype not in (None, "default"):
        raise ValueError(f"[{function}] stype={stype!r}; accepted: 'default'")
