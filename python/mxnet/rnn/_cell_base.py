"""The bases of cells that make symbols: their variables, and how they unroll."""
from .. import ndarray as nd, symbol
from ..symbol import Symbol

__all__ = ['BaseRNNCell', 'RNNParams']

_GATES = {'rnn_relu': ('',), 'rnn_tanh': ('',), 'lstm': ('_i', '_f', '_c', '_o'), 'gru': ('_r', '_z', '_o')}


class RNNParams:
    """Variables with names that begin with `prefix`, made when they are first asked for; cells with
    the same ones share weights.

    >>> params = mx.rnn.RNNParams('a_')
    >>> params.get('weight').name, params.get('weight') is params.get('weight')
    ('a_weight', True)
    """

    def __init__(self, prefix=''):
        self._prefix = prefix
        self._params = {}

    def get(self, name, **kwargs):
        """The variable `prefix + name`; `kwargs` as of `mx.sym.var`."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.var(name, **kwargs)
        return self._params[name]


def _steps(length, inputs, layout, split=symbol.split):
    """A list with a Symbol per step; `split` names the node."""
    axis = _time_axis(layout)
    if isinstance(inputs, Symbol):
        assert len(inputs.list_outputs()) == 1, (
            '[rnn.unroll] a Symbol with several outputs given; one with a time axis, or a list of Symbols, is accepted')
        inputs = split(inputs, axis=axis, num_outputs=length, squeeze_axis=1)
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


def _normalize_sequence(length, inputs, layout, merge, in_layout=None):
    """(one Symbol, a list, or what was given, for `merge` True, False and None; axis of the steps).
    `in_layout` is that of a Symbol that comes in, if it is another one. Cells of old programs call
    it by this name."""
    axis = _time_axis(layout)
    if isinstance(inputs, Symbol):
        if merge is False:
            return _steps(length, inputs, in_layout or layout), axis
        in_axis = _time_axis(in_layout or layout)
        return symbol.swapaxes(inputs, dim1=axis, dim2=in_axis) if in_axis != axis else inputs, axis
    if length is not None:
        inputs = _steps(length, inputs, layout)    # checks their number
    return _merged(inputs, layout) if merge else inputs, axis


class BaseRNNCell:
    """Base of cells: `cell(input, states)` returns (output, list of new states).

    Parameters
    ----------
    prefix : str
        Begins the names of variables and operators.
    params : RNNParams, optional
        Shared with another cell.

    Examples
    --------
    >>> class Sum(mx.rnn.BaseRNNCell):
    ...     state_info = [{'shape': (0, 1), '__layout__': 'NC'}]
    ...     def __call__(self, inputs, states):
    ...         total = inputs + states[0]
    ...         return total, [total]
    >>> cell = Sum(prefix='sum_')
    >>> cell.reset()
    >>> outputs, states = cell.unroll(3, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.eval(x=mx.nd.array([[[1], [2], [3]]]))[0].asnumpy().ravel()
    array([1., 3., 6.], dtype=float32)
    >>> cell.state_shape, cell.params.get('weight').name
    ([(0, 1)], 'sum_weight')
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
        """The RNNParams; from then on, they count as shared.

        >>> shared = mx.rnn.LSTMCell(8, prefix='lstm_').params
        >>> cell = mx.rnn.LSTMCell(8, prefix='lstm_', params=shared)
        >>> cell.params is shared
        True
        """
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """A list with {'shape', '__layout__'} of every state; the batch has size 0, which means
        open.

        >>> mx.rnn.LSTMCell(8).state_info
        [{'shape': (0, 8), '__layout__': 'NC'}, {'shape': (0, 8), '__layout__': 'NC'}]
        """
        raise NotImplementedError(f'[rnn] {type(self).__name__} does not define state_info')

    @property
    def state_shape(self):
        """The shapes of the states."""
        return [info['shape'] for info in self.state_info]

    @property
    def _gate_names(self):
        return ()

    @property
    def _num_gates(self):
        return len(self._gate_names)

    def _check_unmodified(self):
        assert not self._modified, f'[rnn] {self._prefix!r} is inside a ModifierCell (e.g. ZoneoutCell); call that one instead'

    def begin_state(self, func=symbol.zeros, **kwargs):
        """The first states, made by `func(name=, shape=, **kwargs)`, e.g. `mx.sym.zeros` or
        `mx.sym.var`.

        >>> cell = mx.rnn.LSTMCell(16, prefix='a_')
        >>> [state.name for state in cell.begin_state(func=mx.sym.var)]
        ['a_begin_state_0', 'a_begin_state_1']
        """
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            states.append(func(name=f'{self._prefix}begin_state_{self._init_counter}', **{**info, **kwargs}))
        return states

    def unpack_weights(self, args):
        """`args` ({name: NDArray}) with one array per gate in the place of those of this cell.

        >>> cell = mx.rnn.GRUCell(2, prefix='a_')
        >>> args = {'a_i2h_weight': mx.nd.ones((6, 3)), 'a_i2h_bias': mx.nd.zeros(6),
        ...         'a_h2h_weight': mx.nd.ones((6, 2)), 'a_h2h_bias': mx.nd.zeros(6)}
        >>> parts = cell.unpack_weights(args)
        >>> parts['a_i2h_r_weight'].shape, cell.pack_weights(parts)['a_i2h_weight'].shape
        ((2, 3), (6, 3))
        """
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
        return _normalize_sequence(length, outputs, layout, merge_outputs)[0], states

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
        names = _GATES[self._mode]
        return list(names) if len(names) > 1 else names     # as in 1.9.1, where programs add to the lists

    def _products(self, inputs, state):
        """(input part, hidden part, beginning of names) of the next step."""
        self._counter += 1
        name = f'{self._prefix}t{self._counter}_'
        rows = self._num_hidden * len(self._gate_names)
        return (symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB,
                                      num_hidden=rows, name=name + self._mark + 'i2h'),
                symbol.FullyConnected(data=state, weight=self._hW, bias=self._hB,
                                      num_hidden=rows, name=name + self._mark + 'h2h'), name)

    _split = {}     # arguments of SliceChannel; its axis is 1 by default
    _mark = ''      # between the step and the names of the products

    def _lstm(self, gates, cell, name, activation='tanh'):
        i, f, g, o = symbol.SliceChannel(gates, num_outputs=4, name=name + 'slice', **self._split)
        i, f, o = (symbol.Activation(x, act_type='sigmoid', name=name + n) for x, n in ((i, 'i'), (f, 'f'), (o, 'o')))
        cell = symbol.elemwise_add(f * cell, i * self._get_activation(g, activation, name=name + 'c'), name=name + 'state')
        return symbol.elemwise_mul(o, self._get_activation(cell, activation), name=name + 'out'), cell

    def _gru(self, i2h, h2h, state, name, activation='tanh'):
        i2h_r, i2h_z, i2h_n = symbol.SliceChannel(i2h, num_outputs=3, name=name + '_i2h_slice', **self._split)
        h2h_r, h2h_z, h2h_n = symbol.SliceChannel(h2h, num_outputs=3, name=name + '_h2h_slice', **self._split)
        r = symbol.Activation(i2h_r + h2h_r, act_type='sigmoid', name=name + '_r_act')
        z = symbol.Activation(i2h_z + h2h_z, act_type='sigmoid', name=name + '_z_act')
        n = self._get_activation(i2h_n + r * h2h_n, activation, name=name + '_h_act')
        return symbol.elemwise_add((1.0 - z) * n, z * state, name=name + 'out')
