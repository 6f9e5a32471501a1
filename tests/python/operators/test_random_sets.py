"""Draws that are several numbers, and names of 2.0: _random_binomial and _sample_binomial outside
of their domain, _sample_categorical, _npx__random_multinomial, _sample_unique_zipfian."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet.ndarray import _internal

pytestmark = pytest.mark.on_gpu

stats = pytest.importorskip("scipy.stats")
R = mx.nd.random
N = 20000


def test_binomial_ends():
    for n, p, k in ((0, 0.5, 0), (5, 0.0, 0), (5, 1.0, 5), (10 ** 9, 0.0, 0), (10 ** 9, 1.0, 10 ** 9)):
        x = R.binomial(n, p, shape=(50,), dtype="float64")
        assert (x.asnumpy() == k).all() and x.dtype == np.float64
    assert R.binomial().shape == (1,) and R.binomial().dtype == np.float32
    x = R.binomial(mx.nd.array([-1, 3, 3, 3, np.nan, np.inf, 4]), mx.nd.array([0.5, -0.1, 1.5, np.nan, 0.5, 0.5, 1]), shape=2)
    np.testing.assert_array_equal(x.asnumpy(), [[np.nan] * 2] * 6 + [[4, 4]])
    for n, p in ((-1, 0.5), (3, -0.1), (3, 1.5), (3, float("nan"))):
        with pytest.raises(ValueError, match=r"\[_random_binomial\].*accepted: n >= 0"):
            R.binomial(n, p)
    mx.random.seed(4)
    eager = R.binomial(30, 0.4, shape=(3, 4)).asnumpy()
    mx.random.seed(4)
    np.testing.assert_array_equal(mx.sym.random.binomial(30, 0.4, shape=(3, 4)).eval(ctx=mx.cpu())[0].asnumpy(), eager)


def test_categorical_is_multinomial():
    p = mx.nd.array([[0.1, 0.2, 0.7], [0.5, 0.0, 0.5]])
    p.attach_grad()
    results = []
    for draw in (R.multinomial, R.categorical, _internal._npx__random_categorical):
        mx.random.seed(3)
        with mx.autograd.record():
            x, log = draw(p, shape=(40,), get_prob=True)
        log.backward()
        results.append((x.asnumpy(), log.asnumpy(), p.grad.asnumpy()))
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)
    assert mx.sym.random.categorical(mx.sym.var("p"), shape=3).infer_shape(p=(2, 4))[1] == [(2, 3), (2, 3)]


def test_aliases_of_poisson():
    mx.random.seed(3)
    a = R.poisson(4, shape=9).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(_internal._npx_scalar_poisson(lam=4, shape=9, ctx=str(mx.cpu())).asnumpy(), a)
    mx.random.seed(3)
    a = R.poisson(mx.nd.array([4]), shape=9).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(_internal._npx_tensor_poisson(mx.nd.array([4]), shape=9).asnumpy(), a)


def test_counts():
    mx.random.seed(5)
    n, p = np.array([30, 2]), np.array([[0.1, 0.0, 0.6, 0.3], [0.25, 0.25, 0.25, 0.25]])
    x = _internal._npx__random_multinomial(mx.nd.array(n), mx.nd.array(p), shape=(N,))
    assert x.shape == (2, N, 4) and x.dtype == np.int32
    x = x.asnumpy()
    assert (x.sum(-1) == n[:, None]).all() and (x >= 0).all() and (x[0, :, 1] == 0).all()
    for row in range(2):
        assert stats.chisquare(x[row].sum(0)[p[row] > 0], N * n[row] * p[row][p[row] > 0]).pvalue > 1e-4
        covariance = n[row] * (np.diag(p[row]) - np.outer(p[row], p[row]))
        np.testing.assert_allclose(np.cov(x[row].T), covariance, atol=0.03 * n[row])
        for c in (0, 2):
            low, high = int(n[row] * p[row, c] * 0.7), n[row]
            edges = np.arange(low, high)
            assert stats.ks_2samp(x[row, :, c], stats.binom.rvs(n[row], p[row, c], size=N, random_state=1)).pvalue > 1e-4, edges
    assert _internal._npx__random_multinomial(mx.nd.array([3]), mx.nd.array([[2, 6]]), dtype="float32").dtype == np.float32
    bad = _internal._npx__random_multinomial(mx.nd.array([-3, 3, np.nan, 3, 3]),
                                             mx.nd.array([[0.5, 0.5], [-0.5, 1.5], [0.5, 0.5], [np.nan, 1], [0, 0]]))
    assert not bad.asnumpy().any()
    with pytest.raises(ValueError, match="accepted: a p of n's shape"):
        _internal._npx__random_multinomial(mx.nd.array([3, 4]), mx.nd.array([0.5, 0.5]))


def _zipfian(range_max, shape, seed=6):
    mx.random.seed(seed)
    samples, tries = _internal._sample_unique_zipfian(range_max=range_max, shape=shape)
    assert samples.shape == shape and tries.shape == shape[:1]
    assert samples.dtype == tries.dtype == np.int64
    return samples.asnumpy(), tries.asnumpy()


@pytest.mark.parametrize("range_max,n", [(40, 3), (40, 10), (40, 11), (40, 40), (1, 1), (7, 2)])
def test_unique_classes(range_max, n):
    x, tries = _zipfian(range_max, (4000, n))
    assert x.min() >= 0 and x.max() < range_max and (tries >= n).all()
    assert all(len(set(row)) == n for row in x)
    chance = np.log1p(1 / np.arange(1, range_max + 1)) / np.log(range_max + 1)
    if range_max > 1:
        assert stats.chisquare(np.bincount(x[:, 0], minlength=range_max), 4000 * chance).pvalue > 1e-4
    # the number of draws against drawing again and again
    rng = np.random.default_rng(0)
    expected = []
    for _ in range(1500):
        seen, count = set(), 0
        while len(seen) < n:
            for c in rng.choice(range_max, size=64, p=chance):
                count += 1
                seen.add(c)
                if len(seen) == n:
                    break
        expected.append(count)
    assert stats.ks_2samp(tries, expected).pvalue > 1e-4


def test_both_ways_of_drawing_agree():
    """10 of 40 are drawn by rejection, 11 of 40 from the rest: so is the tenth class of both."""
    few, rest = _zipfian(40, (N, 10))[0], _zipfian(40, (N, 11), seed=7)[0]
    counts = [np.bincount(x[:, 9], minlength=40) for x in (few, rest)]
    assert stats.chi2_contingency(counts).pvalue > 1e-4


def test_unique_classes_of_a_large_range():
    x, tries = _zipfian(2 ** 31 - 1, (2, 1000))
    assert x.max() > 1e6 and (tries < 1e5).all() and len(set(x[0])) == 1000
    assert _zipfian(5, (0, 5))[0].shape == (0, 5)
    assert _zipfian(5, (2, 0))[1].tolist() == [0, 0]


@pytest.mark.parametrize("options", [dict(range_max=0, shape=(1, 1)), dict(range_max=-5, shape=(2, 2)),
                                     dict(range_max=3, shape=(2, 4)), dict(range_max=3, shape=(2,)),
                                     dict(range_max=3), dict(range_max=9, shape=(1, 2, 3))])
def test_unique_classes_refused(options):
    with pytest.raises(ValueError, match=r"\[_sample_unique_zipfian\].*accepted: "):
        _internal._sample_unique_zipfian(**options)


SEQUENCE = """
import hashlib, mxnet as mx
from mxnet.ndarray import _internal as I
mx.random.seed(3)
h = hashlib.sha1()
for x in (mx.nd.random.binomial(50, .4, shape=100000), mx.nd.random.binomial(mx.nd.array([9, 900]), mx.nd.array([.4, .6]), shape=50000),
          I._npx__random_multinomial(mx.nd.ones((2000,)) * 20, mx.nd.ones((2000, 5)), shape=(9,)),
          *I._sample_unique_zipfian(range_max=1000, shape=(400, 50)), *I._sample_unique_zipfian(range_max=100, shape=(400, 50))):
    h.update(x.asnumpy().tobytes())
print(h.hexdigest())
"""


def test_numbers_do_not_depend_on_threads():
    def sequence(threads):
        return subprocess.run([sys.executable, "-c", SEQUENCE], env=dict(os.environ, OMP_NUM_THREADS=str(threads)),
                              check=True, capture_output=True, text=True).stdout
    assert sequence(1) == sequence(3)
