"""Nodes that compute sizes, and that move numbers as sizes say, where nodes run one by one."""
import re

import mxnet as mx
import numpy as np
import pytest

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

pytestmark = pytest.mark.sanitized

info, node = helper.make_tensor_value_info, helper.make_node
INT, F = TensorProto.INT64, TensorProto.FLOAT
CONSTANTS = {"zero": 0, "one": 1, "two": 2, "minus": -1, "zeros": [0], "ones": [1], "minuses": [-1], "twos": [2], "threes": [3],
             "none": [0, 0], "all": [2**63 - 1], "pair": [0, 2], "mixed": [0, -1], "steps": [1, 2], "back": [-2, -1], "far": [-100, -100],
             "ends": [100, 100], "inner": [0, 1, 2], "large": 2**62}


def model_of(nodes, outputs, opset=18):
    tensors = [numpy_helper.from_array(np.array(v, "int64"), k) for k, v in CONSTANTS.items()]
    tensors.append(numpy_helper.from_array(np.arange(120, dtype="float32").reshape(1, 10, 12), "table"))
    inputs = [info("x", F, ["n", "m", 4]), info("k", INT, [])]
    outputs = [info(name, kind, None) for name, kind in outputs]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


SIZES = [
    node("Shape", ["x"], ["shape"]), node("Shape", ["x"], ["tail"], start=1), node("Shape", ["x"], ["middle"], start=-2, end=-1),
    node("Gather", ["shape", "zero"], ["n"]), node("Gather", ["shape", "minus"], ["last"]), node("Gather", ["shape", "pair"], ["outer"]),
    node("Unsqueeze", ["n", "zeros"], ["n1"]), node("Squeeze", ["middle", "zeros"], ["m"]), node("Identity", ["m"], ["m2"]),
    node("Add", ["n", "m2"], ["sum"]), node("Sub", ["n", "m"], ["difference"]), node("Mul", ["shape", "two"], ["doubled"]),
    node("Div", ["m", "two"], ["half"]), node("Div", ["difference", "two"], ["negative"]), node("Cast", ["sum"], ["cast"], to=INT),
    node("Concat", ["n1", "middle", "twos", "tail"], ["joined"], axis=0),
    node("Slice", ["joined", "ones", "all", "zeros", "twos"], ["odd"]),
    node("Slice", ["joined", "minuses", "all"], ["end"]), node("Reshape", ["joined", "minuses"], ["same"]),
    node("Equal", ["shape", "last"], ["equal"]), node("Where", ["equal", "shape", "minus"], ["chosen"]),
    node("Add", ["n", "k"], ["depends"]), node("Cast", ["equal"], ["as_numbers"], to=INT), node("Equal", ["equal", "equal"], ["alike_too"]),
    node("Add", ["as_numbers", "shape"], ["counted"]), node("Mul", ["shape", "large"], ["wide_numbers"]),
]
MOVES = [
    node("Reshape", ["x", "mixed"], ["flat"]), node("Concat", ["m1", "n1", "minuses"], ["to"], axis=0),
    node("Reshape", ["x", "to"], ["turned"]),
    node("Unsqueeze", ["m", "zeros"], ["m1"]), node("Flatten", ["x"], ["f1"]), node("Flatten", ["x"], ["f2"], axis=-1),
    node("Unsqueeze", ["x", "ones"], ["x4"]), node("Concat", ["n1", "threes", "middle", "ones"], ["wide"], axis=0),
    node("Expand", ["x4", "wide"], ["repeated"]), node("Expand", ["x", "shape"], ["alike"]),
    node("Slice", ["x", "zeros", "half1", "ones"], ["front"]), node("Unsqueeze", ["mid", "zeros"], ["half1"]),
    node("Add", ["half", "one"], ["mid"]),
    node("Slice", ["x", "none", "ends", "back", "steps"], ["apart"]), node("Slice", ["x", "far", "ends", "pair"], ["whole"]),
    node("Slice", ["table", "zeros", "m1", "ones"], ["rows"]), node("Range", ["zero", "sum", "two"], ["range"]),
    node("Transpose", ["x4"], ["moved"], perm=[1, 0, 2, 3]), node("Transpose", ["x"], ["back3"], perm=[2, 1, 0]),
    node("Greater", ["x", "x0"], ["positive"]), node("Cast", ["zero"], ["x0"], to=F), node("Where", ["positive", "x", "x0"], ["relu"]),
]


def order(nodes):
    """Each behind those that it reads."""
    known, left, sorted_nodes = {"x", "k", "table", *CONSTANTS}, list(nodes), []
    while left:
        ready = [n for n in left if all(i in known for i in n.input)]
        known.update(o for n in ready for o in n.output)
        sorted_nodes += ready
        left = [n for n in left if n not in ready]
    return sorted_nodes


def compare(model, reference, given):
    got = model.run(given)
    for (name, value), want in zip(got.items(), reference.run(None, given)):
        want = np.asarray(want)
        value = value.asnumpy()
        assert value.shape == want.shape and value.dtype == want.dtype, name
        np.testing.assert_array_equal(value, want, name)
    return got


def given_of(n, m, k=1):
    return {"x": np.random.default_rng(n * 100 + m).standard_normal((n, m, 4)).astype("float32"), "k": np.array(k)}


def test_each_shape_once():
    nodes = order(SIZES + MOVES)
    kinds = dict.fromkeys(("equal", "positive", "alike_too"), TensorProto.BOOL)
    floats = {o for n in MOVES for o in n.output} - {"to", "m1", "wide", "half1", "mid", "range", "positive"}
    outputs = [(o, F if o in floats else kinds.get(o, INT)) for n in nodes for o in n.output]
    proto = model_of(nodes, outputs)
    model, reference = mx.onnx.load(proto.SerializeToString()), ReferenceEvaluator(proto)
    for _ in range(7):
        compare(model, reference, given_of(3, 5))
    text = model.explain()
    assert int(re.search(r"(\d+) of these compute sizes", text).group(1)) > 20
    kept = []
    for n, m in [(2, 6), (7, 3), (3, 9), (1, 8), (5, 1), (1, 1), (4, 10), (2, 7)]:
        given = given_of(n, m, k=n)
        before = given["x"].copy()
        got = compare(model, reference, given)
        kept.append((given, {name: value.asnumpy() for name, value in got.items()}, got))
        np.testing.assert_array_equal(given["x"], before)
    for given, before, got in kept:   # nothing that a later call computes shows in what a caller has
        for name, value in got.items():
            np.testing.assert_array_equal(value.asnumpy(), before[name], name)
    for name, value in kept[-1][2].items():
        value[:] = 0
    compare(model, reference, kept[-1][0])
    assert "node by node" in model.explain()


def test_what_does_not_fit():
    """The converter says what is wrong, as in a plan."""
    nodes = order([node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["n"]), node("Unsqueeze", ["n", "zeros"], ["n1"]),
                   node("Concat", ["n1", "threes"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])])
    model = mx.onnx.load(model_of(nodes, [("y", F)]).SerializeToString())
    good = np.arange(12, dtype="float32").reshape(4, 3)
    graph_inputs = {"x": good.reshape(4, 3, 1)[:, :, [0, 0, 0, 0]], "k": np.array(1)}
    with pytest.raises(mx.MXNetError, match="does not fit into shape"):
        model.run(graph_inputs)


def test_a_size_of_zero():
    nodes = order([node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["n"]), node("Unsqueeze", ["n", "zeros"], ["n1"]),
                   node("Concat", ["n1", "minuses"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"]),
                   node("Expand", ["x", "shape"], ["e"]),
                   node("Slice", ["x", "zeros", "n1", "zeros"], ["s"])])
    proto = model_of(nodes, [("y", F), ("e", F), ("s", F)])
    model = mx.onnx.load(proto.SerializeToString())
    for n in (2, 2, 2, 2, 2, 2, 3, 0, 5, 0, 1):
        got = model.run({"x": np.ones((n, 3, 4), "float32"), "k": np.array(1)})
        assert [v.shape for v in got.values()] == [(n, 12), (n, 3, 4), (n, 3, 4)]
