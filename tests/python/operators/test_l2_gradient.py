"""Gradients of L2Normalization: rows and columns of every length against float64."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu

AXES = {"instance": (1, 2), "channel": (1,), "spatial": (2,)}
# Short and long rows, one that threads share, several stripes of columns, sizes of 1 and 0.
SHAPES = [(3, 4, 5), (40, 1, 1), (1, 3, 70000), (2, 300, 1100), (2, 3, 33000), (5, 33, 1), (0, 3, 2), (2, 3, 0)]


def wanted(g, x, mode, eps):
    r = 1 / np.sqrt(np.sum(x * x, axis=AXES[mode], keepdims=True) + eps)
    return g * r - x * np.sum(g * x, axis=AXES[mode], keepdims=True) * r ** 3


def gradient(x, g, mode, eps, before=None):
    if before is None:
        x.attach_grad()
    else:
        x.attach_grad("add")
        x.grad[:] = before
    with mx.autograd.record():
        y = mx.nd.L2Normalization(x, mode=mode, eps=eps)
    y.backward(g)
    return x.grad


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("mode", AXES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_against_float64(shape, mode, dtype):
    rng = np.random.default_rng(3)
    x, g = (rng.uniform(-1, 1, shape).astype(dtype) for _ in range(2))
    right = wanted(g.astype("float64"), x.astype("float64"), mode, np.float32(1e-3).astype("float64"))
    tolerance = {"float32": 2e-6, "float64": 1e-12, "float16": 2e-3}[dtype]
    arrays = [mx.nd.array(a, dtype=dtype) for a in (x, g)]
    np.testing.assert_allclose(gradient(*arrays, mode, 1e-3).asnumpy(), right, rtol=tolerance, atol=tolerance)
    added = gradient(*arrays, mode, 1e-3, before=2)
    np.testing.assert_allclose(added.asnumpy(), right + 2, rtol=2 * tolerance, atol=2 * tolerance)


def test_zeros_and_infinity():
    x, g = mx.nd.array([[0, 0], [3, 4]]), mx.nd.array([[1, 2], [5, 10]])
    np.testing.assert_allclose(gradient(x, g, "instance", 1e-10).asnumpy(), [[1e5, 2e5], [-.32, .24]], rtol=1e-5, atol=1e-6)
    tiny = gradient(mx.nd.zeros((20, 2)), mx.nd.ones((20, 2)), "instance", 1e-30)
    np.testing.assert_allclose(tiny.asnumpy(), 1e15, rtol=1e-5)
    x[1, 0] = np.inf
    assert np.isnan(gradient(x, g, "instance", 1e-10).asnumpy()[1, 0])


@pytest.mark.parametrize("mode", AXES)
def test_third_order(mode):
    """The gradient of the second derivative against differences."""
    rng = np.random.default_rng(4)
    values, heads = rng.uniform(-1, 1, (2, 3, 4)), [mx.nd.array(rng.uniform(-1, 1, (2, 3, 4)), dtype="float64") for _ in range(3)]

    def twice(x):
        x.attach_grad()
        with mx.autograd.record():
            y = mx.nd.L2Normalization(x, mode=mode, eps=1e-3)
            first, = mx.autograd.grad(y, [x], head_grads=heads[0], create_graph=True)
            second, = mx.autograd.grad(first, [x], head_grads=heads[1], create_graph=True)
        return second

    x = mx.nd.array(values, dtype="float64")
    twice(x).backward(heads[2])
    for at in [(0, 0, 0), (1, 2, 3)]:
        ends = []
        for step in (1e-5, -1e-5):
            moved = values.copy()
            moved[at] += step
            ends.append(float((twice(mx.nd.array(moved, dtype="float64")) * heads[2]).sum().asscalar()))
        np.testing.assert_allclose(x.grad.asnumpy()[at], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-6)
