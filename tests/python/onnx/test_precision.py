"""Products in bfloat16: mx.onnx.load(..., precision=)."""
import ctypes

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from memory_checks import figures
from mxnet.base import _LIB

pytestmark = pytest.mark.cpu

FLOATS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}


def _save(path, nodes, inputs, outputs, constants, opset=17, domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(a, n) for n, a in constants.items()])
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return str(path)


def _net(path, dtype="float32", seed=0):
    """Convolution, mean, dense layer, softmax; and the dense layer's result beside it."""
    rng = np.random.RandomState(seed)
    constants = {"w": rng.randn(32, 16, 3, 3) / 12, "b": rng.randn(32) / 4, "v": rng.randn(32, 24) / 6, "c": rng.randn(24) / 4}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["y"], ["r"]),
             helper.make_node("GlobalAveragePool", ["r"], ["p"]), helper.make_node("Flatten", ["p"], ["f"]),
             helper.make_node("MatMul", ["f", "v"], ["m"]), helper.make_node("Add", ["m", "c"], ["dense"]),
             helper.make_node("Softmax", ["dense"], ["soft"])]
    value = lambda name, shape: helper.make_tensor_value_info(name, FLOATS[dtype], shape)
    return _save(path, nodes, [value("x", ["n", 16, 12, 12])], [value("dense", ["n", 24]), value("soft", ["n", 24])],
                 {n: a.astype(dtype) for n, a in constants.items()})


def _has_bfloat16():
    return mx.onnx.load(_EMPTY, precision="bfloat16").precision == "bfloat16"


_EMPTY = helper.make_model(
    helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]),
    opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_results_are_near_and_of_the_same_dtypes(tmp_path, dtype):
    path = _net(tmp_path / "m.onnx", dtype)
    exact, low = mx.onnx.load(path), mx.onnx.load(path, precision="bfloat16")
    assert exact.precision is None and low.precision in ("bfloat16", None)
    x = np.random.RandomState(1).randn(3, 16, 12, 12).astype(dtype)
    for rows in (3, 1, 2):
        for a, b in zip(exact(x[:rows]), low(x[:rows])):
            assert a.dtype == b.dtype == np.dtype(dtype) and a.shape == b.shape
            a, b = a.asnumpy().astype("float64"), b.asnumpy().astype("float64")
            np.testing.assert_allclose(b, a, atol=0.02 * np.abs(a).max())
            assert low.precision is None or not np.array_equal(a, b)
    if low.precision:
        assert "bfloat16" in low.explain(runs=1) and "bfloat16" not in exact.explain(runs=1).split("By implementation")[0]


@pytest.mark.parametrize("precision", ["bfloat16", mx.nd.array([1], dtype="bfloat16").dtype])
def test_how_the_dtype_may_be_said(tmp_path, precision):
    assert mx.onnx.load(_net(tmp_path / "m.onnx"), precision=precision).precision in ("bfloat16", None)


def test_what_is_refused(tmp_path):
    path = _net(tmp_path / "m.onnx")
    assert mx.onnx.load(path, precision="float32").precision is None
    for wrong in ("int8", "float64"):
        with pytest.raises(mx.MXNetError, match=f"precision {wrong}; accepted: float32, bfloat16, float16"):
            mx.onnx.load(path, precision=wrong)
    with pytest.raises(TypeError):
        mx.onnx.load(path, precision="half of it")
    model, used = mx.onnx.load(path), ctypes.c_int()
    assert _LIB.MXOnnxModelSetPrecision(model.handle, ctypes.c_int(12), ctypes.byref(used)) == 0
    model(np.zeros((1, 16, 12, 12), "float32"))
    assert _LIB.MXOnnxModelSetPrecision(model.handle, ctypes.c_int(0), ctypes.byref(used)) != 0


def test_integers_and_what_loses_too_much_stay(tmp_path):
    """A layer in integers, a sum of many numbers, and indices in floats."""
    rng = np.random.RandomState(2)
    w = rng.randint(0, 256, (64, 16)).astype("uint8")
    nodes = [helper.make_node("DynamicQuantizeMatMul", ["x", "w", "s", "z"], ["y"], domain="com.microsoft"),
             helper.make_node("ReduceSum", ["long"], ["sum"], keepdims=0), helper.make_node("Mul", ["long", "two"], ["doubled"])]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    path = _save(tmp_path / "m.onnx", nodes, [value("x", ["n", 64]), value("long", [5000])],
                 [value("y", ["n", 16]), value("sum", []), value("doubled", [5000])],
                 {"w": w, "s": np.float32(0.01), "z": np.uint8(128), "two": np.float32(2)}, domains=("com.microsoft",))
    inputs = {"x": rng.randn(3, 64).astype("float32"), "long": np.arange(5000, dtype="float32")}
    exact, low = mx.onnx.load(path).run(inputs), mx.onnx.load(path, precision="bfloat16").run(inputs)
    for name, value in exact.items():
        np.testing.assert_array_equal(low[name].asnumpy(), value.asnumpy())


@pytest.mark.parametrize("rows, guarded", [(20, False), (3, False), (20, True)])
def test_attention_between_layers(tmp_path, rows, guarded):
    """It reads and writes what the layers around it have, where the processor multiplies that: not
    of few rows, nor with zeros in the place of weights that are not numbers."""
    rng = np.random.RandomState(5)
    constants = {name: (rng.randn(32, 32) / 4).astype("float32") for name in "qkvo"}
    constants.update(split=np.array([0, 0, 4, 8]), joined=np.array([0, 0, 32]), scale=np.float32(0.35), zero=np.float32(0))
    nodes = []
    for name, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [helper.make_node("MatMul", ["x", name], [name + "1"]), helper.make_node("Reshape", [name + "1", "split"], [name + "2"]),
                  helper.make_node("Transpose", [name + "2"], [name + "3"], perm=perm)]
    nodes += [helper.make_node("MatMul", ["q3", "k3"], ["s1"]), helper.make_node("Mul", ["s1", "scale"], ["s2"]),
              helper.make_node("Add", ["s2", "mask"], ["s3"]), helper.make_node("Softmax", ["s3"], ["w"], axis=-1)]
    if guarded:
        nodes += [helper.make_node("IsNaN", ["w"], ["nan"]), helper.make_node("Where", ["nan", "zero", "w"], ["counted"])]
    nodes += [helper.make_node("MatMul", ["counted" if guarded else "w", "v3"], ["a1"]),
              helper.make_node("Transpose", ["a1"], ["a2"], perm=[0, 2, 1, 3]), helper.make_node("Reshape", ["a2", "joined"], ["a3"]),
              helper.make_node("MatMul", ["a3", "o"], ["y"])]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    path = _save(tmp_path / "m.onnx", nodes, [value("x", ["n", "t", 32]), value("mask", ["n", 1, 1, "t"])], [value("y", ["n", "t", 32])],
                 constants)
    x = rng.randn(2, rows, 32).astype("float32")
    mask = np.where(np.arange(rows) < rows - np.array([[0], [1]]), 0, -1e4).astype("float32")[:, None, None]
    exact, low = mx.onnx.load(path), mx.onnx.load(path, precision="bfloat16")
    a, b = (m.run({"x": x, "mask": mask})["y"].asnumpy() for m in (exact, low))
    np.testing.assert_allclose(b, a, atol=0.03 * np.abs(a).max())
    line = next(text for text in low.explain(runs=1).splitlines() if " _fused_attention " in text and "->" in text)
    narrow = low.precision is not None and rows >= 8 and not guarded
    assert line.count("bfloat16") == (4 if narrow else 0), line


def test_layers_in_integers_behind_layers_in_floats(tmp_path):
    rng = np.random.RandomState(3)
    constants = {"v": (rng.randn(48, 64) / 7).astype("float32"), "w": rng.randint(0, 256, (64, 16)).astype("uint8"),
                 "s": np.float32(0.01), "z": np.uint8(128)}
    nodes = [helper.make_node("MatMul", ["x", "v"], ["h"]),
             helper.make_node("DynamicQuantizeMatMul", ["h", "w", "s", "z"], ["y"], domain="com.microsoft"),
             helper.make_node("MatMul", ["y", "u"], ["o"])]
    constants["u"] = (rng.randn(16, 8) / 4).astype("float32")
    path = _save(tmp_path / "m.onnx", nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 48])],
                 [helper.make_tensor_value_info("o", TensorProto.FLOAT, ["n", 8])], constants, domains=("com.microsoft",))
    x = rng.randn(5, 48).astype("float32")
    exact, low = (mx.onnx.load(path, precision=p)(x).asnumpy() for p in (None, "bfloat16"))
    np.testing.assert_allclose(low, exact, atol=0.03 * np.abs(exact).max())


@pytest.mark.parametrize("rounds", [3, None])
def test_loops_and_branches_are_operators_of_the_plan(tmp_path, rounds):
    """A Loop of a fixed number of rounds, or one that its body ends, with an If in it."""
    rng = np.random.RandomState(5)
    value, f, b = helper.make_tensor_value_info, TensorProto.FLOAT, TensorProto.BOOL
    constants = {"w": (rng.randn(64, 64) / 8).astype("float32"), "v": (rng.randn(64, 64) / 8).astype("float32"),
                 "c": rng.randn(64).astype("float32"), "k": np.int64(3), "nothing": np.float32(0)}
    branch = lambda weight: helper.make_graph([helper.make_node("MatMul", ["s", weight], [weight + "m"]),
                                               helper.make_node("Add", [weight + "m", "c"], [weight + "a"])], weight, [],
                                              [value(weight + "a", f, None)])
    nodes = [helper.make_node("ReduceSum", ["s"], ["total"], keepdims=0), helper.make_node("Greater", ["total", "nothing"], ["which"]),
             helper.make_node("If", ["which"], ["h"], then_branch=branch("w"), else_branch=branch("v")),
             helper.make_node("Tanh", ["h"], ["n"]),
             helper.make_node("Identity", ["on"], ["o"]) if rounds else helper.make_node("Less", ["i", "k"], ["o"])]
    body = helper.make_graph(nodes, "body", [value("i", TensorProto.INT64, []), value("on", b, []), value("s", f, None)],
                             [value("o", b, []), value("n", f, None), value("h", f, None)])
    graph = [helper.make_node("MatMul", ["x", "w"], ["y"]),
             helper.make_node("Loop", ["k" if rounds else "", "", "y"], ["last", "rows"], body=body)]
    if not rounds:
        body.output.pop()
        graph[1].output.pop()
    loop = helper.make_node("Loop", list(graph[1].input), list(graph[1].output), body=body)
    path = _save(tmp_path / "m.onnx", [graph[0], loop], [value("x", f, ["n", 64])], [value(o, f, None) for o in loop.output], constants)
    exact, low = mx.onnx.load(path), mx.onnx.load(path, precision="bfloat16")
    for rows in (4, 1, 4):
        x = rng.randn(rows, 64).astype("float32")
        want, got = exact.run({"x": x}), low.run({"x": x})
        for name, a in want.items():
            a, g = a.asnumpy(), got[name].asnumpy()
            assert g.dtype == np.float32
            np.testing.assert_allclose(g, a, atol=0.05)
            assert low.precision is None or not np.array_equal(a, g)
    for model in (exact, low):
        assert "on arrays" not in model.explain()


MEMORY = r"""
model = mx.onnx.load(sys.argv[1], precision="bfloat16")
x = np.ones((96, 1024), "float32")
for rows in (1, 96, 1, 2, 80):
    model(x[:rows]).asnumpy()
print(resident("VmRSS") - before)
"""


@pytest.mark.skipif(not _has_bfloat16(), reason="the processor has no products of bfloat16")
def test_weights_take_half_the_memory(tmp_path):
    rng, nodes, constants, x = np.random.RandomState(4), [], {}, "x"
    for i in range(20):   # 80 MiB in float32
        constants[f"w{i}"] = (rng.randn(1024, 1024) / 32).astype("float32")
        nodes += [helper.make_node("MatMul", [x, f"w{i}"], [f"y{i}"]), helper.make_node("Tanh", [f"y{i}"], [f"t{i}"])]
        x = f"t{i}"
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 1024])
    path = _save(tmp_path / "m.onnx", nodes, [value("x")], [value(x)], constants)
    grown, = figures(path, MEMORY)
    assert 35 < grown < 65


def test_what_the_file_has_in_bfloat16_stays_so(tmp_path):
    """Nothing is left to reduce in a model that is in bfloat16: a softmax, which loses much in 16
    bits, is rounded as the file says, and no cast stands between it and the products."""
    rng = np.random.RandomState(4)
    half = TensorProto.BFLOAT16
    weights = {n: helper.make_tensor(n, half, [32, 32], (rng.randn(32 * 32) / 6).tolist()) for n in "qkv"}
    nodes = [helper.make_node("Cast", ["x"], ["h"], to=half)]
    nodes += [helper.make_node("MatMul", ["h", n], [n + "_"]) for n in "qkv"]
    nodes += [helper.make_node("Transpose", ["k_"], ["t"], perm=[0, 2, 1]), helper.make_node("MatMul", ["q_", "t"], ["scores"]),
              helper.make_node("Softmax", ["scores"], ["weights"]), helper.make_node("MatMul", ["weights", "v_"], ["z"]),
              helper.make_node("Cast", ["z"], ["y"], to=TensorProto.FLOAT)]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 24, 32])
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], list(weights.values()))
    path = str(tmp_path / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    given, low = mx.onnx.load(path), mx.onnx.load(path, precision="bfloat16")
    x = rng.randn(2, 24, 32).astype("float32")
    np.testing.assert_array_equal(low(x).asnumpy(), given(x).asnumpy())
    assert "amp_cast" not in low.explain()
