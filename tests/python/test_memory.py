"""Recomputation: what it saves, what it must not change; memory plans for a budget."""
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import nn


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


def equal(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_array_equal(x, y)


def residual_net():
    """Everything that repeating could get wrong: moving averages, masks, joins, pooling, a result that is read twice."""
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
        equal(step(kept), step(again))


@pytest.mark.parametrize("name,reader", [("b1", "r1"), ("d1", "s1"), ("c2", "t1")])
def test_force_mirroring_of_one_node(name, reader):
    """`reader` too: the backward pass reads its result, not that of `name`."""
    net = residual_net()
    kept, again = bound(net, data=(2, 3, 8, 8)), bound(forced(net, {name, reader}), data=(2, 3, 8, 8))
    assert f"{name}_mirror" in again.debug_str() and f"{name}_mirror" not in kept.debug_str()
    equal(step(kept), step(again))


def test_force_mirroring_by_scope():
    def net(**scope):
        with mx.AttrScope(**scope):
            x = mx.sym.exp(mx.sym.var("data"), name="e")
        return mx.sym.sum(mx.sym.tanh(x * 2, name="t") * x)
    assert "e_mirror" in bound(net(__force_mirroring__="True"), data=(4,)).debug_str()
    assert "e_mirror" in bound(net(force_mirroring="True"), data=(4,)).debug_str()
    assert "e_mirror" not in bound(net(), data=(4,)).debug_str()


PROGRAM = """
import hashlib, sys
sys.path.insert(0, %r)
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
print(executor.plan_stats()["arena_bytes"], mx.storage.stats(mx.cpu()).peak_used_bytes - before, hashlib.sha256(b"".join(a.tobytes() for a in results)).hexdigest())
""" % os.path.dirname(os.path.abspath(__file__))


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


def test_memory_grows_with_the_root_of_the_depth():
    short, deep = (mx.memory.plan(chain(n), None, data=(32, 16)).planned_bytes for n in (16, 144))
    assert deep < 4.5 * short        # sqrt(9) = 3


def test_impossible_budget():
    net = chain(20)
    least = mx.memory.plan(net, None, data=(32, 16)).planned_bytes
    with pytest.raises(ValueError, match=rf"least possible is {least} bytes"):
        mx.memory.plan(net, 1000, data=(32, 16))
    assert mx.memory.plan(net, least, data=(32, 16)).planned_bytes == least


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
