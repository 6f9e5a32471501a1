"""EmbeddingBag as PyTorch's exporters write it, a Loop over bags: `to_block` trains it."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
h, T = onnx.helper, onnx.TensorProto
ROWS, WIDTH, OFFSETS = 20, 5, [0, 3, 3, 7]
INDICES = np.array([4, 1, 4, 0, 19, 2, 7, 7, 3, 11])


def constant(name, values, dtype=np.int64):
    return onnx.numpy_helper.from_array(np.array(values, dtype), name)


def table():
    return np.random.RandomState(0).uniform(-1, 1, (ROWS, WIDTH)).astype("float32")


def numbered(kind):
    """torch.onnx.export(dynamo=False): a round for each bag, whose row is stacked."""
    nodes = [h.make_node("Gather", ["off", "i"], ["start"], axis=0), h.make_node("Gather", ["ends", "i"], ["end"], axis=0),
             h.make_node("Unsqueeze", ["start", "zero"], ["start1"]), h.make_node("Unsqueeze", ["end", "zero"], ["end1"]),
             h.make_node("Slice", ["x", "start1", "end1", "zero"], ["part"]), h.make_node("Gather", ["w", "part"], ["rows"], axis=0),
             h.make_node(kind, ["rows", "zero"] if kind == "ReduceSum" else ["rows"], ["row"], keepdims=0,
                         **({} if kind == "ReduceSum" else {"axes": [0]})),
             h.make_node("Cast", ["yes"], ["more"], to=T.BOOL)]
    body = h.make_graph(nodes, "body", [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("go", T.BOOL, [])],
                        [h.make_tensor_value_info("more", T.BOOL, []), h.make_tensor_value_info("row", T.FLOAT, None)])
    return [h.make_node("Slice", ["off", "one", "far", "zero"], ["tail"]), h.make_node("Concat", ["tail", "size"], ["ends"], axis=0),
            h.make_node("Loop", ["number", "yes"], ["bags"], body=body)]


def branch(nodes, output, constants=()):
    return h.make_graph(nodes, output + "_graph", [], [h.make_tensor_value_info(output, T.FLOAT, None)], constants)


def last_apart(kind):
    """How a mean and a maximum of a bag are written: the last bag is told apart."""
    if kind == "ReduceMax":
        one = branch([h.make_node("Slice", ["gathered", "start", "size"], ["r1"])], "r1")
        other = branch([h.make_node("Slice", ["gathered", "start", "end"], ["r2"])], "r2")
        nodes = [h.make_node("Equal", ["i", "last"], ["is_last"]),
                 h.make_node("If", ["is_last"], ["r"], then_branch=one, else_branch=other),
                 h.make_node("ReduceMax", ["r", "zero"], ["row"])]
        return branch(nodes, "row")
    sliced = h.make_node("Slice", ["gathered", "start", "end"], ["r"])
    if kind == "ReduceSum":
        return branch([sliced, h.make_node("ReduceSum", ["r", "zero"], ["row"])], "row")
    divided = branch([h.make_node("Cast", ["left"], ["float_left"], to=T.FLOAT), h.make_node("Div", ["sum", "float_left"], ["m1"])], "m1")
    as_it_is = branch([h.make_node("Identity", ["sum"], ["m2"])], "m2")
    one = branch([h.make_node("ReduceSum", ["r", "zero"], ["sum"]), h.make_node("Sub", ["size", "start"], ["left"]),
                  h.make_node("Greater", ["left", "zero"], ["some"]),
                  h.make_node("If", ["some"], ["m3"], then_branch=divided, else_branch=as_it_is)], "m3")
    other = branch([h.make_node("ReduceMean", ["r", "zero"], ["m4"])], "m4")
    return branch([sliced, h.make_node("Equal", ["i", "last"], ["is_last"]),
                   h.make_node("If", ["is_last"], ["row"], then_branch=one, else_branch=other)], "row")


def counted(kind):
    """torch.onnx.export(dynamo=True): a loop that counts, and inserts rows into a sequence."""
    empty = branch([], "none", [constant("none", np.zeros((1, WIDTH)), np.float32)])
    nodes = [h.make_node("Reshape", ["i", "minus"], ["at"]), h.make_node("CastLike", ["one0", "at"], ["by"]),
             h.make_node("Add", ["at", "by"], ["at1"]), h.make_node("Slice", ["ends", "at", "at1"], ["start"]),
             h.make_node("Add", ["at", "two0"], ["at2"]), h.make_node("Slice", ["ends", "at1", "at2"], ["end"]),
             h.make_node("Equal", ["start", "end"], ["is_empty"]),
             h.make_node("If", ["is_empty"], ["row1"], then_branch=empty, else_branch=last_apart(kind)),
             h.make_node("SequenceInsert", ["list", "row1"], ["list1"]), h.make_node("Add", ["i", "one0"], ["i1"]),
             h.make_node("Less", ["i1", "number"], ["more"])]
    sequence = h.make_tensor_sequence_value_info
    body = h.make_graph(nodes, "body", [h.make_tensor_value_info("n", T.INT64, []), h.make_tensor_value_info("go", T.BOOL, []),
                                        h.make_tensor_value_info("i", T.INT64, []), sequence("list", T.FLOAT, None)],
                        [h.make_tensor_value_info("more", T.BOOL, []), h.make_tensor_value_info("i1", T.INT64, []),
                         sequence("list1", T.FLOAT, None)])
    return [h.make_node("Gather", ["w", "x"], ["picked"]), h.make_node("Mul", ["picked", "ones"], ["gathered"]),
            h.make_node("Concat", ["off", "size"], ["ends"], axis=0), h.make_node("SequenceEmpty", [], ["begin"]),
            h.make_node("Loop", ["", "yes", "zero0", "begin"], ["count", "rows"], body=body),
            h.make_node("ConcatFromSequence", ["rows"], ["bags"], axis=0)]


PADDING = 4


def padded(kind):
    """torch.onnx.export(dynamo=True) with a padding_idx: a loop inside lists places that count."""
    bools, ints = lambda name: h.make_tensor_value_info(name, T.BOOL, []), lambda name: h.make_tensor_value_info(name, T.INT64, [])
    places = h.make_tensor_value_info("places", T.INT64, None)
    below = branch([h.make_node("Add", ["index", "table_rows"], ["moved"])], "moved")
    as_it_is = branch([h.make_node("Identity", ["index"], ["same"])], "same")
    longer = branch([h.make_node("Reshape", ["j", "minus"], ["j1"]), h.make_node("Concat", ["places", "j1"], ["with_j"], axis=0)], "with_j")
    unchanged = branch([h.make_node("Identity", ["places"], ["without_j"])], "without_j")
    inner = h.make_graph(
        [h.make_node("Gather", ["x", "j"], ["index"]), h.make_node("Less", ["index", "zero0"], ["is_below"]),
         h.make_node("If", ["is_below"], ["token"], then_branch=below, else_branch=as_it_is),
         h.make_node("Equal", ["token", "padding"], ["is_padding"]), h.make_node("Not", ["is_padding"], ["counts"]),
         h.make_node("If", ["counts"], ["places1"], then_branch=longer, else_branch=unchanged),
         h.make_node("Add", ["j", "one0"], ["j2"]), h.make_node("Less", ["j2", "end"], ["more_j"])],
        "inner", [ints("m"), bools("go_j"), ints("j"), places],
        [bools("more_j"), ints("j2"), h.make_tensor_value_info("places1", T.INT64, None)])
    empty = branch([], "none", [constant("none", np.zeros((1, WIDTH)), np.float32)])
    some = branch([h.make_node("Gather", ["gathered", "found"], ["r"]), h.make_node(kind, ["r", "zero"], ["row"])], "row")
    nodes = [h.make_node("Gather", ["ends", "i"], ["start"]), h.make_node("Add", ["i", "one0"], ["i1"]),
             h.make_node("Gather", ["ends", "i1"], ["end"]), h.make_node("Less", ["start", "end"], ["any"]),
             h.make_node("Loop", ["", "any", "start", "nothing"], ["j_end", "found"], body=inner),
             h.make_node("Size", ["found"], ["number_found"]), h.make_node("Equal", ["number_found", "zero0"], ["is_empty"]),
             h.make_node("If", ["is_empty"], ["row1"], then_branch=empty, else_branch=some),
             h.make_node("SequenceInsert", ["list", "row1"], ["list1"]), h.make_node("Less", ["i1", "number"], ["more"])]
    sequence = h.make_tensor_sequence_value_info
    body = h.make_graph(nodes, "body", [ints("n"), bools("go"), ints("i"), sequence("list", T.FLOAT, None)],
                        [bools("more"), ints("i1"), sequence("list1", T.FLOAT, None)])
    return [h.make_node("Gather", ["w", "x"], ["picked"]), h.make_node("Mul", ["picked", "ones"], ["gathered"]),
            h.make_node("Concat", ["off", "size"], ["ends"], axis=0), h.make_node("SequenceEmpty", [], ["begin"]),
            h.make_node("Loop", ["", "yes", "zero0", "begin"], ["count", "list_of_rows"], body=body),
            h.make_node("ConcatFromSequence", ["list_of_rows"], ["bags"], axis=0)]


def model(make, kind):
    values = [h.make_tensor_value_info("x", T.INT64, [len(INDICES)]), h.make_tensor_value_info("off", T.INT64, [len(OFFSETS)])]
    constants = [constant("w", table(), np.float32), constant("zero", [0]), constant("one", [1]), constant("far", [2**62]),
                 constant("size", [len(INDICES)]), constant("number", len(OFFSETS)), constant("yes", True, bool),
                 constant("minus", [-1]), constant("zero0", 0), constant("one0", 1), constant("two0", 2),
                 constant("table_rows", ROWS), constant("padding", PADDING), constant("nothing", []),
                 constant("last", len(OFFSETS) - 1), constant("ones", np.ones((len(INDICES), 1)), np.float32)]
    graph = h.make_graph(make(kind), "bags", values, [h.make_tensor_value_info("bags", T.FLOAT, None)], constants)
    for name, key, text in (("w", "pkg.torch.export.graph_signature.InputSpec.kind", "PARAMETER"),
                            ("ones", "pkg.onnxscript.optimizer.folded_from", "['int64_1', 'val_0', 'x']")):
        noted = graph.value_info.add(name=name)
        noted.metadata_props.add(key=key, value=text)
    opset = 13 if make is numbered else 18
    return h.make_model(graph, producer_name="pytorch", opset_imports=[h.make_opsetid("", opset)]).SerializeToString()


def expected(kind, offsets=OFFSETS, padding=None):
    """Bags and the gradient of the table, for a loss that is the sum of squares."""
    w = table()
    bags, gradient = np.zeros((len(offsets), WIDTH), "float32"), np.zeros_like(w)
    for b, (start, end) in enumerate(zip(offsets, [*offsets[1:], len(INDICES)])):
        part = INDICES[start:end]
        part = part[part != padding]
        if not len(part):
            continue
        rows = w[part]
        reduced = {"ReduceSum": rows.sum(0), "ReduceMean": rows.mean(0), "ReduceMax": rows.max(0)}[kind]
        bags[b] = reduced
        for k, row in enumerate(part):
            share = {"ReduceSum": 1, "ReduceMean": 1 / len(part), "ReduceMax": rows.argmax(0) == k}[kind]
            gradient[row] += 2 * reduced * share
    return bags, gradient


@pytest.mark.parametrize("kind", ["ReduceSum", "ReduceMean", "ReduceMax"])
@pytest.mark.parametrize("make", [numbered, counted, padded])
def test_bags_are_trained(make, kind):
    """Rows that are padding count in no bag, and are not trained."""
    block = mx.onnx.load(model(make, kind)).to_block()
    trained = {name: p for name, p in block.collect_params().items() if p.grad_req != "null"}
    assert list(trained) == ["w"]
    x, offsets = mx.nd.array(INDICES, dtype="int64"), mx.nd.array(OFFSETS, dtype="int64")
    with mx.autograd.record():
        bags = block(x, offsets)
        loss = (bags * bags).sum()
    loss.backward()
    wanted, gradient = expected(kind, padding=PADDING if make is padded else None)
    np.testing.assert_allclose(bags.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(trained["w"].grad().asnumpy(), gradient, rtol=1e-5, atol=1e-6)


def test_other_offsets_fit_the_same_block():
    block = mx.onnx.load(model(numbered, "ReduceSum")).to_block()
    x, offsets = mx.nd.array(INDICES, dtype="int64"), mx.nd.array([0, 1, 1, 9], dtype="int64")
    rows = table()[INDICES]
    wanted = [rows[:1].sum(0), rows[:0].sum(0), rows[1:9].sum(0), rows[9:].sum(0)]
    np.testing.assert_allclose(block(x, offsets).asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["ReduceSum", "ReduceMean", "ReduceMax"])
@pytest.mark.parametrize("padding", [PADDING, ROWS - 1])
def test_padding_of_bags_of_one_length(kind, padding):
    """Rows of a table: five bags of two. An index below 0 counts from the end, as padding too."""
    made = onnx.load_from_string(model(padded, kind))
    offsets = [0, 2, 4, 6, 8]
    for c in made.graph.initializer:
        if c.name in ("number", "padding"):
            c.CopyFrom(constant(c.name, {"number": len(offsets), "padding": padding}[c.name]))
    made.graph.initializer.append(constant("off", offsets))
    del made.graph.input[1]
    block = mx.onnx.load(made.SerializeToString()).to_block()
    weight = [p for p in block.collect_params().values() if p.grad_req != "null"]
    x = np.where(INDICES == ROWS - 1, -1, INDICES)
    with mx.autograd.record():
        bags = block(mx.nd.array(x, dtype="int64"))
        loss = (bags * bags).sum()
    loss.backward()
    wanted, gradient = expected(kind, offsets, padding)
    np.testing.assert_allclose(bags.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weight[0].grad().asnumpy(), gradient, rtol=1e-5, atol=1e-6)


def _inside(made, op):
    """The first node of that kind in the loop inside of the loop."""
    body = made.graph
    for _ in range(2):
        body = [n for n in body.node if n.op_type == "Loop"][0].attribute[0].g
    return [n for n in body.node if n.op_type == op][0]


# What is changed in the loop inside, and which places of a bag from `start` on count then.
LIKE_PADDED = {"another comparison": ("Equal", "Greater", lambda place, start: INDICES[place] <= PADDING),
               "indices of the round": ("Gather", None, lambda place, start: INDICES[place - start] != PADDING),
               "padding alone": ("Not", "Identity", lambda place, start: INDICES[place] == PADDING)}


@pytest.mark.parametrize("what", LIKE_PADDED)
def test_loops_that_look_like_padded_bags(what):
    """What differs from a padded bag is computed as it stands, in parts."""
    op, other, counts = LIKE_PADDED[what]
    made = onnx.load_from_string(model(padded, "ReduceSum"))
    node = _inside(made, op)
    if other:
        node.op_type = other
    else:
        node.input[1] = "m"    # the number of the round
    loaded = mx.onnx.load(made.SerializeToString())
    bags = loaded.run({"x": INDICES.astype("int64"), "off": np.array(OFFSETS, "int64")})["bags"].asnumpy()
    for bag, start, end in zip(bags, OFFSETS, [*OFFSETS[1:], len(INDICES)]):
        places = [place for place in range(start, end) if counts(place, start)]
        np.testing.assert_allclose(bag, table()[INDICES[places]].sum(0), rtol=1e-5, atol=1e-6)
    with pytest.raises(mx.MXNetError, match="no single graph"):
        loaded.convert()


REDUCE = h.make_node("ReduceSum", ["r", "zero"], ["row"], keepdims=0)
BROKEN = {
    "no inputs": [h.make_node("Identity", [], ["r"]), REDUCE], "a bare sum": [h.make_node("ReduceSum", [], ["row"])],
    "a bare slice": [h.make_node("Slice", ["x"], ["p"]), h.make_node("Gather", ["w", "p"], ["r"]), REDUCE],
    "bare ends": [h.make_node("Unsqueeze", [], ["u"]), h.make_node("Slice", ["x", "u", "u"], ["p"]),
                  h.make_node("Gather", ["w", "p"], ["r"]), REDUCE],
    "a bare bound": [h.make_node("Gather", ["off"], ["e"]), h.make_node("Unsqueeze", ["e", "zero"], ["u"]),
                     h.make_node("Slice", ["x", "u", "u"], ["p"]), h.make_node("Gather", ["w", "p"], ["r"]), REDUCE]}


@pytest.mark.parametrize("what", BROKEN)
def test_loops_that_look_like_bags(what):
    """Nodes without inputs are an error, wherever they are looked at."""
    broken = onnx.load_from_string(model(numbered, "ReduceSum"))
    body = [n for n in broken.graph.node if n.op_type == "Loop"][0].attribute[0].g
    more = body.node[-1]
    del body.node[:]
    body.node.extend([more, *BROKEN[what]])
    with pytest.raises(mx.MXNetError, match=r"\[onnx\]"):
        mx.onnx.load(broken.SerializeToString()).convert()


@pytest.mark.parametrize("which", ["then_branch", "else_branch"])
def test_branches_that_are_no_graphs(which):
    broken = onnx.load_from_string(model(counted, "ReduceSum"))
    body = [n for n in broken.graph.node if n.op_type == "Loop"][0].attribute[0].g
    choice = [n for n in body.node if n.op_type == "If"][0]
    attribute = [a for a in choice.attribute if a.name == which][0]
    attribute.CopyFrom(h.make_attribute(which, 1))
    with pytest.raises(mx.MXNetError, match=r"\[onnx\]"):
        mx.onnx.load(broken.SerializeToString()).convert()
