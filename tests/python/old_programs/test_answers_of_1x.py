"""Answers that paired runs against 1.9.1 found to differ: numbers, names, dtypes and shapes as its
wheel gives them."""
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd, sym

V = sym.Variable
NAN, INF = np.nan, np.inf


def gradient(f, x, head=1.0, dtype="float32"):
    a = nd.array(x, dtype=dtype)
    a.attach_grad()
    with autograd.record():
        y = f(a)
    y.backward(nd.full(y.shape, head, dtype=dtype))
    return a.grad.asnumpy()


# ---- numbers

@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 3, 4), (2, 3, 2, 2)])
def test_softmax_activation_takes_the_last_axis(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    e = np.exp(x)
    np.testing.assert_allclose(nd.SoftmaxActivation(nd.array(x)).asnumpy(), e / e.sum(-1, keepdims=True), rtol=1e-5)
    if x.ndim > 1:
        np.testing.assert_allclose(nd.SoftmaxActivation(nd.array(x), mode="channel").asnumpy(), e / e.sum(1, keepdims=True), rtol=1e-5)
    head = nd.array(np.arange(x.size).reshape(shape) % 5)
    grads = []
    for f in (nd.SoftmaxActivation, lambda v: nd.softmax(v, axis=-1)):
        a = nd.array(x)
        a.attach_grad()
        with autograd.record():
            y = f(a)
        y.backward(head)
        grads.append(a.grad.asnumpy())
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8", "float64", "float16"])
def test_gradients_are_added_behind_integer_casts(dtype):
    x = V("x")
    y = sym.Cast(sym.Cast(x, dtype=dtype), dtype="float32") * 2
    exe = y.bind(mx.cpu(), {"x": nd.array([1.5, 2.5])}, args_grad={"x": nd.array([10.5, 20.0])}, grad_req="add")
    exe.forward(is_train=True)
    exe.backward(nd.ones((2,)))
    assert exe.grad_dict["x"].asnumpy().tolist() == [12.5, 22.0]
    a = nd.array([1.5, 2.5])
    a.attach_grad(grad_req="add")
    a.grad[:] = 10.5
    with autograd.record():
        z = nd.Cast(nd.Cast(a, dtype=dtype), dtype="float32") * 2
    z.backward()
    assert a.grad.asnumpy().tolist() == [12.5, 12.5]


@pytest.mark.parametrize("n", [1, 10, 1500])
def test_gradients_of_sine_and_cosine_far_out(n):
    x = np.resize(np.array([1e10, 1e15, 1e20, 1e30, 3e38, -1e20, -3e38, 0.5, INF], "float32"), n)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(gradient(nd.sin, x), np.cos(x.astype("float64")), rtol=1e-6)
        np.testing.assert_allclose(gradient(nd.cos, x), -np.sin(x.astype("float64")), rtol=1e-6)


SPECIAL = [-INF, -3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0, INF, NAN]
PIECEWISE = {
    "relu": (nd.relu, [0, 0, 0, 0, 0, 1, 1, 1, 1, NAN]),
    "Activation": (lambda a: nd.Activation(a, act_type="relu"), [0, 0, 0, 0, 0, 1, 1, 1, 1, NAN]),
    "smooth_l1": (lambda a: nd.smooth_l1(a, scalar=1.0), [-1, -1, -1, -0.5, 0, 0.25, 1, 1, 1, NAN]),
    "clip": (lambda a: nd.clip(a, -1, 1), [0, 0, 1, 1, 1, 1, 1, 0, 0, 1]),
    "hard_sigmoid": (nd.hard_sigmoid, [0, 0, 0.2, 0.2, 0.2, 0.2, 0.2, 0, 0, 0]),
    "abs": (nd.abs, [-1, -1, -1, -1, 0, 1, 1, 1, 1, 0]),
    "maximum": (lambda a: nd.maximum(a, 0.5), [0, 0, 0, 0, 0, 0, 1, 1, 1, 0]),
    "minimum": (lambda a: nd.minimum(a, 0.5), [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", sorted(PIECEWISE))
def test_nan_in_gradients_of_piecewise_functions(name, dtype):
    f, expected = PIECEWISE[name]
    for times in (1, 7):   # with and without a rest behind whole vectors
        got = gradient(f, np.tile(SPECIAL, times), dtype=dtype)
        np.testing.assert_allclose(got, np.tile(expected, times), rtol=1e-3, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elu_keeps_nan(dtype):
    for kind in ("elu", "selu", "gelu"):
        got = gradient(lambda a, kind=kind: nd.LeakyReLU(a, act_type=kind), [NAN] * 35, dtype=dtype)
        assert np.isnan(got).all(), kind


@pytest.mark.parametrize("head", [INF, NAN])
def test_nothing_passes_a_closed_gate(head):
    got = gradient(lambda a: nd.clip(a, -1, 1), [-2.0, 0.0, 2.0], head)
    np.testing.assert_array_equal(got, [0, head, 0])
    np.testing.assert_array_equal(gradient(nd.hard_sigmoid, [-9.0, 0.0, 9.0], head), [0, head, 0])


def test_gradient_of_gammaln_at_poles():
    for dtype in ("float32", "float64"):
        got = gradient(nd.gammaln, [-3.0, -2.5, -1.0, 0.0, -0.0, 1.0], dtype=dtype)
        np.testing.assert_allclose(got, [INF, 1.1031566, INF, INF, INF, -0.5772157], rtol=1e-6)
        np.testing.assert_allclose(gradient(nd.gamma, [0.0, -0.0, 1.0], dtype=dtype), [INF, -INF, -0.5772157], rtol=1e-6)


def test_nan_goes_to_neither_side_of_a_maximum():
    for op in (nd.broadcast_maximum, nd.broadcast_minimum):
        a, b = nd.array([NAN, 1.0, 2.0]), nd.array([1.0, NAN, 2.0])
        a.attach_grad()
        b.attach_grad()
        with autograd.record():
            y = op(a, b)
        y.backward()
        assert (a.grad.asnumpy().tolist(), b.grad.asnumpy().tolist()) == ([0, 0, 1], [0, 0, 0])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8"])
def test_integer_ranges_count_in_whole_steps(dtype):
    assert nd.arange(.5, 6.7, 1.3, dtype=dtype).asnumpy().tolist() == [0, 1, 2, 3, 4]
    assert nd.arange(.5, 6.7, 1.3, repeat=2, dtype=dtype).asnumpy().tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert nd.arange(5.5, .5, -1.2, dtype=dtype).asnumpy().tolist() == [5, 4, 3, 2, 1]
    like = nd.zeros((5,), dtype=dtype)
    assert nd.contrib.arange_like(like, start=.5, step=1.3).asnumpy().tolist() == [0, 1, 2, 3, 4]
    assert nd.contrib.arange_like(like, start=5.5, step=-1.2).asnumpy().tolist() == [5, 4, 3, 2, 1]
    assert sym.arange(.5, 6.7, 1.3, dtype=dtype).eval(ctx=mx.cpu())[0].asnumpy().tolist() == [0, 1, 2, 3, 4]


def test_one_picked_entry_is_an_array_of_one():
    for keep in (True, False):
        assert nd.pick(nd.array([1, 2, 3]), nd.array([1]), keepdims=keep).asnumpy().tolist() == [2]
    assert sym.pick(V("a"), V("b")).infer_shape(a=(3,), b=(1,)) == ([(3,), (1,)], [(1,)], [])


def test_ctc_takes_the_blank_as_a_label():
    data = nd.array(np.random.RandomState(0).randn(5, 1, 4))
    for label, loss in (([1, 2, -1], 5.36336), ([1, 3, 2], 6.75387), ([3, 1, -1], 4.48466), ([0, 3, -1], 4.35243), ([0, 1, 2], 3.59861)):
        np.testing.assert_allclose(nd.CTCLoss(data, nd.array([label]), blank_label="last").asnumpy(), [loss], rtol=1e-4)
    for label, loss in (([1, 0, 2], 6.047077), ([0, 0, 1], 4.925665), ([1, 2, 3], 4.919949)):
        np.testing.assert_allclose(nd.CTCLoss(data, nd.array([label]), nd.array([3]), use_label_lengths=True).asnumpy(), [loss], rtol=1e-4)
    x = data.copy()
    x.attach_grad()
    with autograd.record():
        y = nd.CTCLoss(x, nd.array([[1, 3, 2]]), blank_label="last")
    y.backward()
    grad = x.grad.asnumpy()
    np.testing.assert_allclose(grad.ravel()[:7], [0.3010, -0.5629, 0.1372, 0.1247, 0.6287, -0.3807, 0.2512], atol=1e-4)
    np.testing.assert_allclose(grad.sum(-1), np.zeros((5, 1)), atol=1e-5)   # 1.9.1 counts the blank once where it is meant twice


# ---- symbols

def test_bilinear_filters_have_an_initializer():
    up = dict(scale=2, sample_type="bilinear", num_filter=3, num_args=2, name="u")
    wish = '["bilinear", {}]'
    assert sym.UpSampling(V("d"), **up).attr_dict()["u_weight"]["__init__"] == wish
    assert sym.UpSampling(V("d"), V("w"), **up).attr_dict()["w"]["__init__"] == wish
    assert sym.UpSampling(V("d"), V("w", init=mx.init.One()), **up).attr_dict()["w"]["__init__"] == '["one", {}]'
    assert "__init__" not in str(sym.UpSampling(V("d"), scale=2, sample_type="nearest", num_args=1).attr_dict())
    batch_norm = sym.BatchNorm(V("d"), V("g"), V("b"), V("m"), V("v")).attr_dict()
    assert (batch_norm["m"]["__init__"], batch_norm["v"]["__init__"]) == ('["zero", {}]', '["one", {}]')
    assert sym.LeakyReLU(V("d"), V("g"), act_type="prelu").attr_dict()["g"]["__init__"] == '["Constant", {"value": 0.25}]'
    module = mx.mod.Module(sym.UpSampling(V("data"), **up), label_names=None)
    module.bind([("data", (1, 3, 4, 4))])
    module.init_params(mx.init.Xavier())
    weight = module.get_params()[0]["u_weight"].asnumpy()
    np.testing.assert_allclose(weight[0, 0, 1], [0.1875, 0.5625, 0.5625, 0.1875])


def nodes(symbol):
    return [n["op"] for n in json.loads(symbol.tojson())["nodes"]]


def test_heads_that_are_casts_are_saved():
    cast = sym.amp_cast(V("d"), dtype="float16", name="h")
    assert nodes(cast) == ["null", "amp_cast"]
    assert nodes(sym.amp_multicast(V("d"), V("e"), num_outputs=2)) == ["null", "null", "amp_multicast"]
    assert nodes(sym.relu(cast)) == ["null", "relu"]
    assert nodes(sym.Group([sym.relu(cast), cast])) == ["null", "relu", "amp_cast"]
    assert nodes(sym.amp_cast(cast, dtype="float32")) == ["null", "amp_cast"]
    assert nodes(sym.relu(sym.amp_multicast(V("d"), V("e"), num_outputs=2)[1])) == ["null", "relu"]


def test_dtypes_of_softmax_and_sums_of_squares():
    f = np.dtype
    for op in (sym.softmax, sym.log_softmax, sym.softmin):
        for given in ("int32", "int8", "float16", "float64"):
            assert op(V("a"), dtype="float32").infer_type(a=given) == ([f(given).type], [np.float32], [])
            assert op(V("a")).infer_type(a=given) == ([f(given).type], [f(given).type], [])
    with pytest.raises(mx.MXNetError):
        nd.softmax(nd.array([1, 2], dtype="int32")).asnumpy()
    squares = sym.multi_sum_sq(V("a"), V("b"), num_arrays=2)
    assert squares.infer_type(a="float16") == ([np.float16, np.float16], [np.float32], [])
    assert squares.infer_type(b="float64") == ([np.float64, np.float64], [np.float32], [])
    # integers of one type are inferred, and refused when called
    assert squares.infer_type(a="int32", b="int32") == ([np.int32, np.int32], [np.float32],
                                                        []) and squares.infer_type(a="uint8")[0] == [np.uint8, np.uint8]
    assert sym.all_finite(V("a")).infer_type(a="int32") == ([np.int32], [np.float32],
                                                            []) == sym.multi_all_finite(V("a"), num_arrays=1).infer_type(a="int32")
    whole, real = nd.array([1, 2], dtype="int32"), nd.array([1, 2])
    for call in (lambda: squares.infer_type(a="float32", b="int32"),
                 lambda: squares.infer_type(a="int32", b="float32"),
                 lambda: nd.multi_sum_sq(whole, whole, num_arrays=2),
                 lambda: nd.multi_sum_sq(real, whole, num_arrays=2), lambda: nd.all_finite(whole),
                 lambda: nd.multi_all_finite(whole, num_arrays=1),
                 lambda: squares.bind(mx.cpu(), {"a": whole, "b": whole}).forward()[0].asnumpy()):
        with pytest.raises(TypeError, match="accepted: float32, float64, float16, bfloat16"):
            call()


# ---- inference

def test_dtypes_that_only_one_input_has():
    for op in (sym.LinearRegressionOutput, sym.LogisticRegressionOutput, sym.MAERegressionOutput):
        assert op(V("a"), V("l")).infer_type(l="float16") == ([np.float16, np.float16], [np.float16], [])
    for op in (sym.SequenceMask, sym.SequenceLast, sym.SequenceReverse):
        assert op(V("d"), V("l"), use_sequence_length=True).infer_type(d="float16")[0] == [np.float16, np.float16]


def test_given_shapes_and_dtypes_win_over_declared_ones():
    x = V("x", shape=(2, 3), dtype="float16")
    y = x * 2
    assert y.infer_shape(x=(4, 5)) == ([(4, 5)], [(4, 5)], [])
    assert y.infer_shape(x=(2, 3, 4))[1] == [(2, 3, 4)]
    assert y.infer_shape()[1] == y.infer_shape(x=(0, 5))[1] == y.infer_shape(x=(2, 0))[1] == [(2, 3)]
    assert y.infer_type() == ([np.float16], [np.float16], [])
    assert y.infer_type(x="float64") == ([np.float64], [np.float64], [])
    exe = y.simple_bind(mx.cpu(), x=(4, 5), type_dict={"x": "float32"})
    assert (exe.arg_dict["x"].shape, exe.arg_dict["x"].dtype) == ((4, 5), np.float32)
    assert y.bind(mx.cpu(), {"x": nd.ones((4, 5))}).forward()[0].shape == (4, 5)
    assert (V("x", shape=(0, 3)) + V("z")).infer_shape(x=(5, 4))[1] == [(5, 4)]
    with pytest.raises(mx.MXNetError):   # what nobody gives must still fit
        (V("x", shape=(0, 3)) + V("z")).infer_shape(z=(5, 4))


def known(symbol, result, **shapes):
    """Shapes by name when the result is added to an array of the shape `result`."""
    total = symbol + V("result")
    arguments, results, _ = total.infer_shape_partial(result=result, **shapes)
    return dict(zip(total.list_arguments(), arguments)), results[0]


def test_inference_from_results_back():
    conv = sym.Convolution(V("d"), kernel=(3, 3), pad=(1, 0), num_filter=6, name="c")
    assert known(conv, (2, 6, 7, 6), d=(0, 4, 0, 0))[0]["d"] == (2, 4, 7, 8)
    assert known(sym.Convolution(V("d"), kernel=(3,), stride=(2,), num_filter=6), (2, 6, 3), d=(0, 4, 0))[0]["d"] == (2, 4, 0)
    parts = sym.SliceChannel(V("d"), num_outputs=3, axis=1, squeeze_axis=True)
    assert known(parts[0], (2, 4), d=())[0]["d"] == (2, 3, 4)
    assert known(sym.SliceChannel(V("d"), num_outputs=3, axis=1)[1], (2, 2, 4), d=())[0]["d"] == (2, 6, 4)
    assert known(sym.split_v2(V("d"), (2, 4), axis=1)[1], (2, 2, 4), d=(0, 6, 0))[0]["d"] == (2, 6, 4)
    pad = sym.pad(V("d"), mode="constant", pad_width=(0, 0, 0, 0, 1, 2, 3, 4))
    assert known(pad, (2, 3, 7, 12), d=(0, 0, 0, 0))[0]["d"] == (2, 3, 4, 5)


def test_partial_results():
    def partial(symbol, **shapes):
        return symbol.infer_shape_partial(**shapes)[1][0]
    assert partial(sym.dot(V("a"), V("b")), a=(0, 3, 4), b=(4, 5)) == (0, 3, 5)
    assert partial(sym.dot(V("a"), V("b"), transpose_a=True), a=(4, 0), b=(4, 5)) == (0, 5)
    assert partial(sym.dot(V("a"), V("b"), transpose_b=True), a=(3, 4), b=(0, 4)) == (3, 0)
    assert partial(sym.batch_dot(V("a"), V("b"), transpose_b=True), a=(0, 3, 4), b=(2, 5, 4)) == (2, 3, 5)
    assert partial(sym.depth_to_space(V("a"), 2), a=(0, 8, 3, 0)) == (0, 2, 6, 0)
    assert partial(sym.space_to_depth(V("a"), 2), a=(0, 2, 4, 6)) == (0, 8, 2, 3)
    assert partial(sym.broadcast_like(V("a"), V("b")), a=(1, 3), b=(2, 0)) == (2, 3)
    assert partial(sym.pad(V("a"), mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1)), a=(0, 3, 4, 5)) == (0, 3, 6, 7)
    assert partial(sym.SequenceLast(V("a")), a=(5, 0, 4)) == (0, 4)
    assert partial(sym.reshape(V("a"), shape=(6, 4)), a=(0, 3, 4)) == (6, 4)
    assert partial(sym.reshape(V("a"), shape=(-1, 4)), a=(0, 3, 0)) == (0, 4)
    assert partial(sym.reshape(V("a"), shape=(0, -1)), a=(2, 3, 0)) == (2, 0)
    assert partial(sym.reshape(V("a"), shape=(0, -2)), a=(2, 3, 0)) == (2, 3, 0)
    assert partial(sym.reshape(V("a"), shape=(-3, 0)), a=(2, 3, 0)) == (6, 0)
    assert partial(sym.reshape(V("a"), shape=(-4, -1, 2, 0)), a=(0, 4)) == (0, 2, 4)
    label = sym.SoftmaxOutput(V("a"), V("l")).infer_shape_partial(a=(4, 0))[0]
    assert label == [(4, 0), (4,)]


def test_slopes_of_every_element():
    data = nd.array([[-1.0, -2], [-3, 4]])
    slopes = nd.array([[.5, .25], [.1, .2]])
    data.attach_grad()
    slopes.attach_grad()
    with autograd.record():
        y = nd.LeakyReLU(data, slopes, act_type="prelu")
    y.backward(nd.array([[1, 2], [3, 4]]))
    np.testing.assert_allclose(y.asnumpy(), [[-.5, -.5], [-.3, 4]], rtol=1e-6)
    np.testing.assert_allclose(data.grad.asnumpy(), [[.5, .5], [.3, 4]], rtol=1e-6)
    np.testing.assert_allclose(slopes.grad.asnumpy(), [[-1, -4], [-9, 0]], rtol=1e-6)
    assert nd.LeakyReLU(nd.array([-1, -2]), nd.array([.5, .25]), act_type="prelu").asnumpy().tolist() == [-.5, -.5]
    x = nd.array(np.random.RandomState(1).randn(2, 3, 4))
    channels = nd.array([.1, .2, .3])
    np.testing.assert_array_equal(nd.LeakyReLU(x, channels.reshape((1, 3)),
                                               act_type="prelu").asnumpy(),
                                  nd.LeakyReLU(x, channels, act_type="prelu").asnumpy())
    assert sym.LeakyReLU(V("d"), V("g"), act_type="prelu").infer_shape(d=(2, 3, 4))[0] == [(2, 3, 4), (3,)]
    with pytest.raises(mx.MXNetError):
        nd.LeakyReLU(x, nd.ones((4,)), act_type="prelu").asnumpy()


def test_pooling_looks_at_as_many_numbers_as_the_kernel_has():
    x = nd.array(np.arange(72).reshape(1, 2, 6, 6))
    expected = nd.Pooling(x, kernel=(2, 2), stride=(2, 1), pad=(1, 1), pool_type="max").asnumpy()
    np.testing.assert_array_equal(nd.Pooling(x, kernel=(2, 2), stride=(2, 1, 9), pad=(1, 1, 5), pool_type="max").asnumpy(), expected)
    assert nd.Pooling(x[:, :, :, 0], kernel=(2,), stride=(2, 2), pad=(1, 0), pool_type="max").shape == (1, 2, 4)
    with pytest.raises(mx.MXNetError):
        nd.Pooling(x, kernel=(2, 2), stride=(2,), pool_type="max").asnumpy()


@pytest.mark.parametrize("f", [nd.BlockGrad, nd.sign, lambda x: x > 0, nd.zeros_like, lambda x: nd.where(x, nd.ones(3), nd.zeros(3))])
def test_gradients_are_zero_where_nothing_flows(f):
    for req, expected in (("write", 0), ("add", 5)):
        x = nd.array([1, 2, 0])
        x.attach_grad(grad_req=req)
        x.grad[:] = 5
        with autograd.record():
            y = f(x)
        y.backward()
        assert x.grad.asnumpy().tolist() == [expected] * 3


# ---- powers of special numbers

BASES = np.array([-np.inf, -3, -2.5, -2, -1, -0.5, -0.0, 0.0, 0.5, 1, 2, 2.5, 3, np.inf, np.nan], "float32")


def test_powers_of_special_numbers():
    a, b = (m.ravel() for m in np.meshgrid(BASES, BASES))
    with np.errstate(all="ignore"):
        expected, slope = np.power(a, b), b * np.power(a, b - 1)

    def same(got, right):
        np.testing.assert_allclose(got.asnumpy(), right, rtol=2e-6)
        number = ~np.isnan(right)
        assert (np.signbit(got.asnumpy()) == np.signbit(right))[number].all()
    x, y = nd.array(a), nd.array(b)
    x.attach_grad()
    with autograd.record():
        z = nd.broadcast_power(x, y)
    z.backward()
    same(z, expected)
    same(x.grad, slope)
    same((sym.broadcast_power(V("a"), V("b")) + 0
          * V("c")).bind(mx.cpu(), {"a": x, "b": y, "c": nd.zeros_like(x)}).forward()[0],
         expected + 0)
    for exponent in BASES[:-1]:
        x = nd.array(BASES)
        x.attach_grad()
        with autograd.record():
            z = x ** float(exponent)
        z.backward()
        full = np.full_like(BASES, exponent)    # of one exponent 0.5 NumPy makes a square root
        with np.errstate(all="ignore"):
            same(z, np.power(BASES, full))
            same(x.grad, full * np.power(BASES, full - 1))
            same(float(exponent) ** x, np.power(full, BASES))


# ---- second gradients

LINEAR = {
    "twice": lambda x: 2 * x, "more": lambda x: x + 1, "sum": lambda x: x.sum(),
    "itself": nd.identity, "negative": lambda x: -x, "sign": nd.sign, "floor": nd.floor,
    "reshape": lambda x: x.reshape((1, 3)), "constant": lambda x: x * nd.array([1, 2, 3]),
    "cast": lambda x: x.astype("float64"), "slice": lambda x: x[1:], "block": nd.BlockGrad,
}


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_second_gradient_of_a_linear_operator_is_zero(name):
    x = nd.array([1., 2., 3.])
    x.attach_grad()
    x.grad[:] = 5
    with autograd.record():
        y = LINEAR[name](x)
        g = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
    g.backward()
    assert x.grad.asnumpy().tolist() == [0, 0, 0]


def both_gradients(f, arrays, weights):
    """Gradients of sum(weights * gradients of f) by autograd, and by differences of the
    gradients."""
    def first(values, create_graph=False):
        xs = [nd.array(v, dtype="float64") for v in values]
        for x in xs:
            x.attach_grad()
        with autograd.record():
            y = f(*xs)
            total = (y * nd.array(np.arange(1, y.size + 1).reshape(y.shape), dtype="float64")).sum()
            grads = autograd.grad([total], xs, create_graph=create_graph, retain_graph=True)
            if create_graph:
                z = sum([(g * nd.array(w, dtype="float64")).sum() for g, w in zip(grads, weights)])
        if create_graph:
            z.backward()
            return [x.grad.asnumpy() for x in xs]
        return sum(float((g.asnumpy() * w).sum()) for g, w in zip(grads, weights))
    exact = first(arrays, True)
    for a, array in enumerate(arrays):
        for i in range(array.size):
            moved = []
            for step in (1e-5, -1e-5):
                other = [v.copy() for v in arrays]
                other[a].ravel()[i] += step
                moved.append(first(other))
            np.testing.assert_allclose(exact[a].ravel()[i], (moved[0] - moved[1]) / 2e-5, rtol=1e-4,
                                       atol=1e-5, err_msg=f"input {a}, element {i}")


R = np.random.default_rng(5)
TWICE = {
    **{kind: (lambda a, kind=kind: nd.LeakyReLU(a, act_type=kind), [R.standard_normal((2, 3))])
       for kind in ("leaky", "elu", "selu", "gelu")},
    "prelu": (lambda a, g: nd.LeakyReLU(a, g, act_type="prelu"), [R.standard_normal((2, 3, 2)), R.random(3)]),
    "one slope": (lambda a, g: nd.LeakyReLU(a, g, act_type="prelu"), [R.standard_normal((2, 3)), R.random(1)]),
    "SoftmaxActivation": (nd.SoftmaxActivation, [R.standard_normal((2, 3))]),
    "channels": (lambda a: nd.SoftmaxActivation(a, mode="channel"), [R.standard_normal((2, 3, 2))]),
    "nearest": (lambda a: nd.UpSampling(a, scale=2, sample_type="nearest", num_args=1), [R.random((1, 2, 2, 2))]),
    "bilinear": (lambda a, w: nd.UpSampling(a, w, scale=2, sample_type="bilinear", num_filter=1,
                                            num_args=2),
                 [R.random((1, 1, 2, 2)), R.random((1, 1, 4, 4))]),
    "average": (lambda a: nd.Pooling(a * a, kernel=(2, 2), pool_type="avg"), [R.random((1, 1, 3, 3))]),
    "sum": (lambda a: nd.Pooling(a * a, kernel=(2, 2), pool_type="sum", pad=(1, 1)), [R.random((1, 1, 3, 3))]),
    "maximum": (lambda a: nd.Pooling(a * a, kernel=(2, 2), pad=(1, 1)), [R.random((1, 1, 3, 3))]),
    "norm": (lambda a: nd.Pooling(a, kernel=(2, 2), pool_type="lp", p_value=3), [R.standard_normal((1, 1, 3, 3))]),
    "adaptive": (lambda a: nd.contrib.AdaptiveAvgPooling2D(a * a, output_size=2), [R.random((1, 1, 3, 3))]),
}


@pytest.mark.parametrize("name", sorted(TWICE))
def test_second_gradients(name):
    f, arrays = TWICE[name]
    both_gradients(f, arrays, [np.random.default_rng(1).standard_normal(a.shape) for a in arrays])
