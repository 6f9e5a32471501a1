"""Kullback-Leibler divergences."""
import math

import numpy as onp

from .. import _functions as m
from .... import numpy as np
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .dirichlet import Dirichlet
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_cauchy import HalfCauchy
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import sum_right_most

__all__ = ["register_kl", "kl_divergence", "empirical_kl"]

_formulas = {}


def register_kl(typeP, typeQ):   # pylint: disable=invalid-name
    """Decorator: a function of (p, q) that `kl_divergence` calls for distributions of these classes
    and of their subclasses.

    Examples
    --------
    >>> class Mine(mx.gluon.probability.Normal):
    ...     pass
    >>> @mx.gluon.probability.register_kl(Mine, Mine)
    ... def formula(p, q):
    ...     return 42
    >>> mx.gluon.probability.kl_divergence(Mine(), Mine())
    42
    """
    def decorate(function):
        _formulas[typeP, typeQ] = function
        return function
    return decorate


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of q from p, in nats, of batch shape. NotImplementedError
    where no formula is registered for their classes.

    Examples
    --------
    >>> p = mx.gluon.probability.Normal(mx.np.array([0.0, 1.0]), 1.0)
    >>> q = mx.gluon.probability.Normal(0.0, 1.0)
    >>> mx.gluon.probability.kl_divergence(p, q)
    array([0. , 0.5])
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _formulas:
                return _formulas[kind_p, kind_q](p, q)
    raise NotImplementedError(f"KL divergence between {type(p).__name__} and {type(q).__name__} is not implemented.")


def empirical_kl(p, q, n_samples=1):
    """An estimate of the Kullback-Leibler divergence: the mean of log p(x) - log q(x) over draws x
    of p.

    Examples
    --------
    >>> p = mx.gluon.probability.Normal(mx.np.array([0.0, 1.0]), 1.0)
    >>> mx.gluon.probability.empirical_kl(p, p, 10)
    array([0., 0.])
    """
    draws = p.sample_n(n_samples)
    return np.mean(p.log_prob(draws) - q.log_prob(draws), axis=tuple(range(len(m.shape_of(n_samples)) or 1)))


@register_kl(Normal, Normal)
def _(p, q):
    ratio, away = (p.scale / q.scale) ** 2, ((p.loc - q.loc) / q.scale) ** 2
    return 0.5 * (ratio + away - 1 - m.log(ratio))


@register_kl(HalfNormal, HalfNormal)
def _(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - m.log(ratio))


@register_kl(Laplace, Laplace)
def _(p, q):
    away = abs(p.loc - q.loc)
    return m.log(q.scale / p.scale) + away / q.scale + p.scale / q.scale * m.exp(-away / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _(p, q):
    return m.log(((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2) / (4 * p.scale * q.scale))


@register_kl(HalfCauchy, HalfCauchy)
def _(p, q):
    return m.log((p.scale + q.scale) ** 2 / (4 * p.scale * q.scale))


@register_kl(Gumbel, Gumbel)
def _(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -m.log(ratio) + onp.euler_gamma * (ratio - 1) + away + m.exp(m.gammaln(1 + ratio) - away) - 1


@register_kl(Uniform, Uniform)
def _(p, q):
    inside = m.both(p.low >= q.low, p.high <= q.high)
    return m.where(inside, m.log((q.high - q.low) / (p.high - p.low)), onp.inf)


@register_kl(Uniform, Normal)
def _(p, q):
    width, middle = p.high - p.low, (p.high + p.low) / 2
    return (0.5 * math.log(2 * math.pi) + m.log(q.scale / width) + (width ** 2 / 12 + (middle - q.loc) ** 2) / (2 * q.scale ** 2))


@register_kl(Uniform, Gumbel)
def _(p, q):
    width, low, high = p.high - p.low, (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    return m.log(q.scale / width) + (low + high) / 2 + q.scale / width * (m.exp(-low) - m.exp(-high))


@register_kl(Exponential, Exponential)
def _(p, q):
    ratio = p.scale / q.scale
    return ratio - 1 - m.log(ratio)


@register_kl(Exponential, Normal)
def _(p, q):
    square = p.scale ** 2 + (p.scale - q.loc) ** 2
    return 0.5 * math.log(2 * math.pi) - 1 + m.log(q.scale / p.scale) + square / (2 * q.scale ** 2)


@register_kl(Exponential, Gumbel)
def _(p, q):
    return m.log(q.scale / p.scale) - 1 + (p.scale - q.loc) / q.scale + m.exp(q.loc / q.scale) * q.scale / (q.scale + p.scale)


@register_kl(Exponential, Gamma)
def _(p, q):
    ratio = p.scale / q.scale
    return ratio - 1 - q.shape * m.log(ratio) + m.gammaln(q.shape) + onp.euler_gamma * (q.shape - 1)


@register_kl(Gamma, Gamma)
def _(p, q):
    ratio = p.scale / q.scale
    return ((p.shape - q.shape) * m.digamma(p.shape) - m.gammaln(p.shape) + m.gammaln(q.shape) - q.shape * m.log(ratio)
            + p.shape * (ratio - 1))


@register_kl(Pareto, Pareto)
def _(p, q):
    ratio = q.alpha / p.alpha
    return m.where(p.scale >= q.scale, q.alpha * m.log(p.scale / q.scale) - m.log(ratio) + ratio - 1, onp.inf)


@register_kl(Beta, Beta)
def _(p, q):
    total_p, total_q = p.alpha + p.beta, q.alpha + q.beta
    return (m.lbeta(q.alpha, q.beta) - m.lbeta(p.alpha, p.beta) + (p.alpha - q.alpha) * m.digamma(p.alpha)
            + (p.beta - q.beta) * m.digamma(p.beta) + (total_q - total_p) * m.digamma(total_p))


@register_kl(Dirichlet, Dirichlet)
def _(p, q):
    total_p, total_q = np.sum(p.alpha, axis=-1), np.sum(q.alpha, axis=-1)
    terms = (p.alpha - q.alpha) * (m.digamma(p.alpha) - np.expand_dims(m.digamma(total_p), -1))
    return (m.gammaln(total_p) - m.gammaln(total_q) - np.sum(m.gammaln(p.alpha), axis=-1) + np.sum(m.gammaln(q.alpha), axis=-1)
            + np.sum(terms, axis=-1))


@register_kl(Poisson, Poisson)
def _(p, q):
    return p.rate * m.log(p.rate / q.rate) - p.rate + q.rate


@register_kl(Bernoulli, Bernoulli)
def _(p, q):
    return p.prob * (q._softplus(-1) - p._softplus(-1)) + (1 - p.prob) * (q._softplus(1) - p._softplus(1))


@register_kl(Binomial, Binomial)
def _(p, q):
    each = _formulas[Bernoulli, Bernoulli](p, q)
    if isinstance(p.n, (int, float)) and isinstance(q.n, (int, float)) and p.n < q.n:
        raise NotImplementedError("KL divergence between Binomials where the second one has more trials is not implemented.")
    return m.where(p.n > q.n, onp.inf + 0 * each, p.n * each)


@register_kl(Geometric, Geometric)
def _(p, q):
    return _formulas[Bernoulli, Bernoulli](p, q) / p.prob


@register_kl(Categorical, Categorical)
def _(p, q):
    logs = p._log_chances()
    return np.sum(m.exp(logs) * (logs - q._log_chances()), axis=-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p, q):
    return _formulas[Categorical, Categorical](p, q)


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p, q):
    size = p.loc.shape[-1]
    away, factor_p, factor_q = q.loc - p.loc, p.scale_tril, q.scale_tril
    batch = tuple(onp.broadcast_shapes(tuple(away.shape[:-1]), tuple(factor_p.shape[:-2]), tuple(factor_q.shape[:-2])))
    factor_q = np.broadcast_to(factor_q, batch + (size, size))
    right = np.concatenate([np.broadcast_to(factor_p, batch + (size, size)), np.broadcast_to(np.expand_dims(away, -1), batch + (size, 1))],
                           axis=-1)
    squares = np.sum(m.solve_lower(factor_q, right) ** 2, axis=(-2, -1))
    return q._half_log_det(factor_q) - p._half_log_det(factor_p) + 0.5 * (squares - size)


@register_kl(Independent, Independent)
def _(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL divergence between Independents of different event axes is not implemented.")
    return sum_right_most(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
