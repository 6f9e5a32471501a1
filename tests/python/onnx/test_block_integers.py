"""Blocks of models whose layers compute with integers: they learn as QuantizeLinear and
DequantizeLinear around floats do, and weights of few bits are trained as floats."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from import_checks import MICROSOFT, model, node, ours
from onnx_checks import onnx, operators, run

RANDOM = np.random.RandomState(11)


def floats(*shape):
    return (RANDOM.randn(*shape) * 0.5).astype(np.float32)


def whole(dtype, *shape):
    range_ = np.iinfo(dtype)
    return RANDOM.randint(range_.min, range_.max + 1, shape).astype(dtype)


STEPS = {"xs": np.array(0.02, "f"), "xz": np.array(120, "u1"), "ys": np.array(0.05, "f"), "yz": np.array(100, "u1")}
X, Y = ["xs", "xz"], ["ys", "yz"]
WEIGHTS = {"k": whole("i1", 4, 3, 3, 3), "ks": np.abs(floats(4)) * np.float32(0.05) + np.float32(0.01), "kz": np.zeros(4, "i1"),
           "kb": RANDOM.randint(-300, 300, 4).astype("i4"), "w": whole("i1", 6, 5), "ws": np.array(0.01, "f"), "wz": np.array(3, "i1"),
           "t": whole("i1", 5, 6), "ts": np.abs(floats(5)) * np.float32(0.05) + np.float32(0.01), "tz": np.zeros(5, "i1"),
           "tb": RANDOM.randint(-300, 300, 5).astype("i4"), "e": whole("u1", 7, 6), "i": np.array([[1, 6], [0, 1]]),
           "o": np.array([-1, 3, 4, 2]), "c": RANDOM.rand(2, 3, 4, 4) > 0.5}

# Shapes and numbers that nodes have.
WHOLE = {"o4": np.array([2, -1]), "p4": np.array([0, 1, 1, 0]), "pv": np.array(140, "u1"), "zero": np.array(0, "u1"),
         "twice": np.array([1, 1, 2, 2], "f")}


def there(name, steps, y, **more):
    return node("DequantizeLinear", [name, *steps], [y], **more)


def back(x, y="y_q"):
    return node("QuantizeLinear", [x, *Y], [y])


def around(op, x, y, more=(), **attributes):
    """An operator whose images have their channels last."""
    return [node("Transpose", [x], [y + "_first"], perm=[0, 3, 1, 2]), node(op, [y + "_first", *more], [y + "_made"], **attributes),
            node("Transpose", [y + "_made"], [y], perm=[0, 2, 3, 1])]


# By name: the shape of the data, the operator on integers between "x_q" and "y_q", and the same
# with floats.
FORMS = {
    "convolution": ((2, 3, 4, 4), [node("QLinearConv", ["x_q", *X, "k", "ks", "kz", *Y, "kb"], ["y_q"], pads=[1, 1, 1, 1])],
                    [there("x_q", X, "a"), there("k", ["ks", "kz"], "b", axis=0), node("Mul", ["xs", "ks"], ["s"]),
                     there("kb", ["s"], "d", axis=0), node("Conv", ["a", "b", "d"], ["f"], pads=[1, 1, 1, 1]), back("f")]),
    "product": ((2, 6), [node("QLinearMatMul", ["x_q", *X, "w", "ws", "wz", *Y], ["y_q"])],
                [there("x_q", X, "a"), there("w", ["ws", "wz"], "b"), node("MatMul", ["a", "b"], ["f"]), back("f")]),
    "dense layer": ((2, 6), [node("QGemm", ["x_q", *X, "t", "ts", "tz", "tb", *Y], ["y_q"], transB=1, alpha=0.5, **MICROSOFT)],
                    [there("x_q", X, "a"), there("t", ["ts", "tz"], "b", axis=0), node("Mul", ["xs", "ts"], ["s"]),
                     there("tb", ["s"], "d", axis=0), node("Gemm", ["a", "b", "d"], ["f"], transB=1, alpha=0.5, beta=0.5), back("f")]),
    "sum": ((2, 6), [node("QLinearAdd", ["x_q", *X, "x_q", *X, *Y], ["y_q"], **MICROSOFT)],
            [there("x_q", X, "a"), node("Add", ["a", "a"], ["f"]), back("f")]),
    "square": ((2, 6), [node("QLinearMul", ["x_q", *X, "x_q", *X, *Y], ["y_q"], **MICROSOFT)],
               [there("x_q", X, "a"), node("Mul", ["a", "a"], ["f"]), back("f")]),
    "sigmoid": ((2, 6), [node("QLinearSigmoid", ["x_q", *X, *Y], ["y_q"], **MICROSOFT)],
                [there("x_q", X, "a"), node("Sigmoid", ["a"], ["f"]), back("f")]),
    "leaky": ((2, 6), [node("QLinearLeakyRelu", ["x_q", *X, *Y], ["y_q"], alpha=0.3, **MICROSOFT)],
              [there("x_q", X, "a"), node("LeakyRelu", ["a"], ["f"], alpha=0.3), back("f")]),
    "softmax": ((2, 6), [node("QLinearSoftmax", ["x_q", *X, *Y], ["y_q"], axis=-1, opset=13, **MICROSOFT)],
                [there("x_q", X, "a"), node("Softmax", ["a"], ["f"], axis=-1), back("f")]),
    "mean": ((2, 3, 4, 4), [node("QLinearGlobalAveragePool", ["x_q", *X, *Y], ["y_q"], channels_last=0, **MICROSOFT)],
             [there("x_q", X, "a"), node("GlobalAveragePool", ["a"], ["f"]), back("f")]),
    "means": ((2, 3, 4, 4), [node("QLinearAveragePool", ["x_q", *X, *Y], ["y_q"], kernel_shape=[2, 2], strides=[2, 2], **MICROSOFT)],
              [there("x_q", X, "a"), node("AveragePool", ["a"], ["f"], kernel_shape=[2, 2], strides=[2, 2]), back("f")]),
    "choice": ((2, 3, 4, 4), [node("QLinearSigmoid", ["x_q", *X, *Y], ["g"], **MICROSOFT),
                              node("QLinearWhere", ["c", "x_q", *X, "g", *Y, *Y], ["y_q"], **MICROSOFT)],
               [there("x_q", X, "a"), node("Sigmoid", ["a"], ["f"]), back("f", "g"), there("g", Y, "r"),
                node("Where", ["c", "a", "r"], ["h"]), back("h")]),
    "concatenation": ((2, 6), [node("QLinearSigmoid", ["x_q", *X, *Y], ["g"], **MICROSOFT),
                               node("QLinearConcat", [*Y, "x_q", *X, "g", *Y], ["y_q"], axis=1, **MICROSOFT)],
                      [there("x_q", X, "a"), node("Sigmoid", ["a"], ["f"]), back("f", "g"), there("g", Y, "r"),
                       node("Concat", ["a", "r"], ["h"], axis=1), back("h")]),
    "moves": ((2, 3, 4, 4), [node("MaxPool", ["x_q"], ["m"], kernel_shape=[2, 2]), node("Transpose", ["m"], ["p"], perm=[0, 2, 3, 1]),
                             node("Reshape", ["p", "o4"], ["r"]), node("QLinearSigmoid", ["r", *X, *Y], ["y_q"], **MICROSOFT)],
              [there("x_q", X, "a"), node("MaxPool", ["a"], ["m"], kernel_shape=[2, 2]),
               node("Transpose", ["m"], ["p"], perm=[0, 2, 3, 1]), node("Reshape", ["p", "o4"], ["r"]), node("Sigmoid", ["r"], ["f"]),
               back("f")]),
    "means of channels last": ((2, 4, 4, 3),
                               [node("QLinearAveragePool", ["x_q", *X, *Y], ["y_q"], kernel_shape=[2, 2], strides=[2, 2], channels_last=1,
                                     **MICROSOFT)],
                               [there("x_q", X, "a"), *around("AveragePool", "a", "f", kernel_shape=[2, 2], strides=[2, 2]), back("f")]),
    "mean of channels last": ((2, 4, 4, 3), [node("QLinearGlobalAveragePool", ["x_q", *X, *Y], ["y_q"], channels_last=1, **MICROSOFT)],
                              [there("x_q", X, "a"), *around("GlobalAveragePool", "a", "f"), back("f")]),
    "convolution of channels last": ((2, 4, 4, 3),
                                     [node("QLinearConv", ["x_q", *X, "k", "ks", "kz", *Y, "kb"], ["y_q"], pads=[1, 1, 1, 1],
                                           channels_last=1, **MICROSOFT)],
                                     [there("x_q", X, "a"), there("k", ["ks", "kz"], "b", axis=0), node("Mul", ["xs", "ks"], ["s"]),
                                      there("kb", ["s"], "d", axis=0),
                                      *around("Conv", "a", "f", more=("b", "d"), pads=[1, 1, 1, 1]), back("f")]),
    "maxima of channels last": ((2, 4, 4, 3), [node("NhwcMaxPool", ["x_q"], ["m"], kernel_shape=[2, 2], **MICROSOFT),
                                               node("QLinearSigmoid", ["m", *X, *Y], ["y_q"], **MICROSOFT)],
                                [there("x_q", X, "a"), *around("MaxPool", "a", "m", kernel_shape=[2, 2]), node("Sigmoid", ["m"], ["f"]),
                                 back("f")]),
    "padding": ((2, 6), [node("Pad", ["x_q", "p4"], ["m"]), node("Pad", ["m", "p4", "pv"], ["r"]),
                         node("QLinearSigmoid", ["r", *X, *Y], ["y_q"], **MICROSOFT)],
                [there("x_q", X, "a"), there("zero", X, "u"), node("Pad", ["a", "p4", "u"], ["m"]), there("pv", X, "v"),
                 node("Pad", ["m", "p4", "v"], ["r"]), node("Sigmoid", ["r"], ["f"]), back("f")]),
    "larger pictures": ((2, 3, 4, 4), [node("Resize", ["x_q", "", "twice"], ["m"], mode="nearest"),
                                       node("QLinearSigmoid", ["m", *X, *Y], ["y_q"], **MICROSOFT)],
                        [there("x_q", X, "a"), node("Resize", ["a", "", "twice"], ["m"], mode="nearest"), node("Sigmoid", ["m"], ["f"]),
                         back("f")]),
    "rows": ((2, 2, 6), [node("Gather", ["e", "i"], ["g"]), node("QLinearAdd", ["x_q", *X, "g", *X, *Y], ["y_q"], **MICROSOFT)],
             [there("x_q", X, "a"), there("e", X, "b"), node("Gather", ["b", "i"], ["r"]), node("Add", ["a", "r"], ["f"]), back("f")]),
}


def gradients(block, x, og=None):
    """What the block computes, and the gradients of what it reads and of its weights."""
    data = mx.nd.array(x)
    data.attach_grad()
    with autograd.record():
        y = block(data)
    y.backward(None if og is None else mx.nd.array(og))
    weights = {n.split("_")[0]: p.grad().asnumpy() for n, p in block.collect_params().items() if p.grad_req != "null"}
    return y.asnumpy(), data.grad.asnumpy(), weights


@pytest.mark.parametrize("what", FORMS)
def test_operators_on_integers_learn_as_their_floats(what):
    shape, integers, plain = FORMS[what]
    x = floats(*shape)
    made = []
    for nodes in (integers, plain):
        nodes = [node("QuantizeLinear", ["x", *X], ["x_q"]), *nodes, there("y_q", Y, "y")]
        weights = {**STEPS, **WEIGHTS, **WHOLE}
        read = {name for n in nodes for name in n.input}
        data = model(nodes, {"x": x}, {name: a for name, a in weights.items() if name in read})
        data = onnx.load_from_string(data)
        del data.graph.output[1:]     # "y_q"
        data.graph.output[0].CopyFrom(onnx.ValueInfoProto(name="y"))
        made.append(gradients(mx.onnx.load(data.SerializeToString()).to_block(), x))
    (y, gx, gw), (want, want_gx, want_gw) = made
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(gx, want_gx)
    assert sorted(gw) == sorted(want_gw) == sorted({"k", "kb", "w", "t", "tb", "e"} & {n for m in integers for n in m.input})
    for name, grad in gw.items():
        assert np.abs(grad).max() > 0
        np.testing.assert_array_equal(grad, want_gw[name])
    assert np.abs(gx).max() > 0


@pytest.mark.parametrize("found", [False, True])
def test_attention_on_integers_learns_as_its_floats(found):
    """`found`: the steps of the data are those of its own range."""
    x, size = floats(2, 4, 8), 8
    weights = {"w": whole("i1", size, 3 * size), "ws": np.array(0.004, "f"), "wz": np.array(3, "i1"), "b": floats(3 * size), **STEPS}
    steps = ["s", "z"] if found else X
    begin = node("DynamicQuantizeLinear", ["x"], ["x_q", *steps]) if found else node("QuantizeLinear", ["x", *X], ["x_q"])
    made = []
    attention = {"num_heads": 2, **MICROSOFT}
    for nodes in ([node("QAttention", ["x_q", "w", "b", steps[0], "ws", "", steps[1], "wz"], ["y"], **attention)],
                  [there("x_q", steps, "a"), there("w", ["ws", "wz"], "f"), node("Attention", ["a", "f", "b"], ["y"], **attention)]):
        read = {name for n in (begin, *nodes) for name in n.input}
        data = model([begin, *nodes], {"x": x}, {name: a for name, a in weights.items() if name in read})
        og = np.cos(np.arange(x.size)).reshape(x.shape).astype("f")
        made.append(gradients(mx.onnx.load(data).to_block(shapes={"x": x.shape}), x, og))
        np.testing.assert_allclose(made[-1][0], ours(data, {"x": x})[0], rtol=1e-3, atol=1e-3)
    (y, gx, gw), (want, want_gx, want_gw) = made
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gx, want_gx, rtol=1e-5, atol=1e-6)
    assert sorted(gw) == sorted(want_gw) == ["b", "w"]
    for name in gw:
        assert np.abs(gw[name]).max() > 0
        np.testing.assert_allclose(gw[name], want_gw[name], rtol=1e-4, atol=1e-5)


def test_tables_of_bytes_learn():
    """Rows that a text has get the gradients of its places."""
    ids = np.array([[1, 4, 4], [0, 1, 2]], "i4")
    names = ["ids", "", "words", "places", "", "gamma", "beta", "", *(n + "_s" for n in ("words", "places", "none", "gamma", "beta")),
             *(n + "_z" for n in ("words", "places", "none", "gamma", "beta"))]
    weights = {"words": whole("u1", 6, 8), "places": whole("u1", 4, 8), "gamma": whole("u1", 8), "beta": whole("u1", 8)}
    for name in ("words", "places", "none", "gamma", "beta"):
        weights.update({name + "_s": np.array(0.02, "f"), name + "_z": np.array(120, "u1")})
    data = model([node("QEmbedLayerNormalization", names, ["y", "lengths"], epsilon=1e-5, **MICROSOFT)], {"ids": ids}, weights)
    block = mx.onnx.load(data).to_block()
    given, og = mx.nd.array(ids, dtype="int32"), floats(2, 3, 8)
    with autograd.record():
        y = block(given)
    y.backward(mx.nd.array(og))
    np.testing.assert_allclose(y.asnumpy(), ours(data, {"ids": ids})[0], rtol=1e-4, atol=1e-5)
    parameters = {n.split("_")[0]: p for n, p in block.collect_params().items() if p.grad_req != "null"}
    assert sorted(parameters) == ["beta", "gamma", "places", "words"]
    np.testing.assert_allclose(parameters["beta"].grad().asnumpy(), og.sum((0, 1)), rtol=1e-4, atol=1e-5)
    rows = np.abs(parameters["words"].grad().asnumpy()).max(1) > 0
    assert rows.tolist() == [True, True, True, False, True, False]


ROWS = {"rs": np.array([0.02, 0.03], "f"), "rz": np.array([120, 90], "u1"), "qs": np.array([0.05, 0.04], "f"),
        "qz": np.array([100, 140], "u1"), "w": WEIGHTS["w"], "ws": WEIGHTS["ts"], "wz": WEIGHTS["tz"]}


@pytest.mark.parametrize("op", ["QLinearMatMul", "MatMulIntegerToFloat"])
def test_a_scale_for_each_row_learns(op):
    """onnxruntime's CPU has none of these; the written definition is QuantizeLinear and
    DequantizeLinear around the product."""
    x = floats(2, 6)
    begin, rows = node("QuantizeLinear", ["x", "rs", "rz"], ["x_q"], axis=0), ["qs", "qz"]
    plain = [begin, there("x_q", ["rs", "rz"], "a", axis=0), there("w", ["ws", "wz"], "b", axis=1)]
    if op == "QLinearMatMul":
        integers = [begin, node(op, ["x_q", "rs", "rz", "w", "ws", "wz", *rows], ["q"]), there("q", rows, "y", axis=0)]
        plain += [node("MatMul", ["a", "b"], ["f"]), node("QuantizeLinear", ["f", *rows], ["q"], axis=0), there("q", rows, "y", axis=0)]
    else:
        integers = [begin, node(op, ["x_q", "w", "rs", "ws", "rz", "wz"], ["y"], **MICROSOFT)]
        plain.append(node("MatMul", ["a", "b"], ["y"]))
    made = []
    for nodes in (integers, plain):
        read = {name for n in nodes for name in n.input}
        data = model(nodes, {"x": x}, {name: a for name, a in ROWS.items() if name in read})
        made.append(gradients(mx.onnx.load(data).to_block(), x))
        np.testing.assert_allclose(made[-1][0], ours(data, {"x": x})[0], rtol=1e-5, atol=0.051)
    for one, other in zip(*made):
        if isinstance(one, dict):
            assert sorted(one) == sorted(other) == ["w"]
            one, other = one["w"], other["w"]
        assert np.abs(one).max() > 0
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind, block", [
    ("FLOAT8E4M3FN", 0), ("FLOAT8E5M2", 0), ("INT4", 0), ("UINT4", 0), ("FLOAT8E4M3FN", 2), ("INT8", 2)])
def test_data_in_few_bits_learns(kind, block):
    """Gradients pass what was rounded, and are 0 where it was cut."""
    h = onnx.helper
    x, og = 6 * floats(4, 6), floats(4, 6)
    scale = np.full((4, 3), 0.1, "f") if block else np.array(0.1, "f")
    if kind == "FLOAT8E5M2":
        scale = scale * np.float32(1e-5)    # so that some are cut
    if kind == "FLOAT8E4M3FN":
        scale = scale * np.float32(0.05)
    if kind == "INT8":
        scale = scale * np.float32(0.2)
    steps = {"axis": 1, "block_size": block} if block else {}
    data_type = getattr(onnx.TensorProto, kind)
    zero = h.make_tensor("z", data_type, scale.shape, np.full(scale.size, 8 if kind == "UINT4" else 0))
    graph = h.make_graph([h.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], **steps),
                          h.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], **steps)], "g",
                         [h.make_tensor_value_info("x", 1, [4, 6])], [h.make_tensor_value_info("y", 1, [4, 6])],
                         [onnx.numpy_helper.from_array(scale, "s"), zero])
    data = h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10).SerializeToString()
    (want,) = ours(data, {"x": x})
    y, gx, _ = gradients(mx.onnx.load(data).to_block(), x, og)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
    most = np.abs(want).max()
    inside = np.abs(x) < 0.8 * most
    np.testing.assert_array_equal(gx[inside], og[inside])
    outside = np.abs(x) > 1.1 * most
    assert outside.any() and (gx[outside] == 0).all()


def test_integers_that_gradients_do_not_pass_are_named():
    x = floats(2, 6)
    weights = {**STEPS, "w": WEIGHTS["w"], "ws": WEIGHTS["ws"], "wz": WEIGHTS["wz"], "r": np.array([[0.02], [0.03]], "f"),
               "rz": np.array([[120], [90]], "u1")}
    nodes = [node("QuantizeLinear", ["x", *X], ["x_q"]),
             node("QLinearMatMul", ["x_q", "r", "rz", "w", "ws", "wz", *Y], ["y_q"], name="product"), there("y_q", Y, "y")]
    read = {name for n in nodes for name in n.input}
    data = model(nodes, {"x": x}, {name: a for name, a in weights.items() if name in read})
    assert np.isfinite(ours(data, {"x": x})[-1]).all()
    text = "node product .QLinearMatMul. computes with integers whose scales .* accepted: calls of the model"
    with pytest.raises(mx.MXNetError, match=text):
        mx.onnx.load(data).to_block()


def test_sums_of_integers_without_their_scales_are_named():
    x = floats(2, 6)
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("MatMulInteger", ["q", "w", "z"], ["p"], name="sums"),
             node("Cast", ["p"], ["y"], to=1)]
    with pytest.raises(mx.MXNetError, match="node sums .*MatMulInteger.*gradients do not pass them, so the model is no block"):
        mx.onnx.load(model(nodes, {"x": x}, {"w": WEIGHTS["w"]})).to_block()


def in_steps(x):
    """What is left of data by its own range, and where it was not cut."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32((high - low) / 255)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    q = np.rint(x / scale) + zero
    return ((np.clip(q, 0, 255) - zero) * scale).astype("f"), (q >= 0) & (q <= 255)


def test_numbers_that_are_read_in_other_steps_pass_gradients_on():
    """They were rounded in the steps of one scale, and stand for what another says."""
    x = floats(2, 6)
    nodes = [node("QuantizeLinear", ["x", *X], ["x_q"]), there("x_q", ["s", "z"], "y")]
    data = model(nodes, {"x": x}, {"xs": STEPS["xs"], "xz": STEPS["xz"], "s": np.array(0.06, "f"), "z": np.array(100, "u1")})
    y, gx, _ = gradients(mx.onnx.load(data).to_block(), x)
    np.testing.assert_array_equal(y, ours(data, {"x": x})[0])
    np.testing.assert_allclose(gx, np.full_like(x, 3), rtol=1e-5)


def dynamic(kind):
    """A layer that finds the range of its data, with its weight in 8 bits."""
    if kind == "MatMulInteger":
        return [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("MatMulInteger", ["q", "w", "z", "wz"], ["p"]),
                node("Cast", ["p"], ["f"], to=1), node("Mul", ["s", "ws"], ["both"]), node("Mul", ["f", "both"], ["r"]),
                node("Add", ["r", "b"], ["y"])]
    if kind == "DynamicQuantizeMatMul":
        return [node(kind, ["x", "w", "ws", "wz", "b"], ["y"], **MICROSOFT)]
    return [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
            node(kind, ["q", "w", "s", "ws", "z", "wz", "b"], ["y"], **MICROSOFT)]


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("kind", ["MatMulInteger", "DynamicQuantizeMatMul", "MatMulIntegerToFloat"])
def test_layers_that_find_the_range_of_their_data_learn(kind, each, tmp_path):
    """The data is rounded, and gradients pass that, in front of the layer and to its weight."""
    scale = WEIGHTS["ts"] if each else WEIGHTS["ws"]
    weights = {"w": WEIGHTS["w"], "ws": scale, "wz": np.zeros(scale.shape, "i1"), "b": floats(5)}
    x, og = floats(4, 6), floats(4, 5)
    data = model(dynamic(kind), {"x": x}, weights)
    block = mx.onnx.load(data).to_block(shapes={"x": (4, 6)})
    y, gx, gw = gradients(block, x, og)
    np.testing.assert_allclose(y, ours(data, {"x": x})[0], rtol=1e-4, atol=1e-5)
    rounded, inside = in_steps(x)
    w = weights["w"].astype("f") * scale
    np.testing.assert_allclose(y, rounded @ w + weights["b"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gx, og @ w.T * inside, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gw["w"], rounded.T @ og, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gw["b"], og.sum(0), rtol=1e-5, atol=1e-6)
    path = mx.onnx.export_model(block, in_shapes=[(4, 6)], onnx_file_path=str(tmp_path / "again.onnx"))
    assert {"DynamicQuantizeLinear", "DequantizeLinear"} <= set(operators(path))
    np.testing.assert_allclose(run(path, [x], exact=True)[0], y, atol=0.02)   # theirs may round on the other side of a tie


# What stands behind a convolution's Cast, from "f" to "y". The scales are those of the data ("s")
# and of the weight: "ws" one number, "ts" one for each filter, "tk" the same in front of the axes
# of the image, "sk" and "so" times the scale of the data.
BEHIND = {
    "both": [node("Mul", ["s", "ws"], ["both"]), node("Mul", ["f", "both"], ["y"])],
    "a scale for each filter": [node("Mul", ["tk", "s"], ["both"]), node("Mul", ["both", "f"], ["y"])],
    "one behind the other": [node("Mul", ["f", "s"], ["g"]), node("Mul", ["g", "tk"], ["y"])],
    "the weight's first": [node("Mul", ["f", "tk"], ["g"]), node("Mul", ["s", "g"], ["y"])],
    "in another shape": [node("Mul", ["s", "ts"], ["v"]), node("Reshape", ["v", "rs"], ["both"]), node("Mul", ["f", "both"], ["y"])],
    "with more axes": [node("Unsqueeze", ["ts", "ax"], ["v"]), node("Mul", ["s", "v"], ["both"]), node("Mul", ["f", "both"], ["y"])],
    "known data": [node("Mul", ["f", "sk"], ["y"])],
    "known data, one scale": [node("Mul", ["f", "so"], ["y"])],
}


@pytest.mark.parametrize("behind", BEHIND)
def test_a_convolution_of_integers_with_scales_behind_it_learns(behind, tmp_path):
    known = "known" in behind
    scale = WEIGHTS["ws"] if behind in ("both", "known data, one scale") else WEIGHTS["ks"]
    made = [node("QuantizeLinear", ["x", "s", "z"], ["q"]) if known else node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
            node("ConvInteger", ["q", "k", "z"], ["p"], pads=[1, 1, 1, 1]), node("Cast", ["p"], ["f"], to=1), *BEHIND[behind]]
    x, step = floats(2, 3, 4, 4), np.float32(0.02)
    constants = {"k": WEIGHTS["k"], "ws": scale, "ts": scale, "tk": scale.reshape(-1, 1, 1), "sk": scale.reshape(1, -1, 1, 1) * step,
                 "so": scale * step, "rs": np.array([1, -1, 1, 1]), "ax": np.array([1, 2])}
    if known:
        constants.update(s=step, z=np.array(120, "u1"))
    read = {name for n in made for name in n.input}
    data = model(made, {"x": x}, {name: np.asarray(a) for name, a in constants.items() if name in read})
    block = mx.onnx.load(data).to_block()
    y, gx, gw = gradients(block, x)
    np.testing.assert_allclose(y, ours(data, {"x": x})[0], rtol=1e-4, atol=1e-5)
    kernel = mx.nd.array(WEIGHTS["k"].astype("f") * scale.reshape(-1, 1, 1, 1))
    rounded, inside = in_steps(x)
    if known:
        numbers = np.rint(x / step) + 120
        inside, rounded = (numbers >= 0) & (numbers <= 255), (np.clip(numbers, 0, 255) - 120).astype("f") * step
    plain = mx.nd.array(rounded)
    plain.attach_grad(), kernel.attach_grad()
    with autograd.record():
        want = mx.nd.Convolution(plain, kernel, num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=True)
    want.backward()
    np.testing.assert_allclose(y, want.asnumpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gx, plain.grad.asnumpy() * inside, rtol=1e-4, atol=1e-4)
    assert list(gw) == ["k"]
    np.testing.assert_allclose(gw["k"], kernel.grad.asnumpy(), rtol=1e-4, atol=1e-4)
    path = mx.onnx.export_model(block, in_shapes=[x.shape], onnx_file_path=str(tmp_path / "again.onnx"))
    assert "DequantizeLinear" in operators(path)
    np.testing.assert_allclose(run(path, [x], exact=True)[0], y, atol=0.02)   # theirs may round on the other side of a tie


@pytest.mark.parametrize("shape", [(4,), (4, 1), (2, 1, 1, 1), (2, 1, 1, 1, 1)])
def test_scales_that_are_none_of_the_filters_are_an_error(shape):
    """A vector along the width, for instance."""
    made = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("ConvInteger", ["q", "k", "z"], ["p"], pads=[1, 1, 1, 1]),
            node("Cast", ["p"], ["f"], to=1), node("Mul", ["s", "ts"], ["both"]), node("Mul", ["f", "both"], ["y"])]
    data = model(made, {"x": floats(2, 3, 4, 4)}, {"k": WEIGHTS["k"][:2], "ts": floats(*shape)})
    with pytest.raises(mx.MXNetError, match="ConvInteger.*whose scales"):
        mx.onnx.load(data).to_block()


def test_products_of_two_arrays_of_integers_learn():
    """Both find their range, as in attention of quantize_dynamic; one is moved before."""
    made = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("Transpose", ["w"], ["t"], perm=[0, 2, 1]),
            node("DynamicQuantizeLinear", ["t"], ["r", "u", "v"]), node("Transpose", ["r"], ["rt"], perm=[0, 2, 1]),
            node("MatMulInteger", ["q", "rt", "z", "v"], ["p"]), node("Cast", ["p"], ["f"], to=1), node("Mul", ["s", "u"], ["both"]),
            node("Mul", ["f", "both"], ["y"])]
    feeds = {"x": floats(2, 3, 6), "w": floats(2, 6, 5)}
    data, og = model(made, feeds, {}), floats(2, 3, 5)
    given = [mx.nd.array(a) for a in feeds.values()]
    for a in given:
        a.attach_grad()
    with autograd.record():
        y = mx.onnx.load(data).to_block()(*given)
    y.backward(mx.nd.array(og))
    np.testing.assert_allclose(y.asnumpy(), ours(data, feeds)[0], rtol=1e-4, atol=1e-5)
    (a, a_inside), (b, b_inside) = (in_steps(v) for v in feeds.values())
    np.testing.assert_allclose(given[0].grad.asnumpy(), og @ b.transpose(0, 2, 1) * a_inside, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(given[1].grad.asnumpy(), a.transpose(0, 2, 1) @ og * b_inside, rtol=1e-4, atol=1e-5)


def test_rows_of_a_table_that_are_moved_before_they_become_floats():
    """As in front of an LSTM of onnxruntime's quantize_dynamic."""
    made = [node("Gather", ["e", "i"], ["g"]), node("Transpose", ["g"], ["t"], perm=[1, 0, 2]), there("t", X, "y")]
    ids = np.array([[1, 6, 1], [0, 1, 3]])
    weights = {"e": WEIGHTS["e"], "xs": STEPS["xs"], "xz": STEPS["xz"]}
    # something is rounded, so that the table is, too
    made += [node("DynamicQuantizeLinear", ["y"], ["q", "s", "z"]), there("q", ["s", "z"], "y2")]
    data = model(made, {"i": ids}, weights)
    block = mx.onnx.load(data).to_block()
    with autograd.record():
        y, _ = block(mx.nd.array(ids, dtype="int64"))
    og = floats(3, 2, 6)
    y.backward(mx.nd.array(og))
    np.testing.assert_array_equal(y.asnumpy(), ours(data, {"i": ids})[0])
    want = np.zeros((7, 6), "f")
    np.add.at(want, ids, og.transpose(1, 0, 2))
    (p,) = [p for p in block.collect_params().values() if p.grad_req != "null"]
    np.testing.assert_allclose(p.grad().asnumpy(), want, rtol=1e-5, atol=1e-6)


def packed(numbers, bits):
    """Numbers in the order of their bits, the low ones first."""
    each = 8 // bits
    numbers = numbers.reshape(*numbers.shape[:-1], -1, each).astype("u1")
    return sum(numbers[..., i] << (i * bits) for i in range(each)).astype("u1")


@pytest.mark.parametrize("bits, zeros, order", [(2, False, False), (4, True, False), (4, False, True), (8, True, False)])
def test_weights_of_few_bits_are_trained_as_floats(bits, zeros, order, tmp_path):
    n, k, block = 5, 32, 16
    numbers, scales = RANDOM.randint(0, 1 << bits, (n, k)), np.abs(floats(n, 2)) + np.float32(0.1)
    zero = RANDOM.randint(0, 1 << bits, (n, 8 // bits if bits < 8 else 2)) if zeros else np.full((n, 2), 1 << (bits - 1))
    groups = RANDOM.permutation(np.repeat([0, 1], 16)) if order else np.repeat([0, 1], 16)
    weights = {"w": packed(numbers, bits).reshape(n, 2, -1), "s": scales.ravel(), "c": floats(n)}
    if zeros:
        weights["z"] = packed(zero, bits).ravel()
    if order:
        weights["g"] = groups.astype("i4")
    names = ["x", "w", "s", "z" if zeros else "", "g" if order else "", "c"]
    made = node("MatMulNBits", names, ["y"], K=k, N=n, bits=bits, block_size=block, **MICROSOFT)
    x, og = floats(3, k), floats(3, n)
    data = model([made], {"x": x}, weights)
    block = mx.onnx.load(data).to_block()
    w = ((numbers - zero[:, groups]) * scales[:, groups]).astype("f")
    y, gx, gw = gradients(block, x, og)
    np.testing.assert_allclose(y, x @ w.T + weights["c"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gx, og @ w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gw["w"], og.T @ x, rtol=1e-4, atol=1e-5)
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1})
    trainer.step(1)
    moved = block(mx.nd.array(x)).asnumpy()
    np.testing.assert_allclose(moved, x @ (w - 0.1 * gw["w"]).T + weights["c"] - 0.1 * og.sum(0), rtol=1e-3, atol=1e-3)
    block.save_parameters(str(tmp_path / "trained.params"))
    again = mx.onnx.load(data).to_block()
    again.load_parameters(str(tmp_path / "trained.params"))
    np.testing.assert_array_equal(again(mx.nd.array(x)).asnumpy(), moved)


def test_zero_points_that_do_not_fit():
    weights = {"w": whole("u1", 5, 2, 8), "s": floats(10), "z": floats(7)}
    made = node("MatMulNBits", ["x", "w", "s", "z"], ["y"], K=32, N=5, bits=4, block_size=16, **MICROSOFT)
    with pytest.raises(mx.MXNetError, match=r"MatMulNBits.*shape \(7,\)"):
        mx.onnx.load(model([made], {"x": floats(1, 32)}, weights)).to_block()


def test_a_table_of_few_bits_is_trained_as_floats():
    numbers, scales = RANDOM.randint(0, 16, (7, 32)), np.abs(floats(7, 2))
    made = node("GatherBlockQuantized", ["t", "i", "s"], ["y"], block_size=16, bits=4, **MICROSOFT)
    ids = np.array([[0, 6], [3, 6]])
    data = model([made], {"i": ids}, {"t": packed(numbers, 4), "s": scales})
    block = mx.onnx.load(data).to_block()
    table = ((numbers - 8) * np.repeat(scales, 16, 1)).astype("f")
    with autograd.record():
        y = block(mx.nd.array(ids, dtype="int64"))
    og = floats(2, 2, 32)
    y.backward(mx.nd.array(og))
    np.testing.assert_allclose(y.asnumpy(), table[ids], rtol=1e-5, atol=1e-6)
    want = np.zeros((7, 32), "f")
    np.add.at(want, ids, og)
    (p,) = [p for p in block.collect_params().values() if p.grad_req != "null"]
    np.testing.assert_allclose(p.grad().asnumpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_weights_of_4_bits_in_front_of_a_product(turned):
    """DequantizeLinear of blocks, also through a Transpose."""
    numbers, scales = RANDOM.randint(-8, 8, (32, 5)), np.abs(floats(2, 5)) + np.float32(0.1)
    h = onnx.helper
    stored = numbers.T if turned else numbers
    constants = [h.make_tensor("w", onnx.TensorProto.INT4, stored.shape, stored.ravel()),
                 onnx.numpy_helper.from_array(scales.T.copy() if turned else scales, "s")]
    nodes = [h.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=1 if turned else 0, block_size=16)]
    nodes += [h.make_node("Transpose", ["f"], ["t"], perm=[1, 0])] if turned else []
    nodes.append(h.make_node("MatMul", ["x", nodes[-1].output[0]], ["y"]))
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, [3, 32])], [h.make_tensor_value_info("y", 1, [3, 5])], constants)
    data = h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10).SerializeToString()
    x, og = floats(3, 32), floats(3, 5)
    y, gx, gw = gradients(mx.onnx.load(data).to_block(), x, og)
    w = (numbers * np.repeat(scales, 16, 0)).astype("f")
    np.testing.assert_allclose(y, x @ w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gx, og @ w.T, rtol=1e-4, atol=1e-4)
    (grad,) = gw.values()
    want = x.T @ og
    np.testing.assert_allclose(grad, want if grad.shape == want.shape else want.T, rtol=1e-4, atol=1e-5)


def test_an_lstm_of_bytes_is_trained_as_floats():
    made = node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"], ["y"], hidden_size=6, **MICROSOFT)
    weights = {"w": whole("i1", 1, 8, 24), "r": whole("i1", 1, 6, 24), "b": floats(1, 48)}
    for name in "wr":
        weights.update({name + "s": np.full(1, 0.005, "f4"), name + "z": np.zeros(1, "i1")})
    x = floats(4, 2, 8)
    data = model([made], {"x": x}, weights)
    block = mx.onnx.load(data).to_block()
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), ours(data, {"x": x})[0], atol=0.02)
    trainer = gluon.Trainer(block.collect_params(), "adam", {"learning_rate": 0.05})
    goal, losses = mx.nd.array(np.tanh(floats(4, 1, 2, 6))), []
    for _ in range(20):
        with autograd.record():
            loss = ((block(mx.nd.array(x)) - goal) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss.asscalar()))
    assert losses[-1] < 0.5 * losses[0]
