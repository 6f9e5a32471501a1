"""mx.np.random and mx.npx.random, and their records: distributions against SciPy with fixed seeds,
broadcasting parameters, gradients of draws, arguments, threads."""
import contextlib
import os
import subprocess
import sys

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.numpy import random as R
from mxnet.numpy._dispatch import call, from_values
from mxnet.numpy_extension import random as X

stats = pytest.importorskip("scipy.stats")
N = 20000

# name, parameters, SciPy's distribution
CONTINUOUS = [
    ("uniform", dict(low=-2.0, high=3.0), stats.uniform(-2, 5)),
    ("normal", dict(loc=1.5, scale=2.5), stats.norm(1.5, 2.5)),
    ("gumbel", dict(loc=1.5, scale=2.5), stats.gumbel_r(1.5, 2.5)),
    ("logistic", dict(loc=1.5, scale=2.5), stats.logistic(1.5, 2.5)),
    ("laplace", dict(loc=1.5, scale=2.5), stats.laplace(1.5, 2.5)),
    ("lognormal", dict(mean=0.5, sigma=0.4), stats.lognorm(0.4, scale=onp.exp(0.5))),
    ("exponential", dict(scale=2.5), stats.expon(scale=2.5)),
    ("rayleigh", dict(scale=2.5), stats.rayleigh(scale=2.5)),
    ("weibull", dict(a=1.7), stats.weibull_min(1.7)),
    ("pareto", dict(a=5.5), stats.lomax(5.5)),
    ("power", dict(a=3.5), stats.powerlaw(3.5)),
    ("gamma", dict(shape=0.4, scale=2.0), stats.gamma(0.4, scale=2.0)),
    ("gamma", dict(shape=9.0, scale=0.5), stats.gamma(9.0, scale=0.5)),
    ("beta", dict(a=0.5, b=2.0), stats.beta(0.5, 2.0)),
    ("chisquare", dict(df=3.0), stats.chi2(3.0)),
    ("f", dict(dfnum=4.0, dfden=12.0), stats.f(4.0, 12.0)),
]
IDS = [f"{name}-{'-'.join(map(str, p.values()))}" for name, p, _ in CONTINUOUS]


def A(values, dtype="float32"):
    return from_values(values, None, dtype)


def _is(x, dist):
    assert stats.kstest(x, dist.cdf).pvalue > 1e-4
    assert abs(x.mean() - dist.mean()) < 5 * dist.std() / onp.sqrt(len(x))


@pytest.mark.parametrize("name, params, dist", CONTINUOUS, ids=IDS)
def test_distributions(name, params, dist):
    function = getattr(R, name)
    mx.random.seed(11)
    x = function(**params, size=(N // 100, 100))
    assert type(x) is type(A(0)) and x.shape == (N // 100, 100) and x.dtype == onp.float32
    _is(x.asnumpy().ravel().astype("float64"), dist)
    # arrays that broadcast: the parameter in the middle row
    first, *rest = params
    arrays = {first: A([[1.0], [params[first]], [0.7]]), **{k: A([params[k]] * 2) for k in rest}}
    y = function(**arrays, size=(N // 2, 3, 2)).asnumpy()[:, 1].ravel()
    _is(y.astype("float64"), dist)
    assert function(**arrays).shape == ((3, 2) if rest else (3, 1))
    assert function(**params).shape == () and function(**params, size=()).shape == ()
    assert function(**params, size=0).shape == (0,) and function(**params, size=[2, 0]).shape == (2, 0)
    mx.random.seed(11)
    onp.testing.assert_array_equal(function(**params, size=(N // 100, 100)).asnumpy(), x.asnumpy())


@pytest.mark.parametrize("name, params", [(n, p) for n, p, _ in CONTINUOUS if n not in ("gamma", "beta", "chisquare", "f")],
                         ids=[n for n, _, _ in CONTINUOUS if n not in ("gamma", "beta", "chisquare", "f")])
def test_gradients_are_differences(name, params):
    function, weights = getattr(R, name), A(onp.random.RandomState(3).uniform(0.5, 1.5, (5, 3, 2)))

    def loss(values):
        mx.random.seed(5)
        return (function(*values, size=(5, 3, 2)) * weights).asnumpy().astype("float64").sum()

    values = [A([[v], [v + 0.2], [v + 0.5]]) if i == 0 else A([v, v + 0.3]) for i, v in enumerate(params.values())]
    for v in values:
        v.attach_grad()
    mx.random.seed(5)
    with autograd.record():
        draws = function(*values, size=(5, 3, 2)) * weights
    draws.backward()
    for v in values:
        got = v.grad.asnumpy()
        for i in range(v.size):
            step = onp.zeros(v.shape)
            step.ravel()[i] = 1e-2
            change = [loss([A(u.asnumpy() + s * step) if u is v else u for u in values]) for s in (1, -1)]
            assert abs((change[0] - change[1]) / 2e-2 - got.ravel()[i]) < 2e-2 * (1 + abs(got.ravel()[i]))


@pytest.mark.parametrize("shape", [1e-3, 1e-2, 0.3, 1.0, 2.5, 8.0, 40.0, 300.0, 9000.0, 20000.0])
def test_draws_of_gamma_move_with_the_shape(shape):
    """They keep their chance of smaller draws."""
    special = pytest.importorskip("scipy.special")
    mx.random.seed(17)
    a, scale = from_values(onp.full(300, shape), dtype="float64"), A(2.0)
    a.attach_grad()
    with autograd.record():
        draws = R.gamma(a, scale, dtype="float64")
    draws.backward()
    draws, h = draws.asnumpy() / 2, shape * 1e-5
    chance, seen = special.gammainc(shape, draws), draws > 1e-290
    want = (special.gammaincinv(shape + h, chance) - special.gammaincinv(shape - h, chance)) / (2 * h)
    onp.testing.assert_allclose(a.grad.asnumpy()[seen] / 2, want[seen], rtol=1e-4)
    assert onp.isfinite(a.grad.asnumpy()).all() and seen.any()


@pytest.mark.parametrize("name, values, moment, want", [
    ("gamma", (2.0, 3.0), 1, (3.0, 2.0)), ("gamma", (0.5, 1.0), 2, (2.0, 1.5)), ("chisquare", (4.0,), 2, (10.0,)),
    ("beta", (2.0, 3.0), 1, (3 / 25, -2 / 25)), ("f", (3.0, 9.0), 1, (0.0, -2 / 49)), ("standard_gamma", (2.0,), 1, (1.0,)),
    ("standard_t", (9.0,), 2, (-2 / 49,)), ("noncentral_chisquare", (3.0, 1.0), 1, (1.0, 0.0))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_moments(name, values, moment, want, dtype):
    """Of draws that are accepted or thrown away, so that equal seeds do not compare."""
    mx.random.seed(3)
    arrays = [from_values(v, dtype=dtype) for v in values]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        mean = (getattr(R, name)(*arrays, size=(2 * N, 2)) ** moment).mean()
    mean.backward()
    for a, w in zip(arrays, want):
        assert a.grad.dtype == a.dtype and abs(float(a.grad) - w) < 0.03 * abs(w) + 0.01


def test_default_dtypes_of_composed_draws():
    """As in 2.0, whose other draws of one record stay float32."""
    assert R.f(3.0, 4.0, size=2).dtype == R.chisquare(3.0, size=2).dtype == onp.float32
    with mx.util.np_default_dtype(True):
        assert R.f(3.0, 4.0, size=2).dtype == R.chisquare(3.0, size=2).dtype == R.beta(3.0, 4.0, size=2).dtype == onp.float64


def test_parameters_of_another_dtype():
    a = from_values(2.0, dtype="float64")
    a.attach_grad()
    with autograd.record():
        mean = R.power(a, size=(4 * N,)).mean()
    mean.backward()
    assert a.grad.dtype == onp.float64 and abs(float(a.grad) - 1 / 9) < 3e-3


@pytest.mark.parametrize("name, arguments, accepted", [
    ("normal", (0.0, -1.0), "scale >= 0"), ("gumbel", (0.0, -1.0), "scale >= 0"), ("logistic", (0.0, -1.0), "scale >= 0"),
    ("laplace", (0.0, -1.0), "scale >= 0"), ("exponential", (-1.0,), "scale >= 0"), ("rayleigh", (-1.0,), "scale >= 0"),
    ("weibull", (0.0,), "a > 0"), ("pareto", (-1.0,), "a > 0"), ("power", (0.0,), "a > 0"), ("gamma", (0.0, 1.0), "shape > 0"),
    ("gamma", (1.0, -1.0), "scale > 0"), ("beta", (-1.0, 1.0), "shape > 0"), ("chisquare", (-2.0,), "shape > 0")])
def test_parameters_out_of_range(name, arguments, accepted):
    for given in (arguments, [A([v, v]) for v in arguments], [float("nan")] * len(arguments)):
        with pytest.raises(ValueError, match=f"accepted: .*{accepted}"):
            getattr(R, name)(*given, size=2).asnumpy()
    with contextlib.suppress(ValueError):    # of a function that draws twice, the error of the other draw
        mx.nd.waitall()


def test_sizes_and_dtypes():
    for bad in (-1, (2, -3)):
        with pytest.raises(ValueError, match="sizes of at least 0"):
            R.normal(size=bad)
    with pytest.raises(TypeError, match="a tuple of ints"):
        R.normal(size="ab")
    with pytest.raises(ValueError, match=r"a size to which that shape broadcasts"):
        R.normal(A([[0.0], [1.0]]), A([1.0, 2.0]), size=(2,))
    with pytest.raises(ValueError, match="cannot be broadcast"):
        R.normal(A([0.0, 1.0]), A([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="loc=None"):
        R.normal(None, 1.0)
    for dtype in ("float16", "float32", "float64", "int32"):
        for f in (R.normal, R.uniform, R.gamma, R.laplace):
            assert f(2.0, 3.0, size=(3,), dtype=dtype).dtype == onp.dtype(dtype)
    assert R.gumbel(A([1.0], "float64")).dtype == onp.float32
    out = A(onp.zeros(3))
    assert R.normal(5.0, 0.1, size=3, out=out) is out and (out.asnumpy() > 3).all()
    assert R.rand(2, 3).shape == (2, 3) and R.randn().shape == () and R.randn(2, dtype="float64").dtype == onp.float64
    assert R.normal([0.0, 100.0], onp.array([1.0, 1.0])).asnumpy()[1] > 50


def test_integers():
    mx.random.seed(3)
    x = R.randint(3, 8, size=(1000,)).asnumpy()
    assert x.dtype == onp.int64 and set(x) == {3, 4, 5, 6, 7}
    assert stats.chisquare(onp.bincount(x - 3)).pvalue > 1e-4
    assert R.randint(5).shape == () and R.randint(2 ** 40, 2 ** 40 + 1).asnumpy() == 2 ** 40
    assert R.randint(5, size=(0,)).shape == (0,) and R.randint(200, size=4, dtype="uint8").dtype == onp.uint8
    for low, high in ((5, 2), (5, 5)):
        with pytest.raises(ValueError, match="accepted: low < high"):
            R.randint(low, high)
    with pytest.raises(TypeError, match="accepted: integers"):
        R.randint(1.5)


def test_choice():
    mx.random.seed(7)
    p = onp.array([0.1, 0.0, 0.6, 0.3])
    x = R.choice(4, N, p=A(p)).asnumpy()
    counts = onp.bincount(x, minlength=4)
    assert counts[1] == 0 and stats.chisquare(counts[p > 0], N * p[p > 0]).pvalue > 1e-4
    assert sorted(R.choice(6, (2, 3), replace=False).asnumpy().ravel()) == list(range(6))
    firsts = onp.bincount([R.choice(4, 2, replace=False, p=A(p)).asnumpy()[0] for _ in range(2000)], minlength=4)
    assert firsts[1] == 0 and stats.chisquare(firsts[p > 0], 2000 * p[p > 0]).pvalue > 1e-4
    assert set(R.choice(A([5.0, 7.0]), 50).asnumpy()) == {5.0, 7.0} and R.choice([3, 4], 2).dtype == onp.int64
    assert R.choice(3).shape == () and R.choice(0, 0).shape == (0,)
    for arguments, message in (((0, 1), "at least 1"), ((3, 4, False), "at most 3"), ((4, 3, False, A(p * [1, 1, 0, 1])), "have a chance"),
                               ((4, 1, True, A([1.0])), r"accepted: \(4,\)"), ((2, 1, True, A([-1.0, 2.0])), "at least 0"),
                               ((2, 1, True, A([0.0, 0.0])), "positive number"), ((A([[1.0]]), 1), "one dimension")):
        with pytest.raises(ValueError, match=message):
            R.choice(*arguments).asnumpy()


def test_multinomial():
    mx.random.seed(9)
    p = [0.2, 0.3, 0.5]
    for pvals in (p, A(p), onp.array(p)):
        x = R.multinomial(20, pvals, size=(500, 2)).asnumpy()
        assert x.dtype == onp.int64 and x.shape == (500, 2, 3) and (x.sum(-1) == 20).all()
        assert stats.chisquare(x.sum((0, 1)), 20000 * onp.array(p)).pvalue > 1e-4
    assert R.multinomial(10, [0.1, 0.1], size=2000).asnumpy().mean(0)[0] < 1.2    # the last class has the rest
    assert R.multinomial(5, []).shape == (0,) and R.multinomial(0, p).asnumpy().tolist() == [0, 0, 0]
    for n, pvals, message in ((10, [0.9, 0.9, 0.1], "at most 1"), (-1, p, "n >= 0"), (1, [-0.1, 1.1], "from 0 to 1"),
                              (1, A([[0.5, 0.5]]), "one dimension"), (1, A([float("nan"), 0.5]), "from 0 to 1")):
        with pytest.raises(ValueError, match=message):
            R.multinomial(n, pvals).asnumpy()


def test_orders():
    x = A(onp.arange(12).reshape(6, 2))
    y = R.permutation(x).asnumpy()
    assert sorted(y[:, 0]) == sorted(x.asnumpy()[:, 0]) and (y[:, 1] == y[:, 0] + 1).all()
    R.shuffle(x)
    assert sorted(x.asnumpy()[:, 1]) == [1, 3, 5, 7, 9, 11]
    assert sorted(R.permutation(5).asnumpy()) == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="an array of mx.np"):
        R.shuffle((1, 2))


def test_multivariate_normal():
    mx.random.seed(13)
    cov = onp.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.5]])
    x = R.multivariate_normal(A([1.0, 2.0, 3.0]), A(cov), size=N).asnumpy()
    assert onp.abs(x.mean(0) - [1, 2, 3]).max() < 0.05 and onp.abs(onp.cov(x.T) - cov).max() < 0.08
    x = R.multivariate_normal(A(onp.zeros((2, 1, 2))), A(onp.zeros((3, 2, 2))), size=4)     # degenerate: no NaN
    assert x.shape == (4, 2, 3, 2) and (x.asnumpy() == 0).all()
    assert R.multivariate_normal([0, 0], onp.eye(2)).dtype == onp.float32
    with pytest.raises(ValueError, match=r"accepted: \(..., d\) and \(..., d, d\)"):
        R.multivariate_normal(A([0.0, 0.0]), A(onp.eye(3)))


def test_of_npx():
    mx.random.seed(17)
    for given in (dict(prob=0.3), dict(prob=A([0.3])), dict(logit=onp.log(3 / 7)), dict(logit=A([onp.log(3 / 7)]))):
        x = X.bernoulli(**given, size=(N,)).asnumpy()
        assert x.dtype == onp.float32 and set(x) == {0, 1} and abs(x.mean() - 0.3) < 0.02
    for dtype in ("bool", "uint8", "int32", "int64", "float64"):
        assert X.bernoulli(0.5, size=2, dtype=dtype).dtype == onp.dtype(dtype)
    for given in ({}, dict(prob=0.5, logit=0.0)):
        with pytest.raises(ValueError, match="Either `prob` or `logit`"):
            X.bernoulli(**given)
    for prob in (1.5, A([-0.5])):
        with pytest.raises(ValueError, match="0 <= prob <= 1"):
            X.bernoulli(prob).asnumpy()
    x = X.normal_n(A([0.0, 100.0, 200.0]), A([[1.0], [2.0]]), batch_shape=(4, 5))
    assert x.shape == (4, 5, 2, 3) and (abs(x.asnumpy() - [0, 100, 200]) < 20).all()
    assert X.uniform_n(0.0, 1.0, batch_shape=3, dtype="float64").dtype == onp.float64 and X.uniform_n(A([1.0]), 2.0).shape == (1,)
    assert X.categorical(A([[0.0, 1.0], [1.0, 0.0]]), shape=3).asnumpy().tolist() == [[1, 1, 1], [0, 0, 0]]
    assert X.multinomial(A([3.0]), A([[0.0, 1.0]])).asnumpy().tolist() == [[0, 3]]


def test_seeds():
    X.seed(21)
    a = R.normal(size=5).asnumpy()
    R.seed(21)
    onp.testing.assert_array_equal(a, R.normal(size=5).asnumpy())
    for bad in ("a", 1.5):
        with pytest.raises(ValueError, match="must be int"):
            R.seed(bad)


def test_blocks_draw_anew():
    class Noise(mx.gluon.HybridBlock):
        def forward(self, x):
            return R.normal(x, 1.0) + X.bernoulli(0.5, size=x.shape)
    block = Noise()
    block.hybridize()
    x = A(onp.full((2000,), 10.0))
    a, b = block(x).asnumpy(), block(x).asnumpy()
    assert (a != b).all() and abs(a.mean() - 10.5) < 0.2


def test_threads_do_not_matter():
    code = ("import mxnet as mx; from mxnet.numpy import random as R; from mxnet.numpy._dispatch import from_values as A\n"
            "mx.random.seed(5)\n"
            "a = A([[1.0], [2.0]])\n"
            "for x in (R.normal(size=70001), R.normal(a, 2.0, size=(2, 40001)), R.gamma(a, 2.0, size=(2, 40001)),"
            " R.weibull(3.0, size=70001), R.multinomial(9, [0.5, 0.5], size=40001)): print(float(x.asnumpy().astype('float64').sum()))")
    results = []
    for threads in ("1", "3"):
        env = dict(os.environ, OMP_NUM_THREADS=threads, MXNET_CPU_PARALLEL_SIZE="1")
        run = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True, timeout=120)
        results.append(run.stdout)
    assert results[0] == results[1] and len(results[0].split()) == 5


# Each record by its own name: parameters as numbers, and the same ones as arrays.
RECORDS = {
    "_npi_bernoulli": (dict(prob=0.25), ("prob",), dict(is_logit=False, logit="None")),
    "_npi_exponential": (dict(scale=2.0), ("scale",), {}),
    "_npi_gamma": (dict(shape=2.0, scale=3.0), ("shape", "scale"), {}),
    "_npi_gumbel": (dict(loc=1.0, scale=2.0), ("loc", "scale"), {}),
    "_npi_laplace": (dict(loc=1.0, scale=2.0), ("loc", "scale"), {}),
    "_npi_logistic": (dict(loc=1.0, scale=2.0), ("loc", "scale"), {}),
    "_npi_normal": (dict(loc=1.0, scale=2.0), ("loc", "scale"), {}),
    "_npi_normal_n": (dict(loc=1.0, scale=2.0), ("loc", "scale"), {}),
    "_npi_pareto": (dict(a=3.0), ("a",), {}),
    "_npi_powerd": (dict(a=3.0), ("a",), {}),
    "_npi_rayleigh": (dict(scale=2.0), ("scale",), {}),
    "_npi_uniform": (dict(low=1.0, high=2.0), ("low", "high"), {}),
    "_npi_uniform_n": (dict(low=1.0, high=2.0), ("low", "high"), {}),
    "_npi_weibull": (dict(a=3.0), ("a",), {}),
}


@pytest.mark.parametrize("record", RECORDS)
def test_record_draws_alike_for_numbers_and_arrays(record):
    numbers, inputs, rest = RECORDS[record]
    draws = []
    for arrays, parameters in (((), numbers), ([from_values(numbers[n], dtype="float32") for n in inputs], dict.fromkeys(inputs, "None"))):
        mx.random.seed(11)
        draws.append(call(record, arrays, size=(200,), **parameters, **rest))
    assert draws[0].shape == draws[1].shape == (200,)
    numbers, arrays = (drawn.astype("float64").asnumpy() for drawn in draws)
    for drawn in (numbers, arrays):
        assert len(set(drawn.tolist())) > (1 if record == "_npi_bernoulli" else 150)
    assert abs(numbers.mean() - arrays.mean()) < 5 * onp.hypot(numbers.std(), arrays.std()) / 200 ** 0.5


def test_records_of_classes():
    mx.random.seed(3)
    chosen = call("_npi_choice", (), a=5, size=(40,)).asnumpy()
    assert set(chosen.tolist()) <= set(range(5)) and len(set(chosen.tolist())) > 2
    counts = call("_npi_multinomial", (from_values([0.5, 0.5]),), n=6, size=(7,)).asnumpy()
    assert counts.shape == (7, 2) and (counts.sum(-1) == 6).all()


def test_forms_of_numpy():
    R.seed([1, 2])
    first = R.bytes(8)
    R.seed(onp.array([1, 2]))
    assert R.bytes(8) == first and len(first) == 8 and isinstance(first, bytes)
    names = list("abcdef")
    R.shuffle(names)
    assert sorted(names) == list("abcdef")
    assert set(R.randint([0, 10], [2, 12], size=(200, 2)).asnumpy()[:, 1]) == {10, 11}
    for low, high, dtype in ((0, 300, "uint8"), (-200, 0, "int8"), (0, 2 ** 31 + 1, "int32")):
        with pytest.raises(ValueError, match="bounds"):
            R.randint(low, high, 4, dtype=dtype)
    assert R.randint(0, 256, 4, dtype="uint8").dtype == onp.uint8
    assert R.sample((2, 3)).shape == R.ranf((2, 3)).shape == (2, 3)
    seeds = R.SeedSequence(5)
    assert (R.default_rng(seeds).random(3) == R.default_rng(R.PCG64(onp.random.SeedSequence(5))).random(3)).all()


def test_a_single_value_has_no_rows_to_shuffle():
    """As in NumPy. They were given back as they are."""
    with pytest.raises(TypeError, match=r"shape \(\) has no rows"):
        mx.np.random.shuffle(mx.np.array(1.0))
    for value in (2.5, mx.np.array(3)):
        with pytest.raises(IndexError, match="at least one dimension"):
            mx.np.random.permutation(value)
