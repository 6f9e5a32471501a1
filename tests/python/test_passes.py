"""The plan compiler's passes: each gives what the graph without it gives, is seen in the plan, and leaves parameters alone."""
import contextlib
import re

import numpy as np
import pytest

import mxnet as mx


@contextlib.contextmanager
def off(*names):
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", ",".join(names))
    try:
        yield
    finally:
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")


def bind(net, shapes, train=False, dtype="float32", seed=0, dtypes=None):
    """An executor with the same random arrays whenever it is called with the same arguments."""
    rng = np.random.RandomState(seed)
    types = {n: dtype for n in net.list_arguments()}
    types.update(dtypes or {})
    e = net.simple_bind(mx.cpu(), grad_req="write" if train else "null", type_dict=types, **shapes)
    for name in sorted(e.arg_dict):
        e.arg_dict[name][:] = rng.uniform(-1, 1, e.arg_dict[name].shape)
    for name in sorted(e.aux_dict):
        e.aux_dict[name][:] = rng.uniform(0.5, 1.5, e.aux_dict[name].shape)
    return e


def run(e, train=False, **inputs):
    outputs = [o.asnumpy() for o in e.forward(is_train=train, **inputs)]
    if train:
        e.backward([mx.nd.array(np.linspace(-1, 1, o.size).reshape(o.shape), dtype=o.dtype) for o in e.outputs])
        outputs += [e.grad_dict[n].asnumpy() for n in sorted(e.grad_dict) if e.grad_dict[n] is not None]
    return outputs


def operators(e):
    """Operator of every node of the plan, in order."""
    return [line.split()[1] for line in e.debug_str().splitlines() if line[:1].isdigit()]


def compare(net, shapes, passes, tolerance=1e-5, train=False, dtype="float32", **kwargs):
    """(with the passes, without them) after checking that the results agree. tolerance 0: to the bit."""
    with off(*passes):
        plain = bind(net, shapes, train, dtype, **kwargs)
        expected = run(plain, train)
    fused = bind(net, shapes, train, dtype, **kwargs)
    before = {n: a.asnumpy() for n, a in fused.arg_dict.items()}
    actual = run(fused, train)
    assert len(actual) == len(expected) and len(operators(fused)) < len(operators(plain)), fused.debug_str()
    for a, b in zip(actual, expected):
        assert a.dtype == b.dtype
        if tolerance:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(a, b)
    for n, a in before.items():
        np.testing.assert_array_equal(a, fused.arg_dict[n].asnumpy())
    # parameters changed afterwards are respected
    for e in (plain, fused):
        for n in e.arg_dict:
            e.arg_dict[n][:] = e.arg_dict[n] * 0.5 + 0.1
        for n in e.aux_dict:
            e.aux_dict[n][:] = e.aux_dict[n] + 0.25
    for a, b in zip(run(fused, train), run(plain, train)):
        np.testing.assert_allclose(a, b, rtol=tolerance or 1e-6, atol=tolerance or 1e-6)
    return fused, plain


X = mx.sym.Variable("x")

ACTIVATIONS = {
    "relu": lambda s: mx.sym.Activation(s, act_type="relu"),
    "relu_op": mx.sym.relu,
    "sigmoid": lambda s: mx.sym.Activation(s, act_type="sigmoid"),
    "tanh": mx.sym.tanh,
    "softrelu": lambda s: mx.sym.Activation(s, act_type="softrelu"),
    "gelu": lambda s: mx.sym.LeakyReLU(s, act_type="gelu"),
    "leaky": lambda s: mx.sym.LeakyReLU(s, act_type="leaky", slope=0.2),
    "elu": lambda s: mx.sym.LeakyReLU(s, act_type="elu", slope=0.7),
    "relu6": lambda s: mx.sym.clip(s * 8, 0, 6),
    "hard_sigmoid": lambda s: mx.sym.hard_sigmoid(s, alpha=0.3, beta=0.4),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("layer", ["dense", "convolution"])
def test_activation_joins_the_layer(layer, name):
    if layer == "dense":
        net, shapes, fused_name = mx.sym.FullyConnected(X, num_hidden=9, name="f"), {"x": (5, 7)}, "_fused_dense"
    else:
        net, shapes, fused_name = mx.sym.Convolution(X, num_filter=9, kernel=(3, 3), name="f"), {"x": (2, 3, 8, 8)}, "_fused_convolution"
    fused, plain = compare(ACTIVATIONS[name](net), shapes, ["fuse_dense", "fuse_convolution", "fold_scale_shift"])
    assert fused_name in operators(fused) and fused_name not in operators(plain)
    assert not {"Activation", "LeakyReLU", "clip", "relu", "tanh", "hard_sigmoid"} & set(operators(fused))


@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_addition_joins_the_dense_layer(side, no_bias):
    dense = mx.sym.FullyConnected(X, num_hidden=6, flatten=False, no_bias=no_bias)
    other = mx.sym.exp(mx.sym.Variable("y"))
    net = mx.sym.relu(mx.sym.elemwise_add(dense, other) if side == 0 else mx.sym.broadcast_add(other, dense))
    fused, _ = compare(net, {"x": (2, 4, 5), "y": (2, 4, 6)}, ["fuse_dense"])
    assert operators(fused) == ["exp", "_fused_dense"]


def test_addition_that_broadcasts_stays():
    net = mx.sym.broadcast_add(mx.sym.FullyConnected(X, num_hidden=6), mx.sym.Variable("y"))
    for shape in [(1, 6), (3, 1)]:
        assert "_fused_dense" not in operators(bind(net, {"x": (3, 5), "y": shape}))
    # the layer's own result is the one that is broadcast
    assert "_fused_dense" not in operators(bind(net, {"x": (1, 5), "y": (3, 6)}))


def test_what_others_read_is_not_fused():
    dense = mx.sym.FullyConnected(X, num_hidden=6, name="f")
    assert "_fused_dense" not in operators(bind(mx.sym.Group([mx.sym.relu(dense), dense]), {"x": (3, 5)}))
    assert "_fused_dense" not in operators(bind(mx.sym.relu(dense), {"x": (3, 5)}, train=True))
    assert "_fused_dense" not in operators(bind(mx.sym.relu(dense), {"x": (3, 5)}, dtype="float64"))


NORMS = {
    "dense": (lambda: mx.sym.FullyConnected(X, num_hidden=6, no_bias=True), {}, {"x": (4, 5)}),
    "dense 3d": (lambda: mx.sym.FullyConnected(X, num_hidden=6, flatten=False), {"axis": -1}, {"x": (2, 3, 5)}),
    "convolution": (lambda: mx.sym.Convolution(X, num_filter=6, kernel=(3,), num_group=2), {}, {"x": (2, 4, 9)}),
    "channels last": (lambda: mx.sym.Convolution(X, num_filter=6, kernel=(3, 3), layout="NHWC"), {"axis": 3}, {"x": (2, 8, 8, 3)}),
}


@pytest.mark.parametrize("name", NORMS)
def test_norm_and_numbers_fold_into_the_layer(name):
    layer, norm, shapes = NORMS[name]
    net = 3 - mx.sym.BatchNorm(layer() * 0.5 + 0.25, fix_gamma=False, eps=1e-2, **norm) / 4
    fused, plain = compare(net, shapes, ["fold_scale_shift"], tolerance=2e-5)
    assert len(operators(fused)) == 2 and operators(fused)[0] == "_fold_scale_shift", fused.debug_str()
    assert "BatchNorm" in operators(plain)


def test_norm_over_another_axis_is_not_folded():
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(X, num_hidden=6, flatten=False), axis=1)
    assert "BatchNorm" in operators(bind(net, {"x": (2, 3, 5)}))
    # its mean is read by somebody
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(X, num_hidden=6), output_mean_var=True)
    assert "BatchNorm" in operators(bind(net, {"x": (2, 5)}))


def test_fused_operators_say_what_they_accept():
    # a graph that the compiler made can be read back; a wrong one is refused
    e = bind(mx.sym.relu(mx.sym.FullyConnected(X, num_hidden=3, name="f")), {"x": (2, 4)})
    text = e.get_optimized_symbol().tojson()
    again = mx.sym.load_json(text).bind(mx.cpu(), dict(e.arg_dict))
    np.testing.assert_array_equal(again.forward()[0].asnumpy(), e.forward()[0].asnumpy())
    for wrong in ["swoosh", "clip:1", "relu:1", "leaky:a"]:
        with pytest.raises(mx.MXNetError, match="accepted: relu"):
            mx.sym.load_json(re.sub(r'("post": *)"relu"', rf'\1"{wrong}"', text))
