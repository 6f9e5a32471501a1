"""How PyTorch names the parameters of a block, where it has one like it."""
import re

from ..base import MXNetError, error_class
from ..gluon import nn
from ..gluon.model_zoo import vision
from ..gluon.rnn.rnn_layer import _RNNLayer
from ._torch_nets import TorchBottleneck, TorchMobileNetV2

__all__ = ["names_of"]

_RNN = re.compile(r"_unfused\.(\d+)\.(l_cell\.|r_cell\.)?(i2h|h2h|h2r)_(weight|bias)")
_GATES = {"i2h": "ih", "h2h": "hh", "h2r": "hr"}
_NO_NETS = {vision.ResNetV2: "torchvision has no ResNet v2", vision.MobileNet: "torchvision has no MobileNet v1"}


def _layer_name(name):
    """The name of a layer's own parameter."""
    if name in ("gamma", "alpha"):
        return "weight"
    if name == "beta":
        return "bias"
    gate, _, kind = name.partition("_")
    return f"{kind}_{_GATES[gate]}" if gate in _GATES and kind else name


def names_of(block, ours="", theirs=""):
    """(our name, PyTorch's name) of the parameters below a block, in order. Our names are paths, as
    in files of `save_parameters`.

    A layer's parameters have PyTorch's names for them (weight, bias, running_mean). A path is the
    same in both, but in the networks of the zoo, whose names are those of torchvision.
    ValueError for a network of the zoo that torchvision has none like.
    """
    layers = _layers_of(block, ours)
    if layers is not None:
        for path, name in layers.items():
            yield from _plain_names(_child(block, path), f"{ours}{path}.", f"{theirs}{name}.")
        return
    if isinstance(block, _RNNLayer):
        for name in block._collect_params_with_prefix():
            found = _RNN.fullmatch(name)
            reverse = "_reverse" if found and found[2] == "r_cell." else ""
            yield ours + name, theirs + (f"{found[4]}_{_GATES[found[3]]}_l{found[1]}{reverse}" if found else name)
        return
    for name in block._reg_params:
        if not _is_fixed(block, name):
            yield ours + name, theirs + _layer_name(name)
    for name, child in block._children.items():
        yield from names_of(child, f"{ours}{name}.", f"{theirs}{name}.")


def _plain_names(block, ours, theirs):
    for name in block._reg_params:
        yield ours + name, theirs + _layer_name(name)


def _is_fixed(block, name):
    """A scale of 1 that the layer does not look at, and PyTorch's without ``affine`` does not
    have."""
    return name == "gamma" and bool(getattr(block, "_kwargs", {}).get("fix_gamma"))


def _child(block, path):
    for name in path.split("."):
        block = block._children[name]
    return block


def _layers_of(block, ours):
    """{path of a layer: name} for a network of the zoo; None for other blocks."""
    for kind, why in _NO_NETS.items():
        if isinstance(block, kind):
            raise error_class(MXNetError, ValueError)(
                f"[contrib.torch] {ours or 'the block '}is a {type(block).__name__}: {why}. Names of other sources need mapping= with "
                "PyTorch's names and the block's, or mapping='order'")
    for kind, rule in _RULES.items():
        if isinstance(block, kind):
            return rule(block)
    return None


def _refuse(block, why, name):
    raise error_class(MXNetError, ValueError)(
        f"[contrib.torch] the zoo's {type(block).__name__} {why}, so weights of torchvision would give other results in it; "
        f"accepted: mx.contrib.torch.get_model({name}), which is torchvision's network")


def _resnet(block):
    first = block.features._children["4"] if "4" in block.features._children else None
    unit = first._children["0"] if isinstance(first, nn.HybridSequential) and len(first._children) else None
    if not isinstance(block.features._children["1"], nn.BatchNorm):
        return None     # for small pictures: torchvision has none like it
    if isinstance(unit, vision.BottleneckV1) and not isinstance(unit, TorchBottleneck):
        depth = {16: 50, 33: 101, 50: 152}.get(sum(len(stage._children) for key, stage in block.features._children.items()
                                                   if isinstance(stage, nn.HybridSequential)), 50)
        _refuse(block, "with bottlenecks has strides in other convolutions (the first 1x1, torchvision's the 3x3)", f"'resnet{depth}'")
    names = {"features.0": "conv1", "features.1": "bn1"}
    stages = [(key, stage) for key, stage in block.features._children.items() if isinstance(stage, nn.HybridSequential)]
    for number, (key, stage) in enumerate(stages, 1):
        for j, unit in stage._children.items():
            ours, theirs = f"features.{key}.{j}", f"layer{number}.{j}"
            layers = [k for k, layer in unit.body._children.items() if not isinstance(layer, nn.Activation)]
            for position, k in enumerate(layers):
                names[f"{ours}.body.{k}"] = f"{theirs}.{('conv', 'bn')[position % 2]}{position // 2 + 1}"
            if unit.downsample is not None:
                names.update({f"{ours}.downsample.{k}": f"{theirs}.downsample.{k}" for k in unit.downsample._children})
    return {**names, "output": "fc"}


def _alexnet(block):
    del block
    convs = {f"features.{ours}": f"features.{theirs}" for ours, theirs in ((0, 0), (2, 3), (4, 6), (5, 8), (6, 10))}
    return {**convs, "features.9": "classifier.1", "features.11": "classifier.4", "output": "classifier.6"}


def _vgg(block):
    names, dense = {}, iter(("classifier.0", "classifier.3"))
    for key, layer in block.features._children.items():
        if isinstance(layer, (nn.Conv2D, nn.BatchNorm)):
            names[f"features.{key}"] = f"features.{key}"
        elif isinstance(layer, nn.Dense):
            names[f"features.{key}"] = next(dense)
    return {**names, "output": "classifier.6"}


def _densenet(block):
    names = {"features.0": "features.conv0", "features.1": "features.norm0"}
    parts = list(block.features._children.items())[4:]
    for number, (key, part) in enumerate(parts):
        if isinstance(part, nn.BatchNorm):
            names[f"features.{key}"] = "features.norm5"
            break
        at = number // 2 + 1
        if number % 2:
            names.update({f"features.{key}.0": f"features.transition{at}.norm", f"features.{key}.2": f"features.transition{at}.conv"})
            continue
        for j in part._children:
            for k, name in ((0, "norm1"), (2, "conv1"), (3, "norm2"), (5, "conv2")):
                names[f"features.{key}.{j}.1.{k}"] = f"features.denseblock{at}.denselayer{int(j) + 1}.{name}"
    return {**names, "output": "classifier"}


def _squeezenet(block):
    names = {"features.0": "features.0"}
    for key, fire in block.features._children.items():
        if isinstance(fire, nn.HybridSequential):
            names.update({f"features.{key}.0.0": f"features.{key}.squeeze", f"features.{key}.1.0.0": f"features.{key}.expand1x1",
                          f"features.{key}.1.1.0": f"features.{key}.expand3x3"})
    return {**names, "output.0": "classifier.1"}


_A = "branch1x1 branch5x5_1 branch5x5_2 branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3 branch_pool"
_B = "branch3x3 branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3"
_C = ("branch1x1 branch7x7_1 branch7x7_2 branch7x7_3 branch7x7dbl_1 branch7x7dbl_2 branch7x7dbl_3 branch7x7dbl_4 branch7x7dbl_5 "
      "branch_pool")
_D = "branch3x3_1 branch3x3_2 branch7x7x3_1 branch7x7x3_2 branch7x7x3_3 branch7x7x3_4"
_E = ("branch1x1 branch3x3_1 branch3x3_2a branch3x3_2b branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3a branch3x3dbl_3b branch_pool")
_MIXED = {"5b": _A, "5c": _A, "5d": _A, "6a": _B, "6b": _C, "6c": _C, "6d": _C, "6e": _C, "7a": _D, "7b": _E, "7c": _E}
_STEM = ("Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3", "Conv2d_3b_1x1", "Conv2d_4a_3x3")


def _convolutions(block, path):
    """Paths of a convolution with BatchNorm behind it, in order."""
    if isinstance(block._children.get("0"), nn.Conv2D):
        return [path]
    return [found for name, child in block._children.items() for found in _convolutions(child, f"{path}.{name}")]


def _inception(block):
    theirs = [*_STEM, *(f"Mixed_{key}.{name}" for key, names in _MIXED.items() for name in names.split())]
    names = {}
    for path, name in zip(_convolutions(block.features, "features"), theirs):
        names.update({f"{path}.0": f"{name}.conv", f"{path}.1": f"{name}.bn"})
    return {**names, "output": "fc"}


def _mobilenet_v2(block):
    if not isinstance(block, TorchMobileNetV2):
        _refuse(block, "has a convolution more in its first bottleneck and no offsets in its last layer", "'mobilenet_v2'")
    features = block.features._children
    stem = [key for key, part in features.items() if isinstance(part, (nn.Conv2D, nn.BatchNorm))]
    names = {f"features.{stem[0]}": "features.0.0", f"features.{stem[1]}": "features.0.1"}
    units = [(key, unit) for key, unit in features.items() if hasattr(unit, "out")]
    for number, (key, unit) in enumerate(units, 1):
        layers = [k for k, layer in unit.out._children.items() if isinstance(layer, (nn.Conv2D, nn.BatchNorm))]
        for position, k in enumerate(layers):
            part, second = divmod(position, 2)
            is_last = part == len(layers) // 2 - 1
            names[f"features.{key}.out.{k}"] = f"features.{number}.conv." + (f"{part + second}" if is_last else f"{part}.{second}")
    end = len(units) + 1
    names.update({f"features.{stem[2]}": f"features.{end}.0", f"features.{stem[3]}": f"features.{end}.1"})
    return {**names, "output.2": "classifier.1"}


_RULES = {vision.ResNetV1: _resnet, vision.AlexNet: _alexnet, vision.VGG: _vgg, vision.DenseNet: _densenet,
          vision.SqueezeNet: _squeezenet, vision.Inception3: _inception, vision.MobileNetV2: _mobilenet_v2}
