"""ONNX files that were imported as blocks, written again: what ONNX Runtime computes with the new
file is what the block computes, and what the old file gave."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, model, node, theirs
from onnx_checks import onnx, operators, run

RANDOM = np.random.RandomState(3)


def whole(dtype, *shape):
    range_ = np.iinfo(dtype)
    return RANDOM.randint(range_.min, range_.max + 1, shape).astype(dtype)


def floats(*shape):
    return RANDOM.randn(*shape).astype("float32")


def numbers(**values):
    """Scales, which are floats, and zero points, which have a dtype."""
    return {name: np.array(v, "float32") if isinstance(v, float) else np.array(*v) for name, v in values.items()}


def written_again(nodes, feeds, weights, folder, atol=1e-5, old=True):
    """The operators of a model that went through a block; `atol` is of results of 8 bits too."""
    data = model(nodes if isinstance(nodes, list) else [nodes], feeds, weights)
    loaded = mx.onnx.load(data)
    block = loaded.to_block(shapes={name: a.shape for name, a in feeds.items()})
    block.hybridize()
    given = [feeds[i.name] for i in loaded.inputs]
    ours = block(*(mx.nd.array(a, dtype=a.dtype) for a in given))
    ours = [o.asnumpy() for o in (ours if isinstance(ours, (list, tuple)) else [ours])]
    path = mx.onnx.export_model(block, onnx_file_path=str(folder / "again.onnx"))
    again = run(path, given, exact=True)
    for one, other in zip(ours, again):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=1e-5, atol=atol)
    for one, other in zip(theirs(data, feeds), again) if old else ():
        np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=1e-5, atol=atol)
    return operators(path)


AFFINE = numbers(a=0.02, b=0.03, ys=0.5, xz=(120, "u1"), yz=(100, "u1"))


@pytest.mark.parametrize("zeros", [(0, "i1"), (7, "i1"), ([3, -2, 0, 5], "i1")])
@pytest.mark.parametrize("group", [1, 2])
def test_convolutions_of_bytes(zeros, group, tmp_path):
    wz = np.array(*zeros)
    scales = np.array([0.03, 0.02, 0.01, 0.04], "f4") if wz.ndim else np.array(0.03, "f4")
    weights = {**AFFINE, "b": scales, "w": whole("i1", 4, 4 // group, 3, 3), "wz": wz, "c": whole("i1", 4).astype("i4")}
    made = node("QLinearConv", ["x", "a", "xz", "w", "b", "wz", "ys", "yz", "c"], ["y"], group=group, pads=[1, 1, 0, 1], strides=[2, 1])
    assert "Conv" in written_again(made, {"x": whole("u1", 2, 4, 7, 6)}, weights, tmp_path, atol=1)


def test_sums_of_convolutions_and_products_stay_integers(tmp_path):
    weights = {"w": whole("i1", 4, 4, 3, 3), "xz": np.array(3, "u1")}
    assert written_again(node("ConvInteger", ["x", "w", "xz"], ["y"]), {"x": whole("u1", 2, 4, 7, 6)}, weights, tmp_path) == ["ConvInteger"]
    weights = {"w": whole("u1", 300, 6), "xz": np.array(120, "u1"), "wz": np.array(100, "u1")}
    made = node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"])
    assert "MatMulInteger" in written_again(made, {"x": whole("u1", 2, 5, 300)}, weights, tmp_path)


@pytest.mark.parametrize("wz", [(130, "u1"), ([3, -2, 0, 5, 1, 9], "i1")])
def test_dense_layers_of_bytes(wz, tmp_path):
    weights = {**AFFINE, "w": whole(wz[1], 8, 6), "wz": np.array(*wz)}
    if weights["wz"].ndim:
        weights["b"] = np.linspace(0.01, 0.03, 6, dtype="f4")
    names = ["x", "a", "xz", "w", "b", "wz"]
    written_again(node("QLinearMatMul", names + ["ys", "yz"], ["y"]), {"x": whole("u1", 2, 5, 8)}, weights, tmp_path, atol=1)
    made = node("MatMulIntegerToFloat", ["x", "w", "a", "b", "xz", "wz", "c"], ["y"], **MICROSOFT)
    written_again(made, {"x": whole("u1", 2, 5, 8)}, {**weights, "c": floats(6)}, tmp_path, atol=1e-3)


def test_products_of_two_arrays_of_bytes(tmp_path):
    feeds = {"x": whole("u1", 2, 5, 8), "w": whole("u1", 2, 8, 6)}
    weights = {**AFFINE, "wz": np.array(90, "u1")}
    written_again(node("QLinearMatMul", ["x", "a", "xz", "w", "b", "wz", "ys", "yz"], ["y"]), feeds, weights, tmp_path, atol=1)


def test_sums_means_tables_and_windows_of_bytes(tmp_path):
    feeds, affine = {"x": whole("u1", 2, 3, 6, 6), "w": whole("u1", 2, 3, 6, 6)}, ["a", "xz"]
    for op in ("QLinearAdd", "QLinearMul"):
        made = node(op, ["x", *affine, "w", "b", "yz", "ys", "yz"], ["y"], **MICROSOFT)
        written_again(made, feeds, AFFINE, tmp_path, atol=1)
    made = node("QLinearGlobalAveragePool", ["x", *affine, "ys", "yz"], ["y"], **MICROSOFT)
    written_again(made, {"x": feeds["x"]}, {**AFFINE, "ys": np.array(0.01, "f4")}, tmp_path, atol=1)
    weights = {**AFFINE, "ys": np.array(1 / 256, "f4")}
    for kind in ("u1", "i1"):
        given = {"xz": np.array(3, kind), "yz": np.array(5, kind)}
        made = node("QLinearSigmoid", ["x", *affine, "ys", "yz"], ["y"], **MICROSOFT)
        written_again(made, {"x": whole(kind, 5, 8)}, {**weights, **given}, tmp_path, atol=1)
    made = node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    assert written_again(made, {"x": feeds["x"]}, {}, tmp_path, atol=0) == ["MaxPool"]


def test_layers_with_an_addend(tmp_path):
    """A residual block of a QDQ file: the sum is part of the convolution in our graph."""
    affine, weights = ["a", "xz"], {**AFFINE, "w": whole("i1", 4, 4, 1, 1), "wz": np.array(0, "i1"), "ys": np.array(2, "f4")}
    weights["c"] = np.array([100, -700, 3, 0], "i4")
    weights["cs"], weights["cz"] = weights["a"] * weights["b"], np.array(0, "i4")
    made = [node("DequantizeLinear", ["x", *affine], ["f"]), node("DequantizeLinear", ["w", "b", "wz"], ["g"]),
            node("DequantizeLinear", ["c", "cs", "cz"], ["bias"]), node("Conv", ["f", "g", "bias"], ["h"]),
            node("QuantizeLinear", ["h", "ys", "yz"], ["hq"]), node("DequantizeLinear", ["hq", "ys", "yz"], ["hf"]),
            node("Add", ["hf", "f"], ["s"]), node("Relu", ["s"], ["r"]), node("QuantizeLinear", ["r", "ys", "yz"], ["y"])]
    found = written_again(made, {"x": whole("u1", 2, 4, 5, 5)}, weights, tmp_path, atol=1)
    assert found.count("Conv") == 1


def test_bytes_by_the_range_of_data(tmp_path):
    made = node("DynamicQuantizeMatMul", ["x", "w", "s", "z", "b"], ["y"], **MICROSOFT)
    weights = {"w": whole("i1", 8, 6), "s": np.array(0.03, "f4"), "z": np.array(3, "i1"), "b": floats(6)}
    # onnxruntime rounds the data once more, in blocks, beside weights in 8 bits
    assert "DynamicQuantizeLinear" in written_again(made, {"x": floats(2, 5, 8)}, weights, tmp_path, atol=0.3)


@pytest.mark.parametrize("bits, zeros, bias", [(4, True, False), (4, False, True), (8, True, True), (2, False, False)])
def test_blocks_of_few_bits(bits, zeros, bias, tmp_path):
    weights = {"w": whole("u1", 5, 2, 4 * bits), "s": floats(10), "z": whole("u1", 5 * 2 * bits // 8 or 5), "c": floats(5)}
    if bits == 2:
        weights["z"] = whole("u1", 5)
    names = ["x", "w", "s", "z" if zeros else "", "", "c" if bias else ""]
    made = node("MatMulNBits", names, ["y"], K=64, N=5, bits=bits, block_size=32, **MICROSOFT)
    weights = {name: a for name, a in weights.items() if name in names}
    written_again(made, {"x": floats(2, 3, 64)}, weights, tmp_path, atol=1e-3, old=False)


@pytest.mark.parametrize("direction, lengths", [("forward", False), ("reverse", True), ("bidirectional", False)])
def test_lstm_of_bytes(direction, lengths, tmp_path):
    n = 2 if direction == "bidirectional" else 1
    made = node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "l" if lengths else "", "", "", "", "ws", "wz", "rs", "rz"],
                ["y", "y_h", "y_c"], hidden_size=6, direction=direction, **MICROSOFT)
    weights = {"w": whole("i1", n, 8, 24), "r": whole("i1", n, 6, 24), "b": floats(n, 48)}
    for name in ("w", "r"):
        weights.update({name + "s": np.full(n, 0.005, "f4"), name + "z": np.zeros(n, "i1")})
    if lengths:
        weights["l"] = np.array([4, 2], "i4")
    path, feeds = tmp_path / "lstm.onnx", {"x": floats(4, 2, 8)}
    path.write_bytes(model([made], feeds, weights))
    symbol, params = mx.onnx.load(str(path)).convert()    # a block has floats, which learn
    ours = [o.asnumpy() for o in mx.onnx.load(str(path))(feeds["x"])]
    again = mx.onnx.export_model(symbol, params, [(4, 2, 8)], onnx_file_path=str(tmp_path / "again.onnx"))
    assert "DynamicQuantizeLSTM" in operators(again)
    for one, other in zip(ours, theirs(again, feeds)):
        np.testing.assert_allclose(one, other, atol=0.05)     # theirs rounds states to 8 bits


def test_results_that_are_parameters(tmp_path):
    """The name of a parameter is none for an output, too."""
    data = mx.sym.var("data")
    weight = mx.sym.var("w")
    symbol = mx.sym.Group([mx.sym.broadcast_add(data, weight), weight])
    path = mx.onnx.export_model(symbol, {"w": mx.nd.ones((1, 3))}, [(2, 3)], onnx_file_path=str(tmp_path / "a.onnx"))
    outs = run(path, [np.zeros((2, 3), "f4")])
    assert [o.shape for o in outs] == [(2, 3), (1, 3)] and outs[1].min() == 1
    assert len({o.name for o in onnx.load(path).graph.output} & {"w"}) == 0
