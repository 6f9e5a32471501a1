"""Networks of torchvision that the zoo has in another form."""
import functools

from .._startup.names import hint
from ..base import MXNetError, error_class
from ..gluon import nn
from ..gluon.model_zoo import vision
from ..gluon.model_zoo.vision.mobilenet import LinearBottleneck, _add_conv
from ..gluon.model_zoo.vision.resnet import _conv3x3

__all__ = ["NETS", "TorchBottleneck", "TorchMobileNetV2", "torch_net"]


class TorchBottleneck(vision.BottleneckV1):
    """A bottleneck with its stride in the 3x3 convolution, and no offsets in the others; `groups`
    and `base_width` as in ResNeXt and wide ResNets."""

    groups, base_width = 1, 64

    def _body(self, channels, stride, in_channels):
        width = channels // 4 * self.base_width // 64 * self.groups
        if self.groups == 1:
            middle = _conv3x3(width, stride, width)
        else:
            middle = nn.Conv2D(width, 3, stride, 1, groups=self.groups, use_bias=False, in_channels=width)
        return (nn.Conv2D(width, 1, use_bias=False, in_channels=in_channels), nn.BatchNorm(), nn.Activation('relu'),
                middle, nn.BatchNorm(), nn.Activation('relu'),
                nn.Conv2D(channels, 1, use_bias=False, in_channels=width), nn.BatchNorm())


@functools.lru_cache(None)
def _bottleneck(groups, base_width):
    """The class for these: blocks are made by their class."""
    if (groups, base_width) == (1, 64):
        return TorchBottleneck
    return type("TorchBottleneck", (TorchBottleneck,), {"groups": groups, "base_width": base_width, "__module__": __name__})


class _TorchLinearBottleneck(LinearBottleneck):
    """Without the first convolution where it would not widen."""

    def __init__(self, in_channels, channels, t, stride, **kwargs):
        super().__init__(in_channels, channels, t, stride, **kwargs)
        if t == 1:
            with self.name_scope():
                out = nn.HybridSequential()
                _add_conv(out, in_channels, kernel=3, stride=stride, pad=1, num_group=in_channels, relu6=True)
                _add_conv(out, channels, active=False)
            self.out = out


class TorchMobileNetV2(vision.MobileNetV2):
    """MobileNet v2 as torchvision has it: the first bottleneck does not widen, and a dense layer
    ends the network, behind dropout. Input (N, 3, 224, 224), output (N, classes)."""

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(multiplier, classes, **kwargs)
        old = self.features
        with self.name_scope():
            features = nn.HybridSequential(prefix='features_')
            with features.name_scope():
                first = True
                for part in old._children.values():
                    if first and isinstance(part, LinearBottleneck):
                        part, first = _TorchLinearBottleneck(int(32 * multiplier), int(16 * multiplier), 1, 1), False
                    features.add(part)
            self.features = features
            self.output = nn.HybridSequential(prefix='output_')
            with self.output.name_scope():
                self.output.add(nn.Flatten(), nn.Dropout(0.2), nn.Dense(classes))


def _resnet(layers, groups=1, base_width=64):
    return lambda **kwargs: vision.ResNetV1(_bottleneck(groups, base_width), layers, [64, 256, 512, 1024, 2048], **kwargs)


_50, _101, _152 = [3, 4, 6, 3], [3, 4, 23, 3], [3, 8, 36, 3]
NETS = {
    **{name: getattr(vision, name) for name in (
        "alexnet", "densenet121", "densenet161", "densenet169", "densenet201", "inception_v3", "squeezenet1_0", "squeezenet1_1",
        "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn")},
    "resnet18": vision.resnet18_v1, "resnet34": vision.resnet34_v1,
    "resnet50": _resnet(_50), "resnet101": _resnet(_101), "resnet152": _resnet(_152),
    "resnext50_32x4d": _resnet(_50, 32, 4), "resnext101_32x8d": _resnet(_101, 32, 8), "resnext101_64x4d": _resnet(_101, 64, 4),
    "wide_resnet50_2": _resnet(_50, 1, 128), "wide_resnet101_2": _resnet(_101, 1, 128),
    "mobilenet_v2": TorchMobileNetV2,
}


def torch_net(name, **kwargs):
    """The network that torchvision calls `name`."""
    if not isinstance(name, str) or name not in NETS:
        near = hint(name, NETS) if isinstance(name, str) else ""
        raise error_class(MXNetError, ValueError)(f"[contrib.torch.get_model] {name!r}; {near}accepted: {', '.join(sorted(NETS))}")
    return NETS[name](**kwargs)
