"""The normal distribution."""
import math

import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ._families import LocationScale
from .exp_family import ExponentialFamily

__all__ = ["Normal"]


class Normal(LocationScale, ExponentialFamily):
    """The normal distribution. Gradients flow from draws to both parameters.

    Parameters
    ----------
    loc, scale : number or ndarray
        Mean and standard deviation.
    validate_args : bool, optional

    Examples
    --------
    >>> d = mx.gluon.probability.Normal(mx.np.array([0.0, 1.0]), 2.0)
    >>> d.sample_n(3).shape
    (3, 2)
    >>> d.cdf(mx.np.array([0.0, 1.0]))
    array([0.5, 0.5])
    """

    def _draw(self, shape):
        return np.random.normal(self.loc, self.scale, shape)

    def _log_prob(self, value):
        return -0.5 * ((value - self.loc) / self.scale) ** 2 - m.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def _cdf(self, value):
        return 0.5 * (1 + m.erf((value - self.loc) / self.scale / math.sqrt(2)))

    def _icdf(self, value):
        return self.loc + self.scale * (math.sqrt(2) * m.erfinv(2 * value - 1))

    @property
    def mean(self):
        return self.loc

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.scale ** 2

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + m.log(self.scale) + 0 * self.loc

    @property
    def _natural_params(self):
        return self.loc / self.scale ** 2, -0.5 / self.scale ** 2

    def _log_normalizer(self, x, y):
        return -0.25 * x ** 2 / y + 0.5 * m.log(-onp.pi / y)
