"""Attention whose weights are dropped (BERT in training) as one operator of the plan: it drops what
Dropout with the same random numbers would."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from test_attention_passes import joined, split
from test_interleaved_passes import BETWEEN, KINDS, PASSES, attention, check, shapes_of
from test_passes import bind, compare, off, operators, run

pytestmark = pytest.mark.gpu
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = [HERE, os.path.dirname(HERE)]   # of what programs import

ALWAYS = {"p": 0.4, "mode": "always"}


def dropped(between, p=0.1, **kwargs):
    return lambda s: mx.sym.Dropout(between(s), p=p, **kwargs)


@KINDS
@pytest.mark.parametrize("heads, rows, columns", [(1, 1, 1), (1, 7, 9), (2, 9, 7), (3, 33, 1), (12, 5, 31)])
def test_plain(kind, heads, rows, columns):
    e, plain = check(kind, dropped(mx.sym.softmax, 0.3), heads, rows, columns, True)
    assert "Dropout" not in operators(e) and "Dropout" in operators(plain)


@KINDS
@pytest.mark.parametrize("name", [n for n in BETWEEN if n != "plain"])
def test_masks_and_lengths(kind, name):
    """Columns that do not count shift none of the others' random numbers."""
    rows, columns = 7, 7 if kind == "self" else 9
    between = BETWEEN[name](2, rows, columns)
    more = {"m": (1, rows, columns), "n": (3,), "like": (rows, 3, 1)}
    net = attention(kind, 2, dropped(between, 0.5))
    check(kind, dropped(between, 0.5), rows=rows, columns=columns, train=True,
          more={n: s for n, s in more.items() if n in net.list_arguments()})


@pytest.mark.parametrize("masked", [False, True])
def test_batch_dot_and_several_blocks_of_rows(masked):
    q, k, v = (split(mx.sym.sin(mx.sym.var(n)), 3) for n in "qkv")
    scores = mx.sym.batch_dot(q * 0.3, k, transpose_b=True)
    if masked:
        scores = mx.sym.broadcast_add(scores, mx.sym.BlockGrad(mx.sym.var("m")))
    net = joined(mx.sym.batch_dot(mx.sym.Dropout(mx.sym.softmax(scores), p=0.2), v), 3)
    shapes = dict({"q": (2, 330, 12), "k": (2, 901, 12), "v": (2, 901, 6)}, **({"m": (6, 1, 901)} if masked else {}))
    fused, plain = compare(net, shapes, ["fuse_attention_training"], train=True)
    assert "_backward_fused_attention" in operators(fused) and not {"transpose", "Dropout"} & set(operators(fused))
    assert fused.plan_stats()["arena_bytes"] < 0.2 * plain.plan_stats()["arena_bytes"]


def test_what_stays_apart():
    shapes = shapes_of("self", 2, 7, 7)
    for apart in (dict(p=0.5, axes=(0,)), dict(p=1.0)):
        assert "_fused_attention" not in operators(bind(attention("self", 2, dropped(mx.sym.softmax, **apart)), shapes, train=True))
    kept = {}

    def keep(s):
        kept["weights"] = mx.sym.Dropout(mx.sym.softmax(s), p=0.5)
        return kept["weights"]
    net = attention("self", 2, keep)
    assert "_fused_attention" not in operators(bind(mx.sym.Group([net, kept["weights"]]), shapes, train=True))
    twice = attention("self", 2, lambda s: mx.sym.Dropout(mx.sym.Dropout(mx.sym.softmax(s), p=0.5), p=0.5))
    assert "_fused_attention" not in operators(bind(twice, shapes, train=True))


@KINDS
@pytest.mark.parametrize("train", [False, True])
def test_always(kind, train):
    e, _ = check(kind, dropped(mx.sym.softmax, **ALWAYS), train=train)
    assert operators(e).count("_draw_counters") == 1
    first = e.forward(is_train=train)[0].asnumpy()
    assert np.abs(first - e.forward(is_train=train)[0].asnumpy()).max() > 1e-3


def separate(p, masked=False):
    q, k, v = (mx.sym.var(n) for n in "qkv")
    scores = mx.sym.batch_dot(q, k, transpose_b=True)
    if masked:
        scores = mx.sym.broadcast_add(scores, mx.sym.BlockGrad(mx.sym.var("m")))
    return mx.sym.batch_dot(mx.sym.Dropout(mx.sym.softmax(scores), p=p), v)


def bound(net, heads, rows, columns, width, seed=3):
    """Values are the identity, so that the output is the weights."""
    rng = np.random.RandomState(seed)
    arrays = {"q": rng.normal(size=(heads, rows, width)),
              "k": rng.normal(size=(heads, columns, width)),
              "v": np.broadcast_to(np.eye(columns), (heads, columns, columns))}
    args = {n: mx.nd.array(a) for n, a in arrays.items()}
    e = net.bind(mx.cpu(), args, args_grad={n: mx.nd.zeros(a.shape) for n, a in args.items()})
    e.forward(is_train=True)
    assert "_fused_attention" in operators(e)
    return e, {n: a.asnumpy().astype("float64") for n, a in args.items()}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rate_and_scale(p):
    mx.random.seed(11)
    e, a = bound(separate(p), 8, 256, 200, 4)
    w = softmax(a["q"] @ a["k"].transpose(0, 2, 1))
    factor = e.forward(is_train=True)[0].asnumpy() / w
    stays = factor > 0.5
    np.testing.assert_allclose(factor[stays], 1 / (1 - p), rtol=1e-4)
    np.testing.assert_array_equal(factor[~stays], 0)
    deviation = np.sqrt(p * (1 - p))
    for rate in (stays.mean((1, 2)), stays.mean((0, 2)), stays.mean((0, 1))):   # of heads, rows, columns
        assert np.abs(rate - (1 - p)).max() < 5.5 * deviation / np.sqrt(stays.size / rate.size)
    # neighbours, and elements of one random counter, decide for themselves
    for shift in (1, 2, 3, 4, 200, 256):
        flat = stays.ravel() - (1 - p)
        assert abs((flat[shift:] * flat[:-shift]).mean()) < 5.5 * deviation ** 2 / np.sqrt(flat.size)


def test_backward_drops_what_forward_dropped():
    """Gradients against the formulas with the mask that the result shows."""
    p = 0.3
    mx.random.seed(12)
    e, a = bound(separate(p), 3, 40, 33, 8)
    y = e.forward(is_train=True)[0].asnumpy()
    og = np.random.RandomState(4).normal(size=y.shape)
    e.backward([mx.nd.array(og)])
    w = softmax(a["q"] @ a["k"].transpose(0, 2, 1))
    mask = (y > 0) / (1 - p)
    np.testing.assert_allclose(y, w * mask, rtol=1e-4, atol=1e-6)
    dw = (og @ a["v"].transpose(0, 2, 1)) * mask
    ds = w * (dw - (dw * w).sum(-1, keepdims=True))
    for name, want in (("v", (w * mask).transpose(0, 2, 1) @ og), ("q", ds @ a["k"]), ("k", ds.transpose(0, 2, 1) @ a["q"])):
        np.testing.assert_allclose(e.grad_dict[name].asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_against_finite_differences():
    e = bind(attention("self", 2, dropped(mx.sym.softmax, 0.4)), {"x": (5, 3, 24)}, train=True)
    assert "_fused_attention" in operators(e)
    x = e.arg_dict["x"].asnumpy()
    og = np.random.RandomState(5).normal(size=e.outputs[0].shape).astype("float32")

    def loss(change):
        e.arg_dict["x"][:] = x + change
        mx.random.seed(6)
        return float((e.forward(is_train=True)[0].asnumpy().astype("float64") * og).sum())
    for k in range(4):
        step = np.random.RandomState(k).normal(size=x.shape).astype("float32") * 2e-3
        slope = (loss(step) - loss(-step)) / 2
        loss(0)
        e.backward([mx.nd.array(og)])
        np.testing.assert_allclose((e.grad_dict["x"].asnumpy() * step).sum(), slope, rtol=2e-3, atol=2e-5)


def test_seeds_repeat_and_calls_differ():
    net = attention("self", 2, dropped(mx.sym.softmax, 0.5)) + mx.sym.Dropout(mx.sym.ones((7, 3, 8)))
    e = bind(net, shapes_of("self", 2, 7, 7), train=True)
    results = []
    for seed in (1, 1, 2):
        mx.random.seed(seed)
        results.append([e.forward(is_train=True)[0].asnumpy() for _ in range(2)])
    np.testing.assert_array_equal(results[0], results[1])
    assert np.abs(results[0][0] - results[0][1]).max() > 1e-3 and np.abs(results[0][0] - results[2][0]).max() > 1e-3


class Layer(gluon.HybridBlock):
    """As GluonNLP's BERT: attention and its dropout, and a dropout behind it."""
    def __init__(self, units=32, heads=4, p=0.3, layers=2):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.qkv, self.top, self.drop, self.norm = (gluon.nn.HybridSequential(),
                                                    gluon.nn.HybridSequential(),
                                                    gluon.nn.Dropout(p),
                                                    gluon.nn.HybridSequential())
        for _ in range(layers):
            self.qkv.add(gluon.nn.Dense(3 * units, flatten=False))
            self.top.add(gluon.nn.Dense(units, flatten=False))
            self.norm.add(gluon.nn.LayerNorm())

    def hybrid_forward(self, F, x, length):
        for i in range(self.layers):
            qkv = self.qkv[i](x)
            weights = self.drop(F.softmax(F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=self.heads), length, use_length=True))
            x = self.norm[i](x + self.drop(self.top[i](F.contrib.interleaved_matmul_selfatt_valatt(qkv, weights, heads=self.heads))))
        return x


def step(train_mode=True, steps=2, fused=None):
    """Outputs and gradients of `steps` training steps of a hybridized block."""
    mx.random.seed(21)
    net = Layer()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.normal(shape=(9, 2, 32))
    length = mx.nd.array(np.repeat([[9], [4]], 4, 0) * np.ones((1, 9)), dtype="int32")
    x.attach_grad()
    results = []
    for _ in range(steps):
        with autograd.record(train_mode=train_mode):
            y = net(x, length)
            loss = y * y * mx.nd.arange(y.size).reshape(y.shape)
        loss.backward()
        results += [y.asnumpy(), x.grad.asnumpy()] + [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
    kinds = [node["op"] for node in net.explain(runs=0).plan["nodes"]]
    if fused is not None:
        assert kinds.count("_fused_attention") == (2 if fused else 0), kinds
    return results, kinds


def test_training_steps_of_a_block():
    with off(*PASSES):
        want, _ = step(fused=False)
    got, kinds = step(fused=True)
    assert kinds.count("Dropout") == 2 and kinds.count("_draw_counters") == 2
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * max(1, np.abs(b).max()))


def test_outside_training_mode_nothing_is_dropped():
    got, kinds = step(train_mode=False, fused=True)
    assert "_draw_counters" not in kinds
    for a, b in zip(got[:len(got) // 2], got[len(got) // 2:]):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name, times", [("MXNET_BACKWARD_DO_MIRROR", 2), ("MXNET_MEMORY_OPT", 3)])
def test_what_is_computed_again_is_dropped_again(name, times):
    """The first computes again what costs little alone, the second attention too."""
    want, _ = step(fused=True)
    mx.util.set_env(name, "1")
    try:
        got, kinds = step()
    finally:
        mx.util.set_env(name, "")
    assert kinds.count("_draw_counters") == 2 and kinds.count("_fused_attention") == times
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * max(1, np.abs(b).max()))


def test_any_number_of_threads_gives_the_same_bits():
    code = ("import sys, hashlib; sys.path[:0] = %r; import test_attention_dropout as t; "
            "print(hashlib.sha1(b''.join(a.tobytes() for a in "
            "t.long_rows())).hexdigest())" % FOLDERS)
    sums = ({subprocess.run([sys.executable, "-c", code], env=dict(os.environ, OMP_NUM_THREADS=n),
                            check=True, capture_output=True, text=True, timeout=300).stdout
             for n in "123"})
    assert len(sums) == 1


def long_rows():
    e = bind(attention("self", 3, dropped(mx.sym.softmax, 0.2)), {"x": (301, 2, 36)}, train=True)
    assert "_fused_attention" in operators(e)
    return run(e, True, seed=5)


# ---- on a GPU: cuDNN draws its own numbers, products around a softmax those of Dropout

GPU = pytest.mark.skipif(mx.num_gpus() == 0, reason="needs a GPU")


@GPU
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("width", [64, 20])
@pytest.mark.parametrize("masked", [False, True])
def test_on_a_gpu(dtype, width, masked):
    """The result shows what was dropped; gradients against the formulas with that. cuDNN has no
    engine for a width of 20."""
    p, heads, rows, columns = 0.25, 2, 24, 40
    rng = np.random.RandomState(3)
    arrays = {"q": rng.uniform(-0.5, 0.5, (heads, rows, width)),
              "k": rng.uniform(-0.5, 0.5, (heads, columns, width)),
              "v": np.broadcast_to(np.eye(columns), (heads, columns, columns))}
    if masked:
        arrays["m"] = rng.uniform(-1, 1, (1, rows, columns))
    args = {n: mx.nd.array(a, ctx=mx.gpu(0), dtype=dtype) for n, a in arrays.items()}
    a = {n: x.astype("float32").asnumpy().astype("float64") for n, x in args.items()}
    e = separate(p, masked).bind(mx.gpu(0), args, args_grad={n: mx.nd.zeros(x.shape, mx.gpu(0), dtype=dtype) for n, x in args.items()})
    seen = []
    for seed in (1, 1, 2):
        mx.random.seed(seed)
        seen.append(e.forward(is_train=True)[0].astype("float32").asnumpy())
    again = e.forward(is_train=True)[0].astype("float32").asnumpy()
    og = mx.nd.array(rng.uniform(-1, 1, again.shape), ctx=mx.gpu(0), dtype=dtype)
    e.backward([og])
    assert operators(e).count("_backward_fused_attention") == 1 and "Dropout" not in operators(e)
    np.testing.assert_array_equal(seen[0], seen[1])
    for other in (seen[0], again):
        assert ((other > 0) != (seen[2] > 0)).mean() > 0.1
    y, og = again.astype("float64"), og.astype("float32").asnumpy().astype("float64")
    assert abs((y == 0).mean() - p) < 6 * np.sqrt(p * (1 - p) / y.size)
    w, mask = softmax(a["q"] @ a["k"].transpose(0, 2, 1) + a.get("m", 0)), (y > 0) / (1 - p)
    dw = (og @ a["v"].transpose(0, 2, 1)) * mask
    ds = w * (dw - (dw * w).sum(-1, keepdims=True))
    tolerance = 0.01 if dtype == "float16" else 0.05
    np.testing.assert_allclose(y, w * mask, rtol=tolerance, atol=1e-4)
    for name, want in (("v", (w * mask).transpose(0, 2, 1) @ og), ("q", ds @ a["k"]), ("k", ds.transpose(0, 2, 1) @ a["q"])):
        got = e.grad_dict[name].astype("float32").asnumpy()
        assert np.abs(got - want).max() <= tolerance * np.abs(want).max(), name


@GPU
@KINDS
@pytest.mark.parametrize("name", BETWEEN)
def test_parts_on_a_gpu_drop_what_dropout_drops(kind, name):
    heads, size, rows, columns = 2, 12, 9, 9 if kind == "self" else 11
    data = mx.sym.var("x") if kind == "self" else mx.sym.var("kv")
    between = dropped(BETWEEN[name](heads, rows, columns), 0.3)
    if kind == "self":
        net, shapes = attention("self", heads, between, data), {"x": (rows, 3, heads * 3 * size)}
    else:
        scores = mx.sym.contrib.interleaved_matmul_encdec_qk(mx.sym.var("q"), data, heads=heads)
        net = mx.sym.contrib.interleaved_matmul_encdec_valatt(data, between(scores), heads=heads)
        shapes = {"q": (rows, 3, heads * size), "kv": (columns, 3, heads * 2 * size)}
    shapes.update((n, s) for n, s in {"m": (1, rows, columns), "n": (3,), "like": (rows, 3, 1)}.items() if n in net.list_arguments())
    rng = np.random.RandomState(4)
    args = ({n: mx.nd.array(rng.uniform(-1, 1, s), ctx=mx.gpu(0),
                            dtype="float32" if n in ("n", "like") else "float16")
             for n, s in shapes.items()})
    results = []
    for passes in ((), PASSES):
        grads = {n: mx.nd.zeros(x.shape, mx.gpu(0), dtype=x.dtype) for n, x in args.items() if n in ("x", "q", "kv")}
        with off(*passes):
            e = net.bind(mx.gpu(0), args, args_grad=grads, grad_req={n: "write" if n in grads else "null" for n in args})
            mx.random.seed(9)
            y = e.forward(is_train=True)[0]
        e.backward([mx.nd.array(np.linspace(-1, 1, y.size).reshape(y.shape), ctx=mx.gpu(0), dtype="float16")])
        assert ("_backward_fused_attention" in operators(e)) != bool(passes)
        results.append([x.astype("float32").asnumpy() for x in [y] + [grads[n] for n in sorted(grads)]])
    for got, want in zip(*results):
        assert np.abs(got - want).max() <= 0.01 * max(1, np.abs(want).max())


TRAIN = """
import sys
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon
sys.path[:0] = %r
from test_attention_dropout import Layer
mx.random.seed(7)
net = Layer(units=64, heads=2, p=0.4)
net.initialize(mx.init.Xavier(rnd_type="uniform"), ctx=mx.cpu())
x = np.random.RandomState(1).uniform(-1, 1, (16, 2, 64)).astype("float16")
length = mx.nd.array(np.full((4, 16), 16), dtype="int32", ctx=mx.gpu(0))
net(mx.nd.array(x, dtype="float32"), length.as_in_context(mx.cpu()))
rng = np.random.RandomState(2)
for _, p in sorted(net.collect_params().items()):
    p.set_data(mx.nd.array(rng.uniform(-0.2, 0.2, p.shape)))
net.cast("float16")
net.collect_params().reset_ctx(mx.gpu(0))
net.hybridize(static_alloc=True, static_shape=True)
x = mx.nd.array(x, dtype="float16", ctx=mx.gpu(0))
x.attach_grad()
mx.random.seed(7)
results = []
for _ in range(6):
    with autograd.record():
        y = net(x, length)
    y.backward()
    results += [y.asnumpy(), x.grad.asnumpy()]
assert "_backward_fused_attention" in [n["op"] for n in net.explain(runs=0).plan["nodes"]]
np.savez(sys.argv[1], *results)
"""


@GPU
def test_replayed_graphs_draw_what_runs_without_graphs_would(tmp_path):
    results, logs = {}, {}
    for graphs in "01":
        path = tmp_path / (graphs + ".npz")
        env = dict(os.environ, MXNET_ENABLE_CUDA_GRAPHS=graphs, MXNET_CUDA_GRAPHS_VERBOSE="1")
        r = (subprocess.run([sys.executable, "-c",
                             TRAIN % FOLDERS, str(path)],
                            env=env, capture_output=True, text=True, timeout=600))
        assert r.returncode == 0, r.stdout[-2000:] + r.stderr[-4000:]
        with np.load(path) as f:
            results[graphs], logs[graphs] = [f[n] for n in f.files], r.stderr
    assert "captur" in logs["1"], logs["1"][-2000:]
    for a, b in zip(results["0"], results["1"]):
        np.testing.assert_array_equal(a, b)
    assert len({a.tobytes() for a in results["1"][::2]}) == 6


MIXED = """
import sys
import numpy as np
import mxnet as mx
from mxnet import amp, autograd
amp.init(sys.argv[1])
ctx = mx.Context(sys.argv[2], 0)
sys.path[:0] = %r
from test_attention_dropout import Layer
net = Layer(units=64, heads=2, p=0.4)
net.initialize(mx.init.Xavier(), ctx=ctx)
net.hybridize(static_alloc=True, static_shape=True)
x = mx.nd.array(np.random.RandomState(1).uniform(-1, 1, (16, 2, 64)), ctx=ctx)
x.attach_grad()
with autograd.record():
    y = net(x, mx.nd.array(np.full((4, 16), 16), dtype="int32", ctx=ctx))
y.backward()
assert np.isfinite(x.grad.asnumpy()).all()
kinds = [n["op"] for n in net.explain(runs=0).plan["nodes"]]
assert kinds.count("_fused_attention") == kinds.count("_backward_fused_attention") == 2 and "softmax" not in kinds, kinds
"""


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=GPU)])
def test_mixed_precision(device, target):
    """The softmax is float32 there, and so is what is dropped."""
    r = (subprocess.run([sys.executable, "-c", MIXED % FOLDERS,
                         target, device], capture_output=True, text=True, timeout=600))
    assert r.returncode == 0, r.stderr[-4000:]
