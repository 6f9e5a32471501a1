"""Scan, Loop and If inside of plans: what ONNX Runtime computes, without a cut of the graph."""
import numpy as np
import pytest
from import_checks import onnx, theirs
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx

node = helper.make_node
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def check(nodes, feeds, outputs, constants=(), cuts=0, runs=1, opset=19):
    """Compare; `cuts` nodes run on arrays. Returns the model."""
    inputs = [info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in feeds.items()]
    graph = helper.make_graph(nodes, "graph", inputs, [onnx.ValueInfoProto(name=n) for n in outputs],
                              [numpy_helper.from_array(np.asarray(v), k)
                               for k, v in dict(constants).items()])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                             ir_version=9).SerializeToString()
    model, want = mx.onnx.load(data), theirs(data, feeds)
    for _ in range(runs):
        got = [value.asnumpy() for value in model.run(feeds).values()]
        for one, other in zip(want, got):
            assert one.shape == other.shape and one.dtype == other.dtype
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    assert str(model.explain()).count("then ") == cuts
    return model


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


STEP = [node("MatMul", ["s", "W"], ["p"]), node("Tanh", ["p"], ["t"])]
CONSTANTS = {"W": numbers(3, 3), "one": np.float32(1), "yes": np.bool_(True), "ten": np.int64(10),
             "zero": np.int64(0), "1": np.int64(1), "endless": np.int64(2**63 - 1)}


@pytest.mark.parametrize("reverse", [0, 1])
def test_scan_over_several_arrays_and_axes(reverse):
    inner = body([*STEP, node("Add", ["t", "a"], ["s2"]), node("Mul", ["s2", "b"], ["o"]),
                  node("Identity", ["s2"], ["o2"]), node("Identity", ["k"], ["k2"])],
                 [info("s", shape=[3]), info("k", shape=[2]), info("a", shape=[3]),
                  info("b", shape=[3])],
                 [info(n) for n in ("s2", "k2", "o", "o2")])
    scan = node("Scan", ["x", "kept", "A", "B"], ["last", "same", "y", "z"], body=inner,
                num_scan_inputs=2, scan_input_axes=[1, 0], scan_input_directions=[reverse, 0],
                scan_output_axes=[0, -1], scan_output_directions=[0, reverse])
    feeds = {"x": numbers(3), "kept": numbers(2), "A": numbers(3, 4), "B": numbers(4, 3, seed=2)}
    check([node("Exp", ["x0"], ["x"]), scan], {"x0": feeds.pop("x"), **feeds},
          ["last", "same", "y", "z"], CONSTANTS)


def test_pairs_of_rows_as_skl2onnx_writes_them():
    inner = body([node("Identity", ["n"], ["n2"]), node("Sub", ["n", "row"], ["d"]),
                  node("ReduceSumSquare", ["d", "axis"], ["o"], keepdims=0)],
                 [info("n", shape=[None, 3]), info("row", shape=[3])],
                 [info("n2"), info("o")])
    constants = {"rows": numbers(6, 3), "axis": np.array([1])}
    for count in (1, 5):
        check([node("Scan", ["x", "rows"], ["same", "y"], body=inner, num_scan_inputs=1)],
              {"x": numbers(count, 3)}, ["y"], constants)


@pytest.mark.parametrize("reads", [False, True])
def test_counted_loop(reads):
    more = [node("Cast", ["i"], ["f"], to=FLOAT), node("Add", ["t", "f"], ["s2"])] if reads else \
        [node("Add", ["t", "outer"], ["s2"])]
    inner = body([*STEP, *more, node("Identity", ["c"], ["c2"]), node("Neg", ["t"], ["o"])],
                 [info("i", INT, []), info("c", BOOL, []), info("s", shape=[3])],
                 [info("c2", BOOL, []), info("s2"), info("o")])
    check([node("Exp", ["x"], ["outer"]), node("Loop", ["ten", "", "x"], ["y", "z"], body=inner)],
          {"x": numbers(3)}, ["y", "z", "outer"], CONSTANTS)


def test_number_of_rounds_that_is_an_input():
    inner = body([*STEP, node("Identity", ["c"], ["c2"])],
                 [info("i", INT, []), info("c", BOOL, []), info("s", shape=[3])],
                 [info("c2", BOOL, []), info("t")])
    for rounds in (4, 0, -1):
        for starts in ("yes", "go"):
            model = check([node("Loop", ["n", starts, "x"], ["y"], body=inner)],
                          {"x": numbers(3), "n": np.array(rounds), "go": np.array(rounds > 3)},
                          ["y"], CONSTANTS)
    for rounds in range(5):     # one plan for all
        model.run({"x": numbers(3), "n": np.array(rounds), "go": np.array(True)})
    assert str(model.explain()).count("plan of") == 1


def while_body(*results):
    nodes = [*STEP, node("Add", ["k", "1"], ["k2"]), node("Less", ["k2", "limit"], ["c2"]),
             node("Add", ["t", "one"], ["o"])]
    return body(nodes, [info("i", INT, []), info("c", BOOL, []), info("k", INT, []),
                        info("s", shape=[3])],
                [info("c2", BOOL, []), info("k2", INT, []), info("t"), *map(info, results)])


@pytest.mark.parametrize("limit", [1, 7])
def test_a_condition_that_counts(limit):
    """As TensorFlow's loops end. There is no cut behind the loop, whose rows are as many as the
    condition says, and shapes may follow from the number that counts."""
    nodes = [node("Loop", ["", "yes", "zero", "x"], ["k", "last", "rows"], body=while_body("o")),
             node("Slice", ["rows", "end", "far", "first"], ["y"]), node("Reshape", ["k", "flat"], ["size"]),
             node("Expand", ["last", "wide"], ["z"]), node("ConstantOfShape", ["size"], ["zeros"])]
    constants = {**CONSTANTS, "limit": np.int64(limit), "end": np.array([-1]), "far": np.array([2**40]), "first": np.array([0]),
                 "flat": np.array([1]), "wide": np.array([2, 3])}
    model = check(nodes, {"x": numbers(3)}, ["k", "rows", "y", "z", "zeros"], constants)
    block = model.to_block()
    np.testing.assert_allclose(block(mx.nd.array(numbers(3)))[1].asnumpy(), model.run({"x": numbers(3)})["rows"].asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("limit", [5, 0, 100])
@pytest.mark.parametrize("most", ["ten", "endless", ""])
def test_loop_that_its_body_ends(limit, most):
    check([node("Loop", [most, "yes", "zero", "x"], ["k", "y"], body=while_body())],
          {"x": numbers(3), "limit": np.array(limit)}, ["k", "y"], CONSTANTS)


@pytest.mark.parametrize("limit", [5, 100])
def test_rows_of_a_loop_that_its_body_ends(limit):
    nodes = [node("Loop", ["ten", "start", "zero", "x"], ["k", "s", "rows"], body=while_body("o")),
             node("ReduceSum", ["rows"], ["y"], keepdims=0)]
    check([node("Less", ["zero", "limit"], ["start"]), *nodes],
          {"x": numbers(3), "limit": np.array(limit)}, ["k", "rows", "y"], CONSTANTS, runs=2)


def test_loop_that_does_not_start():
    check([node("Loop", ["ten", "go", "zero", "x"], ["k", "y"], body=while_body())],
          {"x": numbers(3), "limit": np.array(9), "go": np.array(False)}, ["k", "y"], CONSTANTS)


@pytest.mark.parametrize("ends", [False, True])
def test_state_that_is_never_read(ends):
    last = node("Less", ["i", "limit"], ["c2"]) if ends else node("Identity", ["c"], ["c2"])
    inner = body([*STEP, last, node("Neg", ["t"], ["u2"])],
                 [info("i", INT, []), info("c", BOOL, []), info("s", shape=[3]),
                  info("u", shape=[3])],
                 [info("c2", BOOL, []), info("t"), info("u2")])
    check([node("Loop", ["ten", "", "x", "x"], ["y", "z"], body=inner)],
          {"x": numbers(3), "limit": np.array(3)}, ["y", "z"], CONSTANTS)


def test_states_that_grow_and_are_read_run_on_arrays():
    inner = body([node("MatMul", ["all", "W"], ["p"]), node("ReduceMax", ["p"], ["t"], axes=[0]),
                  node("Identity", ["c"], ["c2"]), node("Concat", ["all", "t"], ["all2"], axis=0)],
                 [info("i", INT, []), info("c", BOOL, []), info("all", shape=[None, 3])],
                 [info("c2", BOOL, []), info("all2")])
    check([node("Loop", ["ten", "", "x"], ["z"], body=inner)], {"x": numbers(1, 3)}, ["z"],
          CONSTANTS, cuts=1, opset=17, runs=2)


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_what_is_appended(ends, axis):
    """To an array along any axis, and to a sequence: no state of the loop."""
    last = node("Less", ["k2", "limit"], ["c2"]) if ends else node("Identity", ["c"], ["c2"])
    sequence = helper.make_tensor_sequence_value_info
    inner = body([*STEP, node("Add", ["k", "1"], ["k2"]), last,
                  node("Reshape", ["t", "wide"], ["w"]), node("Concat", ["all", "w"], ["all1"],
                                                              axis=axis),
                  node("SequenceInsert", ["q", "t"], ["q1"]), node("Identity", ["all1"], ["all2"]),
                  node("Identity", ["q1"], ["q2"]), node("Neg", ["t"], ["o"])],
                 [info("i", INT, []), info("c", BOOL, []), info("k", INT, []),
                  info("all", shape=[None, None, 3]), sequence("q", FLOAT, None),
                  info("s", shape=[3])],
                 [info("c2", BOOL, []), info("k2", INT, []), info("all2"),
                  sequence("q2", FLOAT, None), info("t"), info("o")])
    nodes = [node("SequenceEmpty", [], ["empty"], dtype=FLOAT),
             node("Reshape", ["x", "wide"], ["first"]),
             node("Loop", ["ten", "", "zero", "first", "empty", "x"],
                  ["k", "all", "q", "y", "z"], body=inner),
             node("ConcatFromSequence", ["q"], ["joined"], axis=0, new_axis=1)]
    check(nodes, {"x": numbers(3), "limit": np.array(4)}, ["k", "all", "joined", "y", "z"],
          {**CONSTANTS, "wide": np.array([1, 1, 3])}, runs=2)


def test_sequences_that_had_elements():
    inner = body([*STEP, node("Identity", ["c"], ["c2"]), node("SequenceInsert", ["q", "t"], ["q2"])],
                 [info("i", INT, []), info("c", BOOL, []), info("s", shape=[3]),
                  helper.make_tensor_sequence_value_info("q", FLOAT, None)],
                 [info("c2", BOOL, []), info("t"),
                  helper.make_tensor_sequence_value_info("q2", FLOAT, None)])
    check([node("SequenceConstruct", ["x"], ["q0"]),
           node("Loop", ["ten", "", "x", "q0"], ["s", "q"], body=inner),
           node("ConcatFromSequence", ["q"], ["joined"], axis=0, new_axis=1)],
          {"x": numbers(3)}, ["s", "joined"], CONSTANTS)


def test_branches_and_loops_in_a_body():
    then = body([node("MatMul", ["s", "W"], ["p"])], [], [info("p")])
    other = body([node("Add", ["s", "one"], ["q"])], [], [info("q")])
    inside = body([node("Mul", ["v", "s"], ["v1"]), node("Tanh", ["v1"], ["v2"]),
                   node("Identity", ["ci"], ["co"])],
                  [info("j", INT, []), info("ci", BOOL, []), info("v", shape=[3])],
                  [info("co", BOOL, []), info("v2")])
    inner = body([node("ReduceSum", ["row"], ["r"], keepdims=0), node("Less", ["r", "one"], ["cc"]),
                  node("If", ["cc"], ["f"], then_branch=then, else_branch=other),
                  node("Loop", ["ten", "", "f"], ["g"], body=inside),
                  node("Add", ["g", "row"], ["s2"]), node("Identity", ["g"], ["o"])],
                 [info("s", shape=[3]), info("row", shape=[3])],
                 [info("s2", shape=[3]), info("o", shape=[3])])
    check([node("Scan", ["x", "D"], ["y", "z"], body=inner, num_scan_inputs=1)],
          {"x": numbers(3), "D": numbers(8, 3, seed=4)}, ["y", "z"], CONSTANTS)


def test_float16():
    inner = body([node("MatMul", ["s", "H"], ["p"]), node("Tanh", ["p"], ["t"]),
                  node("Add", ["t", "row"], ["s2"]), node("Identity", ["s2"], ["o"])],
                 [info("s", TensorProto.FLOAT16, [3]), info("row", TensorProto.FLOAT16, [3])],
                 [info("s2", TensorProto.FLOAT16), info("o", TensorProto.FLOAT16)])
    graph = helper.make_graph(
        [node("Scan", ["x", "D"], ["y", "z"], body=inner, num_scan_inputs=1)], "graph",
        [info("x", TensorProto.FLOAT16, [3]), info("D", TensorProto.FLOAT16, [4, 3])],
        [info("y", TensorProto.FLOAT16, [3]), info("z", TensorProto.FLOAT16, [4, 3])],
        [numpy_helper.from_array(numbers(3, 3).astype("float16"), "H")])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)],
                             ir_version=9).SerializeToString()
    feeds = {"x": numbers(3).astype("float16"), "D": numbers(4, 3).astype("float16")}
    model = mx.onnx.load(data)
    for one, other in zip(theirs(data, feeds), model.run(feeds).values()):
        assert other.dtype == np.float16
        np.testing.assert_allclose(other.asnumpy(), one, atol=1e-2)
    assert "then " not in str(model.explain())


def test_loops_become_symbols():
    inner = body([*STEP, node("Add", ["t", "row"], ["s2"]), node("Identity", ["s2"], ["o"])],
                 [info("s", shape=[3]), info("row", shape=[3])], [info("s2"), info("o")])
    feeds = {"x": numbers(3), "D": numbers(4, 3, seed=1)}
    model = check([node("Scan", ["x", "D"], ["y", "z"], body=inner, num_scan_inputs=1)], feeds,
                  ["y", "z"], CONSTANTS)
    want = [value.asnumpy() for value in model.run(feeds).values()]
    symbol, params = model.convert()
    assert "_npx_foreach" in {n.op for n in symbol.nodes()}
    given = {**params, **{n: mx.nd.array(a) for n, a in feeds.items()}}
    for one, other in zip(want, symbol.bind(mx.cpu(), given).forward()):
        np.testing.assert_allclose(other.asnumpy(), one, rtol=1e-5)


def test_what_a_loop_would_keep_takes_no_memory():
    """Rounds without end keep no states for a backward pass."""
    block = mx.sym.contrib.while_loop(lambda i, x: i < 3, lambda i, x: ([], [i + 1, x * 2]),
                                      [mx.sym.var("i"), mx.sym.var("x")], 2**31 - 1)[1]
    bound = mx.sym.Group(block).simple_bind(mx.cpu(), grad_req="null", i=(1,), x=(1000,))
    bound.arg_dict["i"][:], bound.arg_dict["x"][:] = 0, 1
    assert bound.forward(is_train=False)[1][0].asscalar() == 8


def repeated(rows=6, width=5):
    """What torch's exporter makes of repeat_interleave: a Loop over sequences whose elements get
    their lengths from contents."""
    steps = [node("SequenceAt", ["counts", "i"], ["count"]),
             node("SequenceAt", ["rows", "i"], ["row"]),
             node("Concat", ["count", "width"], ["shape"], axis=0),
             node("Expand", ["row", "shape"], ["many"]),
             node("SequenceInsert", ["before", "many"], ["after"]),
             node("Identity", ["go"], ["again"])]
    sequence = onnx.ValueInfoProto(name="before")
    sequence.type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    loop = body(steps, [info("i", INT, []), info("go", BOOL, []), sequence],
                [info("again", BOOL, []), onnx.ValueInfoProto(name="after")])
    nodes = [node("SplitToSequence", ["x", "ones"], ["rows"], axis=0),
             node("SplitToSequence", ["n", "ones"], ["counts"], axis=0),
             node("SequenceEmpty", [], ["none"]),
             node("Loop", ["most", "yes", "none"], ["found"], body=loop),
             node("ConcatFromSequence", ["found"], ["y"], axis=0)]
    constants = {"ones": np.ones(rows, "int64"), "width": np.array([width]),
                 "most": np.array(rows), "yes": np.array(True)}
    graph = helper.make_graph(
        nodes, "graph", [info("x", FLOAT, [rows, width]), info("n", INT, [rows])], [info("y")],
        [numpy_helper.from_array(v, k) for k, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                             ir_version=8).SerializeToString()


def test_sequences_whose_lengths_are_contents():
    """Rounds by a plan and node by node, in turn, and results that stay what they were."""
    data = repeated()
    model, kept = mx.onnx.load(data), []
    for seed in range(6):
        counts = np.random.RandomState(seed).randint(1, 4, 6)
        feeds = {"x": numbers(6, 5, seed=seed), "n": counts}
        want = np.repeat(feeds["x"], counts, axis=0)
        np.testing.assert_array_equal(theirs(data, feeds)[0], want)
        kept.append((want, model.run(feeds)["y"]))
    for want, got in kept:
        np.testing.assert_array_equal(got.asnumpy(), want)


def reading(length, position="i", more=()):
    """A Loop of `length` rounds that reads elements of a sequence `rows`, and fills another."""
    steps = [*more, node("SequenceAt", ["rows", position], ["r"]), node("Mul", ["r", "s"], ["s2"]),
             node("Add", ["s2", "r"], ["t"]), node("SequenceInsert", ["before", "t"], ["after"]),
             node("Identity", ["go"], ["again"])]
    sequence = onnx.ValueInfoProto(name="before")
    sequence.type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    inner = body(steps, [info("i", INT, []), info("go", BOOL, []), info("s"), sequence],
                 [info("again", BOOL, []), info("s2"), onnx.ValueInfoProto(name="after")])
    return [node("SequenceEmpty", [], ["none"]),
            node("Loop", [length, "yes", "s0", "none"], ["last", "found"], body=inner),
            node("ConcatFromSequence", ["found"], ["y"], axis=0, new_axis=1)]


LENGTH = [node("SequenceLength", ["rows"], ["length"])]


@pytest.mark.parametrize("axis, keepdims, shape", [(0, 0, (3,)), (1, 0, (5,)), (0, 1, (1, 3)), (-1, 1, (5, 1))])
@pytest.mark.parametrize("sizes", [[], ["1"]])
def test_elements_that_have_the_number_of_the_round(axis, keepdims, shape, sizes):
    """Loops of PyTorch over what unbind gives: one operator, and no element is made."""
    split = node("SplitToSequence", ["x", *sizes], ["rows"], axis=axis, keepdims=keepdims)
    feeds = {"x": numbers(5, 3), "s0": numbers(*shape, seed=1)}
    model = check([split, *LENGTH, *reading("length")], feeds, ["last", "y"], CONSTANTS, runs=2)
    symbol = model.convert()[0]
    names = [n.op for n in symbol.nodes()]
    assert "_npx_foreach" in names and "_npi_stack" not in names and len(names) < 12


def test_elements_of_a_sequence_that_is_made_of_tensors():
    """Also where the loop ends before the sequence."""
    made = node("SequenceConstruct", ["a", "b", "a"], ["rows"])
    feeds = {"a": numbers(2, 3), "b": numbers(2, 3, seed=1), "s0": numbers(3, seed=2)}
    check([made, *LENGTH, *reading("length")], {**feeds, "s0": numbers(2, 3, seed=2)}, ["last", "y"], CONSTANTS)
    check([made, *reading("two")], {**feeds, "s0": numbers(2, 3, seed=2)}, ["last", "y"], {**CONSTANTS, "two": np.int64(2)})


@pytest.mark.parametrize("feeds", [{"x": numbers(4, 3)}, {"x": numbers(7, 3)}])
def test_other_elements(feeds):
    """Those that a computed number names."""
    split = node("SplitToSequence", ["x"], ["rows"], axis=0, keepdims=0)
    back = [node("Sub", ["zero", "i"], ["minus"]), node("Sub", ["minus", "1"], ["j"])]
    check([split, *LENGTH, *reading("length", "j", back)], {**feeds, "s0": numbers(3, seed=1)}, ["last", "y"], CONSTANTS, cuts=1, runs=4)


def test_more_rounds_than_elements():
    split = node("SplitToSequence", ["x"], ["rows"], axis=0, keepdims=0)
    graph = helper.make_graph([split, *reading("ten")], "graph", [info("x", FLOAT, [4, 3]), info("s0", FLOAT, [3])], [info("y")],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in CONSTANTS.items()])
    model = mx.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString())
    with pytest.raises(mx.MXNetError, match="position 4 in a sequence of 4 elements"):
        model.run({"x": numbers(4, 3), "s0": numbers(3)})


def texts_model(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", inputs, [info(n, TensorProto.STRING) for n in outputs],
                              [numpy_helper.from_array(np.array(b"-", object), "dash")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)],
                             ir_version=9).SerializeToString()


@pytest.mark.parametrize("rounds", [3, 1])
def test_loops_collect_strings(rounds):
    text = TensorProto.STRING
    inner = body([node("StringConcat", ["s", "dash"], ["s2"]), node("Identity", ["go"], ["go2"]),
                  node("Identity", ["s2"], ["row"])],
                 [info("i", INT, []), info("go", BOOL, []), info("s", text, [2])],
                 [info("go2", BOOL, []), info("s2", text, [2]), info("row", text, [2])])
    data = texts_model([node("Loop", ["n", "", "x"], ["last", "y"], body=inner)],
                       [info("n", INT, []), info("x", text, [2])], ["last", "y"])
    last, rows = mx.onnx.load(data).run({"n": np.array(rounds), "x": ["ab", "c"]}).values()
    assert last.tolist() == ["ab" + rounds * "-", "c" + rounds * "-"]
    assert rows.tolist() == [["ab" + i * "-", "c" + i * "-"] for i in range(1, rounds + 1)]


def test_loops_without_rounds_give_no_strings():
    text = TensorProto.STRING
    inner = body([node("Identity", ["go"], ["go2"]), node("Identity", ["x"], ["row"])],
                 [info("i", INT, []), info("go", BOOL, [])],
                 [info("go2", BOOL, []), info("row", text, [2])])
    data = texts_model([node("Loop", ["n", ""], ["y"], body=inner)],
                       [info("n", INT, []), info("x", text, [2])], ["y"])
    model = mx.onnx.load(data)
    for rounds in (0, 2):
        rows, = model.run({"n": np.array(rounds), "x": ["ab", "c"]}).values()
        assert rows.shape == (rounds, 2) and rows.tolist() == rounds * [["ab", "c"]]


@pytest.mark.parametrize("reverse", [0, 1])
def test_scan_over_strings(reverse):
    text = TensorProto.STRING
    inner = body([node("StringConcat", ["s", "a"], ["s2"]), node("Identity", ["s2"], ["row"])],
                 [info("s", text, [2]), info("a", text, [2])],
                 [info("s2", text, [2]), info("row", text, [2])])
    scan = node("Scan", ["x", "A"], ["last", "y"], body=inner, num_scan_inputs=1,
                scan_input_axes=[1], scan_output_axes=[1], scan_input_directions=[reverse])
    data = texts_model([scan], [info("x", text, [2]), info("A", text, [2, 3])], ["last", "y"])
    feeds = {"x": np.array(["", "-"], object), "A": np.array([list("abc"), list("def")], object)}
    got = mx.onnx.load(data).run({k: v.tolist() for k, v in feeds.items()}).values()
    for one, other in zip(theirs(data, feeds), got):
        assert other.tolist() == one.tolist()


@pytest.mark.parametrize("op", ["Loop", "Scan", "If"])
def test_graphs_with_fewer_results_than_their_nodes(op):
    """The second result would be waited for, for ever."""
    names = {"Loop": (["i", "go", "s"], ["on", "t"]), "Scan": (["s", "e"], ["t"]), "If": ([], ["t"])}[op]
    kinds = {"i": INT, "go": BOOL, "on": BOOL}
    infos = [[info(n, kinds.get(n, FLOAT), [] if n in kinds else None) for n in side] for side in names]
    nodes = [helper.make_node("Identity", ["go"], ["on"])] if op == "Loop" else []
    nodes.append(helper.make_node("Neg", ["x" if op == "If" else "s"], ["t"]))
    graph = body(nodes, *infos)
    inputs, attributes = {"Loop": (["", "c", "x"], {"body": graph}), "Scan": (["x", "x"], {"body": graph, "num_scan_inputs": 1}),
                          "If": (["c"], {"then_branch": graph, "else_branch": graph})}[op]
    node = helper.make_node(op, inputs, ["y", "z"], name="short", **attributes)
    outer = helper.make_graph([node], "g", [info("x", shape=[2]), info("c", BOOL, [])], [info("y"), info("z")])
    model = helper.make_model(outer, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with pytest.raises(mx.MXNetError, match="node short .*has 2 results, its graph body gives"):
        mx.onnx.load(model.SerializeToString())


def test_rounds_that_give_arrays_of_other_shapes():
    """Where its shape changes, a Loop runs on arrays."""
    nodes = [helper.make_node("Concat", ["s", "s"], ["t"], axis=0), helper.make_node("Identity", ["go"], ["on"]),
             helper.make_node("Neg", ["s"], ["row"])]
    rounds = body(nodes, [info("i", INT, []), info("go", BOOL, []), info("s")], [info("on", BOOL, []), info("t"), info("row")])
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "z"], name="grows", body=rounds)
    outer = helper.make_graph([node], "g", [info("x", shape=[2]), info("n", INT, [])], [info("y"), info("z")])
    model = mx.onnx.load(helper.make_model(outer, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString())
    with pytest.raises(mx.MXNetError, match=r"node grows \(Loop, opset 17\): rounds give arrays of shapes \(2,\) and \(4,\)"):
        model.run({"x": np.ones(2, "float32"), "n": np.array(3)})
