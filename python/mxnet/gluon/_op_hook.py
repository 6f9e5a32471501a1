"""Hooks on the operators that a compiled graph runs."""
import ctypes

from .. import ndarray as nd
from ..base import _LIB, NDArrayHandle, check_call, py_str
from ..executor import _NodeName, _monitored_class

__all__ = ['OpHook']

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


class OpHook:
    """Calls `callback(name, operator, array)` for the outputs (with `monitor_all`, also the inputs)
    of every operator that `cached_op` runs, as long as this object lives. As with monitors of
    executors, programs of 1.x may decode the texts and cast the array."""

    def __init__(self, cached_op, callback, monitor_all):
        self._errors = errors = []
        made = _monitored_class(nd.NDArray)

        def call(name, operator, handle):
            try:
                callback(_NodeName(py_str(name)), _NodeName(py_str(operator)), made(NDArrayHandle(handle)))
            except BaseException as e:    # pylint: disable=broad-except  (it has to pass through the library first)
                errors.append(e)
        self._call = _Callback(call)
        check_call(_LIB.MXCachedOpRegisterOpHook(cached_op.handle, self._call, ctypes.c_bool(monitor_all)))

    def raise_errors(self):
        """Raise the first exception of `callback` since the last call of this."""
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error
