"""VGG (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
Recognition", 2014)."""
from .... import initializer
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ..model_store import load_published

__all__ = ['VGG', 'get_vgg', 'vgg11', 'vgg13', 'vgg16', 'vgg19', 'vgg11_bn', 'vgg13_bn', 'vgg16_bn', 'vgg19_bn']

# depth: (3x3 convolutions per stage, channels per stage)
vgg_spec = {11: ([1, 1, 2, 2, 2], [64, 128, 256, 512, 512]),
            13: ([2, 2, 2, 2, 2], [64, 128, 256, 512, 512]),
            16: ([2, 2, 3, 3, 3], [64, 128, 256, 512, 512]),
            19: ([2, 2, 4, 4, 4], [64, 128, 256, 512, 512])}


class VGG(HybridBlock):
    """Stages of 3x3 convolutions (with `batch_norm`, each followed by BatchNorm), halved by
    pooling, and three dense layers.

    >>> net = mx.gluon.model_zoo.vision.VGG([1, 1], [16, 32], classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 32, 32))[1]
    [(8, 10)]
    """

    def __init__(self, layers, filters, classes=1000, batch_norm=False, **kwargs):
        super().__init__(**kwargs)
        assert len(layers) == len(filters), f'[vgg] {len(layers)} stages and {len(filters)} widths given; as many of both are accepted'
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation='relu', weight_initializer='normal', bias_initializer='zeros'))
                self.features.add(nn.Dropout(rate=0.5))
            self.output = nn.Dense(classes, weight_initializer='normal', bias_initializer='zeros')

    def _make_features(self, layers, filters, batch_norm):
        """The convolutions; subclasses of 1.x programs call and override it."""
        features = nn.HybridSequential(prefix='')
        for count, channels in zip(layers, filters):
            for _ in range(count):
                features.add(nn.Conv2D(channels, kernel_size=3, padding=1, bias_initializer='zeros',
                                       weight_initializer=initializer.Xavier(rnd_type='gaussian', factor_type='out', magnitude=2)))
                if batch_norm:
                    features.add(nn.BatchNorm())
                features.add(nn.Activation('relu'))
            features.add(nn.MaxPool2D(strides=2))
        return features

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


@accepts_device
def get_vgg(num_layers, pretrained=False, ctx=None, root=None, **kwargs):
    """VGG of 11, 13, 16 or 19 layers (KeyError for others); with `pretrained`, its published
    parameters on `ctx`.

    >>> net = mx.gluon.model_zoo.vision.get_vgg(11, batch_norm=True, classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    net = VGG(*vgg_spec[num_layers], **kwargs)
    if pretrained:
        load_published(net, f'vgg{num_layers}{"_bn" if kwargs.get("batch_norm") else ""}', ctx, root)
    return net


def vgg11(**kwargs):
    """VGG of 11 layers; arguments as for `get_vgg`.

    With 1000 classes it has 132.9 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg11(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(11, **kwargs)


def vgg13(**kwargs):
    """VGG of 13 layers.

    With 1000 classes it has 133.0 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg13(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(13, **kwargs)


def vgg16(**kwargs):
    """VGG of 16 layers.

    With 1000 classes it has 138.4 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg16(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(16, **kwargs)


def vgg19(**kwargs):
    """VGG of 19 layers.

    With 1000 classes it has 143.7 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg19(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(19, **kwargs)


def vgg11_bn(**kwargs):
    """VGG of 11 layers with BatchNorm.

    With 1000 classes it has 132.9 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg11_bn(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(11, batch_norm=True, **kwargs)


def vgg13_bn(**kwargs):
    """VGG of 13 layers with BatchNorm.

    With 1000 classes it has 133.1 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg13_bn(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(13, batch_norm=True, **kwargs)


def vgg16_bn(**kwargs):
    """VGG of 16 layers with BatchNorm.

    With 1000 classes it has 138.4 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg16_bn(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(16, batch_norm=True, **kwargs)


def vgg19_bn(**kwargs):
    """VGG of 19 layers with BatchNorm.

    With 1000 classes it has 143.7 million parameters.

    >>> net = mx.gluon.model_zoo.vision.vgg19_bn(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_vgg(19, batch_norm=True, **kwargs)
