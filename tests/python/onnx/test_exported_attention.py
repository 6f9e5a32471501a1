"""Attention as exporters of PyTorch write `scaled_dot_product_attention`: both operands are scaled
by the root of the scale, keys behind their transpose, and weights that are NaN become zeros."""
import numpy as np
import pytest

import mxnet as mx

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

node, info = helper.make_node, helper.make_tensor_value_info
RNG = np.random.default_rng(0)
HEADS, WIDTH = 3, 8


def scale_of(computed):
    """The root of 1 / sqrt(width): a constant, or computed of the queries' shape."""
    if not computed:
        return [], {"root": np.array(WIDTH ** -0.25, "float32")}
    nodes = [
        node("Shape", ["q"], ["sizes"]),
        node("Slice", ["sizes", "last", "end"], ["width"]),
        node("Cast", ["width"], ["width_f"], to=TensorProto.FLOAT),
        node("Sqrt", ["width_f"], ["root_width"]),
        node("Div", ["one", "root_width"], ["scale"]),
        node("Sqrt", ["scale"], ["root"]),
    ]
    return nodes, {"last": np.array([-1]), "end": np.array([2**63 - 1]), "one": np.array([1], "float32")}


def attention(perm=(0, 1, 3, 2), computed=True, guard=True, mask=True, more=(), outputs=("y",)):
    nodes, weights = scale_of(computed)
    scores = "sum" if mask else "scores"
    nodes += [
        node("Mul", ["q", "root"], ["q_scaled"]),
        node("Transpose", ["k"], ["t"], perm=perm),
        node("Mul", ["t", "root"], ["k_scaled"]),
        node("MatMul", ["q_scaled", "k_scaled"], ["scores"]),
        *([node("Add", ["scores", "mask"], ["sum"])] if mask else []),
        node("Softmax", [scores], ["weights"], axis=-1),
        *([node("IsNaN", ["weights"], ["nan"]), node("Where", ["nan", "zero", "weights"], ["kept"])] if guard else []),
        node("MatMul", ["kept" if guard else "weights", "v"], ["y"]),
        *more,
    ]
    weights["zero"] = np.array(0, "float32")
    inputs = [info(n, TensorProto.FLOAT, [None] * 4) for n in ("q", "k", "v") + (("mask",) if mask else ())]
    graph = helper.make_graph(nodes, "g", inputs, [info(n, TensorProto.FLOAT, None) for n in outputs],
                              [numpy_helper.from_array(a, n) for n, a in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def feed_of(rows, columns, perm=(0, 1, 3, 2), mask=True, batch=2):
    make = lambda *shape: RNG.standard_normal(shape).astype("float32")
    k = make(batch, HEADS, columns, WIDTH)
    feed = {"q": make(batch, HEADS, rows, WIDTH), "k": k if perm == (0, 1, 3, 2) else np.ascontiguousarray(k.swapaxes(1, 2)),
            "v": make(batch, HEADS, columns, WIDTH)}
    if mask:
        feed["mask"] = np.where(RNG.random((batch, 1, rows, columns)) < 0.3, -np.inf, 0).astype("float32")
        feed["mask"][0, 0, 0] = -np.inf   # nothing counts
    return feed


def check(proto, model, feed):
    with np.errstate(invalid="ignore"):
        expected = ReferenceEvaluator(proto).run(None, feed)
    results = model(**feed)
    for found, wanted in zip(results if isinstance(results, (list, tuple)) else [results], expected):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("computed", [True, False])
@pytest.mark.parametrize("perm", [(0, 1, 3, 2), (0, 2, 3, 1)])
def test_it_becomes_one_operator(perm, computed, guard):
    proto = attention(perm, computed, guard)
    model = mx.onnx.load(proto.SerializeToString())
    for _ in range(2):
        check(proto, model, feed_of(5, 7, perm))
    text = str(model.explain(runs=1))
    assert "_fused_attention" in text and "isnan" not in text and "batch_dot" not in text, text


def test_a_row_of_which_nothing_counts_is_zeros_or_nan():
    feed = feed_of(4, 6)
    for guard in (True, False):
        model = mx.onnx.load(attention(guard=guard).SerializeToString())
        for _ in range(2):
            row = model(**feed).asnumpy()[0, :, 0]
        assert (row == 0).all() if guard else np.isnan(row).all()


def test_weights_that_others_read_stay():
    more = [node("ReduceMax", ["weights"], ["largest"], keepdims=0)]
    proto = attention(more=more, outputs=("y", "largest"), mask=False)
    model = mx.onnx.load(proto.SerializeToString())
    for _ in range(2):
        check(proto, model, feed_of(5, 7, mask=False))
    assert "_fused_attention" not in str(model.explain(runs=1))


@pytest.mark.parametrize("computed", [True, False])
def test_nothing_is_transposed_while_a_cache_grows(computed, tmp_path):
    """Node by node, too: the queries' scale takes the keys'."""
    proto = attention(computed=computed, mask=False)
    model = mx.onnx.load(proto.SerializeToString())
    for columns in range(3, 20):
        check(proto, model, feed_of(1, columns, mask=False))
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "unused.json"), continuous_dump=False)
    mx.profiler.set_state("run")
    check(proto, model, feed_of(1, 40, mask=False))
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps(reset=True)
    assert "_matmul_transposed" in table and "\ntranspose" not in table, table


def test_scales_that_are_no_number_stay():
    """A vector behind the transpose scales columns, and may not go to the queries."""
    nodes = [node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]), node("Mul", ["t", "s"], ["u"]), node("MatMul", ["q", "u"], ["y"])]
    inputs = [info(n, TensorProto.FLOAT, [None] * 4) for n in "qk"]
    for shape in [(1,), (1, 1, 1, 1), (WIDTH, 1), (1, HEADS, 1, 1)]:
        scale = RNG.standard_normal(shape).astype("float32")
        graph = helper.make_graph(nodes, "g", inputs, [info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(scale, "s")])
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        model = mx.onnx.load(proto.SerializeToString())
        for columns in (4, 4, 5, 6, 7, 4):
            feed = feed_of(2, columns, mask=False)
            del feed["v"]
            check(proto, model, feed)


def test_a_scaled_cache_that_is_also_a_result():
    more = [node("Relu", ["k_scaled"], ["r"])]
    proto = attention(more=more, outputs=("y", "r", "k_scaled"))
    model = mx.onnx.load(proto.SerializeToString())
    for columns in (4, 4, 5, 6, 7, 4):
        check(proto, model, feed_of(2, columns))
