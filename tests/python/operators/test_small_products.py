"""Products of small float32 matrices and of some rows with a large transposed factor, which have
kernels of their own: tails of rows, columns and depth, transposed factors, sums."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("m, k, n", [(24, 8, 8), (25, 9, 31), (49, 64, 49), (37, 513, 33), (96, 1024, 17),
                                     (200, 64, 200), (31, 100, 65), (23, 64, 64), (64, 7, 64)])
@pytest.mark.parametrize("batch", [1, 5])
def test_numbers(batch, m, k, n, transposed):
    rng = np.random.RandomState(m + n)
    a = rng.randn(batch, m, k).astype("float32")
    b = rng.randn(*((batch, n, k) if transposed else (batch, k, n))).astype("float32")
    got = mx.nd.batch_dot(mx.nd.array(a), mx.nd.array(b), transpose_b=transposed).asnumpy()
    want = a.astype("float64") @ (b.astype("float64").swapaxes(1, 2) if transposed else b)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5 * np.sqrt(k))


@pytest.mark.parametrize("m, k, n", [(40, 40, 40), (33, 700, 50)])
def test_sums(m, k, n):
    """What is there already is added to, as alpha and beta say."""
    rng = np.random.RandomState(0)
    a, b, c = (rng.randn(*s).astype("float32") for s in ((m, k), (k, n), (m, n)))
    for alpha, beta in ((1.0, 1.0), (1.0, 0.5), (2.0, 1.0), (1.0, 0.0)):
        got = mx.nd.linalg.gemm(mx.nd.array(a), mx.nd.array(b), mx.nd.array(c), alpha=alpha, beta=beta)
        want = alpha * (a.astype("float64") @ b) + beta * c
        np.testing.assert_allclose(got.asnumpy(), want, rtol=2e-5, atol=1e-3)


def test_no_number_comes_from_memory_that_was_there():
    a, b = mx.nd.ones((64, 32)), mx.nd.ones((32, 64))
    out = mx.nd.full((64, 64), np.nan)
    mx.nd.dot(a, b, out=out)
    assert (out.asnumpy() == 32).all()


@pytest.mark.parametrize("m", [15, 16, 17, 64, 255, 256, 257])
@pytest.mark.parametrize("n, k", [(130, 2100), (2048, 129), (96, 96)])
def test_rows_with_a_transposed_factor(m, n, k):
    """A dense layer in training, with and without bias, and a product that is added."""
    rng = np.random.RandomState(m + n)
    x, w, bias, c = (rng.randn(*s).astype("float32") for s in ((m, k), (n, k), (n,), (m, n)))
    product = x.astype("float64") @ w.T
    x, w = mx.nd.array(x), mx.nd.array(w)
    layer = {"num_hidden": n, "flatten": False}
    for got, want in ((mx.nd.dot(x, w, transpose_b=True), product),
                      (mx.nd.FullyConnected(x, w, no_bias=True, **layer), product),
                      (mx.nd.FullyConnected(x, w, mx.nd.array(bias), **layer), product + bias),
                      (mx.nd.linalg.gemm(x, w, mx.nd.array(c), transpose_b=True, beta=0.5), product + 0.5 * c),
                      (mx.nd.linalg.gemm(x, w, mx.nd.array(c), transpose_b=True, alpha=2.0), 2 * product + c)):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=2e-5, atol=2e-5 * np.sqrt(k))


def test_a_transposed_factor_between_others():
    """Rows of the factors and of the result that lie further apart than they are long."""
    rng = np.random.RandomState(0)
    a, b, c = (rng.randn(*s).astype("float32") for s in ((2, 40, 512), (2, 300, 512), (2, 40, 300)))
    want = a.astype("float64") @ b.swapaxes(1, 2) + c
    for axis in (0, 1):
        arrays = [mx.nd.array(np.moveaxis(x, 0, axis)) for x in (a, b, c)]
        got = mx.nd.linalg.gemm(*arrays, transpose_b=True, axis=-2 if axis == 0 else 0)
        np.testing.assert_allclose(np.moveaxis(got.asnumpy(), axis, 0), want, rtol=2e-5, atol=1e-3)
