"""What every key-value store offers, and the registry of the stores that are written in Python."""
import warnings

__all__ = ["KVStoreBase", "TestStore"]


class KVStoreBase:
    """Interface of the stores that a Trainer or Module can synchronise parameters with.

    A store from outside subclasses it and enters itself with ``@KVStoreBase.register``; ``create``
    then knows it by the name of its class in lower case.

    >>> @mx.kv.KVStoreBase.register
    ... class Counting(mx.kv.KVStoreBase):
    ...     type, rank, num_workers = 'counting', 0, 1
    ...     steps = 0
    ...     @staticmethod
    ...     def is_capable(capability):
    ...         return False    # the Trainer runs the optimizer
    ...     def broadcast(self, key, value, out, priority=0):
    ...         for target in out if isinstance(out, list) else [out]:
    ...             value.copyto(target)
    ...     def pushpull(self, key, value, out=None, priority=0):
    ...         self.steps += 1
    >>> store = mx.kv.create('counting')
    >>> weight = mx.gluon.Parameter('weight', shape=(2,))
    >>> weight.initialize()
    >>> trainer = mx.gluon.Trainer([weight], 'sgd', kvstore=store)
    >>> for step in range(3):
    ...     with mx.autograd.record():
    ...         loss = weight.data().sum()
    ...     loss.backward()
    ...     trainer.step(1)
    >>> store.steps, store.type, store.rank, store.num_workers
    (3, 'counting', 0, 1)

    One that runs the optimizer as well says so, and has its states.

    >>> @mx.kv.KVStoreBase.register
    ... class Updating(Counting):
    ...     type = 'updating'
    ...     @staticmethod
    ...     def is_capable(capability):
    ...         return capability == mx.kv.KVStoreBase.OPTIMIZER
    ...     def set_optimizer(self, optimizer):
    ...         self.updater = mx.optimizer.get_updater(optimizer)
    ...     def save_optimizer_states(self, fname, dump_optimizer=False):
    ...         with open(fname, 'wb') as file:
    ...             file.write(self.updater.get_states(dump_optimizer))
    ...     def load_optimizer_states(self, fname):
    ...         with open(fname, 'rb') as file:
    ...             self.updater.set_states(file.read())
    >>> mx.kv.create('updating').is_capable('optimizer')
    True
    """

    OPTIMIZER = "optimizer"
    """Capability: the store can run the optimizer."""

    kv_registry = {}

    def broadcast(self, key, value, out, priority=0):
        """Give the `value` of the first worker, an NDArray, to the arrays `out` of all."""
        raise NotImplementedError(f"[{type(self).__name__}] broadcast is not defined")

    def pushpull(self, key, value, out=None, priority=0):
        """Add up `value` over devices and workers, and give the sum to the arrays `out` (None: to
        `value`)."""
        raise NotImplementedError(f"[{type(self).__name__}] pushpull is not defined")

    def set_optimizer(self, optimizer):
        """Let the store update the parameters with `optimizer`."""
        raise NotImplementedError(f"[{type(self).__name__}] set_optimizer is not defined")

    @staticmethod
    def is_capable(capability):
        """Whether the store has a capability, such as :attr:`OPTIMIZER`."""
        raise NotImplementedError("[KVStoreBase] is_capable is not defined")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states of the store's optimizer to a file, and with `dump_optimizer` the
        optimizer itself."""
        raise NotImplementedError(f"[{type(self).__name__}] save_optimizer_states is not defined")

    def load_optimizer_states(self, fname):
        """Read what :meth:`save_optimizer_states` wrote."""
        raise NotImplementedError(f"[{type(self).__name__}] load_optimizer_states is not defined")

    @property
    def type(self):
        """Name of the kind of store."""
        raise NotImplementedError(f"[{type(self).__name__}] type is not defined")

    @property
    def rank(self):
        """Number of this worker, from 0."""
        raise NotImplementedError(f"[{type(self).__name__}] rank is not defined")

    @property
    def num_workers(self):
        """Number of workers."""
        raise NotImplementedError(f"[{type(self).__name__}] num_workers is not defined")

    @staticmethod
    def register(klass):
        """Class decorator: make a store known to :func:`create` under its name in lower case. A
        store of that name from before is replaced, with a UserWarning. Raises TypeError for
        anything but a subclass of KVStoreBase."""
        if not (isinstance(klass, type) and issubclass(klass, KVStoreBase)):
            raise TypeError(f"[kvstore] {klass!r} is not a subclass of KVStoreBase")
        known = KVStoreBase.kv_registry.get(klass.__name__.lower())
        if known is not None:
            warnings.warn(f"WARNING: New kvstore {klass.__module__}.{klass.__name__} is overriding existing "
                          f"kvstore {known.__module__}.{known.__name__}", UserWarning, stacklevel=2)
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store of one process that only copies and adds: an example, and what tests of training
    loops use ('teststore').

    >>> store = mx.kv.create('teststore')
    >>> here, there = mx.nd.zeros(2), mx.nd.zeros(2)
    >>> store.broadcast('a', mx.nd.ones(2), out=[here, there])
    >>> store.pushpull('a', [here, there])
    >>> here.asnumpy(), there.asnumpy()
    (array([2., 2.], dtype=float32), array([2., 2.], dtype=float32))
    >>> store.is_capable('optimizer')
    False
    """

    def broadcast(self, key, value, out, priority=0):
        for target in out if isinstance(out, (list, tuple)) else (out,):
            target[:] = value

    def pushpull(self, key, value, out=None, priority=0):
        values = value if isinstance(value, (list, tuple)) else [value]
        total = values[0].copy()
        for other in values[1:]:
            total += other.as_in_context(total.context)
        targets = values if out is None else out if isinstance(out, (list, tuple)) else [out]
        for target in targets:
            total.copyto(target)

    @staticmethod
    def is_capable(capability):
        """Whether the store has a capability (it has not that of optimizers); raises ValueError for
        one that is unknown."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"[kvstore] Unknown capability: {capability}; known is {KVStoreBase.OPTIMIZER!r}")

    @property
    def type(self):
        return "teststore"

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1
