"""The beta distribution."""
from .. import _functions as m
from .... import numpy as np
from .constraint import Positive, UnitInterval
from .distribution import where_inside
from .exp_family import ExponentialFamily

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """The beta distribution.

    Parameters
    ----------
    alpha, beta : number or ndarray
        The density is x^(alpha-1) (1-x)^(beta-1), up to a factor.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Beta(mx.np.array([1.0]), 3.0).mean
    array([0.25])
    """

    has_grad = True
    support = UnitInterval()
    arg_constraints = {"alpha": Positive(), "beta": Positive()}
    _parameters = {"alpha": 0, "beta": 0}

    def __init__(self, alpha, beta, validate_args=None):
        self.alpha, self.beta = alpha, beta
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return np.random.beta(self.alpha, self.beta, shape)

    def _log_prob(self, value):
        return where_inside(value, m.both(value >= 0, value <= 1), 0.5, lambda x: m.xlogy(self.alpha - 1, x)
                            + m.xlogy(self.beta - 1, 1 - x) - m.lbeta(self.alpha, self.beta))

    @property
    def mean(self):
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self):
        total = self.alpha + self.beta
        return self.alpha * self.beta / (total ** 2 * (total + 1))

    def entropy(self):
        total = self.alpha + self.beta
        return (m.lbeta(self.alpha, self.beta) - (self.alpha - 1) * m.digamma(self.alpha) - (self.beta - 1) * m.digamma(self.beta)
                + (total - 2) * m.digamma(total))
