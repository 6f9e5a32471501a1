"""The Bernoulli distribution."""
from .. import _functions as m
from .... import numpy_extension as npx
from ._chances import Chance
from .constraint import Boolean
from .exp_family import ExponentialFamily

__all__ = ["Bernoulli"]


class Bernoulli(Chance, ExponentialFamily):
    """0 or 1.

    Parameters
    ----------
    prob, logit : number or ndarray
        The chance of a 1, or the logarithm of its odds: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Bernoulli(prob=mx.np.array([0.5])).variance
    array([0.25])
    """

    support = Boolean()

    def __init__(self, prob=None, logit=None, validate_args=None):
        self._take(prob, logit)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return npx.random.bernoulli(prob=self.prob, size=shape)

    def _log_prob(self, value):
        return value * self.logit - self._softplus(1)

    @property
    def mean(self):
        return self.prob

    @property
    def variance(self):
        return self.prob * (1 - self.prob)

    def entropy(self):
        return self._softplus(1) - self.prob * self.logit

    @property
    def _natural_params(self):
        return (self.logit,)

    def _log_normalizer(self, x):
        return m.softplus(x)
