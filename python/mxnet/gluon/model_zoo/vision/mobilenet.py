"""MobileNet (Howard et al., 2017) and MobileNet v2 (Sandler et al., "Inverted Residuals and Linear
Bottlenecks", 2018)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ..model_store import load_published

__all__ = ['MobileNet', 'MobileNetV2', 'get_mobilenet', 'get_mobilenet_v2', 'mobilenet1_0', 'mobilenet0_75', 'mobilenet0_5',
           'mobilenet0_25', 'mobilenet_v2_1_0', 'mobilenet_v2_0_75', 'mobilenet_v2_0_5', 'mobilenet_v2_0_25']


class RELU6(HybridBlock):
    """Values cut off below 0 and above 6."""

    def hybrid_forward(self, F, x):
        return F.clip(x, 0, 6, name='relu6')


def _add_conv(out, channels=1, kernel=1, stride=1, pad=0, num_group=1, active=True, relu6=False):
    out.add(nn.Conv2D(channels, kernel, stride, pad, groups=num_group, use_bias=False), nn.BatchNorm(scale=True))
    if active:
        out.add(RELU6() if relu6 else nn.Activation('relu'))


def _add_conv_dw(out, dw_channels, channels, stride, relu6=False):
    _add_conv(out, dw_channels, kernel=3, stride=stride, pad=1, num_group=dw_channels, relu6=relu6)
    _add_conv(out, channels, relu6=relu6)


class LinearBottleneck(HybridBlock):
    """1x1 up to t times the channels, 3x3 per channel, 1x1 down without activation; the input is
    added when shapes agree."""

    def __init__(self, in_channels, channels, t, stride, **kwargs):
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        with self.name_scope():
            self.out = nn.HybridSequential()
            _add_conv(self.out, in_channels * t, relu6=True)
            _add_conv(self.out, in_channels * t, kernel=3, stride=stride, pad=1, num_group=in_channels * t, relu6=True)
            _add_conv(self.out, channels, active=False)

    def hybrid_forward(self, F, x):
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(HybridBlock):
    """MobileNet v1; `multiplier` scales the channels of every layer. Input (N, 3, 224, 224), output
    (N, classes).

    >>> net = mx.gluon.model_zoo.vision.MobileNet(multiplier=0.5, classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        widths = [int(c * multiplier) for c in [32, 64] + [128] * 2 + [256] * 2 + [512] * 6 + [1024] * 2]
        strides = [1, 2] * 3 + [1] * 5 + [2, 1]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='')
            with self.features.name_scope():
                _add_conv(self.features, widths[0], kernel=3, pad=1, stride=2)
                for before, after, stride in zip(widths, widths[1:], strides):
                    _add_conv_dw(self.features, before, after, stride)
                self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


class MobileNetV2(HybridBlock):
    """MobileNet v2; `multiplier` scales the channels of every layer but the last, which it never
    makes smaller than 1280.

    >>> net = mx.gluon.model_zoo.vision.MobileNetV2(multiplier=0.5, classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        widths = [int(c * multiplier) for c in [32, 16] + [24] * 2 + [32] * 3 + [64] * 4 + [96] * 3 + [160] * 3 + [320]]
        expansions = [1] + [6] * 16
        strides = [1, 2] * 2 + [1, 1, 2] + [1] * 6 + [2] + [1] * 3
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='features_')
            with self.features.name_scope():
                _add_conv(self.features, widths[0], kernel=3, stride=2, pad=1, relu6=True)
                for before, after, t, stride in zip(widths, widths[1:], expansions, strides):
                    self.features.add(LinearBottleneck(before, after, t, stride))
                _add_conv(self.features, int(1280 * multiplier) if multiplier > 1.0 else 1280, relu6=True)
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix='output_')
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix='pred_'), nn.Flatten())

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def _suffix(multiplier):
    """'1.0', '0.75', '0.5', '0.25': how published files spell the multiplier."""
    text = f'{multiplier:.2f}'
    return text[:-1] if text in ('1.00', '0.50') else text


@accepts_device
def get_mobilenet(multiplier, pretrained=False, ctx=None, root=None, **kwargs):
    """MobileNet v1; with `pretrained`, the published parameters for this multiplier (0.25, 0.5,
    0.75, 1) on `ctx`.

    >>> net = mx.gluon.model_zoo.vision.get_mobilenet(0.5, classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    net = MobileNet(multiplier, **kwargs)
    return load_published(net, f'mobilenet{_suffix(multiplier)}', ctx, root) if pretrained else net


@accepts_device
def get_mobilenet_v2(multiplier, pretrained=False, ctx=None, root=None, **kwargs):
    """MobileNet v2; with `pretrained`, the published parameters for this multiplier (0.25, 0.5,
    0.75, 1) on `ctx`.

    >>> net = mx.gluon.model_zoo.vision.get_mobilenet_v2(0.5, classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    net = MobileNetV2(multiplier, **kwargs)
    return load_published(net, f'mobilenetv2_{_suffix(multiplier)}', ctx, root) if pretrained else net


def mobilenet1_0(**kwargs):
    """MobileNet v1 with multiplier 1; arguments as for `get_mobilenet`.

    With 1000 classes it has 4.2 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet1_0(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs):
    """MobileNet v1 with multiplier 0.75.

    With 1000 classes it has 2.6 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet0_75(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs):
    """MobileNet v1 with multiplier 0.5.

    With 1000 classes it has 1.3 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet0_5(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs):
    """MobileNet v1 with multiplier 0.25.

    With 1000 classes it has 0.5 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet0_25(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs):
    """MobileNet v2 with multiplier 1; arguments as for `get_mobilenet_v2`.

    With 1000 classes it has 3.5 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet_v2_1_0(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs):
    """MobileNet v2 with multiplier 0.75.

    With 1000 classes it has 2.6 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet_v2_0_75(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs):
    """MobileNet v2 with multiplier 0.5.

    With 1000 classes it has 2.0 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet_v2_0_5(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs):
    """MobileNet v2 with multiplier 0.25.

    With 1000 classes it has 1.5 million parameters.

    >>> net = mx.gluon.model_zoo.vision.mobilenet_v2_0_25(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_mobilenet_v2(0.25, **kwargs)
