"""Deformable convolutions, whose offsets a convolution of their own computes."""
from ...block import HybridBlock
from ...nn.activations import Activation
from ...nn.conv_layers import _described, _tuple

__all__ = ['DeformableConvolution', 'ModulatedDeformableConvolution']


class _Deformable(HybridBlock):
    """What both share. The offsets are a convolution of the input with the same window."""

    _numbers = 2  # that each element of the window needs

    def __init__(self, channels, kernel_size=(1, 1), strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, num_deformable_group=1,
                 layout='NCHW', use_bias=True, in_channels=0, activation=None, weight_initializer=None, bias_initializer='zeros',
                 offset_weight_initializer='zeros', offset_bias_initializer='zeros', offset_use_bias=True, op_name=None, adj=None,
                 prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        who = type(self).__name__
        assert layout == 'NCHW', f'[cnn.{who}] layout={layout!r} given; NCHW is accepted'
        assert adj is None, f'[cnn.{who}] adj={adj} given; None is accepted'
        kernel = _tuple(kernel_size, 2, 'kernel_size')
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name
        window = {'kernel': kernel, 'stride': _tuple(strides, 2, 'strides'), 'dilate': _tuple(dilation, 2, 'dilation'),
                  'pad': _tuple(padding, 2, 'padding')}
        offsets = num_deformable_group * kernel[0] * kernel[1] * self._numbers
        self._kwargs_offset = dict(window, num_filter=offsets, num_group=groups, no_bias=not offset_use_bias, layout=layout)
        self._kwargs_deformable_conv = dict(window, num_filter=channels, num_group=groups, num_deformable_group=num_deformable_group,
                                            no_bias=not use_bias, layout=layout)
        inner = (in_channels // groups,) + kernel
        kept = {'offset_weight': ((offsets,) + inner, offset_weight_initializer),
                'deformable_conv_weight': ((channels,) + inner, weight_initializer)}
        if offset_use_bias:
            kept['offset_bias'] = (offsets,), offset_bias_initializer
        if use_bias:
            kept['deformable_conv_bias'] = (channels,), bias_initializer
        with self.name_scope():
            for name in self._order:
                shape, init = kept.get(name, (None, None))
                setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True) if name in kept else None)
            self.act = Activation(activation, prefix=activation + '_') if activation else None

    _order = ('offset_weight', 'offset_bias', 'deformable_conv_weight', 'deformable_conv_bias')

    def _offset(self, F, x, weight, bias):
        inputs = [x, weight] if bias is None else [x, weight, bias]
        return F.Convolution(*inputs, cudnn_off=True, **self._kwargs_offset)

    def _convolve(self, operator, *inputs):
        out = operator(*[i for i in inputs if i is not None], name='fwd', **self._kwargs_deformable_conv)
        return out if self.act is None else self.act(out)


class DeformableConvolution(_Deformable):
    """Convolution whose window's elements are moved by offsets that a convolution of the input
    computes (Dai et al., "Deformable Convolutional Networks", ICCV 2017): (N, C, H, W) to
    (N, channels, H', W'), sizes as for nn.Conv2D.

    offset_weight: (2 num_deformable_group kernel_height kernel_width, C / groups, kernel...), which
    begins as zeros: then it is an ordinary convolution with deformable_conv_weight, (channels,
    C / groups, kernel...).
    """

    def __init__(self, channels, kernel_size=(1, 1), strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, num_deformable_group=1,
                 layout='NCHW', use_bias=True, in_channels=0, activation=None, weight_initializer=None, bias_initializer='zeros',
                 offset_weight_initializer='zeros', offset_bias_initializer='zeros', offset_use_bias=True,
                 op_name='DeformableConvolution', adj=None, prefix=None, params=None):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout, use_bias, in_channels,
                         activation, weight_initializer, bias_initializer, offset_weight_initializer, offset_bias_initializer,
                         offset_use_bias, op_name, adj, prefix, params)

    def _alias(self):
        return 'deformable_conv'

    def hybrid_forward(self, F, x, offset_weight, deformable_conv_weight, offset_bias=None, deformable_conv_bias=None):
        offset = self._offset(F, x, offset_weight, offset_bias)
        return self._convolve(F.contrib.DeformableConvolution, x, offset, deformable_conv_weight, deformable_conv_bias)

    def __repr__(self):
        return _described(type(self).__name__, self.deformable_conv_weight.shape[1], self._channels, self._kwargs_deformable_conv,
                          self.deformable_conv_bias, self.act)


class ModulatedDeformableConvolution(_Deformable):
    """DeformableConvolution whose samples are multiplied by twice a sigmoid that the same
    convolution computes (Zhu et al., "Deformable ConvNets v2", CVPR 2019).

    The convolution of the offsets has three numbers for each element of the window: all offsets
    come first, then what the sigmoids are of.
    """

    _numbers = 3
    _order = ('deformable_conv_weight', 'deformable_conv_bias', 'offset_weight', 'offset_bias')

    def __init__(self, channels, kernel_size=(1, 1), strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, num_deformable_group=1,
                 layout='NCHW', use_bias=True, in_channels=0, activation=None, weight_initializer=None, bias_initializer='zeros',
                 offset_weight_initializer='zeros', offset_bias_initializer='zeros', offset_use_bias=True,
                 op_name='ModulatedDeformableConvolution', adj=None, prefix=None, params=None):
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout, use_bias, in_channels,
                         activation, weight_initializer, bias_initializer, offset_weight_initializer, offset_bias_initializer,
                         offset_use_bias, op_name, adj, prefix, params)
        self.offset_split_index = self._kwargs_offset['num_filter'] // 3 * 2

    def _alias(self):
        return 'modulated_deformable_conv'

    def hybrid_forward(self, F, x, offset_weight, deformable_conv_weight, offset_bias=None, deformable_conv_bias=None):
        both = self._offset(F, x, offset_weight, offset_bias)
        offset = F.slice_axis(both, axis=1, begin=0, end=self.offset_split_index)
        mask = F.sigmoid(F.slice_axis(both, axis=1, begin=self.offset_split_index, end=None)) * 2
        return self._convolve(F.contrib.ModulatedDeformableConvolution, x, offset, mask, deformable_conv_weight, deformable_conv_bias)
