"""Blocks of models whose shapes depend on contents: cut where contents are needed, and trained
across the cuts. PyTorch, or NumPy, says what gradients are."""
import numpy as np
import pytest

import mxnet as mx
import search_models
from mxnet import autograd, gluon
from import_checks import model, node, theirs
from onnx_checks import onnx

h = onnx.helper
RANDOM = np.random.RandomState(2)


def floats(*shape):
    return (RANDOM.randn(*shape) * 0.5).astype(np.float32)


WEIGHTS = {"w": floats(4, 3), "b": floats(3), "v": floats(3, 2), "zero": np.array(0, "f")}


def kept_rows():
    """Rows of a layer whose sum is above 0, and a layer of these."""
    return [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["h"]), node("ReduceSum", ["h", "one"], ["s"], keepdims=0),
            node("Greater", ["s", "zero"], ["c"]), node("NonZero", ["c"], ["p"]), node("Transpose", ["p"], ["t"], perm=[1, 0]),
            node("GatherND", ["h", "t"], ["k"]), node("MatMul", ["k", "v"], ["y"])]


def loaded(nodes=None, **more):
    nodes, x = nodes or kept_rows(), floats(6, 4)
    read = {name for n in nodes for name in n.input}
    return mx.onnx.load(data_of(nodes, {"x": x}, {n: a for n, a in {**WEIGHTS, "one": np.array([1]), **more}.items() if n in read}))


def data_of(nodes, feeds, weights):
    made = onnx.load_from_string(model(nodes, feeds, weights))
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    return made.SerializeToString()


def want_of(x, og=1, w=WEIGHTS["w"], b=WEIGHTS["b"], v=WEIGHTS["v"]):
    """The result, and gradients of x, w, b, v."""
    hidden = x @ w + b
    keep = hidden.sum(1) > 0
    y = hidden[keep] @ v
    below = np.zeros_like(hidden)
    below[keep] = np.broadcast_to(og, y.shape) @ v.T
    return y, below @ w.T, x.T @ below, below.sum(0), hidden[keep].T @ np.broadcast_to(og, y.shape)


def test_gradients_pass_the_cuts():
    """For other numbers of rows in each call."""
    block = loaded().to_block()
    assert not isinstance(block, gluon.SymbolBlock) and "float32 (n, 4)" in repr(block)
    params = block.collect_params()
    assert {n: p.shape for n, p in params.items()} == {"w": (4, 3), "b": (3,), "v": (3, 2)}
    counts = set()
    for rows in (6, 9, 6, 1):
        x = floats(rows, 4)
        x[0] = WEIGHTS["w"].sum(1) * 9     # one that is kept
        data = mx.nd.array(x)
        data.attach_grad()
        with autograd.record():
            y = block(data)
        y.backward()
        want, *grads = want_of(x)
        counts.add(len(want))
        np.testing.assert_allclose(y.asnumpy(), want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(block(data).asnumpy(), want, rtol=1e-5, atol=1e-5)
        for grad, one in zip([data.grad] + [params[n].grad() for n in "wbv"], grads):
            np.testing.assert_allclose(grad.asnumpy(), one, rtol=1e-4, atol=1e-5)
    assert len(counts) > 1


def test_training_saving_and_writing(tmp_path):
    x, goal = floats(6, 4), floats(1, 2)
    x[0] = WEIGHTS["w"].sum(1) * 9
    path = tmp_path / "rows.onnx"
    path.write_bytes(data_of(kept_rows(), {"x": x}, {**WEIGHTS, "one": np.array([1])}))
    block = mx.onnx.load(path).to_block()
    block.hybridize()
    trainer, losses = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.05}), []
    for _ in range(20):
        with autograd.record():
            loss = ((block(mx.nd.array(x)) - mx.nd.array(goal)) ** 2).sum()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss.asscalar()))
    assert losses[-1] < 0.7 * losses[0]
    y = block(mx.nd.array(x)).asnumpy()
    block.save_parameters(str(tmp_path / "rows.params"))
    again = mx.onnx.load(path).to_block()
    again.load_parameters(str(tmp_path / "rows.params"))
    np.testing.assert_array_equal(again(mx.nd.array(x)).asnumpy(), y)
    written = mx.onnx.export_model(block, onnx_file_path=str(tmp_path / "written.onnx"))
    np.testing.assert_allclose(theirs(written, {"x": x})[0], y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mx.onnx.load(written)(x).asnumpy(), y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mx.onnx.load(path)(x).asnumpy(), want_of(x)[0], rtol=1e-4, atol=1e-5)    # as before


def test_where_nothing_is_found_gradients_are_zeros():
    """Those of the call before would be a mistake, and an error of the trainer."""
    block, x = loaded(zero=np.array(1000, "f")).to_block(), mx.nd.array(floats(5, 4))
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1})
    for _ in range(2):
        with autograd.record():
            y = block(x)
        y.backward()
        trainer.step(1)
        assert y.shape == (0, 2)
    for name, p in block.collect_params().items():
        assert not p.grad().asnumpy().any()
        np.testing.assert_array_equal(p.data().asnumpy(), WEIGHTS[name])


def test_kinds_of_arrays():
    block, x = loaded().to_block(), floats(3, 4)
    assert type(block(mx.np.array(x))) is mx.np.ndarray     # pylint: disable=unidiomatic-typecheck
    assert type(block(mx.nd.array(x))) is mx.nd.NDArray     # pylint: disable=unidiomatic-typecheck
    np.testing.assert_array_equal(block(mx.nd.array(x, dtype="float64")).asnumpy(), block(mx.nd.array(x)).asnumpy())


def test_parts_of_other_blocks():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.body, self.head = loaded().to_block(), gluon.nn.Dense(2, in_units=2)

        def forward(self, x):
            return self.head(self.body(x))

    net, x = Net(), floats(5, 4)
    x[0] = WEIGHTS["w"].sum(1) * 9
    net.head.initialize()
    before = net.body.collect_params()["w"].data().asnumpy()
    np.testing.assert_array_equal(before, WEIGHTS["w"])
    with autograd.record():
        y = net(mx.nd.array(x)).sum()
    y.backward()
    assert np.abs(net.collect_params()["w"].grad().asnumpy()).max() > 0


def test_compressed_rows():
    nodes = [node("MatMul", ["x", "w"], ["m"]), node("ReduceSum", ["m", "one"], ["s"], keepdims=0), node("Greater", ["s", "zero"], ["c"]),
             node("Compress", ["m", "c"], ["y"], axis=0)]
    block, x = loaded(nodes).to_block(), floats(6, 4)
    with autograd.record():
        y = block(mx.nd.array(x))
    y.backward()
    keep = (x @ WEIGHTS["w"]).sum(1) > 0
    np.testing.assert_allclose(y.asnumpy(), (x @ WEIGHTS["w"])[keep], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(block.collect_params()["w"].grad().asnumpy(), np.repeat(x[keep].sum(0)[:, None], 3, 1), rtol=1e-5, atol=1e-6)


def rounds():
    """s = s @ w + b until its sum is 40 or more; all s."""
    body = h.make_graph(
        [node("MatMul", ["s", "w"], ["m"]), node("Add", ["m", "b"], ["n"]), node("ReduceSum", ["n"], ["t"], keepdims=0),
         node("Less", ["t", "most"], ["go"]), node("Identity", ["n"], ["row"])],
        "body", [h.make_tensor_value_info("i", 7, []), h.make_tensor_value_info("c", 9, []), h.make_tensor_value_info("s", 1, None)],
        [h.make_tensor_value_info("go", 9, []), h.make_tensor_value_info("n", 1, None), h.make_tensor_value_info("row", 1, None)])
    return [node("Mul", ["x", "q"], ["start"]), node("Loop", ["", "yes", "start"], ["end", "rows"], body=body),
            node("Mul", ["rows", "q"], ["y"])]


def test_weights_of_loops_learn():
    w, b, q = (np.eye(3) * 1.3 + 0.1).astype("f"), np.array([0.1, 0.2, 0.3], "f"), np.array([1, 2, 3], "f")
    weights = {"w": w, "b": b, "q": q, "yes": np.array(True), "most": np.array(40, "f")}
    made = rounds()
    block = mx.onnx.load(data_of(made, {"x": floats(2, 3)}, weights)).to_block()
    counts = set()
    for at in (1, 2):
        x = np.abs(floats(2, 3)) + at
        params = [mx.nd.array(v) for v in (w, b, q)]
        for p in params:
            p.attach_grad()
        with autograd.record():
            s, rows = mx.nd.array(x) * params[2], []
            while True:
                s = mx.nd.dot(s, params[0]) + params[1]
                rows.append(s)
                if s.sum().asscalar() >= 40:
                    break
            want = mx.nd.stack(*rows) * params[2]
            loss = (want ** 2).sum()
        loss.backward()
        with autograd.record():
            y = block(mx.nd.array(x))
            loss = (y ** 2).sum()
        loss.backward()
        counts.add(len(rows))
        np.testing.assert_allclose(y.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-5)
        for name, p in zip("wbq", params):
            np.testing.assert_allclose(block.collect_params()[name].grad().asnumpy(), p.grad.asnumpy(), rtol=1e-4, atol=1e-3)
    assert len(counts) == 2


def test_branches_of_other_shapes_learn():
    then = h.make_graph([node("MatMul", ["x", "w"], ["a"])], "then", [], [h.make_tensor_value_info("a", 1, None)])
    other = h.make_graph([node("ReduceSum", ["x"], ["e"], keepdims=0)], "else", [], [h.make_tensor_value_info("e", 1, None)])
    nodes = [node("ReduceSum", ["x"], ["s"], keepdims=0), node("Greater", ["s", "zero"], ["c"]),
             node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    block = mx.onnx.load(data_of(nodes, {"x": floats(2, 4)}, {"w": WEIGHTS["w"], "zero": WEIGHTS["zero"]})).to_block()
    x = np.abs(floats(2, 4))
    with autograd.record():
        y = block(mx.nd.array(x))
    y.backward()
    assert y.shape == (2, 3)
    np.testing.assert_allclose(block.collect_params()["w"].grad().asnumpy(), np.repeat(x.sum(0)[:, None], 3, 1), rtol=1e-5)
    data = mx.nd.array(-x)
    data.attach_grad()
    with autograd.record():
        y = block(data)
    y.backward()
    assert y.shape == () or y.shape == (1,)
    np.testing.assert_array_equal(data.grad.asnumpy(), np.ones((2, 4)))


def test_settings_are_no_parameters():
    nodes = [node("Clip", ["x", "low", "high"], ["d"]), *kept_rows()]
    nodes[1].input[0] = "d"
    block = loaded(nodes, low=np.array(-0.3, "f"), high=np.array(0.3, "f")).to_block()
    assert sorted(block.collect_params()) == ["b", "v", "w"]


def test_what_gradients_do_not_pass():
    """An NMS chooses; its scores are floats that learn by what is taken, its boxes do not."""
    nodes = [node("Mul", ["x", "f"], ["s"]), node("SplitToSequence", ["s"], ["p"], axis=0, keepdims=1),
             node("SequenceMap", ["p"], ["r"], body=h.make_graph(
                 [node("NonZero", ["e"], ["z"]), node("Shape", ["z"], ["k"]), node("RandomUniform", [], ["u"], shape=[1]),
                  node("Cast", ["k"], ["kf"], to=1), node("Concat", ["kf", "u"], ["o"], axis=0)],
                 "body", [h.make_tensor_value_info("e", 1, None)], [h.make_tensor_value_info("o", 1, None)])),
             node("ConcatFromSequence", ["r"], ["y"], axis=0)]
    block = mx.onnx.load(data_of(nodes, {"x": floats(2, 4)}, {"f": floats(4)})).to_block()
    assert block(mx.nd.array(floats(2, 4))).shape == (6,)


def test_what_is_wrong(tmp_path):
    block = loaded().to_block()
    with pytest.raises(TypeError, match=r"the block got 0 inputs; accepted: 1, \[x: float32 \(n, 4\)\]"):
        block()
    with pytest.raises(TypeError, match="input x is ndarray; accepted: arrays of mx.nd and mx.np"):
        block(floats(2, 4))
    with pytest.raises(mx.MXNetError, match=r"input x has shape \(2,5\); accepted: float32 \(n, 4\)"):
        block(mx.nd.ones((2, 5)))
    with pytest.raises(mx.MXNetError, match="is no single graph.*accepted: mx.onnx.export_model"):
        block.export(str(tmp_path / "block"))
    with pytest.raises(mx.MXNetError, match="loaded from bytes; accepted: models of files"):
        mx.onnx.export_model(block, onnx_file_path=str(tmp_path / "block.onnx"))


def test_a_search_has_no_gradients():
    feeds = search_models.feeds_of(input_ids=[[3, 4]], max_length=6)
    data = search_models.search("GreedySearch", feeds, {"decoder": search_models.gpt(3)}, 1)
    with pytest.raises(mx.MXNetError, match="GreedySearch.* chooses tokens, which has no gradients.*accepted: calls of the model itself"):
        mx.onnx.load(data).to_block(shapes={"input_ids": (1, 2)})
