"""Smooth draws that are nearly one-hot vectors."""
from .. import _functions as m
from .... import numpy as np
from ..transformation.transformation import ExpTransform
from ._chances import Chances
from ._families import Relaxed
from .constraint import Real, Simplex
from .distribution import Distribution

__all__ = ["RelaxedOneHotCategorical"]


class _LogRelaxed(Chances, Distribution):
    """Logarithms of the draws."""

    has_grad = True
    support = Real()

    def __init__(self, T, num_events, prob, logit, validate_args=None):
        self.T = T
        self._take(num_events, prob, logit)
        super().__init__(event_dim=1, validate_args=validate_args)

    def _draw(self, shape):
        noise = np.random.gumbel(0.0, 1.0, tuple(shape) + (self.num_events,))
        return m.log_softmax((self.logit + noise) / self.T)

    def _log_prob(self, value):
        n = self.num_events
        terms = m.log_softmax(self.logit - self.T * value) + (n - 1) / n * m.log(self.T)
        return np.sum(terms, axis=-1) + m.gammaln(float(n))


class RelaxedOneHotCategorical(Relaxed):
    """Vectors of sum 1 through which gradients flow to `prob` or `logit`; the lower the
    temperature, the nearer they are to one-hot vectors.

    Maddison, Mnih, Teh, "The concrete distribution", 2017.

    Parameters
    ----------
    T : number or ndarray
        The temperature.
    num_events : int
    prob, logit : ndarray
        The chances of the classes along the last axis, or their logarithms up to a number that is
        added to all: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> d = mx.gluon.probability.RelaxedOneHotCategorical(0.5, 2, prob=mx.np.array([0.5, 0.5]))
    >>> d.sample_n(3).shape
    (3, 2)
    >>> d.num_events, float(d.sample().sum().round(3))
    (2, 1.0)
    """

    support = Simplex()
    arg_constraints = Chances.arg_constraints

    def __init__(self, T, num_events, prob=None, logit=None, validate_args=None):
        base = _LogRelaxed(T, num_events, prob, logit, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def num_events(self):
        """How many classes there are."""
        return self._base_dist.num_events

    def _remade(self, base, **given):
        return type(self)(base.T, base.num_events, **given)
