"""Floats of 8 and 4 bits (_to_small_float, _from_small_float), and integers of 4 and 2 bits, which
are bytes in this library. onnx's node tests (test_node_tests.py) have casts and quantization one by
one."""
import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("onnx")
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

import mxnet as mx  # noqa: E402

FLOATS = {"FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "FLOAT8E5M2": ml_dtypes.float8_e5m2,
          "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "FLOAT4E2M1": ml_dtypes.float4_e2m1fn}


def _model(nodes, inputs, outputs, constants=(), opset=24):
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)
    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*o) for o in outputs], list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11).SerializeToString()


def _tensor(name, kind, shape, values):
    return helper.make_tensor(name, getattr(TensorProto, kind), shape, values)


@pytest.mark.parametrize("kind", FLOATS)
def test_every_number_comes_back_and_floats_are_rounded_to_the_nearest(kind):
    dtype, bits = FLOATS[kind], 16 if kind.startswith("FLOAT4") else 256
    model = mx.onnx.load(_model([helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
                                 helper.make_node("Cast", ["f"], ["y"], to=getattr(TensorProto, kind), saturate=0),
                                 helper.make_node("Cast", ["v"], ["w"], to=getattr(TensorProto, kind), saturate=0)],
                                [("x", kind, [bits]), ("v", "FLOAT", ["n"])],
                                [("f", "FLOAT", [bits]), ("y", kind, [bits]), ("w", kind, ["n"])]))
    assert model.inputs[0].stored == kind and model.inputs[0].dtype == "uint8" and f"uint8 of {kind}" in repr(model)
    codes = np.arange(bits, dtype="uint8")
    rng = np.random.RandomState(0)
    v = (rng.randn(4000) * 10.0 ** rng.uniform(-8, 6, 4000)).astype("float32")
    numbers, back, rounded = (a.asnumpy() for a in model(codes.view(dtype), v))
    want = codes.view(dtype).astype("float32")
    np.testing.assert_array_equal(numbers, want)
    np.testing.assert_array_equal(back.view(dtype).astype("float32"), want)
    np.testing.assert_array_equal(rounded.view(dtype).astype("float32"), v.astype(dtype).astype("float32"))


def test_weights_of_8_and_4_bits_in_a_layer():
    rng = np.random.RandomState(1)
    w = rng.randn(64, 48).astype("float32").astype(ml_dtypes.float8_e4m3fn)
    v = rng.randint(-8, 8, (48, 16)).astype("int8")
    constants = [onnx.numpy_helper.from_array(w, "w"), _tensor("ws", "FLOAT", [48], np.linspace(0.01, 0.1, 48)),
                 _tensor("v", "INT4", [48, 16], v.ravel()), _tensor("vs", "FLOAT", [3, 16], np.full(48, 0.05))]
    nodes = [helper.make_node("Transpose", ["w"], ["wt"]), helper.make_node("DequantizeLinear", ["wt", "ws"], ["d"], axis=0),
             helper.make_node("Gemm", ["x", "d"], ["h"], transB=1),
             helper.make_node("DequantizeLinear", ["v", "vs"], ["e"], axis=0, block_size=16), helper.make_node("MatMul", ["h", "e"], ["y"])]
    model = mx.onnx.load(_model(nodes, [("x", "FLOAT", ["n", 64])], [("y", "FLOAT", ["n", 16])], constants))
    x = rng.randn(5, 64).astype("float32")
    want = x @ (w.astype("float32") * np.linspace(0.01, 0.1, 48)) @ (v * 0.05)
    np.testing.assert_allclose(model(x).asnumpy(), want, rtol=1e-4, atol=1e-4)


def test_steps_of_few_bits_are_no_steps_of_bytes():
    """QuantizeLinear to 4 bits around a layer, which would be one in integers of 8 bits."""
    rng = np.random.RandomState(2)
    w = rng.randint(-128, 128, (16, 8)).astype("int8")
    constants = [_tensor("w", "INT8", [16, 8], w.ravel()), _tensor("s", "FLOAT", [], [0.25]), _tensor("z", "INT4", [], [1]),
                 _tensor("one", "FLOAT", [], [1.0]), _tensor("big", "FLOAT", [], [8.0]), _tensor("zw", "INT8", [], [0])]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             helper.make_node("DequantizeLinear", ["w", "one", "zw"], ["v"]), helper.make_node("MatMul", ["d", "v"], ["m"]),
             helper.make_node("QuantizeLinear", ["m", "big", "z"], ["y"])]
    model = mx.onnx.load(_model(nodes, [("x", "FLOAT", ["n", 16])], [("y", "INT4", ["n", 8])], constants))
    x = rng.randn(40, 16).astype("float32") * 3
    q = np.clip(np.rint(x / 0.25) + 1, -8, 7)
    want = np.clip(np.rint((q - 1) * 0.25 @ w / 8.0) + 1, -8, 7)
    got = model(x).asnumpy()
    assert got.dtype == np.int8 and got.min() == -8 and got.max() == 7
    np.testing.assert_array_equal(got, want)


def test_moves_branches_and_loops_keep_the_type():
    """Of a value that comes in, through If, Loop, Concat and a function of Identity, to a Cast."""
    e5m2, f = TensorProto.FLOAT8E5M2, helper.make_tensor_value_info
    branch = lambda op, name: helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [f(name, e5m2, None)])
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Transpose", ["s"], ["t"])], "body",
                             [f("i", TensorProto.INT64, []), f("go", TensorProto.BOOL, []), f("s", e5m2, None)],
                             [f("on", TensorProto.BOOL, []), f("t", e5m2, None)])
    nodes = [helper.make_node("If", ["c"], ["b"], then_branch=branch("Transpose", "p"), else_branch=branch("Identity", "q")),
             helper.make_node("Loop", ["k", "", "b"], ["l"], body=body), helper.make_node("Concat", ["l", "b"], ["j"], axis=0),
             helper.make_node("Cast", ["j"], ["y"], to=TensorProto.FLOAT)]
    model = mx.onnx.load(_model(nodes, [("x", "FLOAT8E5M2", [3, 3]), ("c", "BOOL", []), ("k", "INT64", [])], [("y", "FLOAT", None)]))
    x = np.random.RandomState(3).randn(3, 3).astype(ml_dtypes.float8_e5m2)
    for taken in (True, False):
        b = x.T if taken else x
        want = np.concatenate([b.T, b]).astype("float32")
        np.testing.assert_array_equal(model(x, np.bool_(taken), np.int64(3)).asnumpy(), want)


def test_what_is_refused():
    two = [("x", "FLOAT8E4M3FN", [2]), ("v", "FLOAT8E4M3FN", [2])]
    with pytest.raises(mx.MXNetError, match="node y .Add, opset 24.: an input is FLOAT8E4M3FN; accepted there: floats of 16 bits and more"):
        mx.onnx.load(_model([helper.make_node("Add", ["x", "v"], ["y"])], two, [("y", "FLOAT8E4M3FN", [2])]))
    with pytest.raises(mx.MXNetError, match="attribute dtype is the type FLOAT8E4M3FN; accepted"):
        nodes = [helper.make_node("RandomNormal", [], ["y"], shape=[2], dtype=TensorProto.FLOAT8E4M3FN)]
        mx.onnx.load(_model(nodes, [], [("y", "FLOAT8E4M3FN", [2])])).run({})
    model = mx.onnx.load(_model([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], two[:1], [("y", "FLOAT", [2])]))
    with pytest.raises(TypeError, match="an array of float8_e5m2; accepted: numbers of FLOAT8E4M3FN"):
        model(np.zeros(2, ml_dtypes.float8_e5m2))
    with pytest.raises(mx.MXNetError, match="input x is float32; accepted: uint8 of FLOAT8E4M3FN .2."):
        model(np.zeros(2, "float32"))
