"""The bases of recurrent cells: what they begin with, how they count, and how they unroll."""
from ... import ndarray as nd
from ...util import accepts_device
from ..block import Block, HybridBlock
from ..parameter import tensor_types
from ._sequence import batch_axis_of, batch_size_of, join_steps, make_states, mask_steps, module_of, split_steps, zeros_beside

__all__ = ['RecurrentCell', 'HybridRecurrentCell']


class RecurrentCell(Block):
    """Base of cells. `cell(inputs, states)` returns (output, list of new states); subclasses define
    that and `state_info`.

    >>> class Sum(mx.gluon.rnn.RecurrentCell):
    ...     def state_info(self, batch_size=0):
    ...         return [{'shape': (batch_size, 1), '__layout__': 'NC'}]
    ...     def forward(self, inputs, states):
    ...         total = inputs + states[0]
    ...         return total, [total]
    >>> cell = Sum()
    >>> cell.reset()
    >>> outputs, states = cell.unroll(3, mx.nd.array([[[1], [2], [3]]]))
    >>> [int(output.asscalar()) for output in outputs]
    [1, 3, 6]
    """

    _numbering = frozenset(('_counter', '_init_counter'))

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._modified = False    # a ModifierCell around this one makes the states
        self.reset()

    def reset(self):
        """Forget everything about the steps so far; before the cell is used for another
        sequence."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            if hasattr(cell, 'reset'):
                cell.reset()

    def state_info(self, batch_size=0):
        """A list with {'shape', '__layout__'} of every state.

        >>> mx.gluon.rnn.GRUCell(16).state_info(batch_size=3)
        [{'shape': (3, 16), '__layout__': 'NC'}]
        """
        raise NotImplementedError(f'[gluon.rnn] {type(self).__name__} does not define state_info')

    @accepts_device
    def begin_state(self, batch_size=0, func=None, **kwargs):
        """The first states, made by `func(name=, shape=, **kwargs)`, e.g. `mx.nd.zeros` or
        `mx.sym.var`; by default zeros of the class that Gluon makes. AssertionError below a
        ModifierCell.

        >>> cell = mx.gluon.rnn.LSTMCell(16)
        >>> [state.shape for state in cell.begin_state(batch_size=3)]
        [(3, 16), (3, 16)]
        """
        self._check_unmodified()
        described = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            described.append({'name': f'{self._prefix}begin_state_{self._init_counter}', **info, **kwargs})
        return make_states(func, described)

    def _check_unmodified(self):
        assert not self._modified, f'[gluon.rnn] {self.name!r} is inside a ModifierCell (e.g. ZoneoutCell); call that one instead'

    def _states_for(self, inputs, layout, begin_state):
        """`begin_state`, or zeros that fit the sequence `inputs`."""
        if begin_state is not None:
            return begin_state
        first = inputs if isinstance(inputs, tensor_types) else inputs[0]
        F = module_of(first)
        place = {'ctx': first.context, 'dtype': first.dtype} if F is nd else {}
        return self.begin_state(batch_size=batch_size_of(inputs, layout),
                                func=zeros_beside(first, batch_axis_of(inputs, layout)), **place)

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None, valid_length=None):
        """Run `length` steps.

        Parameters
        ----------
        inputs : NDArray, Symbol or list of them
            One array with a time axis where `layout` has T, or one array (N, ...) per step.
        begin_state : list, optional
            The first states; zeros by default.
        layout : str
            'NTC' or 'TNC', for inputs and merged outputs.
        merge_outputs : bool, optional
            Return one array with a time axis (True) or a list (False); None leaves it to the cell.
        valid_length : NDArray or Symbol, optional
            Length of every sequence, shape (N,): outputs behind it are 0, and the states are those
            at it.

        Returns (outputs, states). AssertionError when `length` is not the number of steps in
        `inputs`.

        Examples
        --------
        >>> cell = mx.gluon.rnn.RNNCell(2)
        >>> cell.initialize()
        >>> sequences, lengths = mx.nd.ones((3, 5, 4)), mx.nd.array([5, 2, 1])
        >>> outputs, states = cell.unroll(5, sequences, merge_outputs=True, valid_length=lengths)
        >>> outputs.shape, int(abs(outputs[2, 1:]).sum().asscalar())
        ((3, 5, 2), 0)
        """
        self.reset()
        steps = split_steps(length, inputs, layout)
        states = self._states_for(steps, layout, begin_state)
        outputs, history = [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            if valid_length is not None:
                history.append(states)
        if valid_length is not None:
            F = module_of(steps[0])
            states = [F.SequenceLast(F.stack(*kept, axis=0), sequence_length=valid_length, use_sequence_length=True, axis=0)
                      for kept in zip(*history)]
            outputs = mask_steps(length, outputs, layout, valid_length)
        return self._arranged(length, outputs, layout, merge_outputs), states

    @staticmethod
    def _arranged(length, outputs, layout, merge_outputs):
        """`outputs` as `merge_outputs` says."""
        if merge_outputs is None:
            return outputs
        return (join_steps if merge_outputs else split_steps)(length, outputs, layout)

    def _get_activation(self, F, inputs, activation, **kwargs):
        """`activation`, a name or a block, of `inputs`."""
        if not isinstance(activation, str):
            return activation(inputs)
        if activation in ('tanh', 'relu', 'sigmoid', 'softsign'):
            return getattr(F, activation)(inputs, **kwargs)
        if activation == 'leaky':
            return F.LeakyReLU(inputs, act_type='leaky', **kwargs)
        return F.Activation(inputs, act_type=activation, **kwargs)

    def forward(self, inputs, states):
        """One step; counts it, for the names of operators."""
        self._counter += 1
        return super().forward(inputs, states)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """Base of cells that compile: subclasses define `hybrid_forward(F, inputs, states, **params)`
    and `state_info`.

    >>> class Sum(mx.gluon.rnn.HybridRecurrentCell):
    ...     def state_info(self, batch_size=0):
    ...         return [{'shape': (batch_size, 1), '__layout__': 'NC'}]
    ...     def hybrid_forward(self, F, inputs, states):
    ...         total = F.broadcast_add(inputs, states[0])
    ...         return total, [total]
    >>> outputs, states = Sum().unroll(3, mx.nd.array([[[1], [2], [3]]]), merge_outputs=True)
    >>> outputs[0, :, 0].asnumpy()
    array([1., 3., 6.], dtype=float32)
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # RecurrentCell.forward only counts: it is no computation to trace.
        cls._traces_forward = cls._traces_forward and cls.forward is not RecurrentCell.forward

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def _named(self, what):
        """Name of the operator `what` of the present step, within this block's name scope."""
        return f't{self._counter}_{what}'


HybridRecurrentCell._traces_forward = False
HybridRecurrentCell._steps = True    # see _trace._keeps_tuples
