"""Shapes that come once in longer models: a decoder whose cache grows runs node by node."""

import threading

import mxnet as mx
import numpy as np
import pytest

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

pytestmark = pytest.mark.sanitized

WIDTH, LAYERS = 8, 4
ONCE = "node by node for shapes that come once"


def layer(i, before):
    """The nodes of one layer, and its weights."""
    rng = np.random.default_rng(i)
    name = lambda *parts: [f"{p}{i}" if p and p[0] != "@" else p[1:] for p in parts]
    node = lambda op, reads, gives, **more: helper.make_node(op, name(*reads), name(gives), **more)
    nodes = [
        node("LayerNormalization", ["@" + before, "scale"], "n", axis=-1),
        node("MatMul", ["n", "wq"], "q"),
        node("MatMul", ["n", "wk"], "k"),
        node("MatMul", ["n", "wv"], "v"),
        node("Concat", ["past", "k"], "present", axis=1),
        node("Shape", ["present"], "sizes"),
        node("Gather", ["sizes", "@one"], "all"),
        node("Cast", ["all"], "count", to=TensorProto.FLOAT),
        node("Transpose", ["present"], "keys", perm=[0, 2, 1]),
        node("MatMul", ["q", "keys"], "raw"),
        node("Div", ["raw", "count"], "scores"),
        node("Softmax", ["scores"], "share", axis=-1),
        node("MatMul", ["share", "present"], "read"),
        node("Add", ["read", "v"], "both"),
        node("Shape", ["n"], "n_sizes"),
        node("Reshape", ["both", "n_sizes"], "mixed"),
        node("MatMul", ["mixed", "wo"], "out"),
        node("Add", ["out", "@" + before], "h"),
    ]
    weights = {f"w{w}{i}": rng.standard_normal((WIDTH, WIDTH)) / 4 for w in "qkvo"}
    weights[f"scale{i}"] = rng.standard_normal(WIDTH)
    return nodes, {k: v.astype("float32") for k, v in weights.items()}


def decoder(chooses=False, layers=LAYERS):
    """`chooses`: with rows of a cache whose numbers are a range of two inputs."""
    info, shape = helper.make_tensor_value_info, ["batch", "past", WIDTH]
    places = np.random.default_rng(9).standard_normal((64, WIDTH)).astype("float32")
    nodes = [
        helper.make_node("Slice", ["places", "start", "end", "zero"], ["place"]),
        helper.make_node("Add", ["x", "place"], ["h"]),
    ]
    weights = {"places": places, "one": np.array(1), "zero": np.array([0])}
    before = "h"
    for i in range(layers):
        more, its = layer(i, before)
        nodes += more
        weights.update(its)
        before = f"h{i}"
    inputs = [info("x", 1, ["batch", 1, WIDTH]), info("start", TensorProto.INT64, [1])]
    inputs += [info("end", TensorProto.INT64, [1])]
    inputs += [info(f"past{i}", 1, shape) for i in range(layers)]
    outputs = [info(before, 1, ["batch", 1, WIDTH])]
    outputs += [info(f"present{i}", 1, ["batch", "all", WIDTH]) for i in range(layers)]
    if chooses:
        nodes.append(helper.make_node("Range", ["first", "last", "one"], ["rows"]))
        nodes.append(helper.make_node("Gather", ["present1", "rows"], ["chosen"], axis=1))
        inputs += [info(name, TensorProto.INT64, []) for name in ("first", "last")]
        outputs.append(info("chosen", 1, ["batch", "count", WIDTH]))
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, tensors)
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


def inputs_of(length, batch=1, seed=0, layers=LAYERS):
    rng = np.random.default_rng(length + 100 * seed)
    make = lambda n: rng.standard_normal((batch, n, WIDTH)).astype("float32")
    given = {"x": make(1), "start": np.array([length % 60]), "end": np.array([length % 60 + 1])}
    return {**given, **{f"past{i}": make(length) for i in range(layers)}}


def check(model, reference, given, tolerance=1e-5):
    got = model.run(given)
    for name, want in zip(got, reference.run(None, given)):
        assert got[name].shape == want.shape
        np.testing.assert_allclose(got[name].asnumpy(), want, rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def proto():
    return decoder()


def test_a_cache_that_grows(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for length in range(3, 14):
        check(model, reference, inputs_of(length))
    assert ONCE in model.explain()
    assert model.explain().count("plan of") == 1  # for the first shapes alone
    for length in [20, 40, 1, 0, 5]:
        check(model, reference, inputs_of(length))


def test_a_cache_of_many_layers():
    """As many nodes as real decoders have, and lengths that the first calls say nothing of."""
    layers = 130
    proto = decoder(layers=layers)
    assert len(proto.graph.node) > 2048
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for length in [2, 3, 4, *range(20, 32), *range(90, 100)]:
        check(model, reference, inputs_of(length, layers=layers), tolerance=1e-4)
    assert ONCE in model.explain()
    assert model.explain().count("plan of") <= 8


def test_another_dimension_changes_later(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for batch in [1, 3, 2, 1]:
        for length in range(4, 10):
            check(model, reference, inputs_of(length, batch))


def test_a_shape_that_comes_again_gets_a_plan(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for length in [3, 4, 5, 6]:
        check(model, reference, inputs_of(length))
    before = model.explain().count("plan of")
    for seed in range(17):  # by then, however little calls node by node lose
        check(model, reference, inputs_of(6, seed=seed))
    assert model.explain().count("plan of") == before + 1
    same_shapes = inputs_of(6)
    same_shapes.update(start=np.array([17]), end=np.array([18]))  # contents that plans are made for
    check(model, reference, same_shapes)


def test_other_numbers_that_became_too_many_to_compare():
    """What was few numbers when recipes were written is more later: its contents are in none."""
    proto = decoder(chooses=True)
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    choose = lambda length, first: {**inputs_of(length), "first": np.array(first), "last": np.array(first + length)}
    for length in [3, 4, 5, 6, 70, 71, 72, 73, 74]:
        check(model, reference, choose(length, 0))
    assert ONCE in model.explain()
    check(model, reference, choose(70, 1))


def test_outputs_in_arrays_of_the_caller(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for length in range(3, 9):
        given = inputs_of(length)
        out = {f"present{i}": mx.nd.zeros((1, length + 1, WIDTH)) for i in range(LAYERS)}
        results = model.run(given, out=out)
        for name, want in zip(results, reference.run(None, given)):
            np.testing.assert_allclose(results[name].asnumpy(), want, rtol=1e-5, atol=1e-5)
        assert all(results[name] is out[name] for name in out)


def test_threads_with_lengths_of_their_own(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    failed = []

    def decode(seed):
        try:
            for length in range(2 + seed, 20 + seed):
                check(model, reference, inputs_of(length, seed=seed))
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=decode, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_batch_and_length_change_together(proto):
    """No two calls have a size in common, as in a server that joins requests."""
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for batch, length in [(7, 30), (2, 4), (3, 5), (1, 9), (4, 2), (6, 17), (5, 1)]:
        check(model, reference, inputs_of(length, batch))
    assert model.explain().count("plan of") == 1 and ONCE in model.explain()


def test_last_layer_as_the_plan_reads_it(tmp_path):
    """So many words that rows of one or two are multiplied with the turned weights as they lie:
    what the plan holds is read, not the file."""
    words, rng = 24000, np.random.default_rng(3)
    weights = {"table": rng.standard_normal((words, 32)), "out": rng.standard_normal((32, words)) / 4}
    nodes = [helper.make_node("Gather", ["table", "ids"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("MatMul", ["t", "out"], ["y"])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "words", [info("ids", TensorProto.INT64, ["n", "s"])], [info("y", 1, ["n", "s", words])],
                              [numpy_helper.from_array(v.astype("float32"), k) for k, v in weights.items()])
    path = tmp_path / "words.onnx"
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(proto.SerializeToString())
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(str(path))
    for shape in [(1, 1)] * 6 + [(1, 2), (2, 1), (3, 1), (1, 3), (2, 3), (1, 1), (9, 2)]:
        given = {"ids": rng.integers(0, words, shape)}
        np.testing.assert_allclose(model.run(given)["y"].asnumpy(), reference.run(None, given)[0], rtol=1e-4, atol=1e-4)
