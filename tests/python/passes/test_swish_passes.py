"""SiLU and hard swish written out, and images times numbers for their channels."""
import json

import numpy as np
import pytest

import mxnet as mx
from test_passes import X, compare, operators

S = mx.sym


def _conv(data=X, **more):
    return S.Convolution(data, num_filter=16, kernel=(3, 3), pad=(1, 1), name="c", **more)


SWISHES = {
    "silu": (lambda x: x * S.sigmoid(x), ("silu", 1)),
    "activation": (lambda x: S.Activation(x, act_type="sigmoid") * x, ("silu", 1)),
    "beta": (lambda x: x * S.sigmoid(1.5 * x), ("silu", 1.5)),
    "numpy": (lambda x: S._internal._npi_multiply(x, S._internal._npx_sigmoid(x)), ("silu", 1)),
    "hard": (lambda x: x * S.hard_sigmoid(x, alpha=0.25, beta=0.5), ("hard_swish", 0.25, 0.5)),
    "clip": (lambda x: x * S.clip(x + 3, 0, 6) / 6, ("hard_swish", 1 / 6, 0.5)),
    "clip first": (lambda x: (S.clip(x + 3, 0, 6) / 6) * x, ("hard_swish", 1 / 6, 0.5)),
}


@pytest.mark.parametrize("layer", ["Convolution", "FullyConnected"])
@pytest.mark.parametrize("name", SWISHES)
def test_swish_written_out_joins_the_layer(name, layer):
    make, post = SWISHES[name]
    y = _conv() if layer == "Convolution" else S.FullyConnected(X, num_hidden=16, name="c")
    fused, _ = compare(make(y), {"x": (2, 8, 9, 7)}, ["fuse_swish", "fuse_convolution", "fuse_dense"], tolerance=2e-5)
    kind = {"Convolution": "_fused_convolution", "FullyConnected": "_fused_dense"}[layer]
    assert [n for n in operators(fused) if n != "_to_layout"] == [kind]
    node, = [n for n in json.loads(fused.get_optimized_symbol().tojson())["nodes"] if n["op"] == kind]
    found, _, numbers = node["attrs"]["post"].partition(":")
    assert found == post[0]
    np.testing.assert_allclose([float(v) for v in numbers.split(",")], post[1:], rtol=1e-6)


OTHERS = {
    "another factor": lambda x: S.sin(x) * S.sigmoid(x),
    "wrong bounds": lambda x: x * S.clip(x + 3, 0, 6) / 5,
    "low": lambda x: x * S.clip(x + 3, 1, 6) / 6,
    "another line": lambda x: x * S.clip(2 * x + 3, 0, 6) / 6,
    "read twice": lambda x: S.broadcast_add(x * S.sigmoid(x, name="gate"), S.sum(S.sigmoid(x, name="again"), keepdims=True)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_almost_swish_keeps_its_values(name):
    compare(OTHERS[name](_conv()), {"x": (2, 8, 9, 7)}, ["fuse_swish", "fuse_convolution"], tolerance=2e-5, fewer=False)


@pytest.mark.parametrize("multiply", ["broadcast_mul", "_npi_multiply"])
@pytest.mark.parametrize("shape", [(2, 16, 1, 1), (1, 16, 1, 1), (16, 1, 1), (1, 1, 9, 7), (9, 7), (1,), (2, 1, 1, 1)])
def test_repeated_operands_do_not_change_the_layout(shape, multiply):
    """Squeeze and excite: a number for each channel of an image that lies channels last."""
    gate = S.var("gate", shape=shape)
    product = getattr(S, multiply, None) or getattr(S._internal, multiply)
    net = S.Convolution(product(_conv(), gate), num_filter=8, kernel=(1, 1), name="d")
    with mx.util.np_shape(True):
        fused, _ = compare(net, {"x": (2, 8, 9, 7), "gate": shape}, ["layout"], tolerance=2e-5, fewer=False)
    assert operators(fused).count("_to_layout") <= 1    # the result leaves the graph
    gate_first = S.Convolution(product(gate, _conv()), num_filter=8, kernel=(1, 1), name="d")
    with mx.util.np_shape(True):
        compare(gate_first, {"x": (2, 8, 9, 7), "gate": shape}, ["layout"], tolerance=2e-5, fewer=False)


@pytest.mark.parametrize("shape", [(2, 16, 9, 1), (16, 9, 7), (1, 16, 1, 7)])
def test_operands_that_differ_by_layout_are_right(shape):
    net = S.Convolution(S.broadcast_mul(_conv(), S.reshape(S.var("gate"), shape=(1,) * (4 - len(shape)) + shape)),
                        num_filter=8, kernel=(1, 1), name="d")
    compare(net, {"x": (2, 8, 9, 7), "gate": shape}, ["layout"], tolerance=2e-5, fewer=False)


def test_repeated_operands_in_other_dtypes():
    x = np.random.RandomState(0).randn(2, 8, 6, 5).astype("float32")
    for dtype in ("float16", "float32"):
        data, gate = mx.sym.var("x"), mx.sym.var("g")
        net = S.broadcast_add(_conv(S.cast(data, dtype=dtype), no_bias=True), S.cast(gate, dtype=dtype))
        args = {"x": mx.nd.array(x), "g": mx.nd.array(np.arange(16.0).reshape(1, 16, 1, 1)),
                "c_weight": mx.nd.ones((16, 8, 3, 3), dtype=dtype)}
        executor = net.bind(mx.cpu(), args, grad_req="null")
        plain = S.broadcast_add(S.identity(_conv(S.cast(data, dtype=dtype), no_bias=True)), S.cast(gate, dtype=dtype))
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "layout")
        try:
            expected = plain.bind(mx.cpu(), args, grad_req="null").forward()[0].asnumpy()
        finally:
            mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=2e-3, atol=2e-3)



@pytest.mark.parametrize("shape", [(2, 4, -1), (0, 4, -1), (2, 4, 4, 63)])
@pytest.mark.parametrize("image", [True, False])
def test_group_norm_written_out(shape, image):
    """As PyTorch's exporter writes it, with and without convolutions around it."""
    x = _conv() if image else X
    inner = S.InstanceNorm(S.reshape(x, shape=shape), S.var("gamma"), S.var("beta"), eps=1e-4, name="n")
    y = S.broadcast_mul(S.reshape(inner, shape=(2, 16, 9, 7)), S.var("scale", shape=(1, 16, 1, 1)))
    net = S.Convolution(y, num_filter=24, kernel=(3, 3), name="d") if image else y
    fused, plain = compare(net, {"x": (2, 16, 9, 7)}, ["fuse_group_norm", "layout"], tolerance=5e-5, fewer=False)
    assert "GroupNorm" in operators(fused) and "InstanceNorm" not in operators(fused)
    assert "GroupNorm" not in operators(plain)
    if image:
        assert operators(fused).count("_to_layout") <= 2


@pytest.mark.parametrize("shape,whole", [((2, 4, 4, 63), (2, 8, 18, 7)), ((1, 8, -1), (2, 16, 9, 7)), ((8, 2, -1), (2, 16, 9, 7))])
def test_what_is_no_group_norm_stays(shape, whole):
    inner = S.InstanceNorm(S.reshape(X, shape=shape), S.var("gamma"), S.var("beta"), name="n")
    fused, _ = compare(S.reshape(inner, shape=whole), {"x": (2, 16, 9, 7)}, ["fuse_group_norm"], fewer=False)
    assert "InstanceNorm" in operators(fused)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", ["InstanceNorm", "GroupNorm", "GroupNorm of channels", "UpSampling"])
def test_images_of_norms_stay_channels_last(name, dtype):
    def layer(x):
        if name == "UpSampling":
            return S.UpSampling(x, scale=3, sample_type="nearest", num_args=1)
        if name == "InstanceNorm":
            return S.InstanceNorm(x, S.var("gamma"), S.var("beta"), eps=1e-3)
        size = 16 if name.endswith("channels") else 4
        return S.GroupNorm(x, S.var("gamma", shape=(size,)), S.var("beta", shape=(size,)), num_groups=4)
    net = S.Convolution(S.relu(layer(_conv())), num_filter=24, kernel=(3, 3), name="d")
    tolerance = 1e-4 if dtype == "float32" else 3e-2
    fused, _ = compare(net, {"x": (3, 8, 9, 7)}, ["layout"], tolerance=tolerance, fewer=False, dtype=dtype)
    assert operators(fused).count("_to_layout") <= 2   # the data, where it pays, and the result


def test_group_norm_of_images_far_from_zero():
    """The mean is a thousand times the deviation; a piece holds 256 pixels."""
    rng = np.random.RandomState(0)
    x = (1000 + rng.randn(2, 16, 40, 33)).astype("float32")
    weight = np.zeros((16, 16, 1, 1), "float32")
    weight[range(16), range(16)] = 1
    y = S.GroupNorm(S.Convolution(X, num_filter=16, kernel=(1, 1), no_bias=True, name="c"), S.var("gamma"), S.var("beta"), num_groups=4)
    args = {"x": mx.nd.array(x), "c_weight": mx.nd.array(weight), "gamma": mx.nd.ones(4), "beta": mx.nd.zeros(4)}
    found = y.bind(mx.cpu(), args, grad_req="null").forward()[0].asnumpy()
    z = x.astype("float64").reshape(2, 4, -1)
    expected = ((z - z.mean(2, keepdims=True)) / np.sqrt(z.var(2, keepdims=True) + 1e-5)).reshape(x.shape)
    np.testing.assert_allclose(found, expected, atol=2e-3)
