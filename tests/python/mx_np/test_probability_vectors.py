"""gluon.probability: distributions of classes and vectors, transformations and constraints,
divergences, stochastic blocks."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np
from mxnet.gluon import probability as P
from mxnet.gluon.probability.distributions import constraint as C
from probability_tools import A, numpy_semantics

stats = pytest.importorskip("scipy.stats")
_semantics = numpy_semantics(41)


PROB = onp.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
COV = onp.array([[2.0, 0.5], [0.5, 1.0]])


def test_categorical():
    for d in (P.Categorical(3, prob=A(PROB)), P.Categorical(3, logit=A(onp.log(PROB) + 4))):
        onp.testing.assert_allclose(d.log_prob(A([[0, 2], [1, 1]])).asnumpy(), onp.log([[0.2, 0.8], [0.5, 0.1]]), rtol=1e-4)
        onp.testing.assert_allclose(d.entropy().asnumpy(), [stats.entropy(p) for p in PROB], rtol=1e-5)
        x = d.sample((8000, 2)).asnumpy()
        assert x.dtype == onp.int64 and d.sample().shape == (2,) and d.sample_n((3, 4)).shape == (3, 4, 2)
        for row in range(2):
            assert stats.chisquare(onp.bincount(x[:, row], minlength=3), 8000 * PROB[row]).pvalue > 1e-4
        assert d.has_enumerate_support and d.enumerate_support().asnumpy().tolist() == [[0, 0], [1, 1], [2, 2]]
        assert d.broadcast_to((4, 2)).sample().shape == (4, 2)
    single = P.Categorical(3, prob=A(PROB[0]))
    assert single.sample().shape == () and single.sample((5, 2)).shape == (5, 2) and single.log_prob(A(1.0)).shape == ()
    assert single.enumerate_support().asnumpy().tolist() == [0, 1, 2]
    masked = P.Categorical(2, logit=A([0.0, -onp.inf]))
    assert masked.log_prob(A([0.0, 1.0])).asnumpy().tolist() == [0, -onp.inf]
    with pytest.raises(ValueError, match="greater than zero"):
        P.Categorical(0, prob=A([1.0]))


def test_one_hot():
    d = P.OneHotCategorical(3, prob=A(PROB))
    x = d.sample_n(8000).asnumpy()
    assert x.shape == (8000, 2, 3) and (x.sum(-1) == 1).all() and abs(x.mean(0) - PROB).max() < 0.03
    onp.testing.assert_allclose(d.log_prob(A([[0, 1, 0], [0, 0, 1]])).asnumpy(), onp.log([0.5, 0.8]), rtol=1e-5)
    onp.testing.assert_allclose(d.mean.asnumpy(), PROB, rtol=1e-6)
    onp.testing.assert_allclose(d.variance.asnumpy(), PROB * (1 - PROB), rtol=1e-5)
    assert d.enumerate_support().shape == (3, 2, 3)


def test_multinomial():
    d = P.Multinomial(3, prob=A(PROB), total_count=7)
    counts = onp.array([[2, 2, 3], [0, 1, 6]])
    want = [stats.multinomial(7, p).logpmf(x) for p, x in zip(PROB, counts)]
    onp.testing.assert_allclose(d.log_prob(A(counts)).asnumpy(), want, rtol=1e-4)
    onp.testing.assert_allclose(P.Multinomial(3, logit=A(onp.log(PROB) - 2), total_count=7).log_prob(A(counts)).asnumpy(), want, rtol=1e-4)
    x = d.sample_n(3000).asnumpy()
    assert x.shape == (3000, 2, 3) and (x.sum(-1) == 7).all() and abs(x.mean(0) - 7 * PROB).max() < 0.15
    onp.testing.assert_allclose(d.mean.asnumpy(), 7 * PROB, rtol=1e-5)
    onp.testing.assert_allclose(d.variance.asnumpy(), 7 * PROB * (1 - PROB), rtol=1e-5)
    with pytest.raises(ValueError, match="`total_count`"):
        P.Multinomial(3, prob=A(PROB), total_count=1.5)


def test_dirichlet():
    alpha = onp.array([[0.8, 2.0, 3.0], [2.0, 2.0, 2.0]])
    d, x = P.Dirichlet(A(alpha)), onp.array([0.2, 0.5, 0.3])
    onp.testing.assert_allclose(d.log_prob(A(x)).asnumpy(), [stats.dirichlet(a).logpdf(x) for a in alpha], rtol=1e-4)
    onp.testing.assert_allclose(d.entropy().asnumpy(), [stats.dirichlet(a).entropy() for a in alpha], rtol=1e-4)
    onp.testing.assert_allclose(d.mean.asnumpy(), [stats.dirichlet(a).mean() for a in alpha], rtol=1e-5)
    onp.testing.assert_allclose(d.variance.asnumpy(), [stats.dirichlet(a).var() for a in alpha], rtol=1e-5)
    draws = d.sample_n(4000).asnumpy()
    assert draws.shape == (4000, 2, 3) and abs(draws.sum(-1) - 1).max() < 1e-5
    assert abs(draws.mean(0) - d.mean.asnumpy()).max() < 0.02


def test_multivariate_normal():
    loc, x = onp.array([0.0, 1.0]), onp.array([[0.5, 0.3], [-1.0, 2.0], [0.0, 0.0]])
    want = stats.multivariate_normal(loc, COV)
    for given in (dict(cov=COV), dict(precision=onp.linalg.inv(COV)), dict(scale_tril=onp.linalg.cholesky(COV))):
        d = P.MultivariateNormal(A(loc), **{k: A(v) for k, v in given.items()})
        onp.testing.assert_allclose(d.log_prob(A(x)).asnumpy(), want.logpdf(x), rtol=1e-4)
        onp.testing.assert_allclose(d.entropy().asnumpy(), want.entropy(), rtol=1e-5)
        for name, value in (("cov", COV), ("precision", onp.linalg.inv(COV)), ("scale_tril", onp.linalg.cholesky(COV))):
            onp.testing.assert_allclose(getattr(d, name).asnumpy(), value, atol=1e-5)
        onp.testing.assert_allclose(d.variance.asnumpy(), [2, 1], rtol=1e-5)
        draws = d.sample((8000,)).asnumpy()
        assert abs(draws.mean(0) - loc).max() < 0.06 and abs(onp.cov(draws.T) - COV).max() < 0.12
        assert d.sample().shape == (2,) and d.broadcast_to((3,)).sample_n(4).shape == (4, 3, 2)
    tril = A(onp.linalg.cholesky(COV))
    tril.attach_grad()
    with autograd.record():
        y = P.MultivariateNormal(A(loc), scale_tril=tril).sample_n(5)
    y.backward()
    assert (tril.grad.asnumpy()[1] != 0).all()
    for given in ({}, dict(cov=A(COV), precision=A(COV))):
        with pytest.raises(ValueError, match="Exactly one"):
            P.MultivariateNormal(A(loc), **given)


def test_relaxed():
    d = P.RelaxedBernoulli(0.7, prob=A([0.3, 0.6]))
    grid = (onp.arange(20000) + 0.5) / 20000
    assert abs(d.pdf(A(grid[:, None])).asnumpy().mean(0) - 1).max() < 1e-2
    x = d.sample_n(4000).asnumpy()
    assert ((x > 0) & (x < 1)).all() and abs((x > 0.5).mean(0) - [0.3, 0.6]).max() < 0.03
    assert d.broadcast_to((3, 2)).sample().shape == (3, 2)
    e = P.RelaxedOneHotCategorical(0.5, 3, prob=A(PROB))
    y = e.sample_n(4000).asnumpy()
    assert abs(y.sum(-1) - 1).max() < 1e-4 and abs(onp.stack([onp.bincount(y[:, r].argmax(-1), minlength=3) for r in (0, 1)]) / 4000
                                                   - PROB).max() < 0.03
    two = P.RelaxedOneHotCategorical(0.7, 2, prob=A([0.6, 0.4]))     # of two classes: the same density
    pairs = onp.stack([grid[::100], 1 - grid[::100]], -1)
    onp.testing.assert_allclose(two.log_prob(A(pairs)).asnumpy(), d.log_prob(A(grid[::100][:, None])).asnumpy()[:, 1], rtol=1e-3, atol=1e-3)
    logit = A(onp.log(PROB))
    logit.attach_grad()
    with autograd.record():
        z = P.RelaxedOneHotCategorical(0.5, 3, logit=logit).sample() * A([1.0, 2.0, 3.0])
    z.backward()
    assert (logit.grad.asnumpy() != 0).all()


def test_independent():
    d = P.Independent(P.Normal(np.zeros((3, 2)), np.ones((3, 2))), 1)
    assert d.event_dim == 1 and d.has_grad and d.log_prob(np.zeros((3, 2))).shape == (3,)
    onp.testing.assert_allclose(d.log_prob(np.zeros((3, 2))).asnumpy(), 2 * stats.norm.logpdf(0), rtol=1e-6)
    onp.testing.assert_allclose(d.entropy().asnumpy(), 2 * stats.norm.entropy(), rtol=1e-6)
    assert d.sample_n(4).shape == (4, 3, 2) and d.broadcast_to((5, 3)).sample().shape == (5, 3, 2)
    with pytest.raises(ValueError, match="from 0 to 2"):
        P.Independent(d.base_dist, 3)
    with pytest.raises(NotImplementedError, match="cartesian"):
        P.Independent(P.Categorical(3, prob=A(PROB)), 1).enumerate_support()


TRANSFORMS = [("exp", lambda: P.ExpTransform(), onp.exp), ("affine", lambda: P.AffineTransform(1.0, -2.0), lambda x: 1 - 2 * x),
              ("affine_arrays", lambda: P.AffineTransform(A([1.0]), A([3.0])), lambda x: 1 + 3 * x),
              ("sigmoid", lambda: P.SigmoidTransform(), lambda x: 1 / (1 + onp.exp(-x))),
              ("power", lambda: P.PowerTransform(-1.5), lambda x: x ** -1.5),
              ("compose", lambda: P.ComposeTransform([P.AffineTransform(0.5, 2.0), P.ExpTransform()]), lambda x: onp.exp(0.5 + 2 * x))]


@pytest.mark.parametrize("name, make, function", TRANSFORMS, ids=[t[0] for t in TRANSFORMS])
def test_transformations(name, make, function):
    t, x, step = make(), onp.array([0.3, 1.2, 2.0]), 1e-6
    y = t(A(x))
    onp.testing.assert_allclose(y.asnumpy(), function(x), rtol=1e-5)
    onp.testing.assert_allclose(t.inv(y).asnumpy(), x, rtol=1e-4)
    slope = (function(x + step) - function(x - step)) / (2 * step)
    onp.testing.assert_allclose(t.log_det_jacobian(A(x), y).asnumpy(), onp.log(abs(slope)), rtol=1e-4, atol=1e-4)
    onp.testing.assert_allclose(t.inv.log_det_jacobian(y, A(x)).asnumpy(), -onp.log(abs(slope)), rtol=1e-4, atol=1e-4)
    assert float(t.sign.asnumpy()[0] if hasattr(t.sign, "asnumpy") else t.sign) == onp.sign(slope[0])
    assert t.bijective and t.inv.bijective and t.inv.inv is t and t.inv is t.inv


def test_transformed_distributions():
    log_normal, x = P.TransformedDistribution(P.Normal(A([0.5]), A([0.8])), P.ExpTransform()), onp.array([0.3, 1.0, 4.0])
    want = stats.lognorm(0.8, scale=onp.exp(0.5))
    onp.testing.assert_allclose(log_normal.log_prob(A(x)).asnumpy(), want.logpdf(x), rtol=1e-4)
    onp.testing.assert_allclose(log_normal.cdf(A(x)).asnumpy(), want.cdf(x), rtol=1e-4)
    onp.testing.assert_allclose(log_normal.icdf(A([0.1, 0.9])).asnumpy(), want.ppf([0.1, 0.9]), rtol=1e-4)
    falling = P.TransformedDistribution(P.Normal(0.0, 1.0), [P.AffineTransform(1.0, -2.0)])
    onp.testing.assert_allclose(falling.cdf(A(x)).asnumpy(), stats.norm(1, 2).cdf(x), rtol=1e-4)
    onp.testing.assert_allclose(falling.icdf(A([0.1, 0.9])).asnumpy(), stats.norm(1, 2).ppf([0.1, 0.9]), rtol=1e-4)
    assert falling.has_grad and falling.sample((3, 2)).shape == (3, 2) and falling.sample_n(4).shape == (4,)
    with pytest.raises(TypeError, match="accepted: transformations"):
        P.TransformedDistribution(P.Normal(), [1])
    for t in (P.SoftmaxTransform(), P.AbsTransform()):
        assert not t.bijective
        with pytest.raises(NotImplementedError):
            t.log_det_jacobian(A([1.0]), A([1.0]))
    onp.testing.assert_allclose(P.SoftmaxTransform()(A([0.0, 0.0])).asnumpy(), [0.5, 0.5])


CONSTRAINTS = [(C.Real(), [0, -1.5], [onp.nan]), (C.Boolean(), [0, 1], [0.5]), (C.Interval(0, 2), [0, 2], [-0.1, 2.1]),
               (C.OpenInterval(0, 2), [1], [0, 2]), (C.HalfOpenInterval(0, 2), [0], [2]), (C.UnitInterval(), [0, 1], [1.5]),
               (C.IntegerInterval(0, 3), [0, 3], [0.5, 4]), (C.IntegerOpenInterval(0, 3), [1], [0, 3, 1.5]),
               (C.IntegerHalfOpenInterval(0, 3), [0], [3, 0.5]), (C.GreaterThan(1), [2], [1]), (C.GreaterThanEq(1), [1], [0]),
               (C.IntegerGreaterThan(1), [2], [1, 2.5]), (C.IntegerGreaterThanEq(1), [1], [0, 1.5]), (C.LessThan(1), [0], [1]),
               (C.LessThanEq(1), [1], [2]), (C.IntegerLessThan(1), [0], [1, 0.5]), (C.IntegerLessThanEq(1), [1], [2, 0.5]),
               (C.Positive(), [0.1], [0]), (C.NonNegative(), [0], [-0.1]), (C.PositiveInteger(), [1], [0, 1.5]),
               (C.NonNegativeInteger(), [0], [-1, 0.5])]


@pytest.mark.parametrize("constraint, good, bad", CONSTRAINTS, ids=[type(c[0]).__name__ for c in CONSTRAINTS])
def test_constraints(constraint, good, bad):
    assert constraint.check(A(good)).asnumpy().tolist() == A(good).asnumpy().tolist()
    for value in good:
        assert constraint.check(value) == value
    for value in bad:
        for given in (float(value), A(good + [value])):
            with pytest.raises(ValueError, match="Constraint violated"):
                result = constraint.check(given)
                result.asnumpy()


def test_constraints_of_arrays():
    lower = A([[1.0, 0.0], [2.0, 3.0]])
    for constraint, good, bad in ((C.Simplex(), A([0.2, 0.8]), A([0.2, 0.7])), (C.Simplex(), A([0.0, 1.0]), A([-0.2, 1.2])),
                                  (C.LowerTriangular(), lower, A([[1.0, 2.0], [0.0, 1.0]])),
                                  (C.LowerCholesky(), lower, A([[-1.0, 0.0], [0.0, 1.0]])),
                                  (C.PositiveDefinite(), A(COV), A([[1.0, 2.0], [2.0, 1.0]])),
                                  (C.PositiveDefinite(), A(COV), A([[1.0, 0.5], [0.0, 1.0]])),
                                  (C.Cat([C.Positive(), C.Real()], lengths=[1, 2]), A([1.0, -1.0, -2.0]), A([-1.0, 1.0, 1.0])),
                                  (C.Stack([C.Positive(), C.Real()]), A([[1.0], [-1.0]]), A([[-1.0], [1.0]]))):
        onp.testing.assert_array_equal(constraint.check(good).asnumpy(), good.asnumpy())
        with pytest.raises(ValueError, match="Constraint violated"):
            constraint.check(bad).asnumpy()
    with pytest.raises(ValueError, match="accepted: as many"):
        C.Stack([C.Real()]).check(A([1.0, 2.0]))
    assert C.is_dependent(P.Uniform.support) and not C.is_dependent(C.Real())


def test_maps_to_constraints():
    x = A([0.5, -3.0])
    for constraint in (C.Real(), C.Positive(), C.NonNegative(), C.GreaterThan(2.0), C.GreaterThanEq(2.0), C.LessThan(2.0),
                       C.LessThanEq(2.0), C.UnitInterval(), C.Interval(1.0, 3.0), C.OpenInterval(1.0, 3.0), C.HalfOpenInterval(1.0, 3.0)):
        for maps in (P.biject_to, P.transform_to):
            t = maps(constraint)
            y = constraint.check(t(x))
            onp.testing.assert_allclose(t.inv(y).asnumpy(), x.asnumpy(), rtol=1e-3)
    C.Simplex().check(P.transform_to(C.Simplex())(x)).asnumpy()
    for constraint in (C.Boolean(), C.LowerCholesky(), C.PositiveInteger()):
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            P.biject_to(constraint)
    with pytest.raises(TypeError, match="a Constraint or its class"):
        P.biject_to.register(int, lambda c: None)


# pairs of distributions, each with two rows of parameters; the integral's bounds, or None for a sum
KL = [
    (lambda: (P.Normal(A([0, 1]), A([1, 2])), P.Normal(A([1, 1]), A([2, 2]))), (-25, 25)),
    (lambda: (P.Laplace(A([0, 1]), A([1, 2])), P.Laplace(A([0.5, 1]), A([2, 3]))), (-40, 40)),
    (lambda: (P.Cauchy(A([0, 1]), A([1, 2])), P.Cauchy(A([0, 2]), A([1.5, 2]))), (-20000, 20000)),
    (lambda: (P.HalfCauchy(A([1, 2])), P.HalfCauchy(A([1.5, 1]))), (0, 20000)),
    (lambda: (P.HalfNormal(A([1, 2])), P.HalfNormal(A([2, 3]))), (0, 25)),
    (lambda: (P.Gumbel(A([0, 1]), A([1, 2])), P.Gumbel(A([1, 1]), A([2, 3]))), (-12, 50)),
    (lambda: (P.Uniform(A([0, 1]), A([1, 3])), P.Uniform(A([-1, 1]), A([2, 3]))), (-1, 4)),
    (lambda: (P.Uniform(A([0, 1]), A([1, 3])), P.Normal(A([1, 1]), A([2, 2]))), (-1, 4)),
    (lambda: (P.Uniform(A([0, 1]), A([1, 3])), P.Gumbel(A([1, 1]), A([2, 3]))), (-1, 4)),
    (lambda: (P.Exponential(A([1, 2])), P.Exponential(A([3, 2.5]))), (0, 60)),
    (lambda: (P.Exponential(A([1, 2])), P.Normal(A([1, 1]), A([2, 2]))), (0, 60)),
    (lambda: (P.Exponential(A([1, 2])), P.Gumbel(A([1, 1]), A([2, 3]))), (0, 60)),
    (lambda: (P.Exponential(A([1, 2])), P.Gamma(A([1.5, 2.5]), A([1, 2]))), (0, 60)),
    (lambda: (P.Gamma(A([1, 2]), A([2, 3])), P.Gamma(A([1.5, 2.5]), A([1, 2]))), (0, 120)),
    (lambda: (P.Chi2(A([2, 5])), P.Chi2(A([3, 4]))), (0, 120)),
    (lambda: (P.Pareto(A([3, 2.5]), A([0.5, 0.5])), P.Pareto(A([2, 2.5]), A([0.5, 0.25]))), (0.5, 3000)),
    (lambda: (P.Beta(A([1, 2]), A([2, 3])), P.Beta(A([2, 3]), A([2, 2]))), (0, 1)),
    (lambda: (P.Poisson(A([1, 2])), P.Poisson(A([2, 2.5]))), None),
    (lambda: (P.Bernoulli(prob=A([0.3, 0.6])), P.Bernoulli(prob=A([0.4, 0.5]))), 2),
    (lambda: (P.Geometric(prob=A([0.3, 0.6])), P.Geometric(prob=A([0.4, 0.5]))), None),
    (lambda: (P.Binomial(5, prob=A([0.3, 0.6])), P.Binomial(5, prob=A([0.5, 0.4]))), 6),
    (lambda: (P.Categorical(3, prob=A(PROB)), P.Categorical(3, prob=A(PROB[::-1].copy()))), 3),
]


@pytest.mark.parametrize("make, bounds", KL, ids=["-".join(type(d).__name__ for d in make()) for make, _ in KL])
def test_divergences(make, bounds):
    p, q = make()
    if isinstance(bounds, tuple):
        # midpoints, denser near the lower end or the center
        t = (onp.arange(400000) + 0.5) / 400000
        low, high = bounds
        if high > 1000:
            u = onp.tan(onp.pi * (t - 0.5) * 0.9999) if low < 0 else onp.tan(onp.pi / 2 * t * 0.9999) + low
            x, width = u, onp.gradient(u)
        else:
            x, width = low + (high - low) * t, onp.full(t.shape, (high - low) / 400000)
    else:
        x = onp.arange(bounds or 60).astype(float)
        width = onp.ones(len(x))
    lp, lq = (d.log_prob(A(x[:, None])).asnumpy().astype("float64") for d in (p, q))
    dense = onp.isfinite(lp)
    terms = onp.where(dense, onp.exp(lp) * (onp.where(dense, lp, 0) - onp.where(dense, lq, 0)), 0) * width[:, None]
    onp.testing.assert_allclose(P.kl_divergence(p, q).asnumpy(), terms.sum(0), rtol=5e-3, atol=2e-3)


def test_divergences_of_vectors():
    p, q = P.MultivariateNormal(A([0, 1]), cov=A(COV)), P.MultivariateNormal(A([1, 1]), cov=A([[1, 0.2], [0.2, 1]]))
    inverse = onp.linalg.inv([[1, 0.2], [0.2, 1]])
    want = 0.5 * (onp.trace(inverse @ COV) + inverse[0, 0] - 2 - onp.log(onp.linalg.det(COV) / 0.96))
    onp.testing.assert_allclose(P.kl_divergence(p, q).asnumpy(), want, rtol=1e-4)
    for p, q in ((p, q), (P.Dirichlet(A([1, 2, 3])), P.Dirichlet(A([2, 2, 2])))):
        onp.testing.assert_allclose(P.empirical_kl(p, q, 20000).asnumpy(), P.kl_divergence(p, q).asnumpy(), rtol=0.1)
    one = [P.OneHotCategorical(3, prob=A(x)) for x in PROB]
    onp.testing.assert_allclose(P.kl_divergence(*one).asnumpy(), stats.entropy(PROB[0], PROB[1]), rtol=1e-4)
    normal = P.Normal(np.zeros((3, 2)), 1.0)
    shifted = P.Normal(np.ones((3, 2)), 1.0)
    assert P.kl_divergence(P.Independent(normal, 1), P.Independent(shifted, 1)).asnumpy().tolist() == [1, 1, 1]
    assert P.kl_divergence(P.Uniform(A([0.0]), A([3.0])), P.Uniform(A([0.0]), A([2.0]))).asnumpy() == onp.inf
    for p, q in ((P.Normal(), P.Cauchy()), (P.Binomial(3, prob=0.5), P.Binomial(5, prob=0.5))):
        with pytest.raises(NotImplementedError, match="is not implemented"):
            P.kl_divergence(p, q)


class _Noisy(P.StochasticBlock):
    def __init__(self):
        super().__init__()
        self.dense = mx.gluon.nn.Dense(2)

    @P.StochasticBlock.collectLoss
    def forward(self, x):
        q = P.Normal(self.dense(x), 1.0)
        self.add_loss(P.kl_divergence(q, P.Normal(0.0, 1.0)))
        return q.sample()


@pytest.mark.parametrize("hybrid", [False, True])
def test_stochastic_blocks(hybrid):
    net = P.StochasticSequential()
    net.add(_Noisy(), mx.gluon.nn.Dense(3), _Noisy())
    net.initialize()
    if hybrid:
        net.hybridize()
    weight, seen = net[0].dense.weight, []
    for _ in range(3):
        with autograd.record():
            y = net(np.ones((4, 3)))
            loss = sum(np.sum(part) for losses in net.losses for part in losses)
        loss.backward()
        assert y.shape == (4, 2) and [len(losses) for losses in net.losses] == [1, 1] and (weight.grad().asnumpy() != 0).any()
        seen.append(y.asnumpy())
    assert (seen[0] != seen[1]).any() and (seen[1] != seen[2]).any()
    assert len(net) == 3 and len(net[1:]) == 2 and "Dense" in repr(net)


def test_stochastic_blocks_need_their_decorator():
    class Plain(P.StochasticBlock):
        def forward(self, x):
            return x
    for call in (lambda: Plain()(np.ones(2)), lambda: Plain().add_loss(np.ones(2))):
        with pytest.raises(ValueError, match="decorated by StochasticBlock.collectLoss"):
            call()


def test_transformations_with_parameters():
    class Scale(P.TransformBlock):
        bijective = True

        def __init__(self):
            super().__init__()
            self.weight = mx.gluon.Parameter("weight", shape=(1,), init=mx.init.Constant(2.0))

        def _forward_compute(self, x):
            return x * self.weight.data()

        def _inverse_compute(self, y):
            return y / self.weight.data()

        def log_det_jacobian(self, x, y):
            return np.log(abs(self.weight.data())) + 0 * x

    class Flow(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.scale = Scale()

        def forward(self, x):
            return P.TransformedDistribution(P.Normal(0.0, 1.0), [self.scale]).log_prob(x)

    net, x = Flow(), A([1.0, 2.0])
    net.initialize()
    for hybrid in (False, True):
        net.hybridize(hybrid)
        with autograd.record():
            y = net(x)
        y.backward()
        onp.testing.assert_allclose(y.asnumpy(), stats.norm(0, 2).logpdf([1, 2]), rtol=1e-5)
        onp.testing.assert_allclose(net.scale.weight.grad().asnumpy(), [(1 / 8 - 0.5) + (4 / 8 - 0.5)], rtol=1e-4)
