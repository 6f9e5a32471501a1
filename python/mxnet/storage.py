"""What the memory pools hold: statistics of each context's pool.

Every context has a pool of its own (``MXNET_CPU_MEM_POOL_TYPE`` and its relatives choose how it
rounds and caches); :meth:`mxnet.Context.empty_cache` gives what it caches back to the system.
"""
import ctypes
from collections import namedtuple

from .base import _LIB, check_call, py_str
from .context import current_context

__all__ = ["StorageStats", "pool_name", "reset_peak", "stats"]

StorageStats = namedtuple(
    "StorageStats", ["used_bytes", "cached_bytes", "peak_bytes", "peak_used_bytes", "hits", "misses", "releases",
                     "limit_bytes", "given_back_blocks", "given_back_bytes"])
StorageStats.__doc__ = """A reading of a pool.

``used_bytes`` are handed out (rounded sizes), ``cached_bytes`` are kept for reuse, ``peak_bytes`` is the largest sum of
both since the start or :func:`reset_peak`, ``peak_used_bytes`` the largest ``used_bytes``. ``hits`` requests were served
from the cache, ``misses`` went to the system or driver, and the whole cache was given back ``releases`` times.

A pool holds no more than ``limit_bytes``, used and cached together: what the program used at most lately, and at
least 64 MiB. Beyond it, and when nobody has wanted them for some seconds, cached blocks go back by themselves:
``given_back_blocks`` of ``given_back_bytes`` until now.
"""


def _device(ctx):
    ctx = current_context() if ctx is None else ctx
    return ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id)


def stats(ctx=None):
    """Statistics of the pool of `ctx` (default: the current context).

    Arrays are written asynchronously: call :func:`mxnet.nd.waitall` first when the numbers shall
    include everything.

    Returns
    -------
    StorageStats

    Raises
    ------
    ValueError
        if the library or the machine has no such device.
    """
    out, bound = (ctypes.c_uint64 * 7)(), (ctypes.c_uint64 * 3)()
    check_call(_LIB.MXStorageStats(*_device(ctx), out))
    check_call(_LIB.MXStorageBound(*_device(ctx), bound))
    return StorageStats(*out, *bound)


def reset_peak(ctx=None):
    """Let both peaks of the pool of `ctx` start again at what it holds now."""
    check_call(_LIB.MXStorageResetPeak(*_device(ctx)))


def pool_name(ctx=None):
    """``'Naive'``, ``'Round'`` or ``'Unpooled'``: how the pool of `ctx` rounds and caches."""
    name = ctypes.c_char_p()
    check_call(_LIB.MXStoragePoolName(*_device(ctx), ctypes.byref(name)))
    return py_str(name.value)
