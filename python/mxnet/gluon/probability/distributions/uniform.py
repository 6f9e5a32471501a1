"""The uniform distribution."""
from .. import _functions as m
from .... import numpy as np
from .constraint import Interval, Real, dependent_property
from .distribution import Distribution, where_inside

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution on [low, high]. Gradients flow from draws to both parameters.

    Parameters
    ----------
    low, high : number or ndarray
        The bounds; `low` is below `high`.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Uniform(0.0, mx.np.array([1.0, 4.0])).cdf(mx.np.array([0.5, 1.0]))
    array([0.5 , 0.25])
    >>> mx.gluon.probability.Uniform(0.0, 4.0).log_prob(mx.np.array([1.0, 5.0])).round(3)
    array([-1.386,   -inf])
    >>> mx.gluon.probability.Uniform(0.0, 4.0).support.words()
    '>= 0.0 and <= 4.0.'
    """

    has_grad = True
    arg_constraints = {"low": Real(), "high": Real()}
    _parameters = {"low": 0, "high": 0}

    def __init__(self, low=0.0, high=1.0, validate_args=None):
        self.low, self.high = low, high
        super().__init__(event_dim=0, validate_args=validate_args)

    @dependent_property
    def support(self):
        """[low, high]."""
        return Interval(self.low, self.high)

    def _draw(self, shape):
        return np.random.uniform(self.low, self.high, shape)

    def _log_prob(self, value):
        inside = m.both(value >= self.low, value <= self.high)
        return where_inside(value, inside, 0.0, lambda x: 0 * x - m.log(self.high - self.low))

    def _cdf(self, value):
        p = (value - self.low) / (self.high - self.low)
        return min(max(p, 0.0), 1.0) if isinstance(p, float) else np.clip(p, 0.0, 1.0)

    def _icdf(self, value):
        return self.low + value * (self.high - self.low)

    @property
    def mean(self):
        return (self.low + self.high) / 2

    @property
    def variance(self):
        return (self.high - self.low) ** 2 / 12

    def entropy(self):
        return m.log(self.high - self.low)
