"""gluon.probability's distributions against SciPy: densities, quantiles, moments, entropies, draws,
gradients, shapes, checks of values; operator by operator and hybridized."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np
from mxnet.gluon import probability as P
from probability_tools import A, numpy_semantics

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")
_semantics = numpy_semantics(29)


# name, ours of arrays, SciPy's of numbers, parameters (two of each), values in the support
CONTINUOUS = [
    ("normal", P.Normal, stats.norm, ([0.0, 1.0], [1.0, 2.5]), [-1.3, 0.4, 2.0]),
    ("laplace", P.Laplace, stats.laplace, ([0.0, 1.0], [1.0, 2.5]), [-1.3, 0.4, 2.0]),
    ("cauchy", P.Cauchy, stats.cauchy, ([0.0, 1.0], [1.0, 2.5]), [-1.3, 0.4, 2.0]),
    ("gumbel", P.Gumbel, stats.gumbel_r, ([0.0, 1.0], [1.0, 2.5]), [-1.3, 0.4, 2.0]),
    ("uniform", P.Uniform, lambda a, b: stats.uniform(a, b - a), ([-2.0, -1.5], [3.0, 2.5]), [-1.3, 0.4, 2.0]),
    ("half_normal", P.HalfNormal, lambda s: stats.halfnorm(0, s), ([1.0, 2.5],), [0.1, 0.4, 2.0]),
    ("half_cauchy", P.HalfCauchy, lambda s: stats.halfcauchy(0, s), ([1.0, 2.5],), [0.1, 0.4, 2.0]),
    ("exponential", P.Exponential, lambda s: stats.expon(0, s), ([1.0, 2.5],), [0.1, 0.4, 2.0]),
    ("weibull", P.Weibull, lambda k, s: stats.weibull_min(k, 0, s), ([0.8, 2.5], [1.0, 2.0]), [0.1, 0.4, 2.0]),
    ("pareto", P.Pareto, lambda a, s: stats.pareto(a, 0, s), ([5.0, 6.5], [1.0, 0.5]), [1.1, 1.4, 2.0]),
    ("gamma", P.Gamma, lambda k, s: stats.gamma(k, 0, s), ([0.8, 4.0], [1.0, 2.0]), [0.1, 0.4, 2.0]),
    ("chi2", P.Chi2, stats.chi2, ([1.5, 4.0],), [0.1, 0.4, 2.0]),
    ("beta", P.Beta, stats.beta, ([0.8, 3.0], [1.5, 2.0]), [0.1, 0.4, 0.9]),
    ("student", P.StudentT, stats.t, ([5.0, 6.5], [0.0, 1.0], [1.0, 2.5]), [-1.3, 0.4, 2.0]),
    ("f", P.FisherSnedecor, stats.f, ([3.0, 5.0], [9.0, 12.0]), [0.1, 0.4, 2.0]),
]
DISCRETE = [
    ("poisson", P.Poisson, stats.poisson, ([0.7, 6.0],), [0.0, 1.0, 5.0]),
    ("bernoulli", lambda p: P.Bernoulli(prob=p), stats.bernoulli, ([0.3, 0.8],), [0.0, 1.0, 1.0]),
    ("geometric", lambda p: P.Geometric(prob=p), lambda p: stats.geom(p, -1), ([0.3, 0.8],), [0.0, 1.0, 5.0]),
    ("binomial", lambda n, p: P.Binomial(n, prob=p), stats.binom, ([6.0, 9.0], [0.3, 0.8]), [0.0, 1.0, 5.0]),
    ("negative_binomial", lambda n, p: P.NegativeBinomial(n, prob=p), lambda n, p: stats.nbinom(n, 1 - p), ([6.0, 2.5], [0.3, 0.6]),
     [0.0, 1.0, 5.0]),
]
ALL = CONTINUOUS + DISCRETE
NO_MEAN = ("cauchy", "half_cauchy")
REPARAMETERIZED = ("normal", "laplace", "cauchy", "gumbel", "uniform", "half_normal", "half_cauchy", "exponential", "weibull", "pareto")


def _ids(cases):
    return [c[0] for c in cases]


def _columns(function, theirs, parameters):
    """function(SciPy's distribution) of both rows of parameters, as the last axis."""
    return onp.stack([onp.asarray(function(theirs(*row)), dtype="float64") for row in zip(*parameters)], axis=-1)


def _close(ours, theirs, tolerance=2e-5):
    ours = ours.asnumpy() if hasattr(ours, "asnumpy") else onp.asarray(ours)
    assert ours.shape == onp.shape(theirs), (ours.shape, onp.shape(theirs))
    onp.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name, make, theirs, parameters, values", ALL, ids=_ids(ALL))
def test_densities_and_moments(name, make, theirs, parameters, values):
    ours, x = make(*[A(p) for p in parameters]), onp.array(values, "float32")
    log = _columns(lambda d: (d.logpdf if hasattr(d.dist, "logpdf") else d.logpmf)(x.astype("float64")), theirs, parameters)
    _close(ours.log_prob(A(x[:, None])), log)
    _close(ours.pdf(A(x[:, None])), onp.exp(log))
    if name not in NO_MEAN:
        _close(ours.mean, _columns(lambda d: d.mean(), theirs, parameters))
        _close(ours.variance, _columns(lambda d: d.var(), theirs, parameters), 1e-4)
        _close(ours.stddev, _columns(lambda d: d.std(), theirs, parameters), 1e-4)
    if name not in ("f", "binomial", "negative_binomial"):
        entropy = _columns(lambda d: d.entropy(), theirs, parameters)
        _close(ours.entropy(), entropy, 1e-4)
        _close(ours.perplexity(), onp.exp(entropy), 1e-3)


@pytest.mark.parametrize("name, make, theirs, parameters, values", CONTINUOUS[:10], ids=_ids(CONTINUOUS[:10]))
def test_probabilities_and_quantiles(name, make, theirs, parameters, values):
    ours, x, q = make(*[A(p) for p in parameters]), onp.array(values + [-50.0, 50.0], "float32"), onp.array([0.05, 0.5, 0.8], "float32")
    _close(ours.cdf(A(x[:, None])), _columns(lambda d: d.cdf(x.astype("float64")), theirs, parameters))
    _close(ours.icdf(A(q[:, None])), _columns(lambda d: d.ppf(q.astype("float64")), theirs, parameters), 5e-5)


@pytest.mark.parametrize("name, make, theirs, parameters, values", ALL, ids=_ids(ALL))
def test_draws(name, make, theirs, parameters, values):
    ours, n = make(*[A(p) for p in parameters]), 8000
    assert ours.sample().shape == (2,) and ours.sample((3, 2)).shape == (3, 2) and ours.sample_n((3, 4)).shape == (3, 4, 2)
    assert ours.sample_n().shape == (2,) and ours.sample_n(0).shape == (0, 2)
    x = ours.sample_n(n).asnumpy().astype("float64")
    for column, row in enumerate(zip(*parameters)):
        d = theirs(*row)
        if hasattr(d.dist, "logpdf"):
            assert stats.kstest(x[:, column], d.cdf).pvalue > 1e-4
        else:
            assert onp.array_equal(x[:, column], onp.floor(x[:, column]))
            top = int(d.ppf(0.99))
            seen = onp.bincount(onp.minimum(x[:, column], top + 1).astype(int), minlength=top + 2)
            want = n * onp.append(d.pmf(onp.arange(top + 1)), d.sf(top))
            assert stats.chisquare(seen[want > 5], want[want > 5] * seen[want > 5].sum() / want[want > 5].sum()).pvalue > 1e-4
    broadcast = ours.broadcast_to((3, 2))
    assert broadcast.sample().shape == (3, 2) and type(broadcast) is type(ours)
    v = A([[v] for v in values])
    onp.testing.assert_allclose(broadcast.log_prob(v).asnumpy(), ours.log_prob(v).asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("name, make, theirs, parameters, values", [c for c in CONTINUOUS if c[0] in REPARAMETERIZED], ids=REPARAMETERIZED)
def test_gradients_of_draws(name, make, theirs, parameters, values):
    arrays = [A(p) for p in parameters]
    assert make(*arrays).has_grad
    for a in arrays:
        a.attach_grad()

    def draw(*given):
        mx.random.seed(31)
        return make(*given).sample_n(7)

    with autograd.record():
        y = draw(*arrays)
    y.backward()
    for i, a in enumerate(arrays):
        step = 1e-2
        up, down = (draw(*[A(onp.array(p) + (sign * step if j == i else 0)) for j, p in enumerate(parameters)]).asnumpy().astype("float64")
                    for sign in (1, -1))
        onp.testing.assert_allclose(a.grad.asnumpy(), ((up - down) / (2 * step)).sum(0), rtol=2e-2, atol=2e-2)


def test_gradients_of_draws_by_moments():
    """Of draws that are made of gamma draws."""
    mx.random.seed(2)
    for name, values, moment, want in [("Gamma", (2.0, 3.0), 1, (3.0, 2.0)), ("Beta", (2.0, 3.0), 1, (3 / 25, -2 / 25)),
                                       ("Chi2", (4.0,), 2, (10.0,)), ("StudentT", (9.0, 1.0, 2.0), 1, (0.0, 1.0, 0.0)),
                                       ("FisherSnedecor", (3.0, 9.0), 1, (0.0, -2 / 49)),
                                       ("Dirichlet", ([1.0, 2.0, 3.0],), 1, ([0.0, 0.0, 0.0],))]:
        arrays = [A(v) for v in values]
        d = getattr(mx.gluon.probability, name)(*arrays)
        assert d.has_grad
        for a in arrays:
            a.attach_grad()
        with autograd.record():
            mean = (getattr(mx.gluon.probability, name)(*arrays).sample_n(30000) ** moment).mean()
        mean.backward()
        for a, w in zip(arrays, want):
            onp.testing.assert_allclose(a.grad.asnumpy(), w, rtol=0.04, atol=0.02)


@pytest.mark.parametrize("name, make, theirs, parameters, values", ALL, ids=_ids(ALL))
def test_gradients_of_densities(name, make, theirs, parameters, values):
    """With respect to parameters; finite also for values outside of the support."""
    if name == "binomial":
        parameters = ([6.0, 9.0], parameters[1])
    arrays, x = [A(p) for p in parameters], A([[v, v] for v in values])
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        y = make(*arrays).log_prob(x)
    y.backward()

    def log(d):
        at = onp.array(values)
        return (d.logpdf if hasattr(d.dist, "logpdf") else d.logpmf)(at).sum()

    for i, a in enumerate(arrays):
        if name == "binomial" and i == 0:
            continue
        step = 1e-5
        up, down = (_columns(log, theirs, [onp.array(p) + (sign * step if j == i else 0) for j, p in enumerate(parameters)])
                    for sign in (1, -1))
        onp.testing.assert_allclose(a.grad.asnumpy(), (up - down) / (2 * step), rtol=2e-3, atol=2e-3)
    with autograd.record():
        y = make(*arrays).log_prob(A([-20.0]))
    y.backward()
    assert all(onp.isfinite(a.grad.asnumpy()).all() for a in arrays)


@pytest.mark.parametrize("name, make, theirs, parameters, values", ALL, ids=_ids(ALL))
def test_hybridized(name, make, theirs, parameters, values):
    class Net(mx.gluon.HybridBlock):
        def forward(self, x, *given):
            d = make(*given)
            return d.log_prob(x), d.sample_n(2)
    net, x, arrays = Net(), A([[v] for v in values]), [A(p) for p in parameters]
    mx.random.seed(37)
    want = [y.asnumpy() for y in net(x, *arrays)]
    net.hybridize()
    for _ in range(2):
        mx.random.seed(37)
        got = [y.asnumpy() for y in net(x, *arrays)]
        onp.testing.assert_allclose(got[0], want[0], rtol=1e-5, atol=1e-6)
        assert got[1].shape == want[1].shape


@pytest.mark.parametrize("make,value,want", [
    (lambda a: P.Beta(a, np.array([1.0])), 0.3, onp.log(0.3) + special.digamma(2) - special.digamma(1)),
    (lambda a: P.Beta(np.array([1.0]), a), 0.3, onp.log(0.7) + special.digamma(2) - special.digamma(1)),
    (lambda a: P.Dirichlet(np.concatenate([a, np.array([2.0, 3.0])])), [0.3, 0.3, 0.4],
     onp.log(0.3) + special.digamma(6) - special.digamma(1))])
def test_gradients_by_parameters_that_are_one(make, value, want):
    """(alpha - 1) log(x) has a derivative where alpha is 1."""
    alpha = np.array([1.0])
    alpha.attach_grad()
    with mx.autograd.record():
        density = make(alpha).log_prob(np.array(value))
    density.backward()
    onp.testing.assert_allclose(alpha.grad.asnumpy(), want, rtol=1e-5)


def test_what_follows_from_parameters_follows_them():
    """Log-odds, rates and factors that were looked at before do not cut gradients off, and follow
    parameters that are trained."""
    def passes(parameter, make, value):
        parameter.attach_grad()
        d = make(parameter)
        before = d.log_prob(value).asnumpy()
        for name in ("logit", "rate", "scale_tril"):
            getattr(d, name, None)
        for _ in range(2):
            with mx.autograd.record():
                y = d.log_prob(value).sum()
            y.backward()
            assert (parameter.grad.asnumpy() != 0).any()
        parameter[:] = parameter ** 2
        after = d.log_prob(value).asnumpy()
        onp.testing.assert_allclose(after, make(parameter.copy()).log_prob(value).asnumpy(), rtol=1e-6)
        assert (after != before).any()
    passes(np.array([0.3, 0.6]), lambda p: P.Bernoulli(prob=p), np.array([1.0, 0.0]))
    passes(np.array([0.2, 0.3, 0.5]), lambda p: P.Categorical(3, prob=p), np.array(1.0))
    passes(np.array([[2.0, 0.5], [0.5, 1.0]]), lambda p: P.MultivariateNormal(np.zeros(2), cov=p), np.array([0.3, 0.7]))
    scale = np.array([2.0])
    d = P.Exponential(scale)
    assert d.rate.item() == 0.5
    scale[:] = 4
    assert d.rate.item() == 0.25


def test_numbers_as_parameters():
    d = P.Normal(1.0, 2.0)
    assert d.mean == 1.0 and d.stddev == 2.0 and d.sample().shape == () and d.sample_n(3).shape == (3,)
    assert abs(d.entropy() - stats.norm(1, 2).entropy()) < 1e-6 and abs(d.log_prob(0.5) - stats.norm(1, 2).logpdf(0.5)) < 1e-6
    assert abs(P.Gamma(2.0, 3.0).entropy() - stats.gamma(2, 0, 3).entropy()) < 1e-6
    assert repr(d) == "Normal(loc: 1.0, scale: 2.0)" and repr(P.Normal(A([1.0]), 2.0)) == "Normal(loc: shape (1,), scale: 2.0)"
    assert d.broadcast_to((2, 3)).sample().shape == (2, 3)


@pytest.mark.parametrize("name, make, theirs, parameters, values", CONTINUOUS + DISCRETE, ids=lambda v: v if isinstance(v, str) else "")
def test_a_draw_of_no_shape_has_that_of_the_batch(name, make, theirs, parameters, values):     # as in 2.0
    batch = make(*[A(p) for p in parameters])
    for size in ((), []):
        assert batch.sample(size).shape == batch.sample().shape == (2,)
    assert P.Independent(batch, 1).sample(()).shape == (2,)


def test_logits_and_chances():
    logit = onp.array([0.3, -2.0])
    prob = 1 / (1 + onp.exp(-logit))
    for make in (P.Bernoulli, P.Geometric, lambda **k: P.Binomial(5, **k), lambda **k: P.NegativeBinomial(3, **k)):
        a, b = make(prob=A(prob)), make(logit=A(logit))
        onp.testing.assert_allclose(a.logit.asnumpy(), logit, rtol=1e-4)
        onp.testing.assert_allclose(b.prob.asnumpy(), prob, rtol=1e-4)
        x = A([0.0, 1.0])
        onp.testing.assert_allclose(a.log_prob(x).asnumpy(), b.log_prob(x).asnumpy(), rtol=1e-4)
        for given in ({}, dict(prob=A(prob), logit=A(logit))):
            with pytest.raises(ValueError, match="Either `prob` or `logit`"):
                make(**given)
    assert onp.isfinite(P.Bernoulli(logit=A([1000.0])).log_prob(A([0.0])).asnumpy()).all()


def test_checked_values():
    for make, message in ((lambda: P.Normal(A([0.0]), A([-1.0]), validate_args=True).sample(), "greater than 0"),
                          (lambda: P.Normal(0.0, -1.0, validate_args=True), "-1.0 should be greater than 0"),
                          (lambda: P.Normal(A([0.0]), 1.0, validate_args=True).log_prob(A([float("nan")])), "a real tensor"),
                          (lambda: P.Bernoulli(prob=A([1.5]), validate_args=True).mean, ">= 0 and <= 1"),
                          (lambda: P.Bernoulli(prob=A([0.5]), validate_args=True).log_prob(A([0.5])), "either 0 or 1"),
                          (lambda: P.Poisson(A([1.0]), validate_args=True).log_prob(A([0.5])), "integer and be greater than or equal to 0"),
                          (lambda: P.Uniform(A([0.0]), A([1.0]), validate_args=True).log_prob(A([2.0])), "should be >= "),
                          (lambda: P.Dirichlet(A([1.0, 2.0]), validate_args=True).log_prob(A([0.5, 0.6])), "sum up to 1"),
                          (lambda: P.Chi2(A([-1.0]), validate_args=True).mean, "greater than 0"),
                          (lambda: P.Categorical(3, prob=A([0.5, 0.5, 0.5]), validate_args=True).sample(), "sum up to 1"),
                          (lambda: P.MultivariateNormal(A([0.0, 0.0]), cov=A([[1.0, 2.0], [2.0, 1.0]]), validate_args=True).cov,
                           "positive definite")):
        with pytest.raises(ValueError, match=message):
            make().asnumpy()
    assert P.Normal(A([0.0]), A([-1.0])).scale.asnumpy() == -1
    try:
        P.Distribution.set_default_validate_args(True)
        with pytest.raises(ValueError, match="greater than 0"):
            P.Exponential(-1.0)
    finally:
        P.Distribution.set_default_validate_args(False)
    with pytest.raises(ValueError, match="accepted: True, False"):
        P.Distribution.set_default_validate_args(3)
    for n in (-1, 1.5):
        with pytest.raises(ValueError, match="non-negative integer"):
            P.Binomial(n, prob=0.5)


def test_what_has_no_formula():
    for call in (lambda: P.Gamma(1.0, 1.0).cdf(A([1.0])), lambda: P.Beta(1.0, 1.0).icdf(A([0.5])), lambda: P.Normal().enumerate_support(),
                 lambda: P.Binomial(3, prob=0.5).entropy(), lambda: P.Distribution().mean, lambda: P.Distribution().sample()):
        with pytest.raises(NotImplementedError):
            call()


def test_exponential_family_entropy():
    """The entropy of the base class, from the gradient of the normalizer's logarithm."""
    for d in (P.Exponential(A([1.0, 2.5])), P.Bernoulli(prob=A([0.3, 0.6])), P.Normal(A([0.0, 1.0]), A([1.0, 2.5]))):
        d._mean_carrier_measure = lambda x: 0.0
        onp.testing.assert_allclose(P.ExponentialFamily.entropy(d).asnumpy(), d.entropy().asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("call", [lambda d: d.cdf(A(0.3)), lambda d: d.icdf(A(0.3)), lambda d: d.enumerate_support()])
def test_what_has_no_formula_is_named(call):
    with pytest.raises(NotImplementedError, match=r"\[Gamma\] (cdf|icdf|enumerate_support) has no formula"):
        call(P.Gamma(A(1.0), A(2.0)))
