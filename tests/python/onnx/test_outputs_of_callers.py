"""Outputs that are written to a caller's arrays."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import model, node, onnx


def _load(nodes, feeds, weights=None, **more):
    return mx.onnx.load(model(nodes, feeds, weights or {}, **more))



def test_a_cache_in_two_arrays():
    """A decoder's step: what it has seen, and one more row."""
    past, row = np.zeros((2, 3, 4), "float32"), np.ones((2, 1, 4), "float32")
    step = _load([node("Concat", ["past", "row"], ["both"], axis=1), node("Slice", ["both", "one", "end", "axis"], ["y_present"]),
                  node("ReduceSum", ["y_present"], ["y_sum"], keepdims=0)], {"past": past, "row": row},
                 {"one": np.array([1]), "end": np.array([4]), "axis": np.array([1])})
    arrays = [mx.nd.array(past), mx.nd.zeros((2, 3, 4))]
    expected = past
    for i in range(6):
        given = {"past": arrays[i % 2], "row": mx.nd.array(row * i)}
        results = step.run(given, out={"y_present": arrays[(i + 1) % 2]})
        assert results["y_present"] is arrays[(i + 1) % 2]
        expected = np.concatenate([expected, row * i], 1)[:, 1:]
        np.testing.assert_array_equal(arrays[(i + 1) % 2].asnumpy(), expected)
        assert results["y_sum"].asscalar() == expected.sum()


def test_an_array_that_is_input_and_output():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    net = _load([node("Add", ["x", "x"], ["y"]), node("Mul", ["y", "x"], ["y_2"])], {"x": x})
    array = mx.nd.array(x)
    results = net.run({"x": array}, out={"y": array})
    np.testing.assert_array_equal(array.asnumpy(), 2 * x)
    np.testing.assert_array_equal(results["y_2"].asnumpy(), 2 * x * x)


def test_outputs_that_no_plan_computes():
    """A constant, an input, and what depends on contents."""
    x = np.array([0, 3, 0, 5], "float32")
    net = _load([node("Identity", ["w"], ["y_w"]), node("Identity", ["x"], ["y_x"]), node("NonZero", ["x"], ["y_places"])], {"x": x},
                {"w": np.array([7, 8], "float32")})
    out = {"y_w": mx.nd.zeros(2), "y_x": mx.nd.zeros(4), "y_places": mx.nd.zeros((1, 2), dtype="int64")}
    net.run({"x": x}, out=out)
    assert out["y_w"].asnumpy().tolist() == [7, 8]
    assert out["y_x"].asnumpy().tolist() == x.tolist()
    assert out["y_places"].asnumpy().tolist() == [[1, 3]]


def test_one_result_under_two_names():
    x = np.ones((2, 2), "float32")
    net = _load([node("Exp", ["x"], ["y"]), node("Identity", ["y"], ["y_same"])], {"x": x})
    out = {"y": mx.nd.zeros((2, 2)), "y_same": mx.nd.zeros((2, 2))}
    net.run({"x": x}, out=out)
    np.testing.assert_allclose(out["y"].asnumpy(), np.e * x, rtol=1e-6)
    np.testing.assert_array_equal(out["y_same"].asnumpy(), out["y"].asnumpy())


@pytest.mark.parametrize("out,error", [
    ({"y": mx.nd.zeros((3, 2))}, r"the array for the output y is float32 \(3, ?2\); accepted: float32 \(2, ?2\)"),
    ({"y": mx.nd.zeros((2, 2), dtype="float64")}, "is float64"), ({"z": mx.nd.zeros((2, 2))}, "an array for the output z; accepted: y")])
def test_arrays_that_do_not_fit(out, error):
    net = _load([node("Exp", ["x"], ["y"])], {"x": np.ones((2, 2), "float32")})
    with pytest.raises(mx.MXNetError, match=error):
        net.run({"x": np.ones((2, 2), "float32")}, out=out)


def test_numpy_arrays_are_refused():
    net = _load([node("Exp", ["x"], ["y"])], {"x": np.ones((2, 2), "float32")})
    with pytest.raises(TypeError, match="ndarray; accepted: arrays of mx.nd and mx.np"):
        net.run({"x": np.ones((2, 2), "float32")}, out={"y": np.ones((2, 2), "float32")})


@pytest.mark.parametrize("op", ["Identity", "Flatten", "Relu", "Neg"])
def test_large_arrays_of_numpy_are_read_where_they_lie(op):
    """And neither results nor later calls have anything to do with them."""
    x = np.random.default_rng(0).standard_normal((300, 400)).astype("float32")
    net = _load([node(op, ["x"], ["y"])], {"x": x})
    expected = {"Relu": np.maximum(x, 0), "Neg": -x}.get(op, x)
    before = x.copy()
    for _ in range(4):
        given = x.copy()
        result = net(x=given)
        given[:] = 9
        np.testing.assert_array_equal(result.asnumpy(), expected)
        result = net(x=x)
        result[:] = 7
        np.testing.assert_array_equal(x, before)
    x.setflags(write=False)
    np.testing.assert_array_equal(net(x=x).asnumpy(), expected)


def test_arrays_of_numpy_that_lie_otherwise():
    """Strided, backwards, and not where floats may lie: they are copied."""
    x = np.random.default_rng(0).standard_normal((300, 400)).astype("float32")
    net = _load([node("Neg", ["x"], ["y"])], {"x": x})
    wide = np.repeat(x, 2, axis=1)
    moved = np.frombuffer(b"\0" + x.tobytes(), dtype="uint8")[1:].view("float32").reshape(x.shape)
    for given in (wide[:, ::2], x[::-1][::-1], np.asfortranarray(x), moved):
        np.testing.assert_array_equal(net(x=given).asnumpy(), -x)


def test_sequences_of_large_inputs_have_their_own_memory():
    x = np.random.default_rng(0).standard_normal((300, 400)).astype("float32")
    net = _load([node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "one"], ["y"])], {"x": x}, {"one": np.array(1)})
    given = x.copy()
    result = net(x=given)
    given[:] = 0
    np.testing.assert_array_equal(result.asnumpy(), x)


@pytest.mark.skipif("_cy3" not in mx._binding._backend.__name__, reason="about the compiled binding")
def test_calls_with_outputs_are_compiled(monkeypatch):
    """Also where inputs are NumPy's: a step of a decoder with a hundred caches makes no object for
    each."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    net = _load([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y_2"])], {"x": x})
    out = mx.nd.zeros((2, 3))
    monkeypatch.setattr(mx.onnx._model, "_to_value", None)
    for given in (x, mx.nd.array(x)):
        out[:] = 0
        results = net.run({"x": given}, out={"y": out})
        assert results["y"] is out and list(results) == ["y", "y_2"]
        np.testing.assert_array_equal(out.asnumpy(), -x)
        np.testing.assert_array_equal(results["y_2"].asnumpy(), x)


@pytest.mark.parametrize("numpy", [False, True])
def test_an_input_that_is_a_result_is_a_copy(numpy):
    """A caller may change what it gave, and other results may be written to it."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    data = onnx.load_from_string(model([node("Neg", ["x"], ["y"])], {"x": x}, {}))
    data.graph.output.append(data.graph.input[0])
    net = mx.onnx.load(data.SerializeToString())
    for _ in range(7):
        array = x.copy() if numpy else mx.nd.array(x)
        results = net.run({"x": array})
        array[:] = 7
        np.testing.assert_array_equal(results["x"].asnumpy(), x)
        results["x"][:] = 9
        assert float(array[0, 0]) == 7
    array = mx.nd.array(x)
    results = net.run({"x": array}, out={"y": array})
    np.testing.assert_array_equal(array.asnumpy(), -x)
    np.testing.assert_array_equal(results["x"].asnumpy(), x)


@pytest.mark.parametrize("op", ["NonZero", "Loop"])
def test_what_a_later_part_of_the_graph_reads_stays(op):
    """Where shapes depend on contents, the graph is cut. The first part may not write over inputs
    of the second one."""
    x = np.array([[0, 1, 2], [3, 0, 5]], "float32")
    if op == "NonZero":
        nodes = [node("Neg", ["x"], ["y_negative"]), node("NonZero", ["y_negative"], ["places"]), node("Transpose", ["places"], ["at"]),
                 node("GatherND", ["x", "at"], ["y_full"])]
        want = x[x != 0]
    else:
        h = onnx.helper
        info = h.make_tensor_value_info
        body = h.make_graph([node("Concat", ["s", "x"], ["t"], axis=0), node("Identity", ["go"], ["on"])], "body",
                            [info("i", 7, []), info("go", 9, []), info("s", 1, None)], [info("on", 9, []), info("t", 1, None)])
        nodes = [node("Neg", ["x"], ["y_negative"]), node("Loop", ["rounds", "", "y_negative"], ["y_full"], body=body)]
        want = np.concatenate([-x, x, x])
    net = _load(nodes, {"x": x}, {"rounds": np.array(2)})
    for _ in range(3):
        array = mx.nd.array(x)
        results = net.run({"x": array}, out={"y_negative": array})
        np.testing.assert_array_equal(results["y_full"].asnumpy(), want)
        np.testing.assert_array_equal(array.asnumpy(), -x)
