"""Operators of ONNX whose results onnx's own node tests do not reach: odd operands, strings, old
opsets, draws."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402


def run(op, inputs, opset=21, known=(), outputs=1, **attrs):
    """The results of one node; `known`: the inputs that are constants of the model."""
    inputs = [np.asarray(v) for v in inputs]
    names = [f"i{k}" for k in range(len(inputs))]
    results = [f"y{k}" for k in range(outputs)]
    given = {n: v for k, (n, v) in enumerate(zip(names, inputs)) if k not in known}

    def info(name, value):
        kind = onnx.TensorProto.STRING if value.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(value.dtype)
        return helper.make_tensor_value_info(name, kind, value.shape)

    graph = helper.make_graph([helper.make_node(op, names, results, **attrs)], "g", [info(n, v) for n, v in given.items()],
                              [helper.make_empty_tensor_value_info(n) for n in results],
                              [onnx.numpy_helper.from_array(inputs[k], names[k]) for k in known])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    values = mx.onnx.load(model.SerializeToString(), folder=None).run(given).values()
    arrays = [v.asnumpy() if isinstance(v, mx.nd.NDArray) else v for v in values]
    return arrays[0] if outputs == 1 else arrays


X = np.arange(24, dtype="float32").reshape(2, 3, 4)
LOW, HIGH = -2**63, 2**63 - 1


@pytest.mark.parametrize("begin, end, step", [
    (LOW, HIGH, 1), (HIGH, LOW, -1), (-1, LOW, -1), (5, 1, 1), (-2, 100, 2), (3, -100, -2), (0, 4, HIGH), (3, LOW, LOW + 1)])
@pytest.mark.parametrize("known", [(), (1, 2, 3, 4)])
def test_slices_with_any_numbers(begin, end, step, known):
    at = slice(begin, None if end == LOW and step < 0 else end, step)
    np.testing.assert_array_equal(run("Slice", [X, [begin], [end], [2], [step]], known=known), X[:, :, at])


@pytest.mark.parametrize("begin, end, want", [(-100, -100, [0]), (-5, LOW, [0]), (2, HIGH, [2, 1, 0]), (100, 2**31 - 1, [3, 2, 1, 0])])
@pytest.mark.parametrize("known", [(), (1, 2, 3, 4)])
def test_slices_backward_from_anywhere(begin, end, want, known):
    """Numbers are brought into the range, as the standard says. The largest one is the far end."""
    np.testing.assert_array_equal(run("Slice", [X, [begin], [end], [2], [-1]], known=known), X[:, :, want])


@pytest.mark.parametrize("op", ["Transpose", "Concat", "Slice", "Gather", "Tile", "Expand", "Reshape", "Where"])
def test_strings_move_like_numbers(op):
    words = np.array([["a", "b", "c"], ["dd", "", "ü"]], dtype=object)
    numbers = np.arange(6).reshape(2, 3)
    rest = {"Transpose": [], "Slice": [[1], [3], [1]], "Gather": [[1, -2]], "Tile": [[2, 1]], "Expand": [[2, 2, 3]],
            "Reshape": [[3, -1]]}.get(op, [])
    if op == "Concat":
        got, want = (run(op, [v, v], axis=1) for v in (words, numbers))
    elif op == "Where":
        got, want = (run(op, [numbers > 2, v, v[:1]]) for v in (words, numbers))
    else:
        got, want = (run(op, [v, *rest]) for v in (words, numbers))
    assert got.tolist() == words.ravel()[want].tolist()


def test_axes_of_a_transpose_count_from_the_end():
    """PyTorch's exporter writes them as the program has them."""
    np.testing.assert_array_equal(run("Transpose", [X], perm=[0, -1, 1]), X.transpose(0, 2, 1))


@pytest.mark.parametrize("pattern, matches, others", [
    (r"a|bc*", ["a", "b", "bccc"], ["ab", "", "c"]),
    (r"(\w+)@([a-z\d-]+\.)+[[:alpha:]]{2,3}", ["me_1@a-b.c.org"], ["me@org", "me@a.o", "me@a.orgs"]),
    (r"(?:ab){2,3}?x?", ["abab", "abababx"], ["ab", "ababababx"]),
    (r"[^\d\s]+", ["käse"], ["k1", "k ", ""]),
    (r"\x{fc}.\Bb$", ["üab"], ["ü-b", "üab\n"]),
    (r"(a*)*b", ["aab", "b"], ["a" * 5000]),
])
def test_regular_expressions(pattern, matches, others):
    got = run("RegexFullMatch", [np.array(matches + others, dtype=object)], pattern=pattern)
    assert got.tolist() == [True] * len(matches) + [False] * len(others)


@pytest.mark.parametrize("pattern", ["(", "a)", "[b", "*", "a{3,2}", "(?=a)", r"\q", "[z-a]", "(" * 1000, "((a{1000}){1000}){1000}"])
def test_regular_expressions_that_are_refused(pattern):
    with pytest.raises(ValueError, match="regular expression"):
        run("RegexFullMatch", [np.array(["a"], dtype=object)], pattern=pattern)


@pytest.mark.parametrize("op, inputs, attrs, what", [
    ("Add", [np.float32([1]), np.int64([1])], {}, "one type"),
    ("Reshape", [X, [5, -1]], {}, "does not fit"),
    ("Reshape", [X, [-1, -1]], {}, "-1 once"),
    ("Gather", [X, [2]], {}, "index 2"),
    ("Expand", [X, [-1]], {}, "accepted: sizes"),
    ("Range", [0, 1, 0], {}, "delta is 0"),
    ("Range", [0, 2**62, 1], {}, "2\\^28"),
    ("TopK", [X, [5]], {}, "0 to 4"),
    ("Pad", [X, [0] * 5], {}, "two numbers for each"),
    ("Pad", [X, [0, 0, 0, 0, 0, -5]], {}, "take more"),
    ("Transpose", [X], {"perm": [0, 0, 1]}, "each of the 3"),
    ("Gemm", [X[0], X[0]], {}, "A has shape"),
    ("Clip", [X, np.float32([1, 2])], {}, "one number"),
    ("BitShift", [np.uint8([1]), np.uint8([1])], {"direction": "UP"}, "LEFT, RIGHT"),
    ("Gelu", [X], {"approximate": "erf"}, "none, tanh"),
    ("ScatterND", [X, [[3]], X[:1]], {}, "index 3"),
    ("HannWindow", [2**40], {}, "2\\^28"),
    ("Relu", [X], {"slope": 1.0}, "slope"),
])
def test_refusals_say_what_is_accepted(op, inputs, attrs, what):
    with pytest.raises((ValueError, mx.MXNetError), match=what):
        run(op, inputs, known=tuple(range(1, len(inputs))), **attrs)


@pytest.mark.parametrize("reduction", ["add", "mul", "min", "max"])
@pytest.mark.parametrize("known", [(), (1,)])
def test_several_values_for_one_place(reduction, known):
    fold = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[reduction]
    place, update = np.array([[1], [-1], [1]]), np.float32([[2, 30, 4, 1], [1, 2, 3, 4], [9, 1, 5, 2]])
    want = X[0].copy()
    fold.at(want, place[:, 0], update)
    np.testing.assert_array_equal(run("ScatterND", [X[0], place, update], known=known, reduction=reduction), want)


def test_casts_between_numbers_and_strings():
    numbers = np.float32([1, 0.1, 1e20, -np.inf, np.nan, 1e-5])
    texts = run("Cast", [numbers], to=onnx.TensorProto.STRING)
    assert texts.tolist() == ["1.0", "0.1", "1e+20", "-inf", "nan", "1e-05"]
    np.testing.assert_array_equal(run("Cast", [texts], to=onnx.TensorProto.FLOAT), numbers)
    with pytest.raises(ValueError, match="not a number"):
        run("Cast", [np.array(["1x"], dtype=object)], to=onnx.TensorProto.INT64)


def test_draws_are_new_at_each_run():
    node = helper.make_node("RandomNormal", [], ["y"], shape=[2000], mean=3.0, scale=2.0)
    graph = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info("y")])
    model = mx.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString(), folder=None)
    first, second = (model.run({})["y"].asnumpy() for _ in range(2))
    assert (first != second).any()
    assert abs(first.mean() - 3) < 0.3 and abs(first.std() - 2) < 0.3


@pytest.mark.parametrize("op, opset, inputs, attrs, want", [
    ("Slice", 9, [X], {"starts": [1, -3], "ends": [100, -1], "axes": [2, 1]}, X[:, -3:-1, 1:]),
    ("Clip", 9, [X], {"max": 5.0}, X.clip(max=5)),
    ("Pad", 10, [X], {"pads": [0, 1, -1, 0, 0, 2], "value": 7.0},
     np.pad(X[:, :, 1:], ((0, 0), (1, 0), (0, 2)), constant_values=7)),
    ("ReduceMean", 13, [X], {"axes": [-1], "keepdims": 0}, X.mean(-1)),
    ("Unsqueeze", 11, [X], {"axes": [0, 4]}, X[None, ..., None]),
    ("Dropout", 7, [X], {"ratio": 0.5}, X),
    ("Upsample", 7, [X], {"scales": [1.0, 2.0, 0.5]}, X.repeat(2, 1)[:, :, ::2]),   # as TensorFlow shrinks
])
def test_attributes_of_old_opsets(op, opset, inputs, attrs, want):
    np.testing.assert_allclose(run(op, inputs, opset=opset, **attrs), want, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 2])
def test_rows_of_an_axis_without_elements_are_refused(count):
    """One of them whose place is not known crashed."""
    with pytest.raises(mx.MXNetError, match="dimension of size 0"):
        run("Gather", [np.zeros((2, 0, 3), "float32"), np.zeros(count, "int64")], opset=13, axis=1)
