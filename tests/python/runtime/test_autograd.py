"""Autograd: scopes, gradients against finite differences, gradients of gradients, user functions,
memory of the tape."""
import gc
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd as ag
from mxnet import nd

pytestmark = [pytest.mark.on_gpu, pytest.mark.gpu_quick, pytest.mark.sanitized]


def test_scopes_nest_and_restore():
    assert not ag.is_recording() and not ag.is_training()
    with ag.record():
        assert ag.is_recording() and ag.is_training()
        with ag.pause():
            assert not ag.is_recording() and not ag.is_training()
        with ag.predict_mode():
            assert ag.is_recording() and not ag.is_training()
        with pytest.raises(KeyError):
            with ag.pause(train_mode=True):
                assert ag.is_training()
                raise KeyError
        assert ag.is_recording()
    with ag.record(train_mode=False), ag.train_mode():
        assert ag.is_training()
    assert not ag.is_recording()
    seen = []
    with ag.record():
        t = threading.Thread(target=lambda: seen.append(ag.is_recording()))
        t.start()
        t.join()
    assert seen == [False]   # the state belongs to the thread


def finite_differences(f, x, eps=1e-5):
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        g[i] = (f(up) - f(down)) / (2 * eps)
    return g


def test_gradient_of_a_mixed_expression():
    rng = np.random.default_rng(0)
    x0, w0 = rng.normal(size=(3, 4)), rng.normal(size=(4, 1))

    def f(x, w):
        y = nd.broadcast_mul(x.exp(), w.T) + 1 / (x * x + 2) - w.sum() * 0.5
        return (y * y).sum() + nd.dot(x, w).tanh().sum()

    x, w = nd.array(x0, dtype="float64"), nd.array(w0, dtype="float64")
    x.attach_grad()
    w.attach_grad()
    with ag.record():
        loss = f(x, w)
    loss.backward()
    value = lambda a, b: float(f(nd.array(a, dtype="float64"), nd.array(b, dtype="float64")).asscalar())   # noqa: E731
    np.testing.assert_allclose(x.grad.asnumpy(), finite_differences(lambda v: value(v, w0), x0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(w.grad.asnumpy(), finite_differences(lambda v: value(x0, v), w0), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("req, times, expected", [("write", 3, 2.0), ("add", 3, 6.0), ("null", 1, None)])
def test_grad_req(req, times, expected):
    x = nd.ones((2,))
    x.attach_grad(grad_req=req)
    for _ in range(times):
        with ag.record():
            y = x * x
            if req == "null":
                z = nd.ones((2,))
                z.attach_grad()
                y = y * z
        y.backward()
    if expected is None:
        assert x.grad is None or not x.grad.asnumpy().any()
    else:
        np.testing.assert_array_equal(x.grad.asnumpy(), [expected] * 2)


def test_variable_used_many_times_and_diamonds():
    x = nd.array([2.0])
    x.attach_grad()
    with ag.record():
        a = x + x
        b = a * a
        c = a * b + b + x
    c.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 24 * 4 + 8 * 2 + 1)   # c = 8x^3 + 4x^2 + x


def test_head_gradients_and_several_heads():
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with ag.record():
        y, z = x * 3, x * x
    ag.backward([y, z], [nd.array([1.0, 10.0]), None])
    np.testing.assert_allclose(x.grad.asnumpy(), [3 + 2, 30 + 4])


def test_grad_returns_new_arrays_and_leaves_attached_ones():
    x = nd.array([3.0])
    x.attach_grad()
    with ag.record():
        y = x * x * x
        g = ag.grad(y, [x], create_graph=True)[0]
        h = ag.grad(g, x, create_graph=True)[0]
    h.backward()
    np.testing.assert_allclose(g.asnumpy(), 27)
    np.testing.assert_allclose(h.asnumpy(), 18)
    np.testing.assert_allclose(x.grad.asnumpy(), 6)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sigmoid", "sqrt", "square",
                                  "reciprocal", "arctan", "log1p", "expm1", "rsqrt", "erf"])
def test_second_derivative(name):
    x = nd.array([0.3, 0.7, 1.4], dtype="float64")
    x.attach_grad()
    f = getattr(nd, name)
    with ag.record():
        first = ag.grad(f(x), x, create_graph=True)[0]
    first.backward()

    def derivative(values):
        v = nd.array(values, dtype="float64")
        v.attach_grad()
        with ag.record():
            y = f(v)
        y.backward()
        return v.grad.asnumpy()

    eps = 1e-5
    expected = (derivative(x.asnumpy() + eps) - derivative(x.asnumpy() - eps)) / (2 * eps)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5, atol=1e-7)


def test_retain_graph():
    x = nd.ones((1,))
    x.attach_grad()
    with ag.record():
        y = x.exp()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(mx.MXNetError, match="retain_graph"):
        y.backward()


def test_detach_and_blockgrad_cut():
    x = nd.array([2.0])
    x.attach_grad()
    with ag.record():
        y = x * x.detach() + nd.BlockGrad(x * x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [2.0])


def test_errors():
    x = nd.ones((2,))
    with pytest.raises(ValueError, match="autograd"):
        x.backward()
    x.attach_grad()
    with ag.record():
        y = x * 2
        with pytest.raises((ValueError, mx.MXNetError)):
            y += 1
            y[:] = 0
            raise mx.MXNetError("in-place changes of recorded arrays must not go unnoticed")
    with pytest.raises(ValueError):
        ag.backward([y], [nd.ones((3,))])
    with pytest.raises(ValueError, match="grad_req"):
        x.attach_grad(grad_req="sometimes")
    with ag.record():
        z = nd.ones((1,)) * 2
    with pytest.raises(ValueError):
        ag.grad(z, [x])


class Scaled(ag.Function):
    """y = 2x forward; ten times the incoming gradient backward."""

    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * 2, y + 1

    def backward(self, dx, dy):
        x, _ = self.saved_tensors
        return dx * 10 * x, dy


def test_custom_function():   # one _CustomFunction node on the tape
    x, y = nd.array([1.0, 2.0]), nd.array([5.0, 6.0])
    x.attach_grad()
    y.attach_grad()
    with ag.record():
        a, b = Scaled()(x, y)
        loss = a * 3 + b
    loss.backward()
    np.testing.assert_allclose(loss.asnumpy(), [12, 19])
    np.testing.assert_allclose(x.grad.asnumpy(), [30, 60])
    np.testing.assert_allclose(y.grad.asnumpy(), [1, 1])


def test_custom_function_errors_arrive():
    class Broken(ag.Function):
        def forward(self, x):
            return x * 1

        def backward(self, g):
            raise RuntimeError("a message of the user")

    x = nd.ones((1,))
    x.attach_grad()
    with ag.record():
        y = Broken()(x)
    with pytest.raises(mx.MXNetError, match="a message of the user"):
        y.backward()


def test_function_callbacks_are_freed():
    x = nd.ones((1,))
    x.attach_grad()
    for _ in range(5):
        with ag.record():
            y = Scaled()(x, x)[0]
        y.backward()
    del y
    gc.collect()
    assert len(ag.Function._live) <= 1


class Squashed(ag.Function):
    def forward(self, x):
        y = nd.tanh(x)
        self.save_for_backward(y)   # an output
        return y

    def backward(self, g):
        y, = self.saved_tensors
        return g * (1 - y * y)


@pytest.mark.parametrize("differentiate", [True, False])
def test_function_that_saves_its_output_is_freed(differentiate):
    x = nd.array([0.5])
    x.attach_grad()
    gc.collect()
    before = len(ag.Function._live)
    for _ in range(5):
        with ag.record():
            y = Squashed()(x)
        if differentiate:
            y.backward()
            np.testing.assert_allclose(x.grad.asnumpy(), 1 - np.tanh(0.5) ** 2, rtol=1e-6)
    del y
    gc.collect()
    assert len(ag.Function._live) == before


def test_function_alive_at_exit():
    code = """
import mxnet as mx
class F(mx.autograd.Function):
    def forward(self, x): return x * 2
    def backward(self, g): return g * 2
x = mx.nd.ones((1,))
x.attach_grad()
with mx.autograd.record():
    kept = [F()(x) for _ in range(50)]
kept.append(kept)   # a cycle, collected while the interpreter ends
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and run.stderr == "", run.stderr


def test_tape_does_not_hold_memory_that_no_gradient_reads():
    n = 1 << 20   # 4 MiB each
    x = nd.ones((n,))
    x.attach_grad()
    nd.waitall()
    before = mx.storage.stats(mx.cpu()).used_bytes
    with ag.record():
        y = x
        for _ in range(50):
            y = y + 1   # the gradient of a sum reads no values
    y.wait_to_read()
    held = mx.storage.stats(mx.cpu()).used_bytes - before
    y.backward()
    assert held <= 4 * n * 4, held


def test_slices_are_recorded():
    x = nd.arange(12).reshape((3, 4))
    x.attach_grad()
    with ag.record():
        y = x[1:].sum() + (x[0, 1:3] * 2).sum() + x[2].reshape((2, 2)).sum()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [[0, 2, 2, 0], [1, 1, 1, 1], [2, 2, 2, 2]])


def test_get_symbol():
    x = nd.ones((2,))
    x.attach_grad()
    with ag.record():
        y = (x * 2).exp()
    s = ag.get_symbol(y)
    assert len(s.list_arguments()) == 1 and "exp" in s.tojson()


def test_get_symbol_of_a_freed_graph():
    x = nd.ones((2,))
    x.attach_grad()
    with ag.record():
        y = nd.exp(x * 2)
    y.backward(retain_graph=True)
    assert len(ag.get_symbol(y).list_arguments()) == 1
    y.backward()
    with pytest.raises(mx.MXNetError, match="already differentiated and freed"):
        ag.get_symbol(y)


@pytest.mark.parametrize("assign, expected", [
    (lambda b, x: b.__setitem__(0, 1), [0, 2, 2]),
    (lambda b, x: b.__setitem__(slice(None), x * 7), [7, 7, 7]),
    (lambda b, x: b.__setitem__(slice(None), 1), None),
    (lambda b, x: b.__setitem__(1, x[2] * 5), [2, 0, 7]),
    (lambda b, x: b.__setitem__(slice(0, 3, 2), x[:2] * 3), [3, 5, 0]),
    (lambda b, x: b.__setitem__([0, 2], x[1:] * 7), [0, 9, 7]),
    (lambda b, x: b.__setitem__(mx.nd.array([1]), 4), [2, 0, 2]),
])
def test_assignments_to_recorded_arrays_are_differentiated(assign, expected):
    x = mx.nd.array([1.0, 2, 3])
    x.attach_grad()
    with ag.record():
        b = x * 2
        assign(b, x)
        total = (b + 0 * x).sum()
    total.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0, 0] if expected is None else expected)


def test_no_heads_are_refused():
    for call in (lambda: mx.autograd.backward([]), lambda: mx.autograd.grad([], [mx.nd.ones((1,))])):
        with pytest.raises(ValueError, match="no heads"):
            call()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("detach", [False, True])
def test_what_a_backward_pass_freed_is_a_constant(hybridize, detach):
    """A state goes from one batch into the next without being detached, as in programs of 1.x,
    which call ``state.detach()`` and drop the result."""
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    if hybridize:
        net.hybridize(static_alloc=True)
    x, state, seen = nd.array([[1.0, 2.0]]), nd.zeros((1, 2)), []
    for _ in range(3):
        state.detach()
        with ag.record():
            state = net(x + (state.detach() if detach else state))
            loss = state.sum()
        loss.backward()
        seen.append(net.weight.grad().asnumpy()[0].tolist())
    assert seen == [[1, 2], [4, 5], [10, 11]]


def test_only_what_is_recorded_later_takes_freed_results_for_constants():
    x, w = nd.array([1.0, 2.0]), nd.array([3.0, 4.0])
    x.attach_grad()
    w.attach_grad()
    with ag.record():
        h = x * 2
        y = h + 1
        before = h * w
    y.backward()
    with ag.record():
        after = h * w
    after.backward()
    assert w.grad.asnumpy().tolist() == [2, 4] and x.grad.asnumpy().tolist() == [2, 2]
    with pytest.raises(mx.MXNetError, match="retain_graph"):
        before.backward()
    with ag.record():
        unconnected = h * 3
    with pytest.raises(mx.MXNetError):
        unconnected.backward()


class Interrupted(ag.Function):
    def forward(self, x):
        return x * 2

    def backward(self, dy):
        signal.raise_signal(signal.SIGINT)
        return dy * 2


@pytest.mark.parametrize("run", [lambda y, x: y.backward(), lambda y, x: ag.backward([y]), lambda y, x: ag.grad(y, [x])],
                         ids=["array", "backward", "grad"])
def test_ctrl_c_in_a_functions_backward_reaches_the_program(run):
    x = nd.ones(3)
    x.attach_grad()
    with ag.record():
        y = Interrupted()(x)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(y, x)
    assert "signal.raise_signal" in str(caught.traceback[-1].statement)    # where it arrived
    with ag.record():
        z = x * 3
    z.backward()
    assert x.grad.asnumpy().tolist() == [3.0, 3.0, 3.0]


def test_a_power_in_place_makes_another_array():
    """As in 1.9.1, where mx.nd has no power in place: the array behind another name stays."""
    x = nd.array([2, 3])
    x.attach_grad()
    with ag.record():
        y = x
        y **= 2                     # an array with a gradient could not be written
        z = y
        z **= nd.array([1, 2])
    z.backward()
    assert x.asnumpy().tolist() == [2, 3] and y.asnumpy().tolist() == [4, 9] and z.asnumpy().tolist() == [4, 81]
    assert x.grad.asnumpy().tolist() == [4, 108]


@pytest.mark.parametrize("key", [slice(0, 0), slice(2, 1), (slice(None), slice(1, 1)), (None, slice(3, 3)),
                                 (slice(None, None, -1), slice(2, 2)), [], (slice(None), [])])
def test_parts_without_elements_are_recorded(key):
    """Such as a last batch that is empty. 1.9.1 raises an error."""
    x = nd.array([[1, 2], [3, 4], [5, 6]])
    x.attach_grad()
    with ag.record():
        part = x[key]
        loss = (part * part).sum() + (x * 3).sum()
    loss.backward()
    assert part.shape == x.asnumpy()[key if not isinstance(key, list) else np.zeros(0, int)].shape
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full((3, 2), 3))
    with ag.record():
        loss = (x[key] ** 2).sum()
    loss.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.zeros((3, 2)))
