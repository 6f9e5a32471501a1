"""The store 'horovod': sums over workers by the package Horovod."""
from ._interface import KVStoreBase
from ._packages import PackageStore, as_list, hand_out, load, name_of

__all__ = ["Horovod"]


@KVStoreBase.register
class Horovod(PackageStore):
    """Sums over the workers of a job of ``horovodrun``, by ring all-reduce (Sergeev and Del Balso,
    arXiv:1802.05799). Each worker has one device.

    Horovod's part for this package must have been compiled for this library. Raises
    ModuleNotFoundError where ``horovod.mxnet`` cannot be imported.

    >>> try:
    ...     store = mx.kv.create('horovod')
    ... except ModuleNotFoundError as error:
    ...     print(error.name)
    horovod
    """

    def __init__(self):
        super().__init__(load("horovod", "HOROVOD_WITH_MXNET=1 pip install --no-cache-dir horovod"))

    def broadcast(self, key, value, out, priority=0):
        """Give the `value` of worker 0, an NDArray, to the arrays `out` of all workers."""
        targets = as_list("out", out)
        result = self._module.broadcast(tensor=as_list("value", value)[0], root_rank=0, name=name_of(key), priority=priority)
        hand_out(result, targets)

    def pushpull(self, key, value, out=None, priority=0):
        """Add up `value`, an NDArray or a list of them, over arrays and workers, and give the sum
        to the arrays `out` (None: to `value`)."""
        values = as_list("value", value)
        targets = values if out is None else as_list("out", out)
        if out is None and len(values) == 1:
            self._module.allreduce_(values[0], average=False, name=name_of(key), priority=priority)
            return
        total = values[0]
        for other in values[1:]:
            total = total + other.as_in_context(total.context)
        hand_out(self._module.allreduce(total, average=False, name=name_of(key), priority=priority), targets)

    def set_optimizer(self, optimizer):
        """Does nothing: the workers run the optimizer."""

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Does nothing: the workers have the states (Trainer.save_states)."""

    def load_optimizer_states(self, fname):
        """Does nothing: the workers have the states (Trainer.load_states)."""
