"""Second derivatives, against central differences of first ones in float64: in the arrays and in
the gradient from above, eager and hybridized."""
import math

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd


def _array(rng, shape, low=None, high=None, dtype="float64"):
    values = rng.standard_normal(shape) if low is None else rng.uniform(low, high, shape)
    return nd.array(values, dtype=dtype)


def _first(f, arrays, head, train, create_graph):
    with mx.autograd.record(train_mode=train):
        y = f(*arrays)
        return mx.autograd.grad(y, arrays, head_grads=head, create_graph=create_graph,
                                retain_graph=True, train_mode=train)


def check(f, arrays, train=True, step=1e-5, rtol=2e-5, atol=1e-6):
    """f(*arrays) is differentiated; arrays are float64, or all of another dtype."""
    dtype = arrays[0].dtype
    rng = np.random.default_rng(7)
    with mx.autograd.record(train_mode=train):
        y = f(*arrays)
    head = _array(rng, y.shape, dtype=dtype)
    above = [_array(rng, a.shape, dtype=dtype) for a in arrays]
    variables = list(arrays) + [head]
    for v in variables:
        v.attach_grad()
    with mx.autograd.record(train_mode=train):
        grads = mx.autograd.grad(f(*arrays), list(arrays), head_grads=head, create_graph=True,
                                 retain_graph=True, train_mode=train)
        total = sum((g * u).sum() for g, u in zip(grads, above))
    total.backward(train_mode=train)

    def value():
        return sum(float((g * u).sum().asscalar())
                   for g, u in zip(_first(f, list(arrays), head, train, False), above))

    got_all = [v.grad.asnumpy() for v in variables]
    for v, got in zip(variables, got_all):
        at = v.asnumpy()
        expected = np.zeros(at.shape)
        for i in np.ndindex(*at.shape):
            sides = []
            for sign in (1, -1):
                moved = at.copy()
                moved[i] += sign * step
                v[:] = nd.array(moved, dtype=dtype)
                sides.append(value())
            expected[i] = (sides[0] - sides[1]) / (2 * step)
        v[:] = nd.array(at, dtype=dtype)
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol * max(1, np.abs(expected).max()))


def _moving(rng, channels):
    return _array(rng, (channels,)), _array(rng, (channels,), 0.5, 2)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("fix_gamma", [True, False])
@pytest.mark.parametrize("use_global_stats", [True, False])
@pytest.mark.parametrize("shape,axis", [((3, 2, 4), 1), ((4, 3), -1), ((2, 3, 2, 2), 1)])
def test_batch_norm(train, fix_gamma, use_global_stats, shape, axis):
    rng = np.random.default_rng(1)
    c = shape[axis]
    mean, var = _moving(rng, c)
    check(lambda x, gamma, beta: nd.BatchNorm(x, gamma, beta, mean.copy(), var.copy(), axis=axis, eps=1e-3,
                                              fix_gamma=fix_gamma, use_global_stats=use_global_stats),
          [_array(rng, shape), _array(rng, (c,)), _array(rng, (c,))], train=train)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", ["BatchNorm_v1", "SyncBatchNorm", "BatchNormWithReLU"])
def test_norms_made_of_batch_norm(name, train):
    rng = np.random.default_rng(2)
    mean, var = _moving(rng, 2)
    f = nd.BatchNorm_v1 if name == "BatchNorm_v1" else getattr(nd.contrib, name)
    more = {"key": "norm"} if name == "SyncBatchNorm" else {}
    check(lambda x, gamma, beta: f(x, gamma, beta, mean.copy(), var.copy(), fix_gamma=False, eps=1e-3, **more),
          [_array(rng, (3, 2, 4)), _array(rng, (2,)), _array(rng, (2,))], train=train)


def test_batch_norm_three_times():
    rng = np.random.default_rng(3)
    mean, var = _moving(rng, 2)
    weights = _array(rng, (5, 2))

    def first(x):
        y = nd.BatchNorm(x, nd.ones(2, dtype="float64") * 1.5, nd.zeros(2, dtype="float64"), mean.copy(),
                         var.copy(), fix_gamma=False)
        return mx.autograd.grad((y * y * weights).sum(), [x], create_graph=True, retain_graph=True)[0]
    x = _array(rng, (5, 2))
    x.attach_grad()
    check(first, [x], rtol=1e-4)


@pytest.mark.parametrize("nsize,shape", [(3, (2, 5, 2, 2)), (5, (1, 3, 3)), (1, (2, 3))])
def test_lrn(nsize, shape):
    rng = np.random.default_rng(4)
    check(lambda x: nd.LRN(x, nsize=nsize, alpha=0.3, beta=0.6, knorm=1.5), [_array(rng, shape)])


def test_interleaved_attention():
    rng = np.random.default_rng(5)
    steps, batch, heads, size, queries = 3, 2, 2, 2, 4
    qkv, kv = _array(rng, (steps, batch, heads * 3 * size)), _array(rng, (steps, batch, heads * 2 * size))
    q = _array(rng, (queries, batch, heads * size))
    contrib = nd.contrib
    check(lambda x: contrib.interleaved_matmul_selfatt_qk(x, heads=heads), [qkv])
    check(lambda x, a: contrib.interleaved_matmul_selfatt_valatt(x, a, heads=heads),
          [qkv, _array(rng, (batch * heads, steps, steps))])
    check(lambda a, b: contrib.interleaved_matmul_encdec_qk(a, b, heads=heads), [q, kv])
    check(lambda a, b: contrib.interleaved_matmul_encdec_valatt(a, b, heads=heads),
          [kv, _array(rng, (batch * heads, queries, steps))])


@pytest.mark.parametrize("size", [(3, 4), (1, 3), (2, 1)])
def test_bilinear_sampler(size):
    rng = np.random.default_rng(6)
    # some points lie outside of the image; none so near to a pixel that a difference crosses it
    grid = rng.uniform(-1.4, 1.4, (2, 2, 2, 3))
    check(lambda x, g: nd.BilinearSampler(x, g), [_array(rng, (2, 2, *size)), nd.array(grid, dtype="float64")])


def test_spatial_transformer():
    rng = np.random.default_rng(8)
    loc = np.tile([0.8, 0.13, 0.07, -0.21, 0.9, 0.11], (2, 1)) + rng.uniform(-0.05, 0.05, (2, 6))
    check(lambda x, p: nd.SpatialTransformer(x, p, target_shape=(3, 2), transform_type="affine",
                                             sampler_type="bilinear"),
          [_array(rng, (2, 2, 4, 3)), nd.array(loc, dtype="float64")])


def test_roi_pooling():
    rng = np.random.default_rng(9)
    rois = nd.array([[0, 0, 0, 3, 3], [1, 1, 0, 4, 2], [5, 0, 0, 1, 1], [0, 7, 7, 9, 9]], dtype="float64")

    def squared(x):  # pooling alone is linear in what its places are not
        return nd.ROIPooling(x * x, rois, pooled_size=(2, 2), spatial_scale=1.0)
    check(squared, [_array(rng, (2, 2, 4, 5))])


def test_insert_and_differences():
    rng = np.random.default_rng(10)
    a, v = mx.np.array(rng.standard_normal((3, 4)), dtype="float64"), mx.np.array(rng.standard_normal(3), dtype="float64")
    for f, arrays in ((lambda x, y: mx.np.insert(x * x, 1, y * y, axis=1), [a, v]),
                      (lambda x: mx.np.insert(x * x, 2, 7.0, axis=0), [a]),
                      (lambda x, y: mx.np.insert(x * x, slice(0, 3), y * y, axis=1), [a, mx.np.ones((3, 3), dtype="float64")]),
                      (lambda x, y: mx.np.insert(x * x, mx.np.array([2, 0], dtype="int64"), y * y, axis=0),
                       [a, mx.np.array(rng.standard_normal((2, 4)), dtype="float64")]),
                      (lambda x: mx.np.ediff1d(x * x), [a]),
                      (lambda x: mx.np.ediff1d(x * x, to_end=3.0, to_begin=2.0), [a]),
                      (lambda x, y: mx.np.ediff1d(x * x, to_begin=y * y, to_end=y), [a, v])):
        _check_np(f, arrays)


def test_tensorsolve_and_polyval():
    rng = np.random.default_rng(11)
    a = mx.np.array(rng.standard_normal((2, 3, 6)) + 2 * np.eye(6).reshape(2, 3, 6), dtype="float64")
    b = mx.np.array(rng.standard_normal((2, 3)), dtype="float64")
    _check_np(mx.np.linalg.tensorsolve, [a, b])
    turned = mx.np.array(np.moveaxis(a.asnumpy(), 2, 0), dtype="float64")
    _check_np(lambda x, y: mx.np.linalg.tensorsolve(x, y, axes=(0,)), [turned, b])
    p, x = mx.np.array(rng.standard_normal(4), dtype="float64"), mx.np.array(rng.standard_normal((2, 3)), dtype="float64")
    _check_np(mx.np.polyval, [p, x])


def _check_np(f, arrays):
    with mx.util.np_shape(True), mx.util.np_array(True):
        check_np(f, arrays)


def check_np(f, arrays, step=1e-5):
    rng = np.random.default_rng(7)
    above = [mx.np.array(rng.standard_normal(a.shape), dtype="float64") for a in arrays]
    for a in arrays:
        a.attach_grad()
    head = mx.np.array(rng.standard_normal(f(*arrays).shape), dtype="float64")

    def value(create_graph):
        with mx.autograd.record():
            grads = mx.autograd.grad((f(*arrays) * head).sum(), arrays, create_graph=create_graph,
                                     retain_graph=True)
            return sum((g * u).sum() for g, u in zip(grads, above))
    value(True).backward()
    for a in arrays:
        got, at = a.grad.asnumpy(), a.asnumpy()
        expected = np.zeros(at.shape)
        for i in np.ndindex(*at.shape):
            sides = []
            for sign in (1, -1):
                moved = at.copy()
                moved[i] += sign * step
                a[:] = mx.np.array(moved, dtype="float64")
                sides.append(value(False).item())
            expected[i] = (sides[0] - sides[1]) / (2 * step)
        a[:] = mx.np.array(at, dtype="float64")
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("hybridize", [None, {}, {"static_alloc": True, "static_shape": True}])
def test_penalty_through_blocks(hybridize):
    """The gradient penalty of WGAN-GP through Conv2D, BatchNorm, relu and a residual sum."""
    mx.random.seed(3)
    rng = np.random.default_rng(12)
    gluon = mx.gluon

    class Critic(gluon.nn.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.first, self.second = (gluon.nn.Conv2D(3, 3, padding=1, in_channels=c) for c in (2, 3))
                self.norms = [gluon.nn.BatchNorm(in_channels=3) for _ in range(2)]
                for n in self.norms:
                    self.register_child(n)
                self.out = gluon.nn.Dense(1, in_units=48)

        def hybrid_forward(self, F, x):
            y = F.relu(self.norms[0](self.first(x)))
            return self.out(F.relu(self.norms[1](self.second(y)) + y))
    net = Critic()
    net.initialize(mx.init.Xavier())
    net.cast("float64")
    if hybridize is not None:
        net.hybridize(**hybridize)
    x = nd.array(rng.standard_normal((3, 2, 4, 4)), dtype="float64")
    weight = net.first.weight

    def penalty(create_graph):
        x.attach_grad()
        with mx.autograd.record():
            grad = mx.autograd.grad(net(x).sum(), [x], create_graph=create_graph, retain_graph=True)[0]
            return (((grad ** 2).sum(axis=(1, 2, 3)) ** 0.5 - 1) ** 2).mean()
    penalty(True).backward()
    parameters = [weight, net.norms[0].gamma, net.norms[1].gamma, net.second.weight]
    got_all = [p.grad().asnumpy() for p in parameters]
    for p, got in zip(parameters, got_all):
        at = p.data().asnumpy()
        for i in list(np.ndindex(*at.shape))[:6]:
            sides = []
            for sign in (1, -1):
                moved = at.copy()
                moved[i] += sign * 1e-6
                p.set_data(nd.array(moved, dtype="float64"))
                sides.append(float(penalty(False).asscalar()))
            p.set_data(nd.array(at, dtype="float64"))
            expected = (sides[0] - sides[1]) / 2e-6
            np.testing.assert_allclose(got[i], expected, rtol=1e-4, atol=1e-6)


def test_masked_log_softmax():
    rng = np.random.default_rng(13)
    mask = nd.array([[1, 1, 0, 1], [0, 0, 0, 1]], dtype="bool")
    shape = (3, 2, 4)

    def f(x):   # -inf is left out
        return nd.where(nd.broadcast_to(mask.astype("float64").reshape((1, 2, 4)), shape),
                        nd.masked_log_softmax(x, mask.reshape((1, 2, 4)), axis=-1, temperature=1.7),
                        nd.zeros(shape, dtype="float64"))
    check(f, [_array(rng, shape)])


def _second(f, x):
    """The derivative of the sum of f's gradient, in float64."""
    x = nd.array(x, dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        first = mx.autograd.grad(f(x), [x], create_graph=True, retain_graph=True)[0]
    first.backward()
    return x.grad.asnumpy()


def test_numbers_of_second_derivatives_keep_their_digits():
    """Numbers in the graph of a gradient were rounded to six digits behind the point."""
    got = _second(lambda x: nd.LeakyReLU(x, act_type="elu", slope=1.23456789e-5), [-0.5])
    np.testing.assert_allclose(got, 1.23456789e-5 * np.exp([-0.5]), rtol=1e-6)     # slope is a float32
    x = 0.3
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(_second(lambda a: nd.LeakyReLU(a, act_type="gelu"), [x]),
                               [(2 - x * x) * density], rtol=1e-12)
    values, t, w = np.array([0.1, -0.4, 0.7]), 3.0, np.array([1.0, -2.0, 0.5])
    p = np.exp(values / t) / np.exp(values / t).sum()
    u = np.array([0.3, 1.0, -0.2])
    first_wanted = p * (w - p @ w) / t      # of sum(w softmax(x / t)); the second is that of its sum with u
    expected = (np.diag(p) - np.outer(p, p)) / t @ (u * w - u * (p @ w) - (u @ p) * w) / t
    a = nd.array(values, dtype="float64")
    a.attach_grad()
    with mx.autograd.record():
        loss = (nd.softmax(a, temperature=t) * nd.array(w, dtype="float64")).sum()
        first = mx.autograd.grad(loss, [a], create_graph=True, retain_graph=True)[0]
        total = (first * nd.array(u, dtype="float64")).sum()
    total.backward()
    np.testing.assert_allclose(first.asnumpy(), first_wanted, rtol=1e-12)
    np.testing.assert_allclose(a.grad.asnumpy(), expected, rtol=1e-11)


def test_a_small_first_value_of_a_product_over_no_axes_counts_in_its_gradient():
    x = nd.array([2.0, 3.0], dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = nd._internal._np_prod(x, axis=(), initial=1e-9)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [1e-9, 1e-9], rtol=1e-12)


@pytest.mark.parametrize("shape, axis", [((3, 40), 1), ((3, 40), 0), ((2, 3, 20), (0, 2)), ((5,), None), ((2, 700), 1)])
def test_the_gradient_of_an_extreme_goes_to_all_that_attain_it(shape, axis):
    rng = np.random.default_rng(5)
    x = rng.integers(-3, 4, shape).astype("float64")
    for name in ("max", "min"):
        for keepdims in (False, True):
            wanted = getattr(np, name)(x, axis=axis, keepdims=True)
            for dtype in ("float64", "float32", "float16"):
                a = nd.array(x, dtype=dtype)
                a.attach_grad()
                f = lambda v: getattr(nd, name)(v, axis=axis, keepdims=keepdims)   # noqa: E731, B023
                with mx.autograd.record():
                    y = f(a)
                head = nd.array(rng.integers(1, 9, y.shape), dtype=dtype)
                y.backward(head)
                expected = np.where(x == wanted, head.asnumpy().reshape(wanted.shape), 0)
                assert np.array_equal(a.grad.asnumpy(), expected), (name, dtype, keepdims)
            check(f, [_array(rng, shape)])


def test_the_gradient_of_an_extreme_of_nan_and_into_what_is_there():
    a = nd.array([[1, np.nan, 3], [4, 4, -np.inf]])
    a.attach_grad(grad_req="add")
    for _ in range(2):
        with mx.autograd.record():
            y = a.max(axis=1)
        y.backward(nd.array([5, 7]))
    assert a.grad.asnumpy().tolist() == [[0, 0, 0], [14, 14, 0]]
