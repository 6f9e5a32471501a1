"""What every key-value store offers, and making one by its name."""
import ctypes
import glob
import os
import signal
import sys
import threading
import warnings  # noqa: F401  (programs of 1.x take it from here)

from .. import runtime
from ..base import _LIB, KVStoreHandle, c_str, check_call, public_home as _public_home
from ._interface import KVStoreBase, TestStore  # noqa: F401
from .kvstore import KVStore

__all__ = ["KVStoreBase", "create"]

_public_home(globals(), ["KVStoreBase", "TestStore"])


def _load_packaged_nccl():
    """Load the NCCL that NVIDIA's Python package brings, where the loader does not look; the native
    library finds it by its name then."""
    if not runtime.Features().is_enabled("NCCL"):
        return
    for folder in sys.path:
        for library in glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libnccl.so.2")):
            try:
                ctypes.CDLL(library)
                return
            except OSError:      # what was looked for first is in the message of the error that follows
                continue


def create(name="local"):
    """A store by the name of its kind.

    Parameters
    ----------
    name : str
        'local': sums on the CPU; 'device': sums on the devices; 'nccl': sums between GPUs by
        NVIDIA's NCCL; 'dist_sync', 'dist_async', 'dist_p3' and others: sums over the workers of a
        job that ``tools/launch.py`` has started; or the name of a registered store. Other names
        make 'local', or 'device' where they contain that word, with a warning.

    Raises
    ------
    TypeError
        if `name` is not a string.
    ValueError
        for a kind of distributed store that the library does not have.

    Examples
    --------
    >>> store = mx.kv.create('local')
    >>> store.init('weight', mx.nd.ones(2))
    >>> store.push('weight', [mx.nd.ones(2), 2 * mx.nd.ones(2)])
    >>> out = mx.nd.zeros(2)
    >>> store.pull('weight', out=out)
    >>> out.asnumpy()
    array([3., 3.], dtype=float32)
    """
    if not isinstance(name, str):
        raise TypeError(f"[kvstore] name must be a string, {type(name).__name__} was given")
    registered = KVStoreBase.kv_registry.get(name.lower())
    if registered is not None:
        return registered()
    handle = KVStoreHandle()
    if name.lower() == "nccl" and _LIB.MXKVStoreCreate(c_str(name), ctypes.byref(handle)) != 0:
        _load_packaged_nccl()
    if not handle:
        check_call(_LIB.MXKVStoreCreate(c_str(name), ctypes.byref(handle)))
    if name.lower().startswith("dist") and threading.current_thread() is threading.main_thread() \
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        check_call(_LIB.MXKVStoreFollowInterrupts())
    return KVStore(handle)
