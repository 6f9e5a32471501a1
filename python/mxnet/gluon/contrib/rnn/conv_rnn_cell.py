"""Recurrent cells whose products are convolutions (Shi et al., 2015), over 1, 2 or 3 axes."""
from ...rnn.rnn_cell import HybridRecurrentCell

__all__ = [f'Conv{n}D{kind}Cell' for kind in ('RNN', 'LSTM', 'GRU') for n in (1, 2, 3)]


def _sizes(value, dims, what):
    if isinstance(value, int):
        return (value,) * dims
    assert len(value) == dims, f'[gluon.contrib.rnn] {what}={value!r} given; a number or {dims} of them are accepted'
    return tuple(value)


def _get_conv_out_size(dimensions, kernels, paddings, dilations):
    """The space that convolutions with a stride of 1 leave."""
    return tuple(s + 2 * p - d * (k - 1) for s, k, p, d in zip(dimensions, kernels, paddings, dilations))


class _BaseConvRNNCell(HybridRecurrentCell):
    """What these cells share; programs of 1.x derive their own from it. Input (N, *input_shape);
    output and states have its space, as the first convolution leaves it, and `hidden_channels`
    channels. The kernel over the state has odd sizes and keeps the space."""

    _gate_names = ('',)

    def __init__(self, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
                 h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, dims, conv_layout, activation, prefix=None,
                 params=None):
        super().__init__(prefix=prefix, params=params)
        assert sorted(conv_layout) == sorted('NC' + 'DHW'[3 - dims:]), (
            f'[gluon.contrib.rnn] conv_layout {conv_layout!r} given; an order of {"NC" + "DHW"[3 - dims:]} is accepted')
        assert len(input_shape) == dims + 1, (
            f'[gluon.contrib.rnn] input_shape {input_shape!r} given; {dims + 1} sizes as in {conv_layout[1:]} are accepted')
        kernel, pad, dilate = (_sizes(v, dims, w)
                               for v, w in ((i2h_kernel, 'i2h_kernel'), (i2h_pad, 'i2h_pad'),
                                            (i2h_dilate, 'i2h_dilate')))
        own_kernel, own_dilate = _sizes(h2h_kernel, dims, 'h2h_kernel'), _sizes(h2h_dilate, dims, 'h2h_dilate')
        assert all(k % 2 == 1
                   for k in own_kernel), (
            f'[gluon.contrib.rnn] h2h_kernel={h2h_kernel!r} given; odd sizes, which keep the space, are accepted')
        self._hidden_channels = hidden_channels
        self._input_shape = tuple(input_shape)
        self._conv_layout = conv_layout
        self._channel_axis = conv_layout.find('C')
        self._activation = activation
        self._i2h_kernel, self._i2h_pad, self._i2h_dilate = kernel, pad, dilate
        self._h2h_kernel, self._h2h_dilate = own_kernel, own_dilate
        common = {'num_filter': self._num_gates * hidden_channels, 'stride': (1,) * dims, 'layout': conv_layout}
        self._i2h = dict(common, kernel=kernel, pad=pad, dilate=dilate)
        self._h2h = dict(common, kernel=own_kernel, dilate=own_dilate, pad=tuple(d * (k - 1) // 2 for k, d in zip(own_kernel, own_dilate)))
        space = [size for size, axis in zip(input_shape, conv_layout[1:]) if axis != 'C']
        space = _get_conv_out_size(space, kernel, pad, dilate)
        channels_in = input_shape[self._channel_axis - 1]
        self._state_shape = self._with_channels(hidden_channels, space)
        rows = self._num_gates * hidden_channels
        for name, shape, init in (('i2h_weight', (rows,) + self._with_channels(channels_in, kernel), i2h_weight_initializer),
                                  ('h2h_weight', (rows,) + self._with_channels(hidden_channels, own_kernel), h2h_weight_initializer),
                                  ('i2h_bias', (rows,), i2h_bias_initializer), ('h2h_bias', (rows,), h2h_bias_initializer)):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _with_channels(self, channels, space):
        """The sizes `space` with the channels in their place, without the batch."""
        sizes = list(space)
        sizes.insert(self._channel_axis - 1, channels)
        return tuple(sizes)

    def state_info(self, batch_size=0):
        return [{'shape': (batch_size,) + self._state_shape, '__layout__': self._conv_layout}]

    @property
    def _num_gates(self):
        return len(self._gate_names)

    def _conv_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, prefix):
        """The two products of a step, in operators whose names begin with `prefix`."""
        return (F.Convolution(data=inputs, weight=i2h_weight, bias=i2h_bias, name=prefix + 'i2h', **self._i2h),
                F.Convolution(data=states[0], weight=h2h_weight, bias=h2h_bias, name=prefix + 'h2h', **self._h2h))

    def _split(self, F, x, name):
        return F.SliceChannel(x, num_outputs=self._num_gates, axis=self._channel_axis, name=self._named(name))

    def __repr__(self):
        return (f'{type(self).__name__}({self._input_shape[self._channel_axis - 1]} -> {self.i2h_weight.shape[0]}, {self._activation}, '
                f'{self._conv_layout})')


class _ConvRNNCell(_BaseConvRNNCell):
    def _alias(self):
        return 'conv_rnn'

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, self._named(''))
        output = self._get_activation(F, i2h + h2h, self._activation, name=self._named('out'))
        return output, [output]


class _ConvLSTMCell(_BaseConvRNNCell):
    _gate_names = ['_i', '_f', '_c', '_o']

    def _alias(self):
        return 'conv_lstm'

    def state_info(self, batch_size=0):
        return super().state_info(batch_size) * 2

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, self._named(''))
        i, f, g, o = self._split(F, i2h + h2h, 'slice')
        i, f, o = (F.Activation(gate, act_type='sigmoid', name=self._named(n)) for gate, n in ((i, 'i'), (f, 'f'), (o, 'o')))
        g = self._get_activation(F, g, self._activation, name=self._named('c'))
        cell = F.elemwise_add(f * states[1], i * g, name=self._named('state'))
        output = F.elemwise_mul(o, self._get_activation(F, cell, self._activation), name=self._named('out'))
        return output, [output, cell]


class _ConvGRUCell(_BaseConvRNNCell):
    _gate_names = ['_r', '_z', '_o']

    def _alias(self):
        return 'conv_gru'

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, self._named(''))
        i2h_r, i2h_z, i2h_n = self._split(F, i2h, 'i2h_slice')
        h2h_r, h2h_z, h2h_n = self._split(F, h2h, 'h2h_slice')
        r = F.Activation(i2h_r + h2h_r, act_type='sigmoid', name=self._named('r_act'))
        z = F.Activation(i2h_z + h2h_z, act_type='sigmoid', name=self._named('z_act'))
        n = self._get_activation(F, i2h_n + r * h2h_n, self._activation, name=self._named('h_act'))
        output = F.elemwise_add((1.0 - z) * n, z * states[0], name=self._named('out'))
        return output, [output]


def _over_space(base, dims, what):
    """The cell `base` over `dims` axes: they differ in defaults and names alone."""
    space = 'DHW'[3 - dims:]
    zeros, ones = (0,) * dims, (1,) * dims

    class Cell(base):
        __doc__ = f"""A cell over {dims} {'axis' if dims == 1 else 'axes'} of space: {what}.

        Parameters
        ----------
        input_shape : tuple of int
            Shape of one input without the batch, in the order of `conv_layout`.
        hidden_channels : int
        i2h_kernel, h2h_kernel : int or tuple of int
            Kernels over input and state; those over the state are odd.
        i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int
        conv_layout : str
        activation : str or Block

        Examples
        --------
        >>> cell = mx.gluon.contrib.rnn.{base.__name__.replace('_Conv', f'Conv{dims}D')}(
        ...     input_shape={(3,) + (8,) * dims}, hidden_channels=4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
        >>> cell.initialize()
        >>> output, states = cell(mx.nd.ones({(2, 3) + (8,) * dims}), cell.begin_state(batch_size=2))
        >>> output.shape, len(states)
        ({(2, 4) + (8,) * dims}, {2 if base is _ConvLSTMCell else 1})
        """

        def __init__(self, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad=zeros, i2h_dilate=ones, h2h_dilate=ones,
                     i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros', h2h_bias_initializer='zeros',
                     conv_layout='NC' + space, activation='tanh', prefix=None, params=None):
            super().__init__(input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
                             h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                             dims, conv_layout, activation, prefix, params)

    Cell.__name__ = Cell.__qualname__ = base.__name__.replace('_Conv', f'Conv{dims}D')
    return Cell


_RNN = "h' = activation(W * x + b + U * h + c), with convolutions *"
_LSTM = 'long short-term memory with convolutions in the place of products, gates in the order i f g o'
_GRU = 'gated recurrent units with convolutions in the place of products, gates in the order r z n'
Conv1DRNNCell, Conv2DRNNCell, Conv3DRNNCell = (_over_space(_ConvRNNCell, dims, _RNN) for dims in (1, 2, 3))
Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell = (_over_space(_ConvLSTMCell, dims, _LSTM) for dims in (1, 2, 3))
Conv1DGRUCell, Conv2DGRUCell, Conv3DGRUCell = (_over_space(_ConvGRUCell, dims, _GRU) for dims in (1, 2, 3))
