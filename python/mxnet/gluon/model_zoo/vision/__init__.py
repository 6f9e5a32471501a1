"""Image classification networks.

Each takes images (N, 3, H, W), normalised with mean (0.485, 0.456, 0.406) and standard deviation
(0.229, 0.224, 0.225) for the published parameters, and returns scores (N, classes). H = W = 224, or
299 for Inception v3; networks that end in global pooling take other sizes too. All constructors
accept `pretrained`, `ctx`, `root` (where parameters are kept) and `classes`.
"""
from ...._startup.names import hint as _hint
from .alexnet import *
from .densenet import *
from .inception import *
from .mobilenet import *
from .resnet import *
from .squeezenet import *
from .vgg import *

_models = {
    'alexnet': alexnet, 'inceptionv3': inception_v3,
    'resnet18_v1': resnet18_v1, 'resnet34_v1': resnet34_v1, 'resnet50_v1': resnet50_v1, 'resnet101_v1': resnet101_v1,
    'resnet152_v1': resnet152_v1, 'resnet18_v2': resnet18_v2, 'resnet34_v2': resnet34_v2, 'resnet50_v2': resnet50_v2,
    'resnet101_v2': resnet101_v2, 'resnet152_v2': resnet152_v2,
    'vgg11': vgg11, 'vgg13': vgg13, 'vgg16': vgg16, 'vgg19': vgg19,
    'vgg11_bn': vgg11_bn, 'vgg13_bn': vgg13_bn, 'vgg16_bn': vgg16_bn, 'vgg19_bn': vgg19_bn,
    'densenet121': densenet121, 'densenet161': densenet161, 'densenet169': densenet169, 'densenet201': densenet201,
    'squeezenet1.0': squeezenet1_0, 'squeezenet1.1': squeezenet1_1,
    'mobilenet1.0': mobilenet1_0, 'mobilenet0.75': mobilenet0_75, 'mobilenet0.5': mobilenet0_5, 'mobilenet0.25': mobilenet0_25,
    'mobilenetv2_1.0': mobilenet_v2_1_0, 'mobilenetv2_0.75': mobilenet_v2_0_75, 'mobilenetv2_0.5': mobilenet_v2_0_5,
    'mobilenetv2_0.25': mobilenet_v2_0_25,
}


def get_model(name, **kwargs):
    """The network called `name` ('resnet50_v1', 'mobilenet0.25', ...; any case); `kwargs` go to its
    constructor. ValueError for other names.

    >>> net = mx.gluon.model_zoo.vision.get_model('mobilenet0.25', classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    if name.lower() not in _models:
        raise ValueError(f'[gluon.model_zoo] model {name!r} given; {_hint(name, _models)}'
                         f'one of {", ".join(sorted(_models))} is accepted')
    return _models[name.lower()](**kwargs)
