"""Random arrays: distributions against scipy with fixed seeds, seeding, threads, arguments.

Operators behind them: _random_uniform _random_normal _random_gamma _random_exponential
_random_poisson _random_negative_binomial _random_generalized_negative_binomial _random_randint, the
same with _like (_random_uniform_like _random_normal_like _random_gamma_like
_random_exponential_like _random_poisson_like _random_negative_binomial_like
_random_generalized_negative_binomial_like), with arrays as parameters (_sample_uniform
_sample_normal _sample_gamma _sample_exponential _sample_poisson _sample_negative_binomial
_sample_generalized_negative_binomial), _sample_multinomial and _shuffle.
"""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu

stats = pytest.importorskip("scipy.stats")
R = mx.nd.random
N = 40000

# name: (parameters by name, scipy distribution, arrays' names of the _like operator)
CONTINUOUS = [
    ("uniform", dict(low=-2.0, high=3.0), stats.uniform(-2, 5)),
    ("normal", dict(loc=1.5, scale=2.5), stats.norm(1.5, 2.5)),
    ("exponential", dict(scale=2.5), stats.expon(scale=2.5)),
    ("gamma", dict(alpha=0.4, beta=2.0), stats.gamma(0.4, scale=2.0)),
    ("gamma", dict(alpha=1.0, beta=1.0), stats.gamma(1.0)),
    ("gamma", dict(alpha=9.0, beta=0.5), stats.gamma(9.0, scale=0.5)),
]
DISCRETE = [
    ("poisson", dict(lam=0.7), stats.poisson(0.7)),
    ("poisson", dict(lam=4.0), stats.poisson(4.0)),
    ("poisson", dict(lam=60.0), stats.poisson(60.0)),
    ("negative_binomial", dict(k=3, p=0.4), stats.nbinom(3, 0.4)),
    ("generalized_negative_binomial", dict(mu=2.0, alpha=0.3), stats.nbinom(1 / 0.3, 1 / (1 + 0.3 * 2.0))),
]
# without an operator in the shape of an array
BINOMIAL = [("binomial", dict(n=n, p=p), stats.binom(n, p))
            for n, p in ((7, 0.3), (7, 0.9), (1000, 0.005), (40, 0.5), (1000, 0.7), (10 ** 6, 0.25))]


def _ids(cases):
    return [f"{c[0]}-{'-'.join(map(str, c[1].values()))}" for c in cases]


def _is_continuous(x, dist):
    assert stats.kstest(x, dist.cdf).pvalue > 1e-4
    error = dist.std() / np.sqrt(len(x))
    assert abs(x.mean() - dist.mean()) < 5 * error
    assert abs(x.var() - dist.var()) < 5 * dist.var() * np.sqrt((dist.stats("k") + 2) / len(x))


def _is_discrete(x, dist):
    assert np.array_equal(x, np.floor(x)) and x.min() >= 0
    top = int(dist.ppf(1 - 20 / len(x)))
    low = int(dist.ppf(20 / len(x)))
    counts = np.array([np.sum(x <= low)] + [np.sum(x == k) for k in range(low + 1, top)] + [np.sum(x >= top)])
    expected = np.array([dist.cdf(low)] + [dist.pmf(k) for k in range(low + 1, top)] + [dist.sf(top - 1)]) * len(x)
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-4
    assert abs(x.mean() - dist.mean()) < 5 * dist.std() / np.sqrt(len(x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CONTINUOUS, ids=_ids(CONTINUOUS))
def test_continuous(case, dtype):
    name, params, dist = case
    mx.random.seed(17)
    x = getattr(R, name)(shape=(N // 10, 10), dtype=dtype, **params)
    assert x.dtype == np.dtype(dtype) and x.shape == (N // 10, 10)
    x = x.asnumpy().astype("float64")
    _is_continuous(x.ravel(), dist)
    # neighbours in both directions are independent
    for a, b in ((x[:, :-1], x[:, 1:]), (x[:-1], x[1:])):
        assert abs(stats.spearmanr(a.ravel(), b.ravel())[0]) < 5 / np.sqrt(a.size)


@pytest.mark.parametrize("case", DISCRETE + BINOMIAL, ids=_ids(DISCRETE + BINOMIAL))
def test_discrete(case):
    name, params, dist = case
    mx.random.seed(18)
    _is_discrete(getattr(R, name)(shape=N, **params).asnumpy(), dist)


@pytest.mark.parametrize("case", CONTINUOUS + DISCRETE, ids=_ids(CONTINUOUS + DISCRETE))
def test_like(case):
    name, params, dist = case
    mx.random.seed(19)
    if name == "exponential":
        params = dict(lam=1 / params["scale"])
    x = getattr(R, name + "_like")(mx.nd.zeros((N // 2, 2), dtype="float64"), **params)
    assert x.shape == (N // 2, 2) and x.dtype == np.float64
    (_is_continuous if case in CONTINUOUS else _is_discrete)(x.asnumpy().ravel(), dist)


@pytest.mark.parametrize("case", CONTINUOUS + DISCRETE + BINOMIAL[:5], ids=_ids(CONTINUOUS + DISCRETE + BINOMIAL[:5]))
def test_arrays_as_parameters(case):
    """The second row has the parameters of the case, the first has others."""
    name, params, dist = case
    mx.random.seed(20)
    arrays = {k: mx.nd.array([[v * 0.5 if k == "p" else v + 1], [v]]) for k, v in params.items()}
    x = getattr(R, name)(shape=(N,), **arrays)
    assert x.shape == (2, 1, N)
    x = x.asnumpy().astype("float64")
    (_is_continuous if case in CONTINUOUS else _is_discrete)(x[1, 0], dist)
    assert abs(x[0].mean() - x[1].mean()) > 5 * dist.std() / np.sqrt(N)
    assert getattr(R, name)(**arrays).shape == (2, 1)


@pytest.mark.parametrize("low,high,dtype", [(0, 7, "int32"), (-3, 4, "int64"), (2**40, 2**40 + 5, "int64"), (-2**31, 2**31 - 1, "int32")])
def test_randint(low, high, dtype):
    mx.random.seed(21)
    x = R.randint(low, high, shape=N, dtype=dtype).asnumpy()
    assert x.dtype == np.dtype(dtype) and x.min() >= low and x.max() < high
    if high - low < 10:
        assert stats.chisquare(np.bincount(x - low, minlength=high - low)).pvalue > 1e-4
    else:
        assert stats.kstest((x.astype("float64") - low) / (high - low), "uniform").pvalue > 1e-4
    assert R.randint(0, 2).dtype == np.int32


def test_uniform_stays_below_its_end():
    for low, high in ((0.0, 1.0), (1.0, 1.0 + 2e-7), (-1e-30, 0.0)):
        x = R.uniform(low, high, shape=(100000,)).asnumpy()
        assert x.min() >= np.float32(low) and x.max() < np.float32(high)


def test_float16():
    x = R.normal(0, 1, shape=20000, dtype="float16").asnumpy()
    assert x.dtype == np.float16
    assert abs(x.astype("float64").std() - 1) < 0.05


def test_multinomial():
    mx.random.seed(22)
    p = mx.nd.array([[0.1, 0.2, 0.7], [0.5, 0.0, 0.5]])
    x, log = R.multinomial(p, shape=(N,), get_prob=True)
    assert x.shape == (2, N) and x.dtype == np.int32
    for row, probabilities in zip(x.asnumpy(), p.asnumpy()):
        counts = np.bincount(row, minlength=3)
        assert (counts[probabilities == 0] == 0).all()
        assert stats.chisquare(counts[probabilities > 0],
                               N * probabilities[probabilities > 0].astype("float64")
                               / probabilities.sum()).pvalue > 1e-4
    np.testing.assert_allclose(log.asnumpy(), np.log(np.take_along_axis(p.asnumpy(), x.asnumpy(), 1)), rtol=1e-5)
    assert R.multinomial(mx.nd.array([0.3, 0.7])).shape == (1,)
    assert R.multinomial(p).shape == (2,)
    assert R.multinomial(p, shape=(4, 5), dtype="float64").shape == (2, 4, 5)


def test_multinomial_gradient():
    p = mx.nd.array([0.2, 0.3, 0.5], dtype="float64")
    p.attach_grad()
    with mx.autograd.record():
        x, log = R.multinomial(p, shape=(50,), get_prob=True)
        reward = mx.nd.arange(50, dtype="float64")
        loss = (log * reward).sum()
    loss.backward()
    expected = np.array([np.arange(50)[x.asnumpy() == c].sum() for c in range(3)]) / p.asnumpy()
    np.testing.assert_allclose(p.grad.asnumpy(), expected, rtol=1e-9)


def test_shuffle():
    mx.random.seed(23)
    data = mx.nd.arange(30).reshape((10, 3))
    firsts = np.zeros(10)
    for _ in range(2000):
        x = R.shuffle(data).asnumpy()
        assert sorted(x[:, 0]) == list(data.asnumpy()[:, 0])
        assert (x[:, 1] == x[:, 0] + 1).all() and (x[:, 2] == x[:, 0] + 2).all()
        firsts[int(x[0, 0]) // 3] += 1
    assert stats.chisquare(firsts).pvalue > 1e-4
    assert R.shuffle(mx.nd.zeros((0, 2))).shape == (0, 2)


def test_seed_restarts_the_sequence():
    def draw():
        return [f().asnumpy() for f in (lambda: R.uniform(shape=1000), lambda: R.normal(shape=7),
                                        lambda: R.gamma(2, 3, shape=5),
                                        lambda: R.randint(0, 100, shape=9),
                                        lambda: R.shuffle(mx.nd.arange(20)),
                                        lambda: R.multinomial(mx.nd.ones((5, 4)) / 4),
                                        lambda: R.uniform(shape=1000))]
    mx.random.seed(5)
    first = draw()
    again = draw()
    mx.random.seed(5)
    second = draw()
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], again[0]) and not np.array_equal(first[0], first[-1])
    mx.random.seed(6)
    assert not np.array_equal(R.uniform(shape=1000).asnumpy(), first[0])
    mx.random.seed(5, ctx=mx.cpu())
    np.testing.assert_array_equal(R.uniform(shape=1000).asnumpy(), first[0])


SEQUENCE = """
import hashlib, mxnet as mx
R = mx.nd.random
mx.random.seed(3)
h = hashlib.sha1()
for f in ('uniform', 'normal', 'exponential', 'gamma', 'poisson', 'negative_binomial', 'generalized_negative_binomial'):
    params = dict(k=2, p=.5) if f == 'negative_binomial' else {}
    for dtype in ('float32', 'float64'):
        h.update(getattr(R, f)(shape=(100, 1001), dtype=dtype, **params).asnumpy().tobytes())
h.update(R.randint(0, 1000, shape=100000).asnumpy().tobytes())
h.update(R.normal(mx.nd.zeros((100,)), mx.nd.ones((100,)), shape=(1000,)).asnumpy().tobytes())
h.update(R.multinomial(mx.nd.ones((1000, 10)) / 10, shape=(50,)).asnumpy().tobytes())
h.update(R.shuffle(mx.nd.arange(100000)).asnumpy().tobytes())
print(h.hexdigest())
"""


def _sequence(**env):
    return subprocess.run([sys.executable, "-c", SEQUENCE], env=dict(os.environ, **env), check=True, capture_output=True, text=True).stdout


def test_numbers_do_not_depend_on_threads_or_engine():
    reference = _sequence(OMP_NUM_THREADS="1")
    assert _sequence(OMP_NUM_THREADS="2") == reference
    assert _sequence(OMP_NUM_THREADS="3", MXNET_CPU_WORKER_NTHREADS="4") == reference
    assert _sequence(MXNET_ENGINE_TYPE="NaiveEngine") == reference


def test_parallel_rand_copy_acts():
    """Several generators take turns: another sequence, as reproducible as that of one, with equal
    first draws."""
    code = "import mxnet as mx; mx.random.seed(9); print([round(float(mx.nd.random.uniform().asscalar()), 6) for _ in range(6)])"
    one, three, again = ([float(v) for v in subprocess.run([sys.executable, "-c", code],
                                                           env=dict(os.environ,
                                                                    MXNET_CPU_PARALLEL_RAND_COPY=n),
                                                           check=True,
                                                           capture_output=True,
                                                           text=True).stdout.strip()[1:-1].split(",")] for n in ("1", "3", "3"))
    assert three == again and one[0] == three[0] and one[1:] != three[1:]
    assert three[3] == one[1]      # the first generator's second draw
    assert len(set(three)) == 6


def test_shapes_contexts_and_out():
    assert R.uniform().shape == (1,)
    assert R.uniform(shape=3).shape == (3,)
    assert R.randn(2, 3, loc=5, scale=0.1, dtype="float64").shape == (2, 3)
    assert R.normal(shape=(0, 3)).shape == (0, 3)
    assert R.uniform(shape=2, ctx=mx.cpu(1)).context == mx.cpu(1)
    with mx.cpu(2):
        assert R.uniform(shape=2).context == mx.cpu(2)
    out = mx.nd.zeros((3, 4), dtype="float64")
    assert R.uniform(5, 6, out=out) is out
    assert out.asnumpy().min() >= 5
    view = mx.nd.zeros((4, 3))
    R.uniform(5, 6, out=view[1:3])
    assert (view.asnumpy()[1:3] >= 5).all() and not view.asnumpy()[[0, 3]].any()
    assert mx.random.normal is R.normal
    assert R.normal_like(view, 100, 0.1).asnumpy().min() > 90
    assert R.uniform(np.float32(3), np.int64(4)).asscalar() >= 3


@pytest.mark.parametrize("call,kind,text", [
    (lambda: R.uniform(mx.nd.zeros(2), 1), ValueError, r"\[random.uniform\].*all numbers, or all NDArrays"),
    (lambda: R.uniform("a", 1), ValueError, "low='a'"),
    (lambda: R.randint(5, 5), ValueError, "low < high"),
    (lambda: R.randint(0.5, 5), TypeError, "low=0.5"),
    (lambda: R.normal(shape=2, dtype="int32"), TypeError, "int32.*float16"),
    (lambda: R.uniform(nonsense=1), TypeError, "nonsense"),
    (lambda: R.multinomial(mx.nd.zeros((2, 0))), ValueError, "not empty"),
    (lambda: R.uniform(out=mx.nd.zeros((2,)), shape=(3,)), ValueError, "shape"),
    (lambda: mx.random.seed("x"), ValueError, "must be int"),
])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call().wait_to_read()


@pytest.mark.parametrize("name", [c[0] for c in CONTINUOUS[:3] + DISCRETE[:1]])
def test_symbols_draw_the_same(name):
    mx.random.seed(30)
    eager = getattr(R, name)(shape=(3, 4)).asnumpy()
    mx.random.seed(30)
    symbol = getattr(mx.sym.random, name)(shape=(3, 4))
    np.testing.assert_array_equal(symbol.eval(ctx=mx.cpu())[0].asnumpy(), eager)


def test_bounds_are_checked_at_the_call():
    with pytest.raises(ValueError, match="low < high"):
        R.randint(5, 5)   # nobody waits


@pytest.mark.parametrize("call", ["uniform(1, 0, shape=2)", "uniform(float('nan'), 1, shape=2)",
                                  "normal(0, -1, shape=2)", "gamma(0, 1, shape=2)",
                                  "gamma(1, 0, shape=2)",
                                  "exponential(-1, shape=2)", "poisson(-1, shape=2)",
                                  "negative_binomial(-1, 0.5, shape=2)",
                                  "negative_binomial(3, 1.5, shape=2)",
                                  "negative_binomial(3, 0, shape=2)",
                                  "generalized_negative_binomial(-1, 0.5, shape=2)",
                                  "generalized_negative_binomial(1, -0.5, shape=2)",
                                  "normal_like(data=mx.nd.ones((2,)), scale=-1)"])
def test_parameters_outside_of_the_domain(call):
    with pytest.raises(ValueError, match="; accepted: "):
        eval("R." + call)


def test_nothing_that_is_waited_for_is_zero():
    """No success is waited for, and the sum of no exponentials: 1.9.1 has 0 as well."""
    assert not R.negative_binomial(0, 0.5, shape=(20,)).asnumpy().any()
    zeros = mx.nd.zeros(2)
    assert not R.negative_binomial(zeros, zeros + 0.5, shape=4).asnumpy().any()
    assert not R.gamma(zeros, zeros + 0.5, shape=4).asnumpy().any()
    assert np.isnan(R.gamma(zeros - 1, zeros + 0.5, shape=4).asnumpy()).all()


@pytest.mark.parametrize("draw", ["uniform", "normal"])
@pytest.mark.parametrize("size", [1, 6, 70001])
def test_half_draws_are_float_draws_rounded(draw, size):
    results = []
    for dtype in ("float32", "float16"):
        mx.random.seed(11)
        results.append(getattr(mx.nd.random, draw)(1, 2, shape=(size,), dtype=dtype))
    assert results[1].dtype == np.float16
    np.testing.assert_array_equal(results[1].asnumpy(), results[0].asnumpy().astype("float16"))


@pytest.mark.parametrize("draw", ["normal(0, 1, shape=())", "uniform(shape=())", "randint(0, 3, shape=())", "poisson(1, shape=())",
                                  "gamma(1, 1, shape=())", "exponential(1, shape=())", "randn()"])
def test_draws_without_dimensions(draw):
    """Where () is a shape; elsewhere one element is drawn. 1.9.1 refuses that for some."""
    assert eval("R." + draw).shape == (1,)
    with mx.util.np_shape(True):
        assert eval("R." + draw).shape == () and R.normal().shape == (1,)
        symbol = eval("mx.sym.random." + draw)
        assert symbol.infer_shape()[1] == [()] and symbol.eval()[0].shape == ()
        assert mx.nd.array(eval("R." + draw).asnumpy()).shape == ()
