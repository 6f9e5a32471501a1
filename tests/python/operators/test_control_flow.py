"""foreach, while_loop and cond: numbers, names and files of 1.9.1, gradients, states, errors."""
import json
import os
import re

import control_flow_programs as programs
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

C = mx.nd.contrib
S = mx.sym.contrib
WAYS = {"eager": {}, "hybrid": {"static_alloc": False}, "static": {"static_alloc": True, "static_shape": True}}
with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "control_flow.json"), encoding="utf-8") as _file:
    RECORDED = json.load(_file)


class Block(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def hybrid_forward(self, F, *args):
        return self.function(F, *args)


def hybrid(function, **kwargs):
    block = Block(function)
    block.hybridize(**kwargs)
    return block


def close(got, want, tol=1e-5):
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p[0].replace(" ", "_"))
def test_program(program, way):
    name, function, arrays, rows, dtype = program
    got = programs.run(mx, function, arrays, rows, dtype, **WAYS[way])
    want = RECORDED["programs"].get(name) or programs.run(mx, function, arrays, rows, dtype)
    assert got["shapes"] == want["shapes"]
    tol = 2e-2 if dtype == "float16" else 1e-4
    for key in ("results", "grads"):
        for g, w in zip(got[key], want[key]):
            close(g, w, tol)


def plain(graph):
    """A graph of a file, without numbers in names of graphs and what versions differ in."""
    nodes = []
    for n in graph["nodes"]:
        attrs = {k: re.sub(r"\d+", "#", v) if k == "__subgraph_name__" else v for k, v in n.get("attrs", {}).items()}
        nodes.append((n["op"], n["name"], attrs, n["inputs"], [plain(g) for g in n.get("subgraphs", ())]))
    return nodes, graph["heads"]


@pytest.mark.parametrize("name", RECORDED["graphs"])
def test_names_and_files(name):
    want = RECORDED["graphs"][name]
    make = programs.graphs(mx.sym)[name]
    with mx.name.NameManager():
        graph = mx.sym.Group(programs.leaves(make()))
    loaded = mx.sym.load_json(json.dumps(want["json"]))
    for symbol in (graph, loaded, mx.sym.load_json(graph.tojson())):
        assert symbol.list_arguments() == want["arguments"]
        assert symbol.list_outputs() == want["outputs"]
        assert plain(json.loads(symbol.tojson())) == plain(want["json"])


@pytest.mark.parametrize("name", ["foreach", "foreach nested", "while", "while nested", "cond lists"])
def test_loaded_graph_computes(name):
    graph = mx.sym.Group(programs.leaves(programs.graphs(mx.sym)[name]()))
    shapes = {"data": (3, 2, 1) if name == "foreach nested" else (3, 1)}
    values = {k: nd.array(np.random.RandomState(len(k)).uniform(1, 2, shapes.get(k, (1,)))) for k in graph.list_arguments()}
    results = []
    for symbol in (graph, mx.sym.load_json(graph.tojson()), mx.sym.load_json(json.dumps(RECORDED["graphs"][name]["json"]))):
        grads = {k: nd.zeros_like(v) for k, v in values.items()}
        executor = symbol.bind(mx.cpu(), values, grads)
        outputs = executor.forward(is_train=True)
        executor.backward([nd.ones_like(o) for o in outputs])
        results.append([o.asnumpy() for o in outputs] + [g.asnumpy() for g in grads.values()])
    for a, b, c in zip(*results):
        close(a, b)
        close(a, c)


def test_infer_shape_both_ways():
    d, s, w = (mx.sym.var(k) for k in "dsw")
    out, state = S.foreach(lambda x, st: (mx.sym.FullyConnected(x, w, num_hidden=4, no_bias=True) + st, st * 2), d, s)
    args, outs, _ = mx.sym.Group([out, state]).infer_shape(d=(5, 2, 3))
    assert args == [(5, 2, 3), (2, 4), (4, 3)]
    assert outs == [(5, 2, 4), (2, 4)]
    i = mx.sym.var("i")
    out, last = S.while_loop(lambda i, s: i < 3, lambda i, s: (s * 2, [i + 1, s]), [i, s], 6)
    assert mx.sym.Group([out] + last).infer_shape(i=(1,), s=(2, 3))[1] == [(6, 2, 3), (1,), (2, 3)]


def test_dtypes():
    d, s = mx.sym.var("d"), mx.sym.var("s")
    out, state = S.foreach(lambda x, st: (mx.sym.cast(x, "float64"), st + 1), d, s)
    group = mx.sym.Group([out, state])
    assert group.infer_type(d="float16", s="int32")[1] == [np.float64, np.int32]
    with pytest.raises(mx.base.MXNetError, match="keeps its dtype"):
        out, state = S.foreach(lambda x, st: (x, mx.sym.cast(st, "int32")), d, s)
        state.infer_type(d="float32", s="float32")


def test_lengths_change():
    block = hybrid(lambda F, d, s: F.contrib.foreach(lambda x, st: (x * st, st + x), d, s))
    for n in (3, 1, 7, 3, 0, 5):
        d, s = nd.random.uniform(shape=(n, 2)), nd.ones((2,))
        out, state = block(d, s)
        assert out.shape == (n, 2)
        close(state.asnumpy(), 1 + d.asnumpy().sum(axis=0))
        if n:
            want = C.foreach(lambda x, st: (x * st, st + x), d, s)[0]
            close(out.asnumpy(), want.asnumpy())


def test_no_steps():
    block = hybrid(lambda F, i, a, w: F.contrib.while_loop(lambda i, a: i < 0, lambda i, a: (i * a, [i + 1, a * w]), [i, a], 3))
    i, a, w = nd.array([0]), nd.array([2]), nd.array([3])
    for x in (i, a, w):
        x.attach_grad()
    with autograd.record():
        out, last = block(i, a, w)
        loss = (last[1] * 5).sum() + out.sum()
    loss.backward()
    assert out.asnumpy().tolist() == [[0], [0], [0]] and last[1].asscalar() == 2
    assert a.grad.asscalar() == 5 and w.grad.asscalar() == 0
    assert C.while_loop(lambda i: i < 0, lambda i: (i, i), i, 3)[0] == []


def test_rows_behind_the_last_step_are_zero():
    def loop(F, i, a):
        return F.contrib.while_loop(lambda i, a: i < 2, lambda i, a: (a, [i + 1, a * 2]), [i, a], 4)
    for block in (Block(loop), hybrid(loop)):
        assert block(nd.array([0]), nd.array([3, 4]))[0].asnumpy().tolist() == [[3, 4], [6, 8], [0, 0], [0, 0]]


@pytest.mark.parametrize("static", [False, True])
def test_second_order(static):
    def program(F, d, s, w):
        out, state = F.contrib.foreach(lambda x, st: (F.sin(x * w + st), st * F.tanh(x) + w * st), d, s)
        picked = F.contrib.cond(F.sum(s) > 0, lambda: w * w * w, lambda: w)
        _, last = F.contrib.while_loop(lambda i, a: i < 2, lambda i, a: (a, [i + 1, a * a * w]), [F.zeros((1,)), s], 3)
        return (out * out).sum() + (state * picked).sum() + (last[1] * w).sum()
    found = []
    for block in (Block(program), hybrid(program, static_alloc=static)):
        rs = np.random.RandomState(3)
        xs = [nd.array(rs.uniform(0.2, 1, s)) for s in ((4, 3), (3,), (3,))]
        for x in xs:
            x.attach_grad()
        with autograd.record():
            y = block(*xs)
            first = autograd.grad(y, xs, create_graph=True, retain_graph=True)
            z = sum((g * g).sum() for g in first)
        z.backward()
        found.append([g.asnumpy() for g in first] + [x.grad.asnumpy() for x in xs])
    for a, b in zip(*found):
        close(a, b, 1e-3)


def test_dropout_draws_once():
    d, s = nd.ones((4, 50)), nd.ones((50,))
    for way in WAYS.values():
        block = Block(lambda F, d, s: F.contrib.foreach(lambda x, st: (F.Dropout(x, p=0.5) * st, st), d, s)[0])
        if way:
            block.hybridize(**way)
        d.attach_grad()
        with autograd.record():
            out = block(d, s)
        out.backward()
        assert np.array_equal(out.asnumpy(), d.grad.asnumpy())
        assert set(out.asnumpy().ravel()) == {0, 2}
        assert len({tuple(r) for r in out.asnumpy()}) == 4
        assert block(d, s).asnumpy().min() == 1


def test_random_numbers_of_the_body():
    def program(F, d):
        return F.contrib.foreach(lambda x, st: (x * F.random.uniform(1, 2, shape=(3,)), []), d, [])[0]
    d = nd.array(np.ones((5, 3)) * 2)
    d.attach_grad()
    block = hybrid(program)
    with autograd.record():
        out = block(d)
    out.backward()
    close(out.asnumpy(), d.grad.asnumpy() * 2)
    assert len(set(out.asnumpy().ravel())) == 15


def test_batch_norm_in_the_body():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.norm = gluon.nn.BatchNorm(in_channels=3, momentum=0.5)

        def hybrid_forward(self, F, d):
            return F.contrib.foreach(lambda x, st: (self.norm(x), []), d, [])[0]

    d = nd.random.normal(3, 2, shape=(4, 8, 3))
    found = []
    for way in WAYS.values():
        net = Net()
        net.initialize()
        if way:
            net.hybridize(**way)
        d.attach_grad()
        with autograd.record():
            loss = (net(d) ** 3).sum()
        loss.backward()
        found.append([d.grad.asnumpy(), net.norm.running_mean.data().asnumpy(), net.norm.gamma.grad().asnumpy()])
    for other in found[1:]:
        for a, b in zip(found[0], other):
            close(a, b, 2e-3)


def test_gluon_cells_in_the_body(tmp_path):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.cell = gluon.rnn.LSTMCell(4)
                self.dense = gluon.nn.Dense(3, flatten=False)

        def hybrid_forward(self, F, d, h, c):
            out, states = F.contrib.foreach(self.cell, d, [h, c])
            return self.dense(out), states

    net = Net()
    net.initialize()
    d, h, c = nd.random.normal(shape=(6, 2, 5)), nd.zeros((2, 4)), nd.zeros((2, 4))
    found = []
    for step in range(2):
        with autograd.record():
            out, (_, last) = net(d, h, c)
            loss = (out ** 2).sum() + (last ** 2).sum()
        loss.backward()
        found.append([out.asnumpy()] + [p.grad().asnumpy() for p in net.collect_params().values()])
        if step == 0:
            net.hybridize()
    for a, b in zip(*found):
        close(a, b, 1e-4)
    net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data0", "data1", "data2"], str(tmp_path / "net-0000.params"))
    close(again(d, h, c)[0].asnumpy(), found[0][0], 1e-4)


def test_module_trains():
    d, s, w = mx.sym.var("data"), mx.sym.var("s"), mx.sym.var("w", shape=(3,))
    out, _ = S.foreach(lambda x, st: (x * w + st, st), d, mx.sym.zeros((3,)))
    ex = out.simple_bind(mx.cpu(), data=(4, 3), grad_req="add")
    ex.arg_dict["data"][:] = 2
    for k in (1, 2):
        ex.forward(is_train=True)
        ex.backward(nd.ones((4, 3)))
        assert ex.grad_dict["w"].asnumpy().tolist() == [8 * k] * 3
    assert s.name == "s"


def test_weights_change_between_calls():
    def program(F, d, s, w):
        return F.contrib.foreach(lambda x, st: (lambda y: (y, y))(F.FullyConnected(x, w, no_bias=True, num_hidden=32) + st * 0.1), d, s)[0]
    d, s, w = nd.random.normal(shape=(3, 20, 32)), nd.zeros((20, 32)), nd.random.normal(shape=(32, 32))
    blocks = [Block(program)] + [hybrid(program, **way) for way in WAYS.values() if way]
    for _ in range(3):
        first, *others = [block(d, s, w).asnumpy() for block in blocks]
        for other in others:
            close(other, first, 1e-3)
        w[:] = w * 1.5
        d[:] = d * 0.5


def test_foreach_of_2_0_reads_a_state_twice():
    graph = {"nodes": [
        {"op": "null", "name": "data", "inputs": []}, {"op": "null", "name": "state", "inputs": []},
        {"op": "_npx_foreach", "name": "loop", "inputs": [[0, 0, 0], [1, 0, 0], [1, 0, 0]],
         "attrs": {"num_args": "4", "num_outputs": "2", "num_out_data": "1", "in_data_locs": "(0,)", "in_state_locs": "(1, 2)",
                   "remain_locs": "()", "in_state_index": "(0, 0)"},
         "subgraphs": [{"nodes": [
             {"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "s", "inputs": []},
             {"op": "null", "name": "s", "inputs": []},
             {"op": "elemwise_mul", "name": "product", "inputs": [[0, 0, 0], [1, 0, 0]]},
             {"op": "elemwise_add", "name": "sum", "inputs": [[0, 0, 0], [2, 0, 0]]}],
             "arg_nodes": [0, 1, 2], "node_row_ptr": [0, 1, 2, 3, 4, 5], "heads": [[3, 0, 0], [4, 0, 0]]}]}],
        "arg_nodes": [0, 1], "node_row_ptr": [0, 1, 2, 4], "heads": [[2, 0, 0], [2, 1, 0]],
        "attrs": {"mxnet_version": ["int", 20000]}}
    d, s = nd.array([[1, 2], [3, 4]]), nd.array([1, 1])
    grads = [nd.zeros((2, 2)), nd.zeros((2,))]
    executor = mx.sym.load_json(json.dumps(graph)).bind(mx.cpu(), [d, s], grads)
    out, last = executor.forward(is_train=True)
    assert out.asnumpy().tolist() == [[1, 2], [6, 12]] and last.asnumpy().tolist() == [5, 7]
    executor.backward([nd.ones((2, 2)), nd.ones((2,))])
    assert grads[1].asnumpy().tolist() == [1 + 3 + 1, 2 + 4 + 1]


WRONG = {
    "data": (lambda: S.foreach(lambda x, st: (x, st), 5, mx.sym.var("s")), AssertionError, "foreach input must be"),
    "states": (lambda: S.foreach(lambda x, st: (x, st), mx.sym.var("d"), 5), AssertionError, "foreach states must be"),
    "result": (lambda: S.foreach(lambda x, st: (5, st), mx.sym.var("d"), mx.sym.var("s")), AssertionError, "foreach output must be"),
    "form": (lambda: S.foreach(lambda x, st: (x, [x, x]), mx.sym.var("d"), mx.sym.var("s")), AssertionError, "different format"),
    "unused data": (lambda: S.foreach(lambda x, st: (st * 2, st), mx.sym.var("d"), mx.sym.var("s")), AssertionError, "data arrays"),
    "unused state": (lambda: S.foreach(lambda x, st: (x * 2, x), mx.sym.var("d"), mx.sym.var("s")), AssertionError, "state arrays"),
    "same name": (lambda: S.foreach(lambda x, st: (x * 2, st), mx.sym.var("d"), mx.sym.var("d")), AssertionError, "unique names"),
    "no tuple": (lambda: S.foreach(lambda x, st: 7, mx.sym.var("d"), mx.sym.var("s")), TypeError, "unpack"),
    "no maximum": (lambda: S.while_loop(lambda i: i, lambda i: (i, i), mx.sym.var("i")), ValueError, "should be specified"),
    "maximum": (lambda: S.while_loop(lambda i: i, lambda i: (i, i), mx.sym.var("i"), "x"), ValueError, "Cannot convert"),
    "maximum 0": (lambda: S.while_loop(lambda i: i, lambda i: (i, i), mx.sym.var("i"), 0), mx.base.MXNetError, "max_iterations"),
    "no variables": (lambda: S.while_loop(lambda: 1, lambda: (1, []), [], 3), ValueError, "at least one"),
    "condition": (lambda: S.while_loop(lambda i: 1, lambda i: (i, i), mx.sym.var("i"), 3), ValueError, "must be a Symbol"),
    "count": (lambda: S.while_loop(lambda i: i < 3, lambda i: (i, [i, i]), mx.sym.var("i"), 3), ValueError, "consistent"),
    "unused variable": (lambda: S.while_loop(lambda i, a: i < 3, lambda i, a: (i, [i, i]), [mx.sym.var("i"), mx.sym.var("a")], 3),
                        ValueError, "2-th loop_var"),
    "branches": (lambda: S.cond(mx.sym.var("i"), lambda: [mx.sym.var("a")] * 2, lambda: mx.sym.var("a")), ValueError, "differs"),
    "pred": (lambda: S.cond(1, lambda: mx.sym.var("a"), lambda: mx.sym.var("a")), AssertionError, "cond outputs must be"),
    "nothing": (lambda: S.cond(mx.sym.var("i"), lambda: [], lambda: []), TypeError, "list of symbols"),
    "array data": (lambda: C.foreach(lambda x, st: (x, st), 5, nd.ones(1)), AssertionError, "foreach input must be"),
    "array states": (lambda: C.foreach(lambda x, st: (x, st), nd.ones(2), 5), AssertionError, "foreach states must be"),
    "array result": (lambda: C.foreach(lambda x, st: (5, st), nd.ones(2), nd.ones(1)), AssertionError, "foreach output must be"),
    "array truth": (lambda: C.while_loop(lambda i: i, lambda i: (i, i), nd.ones(2), 3), ValueError, "scalar"),
    "array count": (lambda: C.while_loop(lambda i: i, lambda i: (i, [i, i]), [nd.ones(1)], 3), ValueError, "consistent"),
    "array maximum": (lambda: C.while_loop(lambda i: i, lambda i: (i, i), nd.ones(1)), ValueError, "should be specified"),
    "array branch": (lambda: C.cond(nd.ones(2), lambda: 1, lambda: 2), ValueError, "scalar"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call()


def test_wrong_shapes():
    d, s, e = mx.sym.var("d"), mx.sym.var("s"), mx.sym.var("e")
    with pytest.raises(mx.base.MXNetError, match="keeps its shape"):
        S.foreach(lambda x, st: (x, mx.sym.concat(st, x, dim=0)), d, s)[1].infer_shape(d=(3, 2), s=(2,))
    with pytest.raises(mx.base.MXNetError, match="data 1"):
        S.foreach(lambda x, st: (x[0] + x[1], st), [d, e], s)[0].infer_shape(d=(3, 2), e=(4, 2), s=(2,))
    with pytest.raises(mx.base.MXNetError, match="both branches"):
        S.cond(s, lambda: mx.sym.concat(d, e, dim=0), lambda: d + e).infer_shape(s=(1,), d=(2,), e=(2,))
    with pytest.raises(mx.base.MXNetError, match="one number"):
        S.while_loop(lambda s: s < 3, lambda s: (s, s + 1), s, 3)[0].infer_shape(s=(2,))


HOSTILE = [("in_data_locs", "[7]"), ("in_data_locs", "[-1]"), ("in_data_locs", "[]"), ("in_state_locs", "[0]"),
           ("in_state_locs", "x"), ("remain_locs", "[99999999999]"), ("num_outputs", "3"), ("num_outputs", "-1"),
           ("num_out_data", "5"), ("num_out_data", "-2"), ("num_args", "1"), ("num_args", "400000")]


@pytest.mark.parametrize("key, value", HOSTILE)
def test_hostile_files(key, value):
    graph = json.loads(json.dumps(RECORDED["graphs"]["foreach"]["json"]))
    node = next(n for n in graph["nodes"] if n["op"] == "_foreach")
    node["attrs"][key] = value
    with pytest.raises(mx.base.MXNetError):
        mx.sym.load_json(json.dumps(graph)).infer_shape(data=(3, 2), init=(2,))


def test_files_without_graphs():
    for name, op in (("foreach", "_foreach"), ("while", "_while_loop"), ("cond", "_cond")):
        graph = json.loads(json.dumps(RECORDED["graphs"][name]["json"]))
        node = next(n for n in graph["nodes"] if n["op"] == op)
        node["subgraphs"] = node["subgraphs"][1:]
        with pytest.raises(mx.base.MXNetError, match="subgraphs"):
            mx.sym.load_json(json.dumps(graph))


def test_weights_that_change_while_the_other_branch_is_taken():
    """A branch keeps packed weights from call to call."""
    x, w, p = (mx.sym.var(name) for name in "xwp")
    made = mx.sym.contrib.cond(p, lambda: mx.sym.FullyConnected(x, w, num_hidden=64, no_bias=True),
                               lambda: mx.sym.FullyConnected(x, w * 2, num_hidden=64, no_bias=True))
    arrays = {"x": mx.nd.random.normal(shape=(1, 64)), "w": mx.nd.random.normal(shape=(64, 64)),
              "p": mx.nd.ones(1)}
    bound = made.bind(mx.cpu(), arrays, grad_req="null")
    for flag, scale in ((1, 1), (1, 1), (0, 1), (0, 3), (1, 1), (1, .5), (0, 1), (1, 1)):
        arrays["p"][:] = flag
        arrays["w"][:] = arrays["w"] * scale
        want = arrays["x"].asnumpy() @ arrays["w"].asnumpy().T * (1 if flag else 2)
        np.testing.assert_allclose(bound.forward()[0].asnumpy(), want, rtol=1e-4, atol=1e-4)
