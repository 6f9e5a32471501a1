"""The F distribution."""
import numpy as onp

from .. import _functions as m
from .... import numpy as np
from .constraint import Positive
from .distribution import Distribution, where_inside

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The F distribution (of Fisher and Snedecor).

    Parameters
    ----------
    df1, df2 : number or ndarray
        Degrees of freedom above and below. The mean is NaN unless df2 > 2, the variance unless
        df2 > 4.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.FisherSnedecor(mx.np.array([3.0]), 6.0).mean
    array([1.5])
    """

    has_grad = True
    support = Positive()
    arg_constraints = {"df1": Positive(), "df2": Positive()}
    _parameters = {"df1": 0, "df2": 0}

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = df1, df2
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return np.random.f(self.df1, self.df2, shape)

    def _log_prob(self, value):
        half1, half2, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        return where_inside(value, value > 0, 1.0, lambda x: half1 * m.log(ratio) + (half1 - 1) * m.log(x)
                            - (half1 + half2) * m.log1p(ratio * x) - m.lbeta(half1, half2))

    @property
    def mean(self):
        df2 = m.where(self.df2 > 2, self.df2, 3.0)
        return m.where(self.df2 > 2, df2 / (df2 - 2), onp.nan) + 0 * self.df1

    @property
    def variance(self):
        df2 = m.where(self.df2 > 4, self.df2, 5.0)
        return m.where(self.df2 > 4, 2 * df2 ** 2 * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2) ** 2 * (df2 - 4)), onp.nan)
