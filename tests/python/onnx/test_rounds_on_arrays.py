"""Rounds of loops that are no operators of a plan: lists that grow, and what is read of them."""
import numpy as np
import pytest
from import_checks import theirs
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx

node = helper.make_node
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
CONSTANTS = {"w": np.random.RandomState(3).randn(4, 4).astype("float32") * 0.3, "yes": np.bool_(True), "first": np.int64(0),
             "second": np.int64(-2), "last": np.int64(-1), "half": np.float32(0.5), "two": np.int64(2)}


def info(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, FLOAT, None)


def model(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in CONSTANTS.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def loop(nodes, states, results):
    """The rows of x, their number, and the body of a Loop with states and what they become."""
    inner = helper.make_graph([*nodes, node("Identity", ["go"], ["again"])], "body", [info("i", INT, []), info("go", BOOL, []), *states],
                              [info("again", BOOL, []), *results])
    return [node("SplitToSequence", ["x"], ["rows"], axis=0), node("SequenceLength", ["rows"], ["many"]), inner]


def check(data, feeds):
    """Compare with what onnxruntime computes, and with what earlier calls gave."""
    net, kept = mx.onnx.load(data), []
    for one in feeds:
        want = theirs(data, one)
        kept.append((want, list(net.run(one).values())))
        for wanted, given in kept:
            for a, b in zip(wanted, given):
                assert a.shape == b.shape
                np.testing.assert_allclose(b.asnumpy(), a, rtol=1e-5, atol=1e-6)
    return net


def rows(*counts):
    return [{"x": np.random.RandomState(n).randn(n, 4).astype("float32")} for n in counts]


def test_lists_that_rounds_read_and_fill():
    steps = [node("SequenceAt", ["s", "last"], ["a"]), node("SequenceAt", ["s", "second"], ["b"]), node("SequenceAt", ["rows", "i"], ["r"]),
             node("Add", ["a", "b"], ["ab"]), node("MatMul", ["ab", "w"], ["m"]), node("Add", ["m", "r"], ["y"]),
             node("SequenceInsert", ["s", "y"], ["s2"])]
    *before, inner = loop(steps, [sequence("s")], [sequence("s2")])
    nodes = [*before, node("SequenceAt", ["rows", "first"], ["r0"]), node("SequenceConstruct", ["r0", "r0"], ["s0"]),
             node("Loop", ["many", "yes", "s0"], ["filled"], body=inner), node("ConcatFromSequence", ["filled"], ["y_"], axis=0),
             node("ConcatFromSequence", ["s0"], ["start"], axis=0)]
    net = check(model(nodes, [info("x", FLOAT, ["n", 4])], [info("y_"), info("start")]), rows(5, 3, 5, 9, 9))
    text = str(net.explain())
    assert "then filled (Loop) on arrays" in text


def test_elements_of_ever_new_shapes():
    """The first round of a shape goes node by node, later ones have a plan."""
    steps = [node("SequenceAt", ["parts", "i"], ["p"]), node("MatMul", ["p", "w"], ["m"]), node("Relu", ["m"], ["r"]),
             node("SequenceInsert", ["s", "r"], ["s2"])]
    *_, inner = loop(steps, [sequence("s")], [sequence("s2")])
    nodes = [node("SplitToSequence", ["x", "sizes"], ["parts"], axis=0), node("SequenceLength", ["parts"], ["many"]),
             node("SequenceEmpty", [], ["none"]), node("Loop", ["many", "yes", "none"], ["filled"], body=inner),
             node("ConcatFromSequence", ["filled"], ["y"], axis=0)]
    data = model(nodes, [info("x", FLOAT, ["n", 4]), info("sizes", INT, ["k"])], [info("y")])
    sizes = [[1, 2, 3, 2, 1], [4, 1, 1], [7, 6, 5, 4, 3, 2, 1], [2, 2]]
    check(data, [{"x": rows(sum(s))[0]["x"], "sizes": np.array(s)} for s in sizes + sizes])


@pytest.mark.parametrize("kept", ["s", "both"])
def test_a_list_that_somebody_else_has_stays_as_it_is(kept):
    """The list of the round before is a state, too; and two lists grow out of one."""
    steps = [node("SequenceAt", ["rows", "i"], ["r"]), node("SequenceInsert", ["s", "r"], ["s2"]),
             node("SequenceInsert", ["s", "half_row", "first"], ["s3"]), node("Mul", ["r", "half"], ["half_row"])]
    steps = [steps[0], steps[3], steps[1], steps[2]]
    old = "s" if kept == "s" else "s3"
    *before, inner = loop(steps, [sequence("s"), sequence("t")], [sequence("s2"), sequence("t2")])
    if kept == "s":
        inner.node.append(node("SequenceErase", ["s", "last"], ["t2"]))
    else:
        inner.node.append(node("SequenceInsert", [old, "r"], ["t2"]))
    nodes = [*before, node("SequenceAt", ["rows", "first"], ["r0"]), node("SequenceConstruct", ["r0", "r0"], ["s0"]),
             node("Loop", ["many", "yes", "s0", "s0"], ["filled", "other"], body=inner),
             node("ConcatFromSequence", ["filled"], ["y"], axis=0), node("ConcatFromSequence", ["other"], ["z"], axis=0),
             node("ConcatFromSequence", ["s0"], ["start"], axis=0)]
    check(model(nodes, [info("x", FLOAT, ["n", 4])], [info("y"), info("z"), info("start")]), rows(4, 2, 4, 6))


def test_lists_of_the_caller_do_not_grow():
    steps = [node("Mul", ["r0", "half"], ["y"]), node("SequenceInsert", ["s", "y"], ["s2"])]
    *_, inner = loop(steps, [sequence("s")], [sequence("s2")])
    nodes = [node("SequenceAt", ["given", "first"], ["r0"]), node("Loop", ["two", "yes", "given"], ["filled"], body=inner)]
    net = mx.onnx.load(model(nodes, [sequence("given")], [sequence("filled")]))
    given = [mx.nd.ones((2,)), mx.nd.zeros((3,))]
    for _ in range(2):
        assert [a.shape for a in net.run({"given": given})["filled"]] == [(2,), (3,), (2,), (2,)]
        assert len(given) == 2


def test_a_choice_in_a_round_is_part_of_its_plan():
    """An If whose condition the body computes, and a state that grows."""
    branch = lambda name, op: helper.make_graph([node(op, ["p", "half"], [name])], name + "_graph", [], [info(name, FLOAT, [1, 4])])
    steps = [node("Gather", ["t", "last_one"], ["g"], axis=0), node("MatMul", ["g", "w"], ["p"]), node("Mod", ["i", "two"], ["odd"]),
             node("Equal", ["odd", "first"], ["even"]),
             node("If", ["even"], ["c"], then_branch=branch("a", "Mul"), else_branch=branch("b", "Add")),
             node("Concat", ["t", "c"], ["more"], axis=0), node("Concat", ["more", "c"], ["t2"], axis=0)]
    CONSTANTS["last_one"] = np.array([-1])
    inner = helper.make_graph([*steps, node("Identity", ["go"], ["again"])], "body",
                              [info("i", INT, []), info("go", BOOL, []), info("t", FLOAT, ["n", 4])],
                              [info("again", BOOL, []), info("t2", FLOAT, ["m", 4])])
    data = model([node("Loop", ["many", "yes", "x"], ["y"], body=inner)], [info("x", FLOAT, ["n", 4]), info("many", INT, [])],
                 [info("y", FLOAT, ["k", 4])])
    check(data, [{**one, "many": np.array(5)} for one in rows(2, 2, 3)])


def test_errors_of_steps_name_the_node():
    steps = [node("SequenceAt", ["s", "i"], ["a"], name="taken"), node("Mul", ["a", "half"], ["y"]),
             node("SequenceErase", ["s", "first"], ["s2"])]
    *before, inner = loop(steps, [sequence("s")], [sequence("s2"), info("y")])
    nodes = [*before, node("Identity", ["rows"], ["s0"]), node("Loop", ["many", "yes", "s0"], ["left", "y_"], body=inner)]
    net = mx.onnx.load(model(nodes, [info("x", FLOAT, ["n", 4])], [info("y_")]))
    with pytest.raises(mx.MXNetError, match=r"node taken \(SequenceAt, opset 16\): position 2 in a sequence of 2 elements"):
        net.run(rows(4)[0])
