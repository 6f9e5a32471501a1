"""Which implementations ran: explain() in all its forms, the profiler, and what limits the
processor's instructions."""
import ctypes
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.base import _LIB, check_call
from mxnet.gluon import nn

pytestmark = pytest.mark.cpu

LEVELS = ("SSE4.2", "AVX2", "AVX2 VNNI", "AVX-512", "AVX-512 VNNI", "AVX-512 BF16", "AMX", "baseline")


def library_levels():
    text = ctypes.c_char_p()
    check_call(_LIB.MXGetCpuLevels(ctypes.byref(text)))
    return json.loads(text.value)


def said(explanation, op):
    """The implementations of each node of an operator."""
    return [[part["implementation"] for part in n["ran"]] for n in explanation.plan["nodes"] if n["op"] == op]


def explained(net, *shapes, runs=1):
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    return net.explain(*(mx.nd.random.uniform(shape=s) for s in shapes), runs=runs)


def only(explanation, *words):
    """The node whose operator has one of these words in its name."""
    found = [n for n in explanation.plan["nodes"] if any(w in n["op"] for w in words) and not n["constant"]]
    assert len(found) == 1, [n["op"] for n in explanation.plan["nodes"]]
    return found[0]


def names(node):
    return [part["implementation"] for part in node["ran"]]


def test_convolutions():
    """Of a net, whose images are channels-last inside."""
    level = library_levels()["uses"]
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, padding=1, in_channels=64), nn.Conv2D(128, 1, in_channels=64),
            nn.Conv2D(64, 3, strides=2, padding=1, in_channels=128), nn.Conv2D(64, 3, padding=1, groups=64, in_channels=64))
    ran = [n["ran"] for n in explained(net, (1, 64, 28, 28)).plan["nodes"] if n["op"] == "Convolution"]
    assert [[part["implementation"] for part in parts] for parts in ran] == [
        ["Winograd F(4x4, 3x3)"], ["packed GEMM"], ["packed implicit GEMM"], ["depthwise"]]
    assert {part["level"] for parts in ran for part in parts} == {level}
    alone = names(only(explained(nn.Conv2D(128, 1, in_channels=128), (1, 128, 28, 28)), "onvolution"))
    assert len(alone) == 1 and (alone[0].startswith("oneDNN ") or "GEMM" in alone[0])
    # An odd window on one channel in float64 is beyond all of them.
    net = nn.Conv2D(2, (2, 3), in_channels=1)
    net.initialize()
    net.cast("float64")
    net.hybridize()
    plain = only(net.explain(mx.nd.ones((1, 1, 9, 9), dtype="float64"), runs=1), "onvolution")
    assert names(plain)[0] == "im2col" and "BLAS" in names(plain)[1]


def test_products_of_a_transposed_factor():
    """Those of middle size need no code of a library, which costs time and memory in the first
    call."""
    a, b = mx.sym.var("a"), mx.sym.var("b")
    executor = mx.sym.linalg.gemm2(a, b, transpose_a=True).bind(mx.cpu(), {"a": mx.nd.ones((200, 64)), "b": mx.nd.ones((200, 128))})
    executor.forward()
    [name] = names(only(executor.explain(runs=1), "gemm2"))
    assert name == "transposed GEMM" or library_levels()["uses"] in ("SSE4.2", "baseline"), name


@pytest.mark.parametrize("inner", [64, 160])
def test_scaled_products(inner):
    """Scores of attention have a factor. Neither do these need a library's code. The factor
    multiplies the second matrix where it is the shorter, otherwise the product."""
    rng = np.random.default_rng(0)
    left, right, added = (rng.normal(size=size).astype("float32") for size in ((96, inner), (100, inner), (96, 100)))
    given = {"a": mx.nd.array(left), "b": mx.nd.array(right), "c": mx.nd.array(added)}
    a, b, c = (mx.sym.var(name) for name in "abc")
    product = 0.3 * (left.astype("float64") @ right.T)
    for op, symbol, expected in (("gemm2", mx.sym.linalg.gemm2(a, b, transpose_b=True, alpha=0.3), product),
                                 ("gemm", mx.sym.linalg.gemm(a, b, c, transpose_b=True, alpha=0.3, beta=0.7), product + 0.7 * added)):
        executor = symbol.bind(mx.cpu(), {name: given[name] for name in symbol.list_arguments()})
        [result] = executor.forward()
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, atol=1e-5)
        name = names(only(executor.explain(runs=1), op))[-1]
        assert name == "packed GEMM" or library_levels()["uses"] in ("SSE4.2", "baseline"), name


def test_winograd_is_switched_off():
    net = nn.Conv2D(64, 3, padding=1, in_channels=64)
    mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", "0")
    try:
        node = only(explained(net, (1, 64, 56, 56)), "onvolution")
    finally:
        mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", "1")
    assert not any("Winograd" in name for name in names(node))


def test_gradients_say_each_part():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, padding=1, in_channels=32), nn.Conv2D(32, 3, padding=1, in_channels=32))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(8, 32, 28, 28))
    net(x).wait_to_read()
    with autograd.record():
        e = net.explain(x, runs=1)
    backward = [n for n in e.plan["nodes"] if n["phase"] == "backward" and "onvolution" in n["op"]]
    assert backward and all(n["ran"] and n["ran"] != [{"implementation": "plain", "level": None}] for n in backward)


class Layers(mx.gluon.HybridBlock):
    """One of each kind of operator that chooses."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embed, self.norm, self.dense = nn.Embedding(20, 64), nn.LayerNorm(in_channels=64), nn.Dense(64, flatten=False, in_units=64)

    def hybrid_forward(self, F, x):
        h = self.dense(self.norm(self.embed(x)))
        weights = F.softmax(F.batch_dot(h, h, transpose_b=True))
        return F.sum(F.tanh(F.batch_dot(weights, h)) * 2 + 1, axis=1)


def test_each_kind():
    net = Layers()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.array(np.arange(64).reshape(2, 32) % 20)
    e = net.explain(x, runs=1)
    expected = {"Embedding": "copies of rows", "LayerNorm": "norm of", "sum": "reduction"}
    for op, word in expected.items():
        assert [parts[0].startswith(word) for parts in said(e, op)] == [True], (op, said(e, op))
    assert said(e, "_fused_pointwise") == [["pointwise program"]]
    everything = [n for n in e.plan["nodes"] if not n["constant"]]
    assert all(part["level"] is None or part["level"] in LEVELS for n in everything for part in n["ran"])
    dense = [n for n in everything if any(word in n["op"] for word in ("FullyConnected", "dot", "attention"))]
    assert [n for n in dense if "attention" in n["op"] and names(n)[0] == "attention by blocks"], [(n["op"], names(n)) for n in everything]
    assert len(dense) >= 2 and all(names(n) != ["plain"] and n["flops"] for n in dense), [(n["op"], names(n), n["flops"]) for n in dense]


def test_products_and_softmax():
    class Products(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, y):
            return F.softmax(F.batch_dot(x, y) + 1, axis=1), F.dot(F.sum(x, axis=0), F.sum(y, axis=0))

    def is_said(e):
        products = [n for n in e.plan["nodes"] if n["op"] in ("batch_dot", "dot")]
        assert all(n["flops"] for n in products) and len(products) == 2
        return said(e, "softmax") == [["softmax of columns"]] and all(
            any("gemm" in name.lower() or "BLAS" in name for name in names(n)) and n["ran"][0]["level"] in LEVELS for n in products)

    for _ in range(5):
        assert is_said(explained(Products(), (2, 96, 80), (2, 80, 112)))


def test_pooling_and_recurrent():
    e = explained(nn.MaxPool2D(2), (1, 8, 8, 8))
    assert names(only(e, "Pooling"))[0].startswith("pooling of")
    data, state = mx.sym.var("data"), mx.sym.var("state")
    out = mx.sym.RNN(data, mx.sym.var("params"), state, state_size=16, num_layers=1, mode="rnn_tanh")
    executor = out.simple_bind(mx.cpu(), data=(5, 2, 8), state=(1, 2, 16), grad_req="null")
    executor.forward()
    ran = names(only(executor.explain(runs=1), "RNN"))
    assert ran[0].startswith(("oneDNN ", "step by step"))


def test_bytes():
    """Layers on 8-bit integers: by oneDNN's instructions where it has them, else by our own
    loops."""
    data = mx.nd.random.uniform(-1, 1, shape=(1, 32, 14, 14))
    weight = mx.nd.random.uniform(-1, 1, shape=(32, 32, 3, 3))
    d, w = mx.sym.var("d"), mx.sym.var("w")
    qd, wd = mx.sym.contrib.quantize_v2(d, out_type="int8"), mx.sym.contrib.quantize_v2(w, out_type="int8")
    conv = mx.sym.contrib.quantized_conv(data=qd[0], weight=wd[0], min_data=qd[1], max_data=qd[2], min_weight=wd[1],
                                        max_weight=wd[2], kernel=(3, 3), num_filter=32, no_bias=True)
    executor = conv.bind(mx.cpu(), {"d": data, "w": weight})
    executor.forward()
    node = only(executor.explain(runs=1), "quantized_conv")
    assert names(node)[0].startswith(("oneDNN ", "packed GEMM of bytes", "Winograd F(")), node["ran"]
    assert not names(node)[0].startswith("oneDNN") or "VNNI" in node["ran"][0]["level"] or node["ran"][0]["level"] == "AMX"


def test_untimed():
    net = nn.Dense(3, in_units=4)
    net.initialize()
    net.hybridize()
    e = net.explain(mx.nd.ones((2, 4)), runs=0)
    node = e.plan["nodes"][0]
    assert node["ran"] == [] and node["predicted_ns"] is None and node["share_of_peak"] is None and e.time_by_implementation() == []
    assert "gflops" not in e.plan["machine"] and "peaks" not in str(e)


def test_peaks(tmp_path):
    """Shares are those of the measured peaks; nothing is predicted to take longer than both."""
    e = explained(nn.Dense(1000, in_units=512), (64, 512), runs=5)
    machine = e.plan["machine"]
    assert machine["level"] == library_levels()["uses"] and machine["threads"] >= 1
    assert machine["gflops"]["float32"] > 1 and machine["gflops"]["int8"] >= machine["gflops"]["float32"] / 2 and machine["gigabytes"] > 0.5
    node = only(e, "FullyConnected")
    rate = node["flops"] / node["median_ns"]
    assert node["share_of_peak"] == pytest.approx(rate / machine["gflops"]["float32"])
    assert node["share_of_bandwidth"] == pytest.approx(node["bytes"] / node["median_ns"] / machine["gigabytes"])
    assert node["predicted_ns"] == pytest.approx(max(node["flops"] / machine["gflops"]["float32"], node["bytes"] / machine["gigabytes"]))
    # Not a test of speed: a product of packed weights takes neither a hundredth nor twice the
    # peak.
    assert 0.01 < node["share_of_peak"] < 2
    again = explained(nn.Dense(3, in_units=4), (2, 4), runs=1).plan["machine"]
    assert again == machine     # measured once for a process
    line = next(row for row in str(e).splitlines() if row.lstrip().startswith(f"{node['step']} "))
    assert f"packed GEMM [{machine['level']}]" in line and "% of the peak" in line and "at least" in line
    assert [row[:3] for row in e.time_by_implementation()][0][:2] == ("packed GEMM", machine["level"])
    for form in ("html", "json", "txt"):
        e.save(str(tmp_path / f"plan.{form}"))
        assert "packed GEMM" in (tmp_path / f"plan.{form}").read_text(encoding="utf-8")
    kept = json.loads((tmp_path / "plan.json").read_text())
    assert [n["share_of_peak"] for n in kept["nodes"]] == [n["share_of_peak"] for n in e.plan["nodes"]]


def test_passes_without_a_change_are_one_line():
    e = explained(nn.Dense(3, in_units=4), (2, 4))
    idle = {p["name"] for p in e.plan["passes"] if not p["changed"] and p["nodes_before"] == p["nodes_after"]}
    idle -= {p["name"] for p in e.plan["passes"] if p["changed"] or p["nodes_before"] != p["nodes_after"]}
    assert len(idle) > 3
    lines = str(e).splitlines()
    folded = [row for row in lines if "without a change" in row]
    assert len(folded) == 1 and all(name in folded[0] for name in idle)
    assert not [row for row in lines if ": 0 changed" in row and row.split(":")[0].strip() in idle]
    assert e.html().count("without a change") == 1


CHILD = """
import json, sys
import mxnet as mx
from mxnet.gluon import nn
net = nn.HybridSequential()
net.add(nn.Conv2D(64, 3, padding=1, in_channels=64), nn.MaxPool2D(2), nn.Conv2D(64, 3, strides=2, in_channels=64))
net.initialize()
net.hybridize()
e = net.explain(mx.nd.ones((1, 64, 28, 28)), runs=1)
print(json.dumps([e.plan["machine"]["level"], [n["ran"] for n in e.plan["nodes"] if not n["constant"]]]))
"""


@pytest.mark.parametrize("limit, level", [("AVX2", "AVX2"), ("SSE41", "SSE4.2"), ("DEFAULT", None), ("nonsense", None)])
def test_the_variable_limits_instructions(limit, level):
    now = library_levels()
    if os.environ.get("ONEDNN_MAX_CPU_ISA") or len(now["built"]) == 1:
        pytest.skip("the level is fixed here")
    if level and now["built"].index(level) > now["built"].index(now["uses"]):
        pytest.skip("the processor has less")
    level = level or now["uses"]
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=120, check=True,
                          env={**os.environ, "ONEDNN_MAX_CPU_ISA": limit})
    used, ran = json.loads(done.stdout)
    assert used == level
    assert {part["level"] for parts in ran for part in parts} <= {level, None}, ran
    assert any(part["level"] == level for parts in ran for part in parts)


def test_the_profiler_says_it(tmp_path):
    path = str(tmp_path / "profile.json")
    net = nn.Conv2D(64, 3, padding=1, in_channels=64)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(1, 64, 28, 28))
    net(x).wait_to_read()
    net(x).wait_to_read()
    mx.profiler.set_config(filename=path, profile_all=True)
    mx.profiler.set_state("run")
    net(x).wait_to_read()
    mx.nd.waitall()
    (x + 1).wait_to_read()
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    with open(path, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "operator" and "args" in e]
    level = library_levels()["uses"]
    node = [e["args"] for e in events if "onvolution" in e["name"]]
    assert len(node) == 1 and node[0]["implementation"].startswith("Winograd F(") and node[0]["level"] == level
    eager = [e["args"] for e in events if e["name"] == "_plus_scalar"]
    assert len(eager) == 1 and eager[0]["implementation"] == "pointwise loop"


def test_modules_and_predictors(tmp_path):
    out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, no_bias=True, name="fc")
    module = mx.mod.Module(out, label_names=None)
    with pytest.raises(AssertionError, match="bind comes first"):
        module.explain()
    module.bind([("data", (2, 4))], for_training=False)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 4))]))
    ran = only(module.explain(str(tmp_path / "plan.html"), runs=1), "FullyConnected")["ran"]
    assert ran and ran[0]["implementation"] != "plain" and (tmp_path / "plan.html").exists()
    # the same through the C interface of predictors
    weights = str(tmp_path / "w.params")
    mx.nd.save(weights, {"arg:fc_weight": mx.nd.ones((3, 4))})
    with open(weights, "rb") as file:
        bytes_ = file.read()
    handle, text = ctypes.c_void_p(), ctypes.c_char_p()
    keys, shape, starts = (ctypes.c_char_p * 1)(b"data"), (ctypes.c_uint * 2)(2, 4), (ctypes.c_uint * 2)(0, 2)
    check_call(_LIB.MXPredCreate(ctypes.c_char_p(out.tojson().encode()), bytes_, ctypes.c_int(len(bytes_)), ctypes.c_int(1),
                                 ctypes.c_int(0), ctypes.c_uint(1), keys, starts, shape, ctypes.byref(handle)))
    check_call(_LIB.MXPredExplain(handle, ctypes.c_int(1), ctypes.byref(text)))
    plan = json.loads(text.value)
    check_call(_LIB.MXPredFree(handle))
    assert [n["ran"] for n in plan["nodes"] if n["op"] == "FullyConnected"] == [ran]
