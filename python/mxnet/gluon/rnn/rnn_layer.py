"""Recurrent layers: whole sequences and stacks of layers in one operator."""
import numpy as np

from ... import ndarray as nd, symbol
from ..._arrays.tracing import is_deferred_compute
from ...base import error_class
from ...util import accepts_device
from ..block import HybridBlock
from ..parameter import tensor_types
from . import rnn_cell
from ._sequence import make_states, module_of, zeros_beside

__all__ = ['RNN', 'LSTM', 'GRU']

_GATES = {'rnn_relu': 1, 'rnn_tanh': 1, 'lstm': 4, 'gru': 3}


class _RNNLayer(HybridBlock):
    """What the layers share. `layer(inputs)` returns the output; `layer(inputs, states)` returns
    (output, list of last states).

    Inputs: (steps, batch, features) for layout 'TNC', (batch, steps, features) for 'NTC'; states
    (layers * directions, batch, size). With `use_sequence_length`, `layer(inputs, states,
    sequence_length)` takes the lengths (batch,): outputs behind them are 0.
    """

    def __init__(self, hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer, h2h_weight_initializer,
                 i2h_bias_initializer, h2h_bias_initializer, mode, projection_size, h2r_weight_initializer, lstm_state_clip_min,
                 lstm_state_clip_max, lstm_state_clip_nan, dtype, use_sequence_length=False, **kwargs):
        super().__init__(**kwargs)
        assert layout in ('TNC', 'NTC'), f'[gluon.rnn.{type(self).__name__}] layout {layout!r} given; TNC and NTC are accepted'
        self._hidden_size = hidden_size
        self._projection_size = projection_size or None
        self._num_layers = num_layers
        self._mode = mode
        self._gates = _GATES[mode]
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self._clip = {'lstm_state_clip_min': lstm_state_clip_min,
                      'lstm_state_clip_max': lstm_state_clip_max,
                      'lstm_state_clip_nan': lstm_state_clip_nan}
        self._initializers = {'i2h_weight_initializer': i2h_weight_initializer, 'h2h_weight_initializer': h2h_weight_initializer,
                              'i2h_bias_initializer': i2h_bias_initializer, 'h2h_bias_initializer': h2h_bias_initializer}
        if self._projection_size:
            self._initializers['h2r_weight_initializer'] = h2r_weight_initializer
        out, features = self._projection_size or hidden_size, input_size
        for layer in range(num_layers):
            for side in 'lr'[:self._dir]:
                for name, shape in self._shapes(features, out).items():
                    setattr(self, f'{side}{layer}_{name}', self.params.get(
                        f'{side}{layer}_{name}', shape=shape,
                        init=self._initializers[name + '_initializer'], dtype=dtype,
                        allow_deferred_init=True))
            features = out * self._dir

    def _shapes(self, features, out):
        """Shapes of the Parameters of one layer and direction, by name."""
        rows = self._gates * self._hidden_size
        shapes = {'i2h_weight': (rows, features), 'h2h_weight': (rows, out), 'i2h_bias': (rows,), 'h2h_bias': (rows,)}
        if self._projection_size:
            shapes['h2r_weight'] = (out, self._hidden_size)
        return shapes

    def __repr__(self):
        shape = self.l0_i2h_weight.shape
        options = [self._layout]
        if self._num_layers != 1:
            options.append(f'num_layers={self._num_layers}')
        if self._dropout:
            options.append(f'dropout={self._dropout}')
        if self._dir == 2:
            options.append('bidirectional')
        return f'{type(self).__name__}({shape[1] or None} -> {shape[0] // self._gates}, {", ".join(options)})'

    def _collect_params_with_prefix(self, prefix=''):
        # Parameter files name the Parameters as those of single cells, one per layer.
        if prefix:
            prefix += '.'
        found = {}
        for key, param in self._reg_params.items():
            place, name = key.split('_', 1)
            side = '' if self._dir == 1 else f'{place[0]}_cell.'
            found[f'{prefix}_unfused.{place[1:]}.{side}{name}'] = param
        return found

    @accepts_device
    def load_dict(self, param_dict, ctx=None, allow_missing=False, ignore_extra=False, cast_dtype=False, dtype_source='current',
                  source='the given dict'):
        """As Block.load_dict; names like `l0_i2h_weight` are accepted too.

        >>> layer = mx.gluon.rnn.GRU(1, input_size=1)
        >>> weight, bias = mx.nd.ones((3, 1)), mx.nd.zeros(3)
        >>> layer.load_dict({'l0_i2h_weight': weight, 'l0_h2h_weight': weight,
        ...                  'l0_i2h_bias': bias, 'l0_h2h_bias': bias})
        >>> layer.l0_i2h_weight.data().asnumpy().ravel()
        array([1., 1., 1.], dtype=float32)
        """
        if isinstance(param_dict, dict) and any(key in self._reg_params for key in param_dict):
            path = {id(param): key for key, param in self._collect_params_with_prefix().items()}
            param_dict = {path[id(self._reg_params[key])] if key in self._reg_params else key: value for key, value in param_dict.items()}
        super().load_dict(param_dict, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source, source)

    def _names_here(self, prefix, arrays):
        # MXNet 2.0 keeps all Parameters of a layer in one vector.
        vector = arrays.get(f'{prefix}rnn_param')
        if vector is None:
            return arrays
        arrays = {k: v for k, v in arrays.items() if k != f'{prefix}rnn_param'}
        path = {id(param): key for key, param in self._collect_params_with_prefix(prefix[:-1]).items()}
        features = self._features_of(vector.size)
        start = 0
        for key in self._in_vector(self._reg_params):
            param = self._reg_params[key]
            shape = tuple(d if d > 0 else features for d in param.shape)
            end = start + int(np.prod(shape))
            arrays[path[id(param)]] = vector[start:end].reshape(shape)
            start = end
        return arrays

    def _features_of(self, size):
        """Features of the input of a layer with `size` Parameters in all."""
        known = sum(int(np.prod(p.shape)) for p in self._reg_params.values() if min(p.shape) > 0)
        open_ = [p for p in self._reg_params.values() if min(p.shape) <= 0]
        return (size - known) // (len(open_) * open_[0].shape[0]) if open_ else 0

    def _in_vector(self, params):
        """Names of the Parameters in the operator's order: all weights, layer by layer, then all
        biases."""
        places = [f'{side}{layer}' for layer in range(self._num_layers) for side in 'lr'[:self._dir]]
        return [f'{place}_{name}' for kind in ('weight', 'bias') for place in places
                for name in (f'i2h_{kind}', f'h2h_{kind}', f'h2r_{kind}') if f'{place}_{name}' in params]

    def state_info(self, batch_size=0):
        """A list with {'shape', '__layout__', 'dtype'} of every state.

        >>> mx.gluon.rnn.GRU(8, num_layers=2).state_info(batch_size=4)
        [{'shape': (2, 4, 8), '__layout__': 'LNC', 'dtype': 'float32'}]
        """
        shape = (self._num_layers * self._dir, batch_size, self._projection_size or self._hidden_size)
        return [{'shape': shape, '__layout__': 'LNC', 'dtype': self._dtype}]

    @accepts_device
    def begin_state(self, batch_size=0, func=None, **kwargs):
        """The first states, made by `func(name=, shape=, dtype=, **kwargs)`, e.g. `mx.nd.zeros` or
        `mx.sym.var`.

        >>> [state.shape for state in mx.gluon.rnn.LSTM(8, num_layers=2).begin_state(batch_size=4)]
        [(2, 4, 8), (2, 4, 8)]
        """
        return make_states(func, [{'name': f'{self.prefix}h0_{i}', **info, **kwargs}
                                  for i, info in enumerate(self.state_info(batch_size))])

    def cast(self, dtype):
        """Convert all Parameters to `dtype`; states that are made later have it too.

        >>> layer = mx.gluon.rnn.GRU(8)
        >>> layer.cast('float16')
        >>> layer.begin_state(batch_size=1)[0].dtype
        <class 'numpy.float16'>
        """
        super().cast(dtype)
        self._dtype = dtype

    def infer_shape(self, inputs, *args):
        """Fill in the number of features from `inputs`.

        >>> layer = mx.gluon.rnn.GRU(8)
        >>> layer.infer_shape(mx.nd.ones((5, 2, 3)))
        >>> layer.l0_i2h_weight.shape
        (24, 3)
        """
        assert len(inputs.shape) == 3, (
            f'[gluon.rnn.{type(self).__name__}] inputs of shape {inputs.shape} given; three axes as in {self._layout} are accepted')
        for side in 'lr'[:self._dir]:
            weight = getattr(self, f'{side}0_i2h_weight')
            weight.shape = (weight.shape[0], inputs.shape[2])

    def _unfuse(self):
        """The same computation as cells, on the same Parameters."""
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        make = {'rnn_relu': lambda **kw: rnn_cell.RNNCell(self._hidden_size, activation='relu', **kw),
                'rnn_tanh': lambda **kw: rnn_cell.RNNCell(self._hidden_size, activation='tanh', **kw),
                'lstm': lambda **kw: rnn_cell.LSTMCell(self._hidden_size, **kw),
                'gru': lambda **kw: rnn_cell.GRUCell(self._hidden_size, **kw)}[self._mode]
        if self._projection_size:
            from ..contrib.rnn import LSTMPCell

            def make(**kw):
                return LSTMPCell(self._hidden_size, self._projection_size, **kw)
        features = self._input_size
        with stack.name_scope():
            for layer in range(self._num_layers):
                cells = [make(input_size=features, prefix=f'{side}{layer}_', **self._initializers) for side in 'lr'[:self._dir]]
                stack.add(cells[0] if self._dir == 1 else rnn_cell.BidirectionalCell(*cells))
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
                features = (self._projection_size or self._hidden_size) * self._dir
        return stack

    def __call__(self, inputs, states=None, sequence_length=None, **kwargs):
        """See the class; `kwargs` go to `begin_state` when no states are given."""
        if (sequence_length is not None) != bool(self._use_sequence_length):
            raise ValueError(f'[gluon.rnn.{type(self).__name__}] sequence_length={"given" if sequence_length is not None else None} with '
                             f'use_sequence_length={self._use_sequence_length}; both or none of them is accepted')
        made = states is None
        if made:
            F = module_of(inputs)
            place = {'ctx': inputs.context, 'dtype': inputs.dtype} if F is nd else {}
            axis = self._layout.find('N')
            batch = 0 if F is symbol else 1 if is_deferred_compute() else inputs.shape[axis]
            states = self.begin_state(batch, func=zeros_beside(inputs, axis), **{**place, **kwargs})
        elif isinstance(states, tensor_types):
            states = [states]
        return super().__call__(inputs, list(states), sequence_length, made)

    def hybrid_forward(self, F, inputs, states, sequence_length=None, output_only=False, **params):
        if self._layout == 'NTC':
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        vector = F._internal._rnn_param_concat(*[F.reshape(params[key], shape=-1) for key in self._in_vector(params)], dim=0)
        options = {key: value for key, value in self._clip.items() if value not in (None, False)}
        if self._projection_size:
            options['projection_size'] = self._projection_size
        if sequence_length is not None:
            options['sequence_length'] = sequence_length
            options['use_sequence_length'] = True
        names = ('state', 'state_cell')
        result = F.RNN(inputs, vector, **dict(zip(names, states)), state_size=self._hidden_size, num_layers=self._num_layers,
                       bidirectional=self._dir == 2, p=self._dropout, state_outputs=True, mode=self._mode, **options)
        output = result[0]
        if self._layout == 'NTC':
            output = F.swapaxes(output, dim1=0, dim2=1)
        return output if output_only else (output, [result[i + 1] for i in range(len(states))])


class RNN(_RNNLayer):
    """Layers of h' = activation(W x + b + U h + c) (Elman, 1990), activation 'relu' or 'tanh'.

    Parameters
    ----------
    hidden_size, num_layers : int
    layout : {'TNC', 'NTC'}
        Order of steps, batch and features in input and output.
    dropout : float
        Probability of dropping an element of the output of each layer but the last, in training.
    bidirectional : bool
        Run every layer from both ends and join the outputs.
    input_size : int
        Number of features; 0 is filled in by the first call.
    dtype : str
    use_sequence_length : bool
        Calls take the lengths of the sequences as a third argument.

    Examples
    --------
    >>> layer = mx.gluon.rnn.RNN(16, num_layers=2)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((5, 3, 8))).shape
    (5, 3, 16)
    """

    def __init__(self, hidden_size, num_layers=1, activation='relu', layout='TNC', dropout=0, bidirectional=False,
                 i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros', h2h_bias_initializer='zeros',
                 input_size=0, dtype='float32', **kwargs):
        if activation not in ('relu', 'tanh'):
            raise error_class(ValueError, KeyError)(f'[gluon.rnn.RNN] activation {activation!r} given; relu and tanh are accepted')
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, 'rnn_' + activation, None, None, None, None, False, dtype, **kwargs)


class LSTM(_RNNLayer):
    """Layers of long short-term memory (Hochreiter and Schmidhuber, 1997), gates in the order i f g
    o.

    Parameters
    ----------
    projection_size : int, optional
        Project the hidden state to this size (LSTMP, Sak et al., 2014).
    state_clip_min, state_clip_max : float, optional
        Limits of the cell state; both or none.
    state_clip_nan : bool
        With limits, also replace NaN by the upper one.

    The others are as those of RNN. States are [h, c]; c has hidden_size columns, h projection_size
    if given.

    Examples
    --------
    >>> layer = mx.gluon.rnn.LSTM(16, num_layers=2, bidirectional=True)
    >>> layer.initialize()
    >>> output, (h, c) = layer(mx.nd.ones((5, 3, 8)), layer.begin_state(batch_size=3))
    >>> output.shape, h.shape, c.shape
    ((5, 3, 32), (4, 3, 16), (4, 3, 16))
    """

    def __init__(self, hidden_size, num_layers=1, layout='TNC', dropout=0, bidirectional=False, input_size=0, i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer='zeros', h2h_bias_initializer='zeros', projection_size=None,
                 h2r_weight_initializer=None, state_clip_min=None, state_clip_max=None, state_clip_nan=False, dtype='float32', **kwargs):
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, 'lstm', projection_size, h2r_weight_initializer, state_clip_min,
                         state_clip_max, state_clip_nan, dtype, **kwargs)

    def state_info(self, batch_size=0):
        cell = (self._num_layers * self._dir, batch_size, self._hidden_size)
        return super().state_info(batch_size) + [{'shape': cell, '__layout__': 'LNC', 'dtype': self._dtype}]


class GRU(_RNNLayer):
    """Layers of gated recurrent units (Cho et al., 2014), gates in the order r z n, with the reset
    gate after the product as in cuDNN.

    Parameters are as those of RNN.

    >>> layer = mx.gluon.rnn.GRU(16, layout='NTC')
    >>> layer.initialize()
    >>> layer(mx.nd.ones((3, 5, 8))).shape
    (3, 5, 16)
    """

    def __init__(self, hidden_size, num_layers=1, layout='TNC', dropout=0, bidirectional=False, input_size=0, i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer='zeros', h2h_bias_initializer='zeros', dtype='float32', **kwargs):
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, 'gru', None, None, None, None, False, dtype, **kwargs)
