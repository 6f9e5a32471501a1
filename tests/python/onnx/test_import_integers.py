"""Quantized graphs run on integers: models of several layers, within one step of what onnx's
reference evaluator computes."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, model, node, ours, theirs

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


class Builder:
    """Nodes of a graph between QuantizeLinear and DequantizeLinear, and their weights."""

    def __init__(self, activation="u1", weight="i1", each_filter=True, seed=0):
        self.random = np.random.RandomState(seed)
        self.activation, self.weight, self.each_filter = activation, weight, each_filter
        self.nodes, self.weights = [], {}

    def name(self):
        return f"n{len(self.nodes)}_{len(self.weights)}"

    def constant(self, value, dtype=None):
        name = self.name()
        self.weights[name] = np.array(value, dtype)
        return name

    def op(self, op, *inputs, out=None, **attributes):
        out = out or self.name()
        self.nodes.append(node(op, list(inputs), [out], **attributes))
        return out

    def steps(self, x, scale, zero, out=None):
        """Quantized numbers with a scale and a zero point of this type."""
        if self.activation == "i1":
            zero -= 128
        s, z = self.constant(scale, "f4"), self.constant(zero, self.activation)
        return self.op("QuantizeLinear", x, s, z, out=out), s, z

    def through(self, x, scale, zero):
        return self.op("DequantizeLinear", *self.steps(x, scale, zero))

    def kernel(self, shape, axis=0, scale=0.01137):
        range_ = np.iinfo(self.weight)
        w = self.random.randint(range_.min, range_.max + 1, shape).astype(self.weight)
        zero = 0 if self.weight == "i1" else 131
        if not self.each_filter:
            s, z, more = self.constant(scale, "f4"), self.constant(zero, self.weight), {}
        else:
            each = scale * (0.5 + self.random.rand(shape[axis]))
            s, more = self.constant(each, "f4"), {"axis": axis}
            z = self.constant(np.full(shape[axis], zero), self.weight)
        return self.op("DequantizeLinear", self.constant(w), s, z, **more)

    def bias(self, n):
        b = self.constant(self.random.randint(-3000, 3000, n), "i4")
        return self.op("DequantizeLinear", b, self.constant(0.00041319, "f4"))

    def conv(self, x, shape, bias=True, **attributes):
        more = [self.bias(shape[0])] if bias else []
        return self.op("Conv", x, self.kernel(shape), *more, **attributes)


def operators(data):
    symbol, _ = mx.onnx.load(data).convert()[:2]
    return [n["op"] for n in json.loads(symbol.tojson())["nodes"] if n["op"] != "null"]


FLOATS = {"Convolution", "FullyConnected", "batch_dot", "dot", "_npi_matmul", "_npi_add",
          "_npi_multiply", "Pooling"}


SUMS = ["_npi_add"]


def check_steps(build, feeds, opset=21, tolerance=1, floats=()):
    """The last result, in steps, is off by one at most; no float operator but `floats` is left."""
    data = model(build.nodes, feeds, build.weights, opset)
    want = reference.ReferenceEvaluator(onnx.load_from_string(data)).run(None, feeds)
    got = ours(data, feeds)
    for one, other in zip(got, want):
        assert one.shape == other.shape and one.dtype == other.dtype
        if other.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())
        else:
            assert np.abs(one.astype(int) - other.astype(int)).max() <= tolerance
            assert len(np.unique(other)) > 20  # else anything would agree
    made = operators(data)
    assert not FLOATS.difference(floats).intersection(made), made
    return made


def image(*shape):
    return {"x": np.random.RandomState(7).randn(*shape).astype(np.float32)}


CASES = [("u1", "i1", True), ("u1", "i1", False), ("i1", "i1", True), ("i1", "i1", False),
         ("u1", "u1", True), ("i1", "u1", False)]


@pytest.mark.parametrize("activation, weight, each_filter", CASES)
def test_residual_blocks(activation, weight, each_filter):
    b = Builder(activation, weight, each_filter)
    x = b.through("x", 0.03141, 120)
    x = b.through(b.op("Relu", b.conv(x, (16, 3, 3, 3), pads=[1, 1, 1, 1])), 0.1237, 0)
    y = b.through(b.op("Relu", b.conv(x, (16, 16, 3, 3), pads=[1, 1, 1, 1])), 0.3511, 3)
    y = b.through(b.conv(y, (16, 16, 1, 1), bias=False), 0.9173, 130)
    x = b.through(b.op("Relu", b.op("Add", y, x)), 0.6131, 0)
    low, high = b.constant(0.0, "f4"), b.constant(200.0, "f4")
    y = b.op("Clip", b.conv(x, (8, 16, 3, 3), strides=[2, 2], pads=[0, 1, 1, 0]), low, high)
    b.steps(y, 1.2713, 20, out="y")
    made = check_steps(b, image(2, 3, 11, 10))
    assert made.count("_integer_convolution") == 4  # also where weights less their zero points are no int8
    assert "_integer_pair" not in made  # the sum is part of a convolution


def test_batches_in_filled_pieces_are_as_whole_ones():
    """Images of small layers are computed with those of another batch's primitive at first, which
    has more of them, and by one of their own later."""
    b = Builder()
    x = b.through("x", 0.03141, 120)
    for shape, more in [((32, 3, 3, 3), {"strides": [2, 2]}), ((32, 32, 1, 1), {}), ((48, 32, 3, 3), {"strides": [2, 2]})]:
        x = b.through(b.op("Relu", b.conv(x, shape, pads=[shape[2] // 2] * 4, **more)), 0.1237, 0)
    b.steps(x, 1.2713, 20, out="y")
    data = onnx.load_from_string(model(b.nodes, image(1, 3, 28, 28), b.weights, 21))
    data.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    whole = np.random.RandomState(3).randn(8, 3, 28, 28).astype("float32")
    net = mx.onnx.load(data.SerializeToString())
    for _ in range(3):
        want = net.run({"x": whole})["y"].asnumpy()
    assert len(np.unique(want)) > 20
    for batch in (3, 7, 1, 5):
        for _ in range(12):
            np.testing.assert_array_equal(net.run({"x": whole[:batch]})["y"].asnumpy(), want[:batch])


def test_another_batch_has_a_plan_and_the_same_packed_weights():
    """Node by node such a model computes in floats, which takes many times as long as a plan."""
    b = Builder()
    x = b.through("x", 0.03141, 120)
    for shape in [(32, 3, 3, 3), (64, 32, 1, 1), (64, 64, 3, 3)]:
        x = b.through(b.op("Relu", b.conv(x, shape, pads=[shape[2] // 2] * 4)), 0.1237, 0)
    b.steps(x, 1.2713, 20, out="y")
    data = onnx.load_from_string(model(b.nodes, image(1, 3, 28, 28), b.weights, 21))
    data.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    net = mx.onnx.load(data.SerializeToString())

    def packed_forms():
        return net.explain(runs=0).plans[0].plan["stats"]["packed_forms"]
    want = net.run(image(1, 3, 28, 28))["y"].asnumpy()
    for _ in range(8):
        net.run(image(1, 3, 28, 28))
    before, plans = packed_forms(), len(net.explain(runs=0).plans)
    assert before > 0
    whole = np.repeat(image(1, 3, 28, 28)["x"], 5, 0)
    for batch in (2, 3, 5):
        got = net.run({"x": whole[:batch]})["y"].asnumpy()
        np.testing.assert_array_equal(got, np.repeat(want, batch, 0))
    assert len(net.explain(runs=0).plans) == plans + 3 and packed_forms() == before


@pytest.mark.parametrize("activation, weight, each_filter", CASES)
@pytest.mark.parametrize("attributes, shape", [
    ({"group": 8}, (8, 1, 3, 3)), ({"group": 4}, (12, 2, 3, 3)),
    ({"dilations": [2, 1]}, (6, 8, 3, 2)), ({"group": 8, "strides": [2, 1]}, (16, 1, 2, 3)),
    ({"pads": [2, 0, 1, 3]}, (5, 8, 3, 3)), ({"auto_pad": "SAME_UPPER"}, (5, 8, 2, 2))])
def test_convolutions(activation, weight, each_filter, attributes, shape):
    b = Builder(activation, weight, each_filter)
    x = b.through("x", 0.02173, 100)
    b.steps(b.conv(x, shape, **attributes), 0.1541, 117, out="y")
    check_steps(b, image(2, 8, 9, 7))


@pytest.mark.parametrize("shape, kernel", [((2, 6, 12), (4, 6, 5)), ((1, 4, 5, 6, 4), (7, 4, 2, 3, 2))])
def test_other_ranks(shape, kernel):
    b = Builder()
    b.steps(b.conv(b.through("x", 0.02173, 100), kernel), 0.2137, 117, out="y")
    check_steps(b, image(*shape))


def test_a_layer_with_results_in_floats():
    b = Builder()
    x = b.through("x", 0.02173, 100)
    y = b.op("Relu", b.conv(x, (6, 4, 3, 3)))
    b.op("Identity", y, out="y0")
    b.op("Conv", x, b.kernel((5, 4, 1, 1)), out="y1")
    check_steps(b, image(1, 4, 6, 6))


def test_several_readers():
    """Each reader of a DequantizeLinear takes the numbers itself; what others read stays."""
    b = Builder()
    x = b.through("x", 0.02173, 100)
    y = b.conv(x, (6, 4, 1, 1))
    b.op("Identity", y, out="y0")  # floats of the layer are read, too
    b.steps(y, 0.1093, 99, out="y1")
    b.op("Abs", x, out="y2")
    b.steps(b.conv(x, (6, 4, 3, 3)), 0.1093, 99, out="y3")
    check_steps(b, image(1, 4, 6, 6))


@pytest.mark.parametrize("activation", ["u1", "i1"])
def test_what_stands_between_layers(activation):
    b = Builder(activation)
    x = b.through("x", 0.03141, 120)
    y = b.through(b.op("HardSwish", x), 0.02173, 10)
    z = b.through(b.op("Sigmoid", y), 1 / 256, 0)
    y = b.through(b.op("Mul", y, z), 0.02173, 10)
    y = b.through(b.op("Concat", y, x, axis=1), 0.03141, 118)
    y = b.op("DequantizeLinear", *b.steps(b.op("MaxPool", y, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                                               strides=[2, 2]), 0.03141, 118))
    b.steps(b.op("GlobalAveragePool", y), 0.01, 30, out="y0")
    b.steps(b.op("Mul", y, b.constant(0.7, "f4")), 0.02173, 100, out="y1")
    y = b.conv(y, (6, 16, 1, 1))
    b.steps(y, 0.1541, 100, out="y2")
    made = check_steps(b, image(2, 8, 9, 7), opset=21)
    assert made.count("_integer_table") >= 4 and "_integer_mean" in made


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_slopes_of_one_number_in_any_shape(shape):
    b = Builder()
    x = b.through("x", 0.03141, 120)
    y = b.op("PRelu", x, b.constant(np.full(shape, 0.25), "f4"))
    b.steps(y, 0.02173, 100, out="y")
    assert "_integer_table" in check_steps(b, image(2, 8, 9, 7))


@pytest.mark.parametrize("activation", ["u1", "i1"])
@pytest.mark.parametrize("zero", [0, 7])
@pytest.mark.parametrize("attributes", [
    {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
    {"kernel_shape": [4, 2], "strides": [1, 2]}, {"kernel_shape": [3, 2], "strides": [2, 1]}, {"kernel_shape": [5, 5], "strides": [2, 2]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, {"kernel_shape": [2, 2], "pads": [0, 1, 1, 0], "count_include_pad": 1}])
def test_averages_keep_their_steps(activation, zero, attributes):
    b = Builder(activation)
    number = zero + 128 * (activation == "i1")   # the builder takes these off
    y = b.through(b.conv(b.through("x", 0.03141, 120), (32, 8, 1, 1)), 0.0541, number)
    b.steps(b.op("AveragePool", y, **attributes), 0.0541, number, out="y0")
    uneven = "ceil_mode" in attributes or attributes.get("pads") == [0, 1, 1, 0]
    made = check_steps(b, image(2, 8, 10, 12), floats=FLOATS if zero or uneven else ())
    assert ("_integer_dequantize" in made) == (zero != 0), made


@pytest.mark.parametrize("activation, weight, each_filter", CASES)
def test_dense_layers(activation, weight, each_filter):
    b = Builder(activation, weight, each_filter)
    x = b.through("x", 0.02173, 100)
    y = b.through(b.op("MatMul", x, b.kernel((32, 24), 1)), 0.1093, 120)
    y = b.through(b.op("Add", b.bias(24), y), 0.1093, 120)
    y = b.through(b.op("Gelu", y), 0.05, 5)
    y = b.through(b.op("Reshape", y, b.constant([-1, 24])), 0.05, 5)
    y = b.op("Gemm", y, b.kernel((9, 24), 0), b.bias(9), transB=1)
    b.steps(y, 0.3093, 120, out="y")
    made = check_steps(b, image(2, 15, 32))
    assert "_integer_table" in made and "_integer_dense" in made
    assert weight == "u1" or len(made) == 5


@pytest.mark.parametrize("activation", ["u1", "i1"])
def test_products_of_two_activations(activation):
    b = Builder(activation)
    x = b.through("x", 0.03141, 120)
    k = b.op("DequantizeLinear", *b.steps(b.op("Transpose", x, perm=[0, 2, 1]), 0.03141, 120))
    scores = b.through(b.op("MatMul", x, k), 0.2137, 100)
    p = b.through(b.op("Softmax", scores, axis=-1), 1 / 255, 0)
    b.steps(b.op("MatMul", p, x), 0.02173, 120, out="y")
    made = check_steps(b, image(3, 6, 16))
    assert made.count("_integer_matmul") == 2


def extremes(dtype, shape):
    """Numbers at the ends of their range, where sums of 16 bits would saturate."""
    range_ = np.iinfo(dtype)
    return np.random.RandomState(3).choice([range_.min, range_.max], shape).astype(dtype)


def exact_sums():
    """Sums of products of bytes by ConvInteger and MatMulInteger, against sums of int64."""
    for x_type, w_type in (("u1", "i1"), ("i1", "i1"), ("u1", "u1"), ("i1", "u1")):
        x, w = extremes(x_type, (1, 64, 5, 5)), extremes(w_type, (8, 64, 3, 3))
        for x_zero, w_zero in ((0, 0), (77, 0), (77, 99), (0, 99)):
            weights = {"w": w, "xz": np.array(x_zero, x_type), "wz": np.array(w_zero, w_type)}
            data = model([node("ConvInteger", ["x", "w", "xz", "wz"], ["y"])], {"x": x}, weights)
            windows = np.lib.stride_tricks.sliding_window_view(x.astype(int) - x_zero, (3, 3), (2, 3))
            want = np.einsum("bchwij,fcij->bfhw", windows, w.astype(int) - w_zero)
            np.testing.assert_array_equal(ours(data, {"x": x})[0], want)
            rows, columns = x.reshape(25, 64), w.reshape(64, 72)
            weights["w"] = columns
            data = model([node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"])], {"x": rows}, weights)
            want = (rows.astype(int) - x_zero) @ (columns.astype(int) - w_zero)
            np.testing.assert_array_equal(ours(data, {"x": rows})[0], want)


def test_sums_are_exact():
    exact_sums()


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize("pads", [0, 2])
@pytest.mark.parametrize("each_filter", [False, True])
def test_weights_around_any_zero_are_exact(groups, pads, each_filter):
    """Less their zero points, such weights are no bytes; what is around an image is the data's."""
    x, w = extremes("u1", (2, 64, 7, 6)), extremes("u1", (16, 64 // groups, 3, 3))
    zeros = np.arange(16, dtype="u1") * 17 if each_filter else np.array(99, "u1")
    data = model([node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], group=groups, pads=[pads] * 4)], {"x": x},
                 {"w": w, "xz": np.array(77, "u1"), "wz": zeros})
    wide = np.pad(x.astype(int) - 77, [(0, 0), (0, 0), (pads, pads), (pads, pads)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))
    windows = windows.reshape(2, groups, 64 // groups, *windows.shape[2:])
    less = w.astype(int) - (zeros.reshape(16, 1, 1, 1) if each_filter else 99)
    want = np.einsum("bgchwij,gfcij->bgfhw", windows, less.reshape(groups, 16 // groups, *less.shape[1:]))
    np.testing.assert_array_equal(ours(data, {"x": x})[0], want.reshape(2, 16, *want.shape[3:]))


@pytest.mark.parametrize("level", ["AVX2", "SSE41"])
def test_sums_are_exact_without_vnni(level):
    code = "import test_import_integers as t; t.exact_sums(); t.test_residual_blocks('u1', 'i1', True)"
    folder = os.path.dirname(__file__)
    paths = os.pathsep.join([folder, *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300,
                   env={**os.environ, "PYTHONPATH": paths, "ONEDNN_MAX_CPU_ISA": level})


def dynamic(kind, weight, groups, sum_):
    """A layer as onnxruntime quantizes it dynamically; `sum_`: the shape of what is added to it."""
    random = np.random.RandomState(1)
    conv = kind == "ConvInteger"
    shape = (8, 8 // groups, 3, 3) if conv else (8, 6)
    bias = random.randn(*((1, 8, 1, 1) if conv else (6,))).astype("f4")
    range_ = np.iinfo(weight)
    zero, scale = 0 if weight == "i1" else 121, 0.02
    if not conv:  # for each column
        zero, scale = np.full(6, zero), 0.02 * random.rand(6)
    weights = {"w": random.randint(range_.min, range_.max + 1, shape).astype(weight),
               "ws": np.array(scale, "f4"), "wz": np.array(zero, weight), "b": bias}
    if sum_:
        weights["r"] = (3 * random.randn(*sum_)).astype("f4")
    more = {"group": groups, "pads": [1, 1, 1, 1]} if conv else {}
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("Mul", ["s", "ws"], ["t"]),
             node(kind, ["q", "w", "z", "wz"], ["i"], **more), node("Cast", ["i"], ["f"], to=1),
             node("Mul", ["f", "t"], ["g"]), node("Add", ["g", "b"], ["h"])]
    nodes += [node("Abs", ["r"], ["a"]), node("Add", ["a", "h"], ["k"])] if sum_ else []
    nodes += [node("Relu", ["k" if sum_ else "h"], ["y"])]
    return nodes, weights, image(2, 8, 6, 7) if conv else image(3, 5, 8)


@pytest.mark.parametrize("weight", ["i1", "u1"])
@pytest.mark.parametrize("kind, groups, sum_", [
    ("ConvInteger", 1, None), ("ConvInteger", 4, None), ("ConvInteger", 8, (2, 8, 6, 7)),
    ("ConvInteger", 1, (8, 1, 1)), ("MatMulInteger", 1, None), ("MatMulInteger", 1, (3, 5, 6)),
    ("MatMulInteger", 1, (5, 1))])
def test_dynamic_layers(kind, weight, groups, sum_):
    nodes, weights, feeds = dynamic(kind, weight, groups, sum_)
    if sum_:
        feeds["r"] = weights.pop("r")
    data = model(nodes, feeds, weights)
    want = theirs(data, feeds)[0] if weight == "u1" or kind != "ConvInteger" else \
        reference.ReferenceEvaluator(onnx.load_from_string(data)).run(None, feeds)[0]
    np.testing.assert_allclose(ours(data, feeds)[0], want, rtol=1e-4, atol=1e-4)
    made = operators(data)
    layer = "_integer_convolution" if kind == "ConvInteger" else "_integer_dense"
    assert layer in made and "Cast" not in made
    assert not FLOATS.difference([*SUMS, "_npi_multiply"]).intersection(made)  # of the scales


def test_layers_of_operators():
    """QLinearConv with sums behind it, as onnxruntime writes operators of their own."""
    random = np.random.RandomState(2)
    weights = {"w": random.randint(-128, 128, (8, 4, 3, 3)).astype("i1"),
               "ws": (0.01 * (1 + random.rand(8))).astype("f4"), "wz": np.zeros(8, "i1"),
               "b": random.randint(-999, 999, 8).astype("i4")}
    for name, scale, zero in (("x", 0.03, 120), ("c", 0.15, 117), ("y", 0.2, 99)):
        weights.update({name + "s": np.array(scale, "f4"), name + "z": np.array(zero, "u1")})
    nodes = [node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
             node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "cs", "cz", "b"], ["c"]),
             node("QLinearAdd", ["c", "cs", "cz", "c", "cs", "cz", "ys", "yz"], ["d"], **MICROSOFT),
             node("QLinearGlobalAveragePool", ["d", "ys", "yz", "xs", "xz"], ["y"], **MICROSOFT)]
    feeds = image(2, 4, 6, 6)
    data = model(nodes, feeds, weights)
    one, other = ours(data, feeds)[0].astype(int), theirs(data, feeds)[0].astype(int)
    assert np.abs(one - other).max() <= 1
    assert not FLOATS.intersection(operators(data))


@pytest.mark.parametrize("op, domain", [("Function", "mxnet.integers"), ("MatMul", "mxnet.repeats")])
def test_files_cannot_name_the_nodes_that_take_the_place_of_others(op, domain):
    data = model([node(op, ["x"], ["y"], domain=domain)], image(2, 3), {})
    with pytest.raises(ValueError, match="not known"):
        mx.onnx.load(data)


@pytest.mark.parametrize("bits, block", [(4, 32), (4, 16), (4, 64), (8, 32), (8, 16), (8, 4), (2, 16), (2, 32), (2, 64), (2, 8)])
@pytest.mark.parametrize("rows, with_zeros", [(1, True), (2, False), (6, True), (21, False)])
def test_weights_of_few_bits_stay_packed(bits, block, rows, with_zeros):
    random = np.random.RandomState(4)
    k, n = 80, 7  # the last block is not full
    blocks = -(-k // block)
    packed = random.randint(0, 256, (n, blocks, block * bits // 8)).astype("u1")
    zeros = random.randint(0, 256, (n, -(-blocks * bits // 8))).astype("u1")
    scales = (0.5 + random.rand(n * blocks)).astype("f4")
    bias = random.randn(n).astype("f4")
    feeds = {"x": random.randn(1, rows, k).astype("f4")}
    made = node("MatMulNBits", ["x", "w", "s", "z" if with_zeros else "", "", "b"], ["y"], K=k, N=n, bits=bits,
                block_size=block, **MICROSOFT)
    data = model([made], feeds, {"w": packed, "s": scales, "z": zeros, "b": bias})

    def numbers(bytes_):  # the low bits first
        places = [(bytes_[..., None] >> (i * bits)) & (2 ** bits - 1) for i in range(8 // bits)]
        return np.concatenate(places, -1).reshape(*bytes_.shape[:-1], -1).astype("f8")

    zero = numbers(zeros)[:, :blocks, None] if with_zeros else 2 ** (bits - 1)
    weight = (numbers(packed) - zero) * scales.reshape(n, blocks, 1)
    want = feeds["x"] @ weight.reshape(n, -1)[:, :k].T + bias
    np.testing.assert_allclose(ours(data, feeds)[0], want, rtol=1e-4, atol=1e-3)
    assert "_block_dense" in operators(data)


@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize("rows, with_zeros", [(1, True), (5, False)])
def test_data_is_rounded_where_the_node_allows_it(block, rows, with_zeros):
    """accuracy_level 4: data in 8 bits, a scale for each block."""
    random = np.random.RandomState(6)
    k, n = 200, 9
    blocks = -(-k // block)
    packed = random.randint(0, 256, (n, blocks, block // 2)).astype("u1")
    zeros = random.randint(0, 256, (n, -(-blocks // 2))).astype("u1")
    scales = (0.5 + random.rand(n * blocks)).astype("f4")
    feeds = {"x": random.randn(1, rows, k).astype("f4")}
    made = node("MatMulNBits", ["x", "w", "s", "z" if with_zeros else ""], ["y"], K=k, N=n, bits=4, block_size=block,
                accuracy_level=4, **MICROSOFT)
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(n, blocks, block).astype("f8")
    zero = np.stack([zeros & 15, zeros >> 4], -1).reshape(n, -1)[:, :blocks, None].astype("f8") if with_zeros else 8
    weight = ((numbers - zero) * scales.reshape(n, blocks, 1)).reshape(n, -1)
    x = np.pad(feeds["x"], [(0, 0), (0, 0), (0, blocks * block - k)]).reshape(rows, blocks, block)
    step = np.abs(x).max(-1, keepdims=True) / 127
    got = ours(model([made], feeds, {"w": packed, "s": scales, "z": zeros}), feeds)[0][0]
    forms = [(v.reshape(rows, -1).astype("f8") @ weight.T) for v in (np.rint(x / step) * step, x)]
    if block >= 32:  # smaller ones are rounded by processors with AVX-512 VNNI
        forms.pop()
    assert min(np.abs(got - v).max() for v in forms) < 2e-3


@pytest.mark.parametrize("bits, block", [(2, 16), (2, 32), (2, 64), (8, 16), (8, 32)])
def test_data_is_rounded_where_onnxruntime_rounds_it(bits, block):
    """Of blocks of 16 numbers of 2 bits it does not, whatever the level is."""
    random = np.random.RandomState(6)
    k, n = 192, 9
    packed = random.randint(0, 256, (n, k // block, block * bits // 8)).astype("u1")
    scales = (0.5 + random.rand(n * k // block)).astype("f4")
    feeds, weights = {"x": random.randn(1, 5, k).astype("f4")}, {"w": packed, "s": scales}

    def made(**more):
        return model([node("MatMulNBits", ["x", "w", "s"], ["y"], K=k, N=n, bits=bits, block_size=block, **more, **MICROSOFT)],
                     feeds, weights)

    leveled = made(accuracy_level=4)
    want, got, exact = theirs(leveled, feeds)[0], ours(leveled, feeds)[0], ours(made(), feeds)[0]
    near = [np.abs(got - v).max() / np.abs(want).max() for v in (want, exact)]
    assert min(near) < 1e-5
    if (bits, block) == (2, 16):
        assert max(near) < 1e-5


def test_packed_rows_without_numbers_give_zeros():
    empty = mx.nd.zeros((3, 0)), mx.nd.zeros((5, 0, 16), dtype="uint8"), mx.nd.zeros((5, 0))
    with mx.util.np_shape(True):
        for in_integers in (False, True):
            made = mx.nd._internal._block_dense(*empty, with_shift=False, num_hidden=5, in_integers=in_integers)
            np.testing.assert_array_equal(made.asnumpy(), np.zeros((3, 5)))


@pytest.mark.parametrize("out_type", ["uint8", "int8"])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_steps_to_integers_and_back(size, out_type):
    """_integer_quantize and _integer_dequantize; ties go to even, NaN is the lowest integer."""
    random = np.random.RandomState(size)
    x = (random.randn(3, size) * 40).astype("float32")
    x.ravel()[:3] = 0.25, 0.75, np.nan
    scale, zero = np.float32(0.5), 3
    arrays = [mx.nd.array(v, dtype=t) for v, t in ((x, "float32"), ([scale], "float32"), ([zero], out_type))]
    found = mx.nd._internal._integer_quantize(*arrays, out_type=out_type)
    bounds = np.iinfo(out_type)
    expected = np.clip(np.round(np.nan_to_num(x, nan=-1e9) / scale) + zero, bounds.min, bounds.max)
    assert found.dtype == np.dtype(out_type)
    np.testing.assert_array_equal(found.asnumpy(), expected)
    back = mx.nd._internal._integer_dequantize(found, *arrays[1:])
    np.testing.assert_array_equal(back.asnumpy(), (expected.astype("float32") - zero) * scale)


@pytest.mark.parametrize("low,high", [(-3, 5), (2, 5), (-5, -2)])
def test_steps_by_the_range_of_the_numbers(low, high):
    """_integer_quantize_dynamic: the range has 0 in it, whatever the numbers are."""
    x = np.random.RandomState(0).uniform(low, high, (5, 33)).astype("float32")
    found, scale, zero = mx.nd._internal._integer_quantize_dynamic(mx.nd.array(x))
    least, most = min(x.min(), 0), max(x.max(), 0)
    step = (most - least) / np.float32(255)
    np.testing.assert_allclose(scale.asnumpy(), [step], rtol=1e-6)
    assert zero.asnumpy().tolist() == [np.clip(np.round(-least / step), 0, 255)]
    np.testing.assert_array_equal(found.asnumpy(), np.clip(np.round(x / scale.asscalar()) + zero.asscalar(), 0, 255))


MOVES = {"MaxPool": {"kernel_shape": [3, 2], "strides": [2, 1]}, "GlobalMaxPool": {}, "Flatten": {},
         "Transpose": {"perm": [0, 2, 3, 1]}, "DepthToSpace": {"blocksize": 2}}


def check_moved(x, scale, between, zero=None, **first):
    """`between` stands between two equal steps."""
    weights = {"s": np.float32(scale), **({} if zero is None else {"z": zero})}
    names, feeds = list(weights), {"x": x}
    nodes = [node("QuantizeLinear", ["x", *names], ["q"], **first), node("DequantizeLinear", ["q", *names], ["d"]),
             between, node("QuantizeLinear", ["m", *names], ["r"]), node("DequantizeLinear", ["r", *names], ["y"])]
    data = model(nodes, feeds, weights, 21)
    want, = reference.ReferenceEvaluator(onnx.load_from_string(data)).run(None, feeds)
    np.testing.assert_allclose(ours(data, feeds)[0], want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
@pytest.mark.parametrize("op", MOVES)
def test_what_only_moves_numbers_of_any_width(op, dtype):
    x = np.random.RandomState(3).randn(1, 4, 6, 4).astype(np.float32)
    check_moved(x, 0.031, node(op, ["d"], ["m"], **MOVES[op]), np.array(7, dtype))


def test_steps_without_zero_points_have_dtypes_of_their_own():
    x = np.linspace(-9, 9, 16, dtype=np.float32).reshape(1, 1, 4, 4)
    pool = node("MaxPool", ["d"], ["m"], kernel_shape=[2, 2])
    check_moved(x, 0.1, pool, output_dtype=onnx.TensorProto.INT8)   # the second: uint8


def test_layers_that_nobody_reads():
    b = Builder()
    x = b.through("x", 0.03141, 120)
    b.steps(b.conv(x, (6, 4, 3, 3)), 0.1093, 99, out="y0")
    b.conv(x, (6, 4, 1, 1))
    b.op("Relu", x)
    b.op("MaxPool", x, kernel_shape=[2, 2])
    check_steps(b, image(1, 4, 9, 9))
