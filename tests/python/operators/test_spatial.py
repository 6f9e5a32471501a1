"""Operators of op_cases/spatial.py where a case does not reach: infinite and far points, graphs,
auxiliary states, gradients that are added."""
import numpy as np
import pytest

import mxnet as mx


def test_points_that_are_far_or_not_numbers():
    x = mx.nd.arange(9).reshape((1, 1, 3, 3)) + 1
    far = [np.nan, np.inf, -np.inf, -1.3, 1.3, 1e30, -1e30, 1.0]
    grid = mx.nd.array([[far, [0] * 8]]).reshape((1, 2, 1, 8))
    want = [np.nan, np.nan, np.nan, 2.8, 4.2, 0, 0, 6]
    np.testing.assert_allclose(mx.nd.BilinearSampler(x, grid).asnumpy().ravel(), want, rtol=1e-5)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.BilinearSampler(x, grid)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy().ravel(), [0, 0, 0, 0.7, 0, 1.7, 0, 0, 0], atol=1e-5)


def test_infinite_pixels_do_not_reach_points_outside():
    x = mx.nd.array([[np.inf, 1], [1, 1]]).reshape((1, 1, 2, 2))
    grid = mx.nd.array([[[[3.0, 1]], [[3.0, 1]]]])
    assert mx.nd.BilinearSampler(x, grid).asnumpy().ravel()[0] == 0


def test_transformer_is_grid_and_sampler():
    rng = np.random.RandomState(1)
    x, loc = mx.nd.array(rng.rand(2, 3, 9, 8)), mx.nd.array(rng.uniform(-1, 1, (2, 6)))
    results = []
    for fused in (True, False):
        x.attach_grad()
        loc.attach_grad()
        with mx.autograd.record():
            if fused:
                y = mx.nd.SpatialTransformer(x, loc, target_shape=(30, 20), transform_type="affine", sampler_type="bilinear")
            else:
                y = mx.nd.BilinearSampler(x, mx.nd.GridGenerator(loc, transform_type="affine", target_shape=(30, 20)))
            loss = (y * y).sum()
        loss.backward()
        results.append([a.asnumpy() for a in (y, x.grad, loc.grad)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_gradients_are_added():
    rng = np.random.RandomState(2)
    a, b = (mx.nd.array(rng.rand(1, 2, 6, 6)) for _ in range(2))
    a.attach_grad()
    b.attach_grad("add")
    for _ in range(3):
        with mx.autograd.record():
            y = mx.nd.Correlation(a, b, pad_size=2, max_displacement=2)
        y.backward()
    three = b.grad.asnumpy()
    b.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Correlation(a, b, pad_size=2, max_displacement=2)
    y.backward()
    np.testing.assert_allclose(three, 3 * b.grad.asnumpy(), rtol=1e-5)


def test_maxima_of_pooling_v1():
    x = mx.nd.array([[-1.0, -1, -1], [-1, 2, 2], [-1, 2, 2]]).reshape((1, 1, 3, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Pooling_v1(x, kernel=(2, 2), stride=(2, 2), pad=(1, 1))
    y.backward()
    np.testing.assert_array_equal(y.asnumpy().ravel(), [0, 0, 0, 2])   # padding counts as 0
    np.testing.assert_array_equal(x.grad.asnumpy().ravel(), [0, 0, 0, 0, 1, 1, 0, 1, 1])   # all that are equal


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2)])
def test_sparseness_penalty(shape):
    rng = np.random.RandomState(3)
    x, average = rng.uniform(0.1, 0.9, shape).astype("f"), np.array([0.2, 0.4, 0.6], "f")
    data, moving = mx.nd.array(x), mx.nd.array(average)
    out = mx.sym.IdentityAttachKLSparseReg(mx.sym.Variable("x"), name="reg", penalty=0.5, sparseness_target=0.2, momentum=0.7)
    assert out.list_auxiliary_states() == ["reg_moving_avg"]
    grad = mx.nd.zeros(shape)
    bound = out.bind(mx.cpu(), {"x": data}, {"x": grad}, aux_states={"reg_moving_avg": moving})
    np.testing.assert_array_equal(bound.forward(is_train=True)[0].asnumpy(), x)
    bound.backward(mx.nd.ones(shape))
    want = 0.7 * average + 0.3 * x.mean(tuple(i for i in range(len(shape)) if i != 1))
    np.testing.assert_allclose(moving.asnumpy(), want, rtol=1e-5)
    slope = (1 + 0.5 * (0.8 / (1 - want) - 0.2 / want)).reshape((1, 3) + (1,) * (len(shape) - 2))
    np.testing.assert_allclose(grad.asnumpy(), np.broadcast_to(slope, shape), rtol=1e-4)


def test_moving_averages_of_batch_norm_v1():
    x = np.random.RandomState(4).rand(6, 3, 2, 2).astype("f")
    net = mx.sym.BatchNorm_v1(mx.sym.Variable("x"), name="bn", momentum=0.6)
    assert net.list_arguments() == ["x", "bn_gamma", "bn_beta"]
    bound = net.simple_bind(mx.cpu(), x=x.shape)
    assert sorted(bound.aux_dict) == ["bn_moving_mean", "bn_moving_var"]
    bound.aux_dict["bn_moving_var"][:] = 1
    bound.forward(is_train=True, x=mx.nd.array(x))
    np.testing.assert_allclose(bound.aux_dict["bn_moving_mean"].asnumpy(), 0.4 * x.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(bound.aux_dict["bn_moving_var"].asnumpy(), 0.6 + 0.4 * x.var((0, 2, 3)), rtol=1e-5)


def test_hawkes_gradients():   # of _contrib_backward_hawkesll
    rng = np.random.RandomState(5)
    own = [rng.uniform(0.2, 1.5, (2, 3)), rng.uniform(0.2, 0.9, 3), rng.uniform(0.5, 2, 3), rng.uniform(0, 1, (2, 3)),
           rng.exponential(1, (2, 6)), rng.randint(0, 3, (2, 6)), np.array([6.0, 4]), np.array([20.0, 20])]

    def run(values):
        arrays = [mx.nd.array(v, dtype="int32" if i == 5 else "float64") for i, v in enumerate(values)]
        for a in arrays[:4]:
            a.attach_grad()
        with mx.autograd.record():
            ll, state = mx.nd.contrib.hawkesll(*arrays)
        mx.autograd.backward([ll, state], [mx.nd.array([1, 3], dtype="float64"), mx.nd.ones((2, 3), dtype="float64")])
        return float((ll.asnumpy() * [1, 3]).sum()), [a.grad.asnumpy() for a in arrays[:4]]

    _, grads = run(own)
    for i in range(3):
        for at in np.ndindex(*own[i].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [v.copy() for v in own]
                moved[i][at] += step
                ends.append(run(moved)[0])
            np.testing.assert_allclose(grads[i][at], (ends[0] - ends[1]) / 2e-6, rtol=1e-5)
    assert not grads[3].any()   # as in 1.9.1, the state has none


def test_long_transforms():
    rng = np.random.RandomState(6)
    for n in (4096, 3 * 5 * 7 * 11 * 13, 10007):   # a power of two, small factors, a prime
        x = rng.rand(2, n)
        got = mx.nd.contrib.fft(mx.nd.array(x, dtype="float64"))
        z = got.asnumpy().reshape(2, n, 2)
        np.testing.assert_allclose(z[..., 0] + 1j * z[..., 1], np.fft.fft(x), atol=1e-9 * n)
        np.testing.assert_allclose(mx.nd.contrib.ifft(got).asnumpy() / n, x, atol=1e-11)


@pytest.fixture
def threads():
    yield lambda n: mx.util.set_env("OMP_NUM_THREADS", n)
    mx.util.set_env("OMP_NUM_THREADS", "")


def test_results_do_not_depend_on_threads(threads):
    rng = np.random.RandomState(7)
    x, grid = mx.nd.array(rng.rand(3, 5, 40, 50)), mx.nd.array(rng.uniform(-1.1, 1.1, (3, 2, 60, 70)))
    loc = mx.nd.array(rng.uniform(-1, 1, (3, 6)))
    results = []
    for n in ("1", "3"):
        threads(n)
        for a in (x, grid, loc):
            a.attach_grad()
        with mx.autograd.record():
            heads = [mx.nd.BilinearSampler(x, grid), mx.nd.contrib.BilinearResize2D(x, height=70, width=31),
                     mx.nd.Correlation(x, x * 2, max_displacement=3, kernel_size=3, pad_size=3),
                     mx.nd.SpatialTransformer(x, loc, target_shape=(50, 60), transform_type="affine", sampler_type="bilinear")]
            losses = [(h * h).sum() for h in heads]
        mx.autograd.backward(losses)
        results.append([a.asnumpy() for a in heads + [x.grad, grid.grad, loc.grad]])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)
