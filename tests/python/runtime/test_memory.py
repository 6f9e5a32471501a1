"""Recomputation: what it saves, what it must not change; memory plans for a budget."""
import gc
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from contraction import assert_same
from mxnet.gluon import nn

pytestmark = [pytest.mark.on_gpu, pytest.mark.sanitized_address]
HERE = os.path.dirname(os.path.abspath(__file__))


def chain(length, width=16):
    x = mx.sym.var("data")
    for i in range(length):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=width, name=f"f{i}"), act_type="tanh", name=f"a{i}")
    return x


def bound(symbol, seed=0, **shapes):
    """An executor with random arguments, the same for the same seed."""
    rng = np.random.default_rng(seed)
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    for array in executor.arg_arrays:
        array[:] = rng.standard_normal(array.shape).astype(np.float32) * 0.3
    return executor


def step(executor):
    """Outputs, gradients and auxiliary states after a training step."""
    mx.random.seed(3)
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(o.shape) for o in executor.outputs])
    return [a.asnumpy() for a in executor.outputs + executor.grad_arrays + executor.aux_arrays]


def step_by_rule(executor):
    """Times decide elsewhere how convolutions are computed, and other ways give other bits."""
    return in_mode(lambda: step(executor), MXNET_ENFORCE_DETERMINISM="1")


def equal(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert_same(x, y)


def residual_net():
    """Everything that repeating could get wrong: moving averages, masks, joins, pooling, a result
    that is read twice."""
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True, name="c0")
    for i in range(3):
        y = mx.sym.Activation(mx.sym.BatchNorm(x, fix_gamma=False, name=f"b{i}"), act_type="relu", name=f"r{i}")
        y = mx.sym.Convolution(y, kernel=(3, 3), pad=(1, 1), num_filter=8, name=f"c{i + 1}")
        x = mx.sym.elemwise_add(x, mx.sym.Dropout(mx.sym.tanh(y, name=f"t{i}"), p=0.5, name=f"d{i}"), name=f"s{i}")
    x = mx.sym.Pooling(mx.sym.relu(x), kernel=(2, 2), stride=(2, 2), pool_type="max", name="p")
    return mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=4, name="out")


def forced(symbol, names):
    """A copy with __force_mirroring__ on nodes of these names."""
    graph = json.loads(symbol.tojson())
    for node in graph["nodes"]:
        if node["name"] in names:
            node.setdefault("attrs", {})["__force_mirroring__"] = "True"
    return mx.sym.load_json(json.dumps(graph))


def test_force_mirroring_gives_the_same_bits():
    net = residual_net()
    names = {n["name"] for n in json.loads(net.tojson())["nodes"] if n["op"] != "null"}
    kept, again = bound(net, data=(2, 3, 8, 8)), bound(forced(net, names), data=(2, 3, 8, 8))
    assert again.plan_stats()["num_nodes"] > kept.plan_stats()["num_nodes"] + 15
    for _ in range(2):   # the second step starts from moved averages
        equal(step_by_rule(kept), step_by_rule(again))


@pytest.fixture
def unfused():
    """Every operator has a node of its own, with its name."""
    mx.util.set_env("MXNET_USE_FUSION", "0")
    yield
    mx.util.set_env("MXNET_USE_FUSION", "")


@pytest.mark.parametrize("name,reader", [("b1", "r1"), ("d1", "s1"), ("c2", "t1")])
def test_force_mirroring_of_one_node(name, reader, unfused):
    """`reader` too: the backward pass reads its result, not that of `name`."""
    net = residual_net()
    kept, again = bound(net, data=(2, 3, 8, 8)), bound(forced(net, {name, reader}), data=(2, 3, 8, 8))
    repeated = {"b1": "_backward_BatchNormWithReLU_recompute"}.get(name, f"{name}_mirror")    # relu joins the BatchNorm before it
    assert repeated in again.debug_str() and repeated not in kept.debug_str()
    equal(step_by_rule(kept), step_by_rule(again))


def test_force_mirroring_by_scope(unfused):
    def net(**scope):
        with mx.AttrScope(**scope):
            x = mx.sym.exp(mx.sym.var("data"), name="e")
        return mx.sym.sum(mx.sym.tanh(x * 2, name="t") * x)
    assert '"e_mirror"' in bound(net(__force_mirroring__="True"), data=(4,)).debug_str()
    assert '"e_mirror"' in bound(net(force_mirroring="True"), data=(4,)).debug_str()
    assert '"e_mirror"' not in bound(net(), data=(4,)).debug_str()


@pytest.mark.parametrize("value,repeats", [("True", True), ("TRUE", True), ("1", True), ("False", False), ("false", False), ("0", False)])
def test_values_of_force_mirroring(value, repeats, unfused):
    x = mx.sym.exp(mx.sym.var("data"), name="e", __force_mirroring__=value)
    assert ('"e_mirror"' in bound(mx.sym.sum(mx.sym.tanh(x * 2) * x), data=(4,)).debug_str()) == repeats


@pytest.mark.parametrize("value", ["maybe", "2", "-1", "yes", ""])
def test_other_values_of_force_mirroring_are_refused(value):
    x = mx.sym.exp(mx.sym.var("data"), name="e", __force_mirroring__=value)
    net = mx.sym.sum(mx.sym.tanh(x * 2) * x)
    with pytest.raises(mx.base.MXNetError, match=f"__force_mirroring__ of node e is '{value}'; accepted: 0, 1, true, false"):
        bound(net, data=(4,))


PROGRAM = """
import hashlib, sys
sys.path[:0] = %r
import test_memory as t
import mxnet as mx, numpy as np
net = t.residual_net()
executor = t.bound(net, data=(2, 3, 8, 8))
results = t.step(executor) + t.step(executor)
block = t.block()
x = mx.nd.array(np.random.default_rng(0).standard_normal((4, 3, 16, 16)).astype("float32"))
mx.nd.waitall()
mx.storage.reset_peak(mx.cpu())
before = mx.storage.stats(mx.cpu()).used_bytes
with mx.autograd.record():
    y = block(x)
y.backward()
mx.nd.waitall()
results += [p.data().asnumpy() for p in block.collect_params().values()]
results += [p.grad().asnumpy() for p in block.collect_params().values() if p.grad_req != "null"]
print(executor.plan_stats()["arena_bytes"], mx.storage.stats(mx.cpu()).peak_used_bytes - before,
      hashlib.sha256(b"".join(a.tobytes() for a in results)).hexdigest())
""" % [HERE, os.path.dirname(HERE)]


def block():
    """A hybridized convolutional net with the same parameters each time."""
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        for i in range(12):
            net.add(nn.Conv2D(16, 3, padding=1, in_channels=3 if i == 0 else 16), nn.BatchNorm(in_channels=16), nn.Activation("relu"))
        net.add(nn.GlobalAvgPool2D(), nn.Dense(3, in_units=16))
    mx.random.seed(1)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def in_new_process(**variables):
    environment = {k: v for k, v in os.environ.items() if not re.match("MXNET_|NNVM_", k) or k == "MXNET_LIBRARY_PATH"}
    environment["OMP_NUM_THREADS"] = "1"    # sums have other last bits where other programs leave one core of two
    result = subprocess.run([sys.executable, "-c", PROGRAM], env={**environment, **variables}, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    arena, peak, digest = result.stdout.split()
    return int(arena), int(peak), digest


def test_variables_save_memory_and_change_nothing():
    kept = in_new_process()
    for name, share in (("MXNET_BACKWARD_DO_MIRROR", 0.7), ("MXNET_MEMORY_OPT", 0.6)):
        again = in_new_process(**{name: "1"})
        assert again[0] < kept[0] and again[1] < share * kept[1], (name, kept, again)
        assert again[2] == kept[2]


def in_mode(function, **variables):
    for name, value in variables.items():
        mx.util.set_env(name, value)
    try:
        return function()
    finally:
        for name in variables:
            mx.util.set_env(name, "")


def bottlenecks(count, filters=8):
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=4 * filters, no_bias=True, name="stem")
    for i in range(count):
        y = x
        for k, (size, channels) in enumerate(((1, filters), (3, filters), (1, 4 * filters))):
            y = mx.sym.Convolution(y, kernel=(size, size), pad=(size // 2, size // 2), num_filter=channels, no_bias=True, name=f"c{i}_{k}")
            y = mx.sym.BatchNorm(y, fix_gamma=False, name=f"b{i}_{k}")
            y = mx.sym.relu(y if k < 2 else y + x, name=f"r{i}_{k}")
        x = y
    return mx.sym.mean(x, axis=(2, 3))


@pytest.mark.parametrize("variable,share,repeated", [("MXNET_BACKWARD_DO_MIRROR", 0.8, ["fused_batch_norm_add_relu", "BatchNormWithReLU"]),
                                                     ("MXNET_MEMORY_OPT", 0.5, ["BatchNormWithReLU"])])
def test_fused_ends_of_residual_blocks_are_recomputed(variable, share, repeated):
    net = bottlenecks(4)
    kept, again = bound(net, data=(4, 3, 16, 16)), in_mode(lambda: bound(net, data=(4, 3, 16, 16)), **{variable: "1"})
    assert all(f"_backward_{name}_recompute" in again.debug_str() for name in repeated) and "_recompute" not in kept.debug_str()
    assert again.plan_stats()["arena_bytes"] < share * kept.plan_stats()["arena_bytes"]
    for _ in range(2):
        equal(step_by_rule(kept), step_by_rule(again))


def test_mirroring_of_resnet50_saves_45_percent():
    """Nothing runs here, the plan tells; the speed is measured by benchmark/memory.py."""
    net = mx.gluon.model_zoo.vision.resnet50_v1()(mx.sym.var("data"))
    grads = {n: "null" if n == "data" else "write" for n in net.list_arguments()}

    def arena(**variables):
        try:
            return (in_mode(lambda: net.simple_bind(mx.cpu(), grad_req=grads,
                                                    data=(16, 3, 224,
                                                          224)).plan_stats()["arena_bytes"],
                            **variables))
        finally:
            gc.collect()       # other tests measure memory

    kept = arena(MXNET_PLAN_PASSES_OFF="fuse_batch_norm_relu,fuse_batch_norm_add_relu")
    assert arena(MXNET_BACKWARD_DO_MIRROR="1") <= 0.55 * kept
    assert arena(MXNET_MEMORY_OPT="1") <= 0.33 * kept


def test_budget_of_a_symbol():
    net = chain(64)
    plan = mx.memory.plan(net, None, data=(32, 16))
    layer = 32 * 16 * 4
    assert plan.kept_bytes > 60 * layer
    assert plan.planned_bytes <= 3 * 8 * layer          # O(sqrt(64)) layers
    assert plan.planned_bytes >= plan.lower_bound_bytes
    assert 0 < plan.extra_flops < plan.step_flops / 2 and 0 < plan.extra_seconds < plan.step_seconds / 2
    half = mx.memory.plan(net, plan.kept_bytes // 2, data=(32, 16))
    assert plan.planned_bytes < half.planned_bytes <= plan.kept_bytes // 2
    assert half.extra_flops < plan.extra_flops and 0 < len(half.recomputed) < len(plan.recomputed)
    executor = bound(half.apply(), data=(32, 16))
    assert executor.plan_stats()["arena_bytes"] == half.planned_bytes
    equal(step(bound(net, data=(32, 16))), step(executor))
    everything = mx.memory.plan(net, "1GB", data=(32, 16))
    assert everything.recomputed == [] and everything.planned_bytes == everything.kept_bytes and everything.extra_flops == 0


def test_a_budget_is_used_up():
    """More bytes, less recomputation, to the last result: the planner does not stop at the next
    step of its list."""
    net, layer = chain(200), 32 * 16 * 4
    counts = []
    for results in (35, 40, 60, 85, 100):
        plan = mx.memory.plan(net, results * layer, data=(32, 16))
        assert (results - 1) * layer < plan.planned_bytes <= results * layer
        counts.append(len(plan.recomputed))
    assert counts == sorted(set(counts), reverse=True) and counts[0] - counts[-1] > 100


def test_memory_grows_with_the_root_of_the_depth():
    short, deep = (mx.memory.plan(chain(n), None, data=(32, 16)).planned_bytes for n in (16, 144))
    assert deep < 4.5 * short        # sqrt(9) = 3


def test_impossible_budget():
    net = chain(20)
    least = mx.memory.plan(net, None, data=(32, 16)).planned_bytes
    with pytest.raises(ValueError, match=rf"least possible is {least} bytes"):
        mx.memory.plan(net, 1000, data=(32, 16))
    assert mx.memory.plan(net, least, data=(32, 16)).planned_bytes == least


@pytest.mark.cpu     # on a GPU the first run has libraries measure their engines
def test_budget_of_a_block():
    net = block()
    x = mx.nd.ones((4, 3, 16, 16))
    params = [p for p in net.collect_params().values() if p.grad_req != "null"]
    states = {p.name: p.data().copy() for p in net.collect_params().values()}

    def run():
        for p in net.collect_params().values():
            p.set_data(states[p.name])
        mx.nd.waitall()
        mx.storage.reset_peak(mx.cpu())
        before = mx.storage.stats(mx.cpu()).used_bytes
        with mx.autograd.record():
            y = net(x)
        y.backward()
        mx.nd.waitall()
        peak = mx.storage.stats(mx.cpu()).peak_used_bytes - before
        return peak, [y.asnumpy()] + [p.grad().asnumpy() for p in params] + [p.data().asnumpy() for p in net.collect_params().values()]

    run()    # takes workspace, too, which stays: how much of it depends on the processor
    net.hybridize(static_alloc=True, static_shape=True)
    peak, results = run()
    plan = mx.memory.plan(net, None, data=x.shape)
    assert plan.planned_bytes < plan.kept_bytes / 2
    assert plan.apply() is net
    net.hybridize(static_alloc=True)      # a new hybridize() forgets the plan
    assert run()[0] > 0.8 * peak
    plan.apply()
    small, again = run()
    assert small < 0.6 * peak
    equal(results, again)
    too_small = mx.memory.plan(net, plan.planned_bytes, data=x.shape)
    too_small.planned_bytes = 100
    too_small.apply()
    with pytest.raises(ValueError, match="least possible"):
        run()


@pytest.mark.parametrize("budget", ["", "64", "64 apples", -1, 0, True, 1.5, "64Mx"])
def test_bad_budgets(budget):
    if budget == "64":
        with pytest.raises(ValueError, match="least possible is"):
            mx.memory.plan(chain(3), budget, data=(32, 16))
        return
    with pytest.raises(ValueError, match="accepted"):
        mx.memory.plan(chain(3), budget, data=(32, 16))


def test_bad_arguments():
    with pytest.raises(TypeError, match="HybridBlock"):
        mx.memory.plan(3)
    with pytest.raises(ValueError, match="f0_weight|data"):
        mx.memory.plan(chain(2))
    with pytest.raises(ValueError, match="no such argument"):
        mx.memory.plan(chain(2), grad_names=["elsewhere"], data=(2, 3))
    for net in (chain(2), block()):
        for shape in (8, "88", (2, None)):
            with pytest.raises(TypeError, match=r"\[memory\] data=.*; accepted: a shape, as a tuple of integers"):
                mx.memory.plan(net, data=shape)
    with pytest.raises(ValueError, match="shapes of nothing given for the inputs of a block; accepted: data="):
        mx.memory.plan(block())


def test_batch_norm_with_relu_is_recomputed_in_large_steps():
    """Nobody has to ask; nothing runs here, the plan tells."""
    def net(**attr):
        x = mx.sym.var("data")
        with mx.AttrScope(**attr):
            for i in range(9):
                x = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=64, no_bias=True, name=f"c{i}")
                x = mx.sym.contrib.BatchNormWithReLU(x, name=f"b{i}")
        return mx.sym.sum(x)

    def arena(batch, **attr):
        net_ = net(**attr)
        grads = {n: "write" for n in net_.list_arguments() if n != "data"}
        return net_.simple_bind(mx.cpu(), grad_req=grads, data=(batch, 3, 96, 96)).plan_stats()["arena_bytes"]

    result = 4 * 64 * 96 * 96
    assert arena(16) < 12.5 * 16 * result                       # the inputs of BatchNorm, and a few that come and go
    assert arena(16, __force_mirroring__="False") > 17 * 16 * result
    assert arena(1) > 17 * result                               # a small step keeps everything


# ---- the tape

MB = 1 << 20
X = (256, 1024)     # 1 MiB of float32

SHAPE_ONLY = {
    "reshape": lambda x: x.reshape((1024, 256)),
    "slice": lambda x: mx.nd.slice(x, begin=(0, 0), end=(2, 2)),
    "slice_axis": lambda x: mx.nd.slice_axis(x, axis=0, begin=0, end=2),
    "slice_like": lambda x: mx.nd.slice_like(x, mx.nd.zeros((2, 2))),
    "concat": lambda x: mx.nd.slice_axis(mx.nd.concat(x, mx.nd.ones(X, dtype=x.dtype), dim=0), axis=0, begin=0, end=2),
    "tile": lambda x: mx.nd.slice_axis(mx.nd.tile(x, reps=(2, 1)), axis=0, begin=0, end=2),
    "repeat": lambda x: mx.nd.slice_axis(mx.nd.repeat(x, repeats=2, axis=0), axis=0, begin=0, end=2),
    "diag": lambda x: mx.nd.diag(x),
    "sum": lambda x: x.sum(axis=1),
    "mean": lambda x: x.mean(axis=0),
    "broadcast_add": lambda x: mx.nd.slice_axis(mx.nd.broadcast_add(x, mx.nd.ones((1, 1024))), axis=0, begin=0, end=2),
    "broadcast_to": lambda x: mx.nd.broadcast_to(x.sum(axis=0, keepdims=True), shape=(3, 1024)),
    "pick": lambda x: mx.nd.pick(x, mx.nd.zeros((256,)), axis=1),
    "take": lambda x: mx.nd.take(x, mx.nd.array([0, 3]), axis=0),
    "batch_take": lambda x: mx.nd.batch_take(x, mx.nd.zeros((256,), dtype="int32")),
    "gather_nd": lambda x: mx.nd.gather_nd(x, mx.nd.array([[0, 1], [2, 3]])),
    "cast": lambda x: mx.nd.slice_axis(x.astype("float16"), axis=0, begin=0, end=2),
    "cumsum": lambda x: mx.nd.slice_axis(mx.nd.cumsum(x, axis=0), axis=0, begin=0, end=2),
}


@pytest.mark.parametrize("name", SHAPE_ONLY)
def test_inputs_that_matter_for_their_shape_alone_are_not_kept(name):
    """exp's gradient needs exp's result; what comes behind needs only shapes, so of two copies of
    it one goes."""
    function = SHAPE_ONLY[name]
    x = mx.nd.random.uniform(shape=X)
    x.attach_grad()
    mx.nd.waitall()
    before = mx.storage.stats(mx.cpu()).used_bytes
    with mx.autograd.record():
        hidden = x * 2          # its gradient reads nothing
        y = function(hidden)
        del hidden
    mx.nd.waitall()
    assert mx.storage.stats(mx.cpu()).used_bytes - before < MB // 2 + y.size * 4 * 2, name
    y.backward()
    grad = x.grad.asnumpy()
    reference = mx.nd.array(x.asnumpy())
    reference.attach_grad()
    with mx.autograd.record():
        hidden = reference * 2
        z = function(hidden)
    z.backward()                # the same with the input alive
    np.testing.assert_array_equal(grad, reference.grad.asnumpy())
    assert np.abs(grad).sum() > 0


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", ["slice", "concat", "tile", "sum", "mean", "pick", "take", "cumsum"])
def test_shapes_without_memory_in_other_dtypes(name, dtype):
    x = mx.nd.random.uniform(shape=X).astype(dtype)
    x.attach_grad()
    with mx.autograd.record():
        y = SHAPE_ONLY[name]((x * 2))
    y.backward()
    assert np.isfinite(x.grad.asnumpy()).all() and np.abs(x.grad.asnumpy()).sum() > 0


def test_second_derivative_through_shapes_without_memory():
    x = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.slice_axis((x * x * x).reshape((4, 1)), axis=0, begin=1, end=3).sum()
        g = mx.autograd.grad(y, [x], create_graph=True, retain_graph=True)[0]
        h = (g * g).sum()
    h.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [[0, 2 * 12 * 12], [2 * 27 * 18, 0]])


def test_gradient_of_a_sum_of_equal_shapes_is_not_copied():
    a, b = mx.nd.ones(X), mx.nd.ones(X)
    a.attach_grad()
    with mx.autograd.record():
        c = mx.nd.broadcast_add(a * 1, b)
        for _ in range(8):
            c = mx.nd.broadcast_add(c, b)
    mx.nd.waitall()
    mx.cpu().empty_cache()                # a GPU's stream takes blocks from there before those that it has just used
    mx.storage.reset_peak(mx.cpu())
    before = mx.storage.stats(mx.cpu()).used_bytes
    c.backward()
    mx.nd.waitall()
    assert mx.storage.stats(mx.cpu()).peak_used_bytes - before <= 3 * MB
    assert (a.grad.asnumpy() == 1).all()


# ---- shared arenas

def _layers(width=256):
    x = mx.sym.var("data")
    for i in range(6):
        x = mx.sym.tanh(mx.sym.FullyConnected(x, num_hidden=width, flatten=False, name=f"f{i}"))
    return x


def _used():
    mx.nd.waitall()
    return mx.storage.stats(mx.cpu())


def test_buckets_need_the_bytes_of_the_largest():
    from mxnet.io import DataBatch, DataDesc

    def sym_gen(length):
        return mx.sym.SoftmaxOutput(mx.sym.sum(_layers(), axis=1), mx.sym.var("softmax_label"),
                                    name="softmax"), ("data",), ("softmax_label",)

    def batch(length):
        return DataBatch([mx.nd.ones((8, length, 256))], [mx.nd.zeros((8,))], bucket_key=length,
                         provide_data=[DataDesc("data", (8, length, 256))], provide_label=[DataDesc("softmax_label", (8,))])

    def train(lengths):
        module = mx.mod.BucketingModule(sym_gen, default_bucket_key=64, context=mx.cpu())
        first = batch(64)
        module.bind(first.provide_data, first.provide_label)
        module.init_params(mx.init.Xavier())
        module.init_optimizer(optimizer="sgd")
        before = _used()
        for length in lengths:
            b = batch(length)
            module.forward_backward(b)
            module.update()
            del b
        after = _used()
        return after.used_bytes - before.used_bytes, module

    one, module = train([64, 64])
    assert one > 8 * 64 * 256 * 4 * 5       # an arena with the activations of every layer
    del module
    many, module = train([8, 16, 64, 32, 24, 48, 8])     # small ones first: the arena is made for the largest at once
    assert many <= 1.15 * one, (one, many)


def test_executors_that_share_an_arena_do_not_disturb_each_other():
    net = _layers(16)
    a = net.simple_bind(mx.cpu(), data=(4, 3, 16))
    rng = np.random.default_rng(0)
    for array in a.arg_arrays:
        array[:] = rng.standard_normal(array.shape)
    b = a.reshape(data=(2, 3, 16), partial_shaping=True)
    ones = mx.nd.ones((4, 3, 16))
    a.forward(is_train=True)
    a.backward(ones)
    wanted = a.grad_dict["f0_weight"].asnumpy()
    a.forward(is_train=True)
    b.forward(is_train=True)               # on the same memory
    b.backward(mx.nd.ones((2, 3, 16)))
    a.backward(ones)                       # finds its activations gone and computes them again
    np.testing.assert_array_equal(a.grad_dict["f0_weight"].asnumpy(), wanted)


@pytest.mark.cpu      # memory that a GPU's stream is not done with counts as used
@pytest.mark.parametrize("static_alloc", [False, True])
def test_a_block_needs_the_bytes_of_its_largest_input(static_alloc):
    def net():
        block = nn.HybridSequential()
        for _ in range(6):
            block.add(nn.Dense(256, flatten=False, in_units=256, activation="tanh"))
        block.initialize()
        block.hybridize(static_alloc=static_alloc)
        return block

    def run(lengths):
        block = net()
        before = _used().used_bytes
        mx.storage.reset_peak(mx.cpu())
        for length in lengths:
            x = mx.nd.ones((8, length, 256))
            with mx.autograd.record():
                y = block(x)
            y.backward()
            del x, y
        after = _used()
        return after.used_bytes - before, block

    one, _ = run([64])
    many, _ = run([8, 16, 64, 32, 24, 48, 8])
    assert many <= 1.1 * one + MB // 8
    assert (one > 4 * MB // 2) == static_alloc


def test_two_recorded_calls_of_different_shapes_keep_their_own_activations():
    block = nn.HybridSequential()
    for _ in range(3):
        block.add(nn.Dense(8, in_units=8, activation="tanh"))
    block.initialize(mx.init.Xavier())
    xs = [mx.nd.array(np.random.default_rng(i).standard_normal((2 + i, 8))) for i in range(3)]

    def gradients(hybrid):
        block.hybridize(hybrid, static_alloc=True) if hybrid else block.hybridize(False)
        weight = block[0].weight
        results = []
        for x in xs:
            x.attach_grad()
        with mx.autograd.record():
            ys = [block(x) for x in xs]
        for y in reversed(ys):
            y.backward()
            results.append(weight.grad().asnumpy())
        return results + [x.grad.asnumpy() for x in xs]

    for a, b in zip(gradients(False), gradients(True)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.cpu      # on a GPU each plan also holds what its convolution's engine asks for
def test_plans_of_ever_new_shapes_do_not_pile_up():
    block = nn.HybridSequential()
    block.add(nn.Conv2D(256, 3, in_channels=256, use_bias=False), nn.BatchNorm(in_channels=256))
    block.initialize()
    block.hybridize(static_alloc=True)
    block(mx.nd.ones((1, 256, 8, 8))).wait_to_read()
    before = _used().used_bytes
    for height in range(3, 83):
        block(mx.nd.ones((1, 256, height, 3))).wait_to_read()
    room = 4 << 20    # of each plan: the block of the pool that the folded weights fit
    assert 256 * 256 * 9 * 4 < room and _used().used_bytes - before < 50 * room
    y = block(mx.nd.ones((1, 256, 8, 8)))    # forgotten meanwhile, compiled anew
    assert y.shape == (1, 256, 6, 6)


@pytest.mark.parametrize("name, value", [("MXNET_BACKWARD_DO_MIRROR", "1"), ("MXNET_MEMORY_OPT", "1")])
def test_mirroring_where_nothing_is_kept(name, value):
    # a network whose training step needs no memory of its own
    x = mx.sym.var("x")
    with mx.test_utils.environment(name, value):
        exe = mx.sym.FullyConnected(x, num_hidden=3, no_bias=True, name="fc").simple_bind(mx.cpu(), x=(4, 2))
    exe.arg_dict["fc_weight"][:] = 2
    exe.forward(is_train=True, x=np.ones((4, 2), np.float32))
    exe.backward(mx.nd.ones((4, 3)))
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), np.full((4, 2), 6.0))
