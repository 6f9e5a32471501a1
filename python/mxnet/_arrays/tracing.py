"""What a forward that is recorded as a graph reads; below everything that records, so that arrays
and autograd can tell.

A graph holds operators. What Python reads beside them decides for what else the graph is right:
`watch.reads` collects it, and :class:`TraceStopped` ends a recording that asks for what no graph
can tell.
"""
import contextlib
import ctypes
import threading

from ..base import _LIB, check_call

__all__ = ['watch', 'stop', 'unnoted', 'note', 'note_alias', 'is_deferred_compute',
           'shape_is_value', 'TraceStopped', 'SHAPE', 'DTYPE',
           'CONTEXT', 'MODE', 'RANK', 'VALUE', 'IN_PLACE', 'SWITCH', 'CHANGE']

# What Python can ask while a graph is recorded. The binding (python/src/binding.h) has the same
# numbers.
SHAPE, DTYPE, CONTEXT, MODE, RANK, VALUE, IN_PLACE, SWITCH, CHANGE = 1, 2, 4, 8, 16, 32, 64, 128, 256


class TraceStopped(RuntimeError):
    """Raised in a forward that is being recorded as a graph where it asks for what a graph cannot
    tell, such as a value."""


class _Watch(threading.local):
    on = False       # a block's forward or hybrid_forward is being recorded
    reads = 0        # bits of what was asked for
    why = None       # what a graph cannot tell; None so far
    raises = True    # what a graph cannot tell raises; False: is only remembered
    aliases = None   # {id: (array, whether it is a part)} of arrays that share memory with another one when nothing is recorded


watch = _Watch()


def stop(why):
    """Ends the recording of a graph that cannot tell something."""
    watch.why = watch.why or why
    if watch.raises:
        raise TraceStopped(f'[hybridize] {why} while the graph of a hybridized block is recorded; '
                           f'a block that does this runs operator by operator')


@contextlib.contextmanager
def unnoted():
    """A ``with`` block in which this package, not the program, reads shapes and dtypes."""
    reads = watch.reads
    try:
        yield
    finally:
        watch.reads = reads


def _is_recording():
    state = ctypes.c_bool()
    check_call(_LIB.MXAutogradIsRecording(ctypes.byref(state)))
    return state.value


def shape_is_value(array):
    """Whether the shape of an array of the graph that is being recorded depends on values."""
    found = ctypes.c_int()
    check_call(_LIB.MXNDArrayShapeIsValue(array.handle, ctypes.byref(found)))
    return bool(found.value)


def note(kind, array=None):
    """Called where Python reads `kind` of `array` (or of the thread's mode); TraceStopped where a
    graph cannot tell it."""
    watch.reads |= kind
    if kind == SHAPE and array is not None and shape_is_value(array):
        stop('the shape of an array is read that depends on values')
    if kind == VALUE:
        stop('a value is read (asnumpy, asscalar, print, if, int, float)')
    elif kind == SWITCH:
        stop('autograd is switched or used (record, pause, train_mode, backward, grad, attach_grad)')
    elif kind == CHANGE:
        stop('an attribute of a block is set')
    elif kind == IN_PLACE and watch.aliases and id(array) in watch.aliases:
        if watch.on:
            watch.reads |= MODE
        # Recorded operations never share memory, but parts are written through
        # (mxnet._binding.written_parts).
        if watch.aliases[id(array)][1] or not _is_recording():
            stop('an array is written that shares memory with another one')


def note_alias(one, other, is_part=False):
    """Remember that two arrays share memory when they are not recorded. `is_part`: `other` is a
    part of `one` whose elements lie side by side."""
    if watch.aliases is not None:
        watch.aliases.setdefault(id(one), (one, False))
        if other is not one:
            watch.aliases[id(other)] = other, is_part


class _State(threading.local):
    """Mirrors the library's flag, so that asking costs no call."""
    on = False


_state = _State()


def is_deferred_compute():
    """True while this thread records."""
    return _state.on
