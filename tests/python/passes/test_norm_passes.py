"""Passes for normalization: BatchNorm with a sum and relu, and layer normalization written out."""
import numpy as np
import pytest

import mxnet as mx
from test_passes import X, bind, compare, off, operators, run

pytestmark = pytest.mark.on_gpu


# ---- fuse_batch_norm_relu

@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm_and_relu_are_one_in_training(dtype):
    # A bias would have a gradient of 0, and what rounding makes of that is another for each method.
    a = mx.sym.Convolution(X, num_filter=8, kernel=(3, 3), no_bias=True, name="c")
    net = mx.sym.Activation(mx.sym.BatchNorm(a, fix_gamma=False, name="b"), act_type="relu")
    net = mx.sym.relu(mx.sym.BatchNorm(mx.sym.Convolution(net, num_filter=4, kernel=(1, 1), no_bias=True, name="d"), name="e"))
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
    """(without the pass, with it): results, gradients and moved averages of two steps, plans."""
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
    """The forward pass may lie plain where the gradient is channels last, and vice versa."""
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


INTERNAL = mx.sym._internal


def numpy_layer_norm(x, form):
    def mean(of):
        return INTERNAL._npi_mean(of, axis=-1, keepdims=True)
    centred = INTERNAL._npi_subtract(x, mean(x))
    if form == "numpy var":
        variance = INTERNAL._npi_var(x, axis=-1, keepdims=True)
    elif form == "numpy power":
        variance = mean(INTERNAL._npi_power_scalar(centred, scalar=2))
    else:
        variance = mean(INTERNAL._npi_square(centred))
    shifted = INTERNAL._npi_add_scalar(variance, scalar=1e-3, is_int=False)
    if form == "numpy power":
        return INTERNAL._npi_multiply(INTERNAL._npi_power_scalar(shifted, scalar=-0.5, is_int=False), centred)
    if form == "numpy reciprocal":
        return INTERNAL._npi_multiply(centred, INTERNAL._npi_reciprocal(INTERNAL._npi_sqrt(shifted)))
    return INTERNAL._npi_true_divide(centred, INTERNAL._npi_sqrt(shifted))


def layer_norm_written_out(x, form):
    if form.startswith("numpy"):
        return numpy_layer_norm(x, form)
    centred = mx.sym.broadcast_sub(x, mx.sym.mean(x, axis=-1, keepdims=True))
    if form == "divide":
        return mx.sym.broadcast_div(centred, mx.sym.sqrt(mx.sym.mean(mx.sym.square(centred), axis=-1, keepdims=True) + 1e-3))
    return mx.sym.broadcast_mul(centred, mx.sym.rsqrt(mx.sym.mean(centred * centred, axis=-1, keepdims=True) + 1e-3))


@pytest.mark.parametrize("form", ["divide", "rsqrt", "numpy", "numpy var", "numpy power", "numpy reciprocal"])
@pytest.mark.parametrize("train", [False, True])
def test_layer_norm_written_out(form, train):
    gamma, beta = mx.sym.Variable("gamma", shape=(7,)), mx.sym.Variable("beta", shape=(7,))
    plain = layer_norm_written_out(X * 2, form)
    multiply, add = mx.sym.broadcast_mul, mx.sym.broadcast_add
    if form.startswith("numpy"):
        multiply, add = INTERNAL._npi_multiply, INTERNAL._npi_add
    for net, fewer in ((add(beta, multiply(plain, gamma)), True), (plain, True)):
        fused, apart = compare(net, {"x": (4, 3, 7)}, ["fuse_layer_norm"], tolerance=2e-5, train=train, fewer=fewer)
        assert "LayerNorm" in operators(fused) and "LayerNorm" not in operators(apart)
        assert not {"mean", "_npi_mean", "_npi_var"} & set(operators(fused))
    other = mx.sym.broadcast_sub(X, mx.sym.mean(X, axis=1, keepdims=True))   # centred over another dimension
    net = mx.sym.broadcast_div(other, mx.sym.sqrt(mx.sym.mean(mx.sym.square(other), axis=-1, keepdims=True) + 1e-3))
    assert "LayerNorm" not in operators(bind(net, {"x": (4, 3, 7)}))


@pytest.mark.parametrize("factors", [(1, 8, 1, 1), (8, 1, 1), None])
@pytest.mark.parametrize("ahead", [False, True])
def test_layer_norm_of_channels_written_out(factors, ahead):
    """LayerNorm2d of restoration networks: means over the channels of images. On the CPU alone."""
    if mx.current_context().device_type != "cpu":
        pytest.skip("the CPU's alone")

    def mean(of):
        return INTERNAL._npi_mean(of, axis=1, keepdims=True)
    x = mx.sym.Convolution(X, num_filter=8, kernel=(3, 3), name="ahead") if ahead else X
    centred = INTERNAL._npi_subtract(x, mean(x))
    deviation = INTERNAL._npi_sqrt(INTERNAL._npi_add_scalar(mean(INTERNAL._npi_square(centred)), scalar=1e-3, is_int=False))
    net = INTERNAL._npi_true_divide(centred, deviation)
    if factors:
        net = INTERNAL._npi_multiply(net, mx.sym.Variable("gamma", shape=factors))
        net = INTERNAL._npi_add(net, mx.sym.Variable("beta", shape=factors))
    net = mx.sym.Convolution(net, num_filter=9, kernel=(3, 3), name="behind")
    fused, apart = compare(net, {"x": (2, 8, 9, 7)}, ["fuse_layer_norm"], tolerance=2e-4, fewer=False)
    assert "LayerNorm" in operators(fused) and "LayerNorm" not in operators(apart)
    assert not {"_npi_mean", "_npi_sqrt"} & set(operators(fused))
    if ahead:
        assert operators(fused).count("_to_layout") == 1  # of the result
        assert "transpose" not in operators(fused)
    trained, _ = compare(net, {"x": (2, 8, 9, 7)}, ["fuse_layer_norm"], tolerance=2e-4, train=True, fewer=False)
    assert "LayerNorm" not in operators(trained)


@pytest.mark.parametrize("shape, axis", [((8,), 1), ((1, 1, 7), 1), ((1, 8, 1, 1), 2)])
def test_norms_of_channels_that_are_not(shape, axis):
    """gamma along another dimension, or the means over one."""
    def mean(of):
        return INTERNAL._npi_mean(of, axis=axis, keepdims=True)
    centred = INTERNAL._npi_subtract(X, mean(X))
    deviation = INTERNAL._npi_sqrt(INTERNAL._npi_add_scalar(mean(INTERNAL._npi_square(centred)), scalar=1e-3, is_int=False))
    net = INTERNAL._npi_multiply(INTERNAL._npi_true_divide(centred, deviation), mx.sym.Variable("gamma", shape=shape))
    size = {"x": (2, 8, 9, 8 if shape == (8,) else 7)}
    fused, _ = compare(net, size, ["fuse_layer_norm"], tolerance=2e-4, fewer=False)
    assert "_npi_multiply" in operators(fused) or "_fused_pointwise" in operators(fused)
