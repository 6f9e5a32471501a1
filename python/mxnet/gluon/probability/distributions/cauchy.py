"""The Cauchy distribution."""
import math

import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ._families import LocationScale
from .distribution import Distribution

__all__ = ["Cauchy"]


class Cauchy(LocationScale, Distribution):
    """The Cauchy distribution, which has no mean and no variance (NaN). Gradients flow from draws
    to both parameters.

    Parameters
    ----------
    loc, scale : number or ndarray
        Median, and distance of the quartiles from it.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Cauchy(0.0, 1.0).cdf(mx.np.array([0.0]))
    array([0.5])
    """

    def _draw(self, shape):
        # both ends have infinite quantiles
        return self.icdf(np.clip(np.random.uniform(0.0, 1.0, shape), 1e-7, 1 - 1e-7))

    def _log_prob(self, value):
        return -math.log(math.pi) - m.log(self.scale) - m.log1p(((value - self.loc) / self.scale) ** 2)

    def _cdf(self, value):
        return m.arctan((value - self.loc) / self.scale) / math.pi + 0.5

    def _icdf(self, value):
        return self.loc + self.scale * m.tan(math.pi * (value - 0.5))

    @property
    def mean(self):
        return onp.nan

    @property
    def variance(self):
        return onp.nan

    def entropy(self):
        return math.log(4 * math.pi) + m.log(self.scale) + 0 * self.loc
