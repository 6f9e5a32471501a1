"""Recurrent cells: one step at a time, or unrolled over a sequence."""
# ruff: noqa: F401  (programs of 1.x take from this module what it imports)
from ... import ndarray as nd
from ...base import public_home as _public_home
from ...util import accepts_device
from ..block import Block, HybridBlock
from ..parameter import tensor_types
from ..utils import _indent
from ._cell_base import HybridRecurrentCell, RecurrentCell
from ._sequence import _cells_begin_state, _cells_state_info, _format_sequence, _get_begin_state
from ._sequence import _mask_sequence_variable_length, _reverse_sequences
from ._sequence import batch_size_of, join_steps, make_states, mask_steps, module_of, split_steps, zeros_beside

__all__ = ['RecurrentCell', 'HybridRecurrentCell', 'RNNCell', 'LSTMCell', 'GRUCell', 'SequentialRNNCell', 'HybridSequentialRNNCell',
           'DropoutCell', 'ModifierCell', 'ZoneoutCell', 'ResidualCell', 'BidirectionalCell']

_public_home(globals(), ['RecurrentCell', 'HybridRecurrentCell'])


class _GatedCell(HybridRecurrentCell):
    """What the cells with two products, input to hidden and hidden to hidden, share: `gates` rows
    of weights per hidden unit."""

    _gates = 1

    def __init__(self, hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                 input_size, prefix, params):
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        rows = self._gates * hidden_size
        self._declare('i2h_weight', (rows, input_size), i2h_weight_initializer)
        self._declare('h2h_weight', (rows, self._state_size()), h2h_weight_initializer)
        self._declare_more()
        self._declare('i2h_bias', (rows,), i2h_bias_initializer)
        self._declare('h2h_bias', (rows,), h2h_bias_initializer)

    def _declare(self, name, shape, init):
        setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _declare_more(self):
        """Parameters of a subclass between weights and biases."""

    def _state_size(self):
        return self._hidden_size

    def state_info(self, batch_size=0):
        return [{'shape': (batch_size, self._state_size()), '__layout__': 'NC'}]

    def _products(self, F, inputs, state, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        rows = self._gates * self._hidden_size
        return (F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=rows, name=self._named('i2h')),
                F.FullyConnected(data=state, weight=h2h_weight, bias=h2h_bias, num_hidden=rows, name=self._named('h2h')))

    def __repr__(self):
        shape = self.i2h_weight.shape
        return f'{type(self).__name__}({shape[1] or None} -> {shape[0]}{self._repr_more()})'

    def _repr_more(self):
        return ''


class RNNCell(_GatedCell):
    """h' = activation(W x + b + U h + c) (Elman, 1990). Input (N, input_size); output and the one
    state (N, hidden_size).

    >>> cell = mx.gluon.rnn.RNNCell(16)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((3, 8)), cell.begin_state(batch_size=3))
    >>> output.shape, len(states)
    ((3, 16), 1)
    """

    def __init__(self, hidden_size, activation='tanh', i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer='zeros', h2h_bias_initializer='zeros', input_size=0, prefix=None, params=None):
        super().__init__(hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                         input_size, prefix, params)
        self._activation = activation

    def _alias(self):
        return 'rnn'

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        output = self._get_activation(F, F.elemwise_add(i2h, h2h, name=self._named('plus0')), self._activation, name=self._named('out'))
        return output, [output]

    def _repr_more(self):
        return f', {self._activation}'


class LSTMCell(_GatedCell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), gates in the order i f g o: c' = f
    c + i g, h' = o activation(c').

    Input (N, input_size); output (N, hidden_size); the states h and c have the output's shape.
    `activation` is that of g and of c', `recurrent_activation` that of i, f and o.

    >>> cell = mx.gluon.rnn.LSTMCell(16)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(5, mx.nd.ones((3, 5, 8)), merge_outputs=True)
    >>> outputs.shape, [state.shape for state in states]
    ((3, 5, 16), [(3, 16), (3, 16)])
    """

    _gates = 4

    def __init__(self, hidden_size, i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros',
                 h2h_bias_initializer='zeros', input_size=0, prefix=None, params=None, activation='tanh', recurrent_activation='sigmoid'):
        super().__init__(hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                         input_size, prefix, params)
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def state_info(self, batch_size=0):
        return super().state_info(batch_size) + [{'shape': (batch_size, self._hidden_size), '__layout__': 'NC'}]

    def _alias(self):
        return 'lstm'

    def _gate(self, F, gate, activation, name):
        return self._get_activation(F, gate, activation, name=name)

    def _memory(self, F, gates, cell, name, numbered=True):
        """(new cell state, hidden state made by an operator called `name`); the operators between
        have the step in their names if `numbered`."""
        i, f, g, o = F.SliceChannel(gates, num_outputs=4, name=self._named('slice'))
        i = self._gate(F, i, self._recurrent_activation, name=self._named('i'))
        f = self._gate(F, f, self._recurrent_activation, name=self._named('f'))
        g = self._gate(F, g, self._activation, name=self._named('c'))
        o = self._gate(F, o, self._recurrent_activation, name=self._named('o'))
        if numbered:
            kept, added = F.elemwise_mul(f, cell, name=self._named('mul0')), F.elemwise_mul(i, g, name=self._named('mul1'))
        else:
            kept, added = f * cell, i * g
        cell = F.elemwise_add(kept, added, name=self._named('state'))
        named = {'name': self._named('activation0')} if numbered else {}
        if self._activation in ('tanh', 'relu', 'sigmoid', 'softsign'):     # as the graphs of 1.9.1 have it
            active = F.Activation(cell, act_type=self._activation, **named)
        else:
            active = self._get_activation(F, cell, self._activation, **named)
        return cell, F.elemwise_mul(o, active, name=self._named(name))

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        cell, output = self._memory(F, F.elemwise_add(i2h, h2h, name=self._named('plus0')), states[1], 'out')
        return output, [output, cell]


class GRUCell(_GatedCell):
    """Gated recurrent unit (Cho et al., 2014) with the reset gate after the product: gates in the
    order r z n, n = tanh(W x + b + r (U h + c)), h' = (1 - z) n + z h. Input (N, input_size);
    output and the one state (N, hidden_size).

    `activation` is that of n, `recurrent_activation` that of r and z.

    >>> cell = mx.gluon.rnn.GRUCell(16)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((3, 8)), cell.begin_state(batch_size=3))
    >>> output.shape
    (3, 16)
    """

    _gates = 3
    _activation, _recurrent_activation = 'tanh', 'sigmoid'      # of cells that 1.9.1 pickled

    def __init__(self, hidden_size, i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros',
                 h2h_bias_initializer='zeros', input_size=0, prefix=None, params=None, activation='tanh', recurrent_activation='sigmoid'):
        super().__init__(hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                         input_size, prefix, params)
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def _alias(self):
        return 'gru'

    def _activated(self, F, gate, activation, name):
        if activation in ('tanh', 'sigmoid'):       # as the graphs of 1.9.1 have them
            return F.Activation(gate, act_type=activation, name=self._named(name))
        return self._get_activation(F, gate, activation, name=self._named(name))

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=self._named('i2h_slice'))
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=self._named('h2h_slice'))
        r = self._activated(F, F.elemwise_add(i2h_r, h2h_r, name=self._named('plus0')), self._recurrent_activation, 'r_act')
        z = self._activated(F, F.elemwise_add(i2h_z, h2h_z, name=self._named('plus1')), self._recurrent_activation, 'z_act')
        inner = F.elemwise_add(i2h_n, F.elemwise_mul(r, h2h_n, name=self._named('mul0')), name=self._named('plus2'))
        n = self._activated(F, inner, self._activation, 'h_act')
        new = F.elemwise_sub(F.ones_like(z, name=self._named('ones_like0')), z, name=self._named('minus0'))
        output = F.elemwise_add(F.elemwise_mul(new, n, name=self._named('mul1')),
                                F.elemwise_mul(z, states[0], name=self._named('mul20')),
                                name=self._named('out'))
        return output, [output]


class _Stack:
    """Cells one above the other: what SequentialRNNCell and HybridSequentialRNNCell share."""

    def add(self, cell):
        """Put `cell` on top."""
        self.register_child(cell)

    def __repr__(self):
        cells = '\n'.join(f'({i}): {_indent(repr(cell), 2)}' for i, cell in self._children.items())
        return f'{type(self).__name__}(\n{cells}\n)'

    def state_info(self, batch_size=0):
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    @accepts_device
    def begin_state(self, **kwargs):
        """The first states of all cells, in one list; arguments as of RecurrentCell.begin_state.

        >>> stack = mx.gluon.rnn.HybridSequentialRNNCell()
        >>> stack.add(mx.gluon.rnn.LSTMCell(8))
        >>> stack.add(mx.gluon.rnn.GRUCell(4))
        >>> [state.shape for state in stack.begin_state(batch_size=2)]
        [(2, 8), (2, 8), (2, 4)]
        """
        self._check_unmodified()
        return [state for cell in self._children.values() for state in cell.begin_state(**kwargs)]

    def _run(self, inputs, states):
        self._counter += 1
        following, at = [], 0
        for cell in self._children.values():
            count = len(cell.state_info())
            inputs, new = cell(inputs, states[at:at + count])
            at += count
            following.extend(new)
        return inputs, following

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None, valid_length=None):
        """As RecurrentCell.unroll; each cell runs over the whole sequence before the next one.

        >>> stack = mx.gluon.rnn.SequentialRNNCell()
        >>> stack.add(mx.gluon.rnn.LSTMCell(8))
        >>> stack.add(mx.gluon.rnn.GRUCell(4))
        >>> stack.initialize()
        >>> outputs, states = stack.unroll(5, mx.nd.ones((2, 5, 3)), merge_outputs=True)
        >>> outputs.shape, len(states)
        ((2, 5, 4), 3)
        """
        self.reset()
        states = self._states_for(inputs, layout, begin_state)
        following, at = [], 0
        for number, cell in enumerate(self._children.values()):
            count = len(cell.state_info())
            inputs, new = cell.unroll(length, inputs, states[at:at + count], layout,
                                      merge_outputs if number == len(self._children) - 1 else None, valid_length)
            at += count
            following.extend(new)
        return inputs, following

    def __len__(self):
        return len(self._children)

    def __getitem__(self, i):
        return list(self._children.values())[i]

    def __iter__(self):
        return iter(self._children.values())


class SequentialRNNCell(_Stack, RecurrentCell):
    """Cells one above the other: the output of each is the input of the next.

    >>> stack = mx.gluon.rnn.SequentialRNNCell()
    >>> stack.add(mx.gluon.rnn.LSTMCell(16))
    >>> stack.add(mx.gluon.rnn.GRUCell(4))
    >>> stack.initialize()
    >>> output, states = stack(mx.nd.ones((3, 8)), stack.begin_state(batch_size=3))
    >>> output.shape, len(states)
    ((3, 4), 3)
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def __call__(self, inputs, states):
        return self._run(inputs, states)

    def hybrid_forward(self, *args, **kwargs):
        """Never called: a SequentialRNNCell is not compiled (NotImplementedError);
        HybridSequentialRNNCell is."""
        raise NotImplementedError('[gluon.rnn.SequentialRNNCell] has no graph; use HybridSequentialRNNCell')


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Cells that compile, one above the other: the output of each is the input of the next.

    >>> stack = mx.gluon.rnn.HybridSequentialRNNCell()
    >>> stack.add(mx.gluon.rnn.GRUCell(16))
    >>> stack.add(mx.gluon.rnn.DropoutCell(0.2))
    >>> stack.initialize()
    >>> outputs, states = stack.unroll(5, mx.nd.ones((3, 5, 8)), merge_outputs=True)
    >>> outputs.shape
    (3, 5, 16)
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, inputs, states):
        return self._run(inputs, states)


class DropoutCell(HybridRecurrentCell):
    """Dropout with probability `rate` on the input, which is its output; it has no state. Along
    `axes` one decision holds for all elements; merged sequences keep all their axes.

    >>> cell = mx.gluon.rnn.DropoutCell(0.5)
    >>> output, states = cell(mx.nd.ones((3, 8)), [])
    >>> output.shape
    (3, 8)
    """

    def __init__(self, rate, axes=(), prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        assert isinstance(rate, (int, float)), f'[gluon.rnn.DropoutCell] rate {rate!r} given; a number is accepted'
        self._rate = rate
        self._axes = axes

    def state_info(self, batch_size=0):
        return []

    def _alias(self):
        return 'dropout'

    def hybrid_forward(self, F, inputs, states):
        if self._rate > 0:
            inputs = F.Dropout(data=inputs, p=self._rate, axes=self._axes, name=self._named('fwd'))
        return inputs, states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None, valid_length=None):
        """As RecurrentCell.unroll; a merged sequence is dropped out at once.

        >>> cell = mx.gluon.rnn.DropoutCell(0.5)
        >>> with mx.autograd.train_mode():
        ...     outputs, states = cell.unroll(4, mx.nd.ones((2, 4, 3)), merge_outputs=True)
        >>> outputs.shape, sorted(set(outputs.asnumpy().ravel().tolist()))
        ((2, 4, 3), [0.0, 2.0])
        """
        self.reset()
        inputs = self._arranged(length, inputs, layout, merge_outputs)
        if isinstance(inputs, tensor_types):
            return self.hybrid_forward(module_of(inputs), inputs, begin_state if begin_state else [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs, None)

    def __repr__(self):
        return f'{type(self).__name__}(rate={self._rate}, axes={self._axes})'


class ModifierCell(HybridRecurrentCell):
    """Base of cells that change what `base_cell` does. The base cell keeps the Parameters; its
    states are made here.

    >>> class Doubled(mx.gluon.rnn.ModifierCell):
    ...     def hybrid_forward(self, F, inputs, states):
    ...         output, states = self.base_cell(inputs, states)
    ...         return 2 * output, states
    >>> cell = Doubled(mx.gluon.rnn.GRUCell(8))
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((3, 4)), cell.begin_state(batch_size=3))
    >>> output.shape, len(cell.params)
    ((3, 8), 4)
    """

    def __init__(self, base_cell):
        assert not base_cell._modified, f'[gluon.rnn.ModifierCell] {base_cell.name!r} is inside another ModifierCell already'
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self):
        """The base cell's own Parameters."""
        return self.base_cell.params

    def state_info(self, batch_size=0):
        return self.base_cell.state_info(batch_size)

    @accepts_device
    def begin_state(self, func=None, **kwargs):
        """The first states of the base cell; arguments as of RecurrentCell.begin_state."""
        self._check_unmodified()
        with _Unmodified(self.base_cell):
            return self.base_cell.begin_state(func=func, **kwargs)

    def hybrid_forward(self, F, inputs, states):
        raise NotImplementedError(f'[gluon.rnn.ModifierCell] {type(self).__name__} does not define hybrid_forward')

    def __repr__(self):
        return f'{type(self).__name__}({self.base_cell!r})'


class _Unmodified:
    """A `with` block in which a base cell may be used as if no modifier was around it."""

    def __init__(self, cell):
        self._cell = cell

    def __enter__(self):
        self._cell._modified = False

    def __exit__(self, ptype, value, trace):
        self._cell._modified = True


class ZoneoutCell(ModifierCell):
    """Zoneout (Krueger et al., 2016): in training, every element of the output and of the states
    keeps its value of the step before with probability `zoneout_outputs` and `zoneout_states`.

    >>> cell = mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.GRUCell(8), zoneout_states=0.1)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((3, 8)), cell.begin_state(batch_size=3))
    >>> output.shape
    (3, 8)
    """

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        assert not isinstance(base_cell, BidirectionalCell), (
            '[gluon.rnn.ZoneoutCell] a BidirectionalCell given, which cannot be stepped; put ZoneoutCells around the two cells in it')
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states

    def __repr__(self):
        return f'{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, {self.base_cell!r})'

    def _alias(self):
        return 'zoneout'

    def reset(self):
        super().reset()
        self._prev_output = None    # the output of the step before

    def hybrid_forward(self, F, inputs, states):
        output, following = self.base_cell(inputs, states)

        def zoned(p, new, old):    # Dropout of ones is 0 where the old value stays
            return F.where(F.Dropout(F.ones_like(new), p=p), new, old) if p else new

        previous = self._prev_output
        if not isinstance(previous, type(output)):    # none yet, or one of another mode of running
            previous = F.zeros_like(output)
        output = zoned(self.zoneout_outputs, output, previous)
        following = [zoned(self.zoneout_states, new, old) for new, old in zip(following, states)]
        self._prev_output = output
        return output, following


class ResidualCell(ModifierCell):
    """Adds the input to the base cell's output (He et al., 2015; Wu et al., 2016); both have the
    same size.

    >>> cell = mx.gluon.rnn.ResidualCell(mx.gluon.rnn.GRUCell(8))
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((3, 8)), cell.begin_state(batch_size=3))
    >>> output.shape
    (3, 8)
    """

    def __init__(self, base_cell):
        super().__init__(base_cell)

    def hybrid_forward(self, F, inputs, states):
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=self._named('fwd')), states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None, valid_length=None):
        """As RecurrentCell.unroll; behind `valid_length` the output is 0.

        >>> cell = mx.gluon.rnn.ResidualCell(mx.gluon.rnn.RNNCell(1))
        >>> cell.initialize(mx.init.Zero())
        >>> outputs, states = cell.unroll(3, mx.nd.ones((2, 3, 1)), merge_outputs=True,
        ...                               valid_length=mx.nd.array([3, 1]))
        >>> outputs[:, :, 0].asnumpy()
        array([[1., 1., 1.],
               [1., 0., 0.]], dtype=float32)
        """
        self.reset()
        with _Unmodified(self.base_cell):
            outputs, states = self.base_cell.unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        if isinstance(outputs, tensor_types):
            inputs = join_steps(length, inputs, layout)
            if valid_length is not None:
                inputs = mask_steps(length, inputs, layout, valid_length)
            return module_of(outputs).elemwise_add(outputs, inputs), states
        if valid_length is not None:
            inputs = mask_steps(length, inputs, layout, valid_length)
        inputs = split_steps(length, inputs, layout)
        return [module_of(o).elemwise_add(o, i) for o, i in zip(outputs, inputs)], states


class BidirectionalCell(HybridRecurrentCell):
    """`l_cell` forwards and `r_cell` backwards over a sequence, their outputs joined (Schuster and
    Paliwal, 1997). Only `unroll` runs it.

    >>> cell = mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.GRUCell(8), mx.gluon.rnn.GRUCell(8))
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(5, mx.nd.ones((3, 5, 8)), merge_outputs=True)
    >>> outputs.shape
    (3, 5, 16)
    """

    def __init__(self, l_cell, r_cell, output_prefix='bi_'):
        super().__init__(prefix='', params=None)
        self.register_child(l_cell, 'l_cell')
        self.register_child(r_cell, 'r_cell')
        self._output_prefix = output_prefix

    def __call__(self, inputs, states):
        raise NotImplementedError('[gluon.rnn.BidirectionalCell] cannot be stepped, because it reads sequences from both ends; use unroll')

    def __repr__(self):
        return f'{type(self).__name__}(forward={self._children["l_cell"]!r}, backward={self._children["r_cell"]!r})'

    def state_info(self, batch_size=0):
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    @accepts_device
    def begin_state(self, **kwargs):
        """The first states of both cells, in one list; arguments as of
        RecurrentCell.begin_state.

        >>> cell = mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.LSTMCell(8), mx.gluon.rnn.GRUCell(4))
        >>> [state.shape for state in cell.begin_state(batch_size=3)]
        [(3, 8), (3, 8), (3, 4)]
        """
        self._check_unmodified()
        return [state for cell in self._children.values() for state in cell.begin_state(**kwargs)]

    @staticmethod
    def _reversed(length, steps, valid_length):
        """A list of steps from the last one to the first; with lengths, only the steps before them
        change places."""
        if valid_length is None:
            return list(reversed(steps))
        F = module_of(steps[0])
        turned = F.SequenceReverse(F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True)
        return split_steps(length, turned, 'TNC')

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None, valid_length=None):
        """As RecurrentCell.unroll. A merged output joins the two directions along its last axis,
        steps along axis 1."""
        self.reset()
        steps = split_steps(length, inputs, layout)
        states = self._states_for(steps, layout, begin_state)
        l_cell, r_cell = self._children['l_cell'], self._children['r_cell']
        count = len(l_cell.state_info())
        l_out, l_states = l_cell.unroll(length, steps, states[:count], layout, merge_outputs, valid_length)
        r_out, r_states = r_cell.unroll(length, self._reversed(length, steps, valid_length), states[count:], layout, False, valid_length)
        r_out = self._reversed(length, r_out, valid_length)
        F = module_of(steps[0])
        if isinstance(l_out, tensor_types) if merge_outputs is None else merge_outputs:
            l_out, r_out = join_steps(length, l_out, layout), join_steps(length, r_out, layout)
            outputs = F.concat(l_out, r_out, dim=2, name=f'{self._output_prefix}out')
        else:
            outputs = [F.concat(left, right, dim=1, name=f'{self._output_prefix}t{i}')
                       for i, (left, right) in enumerate(zip(split_steps(length, l_out, layout), r_out))]
        return outputs, l_states + r_states
