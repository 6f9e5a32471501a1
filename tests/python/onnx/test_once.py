"""Shapes that come once, in small models: nodes run one by one, and give what a plan gives."""

import os
import re
import threading

import mxnet as mx
import numpy as np
import pytest

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

pytestmark = pytest.mark.sanitized

ONCE = "node by node for shapes that come once"
info, node = helper.make_tensor_value_info, helper.make_node


def model_of(nodes, inputs, outputs, weights, opset=18):
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def classifier():
    """Layers with weights that are cast and scaled first, sizes that are computed, two results."""
    rng = np.random.default_rng(0)
    weights = {
        "w": rng.standard_normal((6, 8)).astype("float32"),
        "b": rng.standard_normal(8).astype("float32"),
        "table": rng.standard_normal((5, 8)).astype("float32"),
        "half": np.array(0.5, "float32"),
        "minus": np.array([-1]),
        "zero": np.array([0]),
    }
    nodes = [
        node("Mul", ["w", "half"], ["w2"]),
        node("Gemm", ["x", "w2", "b"], ["h"]),
        node("Gather", ["table", "ids"], ["rows"]),
        node("Add", ["h", "rows"], ["sum"]),
        node("Relu", ["sum"], ["r"]),
        node("Softmax", ["r"], ["shares"], axis=-1),
        node("ArgMax", ["shares"], ["best"], axis=1, keepdims=0),
        node("Shape", ["x"], ["sizes"]),
        node("Gather", ["sizes", "zero"], ["n"]),
        node("Concat", ["n", "minus"], ["to"], axis=0),
        node("Reshape", ["r", "to"], ["flat"]),
        node("Identity", ["x"], ["same"]),
        node("Identity", ["b"], ["bias"]),
        node("Identity", ["flat"], ["again"]),
    ]
    outputs = [info(n, TensorProto.FLOAT, None) for n in ("shares", "flat", "again", "same", "bias")]
    outputs.append(info("best", TensorProto.INT64, None))
    inputs = [info("x", TensorProto.FLOAT, ["n", 6]), info("ids", TensorProto.INT64, ["n"])]
    return model_of(nodes, inputs, outputs, weights)


def has_plans(model, number):
    """Times decide which shapes get plans; under a sanitizer they say nothing."""
    return model.explain().count("plan of") == number or "libtsan" in os.environ.get("LD_PRELOAD", "")


def inputs_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((n, 6)).astype("float32"), "ids": rng.integers(0, 5, n)}


def check(model, reference, given):
    got = model.run(given)
    for (name, value), want in zip(got.items(), reference.run(None, given)):
        assert value.shape == want.shape and value.dtype == want.dtype, name
        np.testing.assert_allclose(value.asnumpy(), want, rtol=1e-5, atol=1e-6)
    return got


@pytest.fixture(scope="module")
def proto():
    return classifier()


def test_each_batch_once_and_then_again(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for n in [3, 4, 9, 1, 17]:
        check(model, reference, inputs_of(n))
    assert has_plans(model, 1) and ONCE in model.explain()
    for seed in range(17):   # by then, however little calls node by node lose
        for n in [3, 4, 9, 1, 17]:
            check(model, reference, inputs_of(n, seed))
    assert has_plans(model, 5)


def test_results_are_arrays_of_their_own(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for value in check(model, reference, inputs_of(2)).values():
        value[:] = 7
    x = mx.nd.array(inputs_of(5)["x"])
    ids = mx.nd.array(inputs_of(5)["ids"], dtype="int64")
    got = model.run({"x": x, "ids": ids})
    assert ONCE in model.explain()
    want = got["again"].asnumpy()
    got["same"][:] = 7
    got["bias"][:] = 7
    got["flat"][:] = 7
    np.testing.assert_array_equal(x.asnumpy(), inputs_of(5)["x"])
    np.testing.assert_array_equal(got["again"].asnumpy(), want)
    for n in (6, 5):
        check(model, reference, inputs_of(n))


def test_rehearsed_while_shapes_stay(proto):
    """Calls with the same shapes prepare for others, and give what they gave."""
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for seed in range(8):
        check(model, reference, inputs_of(3, seed))
    assert has_plans(model, 1) and ONCE in model.explain()
    for n in (4, 3, 5):
        check(model, reference, inputs_of(n))
    assert has_plans(model, 1)


def rehearsals(model):
    found = re.search(r"rehearsals: (\d+)", model.explain())
    return int(found.group(1)) if found else 0


def test_rehearsed_again_and_again(proto):
    """What new shapes need stays in the caches, for a small part of the time."""
    model, given = mx.onnx.load(proto.SerializeToString()), inputs_of(3)
    want, told = model.run(given), []
    for _ in range(400):
        got = model.run(given)
        told.append(rehearsals(model))
    assert told[:4] == [0, 0, 0, 0] and told[5:54] == [1] * 49   # in the fifth call with the shapes of the one before
    assert told[60:350] == [2] * 290   # 50 calls later; then not for 300, or more where it takes longer than the plan
    for name, array in got.items():
        np.testing.assert_array_equal(array.asnumpy(), want[name].asnumpy())
    calls = 0
    while rehearsals(model) < 3 and calls < 1 << 20:
        model.run(given)
        calls += 1
    assert rehearsals(model) == 3 and has_plans(model, 1)


def test_models_of_fixed_shapes_are_never_rehearsed():
    weights = {"w": np.eye(8, dtype="float32")}
    proto = model_of([node("MatMul", ["x", "w"], ["y"])], [info("x", TensorProto.FLOAT, [2, 8])],
                     [info("y", TensorProto.FLOAT, None)], weights)
    model = mx.onnx.load(proto.SerializeToString())
    for _ in range(70):
        model.run({"x": np.ones((2, 8), "float32")})
    assert rehearsals(model) == 0


def test_recipes_serve_other_batches(proto):
    """What converters made of a batch of 3 serves others; only the Reshape to a computed shape is
    converted anew."""
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for seed in range(6):
        check(model, reference, inputs_of(3, seed))
    served, steps = re.search(r"(\d+) of (\d+) by recipes", model.explain()).groups()
    assert served == steps == "12"
    for n in (4, 1, 9, 2, 30):
        for value in check(model, reference, inputs_of(n, seed=n)).values():
            value[:] = 7
    assert has_plans(model, 1)


def test_recipes_of_converters_that_look_at_shapes():
    """Squeeze and Split look at sizes, Shape gives them, Expand and Slice read them, and where they
    are 1 sums broadcast."""
    nodes = [
        node("Shape", ["x"], ["sizes"]),
        node("Squeeze", ["x"], ["squeezed"]),
        node("Shape", ["squeezed"], ["rest"]),
        node("Expand", ["one", "sizes"], ["ones"]),
        node("Slice", ["x", "from", "sizes"], ["tail"]),
        node("Size", ["x"], ["count"]),
        node("Concat", ["x", "y"], ["joined"], axis=1),
        node("Split", ["joined"], ["left", "right"], axis=1, num_outputs=2),
        node("Add", ["x", "y"], ["sum"]),
        node("Flatten", ["x"], ["flat"]),
        node("MatMul", ["x", "t"], ["product"]),
        node("Transpose", ["y"], ["t"], perm=[0, 2, 1]),
    ]
    nodes[-1], nodes[-2] = nodes[-2], nodes[-1]
    names = [name for n in nodes for name in n.output if name not in ("t", "joined")]
    proto = model_of(nodes, [info("x", TensorProto.FLOAT, ["n", "m", "k"]), info("y", TensorProto.FLOAT, ["n", "p", "k"])],
                     [info(n, TensorProto.INT64 if n in ("sizes", "rest", "count") else TensorProto.FLOAT, None) for n in names],
                     {"one": np.ones(1, "float32"), "from": np.array([1, 1, 0])})
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    rng = np.random.default_rng(0)

    def compare(n, m, p, k):
        check(model, reference, {"x": rng.standard_normal((n, m, k)).astype("float32"),
                                 "y": rng.standard_normal((n, p, k)).astype("float32")})
    for _ in range(6):
        compare(3, 4, 4, 2)
    assert "by recipes" in model.explain()
    for shape in [(5, 4, 4, 2), (3, 1, 4, 2), (1, 4, 4, 2), (3, 4, 1, 2), (3, 4, 4, 1), (1, 1, 1, 1), (2, 6, 1, 7)]:
        compare(*shape)
        compare(*shape)


@pytest.mark.parametrize("shape", [[3, 4], [3, 4, 5], [3, 4, 5, 2], [4]])
def test_recipes_of_normalized_batches(shape):
    """They read the averages of training, which a call that does not train leaves alone."""
    rng = np.random.default_rng(0)
    channels = shape[1] if len(shape) > 1 else 1
    weights = {n: rng.uniform(0.5, 2, channels).astype("float32") for n in ("scale", "bias", "mean", "variance")}
    nodes = [node("Relu", ["x"], ["r"]), node("BatchNormalization", ["r", "scale", "bias", "mean", "variance"], ["n"]),
             node("Exp", ["n"], ["y"])]
    proto = model_of(nodes, [info("x", TensorProto.FLOAT, ["n", *shape[1:]])], [info("y", TensorProto.FLOAT, None)], weights)
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for batch in (3, 3, 3, 3, 3, 3, 4, 1, 9, 4):
        check(model, reference, {"x": rng.standard_normal([batch, *shape[1:]]).astype("float32")})
    served, steps = re.search(r"(\d+) of (\d+) by recipes", model.explain()).groups()
    assert served == steps == "3"


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", list(GATES))
def test_recipes_of_recurrent_layers(op, direction, layout):
    """For any steps and sequences, with the states and lengths of a caller and without."""
    rng, units, inputs, directions = np.random.default_rng(0), 5, 3, 1 + (direction == "bidirectional")
    weights = {"w": (directions, GATES[op] * units, inputs), "r": (directions, GATES[op] * units, units)}
    weights = {name: rng.standard_normal(shape).astype("float32") / 2 for name, shape in weights.items()}
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    layer = lambda names, outputs: node(op, names, outputs, hidden_size=units, direction=direction, layout=layout, **more)
    state = ["batch", directions, units] if layout else [directions, "batch", units]
    proto = model_of([layer(["x", "w", "r"], ["a"]), layer(["x", "w", "r", "", "lengths", "h"], ["b", "c"])],
                     [info("x", TensorProto.FLOAT, ["batch", "steps", inputs] if layout else ["steps", "batch", inputs]),
                      info("lengths", TensorProto.INT32, ["batch"]), info("h", TensorProto.FLOAT, state)],
                     [info(name, TensorProto.FLOAT, None) for name in "abc"], weights)
    model = mx.onnx.load(proto.SerializeToString())
    for steps, batch in [(4, 2)] * 7 + [(5, 2), (1, 2), (7, 3), (6, 1), (9, 18)]:
        given = {"x": rng.standard_normal((batch, steps, inputs) if layout else (steps, batch, inputs)),
                 "h": rng.standard_normal([batch if size == "batch" else size for size in state])}
        given = {name: value.astype("float32") for name, value in given.items()}
        given["lengths"] = rng.integers(1, steps + 1, batch).astype("int32")
        got, want = model.run(given), mx.onnx.load(proto.SerializeToString()).run(given)   # that by a plan
        for name in "abc":
            assert got[name].shape == want[name].shape
            np.testing.assert_allclose(got[name].asnumpy(), want[name].asnumpy(), rtol=1e-5, atol=1e-6)
    assert "2 of 2 by recipes" in model.explain()
    given["h"] = given["h"][..., :4]
    with pytest.raises(mx.MXNetError, match="input 5 has shape|h has shape"):
        model.run(given)


@pytest.mark.parametrize("more", [0, 8])
def test_short_models_that_contents_cut(more):
    """Places of what is not 0: the graph is cut behind them. A long one gets plans of its parts."""
    nodes = [node("Relu", ["x"], ["r0"])]
    nodes += [node("Relu", [f"r{i}"], [f"r{i + 1}"]) for i in range(more)]
    nodes += [node("NonZero", [f"r{more}"], ["at"]), node("Transpose", ["at"], ["places"], perm=[1, 0]),
              node("GatherND", ["x", "places"], ["y"]), node("Exp", ["y"], ["z"])]
    proto = model_of(nodes, [info("x", TensorProto.FLOAT, ["n", 3])], [info("z", TensorProto.FLOAT, ["k"])], {})
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for n in (2, 2, 3, 4, 7, 1):
        check(model, reference, {"x": np.random.default_rng(n).standard_normal((n, 3)).astype("float32")})
    assert (ONCE in model.explain()) == (more == 0)


def test_first_new_shape_waits_for_no_recipes(proto):
    """They are written while shapes stay, or when a second one comes."""
    model = mx.onnx.load(proto.SerializeToString())
    for n, recipes in ((3, False), (4, False), (5, True)):
        model.run(inputs_of(n))
        assert ("by recipes" in model.explain()) == recipes


def test_random_numbers_are_not_drawn_for_a_rehearsal():
    nodes = [node("RandomUniformLike", ["x"], ["r"]), node("Add", ["x", "r"], ["y"])]
    proto = model_of(nodes, [info("x", TensorProto.FLOAT, ["n"])],
                     [info("y", TensorProto.FLOAT, None)], {})
    given = {"x": np.zeros(4, "float32")}

    def drawn(calls):
        mx.random.seed(3)
        model = mx.onnx.load(proto.SerializeToString())
        return [model.run(given)["y"].asnumpy() for _ in range(calls)], model
    first, model = drawn(9)
    assert ONCE not in model.explain()
    second, _ = drawn(9)
    np.testing.assert_array_equal(first, second)
    assert len({y.tobytes() for y in first}) == 9


def test_products_of_a_caller_who_gives_both_factors():
    """Neither is a weight."""
    nodes = [node("MatMul", ["a", "b"], ["ab"]), node("MatMul", ["ab", "w"], ["y"])]
    weights = {"w": np.random.default_rng(0).standard_normal((200, 150)).astype("float32")}
    proto = model_of(nodes, [info(n, TensorProto.FLOAT, [n, "k" + n]) for n in "ab"],
                     [info("y", TensorProto.FLOAT, None)], weights)
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    rng = np.random.default_rng(1)
    for n in (2, 2, 3, 4, 5):
        given = {"a": rng.standard_normal((n, n)).astype("float32"),
                 "b": rng.standard_normal((n, 200)).astype("float32")}
        got, want = model.run(given)["y"].asnumpy(), reference.run(None, given)[0]
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    assert ONCE in model.explain()


def test_outputs_in_arrays_of_the_caller(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for n in (2, 3, 4):
        out = {"shares": mx.nd.zeros((n, 8)), "best": mx.nd.zeros((n,), dtype="int64")}
        given = inputs_of(n)
        got = model.run(given, out=out)
        assert got["shares"] is out["shares"] and got["best"] is out["best"]
        for (_, value), want in zip(got.items(), reference.run(None, given)):
            np.testing.assert_allclose(value.asnumpy(), want, rtol=1e-5, atol=1e-6)


def test_large_batches_have_plans(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for n in (3, 60000):
        check(model, reference, inputs_of(n))
    assert has_plans(model, 2) and ONCE not in model.explain()


def test_errors_name_the_node(proto):
    model = mx.onnx.load(proto.SerializeToString())
    model.run(inputs_of(2))
    given = inputs_of(4)
    given["ids"] = given["ids"][:3]
    with pytest.raises(ValueError, match=r"\[onnx\] node sum \(Add, opset 18\)"):
        model.run(given)
    assert model.run(inputs_of(4))["shares"].shape == (4, 8)


def test_threads_with_batches_of_their_own(proto):
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    failed = []

    def serve(first):
        try:
            for n in range(first, 60, 3):
                check(model, reference, inputs_of(n, seed=n))
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=serve, args=(first,)) for first in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_weights_stay_in_the_file(tmp_path):
    """Layers large enough for forms of their own, in threads that each have ever new batches."""
    rng = np.random.default_rng(2)
    weights = {
        "w": rng.standard_normal((96, 128)).astype("float32"),
        "b": rng.standard_normal(128).astype("float32"),
        "v": rng.standard_normal((128, 40)).astype("float32"),
    }
    nodes = [node("Gemm", ["x", "w", "b"], ["h"]), node("Tanh", ["h"], ["t"]), node("MatMul", ["t", "v"], ["y"])]
    proto = model_of(nodes, [info("x", TensorProto.FLOAT, ["n", 96])], [info("y", TensorProto.FLOAT, ["n", 40])], weights)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    model, failed = mx.onnx.load(str(path)), []

    def serve(first):
        try:
            for n in range(first, 24, 3):
                x = np.random.default_rng(n).standard_normal((n, 96)).astype("float32")
                want = np.tanh(x.astype("float64") @ weights["w"] + weights["b"]) @ weights["v"]
                np.testing.assert_allclose(model.run({"x": x})["y"].asnumpy(), want, rtol=1e-4, atol=1e-4)
        except AssertionError as error:
            failed.append(error)

    serve(3)
    assert ONCE in model.explain()
    threads = [threading.Thread(target=serve, args=(i,)) for i in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]


@pytest.mark.parametrize("kind", ["Conv", "Relu"])
def test_kernels_that_prepare_for_each_shape_get_plans(kind):
    """A long chain: of convolutions each would be prepared for a call alone."""
    weights = {"w": np.full((4, 4, 1), 0.2, "float32")}
    names = ["x"] + [f"h{i}" for i in range(280)] + ["y"]
    nodes = [node(kind, [a, "w"] if kind == "Conv" else [a], [b]) for a, b in zip(names, names[1:])]
    proto = model_of(nodes, [info("x", TensorProto.FLOAT, [1, 4, "n"])],
                     [info("y", TensorProto.FLOAT, None)], weights)
    reference, model = ReferenceEvaluator(proto), mx.onnx.load(proto.SerializeToString())
    for n in (3,) * 8 + (5,):
        given = {"x": np.random.default_rng(n).random((1, 4, n)).astype("float32")}
        np.testing.assert_allclose(model.run(given)["y"].asnumpy(), reference.run(None, given)[0], rtol=1e-4)
    assert (ONCE in model.explain()) == (kind == "Relu")


def test_bits_that_do_not_depend_on_earlier_calls():
    """Plans join nodes and round otherwise; with MXNET_ENFORCE_DETERMINISM each shape has one."""
    rng = np.random.default_rng(0)
    nodes = [node("Mul", ["x", "a"], ["p"]), node("Add", ["p", "b"], ["q"]), node("MatMul", ["q", "w"], ["m"]),
             node("Add", ["m", "b"], ["n"]), node("Sigmoid", ["n"], ["s"]), node("Mul", ["n", "s"], ["y"])]
    weights = {name: rng.standard_normal(shape).astype("float32") for name, shape in (("a", 16), ("b", 16), ("w", (16, 16)))}
    data = model_of(nodes, [info("x", TensorProto.FLOAT, ["n", 16])], [info("y", TensorProto.FLOAT, None)], weights).SerializeToString()
    x = rng.standard_normal((5, 16)).astype("float32")
    with mx.test_utils.environment("MXNET_ENFORCE_DETERMINISM", "1"):
        fresh, model = mx.onnx.load(data), mx.onnx.load(data)
        for n in (3,) * 6 + (4, 7):
            model.run({"x": np.ones((n, 16), "float32")})
        np.testing.assert_array_equal(model.run({"x": x})["y"].asnumpy(), fresh.run({"x": x})["y"].asnumpy())
    assert ONCE not in model.explain()


def test_weights_that_a_call_replaces():
    """An input with a value in the file, given after calls that prepared nodes one by one."""
    graph_inputs = [info("x", TensorProto.FLOAT, ["n", 3]), info("w", TensorProto.FLOAT, [3])]
    proto = model_of([node("Add", ["x", "w"], ["y"])], graph_inputs, [info("y", TensorProto.FLOAT, None)], {"w": np.ones(3, "float32")})
    for before in range(9):
        model = mx.onnx.load(proto.SerializeToString())
        for n in (2,) * before + (3,) * (before > 6):
            assert (model.run({"x": np.zeros((n, 3), "float32")})["y"].asnumpy() == 1).all()
        for n in (2, 4, 5, 2):
            given = {"x": np.zeros((n, 3), "float32"), "w": np.full(3, 5, "float32")}
            assert (model.run(given)["y"].asnumpy() == 5).all()
            del given["w"]
            assert (model.run(given)["y"].asnumpy() == 1).all()
