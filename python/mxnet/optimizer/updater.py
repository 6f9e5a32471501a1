"""An optimizer together with the states of the weights that it updates."""
import pickle

from ..ndarray import NDArray
from .base import Optimizer

__all__ = ["Updater", "get_updater"]


class Updater:
    """Updates weights given by index; makes the state of each at its first update.

    Parameters
    ----------
    optimizer : Optimizer
        Makes the steps.
    """

    for_store = False
    """The weights are a store's, one of each index wherever it lies, and not one device's copies: their updates are counted together."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}         # False: loaded, and maybe on another device than the weight
        self.aggregate_updates = optimizer.aggregate_num > 0

    def __call__(self, index, grad, weight):
        """Update `weight` in place; all three may be lists of the same length."""
        many = isinstance(index, (list, tuple))
        indices, grads, weights = (index, grad, weight) if many else ([index], [grad], [weight])
        if not indices:
            return
        weights = [_classic(w) for w in weights]
        grads = [_classic(g) for g in grads]
        self.optimizer._set_current_context(0 if self.for_store else weights[0].context.device_id)
        for i, w in zip(indices, weights):
            if i not in self.states:
                self.states[i] = self.optimizer.create_state_multi_precision(i, w)
                self.states_synced[i] = True
            elif not self.states_synced[i]:
                self.states[i] = self.sync_state_context(self.states[i], w.context)
                self.states_synced[i] = True
        update = self.optimizer.update_multi_precision
        if not self.aggregate_updates:
            for i, w, g in zip(indices, weights, grads):
                update(i, w, g, self.states[i])
        elif len(indices) == 1:
            update(indices[0], weights[0], grads[0], self.states[indices[0]])
        else:
            for i, w, g in self._groups(indices, weights, grads):
                update(i, w, g, [self.states[j] for j in i])

    def _groups(self, indices, weights, grads):
        """Split into lists of at most ``aggregate_num`` that can share an operator: the same device, dtype and storage."""
        kinds = {}
        for entry in zip(indices, weights, grads):
            kinds.setdefault((entry[1].context, entry[1].dtype, entry[1].stype, entry[2].stype), []).append(entry)
        size = self.optimizer.aggregate_num
        for entries in kinds.values():
            for start in range(0, len(entries), size):
                yield tuple(map(list, zip(*entries[start:start + size])))

    def sync_state_context(self, state, context):
        """The state with every array moved to `context`."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def set_states(self, states):
        """Take over what :meth:`get_states` returned; with it the optimizer, if it is in there."""
        states = pickle.loads(states)
        if isinstance(states, tuple) and len(states) == 2:
            self.states, self.optimizer = states
            if self.for_store:
                self.optimizer._count_on([0])
            self.aggregate_updates = self.optimizer.aggregate_num > 0
        else:
            self.states = states
        # MXNet 1.x wrote the keys of a KVStore with names as bytes
        self.states = {k.decode() if isinstance(k, bytes) else k: v for k, v in self.states.items()}
        self.states_synced = dict.fromkeys(self.states, False)

    def get_states(self, dump_optimizer=False):
        """All states, and the optimizer if `dump_optimizer`, pickled to bytes."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)


def _classic(array):
    """An mxnet.numpy array as the classic array on the same memory; others as they are."""
    convert = getattr(array, "as_nd_ndarray", None)
    return array if convert is None else convert()


def get_updater(optimizer):
    """An :class:`Updater`: a function ``(index, grad, weight)`` that a KVStore accepts too."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"[get_updater] {type(optimizer).__name__} was given; an Optimizer is expected")
    return Updater(optimizer)
