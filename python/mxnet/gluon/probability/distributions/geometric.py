"""The geometric distribution."""
from .. import _functions as m
from .... import numpy as np
from ._chances import Chance
from .constraint import NonNegativeInteger
from .distribution import Distribution, where_inside

__all__ = ["Geometric"]


class Geometric(Chance, Distribution):
    """How many failures come before the first success.

    Parameters
    ----------
    prob, logit : number or ndarray
        The chance of a success, or the logarithm of its odds: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Geometric(prob=mx.np.array([0.25])).mean
    array([3.])
    """

    support = NonNegativeInteger()

    def __init__(self, prob=None, logit=None, validate_args=None):
        self._take(prob, logit)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return m.floor(np.random.exponential(1.0, shape) / self._softplus(1))

    def _log_prob(self, value):
        return where_inside(value, value >= 0, 0.0, lambda x: -self._softplus(-1) - x * self._softplus(1))

    @property
    def mean(self):
        return 1 / self.prob - 1

    @property
    def variance(self):
        return (1 / self.prob - 1) / self.prob

    def entropy(self):
        return self._softplus(-1) + self._softplus(1) * (1 / self.prob - 1)
