"""Kernels pack weights of a file part by part: they are never as a whole in memory beside their
packed form. What else a plan takes beside its arena: kernels' workspace, and pages of weights."""
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from memory_checks import figures
from processor import has_amx

pytestmark = pytest.mark.cpu


def _save(path, nodes, constants, shape, last):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def _answer(model, x):
    return next(iter(model.run({"x": x}).values())).asnumpy()


@pytest.mark.parametrize("outputs", (1, 15, 16, 17, 33, 48, 100, 515))
@pytest.mark.parametrize("inputs", (1300, 2049))
@pytest.mark.parametrize("turned", (False, True))   # the file has a row of weights for each input
def test_dense(outputs, inputs, turned, tmp_path):
    rng = np.random.RandomState(outputs)
    w, b = rng.randn(outputs, inputs).astype("float32"), rng.randn(outputs).astype("float32")
    path = str(tmp_path / "m.onnx")
    _save(path, [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=int(not turned))],
          {"w": np.ascontiguousarray(w.T) if turned else w, "b": b}, ["n", inputs], "y")
    model = mx.onnx.load(path)
    for rows in (1, 40):
        x = rng.randn(rows, inputs).astype("float32")
        np.testing.assert_allclose(_answer(model, x), x.astype("float64") @ w.T.astype("float64") + b, rtol=1e-3, atol=2e-3)


CONVOLUTIONS = [  # filters, channels, window, stride, size
    (40, 64, 3, 1, 24), (64, 64, 3, 1, 56), (100, 96, 3, 1, 14), (512, 512, 3, 1, 8),   # tiles, of few and of many bytes
    (48, 40, 5, 1, 20), (96, 64, 3, 2, 24), (33, 72, 5, 2, 24), (130, 96, 1, 1, 24), (50, 33, 3, 1, 9)]


@pytest.mark.parametrize("filters, channels, window, stride, size", CONVOLUTIONS)
def test_convolutions(filters, channels, window, stride, size, tmp_path):
    """Numbers are those of an array that never lay in a file, up to how sums are ordered."""
    rng = np.random.RandomState(filters)
    w = (rng.randn(filters, channels, window, window) / np.sqrt(channels * window * window)).astype("float32")
    x = rng.randn(1, channels, size, size).astype("float32")
    path = str(tmp_path / "m.onnx")
    pad = window // 2
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride] * 2, pads=[pad] * 4), helper.make_node("Relu", ["y"], ["z"])]
    _save(path, nodes, {"w": w}, [1, channels, size, size], "z")
    want = mx.nd.Convolution(mx.nd.array(x), mx.nd.array(w), num_filter=filters, kernel=(window,) * 2, stride=(stride,) * 2,
                             pad=(pad,) * 2, no_bias=True).relu().asnumpy()
    model = mx.onnx.load(path)
    for _ in range(2):
        np.testing.assert_allclose(_answer(model, x), want, rtol=1e-3, atol=1e-3)


def _tiles(path, filters, channels, size, bits=False):
    """A convolution by tiles behind a small one, since the first of a graph is a library's; in
    float32 the weights are numbers of bfloat16. `bits`: the file has them in 16 bits."""
    rng = np.random.RandomState(filters)
    e, w = rng.randn(channels, 16, 1, 1) / 4, rng.randn(filters, channels, 3, 3) / np.sqrt(channels * 9)
    weights = {k: mx.nd.array(v).astype("bfloat16").astype("float32").asnumpy() for k, v in (("e", e), ("w", w))}
    nodes = [helper.make_node("Cast", ["w"], ["v"], to=TensorProto.FLOAT)] * bits
    nodes += [helper.make_node("Conv", ["x", "e"], ["y"]), helper.make_node("Relu", ["y"], ["z"]),
              helper.make_node("Conv", ["z", "v" if bits else "w"], ["out"], pads=[1] * 4)]
    _save(path, nodes, weights, [1, 16, size, size], "out")
    if bits:
        made = onnx.load(path)
        raw = (weights["w"].view("uint32") >> 16).astype("uint16").tobytes()
        made.graph.initializer[1].CopyFrom(helper.make_tensor("w", TensorProto.BFLOAT16, w.shape, raw, raw=True))
        onnx.save(made, path)
    return weights


@pytest.mark.parametrize("bits", (False, True))
@pytest.mark.parametrize("filters, channels, size", [(40, 64, 24), (100, 96, 24), (512, 512, 28), (33, 48, 24)])
def test_tiles_in_bfloat16(filters, channels, size, bits, tmp_path):
    """A part is read in the dtype of the file, rounded, and widened for tiles in float32."""
    path = str(tmp_path / "m.onnx")
    weights = {k: mx.nd.array(v) for k, v in _tiles(path, filters, channels, size, bits).items()}
    x = np.random.RandomState(0).randn(1, 16, size, size).astype("float32")
    middle = mx.nd.Convolution(mx.nd.array(x), weights["e"], num_filter=channels, kernel=(1, 1), no_bias=True).relu()
    want = mx.nd.Convolution(middle, weights["w"], num_filter=filters, kernel=(3, 3), pad=(1, 1), no_bias=True).asnumpy()
    model = mx.onnx.load(path, precision="bfloat16")
    for _ in range(2):
        np.testing.assert_allclose(_answer(model, x), want, rtol=0, atol=0.02 * np.abs(want).max())
    if filters == 512:
        expected = "packed implicit GEMM" if has_amx() else "Winograd"
        assert expected in str([n["ran"] for n in model.explain(runs=1).plans[0].plan["nodes"]])


def _bytes(path, filters, channels, window, stride, size):
    """A convolution of bytes behind one that repeats four channels, since the first of a graph is a
    library's; its weights, and what one step of its result is."""
    rng = np.random.RandomState(filters)
    w = rng.randint(-127, 128, (filters, channels, window, window)).astype("int8")
    scales = rng.uniform(0.002, 0.01, filters).astype("float32")
    step = np.float32(scales.mean() * 60 * window * np.sqrt(channels) / 20)
    first = np.eye(4, dtype="int8")[np.arange(channels) % 4].reshape(channels, 4, 1, 1)
    constants = {"one": np.float32(1), "seven": np.uint8(7), "zero": np.int8(0), "first": first, "w": w, "scales": scales,
                 "zeros": np.zeros(filters, "int8"), "step": step, "middle": np.uint8(128)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "one", "seven"], ["q"]),
             helper.make_node("DequantizeLinear", ["q", "one", "seven"], ["d"]),
             helper.make_node("DequantizeLinear", ["first", "one", "zero"], ["f"]), helper.make_node("Conv", ["d", "f"], ["a"]),
             helper.make_node("QuantizeLinear", ["a", "one", "seven"], ["b"]),
             helper.make_node("DequantizeLinear", ["b", "one", "seven"], ["c"]),
             helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["v"], axis=0),
             helper.make_node("Conv", ["c", "v"], ["y"], strides=[stride] * 2, pads=[window // 2] * 4),
             helper.make_node("QuantizeLinear", ["y", "step", "middle"], ["r"]),
             helper.make_node("DequantizeLinear", ["r", "step", "middle"], ["out"])]
    _save(path, nodes, constants, [1, 4, size, size], "out")
    return w, scales, step


@pytest.mark.parametrize("filters, channels, window, stride, size", [
    (40, 520, 1, 1, 7), (131, 260, 1, 1, 9), (16, 1024, 1, 1, 4),    # products of pixels, with and without half a pair of panels
    (33, 72, 3, 1, 13), (100, 96, 3, 1, 14), (256, 256, 3, 1, 8),    # tiles of both sizes
    (50, 68, 3, 2, 14), (33, 40, 5, 1, 9)])
def test_bytes(filters, channels, window, stride, size, tmp_path):
    path = str(tmp_path / "m.onnx")
    w, scales, step = _bytes(path, filters, channels, window, stride, size)
    x = np.random.RandomState(1).randint(-7, 60, (1, 4, size, size)).astype("float32")
    repeated = np.tile(x, (1, channels // 4, 1, 1))
    data, weight = (mx.nd.array(a, dtype="float64") for a in (repeated, w))
    sums = mx.nd.Convolution(data, weight, num_filter=filters, kernel=(window,) * 2, stride=(stride,) * 2, pad=(window // 2,) * 2,
                             no_bias=True).asnumpy()
    want = np.clip(np.rint(sums * scales.reshape(1, -1, 1, 1) / step), -128, 127)
    model = mx.onnx.load(path)
    for _ in range(2):
        far = np.abs(np.rint(_answer(model, x) / step) - want)
        assert far.max() <= 1 and (far > 0).mean() < 1e-3   # ties


@pytest.mark.skipif("ONEDNN_MAX_CPU_ISA" in os.environ, reason="the level is given")
def test_bytes_without_their_instructions():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "test_bytes"]
    done = subprocess.run(command, env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]


def test_a_file_that_changes_between_parts_is_an_error(tmp_path):
    path = tmp_path / "m.onnx"
    w = np.ones((512, 2048), "float32")
    _save(str(path), [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": w}, ["n", 2048], "y")
    model = mx.onnx.load(str(path))
    with open(path, "r+b") as f:
        f.truncate(1 << 20)
    with pytest.raises(OSError, match="has changed since it was opened"):
        _answer(model, np.ones((1, 2048), "float32"))


PEAK = r"""
model = mx.onnx.load(sys.argv[1], precision="bfloat16" if "bfloat16" in sys.argv[1] else None)
x = np.ones([d if isinstance(d, int) else 1 for d in model.inputs[0].shape], "float32")
next(iter(model.run({"x": x}).values())).asnumpy()
print(resident("VmHWM") - before, mx.storage.stats(mx.cpu()).cached_bytes / 2 ** 20)
"""


@pytest.mark.parametrize("kind", ("dense", "turned", "convolution"))
def test_a_large_weight_is_in_memory_once(kind, tmp_path):
    path = str(tmp_path / "m.onnx")
    if kind == "dense":   # 60 MiB
        _save(path, [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)],
              {"w": np.full((1024, 15360), 0.5, "float32")}, ["n", 15360], "y")
    elif kind == "turned":
        _save(path, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": np.full((15360, 1024), 0.5, "float32")}, ["n", 15360], "y")
    else:                 # 72 MiB, which packed products keep as they are
        _save(path, [helper.make_node("Conv", ["x", "w"], ["y"], strides=[2, 2], pads=[1] * 4)],
              {"w": np.full((2048, 1024, 3, 3), 0.5, "float32")}, [1, 1024, 10, 10], "y")
    peak, _ = figures(path, PEAK)
    assert 50 < peak < 110


def test_a_large_weight_of_bytes_is_in_memory_once(tmp_path):
    path = str(tmp_path / "m.onnx")   # 48 MiB
    _bytes(path, 24576, 2048, 1, 1, 3)
    peak, _ = figures(path, PEAK)
    assert 45 < peak < 75


@pytest.mark.parametrize("bits", (False, True))
def test_weights_for_tiles_are_never_there_in_float32(bits, tmp_path):
    """They take 36 MiB in float32. Their form takes 18 for matrix tiles, else 72 or 108: numbers of
    two bytes or of three."""
    path = str(tmp_path / "bfloat16.onnx")
    _tiles(path, 1024, 1024, 28, bits)
    peak, steady = figures(path, PEAK + "print(resident('VmRSS') - before)")[::2]
    assert 18 < peak < 45 if has_amx() else 70 < peak < 145
    assert peak < steady + 18


def _layers(path, sizes):
    """Convolutions of images by tiles, of ever larger ones."""
    rng = np.random.RandomState(3)
    nodes, constants, x = [], {}, "x"
    for i, size in enumerate(sizes):
        constants[f"w{i}"] = (rng.randn(256, 256, 3, 3) / 48).astype("float32")
        nodes += [helper.make_node("Conv", [x, f"w{i}"], [f"y{i}"], pads=[1] * 4)]
        x = f"y{i}"
        if i + 1 < len(sizes):
            constants[f"s{i}"] = np.array([1, 256, sizes[i + 1], sizes[i + 1]], "int64")
            nodes.append(helper.make_node("Resize", [x, "", "", f"s{i}"], [f"z{i}"], mode="nearest"))
            x = f"z{i}"
    _save(path, nodes, constants, [1, 256, sizes[0], sizes[0]], x)


def test_workspace_of_growing_layers_is_that_of_the_largest(tmp_path):
    path = str(tmp_path / "m.onnx")
    _layers(path, [56])
    _, one = figures(path, PEAK)
    _layers(path, [24, 32, 40, 48, 56])
    _, several = figures(path, PEAK)
    assert 2 < one and several < 1.2 * one


HUGE = r"""
def huge():
    with open("/proc/self/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("AnonHugePages"))
model = mx.onnx.load(sys.argv[1])
x = np.ones((1, 256), "float32")
begin = huge()
next(iter(model.run({"x": x}).values())).asnumpy()
print(huge() - begin)
"""


def test_small_weights_fill_no_huge_page(tmp_path):
    path = str(tmp_path / "m.onnx")
    _save(path, [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": np.ones((256, 256), "float32")}, ["n", 256], "y")
    more, = figures(path, HUGE)
    assert more < 2048


TWICE = r"""
model = mx.onnx.load(sys.argv[1])
for rows in (32, 1, 2):
    next(iter(model.run({"x": np.ones((rows, 512), "float32")}).values())).asnumpy()
    print(resident("RssAnon"))
"""


@pytest.mark.parametrize("turned", (False, True))
def test_a_large_layer_has_one_form_for_prompts_and_steps(turned, tmp_path):
    """The last layer of a language model is not read as it lies beside its packed form."""
    path, w = str(tmp_path / "m.onnx"), np.ones((512, 40000), "float32")
    _save(path, [helper.make_node("Gemm", ["x", "w"], ["y"], transB=int(turned))], {"w": w.reshape(40000, 512) if turned else w},
          ["n", 512], "y")
    prompt, step, more = figures(path, TWICE)
    assert max(step, more) < prompt + w.nbytes / 2**20 / 3
