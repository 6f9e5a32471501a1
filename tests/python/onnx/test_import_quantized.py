"""Quantized operators: integer sums are exact; results differ by one step where floats round."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, check, model, node, ours, theirs

RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def whole(dtype, *shape):
    range_ = np.iinfo(dtype)
    return RANDOM.randint(range_.min, range_.max + 1, shape).astype(dtype)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


PAIRS = [("u1", 120, "u1", 130), ("u1", 120, "i1", 5), ("u1", 120, "i1", 0), ("i1", -3, "i1", 5),
         ("i1", -3, "i1", 0)]


@pytest.mark.parametrize("a, a_zero, b, b_zero", PAIRS)
@pytest.mark.parametrize("known", [True, False])
def test_products_are_exact(a, a_zero, b, b_zero, known):
    feeds = {"x": whole(a, 2, 5, 300), "xz": number(a_zero, a)}
    weights = {"w": whole(b, 300, 6), "wz": number(b_zero, b)}
    if not known:
        feeds["w"] = weights.pop("w")
    check(node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"]), feeds, weights, rtol=0, atol=0)


@pytest.mark.parametrize("a, a_zero, b, b_zero", PAIRS)
def test_products_with_scales(a, a_zero, b, b_zero):
    feeds = {"x": whole(a, 5, 8)}
    weights = {"w": whole(b, 8, 6), "xz": number(a_zero, a), "wz": number(b_zero, b),
               "a": number(0.02), "b": number(0.03), "ys": number(0.5), "yz": number(a_zero, a)}
    quantized = ["x", "a", "xz", "w", "b", "wz"]
    check(node("QLinearMatMul", quantized + ["ys", "yz"], ["y"]), feeds, weights, atol=1)
    bias = {"c": RANDOM.randint(-100, 100, (6,)).astype(np.int32)}
    check(node("QGemm", quantized + ["c", "ys", "yz"], ["y"], **MICROSOFT), feeds,
          {**weights, **bias}, atol=1)
    made = node("MatMulIntegerToFloat", ["x", "w", "a", "b", "xz", "wz", "c"], ["y"], **MICROSOFT)
    check(made, feeds, {**weights, "c": floats(6)})


@pytest.mark.parametrize("w, w_zero, groups", [("i1", 0, 1), ("i1", 0, 2), ("u1", 128, 1),
                                               ("u1", 100, 1)])
@pytest.mark.parametrize("zero", [0, 117])
def test_convolutions(w, w_zero, groups, zero):
    feeds = {"x": whole("u1", 2, 4, 7, 6)}
    attributes = {"pads": [1, 1, 0, 1], "strides": [2, 1], "group": groups}
    weights = {"w": whole(w, 4, 4 // groups, 3, 3), "xz": number(zero, "u1"),
               "wz": number(w_zero, w)}
    made = node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **attributes)
    check(made, feeds, weights, rtol=0, atol=0)
    weights.update(a=number(0.02), b=number(0.03), ys=number(0.5), yz=number(100, "u1"),
                   c=RANDOM.randint(-100, 100, (4,)).astype(np.int32))
    made = node("QLinearConv", ["x", "a", "xz", "w", "b", "wz", "ys", "yz", "c"], ["y"],
                **attributes)
    check(made, feeds, weights, atol=1)


def parameters(*names):
    made = {}
    for name in names:
        made.update({name + "s": number(0.05), name + "z": number(117, "u1")})
    return made


def test_pointwise():
    x, w = whole("u1", 2, 5, 8), whole("u1", 5, 8)
    for op in ("QLinearAdd", "QLinearMul"):
        made = node(op, ["x", "as", "az", "w", "bs", "bz", "cs", "cz"], ["y"], **MICROSOFT)
        check(made, {"x": x}, {"w": w, **parameters("a", "b", "c")}, atol=1)
    made = node("QLinearSigmoid", ["x", "as", "az", "cs", "cz"], ["y"], **MICROSOFT)
    check(made, {"x": x}, parameters("a", "c"), atol=1)
    made = node("QLinearConcat", ["cs", "cz", "x", "as", "az", "w", "bs", "bz"], ["y"], axis=1,
                **MICROSOFT)
    check(made, {"x": x}, {"w": x, **parameters("a", "b", "c")}, atol=1)


def test_softmax():
    made = node("QLinearSoftmax", ["x", "as", "az", "cs", "cz"], ["y"], axis=-1, opset=13,
                **MICROSOFT)
    check(made, {"x": whole("u1", 2, 5, 8)},
          {**parameters("a"), "cs": number(1 / 256), "cz": number(0, "u1")}, atol=1)


@pytest.mark.parametrize("more", [{"count_include_pad": 1}, {"ceil_mode": 1}, {"auto_pad": "SAME_UPPER"}])
def test_means_of_windows(more):
    pads = {} if "auto_pad" in more else {"pads": [1, 0, 1, 0]}
    made = node("QLinearAveragePool", ["x", "as", "az", "bs", "bz"], ["y"], kernel_shape=[3, 2],
                strides=[2, 2], **pads, **more, **MICROSOFT)
    check(made, {"x": whole("u1", 2, 3, 8, 9)}, {
        "as": number(0.02), "az": number(100, "u1"), "bs": number(0.011), "bz": number(90, "u1")}, atol=1)


def test_choices_among_steps():
    made = node("QLinearWhere", ["c", "x", "as", "az", "w", "bs", "bz", "cs", "cz"], ["y"], **MICROSOFT)
    check(made, {"c": whole("u1", 2, 1, 8) > 127, "x": whole("u1", 2, 5, 8)}, {
        "w": whole("u1", 5, 8), "as": number(0.02), "az": number(100, "u1"), "bs": number(0.03), "bz": number(90, "u1"),
        "cs": number(0.04), "cz": number(120, "u1")}, atol=1)


@pytest.mark.parametrize("depth", [8, 700])
def test_products_of_two_that_change(depth):
    feeds = {"x": whole("u1", 2, 5, depth), "w": whole("u1", 2, depth, 6)}
    weights = {"a": number(0.02), "b": number(0.03), "xz": number(120, "u1"), "wz": number(90, "u1"),
               "cs": number(0.09 * depth ** 0.5), "cz": number(110, "u1")}
    check(node("MatMulIntegerToFloat", ["x", "w", "a", "b", "xz", "wz"], ["y"], **MICROSOFT), feeds, weights, rtol=1e-6)
    check(node("QLinearMatMul", ["x", "a", "xz", "w", "b", "wz", "cs", "cz"], ["y"]), feeds, weights, atol=1)
    zeros = {k: weights[k] for k in ("xz", "wz")}   # not known when the plan is made
    check(node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"]), {**feeds, **zeros}, rtol=0, atol=0)


def test_dynamic_product():
    made = node("DynamicQuantizeMatMul", ["x", "w", "s", "z", "b"], ["y"], **MICROSOFT)
    check(made, {"x": floats(2, 5, 8)}, {"w": whole("i1", 8, 6), "s": number(0.03),
                                         "z": number(3, "i1"), "b": floats(6)})


def test_four_bits():
    made = node("MatMulNBits", ["x", "w", "s", "z"], ["y"], K=64, N=5, bits=4, block_size=32,
                **MICROSOFT)
    check(made, {"x": floats(2, 3, 64)}, {"w": whole("u1", 5, 2, 16), "s": floats(10),
                                          "z": whole("u1", 5)}, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("bits, block, with_zeros", [(4, 16, False), (4, 32, True), (8, 16, False), (8, 32, True)])
def test_rows_of_packed_tables(bits, block, with_zeros):
    """Two numbers of a byte, the low one first, and zero points packed alike."""
    rows, size = 9, 48
    blocks = -(-size // block)
    table, zeros = whole("u1", rows, size * bits // 8), whole("u1", rows, -(-blocks * bits // 8))
    scales, indices = np.abs(floats(rows, blocks)) + 0.1, np.array([[3, 0, 8], [-1, 5, -9]])

    def numbers(bytes_):
        parts = [bytes_ & 15, bytes_ >> 4] if bits == 4 else [bytes_]
        return np.stack(parts, -1).reshape(rows, -1).astype("f4")

    zero = numbers(zeros)[:, :blocks].repeat(block, 1)[:, :size] if with_zeros else 2 ** (bits - 1)
    wanted = ((numbers(table) - zero) * scales.repeat(block, 1)[:, :size])[indices]
    made = node("GatherBlockQuantized", ["w", "i", "s"] + ["z"] * with_zeros, ["y"], bits=bits, block_size=block,
                gather_axis=0, quantize_axis=1, **MICROSOFT)
    weights = {"w": table, "s": scales, **({"z": zeros} if with_zeros else {})}
    data = model([made], {"i": indices}, weights)
    np.testing.assert_allclose(ours(data, {"i": indices})[0], wanted, rtol=1e-6)
    check(made, {"i": indices}, weights, rtol=1e-6)
    none = {"i": np.zeros((2, 0), "int64")}
    assert ours(model([made], none, weights), none)[0].shape == (2, 0, size)


@pytest.mark.parametrize("kind", ["UINT4", "INT4"])
@pytest.mark.parametrize("axis, along, with_zeros", [(0, 1, False), (0, 2, True), (1, 0, True), (2, 1, False)])
def test_entries_of_tables_in_4_bit_types(kind, axis, along, with_zeros):
    """Any two axes, as there is nothing to unpack; without zero points they are 0."""
    helper, types = pytest.importorskip("onnx").helper, pytest.importorskip("onnx").TensorProto
    shape, few = [20, 18, 20], [20, 18, 20]
    few[along] = 2
    low = -8 if kind == "INT4" else 0
    table, zeros = (RANDOM.randint(low, low + 16, s) for s in (shape, few))
    scales, indices = np.abs(floats(*few)) + 0.1, np.array([[3, 0, 8], [-1, 5, -9]])
    broad = lambda a: a.repeat(16, along).take(range(shape[along]), along)
    wanted = np.take((table - (broad(zeros) if with_zeros else 0)) * broad(scales), indices, axis)
    made = node("GatherBlockQuantized", ["w", "i", "s"] + ["z"] * with_zeros, ["y"], block_size=16, gather_axis=axis,
                quantize_axis=along, **MICROSOFT)
    constants = [helper.make_tensor(name, getattr(types, kind), list(a.shape), a.ravel()) for name, a in (("w", table), ("z", zeros))]
    graph = helper.make_graph([made], "g", [helper.make_tensor_value_info("i", types.INT64, [2, "n"])],
                              [helper.make_tensor_value_info("y", types.FLOAT, None)],
                              [*constants, helper.make_tensor("s", types.FLOAT, few, scales.ravel())])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)],
                             ir_version=10).SerializeToString()
    np.testing.assert_allclose(ours(data, {"i": indices})[0], wanted, rtol=1e-6)


@pytest.mark.parametrize("shape, given, words", [((5, 16), {"quantize_axis": 0}, "two axes"), ((5, 16), {"bits": 3}, "2, 4 and 8"),
                                                 ((5, 16), {"gather_axis": 1, "quantize_axis": 0}, "the last axis, of uint8"),
                                                 ((5, 16), {"block_size": 0}, "block_size"), ((5, 16, 1), {"quantize_axis": 2}, "scales")])
def test_what_packed_tables_refuse(shape, given, words):
    made = node("GatherBlockQuantized", ["w", "i", "s"], ["y"], **{"block_size": 16, **given}, **MICROSOFT)
    feeds = {"i": np.array([0, 1])}
    data = model([made], feeds, {"w": whole("u1", *shape), "s": floats(5, 2)})
    with pytest.raises(ValueError, match=words):
        ours(data, feeds)


def test_lstm_with_weights_of_bytes():
    made = node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
                ["y", "y_h", "y_c"], hidden_size=6, **MICROSOFT)
    weights = {"w": whole("i1", 1, 8, 24), "r": whole("i1", 1, 6, 24), "b": floats(1, 48)}
    for name in ("w", "r"):
        weights.update({name + "s": number([0.005]), name + "z": number([0], "i1")})
    check(made, {"x": floats(4, 2, 8)}, weights, atol=0.05)  # theirs rounds states to 8 bits


def test_parts_of_other_steps_are_put_together_in_bytes():
    feeds = {"x": whole("u1", 2, 5, 8, 8), "w": whole("u1", 2, 3, 8, 8)}
    weights = {**parameters("a"), **parameters("b"), "cs": number(0.07), "cz": number(90, "u1")}
    data = model([node("QLinearConcat", ["cs", "cz", "x", "as", "az", "w", "bs", "bz"], ["y"], axis=1, **MICROSOFT)], feeds, weights)
    loaded = mx.onnx.load(data)
    y = loaded.run(feeds)["y"].asnumpy()
    both = np.concatenate([feeds["x"], feeds["w"]], 1)
    want = np.rint((both.astype("float32") - 117) * np.float32(0.05) / np.float32(0.07)) + 90
    np.testing.assert_array_equal(y, np.clip(want, 0, 255).astype("uint8"))
    assert "_integer_dequantize" not in loaded.explain()


@pytest.mark.parametrize("shape, kernel", [((2, 32, 24), [5]), ((2, 32, 9, 8), [3, 3])])
def test_bytes_of_sequences_behind_convolutions(shape, kernel):
    """Float convolutions compute channels last; bytes of what they give leave as they should."""
    weights = {"w": floats(32, 32, *kernel), "s": number(0.4), "z": number(100, "u1")}
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["r"]),
             node("QuantizeLinear", ["r", "s", "z"], ["y"]),
             node("DynamicQuantizeLinear", ["r"], ["y_moving", "y_scale", "y_zero"])]
    check(nodes, {"x": floats(*shape)}, weights, atol=1)


def test_dynamic_layers_of_sequences():
    """Depthwise and pointwise layers on sequences, each of which finds the range of its data."""
    weights = {"w": whole("u1", 32, 1, 5), "v": whole("i1", 16, 32, 1), "wz": number(120, "u1"),
               "vz": number(0, "i1"), "a": number(0.002)}
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             node("ConvInteger", ["q", "w", "z", "wz"], ["c"], group=32),
             node("Cast", ["c"], ["f"], to=1), node("Mul", ["s", "a"], ["sa"]),
             node("Mul", ["f", "sa"], ["m"]), node("Sigmoid", ["m"], ["g"]),
             node("Mul", ["m", "g"], ["silu"]),
             node("DynamicQuantizeLinear", ["silu"], ["q2", "s2", "z2"]),
             node("ConvInteger", ["q2", "v", "z2", "vz"], ["c2"]),
             node("Cast", ["c2"], ["f2"], to=1), node("Mul", ["f2", "s2"], ["y"])]
    check(nodes, {"x": floats(2, 32, 20)}, weights, atol=30)   # of some thousands


@pytest.mark.parametrize("kind", ["UINT8", "INT8", "UINT16", "INT16", "UINT4", "INT4"])
@pytest.mark.parametrize("along", [False, True])
def test_what_is_no_number_is_the_lowest_integer(kind, along):
    """The standard is silent; so does ONNX Runtime. Infinities are the ends."""
    helper, types = pytest.importorskip("onnx").helper, pytest.importorskip("onnx").TensorProto
    x = np.array([[np.nan, np.inf, -np.inf, 0.25], [1e30, -1e30, 2.5, np.nan]], "float32")
    shape, more = ([4], {"axis": 1}) if along else ([], {})
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], **more), node("DequantizeLinear", ["q", "s", "z"], ["y"], **more)]
    constants = [helper.make_tensor("s", types.FLOAT, shape, [0.5] * (4 if along else 1)),
                 helper.make_tensor("z", getattr(types, kind), shape, [3] * (4 if along else 1))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", types.FLOAT, [2, 4])],
                              [helper.make_tensor_value_info("y", types.FLOAT, None)], constants)
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    got = ours(data, {"x": x})[0]
    np.testing.assert_array_equal(got, theirs(data, {"x": x})[0])
    assert got[0, 0] == got[0, 2] == got.min() and got[0, 1] == got.max()


@pytest.mark.parametrize("shape", [(1, 8, 1, 1), (8, 1, 1), (3, 8, 4, 5), (), (5,), (3, 1, 4, 5), (2, 3, 1, 4, 5)])
def test_addends_of_other_shapes_behind_a_layer(shape):
    """The layer takes the sum over where it is not repeated."""
    steps = {"xs": number(0.02), "xz": number(120, "u1"), "ws": number(0.01), "cs": number(0.05), "cz": number(128, "u1"),
             "zs": number(0.04), "zz": number(7, "i1"), "ys": number(0.06), "yz": number(-3, "i1")}
    nodes = [node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]), node("DequantizeLinear", ["w", "ws"], ["wf"]),
             node("Conv", ["xf", "wf", "b"], ["c"]), node("QuantizeLinear", ["c", "cs", "cz"], ["cq"]),
             node("DequantizeLinear", ["cq", "cs", "cz"], ["cf"]), node("DequantizeLinear", ["z", "zs", "zz"], ["zf"]),
             node("Add", ["cf", "zf"], ["a"]), node("QuantizeLinear", ["a", "ys", "yz"], ["y"])]
    check(nodes, {"x": whole("u1", 3, 4, 4, 5), "z": whole("i1", *shape)}, {"w": whole("i1", 8, 4, 1, 1), "b": floats(8), **steps}, atol=1)
