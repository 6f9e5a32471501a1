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


def compare(net, shapes, passes, tolerance=1e-5, train=False, dtype="float32", fewer=True, **kwargs):
    """(with the passes, without them) after checking that the results agree. tolerance 0: to the bit."""
    with off("fuse_pointwise", *passes):
        plain = bind(net, shapes, train, dtype, **kwargs)
        expected = run(plain, train)
    fused = bind(net, shapes, train, dtype, **kwargs)
    before = {n: a.asnumpy() for n, a in fused.arg_dict.items()}
    actual = run(fused, train)
    assert len(actual) == len(expected) and (not fewer or len(operators(fused)) < len(operators(plain))), fused.debug_str()
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


def expansion(filters=32, act=True, no_bias=False, kernel=(3, 3), pad=(1, 1), stride=(1, 1), groups=None, **more):
    s = mx.sym.Convolution(X, num_filter=filters, kernel=(1, 1), no_bias=no_bias, name="e")
    s = mx.sym.clip(s, 0, 6) if act else s
    s = mx.sym.Convolution(s, num_filter=filters, num_group=groups or filters, kernel=kernel, pad=pad, stride=stride, no_bias=not no_bias, name="d", **more)
    return mx.sym.relu(s) if act else s


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("act", [False, True])
def test_expansion_joins_the_depthwise_convolution(act, stride):
    shapes = {"x": (2, 5, 11, 13)}
    for no_bias in (False, True):
        net = mx.sym.Pooling(expansion(act=act, no_bias=no_bias, stride=(stride, stride)), kernel=(2, 2), pool_type="avg")
        fused, plain = compare(net, shapes, ["fuse_expansion", "fuse_convolution"], fewer=False)
        assert "_fused_expand_depthwise" in operators(fused) and "_fused_expand_depthwise" not in operators(plain)
        assert not {"Convolution", "_fused_convolution", "clip"} & set(operators(fused))
        with off("layout"):
            planes = bind(net, shapes)
            assert "_fused_expand_depthwise" in operators(planes) and "_to_layout" not in operators(planes)
            for name in plain.arg_dict:
                planes.arg_dict[name][:] = plain.arg_dict[name]
            np.testing.assert_allclose(run(planes)[0], run(plain)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("change", [dict(filters=24), dict(kernel=(3, 1), pad=(1, 0)), dict(kernel=(5, 5), pad=(2, 2)), dict(stride=(1, 2)), dict(dilate=(2, 2)), dict(groups=2),
                                    dict(pad=(2, 2))])
def test_other_pairs_of_convolutions_stay(change):
    assert "_fused_expand_depthwise" not in operators(bind(expansion(**change), {"x": (1, 4, 9, 9)}))


def test_expansion_that_others_read_stays():
    net = expansion(act=False)
    net = mx.sym.Group([net, net.get_internals()["e_output"]])
    assert "_fused_expand_depthwise" not in operators(bind(net, {"x": (1, 4, 9, 9)}))
    assert "_fused_expand_depthwise" not in operators(bind(expansion(), {"x": (1, 4, 9, 9)}, train=True))
    assert "_fused_expand_depthwise" not in operators(bind(expansion(), {"x": (1, 4, 9, 9)}, dtype="float64"))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_addition_joins_the_dense_layer(side, no_bias, rows):
    dense = mx.sym.FullyConnected(X, num_hidden=6, flatten=False, no_bias=no_bias)
    other = mx.sym.exp(mx.sym.Variable("y"))
    net = mx.sym.relu(mx.sym.elemwise_add(dense, other) if side == 0 else mx.sym.broadcast_add(other, dense))
    fused, _ = compare(net, {"x": (rows, rows * rows, 5), "y": (rows, rows * rows, 6)}, ["fuse_dense"])
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


# ---- fuse_pointwise

def chain(x):
    return mx.sym.tanh(mx.sym.square(x * 0.5 + 1) - mx.sym.exp(-mx.sym.abs(x)))


def diamond(x):
    a, b = mx.sym.sigmoid(x), mx.sym.Activation(x, act_type="softrelu")
    c = mx.sym.elemwise_mul(a, b)
    return mx.sym.LeakyReLU(mx.sym.broadcast_maximum(c, a) + mx.sym.clip(b, 0.1, 0.9) * c, act_type="gelu")


def broadcasting(x):
    row, column, one = mx.sym.Variable("row"), mx.sym.Variable("column"), mx.sym.Variable("one")
    return mx.sym.relu(mx.sym.broadcast_mul(mx.sym.broadcast_add(mx.sym.broadcast_sub(x, row), column), one) ** 2 - 3)


POINTWISE = {"chain": (chain, {}), "diamond": (diamond, {}), "broadcasting": (broadcasting, {"row": (1, 1, 37), "column": (1, 50, 1), "one": (1,)})}


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_graphs_run_as_one_operator(name, dtype, train):
    make, shapes = POINTWISE[name]
    fused, plain = compare(make(X), dict({"x": (3, 50, 37)}, **shapes), ["fuse_pointwise"], tolerance=0, train=train, dtype=dtype)
    assert "_fused_pointwise" in operators(fused) and "_fused_pointwise" not in operators(plain)
    if not train:
        assert operators(fused) == ["_fused_pointwise"]


def test_pointwise_results_that_others_read_end_a_group():
    a = mx.sym.exp(X)
    b = mx.sym.sin(a + 1)
    net = mx.sym.Group([mx.sym.sum(b) + 0, mx.sym.square(mx.sym.cos(b)), a * 2])
    fused, _ = compare(net, {"x": (70, 30)}, ["fuse_pointwise"], tolerance=0)
    assert operators(fused).count("_fused_pointwise") == 2
    # nothing is fused around an operator in between
    assert "_fused_pointwise" not in operators(bind(mx.sym.exp(mx.sym.softmax(mx.sym.exp(X))), {"x": (4, 5)}))


def test_pointwise_gradients_are_added():
    net = mx.sym.tanh(mx.sym.sin(X) * 2)
    grads = {}
    for passes in ([], ["fuse_pointwise"]):
        with off(*passes):
            x, g = mx.nd.arange(3000).reshape((30, 100)) / 1000, mx.nd.ones((30, 100))
            e = net.bind(mx.cpu(), {"x": x}, args_grad={"x": g}, grad_req="add")
            for _ in range(2):
                e.forward(is_train=True)
                e.backward(mx.nd.ones((30, 100)))
            grads[len(passes)] = g.asnumpy()
    np.testing.assert_array_equal(grads[0], grads[1])
    assert not (grads[0] == 1).all()


@pytest.mark.parametrize("train", [False, True])
def test_pointwise_graphs_carry_channels_last_images(train):
    image = mx.sym.Convolution(X, num_filter=8, kernel=(3, 3), name="c")
    gate = mx.sym.broadcast_mul(mx.sym.sin(image), mx.sym.Variable("s")) + mx.sym.cos(image)
    net = mx.sym.Convolution(gate, num_filter=4, kernel=(1, 1), name="d")
    fused, _ = compare(net, {"x": (2, 3, 9, 9), "s": (2, 8, 1, 1)}, ["fuse_pointwise"], train=train, tolerance=1e-4)
    assert "_fused_pointwise" in operators(fused)
    if not train:
        assert operators(fused).count("_to_layout") <= 1   # the result leaves the graph


def test_pointwise_block_in_training():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(16), mx.gluon.nn.Swish(), mx.gluon.nn.GELU(), mx.gluon.nn.Dense(3))
    net.initialize()
    x = mx.nd.array(np.random.RandomState(0).randn(4, 5))
    grads = []
    for passes in (["fuse_pointwise"], []):
        with off(*passes):
            net.hybridize()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            grads.append([y.asnumpy()] + [p.grad().asnumpy() for p in net.collect_params().values()])
    for a, b in zip(*grads):
        np.testing.assert_array_equal(a, b)


# ---- fuse_batch_norm_relu

@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm_and_relu_are_one_in_training(dtype):
    a = mx.sym.Convolution(X, num_filter=8, kernel=(3, 3), name="c")
    net = mx.sym.Activation(mx.sym.BatchNorm(a, fix_gamma=False, name="b"), act_type="relu")
    net = mx.sym.relu(mx.sym.BatchNorm(mx.sym.Convolution(net, num_filter=4, kernel=(1, 1), name="d"), name="e"))
    shapes = {"x": (4, 3, 9, 9)}
    results, plans = [], []
    for passes in (["fuse_batch_norm_relu"], []):
        with off(*passes):
            e = bind(net, shapes, True, dtype)
            results.append(run(e, True) + run(e, True) + [e.aux_dict[n].asnumpy() for n in sorted(e.aux_dict)])
            plans.append(e)
    for x, y in zip(*results):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)
    plain, fused = map(operators, plans)
    assert fused.count("_contrib_BatchNormWithReLU") == 2 and fused.count("_backward_BatchNormWithReLU") == 2
    assert not {"BatchNorm", "Activation", "relu", "_backward_BatchNorm"} & set(fused) and "_backward_BatchNorm" in plain
    assert plans[1].plan_stats()["arena_bytes"] <= plans[0].plan_stats()["arena_bytes"]


def test_batch_norm_that_others_read_stays():
    norm = mx.sym.BatchNorm(X, name="b")
    for net in (mx.sym.relu(norm) + norm, mx.sym.relu(mx.sym.BatchNorm(X, output_mean_var=True)[0]), mx.sym.tanh(norm)):
        assert "_contrib_BatchNormWithReLU" not in operators(bind(net, {"x": (2, 3, 4, 4)}, train=True))
    # in inference only what does not fold into a layer before it
    conv = mx.sym.Convolution(X, num_filter=8, kernel=(3, 3))
    assert "_contrib_BatchNormWithReLU" not in operators(bind(mx.sym.relu(mx.sym.BatchNorm(conv)), {"x": (2, 3, 4, 4)}))
    compare(mx.sym.relu(norm), {"x": (2, 3, 4, 4)}, ["fuse_batch_norm_relu"])


# ---- fuse_batch_norm_add_relu

def residual(data, shortcut, swap=False, **norm):
    y = mx.sym.BatchNorm(data, name="b", **{"fix_gamma": False, **norm})
    return mx.sym.relu(shortcut + y if swap else y + shortcut)


ADD_RELU = "_fused_batch_norm_add_relu"


def both_plans(net, shapes, dtype="float32"):
    """(without the pass, with it): results, gradients and moved averages of two steps, and the plans."""
    results, plans = [], []
    for passes in (["fuse_batch_norm_add_relu"], []):
        with off(*passes):
            e = bind(net, shapes, True, dtype)
            results.append(run(e, True) + run(e, True) + [e.aux_dict[n].asnumpy() for n in sorted(e.aux_dict)])
            plans.append(e)
    return results, plans


@pytest.mark.parametrize("shape", [(4, 3, 9, 9), (2, 3, 1, 1), (5, 3), (2, 3, 17), (2, 3, 3, 5, 2)])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm_sum_and_relu_are_one_in_training(shape, swap, dtype):
    net = residual(mx.sym.sin(X), mx.sym.var("s", shape=shape), swap)
    results, plans = both_plans(net, {"x": shape, "s": shape}, dtype)
    plain, fused = map(operators, plans)
    assert fused.count(ADD_RELU) == 1 and fused.count(f"_backward{ADD_RELU}") == 1
    assert not {"BatchNorm", "relu", "elemwise_add", "_backward_BatchNorm"} & set(fused) and "_backward_BatchNorm" in plain
    for x, y in zip(*results):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("norm", [{"fix_gamma": True}, {"use_global_stats": True}, {"axis": 2}, {"axis": -1}])
def test_batch_norm_sum_and_relu_with_other_parameters(norm):
    shapes = {"x": (3, 4, 5, 6), "s": (3, 4, 5, 6)}
    results, plans = both_plans(residual(X, mx.sym.var("s"), **norm), shapes)
    assert ADD_RELU in operators(plans[1])
    for x, y in zip(*results):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("place", ["behind", "before", "around", "shortcut"])
@pytest.mark.parametrize("channels", [1, 3, 16, 19])
def test_batch_norm_sum_and_relu_between_layouts(place, channels):
    """The forward pass may lie plain where the gradient comes channels last, and the other way round."""
    def conv(x, name):
        return mx.sym.Convolution(x, num_filter=channels, kernel=(3, 3), pad=(1, 1), no_bias=True, name=name)
    x, s = mx.sym.sin(X), mx.sym.cos(X)
    net = residual(conv(x, "c") if place in ("before", "around") else x, conv(s, "e") if place == "shortcut" else s)
    if place in ("behind", "around"):
        net = conv(net, "d")
    results, plans = both_plans(net, {"x": (2, channels, 7, 6)})
    assert ADD_RELU in operators(plans[1])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("fused", [False, True])
def test_batch_norm_of_another_axis_behind_a_convolution(axis, fused):
    """Channels are last in memory whatever the norm's axis is."""
    conv = mx.sym.Convolution(X, num_filter=4, kernel=(1, 1), no_bias=True, name="c")
    net = mx.sym.Convolution(residual(conv, mx.sym.var("s"), axis=axis), num_filter=2, kernel=(1, 1), name="d")
    shapes = {"x": (2, 3, 5, 6), "s": (2, 4, 5, 6)}
    with off("layout", *([] if fused else ["fuse_batch_norm_add_relu"])):
        expected = run(bind(net, shapes, True), True)
    with off(*([] if fused else ["fuse_batch_norm_add_relu"])):
        e = bind(net, shapes, True)
        assert (ADD_RELU in operators(e)) == fused
        for a, b in zip(run(e, True), expected):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_batch_norm_sum_and_relu_without_a_gradient_of_the_addend():
    net = residual(mx.sym.sin(X), mx.sym.BlockGrad(mx.sym.var("s")))
    results, plans = both_plans(net, {"x": (4, 3, 9, 9), "s": (4, 3, 9, 9)})
    assert ADD_RELU in operators(plans[1])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_batch_norm_and_sum_that_others_read_stay():
    s = mx.sym.var("s")
    norm = mx.sym.BatchNorm(X, name="b")
    total = norm + s
    small = mx.sym.broadcast_add(norm, mx.sym.mean(s, axis=(2, 3), keepdims=True))
    for net in (mx.sym.relu(total) * norm, mx.sym.relu(total) * total, mx.sym.tanh(total), mx.sym.relu(small),
                mx.sym.relu(mx.sym.BatchNorm(X, output_mean_var=True)[0] + s)):
        assert ADD_RELU not in operators(bind(net, {"x": (2, 3, 4, 4), "s": (2, 3, 4, 4)}, train=True))
    assert ADD_RELU not in operators(bind(mx.sym.relu(total), {"x": (2, 3, 4, 4), "s": (2, 3, 4, 4)}))      # inference
    two = mx.sym.relu(mx.sym.BatchNorm(X, name="b") + mx.sym.BatchNorm(s, name="c"))                      # one of two
    fused = operators(bind(two, {"x": (2, 3, 4, 4), "s": (2, 3, 4, 4)}, train=True))
    assert fused.count(ADD_RELU) == 1 and fused.count("BatchNorm") == 1


def test_relu_of_batch_norm_keeps_nan():
    e = bind(mx.sym.relu(mx.sym.BatchNorm(X)), {"x": (2, 3)})
    e.arg_dict["x"][:] = np.nan
    assert np.isnan(run(e)[0]).all()


# ---- remove_identities

def test_what_changes_nothing_goes():
    y = mx.sym.Dropout(mx.sym.identity(mx.sym.sin(X)), p=0.5)
    y = mx.sym.Cast(mx.sym.reshape(mx.sym.BlockGrad(y), shape=(2, 3, 4)), dtype="float32")
    y = mx.sym.transpose(mx.sym.transpose(y, axes=(2, 0, 1)), axes=(1, 2, 0))
    net = mx.sym.softmax(mx.sym.transpose(mx.sym.transpose(y, axes=(2, 0, 1)), axes=(2, 0, 1)))
    fused, _ = compare(net, {"x": (2, 3, 4)}, ["remove_identities"], tolerance=0)
    assert operators(fused) == ["sin", "transpose", "softmax"]


def test_what_changes_something_stays():
    shapes = {"x": (2, 3)}
    def left(net, **kwargs):
        return operators(bind(net, shapes, **kwargs))
    sin = mx.sym.sin(X)
    assert "Dropout" in left(mx.sym.Dropout(sin, mode="always"))
    assert "Dropout" in left(mx.sym.sum(mx.sym.Dropout(sin)), train=True)
    assert "Cast" in left(mx.sym.Cast(sin, dtype="float64"))
    assert "Reshape" in left(mx.sym.reshape(sin, shape=(3, 2)))
    assert "transpose" in left(mx.sym.transpose(sin))
    assert "_copy" in left(mx.sym.identity(X))          # a result has memory of its own


def test_gradient_stops_without_its_node():
    net = mx.sym.sin(X) * mx.sym.BlockGrad(mx.sym.identity(mx.sym.cos(X)))
    compare(net, {"x": (3, 4)}, ["remove_identities"], tolerance=0, train=True)


# ---- fold_constants

def test_arrays_without_inputs_are_computed_once():
    position = mx.sym.reshape(mx.sym.sin(mx.sym.arange(12) / 3), shape=(3, 4))
    net = mx.sym.broadcast_add(mx.sym.softmax(X), position) + mx.sym.ones_like(X)
    fused, plain = compare(net, {"x": (3, 4)}, ["fold_constants"], tolerance=1e-6, fewer=False)
    assert fused.debug_str().count(" constant@") > 4 and " constant@" not in plain.debug_str()
    for _ in range(3):
        np.testing.assert_array_equal(run(fused)[0], run(plain)[0])
    # gradients of what is constant are not asked for; those of what is not stay right
    compare(net, {"x": (3, 4)}, ["fold_constants"], tolerance=1e-6, train=True, fewer=False)


def test_results_random_and_large_arrays_are_no_constants():
    assert " constant@" in bind(mx.sym.zeros((3, 3)) + X, {"x": (3, 3)}).debug_str()
    assert " constant@" not in bind(mx.sym.zeros((300, 300)) + X, {"x": (300, 300)}).debug_str()
    e = bind(mx.sym.zeros((2, 3)) + 1, {})
    for _ in range(2):
        np.testing.assert_array_equal(run(e)[0], np.ones((2, 3)))   # the last node writes the caller's array
    e = bind(mx.sym.random.uniform(shape=(2, 3)) * X, {"x": (2, 3)})
    assert " constant@" not in e.debug_str() and not np.array_equal(run(e)[0], run(e)[0])


# ---- optimize_for

def test_backends_of_graphs():
    net = mx.sym.relu(mx.sym.FullyConnected(X, num_hidden=3, name="f"))
    e = bind(net, {"x": (2, 4)})
    for made in [net.get_backend_symbol("MKLDNN"), net.optimize_for("ONEDNN", dict(e.arg_dict)), net.optimize_for("MKLDNN_QUANTIZE", shape_dict={"x": (2, 4)})]:
        assert made.list_arguments() == net.list_arguments() and made.list_outputs() == net.list_outputs()
        np.testing.assert_array_equal(made.bind(mx.cpu(), dict(e.arg_dict)).forward()[0].asnumpy(), e.forward()[0].asnumpy())
    for call in (net.get_backend_symbol, net.optimize_for):
        with pytest.raises(ValueError, match="no backend 'TensorRT'; accepted: MKLDNN, "):
            call("TensorRT")
    wrong = {"shape_dict": {"x": (2, 4), "f_weight": (3, 5)}}
    with pytest.raises(mx.MXNetError, match="f_weight|weight"):
        net.optimize_for("MKLDNN", **wrong)
    net.optimize_for("MKLDNN", skip_infer=True, **wrong)


def test_backends_of_blocks():
    net = mx.gluon.nn.Dense(3, activation="relu")
    net.initialize()
    x = mx.nd.ones((2, 4))
    y = net(x)
    net.optimize_for(x, backend="MKLDNN")
    np.testing.assert_allclose(net(x).asnumpy(), y.asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="no backend 'other'"):
        net.optimize_for(x, backend="other")


# ---- fuse_gelu, fuse_attention

GELUS = {
    "half of x": lambda x: 0.5 * x * (1 + mx.sym.erf(x / np.sqrt(2))),
    "half at the end": lambda x: x * (mx.sym.erf(x * np.sqrt(0.5)) + 1) * 0.5,
    "halved": lambda x: mx.sym.elemwise_mul(x, mx.sym.erf(x / np.sqrt(2)) + 1) / 2,
}


@pytest.mark.parametrize("name", GELUS)
def test_gelu_written_out_joins_the_layer(name):
    net = GELUS[name](mx.sym.FullyConnected(X, num_hidden=6, name="f"))
    fused, _ = compare(net, {"x": (3, 5)}, ["fuse_gelu", "fuse_dense"], tolerance=2e-6)
    assert operators(fused) == ["_fused_dense"]


def test_what_is_almost_gelu_stays():
    y = mx.sym.sin(X)
    for net in (0.4 * y * (1 + mx.sym.erf(y / np.sqrt(2))), 0.5 * y * (2 + mx.sym.erf(y / np.sqrt(2))), 0.5 * y * (1 + mx.sym.erf(y / 1.5)),
                0.5 * X * (1 + mx.sym.erf(y / np.sqrt(2)))):
        assert "LeakyReLU" not in bind(net, {"x": (3, 5)}).get_optimized_symbol().tojson()


MASKS = [None, (6, 7, 9), (1, 7, 9), (6, 1, 9), (1, 1, 9), (6, 7, 1)]


@pytest.mark.parametrize("mask", MASKS)
def test_attention_is_one_operator(mask):
    q, k, v, m = (mx.sym.Variable(n) for n in "qkvm")
    scores = mx.sym.batch_dot(q * 0.5, k, transpose_b=True) / 1.5
    if mask:
        scores = mx.sym.broadcast_add(scores, m)
    net = mx.sym.batch_dot(mx.sym.softmax(scores), v)
    shapes = dict({"q": (6, 7, 5), "k": (6, 9, 5), "v": (6, 9, 3)}, **({"m": mask} if mask else {}))
    fused, _ = compare(net, shapes, ["fuse_attention"])
    assert operators(fused) == ["_fused_attention"]


def split(x, heads):
    x = mx.sym.transpose(mx.sym.reshape(x, shape=(0, 0, heads, -1)), axes=(0, 2, 1, 3))
    return mx.sym.reshape(x, shape=(-3, 0, 0))


def joined(x, heads):
    x = mx.sym.reshape(x, shape=(-4, -1, heads, 0, 0))
    return mx.sym.reshape(mx.sym.transpose(x, axes=(0, 2, 1, 3)), shape=(0, 0, -3))


@pytest.mark.parametrize("masked", [False, True])
def test_attention_reads_heads_side_by_side(masked):
    q, k, v = (split(mx.sym.sin(mx.sym.Variable(n)), 3) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.3, k, transpose_b=True)
    if masked:
        scores = mx.sym.broadcast_add(scores, mx.sym.Variable("m"))
    net = joined(mx.sym.batch_dot(mx.sym.softmax(scores, axis=-1), v), 3)
    shapes = dict({"q": (2, 70, 12), "k": (2, 900, 12), "v": (2, 900, 6)}, **({"m": (6, 1, 900)} if masked else {}))
    fused, _ = compare(net, shapes, ["fuse_attention"])
    assert sorted(operators(fused)) == ["_fused_attention", "sin", "sin", "sin"]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("wanted", ["qkv", "q", "k", "v"])
def test_attention_is_one_operator_in_training(mask, wanted):
    q, k, v = (mx.sym.sin(mx.sym.var(n)) if n in wanted else mx.sym.BlockGrad(mx.sym.var(n)) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.5, k, transpose_b=True) / 1.5
    if mask:
        scores = mx.sym.broadcast_add(scores, mx.sym.BlockGrad(mx.sym.cos(mx.sym.var("m"))))
    net = mx.sym.batch_dot(mx.sym.softmax(scores), v)
    shapes = dict({"q": (6, 7, 5), "k": (6, 9, 5), "v": (6, 9, 3)}, **({"m": mask} if mask else {}))
    fused, _ = compare(net, shapes, ["fuse_attention_training"], train=True)
    assert operators(fused).count("_fused_attention") == 1 and operators(fused).count("_backward_fused_attention") == 1
    assert not {"batch_dot", "softmax", "_backward_softmax"} & set(operators(fused))


@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_many_rows_in_training(masked):
    """Several blocks of rows, heads side by side, softmax written out."""
    q, k, v = (split(mx.sym.sin(mx.sym.var(n)), 3) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.3, k, transpose_b=True)
    if masked:
        scores = mx.sym.broadcast_add(scores, mx.sym.BlockGrad(mx.sym.var("m")))
    net = joined(mx.sym.batch_dot(softmax_written_out(scores, "plain", -1), v), 3)
    shapes = dict({"q": (2, 330, 12), "k": (2, 900, 12), "v": (2, 900, 6)}, **({"m": (6, 1, 900)} if masked else {}))
    fused, plain = compare(net, shapes, ["fuse_attention_training", "fuse_softmax"], train=True)
    assert "_backward_fused_attention" in operators(fused) and "transpose" not in operators(fused)
    assert fused.plan_stats()["arena_bytes"] < 0.2 * plain.plan_stats()["arena_bytes"]


def test_attention_with_a_learned_mask_stays_in_training():
    q, k, v, m = (mx.sym.var(n) for n in "qkvm")
    net = mx.sym.batch_dot(mx.sym.softmax(mx.sym.broadcast_add(mx.sym.batch_dot(q, k, transpose_b=True), mx.sym.exp(m))), v)
    shapes = {"q": (6, 7, 5), "k": (6, 9, 5), "v": (6, 9, 3), "m": (1, 7, 9)}
    fused, _ = compare(net, shapes, ["fuse_attention_training"], train=True, fewer=False)
    assert "_fused_attention" not in operators(fused)


def test_what_is_not_attention_stays():
    q, k, v = (mx.sym.Variable(n) for n in "qkv")
    shapes = {"q": (2, 4, 4), "k": (2, 4, 4), "v": (2, 4, 4)}
    scores = mx.sym.batch_dot(q, k, transpose_b=True)
    weights = mx.sym.softmax(scores)
    for net in (mx.sym.batch_dot(mx.sym.softmax(scores, axis=1), v), mx.sym.batch_dot(mx.sym.softmax(scores, temperature=2.0), v),
                mx.sym.Group([mx.sym.batch_dot(weights, v), weights]), mx.sym.batch_dot(weights, v, transpose_b=True),
                mx.sym.batch_dot(mx.sym.softmax(mx.sym.batch_dot(q, k)), v)):
        assert "_fused_attention" not in operators(bind(net, shapes))
    # heads that are split in another way keep their copies
    net = joined(mx.sym.batch_dot(mx.sym.softmax(mx.sym.batch_dot(split(q, 2), split(k, 4), transpose_b=True)), split(v, 2)), 2)
    e = bind(net, {"q": (2, 4, 4), "k": (1, 4, 8), "v": (2, 4, 4)})
    assert "_fused_attention" in operators(e) and "transpose" in operators(e)


def test_a_constant_that_fails_fails_in_every_run():
    words = mx.sym.take(mx.sym.ones((3, 2)), mx.sym.arange(5), mode="raise", name="words")
    e = bind(mx.sym.broadcast_add(X, mx.sym.sum(words)), {"x": (2, 2)})
    assert "constant" in e.debug_str()
    for _ in range(3):
        with pytest.raises(mx.MXNetError, match="words"):
            e.forward()[0].wait_to_read()


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_rnn_parameters_are_put_together_once(layer):
    net = getattr(mx.gluon.rnn, layer)(20, num_layers=2, bidirectional=True, input_size=12)
    net.initialize(mx.init.Uniform(0.3))
    x = mx.nd.random.uniform(-1, 1, shape=(5, 3, 12))
    eager = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), eager, rtol=1e-5, atol=1e-6)
    text = str(net.explain(runs=0))
    assert "_join_parameters" in text and "2 nodes" in text
    for p in net.collect_params().values():   # new parameters are seen
        p.set_data(p.data() * 0.5)
    changed = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(changed, net(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert abs(changed - eager).max() > 1e-2


def layer_norm_written_out(x, form):
    centred = mx.sym.broadcast_sub(x, mx.sym.mean(x, axis=-1, keepdims=True))
    if form == "divide":
        return mx.sym.broadcast_div(centred, mx.sym.sqrt(mx.sym.mean(mx.sym.square(centred), axis=-1, keepdims=True) + 1e-3))
    return mx.sym.broadcast_mul(centred, mx.sym.rsqrt(mx.sym.mean(centred * centred, axis=-1, keepdims=True) + 1e-3))


@pytest.mark.parametrize("form", ["divide", "rsqrt"])
@pytest.mark.parametrize("train", [False, True])
def test_layer_norm_written_out(form, train):
    gamma, beta = mx.sym.Variable("gamma", shape=(7,)), mx.sym.Variable("beta", shape=(7,))
    plain = layer_norm_written_out(X * 2, form)
    for net, fewer in ((mx.sym.broadcast_add(beta, mx.sym.broadcast_mul(plain, gamma)), True), (plain, True)):
        fused, apart = compare(net, {"x": (4, 3, 7)}, ["fuse_layer_norm"], tolerance=2e-5, train=train, fewer=fewer)
        assert "LayerNorm" in operators(fused) and "LayerNorm" not in operators(apart)
        assert "mean" not in operators(fused)
    other = mx.sym.broadcast_sub(X, mx.sym.mean(X, axis=1, keepdims=True))   # centred over another dimension
    net = mx.sym.broadcast_div(other, mx.sym.sqrt(mx.sym.mean(mx.sym.square(other), axis=-1, keepdims=True) + 1e-3))
    assert "LayerNorm" not in operators(bind(net, {"x": (4, 3, 7)}))


# ---- fuse_softmax

def softmax_written_out(x, form, axis):
    def kept(reduction, of):
        return reduction(of, axis=axis, keepdims=True)
    m, centred = kept(mx.sym.max, x), None
    if form == "expand":
        m = mx.sym.expand_dims(mx.sym.max(x, axis=axis), axis=axis)
    elif form == "block":
        m = mx.sym.BlockGrad(kept(mx.sym.max, mx.sym.BlockGrad(x)))
    centred = mx.sym.elemwise_sub(x, mx.sym.broadcast_like(m, x)) if form == "like" else mx.sym.broadcast_sub(x, m)
    if form == "logsumexp":
        return mx.sym.broadcast_sub(x, m + mx.sym.log(kept(mx.sym.sum, mx.sym.exp(centred))))
    if form == "log":
        return mx.sym.broadcast_sub(centred, mx.sym.log(kept(mx.sym.sum, mx.sym.exp(centred))))
    e = mx.sym.exp(centred)
    if form == "twice":
        return mx.sym.broadcast_div(e, kept(mx.sym.sum, mx.sym.exp(mx.sym.broadcast_sub(x, m))))
    if form == "expand":
        return mx.sym.broadcast_div(e, mx.sym.expand_dims(mx.sym.sum(e, axis=axis), axis=axis))
    if form == "like":
        return e / mx.sym.broadcast_like(kept(mx.sym.sum, e), e)
    if form == "reciprocal":
        return mx.sym.broadcast_mul(1 / kept(mx.sym.sum, e), e)
    return mx.sym.broadcast_div(e, kept(mx.sym.sum, e))


@pytest.mark.parametrize("form", ["plain", "block", "expand", "like", "reciprocal", "twice", "log", "logsumexp"])
@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("train", [False, True])
def test_softmax_written_out(form, axis, train):
    net = softmax_written_out(mx.sym.sin(X) * 4, form, axis) * mx.sym.var("w", shape=(4, 3, 7))
    fused, apart = compare(net, {"x": (4, 3, 7)}, ["fuse_softmax"], tolerance=2e-5, train=train)
    name = "log_softmax" if form.startswith("log") else "softmax"
    assert name in operators(fused) and not {"max", "sum", "exp"} & set(operators(fused)) and name not in operators(apart)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_softmax_written_out_in_other_dtypes(dtype):
    fused, _ = compare(softmax_written_out(X, "plain", -1), {"x": (4, 3, 7)}, ["fuse_softmax"], tolerance=1e-12 if dtype == "float64" else 2e-3, dtype=dtype)
    assert "softmax" in operators(fused)


def test_numpy_softmax_written_out():
    def net(x):
        e = mx.sym._internal._npi_exp(mx.sym._internal._npi_subtract(x, mx.sym._internal._npi_max(x, axis=(1,), keepdims=True)))
        return mx.sym._internal._npi_true_divide(e, mx.sym._internal._np_sum(e, axis=1, keepdims=True))
    fused, _ = compare(net(X), {"x": (4, 3, 7)}, ["fuse_softmax"], train=True)
    assert "softmax" in operators(fused)


def test_what_only_looks_like_softmax_stays():
    m = mx.sym.max(X, axis=1, keepdims=True)
    e = mx.sym.exp(mx.sym.broadcast_sub(X, m))
    crossed = mx.sym.exp(mx.sym.broadcast_sub(X, mx.sym.expand_dims(mx.sym.max(X, axis=0), axis=1)))       # of a square, over the other axis
    least = mx.sym.exp(mx.sym.broadcast_sub(X, mx.sym.min(X, axis=1, keepdims=True)))
    others = [mx.sym.broadcast_div(e, mx.sym.sum(e, axis=0, keepdims=True)),
              mx.sym.broadcast_div(e, mx.sym.sum(e, axis=1, keepdims=True) + 1),
              mx.sym.broadcast_div(e, mx.sym.sum(e, axis=1, keepdims=True, exclude=True)),
              mx.sym.broadcast_div(e, mx.sym.sum(mx.sym.exp(mx.sym.broadcast_sub(X * 2, m)), axis=1, keepdims=True)),
              mx.sym.broadcast_div(mx.sym.sum(e, axis=1, keepdims=True), e),
              mx.sym.broadcast_div(e, mx.sym.sum(e, axis=1, keepdims=True)) * e,                        # the exponentials are needed in any case
              mx.sym.broadcast_div(e, mx.sym.sum(e)),
              mx.sym.broadcast_mul(e, mx.sym.sum(e, axis=1, keepdims=True)),
              mx.sym.broadcast_div(crossed, mx.sym.sum(crossed, axis=1, keepdims=True)),
              mx.sym.broadcast_div(least, mx.sym.sum(least, axis=1, keepdims=True))]
    for net in others:
        fused, _ = compare(net, {"x": (5, 5)}, ["fuse_softmax"], fewer=False)
        assert "softmax" not in operators(fused)


def test_softmax_written_out_with_a_gradient_of_the_blocked_sum_stays():
    e = mx.sym.exp(mx.sym.broadcast_sub(X, mx.sym.max(X, axis=1, keepdims=True)))
    net = mx.sym.broadcast_div(e, mx.sym.BlockGrad(mx.sym.sum(e, axis=1, keepdims=True)))
    fused, _ = compare(net, {"x": (4, 5)}, ["fuse_softmax"], train=True, fewer=False)
    assert "softmax" not in operators(fused)
