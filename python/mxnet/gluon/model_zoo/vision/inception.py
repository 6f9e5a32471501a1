"""Inception v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision",
2015)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import load_published

__all__ = ['Inception3', 'inception_v3']


def _make_basic_conv(channels, kernel_size, strides=1, padding=0, **kwargs):
    out = nn.HybridSequential(prefix='')
    out.add(nn.Conv2D(channels, kernel_size, strides, padding, use_bias=False, **kwargs), nn.BatchNorm(epsilon=0.001),
            nn.Activation('relu'))
    return out


def _make_branch(use_pool, *conv_settings):
    """Convolutions, each (channels, kernel, stride, padding) with the last ones optional or None,
    one after the other, after a pool ('avg', 'max') or none."""
    out = nn.HybridSequential(prefix='')
    if use_pool == 'avg':
        out.add(nn.AvgPool2D(pool_size=3, strides=1, padding=1))
    elif use_pool == 'max':
        out.add(nn.MaxPool2D(pool_size=3, strides=2))
    for settings in conv_settings:
        names = ('channels', 'kernel_size', 'strides', 'padding')
        out.add(_make_basic_conv(**{name: value for name, value in zip(names, settings) if value is not None}))
    return out


def _joined(prefix, make_branches):
    """Branches side by side, joined along the channels; all their names begin with `prefix`."""
    out = HybridConcurrent(axis=1, prefix=prefix)
    with out.name_scope():
        out.add(*make_branches())
    return out


def _make_A(pool_features, prefix):
    return _joined(prefix, lambda: (_make_branch(None, (64, 1)),
                                    _make_branch(None, (48, 1), (64, 5, 1, 2)),
                                    _make_branch(None, (64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
                                    _make_branch('avg', (pool_features, 1))))


def _make_B(prefix):
    return _joined(prefix, lambda: (_make_branch(None, (384, 3, 2)),
                                    _make_branch(None, (64, 1), (96, 3, 1, 1), (96, 3, 2)),
                                    _make_branch('max')))


def _make_C(channels_7x7, prefix):
    n, wide, tall = channels_7x7, ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    return _joined(prefix, lambda: (_make_branch(None, (192, 1)),
                                    _make_branch(None, (n, 1), (n, *wide), (192, *tall)),
                                    _make_branch(None, (n, 1), (n, *tall), (n, *wide), (n, *tall), (192, *wide)),
                                    _make_branch('avg', (192, 1))))


def _make_D(prefix):
    return _joined(prefix, lambda: (_make_branch(None, (192, 1), (320, 3, 2)),
                                    _make_branch(None, (192, 1), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2)),
                                    _make_branch('max')))


def _forked(*convs):
    """Convolutions, then 1x3 and 3x1 side by side."""
    out = nn.HybridSequential(prefix='')
    out.add(_make_branch(None, *convs))
    fork = HybridConcurrent(axis=1, prefix='')
    fork.add(_make_branch(None, (384, (1, 3), 1, (0, 1))), _make_branch(None, (384, (3, 1), 1, (1, 0))))
    out.add(fork)
    return out


def _make_E(prefix):
    return _joined(prefix, lambda: (_make_branch(None, (320, 1)),
                                    _forked((384, 1)),
                                    _forked((448, 1), (384, 3, 1, 1)),
                                    _make_branch('avg', (192, 1))))


def make_aux(classes):
    """The classifier beside the network, used while it trains."""
    out = nn.HybridSequential(prefix='')
    out.add(nn.AvgPool2D(pool_size=5, strides=3), _make_basic_conv(128, 1), _make_basic_conv(768, 5), nn.Flatten(), nn.Dense(classes))
    return out


class Inception3(HybridBlock):
    """Inception v3. Input (N, 3, 299, 299), output (N, classes).

    >>> net = mx.gluon.model_zoo.vision.Inception3(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 299, 299))[1]
    [(8, 10)]
    """

    def __init__(self, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='')
            self.features.add(_make_basic_conv(32, 3, 2), _make_basic_conv(32, 3), _make_basic_conv(64, 3, 1, 1),
                              nn.MaxPool2D(pool_size=3, strides=2),
                              _make_basic_conv(80, 1), _make_basic_conv(192, 3), nn.MaxPool2D(pool_size=3, strides=2),
                              _make_A(32, 'A1_'), _make_A(64, 'A2_'), _make_A(64, 'A3_'), _make_B('B_'),
                              _make_C(128, 'C1_'), _make_C(160, 'C2_'), _make_C(160, 'C3_'), _make_C(192, 'C4_'),
                              _make_D('D_'), _make_E('E1_'), _make_E('E2_'), nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


@accepts_device
def inception_v3(pretrained=False, ctx=None, root=None, **kwargs):
    """Inception v3; with `pretrained`, its published parameters on `ctx`.

    With 1000 classes it has 23.8 million parameters.

    >>> net = mx.gluon.model_zoo.vision.inception_v3(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 299, 299))[1]
    [(8, 10)]
    """
    net = Inception3(**kwargs)
    return load_published(net, 'inceptionv3', ctx, root) if pretrained else net
