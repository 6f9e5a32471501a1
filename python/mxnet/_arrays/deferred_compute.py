"""Deferred compute: while it is on, operators on NDArrays are recorded as a graph instead of being
computed.

Results have shapes, dtypes and a device, and no values. What Python reads of them (`watch.reads`)
tells what else the graph depends on; a value cannot be read: :class:`TraceStopped`.
"""
import contextlib
import ctypes
import threading

from .tracing import (CHANGE, CONTEXT, DTYPE, IN_PLACE, MODE, RANK, SHAPE, SWITCH, VALUE, TraceStopped, _state,
                       is_deferred_compute, note, note_alias, watch)
from ..base import _LIB, c_handle_array, c_str_array, check_call
from ..symbol import Symbol

__all__ = ['is_deferred_compute', 'set_deferred_compute', 'context', 'attributes', 'get_symbol', 'set_variable',
           'clear', 'take_constants', 'watch', 'note', 'note_alias',
           'TraceStopped', 'SHAPE', 'DTYPE', 'CONTEXT', 'MODE', 'RANK', 'VALUE', 'IN_PLACE', 'SWITCH', 'CHANGE']

_attributes = threading.local()    # now: what the library's nodes get on this thread


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


@contextlib.contextmanager
def attributes(texts):
    """Give the nodes that are recorded inside a `with` block these hidden attributes, and no
    others."""
    before = getattr(_attributes, 'now', {})
    _set_attributes(texts)
    try:
        yield
    finally:
        _set_attributes(before)


def _set_attributes(texts):
    check_call(_LIB.MXNDArraySetDeferredComputeAttributes(len(texts), c_str_array(texts.keys()), c_str_array(texts.values())))
    _attributes.now = texts


def get_symbol(output_arrays, sym_cls=Symbol):
    """The graph that computes `output_arrays` (a list of NDArrays made while recording), as a
    Symbol."""
    handle = ctypes.c_void_p()
    output_arrays = list(output_arrays)
    check_call(_LIB.MXNDArrayGetDeferredComputeSymbol(c_handle_array(output_arrays),
                                                      ctypes.c_int(len(output_arrays)),
                                                      ctypes.byref(handle)))
    return sym_cls(handle)


def set_variable(arrays, variables):
    """Let each array stand for the variable, or another Symbol with one output, of the same
    position in graphs that read it."""
    arrays, variables = list(arrays), list(variables)
    if len(arrays) != len(variables):
        raise ValueError(f"[deferred compute] {len(arrays)} arrays for {len(variables)} variables; accepted: as many")
    check_call(_LIB.MXNDArraySetDeferredComputeVariable(c_handle_array(arrays), c_handle_array(variables), ctypes.c_int(len(arrays))))


def clear(arrays):
    """Forget what the arrays stand for."""
    arrays = list(arrays)
    check_call(_LIB.MXNDArrayClearDeferredCompute(c_handle_array(arrays), ctypes.c_int(len(arrays))))


def take_constants():
    """{name of the variable: array} of the arrays from outside that the graph recorded last
    reads."""
    from ..base import py_str
    from ..ndarray import NDArray
    size, arrays, names = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXNDArrayTakeDeferredComputeConstants(ctypes.byref(size), ctypes.byref(arrays), ctypes.byref(names)))
    return {py_str(names[i]): NDArray(ctypes.c_void_p(arrays[i])) for i in range(size.value)}
