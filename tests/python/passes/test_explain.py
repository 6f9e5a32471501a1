"""explain(): the plan as data, as text and as a page."""
import json
import os
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.gluon import nn

pytestmark = pytest.mark.on_gpu

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Checks that elements nest, and collects what they are."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.titles, self.text = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, data):
        (self.titles if self.open and self.open[-1] == "title" else self.text).append(data)


def network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2), nn.Dense(10), nn.Dense(4, use_bias=False))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def check(e):
    """What holds for every plan."""
    plan, stats = e.plan, e.plan["stats"]
    nodes = plan["nodes"]
    assert [n["step"] for n in nodes] == list(range(stats["num_nodes"]))
    assert len(plan["bulks"]) == stats["num_bulks"]
    covered = [step for b in plan["bulks"] for step in range(b["begin"], b["end"])]
    assert covered == list(range(len(nodes)))
    assert max(e.live_bytes(), default=0) <= stats["arena_bytes"]
    blocks = [b for b in plan["blocks"] if b["bytes"]]
    for i, a in enumerate(blocks):
        assert 0 <= a["first"] <= a["last"] < len(nodes) and a["offset"] + a["bytes"] <= stats["arena_bytes"]
        for b in blocks[:i]:
            if a["first"] <= b["last"] and b["first"] <= a["last"]:
                assert a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"], (a, b)
    offsets = {b["offset"] for b in plan["blocks"]}
    for n in nodes:
        for t in n["inputs"] + n["outputs"]:
            assert t["place"] in ("arena", "constant", "nowhere", "input", "output", "head gradient", "gradient")
            assert t["place"] != "arena" or t["offset"] in offsets
        for t in n["inputs"]:
            if t["place"] in ("arena", "constant"):
                assert 0 <= t["made_by"] < n["step"]
    page = Page(e.html())
    drawn = [a for tag, a in page.elements if tag == "rect" and a.get("class") == "block"]
    assert len(drawn) == len(blocks)
    assert not [a for _, a in page.elements if "src" in a or "href" in a]      # nothing outside the page
    text = " ".join(page.text)
    for n in nodes:
        assert n["op"] in text and n["name"] in text and n["name"] in str(e)
    for svg in e.html().split("<svg")[1:]:
        ElementTree.fromstring("<svg" + svg.split("</svg>")[0] + "</svg>")
    return plan


def test_inference():
    net = network()
    x = mx.nd.random.normal(shape=(2, 3, 16, 16))
    e = net.explain(x, runs=3)
    plan = check(e)
    assert not plan["training"] and not plan["backward"] and e.timed
    assert all(len(n["nanoseconds"]) == 3 and n["min_ns"] <= n["median_ns"] for n in plan["nodes"])
    assert any(n["median_ns"] > 0 for n in plan["nodes"])
    dense = [n for n in plan["nodes"] if n["op"] == "FullyConnected"]
    assert [n["flops"] for n in dense] == [2 * 2 * 10 * 512,
                                           2 * 2 * 4 * 10] or [n["flops"]
                                                               for n in dense] == [2 * 2 * 10 * 512 + 20, 2 * 2 * 4 * 10]
    assert [t["shape"] for t in dense[1]["inputs"]] == [[2, 10], [4, 10]]
    assert dense[1]["inputs"][0]["made_by"] == dense[0]["step"]
    assert dense[1]["outputs"][0]["place"] == "output"
    names = {p["name"]: p for p in plan["passes"]}
    assert names and all(p["nodes_before"] >= 0 for p in names.values())
    assert len([op for op, _, _ in e.time_by_operator()]) == len({n["op"] for n in plan["nodes"]})
    untimed = net.explain(runs=0)            # the plan of the last call
    assert not untimed.timed and [n["op"] for n in untimed.plan["nodes"]] == [n["op"] for n in plan["nodes"]]
    check(untimed)


def test_training_leaves_everything_alone():
    net = network()
    net.add(nn.Dropout(0.5))
    x = mx.nd.random.normal(shape=(2, 3, 16, 16))
    net(x).wait_to_read()      # parameters are drawn
    mx.random.seed(5)
    with autograd.record():
        expected = net(x)
    mx.random.seed(5)
    before = [p.data().asnumpy() for p in net.collect_params().values()]
    with autograd.record():
        e = net.explain(x)
    plan = check(e)
    assert plan["training"] and plan["backward"]
    assert {n["phase"] for n in plan["nodes"]} == {"forward", "backward"}
    assert any(t["place"] == "gradient" for n in plan["nodes"] for t in n["outputs"])
    after = [p.data().asnumpy() for p in net.collect_params().values()]
    names = list(net.collect_params())
    for name, a, b in zip(names, before, after):     # one call of the block, no more: running statistics moved once
        if "running" not in name:
            np.testing.assert_array_equal(a, b)
    running = [b for n, b in zip(names, after) if "running_mean" in n][0]
    net.explain(runs=4)
    again = dict(zip(names, (p.data().asnumpy() for p in net.collect_params().values())))
    np.testing.assert_array_equal(running, [v for n, v in again.items() if "running_mean" in n][0])
    mx.random.seed(5)
    net.explain(runs=2)
    with autograd.record():
        np.testing.assert_array_equal(net(x).asnumpy(), expected.asnumpy())


def test_executor_agrees_with_plan_stats(tmp_path):
    x = mx.sym.var("x")
    for i in range(6):
        x = mx.sym.tanh(mx.sym.FullyConnected(x, num_hidden=16, name=f"fc{i}"))
    executor = x.simple_bind(mx.cpu(), x=(8, 16))
    executor.forward(is_train=True)
    e = executor.explain(str(tmp_path / "plan.html"))
    check(e)
    stats = executor.plan_stats()
    assert {k: e.plan["stats"][k] for k in stats} == stats
    assert max(e.live_bytes()) == stats["lower_bound_bytes"]
    assert Page((tmp_path / "plan.html").read_text(encoding="utf-8")).elements
    executor.explain(str(tmp_path / "plan.json"), runs=0)
    assert json.loads((tmp_path / "plan.json").read_text())["stats"]["num_nodes"] == stats["num_nodes"]
    executor.explain(str(tmp_path / "plan.svg"), runs=0)
    drawing = ElementTree.parse(tmp_path / "plan.svg").getroot()
    blocks = [r for r in drawing.iter("{http://www.w3.org/2000/svg}rect") if r.get("class") == "block"]
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg" and len(blocks) == len([b for b in e.plan["blocks"] if b["bytes"]])
    executor.explain(tmp_path / "plan.TXT", runs=0)
    assert (tmp_path / "plan.TXT").read_text(encoding="utf-8").startswith(f"Plan for {mx.cpu()}, training: ")
    assert sorted(os.listdir(tmp_path)) == ["plan.TXT", "plan.html", "plan.json", "plan.svg"]
    executor.forward(is_train=False)
    assert not executor.explain(runs=0).plan["backward"]     # the plan that ran last


def test_embedding_without_inputs():
    """Zeros are valid indices."""
    net = nn.HybridSequential()
    net.add(nn.Embedding(7, 5), nn.Dense(3))
    net.initialize()
    net.hybridize()
    net(mx.nd.array([[1, 2]])).wait_to_read()
    check(net.explain(runs=1))


def test_states_that_a_layer_makes():
    """A recurrent layer makes states of nothing: its graph has more inputs than the call."""
    layer = mx.gluon.rnn.LSTM(8, num_layers=2)
    layer.initialize()
    layer.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((5, 2, 3))
    before = layer(x).asnumpy()
    for given in ((x,), (x, layer.begin_state(batch_size=2)), ()):
        nodes = layer.explain(*given, runs=1).plan["nodes"]
        assert "RNN" in {node["op"] for node in nodes}
    np.testing.assert_array_equal(layer(x).asnumpy(), before)


def test_moves_say_what_they_are():
    """Reshapes, transposes and joined arrays, of floats and of bytes: none is plain."""
    data = mx.sym.var("data")
    x = mx.sym.transpose(mx.sym.reshape(data, shape=(2, 3, 4)), axes=(1, 0, 2))
    net = mx.sym.Concat(x, mx.sym.take(x, mx.sym.var("rows"), axis=0), dim=0)
    e = net.bind(mx.cpu(), {"data": mx.nd.ones((6, 4)), "rows": mx.nd.array([0, 2, 1])}, grad_req="null")
    ran = {n["op"]: [part["implementation"] for part in n["ran"]] for n in e.explain(runs=1).plan["nodes"]}
    assert ran["transpose"] == ["permuted copy"] and ran["Concat"] == ran["take"] == ["copies of rows"]
    assert ran["Reshape"][0] in ("copy", "nothing to copy")


def test_names_are_escaped():
    x = mx.sym.tanh(mx.sym.var("a"), name='<u>"&') + 1
    e = x.simple_bind(mx.cpu(), a=(2,), grad_req="null").explain(runs=1)
    assert "<u>" not in e.html()
    Page(e.html())


def test_errors(tmp_path):
    net = network()
    with pytest.raises(RuntimeError, match=r"\[gluon.explain\].*call"):
        net.explain()
    x = mx.nd.ones((1, 3, 8, 8))
    with pytest.raises(ValueError, match=r"\[explain\] runs=-1"):
        net.explain(x, runs=-1)
    for runs in ("a", 1.5, None):
        with pytest.raises(TypeError, match=r"\[explain\] .* was given; accepted: an integer"):
            net.explain(x, runs=runs)
    missing = str(tmp_path / "none" / "plan.html")
    with pytest.raises(FileNotFoundError, match=re.escape(missing)) as caught:
        net.explain(x, path=missing, runs=0)
    assert caught.value.filename == missing
    with pytest.raises(ValueError, match=r"\[explain\] path='plan.png'; accepted: names that end in \.html, "):
        net.explain(x, path="plan.png", runs=0)
