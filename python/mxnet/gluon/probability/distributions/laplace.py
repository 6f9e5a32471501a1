"""The Laplace distribution."""
import math

from .. import _functions as m
from .... import numpy as np
from ._families import LocationScale
from .distribution import Distribution

__all__ = ["Laplace"]


class Laplace(LocationScale, Distribution):
    """The Laplace (double exponential) distribution. Gradients flow from draws to both parameters.

    Parameters
    ----------
    loc, scale : number or ndarray
        Mean, and mean distance from it.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Laplace(0.0, mx.np.array([1.0, 2.0])).variance
    array([2., 8.])
    """

    def _draw(self, shape):
        return np.random.laplace(self.loc, self.scale, shape)

    def _log_prob(self, value):
        return -m.log(2 * self.scale) - abs(value - self.loc) / self.scale

    def _cdf(self, value):
        z = (value - self.loc) / self.scale
        return 0.5 - 0.5 * m.sign(z) * m.expm1(-abs(z))

    def _icdf(self, value):
        p = value - 0.5
        return self.loc - self.scale * m.sign(p) * m.log1p(-2 * abs(p))

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return 2 * self.scale ** 2

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    def entropy(self):
        return 1 + m.log(2 * self.scale) + 0 * self.loc
