"""The Gumbel distribution."""
import math

import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ._families import LocationScale
from .distribution import Distribution

__all__ = ["Gumbel"]


class Gumbel(LocationScale, Distribution):
    """The Gumbel distribution of largest values. Gradients flow from draws to both parameters.

    Parameters
    ----------
    loc, scale : number or ndarray
        Mode, and scale.
    validate_args : bool, optional

    Examples
    --------
    >>> round(float(mx.gluon.probability.Gumbel(0.0, 1.0).mean), 4)
    0.5772
    """

    def __init__(self, loc, scale=1, validate_args=None):
        super().__init__(loc, scale, validate_args)

    def _draw(self, shape):
        return np.random.gumbel(self.loc, self.scale, shape)

    def _log_prob(self, value):
        z = (value - self.loc) / self.scale
        return -z - m.exp(-z) - m.log(self.scale)

    def _cdf(self, value):
        return m.exp(-m.exp(-(value - self.loc) / self.scale))

    def _icdf(self, value):
        return self.loc - self.scale * m.log(-m.log(value))

    @property
    def mean(self):
        return self.loc + onp.euler_gamma * self.scale

    @property
    def stddev(self):
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self):
        return math.pi ** 2 / 6 * self.scale ** 2

    def entropy(self):
        return 1 + onp.euler_gamma + m.log(self.scale) + 0 * self.loc
