"""A MatMul whose second input was transposed reads it as it lies."""
import re

import mxnet as mx
import numpy as np
import pytest

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

node, info = helper.make_node, helper.make_tensor_value_info
RNG = np.random.default_rng(0)


def model_of(nodes, inputs, outputs, dtype=TensorProto.FLOAT):
    graph = helper.make_graph(nodes, "g", [info(n, dtype, s) for n, s in inputs.items()], [info(n, dtype, None) for n in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def keys(perm, *more, last="scores"):
    return [node("Transpose", ["k"], ["t"], perm=perm), node("MatMul", ["q", "t"], [last]), *more]


CASES = {
    "stacks": (keys([0, 1, 3, 2]), [(2, 3, 1, 4), (2, 3, 5, 4)], ["scores"]),
    "batches": (keys([0, 2, 1]), [(2, 3, 4), (2, 5, 4)], ["scores"]),
    "one for all": (keys([0, 1, 3, 2]), [(2, 3, 2, 4), (1, 1, 5, 4)], ["scores"]),
    "fewer dimensions on the left": (keys([0, 1, 3, 2]), [(3, 4), (2, 2, 5, 4)], ["scores"]),
    "a vector": (keys([0, 2, 1]), [(4,), (2, 5, 4)], ["scores"]),
    "other axes": (keys([1, 0, 2]), [(5, 3, 2), (2, 5, 4)], ["scores"]),
    "also a result": (keys([0, 2, 1]), [(2, 3, 4), (2, 5, 4)], ["scores", "t"]),
    "read twice": (keys([0, 2, 1], node("MatMul", ["scores", "k"], ["read"]), node("Relu", ["t"], ["r"])),
                   [(2, 3, 4), (2, 5, 4)], ["read", "r"]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name, dtype):
    """Also of sizes that come once, where nodes run one by one, and of those that come again."""
    nodes, shapes, outputs = CASES[name]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    dims = {n: [None] * len(s) for n, s in zip("qk", shapes)}
    model = model_of(nodes, dims, outputs, kind)
    ours, reference = mx.onnx.load(model.SerializeToString()), ReferenceEvaluator(model)
    for longer in (0, 0, 3, 4, 5, 5, 9, 0):
        feed = {}
        for n, shape in zip("qk", shapes):
            axis = 1 if len(shape) == 3 else 2
            grown = [d + longer if n == "k" and a == axis and d == 5 else d for a, d in enumerate(shape)]
            if name == "other axes" and n == "q":
                grown[0] = 5 + longer
            feed[n] = (RNG.standard_normal(grown) * 3).astype(dtype)
        expected = reference.run(None, feed)
        results = ours(**feed)
        for found, wanted in zip(results if len(outputs) > 1 else [results], expected):
            assert found.shape == wanted.shape and str(np.dtype(found.dtype)) == dtype
            np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-4)


def test_nothing_is_transposed_while_a_cache_grows(tmp_path):
    model = model_of(keys([0, 1, 3, 2]), {"q": [1, 2, 1, 8], "k": [1, 2, None, 8]}, ["scores"])
    ours = mx.onnx.load(model.SerializeToString())
    query = RNG.standard_normal((1, 2, 1, 8)).astype("float32")
    for length in range(3, 20):
        ours(q=query, k=RNG.standard_normal((1, 2, length, 8)).astype("float32"))
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "unused.json"), continuous_dump=False)
    mx.profiler.set_state("run")
    cache = RNG.standard_normal((1, 2, 400, 8)).astype("float32")
    scores = ours(q=query, k=cache).asnumpy()
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps(reset=True)
    np.testing.assert_allclose(scores, query @ cache.swapaxes(2, 3), rtol=1e-5, atol=1e-5)
    assert "_matmul_transposed" in table and not re.search(r"^transpose\b", table, re.M), table


def test_errors_name_the_product():
    model = model_of(keys([0, 2, 1]), {"q": [None] * 3, "k": [None] * 3}, ["scores"])
    model.graph.node[1].name = "attention"
    ours = mx.onnx.load(model.SerializeToString())
    with pytest.raises(mx.MXNetError, match="attention"):
        ours(q=np.ones((2, 3, 4), "float32"), k=np.ones((2, 5, 7), "float32"))


def test_passes_see_the_product():
    """In plans, where attention that is written out becomes one operator."""
    shape = [2, 3, 5, 4]
    model = model_of(keys([0, 1, 3, 2], node("Softmax", ["scores"], ["weights"], axis=-1), node("MatMul", ["weights", "k"], ["y"])),
                     {"q": shape, "k": shape}, ["y"])
    ours = mx.onnx.load(model.SerializeToString())
    feed = {n: RNG.standard_normal(shape).astype("float32") for n in "qk"}
    np.testing.assert_allclose(ours(**feed).asnumpy(), ReferenceEvaluator(model).run(None, feed)[0], rtol=1e-5, atol=1e-5)
    assert "_fused_attention" in str(ours.explain(runs=1))
