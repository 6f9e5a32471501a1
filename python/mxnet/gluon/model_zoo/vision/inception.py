"""Inception v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision",
2015)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import load_published

__all__ = ['Inception3', 'inception_v3']


def _conv(channels, kernel_size, strides=1, padding=0):
    out = nn.HybridSequential(prefix='')
    out.add(nn.Conv2D(channels, kernel_size, strides, padding, use_bias=False), nn.BatchNorm(epsilon=0.001), nn.Activation('relu'))
    return out


def _branch(*convs, pool=None):
    """Convolutions, each (channels, kernel, stride, padding) with the last ones optional, one after
    the other, maybe after a pool."""
    out = nn.HybridSequential(prefix='')
    if pool == 'avg':
        out.add(nn.AvgPool2D(pool_size=3, strides=1, padding=1))
    elif pool == 'max':
        out.add(nn.MaxPool2D(pool_size=3, strides=2))
    for settings in convs:
        out.add(_conv(*settings))
    return out


def _joined(prefix, make_branches):
    """Branches side by side, joined along the channels; all their names begin with `prefix`."""
    out = HybridConcurrent(axis=1, prefix=prefix)
    with out.name_scope():
        out.add(*make_branches())
    return out


def _a(pool_features, prefix):
    return _joined(prefix, lambda: (_branch((64, 1)),
                                    _branch((48, 1), (64, 5, 1, 2)),
                                    _branch((64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
                                    _branch((pool_features, 1), pool='avg')))


def _b(prefix):
    return _joined(prefix, lambda: (_branch((384, 3, 2)),
                                    _branch((64, 1), (96, 3, 1, 1), (96, 3, 2)),
                                    _branch(pool='max')))


def _c(n, prefix):
    wide, tall = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    return _joined(prefix, lambda: (_branch((192, 1)),
                                    _branch((n, 1), (n, *wide), (192, *tall)),
                                    _branch((n, 1), (n, *tall), (n, *wide), (n, *tall), (192, *wide)),
                                    _branch((192, 1), pool='avg')))


def _d(prefix):
    return _joined(prefix, lambda: (_branch((192, 1), (320, 3, 2)),
                                    _branch((192, 1), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2)),
                                    _branch(pool='max')))


def _forked(*convs):
    """Convolutions, then 1x3 and 3x1 side by side."""
    out = nn.HybridSequential(prefix='')
    out.add(_branch(*convs))
    fork = HybridConcurrent(axis=1, prefix='')
    fork.add(_branch((384, (1, 3), 1, (0, 1))), _branch((384, (3, 1), 1, (1, 0))))
    out.add(fork)
    return out


def _e(prefix):
    return _joined(prefix, lambda: (_branch((320, 1)),
                                    _forked((384, 1)),
                                    _forked((448, 1), (384, 3, 1, 1)),
                                    _branch((192, 1), pool='avg')))


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
            self.features.add(_conv(32, 3, 2), _conv(32, 3), _conv(64, 3, 1, 1), nn.MaxPool2D(pool_size=3, strides=2),
                              _conv(80, 1), _conv(192, 3), nn.MaxPool2D(pool_size=3, strides=2),
                              _a(32, 'A1_'), _a(64, 'A2_'), _a(64, 'A3_'), _b('B_'),
                              _c(128, 'C1_'), _c(160, 'C2_'), _c(160, 'C3_'), _c(192, 'C4_'),
                              _d('D_'), _e('E1_'), _e('E2_'), nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
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
