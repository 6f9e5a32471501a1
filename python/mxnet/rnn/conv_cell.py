"""Recurrent cells whose products are convolutions (Shi et al., 2015), as symbols."""
import functools

from .. import symbol
from ._cell_base import RNNParams, _GatedCell

__all__ = ['BaseConvRNNCell', 'ConvRNNCell', 'ConvLSTMCell', 'ConvGRUCell']

_leaky = functools.partial(symbol.LeakyReLU, act_type='leaky', slope=0.2)


class BaseConvRNNCell(_GatedCell):
    """Base of these cells.

    Parameters
    ----------
    input_shape : tuple of int
        Of one input, with any size for the batch.
    num_hidden : int
        Channels of output and states.
    h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate : tuple of int
        Convolutions over the state, which keeps the space and has odd kernels, and over the input.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer : Initializer or str
    activation : str or function of a Symbol
    conv_layout : str

    Examples
    --------
    >>> cell = mx.rnn.ConvRNNCell(input_shape=(1, 3, 8, 8), num_hidden=4, prefix='a_')
    >>> isinstance(cell, mx.rnn.BaseConvRNNCell), cell.state_info
    (True, [{'shape': (0, 4, 8, 8), '__layout__': 'NCHW'}])
    """

    _mode = 'rnn_tanh'

    def __init__(self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate, i2h_weight_initializer,
                 h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation,
                 prefix='', params=None, conv_layout='NCHW'):
        assert all(k % 2 == 1 for k in h2h_kernel), f'[rnn] h2h_kernel={h2h_kernel!r} given; odd sizes, which keep the space, are accepted'
        shared = params is not None
        if params is None:
            params = RNNParams(prefix)
        for name, init in (('i2h_weight', i2h_weight_initializer),
                           ('i2h_bias', i2h_bias_initializer),
                           ('h2h_weight', h2h_weight_initializer),
                           ('h2h_bias', h2h_bias_initializer)):
            params.get(name, init=init)
        super().__init__(num_hidden, prefix, params)
        self._own_params = not shared
        self._activation = activation
        self._layout = conv_layout
        axis = conv_layout.find('C')
        if self._mode == 'lstm' or axis != 1:
            self._split = {'axis': axis}
        common = {'num_filter': num_hidden * len(self._gate_names), 'layout': conv_layout}
        self._i2h = dict(common, kernel=i2h_kernel, stride=i2h_stride, pad=i2h_pad, dilate=i2h_dilate)
        self._h2h = dict(common, kernel=h2h_kernel, dilate=h2h_dilate, stride=(1,) * len(h2h_kernel),
                         pad=tuple(d * (k - 1) // 2 for k, d in zip(h2h_kernel, h2h_dilate)))
        shape = list(symbol.Convolution(symbol.var('data'), **self._i2h).infer_shape(data=input_shape)[1][0])
        shape[0], shape[axis] = 0, num_hidden
        self._state_shape = tuple(shape)

    @property
    def state_info(self):
        return [{'shape': self._state_shape, '__layout__': self._layout}]

    def _products(self, inputs, state):
        self._counter += 1
        name = f'{self._prefix}t{self._counter}_'
        return (symbol.Convolution(data=inputs, weight=self._iW, bias=self._iB, name=name + 'i2h', **self._i2h),
                symbol.Convolution(data=state, weight=self._hW, bias=self._hB, name=name + 'h2h', **self._h2h), name)

    def __call__(self, inputs, states):
        raise NotImplementedError(f'[rnn] {type(self).__name__} does not define a step')


class ConvRNNCell(BaseConvRNNCell):
    """h' = activation(W * x + b + U * h + c), with convolutions *. Parameters as of
    BaseConvRNNCell.

    >>> cell = mx.rnn.ConvRNNCell(input_shape=(1, 3, 8, 8), num_hidden=4, prefix='a_')
    >>> outputs, states = cell.unroll(2, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(5, 2, 3, 8, 8))[1]
    [(5, 2, 4, 8, 8)]
    """

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1),
                 i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros',
                 h2h_bias_initializer='zeros', activation=_leaky, prefix='ConvRNN_', params=None, conv_layout='NCHW'):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride,
                         i2h_pad, i2h_dilate, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix, params, conv_layout)

    def __call__(self, inputs, states):
        i2h, h2h, name = self._products(inputs, states[0])
        output = self._get_activation(i2h + h2h, self._activation, name=name + 'out')
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """Long short-term memory with convolutions, gates in the order i f c o. Parameters as of
    BaseConvRNNCell.

    >>> cell = mx.rnn.ConvLSTMCell(input_shape=(1, 3, 8, 8), num_hidden=4, prefix='a_')
    >>> outputs, states = cell.unroll(2, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(5, 2, 3, 8, 8))[1]
    [(5, 2, 4, 8, 8)]
    """

    _mode = 'lstm'

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1),
                 i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros',
                 h2h_bias_initializer='zeros', activation=_leaky, prefix='ConvLSTM_', params=None, conv_layout='NCHW'):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride,
                         i2h_pad, i2h_dilate, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix, params, conv_layout)

    @property
    def state_info(self):
        return super().state_info * 2

    def __call__(self, inputs, states):
        i2h, h2h, name = self._products(inputs, states[0])
        output, cell = self._lstm(i2h + h2h, states[1], name, self._activation)
        return output, [output, cell]


class ConvGRUCell(BaseConvRNNCell):
    """Gated recurrent units with convolutions, gates in the order r z o. Parameters as of
    BaseConvRNNCell.

    >>> cell = mx.rnn.ConvGRUCell(input_shape=(1, 3, 8, 8), num_hidden=4, prefix='a_')
    >>> outputs, states = cell.unroll(2, mx.sym.var('x'), merge_outputs=True)
    >>> outputs.infer_shape(x=(5, 2, 3, 8, 8))[1]
    [(5, 2, 4, 8, 8)]
    """

    _mode = 'gru'

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1),
                 i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer='zeros',
                 h2h_bias_initializer='zeros', activation=_leaky, prefix='ConvGRU_', params=None, conv_layout='NCHW'):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride,
                         i2h_pad, i2h_dilate, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation, prefix, params, conv_layout)

    def __call__(self, inputs, states):
        i2h, h2h, name = self._products(inputs, states[0])
        output = self._gru(i2h, h2h, states[0], name, self._activation)
        return output, [output]
