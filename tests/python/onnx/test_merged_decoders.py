"""Decoders whose file has two branches, with and without a cache, chosen by an input: the forms
that `values=` fixes become blocks, and share their weights by name."""
import numpy as np
import pytest
import search_models

import mxnet as mx

helper = search_models.helper
VOCAB, HEADS, SIZE, LAYERS = 23, 2, 8, 2
WIDTH = HEADS * SIZE
CACHES = [f"{part}{i}" for i in range(LAYERS) for part in ("key", "value")]
BOOL, INT64 = search_models.onnx.TensorProto.BOOL, search_models.onnx.TensorProto.INT64


def branch(prefix, shared, cached):
    """A graph without inputs: it reads those of the outer graph, and its weights."""
    g = search_models.Graph(prefix, 0)
    weights = iter(shared)
    x = g("Gather", next(weights), "ids")
    for i in range(LAYERS):
        q, k, v = (g.heads(g("MatMul", x, next(weights)), HEADS) for _ in range(3))
        if cached:
            k, v = (g("Concat", f"past_{part}{i}", now, axis=2) for part, now in (("key", k), ("value", v)))
        for part, now in (("key", k), ("value", v)):
            g("Identity", now, into=f"{prefix}{part}{i}")
        y = g.attend(q, k, v, g.causal(g.size("ids", 1), g.size(k, 2)), SIZE)
        x = g("Add", x, g("MatMul", y, next(weights)))
    g("MatMul", x, next(weights), into=prefix + "logits")
    return g.made(prefix, [], [search_models.info(prefix + n, search_models.FLOAT, None) for n in ["logits"] + CACHES])


def merged():
    shared = search_models.Graph("w", 3)
    names = [shared.weight(VOCAB, WIDTH)]
    for _ in range(LAYERS):
        names += [shared.weight(WIDTH, WIDTH, scale=0.3) for _ in range(4)]
    names.append(shared.weight(WIDTH, VOCAB, scale=0.3))
    node = helper.make_node("If", ["use_cache"], ["logits"] + ["new_" + n for n in CACHES],
                            then_branch=branch("t", names, True), else_branch=branch("e", names, False))
    cache = ["batch", HEADS, "past", SIZE]
    graph = helper.make_graph(
        [node], "merged",
        [search_models.info("ids", INT64, ["batch", "steps"]), search_models.info("use_cache", BOOL, [1])] +
        [search_models.info("past_" + n, search_models.FLOAT, cache) for n in CACHES],
        [search_models.info(n, search_models.FLOAT, None) for n in node.output], shared.weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return mx.onnx.load(made.SerializeToString())


def ids_of(batch, steps):
    return mx.nd.array(np.random.RandomState(steps).randint(0, VOCAB, (batch, steps)), dtype="int64")


def both(model, batch, steps):
    """Blocks of a whole text, and of its last word behind a cache of the others."""
    whole = model.to_block(shapes={"ids": (batch, steps)}, values={"use_cache": [False]})
    past = {"past_" + n: (batch, HEADS, steps - 1, SIZE) for n in CACHES}
    return whole, model.to_block(shapes={"ids": (batch, 1), **past}, values={"use_cache": np.array([True])})


def agree(whole, last, ids):
    logits, *caches = whole(ids)
    made, *longer = last(ids[:, -1:], *[c[:, :, :-1] for c in caches])
    np.testing.assert_allclose(made.asnumpy(), logits[:, -1:].asnumpy(), rtol=1e-4, atol=1e-5)
    for one, other in zip(longer, caches):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-4, atol=1e-5)


def test_branches_become_blocks():
    model = merged()
    ids = ids_of(2, 6)
    whole, last = both(model, 2, 6)
    none = {"past_" + n: np.zeros((2, HEADS, 0, SIZE), "float32") for n in CACHES}
    want = model(ids=ids.asnumpy(), use_cache=np.array([False]), **none)
    for one, other in zip(whole(ids), want):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-5)
    agree(whole, last, ids)


def test_what_one_branch_learned_the_other_takes_by_name():
    whole, last = both(merged(), 2, 6)
    ids = ids_of(2, 6)
    trainer = mx.gluon.Trainer(whole.collect_params(), "adam", {"learning_rate": 0.01})
    loss, losses = mx.gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(30):
        with mx.autograd.record():
            value = loss(whole(ids)[0][:, :-1], ids[:, 1:]).mean()
        value.backward()
        trainer.step(1)
        losses.append(value.asscalar())
    assert losses[-1] < 0.2 * losses[0]
    learned, others = whole.collect_params(), last.collect_params()
    weights = [n for n in learned if n.startswith("w")]
    assert len(weights) == 2 + 4 * LAYERS
    with pytest.raises(AssertionError):
        agree(whole, last, ids)
    for name in weights:
        others[name].set_data(learned[name].data())
    agree(whole, last, ids)


def test_any_batch():
    model = merged()
    symbol, params = model.convert(shapes={"ids": (3, 4)}, values={"use_cache": [False]})
    assert [n for n in symbol.list_inputs() if n not in params] == ["ids"]
    past = {"past_" + n: (2, HEADS, 3, SIZE) for n in CACHES}
    with pytest.raises(ValueError, match="no shapes were given for past_key0"):
        model.convert(shapes={"ids": (2, 1)}, values={"use_cache": [True]})
    kept = model.to_block(shapes={"ids": (2, 1), **past}, values={"use_cache": [False]})
    assert len(kept(ids_of(2, 1), *[mx.nd.zeros(s) for s in past.values()])) == 1 + len(CACHES)


@pytest.mark.parametrize("values, message", [
    ({"other": [True]}, "values has 'other', which is no input"),
    ({"use_cache": [True, False]}, r"input use_cache has shape \(2,\)"),
    ({"use_cache": np.array([1], "int32")}, "input use_cache is int32"),
])
def test_what_is_no_form(values, message):
    shapes = {"ids": (2, 3), **{"past_" + n: (2, HEADS, 3, SIZE) for n in CACHES}}
    with pytest.raises((ValueError, TypeError), match=message):
        merged().to_block(shapes=shapes, values=values)


def test_a_block_of_both_branches():
    """The input chooses in each call; both train the same weights."""
    model, ids = merged(), ids_of(2, 6)
    with pytest.raises(mx.MXNetError, match=r"If\) depends on values that the graph computes.*inputs that are fixed \(values=\)"):
        model.convert(shapes={"ids": (2, 3), **{"past_" + n: (2, HEADS, 3, SIZE) for n in CACHES}})
    block = model.to_block(shapes={"ids": (2, 3), **{"past_" + n: (2, HEADS, 3, SIZE) for n in CACHES}})
    given = {"ids": ids, "use_cache": mx.nd.array([False], dtype=bool)}
    given.update({"past_" + n: mx.nd.zeros((2, HEADS, 0, SIZE)) for n in CACHES} if mx.util.is_np_shape() else
                 {"past_" + n: mx.np.zeros((2, HEADS, 0, SIZE)).as_nd_ndarray() for n in CACHES})
    with mx.autograd.record():
        logits, *caches = block(*[given[i.name] for i in model.inputs])
        value = (logits ** 2).sum()
    value.backward()
    grads = {n: p.grad().asnumpy().copy() for n, p in block.collect_params().items() if n.startswith("w")}
    assert len(grads) == 2 + 4 * LAYERS and all(np.abs(g).max() > 0 for g in grads.values())
    later = {"ids": ids[:, -1:], "use_cache": mx.nd.array([True], dtype=bool)}
    later.update({"past_" + n: c[:, :, :-1] for n, c in zip(CACHES, caches)})
    with mx.autograd.record():
        last = block(*[later[i.name].detach() for i in model.inputs])[0]
        value = (last ** 2).sum()
    value.backward()
    np.testing.assert_allclose(last.asnumpy(), logits[:, -1:].asnumpy(), rtol=1e-4, atol=1e-5)
    assert any(np.abs(p.grad().asnumpy() - grads[n]).max() > 0 for n, p in block.collect_params().items() if n in grads)


def test_numbers_become_the_models():
    block = merged().to_block(shapes={"ids": (2, 3)}, values={"use_cache": [0]})
    assert block(ids_of(2, 3))[0].shape == (2, 3, VOCAB)
