"""What the text of ONNX leaves open, and what exporters make of it."""
import numpy as np
import pytest
from onnx import TensorProto as T, helper as h, numpy_helper as nh

import mxnet as mx

pytestmark = pytest.mark.cpu


def _run(nodes, feeds, outputs, opset=18, constants=()):
    """`outputs`: names, with their types."""
    inputs = [h.make_tensor_value_info(k, h.np_dtype_to_tensor_dtype(v.dtype), [None] * v.ndim) for k, v in feeds.items()]
    outs = [h.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()]
    graph = h.make_graph(nodes, "g", inputs, outs, [nh.from_array(np.array(v), k) for k, v in dict(constants).items()])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    return [v.asnumpy() for v in mx.onnx.load(model.SerializeToString()).run(feeds).values()]


def _rows(body, shape, rounds, x, goes_on=True):
    """The rows of a Loop whose state is x."""
    graph = h.make_graph([h.make_node("Identity", ["c"], ["c2"])] + body, "body",
                         [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("c", T.BOOL, []),
                          h.make_tensor_value_info("s", T.FLOAT, None)],
                         [h.make_tensor_value_info("c2", T.BOOL, []), h.make_tensor_value_info("s2", T.FLOAT, None),
                          h.make_tensor_value_info("row", T.FLOAT, shape)])
    loop = h.make_node("Loop", ["n", "go", "x"], ["last", "rows"], body=graph)
    return _run([loop], {"n": np.array(rounds, "int64"), "go": np.array(goes_on), "x": x}, {"rows": T.FLOAT})[0]


DOUBLE = [h.make_node("Add", ["s", "s"], ["s2"]), h.make_node("Neg", ["s2"], ["row"])]
GROW = [h.make_node("Concat", ["s", "s"], ["s2"], axis=0), h.make_node("Neg", ["s"], ["row"])]


@pytest.mark.parametrize("shape", (None, [None, 3], ["a", "b"], [2, 3]))
def test_a_loop_without_rounds_has_rows_of_the_sizes_of_a_round(shape):
    x = np.ones((2, 3), "float32")
    assert _rows(DOUBLE, shape, 0, x).shape == (0, 2, 3)
    assert _rows(DOUBLE, shape, 4, x, goes_on=False).shape == (0, 2, 3)
    assert _rows(DOUBLE, shape, 4, x).shape == (4, 2, 3)
    assert _rows(GROW, shape, 0, x).shape == (0, 2, 3)


def test_a_loop_without_rounds_whose_round_fails():
    take = [h.make_node("Identity", ["s"], ["s2"]), h.make_node("Reshape", ["s", "four"], ["row"])]
    take.insert(0, h.make_node("Constant", [], ["four"], value=nh.from_array(np.array([4]))))
    assert _rows(take, [None], 0, np.ones(3, "float32")).shape == (0, 0)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "int32", "int64"))
def test_the_mean_of_nothing_is_zero(dtype):
    mean = h.make_node("ReduceMean", ["x", "axes"], ["y"], keepdims=0)
    for shape, axis in (((2, 0, 3), 1), ((0,), 0), ((2, 0, 3), 0)):
        y, = _run([mean], {"x": np.zeros(shape, dtype)}, {"y": h.np_dtype_to_tensor_dtype(np.dtype(dtype))}, 18, {"axes": [axis]})
        expected = np.zeros(shape, dtype).sum(axis, dtype=dtype)
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == expected.dtype


def test_cumsum_of_bool_counts():
    """PyTorch's exporter writes it without a cast."""
    x = np.array([[True, False, True], [True, True, True]])
    graph = h.make_graph([h.make_node("CumSum", ["x", "axis"], ["y"])], "g", [h.make_tensor_value_info("x", T.BOOL, [2, 3])],
                         [h.make_tensor_value_info("y", T.INT64, [2, 3])], [nh.from_array(np.array(1), "axis")])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 14)], ir_version=8)
    y, = mx.onnx.load(model.SerializeToString()).run({"x": x}).values()
    np.testing.assert_array_equal(y.asnumpy(), x.cumsum(1))
    assert y.asnumpy().dtype == np.int64


def test_nan_is_the_largest_and_the_smallest():
    x = np.array([[1, np.nan, 3], [2, 0, -1]], "float32")
    nodes = [h.make_node("ReduceMax", ["x"], ["a"], axes=[1], keepdims=0), h.make_node("ReduceMin", ["x"], ["b"], axes=[1], keepdims=0),
             h.make_node("ArgMax", ["x"], ["c"], axis=1, keepdims=0), h.make_node("ArgMin", ["x"], ["d"], axis=1, keepdims=0),
             h.make_node("Clip", ["x", "", "nan"], ["e"]), h.make_node("Max", ["x", "row"], ["f"])]
    got = _run(nodes, {"x": x}, dict(a=T.FLOAT, b=T.FLOAT, c=T.INT64, d=T.INT64, e=T.FLOAT, f=T.FLOAT), 13,
               {"nan": np.float32(np.nan), "row": np.zeros(3, "float32")})
    want = [x.max(1), x.min(1), x.argmax(1), x.argmin(1), np.full_like(x, np.nan), np.maximum(x, 0)]
    for y, z in zip(got, want):
        np.testing.assert_array_equal(y, z)


def test_dynamic_quantization_of_zeros():
    got = _run([h.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])], {"x": np.zeros((2, 3), "float32")},
               dict(y=T.UINT8, scale=T.FLOAT, zero=T.UINT8))
    np.testing.assert_array_equal(got[0], np.zeros((2, 3), "uint8"))
    assert got[1] == np.float32(1 / 255) and got[2] == 0


def test_dynamic_quantization_of_no_examples():
    nodes = [h.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
             h.make_node("MatMulInteger", ["q", "w", "zero"], ["m"]), h.make_node("Cast", ["m"], ["y"], to=T.FLOAT)]
    got = _run(nodes, {"x": np.zeros((0, 4), "float32")}, dict(y=T.FLOAT, scale=T.FLOAT), 17, {"w": np.ones((4, 5), "int8")})
    assert got[0].shape == (0, 5) and got[1] == np.float32(1 / 255)


@pytest.mark.parametrize("shape, wanted, zero_is_size, result",
                         [((0, 4, 4), [0, -1], 1, (0, 16)), ((0, 7, 32), [0, 7, -1, 8], 1, (0, 7, 4, 8)),
                          ((0, 7, 32), [0, -1, 8], 0, (0, 28, 8)),
                          ((2, 0, 6), [2, 0, -1, 3], 1, (2, 0, 2, 3)), ((0, 5), [0, -1, 2], 1, (0, 0, 2)), ((0, 3, 4), [4, -1], 1, (4, 0))])
def test_reshapes_of_a_batch_without_examples(shape, wanted, zero_is_size, result):
    """What PyTorch's exporter writes for `view(n, t, -1, 8)`, where n is 0."""
    node = h.make_node("Reshape", ["x", "wanted"], ["y"], allowzero=zero_is_size)
    y, = _run([node], {"x": np.zeros(shape, "float32")}, {"y": T.FLOAT}, 18, {"wanted": wanted})
    assert y.shape == result
