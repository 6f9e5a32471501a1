"""The negative binomial distribution."""
from .. import _functions as m
from .... import numpy as np
from ._chances import Chance
from .constraint import GreaterThanEq, Interval, NonNegativeInteger, Real
from .distribution import Distribution, where_inside

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Chance, Distribution):
    """How many successes come before the n-th failure.

    Parameters
    ----------
    n : number or ndarray
        Failures; need not be an integer.
    prob, logit : number or ndarray
        The chance of a success, or the logarithm of its odds: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.NegativeBinomial(3, prob=mx.np.array([0.5])).mean
    array([3.])
    """

    support = NonNegativeInteger()
    arg_constraints = {"n": GreaterThanEq(0), "prob": Interval(0, 1), "logit": Real()}
    _parameters = {"n": 0, "prob": 0, "logit": 0}

    def __init__(self, n, prob=None, logit=None, validate_args=None):
        self._take(prob, logit)
        self.n = n
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return m.call("_npx_tensor_poisson", (np.random.gamma(self.n, m.exp(self.logit), shape),))

    def _log_prob(self, value):
        return where_inside(value, value >= 0, 0.0, lambda x: -self.n * self._softplus(1) - x * self._softplus(-1)
                            + m.gammaln(self.n + x) - m.gammaln(x + 1) - m.gammaln(self.n))

    @property
    def mean(self):
        return self.n * m.exp(self.logit)

    @property
    def variance(self):
        return self.n * m.exp(self.logit) * (1 + m.exp(self.logit))
