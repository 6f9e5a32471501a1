"""ResNet v1 (He et al., "Deep Residual Learning for Image Recognition", 2015) and v2 ("Identity
Mappings in Deep Residual Networks", 2016)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ..model_store import load_published

__all__ = ['ResNetV1', 'ResNetV2', 'BasicBlockV1', 'BasicBlockV2', 'BottleneckV1', 'BottleneckV2', 'get_resnet',
           'resnet18_v1', 'resnet34_v1', 'resnet50_v1', 'resnet101_v1', 'resnet152_v1',
           'resnet18_v2', 'resnet34_v2', 'resnet50_v2', 'resnet101_v2', 'resnet152_v2']


def _conv3x3(channels, stride, in_channels):
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


def _shortcut(channels, stride, in_channels):
    return nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels)


class _ResidualV1(HybridBlock):
    """relu(body(x) + shortcut(x)); `_body` of the subclass makes the layers of the body."""

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix='')
        self.body.add(*self._body(channels, stride, in_channels))
        if downsample:
            self.downsample = nn.HybridSequential(prefix='')
            self.downsample.add(_shortcut(channels, stride, in_channels), nn.BatchNorm())
        else:
            self.downsample = None

    def hybrid_forward(self, F, x):
        residual = x
        x = self.body(x)
        if self.downsample is not None:
            residual = self.downsample(residual)
        return F.Activation(self._sum(x, residual), act_type='relu')

    @staticmethod
    def _sum(x, residual):
        return residual + x


class BasicBlockV1(_ResidualV1):
    """Two 3x3 convolutions, each with BatchNorm; for 18 and 34 layers.

    >>> block = mx.gluon.model_zoo.vision.BasicBlockV1(64, 2, downsample=True, in_channels=32)
    >>> block(mx.sym.var('data')).infer_shape(data=(8, 32, 16, 16))[1]
    [(8, 64, 8, 8)]
    """

    def _body(self, channels, stride, in_channels):
        return (_conv3x3(channels, stride, in_channels), nn.BatchNorm(), nn.Activation('relu'),
                _conv3x3(channels, 1, channels), nn.BatchNorm())


class BottleneckV1(_ResidualV1):
    """1x1 down to a quarter of the channels, 3x3, 1x1 up; for 50 layers and more. The stride is in
    the first convolution.

    >>> block = mx.gluon.model_zoo.vision.BottleneckV1(64, 2, downsample=True, in_channels=32)
    >>> block(mx.sym.var('data')).infer_shape(data=(8, 32, 16, 16))[1]
    [(8, 64, 8, 8)]
    """

    def _body(self, channels, stride, in_channels):
        return (nn.Conv2D(channels // 4, kernel_size=1, strides=stride), nn.BatchNorm(), nn.Activation('relu'),
                _conv3x3(channels // 4, 1, channels // 4), nn.BatchNorm(), nn.Activation('relu'),
                nn.Conv2D(channels, kernel_size=1, strides=1), nn.BatchNorm())

    @staticmethod
    def _sum(x, residual):
        return x + residual    # the order of the published graphs


class BasicBlockV2(HybridBlock):
    """BatchNorm and ReLU before each of two 3x3 convolutions; for 18 and 34 layers.

    >>> block = mx.gluon.model_zoo.vision.BasicBlockV2(64, 2, downsample=True, in_channels=32)
    >>> block(mx.sym.var('data')).infer_shape(data=(8, 32, 16, 16))[1]
    [(8, 64, 8, 8)]
    """

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = _shortcut(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F, x):
        residual = x
        x = F.Activation(self.bn1(x), act_type='relu')
        if self.downsample is not None:
            residual = self.downsample(x)
        x = F.Activation(self.bn2(self.conv1(x)), act_type='relu')
        return self.conv2(x) + residual


class BottleneckV2(HybridBlock):
    """BatchNorm and ReLU before each of 1x1 down, 3x3 with the stride, 1x1 up; for 50 layers and
    more.

    >>> block = mx.gluon.model_zoo.vision.BottleneckV2(64, 2, downsample=True, in_channels=32)
    >>> block(mx.sym.var('data')).infer_shape(data=(8, 32, 16, 16))[1]
    [(8, 64, 8, 8)]
    """

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = nn.Conv2D(channels // 4, kernel_size=1, strides=1, use_bias=False)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels // 4, stride, channels // 4)
        self.bn3 = nn.BatchNorm()
        self.conv3 = nn.Conv2D(channels, kernel_size=1, strides=1, use_bias=False)
        self.downsample = _shortcut(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F, x):
        residual = x
        x = F.Activation(self.bn1(x), act_type='relu')
        if self.downsample is not None:
            residual = self.downsample(x)
        x = F.Activation(self.bn2(self.conv1(x)), act_type='relu')
        x = F.Activation(self.bn3(self.conv2(x)), act_type='relu')
        return self.conv3(x) + residual


class _ResNet(HybridBlock):
    """What both versions share. `thumbnail` starts with one 3x3 convolution, for small images such
    as CIFAR's."""

    _norm_first = False

    def __init__(self, block, layers, channels, classes=1000, thumbnail=False, **kwargs):
        super().__init__(**kwargs)
        assert len(layers) == len(channels) - 1, (f'[resnet] {len(layers)} stages and {len(channels)} widths given; '
                                                  'one width more than stages is accepted')
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='')
            if self._norm_first:
                self.features.add(nn.BatchNorm(scale=False, center=False))
            if thumbnail:
                self.features.add(_conv3x3(channels[0], 1, 0))
            else:
                self.features.add(nn.Conv2D(channels[0], 7, 2, 3, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
                                  nn.MaxPool2D(3, 2, 1))
            for i, count in enumerate(layers):
                self.features.add(self._make_layer(block, count, channels[i + 1], 1 if i == 0 else 2, i + 1, in_channels=channels[i]))
            self._finish_features()
            self.output = nn.Dense(classes, in_units=channels[-1])

    def _finish_features(self):
        self.features.add(nn.GlobalAvgPool2D())

    def _make_layer(self, block, layers, channels, stride, stage_index, in_channels=0):
        """A stage of `layers` blocks; subclasses of 1.x programs call and override it."""
        stage = nn.HybridSequential(prefix=f'stage{stage_index}_')
        with stage.name_scope():
            stage.add(block(channels, stride, channels != in_channels, in_channels=in_channels, prefix=''))
            for _ in range(layers - 1):
                stage.add(block(channels, 1, False, in_channels=channels, prefix=''))
        return stage

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


class ResNetV1(_ResNet):
    """ResNet v1: `block` is BasicBlockV1 or BottleneckV1, `layers` the blocks per stage, `channels`
    the width of the stem and each stage.

    >>> zoo = mx.gluon.model_zoo.vision
    >>> net = zoo.ResNetV1(zoo.BasicBlockV1, [1, 1], [16, 16, 32], classes=10, thumbnail=True)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 32, 32))[1]
    [(8, 10)]
    """


class ResNetV2(_ResNet):
    """ResNet v2: `block` is BasicBlockV2 or BottleneckV2, other arguments as for ResNetV1.

    >>> zoo = mx.gluon.model_zoo.vision
    >>> net = zoo.ResNetV2(zoo.BasicBlockV2, [1, 1], [16, 16, 32], classes=10, thumbnail=True)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 32, 32))[1]
    [(8, 10)]
    """

    _norm_first = True

    def _finish_features(self):
        self.features.add(nn.BatchNorm(), nn.Activation('relu'), nn.GlobalAvgPool2D(), nn.Flatten())


# depth: (kind of block, blocks per stage, channels)
resnet_spec = {18: ('basic_block', [2, 2, 2, 2], [64, 64, 128, 256, 512]),
               34: ('basic_block', [3, 4, 6, 3], [64, 64, 128, 256, 512]),
               50: ('bottle_neck', [3, 4, 6, 3], [64, 256, 512, 1024, 2048]),
               101: ('bottle_neck', [3, 4, 23, 3], [64, 256, 512, 1024, 2048]),
               152: ('bottle_neck', [3, 8, 36, 3], [64, 256, 512, 1024, 2048])}
resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions = [{'basic_block': BasicBlockV1, 'bottle_neck': BottleneckV1},
                         {'basic_block': BasicBlockV2, 'bottle_neck': BottleneckV2}]


@accepts_device
def get_resnet(version, num_layers, pretrained=False, ctx=None, root=None, **kwargs):
    """ResNet of `version` 1 or 2 and 18, 34, 50, 101 or 152 layers (AssertionError for others);
    with `pretrained`, its published parameters on `ctx`.

    >>> net = mx.gluon.model_zoo.vision.get_resnet(2, 34, classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    assert num_layers in resnet_spec, f'[resnet] num_layers={num_layers} given; one of {list(resnet_spec)} is accepted'
    assert version in (1, 2), f'[resnet] version={version} given; 1 or 2 is accepted'
    kind, layers, channels = resnet_spec[num_layers]
    net = resnet_net_versions[version - 1](resnet_block_versions[version - 1][kind], layers, channels, **kwargs)
    return load_published(net, f'resnet{num_layers}_v{version}', ctx, root) if pretrained else net


def resnet18_v1(**kwargs):
    """ResNet v1 of 18 layers; arguments as for `get_resnet`.

    With 1000 classes it has 11.7 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet18_v1(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(1, 18, **kwargs)


def resnet34_v1(**kwargs):
    """ResNet v1 of 34 layers.

    With 1000 classes it has 21.8 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet34_v1(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(1, 34, **kwargs)


def resnet50_v1(**kwargs):
    """ResNet v1 of 50 layers.

    With 1000 classes it has 25.6 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet50_v1(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(1, 50, **kwargs)


def resnet101_v1(**kwargs):
    """ResNet v1 of 101 layers.

    With 1000 classes it has 44.6 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet101_v1(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(1, 101, **kwargs)


def resnet152_v1(**kwargs):
    """ResNet v1 of 152 layers.

    With 1000 classes it has 60.3 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet152_v1(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(1, 152, **kwargs)


def resnet18_v2(**kwargs):
    """ResNet v2 of 18 layers.

    With 1000 classes it has 11.7 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet18_v2(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(2, 18, **kwargs)


def resnet34_v2(**kwargs):
    """ResNet v2 of 34 layers.

    With 1000 classes it has 21.8 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet34_v2(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(2, 34, **kwargs)


def resnet50_v2(**kwargs):
    """ResNet v2 of 50 layers.

    With 1000 classes it has 25.5 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet50_v2(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(2, 50, **kwargs)


def resnet101_v2(**kwargs):
    """ResNet v2 of 101 layers.

    With 1000 classes it has 44.5 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet101_v2(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(2, 101, **kwargs)


def resnet152_v2(**kwargs):
    """ResNet v2 of 152 layers.

    With 1000 classes it has 60.2 million parameters.

    >>> net = mx.gluon.model_zoo.vision.resnet152_v2(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return get_resnet(2, 152, **kwargs)
