"""The networks of score.py and train.py: one symbol and one set of arrays per network, on disk,
that every contestant loads.

A folder holds symbol.json, arrays/<name>.npy and meta.json; `export_onnx` (contestants.py) adds
net.onnx. Weights are random (He et al. 2015), and BatchNorm's running statistics are those of a
random batch, so that activations keep their size through any number of layers.
"""
import collections
import collections.abc
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

import numpy as np

Network = collections.namedtuple("Network", "title build shape words",
                                 defaults=(None,))   # shape: of one example; words: inputs are integers below it
VERSION = 1   # of the arrays below


def _zoo(name):
    def build():
        import mxnet as mx
        return getattr(mx.gluon.model_zoo.vision, name)()
    return build


def _ours(module, name):
    def build():
        import importlib
        return getattr(importlib.import_module(f"models.{module}"), name)()
    return build


IMAGE = (3, 224, 224)
NETWORKS = {
    "alexnet": Network("AlexNet", _zoo("alexnet"), IMAGE),
    "vgg16": Network("VGG-16", _zoo("vgg16"), IMAGE),
    "inception_bn": Network("Inception-BN", _ours("inception_bn", "inception_bn"), IMAGE),
    "inception_v3": Network("Inception-v3", _zoo("inception_v3"), (3, 299, 299)),
    "resnet50": Network("ResNet-50", _zoo("resnet50_v1"), IMAGE),
    "resnet152": Network("ResNet-152", _zoo("resnet152_v1"), IMAGE),
    "mobilenet_v2": Network("MobileNetV2", _zoo("mobilenet_v2_1_0"), IMAGE),
    "bert_base": Network("BERT-base", _ours("bert", "bert_base"), (128,), 30522),
}
# Two more, whose memory is compared.
MORE = {
    "resnet18": Network("ResNet-18", _zoo("resnet18_v1"), IMAGE),
    "densenet121": Network("DenseNet-121", _zoo("densenet121"), IMAGE),
}
ALL = collections.ChainMap(NETWORKS, MORE)


def examples(network, batch):
    """The input that every contestant gets: float32 images, or int64 numbers of words."""
    rng = np.random.default_rng(batch)
    shape = (batch, *network.shape)
    return rng.integers(0, network.words, shape) if network.words else rng.standard_normal(shape, dtype="float32")


class Arrays(collections.abc.Mapping):
    """The arrays of a folder by name, read when asked for: nobody's memory holds them twice."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "arrays")
        self.names = {n[:-4] for n in os.listdir(self.folder)}

    def __getitem__(self, name):
        if name not in self.names:
            raise KeyError(name)
        return np.load(os.path.join(self.folder, name + ".npy"))

    def __contains__(self, name):
        return name in self.names

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)


def load(folder):
    """(text of symbol.json, arrays by name)"""
    with open(os.path.join(folder, "symbol.json")) as f:
        return f.read(), Arrays(folder)


def symbol_block(mx, text, arrays, gradients=True, ctx=None):
    """The network as a Gluon block, with this library and with 1.9.1, on the CPU or on `ctx`;
    without gradients there is no memory for them."""
    block = mx.gluon.SymbolBlock(mx.sym.load_json(text), [mx.sym.var("data", dtype="float32")])
    for name, parameter in block.collect_params().items():
        array = arrays[name]
        parameter.shape = array.shape
        if not gradients:
            parameter.grad_req = "null"
        parameter.initialize(mx.init.Zero(), ctx=ctx)   # a shape is not enough for 1.9.1
        parameter.data()[:] = array   # set_data would hold it twice
    return block


def _array(name, shape, rng):
    if name.endswith("running_mean"):
        return np.zeros(shape, "float32")
    if name.endswith(("gamma", "running_var")):
        return np.ones(shape, "float32") if name.endswith("var") else rng.uniform(0.8, 1.2, shape).astype("float32")
    if name.endswith(("beta", "bias")):
        return 0.1 * rng.standard_normal(shape, dtype="float32")
    scale = 0.02 if "embedding" in name else (2 / np.prod(shape[1:])) ** 0.5
    return np.float32(scale) * rng.standard_normal(shape, dtype="float32")


def flops(mx, text, shape):
    """Floating-point operations of one example in convolutions, dense layers and batch_dot, two for
    each multiply-add."""
    internals = mx.sym.load_json(text).get_internals()
    shapes = dict(zip(internals.list_outputs(), internals.infer_shape(data=(1, *shape))[1]))
    nodes = json.loads(text)["nodes"]
    total = 0
    for node in nodes:
        if node["op"] in ("Convolution", "FullyConnected"):
            weight = shapes[nodes[node["inputs"][1][0]]["name"]]
            total += 2 * np.prod(shapes[node["name"] + "_output"]) * np.prod(weight[1:])
        elif node["op"] == "batch_dot":
            left = shapes[nodes[node["inputs"][0][0]]["name"] + "_output"]
            total += 2 * np.prod(shapes[node["name"] + "_output"]) * left[-2 if node.get("attrs", {}).get("transpose_a") == "True" else -1]
    return int(total)


def add_onnx(folder, python, env):
    """net.onnx in a network's folder, if it is not there yet, by `python`, which has torch and
    onnx."""
    if os.path.exists(os.path.join(folder, "net.onnx")):
        return
    worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contestants.py")
    done = subprocess.run([python, worker, "--export", "--folder", folder], env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{folder}: export to ONNX failed\n{done.stderr[-3000:]}")


def prepare(name, cache):
    """The folder of the network, made if it is not there yet."""
    import mxnet as mx
    network = ALL[name]
    net = network.build()
    text = net(mx.sym.var("data")).tojson()
    digest = hashlib.sha256(f"{VERSION} {network.shape} {text}".encode()).hexdigest()[:12]
    folder = os.path.join(cache, f"{name}-{digest}")
    if os.path.exists(folder):
        return folder
    os.makedirs(cache, exist_ok=True)
    scratch = tempfile.mkdtemp(dir=cache)
    try:
        symbol = mx.sym.load_json(text)
        names = [n for n in symbol.list_arguments() if n != "data"] + symbol.list_auxiliary_states()
        arg, _, aux = symbol.infer_shape(data=(1, *network.shape))
        shapes = dict(zip(symbol.list_arguments(), arg), **dict(zip(symbol.list_auxiliary_states(), aux)))
        rng = np.random.default_rng(0)
        arrays = {n: _array(n, shapes[n], rng) for n in names}
        if symbol.list_auxiliary_states():   # one training pass with momentum 0 leaves the batch's statistics
            graph = json.loads(text)
            for node in graph["nodes"]:
                if node["op"] == "BatchNorm":
                    node["attrs"]["momentum"] = "0.0"
            block = symbol_block(mx, json.dumps(graph), arrays)
            with mx.autograd.record():
                block(mx.nd.array(examples(network, 4))).wait_to_read()
            for n, p in block.collect_params().items():
                if n in symbol.list_auxiliary_states():
                    arrays[n] = p.data().asnumpy()
        os.mkdir(os.path.join(scratch, "arrays"))
        for n, a in arrays.items():
            np.save(os.path.join(scratch, "arrays", n + ".npy"), a)
        with open(os.path.join(scratch, "symbol.json"), "w") as f:
            f.write(text)
        with open(os.path.join(scratch, "meta.json"), "w") as f:
            json.dump({"name": name, "flops": flops(mx, text, network.shape),
                       "parameters": int(sum(a.size for n, a in arrays.items()
                                             if n in symbol.list_arguments()))}, f)
        os.rename(scratch, folder)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return folder
