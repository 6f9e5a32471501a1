"""Loops and branches in a `forward` that is recorded: they are nodes of the graph, and compute what
they compute operator by operator."""
import json
import warnings

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, npx

pytestmark = pytest.mark.usefixtures("numpy_semantics")

np = mx.np
X = onp.linspace(0, 1, 12).reshape(3, 4).astype("float32")


class Net(gluon.HybridBlock):
    """`function` with a Parameter of the network."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.weight = gluon.Parameter("weight", shape=(4,), init="ones")

    def forward(self, x):
        return self.function(x, self.weight.data() * 2)


def branch(x, w):
    return npx.cond(lambda a: a.sum() > 5, lambda a: a * w, lambda a: a - w, [x])


def branches_in_lists(x, w):
    y = x + 1
    a, b = npx.cond(y.sum() > 100, lambda: [y * w, x], lambda: [x, np.exp(y)])
    return a * b


def loop(x, w):
    out, states = npx.foreach(lambda d, s: (d * 2 + s[0] * w, [s[0] + d]), x, [np.zeros((4,))])
    return out.sum() + states[0].sum()


def loop_over_vectors(x, w):
    out, last = npx.foreach(lambda d, s: (d + s, s + d), w, np.array(0.0))
    return out * last + x


def loop_while(x, w):
    out, (_, last) = npx.while_loop(lambda i, v: i < 3, lambda i, v: (v * w, (i + 1, v + x)), (np.array(0.0), x), max_iterations=5)
    return out.sum(axis=0) + last


def loop_without_outputs(x, w):
    _, last = npx.while_loop(lambda v: v.sum() < 100, lambda v: ([], [v * w]), [x], max_iterations=4)
    return last[0]


def nested(x, w):
    def body(row, states):
        inner, _ = npx.foreach(lambda e, s: (e * 2 + s, s + e), row, np.zeros(()))
        chosen = npx.cond(row.sum() > 1, lambda: inner * w, lambda: inner)
        return chosen, [states[0] + row]
    out, states = npx.foreach(body, x, [np.zeros((4,))])
    return out + states[0]


PROGRAMS = [branch, branches_in_lists, loop, loop_over_vectors, loop_while, loop_without_outputs, nested]


def run(net, values):
    x = np.array(values)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    return y.asnumpy(), x.grad.asnumpy(), net.weight.grad().asnumpy()


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(function, tmp_path):
    plain, compiled = Net(function), Net(function)
    for net in (plain, compiled):
        net.initialize()
    compiled.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (X, X * 3, X[:2]):
            for got, want in zip(run(compiled, values), run(plain, values)):
                onp.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert len(compiled._traces) == 1      # of any length, and of either branch
    operators = {node["op"] for node in json.loads(compiled._traces.last.out.tojson())["nodes"]}
    assert operators & {"_npx_foreach", "_while_loop", "_cond"}
    compiled.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    for values in (X, X * 3, X[:2]):
        onp.testing.assert_allclose(again(np.array(values)).asnumpy(), plain(np.array(values)).asnumpy(), rtol=1e-5, atol=1e-6)


REFUSED = {
    "a state changes": (lambda x, w: npx.foreach(lambda d, s: (d, np.concatenate([s, d])), x, np.zeros((1,)))[1], "changes the shape"),
    "branches differ": (lambda x, w: npx.cond(x.sum() > 1, lambda: x, lambda: x[0]), "several shapes"),
    "a value is read": (lambda x, w: npx.cond(x.sum() > 1, lambda: x * float(w[0]), lambda: x), "a value is read"),
    "no array": (lambda x, w: npx.while_loop(lambda v: True, lambda v: (v, [v + x]), [x], max_iterations=2)[0], "else than arrays"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_graph_can_hold_runs_operator_by_operator(case):
    function, why = REFUSED[case]
    net = Net(function)
    net.initialize()
    want = net(np.array(X)).asnumpy()
    net.hybridize()
    with pytest.warns(UserWarning, match=f"runs operator by operator.*{why}"):
        got = net(np.array(X)).asnumpy()
    onp.testing.assert_array_equal(got, want)


def test_conditions_of_python_choose_while_recording():
    net = Net(lambda x, w: npx.cond(True, lambda: x * w, lambda: x))
    net.initialize()
    net.hybridize()
    onp.testing.assert_array_equal(net(np.array(X)).asnumpy(), X * 2)


class Recurrent(gluon.HybridBlock):
    """A cell in a loop, and a layer whose input size is not known yet."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = gluon.rnn.LSTMCell(5, input_size=4), gluon.nn.Dense(2)

    def forward(self, x):
        def body(row, states):
            result, states = self.cell(row, states)
            return self.out(result), states
        return npx.foreach(body, np.expand_dims(x, 1), self.cell.begin_state(batch_size=1))[0]


class Normalized(gluon.HybridBlock):
    """A branch with states of its own, and one with random numbers."""

    def __init__(self):
        super().__init__()
        self.norm = gluon.nn.BatchNorm(in_channels=4)

    def forward(self, x):
        return npx.cond(x.sum() > 0, lambda: self.norm(x), lambda: npx.dropout(x, p=0.5))


@pytest.mark.parametrize("make", [Recurrent, Normalized])
@pytest.mark.parametrize("sign", [1, -1])
def test_layers_in_loops_and_branches(make, sign):
    results = []
    for hybridize in (False, True):
        mx.random.seed(5)
        net = make()
        net.initialize(mx.init.Constant(0.1) if make is Recurrent else None)
        net.hybridize(hybridize)
        x = np.array(X * sign)
        x.attach_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                with autograd.record():
                    y = net(x) ** 2
                y.backward()
        assert len(net._traces) == hybridize
        params = net.collect_params().values()
        results.append([y, x.grad, *(p.data() for p in params), *(p.grad() for p in params if p.grad_req != "null")])
    for plain, compiled in zip(*results):
        onp.testing.assert_allclose(compiled.asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-5)
