"""Draws of mx.np.random that are made of other draws: against SciPy with fixed seeds, shapes as
NumPy's, refused parameters."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet.numpy import random as R

stats = pytest.importorskip("scipy.stats")
N = 20000

CONTINUOUS = [
    ("random", {}, stats.uniform()),
    ("random_sample", {}, stats.uniform()),
    ("standard_normal", {}, stats.norm()),
    ("standard_exponential", {}, stats.expon()),
    ("standard_gamma", dict(shape=2.5), stats.gamma(2.5)),
    ("standard_cauchy", {}, stats.cauchy()),
    ("standard_t", dict(df=4.0), stats.t(4.0)),
    ("triangular", dict(left=-1.0, mode=0.5, right=3.0), stats.triang(1.5 / 4, -1.0, 4.0)),
    ("triangular", dict(left=0.0, mode=0.0, right=1.0), stats.triang(0.0)),
    ("wald", dict(mean=2.0, scale=0.5), stats.invgauss(4.0, scale=0.5)),
    ("wald", dict(mean=1.0, scale=50.0), stats.invgauss(1 / 50.0, scale=50.0)),
    ("noncentral_chisquare", dict(df=3.0, nonc=4.0), stats.ncx2(3.0, 4.0)),
]
CONTINUOUS += [
    ("noncentral_f", dict(dfnum=3.0, dfden=7.0, nonc=2.0), stats.ncf(3.0, 7.0, 2.0)),
    ("vonmises", dict(mu=0.5, kappa=4.0), stats.vonmises(4.0, loc=0.5)),
]
COUNTS = [
    ("zipf", dict(a=3.0), stats.zipf(3.0)),
    ("hypergeometric", dict(ngood=5, nbad=7, nsample=4), stats.hypergeom(12, 5, 4)),
    ("logseries", dict(p=0.6), stats.logser(0.6)),
    ("binomial", dict(n=7, p=0.3), stats.binom(7, 0.3)),
    ("binomial", dict(n=1000, p=0.9), stats.binom(1000, 0.9)),
    ("poisson", dict(lam=3.5), stats.poisson(3.5)),
    ("poisson", dict(lam=400.0), stats.poisson(400.0)),
    ("negative_binomial", dict(n=2.5, p=0.4), stats.nbinom(2.5, 0.4)),
    ("geometric", dict(p=0.25), stats.geom(0.25)),
]


def _ids(cases):
    return [f"{name}-{'-'.join(map(str, p.values()))}" for name, p, _ in cases]


@pytest.mark.parametrize("name, parameters, expected", CONTINUOUS, ids=_ids(CONTINUOUS))
def test_continuous(name, parameters, expected):
    mx.random.seed(11)
    draws = getattr(R, name)(**parameters, size=N)
    assert draws.shape == (N,) and draws.dtype == onp.float32
    assert stats.kstest(draws.asnumpy().astype("float64"), expected.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name, parameters, expected", COUNTS, ids=_ids(COUNTS))
def test_counts(name, parameters, expected):
    mx.random.seed(12)
    draws = getattr(R, name)(**parameters, size=N)
    assert draws.shape == (N,) and draws.dtype == onp.int64
    values = draws.asnumpy()
    at = onp.unique(values)
    reached = onp.searchsorted(onp.sort(values), at, side="right") / N
    assert onp.abs(reached - expected.cdf(at)).max() < 1.95 / N ** 0.5      # Kolmogorov's bound at 1e-3


def test_dirichlet():
    mx.random.seed(13)
    alpha = onp.array([0.5, 2.0, 4.0])
    draws = R.dirichlet(alpha, size=(N, 1)).asnumpy()
    assert draws.shape == (N, 1, 3)
    onp.testing.assert_allclose(draws.sum(-1), 1, rtol=1e-5)
    assert stats.kstest(draws[:, 0, 1].astype("float64"), stats.beta(2.0, 4.5).cdf).pvalue > 1e-3
    with pytest.raises(ValueError, match="at least one dimension"):
        R.dirichlet(3.0)


@pytest.mark.parametrize("size", [None, 3, (2, 3), (4, 2, 3), (0, 3)])
def test_shapes_are_those_of_numpy(size):
    theirs = onp.random.RandomState(0)
    for name, parameters, _ in CONTINUOUS + COUNTS:
        if name == "random":
            continue
        arrays = {k: onp.array([v] * 3) if i == 0 else v for i, (k, v) in enumerate(parameters.items())}
        for given in (parameters, arrays):
            ours = {k: mx.np.array(v) if isinstance(v, onp.ndarray) else v for k, v in given.items()}
            assert getattr(R, name)(**ours, size=size).shape == onp.shape(getattr(theirs, name)(**given, size=size)), name


@pytest.mark.parametrize("call, match", [
    (lambda: R.binomial(5, 1.5), r"p=1.5; accepted: 0 to 1"),
    (lambda: R.binomial(-1, 0.5), r"n=-1"),
    (lambda: R.poisson(mx.np.array([1.0, -2.0])), r"lam=-2"),
    (lambda: R.negative_binomial(0, 0.5), r"n=0"),
    (lambda: R.geometric(0.0), r"p=0"),
    (lambda: R.geometric(onp.nan), r"p=nan"),
    (lambda: R.triangular(1.0, 0.0, 2.0), r"accepted: 0 to 1"),
    (lambda: R.triangular(1.0, 1.0, 1.0), r"above 0"),
    (lambda: R.zipf(0.5), r"a"),
    (lambda: R.hypergeometric(1, 1, 5), r"nsample|ngood"),
    (lambda: R.wald(1.0, -1.0), r"scale=-1"),
    (lambda: R.noncentral_chisquare(1.0, -1.0), r"nonc=-1"),
    (lambda: R.poisson(onp.ones(3), size=2), r"size=\(2,\)"),
    (lambda: R.poisson(mx.sym.var("x").as_np_ndarray()), r"symbol"),
])
def test_refused(call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call()


def test_same_seed_same_draws():
    def draws():
        mx.random.seed(5)
        return [d.asnumpy() for d in (R.poisson(4.0, size=50), R.standard_t(3.0, size=50), R.zipf(2.0, size=50))]
    for a, b in zip(draws(), draws()):
        assert (a == b).all()
