"""Recurrent cells that make symbols."""
import warnings

from .. import initializer, ndarray as nd, symbol
from ..attribute import AttrScope
from ..base import CheckedValueError, public_home as _public_home
from ..symbol import Symbol
from ._cell_base import BaseRNNCell, RNNParams, _GATES, _GatedCell, _merged, _normalize_sequence, _steps, _time_axis

__all__ = ['RNNParams', 'BaseRNNCell', 'RNNCell', 'LSTMCell', 'GRUCell', 'FusedRNNCell', 'SequentialRNNCell', 'DropoutCell', 'ModifierCell',
           'ZoneoutCell', 'ResidualCell', 'BidirectionalCell']

_public_home(globals(), ['RNNParams', 'BaseRNNCell'])


class RNNCell(_GatedCell):
    """h' = activation(W x + b + U h + c); input (N, C), output and state (N, num_hidden).

    >>> cell = mx.rnn.RNNCell(16, prefix='a_')
    >>> output, states = cell(mx.sym.Variable('x'), cell.begin_state())
    >>> output.list_arguments()[:2]
    ['x', 'a_i2h_weight']
    """

    _mode = 'rnn_tanh'

    def __init__(self, num_hidden, activation='tanh', prefix='rnn_', params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    def __call__(self, inputs, states):
        i2h, h2h, name = self._products(inputs, states[0])
        output = self._get_activation(i2h + h2h, self._activation, name=name + 'out')
        return output, [output]


class LSTMCell(_GatedCell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), gates in the order i f c o; the
    bias of f starts at `forget_bias`.

    >>> cell = mx.rnn.LSTMCell(16)
    >>> outputs, states = cell.unroll(3, mx.sym.Variable('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 16)]
    """

    _mode = 'lstm'

    def __init__(self, num_hidden, prefix='lstm_', params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params, init=initializer.LSTMBias(forget_bias=forget_bias))

    @property
    def state_info(self):
        return super().state_info * 2

    def __call__(self, inputs, states):
        i2h, h2h, name = self._products(inputs, states[0])
        output, cell = self._lstm(i2h + h2h, states[1], name)
        return output, [output, cell]


class GRUCell(_GatedCell):
    """Gated recurrent unit (Cho et al., 2014), gates in the order r z o; the reset gate acts after
    the product.

    >>> cell = mx.rnn.GRUCell(16, prefix='a_')
    >>> outputs, states = cell.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 16)]
    """

    _mode = 'gru'
    _mark = '_'

    def __init__(self, num_hidden, prefix='gru_', params=None):
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs, states):
        i2h, h2h, name = self._products(inputs, states[0])
        output = self._gru(i2h, h2h, states[0], name)
        return output, [output]


class FusedRNNCell(BaseRNNCell):
    """Layers over whole sequences in the operator RNN; only `unroll` runs it.

    Parameters
    ----------
    num_hidden, num_layers : int
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
    bidirectional : bool
    dropout : float
        Between layers, in training.
    get_next_state : bool
        Return the last states too.
    forget_bias : float
        What the bias of the lstm's forget gates starts at.

    Examples
    --------
    >>> cell = mx.rnn.FusedRNNCell(16, num_layers=2, mode='gru')
    >>> outputs, states = cell.unroll(3, mx.sym.Variable('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 16)]
    """

    def __init__(self, num_hidden, num_layers=1, mode='lstm', bidirectional=False, dropout=0.0, get_next_state=False, forget_bias=1.0,
                 prefix=None, params=None):
        if mode not in _GATES:
            raise ValueError(f'[rnn.FusedRNNCell] mode {mode!r} given; {", ".join(_GATES)} are accepted')
        super().__init__(prefix=f'{mode}_' if prefix is None else prefix, params=params)
        self._num_hidden, self._num_layers, self._mode, self._bidirectional = num_hidden, num_layers, mode, bidirectional
        self._dropout, self._get_next_state, self._forget_bias = dropout, get_next_state, forget_bias
        self._init = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self._params.get('parameters', init=self._init)

    @property
    def state_info(self):
        shape = (self._num_layers * (2 if self._bidirectional else 1), 0, self._num_hidden)
        return [{'shape': shape, '__layout__': 'LNC'} for _ in range(2 if self._mode == 'lstm' else 1)]

    @property
    def _gate_names(self):
        return list(_GATES[self._mode])

    @property
    def _directions(self):
        return ['l', 'r'] if self._bidirectional else ['l']

    def unpack_weights(self, args):
        args = dict(args)
        vector = args.pop(self._prefix + 'parameters')
        at = 0
        for name, shape in self._init._parts(vector.size):
            size = shape[0] if len(shape) == 1 else shape[0] * shape[1]
            args[self._prefix + name] = vector[at:at + size].reshape(shape).copy()
            at += size
        return args

    def pack_weights(self, args):
        args = dict(args)
        gates, sides = self._gate_names, 2 if self._bidirectional else 1
        inputs = args[f'{self._prefix}l0_i2h{gates[0]}_weight'].shape[1]
        rows, h = len(gates) * self._num_hidden * sides, self._num_hidden
        size = rows * (inputs + h + 2 + (self._num_layers - 1) * (h * sides + h + 2))
        args[self._prefix + 'parameters'] = nd.concat(*[args.pop(self._prefix
                                                                 + name).reshape((-1,))
                                                        for name, _ in self._init._parts(size)],
                                                      dim=0)
        return args

    def __call__(self, inputs, states):
        raise NotImplementedError('[rnn.FusedRNNCell] cannot be stepped; use unroll')

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        if _time_axis(layout) > 1:      # RNN reads TNC
            raise CheckedValueError(f'[rnn.FusedRNNCell] layout {layout!r} given; TNC and NTC are accepted')
        if not isinstance(inputs, Symbol):
            _steps(length, inputs, layout)    # checks their number
        if _time_axis(layout) == 1:
            warnings.warn('NTC layout detected. Consider using TNC for FusedRNNCell for faster speed', stacklevel=2)
        data = _merged(inputs, layout)
        if _time_axis(layout) == 1:
            data = symbol.swapaxes(data, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        states = dict(zip(('state', 'state_cell'), states))
        with AttrScope(**({'__layout__': 'LNC'} if self._get_next_state else {})):
            rnn = symbol.RNN(data=data, parameters=self._parameter, state_size=self._num_hidden, num_layers=self._num_layers,
                             bidirectional=self._bidirectional, p=self._dropout, state_outputs=self._get_next_state, mode=self._mode,
                             name=self._prefix + 'rnn', **states)
        outputs, last = rnn, []
        if self._get_next_state:
            outputs, last = rnn[0], [rnn[i + 1] for i in range(len(states))]
        if _time_axis(layout) == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return _normalize_sequence(length, outputs, layout, merge_outputs)[0], last

    def unfuse(self):
        """The same network as a SequentialRNNCell of single cells; `pack_weights` and
        `unpack_weights` convert the parameters.

        >>> stack = mx.rnn.FusedRNNCell(16, num_layers=2, mode='lstm', prefix='a_').unfuse()
        >>> outputs, states = stack.unroll(3, mx.sym.var('x'), merge_outputs=True)
        >>> outputs.infer_shape(x=(2, 3, 8))[1]
        [(2, 3, 16)]
        """
        stack = SequentialRNNCell()
        make = {'rnn_relu': lambda prefix: RNNCell(self._num_hidden, activation='relu', prefix=prefix),
                'rnn_tanh': lambda prefix: RNNCell(self._num_hidden, activation='tanh', prefix=prefix),
                'lstm': lambda prefix: LSTMCell(self._num_hidden, prefix=prefix, forget_bias=self._forget_bias),
                'gru': lambda prefix: GRUCell(self._num_hidden, prefix=prefix)}[self._mode]
        for layer in range(self._num_layers):
            cell = make(f'{self._prefix}l{layer}_')
            if self._bidirectional:
                cell = BidirectionalCell(cell, make(f'{self._prefix}r{layer}_'), output_prefix=f'{self._prefix}bi_l{layer}_')
            stack.add(cell)
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f'{self._prefix}_dropout{layer}_'))
        return stack


# What a cell that is made of cells asks all of them for. Such cells of old programs call these.
def _cells_state_info(cells):
    return [info for cell in cells for info in cell.state_info]


def _cells_state_shape(cells):
    return [shape for cell in cells for shape in cell.state_shape]


def _cells_begin_state(cells, **kwargs):
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


def _cells_unpack_weights(cells, args):
    for cell in cells:
        args = cell.unpack_weights(args)
    return args


def _cells_pack_weights(cells, args):
    for cell in cells:
        args = cell.pack_weights(args)
    return args


class _CompoundCell(BaseRNNCell):
    """What cells made of cells share."""

    def _below(self):
        return self.__dict__.get('_cells', ())

    def _join(self, cell):
        """Make `cell` a part; Parameters come from this cell's `params`, if it was given some, or
        from the parts."""
        if self._shares:
            assert cell._own_params, f'[rnn.{type(self).__name__}] params given here and for a cell inside; one of them is accepted'
            cell.params._params.update(self._params._params)
        self._params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self):
        return _cells_state_info(self._cells)

    def begin_state(self, **kwargs):
        """The first states of all cells, in one list.

        >>> stack = mx.rnn.SequentialRNNCell()
        >>> stack.add(mx.rnn.LSTMCell(8, prefix='a_'))
        >>> stack.add(mx.rnn.GRUCell(4, prefix='b_'))
        >>> [state.name for state in stack.begin_state(func=mx.sym.var)]
        ['a_begin_state_0', 'a_begin_state_1', 'b_begin_state_0']
        """
        self._check_unmodified()
        return _cells_begin_state(self._cells, **kwargs)

    def unpack_weights(self, args):
        return _cells_unpack_weights(self._cells, args)

    def pack_weights(self, args):
        return _cells_pack_weights(self._cells, args)


class SequentialRNNCell(_CompoundCell):
    """Cells one above the other.

    >>> stack = mx.rnn.SequentialRNNCell()
    >>> stack.add(mx.rnn.LSTMCell(16, prefix='a_'))
    >>> stack.add(mx.rnn.GRUCell(4, prefix='b_'))
    >>> outputs, states = stack.unroll(3, mx.sym.Variable('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 4)]
    """

    def __init__(self, params=None):
        super().__init__(prefix='', params=params)
        self._shares = params is not None
        self._cells = []

    def add(self, cell):
        """Put `cell` on top."""
        self._join(cell)

    def __call__(self, inputs, states):
        self._counter += 1
        following, at = [], 0
        for cell in self._cells:
            count = len(cell.state_info)
            inputs, new = cell(inputs, states[at:at + count])
            at += count
            following.extend(new)
        return inputs, following

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        following, at = [], 0
        for number, cell in enumerate(self._cells):
            count = len(cell.state_info)
            inputs, new = cell.unroll(length, inputs, states[at:at + count], layout,
                                      merge_outputs if number == len(self._cells) - 1 else None)
            at += count
            following.extend(new)
        return inputs, following


class DropoutCell(BaseRNNCell):
    """Dropout with probability `dropout` on the input, which is its output.

    >>> stack = mx.rnn.SequentialRNNCell()
    >>> stack.add(mx.rnn.RNNCell(16, prefix='a_'))
    >>> stack.add(mx.rnn.DropoutCell(0.5, prefix='b_'))
    >>> outputs, states = stack.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 16)]
    """

    def __init__(self, dropout, prefix='dropout_', params=None):
        super().__init__(prefix, params)
        assert isinstance(dropout, (int, float)), f'[rnn.DropoutCell] dropout {dropout!r} given; a number is accepted'
        self.dropout = dropout

    @property
    def state_info(self):
        return []

    def __call__(self, inputs, states):
        return symbol.Dropout(data=inputs, p=self.dropout) if self.dropout > 0 else inputs, states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        inputs = _normalize_sequence(length, inputs, layout, merge_outputs)[0]
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, [], layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """Base of cells that change what `base_cell` does; that one keeps the variables.

    >>> class Doubled(mx.rnn.ModifierCell):
    ...     def __call__(self, inputs, states):
    ...         output, states = self.base_cell(inputs, states)
    ...         return 2 * output, states
    >>> cell = Doubled(mx.rnn.RNNCell(16, prefix='a_'))
    >>> outputs, states = cell.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 16)]
    >>> [state.name for state in cell.begin_state(mx.sym.var)], cell.params.get('i2h_weight').name
    (['a_begin_state_1'], 'a_i2h_weight')
    """

    def __init__(self, base_cell):
        base_cell._modified = True
        self.base_cell = base_cell
        super().__init__()

    def _below(self):
        return (self.base_cell,)

    @property
    def params(self):
        """The RNNParams of the base cell."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self):
        return self.base_cell.state_info

    def begin_state(self, init_sym=symbol.zeros, **kwargs):
        """The first states of the base cell, made by `init_sym`."""
        self._check_unmodified()
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(func=init_sym, **kwargs)
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args):
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args):
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Zoneout (Krueger et al., 2016): in training, elements of output and states keep the value of
    the step before with these probabilities.

    >>> cell = mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(16, prefix='a_'), zoneout_states=0.1)
    >>> outputs, states = cell.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 16)]
    """

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        cells = base_cell._cells if isinstance(base_cell, SequentialRNNCell) else [base_cell]
        assert not any(isinstance(c, (FusedRNNCell, BidirectionalCell)) for c in cells), (
            '[rnn.ZoneoutCell] a cell given that cannot be stepped; unfuse a FusedRNNCell, and put ZoneoutCells inside a BidirectionalCell')
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states

    def reset(self):
        super().reset()
        self.prev_output = None

    def __call__(self, inputs, states):
        output, following = self.base_cell(inputs, states)

        def zoned(p, new, old):    # Dropout of ones is 0 where the old value stays
            return symbol.where(symbol.Dropout(symbol.ones_like(new), p=p), new, old) if p else new
        previous = symbol.zeros_like(output) if self.prev_output is None else self.prev_output
        self.prev_output = output = zoned(self.zoneout_outputs, output, previous)
        return output, [zoned(self.zoneout_states, new, old) for new, old in zip(following, states)]


class ResidualCell(ModifierCell):
    """Adds the input to the output of the base cell.

    >>> cell = mx.rnn.ResidualCell(mx.rnn.GRUCell(8, prefix='a_'))
    >>> outputs, states = cell.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 8))[1]
    [(2, 3, 8)]
    """

    def __call__(self, inputs, states):
        output, states = self.base_cell(inputs, states)
        return symbol.elemwise_add(output, inputs, name=f'{output.name}_plus_residual'), states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        outputs, states = self.base_cell.unroll(length, inputs, states, layout, merge_outputs)
        if isinstance(outputs, Symbol):
            return symbol.elemwise_add(outputs, _merged(inputs, layout), name=f'{outputs.name}_plus_residual'), states
        return [symbol.elemwise_add(o, i, name=f'{o.name}_plus_residual') for o, i in zip(outputs, _steps(length, inputs, layout))], states


class BidirectionalCell(_CompoundCell):
    """`l_cell` forwards and `r_cell` backwards, their outputs joined (Schuster and Paliwal, 1997);
    only `unroll` runs it. The states that it returns are a list of two lists.

    >>> forwards, backwards = mx.rnn.GRUCell(8, prefix='l_'), mx.rnn.GRUCell(8, prefix='r_')
    >>> cell = mx.rnn.BidirectionalCell(forwards, backwards)
    >>> outputs, states = cell.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(2, 3, 4))[1]
    [(2, 3, 16)]
    """

    def __init__(self, l_cell, r_cell, params=None, output_prefix='bi_'):
        super().__init__('', params=params)
        self._shares = params is not None
        self._output_prefix = output_prefix
        self._cells = []
        self._join(l_cell)
        self._join(r_cell)

    def __call__(self, inputs, states):
        raise NotImplementedError('[rnn.BidirectionalCell] cannot be stepped, because it reads sequences from both ends; use unroll')

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        steps = _steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        l_cell, r_cell = self._cells
        count = len(l_cell.state_info)
        l_out, l_states = l_cell.unroll(length, steps, states[:count], layout, merge_outputs)
        r_out, r_states = r_cell.unroll(length, steps[::-1], states[count:], layout, merge_outputs)
        merged = isinstance(l_out, Symbol) and isinstance(r_out, Symbol) if merge_outputs is None else merge_outputs
        if merged:
            r_out = symbol.reverse(_merged(r_out, layout), axis=_time_axis(layout))
            outputs = symbol.concat(_merged(l_out, layout), r_out, dim=2, name=f'{self._output_prefix}out')
        else:
            l_out, r_out = (_steps(length, out, layout, symbol.SliceChannel) for out in (l_out, r_out))
            outputs = [symbol.concat(left, right, dim=1, name=f'{self._output_prefix}t{i}')
                       for i, (left, right) in enumerate(zip(l_out, r_out[::-1]))]
        return outputs, [l_states, r_states]
