"""Networks of onnx_models.py that take less than a millisecond: the four of MLPerf Tiny
(Banbury et al., 2021), and what programs in control, tables, time series and games call most.
Needs torch and torchvision."""
import functools

from torch import nn
from torch.nn import functional as F

import onnx_nets

conv_bn = functools.partial(onnx_nets.conv_bn, act=nn.ReLU)


def dense_bn(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU())


# MLPerf Tiny.

class TinyAutoencoder(nn.Sequential):
    """Unusual sounds of machines: 640 numbers through 8."""

    def __init__(self):
        widths = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128)
        super().__init__(*(dense_bn(a, b) for a, b in zip(widths, widths[1:])), nn.Linear(128, 640))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(conv_bn(inputs, outputs, 3, stride), nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
                                  nn.BatchNorm2d(outputs))
        self.past = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.body(x) + self.past(x))


class TinyResNet(nn.Sequential):
    """ResNet-8 for images of 32x32."""

    def __init__(self):
        super().__init__(conv_bn(3, 16), Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10), nn.Softmax(1))


class TinyKeywords(nn.Sequential):
    """DS-CNN: words in 49 frames of 10 coefficients."""

    def __init__(self):
        apart = (layer for _ in range(4) for layer in (conv_bn(64, 64, groups=64), conv_bn(64, 64, 1)))
        super().__init__(nn.Conv2d(1, 64, (10, 4), (2, 2), (4, 1), bias=False), nn.BatchNorm2d(64), nn.ReLU(), *apart,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 12), nn.Softmax(1))


class TinyPersons(nn.Sequential):
    """MobileNetV1 of a quarter of the width: is somebody in an image of 96x96?"""

    def __init__(self):
        plan = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1))
        layers, width = [conv_bn(3, 8, 3, 2)], 8
        for outputs, stride in plan:
            layers += [conv_bn(width, width, 3, stride, groups=width), conv_bn(width, outputs, 1)]
            width = outputs
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 2), nn.Softmax(1))


# Others.

class LeNet(nn.Sequential):
    """LeCun et al., 1998, with ReLU and maxima."""

    def __init__(self):
        super().__init__(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


class Table(nn.Sequential):
    """Rows of 40 columns."""

    def __init__(self):
        super().__init__(nn.BatchNorm1d(40), dense_bn(40, 256), dense_bn(256, 128), dense_bn(128, 64), nn.Linear(64, 1))


class Series(nn.Module):
    """A temporal convolutional network (Bai et al., 2018): 8 signals of 128 steps."""

    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Conv1d(8, width, 1)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 3, dilation=2 ** i) for i in range(5))
        self.last = nn.Linear(width, 8)

    def forward(self, x):
        x = self.first(x)
        for i, layer in enumerate(self.layers):
            x = x + F.relu(layer(F.pad(x, (2 * 2 ** i, 0))))
        return self.last(x[:, :, -1])


class Generator(nn.Sequential):
    """DCGAN (Radford et al., 2016) for images of 32x32."""

    def __init__(self, width=32):
        def up(inputs, outputs, stride=2, pad=1):
            return nn.ConvTranspose2d(inputs, outputs, 4, stride, pad, bias=False)
        super().__init__(up(64, 4 * width, 1, 0), nn.BatchNorm2d(4 * width), nn.ReLU(), up(4 * width, 2 * width), nn.BatchNorm2d(2 * width),
                         nn.ReLU(), up(2 * width, width), nn.BatchNorm2d(width), nn.ReLU(), up(width, 3), nn.Tanh())


class Policy(nn.Sequential):
    """A robot's controller: 48 numbers in, 12 out."""

    def __init__(self):
        super().__init__(nn.Linear(48, 512), nn.ELU(), nn.Linear(512, 256), nn.ELU(), nn.Linear(256, 128), nn.ELU(), nn.Linear(128, 12))


class Game(nn.Sequential):
    """Mnih et al., 2015: what an action is worth, from four frames."""

    def __init__(self):
        super().__init__(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(),
                         nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6))


class Gru(nn.Module):
    """One number of the future from 48 steps of 16 signals."""

    def __init__(self):
        super().__init__()
        self.net, self.last = nn.GRU(16, 64, batch_first=True), nn.Linear(64, 1)

    def forward(self, x):
        return self.last(self.net(x)[0][:, -1])


class Sentence(nn.Module):
    """A classifier of 32 words: one layer of attention."""

    def __init__(self):
        super().__init__()
        self.words, self.net = nn.Embedding(2000, 128), nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.last = nn.Linear(128, 4)

    def forward(self, ids):
        return self.last(self.net(self.words(ids)).mean(1))
