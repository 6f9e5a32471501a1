"""Products of small float32 matrices, which have kernels of their own: tails of rows, columns and
depth, transposed factors, sums."""
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
