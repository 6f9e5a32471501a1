"""Keys and values that an Expand and a Reshape repeat for heads that share them."""
import re

import mxnet as mx
import numpy as np
import pytest

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from test_transposed_products import model_of  # noqa: E402

node = helper.make_node
RNG = np.random.default_rng(0)
GROUPS, TIMES, WIDTH = 2, 3, 4
HEADS = GROUPS * TIMES
DIMS = {"q": [None, HEADS, None, WIDTH], "k": [None, GROUPS, None, WIDTH]}


def ints(name, values):
    return node("Constant", [], [name], value=helper.make_tensor(name, TensorProto.INT64, [len(values)], values))


def parts(expand, reshape, zero=0):
    return [ints("axis", [2]), node("Unsqueeze", ["k", "axis"], ["apart"]), *expand,
            node("Expand", ["apart", "wide"], ["spread"]), *reshape,
            node("Reshape", ["spread", "joined"], ["heads"], allowzero=zero)]


# Sizes of the keys, as exporters write them: all that the graph computes.
SIZES = [node("Shape", ["k"], ["shape"]), ints("zero", [0]), ints("two", [2]), ints("three", [3]),
         node("Slice", ["shape", "zero", "two"], ["front"]), node("Slice", ["shape", "two", "three"], ["length"]),
         ints("times", [TIMES]), ints("width", [WIDTH]), ints("all", [HEADS]), ints("one", [1]),
         node("Slice", ["shape", "zero", "one"], ["batch"])]
FREE = [ints("joined", [0, HEADS, -1, WIDTH])]
COMPUTED = [node("Concat", ["batch", "all", "length", "width"], ["joined"], axis=0)]
FORMS = {
    "sizes of one": parts([ints("wide", [1, 1, TIMES, 1, 1])], FREE),
    "inferred batch": parts([ints("wide", [1, 1, TIMES, 1, 1]), *SIZES, ints("rest", [-1])],
                            [node("Concat", ["rest", "all", "length", "width"], ["joined"], axis=0)]),
    "all sizes": parts([*SIZES, node("Concat", ["front", "times", "length", "width"], ["wide"], axis=0)], COMPUTED),
    "allowzero": parts([ints("wide", [1, 1, TIMES, 1, 1]), *SIZES], COMPUTED, zero=1),
}
KEYS = [node("Transpose", ["heads"], ["turned"], perm=[0, 1, 3, 2]), node("MatMul", ["q", "turned"], ["y"])]
VALUES = [node("MatMul", ["weights", "heads"], ["y"])]


def run_both(model, feeds, rtol=1e-5, atol=1e-4):
    ours, reference = mx.onnx.load(model.SerializeToString()), ReferenceEvaluator(model)
    for feed in feeds:
        results = ours(**feed)
        expected = reference.run(None, feed)
        for found, wanted in zip(results if len(expected) > 1 else [results], expected):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found.asnumpy(), wanted, rtol=rtol, atol=atol)
    return ours


def of_keys(batch, rows, length, dtype="float32"):
    return {"q": RNG.standard_normal((batch, HEADS, rows, WIDTH)).astype(dtype),
            "k": RNG.standard_normal((batch, GROUPS, length, WIDTH)).astype(dtype)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", FORMS)
def test_scores_of_a_growing_cache(form, dtype):
    """In plans, node by node, and where batch and rows change."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = model_of(FORMS[form] + KEYS, DIMS, ["y"], kind)
    sizes = [(2, 1, 5), (2, 1, 5)] + [(2, 1, n) for n in range(6, 12)] + [(1, 3, 7), (3, 1, 7), (2, 4, 1), (2, 1, 12), (2, 1, 5)]
    run_both(model, [of_keys(*s, dtype) for s in sizes])


@pytest.mark.parametrize("form", FORMS)
def test_values_of_a_growing_cache(form):
    model = model_of(FORMS[form] + VALUES, {"weights": [None, HEADS, None, None], "k": DIMS["k"]}, ["y"])
    feeds = []
    for batch, rows, length in [(2, 1, 5), (2, 1, 5), (2, 1, 6), (2, 1, 7), (2, 1, 8), (1, 2, 8), (3, 2, 9), (3, 2, 10)]:
        feeds.append({"weights": RNG.standard_normal((batch, HEADS, rows, length)).astype("float32"), "k": of_keys(batch, 1, length)["k"]})
    run_both(model, feeds)


@pytest.mark.parametrize("form", ["sizes of one", "all sizes"])
def test_nothing_is_repeated_while_a_cache_grows(form, tmp_path):
    ours = run_both(model_of(FORMS[form] + KEYS, DIMS, ["y"]), [of_keys(2, 1, n) for n in range(3, 12)])
    feed = of_keys(2, 1, 300)
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "unused.json"), continuous_dump=False)
    mx.profiler.set_state("run")
    scores = ours(**feed).asnumpy()
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps(reset=True)
    np.testing.assert_allclose(scores, feed["q"] @ np.repeat(feed["k"], TIMES, 1).swapaxes(2, 3), rtol=1e-5, atol=1e-5)
    assert "broadcast_to" not in table and not re.search(r"^transpose\b", table, re.M), table
    assert "_matmul_transposed" in table, table


OTHERS = {
    "groups one after another": [ints("axis", [1]), node("Unsqueeze", ["k", "axis"], ["apart"]), ints("wide", [1, TIMES, 1, 1, 1]),
                                 node("Expand", ["apart", "wide"], ["spread"]), *FREE, node("Reshape", ["spread", "joined"], ["heads"])],
    "others read it": FORMS["sizes of one"] + [node("Relu", ["heads"], ["relu"])],
    "others read what was expanded": FORMS["sizes of one"] + [node("Relu", ["spread"], ["relu"])],
    "also a new batch": [ints("axis", [2]), node("Unsqueeze", ["k", "axis"], ["apart"]), ints("wide", [2, 1, TIMES, 1, 1]),
                         node("Expand", ["apart", "wide"], ["spread"]), *FREE, node("Reshape", ["spread", "joined"], ["heads"])],
    "one group": [ints("axis", [2]), node("Unsqueeze", ["k", "axis"], ["apart"]), ints("wide", [1, 1, 1, 1, 1]),
                  node("Expand", ["apart", "wide"], ["spread"]), ints("joined", [0, GROUPS, -1, WIDTH]),
                  node("Reshape", ["spread", "joined"], ["heads"])],
    "rows of four": [ints("axis", [2]), node("Unsqueeze", ["k", "axis"], ["apart"]), ints("wide", [1, 1, TIMES, 1, 1]),
                     node("Expand", ["apart", "wide"], ["spread"]), ints("joined", [0, 0, -1, WIDTH]),
                     node("Reshape", ["spread", "joined"], ["heads"])],
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_repeats_otherwise(name):
    more = ["relu"] if name.startswith("others") else []
    model = model_of(OTHERS[name] + KEYS, {"q": [None] * 4, "k": [None] * 4}, ["y"] + more)
    batch, heads = (1 if name == "also a new batch" else 2), GROUPS if name in ("one group", "rows of four") else HEADS
    feeds = []
    for length in (5, 5, 6, 7, 8, 9, 5):
        feed = of_keys(batch, 2, length)
        feed["q"] = np.ascontiguousarray(RNG.standard_normal((2, heads, 2, WIDTH)).astype("float32"))
        feeds.append(feed)
    run_both(model, feeds)


@pytest.mark.parametrize("mask", [(1, 1), (2, 1), (2, HEADS)])
def test_attention_with_masks(mask):
    """The head dimension of a mask is 1, or all heads."""
    scores = [node("Transpose", ["heads"], ["turned"], perm=[0, 1, 3, 2]), node("MatMul", ["q", "turned"], ["products"]),
              node("Add", ["products", "mask"], ["scores"]), node("Softmax", ["scores"], ["weights"], axis=-1)]
    values = [node("Unsqueeze", ["v", "axis"], ["apart_v"]), node("Expand", ["apart_v", "wide"], ["spread_v"]),
              node("Reshape", ["spread_v", "joined"], ["heads_v"]), node("MatMul", ["weights", "heads_v"], ["y"])]
    dims = dict(DIMS, v=DIMS["k"], mask=[None] * 4)
    feeds = []
    for rows, length in [(3, 5), (3, 5), (1, 6), (1, 7), (1, 8), (1, 9), (3, 5)]:
        feed = of_keys(2, rows, length)
        feed["v"] = of_keys(2, rows, length)["k"]
        feed["mask"] = RNG.standard_normal(mask + (rows, length)).astype("float32")
        feeds.append(feed)
    ours = run_both(model_of(FORMS["sizes of one"] + scores + values, dims, ["y"]), feeds)
    text = str(ours.explain(runs=1))
    assert "_fused_attention" in text and "broadcast_to /" not in text


def test_errors_name_the_product():
    model = model_of(FORMS["sizes of one"] + KEYS, {"q": [None] * 4, "k": [None] * 4}, ["y"])
    model.graph.node[-1].name = "attention"
    ours = mx.onnx.load(model.SerializeToString())
    with pytest.raises(mx.MXNetError, match="attention"):
        ours(q=np.ones((2, 6, 1, 5), "float32"), k=np.ones((2, 2, 7, 4), "float32"))
