"""The server of a key-value store over several processes."""
import ctypes
import logging
import pickle

from ..base import _LIB, check_call

__all__ = ["KVStoreServer"]


class KVStoreServer:
    """Serves the workers of a store.

    Parameters
    ----------
    kvstore : KVStore
        The store, in a process whose role (``DMLC_ROLE``) is server.
    """

    def __init__(self, kvstore):
        self.kvstore = kvstore
        self.handle = kvstore.handle
        self.init_logginig = False   # spelled as programs know it

    def _controller(self):
        """What is done with a command of a worker: (number, text)."""
        def serve(number, text, _):
            if not self.init_logginig:
                logging.basicConfig(level=logging.DEBUG, format=f"%(asctime)-15s Server[{self.kvstore.rank}] %(message)s")
                self.init_logginig = True
            if number == 0:   # an optimizer, as KVStore.set_optimizer sends it
                self.kvstore.set_optimizer(pickle.loads(text))
            else:
                logging.warning("[kvstore] unknown command %d of a worker: %s", number, text)
        return serve

    def run(self):
        """Serve until the workers are done. A store in one process has none: returns at once."""
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        check_call(_LIB.MXKVStoreRunServer(self.handle, prototype(self._controller()), None))
