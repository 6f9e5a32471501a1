"""Attention on interleaved projections, as GluonNLP 0.10 and Sockeye 2 write it: one operator of
the plan."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from test_passes import bind, compare, operators

pytestmark = pytest.mark.gpu

PASSES = ["fuse_attention", "fuse_attention_training"]
BATCH, SIZE = 3, 4


def variable(name):
    return mx.sym.sin(mx.sym.var(name) * 2)


def attention(kind, heads, between, qkv=None, kv=None):
    """between: what becomes of the scores."""
    if kind == "self":
        qkv = variable("x") if qkv is None else qkv
        scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(qkv, heads=heads)
        return mx.sym.contrib.interleaved_matmul_selfatt_valatt(qkv, between(scores), heads=heads)
    q, kv = variable("q"), variable("kv") if kv is None else kv
    scores = mx.sym.contrib.interleaved_matmul_encdec_qk(q, kv, heads=heads)
    return mx.sym.contrib.interleaved_matmul_encdec_valatt(kv, between(scores), heads=heads)


def shapes_of(kind, heads, rows, columns):
    if kind == "self":
        return {"x": (rows, BATCH, heads * 3 * SIZE)}
    return {"q": (rows, BATCH, heads * SIZE), "kv": (columns, BATCH, heads * 2 * SIZE)}


def check(kind, between, heads=2, rows=7, columns=9, train=False, fused=True, more=None, **kwargs):
    shapes = dict(shapes_of(kind, heads, rows, rows if kind == "self" else columns), **(more or {}))
    e, plain = compare(attention(kind, heads, between), shapes, PASSES, train=train, fewer=fused, **kwargs)
    ops = operators(e)
    assert ops.count("_fused_attention") == int(fused) and ops.count("_backward_fused_attention") == int(fused and train)
    interleaved = [op for op in ops if "interleaved" in op]
    assert len(interleaved) == (0 if fused else 4 if train else 2) and (not fused or not {"softmax", "masked_softmax"} & set(ops))
    assert "_fused_attention" not in operators(plain)
    return e, plain


KINDS = pytest.mark.parametrize("kind", ["self", "encdec"])
TRAIN = pytest.mark.parametrize("train", [False, True])


@KINDS
@TRAIN
@pytest.mark.parametrize("heads, rows, columns", [(1, 1, 1), (1, 7, 9), (2, 9, 7), (3, 33, 1), (12, 5, 31)])
def test_plain(kind, train, heads, rows, columns):
    check(kind, mx.sym.softmax, heads, rows, columns, train)


@TRAIN
def test_several_blocks_of_rows(train):
    e, plain = check("encdec", mx.sym.softmax, 2, 301, 1100, train)
    assert e.plan_stats()["arena_bytes"] < 0.3 * plain.plan_stats()["arena_bytes"]


@KINDS
@TRAIN
@pytest.mark.parametrize("dims", ["all", "rows", "heads", "columns", "one row"])
def test_additive_mask(kind, train, dims):
    rows, columns = 7, 7 if kind == "self" else 9
    shape = {"all": (6, rows, columns), "rows": (1, rows, columns), "heads": (6, 1, columns),
             "columns": (1, 1, columns), "one row": (6, rows, 1)}[dims]
    check(kind, lambda s: mx.sym.softmax(mx.sym.broadcast_add(s * 1.5, mx.sym.BlockGrad(variable("m"))), axis=-1),
          train=train, more={"m": shape})


def ragged(heads, rows, columns):
    """A number from 0 to columns + 1 for each row."""
    n = mx.sym.arange(start=0, stop=BATCH * heads * rows) * 5
    return (mx.sym.cast(mx.sym.reshape(mx.sym.broadcast_mod(n, mx.sym.ones((1,)) * (columns + 2)),
                                       shape=(BATCH * heads, rows)), dtype="int32"))


def per_example(heads, columns, data):
    """As GluonNLP: a variable for each example, broadcast to (batch, rows), heads, and joined."""
    valid = mx.sym.floor(mx.sym.abs(mx.sym.var("n")) * columns)
    zeros = mx.sym.zeros_like(mx.sym.contrib.arange_like(data, axis=0))
    each = mx.sym.cast(mx.sym.broadcast_add(mx.sym.reshape(valid, shape=(-1, 1)), mx.sym.reshape(zeros, shape=(1, -1))), dtype="int32")
    each = mx.sym.broadcast_axis(mx.sym.expand_dims(each, axis=1), axis=1, size=heads)
    return mx.sym.reshape(each, shape=(-1, 0), reverse=True)


def repeated(heads, columns, data):
    """As Sockeye: repeated for heads, then broadcast like the data."""
    valid = mx.sym.repeat(mx.sym.floor(mx.sym.abs(mx.sym.var("n")) * columns), repeats=heads, axis=0)
    return (mx.sym.cast(mx.sym.broadcast_like(mx.sym.expand_dims(valid, axis=1),
                                              mx.sym.swapaxes(data, 0, 1), lhs_axes=(1,),
                                              rhs_axes=(1,)), dtype="int32"))


@KINDS
@TRAIN
@pytest.mark.parametrize("masked", [False, True])
def test_lengths_of_rows(kind, train, masked):
    columns = 7 if kind == "self" else 9
    softmax = lambda s: mx.sym.softmax(mx.sym.broadcast_add(s, mx.sym.BlockGrad(variable("m")))
                                       if masked else s, ragged(2, 7, columns), use_length=True,
                                       axis=-1)
    e, _ = check(kind, softmax, train=train, more={"m": (1, 7, columns)} if masked else None)
    assert "slice_axis" not in operators(e)


@KINDS
@TRAIN
@pytest.mark.parametrize("length", [per_example, repeated])
def test_lengths_of_examples(kind, train, length):
    """Known to be the same for all rows of a head: one number is taken."""
    columns = 7 if kind == "self" else 9
    e, _ = (check(kind, lambda s: mx.sym.softmax(s, length(2, columns, mx.sym.var("like")),
                                                 use_length=True), train=train,
                  more={"n": (BATCH,), "like": (7, BATCH, 1)}))
    assert operators(e).count("slice_axis") == 1


@KINDS
@TRAIN
@pytest.mark.parametrize("dims", ["all", "rows", "columns"])
def test_boolean_mask(kind, train, dims):
    """Rows of which nothing counts are 0."""
    rows, columns = 7, 7 if kind == "self" else 9
    shape = {"all": (6, rows, columns), "rows": (6, rows, 1), "columns": (1, 1, columns)}[dims]
    mask = mx.sym.cast(mx.sym.sin(mx.sym.reshape(mx.sym.arange(start=0, stop=int(np.prod(shape))), shape=shape)) > 0, dtype="bool")
    check(kind, lambda s: mx.sym.masked_softmax(s, mask), train=train)


@KINDS
def test_dropout(kind):
    for train, p in ((False, 0.5), (True, 0.0)):
        check(kind, lambda s: mx.sym.Dropout(mx.sym.softmax(s), p=p), train=train)
        check(kind, lambda s: mx.sym.identity(mx.sym.softmax(mx.sym.identity(s) * 0.5)), train=train)   # as Gluon's layer without dropout


def test_gradients_where_only_one_array_wants_them():
    for name in ("q", "kv"):
        results = []
        for off in ("", ",".join(PASSES)):
            mx.util.set_env("MXNET_PLAN_PASSES_OFF", off)
            wanted = {n: "write" if n == name else "null" for n in ("q", "kv")}
            e = attention("encdec", 2, mx.sym.softmax).simple_bind(mx.cpu(), grad_req=wanted, **shapes_of("encdec", 2, 7, 9))
            for n in e.arg_dict:
                e.arg_dict[n][:] = np.random.RandomState(1).uniform(-1, 1, e.arg_dict[n].shape)
            e.forward(is_train=True)
            e.backward([mx.nd.array(np.linspace(-1, 1, e.outputs[0].size).reshape(e.outputs[0].shape))])
            results.append(e.grad_dict[name].asnumpy())
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
        np.testing.assert_allclose(results[0], results[1], rtol=2e-5, atol=2e-6)


def test_gradients_are_added():
    """Two readers of one projection, and grad_req add."""
    x = mx.sym.var("x")
    net = attention("self", 2, mx.sym.softmax, x * 1) + attention("self", 2, lambda s: mx.sym.softmax(s * 2), x)
    results = []
    for off in ("", ",".join(PASSES)):
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", off)
        e = net.simple_bind(mx.cpu(), grad_req="add", x=(5, BATCH, 24))
        e.arg_dict["x"][:] = np.random.RandomState(1).uniform(-1, 1, e.arg_dict["x"].shape)
        e.grad_dict["x"][:] = 1
        e.forward(is_train=True)
        e.backward([mx.nd.ones(e.outputs[0].shape)])
        results.append(e.grad_dict["x"].asnumpy())
        assert operators(e).count("_fused_attention") == (0 if off else 2)
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
    np.testing.assert_allclose(results[0], results[1], rtol=2e-5, atol=2e-6)


def misses():
    qk, valatt = mx.sym.contrib.interleaved_matmul_selfatt_qk, mx.sym.contrib.interleaved_matmul_selfatt_valatt
    x, y = mx.sym.var("x"), mx.sym.var("y")
    scores = qk(x, heads=2)
    weights = mx.sym.softmax(scores)
    mask = mx.sym.cast(mx.sym.ones((1, 6, 6)), dtype="bool")
    return {
        "values of another array": valatt(y, weights, heads=2),
        "other heads": valatt(x, mx.sym.reshape(mx.sym.softmax(qk(x, heads=4)), shape=(-1, 6, 6)),
                              heads=4)
        + valatt(x, mx.sym.softmax(mx.sym.slice_axis(qk(x, heads=4), axis=0, begin=0, end=6)),
                 heads=2),
        "softmax over queries": valatt(x, mx.sym.softmax(scores, axis=1), heads=2),
        "temperature": valatt(x, mx.sym.softmax(scores, temperature=2.0), heads=2),
        "logarithm": valatt(x, mx.sym.log_softmax(scores), heads=2),
        "weights are looked at": mx.sym.Group([valatt(x, weights, heads=2), weights]),
        "scores are looked at": mx.sym.Group([valatt(x, weights, heads=2), scores]),
        "two masks": valatt(x, mx.sym.masked_softmax(mx.sym.broadcast_add(scores, mx.sym.ones((1, 6, 6))), mask), heads=2),
        "something between": valatt(x, mx.sym.relu(weights - 0.1), heads=2),
        "keys of another array": mx.sym.contrib.interleaved_matmul_encdec_valatt(
            mx.sym.slice_axis(y, axis=2, begin=0, end=16), mx.sym.softmax(mx.sym.contrib.interleaved_matmul_encdec_qk(
                mx.sym.slice_axis(x, axis=2, begin=0, end=8), mx.sym.slice_axis(x, axis=2, begin=0, end=16), heads=2)), heads=2),
    }


@pytest.mark.parametrize("name", misses())
@TRAIN
def test_what_is_almost_attention_stays(name, train):
    net = misses()[name]
    e = bind(net, {n: (6, BATCH, 24) for n in ("x", "y") if n in net.list_arguments()}, train=train)
    assert "_fused_attention" not in operators(e) and any("interleaved" in op for op in operators(e))


def test_learned_masks_and_other_dtypes_stay():
    learned = lambda s: mx.sym.softmax(mx.sym.broadcast_add(s, mx.sym.exp(mx.sym.var("m"))))
    for kind in ("self", "encdec"):
        check(kind, learned, train=True, fused=False, more={"m": (1, 7, 7 if kind == "self" else 9)})
        check(kind, learned, more={"m": (1, 7, 7 if kind == "self" else 9)})   # outside training it is a mask like others
        check(kind, mx.sym.softmax, fused=False, dtype="float64")


@KINDS
@TRAIN
@pytest.mark.parametrize("dtype, tolerance", [("float16", 4e-3), ("bfloat16", 3e-2)])
@pytest.mark.parametrize("wide", [False, True])
def test_sixteen_bits_on_the_cpu(kind, train, dtype, tolerance, wide):
    """In float32 inside, also where the softmax alone was."""
    def between(s):
        s = mx.sym.softmax(mx.sym.amp_cast(s, dtype="float32") if wide else s)
        return mx.sym.Dropout(mx.sym.amp_cast(s, dtype=dtype) if wide else s, p=0.3)
    data = mx.sym.sin(mx.sym.var("x" if kind == "self" else "kv"))   # in its dtype
    net = attention(kind, 2, between, data, data)
    fused, _ = compare(net, shapes_of(kind, 2, 7, 7 if kind == "self" else 9), PASSES, tolerance=tolerance, train=train, dtype=dtype)
    assert "_fused_attention" in operators(fused) and not {"softmax", "Dropout", "amp_cast"} & set(operators(fused))


class Cell(gluon.HybridBlock):
    """BERT's cell of GluonNLP 0.10."""
    def __init__(self, heads, units, dropout=0.0):
        super().__init__()
        self.heads = heads
        self.qkv, self.top = gluon.nn.Dense(3 * units, flatten=False), gluon.nn.Dense(units, flatten=False)
        self.dropout = gluon.nn.Dropout(dropout)

    def hybrid_forward(self, F, x, valid):
        qkv = self.qkv(x)
        zeros = F.zeros_like(F.contrib.arange_like(x, axis=0))
        length = F.cast(F.broadcast_add(F.reshape(valid, shape=(-1, 1)), F.reshape(zeros, shape=(1, -1))), dtype="int32")
        length = F.reshape(F.broadcast_axis(F.expand_dims(length, axis=1), axis=1, size=self.heads), shape=(-1, 0), reverse=True)
        scores = F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=self.heads)
        weights = self.dropout(F.softmax(scores, length=length, use_length=True, axis=-1))
        return self.top(F.contrib.interleaved_matmul_selfatt_valatt(qkv, weights, heads=self.heads))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_block(dropout):
    """Inference, and gradients recorded outside training mode, where dropout drops nothing, or
    without dropout."""
    results = []
    for off in ("", ",".join(PASSES)):
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", off)
        mx.random.seed(2)
        net = Cell(4, 32, dropout)
        net.initialize(mx.init.Xavier())
        net.hybridize(static_alloc=True, static_shape=True)
        x, valid = mx.nd.random.normal(shape=(11, BATCH, 32)), mx.nd.array([11, 0, 6])
        x.attach_grad()
        y = net(x, valid)
        kinds = [node["op"] for node in net.explain(runs=0).plan["nodes"]]
        assert kinds.count("_fused_attention") == (0 if off else 1) and ("softmax" in kinds) == bool(off)
        with autograd.record(train_mode=dropout == 0):
            loss = (net(x, valid) ** 2).sum()
        loss.backward()
        kinds = [node["op"] for node in net.explain(runs=0).plan["nodes"]]
        assert kinds.count("_backward_fused_attention") == (0 if off else 1), kinds
        results.append([y.asnumpy(), x.grad.asnumpy()] + [p.grad().asnumpy() for p in net.collect_params().values()])
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_mixed_precision(target):
    from mxnet import amp
    mx.random.seed(2)
    net = Cell(4, 32)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x, valid = mx.nd.random.normal(shape=(11, BATCH, 32)), mx.nd.array([11, 3, 6])
    expected = net(x, valid).asnumpy()
    low = amp.convert_hybrid_block(net, target)
    got = low(x, valid).astype("float32").asnumpy()
    np.testing.assert_allclose(got, expected, atol=(0.01 if target == "float16" else 0.06) * np.abs(expected).max())
    kinds = [node["op"] for node in low.explain(runs=0).plan["nodes"]]
    assert "_fused_attention" in kinds and "softmax" not in kinds, kinds


BETWEEN = {
    "plain": lambda heads, rows, columns: mx.sym.softmax,
    "masked": lambda heads, rows,
    columns: lambda s: mx.sym.softmax(mx.sym.broadcast_add(s, mx.sym.BlockGrad(mx.sym.var("m", shape=(1, rows, columns))))),
    "lengths of rows": lambda heads, rows, columns: lambda s: mx.sym.softmax(s, ragged(heads, rows, columns), use_length=True),
    "lengths of examples": lambda heads, rows, columns: lambda s: mx.sym.softmax(
        s, per_example(heads, columns + 1, mx.sym.var("like", shape=(rows, BATCH, 1))), use_length=True),
    "boolean": lambda heads, rows, columns: lambda s: mx.sym.masked_softmax(
        s, mx.sym.cast(mx.sym.sin(mx.sym.reshape(mx.sym.arange(start=0, stop=rows * columns),
                                                 shape=(1, rows, columns))) > 0.1, dtype="bool")),
}


@pytest.mark.skipif(mx.num_gpus() == 0, reason="needs a GPU")
@KINDS
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("between", BETWEEN)
def test_on_a_gpu(kind, dtype, between):
    """In 16 bits, one operator and several, against float32 on the CPU."""
    heads, size, rows, columns = 2, 64, 24, 24 if kind == "self" else 40
    data = mx.sym.var("x") if kind == "self" else mx.sym.var("kv")
    softmax = BETWEEN[between](heads, rows, columns)
    if kind == "self":
        scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(data, heads=heads)
        net = mx.sym.contrib.interleaved_matmul_selfatt_valatt(data, softmax(scores), heads=heads)
        shapes = {"x": (rows, BATCH, heads * 3 * size)}
    else:
        scores = mx.sym.contrib.interleaved_matmul_encdec_qk(mx.sym.var("q"), data, heads=heads)
        net = mx.sym.contrib.interleaved_matmul_encdec_valatt(data, softmax(scores), heads=heads)
        shapes = {"q": (rows, BATCH, heads * size), "kv": (columns, BATCH, heads * 2 * size)}
    rest = {"m": (1, rows, columns), "n": (BATCH,), "like": (rows, BATCH, 1)}
    shapes.update((n, rest[n]) for n in net.list_arguments() if n in rest)
    rng = np.random.RandomState(3)
    values = {n: mx.nd.array(rng.uniform(-1, 1, s)).astype(dtype).astype("float32") for n, s in shapes.items()}
    results = {}
    for ctx, t, off in ((mx.Context("cpu", 0), "float32", ""), (mx.gpu(0), dtype, ""), (mx.gpu(0), dtype, ",".join(PASSES))):
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", off)
        args = {n: v.astype("float32" if n in ("n", "like") else t).as_in_context(ctx) for n, v in values.items()}
        grads = {n: mx.nd.zeros(a.shape, ctx, dtype=a.dtype) for n, a in args.items() if n in ("x", "q", "kv")}
        e = net.bind(ctx, args, args_grad=grads, grad_req={n: "write" if n in grads else "null" for n in args})
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
        y = e.forward(is_train=True)[0]
        e.backward([mx.nd.array(np.linspace(-1, 1, y.size).reshape(y.shape)).astype(t).as_in_context(ctx)])
        assert operators(e).count("_backward_fused_attention") == (0 if off else 1)
        results[str(ctx) + off] = [a.astype("float32").asnumpy() for a in [y] + [grads[n] for n in sorted(grads)]]
        inference = net.bind(ctx, args).forward()[0].astype("float32").asnumpy()
        np.testing.assert_allclose(inference, results[str(ctx) + off][0],
                                   rtol=1e-5 if t == "float32" else 2e-2,
                                   atol=1e-5 if t == "float32" else 2e-2)
    want = results.pop("cpu(0)")
    for got in results.values():
        for a, b in zip(got, want):
            assert np.abs(a - b).max() <= (0.01 if dtype == "float16" else 0.05) * max(1, np.abs(b).max())
