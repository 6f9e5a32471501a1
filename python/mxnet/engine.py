"""Grouping of small asynchronous operations into one engine operation ("bulk")."""
import contextlib
import ctypes

from .base import _LIB, c_int, check_call

__all__ = ["bulk", "set_bulk_size", "stats"]


def set_bulk_size(size):
    """Let the engine group up to `size` consecutive operations of this thread. Returns the limit
    that held before.

    Grouping saves scheduling time per operation and delays the first result; 0 (or 1) turns it off,
    a negative size is an error.

    >>> before = mx.engine.set_bulk_size(8)
    >>> after = mx.engine.set_bulk_size(before)
    >>> after
    8
    """
    previous = ctypes.c_int()
    check_call(_LIB.MXEngineSetBulkSize(c_int(size, "set_bulk_size"), ctypes.byref(previous)))
    return previous.value


@contextlib.contextmanager
def _bulk_scope(size):
    previous = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(previous)


def bulk(size):
    """A ``with`` block in which up to `size` operations form a group.

    >>> x = mx.nd.zeros(2)
    >>> with mx.engine.bulk(10):
    ...     for _ in range(100):
    ...         x = x + 1
    >>> x.asnumpy()
    array([100., 100.], dtype=float32)
    """
    return _bulk_scope(size)


def stats():
    """Counts since start: ``pushed`` (operations handed to a queue; a group counts once),
    ``inlined`` (run at once by the caller), ``bulked`` (operations inside groups) and ``bulks``
    (groups).

    >>> sorted(mx.engine.stats())
    ['bulked', 'bulks', 'inlined', 'pushed']
    """
    values = (ctypes.c_uint64 * 4)()
    check_call(_LIB.MXEngineStats(values))
    return dict(zip(("pushed", "inlined", "bulked", "bulks"), values))
