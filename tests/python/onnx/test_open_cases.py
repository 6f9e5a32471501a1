"""What the text of ONNX leaves open, and what exporters make of it."""
import numpy as np
import onnx
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


def _scan(row, says, axis, row_rank, then=()):
    """A Scan whose rounds give `row`; `says`: what the file says of its shape."""
    graph = h.make_graph([h.make_node("Add", ["s", "e"], ["s2"]), *row], "body",
                         [h.make_tensor_value_info("s", T.FLOAT, None), h.make_tensor_value_info("e", T.FLOAT, None)],
                         [h.make_tensor_value_info("s2", T.FLOAT, None), h.make_tensor_value_info("row", T.FLOAT, says)])
    scan = h.make_node("Scan", ["first", "x"], ["last", "rows"], body=graph, num_scan_inputs=1, scan_output_axes=[axis])
    values = [h.make_tensor_value_info("first", T.FLOAT, [2]), h.make_tensor_value_info("x", T.FLOAT, ["n", 2])]
    results = [h.make_tensor_value_info("last", T.FLOAT, [2]), h.make_tensor_value_info("rows", T.FLOAT, [None] * (row_rank + 1))]
    graph = h.make_graph([scan, *then], "g", values, results)
    return mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8).SerializeToString())


ROW = [h.make_node("Concat", ["s2", "s2"], ["row"], axis=0)]
CHOSEN = [h.make_node("NonZero", ["s2"], ["places"]), h.make_node("Shape", ["places"], ["sizes"]),
          h.make_node("Cast", ["sizes"], ["row"], to=T.FLOAT)]   # on arrays, as places depend on contents


@pytest.mark.parametrize("row, size", ((ROW, 4), (CHOSEN, 2)))
@pytest.mark.parametrize("says", (None, ["k"], "known"))
@pytest.mark.parametrize("axis", (0, 1, -1, -2))
def test_a_scan_of_nothing_has_rows_of_the_sizes_of_a_round(row, size, says, axis):
    """onnxruntime refuses sizes that the file does not say."""
    model = _scan(row, [size] if says == "known" else says, axis, 1)
    last, rows = model(np.ones(2, "float32"), np.zeros((0, 2), "float32"))
    np.testing.assert_array_equal(last.asnumpy(), [1, 1])
    assert rows.shape == ((0, size) if axis in (0, -2) else (size, 0))
    assert model(np.ones(2, "float32"), np.zeros((3, 2), "float32"))[1].shape == ((3, size) if axis in (0, -2) else (size, 3))


@pytest.mark.parametrize("rounds", (0, 3))
def test_blocks_of_loops_that_may_make_no_round(rounds):
    """Shapes are fixed when a block is made, and with them the rounds of a Scan."""
    with mx.util.np_shape(True):
        block = _scan(ROW, None, 1, 1).to_block(shapes={"x": (rounds, 2)})
        last, rows = block(mx.np.ones(2), mx.np.ones((rounds, 2)))
    np.testing.assert_array_equal(last.asnumpy(), np.full(2, 1 + rounds))
    assert rows.shape == (4, rounds)


def test_outputs_of_float16_whose_type_the_file_does_not_say():
    """Plans compute in float32 there, on a processor."""
    branch = [h.make_graph([h.make_node(op, ["x"], [name])], name, [], [onnx.ValueInfoProto(name=name)])
              for op, name in (("Neg", "no"), ("Relu", "yes"))]
    nodes = [h.make_node("Relu", ["x"], ["half"]), h.make_node("Cast", ["x"], ["single"], to=T.FLOAT),
             h.make_node("CastLike", ["single", "w"], ["half_again"]), h.make_node("MatMul", ["x", "w"], ["product"]),
             h.make_node("LayerNormalization", ["x", "scale"], ["norm", "mean"]),
             h.make_node("Where", ["mask", "x", "x"], ["chosen"]), h.make_node("Shape", ["x"], ["sizes"]),
             h.make_node("ConstantOfShape", ["sizes"], ["zeros"]), h.make_node("If", ["go"], ["branch"], then_branch=branch[1],
                                                                               else_branch=branch[0])]
    wanted = {"half": "float16", "single": "float32", "half_again": "float16", "product": "float16", "norm": "float16",
              "mean": "float32", "chosen": "float16", "zeros": "float32", "branch": "float16", "sizes": "int64"}
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT16, ["n", 3]), h.make_tensor_value_info("go", T.BOOL, [])],
                         [onnx.ValueInfoProto(name=name) for name in wanted],
                         [nh.from_array(np.ones((3, 2), "float16"), "w"), nh.from_array(np.ones(3, "float16"), "scale"),
                          nh.from_array(np.array([True, False, True]), "mask")])
    model = mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8).SerializeToString())
    x = np.array([[1, -2, 3]], "float16")
    assert {name: np.dtype(y.dtype).name for name, y in model.run({"x": x, "go": np.array(True)}).items()} == wanted
    assert model.outputs[0].dtype == "float16"


@pytest.mark.parametrize("type_known", (True, False))
def test_elements_of_sequences_of_float16(type_known):
    sequence = h.make_tensor_sequence_value_info
    graph = h.make_graph([h.make_node("SplitToSequence", ["x"], ["parts"]), h.make_node("SequenceInsert", ["given", "x"], ["longer"])], "g",
                         [h.make_tensor_value_info("x", T.FLOAT16, [2, 3]), sequence("given", T.FLOAT16, None)],
                         [sequence("parts", T.FLOAT16, None), sequence("longer", T.FLOAT16, None)])
    model = mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8).SerializeToString())
    x = np.array([[1, -2, 3], [4, 5, 6]], "float16")
    parts, longer = model(x, [x[:1]] if type_known else [])
    assert [part.asnumpy().tolist() for part in parts] == [[[1, -2, 3]], [[4, 5, 6]]]
    assert {np.dtype(part.dtype).name for part in parts + longer} == {"float16"} and len(longer) == 1 + type_known


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
