"""Recurrent cells that make symbols."""
from .. import initializer, ndarray as nd, symbol
from ..attribute import AttrScope
from ..symbol import Symbol

__all__ = ['RNNParams', 'BaseRNNCell', 'RNNCell', 'LSTMCell', 'GRUCell', 'FusedRNNCell', 'SequentialRNNCell', 'DropoutCell', 'ModifierCell',
           'ZoneoutCell', 'ResidualCell', 'BidirectionalCell']

_GATES = {'rnn_relu': ('',), 'rnn_tanh': ('',), 'lstm': ('_i', '_f', '_c', '_o'), 'gru': ('_r', '_z', '_o')}


class RNNParams:
    """Variables with names that begin with `prefix`, made when they are first asked for; cells with
    the same ones share weights."""

    def __init__(self, prefix=''):
        self._prefix = prefix
        self._params = {}

    def get(self, name, **kwargs):
        """The variable `prefix + name`; `kwargs` as of `mx.sym.var`."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.var(name, **kwargs)
        return self._params[name]


def _steps(length, inputs, layout):
    """A list with a Symbol per step."""
    axis = _time_axis(layout)
    if isinstance(inputs, Symbol):
        assert len(inputs.list_outputs()) == 1, (
            '[rnn.unroll] a Symbol with several outputs given; one with a time axis, or a list of Symbols, is accepted')
        inputs = symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=True)
        return [inputs[i] for i in range(length)]
    assert len(inputs) == length, f'[rnn.unroll] {len(inputs)} inputs given for length={length}; both have to be equal'
    return list(inputs)


def _merged(inputs, layout):
    """One Symbol with a time axis."""
    axis = _time_axis(layout)
    return inputs if isinstance(inputs, Symbol) else symbol.concat(*[symbol.expand_dims(i, axis=axis) for i in inputs], dim=axis)


def _time_axis(layout):
    assert 'T' in layout, f'[rnn.unroll] layout {layout!r} given; it has to name T (steps)'
    return layout.find('T')


def _arranged(length, outputs, layout, merge_outputs):
    if merge_outputs is None:
        return outputs
    return _merged(outputs, layout) if merge_outputs else _steps(length, outputs, layout)


class BaseRNNCell:
    """Base of cells: `cell(input, states)` returns (output, list of new states).

    Parameters
    ----------
    prefix : str
        Begins the names of variables and operators.
    params : RNNParams, optional
        Shared with another cell.
    """

    def __init__(self, prefix='', params=None):
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False    # a ModifierCell around this one makes the states
        self.reset()

    def _below(self):
        """The cells that this one is made of."""
        return ()

    def reset(self):
        """Start counting steps again, before another graph is made."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._below():
            cell.reset()

    def __call__(self, inputs, states):
        """(output, list of new states) for one step."""
        raise NotImplementedError(f'[rnn] {type(self).__name__} does not define a step')

    @property
    def params(self):
        """The RNNParams; from then on, they count as shared."""
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """A list with {'shape', '__layout__'} of every state; the batch has size 0, which means
        open."""
        raise NotImplementedError(f'[rnn] {type(self).__name__} does not define state_info')

    @property
    def state_shape(self):
        """The shapes of the states."""
        return [info['shape'] for info in self.state_info]

    @property
    def _gate_names(self):
        return ()

    def _check_unmodified(self):
        assert not self._modified, f'[rnn] {self._prefix!r} is inside a ModifierCell (e.g. ZoneoutCell); call that one instead'

    def begin_state(self, func=symbol.zeros, **kwargs):
        """The first states, made by `func(name=, shape=, **kwargs)`, e.g. `mx.sym.zeros` or
        `mx.sym.var`."""
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            states.append(func(name=f'{self._prefix}begin_state_{self._init_counter}', **{**info, **kwargs}))
        return states

    def unpack_weights(self, args):
        """`args` ({name: NDArray}) with one array per gate in the place of those of this cell."""
        args = dict(args)
        gates = self._gate_names
        for side in ('i2h', 'h2h') if gates else ():
            whole = {kind: args.pop(f'{self._prefix}{side}_{kind}') for kind in ('weight', 'bias')}
            for i, gate in enumerate(gates):
                for kind, array in whole.items():
                    rows = array.shape[0] // len(gates)
                    args[f'{self._prefix}{side}{gate}_{kind}'] = array[i * rows:(i + 1) * rows].copy()
        return args

    def pack_weights(self, args):
        """The opposite of `unpack_weights`."""
        args = dict(args)
        gates = self._gate_names
        for side in ('i2h', 'h2h') if gates else ():
            for kind in ('weight', 'bias'):
                parts = [args.pop(f'{self._prefix}{side}{gate}_{kind}') for gate in gates]
                args[f'{self._prefix}{side}_{kind}'] = nd.concat(*parts, dim=0)
        return args

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        """(outputs, states) of `length` steps.

        Parameters
        ----------
        inputs : Symbol or list of Symbol
            With a time axis where `layout` has T, or one per step.
        begin_state : list of Symbol, optional
            Zeros by default.
        merge_outputs : bool, optional
            Return one Symbol with a time axis (True) or a list (False); None leaves it to the cell.
        """
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in _steps(length, inputs, layout):
            output, states = self(step, states)
            outputs.append(output)
        return _arranged(length, outputs, layout, merge_outputs), states

    def _get_activation(self, inputs, activation, **kwargs):
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)


class _GatedCell(BaseRNNCell):
    """What the cells with two products share."""

    _mode = None

    def __init__(self, num_hidden, prefix, params, **bias_init):
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get('i2h_weight')
        self._iB = self.params.get('i2h_bias', **bias_init)
        self._hW = self.params.get('h2h_weight')
        self._hB = self.params.get('h2h_bias')
        self._own_params = params is None

    @property
    def state_info(self):
        return [{'shape': (0, self._num_hidden), '__layout__': 'NC'}]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    def _products(self, inputs, state):
        """(input part, hidden part, beginning of names) of the next step."""
        self._counter += 1
        name = f'{self._prefix}t{self._counter}_'
        rows = self._num_hidden * len(self._gate_names)
        return (symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB,
                                      num_hidden=rows, name=name + self._mark + 'i2h'),
                symbol.FullyConnected(data=state, weight=self._hW, bias=self._hB,
                                      num_hidden=rows, name=name + self._mark + 'h2h'), name)

    _axis = 1
    _mark = ''      # between the step and the names of the products

    def _lstm(self, gates, cell, name, activation='tanh'):
        i, f, g, o = symbol.SliceChannel(gates, num_outputs=4, axis=self._axis, name=name + 'slice')
        i, f, o = (symbol.Activation(x, act_type='sigmoid', name=name + n) for x, n in ((i, 'i'), (f, 'f'), (o, 'o')))
        cell = symbol.elemwise_add(f * cell, i * self._get_activation(g, activation, name=name + 'c'), name=name + 'state')
        return symbol.elemwise_mul(o, self._get_activation(cell, activation), name=name + 'out'), cell

    def _gru(self, i2h, h2h, state, name, activation='tanh'):
        i2h_r, i2h_z, i2h_n = symbol.SliceChannel(i2h, num_outputs=3, axis=self._axis, name=name + '_i2h_slice')
        h2h_r, h2h_z, h2h_n = symbol.SliceChannel(h2h, num_outputs=3, axis=self._axis, name=name + '_h2h_slice')
        r = symbol.Activation(i2h_r + h2h_r, act_type='sigmoid', name=name + '_r_act')
        z = symbol.Activation(i2h_z + h2h_z, act_type='sigmoid', name=name + '_z_act')
        n = self._get_activation(i2h_n + r * h2h_n, activation, name=name + '_h_act')
        return symbol.elemwise_add((1.0 - z) * n, z * state, name=name + 'out')


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
    the product."""

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
        return _GATES[self._mode]

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
        if not isinstance(inputs, Symbol):
            _steps(length, inputs, layout)    # checks their number
        swap = _time_axis(layout) == 1 and isinstance(inputs, Symbol)
        data = symbol.swapaxes(inputs, dim1=0, dim2=1) if swap else _merged(inputs, 'TNC')
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
        return _arranged(length, outputs, layout, merge_outputs), last

    def unfuse(self):
        """The same network as a SequentialRNNCell of single cells; `pack_weights` and
        `unpack_weights` convert the parameters."""
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
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs):
        """The first states of all cells, in one list."""
        self._check_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args):
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args


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
    """Dropout with probability `dropout` on the input, which is its output."""

    def __init__(self, dropout, prefix='dropout_', params=None):
        super().__init__(prefix, params)
        assert isinstance(dropout, (int, float)), f'[rnn.DropoutCell] dropout {dropout!r} given; a number is accepted'
        self._dropout = dropout

    @property
    def state_info(self):
        return []

    def __call__(self, inputs, states):
        return symbol.Dropout(data=inputs, p=self._dropout) if self._dropout > 0 else inputs, states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        inputs = _arranged(length, inputs, layout, merge_outputs)
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, [], layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """Base of cells that change what `base_cell` does; that one keeps the variables."""

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
    the step before with these probabilities."""

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        cells = base_cell._cells if isinstance(base_cell, SequentialRNNCell) else [base_cell]
        assert not any(isinstance(c, (FusedRNNCell, BidirectionalCell)) for c in cells), (
            '[rnn.ZoneoutCell] a cell given that cannot be stepped; unfuse a FusedRNNCell, and put ZoneoutCells inside a BidirectionalCell')
        super().__init__(base_cell)
        self._zoneout_outputs = zoneout_outputs
        self._zoneout_states = zoneout_states

    def reset(self):
        super().reset()
        self._previous = None

    def __call__(self, inputs, states):
        output, following = self.base_cell(inputs, states)

        def zoned(p, new, old):    # Dropout of ones is 0 where the old value stays
            return symbol.where(symbol.Dropout(symbol.ones_like(new), p=p), new, old) if p else new
        previous = symbol.zeros_like(output) if self._previous is None else self._previous
        following = [zoned(self._zoneout_states, new, old) for new, old in zip(following, states)]
        self._previous = output = zoned(self._zoneout_outputs, output, previous)
        return output, following


class ResidualCell(ModifierCell):
    """Adds the input to the output of the base cell."""

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
    only `unroll` runs it. The states that it returns are a list of two lists."""

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
        r_out, r_states = r_cell.unroll(length, steps[::-1], states[count:], layout, False)
        merged = isinstance(l_out, Symbol) if merge_outputs is None else merge_outputs
        r_out = r_out[::-1]
        if merged:
            outputs = symbol.concat(_merged(l_out, layout), _merged(r_out, layout), dim=2, name=f'{self._output_prefix}out')
        else:
            outputs = [symbol.concat(left, right, dim=1, name=f'{self._output_prefix}t{i}')
                       for i, (left, right) in enumerate(zip(_steps(length, l_out, layout), r_out))]
        return outputs, [l_states, r_states]
