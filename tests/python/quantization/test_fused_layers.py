"""fuse_quantized: layers on 8-bit integers with what follows them, in one pass."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import quantization


def run(net, off, **arrays):
    """(result, operators of the plan)"""
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", off)
    states = {n: arrays[n] for n in net.list_auxiliary_states()}
    executor = net.bind(mx.cpu(), {n: a for n, a in arrays.items() if n not in states}, grad_req="null", aux_states=states)
    result = executor.forward(is_train=False)[0].asnumpy()
    operators = [node["op"] for node in executor.explain(runs=0).plan["nodes"]]
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
    return result, operators


def network(kind, groups=1, no_bias=False, stride=1, layout=None):
    data = mx.sym.Variable("data")

    def layer(x, name, **more):
        if kind == "dense":
            return mx.sym.FullyConnected(x, num_hidden=8, no_bias=no_bias, flatten=False, name=name)
        kernel = (3,) * {"1d": 1, "2d": 2, "3d": 3}[kind]
        options = dict(kernel=kernel, pad=tuple(1 for _ in kernel), num_filter=8, num_group=groups, no_bias=no_bias, name=name)
        return mx.sym.Convolution(x, **options, **(dict(layout=layout) if layout else {}), **more)
    relu = lambda x, name: mx.sym.Activation(x, act_type="relu", name=name)
    x = relu(layer(data, "first"), "r0")
    y = layer(relu(layer(x, "second"), "r1"), "third")
    return relu(mx.sym.elemwise_add(y, x, name="sum"), "r2")


SHAPES = {"dense": (5, 8), "1d": (2, 8, 7), "2d": (2, 8, 6, 7), "3d": (2, 8, 3, 4, 5)}


def quantized(net, shape, dtype="auto", seed=0, mode="full"):
    rng = np.random.RandomState(seed)
    shapes, _, _ = net.infer_shape(data=shape)
    params = {n: mx.nd.array(rng.uniform(-1, 1, s)) for n, s in zip(net.list_arguments(), shapes) if n != "data"}
    data = mx.nd.array(rng.uniform(-1, 1, shape))
    batches = mx.io.NDArrayIter(data, None, shape[0])
    qsym, args, _ = quantization.quantize_model_mkldnn(net, params, {}, calib_mode="naive", calib_data=batches, quantized_dtype=dtype,
                                                       quantize_mode=mode)
    return qsym, dict(args, data=data), net.eval(data=data, **params)[0].asnumpy()


@pytest.mark.parametrize("kind, options", [("dense", {}), ("dense", dict(no_bias=True)), ("1d", {}), ("2d", {}), ("2d", dict(groups=8)),
                                           ("2d", dict(groups=2, no_bias=True)), ("2d", dict(layout="NHWC")), ("3d", {})])
@pytest.mark.parametrize("dtype", ["auto", "int8"])
def test_fused_layers_compute_what_they_replace(kind, options, dtype):
    shape = SHAPES[kind] if options.get("layout") != "NHWC" else (2, 6, 7, 8)
    net, arrays, exact = quantized(network(kind, **options), shape, dtype)
    fused, operators = run(net, "", **arrays)
    plain, unfused = run(net, "fuse_quantized", **arrays)
    name = "_fused_quantized_dense" if kind == "dense" else "_fused_quantized_convolution"
    assert operators.count(name) == 3 and name not in unfused
    assert "_contrib_requantize" not in operators and "_contrib_quantized_elemwise_add" not in operators
    np.testing.assert_array_equal(fused, plain)     # sums are rounded as often
    assert abs(fused - exact).mean() < abs(exact).mean() * (0.03 if dtype == "auto" else 0.06)


def test_a_layer_that_two_read_keeps_its_own_step():
    data = mx.sym.Variable("data")
    x = mx.sym.FullyConnected(data, num_hidden=8, name="a")
    y = mx.sym.FullyConnected(x, num_hidden=8, name="b")
    net, arrays, exact = quantized(mx.sym.elemwise_add(x, y, name="sum"), (5, 8))
    fused, operators = run(net, "", **arrays)
    plain, _ = run(net, "fuse_quantized", **arrays)
    assert operators.count("_fused_quantized_dense") == 2
    np.testing.assert_array_equal(fused, plain)


def blocks(kind):
    """Two residual blocks, with a layer on the way around the second one."""
    def layer(x, name, filters=16):
        if kind == "dense":
            return mx.sym.FullyConnected(x, num_hidden=filters, flatten=False, name=name)
        size = 1 if name.endswith("1") else 3
        return mx.sym.Convolution(x, kernel=(size, size), pad=(size // 2, size // 2), num_filter=filters, name=name)
    relu = lambda x, name: mx.sym.Activation(x, act_type="relu", name=name)
    x = relu(layer(mx.sym.Variable("data"), "first"), "r0")
    for i in range(2):
        y = layer(relu(layer(x, f"a{i}_1"), f"r{i}1"), f"b{i}_{i}")
        x = relu(mx.sym.elemwise_add(y, layer(x, "around_1") if i else x, name=f"s{i}"), f"r{i}2")
    return layer(x, "last", 8)


@pytest.mark.parametrize("kind", ["dense", "2d"])
@pytest.mark.parametrize("dtype", ["auto", "int8"])
@pytest.mark.parametrize("onednn", ["1", "0"])
@pytest.mark.parametrize("beyond", [1, 3])
def test_residual_blocks_are_those_of_eager_operators(kind, dtype, onednn, beyond):
    """Bit for bit, also for numbers beyond the ranges, where integers are cut."""
    shape = (40, 16) if kind == "dense" else (2, 16, 6, 7)
    net, arrays, _ = quantized(blocks(kind), shape, dtype)
    arrays["data"] = arrays["data"] * beyond
    mx.util.set_env("MXNET_ONEDNN_ENABLED", onednn)
    fused, operators = run(net, "", **arrays)
    plain, _ = run(net, "fuse_quantized", **arrays)
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")
    assert "_contrib_quantized_elemwise_add" not in operators and "_contrib_requantize" not in operators
    np.testing.assert_allclose(fused, plain, rtol=1e-6, atol=1e-6)     # of floats, in which the last layer gives its sums


@pytest.mark.parametrize("function", ["sigmoid", "relu", "tanh"])
@pytest.mark.parametrize("dtype", ["auto", "int8"])
def test_functions_before_a_sum_stay(function, dtype):
    """The sum and its step to 8 bits took the place of the function."""
    data = mx.sym.Variable("data")
    layer = lambda x, name: mx.sym.FullyConnected(x, num_hidden=8, name=name)
    x = mx.sym.Activation(layer(data, "a"), act_type="relu", name="r")
    y = mx.sym.Activation(layer(x, "b"), act_type=function, name="f")
    net, arrays, exact = quantized(layer(mx.sym.elemwise_add(y, x, name="s"), "c"), (40, 8), dtype)
    fused, _ = run(net, "", **arrays)
    plain, _ = run(net, "fuse_quantized", **arrays)
    np.testing.assert_allclose(fused, plain, rtol=1e-5, atol=1e-5)
    assert abs(fused - exact).mean() < 0.05 * abs(exact).mean()


def test_without_ranges_only_what_becomes_floats_is_fused():
    net = network("dense")
    shapes, _, _ = net.infer_shape(data=(5, 8))
    params = {n: mx.nd.ones(s) for n, s in zip(net.list_arguments(), shapes) if n != "data"}
    qsym, args, _ = quantization.quantize_model_mkldnn(net, params, {}, calib_mode="none")
    operators = run(qsym, "", data=mx.nd.ones((5, 8)), **args)[1]
    assert operators.count("_contrib_requantize") == 2 and operators.index("_fused_quantized_dense") == len(operators) - 1


@pytest.mark.parametrize("kind, options", [("dense", {}), ("dense", dict(no_bias=True)), ("1d", {}), ("2d", dict(groups=2)),
                                           ("2d", dict(layout="NHWC")), ("3d", {})])
@pytest.mark.parametrize("onednn", ["1", "0"])
def test_layers_give_floats_with_a_sum_and_a_relu(kind, options, onednn):
    """The third layer of a network whose sum and last relu stay in floats."""
    shape = SHAPES[kind] if options.get("layout") != "NHWC" else (2, 6, 7, 8)
    net, arrays, exact = quantized(network(kind, **options), shape, mode="smart")
    mx.util.set_env("MXNET_ONEDNN_ENABLED", onednn)
    fused, operators = run(net, "", **arrays)
    plain, unfused = run(net, "fuse_quantized", **arrays)
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")
    name = "_fused_quantized_dense" if kind == "dense" else "_fused_quantized_convolution"
    assert operators.count(name) == 3 and name not in unfused
    assert not {"Cast", "_mul_scalar", "broadcast_mul", "elemwise_add", "Activation"} & set(operators)
    np.testing.assert_allclose(fused, plain, rtol=1e-5, atol=1e-6 * exact.max())


@pytest.mark.parametrize("reader", ["twice", "integers"])
def test_floats_that_others_read_stay_apart(reader):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="a")
    net = mx.sym.relu(x, name="r") * x if reader == "twice" else mx.sym.Group([mx.sym.FullyConnected(x, num_hidden=8, name="b"), x])
    net, arrays, _ = quantized(net, (5, 8), mode="smart")
    fused, operators = run(net, "", **arrays)
    plain, _ = run(net, "fuse_quantized", **arrays)
    assert ("relu" in " ".join(operators) or "_fused_pointwise" in operators) == (reader == "twice")
    np.testing.assert_allclose(fused, plain, rtol=1e-5, atol=1e-5)


def test_batches_of_other_sizes():
    """A plan for each size; weights are packed once."""
    net, arrays, _ = quantized(network("2d"), SHAPES["2d"])
    block = quantization._block(net, ["data"], arrays, mx.cpu(), ["float32"])
    block.hybridize(static_alloc=True, static_shape=True)
    whole = block(arrays["data"]).asnumpy()
    for _ in range(2):
        parts = [block(arrays["data"][i:i + 1]).asnumpy() for i in range(2)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_ranges_of_zeros():
    """A layer whose results are all 0 has no steps."""
    net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="f"), act_type="relu", name="r")
    params = {"f_weight": mx.nd.zeros((8, 8)), "f_bias": mx.nd.zeros(8)}
    data = mx.nd.ones((5, 8))
    qsym, args, _ = quantization.quantize_model_mkldnn(net, params, {}, calib_mode="naive", calib_data=mx.io.NDArrayIter(data, None, 5),
                                                       quantized_dtype="auto", quantize_mode="full")
    assert not run(qsym, "", data=data, **args)[0].any()


@pytest.mark.parametrize("options", [dict(pool_type="max"), dict(pool_type="avg"), dict(pool_type="avg", count_include_pad=False),
                                     dict(pool_type="max", global_pool=True), dict(pool_type="avg", global_pool=True)])
@pytest.mark.parametrize("dtype", ["auto", "int8"])
def test_pooling_takes_images_as_layers_give_them(options, dtype):
    x = mx.sym.Activation(mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=8, name="a"), act_type="relu", name="r")
    x = mx.sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pad=(1, 1), name="p", **options)
    net, arrays, exact = quantized(mx.sym.Convolution(x, kernel=(1, 1), num_filter=8, name="b"), (2, 3, 9, 8), dtype)
    fused, operators = run(net, "", **arrays)
    plain, _ = run(net, "layout", **arrays)
    assert operators.index("_contrib_quantized_pooling") == operators.index("_fused_quantized_convolution") + 1    # as it lies
    np.testing.assert_array_equal(fused, plain)
    assert abs(fused - exact).mean() < abs(exact).mean() * (0.03 if dtype == "auto" else 0.06)


@pytest.mark.parametrize("batch, size", [(1, 9), (5, 40), (40, 5)])
@pytest.mark.parametrize("dtype", ["auto", "int8"])
def test_concat_takes_images_as_layers_give_them(batch, size, dtype):
    """Averages and arrays of several ranges side by side, some examples at a time."""
    data = mx.sym.Variable("data")
    layer = lambda x, name, scale: mx.sym.Activation(mx.sym.Convolution(x * scale, kernel=(3, 3), pad=(1, 1), num_filter=24, name=name),
                                                     act_type="relu", name="r" + name)
    first = layer(data, "a", 1)
    mean = mx.sym.Pooling(first, kernel=(3, 3), pad=(1, 1), pool_type="avg", name="p")
    joined = mx.sym.Concat(layer(data, "b", 4), mean, layer(data, "c", 0.5), dim=1, name="j")
    net, arrays, exact = quantized(mx.sym.Convolution(joined, kernel=(1, 1), num_filter=8, name="d"), (batch, 3, size, size), dtype)
    fused, operators = run(net, "", **arrays)
    plain, _ = run(net, "layout", **arrays)
    between = operators[operators.index("_fused_quantized_convolution") + 1:]
    assert "_contrib_quantized_concat" in between and "_to_layout" not in between[:between.index("_fused_quantized_convolution")]
    np.testing.assert_array_equal(fused, plain)
    assert abs(fused - exact).mean() < abs(exact).mean() * (0.03 if dtype == "auto" else 0.06)


@pytest.mark.parametrize("mode", ["none", "naive"])
@pytest.mark.parametrize("multiply", [False, True])
def test_sums_that_no_layer_takes_in_lie_as_they_are_read(mode, multiply):
    """A sum in 32 bits between images channels last, in a network without merged layers."""
    data = mx.sym.Variable("data")
    first = mx.sym.BatchNorm(mx.sym.Convolution(data, kernel=(3, 3), num_filter=8, name="a"), name="n")
    first = mx.sym.Pooling(first, kernel=(2, 2), pool_type="max", name="p")
    other = mx.sym.Convolution(first, kernel=(3, 3), pad=(1, 1), num_filter=8, name="b")
    both = mx.sym.elemwise_mul(first, first + other) if multiply else mx.sym.elemwise_add(other, first, name="s")
    net = mx.sym.FullyConnected(mx.sym.Activation(both, act_type="relu", name="r"), num_hidden=8, name="f")
    shapes, _, _ = net.infer_shape(data=(3, 3, 9, 8))
    rng = np.random.RandomState(0)
    params = {n: mx.nd.array(rng.uniform(-1, 1, s)) for n, s in zip(net.list_arguments(), shapes) if n != "data"}
    states = {"n_moving_mean": mx.nd.zeros(8), "n_moving_var": mx.nd.ones(8)}
    data = mx.nd.array(rng.uniform(-1, 1, (3, 3, 9, 8)))
    qsym, args, _ = quantization.quantize_model(net, params, states, calib_mode=mode, calib_data=mx.io.NDArrayIter(data, None, 3),
                                                quantize_mode="full")
    exact, _ = run(net, "", data=data, **params, **states)
    planes, _ = run(qsym, "layout", data=data, **args, **states)
    found, operators = run(qsym, "", data=data, **args, **states)
    assert "_contrib_quantized_elemwise_add" in operators
    np.testing.assert_array_equal(found, planes)
    assert abs(found - exact).mean() < abs(exact).mean() * 0.08


@pytest.mark.parametrize("kind", ["dense", "2d"])
@pytest.mark.parametrize("function", ["gelu", "sigmoid", "clip", "elu"])
@pytest.mark.parametrize("behind", ["integers", "floats"])
@pytest.mark.parametrize("onednn", ["1", "0"])
def test_functions_of_one_number_are_part_of_a_layer(kind, function, behind, onednn):
    """With the step to 8 bits behind them, and without a layer that wants it."""
    layer = lambda x, name: (mx.sym.FullyConnected(x, num_hidden=8, flatten=False, name=name) if kind == "dense" else
                             mx.sym.Convolution(x, kernel=(3, 3), num_filter=8, name=name))
    apply = {"gelu": lambda x: mx.sym.LeakyReLU(x, act_type="gelu"), "elu": lambda x: mx.sym.LeakyReLU(x, act_type="elu"),
             "sigmoid": mx.sym.sigmoid, "clip": lambda x: mx.sym.clip(x, -0.5, 2)}[function]
    net = apply(layer(mx.sym.Variable("data"), "a"))
    net, arrays, exact = quantized(layer(net, "b") if behind == "integers" else net, SHAPES[kind], dtype="auto")
    mx.util.set_env("MXNET_ONEDNN_ENABLED", onednn)
    fused, operators = run(net, "", **arrays)
    plain, unfused = run(net, "fuse_quantized", **arrays)
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")
    layers = [op for op in operators if op.startswith("_fused_quantized")]
    assert len(operators) == len(layers) + 1 + ("_to_layout" in operators), operators   # and what makes integers of the data
    assert len(layers) == (2 if behind == "integers" else 1) < len(unfused)
    np.testing.assert_allclose(fused, plain, rtol=1e-5, atol=1e-5)
    assert abs(fused - exact).mean() < 0.03 * abs(exact).mean()


@pytest.mark.parametrize("bias", [False, True])
def test_large_windows_have_tiles_beside_a_library(bias):
    """3x3 windows of many channels and places: the same with oneDNN's kernels and without."""
    data = mx.sym.Variable("data")
    x = mx.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=128, no_bias=not bias, name="a")
    x = mx.sym.Activation(x, act_type="relu", name="r")
    net = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=128, no_bias=True, name="b")
    net, arrays, exact = quantized(net, (1, 128, 28, 28), dtype="auto")
    found = {}
    for onednn in "10":
        mx.util.set_env("MXNET_ONEDNN_ENABLED", onednn)
        executor = net.bind(mx.cpu(), arrays, grad_req="null")
        found[onednn] = executor.forward(is_train=False)[0].asnumpy()
        ran = [n["ran"] for n in executor.explain(runs=1).plan["nodes"] if n["op"] == "_fused_quantized_convolution"]
        assert len(ran) == 2
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")
    step = abs(exact).max() / 127
    assert abs(found["1"] - found["0"]).max() <= 0.1 * step
    assert abs(found["1"] - exact).mean() < 0.03 * abs(exact).mean()
