"""The binomial distribution."""
from .. import _functions as m
from ._chances import Chance, check_count
from .constraint import NonNegativeInteger
from .distribution import Distribution, where_inside

__all__ = ["Binomial"]


class Binomial(Chance, Distribution):
    """How many of n trials are successes.

    Parameters
    ----------
    n : int or ndarray
        Trials.
    prob, logit : number or ndarray
        The chance of a success, or the logarithm of its odds: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Binomial(4, prob=mx.np.array([0.5])).variance
    array([1.])
    """

    support = NonNegativeInteger()
    _parameters = {"n": 0, "prob": 0, "logit": 0}

    def __init__(self, n=1, prob=None, logit=None, validate_args=None):
        check_count(n)
        self._take(prob, logit)
        self.n = n
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        prob = m.broadcast_to(self.prob, shape)
        return m.call("_sample_binomial", (m.broadcast_to(self.n, shape, prob.dtype).astype(prob.dtype), prob))

    def _log_prob(self, value):
        # log of the binomial coefficient as 1 / ((n + 1) B(x + 1, n - x + 1))
        return where_inside(value, m.both(value >= 0, value <= self.n), 0.0, lambda x: x * self.logit - self.n * self._softplus(1)
                            - m.lbeta(x + 1, self.n - x + 1) - m.log(self.n + 1))

    @property
    def mean(self):
        return self.n * self.prob

    @property
    def variance(self):
        return self.n * self.prob * (1 - self.prob)
