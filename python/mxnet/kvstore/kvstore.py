"""The key-value stores of the native library."""
import ctypes
import functools
import json
import os
import pickle
import traceback
import warnings

from ..base import CheckedTypeError, CheckedValueError, NotCopied, _MXValueError
from .._binding import store_pull, store_push, store_pushpull
from .._files.whole_files import load_states, write_file
from ..base import (_LIB, KVStoreHandle, NDArrayHandle, c_array, c_handle_array, c_int, c_str, c_str_array, call_and_mark, check_call,
                    mx_uint, py_str)
from ..ndarray import NDArray
from ._commands import GET_STATES, GET_STEP, SET_LEARNING_RATE, SET_OPTIMIZER, SET_STATES
from ._interface import KVStoreBase

__all__ = ["KVStore"]

_IntUpdater = ctypes.CFUNCTYPE(None, ctypes.c_int, NDArrayHandle, NDArrayHandle, ctypes.c_void_p)
_StrUpdater = ctypes.CFUNCTYPE(None, ctypes.c_char_p, NDArrayHandle, NDArrayHandle, ctypes.c_void_p)


@functools.lru_cache(maxsize=1024)
def _c_keys(keys):
    """A tuple of keys for the C functions: the functions' ending for that kind of keys, the number
    of keys, the keys, and the type of as many handles. They are the same in every step of a
    training."""
    for key in keys:
        if not isinstance(key, (int, str)):
            raise CheckedTypeError(f"[kvstore] unexpected type for keys: {type(key).__name__}; int and str are accepted")
    if len({isinstance(k, str) for k in keys}) > 1:
        raise CheckedTypeError("[kvstore] inconsistent types of keys detected: they are all int or all str")
    by_name = bool(keys) and isinstance(keys[0], str)
    if not by_name:
        keys = [c_int(key, "kvstore key").value for key in keys]
    return "Ex" if by_name else "", mx_uint(len(keys)), c_str_array(keys) if by_name else c_array(ctypes.c_int, keys), \
        ctypes.c_void_p * len(keys)


class _Arguments:
    """Keys and arrays, flattened for the C functions; `ex` is the ending of the function for the
    kind of keys."""

    def __init__(self, key, value):
        if isinstance(key, (list, tuple)):
            if not isinstance(value, (list, tuple)) or len(key) != len(value):
                raise CheckedValueError(f"[kvstore] {len(key)} keys, and "
                                 f"{len(value) if isinstance(value, (list, tuple)) else 'one array'} to go with them")
            keys, arrays = [], []
            for k, v in zip(key, value):
                of_key = v if isinstance(v, (list, tuple)) else (v,)
                keys += [k] * len(of_key)
                arrays += of_key
        else:
            arrays = value if isinstance(value, (list, tuple)) else (value,)
            keys = (key,) * len(arrays)
        try:
            self.ex, self.count, self.keys, handles = _c_keys(tuple(keys))
        except TypeError:                # also of a key that has no hash
            self.ex, self.count, self.keys, handles = _c_keys.__wrapped__(keys)
        for array in arrays:
            if not isinstance(array, NDArray):
                name = keys[next(i for i, a in enumerate(arrays) if a is array)]
                raise CheckedTypeError(f"[kvstore] {type(array).__name__} for key {name!r}; NDArrays are expected")
        self.names = keys
        self.handles = handles(*[array.handle for array in arrays])
        self.arrays = tuple(arrays)     # alive as long as the handles are used

    def head(self):
        return self.count, self.keys


def _flat_rows(row_ids):
    """The arrays of ids of row_sparse_pull, one after another, also of lists for each key."""
    flat = []
    for ids in row_ids if isinstance(row_ids, (list, tuple)) else (row_ids,):
        flat += ids if isinstance(ids, (list, tuple)) else (ids,)
    for ids in flat:
        if not isinstance(ids, NDArray):
            raise CheckedTypeError(f"[kvstore] row_ids has a {type(ids).__name__}; accepted: NDArrays, or lists of them for each key")
    return flat


class KVStore(NotCopied, KVStoreBase):
    """A store of the native library; :func:`create` makes them.

    A key is an int or a str, the same kind for all keys of a store. A value is an NDArray or a list
    of them, one for each device: they are added up.

    >>> kv = mx.kv.create('local')
    >>> kv.init('weight', mx.nd.ones((2, 2)))
    >>> kv.push('weight', [mx.nd.ones((2, 2)), mx.nd.ones((2, 2))])
    >>> out = mx.nd.zeros((2, 2))
    >>> kv.pull('weight', out=out)
    >>> out.asnumpy()
    array([[2., 2.],
           [2., 2.]], dtype=float32)
    """

    _made = 0

    def __init__(self, handle):
        if not isinstance(handle, KVStoreHandle):
            raise TypeError(f"[KVStore] {type(handle).__name__} was given; create() makes stores")
        self.handle = handle
        self._updater = None
        self._optimizer_calls = 0
        self._sent_optimizer = None
        self._shapes = {}                   # of values that servers keep
        self._number = KVStore._made        # the same on all workers, which make theirs in one order
        if self._num_servers:
            KVStore._made += 1
        self._updater_callbacks = ()
        self._former_callbacks = []
        self._updater_errors = []

    def __repr__(self):
        return f"<{type(self).__name__} {self.type!r}, worker {self.rank} of {self.num_workers}>"

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle is not None:
            check_call(_LIB.MXKVStoreFree(handle))

    # -- values --
    def _call(self, name, arguments, *rest):
        call_and_mark(getattr(_LIB, name + arguments.ex), self.handle, *rest)
        if self._updater_errors:
            self._raise_updater_error()

    def _done(self, result):
        """Whether the binding made a call, whose result is not None then. Raises what failed in
        it."""
        if result is None:
            return False
        check_call(result)
        if self._updater_errors:
            self._raise_updater_error()
        return True

    def _raise_updater_error(self):
        error = self._updater_errors[0]
        self._updater_errors.clear()
        raise error

    def init(self, key, value):
        """Give first values to keys, once for each key. With several workers the first one's
        count.

        >>> store, out = mx.kv.create(), mx.nd.zeros(2)
        >>> store.init(['a', 'b'], [mx.nd.ones(2), mx.nd.zeros(3)])
        >>> store.pull('a', out=out)
        >>> out.asnumpy()
        array([1., 1.], dtype=float32)
        """
        args = _Arguments(key, value)
        self._call("MXKVStoreInit", args, *args.head(), args.handles)
        self._know_shapes(args)

    def push(self, key, value, priority=0):
        """Add up values, and replace what is stored by the sum; or hand the sum to the updater, if
        there is one.

        Parameters
        ----------
        key : int, str, or list of them
        value : NDArray, list of NDArray (one per device), or a list of such, one for each key
        priority : int
            Those with the highest go first.

        Examples
        --------
        >>> store, out = mx.kv.create(), mx.nd.zeros(2)
        >>> store.init('a', mx.nd.array([5, 5]))
        >>> store.push('a', [mx.nd.array([1, 2]), mx.nd.array([10, 20])])
        >>> store.pull('a', out=out)
        >>> out.asnumpy()
        array([11., 22.], dtype=float32)
        """
        if self._done(store_push(self.handle.value, key, value, priority)):
            return
        args = _Arguments(key, value)
        self._call("MXKVStorePush", args, *args.head(), args.handles, c_int(priority, "kvstore priority"))

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copy what is stored into the arrays `out`; with `ignore_sparse` leave row_sparse arrays
        as they are, with a warning: `row_sparse_pull` copies rows into them.

        >>> store, out = mx.kv.create(), mx.nd.zeros(2)
        >>> store.init('a', mx.nd.array([1, 2]))
        >>> store.pull('a', out=out)
        >>> out.asnumpy()
        array([1., 2.], dtype=float32)
        """
        if out is None:
            raise CheckedValueError("[kvstore] pull needs the arrays to copy to, in out")
        if ignore_sparse and self._done(store_pull(self.handle.value, key, out, priority)):
            return
        args = _Arguments(key, out)
        self._call("MXKVStorePullWithSparse", args, *args.head(), args.handles, c_int(priority, "kvstore priority"),
                   ctypes.c_bool(ignore_sparse))

    def pushpull(self, key, value, out=None, priority=0):
        """:meth:`push`, then :meth:`pull` into `out` (None: into `value`), in one step.

        >>> store, out = mx.kv.create(), mx.nd.zeros(2)
        >>> store.init('a', mx.nd.zeros(2))
        >>> store.pushpull('a', [mx.nd.ones(2), mx.nd.ones(2)], out=out)
        >>> out.asnumpy()
        array([2., 2.], dtype=float32)
        """
        out = value if out is None else out
        if self._done(store_pushpull(self.handle.value, key, value, out, priority)):
            return
        push, pull = _Arguments(key, value), _Arguments(key, out)
        self._call("MXKVStorePushPull", push, *push.head(), *pull.head(), push.handles, pull.handles,
                   c_int(priority, "kvstore priority"))

    def broadcast(self, key, value, out, priority=0):
        """:meth:`init`, then :meth:`pull` into `out`, in one step.

        >>> store, here, there = mx.kv.create(), mx.nd.zeros(2), mx.nd.zeros(2, ctx=mx.cpu(1))
        >>> store.broadcast('a', mx.nd.array([1, 2]), out=[here, there])
        >>> here.asnumpy(), there.asnumpy()
        (array([1., 2.], dtype=float32), array([1., 2.], dtype=float32))
        """
        init, pull = _Arguments(key, value), _Arguments(key, out)
        self._call("MXKVStoreBroadcast", init, *init.head(), *pull.head(), init.handles, pull.handles,
                   c_int(priority, "kvstore priority"))
        self._know_shapes(init)

    def _know_shapes(self, arguments):
        if self._num_servers:
            self._shapes.update((key, array.shape) for key, array in zip(arguments.names, arguments.arrays))

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copy the rows `row_ids` of what is stored into row_sparse arrays `out`; one array of ids
        for each array, or one for all. For several keys `row_ids` may have a list for each key.

        Ids are numbers in any order, also several times. Each row is in `out` once; a row that the
        stored value does not have is one of zeros. A ValueError says that an array is not
        row_sparse, an IndexError that an id is outside of the value.

        >>> store, out = mx.kv.create(), mx.nd.sparse.zeros('row_sparse', (3, 2))
        >>> store.init('table', mx.nd.array([[1, 2], [3, 4], [5, 6]]).tostype('row_sparse'))
        >>> store.row_sparse_pull('table', out=out, row_ids=mx.nd.array([2, 0, 2]))
        >>> out.indices.asnumpy(), out.data.asnumpy()
        (array([0, 2]), array([[1., 2.],
               [5., 6.]], dtype=float32))
        """
        if out is None or row_ids is None:
            raise CheckedValueError("[kvstore] row_sparse_pull needs the arrays to copy to and the rows to copy")
        row_ids = _flat_rows(row_ids)
        args = _Arguments(key, out)
        for array in args.arrays:
            if array.stype != "row_sparse":
                raise _MXValueError(f"[kvstore] row_sparse_pull into an array of storage type {array.stype!r}; "
                                      "accepted: 'row_sparse', and pull() for dense ones")
        if len(row_ids) == 1:
            row_ids *= len(args.arrays)
        if len(row_ids) != len(args.arrays):
            raise CheckedValueError(f"[kvstore] {len(row_ids)} arrays of rows for {len(args.arrays)} arrays to copy to")
        self._call("MXKVStorePullRowSparse", args, *args.head(), args.handles, c_handle_array(row_ids),
                   c_int(priority, "kvstore priority"))

    def set_gradient_compression(self, compression_params):
        """Compress gradients on their way.

        Parameters
        ----------
        compression_params : dict
            ``{'type': '2bit', 'threshold': 0.5}``, for example: each value becomes -threshold, 0 or
            threshold. With ``'1bit'`` it becomes 1 above the threshold, else -1. What that leaves
            out is added to the next push.

        Raises
        ------
        ValueError
            for a store that only adds up on the CPU of one process ('local').

        Examples
        --------
        >>> store, out = mx.kv.create('device'), mx.nd.zeros(3)
        >>> store.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
        >>> store.init('a', mx.nd.zeros(3))
        >>> store.push('a', [mx.nd.array([0.3, 0.6, -0.7])] * 2)
        >>> store.pull('a', out=out)
        >>> out.asnumpy()
        array([ 0.,  1., -1.], dtype=float32)
        """
        if "device" not in self.type and "dist" not in self.type:
            raise ValueError(f"[kvstore] Gradient compression is not supported for a store of type {self.type}")
        if not isinstance(compression_params, dict):
            raise CheckedTypeError(f"[kvstore] compression_params is a {type(compression_params).__name__}; accepted: a dict")
        keys = c_str_array(list(compression_params))
        values = c_str_array([str(value) for value in compression_params.values()])
        check_call(_LIB.MXKVStoreSetGradientCompression(self.handle, mx_uint(len(compression_params)), keys, values))

    # -- optimizer --
    @staticmethod
    def is_capable(capability):
        """Whether the store has a capability; raises ValueError for one that is unknown.

        >>> mx.kv.create('local').is_capable(mx.kv.KVStoreBase.OPTIMIZER)
        True
        """
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise ValueError(f"[kvstore] Unknown capability: {capability}; known is {KVStoreBase.OPTIMIZER!r}")

    def set_optimizer(self, optimizer):
        """Update the stored weights with `optimizer` from now on: what is pushed are gradients.

        >>> store, out = mx.kv.create(), mx.nd.zeros(2)
        >>> store.init(0, mx.nd.array([1, 2]))
        >>> store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
        >>> store.push(0, mx.nd.ones(2))
        >>> store.pull(0, out=out)
        >>> out.asnumpy()
        array([0.5, 1.5], dtype=float32)
        """
        if self._num_servers:      # they make the updater
            from ._optimizer_text import needs_whole_weights, to_text
            self._optimizer_calls += 1
            whole = needs_whole_weights(optimizer)
            if whole and self._shapes and self._num_servers > 1:
                warnings.warn(f"[kvstore] {type(optimizer).__name__} may take norms of whole weights; of keys that were initialised "
                              "before set_optimizer, large ones are split over the servers, which take norms of their parts")
            check_call(_LIB.MXKVStoreSetSplitsValues(self.handle, ctypes.c_int(not whole)))
            self._sent_optimizer = optimizer
            content = json.loads(to_text(optimizer))
            content.update(worker=self.rank, call=self._optimizer_calls, store=self._number)
            self._send_command_to_servers(SET_OPTIMIZER, json.dumps(content))
        else:
            from ..optimizer import get_updater
            updater = get_updater(optimizer)
            updater.for_store = True
            self._set_updater(updater)

    @property
    def _optimizer(self):
        """The optimizer that updates the stored weights, as far as this worker knows; or None."""
        return self._sent_optimizer if self._num_servers else getattr(self._updater, "optimizer", None)

    def _set_server_learning_rate(self, lr):
        """Let the optimizer on the servers go on with this learning rate: the next push of this
        worker, and all later ones, are for it."""
        self._send_command_to_servers(SET_LEARNING_RATE, repr(float(lr)))

    def _set_updater(self, updater):
        """Hand sums to ``updater(key, pushed, stored)``, which changes `stored` in place."""
        errors = self._updater_errors           # not self: the store must not keep itself alive
        server = self.handle if self._is_server() else None

        def call(key, pushed, stored, _):
            # An exception can't pass through C: it is raised again when the call that led here
            # returns.
            try:
                updater(key if isinstance(key, int) else py_str(key), NDArray(NDArrayHandle(pushed)),
                        NDArray(NDArrayHandle(stored)))
            except BaseException as error:      # pylint: disable=broad-except
                if server is None:
                    errors.append(error)
                else:
                    check_call(_LIB.MXKVStoreReportServerError(server, c_str(traceback.format_exc())))

        self._updater = updater
        if server is not None:              # each store of the workers has an updater
            self._former_callbacks.append(self._updater_callbacks)
        self._updater_callbacks = _IntUpdater(call), _StrUpdater(call)
        check_call(_LIB.MXKVStoreSetUpdaterEx(self.handle, *self._updater_callbacks, None))

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states of the updater to a file, and with `dump_optimizer` the optimizer
        itself. Where servers have them, they send them to this worker: one worker is enough to
        save. Raises ValueError where no optimizer was set.

        >>> store, out = mx.kv.create(), mx.nd.zeros(1)
        >>> store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
        >>> store.init(0, mx.nd.zeros(1))
        >>> store.push(0, mx.nd.ones(1))
        >>> store.save_optimizer_states('states')

        Another store goes on with the momentum: its first step is 1 + 0.5 long.

        >>> other = mx.kv.create()
        >>> other.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
        >>> other.load_optimizer_states('states')
        >>> other.init(0, mx.nd.zeros(1))
        >>> other.push(0, mx.nd.ones(1))
        >>> other.pull(0, out=out)
        >>> out.asnumpy()
        array([-1.5], dtype=float32)
        """
        if self._num_servers:
            write_file(fname, self._states_of_servers(dump_optimizer))
            return
        self._need_updater("save")
        write_file(fname, self._updater.get_states(dump_optimizer))

    def load_optimizer_states(self, fname):
        """Read what :meth:`save_optimizer_states` wrote. Where servers have the states, the first
        worker sends them, and all workers that call this know the optimizer of the file. Nothing
        that the file says is run (:meth:`mxnet.optimizer.Updater.set_states`)."""
        if self._num_servers:
            load_states(fname, self._send_states)
            return
        self._need_updater("load")
        load_states(fname, self._updater.set_states)

    def _states_of_servers(self, dump_optimizer):
        """Bytes of all servers' states, as those of an updater in this process."""
        from . import _states
        from ._optimizer_text import from_text
        parts, counts, optimizer = {}, {}, None
        for reply in self._ask_servers(GET_STATES, ""):
            content = json.loads(reply)
            for key, begin, state in content["parts"]:
                parts.setdefault(key, {})[begin] = _states.decode(state)
            if dump_optimizer:
                optimizer = from_text(content["optimizer"])
                optimizer._count_on([0])
                for index, count in optimizer._index_update_count.items():
                    counts[index] = max(count, counts.get(index, 0))
        states = {key: _states.join([of_key[begin] for begin in sorted(of_key)], self._shapes.get(key)) for key, of_key in parts.items()}
        if optimizer is None:
            return pickle.dumps(states, protocol=4)
        optimizer._index_update_count.update(counts)
        optimizer.num_update = max(counts.values(), default=optimizer.num_update)
        return pickle.dumps((states, optimizer), protocol=4)

    def _send_states(self, states):
        """Let the servers go on with what a file holds. The first worker tells them."""
        from . import _states
        from ._optimizer_text import to_text
        from ..optimizer import Optimizer, Updater
        reader = Updater(Optimizer())       # which checks them
        none = reader.optimizer
        reader.set_states(states)
        if reader.optimizer is not none:
            if self._sent_optimizer is not None:
                reader.optimizer.param_dict = self._sent_optimizer.param_dict    # files leave it out
            self._sent_optimizer = reader.optimizer
        if self.rank != 0:
            return
        content = {"states": [[key, _states.encode(state)] for key, state in reader.states.items()],
                   "optimizer": None if reader.optimizer is none else to_text(reader.optimizer)}
        self._send_command_to_servers(SET_STATES, json.dumps(content))

    def _need_updater(self, what):
        if self._updater is None:
            raise CheckedValueError(f"[kvstore] no updater of this process to {what} the states of: set_optimizer comes "
                             "first, and in distributed training the servers have the states")

    # -- the group --
    @property
    def type(self):
        """Name of the kind of store.

        >>> mx.kv.create('device').type
        'device'
        """
        name = ctypes.c_char_p()
        check_call(_LIB.MXKVStoreGetType(self.handle, ctypes.byref(name)))
        return py_str(name.value)

    @property
    def rank(self):
        """Number of this worker, from 0; 0 of a store in one process.

        >>> store = mx.kv.create('local')
        >>> store.rank, store.num_workers
        (0, 1)
        """
        rank = ctypes.c_int()
        check_call(_LIB.MXKVStoreGetRank(self.handle, ctypes.byref(rank)))
        return rank.value

    @property
    def resumed_step(self):
        """How often the workers had pushed when the servers wrote the snapshot that they went on
        from; 0 in a new job, and where there are no servers.

        A synchronous job that is started again goes on there:

        >>> store, steps = mx.kv.create('local'), 3
        >>> for step in range(store.resumed_step, steps):
        ...     print('step', step)
        step 0
        step 1
        step 2
        """
        return max((int(step) for step in self._ask_servers(GET_STEP, "")), default=0)

    @property
    def num_workers(self):
        """Number of workers."""
        size = ctypes.c_int()
        check_call(_LIB.MXKVStoreGetGroupSize(self.handle, ctypes.byref(size)))
        return size.value

    @property
    def _is_p3(self):
        """Whether the launcher has switched on slices by priority for all synchronous stores."""
        return os.environ.get("DMLC_PS_VAN_TYPE") == "p3"

    @property
    def _num_servers(self):
        """Number of servers: 0 of a store in one process, and where the workers keep the values."""
        count = ctypes.c_int()
        check_call(_LIB.MXKVStoreGetNumServers(self.handle, ctypes.byref(count)))
        return count.value

    @staticmethod
    def _is_server():
        answer = ctypes.c_int()
        check_call(_LIB.MXKVStoreIsServerNode(ctypes.byref(answer)))
        return bool(answer.value)

    def barrier(self):
        """Wait until all workers are here. A store of one process returns at once.

        Raises an error that names the worker that is lost, or after `PS_BARRIER_TIMEOUT` seconds.

        >>> mx.kv.create('local').barrier()
        """
        self._barrier()

    def _barrier(self):
        """What `barrier` does, under the name that 1.9.1 has for it."""
        check_call(_LIB.MXKVStoreBarrier(self.handle))

    def _ask_servers(self, head, body):
        """Replies of all servers to a command."""
        size, replies = mx_uint(), ctypes.POINTER(ctypes.c_char_p)()
        command = c_int(head, "kvstore command")
        check_call(_LIB.MXKVStoreAskServers(self.handle, command, c_str(body), ctypes.byref(size), ctypes.byref(replies)))
        return [py_str(replies[i]) for i in range(size.value)]

    def _send_command_to_servers(self, head, body):
        check_call(_LIB.MXKVStoreSendCommmandToServers(self.handle, c_int(head, "kvstore command"), c_str(body)))
