"""The multinomial distribution."""
from .. import _functions as m
from .... import numpy as np
from ._chances import Chances, check_count
from .constraint import IntegerInterval
from .distribution import Distribution

__all__ = ["Multinomial"]


class Multinomial(Chances, Distribution):
    """How often each of `num_events` classes occurs in `total_count` trials; draws are float32.

    Parameters
    ----------
    num_events : int
    prob, logit : ndarray
        The chances of the classes along the last axis, or their logarithms up to a number that is
        added to all: one of them.
    total_count : int
    validate_args : bool, optional

    Examples
    --------
    >>> d = mx.gluon.probability.Multinomial(2, prob=mx.np.array([0.25, 0.75]), total_count=4)
    >>> d.mean
    array([1., 3.])
    >>> d.sample((5,)).sum(axis=-1)
    array([4., 4., 4., 4., 4.])
    >>> mx.np.exp(d.log_prob(mx.np.array([4, 0])))
    array(0.00390625)
    >>> d.support.words()
    'integer and be >= 0 and <= 4.'
    """

    def __init__(self, num_events, prob=None, logit=None, total_count=1, validate_args=None):
        check_count(total_count, "total_count")
        self._take(num_events, prob, logit)
        self.total_count = int(total_count)
        super().__init__(event_dim=1, validate_args=validate_args)

    @property
    def support(self):
        """Integers up to `total_count`."""
        return IntegerInterval(0, self.total_count)

    def _draw(self, shape):
        prob = np.broadcast_to(self.prob, tuple(shape) + (self.num_events,))
        return m.call("_npx__random_multinomial", (np.full(tuple(shape), self.total_count, dtype=prob.dtype), prob), dtype="float32")

    def _log_prob(self, value):
        counts = m.where(value == 0, 0.0, value * self._log_chances()) - m.gammaln(value + 1)
        return m.gammaln(float(self.total_count + 1)) + np.sum(counts, axis=-1)

    @property
    def mean(self):
        return self.prob * self.total_count

    @property
    def variance(self):
        return self.total_count * self.prob * (1 - self.prob)
