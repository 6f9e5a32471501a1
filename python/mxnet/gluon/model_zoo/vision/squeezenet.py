"""SqueezeNet (Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters",
2016)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import load_published

__all__ = ['SqueezeNet', 'squeezenet1_0', 'squeezenet1_1']


def _make_fire_conv(channels, kernel_size, padding=0):
    out = nn.HybridSequential(prefix='')
    out.add(nn.Conv2D(channels, kernel_size, padding=padding), nn.Activation('relu'))
    return out


def _make_fire(squeeze_channels, expand1x1_channels, expand3x3_channels):
    """1x1 down to `squeeze_channels`, then 1x1 and 3x3 side by side."""
    out = nn.HybridSequential(prefix='')
    out.add(_make_fire_conv(squeeze_channels, 1))
    paths = HybridConcurrent(axis=1, prefix='')
    paths.add(_make_fire_conv(expand1x1_channels, 1), _make_fire_conv(expand3x3_channels, 3, 1))
    out.add(paths)
    return out


# version: (channels and kernel of the stem, then per stage the (squeeze, expand) of its fire
# modules; a pool before each stage)
_SPEC = {'1.0': ((96, 7), [[(16, 64), (16, 64), (32, 128)], [(32, 128), (48, 192), (48, 192), (64, 256)], [(64, 256)]]),
         '1.1': ((64, 3), [[(16, 64), (16, 64)], [(32, 128), (32, 128)], [(48, 192), (48, 192), (64, 256), (64, 256)]])}


class SqueezeNet(HybridBlock):
    """SqueezeNet of `version` '1.0' or '1.1'. Input (N, 3, 224, 224), output (N, classes).

    >>> net = mx.gluon.model_zoo.vision.SqueezeNet('1.1', classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """

    def __init__(self, version, classes=1000, **kwargs):
        super().__init__(**kwargs)
        assert version in _SPEC, f"[squeezenet] version={version!r} given; '1.0' or '1.1' is accepted"
        (channels, kernel), stages = _SPEC[version]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='')
            self.features.add(nn.Conv2D(channels, kernel_size=kernel, strides=2), nn.Activation('relu'))
            for stage in stages:
                self.features.add(nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True))
                self.features.add(*[_make_fire(squeeze, expand, expand) for squeeze, expand in stage])
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix='')
            self.output.add(nn.Conv2D(classes, kernel_size=1), nn.Activation('relu'), nn.AvgPool2D(13), nn.Flatten())

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


@accepts_device
def get_squeezenet(version, pretrained=False, ctx=None, root=None, **kwargs):
    """SqueezeNet of `version`; with `pretrained`, its published parameters on `ctx`."""
    net = SqueezeNet(version, **kwargs)
    return load_published(net, f'squeezenet{version}', ctx, root) if pretrained else net


def squeezenet1_0(**kwargs):
    """SqueezeNet 1.0; arguments as for `get_squeezenet`.

    With 1000 classes it has 1.2 million parameters.

    >>> net = mx.gluon.model_zoo.vision.squeezenet1_0(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_squeezenet('1.0', **kwargs)


def squeezenet1_1(**kwargs):
    """SqueezeNet 1.1: the same accuracy for less than half the computation.

    With 1000 classes it has 1.2 million parameters.

    >>> net = mx.gluon.model_zoo.vision.squeezenet1_1(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_squeezenet('1.1', **kwargs)
