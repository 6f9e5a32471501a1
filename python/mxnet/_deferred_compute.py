"""Deferred compute: while it is on, operators on NDArrays are recorded as a graph instead of being computed."""
import contextlib
import ctypes
import threading

from .base import _LIB, check_call
from .symbol import Symbol

__all__ = ['is_deferred_compute', 'set_deferred_compute', 'context', 'get_symbol', 'set_variable', 'clear']

_state = threading.local()    # mirrors the library's flag, so that asking costs no call


def is_deferred_compute():
    """True while this thread records."""
    return getattr(_state, 'on', False)


def set_deferred_compute(state):
    """Switch recording on this thread; returns the state before."""
    before = ctypes.c_int()
    check_call(_LIB.MXNDArraySetIsDeferredCompute(ctypes.c_int(bool(state)), ctypes.byref(before)))
    _state.on = bool(state)
    return bool(before.value)


@contextlib.contextmanager
def context(state=True):
    """Record inside a `with` block."""
    before = set_deferred_compute(state)
    try:
        yield
    finally:
        set_deferred_compute(before)


def _handles(objects):
    return (ctypes.c_void_p * len(objects))(*[_address(o.handle) for o in objects])


def _address(handle):
    return handle.value if isinstance(handle, ctypes.c_void_p) else int(handle)


def get_symbol(output_arrays, sym_cls=Symbol):
    """The graph that computes `output_arrays` (a list of NDArrays made while recording), as a Symbol."""
    handle = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetDeferredComputeSymbol(_handles(output_arrays), ctypes.c_int(len(output_arrays)), ctypes.byref(handle)))
    return sym_cls(handle)


def set_variable(arrays, variables):
    """Let each array stand for the variable (a Symbol with one output) of the same position in graphs that read it."""
    check_call(_LIB.MXNDArraySetDeferredComputeVariable(_handles(arrays), _handles(variables), ctypes.c_int(len(arrays))))


def clear(arrays):
    """Forget what the arrays stand for."""
    check_call(_LIB.MXNDArrayClearDeferredCompute(_handles(arrays), ctypes.c_int(len(arrays))))
