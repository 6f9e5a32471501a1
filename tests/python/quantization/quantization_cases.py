"""Networks that are quantized here and under MXNet 1.9.1."""
import numpy as np


def conv(mx, x, name, **more):
    return mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=4, no_bias=True, name=name, **more)


def relu(mx, x, name):
    return mx.sym.Activation(x, act_type="relu", name=name)


def residual(mx):
    """Layers of every kind that convolutional networks have."""
    s = mx.sym
    x = s.Convolution(s.Variable("data"), kernel=(3, 3), num_filter=8, pad=(1, 1), name="conv0")
    x = relu(mx, s.BatchNorm(x, name="bn0", fix_gamma=False), "relu0")
    x = s.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool0")
    y = s.Convolution(x, kernel=(1, 1), num_filter=8, no_bias=True, name="conv1")
    x = s.Flatten(s.elemwise_add(y, x, name="plus0"), name="flat")
    return s.softmax(s.FullyConnected(x, num_hidden=10, name="fc0"), name="sm")


def chain(mx):
    x = mx.sym.Variable("data")
    x = relu(mx, conv(mx, x, "c1"), "r1")
    x = mx.sym.Pooling(conv(mx, x, "c2"), kernel=(2, 2), name="p")
    return relu(mx, x, "r2")


def shared(mx):
    w = mx.sym.Variable("w_weight")
    x = mx.sym.Convolution(mx.sym.Variable("data"), w, kernel=(1, 1), num_filter=4, no_bias=True, name="c1")
    return mx.sym.Group([mx.sym.Convolution(x, w, kernel=(1, 1), num_filter=4, no_bias=True, name="c2"), mx.sym.tanh(w, name="t")])


def joined(mx):
    """A relu that two read, one of them in float32; a branch that begins in float32."""
    data = mx.sym.Variable("data")
    x = relu(mx, conv(mx, data, "c"), "r")
    y = mx.sym.Concat(relu(mx, data, "r0"), x, name="cat")
    return mx.sym.Group([mx.sym.tanh(x, name="s"), conv(mx, y, "c2")])


def both_sums(mx):
    data = mx.sym.Variable("data")
    x = mx.sym.elemwise_add(conv(mx, data, "c"), data, name="a")
    return mx.sym.elemwise_mul(conv(mx, x, "c2"), mx.sym.Variable("other"), name="m")


def dense(mx):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=5, name="f0")
    return mx.sym.FullyConnected(relu(mx, x, "r0"), num_hidden=3, name="f1")


def outputs(mx):
    """The second result of a node, and a network that ends in a layer and in a pooling."""
    x = mx.sym.SliceChannel(mx.sym.Variable("data"), num_outputs=2, name="parts")[1]
    return mx.sym.Group([mx.sym.FullyConnected(x, num_hidden=3, name="f"),
                         mx.sym.Pooling(x, kernel=(2, 2), pool_type="avg", name="p")])


def embedded(mx):
    x = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=5, output_dim=6, name="e")
    return mx.sym.FullyConnected(x, num_hidden=3, name="f")


def offline_sum(mx):
    return mx.sym.elemwise_add(mx.sym.Variable("weight"), mx.sym.Variable("data"), name="a")


NETWORKS = [residual, chain, shared, joined, both_sums, dense, outputs, embedded, offline_sum]
INPUTS = ("data", "other")
# (network, options): more than the modes of all of them
OPTIONS = [("chain", dict(excluded_sym_names=["c1"])), ("chain", dict(excluded_sym_names=["c2", "absent"])),
           ("chain", dict(excluded_op_names=["Convolution"])), ("chain", dict(excluded_op_names=["Pooling", "absent"])),
           ("chain", dict(excluded_op_names=["Pooling"], quantize_mode="smart")),
           ("residual", dict(quantized_dtype="uint8")), ("residual", dict(quantized_dtype="auto", quantize_mode="smart"))]


def cases():
    """(key, network, options) of each."""
    for net in NETWORKS:
        for mode in ("full", "smart"):
            yield f"{net.__name__} {mode}", net, dict(quantize_mode=mode)
    by_name = {net.__name__: net for net in NETWORKS}
    for name, options in OPTIONS:
        yield f"{name} {sorted(options.items())}", by_name[name], options


def parameters(mx, net):
    """Arrays of the right names; graphs do not depend on their values."""
    names = [n for n in net.list_arguments() if n not in INPUTS]
    return {n: mx.nd.array(np.linspace(-1, 1 + i, 6).reshape(2, 3)) for i, n in enumerate(names)}


def digits_network(mx):
    s, x = mx.sym, mx.sym.Variable("data")
    for i, channels in enumerate((8, 16)):
        x = s.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=channels, no_bias=True, name=f"conv{i}")
        x = relu(mx, s.BatchNorm(x, fix_gamma=False, name=f"bn{i}"), f"relu{i}")
        x = s.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{i}")
    x = relu(mx, s.FullyConnected(s.Flatten(x, name="flat"), num_hidden=32, name="fc0"), "relu2")
    return s.FullyConnected(x, num_hidden=10, name="fc1")


def values(kind, seed):
    """Values of which thresholds are found."""
    x = np.random.RandomState(seed).standard_normal(20000).astype("float32") * (1 + seed)
    return {"both": x, "relu": np.maximum(x, 0), "positive": np.abs(x) + 1}[kind]
