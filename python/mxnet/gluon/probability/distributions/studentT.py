"""Student's t distribution."""
import math

import numpy as onp

from .. import _functions as m
from .... import numpy as np
from .constraint import Positive, Real
from .distribution import Distribution

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution.

    Parameters
    ----------
    df, loc, scale : number or ndarray
        Degrees of freedom, center and scale. Without more than 1 degree the mean is NaN, without
        more than 2 the variance is infinite, without more than 1 NaN.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.StudentT(mx.np.array([4.0])).variance
    array([2.])
    """

    has_grad = True
    support = Real()
    arg_constraints = {"df": Positive(), "loc": Real(), "scale": Positive()}
    _parameters = {"df": 0, "loc": 0, "scale": 0}

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = df, loc, scale
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        normal = np.random.normal(0.0, 1.0, shape)
        return self.loc + self.scale * normal * m.sqrt(self.df / np.random.chisquare(self.df, shape))

    def _log_prob(self, value):
        z = (value - self.loc) / self.scale
        half = self.df / 2
        return (m.gammaln(half + 0.5) - m.gammaln(half) - 0.5 * m.log(self.df * math.pi) - m.log(self.scale)
                - (half + 0.5) * m.log1p(z ** 2 / self.df))

    @property
    def mean(self):
        return m.where(self.df > 1, self.loc + 0 * self.df, onp.nan)

    @property
    def variance(self):
        df = m.where(self.df > 2, self.df, 3.0)
        return m.where(self.df > 2, self.scale ** 2 * df / (df - 2), m.where(self.df > 1, 0 * self.df + onp.inf, onp.nan))

    def entropy(self):
        half = self.df / 2
        return (m.log(self.scale) + 0 * self.loc + (half + 0.5) * (m.digamma(half + 0.5) - m.digamma(half))
                + 0.5 * m.log(self.df) + m.lbeta(half, 0.5))
