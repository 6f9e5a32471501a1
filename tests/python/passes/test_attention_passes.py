"""Passes for gelu, attention and softmax written out."""
import numpy as np
import pytest

import mxnet as mx
from test_passes import X, bind, compare, operators


# ---- fuse_gelu, fuse_attention

GELUS = {
    "half of x": lambda x: 0.5 * x * (1 + mx.sym.erf(x / np.sqrt(2))),
    "half at the end": lambda x: x * (mx.sym.erf(x * np.sqrt(0.5)) + 1) * 0.5,
    "halved": lambda x: mx.sym.elemwise_mul(x, mx.sym.erf(x / np.sqrt(2)) + 1) / 2,
}


@pytest.mark.parametrize("name", GELUS)
def test_gelu_written_out_joins_the_layer(name):
    net = GELUS[name](mx.sym.FullyConnected(X, num_hidden=6, name="f"))
    fused, _ = compare(net, {"x": (3, 5)}, ["fuse_gelu", "fuse_dense"], tolerance=2e-6)
    assert operators(fused) == ["_fused_dense"]


INTERNAL = mx.sym._internal


@pytest.mark.parametrize("form", ["multiply", "divide"])
def test_numpy_gelu_written_out_joins_the_layer(form):
    y = INTERNAL._npx_fully_connected(X, num_hidden=6, name="f")
    if form == "multiply":
        inner = INTERNAL._npi_multiply_scalar(y, scalar=np.sqrt(0.5), is_int=False)
        half = INTERNAL._npi_multiply_scalar(y, scalar=0.5, is_int=False)
        net = INTERNAL._npi_multiply(half, INTERNAL._npi_add_scalar(INTERNAL._npx_erf(inner), scalar=1))
    else:
        inner = INTERNAL._npi_true_divide_scalar(y, scalar=np.sqrt(2), is_int=False)
        factor = INTERNAL._npi_add_scalar(INTERNAL._npx_erf(inner), scalar=1)
        net = INTERNAL._npi_true_divide_scalar(INTERNAL._npi_multiply(factor, y), scalar=2)
    fused, _ = compare(net, {"x": (3, 5)}, ["fuse_gelu", "fuse_dense"], tolerance=2e-6)
    assert operators(fused) == ["_fused_dense"]


def test_what_is_almost_gelu_stays():
    y = mx.sym.sin(X)
    for net in (0.4 * y * (1 + mx.sym.erf(y / np.sqrt(2))), 0.5 * y * (2 + mx.sym.erf(y / np.sqrt(2))), 0.5 * y * (1 + mx.sym.erf(y / 1.5)),
                0.5 * X * (1 + mx.sym.erf(y / np.sqrt(2)))):
        assert "LeakyReLU" not in bind(net, {"x": (3, 5)}).get_optimized_symbol().tojson()


MASKS = [None, (6, 7, 9), (1, 7, 9), (6, 1, 9), (1, 1, 9), (6, 7, 1)]


@pytest.mark.parametrize("mask", MASKS)
def test_attention_is_one_operator(mask):
    q, k, v, m = (mx.sym.Variable(n) for n in "qkvm")
    scores = mx.sym.batch_dot(q * 0.5, k, transpose_b=True) / 1.5
    if mask:
        scores = mx.sym.broadcast_add(scores, m)
    net = mx.sym.batch_dot(mx.sym.softmax(scores), v)
    shapes = dict({"q": (6, 7, 5), "k": (6, 9, 5), "v": (6, 9, 3)}, **({"m": mask} if mask else {}))
    fused, _ = compare(net, shapes, ["fuse_attention"])
    assert operators(fused) == ["_fused_attention"]


def split(x, heads):
    x = mx.sym.transpose(mx.sym.reshape(x, shape=(0, 0, heads, -1)), axes=(0, 2, 1, 3))
    return mx.sym.reshape(x, shape=(-3, 0, 0))


def joined(x, heads):
    x = mx.sym.reshape(x, shape=(-4, -1, heads, 0, 0))
    return mx.sym.reshape(mx.sym.transpose(x, axes=(0, 2, 1, 3)), shape=(0, 0, -3))


@pytest.mark.parametrize("masked", [False, True])
def test_attention_reads_heads_side_by_side(masked):
    q, k, v = (split(mx.sym.sin(mx.sym.Variable(n)), 3) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.3, k, transpose_b=True)
    if masked:
        scores = mx.sym.broadcast_add(scores, mx.sym.Variable("m"))
    net = joined(mx.sym.batch_dot(mx.sym.softmax(scores, axis=-1), v), 3)
    shapes = dict({"q": (2, 70, 12), "k": (2, 900, 12), "v": (2, 900, 6)}, **({"m": (6, 1, 900)} if masked else {}))
    fused, _ = compare(net, shapes, ["fuse_attention"])
    assert sorted(operators(fused)) == ["_fused_attention", "sin", "sin", "sin"]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("wanted", ["qkv", "q", "k", "v"])
def test_attention_is_one_operator_in_training(mask, wanted):
    q, k, v = (mx.sym.sin(mx.sym.var(n)) if n in wanted else mx.sym.BlockGrad(mx.sym.var(n)) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.5, k, transpose_b=True) / 1.5
    if mask:
        scores = mx.sym.broadcast_add(scores, mx.sym.BlockGrad(mx.sym.cos(mx.sym.var("m"))))
    net = mx.sym.batch_dot(mx.sym.softmax(scores), v)
    shapes = dict({"q": (6, 7, 5), "k": (6, 9, 5), "v": (6, 9, 3)}, **({"m": mask} if mask else {}))
    fused, _ = compare(net, shapes, ["fuse_attention_training"], train=True)
    assert operators(fused).count("_fused_attention") == 1 and operators(fused).count("_backward_fused_attention") == 1
    assert not {"batch_dot", "softmax", "_backward_softmax"} & set(operators(fused))


@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_many_rows_in_training(masked):
    """Several blocks of rows, heads side by side, softmax written out."""
    q, k, v = (split(mx.sym.sin(mx.sym.var(n)), 3) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.3, k, transpose_b=True)
    if masked:
        scores = mx.sym.broadcast_add(scores, mx.sym.BlockGrad(mx.sym.var("m")))
    net = joined(mx.sym.batch_dot(softmax_written_out(scores, "plain", -1), v), 3)
    shapes = dict({"q": (2, 330, 12), "k": (2, 900, 12), "v": (2, 900, 6)}, **({"m": (6, 1, 900)} if masked else {}))
    fused, plain = compare(net, shapes, ["fuse_attention_training", "fuse_softmax"], train=True)
    assert "_backward_fused_attention" in operators(fused) and "transpose" not in operators(fused)
    assert fused.plan_stats()["arena_bytes"] < 0.2 * plain.plan_stats()["arena_bytes"]


def numpy_softmax(x):
    e = INTERNAL._npi_exp(INTERNAL._npi_subtract(x, INTERNAL._npi_max(x, axis=-1, keepdims=True)))
    return INTERNAL._npi_true_divide(e, INTERNAL._npi_sum(e, axis=-1, keepdims=True))


def numpy_attention(mask, softmax, scale, dropout=0):
    """Of NumPy's operators alone; heads are split apart and joined again."""
    def split(x):
        x = INTERNAL._np_transpose(INTERNAL._npx_reshape(x, newshape=(-2, -2, 3, -1)), axes=(0, 2, 1, 3))
        return INTERNAL._npx_reshape(x, newshape=(-5, -2, -2))
    q, k, v = (split(INTERNAL._npi_sin(mx.sym.var(n))) for n in "qkv")
    if scale == "query":
        q = INTERNAL._npi_multiply_scalar(q, scalar=0.3, is_int=False)
    scores = INTERNAL._npx_batch_dot(q, k, transpose_b=True)
    if scale == "scores":
        scores = INTERNAL._npi_true_divide_scalar(scores, scalar=3.5, is_int=False)
    if mask:
        scores = INTERNAL._npi_add(INTERNAL._npx_stop_gradient(mx.sym.var("m")), scores)
    weights = softmax(scores)
    if dropout:
        weights = INTERNAL._npx_dropout(weights, p=dropout)
    y = INTERNAL._npx_reshape(INTERNAL._npx_batch_dot(weights, v), newshape=(-6, -1, 3, -2, -2))
    return INTERNAL._npx_reshape(INTERNAL._np_transpose(y, axes=(0, 2, 1, 3)), newshape=(-2, -2, -5))


NUMPY_SHAPES = {"q": (2, 70, 12), "k": (2, 90, 12), "v": (2, 90, 6)}


@pytest.mark.parametrize("mask", [None, (6, 1, 90), (1, 70, 90)])
@pytest.mark.parametrize("softmax", [INTERNAL._npx_softmax, numpy_softmax])
@pytest.mark.parametrize("scale", ["query", "scores"])
@pytest.mark.parametrize("train", [False, True])
def test_numpy_attention_is_one_operator(mask, softmax, scale, train):
    net = numpy_attention(mask, softmax, scale)
    shapes = dict(NUMPY_SHAPES, **({"m": mask} if mask else {}))
    fused, plain = compare(net, shapes, ["fuse_attention_training", "fuse_attention", "fuse_softmax"], train=train)
    assert not {"batch_dot", "softmax", "_np_transpose", "_npi_exp"} & set(operators(fused)), fused.debug_str()
    assert operators(fused).count("_fused_attention") == 1 and "batch_dot" in operators(plain)
    assert operators(fused).count("_backward_fused_attention") == train
    assert "_fused_attention" in str(fused.explain(runs=0))


def test_numpy_attention_with_dropout_is_one_operator_in_training():
    net = numpy_attention(None, INTERNAL._npx_softmax, "query", dropout=0.4)
    fused = bind(net, NUMPY_SHAPES, train=True)
    names = operators(fused)
    assert "_fused_attention" in names and "_draw_counters" in names and not {"Dropout", "softmax", "batch_dot"} & set(names)
    assert np.isfinite(fused.forward(is_train=True)[0].asnumpy()).all()


def test_attention_with_a_learned_mask_stays_in_training():
    q, k, v, m = (mx.sym.var(n) for n in "qkvm")
    net = mx.sym.batch_dot(mx.sym.softmax(mx.sym.broadcast_add(mx.sym.batch_dot(q, k, transpose_b=True), mx.sym.exp(m))), v)
    shapes = {"q": (6, 7, 5), "k": (6, 9, 5), "v": (6, 9, 3), "m": (1, 7, 9)}
    fused, _ = compare(net, shapes, ["fuse_attention_training"], train=True, fewer=False)
    assert "_fused_attention" not in operators(fused)


def test_what_is_not_attention_stays():
    q, k, v = (mx.sym.Variable(n) for n in "qkv")
    shapes = {"q": (2, 4, 4), "k": (2, 4, 4), "v": (2, 4, 4)}
    scores = mx.sym.batch_dot(q, k, transpose_b=True)
    weights = mx.sym.softmax(scores)
    for net in (mx.sym.batch_dot(mx.sym.softmax(scores, axis=1), v), mx.sym.batch_dot(mx.sym.softmax(scores, temperature=2.0), v),
                mx.sym.Group([mx.sym.batch_dot(weights, v), weights]), mx.sym.batch_dot(weights, v, transpose_b=True),
                mx.sym.batch_dot(mx.sym.softmax(mx.sym.batch_dot(q, k)), v)):
        assert "_fused_attention" not in operators(bind(net, shapes))
    # heads that are split in another way keep their copies
    net = joined(mx.sym.batch_dot(mx.sym.softmax(mx.sym.batch_dot(split(q, 2), split(k, 4), transpose_b=True)), split(v, 2)), 2)
    e = bind(net, {"q": (2, 4, 4), "k": (1, 4, 8), "v": (2, 4, 4)})
    assert "_fused_attention" in operators(e) and "transpose" in operators(e)


# ---- fuse_softmax

def softmax_written_out(x, form, axis):
    def kept(reduction, of):
        return reduction(of, axis=axis, keepdims=True)
    m, centred = kept(mx.sym.max, x), None
    if form == "expand":
        m = mx.sym.expand_dims(mx.sym.max(x, axis=axis), axis=axis)
    elif form == "block":
        m = mx.sym.BlockGrad(kept(mx.sym.max, mx.sym.BlockGrad(x)))
    centred = mx.sym.elemwise_sub(x, mx.sym.broadcast_like(m, x)) if form == "like" else mx.sym.broadcast_sub(x, m)
    if form == "logsumexp":
        return mx.sym.broadcast_sub(x, m + mx.sym.log(kept(mx.sym.sum, mx.sym.exp(centred))))
    if form == "log":
        return mx.sym.broadcast_sub(centred, mx.sym.log(kept(mx.sym.sum, mx.sym.exp(centred))))
    e = mx.sym.exp(centred)
    if form == "twice":
        return mx.sym.broadcast_div(e, kept(mx.sym.sum, mx.sym.exp(mx.sym.broadcast_sub(x, m))))
    if form == "expand":
        return mx.sym.broadcast_div(e, mx.sym.expand_dims(mx.sym.sum(e, axis=axis), axis=axis))
    if form == "like":
        return e / mx.sym.broadcast_like(kept(mx.sym.sum, e), e)
    if form == "reciprocal":
        return mx.sym.broadcast_mul(1 / kept(mx.sym.sum, e), e)
    return mx.sym.broadcast_div(e, kept(mx.sym.sum, e))


@pytest.mark.parametrize("form", ["plain", "block", "expand", "like", "reciprocal", "twice", "log", "logsumexp"])
@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("train", [False, True])
def test_softmax_written_out(form, axis, train):
    net = softmax_written_out(mx.sym.sin(X) * 4, form, axis) * mx.sym.var("w", shape=(4, 3, 7))
    fused, apart = compare(net, {"x": (4, 3, 7)}, ["fuse_softmax"], tolerance=2e-5, train=train)
    name = "log_softmax" if form.startswith("log") else "softmax"
    assert name in operators(fused) and not {"max", "sum", "exp"} & set(operators(fused)) and name not in operators(apart)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_softmax_written_out_in_other_dtypes(dtype):
    fused, _ = compare(softmax_written_out(X, "plain", -1), {"x": (4, 3, 7)}, ["fuse_softmax"],
                       tolerance=1e-12 if dtype == "float64" else 2e-3, dtype=dtype)
    assert "softmax" in operators(fused)


def test_numpy_softmax_written_out():
    def net(x):
        e = mx.sym._internal._npi_exp(mx.sym._internal._npi_subtract(x, mx.sym._internal._npi_max(x, axis=(1,), keepdims=True)))
        return mx.sym._internal._npi_true_divide(e, mx.sym._internal._np_sum(e, axis=1, keepdims=True))
    fused, _ = compare(net(X), {"x": (4, 3, 7)}, ["fuse_softmax"], train=True)
    assert "softmax" in operators(fused)


@pytest.mark.parametrize("form", ["kept", "expand", "reshape"])
@pytest.mark.parametrize("train", [False, True])
def test_numpy_log_softmax_written_out(form, train):
    def over(reduction, of):
        reduced = reduction(of, axis=1, keepdims=form == "kept")
        if form == "expand":
            return INTERNAL._npi_expand_dims(reduced, axis=1)
        return INTERNAL._npx_reshape(reduced, newshape=(4, 1, 7)) if form == "reshape" else reduced
    x = INTERNAL._npi_sin(X)
    centred = INTERNAL._npi_subtract(x, over(INTERNAL._npi_max, x))
    net = INTERNAL._npi_subtract(centred, INTERNAL._npi_log(over(INTERNAL._npi_sum, INTERNAL._npi_exp(centred))))
    fused, apart = compare(net, {"x": (4, 3, 7)}, ["fuse_softmax"], train=train)
    assert "log_softmax" in operators(fused) and "log_softmax" not in operators(apart)


def test_what_only_looks_like_softmax_stays():
    m = mx.sym.max(X, axis=1, keepdims=True)
    e = mx.sym.exp(mx.sym.broadcast_sub(X, m))
    # of a square, over the other axis
    crossed = mx.sym.exp(mx.sym.broadcast_sub(X, mx.sym.expand_dims(mx.sym.max(X, axis=0), axis=1)))
    least = mx.sym.exp(mx.sym.broadcast_sub(X, mx.sym.min(X, axis=1, keepdims=True)))
    others = [mx.sym.broadcast_div(e, mx.sym.sum(e, axis=0, keepdims=True)),
              mx.sym.broadcast_div(e, mx.sym.sum(e, axis=1, keepdims=True) + 1),
              mx.sym.broadcast_div(e, mx.sym.sum(e, axis=1, keepdims=True, exclude=True)),
              mx.sym.broadcast_div(e, mx.sym.sum(mx.sym.exp(mx.sym.broadcast_sub(X * 2, m)), axis=1, keepdims=True)),
              mx.sym.broadcast_div(mx.sym.sum(e, axis=1, keepdims=True), e),
              # the exponentials are needed in any case
              mx.sym.broadcast_div(e, mx.sym.sum(e, axis=1, keepdims=True)) * e,
              mx.sym.broadcast_div(e, mx.sym.sum(e)),
              mx.sym.broadcast_mul(e, mx.sym.sum(e, axis=1, keepdims=True)),
              mx.sym.broadcast_div(crossed, mx.sym.sum(crossed, axis=1, keepdims=True)),
              mx.sym.broadcast_div(least, mx.sym.sum(least, axis=1, keepdims=True))]
    for net in others:
        fused, _ = compare(net, {"x": (5, 5)}, ["fuse_softmax"], fewer=False)
        assert "softmax" not in operators(fused)


def test_softmax_written_out_with_a_gradient_of_the_blocked_sum_stays():
    e = mx.sym.exp(mx.sym.broadcast_sub(X, mx.sym.max(X, axis=1, keepdims=True)))
    net = mx.sym.broadcast_div(e, mx.sym.BlockGrad(mx.sym.sum(e, axis=1, keepdims=True)))
    fused, _ = compare(net, {"x": (4, 5)}, ["fuse_softmax"], train=True, fewer=False)
    assert "softmax" not in operators(fused)
