"""Convolutions, transposed convolutions, pooling and padding."""
import numbers

import numpy as np

from ...base import MXNetError, error_class
from ..block import HybridBlock
from .activations import Activation

__all__ = ['Conv1D', 'Conv2D', 'Conv3D', 'Conv1DTranspose', 'Conv2DTranspose', 'Conv3DTranspose', 'MaxPool1D', 'MaxPool2D', 'MaxPool3D',
           'AvgPool1D', 'AvgPool2D', 'AvgPool3D', 'GlobalMaxPool1D', 'GlobalMaxPool2D', 'GlobalMaxPool3D', 'GlobalAvgPool1D',
           'GlobalAvgPool2D', 'GlobalAvgPool3D', 'ReflectionPad2D']

_LAYOUTS = {1: ('NCW', 'NWC'), 2: ('NCHW', 'NHWC'), 3: ('NCDHW', 'NDHWC')}


def _tuple(value, n, what):
    """`value` as a tuple of n integers: an integer stands for n equal ones."""
    if isinstance(value, (int, np.integer)):
        return (int(value),) * n
    value = tuple(value)
    assert len(value) == n, f'[nn] {what}={value} given; an integer or {n} integers are accepted'
    return value


def _check_layout(layout, n, who):
    assert layout in _LAYOUTS[n], f'[nn.{who}] layout={layout!r} given; {" or ".join(_LAYOUTS[n])} is accepted'


def _described(who, inner, channels, window, bias, act):
    """What a layer with a window prints: sizes, then what is not usual. As in 1.x, that leaves out
    the padding of outputs."""
    n = len(window['kernel'])
    parts = [f'{inner or None} -> {channels}', f'kernel_size={window["kernel"]}', f'stride={window["stride"]}']
    for name, what, usual in (('padding', 'pad', (0,) * n), ('dilation', 'dilate', (1,) * n), ('groups', 'num_group', 1)):
        if window.get(what, usual) != usual:
            parts.append(f'{name}={window[what]}')
    if bias is None:
        parts.append('bias=False')
    if act is not None:
        parts.append(repr(act))
    return f'{who}({", ".join(parts)})'


class _Conv(HybridBlock):
    """What all convolutions share. `adj` is the output padding, for transposed ones.

    Layers of 1.x programs derive from it too, with an operator and a kernel of their own.
    """

    _ndim = None    # as many axes as the kernel has

    def __init__(self, channels, kernel_size, strides, padding, dilation, groups, layout, in_channels=0, activation=None, use_bias=True,
                 weight_initializer=None, bias_initializer='zeros', op_name='Convolution', adj=None, prefix=None, params=None, **kwargs):
        super().__init__(prefix=prefix, params=params, **kwargs)
        self._op_name = op_name
        n, who = self._ndim or len(kernel_size), type(self).__name__
        _check_layout(layout, n, who)
        kernel = _tuple(kernel_size, n, 'kernel_size')
        if not isinstance(channels, numbers.Integral):
            raise error_class(MXNetError, TypeError)(f'[nn.{who}] channels={channels!r}; an integer is accepted')
        self._channels = channels
        self._in_channels = in_channels
        self._kwargs = {'kernel': kernel, 'stride': _tuple(strides, n, 'strides'), 'dilate': _tuple(dilation, n, 'dilation'),
                        'pad': _tuple(padding, n, 'padding'), 'num_filter': channels, 'num_group': groups, 'no_bias': not use_bias,
                        'layout': layout}
        if adj is not None:
            self.outpad = self._kwargs['adj'] = _tuple(adj, n, 'output_padding')
        assert channels > 0, f'[nn.{who}] channels={channels}; more than 0 is accepted'
        for what, count in (('channels', channels), ('in_channels', in_channels)):
            if count % groups:
                raise error_class(MXNetError, ValueError, AssertionError)(
                    f'[nn.{who}] {what}={count} given with groups={groups}; a multiple of groups is accepted')
        if self._op_name == 'Deconvolution':
            outer, inner = in_channels, channels // groups
        else:
            outer, inner = channels, in_channels // groups
        shape = (outer, inner) + kernel if layout[1] == 'C' else (outer,) + kernel + (inner,)
        with self.name_scope():
            self.weight = self.params.get('weight', shape=shape, init=weight_initializer, allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(channels,), init=bias_initializer, allow_deferred_init=True) if use_bias else None
            self.act = Activation(activation, prefix=activation + '_') if activation is not None else None

    def _alias(self):
        return 'conv'

    def hybrid_forward(self, F, x, weight, bias=None):
        operator = getattr(F, self._op_name)
        out = operator(x, weight, name='fwd', **self._kwargs) if bias is None else operator(x, weight, bias, name='fwd', **self._kwargs)
        return out if self.act is None else self.act(out)

    def __repr__(self):
        k, shape = self._kwargs, self.weight.shape
        inner = shape[0] if self._op_name == 'Deconvolution' else shape[1 if k['layout'][1] == 'C' else -1]
        return _described(type(self).__name__, inner, self._channels, k, self.bias, self.act)


class Conv1D(_Conv):
    """Convolution (correlation) over one axis: (N, C, W) to (N, channels, W'), W' = (W + 2
    padding - dilation (kernel - 1) - 1) // stride + 1.

    weight: (channels, in_channels / groups, kernel); with layout 'NWC', channels last everywhere.
    Arguments are those of Conv2D, with one size in place of two.

    >>> layer = mx.gluon.nn.Conv1D(channels=8, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 4, 10))).shape, layer.weight.shape
    ((2, 8, 10), (8, 4, 3))
    """

    _ndim = 1

    def __init__(self, channels, kernel_size, strides=1, padding=0, dilation=1, groups=1, layout='NCW', activation=None, use_bias=True,
                 weight_initializer=None, bias_initializer='zeros', in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
                         weight_initializer, bias_initializer, **kwargs)


class Conv2D(_Conv):
    """Convolution (correlation) over two axes: (N, C, H, W) to (N, channels, H', W'), sizes as for
    Conv1D.

    weight: (channels, in_channels / groups, kernel height, kernel width); with layout 'NHWC',
    channels last everywhere. float16, bfloat16, float32 and float64. ValueError where groups do
    not divide the channels; an AssertionError names a layout or a number of sizes that is not
    accepted.

    Parameters
    ----------
    channels : int
        Channels of the result, which is the number of filters.
    kernel_size : int or tuple of 2 ints
        Height and width of the window.
    strides : int or tuple of 2 ints
        Steps of the window.
    padding : int or tuple of 2 ints
        Zeros on both sides of each axis.
    dilation : int or tuple of 2 ints
        Distance between the elements of the window.
    groups : int
        Parts that input and output channels are divided into; each sees one part of the input.
    layout : str
        'NCHW' or 'NHWC': the order of batch, channels, height and width.
    activation : str, optional
        Name of what is applied to the result, such as 'relu'; nothing without it.
    use_bias : bool
        Whether a number of each channel is added.
    weight_initializer, bias_initializer : str or Initializer
        First values; without one, those of `initialize`.
    in_channels : int
        Channels of the input; 0: the first batch tells.

    >>> layer = mx.gluon.nn.Conv2D(8, kernel_size=3, strides=2, padding=1, activation='relu')
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 32, 32))).shape, layer.weight.shape
    ((2, 8, 16, 16), (8, 3, 3, 3))
    """

    _ndim = 2

    def __init__(self, channels, kernel_size, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, layout='NCHW', activation=None,
                 use_bias=True, weight_initializer=None, bias_initializer='zeros', in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
                         weight_initializer, bias_initializer, **kwargs)


class Conv3D(_Conv):
    """Convolution (correlation) over three axes: (N, C, D, H, W) to (N, channels, D', H', W'),
    sizes as for Conv1D. Arguments are those of Conv2D, with three sizes in place of two.

    >>> layer = mx.gluon.nn.Conv3D(channels=8, kernel_size=3)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 6, 8, 8))).shape
    (2, 8, 4, 6, 6)
    """

    _ndim = 3

    def __init__(self, channels, kernel_size, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1, layout='NCDHW',
                 activation=None, use_bias=True, weight_initializer=None, bias_initializer='zeros', in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
                         weight_initializer, bias_initializer, **kwargs)


class Conv1DTranspose(_Conv):
    """Transposed convolution: (N, C, W) to (N, channels, W'), W' = (W - 1) stride - 2 padding +
    dilation (kernel - 1) + output_padding + 1.

    weight: (in_channels, channels / groups, kernel). Arguments are those of Conv2D, and
    `output_padding`: elements that are added at the end of an axis, fewer than its stride.

    >>> layer = mx.gluon.nn.Conv1DTranspose(channels=8, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 4, 10))).shape
    (2, 8, 20)
    """

    _ndim = 1

    def __init__(self, channels, kernel_size, strides=1, padding=0, output_padding=0, dilation=1, groups=1, layout='NCW', activation=None,
                 use_bias=True, weight_initializer=None, bias_initializer='zeros', in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
                         weight_initializer, bias_initializer, 'Deconvolution', output_padding, **kwargs)


class Conv2DTranspose(_Conv):
    """Transposed convolution over two axes, sizes as for Conv1DTranspose.

    >>> layer = mx.gluon.nn.Conv2DTranspose(channels=3, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 8, 16, 16))).shape
    (2, 3, 32, 32)
    """

    _ndim = 2

    def __init__(self, channels, kernel_size, strides=(1, 1), padding=(0, 0), output_padding=(0, 0), dilation=(1, 1), groups=1,
                 layout='NCHW', activation=None, use_bias=True, weight_initializer=None, bias_initializer='zeros', in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
                         weight_initializer, bias_initializer, 'Deconvolution', output_padding, **kwargs)


class Conv3DTranspose(_Conv):
    """Transposed convolution over three axes, sizes as for Conv1DTranspose.

    >>> layer = mx.gluon.nn.Conv3DTranspose(channels=3, kernel_size=2, strides=2)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 8, 4, 4, 4))).shape
    (2, 3, 8, 8, 8)
    """

    _ndim = 3

    def __init__(self, channels, kernel_size, strides=(1, 1, 1), padding=(0, 0, 0), output_padding=(0, 0, 0), dilation=(1, 1, 1), groups=1,
                 layout='NCDHW', activation=None, use_bias=True, weight_initializer=None,
                 bias_initializer='zeros', in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
                         weight_initializer, bias_initializer, 'Deconvolution', output_padding, **kwargs)


class _Pooling(HybridBlock):
    """What all pooling layers share. `strides` None means the size of the window."""

    def __init__(self, pool_size, strides, padding, ceil_mode, global_pool, pool_type, layout, count_include_pad=None, **kwargs):
        super().__init__(**kwargs)
        n = len(pool_size)
        _check_layout(layout, n, type(self).__name__)
        self._kwargs = {'kernel': pool_size, 'stride': pool_size if strides is None else _tuple(strides, n, 'strides'),
                        'pad': _tuple(padding, n, 'padding'), 'global_pool': global_pool, 'pool_type': pool_type, 'layout': layout,
                        'pooling_convention': 'full' if ceil_mode else 'valid'}
        if count_include_pad is not None:
            self._kwargs['count_include_pad'] = count_include_pad

    def _alias(self):
        return 'pool'

    def hybrid_forward(self, F, x):
        return F.Pooling(x, name='fwd', **self._kwargs)

    def __repr__(self):
        k = self._kwargs
        return (f'{type(self).__name__}(size={k["kernel"]}, stride={k["stride"]}, padding={k["pad"]}, '
                f'ceil_mode={k["pooling_convention"] == "full"}, global_pool={k["global_pool"]}, pool_type={k["pool_type"]}, '
                f'layout={k["layout"]})')


class MaxPool1D(_Pooling):
    """Maximum over windows of the axis W: (N, C, W) to (N, C, W'), W' = floor((W + 2 padding -
    size) / stride) + 1, ceil with `ceil_mode`.

    >>> mx.gluon.nn.MaxPool1D(2)(mx.nd.array([[[1, 3, 5, 7]]])).asnumpy()
    array([[[3., 7.]]], dtype=float32)
    """

    def __init__(self, pool_size=2, strides=None, padding=0, layout='NCW', ceil_mode=False, **kwargs):
        super().__init__(_tuple(pool_size, 1, 'pool_size'), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class MaxPool2D(_Pooling):
    """Maximum over windows of two axes, sizes as for MaxPool1D.

    >>> mx.gluon.nn.MaxPool2D()(mx.nd.array([[[[1, 3], [5, 7]]]])).asnumpy()
    array([[[[7.]]]], dtype=float32)
    """

    def __init__(self, pool_size=(2, 2), strides=None, padding=0, layout='NCHW', ceil_mode=False, **kwargs):
        super().__init__(_tuple(pool_size, 2, 'pool_size'), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class MaxPool3D(_Pooling):
    """Maximum over windows of three axes, sizes as for MaxPool1D.

    >>> mx.gluon.nn.MaxPool3D(2)(mx.nd.ones((1, 2, 4, 4, 4))).shape
    (1, 2, 2, 2, 2)
    """

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding=0, ceil_mode=False, layout='NCDHW', **kwargs):
        super().__init__(_tuple(pool_size, 3, 'pool_size'), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class AvgPool1D(_Pooling):
    """Mean over windows of the axis W; `count_include_pad` counts padding as zeros.

    >>> mx.gluon.nn.AvgPool1D(2)(mx.nd.array([[[1, 3, 5, 7]]])).asnumpy()
    array([[[2., 6.]]], dtype=float32)
    """

    def __init__(self, pool_size=2, strides=None, padding=0, layout='NCW', ceil_mode=False, count_include_pad=True, **kwargs):
        super().__init__(_tuple(pool_size, 1, 'pool_size'), strides, padding, ceil_mode, False, 'avg', layout, count_include_pad, **kwargs)


class AvgPool2D(_Pooling):
    """Mean over windows of two axes; `count_include_pad` counts padding as zeros.

    >>> mx.gluon.nn.AvgPool2D()(mx.nd.array([[[[1, 3], [5, 7]]]])).asnumpy()
    array([[[[4.]]]], dtype=float32)
    """

    def __init__(self, pool_size=(2, 2), strides=None, padding=0, ceil_mode=False, layout='NCHW', count_include_pad=True, **kwargs):
        super().__init__(_tuple(pool_size, 2, 'pool_size'), strides, padding, ceil_mode, False, 'avg', layout, count_include_pad, **kwargs)


class AvgPool3D(_Pooling):
    """Mean over windows of three axes; `count_include_pad` counts padding as zeros.

    >>> mx.gluon.nn.AvgPool3D()(mx.nd.ones((1, 2, 4, 4, 4))).shape
    (1, 2, 2, 2, 2)
    """

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding=0, ceil_mode=False, layout='NCDHW', count_include_pad=True, **kwargs):
        super().__init__(_tuple(pool_size, 3, 'pool_size'), strides, padding, ceil_mode, False, 'avg', layout, count_include_pad, **kwargs)


class _GlobalPooling(_Pooling):
    def __init__(self, n, pool_type, layout, **kwargs):
        super().__init__((1,) * n, None, 0, True, True, pool_type, layout, **kwargs)


class GlobalMaxPool1D(_GlobalPooling):
    """Maximum over W: (N, C, W) to (N, C, 1).

    >>> mx.gluon.nn.GlobalMaxPool1D()(mx.nd.array([[[1, 2, 6]]])).asnumpy()
    array([[[6.]]], dtype=float32)
    """

    def __init__(self, layout='NCW', **kwargs):
        super().__init__(1, 'max', layout, **kwargs)


class GlobalMaxPool2D(_GlobalPooling):
    """Maximum over H and W: (N, C, H, W) to (N, C, 1, 1).

    >>> mx.gluon.nn.GlobalMaxPool2D()(mx.nd.ones((2, 3, 5, 7))).shape
    (2, 3, 1, 1)
    """

    def __init__(self, layout='NCHW', **kwargs):
        super().__init__(2, 'max', layout, **kwargs)


class GlobalMaxPool3D(_GlobalPooling):
    """Maximum over D, H and W.

    >>> mx.gluon.nn.GlobalMaxPool3D()(mx.nd.ones((2, 3, 4, 5, 6))).shape
    (2, 3, 1, 1, 1)
    """

    def __init__(self, layout='NCDHW', **kwargs):
        super().__init__(3, 'max', layout, **kwargs)


class GlobalAvgPool1D(_GlobalPooling):
    """Mean over W: (N, C, W) to (N, C, 1).

    >>> mx.gluon.nn.GlobalAvgPool1D()(mx.nd.array([[[1, 2, 6]]])).asnumpy()
    array([[[3.]]], dtype=float32)
    """

    def __init__(self, layout='NCW', **kwargs):
        super().__init__(1, 'avg', layout, **kwargs)


class GlobalAvgPool2D(_GlobalPooling):
    """Mean over H and W: (N, C, H, W) to (N, C, 1, 1).

    >>> mx.gluon.nn.GlobalAvgPool2D()(mx.nd.ones((2, 3, 5, 7))).shape
    (2, 3, 1, 1)
    """

    def __init__(self, layout='NCHW', **kwargs):
        super().__init__(2, 'avg', layout, **kwargs)


class GlobalAvgPool3D(_GlobalPooling):
    """Mean over D, H and W.

    >>> mx.gluon.nn.GlobalAvgPool3D()(mx.nd.ones((2, 3, 4, 5, 6))).shape
    (2, 3, 1, 1, 1)
    """

    def __init__(self, layout='NCDHW', **kwargs):
        super().__init__(3, 'avg', layout, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Pads H and W of (N, C, H, W) by mirroring at the border, without repeating the border itself:
    `padding` on all sides, or 8 numbers, (before, after) per axis, of which the first four are
    0.

    >>> x = mx.nd.arange(9).reshape((1, 1, 3, 3))
    >>> mx.gluon.nn.ReflectionPad2D(1)(x)[0, 0].asnumpy()
    array([[4., 3., 4., 5., 4.],
           [1., 0., 1., 2., 1.],
           [4., 3., 4., 5., 4.],
           [7., 6., 7., 8., 7.],
           [4., 3., 4., 5., 4.]], dtype=float32)
    """

    def __init__(self, padding=0, **kwargs):
        super().__init__(**kwargs)
        self._padding = (0, 0, 0, 0) + (padding,) * 4 if isinstance(padding, int) else tuple(padding)
        assert len(self._padding) == 8 and not any(self._padding[:4]) and min(self._padding) >= 0, (
            f'[nn.ReflectionPad2D] padding={padding} given; an integer, or 8 integers that begin '
            f'with four zeros, not negative, are accepted')

    def hybrid_forward(self, F, x):
        return F.pad(x, mode='reflect', pad_width=self._padding)
