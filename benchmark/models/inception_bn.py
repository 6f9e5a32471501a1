"""Inception-BN, 1,000 classes, images of 224x224 (Ioffe and Szegedy, "Batch Normalization", arXiv
1502.03167, figure 5)."""
from mxnet.gluon import nn
from mxnet.gluon.contrib.nn import HybridConcurrent


def _conv(channels, kernel, stride=1, pad=0):
    out = nn.HybridSequential()
    out.add(nn.Conv2D(channels, kernel, stride, pad, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    return out


def _chain(*blocks):
    out = nn.HybridSequential()
    out.add(*blocks)
    return out


def _module(one, reduce3, three, reduce5, five, pool, projection, stride=1):
    """Four branches: 1x1, 3x3, two 3x3, pooled and projected; with stride 2 there is no 1x1 and the
    pool is not projected."""
    out = HybridConcurrent(axis=1)
    if one:
        out.add(_conv(one, 1))
    out.add(_chain(_conv(reduce3, 1), _conv(three, 3, stride, 1)),
            _chain(_conv(reduce5, 1), _conv(five, 3, 1, 1), _conv(five, 3, stride, 1)))
    pooled = (nn.AvgPool2D if pool == "avg" else nn.MaxPool2D)(3, stride, 1)
    out.add(_chain(pooled, _conv(projection, 1)) if projection else pooled)
    return out


def inception_bn():
    net = nn.HybridSequential()
    net.add(_conv(64, 7, 2, 3), nn.MaxPool2D(3, 2, 1), _conv(64, 1), _conv(192, 3, 1, 1), nn.MaxPool2D(3, 2, 1),
            _module(64, 64, 64, 64, 96, "avg", 32), _module(64, 64, 96, 64, 96, "avg", 64), _module(0, 128, 160, 64, 96, "max", 0, 2),
            _module(224, 64, 96, 96, 128, "avg", 128), _module(192, 96, 128, 96, 128, "avg", 128),
            _module(160, 128, 160, 128, 160, "avg", 96),
            _module(96, 128, 192, 160, 192, "avg", 96), _module(0, 128, 192, 192, 256, "max", 0, 2),
            _module(352, 192, 320, 160, 224, "avg", 128), _module(352, 192, 320, 192, 224, "max", 128),
            nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(1000))
    return net
