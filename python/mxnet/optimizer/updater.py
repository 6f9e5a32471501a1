"""An optimizer together with the states of the weights that it updates."""
import pickle

from .._display.repr import from_arguments
from ..base import MXNetError, error_class
from ..ndarray import NDArray
from ._states_reader import read_states
from .base import Optimizer

__all__ = ["Updater", "get_updater"]


class Updater:
    """Updates weights given by index; makes the state of each at its first update.

    Parameters
    ----------
    optimizer : Optimizer
        Makes the steps.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> updater = mx.optimizer.Updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> updater(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy()
    array([0.5, 1.5], dtype=float32)
    """

    for_store = False
    """The weights are a store's, one of each index wherever it lies, and not one device's copies: their updates are counted together."""

    part = 0
    """Of a server's store: the part of the weights that this updater has. Each counts its own updates."""

    __repr__ = from_arguments()

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
        self.optimizer._set_current_context(self.part if self.for_store else weights[0].context.device_id)
        for i, w in zip(indices, weights):
            if i not in self.states:
                self.states[i] = self.optimizer.create_state_multi_precision(i, w)
                self.states_synced[i] = True
            elif not self.states_synced[i]:
                self._check_state(i, self.states[i], w)
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
        """Split into lists of at most ``aggregate_num`` that can share an operator: the same
        device, dtype and storage."""
        kinds = {}
        for entry in zip(indices, weights, grads):
            kinds.setdefault((entry[1].context, entry[1].dtype, entry[1].stype, entry[2].stype), []).append(entry)
        size = self.optimizer.aggregate_num
        for entries in kinds.values():
            for start in range(0, len(entries), size):
                yield tuple(map(list, zip(*entries[start:start + size])))

    def sync_state_context(self, state, context):
        """The state with every array moved to `context`.

        >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=.9))
        >>> state = updater.sync_state_context((mx.nd.ones(2), None), mx.cpu(1))
        >>> state[0].context
        cpu(1)
        """
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def _check_state(self, index, state, weight, optimizer=None, known=None):
        """A loaded state must have the shapes that the optimizer would make for this weight.
        `known`: those for other weights, where nothing but the weight decides."""
        of_weight = weight.shape, weight.dtype, weight.stype
        expected = None if known is None else known.get(of_weight)
        if expected is None:
            expected = _shapes((optimizer or self.optimizer).create_state_multi_precision(index, weight))
            if known is not None:
                known[of_weight] = expected
        given = _shapes(state)
        # one more or one less is another setting, such as momentum, which the optimizer itself
        # looks at
        if len(given) == len(expected) and given != expected:
            raise MXNetError(f"[optimizer] the loaded state of weight {index!r} has shapes {given}; "
                             f"a weight of shape {weight.shape} needs {expected}")

    def set_states(self, states, weights=None):
        """Take over what :meth:`get_states` returned; with it the optimizer, if it is in there.

        The bytes are a pickle, but are read without running what they say: they may hold arrays,
        numbers, and optimizers and schedules whose classes the program has. Where the environment
        has ``PS_ACCEPT_PICKLE=1`` they may hold anything, and can run any code then.

        With `weights`, a dictionary from index to NDArray, states of other shapes are refused here
        and not at the next update. After an error the updater is as it was.

        Raises
        ------
        MXNetError
            for bytes that are no states, or states of other weights.
        """
        self._take(*read_states(states, self.optimizer), weights)

    def _take(self, states, optimizer, weights=None):
        """Go on from these states."""
        # MXNet 1.x wrote the keys of a KVStore with names as bytes
        states = {k.decode() if isinstance(k, bytes) else k: v for k, v in states.items()}
        ours = type(optimizer or self.optimizer).__module__.startswith("mxnet.optimizer.")
        known = {} if ours else None
        for index, weight in (weights or {}).items():
            if index in states:
                self._check_state(index, states[index], weight, optimizer, known)
        self.states, self.states_synced = states, dict.fromkeys(states, False)
        if optimizer is not None:
            self.optimizer = optimizer
            if self.for_store:
                optimizer._count_on([0])
            self.aggregate_updates = optimizer.aggregate_num > 0

    def get_states(self, dump_optimizer=False):
        """All states, and the optimizer if `dump_optimizer`, pickled to bytes.

        >>> weight = mx.nd.array([1, 2])
        >>> update = mx.optimizer.get_updater(mx.optimizer.Adam())
        >>> update(0, mx.nd.ones(2), weight)
        >>> again = mx.optimizer.get_updater(mx.optimizer.Adam())
        >>> again.set_states(update.get_states())
        >>> list(again.states)
        [0]
        """
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states, protocol=4)     # which 1.9.1 reads


def _shapes(state):
    """Shapes of the arrays in a state, in order."""
    if isinstance(state, (tuple, list)):
        if all(isinstance(part, NDArray) for part in state):    # in most files, all of them
            return [part.shape for part in state]
        return [shape for part in state for shape in _shapes(part)]
    return [] if state is None else [getattr(state, "shape", ())]


def _classic(array):
    """An mxnet.numpy array as the classic array on the same memory; others as they are."""
    convert = getattr(array, "as_nd_ndarray", None)
    return array if convert is None else convert()


def get_updater(optimizer):
    """An :class:`Updater`: a function ``(index, grad, weight)`` that a KVStore accepts too.

    >>> weight = mx.nd.array([1, 2])
    >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> updater(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy()
    array([0.5, 1.5], dtype=float32)
    """
    if not isinstance(optimizer, Optimizer):
        raise error_class(TypeError, AttributeError)(f"[get_updater] {type(optimizer).__name__} was given; an Optimizer is expected")
    return Updater(optimizer)
