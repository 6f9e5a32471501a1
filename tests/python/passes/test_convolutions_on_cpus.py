"""Convolutions in inference plans: sequences with their channels last, and windows that lie outside
of the image for the most part."""
import numpy as np
import pytest

import mxnet as mx
import processor
from test_passes import bind, off, operators, run

pytestmark = pytest.mark.cpu
X = mx.sym.Variable("x")


def alike(net, shapes, tolerance=1e-5):
    """The plan, and that it computes what one without layouts does in float64."""
    plan = bind(net, shapes)
    with off("layout"):
        wide = bind(net, shapes, dtype="float64")
    for name, array in plan.arg_dict.items():
        wide.arg_dict[name][:] = array.astype("float64")
    for _ in range(2):  # weights that the first run kept
        want = run(wide)[0]
        np.testing.assert_allclose(run(plan)[0], want, rtol=tolerance, atol=tolerance * np.abs(want).max())
    return plan


def test_sequences_have_their_channels_last():
    net = X
    for i in range(3):
        net = mx.sym.Activation(mx.sym.Convolution(net, num_filter=96, kernel=(3,), stride=(2,), name=f"c{i}"), act_type="relu")
    net = mx.sym.Pooling(net, kernel=(2,), stride=(2,), pool_type="max")
    plan = alike(net, {"x": (2, 32, 67)})
    assert operators(plan).count("_to_layout") == 2  # in front and behind
    assert str(plan.explain()).count("channels-last") >= 4


@pytest.mark.parametrize("filters, kernel", [(6, 3), (8, 9)])
def test_small_convolutions_of_sequences_stay(filters, kernel):
    plan = alike(mx.sym.Convolution(X, num_filter=filters, kernel=(kernel,)), {"x": (2, 8, 30)})
    assert "_to_layout" not in operators(plan)


@pytest.mark.parametrize("kernel, dilate, pad", [((1, 5), (1, 1), (0, 0)), ((5, 1), (1, 1), (2, 0)), ((3, 3), (1, 1), (1, 1)),
                                                 ((4, 2), (2, 3), (1, 3)), ((11, 3), (1, 1), (5, 1))])
@pytest.mark.parametrize("channels, filters", [(2, 2), (3, 3), (15, 15), (1, 1), (1, 3), (2, 4)])
def test_few_channels_on_their_own_stay_on_planes(channels, filters, kernel, dilate, pad):
    """A Gaussian blur of an image was 7 times slower with its channels last."""
    net = mx.sym.Convolution(X, num_filter=filters, num_group=channels, kernel=kernel, dilate=dilate, pad=pad)
    plan = alike(net, {"x": (2, channels, 21, 37)})
    assert operators(plan) == ["Convolution"]
    assert "depthwise on planes" in str(plan.explain(runs=1))
    x = mx.nd.random.uniform(shape=(2, channels, 21, 37))
    weight, bias = mx.nd.random.uniform(shape=(filters, 1, *kernel)), mx.nd.random.uniform(shape=(filters,))
    results = []
    for dtype in ("float32", "float64"):
        arrays = [a.astype(dtype) for a in (x, weight, bias)]
        for a in arrays:
            a.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Convolution(*arrays, num_filter=filters, num_group=channels, kernel=kernel, dilate=dilate, pad=pad)
            loss = (y * y).sum()
        loss.backward()
        results.append([y.asnumpy()] + [a.grad.asnumpy() for a in arrays])
    for found, wanted in zip(*results):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("package", [mx.sym, mx.sym.np])
def test_turned_images_are_not_moved(package):
    """Keras and JAX: images have their channels last, but around each convolution. What is between
    them reads rows, and nothing is moved but the first image and the last."""
    turned = (lambda x, axes: mx.sym.transpose(x, axes)) if package is mx.sym else (
        lambda x, axes: mx.sym.np.transpose(x.as_np_ndarray(), axes).as_nd_ndarray())
    net = X
    for i in range(3):
        image = turned(net, (0, 3, 1, 2))
        conv = mx.sym.Convolution(image, num_filter=16 + 8 * i, kernel=(3, 3), stride=(1 + i % 2,) * 2, name=f"c{i}")
        net = mx.sym.broadcast_add(mx.sym.tanh(turned(conv, (0, 2, 3, 1))), mx.sym.Variable(f"b{i}", shape=(1, 1, 1, 16 + 8 * i)))
    plan = alike(net, {"x": (2, 23, 21, 12)})
    assert not {"_to_layout", "transpose", "_np_transpose"} & set(operators(plan))
    both = mx.sym.Group([net, mx.sym.sum(image, axis=1), mx.sym.sum(conv, axis=(1, 3)), mx.sym.reshape(image, (0, -1))])
    shapes = {"x": (2, 23, 21, 12)}
    plan = bind(both, shapes)
    with off("layout"):
        other = bind(both, shapes)
    for name, array in plan.arg_dict.items():
        other.arg_dict[name][:] = array
    for found, wanted in zip(run(plan), run(other)):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("act", [None, "relu", "tanh"])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("batch, channels, size, filters, kernel, dilate, stride, pad", [
    (1, 64, (14, 14), 64, 3, 12, 1, 12), (2, 96, (9, 7), 48, 3, 6, 1, 6), (1, 64, (13, 14), 64, 3, 10, 2, 10),
    (1, 64, (14, 14), 80, 5, 6, 1, 12), (3, 48, (8, 8), 64, 3, 7, 1, 7), (1, 64, (15, 15), 96, 2, 14, 1, 7)])
def test_windows_outside_of_the_image(batch, channels, size, filters, kernel, dilate, stride, pad, no_bias, act):
    first = mx.sym.Convolution(X, num_filter=channels, kernel=(1, 1), name="first")  # its result has channels last
    net = mx.sym.Convolution(first, num_filter=filters, kernel=(kernel, kernel), dilate=(dilate, dilate),
                             stride=(stride, stride), pad=(pad, pad), no_bias=no_bias, name="c")
    if act:
        net = mx.sym.Activation(net, act_type=act)
    alike(net, {"x": (batch, channels, *size)}, tolerance=2e-5)


def test_addend_of_a_dilated_convolution():
    first = mx.sym.Convolution(X, num_filter=64, kernel=(1, 1), name="first")
    net = mx.sym.Convolution(first, num_filter=64, kernel=(3, 3), dilate=(12, 12), pad=(12, 12), name="c")
    alike(mx.sym.relu(net + first), {"x": (2, 64, 14, 14)}, tolerance=2e-5)


@pytest.mark.parametrize("package", ["nd", "np"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "max", "min"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis, places", [((2, 3), (9, 11)), ((2,), (9, 11)), ((3,), (9, 11)), ((2, 4), (3, 5, 7)),
                                          ((2, 3, 4), (3, 5, 7))])
def test_reductions_of_places_take_channels_last(package, reduction, keepdims, axis, places):
    shapes = {"x": (2, 16, *places)}
    if package == "nd":
        first = mx.sym.Convolution(X, num_filter=32, kernel=(1,) * len(places), name="first")
        net = getattr(mx.sym, reduction)(first, axis=axis, keepdims=keepdims)
    else:
        x, w, b = (mx.sym.var(name).as_np_ndarray() for name in "xwb")
        first = mx.sym.npx.convolution(x, w, b, num_filter=32, kernel=(1,) * len(places))
        net = getattr(mx.sym.np, reduction)(first, axis=axis, keepdims=keepdims)
    plan = alike(net, shapes)
    names = operators(plan)
    at = next(i for i, name in enumerate(names) if "onvolution" in name)
    assert names[at + 1] != "_to_layout", names


def test_reductions_of_channels_take_rows():
    first = mx.sym.Convolution(X, num_filter=32, kernel=(1, 1), name="first")
    for axis in ((1,), (1, 2, 3), (0, 2)):
        for keepdims in (False, True):
            alike(mx.sym.sum(first, axis=axis, keepdims=keepdims), {"x": (2, 16, 5, 6)})


SEQUENCES = [(2, 1, 1, 1, 0, 1, 8), (3, 5, 3, 1, 1, 1, 21), (16, 32, 7, 1, 3, 1, 97), (32, 32, 11, 5, 25, 1, 200), (8, 1, 7, 1, 3, 1, 400),
             (70, 33, 3, 1, 0, 1, 100),
             (5, 9, 3, 64, 64, 1, 130), (2, 6, 2, 300, 0, 1, 311), (64, 20, 1, 1, 0, 1, 96), (16, 24, 5, 1, 2, 2, 50),
             (8, 4, 4, 2, 40, 1, 12), (300, 8, 16, 1, 8, 1, 96)]


@pytest.mark.parametrize("channels, filters, kernel, dilate, pad, groups, length", SEQUENCES)
def test_products_along_sequences(channels, filters, kernel, dilate, pad, groups, length):
    """A vocoder's layers of 4 to 32 channels took the vector library twice as long."""
    conv = mx.sym.Convolution(X, num_filter=filters, num_group=groups, kernel=(kernel,), dilate=(dilate,), pad=(pad,), name="c")
    shapes = {"x": (2, channels, length)}
    plan = alike(conv, shapes)
    assert operators(plan) == ["Convolution"]
    assert "products along sequences" in str(plan.explain(runs=1))
    made = plan.outputs[0].shape
    for act in ("relu", "tanh", "leaky"):
        net = conv + mx.sym.Variable("y")
        net = mx.sym.LeakyReLU(net, slope=0.3) if act == "leaky" else mx.sym.Activation(net, act_type=act)
        plan = alike(net, {**shapes, "y": made}, 2e-4)
        assert operators(plan) == ["_fused_convolution"]
        assert "products along sequences" in str(plan.explain(runs=1))


def test_sequences_stay_apart():
    """Infinite numbers reach the results of their own windows only, and NaN is not cut off."""
    x, w = np.zeros((2, 4, 40), "float32"), np.ones((8, 4, 3), "float32")
    x[0, 1, 20], x[1, 0, 0] = np.inf, np.nan
    plan = bind(mx.sym.relu(mx.sym.Convolution(X, num_filter=8, kernel=(3,), pad=(1,), no_bias=True, name="c")), {"x": x.shape})
    plan.arg_dict["x"][:], plan.arg_dict["c_weight"][:] = x, w
    want = np.zeros((2, 8, 40), "float32")
    want[0, :, 19:22], want[1, :, :2] = np.inf, np.nan
    np.testing.assert_array_equal(run(plan)[0], want)


@pytest.mark.parametrize("channels, kernel, dilate, pad", [(3, 3, 1, 1), (17, 3, 4, 4), (80, 31, 1, 15), (130, 5, 2, 0), (16, 3, 20, 20),
                                                           (64, 4, 7, 20)])
@pytest.mark.parametrize("turned", [False, True])
def test_channels_of_sequences_on_their_own(channels, kernel, dilate, pad, turned):
    """The vector library takes 0.4 ms for 128 channels of 999 numbers and a window of 3."""
    net = mx.sym.Convolution(X, num_filter=channels, kernel=(3,), stride=(2,), name="first") if turned else X
    net = mx.sym.Convolution(net, num_filter=channels, num_group=channels, kernel=(kernel,), dilate=(dilate,), pad=(pad,), name="c")
    shapes = {"x": (2, channels if not turned else 24, 50)}
    ran = str(alike(net, shapes).explain(runs=1))
    assert "depthwise along sequences" in ran or "depthwise on planes" in ran
    if turned and channels * 3 >= 256:
        assert "depthwise along sequences" in ran
    fused = alike(mx.sym.Activation(net, act_type="tanh"), shapes)
    assert operators(fused).count("_fused_convolution") == 1
    assert "depthwise" in str(fused.explain(runs=1))


@pytest.mark.parametrize("package", [mx.sym, mx.sym.np])
def test_turned_sequences_are_not_moved(package):
    """A transformer's sequences have their channels last, but around convolutions."""
    turn = (lambda x: mx.sym.transpose(x, (0, 2, 1))) if package is mx.sym else (
        lambda x: mx.sym.np.transpose(x.as_np_ndarray(), (0, 2, 1)).as_nd_ndarray())
    net = mx.sym.tanh(X)
    for i in range(2):
        conv = mx.sym.Convolution(turn(net), num_filter=96, kernel=(3,), pad=(1,), name=f"a{i}")
        conv = mx.sym.Convolution(mx.sym.relu(conv), num_filter=64, kernel=(1,), name=f"b{i}")
        net = mx.sym.LayerNorm(turn(conv), mx.sym.Variable(f"g{i}", shape=(64,)), mx.sym.Variable(f"h{i}", shape=(64,)))
    plan = alike(net, {"x": (2, 30, 64)}, 1e-4)
    assert not {"_to_layout", "transpose", "_np_transpose"} & set(operators(plan))
    image = turn(mx.sym.tanh(X))
    both = mx.sym.Group([mx.sym.Convolution(image, num_filter=96, kernel=(3,), name="a"), mx.sym.sum(image, axis=1)])
    plan = bind(both, {"x": (2, 30, 64)})
    with off("layout"):
        other = bind(both, {"x": (2, 30, 64)})
    for name, array in plan.arg_dict.items():
        other.arg_dict[name][:] = array
    for found, wanted in zip(run(plan), run(other)):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("act", ["leaky", "elu", "gelu"])
def test_leaky_relu_takes_any_layout(act):
    """What else reads the convolution keeps LeakyReLU apart from it."""
    conv = mx.sym.Convolution(X, num_filter=32, kernel=(3, 3), name="a")
    net = mx.sym.Convolution(mx.sym.LeakyReLU(conv, act_type=act) + conv, num_filter=32, kernel=(3, 3), name="b")
    plan = alike(net, {"x": (2, 16, 12, 11)}, 1e-4)
    assert operators(plan).count("_to_layout") <= 2  # in front and behind


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("filters, gamma, size", [
    (10, (10,), (14, 13)), (32, (32,), (14, 13)), (32, (1, 32), (14, 13)), (16, (1,), (14, 13)), (16, (2, 16, 12, 11), (14, 13)),
    (96, (96,), (32,)), (2100, (2100,), (5, 4))])
def test_slopes_of_channels_take_any_layout(filters, gamma, size, dtype):
    """MTCNN and ArcFace: PReLU brought each convolution's result into planes, and back."""
    kernel, stride = (3,) * len(size), (2 if len(size) == 1 else 1,) * len(size)
    act = mx.sym.LeakyReLU(mx.sym.Convolution(X, num_filter=filters, kernel=kernel, stride=stride, name="a"),
                           gamma=mx.sym.Variable("gamma", shape=gamma), act_type="prelu")
    net = mx.sym.Pooling(act, kernel=(2,) * len(size), pool_type="max")
    shapes = {"x": (2, 32 if len(size) == 1 else 8, *size)}
    if dtype == "float32":
        plan = alike(net, shapes)
    else:
        plan = bind(net, shapes, dtype=dtype)
        with off("layout"):
            other = bind(net, shapes, dtype=dtype)
        assert operators(other).count("_to_layout") == 0
        for e in (plan, other):
            e.forward()
        np.testing.assert_allclose(*(e.outputs[0].astype("float32").asnumpy() for e in (plan, other)), rtol=2e-2, atol=2e-2)
    assert operators(plan).count("_to_layout") <= 2  # in front and behind


@pytest.mark.parametrize("part", [
    lambda x: mx.sym.slice(x, begin=(None, 8), end=(None, 24)),
    lambda x: mx.sym.slice(x, begin=(None, 24), end=(None, None), step=(None, -1)),
    lambda x: mx.sym.slice(x, begin=(1, None, 2), end=(None, None, 9), step=(None, None, 3)),
    lambda x: mx.sym.slice_axis(x, axis=1, begin=16, end=None), lambda x: mx.sym.slice_axis(x, axis=-1, begin=-3, end=-1),
    lambda x: mx.sym.slice_axis(x, axis=1, begin=3, end=4)])
@pytest.mark.parametrize("size", [(13, 12), (13,)])
def test_parts_of_images_stay_as_they_are(part, size):
    """YOLO's halves of channels were brought into rows of planes, and back."""
    kernel, stride = (3,) * len(size), (2 if len(size) == 1 else 1,) * len(size)
    net = mx.sym.Convolution(X, num_filter=96 if len(size) == 1 else 32, kernel=kernel, stride=stride, name="a")
    try:
        net = mx.sym.relu(part(net))
        net.infer_shape(x=(2, 80, *(2 * n for n in size)))
    except mx.MXNetError:
        return  # no such dimension in a sequence
    shapes = {"x": (2, 80, *(2 * n for n in size))}
    plan = alike(net, shapes, 1e-4)
    assert operators(plan).count("_to_layout") <= 2  # in front and behind
    assert any(t["layout"] == "channels-last" for n in plan.explain(runs=0).plan["nodes"] if "slice" in n["op"] for t in n["outputs"]) or (
        plan.outputs[0].shape[1] == 1)


ROWS = [  # channels, filters, size, kernel, stride, dilate, pad
    (1, 6, (28, 28), (5, 5), (1, 1), (1, 1), (2, 2)), (3, 10, (30, 31), (3, 3), (1, 1), (1, 1), (0, 0)),
    (2, 1, (9, 130), (3, 4), (2, 1), (1, 1), (1, 3)), (15, 7, (7, 16), (4, 3), (3, 1), (2, 1), (3, 0)),
    (5, 3, (12, 200), (1, 7), (1, 1), (1, 9), (0, 20)), (3, 4, (5, 40), (5, 1), (1, 1), (1, 1), (2, 0)),
    (1, 2, (6, 97), (3, 3), (1, 1), (3, 40), (5, 39))]


@pytest.mark.parametrize("act", ["relu", "sigmoid", "tanh", "leaky", None])
@pytest.mark.parametrize("channels, filters, size, kernel, stride, dilate, pad", ROWS)
def test_few_filters_stay_on_planes(channels, filters, size, kernel, stride, dilate, pad, act):
    """LeNet's first layer left most of each vector of filters empty."""
    net = mx.sym.Convolution(X, num_filter=filters, kernel=kernel, stride=stride, dilate=dilate, pad=pad, name="a")
    if act:
        net = mx.sym.LeakyReLU(net, act_type=act) if act == "leaky" else mx.sym.Activation(net, act_type=act)
    plan = alike(net, {"x": (3, channels, *size)})
    if processor.has_avx512():
        assert len(operators(plan)) == 1
        ran = str(plan.explain(runs=1))
        assert "products along rows" in ran or (channels == 1 and "depthwise on planes" in ran)


def test_addends_of_few_filters():
    """The sum is part of the convolution; a constant is no image of its own."""
    conv = mx.sym.Convolution(X, num_filter=5, kernel=(3, 3), pad=(1, 1), name="a")
    net = mx.sym.Activation(mx.sym.Convolution(conv, num_filter=5, kernel=(3, 3), pad=(1, 1), name="b") + conv, act_type="relu")
    plan = alike(net, {"x": (2, 3, 21, 22)})
    assert len(operators(plan)) == 2 or not processor.has_avx512()


@pytest.mark.parametrize("channels", [2, 3, 4, 5, 7, 9, 12, 15, 30])
@pytest.mark.parametrize("form", [
    {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"}, {"kernel": (3, 3), "stride": (2, 2), "pool_type": "avg", "pad": (1, 1)},
    {"kernel": (3, 2), "stride": (2, 1), "pool_type": "max", "pooling_convention": "full"},
    {"kernel": (2, 3), "pool_type": "avg", "count_include_pad": False, "pad": (1, 1)}, {"kernel": (2, 2), "pool_type": "sum"},
    {"kernel": (3, 3), "stride": (3, 3), "pool_type": "lp", "p_value": 2}, {"kernel": (7, 7), "stride": (2, 2), "pool_type": "avg"}])
@pytest.mark.parametrize("planes", [False, True])
def test_pooling_of_few_channels(channels, form, planes):
    """Channels that end within a vector."""
    net = X if planes else mx.sym.Convolution(X, num_filter=channels, kernel=(1, 1), stride=(1, 2), name="a")
    alike(mx.sym.Pooling(net, **form), {"x": (2, channels if planes else 3, 13, 29)}, 1e-4)


@pytest.mark.parametrize("filters", [1, 2, 3, 8])
@pytest.mark.parametrize("kernel, stride, pad, adj", [
    ((9, 9), (2, 2), (4, 4), (1, 1)), ((4, 4), (2, 2), (1, 1), (0, 0)), ((5, 3), (3, 1), (0, 1), (2, 0)), ((3, 5), (4, 6), (1, 2), (1, 3)),
    ((2, 11), (1, 2), (0, 5), (0, 1))])
@pytest.mark.parametrize("batch, size", [(1, (17, 13)), (3, (40, 6)), (1, (1, 5))])
def test_transposed_windows_that_overlap(filters, kernel, stride, pad, adj, batch, size):
    """FSRCNN's last layer took four times as long."""
    conv = mx.sym.Activation(mx.sym.Convolution(X, num_filter=24, kernel=(1, 1), name="a"), act_type="relu")
    net = mx.sym.Deconvolution(conv, num_filter=filters, kernel=kernel, stride=stride, pad=pad, adj=adj, no_bias=filters == 3, name="b")
    shapes = {"x": (batch, 16, *size)}
    try:
        net.infer_shape(**shapes)
    except mx.MXNetError:
        return  # nothing is left of one line
    plan = alike(net, shapes)
    assert "added windows of GEMMs" in str(plan.explain(runs=1))
