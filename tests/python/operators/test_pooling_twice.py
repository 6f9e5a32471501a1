"""Second and third gradients of maximum and p-norm pooling, with ties."""
import itertools

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

# shape of (batch, channels, spatial...), parameters
CASES = {
    "valid": ((2, 3, 7, 6), {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1)}),
    "full": ((2, 3, 7, 6), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}),
    "same": ((2, 3, 9), {"kernel": (4,), "stride": (2,), "pooling_convention": "same"}),
    "global": ((2, 3, 4, 5), {"global_pool": True}),
    "one dimension": ((2, 3, 11), {"kernel": (3,), "stride": (2,)}),
    "three dimensions": ((1, 2, 4, 5, 4), {"kernel": (2, 3, 2), "stride": (1, 2, 2), "pad": (0, 1, 0)}),
    "apart": ((1, 2, 7, 7), {"kernel": (2, 2), "stride": (3, 3)}),
    "many channels": ((2, 70, 5, 4), {"kernel": (2, 2)}),
}
LAST = {3: "NWC", 4: "NHWC", 5: "NDHWC"}


def tied(shape, seed=0):
    return np.random.default_rng(seed).integers(-2, 3, shape).astype("float64")


def to_last(a):
    return np.moveaxis(a, 1, -1)


def first_maxima(x, out_shape, kernel=None, stride=None, pad=None, pooling_convention="valid", global_pool=False):
    """For every result, the flat place in x of the first maximum of its window; -1 where the window
    is empty."""
    n = x.ndim - 2
    kernel, stride, pad = (x.shape[2:], (1,) * n, (0,) * n) if global_pool else (kernel, stride or (1,) * n, pad or (0,) * n)
    if pooling_convention == "same":
        pad = [max(0, (o - 1) * s + k - size) // 2 for o, s, k, size in zip(out_shape[2:], stride, kernel, x.shape[2:])]
    places = np.full(out_shape, -1)
    for at in np.ndindex(*out_shape):
        ranges = [range(max(0, o * s - p), min(size, o * s - p + k)) for o, s, p, k, size in zip(at[2:], stride, pad, kernel, x.shape[2:])]
        window = [at[:2] + inner for inner in itertools.product(*ranges)]
        if window:
            places[at] = np.ravel_multi_index(window[int(np.argmax([x[w] for w in window]))], x.shape)
    return places


def gradients(x, og, u, attrs, hybridize=False):
    """First gradient of sum(og * pooled x), and that of sum(u * first gradient) with respect to og
    and to x."""
    x, og, u = (nd.array(a, dtype=a.dtype) for a in (x, og, u))
    x.attach_grad()
    og.attach_grad()

    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, data):
            return F.Pooling(data, **attrs)
    net = Net()
    if hybridize:
        net.hybridize()
    with autograd.record():
        y = net(x)
        first = autograd.grad([y], [x], head_grads=[og], create_graph=True, retain_graph=True)[0]
        total = (first * u).sum()
    total.backward()
    return first.asnumpy(), og.grad.asnumpy(), x.grad.asnumpy()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", sorted(CASES))
def test_maxima_are_selected_again(name, last, dtype, hybridize):
    shape, attrs = CASES[name]
    x = tied(shape)
    out_shape = nd.Pooling(nd.array(x), **attrs).shape
    rng = np.random.default_rng(1)
    og, u = rng.integers(-3, 4, out_shape).astype("float64"), rng.integers(-9, 10, shape).astype("float64")
    places = first_maxima(x, out_shape, **attrs)
    assert (places >= 0).all()
    first = np.zeros(x.size)
    np.add.at(first, places.ravel(), og.ravel())
    expected = first.reshape(shape), u.ravel()[places], np.zeros(shape)
    arrays = x, og, u
    if last:
        attrs, arrays, expected = dict(attrs, layout=LAST[len(shape)]), tuple(map(to_last, arrays)), tuple(map(to_last, expected))
    got = gradients(*(a.astype(dtype) for a in arrays), attrs, hybridize)
    for value, right in zip(got, expected):
        np.testing.assert_array_equal(value, right)     # small integers: nothing is rounded


def test_third_gradient_scatters_again():
    x, og, u, v = (nd.array(a) for a in (tied((1, 2, 4, 4)), np.arange(18.).reshape(1, 2, 3, 3),
                                         np.arange(32.).reshape(1, 2, 4, 4), tied((1, 2, 3, 3), 2)))
    for a in (x, og, u):
        a.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, kernel=(2, 2))
        first = autograd.grad([y], [x], head_grads=[og], create_graph=True, retain_graph=True)[0]
        second = autograd.grad([first], [og], head_grads=[u], create_graph=True, retain_graph=True)[0]
        total = (second * v).sum()
    total.backward()
    x2 = x.copy()
    x2.attach_grad()
    with autograd.record():
        y = nd.Pooling(x2, kernel=(2, 2))
    y.backward(v)
    np.testing.assert_array_equal(u.grad.asnumpy(), x2.grad.asnumpy())
    assert not x.grad.asnumpy().any()


def through(f, x, direction, create_graph):
    """Gradient of sum(direction * gradient of f) at x by autograd, or that sum alone."""
    x, direction = nd.array(x, dtype="float64"), nd.array(direction, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = f(x)
        total = (y * y * nd.arange(1, y.size + 1, dtype="float64").reshape(y.shape)).sum()
        first = autograd.grad([total], [x], create_graph=create_graph, retain_graph=True)[0]
        z = (first * direction).sum()
    if not create_graph:
        return z.asscalar()
    z.backward()
    return x.grad.asnumpy()


class Squared(gluon.HybridBlock):
    """Pooling of squares and of what a convolution gives: layers before and behind, as in a network
    with a gradient penalty."""
    def __init__(self, attrs):
        super().__init__()
        self.attrs = attrs
        self.weight = self.params.get("weight", shape=(4, 3, 3, 3), dtype="float64",
                                      init=mx.init.Constant(np.random.default_rng(4).standard_normal((4, 3, 3, 3))))

    def hybrid_forward(self, F, x, weight):
        x = F.Convolution(x * x, weight, kernel=(3, 3), num_filter=4, pad=(1, 1), no_bias=True)
        return F.Pooling(x, **self.attrs)


KINDS = {"max": {}, "lp1": {"pool_type": "lp", "p_value": 1},
         "lp2": {"pool_type": "lp", "p_value": 2}, "lp3": {"pool_type": "lp", "p_value": 3},
         "lp4": {"pool_type": "lp", "p_value": 4}}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_against_differences(kind, hybridize):
    rng = np.random.default_rng(3)
    net = Squared(dict(KINDS[kind], kernel=(2, 3), stride=(2, 1), pad=(0, 1)))
    net.initialize()
    if hybridize:
        net.hybridize()
    x, direction = rng.standard_normal((1, 3, 4, 5)), rng.standard_normal((1, 3, 4, 5))
    exact = through(net, x, direction, True)
    for at in itertools.islice(np.ndindex(*x.shape), 0, None, 7):
        values = []
        for step in (1e-5, -1e-5):
            moved = x.copy()
            moved[at] += step
            values.append(through(net, moved, direction, False))
        np.testing.assert_allclose(exact[at], (values[0] - values[1]) / 2e-5, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_nothing_have_finite_second_gradients(p):
    x = np.zeros((1, 1, 4, 4), "float32")
    x[0, 0, 0, 0] = 2
    og, u = np.ones((1, 1, 2, 2), "float32"), np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
    _, by_og, by_x = gradients(x, og, u, {"pool_type": "lp", "p_value": p, "kernel": (2, 2), "stride": (2, 2)})
    # the first gradient calls the slope of |x| at 0 one, except where the whole window is 0
    assert by_og.tolist() == [[[[10 if p == 1 else 0, 0], [0, 0]]]] and np.isfinite(by_x).all()
    # of |(2, 0, 0, 0)| for p = 2: what moves the other three turns the slope by 1 / 2
    assert by_x[0, 0, :2, :2].tolist() == ([[0, .5], [2, 2.5]] if p == 2 else [[0, 0], [0, 0]])


def test_the_door_of_numpy_extension():
    x = nd.array(tied((1, 2, 4, 4)))
    x.attach_grad()
    with autograd.record():
        y = nd._internal._npx_pooling(x * x, kernel=(2, 2))
        first = autograd.grad([y], [x], create_graph=True, retain_graph=True)[0]
    first.backward()
    places = first_maxima(tied((1, 2, 4, 4)) ** 2, (1, 2, 3, 3), kernel=(2, 2))
    np.testing.assert_array_equal(x.grad.asnumpy().ravel(), 2 * np.bincount(places.ravel(), minlength=32))
