"""DenseNet (Huang et al., "Densely Connected Convolutional Networks", 2016)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent, Identity
from ..model_store import load_published

__all__ = ['DenseNet', 'densenet121', 'densenet161', 'densenet169', 'densenet201']


def _make_dense_layer(growth_rate, bn_size, dropout):
    """The input joined with `growth_rate` new channels computed from it."""
    new_features = nn.HybridSequential(prefix='')
    new_features.add(nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(bn_size * growth_rate, kernel_size=1, use_bias=False),
                     nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(growth_rate, kernel_size=3, padding=1, use_bias=False))
    if dropout:
        new_features.add(nn.Dropout(dropout))
    joined = HybridConcurrent(axis=1, prefix='')
    joined.add(Identity(), new_features)
    return joined


def _make_dense_block(num_layers, bn_size, growth_rate, dropout, stage_index):
    block = nn.HybridSequential(prefix=f'stage{stage_index}_')
    with block.name_scope():
        for _ in range(num_layers):
            block.add(_make_dense_layer(growth_rate, bn_size, dropout))
    return block


def _make_transition(num_output_features):
    """Fewer channels and half the size, between dense blocks."""
    layers = nn.HybridSequential(prefix='')
    layers.add(nn.BatchNorm(), nn.Activation('relu'), nn.Conv2D(num_output_features, kernel_size=1, use_bias=False),
               nn.AvgPool2D(pool_size=2, strides=2))
    return layers


class DenseNet(HybridBlock):
    """DenseNet: `growth_rate` channels more per layer, `block_config` layers per block, `bn_size` *
    growth_rate channels in each bottleneck. Input (N, 3, 224, 224), output (N, classes).

    >>> net = mx.gluon.model_zoo.vision.DenseNet(64, 32, [2, 2, 2, 2], classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """

    def __init__(self, num_init_features, growth_rate, block_config, bn_size=4, dropout=0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='')
            self.features.add(nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False), nn.BatchNorm(),
                              nn.Activation('relu'), nn.MaxPool2D(pool_size=3, strides=2, padding=1))
            channels = num_init_features
            for i, count in enumerate(block_config):
                self.features.add(_make_dense_block(count, bn_size, growth_rate, dropout, i + 1))
                channels += count * growth_rate
                if i != len(block_config) - 1:
                    channels //= 2
                    self.features.add(_make_transition(channels))
            self.features.add(nn.BatchNorm(), nn.Activation('relu'), nn.AvgPool2D(pool_size=7), nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


# depth: (channels of the stem, growth rate, layers per block)
densenet_spec = {121: (64, 32, [6, 12, 24, 16]), 161: (96, 48, [6, 12, 36, 24]),
                 169: (64, 32, [6, 12, 32, 32]), 201: (64, 32, [6, 12, 48, 32])}


@accepts_device
def get_densenet(num_layers, pretrained=False, ctx=None, root=None, **kwargs):
    """DenseNet of 121, 161, 169 or 201 layers; with `pretrained`, its published parameters on
    `ctx`."""
    net = DenseNet(*densenet_spec[num_layers], **kwargs)
    return load_published(net, f'densenet{num_layers}', ctx, root) if pretrained else net


def densenet121(**kwargs):
    """DenseNet of 121 layers; arguments as for `get_densenet`.

    With 1000 classes it has 8.0 million parameters.

    >>> net = mx.gluon.model_zoo.vision.densenet121(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_densenet(121, **kwargs)


def densenet161(**kwargs):
    """DenseNet of 161 layers.

    With 1000 classes it has 28.7 million parameters.

    >>> net = mx.gluon.model_zoo.vision.densenet161(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_densenet(161, **kwargs)


def densenet169(**kwargs):
    """DenseNet of 169 layers.

    With 1000 classes it has 14.1 million parameters.

    >>> net = mx.gluon.model_zoo.vision.densenet169(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_densenet(169, **kwargs)


def densenet201(**kwargs):
    """DenseNet of 201 layers.

    With 1000 classes it has 20.0 million parameters.

    >>> net = mx.gluon.model_zoo.vision.densenet201(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_densenet(201, **kwargs)
