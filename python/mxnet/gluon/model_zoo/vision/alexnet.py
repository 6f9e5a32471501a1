"""AlexNet (Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014)."""
from ....util import accepts_device
from ... import nn
from ...block import HybridBlock
from ..model_store import load_published

__all__ = ['AlexNet', 'alexnet']


class AlexNet(HybridBlock):
    """Five convolutions and three dense layers; input (N, 3, 224, 224), output (N, classes).

    >>> net = mx.gluon.model_zoo.vision.AlexNet(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """

    def __init__(self, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='')
            with self.features.name_scope():
                self.features.add(nn.Conv2D(64, kernel_size=11, strides=4, padding=2, activation='relu'),
                                  nn.MaxPool2D(pool_size=3, strides=2),
                                  nn.Conv2D(192, kernel_size=5, padding=2, activation='relu'),
                                  nn.MaxPool2D(pool_size=3, strides=2),
                                  nn.Conv2D(384, kernel_size=3, padding=1, activation='relu'),
                                  nn.Conv2D(256, kernel_size=3, padding=1, activation='relu'),
                                  nn.Conv2D(256, kernel_size=3, padding=1, activation='relu'),
                                  nn.MaxPool2D(pool_size=3, strides=2),
                                  nn.Flatten(),
                                  nn.Dense(4096, activation='relu'), nn.Dropout(0.5),
                                  nn.Dense(4096, activation='relu'), nn.Dropout(0.5))
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


@accepts_device
def alexnet(pretrained=False, ctx=None, root=None, **kwargs):
    """AlexNet; with `pretrained`, its published parameters on `ctx`.

    With 1000 classes it has 61.1 million parameters.

    >>> net = mx.gluon.model_zoo.vision.alexnet(classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    net = AlexNet(**kwargs)
    return load_published(net, 'alexnet', ctx, root) if pretrained else net
