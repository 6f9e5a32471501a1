"""The store 'byteps': sums over workers by the package BytePS."""
from ._interface import KVStoreBase
from ._packages import PackageStore, as_list, hand_out, load, name_of
from ..base import CheckedValueError

__all__ = ["BytePS"]


@KVStoreBase.register
class BytePS(PackageStore):
    """Sums over the workers of a job of ``bpslaunch``, on spare CPUs (Jiang et al., OSDI 2020).
    Each worker has one GPU.

    BytePS's part for this package must have been compiled for this library. Raises
    ModuleNotFoundError where ``byteps.mxnet`` cannot be imported.

    >>> try:
    ...     store = mx.kv.create('byteps')
    ... except ModuleNotFoundError as error:
    ...     print(error.name)
    byteps
    """

    def __init__(self):
        super().__init__(load("byteps", "pip install byteps"))

    def _one_on_gpu(self, value):
        values = as_list("value", value)
        if len(values) > 1 or values[0].context.device_type != "gpu":
            raise CheckedValueError(f"[kvstore] BytePS got {len(values)} arrays on {values[0].context}; accepted: one, on a GPU")
        return values[0]

    def _sum(self, name, value, priority):
        self._module.byteps_declare_tensor(name)
        self._module.byteps_push_pull(value, version=0, priority=priority, name=name, is_average=False)

    def broadcast(self, key, value, out, priority=0):
        """Give the `value` of worker 0, an NDArray of a GPU, to the arrays `out` of all workers."""
        targets = as_list("out", out)
        value = self._one_on_gpu(value)
        total = value.copy() if self.rank == 0 else value.zeros_like()     # the others add nothing
        self._sum(f"broadcast_{name_of(key)}", total, priority)
        hand_out(total, targets)

    def pushpull(self, key, value, out=None, priority=0):
        """Add up `value`, an NDArray of a GPU, over the workers, and give the sum to the arrays
        `out` (None: to `value`)."""
        value = self._one_on_gpu(value)
        total = value if out is None else value.copy()
        self._sum(name_of(key), total, priority)
        if out is not None:
            hand_out(total, as_list("out", out))

    def set_optimizer(self, optimizer):
        """Raises NotImplementedError: the workers run the optimizer."""
        raise NotImplementedError("[kvstore] BytePS runs no optimizer; a Trainer with update_on_kvstore=False is accepted")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Raises NotImplementedError: the workers have the states."""
        raise NotImplementedError("[kvstore] BytePS has no states of an optimizer; Trainer.save_states writes those of the workers")

    def load_optimizer_states(self, fname):
        """Raises NotImplementedError: the workers have the states."""
        raise NotImplementedError("[kvstore] BytePS has no states of an optimizer; Trainer.load_states reads those of the workers")
