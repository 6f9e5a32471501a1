"""An LSTM cell with projection, and dropout that stays the same over a sequence."""
from .... import ndarray as nd
from .... import symbol
from ...rnn._sequence import _format_sequence, _get_begin_state, _mask_sequence_variable_length  # noqa: F401  (taken from here by programs of 1.x)
from ...rnn._sequence import join_steps, mask_steps, module_of, split_steps
from ...rnn.rnn_cell import BidirectionalCell, LSTMCell, ModifierCell, SequentialRNNCell

__all__ = ['VariationalDropoutCell', 'LSTMPCell', 'dynamic_unroll']


class VariationalDropoutCell(ModifierCell):
    """Dropout whose decisions hold for a whole sequence (Gal and Ghahramani, 2016): on inputs, on
    the first state and on outputs of `base_cell`. `reset` draws new ones.

    >>> inner = mx.gluon.rnn.GRUCell(16)
    >>> cell = mx.gluon.contrib.rnn.VariationalDropoutCell(inner, drop_inputs=0.2)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(5, mx.nd.ones((3, 5, 8)), merge_outputs=True)
    >>> outputs.shape
    (3, 5, 16)
    """

    def __init__(self, base_cell, drop_inputs=0.0, drop_states=0.0, drop_outputs=0.0):
        assert not drop_states or not isinstance(base_cell, BidirectionalCell), (
            '[gluon.contrib.rnn.VariationalDropoutCell] drop_states given for a BidirectionalCell, which cannot be stepped; '
            'put VariationalDropoutCells around the two cells in it')
        assert not drop_states or not isinstance(base_cell, SequentialRNNCell) or not any(
            isinstance(cell, BidirectionalCell) for cell in base_cell), (
                '[gluon.contrib.rnn.VariationalDropoutCell] drop_states given for cells with a BidirectionalCell, which cannot be stepped')
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs

    def _alias(self):
        return 'vardrop'

    def reset(self):
        super().reset()
        self._masks = {}

    def _drop(self, F, which, x):
        """`x` with the mask of this sequence, which is made when it is first needed."""
        p = getattr(self, which)
        if not p:
            return x
        mask = self._masks.get(which)
        if not isinstance(mask, type(x)):    # none yet, or one of another mode of running
            mask = self._masks[which] = F.Dropout(F.ones_like(x), p=p)
        return x * mask

    def hybrid_forward(self, F, inputs, states):
        states = list(states)
        if states:
            states[0] = self._drop(F, 'drop_states', states[0])
        output, states = self.base_cell(self._drop(F, 'drop_inputs', inputs), states)
        return self._drop(F, 'drop_outputs', output), states

    def __repr__(self):
        return f'{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})'

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None, valid_length=None):
        """As RecurrentCell.unroll. Without dropout of states, inputs and outputs are dropped out as
        whole sequences, and None for `merge_outputs` is True."""
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.reset()
        axis = layout.find('T')
        inputs = join_steps(length, inputs, layout)
        F = module_of(inputs)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = self.base_cell.unroll(length, inputs,
                                                self._states_for(inputs, layout, begin_state),
                                                layout, True, valid_length)
        outputs = join_steps(length, outputs, layout)
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        if valid_length is not None:
            outputs = mask_steps(length, outputs, layout, valid_length)
        merged = merge_outputs is None or merge_outputs
        return outputs if merged else split_steps(length, outputs, layout), states


class LSTMPCell(LSTMCell):
    """LSTM with a projection of the hidden state (Sak et al., 2014): h' = R (o tanh(c')).

    Input (N, input_size); output and state h (N, projection_size), state c (N, hidden_size).

    >>> cell = mx.gluon.contrib.rnn.LSTMPCell(16, projection_size=4)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((3, 8)), cell.begin_state(batch_size=3))
    >>> output.shape, [state.shape for state in states]
    ((3, 4), [(3, 4), (3, 16)])
    """

    def __init__(self, hidden_size, projection_size, i2h_weight_initializer=None, h2h_weight_initializer=None, h2r_weight_initializer=None,
                 i2h_bias_initializer='zeros', h2h_bias_initializer='zeros', input_size=0, prefix=None, params=None):
        self._projection_size = projection_size
        self._h2r_weight_initializer = h2r_weight_initializer
        super().__init__(hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                         input_size, prefix, params)

    def _state_size(self):
        return self._projection_size

    def _declare_more(self):
        self._declare('h2r_weight', (self._projection_size, self._hidden_size), self._h2r_weight_initializer)

    def _alias(self):
        return 'lstmp'

    def _repr_more(self):
        return f' -> {self._projection_size}'

    def _gate(self, F, gate, activation, name):
        return F.Activation(gate, act_type=activation, name=name)       # as the graphs of 1.9.1 have it

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, h2r_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        cell, hidden = self._memory(F, i2h + h2h, states[1], 'hidden', False)
        output = F.FullyConnected(hidden, h2r_weight, num_hidden=self._projection_size, no_bias=True, name=self._named('out'))
        return output, [output, cell]


def dynamic_unroll(cell, inputs, begin_state, drop_inputs=0, drop_outputs=0, layout='TNC', valid_length=None):
    """Run `cell` over the steps of one array.

    Parameters
    ----------
    inputs : NDArray or Symbol
        With a time axis where `layout` has T. Of a Symbol any number of steps are run
        (contrib.foreach).
    begin_state : list
        The first states.
    drop_inputs, drop_outputs : float
        Dropout in training whose decisions hold for the whole sequence.
    valid_length : NDArray or Symbol, optional
        Length of every sequence, shape (N,): outputs behind it are 0, and the states are those at
        it.

    Returns
    -------
    (NDArray or Symbol, list)
        Outputs in `layout`, and the states behind the last step.

    >>> cell = mx.gluon.rnn.RNNCell(3, input_size=2)
    >>> cell.initialize()
    >>> dynamic_unroll(cell, mx.nd.ones((5, 1, 2)), cell.begin_state(1))[0].shape
    (5, 1, 3)
    """
    if not isinstance(inputs, (nd.NDArray, symbol.Symbol)):
        raise TypeError(f'[gluon.contrib.rnn.dynamic_unroll] inputs of type '
                        f'{type(inputs).__name__} given; an NDArray or a Symbol is accepted')
    F = nd if isinstance(inputs, nd.NDArray) else symbol
    axis = layout.find('T')
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(axis,))
    if F is nd:
        outputs, states = cell.unroll(inputs.shape[axis], inputs, begin_state, layout, True, valid_length)
    else:
        outputs, states = _unroll_symbol(cell, inputs, begin_state, axis, valid_length)
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(axis,))
    return outputs, states


def _unroll_symbol(cell, inputs, begin_state, axis, valid_length):
    """A loop over as many steps as there will be. A sequence that has ended keeps its states."""
    def step(x, carried):
        if valid_length is None:
            return cell(x, carried)
        count, states = carried[0], carried[1:]
        output, new = cell(x, states)
        goes_on = symbol.broadcast_lesser(count, valid_length)
        return output, [count + 1] + [symbol.where(goes_on, a, b) for a, b in zip(new, states)]

    states = list(begin_state)
    if valid_length is not None:
        states.insert(0, symbol.slice_axis(valid_length, axis=0, begin=0, end=1) * 0)
    outputs, states = symbol.contrib.foreach(step, symbol.swapaxes(inputs, 0, axis) if axis else inputs, states)
    if axis:
        outputs = symbol.swapaxes(outputs, 0, axis)
    if valid_length is None:
        return outputs, states
    masked = symbol.SequenceMask(outputs, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return masked, states[1:]
