"""Operators written in Python: mx.operator. The order of calls, what callbacks get, and the answers
are those of 1.9.1."""
import gc
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, operator
from mxnet._operators import callbacks as _operator_callbacks


class Scale(operator.CustomOp):
    """factor * x; the gradient uses what forward left on the instance."""

    def __init__(self, factor=2.0, log=None):
        self.factor, self.log, self.seen = factor, log if log is not None else [], None

    def forward(self, is_train, req, in_data, out_data, aux):
        self.log.append(("forward", is_train, tuple(req), autograd.is_training(), autograd.is_recording()))
        self.seen = in_data[0].asnumpy()
        self.assign(out_data[0], req[0], in_data[0] * self.factor)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.log.append(("backward", tuple(req)))
        assert np.array_equal(self.seen, in_data[0].asnumpy())
        self.assign(in_grad[0], req[0], out_grad[0] * self.factor)


LOG = []
KEPT = []


@operator.register("test_scale")
class ScaleProp(operator.CustomOpProp):
    def __init__(self, factor="2"):
        super().__init__()
        self.factor = float(factor)

    def create_operator(self, ctx, in_shapes, in_dtypes):
        LOG.append((str(ctx), in_shapes, in_dtypes))
        return Scale(self.factor, LOG)


class Stats(operator.CustomOp):
    """(a + b, a * b), and counts its calls in a state."""

    def forward(self, is_train, req, in_data, out_data, aux):
        a, b = in_data
        self.assign(out_data[0], req[0], a + b)
        self.assign(out_data[1], req[1], a * b)
        aux[0][:] += 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        a, b = in_data
        self.assign(in_grad[0], req[0], out_grad[0] + out_grad[1] * b)
        self.assign(in_grad[1], req[1], out_grad[0] + out_grad[1] * a)


@operator.register("test_stats")
class StatsProp(operator.CustomOpProp):
    def list_arguments(self):
        return ["a", "b"]

    def list_outputs(self):
        return ["sum", "product"]

    def list_auxiliary_states(self):
        return ["calls"]

    def infer_shape(self, in_shape):
        return [in_shape[0]] * 2, [in_shape[0]] * 2, [(1,)]

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0]] * 2, [np.float32]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Stats()


class Any(operator.CustomOp):
    """Calls the functions that a test gives."""

    def __init__(self, forward, backward):
        self.f, self.b = forward, backward

    def forward(self, is_train, req, in_data, out_data, aux):
        self.f(req, in_data, out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.b(req, out_grad, in_data, out_data, in_grad)


def make(name, forward, backward=None, **described):
    """Registers an operator of functions."""
    def default(req, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0]

    members = {"create_operator": lambda self, ctx, shapes, dtypes: Any(forward, backward or default), **described}
    operator.register(name)(type(name, (operator.CustomOpProp,), members))


def copy(req, in_data, out_data):
    out_data[0][:] = in_data[0]


def test_eager():
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    LOG.clear()
    with autograd.record():
        y = mx.nd.Custom(x, op_type="test_scale", factor=3)
    y.backward()
    assert y.asnumpy().tolist() == [3, 6, 9] and x.grad.asnumpy().tolist() == [3, 3, 3]
    assert LOG == [("cpu(0)", [[3]], [0]), ("forward", 1, ("write",), True, False), ("backward", ("write",))]
    assert isinstance(LOG[1][1], int)
    z = mx.nd.Custom(data=x, op_type="test_scale", name="ignored")
    assert z.asnumpy().tolist() == [2, 4, 6]
    out = mx.nd.zeros((3,))
    assert mx.nd.Custom(x, op_type="test_scale", out=out) is out and out.asnumpy().tolist() == [2, 4, 6]
    mx.nd.Custom(x, op_type="test_scale", out=x)   # through a temporary: the operator is not told to work in place
    assert x.asnumpy().tolist() == [2, 4, 6]


def test_each_call_has_its_own_operator():
    x, w = mx.nd.array([1, 2]), mx.nd.array([5, 7])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x, op_type="test_scale") + mx.nd.Custom(w, op_type="test_scale")
        z = mx.nd.Custom(y, op_type="test_scale")
    z.backward()   # Scale.backward compares what it saw in forward
    assert x.grad.asnumpy().tolist() == [4, 4] and w.grad.asnumpy().tolist() == [4, 4]
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = mx.nd.Custom(x, op_type="test_scale")
        y.backward()
    assert x.grad.asnumpy().tolist() == [4, 4]


def test_several_outputs_and_states():
    a, b, calls = mx.nd.array([1, 2]), mx.nd.array([3, 4]), mx.nd.zeros((1,))
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        s, p = mx.nd.Custom(a, b, calls, op_type="test_stats")
    p.backward()   # the other output's gradient is zeros
    assert s.asnumpy().tolist() == [4, 6] and p.asnumpy().tolist() == [3, 8]
    assert a.grad.asnumpy().tolist() == [3, 4] and b.grad.asnumpy().tolist() == [1, 2]
    assert calls.asscalar() == 1


def test_symbol_and_executor():
    s = mx.sym.Custom(a=mx.sym.var("x"), op_type="test_stats", name="q")
    assert (s.list_arguments(), s.list_outputs(), s.list_auxiliary_states()) == (["x", "q_b"], ["q_sum", "q_product"], ["q_calls"])
    assert s.infer_shape(x=(2, 3)) == ([(2, 3)] * 2, [(2, 3)] * 2, [(1,)])
    assert s.infer_type(x="float64")[1] == [np.float64] * 2
    head = mx.sym.exp(s[0] * 2) + mx.sym.relu(s[1])   # fused neighbours, in a plan
    exe = head.simple_bind(mx.cpu(), x=(2,), grad_req={"x": "add", "q_b": "null"})
    exe.arg_dict["x"][:] = mx.nd.array([0.5, -1])
    exe.arg_dict["q_b"][:] = mx.nd.array([1, 2])
    exe.grad_dict["x"][:] = 100
    exe.forward(is_train=True)
    exe.backward(mx.nd.ones((2,)))
    x, b = np.array([0.5, -1]), np.array([1.0, 2])
    np.testing.assert_allclose(exe.outputs[0].asnumpy(), np.exp(2 * (x + b)) + np.maximum(x * b, 0), rtol=1e-5)
    np.testing.assert_allclose(exe.grad_dict["x"].asnumpy(), 100 + 2 * np.exp(2 * (x + b)) + (x * b > 0) * b, rtol=1e-5)
    assert exe.aux_dict["q_calls"].asscalar() == 1
    exe.forward(is_train=False)
    assert exe.aux_dict["q_calls"].asscalar() == 2
    seen = []
    exe.set_monitor_callback(lambda name, array: seen.append(name), monitor_all=True)
    exe.forward(is_train=True)
    assert {"q_sum", "q_product", "q_b"} <= set(seen)


def test_json_of_1x():
    nodes = [{"op": "null", "name": "x", "inputs": []},
             {"op": "Custom", "name": "q", "attrs": {"factor": "4", "op_type": "test_scale"}, "inputs": [[0, 0, 0]]}]
    text = json.dumps({"nodes": nodes, "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]],
                       "attrs": {"mxnet_version": ["int", 10901]}})
    s = mx.sym.load_json(text)
    assert s.eval(x=mx.nd.array([1, 2]))[0].asnumpy().tolist() == [4, 8]
    assert mx.sym.load_json(s.tojson()).eval(x=mx.nd.array([3]))[0].asnumpy().tolist() == [12]
    with pytest.raises(mx.MXNetError, match="nosuch_op"):
        mx.sym.load_json(text.replace("test_scale", "nosuch_op"))


@pytest.mark.parametrize("static", [False, True])
def test_hybridized(static):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = mx.gluon.nn.Dense(3, in_units=4)

        def hybrid_forward(self, F, x):
            y = self.dense(F.Custom(x, op_type="test_scale", factor=0.5))
            return F.Custom(y, op_type="test_scale") * 2

    net = Net()
    net.initialize()
    x = mx.nd.array(np.random.RandomState(0).rand(2, 4))
    x.attach_grad()
    results = []
    for hybrid in (False, True):
        if hybrid:
            net.hybridize(static_alloc=static, static_shape=static)
        for _ in range(3):
            with autograd.record():
                ys = [net(x), net(x + 1)]   # two calls under way
                loss = ys[0].sum() + ys[1].sum()
            loss.backward()
            results.append((ys[0].asnumpy(), x.grad.asnumpy(), net(x).asnumpy()))
    for got in results[1:]:
        for g, want in zip(got, results[0]):
            np.testing.assert_allclose(g, want, rtol=1e-5)


def test_module():
    class Softmax(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            x = in_data[0].asnumpy()
            y = np.exp(x - x.max(axis=1, keepdims=True))
            self.assign(out_data[0], req[0], mx.nd.array(y / y.sum(axis=1, keepdims=True)))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            y = out_data[0].asnumpy()
            y[np.arange(len(y)), in_data[1].asnumpy().astype(int)] -= 1
            self.assign(in_grad[0], req[0], mx.nd.array(y))

    @operator.register("test_softmax")
    class Prop(operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=False)

        def list_arguments(self):
            return ["data", "label"]

        def infer_shape(self, in_shape):
            return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Softmax()

    rng = np.random.RandomState(1)
    x = rng.randn(200, 5).astype("float32")
    y = (x @ rng.randn(5, 3)).argmax(axis=1)
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    net = mx.sym.Custom(data=net, label=mx.sym.var("softmax_label"), op_type="test_softmax", name="softmax")
    module = mx.mod.Module(net)
    data = mx.io.NDArrayIter(x, y, batch_size=20)
    module.fit(data, num_epoch=15, optimizer_params={"learning_rate": 0.5})
    assert module.score(data, "acc")[0][1] > 0.9


def test_dependencies():
    """What backward does not ask for it gets as arrays without contents."""
    seen = []

    def backward(req, out_grad, in_data, out_data, in_grad):
        seen.append(([a.shape for a in out_grad], [a.shape for a in in_data], [a.shape for a in out_data]))
        in_grad[0][:] = 7

    x = mx.nd.ones((2, 3))
    x.attach_grad()
    for i, (depends, want) in enumerate([
            (lambda self, og, i, o: [*i], ([()], [(2, 3)], [()])), (lambda self, og, i, o: [], ([()], [()], [()])),
            (lambda self, og, i, o: [*o, *og], ([(2, 3)], [()], [(2, 3)]))]):
        make(f"test_depends{i}", copy, backward, declare_backward_dependency=depends)
        with autograd.record():
            y = mx.nd.Custom(x, op_type=f"test_depends{i}")
        y.backward()
        assert x.grad.asnumpy().tolist() == [[7] * 3] * 2 and seen[-1] == want
        s = mx.sym.Custom(mx.sym.var("x"), op_type=f"test_depends{i}")
        exe = s.simple_bind(mx.cpu(), x=(2, 3))
        exe.forward(is_train=True)
        exe.backward(mx.nd.ones((2, 3)))
        assert exe.grad_dict["x"].asnumpy().tolist() == [[7] * 3] * 2 and seen[-1] == want


def test_defaults():
    prop, op, x = operator.CustomOpProp(), operator.CustomOp(), mx.nd.array([1, 2])
    assert prop.infer_shape([(2, 3)]) == ([(2, 3)], ((2, 3),), ())
    assert prop.infer_type([np.float16]) == ([np.float16], [np.float16], [])
    assert (prop.list_arguments(), prop.list_outputs(), prop.list_auxiliary_states()) == (["data"], ["output"], [])
    assert prop.declare_backward_dependency([1], [2], [3]) == [1, 2, 3]
    assert operator.CustomOpProp(False).declare_backward_dependency([1], [2], [3]) == [2, 3]
    assert prop.infer_storage_type(["default"]) == (["default"], ["default"], [])
    assert prop.infer_storage_type_backward(["default"], ["default"], ["default"], ["default"], []) == (["default"],) * 4 + ([],)
    with pytest.raises(AssertionError):
        prop.infer_storage_type(["csr"])
    assert isinstance(prop.create_operator("cpu", [], []), operator.CustomOp)
    for req, want in [("null", [1, 2]), ("bogus", [1, 2]), ("write", [3, 3]), ("inplace", [4, 4]), ("add", [9, 9])]:
        op.assign(x, req, {"write": 3, "inplace": 4}.get(req, 5))
        assert x.asnumpy().tolist() == want
    seen = []
    make("test_words", copy, __init__=lambda self, **kwargs: (seen.append(kwargs), operator.CustomOpProp.__init__(self))[1])
    mx.nd.Custom(x, op_type="test_words", a=1, b=(2, 3), c=None, d="x", e=True).wait_to_read()
    assert seen[-1] == {"a": "1", "b": "(2, 3)", "c": "None", "d": "x", "e": "True"}
    mx.sym.Custom(mx.sym.var("x"), op_type="test_words", a=0.5, e=False)
    assert seen[-1] == {"a": "0.5", "e": "False"}
    assert set(operator.get_operator_arguments("Custom").names) >= {"data", "op_type"}
    assert "FullyConnected" in operator.get_all_registered_operators()
    assert "_npi_Custom" in operator.get_all_registered_operators_grouped()["Custom"]


def test_registering_again_replaces():
    x = mx.nd.array([1, 2])
    for factor in (3, 5):
        make("test_again", lambda req, i, o, factor=factor: o[0].__setitem__(slice(None), i[0] * factor))
        assert mx.nd.Custom(x, op_type="test_again").asnumpy().tolist() == [factor, 2 * factor]


def test_wrong_calls():
    x = mx.nd.ones((2,))
    for call, error, match in [
            (lambda: mx.nd.Custom(x), mx.MXNetError, "op_type is missing"),
            (lambda: mx.sym.Custom(mx.sym.var("x")), mx.MXNetError, "op_type is missing"),
            (lambda: mx.nd.Custom(x, op_type="nosuch"), mx.MXNetError, "Cannot find custom operator nosuch"),
            (lambda: mx.nd.Custom(x, x, op_type="test_scale"), mx.MXNetError, "2 inputs"),
            (lambda: mx.nd.Custom(op_type="test_scale"), mx.MXNetError, "0 inputs"),
            (lambda: mx.nd.Custom(1.0, op_type="test_scale"), TypeError, "NDArray"),
            (lambda: mx.nd.Custom(x, op_type="test_scale", nosuch=1), mx.MXNetError, "nosuch"),
            (lambda: mx.sym.Custom(mx.sym.var("x"), x=mx.sym.var("y"), op_type="test_scale"), TypeError, "by position and by name"),
            (lambda: mx.nd._internal._Native(x, info=0), mx.MXNetError, "no operator of this process")]:
        with pytest.raises(error, match=match):
            call()


FAILING = {
    "__init__": lambda self: 1 / 0, "list_arguments": lambda self: 1 / 0, "list_outputs": lambda self: 1 / 0,
    "list_auxiliary_states": lambda self: 1 / 0, "infer_shape": lambda self, s: 1 / 0, "infer_type": lambda self, t: 1 / 0,
    "declare_backward_dependency": lambda self, a, b, c: 1 / 0, "create_operator": lambda self, c, s, t: 1 / 0}


@pytest.mark.parametrize("where", FAILING)
def test_errors_of_descriptions(where):
    """They are raised by the call, or by the bind, with the traceback."""
    make(f"test_fails_{where}", copy, **{where: FAILING[where]})
    with pytest.raises(mx.MXNetError, match="(?s)ZeroDivisionError"):
        mx.nd.Custom(mx.nd.ones((2,)), op_type=f"test_fails_{where}")
    with pytest.raises(mx.MXNetError, match="(?s)ZeroDivisionError"):
        mx.sym.Custom(mx.sym.var("x"), op_type=f"test_fails_{where}").simple_bind(mx.cpu(), x=(2,))


def test_wrong_descriptions():
    x = mx.nd.ones((2,))
    for i, members in enumerate([
            {"infer_shape": lambda self, s: s}, {"infer_shape": lambda self, s: (s, [])}, {"infer_shape": lambda self, s: (s, [(-3,)])},
            {"infer_shape": lambda self, s: (s, s, s)}, {"infer_type": lambda self, t: (t, ["nonsense"])},
            {"list_outputs": lambda self: []}, {"list_arguments": lambda self: [1]}, {"create_operator": lambda self, c, s, t: 5},
            {"declare_backward_dependency": lambda self, a, b, c: [99]}, {"infer_shape": lambda self, s: ([(7,)], [(7,)])}]):
        make(f"test_wrong{i}", copy, **members)
        with pytest.raises(mx.MXNetError):
            mx.nd.Custom(x, op_type=f"test_wrong{i}")


def test_errors_of_forward_and_backward():
    """They are raised for whoever waits; what depends on the result fails with it."""
    def fail(*args):
        raise ValueError("boom " + str(len(args)))

    make("test_fail_forward", fail)
    make("test_fail_backward", copy, fail)
    x = mx.nd.ones((2,))
    x.attach_grad()
    y = mx.nd.Custom(x, op_type="test_fail_forward")
    z = y + 1
    for array in (y, z):
        with pytest.raises(mx.MXNetError, match="(?s)forward of operator test_fail_forward.*Traceback.*ValueError: boom 3"):
            array.asnumpy()
    assert (x + 1).asnumpy().tolist() == [2, 2]
    with autograd.record():
        y = mx.nd.Custom(x, op_type="test_fail_backward")
    y.backward()
    assert y.asnumpy().tolist() == [1, 1]
    with pytest.raises(mx.MXNetError, match="(?s)backward of operator.*ValueError: boom 5"):
        x.grad.asnumpy()
    exe = mx.sym.Custom(mx.sym.var("x"), op_type="test_fail_forward", name="node").simple_bind(mx.cpu(), x=(2,))
    with pytest.raises(mx.MXNetError, match="(?s)ValueError: boom 3"):
        exe.forward()[0].asnumpy()
    make("test_fail_inside", lambda req, i, o: mx.nd.dot(i[0], mx.nd.ones((5, 5))))
    with pytest.raises(mx.MXNetError, match="(?s)Traceback.*dot"):
        mx.nd.Custom(mx.nd.ones((2, 2)), op_type="test_fail_inside").wait_to_read()
    try:
        mx.nd.waitall()
    except mx.MXNetError:
        pass


def test_read_only_inputs_and_kept_arrays():
    """Inputs cannot be written; arrays that outlive the call keep what they held."""
    def write(req, in_data, out_data):
        in_data[0][:] = 5

    make("test_writes_input", write)
    with pytest.raises(mx.MXNetError):
        mx.nd.Custom(mx.nd.ones((2,)), op_type="test_writes_input").wait_to_read()

    def keep(req, in_data, out_data):
        out_data[0][:] = in_data[0] * 2
        KEPT.append((in_data[0], out_data[0], out_data[0][1:]))

    make("test_keeps", keep)
    x = mx.nd.array([1, 2, 3])
    exe = mx.sym.exp(mx.sym.Custom(mx.sym.var("x") + 0, op_type="test_keeps")).simple_bind(mx.cpu(), x=(3,))
    for run in range(3):
        exe.forward(x=x * (run + 1))[0].wait_to_read()
    mx.nd.Custom(x, op_type="test_keeps").wait_to_read()
    x[:] = -1
    del exe
    gc.collect()
    for i, factor in enumerate([1, 2, 3, 1]):
        given, result, part = KEPT[i]
        assert given.asnumpy().tolist() == [factor, 2 * factor, 3 * factor]
        assert result.asnumpy().tolist() == [2 * factor, 4 * factor, 6 * factor] and part.asnumpy().tolist() == [4 * factor, 6 * factor]
        result[:] = 0
        assert part.asnumpy().tolist() == [0, 0]
    KEPT.clear()


def test_nested():
    """Custom operators that call others and wait for them, more than there are threads."""
    def outer(req, in_data, out_data):
        out_data[0][:] = mx.nd.Custom(in_data[0], op_type="test_scale").asnumpy() + 1

    def derive(req, in_data, out_data):
        x = in_data[0].copy()
        x.attach_grad()
        with autograd.record():
            y = mx.nd.Custom(x * x, op_type="test_scale")
        y.backward()
        out_data[0][:] = x.grad

    make("test_outer", outer)
    make("test_derive", derive)
    xs = [mx.nd.full((3,), i) for i in range(40)]
    with mx.engine.bulk(20):
        ys = [mx.nd.Custom(mx.nd.Custom(x, op_type="test_outer"), op_type="test_outer") for x in xs]
        zs = [mx.nd.Custom(x, op_type="test_derive") for x in xs]
    for i, (y, z) in enumerate(zip(ys, zs)):
        assert y.asnumpy().tolist() == [4 * i + 3] * 3 and z.asnumpy().tolist() == [4 * i] * 3


def in_flight():
    """64 operators from 8 threads, each reading its input; then the same through an executor."""
    x = mx.nd.array(np.arange(1000.0))
    results = {}

    def work(i):
        made = [mx.nd.Custom(x + i + j, op_type="test_scale") for j in range(8)]
        results[i] = [m[0].asscalar() for m in made]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results == {i: [2.0 * (i + j) for j in range(8)] for i in range(8)}


def test_many_in_flight():
    assert in_flight()


def run(code, timeout=60, **env):
    text = "import sys; sys.path.insert(0, %r)\nimport mxnet as mx, numpy as np, os\nfrom test_custom_operators import *\n%s" % (
        os.path.dirname(os.path.abspath(__file__)), code)
    return subprocess.run([sys.executable, "-c", text], env={**os.environ, **env}, capture_output=True, text=True, timeout=timeout,
                          check=False)


def test_naive_engine_and_fork():
    done = run("assert in_flight()\ntest_eager()\ntest_nested()\ntest_errors_of_forward_and_backward()\nprint('fine')",
               MXNET_ENGINE_TYPE="NaiveEngine")
    assert done.stdout.endswith("fine\n") and done.returncode == 0, done.stderr[-3000:]
    done = run("""
assert in_flight()
child = os.fork()
if child == 0:
    ok = in_flight()
    mx.nd.waitall()
    os._exit(0 if ok else 3)
assert os.waitpid(child, 0)[1] == 0
class Set(mx.gluon.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return mx.nd.Custom(mx.nd.full((2,), i), op_type='test_scale').asnumpy()
got = [b.asnumpy() for b in mx.gluon.data.DataLoader(Set(), 4, num_workers=2)]
assert np.concatenate(got)[:, 0].tolist() == [2.0 * i for i in range(8)]
print('fine')""")
    assert done.stdout.endswith("fine\n") and done.returncode == 0, done.stderr[-3000:]


def test_exit_while_pending():
    """The interpreter ends: what is pending is finished, what daemons still start is refused."""
    done = run("""
import time, threading
def slow(req, i, o):
    time.sleep(0.05)
    o[0][:] = i[0]
    os.write(1, b'ran\\n')
make('slow', slow)
x = mx.nd.ones((2,))
kept = [mx.nd.Custom(x, op_type='slow') for _ in range(20)]
y = mx.nd.Custom(kept[0] + 1, op_type='slow')
def daemon():
    while True:
        try: mx.nd.Custom(x, op_type='test_scale')
        except Exception: time.sleep(0.001)
threading.Thread(target=daemon, daemon=True).start()
""")
    assert done.returncode in (0, 1) and done.stdout.count("ran") == 21, (done.returncode, done.stdout, done.stderr[-3000:])


def test_number_of_threads():
    """MXNET_CUSTOM_OP_NUM_THREADS run at once; those that wait for others do not count."""
    code = """
import time
now, most, lock = [0], [0], threading.Lock()
def count(req, i, o):
    with lock:
        now[0] += 1
        most[0] = max(most[0], now[0])
    time.sleep(0.1)
    with lock: now[0] -= 1
    o[0][:] = i[0]
make('count', count)
x = mx.nd.ones((2,))
kept = [mx.nd.Custom(x, op_type='count') for _ in range(6)]
mx.nd.waitall()
test_nested()
print('most', most[0])"""
    for threads in (1, 3):
        done = run(code, MXNET_CUSTOM_OP_NUM_THREADS=str(threads))
        assert done.stdout == f"most {threads}\n", (done.stdout, done.stderr[-3000:])


def test_waiting_for_all_inside_an_operator_is_an_error():
    """It waited for itself. Waiting for one array is right."""
    code = """
def wait(req, i, o):
    mx.nd.waitall()
def read(req, i, o):
    i[0].wait_to_read()
    o[0][:] = i[0] * 2
make('wait', wait)
make('read', read)
x = mx.nd.ones((2,))
for hybridize in (False, True):
    net = mx.gluon.nn.HybridLambda(lambda F, x: F.Custom(x, op_type='wait'))
    if hybridize: net.hybridize()
    try: net(x).wait_to_read()
    except mx.MXNetError as e: print('waitall was called inside a custom operator' in str(e))
print(mx.nd.Custom(x, op_type='read').asnumpy().tolist())
mx.nd.waitall()"""
    done = run(code)
    assert done.stdout == "True\nTrue\n[2.0, 2.0]\n", (done.stdout, done.stderr[-3000:])


def test_nothing_is_kept():
    """Operators and descriptions go when nobody needs them."""
    x = mx.nd.ones((2,))
    x.attach_grad()

    def live():
        gc.collect()
        mx.nd.waitall()
        for _ in range(1000):
            if len(_operator_callbacks._live) <= start:
                break
            threading.Event().wait(0.005)
        return len(_operator_callbacks._live)

    mx.nd.waitall()
    start = len(_operator_callbacks._live)
    for _ in range(50):
        with autograd.record():
            y = mx.nd.Custom(x, op_type="test_scale")
        y.backward()
    del y
    s = mx.sym.Custom(mx.sym.var("x"), op_type="test_scale")
    s.simple_bind(mx.cpu(), x=(2,)).forward()[0].wait_to_read()
    del s
    assert live() <= start + 2
