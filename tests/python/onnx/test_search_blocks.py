"""A search has no gradients; the graphs that it searches by are models of their own, which are
trained and written into its file."""
import numpy as np
import pytest
import search_models

import mxnet as mx
from mxnet import autograd, gluon
from import_checks import model, node, onnx, theirs

VOCAB = 17


def greedy(tmp_path, outer=False, op="GreedySearch", graphs=None, name="search.onnx", **feeds):
    feeds = search_models.feeds_of(**{"input_ids": [[3, 4]], "max_length": 8, **feeds})
    graphs = graphs or {"decoder": search_models.gpt(3)}
    path = tmp_path / name
    path.write_bytes(search_models.search(op, feeds, graphs, 1, outer=outer))
    return str(path), feeds


def caches(batch, layers=2):
    return [mx.nd.array(np.zeros((2, batch, 2, 0, 4), "f")) for _ in range(layers)]


def texts(ids):
    ids = np.asarray(ids, "i4")
    places = np.broadcast_to(np.arange(ids.shape[1], dtype="i4"), ids.shape)
    with mx.util.np_shape(True):
        return [mx.nd.array(a, dtype="int32") for a in (ids, places, np.ones_like(ids))] + caches(len(ids))


def train(block, goal, rounds=200):
    """Teaches the decoder that each token is followed by that which `goal` says."""
    with mx.util.np_shape(True):
        trainer = gluon.Trainer(block.collect_params(), "adam", {"learning_rate": 0.05})
        measure, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
        random = np.random.RandomState(0)
        for _ in range(rounds):
            ids = random.randint(3, VOCAB, (16, 8))
            with autograd.record():
                loss = measure(block(*texts(ids))[0], mx.nd.array(goal(ids))).mean()
            loss.backward()
            trainer.step(1)
            losses.append(float(loss.asscalar()))
    return losses


@pytest.mark.parametrize("outer", [False, True])
def test_the_decoder_of_a_search_learns(outer, tmp_path):
    path, feeds = greedy(tmp_path, outer)
    search = mx.onnx.load(path)
    decoder = search.subgraph("decoder")
    assert [i.name for i in decoder.inputs] == ["input_ids", "position_ids", "attention_mask", "past_0", "past_1"]
    assert [o.name for o in decoder.outputs] == ["logits", "present_0", "present_1"]
    block = decoder.to_block()
    file = onnx.load(path)
    weights = {t.name for t in (file.graph.initializer if outer else file.graph.node[0].attribute[0].g.initializer) if t.data_type == 1}
    assert {n for n, p in block.collect_params().items()} <= weights
    losses = train(block, lambda ids: (ids + 1) % VOCAB)
    assert losses[-1] < 0.02 * losses[0]
    written = mx.onnx.export_model(block, onnx_file_path=str(tmp_path / "trained.onnx"))
    want = [[3, 4, 5, 6, 7, 8, 9, 10]]
    assert search(**feeds).asnumpy().tolist() != want
    assert mx.onnx.load(written)(**feeds).asnumpy().tolist() == want
    with open(written, "rb") as data:
        assert theirs(data.read(), feeds)[0].tolist() == want


def test_a_search_names_the_graphs_that_learn(tmp_path):
    path, _ = greedy(tmp_path)
    with pytest.raises(ValueError, match=r"no single graph and no block; accepted: .*model\.subgraph\('decoder'\)\.to_block\(\)"):
        mx.onnx.load(path).to_block(shapes={"input_ids": (1, 2)})


def test_an_encoder_and_a_decoder_are_models_of_their_own(tmp_path):
    pair = search_models.Pair(5)
    feeds = {"min_length": 0, "num_beams": 2, "num_return_sequences": 1, "length_penalty": 1.0}
    path, _ = greedy(tmp_path, op="BeamSearch", graphs={"encoder": pair.encoder(), "decoder": pair.decoder()}, **feeds)
    search = mx.onnx.load(path)
    encoder, decoder = search.subgraph("encoder"), search.subgraph("decoder", node="sequences")
    assert [i.name for i in encoder.inputs] == ["encoder_input_ids", "encoder_attention_mask", "decoder_input_ids"]
    assert decoder.inputs[0].name == "input_ids"
    ids = np.array([[3, 4, 5]], "i4")
    given = [mx.nd.array(a, dtype="int32") for a in (ids, np.ones_like(ids), np.array([[2]], "i4"))]
    block = encoder.to_block()
    with autograd.record():
        loss = (block(*given)[0] ** 2).sum()
    loss.backward()
    want = encoder(*given)
    np.testing.assert_allclose(block(*given)[0].asnumpy(), want[0].asnumpy(), rtol=1e-5, atol=1e-6)
    grads = {n: p.grad().asnumpy() for n, p in block.collect_params().items() if p.grad_req != "null"}
    assert sum(np.abs(g).max() > 0 for g in grads.values()) > 10


@pytest.mark.parametrize("name, text", [
    ("encoder", "no graph called encoder; accepted: decoder of sequences .GreedySearch."), ("", "no graph")])
def test_graphs_that_are_not_there(name, text, tmp_path):
    path, _ = greedy(tmp_path)
    search = mx.onnx.load(path)
    with pytest.raises(mx.MXNetError, match=text):
        search.subgraph(name)
    with pytest.raises(mx.MXNetError, match="no graph called decoder of a node called other"):
        search.subgraph("decoder", node="other")
    with pytest.raises(TypeError, match="accepted: names"):
        search.subgraph(3)


def branches(tmp_path):
    """An If in an If, whose branches read a weight and a value of the graphs around them."""
    h = onnx.helper
    result = [onnx.ValueInfoProto(name="r")]
    times, plus = (h.make_graph([node(op, ["h", "w"], ["r"])], op, [], result, []) for op in ("Mul", "Add"))
    choice = node("If", ["c"], ["r"], then_branch=times, else_branch=plus, name="inner")
    inner = h.make_graph([node("Relu", ["x"], ["h"]), choice], "i", [], result)
    other = h.make_graph([node("Identity", ["x"], ["r"])], "o", [], result)
    data = model([node("If", ["c"], ["y"], then_branch=inner, else_branch=other, name="outer")],
                 {"x": np.zeros((2, 3), "f"), "c": np.array(True)}, {"w": np.arange(1, 4).astype("f")})
    path = tmp_path / "if.onnx"
    path.write_bytes(data)
    return str(path)


def test_a_branch_has_weights_and_values_of_the_graphs_around_it(tmp_path):
    whole = mx.onnx.load(branches(tmp_path))
    text = "more than one graph called then_branch; accepted: then_branch of outer .If., then_branch of inner"
    with pytest.raises(mx.MXNetError, match=text):
        whole.subgraph("then_branch")
    outer, inner = whole.subgraph("then_branch", "outer"), whole.subgraph("then_branch", node="inner")
    assert {i.name for i in outer.inputs} == {"x", "c"} and [i.name for i in inner.inputs] == ["h"]
    x = np.array([[-1, 2, 3], [4, -5, 6]], "f")
    np.testing.assert_array_equal(inner(x).asnumpy(), x * [1, 2, 3])
    np.testing.assert_array_equal(outer(x=x, c=np.array(True)).asnumpy(), np.maximum(x, 0) * [1, 2, 3])
    nested = outer.subgraph("else_branch")
    np.testing.assert_array_equal(nested(x).asnumpy(), x + [1, 2, 3])


def test_a_branch_is_written_into_its_file(tmp_path):
    block = mx.onnx.load(branches(tmp_path)).subgraph("then_branch", "outer").subgraph("then_branch").to_block()
    (parameter,) = block.collect_params().values()
    assert parameter.name == "w"
    parameter.set_data(mx.nd.array([2, 2, 2]))
    path = mx.onnx.export_model(block, onnx_file_path=str(tmp_path / "written.onnx"))
    x = np.array([[-1, 2, 3], [4, -5, 6]], "f")
    np.testing.assert_array_equal(mx.onnx.load(path)(x, np.array(True)).asnumpy(), np.maximum(x, 0) * 2)
