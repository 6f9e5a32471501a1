"""The server of a key-value store over several processes."""
import ctypes
import json
import logging
import os
import signal
import sys
import traceback

from ..base import _LIB, c_str, check_call
from . import _states
from ._commands import GET_STATES, SET_LEARNING_RATE, SET_OPTIMIZER, SET_STATES
from ._optimizer_text import from_text, to_text, unpickled

__all__ = ["KVStoreServer"]


class _PartUpdater:
    """Updates the parts of values that a server keeps. Each has states and counts of its own."""

    def __init__(self, handle, optimizer):
        self.handle = handle
        self.optimizer = optimizer
        self.updaters = {}
        self.begins = {}        # by key and part: the first element of the part
        self.loaded = {}        # by key: states of whole values that parts take theirs from
        self.restored = {}      # by key and first element: states of this server's own parts

    def __call__(self, key, pushed, stored):
        from ..optimizer import get_updater
        part, begin = ctypes.c_int64(), ctypes.c_int64()
        check_call(_LIB.MXKVStoreGetServerPart(self.handle, ctypes.byref(part), ctypes.byref(begin)))
        updater = self.updaters.get(part.value)
        if updater is None:
            updater = self.updaters[part.value] = get_updater(self.optimizer)
            updater.for_store, updater.part = True, part.value
            self.optimizer._all_index_update_counts.setdefault(part.value, dict(self.optimizer._all_index_update_counts.get(0, {})))
        if key not in updater.states:
            self.begins[key, part.value] = begin.value
            if (key, begin.value) in self.restored:
                updater.states[key] = _states.part_of(self.restored[key, begin.value], 0, stored)
                updater.states_synced[key] = True
            elif key in self.loaded:
                updater.states[key] = _states.part_of(self.loaded[key], begin.value, stored)
                updater.states_synced[key] = True
        updater(key, pushed, stored)

    def get_states(self):
        """Text of all states and of the optimizer."""
        parts = [[key, self.begins[key, number], _states.encode(state)]
                 for number, updater in self.updaters.items() for key, state in updater.states.items()]
        known = {(key, begin) for key, begin, _ in parts}
        kept = [[key, begin, _states.encode(state)] for (key, begin), state in self.restored.items() if (key, begin) not in known]
        if not self.restored:
            kept += [[key, 0, _states.encode(state)] for key, state in self.loaded.items() if all(key != p[0] for p in parts)]
        return json.dumps({"parts": parts + kept, "optimizer": to_text(self.optimizer)})

    def set_states(self, text):
        """Go on from the states that a worker has read from a file, and the optimizer if it was in
        there."""
        content = json.loads(text)
        if content["optimizer"] is not None:
            self.optimizer = from_text(content["optimizer"])
            self.optimizer._count_on([0])
        self.updaters, self.begins = {}, {}
        self.loaded = {key: _states.decode(state) for key, state in content.get("states", ())}
        self.restored = {(key, begin): _states.decode(state) for key, begin, state in content.get("parts", ())}


class KVStoreServer:
    """Serves the workers of a store.

    Parameters
    ----------
    kvstore : KVStore
        The store, in a process whose role (``DMLC_ROLE``) is server.

    Examples
    --------
    A process that a launcher has made a server runs this when it imports the package. A store in
    one process has no workers to wait for:

    >>> server = mx.kvstore.KVStoreServer(mx.kv.create('local'))
    >>> server.run()
    """

    def __init__(self, kvstore):
        self.kvstore = kvstore
        self.handle = kvstore.handle
        self.init_logginig = False   # spelled as programs know it
        self._optimizers = {}        # by the number of the workers' store: (number of the call, text)

    def _controller(self):
        """What is done with a command of a worker: (number, text)."""
        def serve(number, text, _):
            try:
                self._serve(number, text)
            except BaseException:      # pylint: disable=broad-except
                check_call(_LIB.MXKVStoreReportServerError(self.handle, c_str(traceback.format_exc())))
        return serve

    def _serve(self, number, text):
        if not self.init_logginig:
            logging.basicConfig(level=logging.DEBUG, format=f"%(asctime)-15s Server[{self.kvstore.rank}] %(message)s")
            self.init_logginig = True
        if number == SET_OPTIMIZER:
            self._set_optimizer(text)
        elif number == SET_LEARNING_RATE:
            updater = self.kvstore._updater
            if updater is None:
                raise ValueError("[kvstore] a learning rate came before an optimizer")
            updater.optimizer.set_learning_rate(float(text))
        elif number in (GET_STATES, SET_STATES):
            updater = self.kvstore._updater
            if not isinstance(updater, _PartUpdater):
                raise ValueError("[kvstore] the servers have no optimizer, so no states; set_optimizer comes first")
            if number == SET_STATES:
                updater.set_states(text)
            else:
                check_call(_LIB.MXKVStoreSetServerReply(self.handle, c_str(updater.get_states())))
        else:
            logging.warning("[kvstore] unknown command %d of a worker: %s", number, text.decode(errors="replace"))

    def _set_optimizer(self, text):
        """All workers send theirs. The first to come is taken, and that of worker 0 is the one that
        counts."""
        if not text.startswith(b"{"):       # what a program of 1.x sends by itself
            self._install(unpickled(text))
            return
        content = json.loads(text)
        worker, call, store = content.pop("worker"), content.pop("call"), content.pop("store")
        known_call, known = self._optimizers.get(store, (0, None))
        if call > known_call or (call == known_call and worker == 0 and content != known):
            optimizer = from_text(content)
            self._optimizers[store] = call, content
            self._install(optimizer)

    def _install(self, optimizer):
        self.kvstore._set_updater(_PartUpdater(self.handle, optimizer))

    def run(self):
        """Serve until the workers are done. A store in one process has none: returns at once."""
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        check_call(_LIB.MXKVStoreRunServer(self.handle, prototype(self._controller()), None))


def _init_kvstore_server_module():
    """In a process that a launcher has made a server: serve, then end the process. A scheduler has
    nothing to do here: it ends at once."""
    role = os.environ.get("DMLC_ROLE")
    if role == "server":
        from .base import create
        signal.signal(signal.SIGINT, signal.SIG_DFL)     # serving waits outside of Python
        KVStoreServer(create("dist")).run()
        sys.exit()
    if role == "scheduler":
        sys.exit()
