"""Smooth draws that are nearly 0 or 1."""
from .. import _functions as m
from .... import numpy as np
from ..transformation.transformation import SigmoidTransform
from ._chances import Chance
from ._families import Relaxed
from .constraint import OpenInterval, Real
from .distribution import Distribution

__all__ = ["RelaxedBernoulli"]


class _LogOdds(Chance, Distribution):
    """Log-odds of draws: logistic, of mean logit / T and scale 1 / T."""

    has_grad = True
    support = Real()

    def __init__(self, T, prob, logit, validate_args=None):
        self.T = T
        self._take(prob, logit)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return (self.logit + np.random.logistic(0.0, 1.0, shape)) / self.T

    def _log_prob(self, value):
        z = self.T * value - self.logit
        return m.log(self.T) - m.softplus(z) - m.softplus(-z)


class RelaxedBernoulli(Relaxed):
    """Draws between 0 and 1 through which gradients flow to `prob` or `logit`; the lower the
    temperature, the nearer they are to Bernoulli draws.

    Maddison, Mnih, Teh, "The concrete distribution", 2017.

    Parameters
    ----------
    T : number or ndarray
        The temperature.
    prob, logit : number or ndarray
        The chance of a 1, or the logarithm of its odds: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.RelaxedBernoulli(0.5, prob=mx.np.array([0.5])).sample_n(3).shape
    (3, 1)
    """

    support = OpenInterval(0, 1)
    arg_constraints = Chance.arg_constraints

    def __init__(self, T, prob=None, logit=None, validate_args=None):
        base = _LogOdds(T, prob, logit, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
