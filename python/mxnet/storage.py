"""What the memory pools hold, per device."""
import ctypes

from .base import _LIB, check_call, py_str
from .context import current_context

__all__ = ["empty_cache", "reset_peak", "stats"]

_FIELDS = ("used_bytes", "cached_bytes", "peak_bytes", "peak_used_bytes", "hits", "misses", "releases")


def _ids(ctx):
    ctx = ctx or current_context()
    return ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id)


def stats(ctx=None):
    """Returns a dict: bytes handed out, cached and at most held (``peak_bytes``), requests served from the cache (``hits``) and from the
    system (``misses``), how often the cache was given back, and the pool's type."""
    values, name = (ctypes.c_uint64 * len(_FIELDS))(), ctypes.c_char_p()
    check_call(_LIB.MXStorageStats(*_ids(ctx), values))
    check_call(_LIB.MXStoragePoolName(*_ids(ctx), ctypes.byref(name)))
    return {**dict(zip(_FIELDS, values)), "pool": py_str(name.value)}


def reset_peak(ctx=None):
    """Starts the peaks again at what is held now."""
    check_call(_LIB.MXStorageResetPeak(*_ids(ctx)))


def empty_cache(ctx=None):
    """Gives cached memory of the device back to the system."""
    check_call(_LIB.MXStorageEmptyCache(*_ids(ctx)))
