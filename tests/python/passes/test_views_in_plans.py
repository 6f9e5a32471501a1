"""Reshapes in plans: they copy nothing, and nobody writes over what they share."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd, sym
from mxnet.gluon import nn

pytestmark = pytest.mark.cpu
RNG = np.random.RandomState(0)


class Net(nn.HybridBlock):
    """A function of symbols as a block."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def hybrid_forward(self, F, *inputs):
        return self.function(F, *inputs)


def hybrid(function, **options):
    net = Net(function)
    net.hybridize(**options)
    return net


def ran(net, op, *arrays):
    nodes = net.explain(*arrays, runs=1).plan["nodes"]
    return [part["implementation"] for n in nodes if n["op"] == op for part in n["ran"]]


def test_a_result_that_is_reshaped_is_not_copied():
    """The joined cache of a decoder is a result, and is read in another shape."""
    def step(F, cache, x):
        joined = F.concat(cache, x, dim=1)
        return joined, F.reshape(joined, (-1, 4)) * 2

    net = hybrid(step)
    cache, x = nd.array(RNG.rand(2, 3, 4)), nd.array(RNG.rand(2, 1, 4))
    joined, twice = net(cache, x)
    assert ran(net, "Reshape", cache, x) == ["nothing to copy"]
    for _ in range(3):
        cache, x = nd.array(RNG.rand(2, 3, 4)), nd.array(RNG.rand(2, 1, 4))
        before = joined.asnumpy()
        other, twice = net(cache, x)
        expected = np.concatenate([cache.asnumpy(), x.asnumpy()], axis=1)
        assert np.array_equal(other.asnumpy(), expected) and np.array_equal(twice.asnumpy(), expected.reshape(-1, 4) * 2)
        assert np.array_equal(joined.asnumpy(), before)     # of the call before
        joined = other


@pytest.mark.parametrize("static", [False, True])
def test_both_readers_of_an_array_see_it_as_it_was(static):
    """The shared array ends with the last of its readers, in either order."""
    def function(F, x):
        y = F.exp(x)
        flat = F.reshape(y, (-1,))
        first = F.relu(flat - 1)                            # over `flat`, if that were its own
        second = F.sin(y)                                   # over `y`
        wide = F.expand_dims(y, axis=0)
        third = F.square(F.reshape(wide, (3, 8)))
        fourth = F.cos(F.flatten(y))
        return F.sum(first) + F.sum(second), first, third, fourth, F.sqrt(y), flat * y.reshape((-1,))

    net = hybrid(function, static_alloc=static, static_shape=static)
    for _ in range(3):
        x = nd.array(RNG.rand(2, 3, 4))
        y = np.exp(x.asnumpy().astype("float64"))
        flat = y.reshape(-1)
        expected = [np.maximum(flat - 1, 0).sum() + np.sin(y).sum(), np.maximum(flat - 1, 0), np.square(y.reshape(3, 8)),
                    np.cos(y.reshape(2, 12)), np.sqrt(y), flat * flat]
        for found, wanted in zip(net(x), expected):
            np.testing.assert_allclose(found.asnumpy().reshape(np.shape(wanted)), wanted, rtol=1e-5, atol=1e-5)


def test_gradients_read_what_was_reshaped():
    def function(F, x):
        y = F.exp(x)
        r = F.reshape(y, (-1,))
        return F.sum(r * r) + F.sum(F.relu(y) * y)

    net, x = hybrid(function), nd.array(RNG.rand(3, 4))
    x.attach_grad()
    with autograd.record():
        loss = net(x)
    loss.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * np.exp(2 * x.asnumpy()), rtol=1e-5)


def test_a_caller_may_write_into_results_before_the_gradient():
    """The gradient of r * r reads r, which must not lie in the result then."""
    y = sym.var("x") * 2
    r = sym.reshape(y, shape=(-1,))
    net = sym.Group([y, sym.sum(r * r)])
    executor = net.simple_bind(mx.cpu(), x=(2, 3), grad_req="write")
    x = RNG.rand(2, 3).astype("float32")
    executor.forward(is_train=True, x=nd.array(x))
    executor.outputs[0][:] = 0
    executor.backward([nd.zeros((2, 3)), nd.ones((1,))])
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), 8 * x, rtol=1e-5)


def test_training_keeps_one_array_of_two_shapes():
    """What gradients keep of an array before a reshape and behind it is one array."""
    x = sym.exp(sym.var("x"))
    for i in range(4):
        column = sym.reshape(sym.Activation(x, act_type="softrelu"), shape=(-1, 1))     # both shapes are kept
        x = sym.reshape(sym.FullyConnected(column, num_hidden=1, no_bias=True, flatten=False, name=f"f{i}"), shape=(64, 64))
    executor = sym.sum(x).simple_bind(mx.cpu(), x=(64, 64), grad_req="write")
    kept = 5 + 2     # results of exp and of the activations, and what a gradient needs while it is computed
    assert executor.explain(runs=0).plan["stats"]["arena_bytes"] <= kept * 64 * 64 * 4


def test_the_switch_for_in_place_results_is_heard(monkeypatch):
    import subprocess
    import sys
    code = ("import mxnet as mx; x = mx.sym.exp(mx.sym.var('x')); e = mx.sym.Group([x, mx.sym.reshape(x, shape=(-1,)) * 2])"
            ".simple_bind(mx.cpu(), x=(2, 3)); print([p['implementation'] for n in e.explain(runs=1).plan['nodes']"
            " if n['op'] == 'Reshape' for p in n['ran']])")
    for value, expected in (("1", "nothing to copy"), ("0", "copy")):
        monkeypatch.setenv("MXNET_EXEC_ENABLE_INPLACE", value)
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert out.strip() == f"['{expected}']"
