"""Models in float16: on a CPU everything between inputs and outputs is computed in float32."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx

pytestmark = pytest.mark.cpu
HALF, SINGLE = TensorProto.FLOAT16, TensorProto.FLOAT
RANDOM = np.random.RandomState(0)


def half(*shape):
    return RANDOM.randn(*shape).astype("float16")


def load(nodes, inputs, outputs, weights, path=None):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info(n, d, s) for n, d, s in inputs], [info(n, d, s) for n, d, s in outputs],
                              [numpy_helper.from_array(a, n) for n, a in weights.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    onnx.checker.check_model(made)
    if path is None:
        return mx.onnx.load(made.SerializeToString())
    onnx.save(made, path)
    return mx.onnx.load(path)


def run(model, **feeds):
    return [a.asnumpy() for a in model.run(feeds).values()]


def network(path=None, size=96, layers=6):
    nodes, weights, x = [], {}, "x"
    for i in range(layers):
        weights[f"w{i}"] = (half(size, size) / np.float16(np.sqrt(size))).astype("float16")
        weights[f"b{i}"] = half(size)
        nodes += [helper.make_node("MatMul", [x, f"w{i}"], [f"p{i}"]), helper.make_node("Add", [f"p{i}", f"b{i}"], [f"s{i}"]),
                  helper.make_node("Tanh", [f"s{i}"], [f"t{i}"])]
        x = f"t{i}"
    model = load(nodes, [("x", HALF, ["n", size])], [(x, HALF, ["n", size])], weights, path)

    def expected(given):
        y = given.astype("float64")
        for i in range(layers):
            y = np.tanh(y @ weights[f"w{i}"].astype("float64") + weights[f"b{i}"])
        return y
    return model, expected


@pytest.mark.parametrize("in_file", [False, True])
def test_results_are_rounded_once(tmp_path, in_file):
    model, expected = network(str(tmp_path / "m.onnx") if in_file else None)
    for rows in (1, 3, 70):
        x = half(rows, 96)
        got, = run(model, x=x)
        assert got.dtype == np.float16
        np.testing.assert_array_less(np.abs(got - expected(x)), 2.0 ** -11 * np.abs(expected(x)) + 1e-5)


def test_an_output_of_the_caller():
    model, expected = network()
    x, out = half(2, 96), mx.nd.zeros((2, 96), dtype="float16")
    model.run({"x": x}, out={"t5": out})
    np.testing.assert_allclose(out.asnumpy(), expected(x), rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="float32.*accepted: float16"):
        model.run({"x": x}, out={"t5": mx.nd.zeros((2, 96))})


def test_casts_of_the_model_round():
    nodes = [helper.make_node("Cast", ["x"], ["h"], to=HALF), helper.make_node("Mul", ["h", "c"], ["m"]),
             helper.make_node("Cast", ["m"], ["y"], to=SINGLE)]
    model = load(nodes, [("x", SINGLE, [4])], [("y", SINGLE, [4]), ("m", HALF, [4])], {"c": np.array([3], "float16")})
    x = np.array([1.0001, 0.1, 70000, -2.3], "float32")
    y, m = run(model, x=x)
    assert y.dtype == np.float32 and m.dtype == np.float16
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(y, x.astype("float16").astype("float32") * 3, rtol=1e-6)
        np.testing.assert_array_equal(m, y.astype("float16"))


def test_counts_beyond_float16_stay_finite():
    """The unbiased variance of 70,000 numbers, as exporters write it; float16 ends at 65504."""
    nodes = [helper.make_node("Size", ["x"], ["n"]), helper.make_node("Cast", ["n"], ["count"], to=HALF),
             helper.make_node("ReduceMean", ["x"], ["mean"], axes=[0]), helper.make_node("Sub", ["x", "mean"], ["off"]),
             helper.make_node("Mul", ["off", "off"], ["square"]), helper.make_node("ReduceMean", ["square"], ["v"], axes=[0]),
             helper.make_node("Mul", ["v", "count"], ["all"]), helper.make_node("Sub", ["count", "one"], ["free"]),
             helper.make_node("Div", ["all", "free"], ["y"]), helper.make_node("CastLike", ["n", "x"], ["top"])]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", HALF, ["k"])],
        [helper.make_tensor_value_info("y", HALF, [1]), helper.make_tensor_value_info("top", HALF, [])],
        [numpy_helper.from_array(np.float16(1), "one")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = mx.onnx.load(made.SerializeToString())
    x = half(70000)
    for size in (70000, 5):
        y, top = run(model, x=x[:size])
        np.testing.assert_allclose(y, x[:size].astype(float).var(ddof=1), rtol=2e-3)
        assert top.dtype == np.float16 and float(top) == (5 if size == 5 else np.inf)


def test_inputs_and_weights_that_are_outputs():
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Identity", ["c"], ["k"]),
             helper.make_node("Shape", ["x"], ["n"]), helper.make_node("ConstantOfShape", ["n"], ["z"], value=numpy_helper.from_array(
                 np.array([2], "float16")))]
    model = load(nodes, [("x", HALF, ["a", 3])], [("y", HALF, ["a", 3]), ("k", HALF, [2]), ("z", HALF, ["a", 3])],
                 {"c": np.array([1, 0.1], "float16")})
    x = half(2, 3)
    y, k, z = run(model, x=x)
    assert y.dtype == k.dtype == z.dtype == np.float16
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(k, np.array([1, 0.1], "float16"))
    np.testing.assert_array_equal(z, np.full((2, 3), 2))


def test_loops_and_branches():
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Mul", ["s", "c"], ["t"]), helper.make_node("Identity", ["go"], ["on"]),
         helper.make_node("Identity", ["t"], ["u"])],
        "body", [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s", HALF, [2])],
        [info("on", TensorProto.BOOL, []), info("t", HALF, [2]), info("u", HALF, [2])])
    then = helper.make_graph([helper.make_node("Neg", ["r"], ["a"])], "then", [], [info("a", HALF, [2])])
    other = helper.make_graph([helper.make_node("Identity", ["c"], ["b"])], "other", [], [info("b", HALF, [1])])
    nodes = [helper.make_node("Loop", ["m", "", "x"], ["r", "all"], body=body),
             helper.make_node("ReduceMax", ["r"], ["top"], keepdims=0), helper.make_node("Greater", ["top", "zero"], ["choice"]),
             helper.make_node("If", ["choice"], ["y"], then_branch=then, else_branch=other)]
    model = load(nodes, [("x", HALF, [2]), ("m", TensorProto.INT64, [])], [("y", HALF, ["j"]), ("all", HALF, ["k", 2])],
                 {"c": np.array([1.5], "float16"), "zero": np.float16(0)})
    x = np.array([1, -2], "float16")
    y, steps = run(model, x=x, m=np.array(4))
    assert y.dtype == steps.dtype == np.float16 and steps.shape == (4, 2)
    np.testing.assert_array_equal(y, -x * np.float16(1.5 ** 4))
    np.testing.assert_array_equal(steps, x * (1.5 ** np.arange(1, 5))[:, None])
    y, steps = run(model, x=-np.abs(x), m=np.array(0))
    np.testing.assert_array_equal(y, np.array([1.5], "float16"))
    assert steps.dtype == np.float16 and steps.shape[0] == 0


def test_blocks_keep_the_dtype():
    model, expected = network()
    block = model.to_block()
    assert all(p.dtype == np.float16 for p in block.collect_params().values())
    x = half(2, 96)
    got = block(mx.nd.array(x, dtype="float16"))
    assert got.dtype == np.float16
    np.testing.assert_allclose(got.asnumpy(), expected(x), rtol=2e-2, atol=2e-2)
