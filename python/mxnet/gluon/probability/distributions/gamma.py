"""The gamma distribution."""
from .. import _functions as m
from .... import numpy as np
from .constraint import Positive
from .distribution import where_inside
from .exp_family import ExponentialFamily

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution.

    Parameters
    ----------
    shape, scale : number or ndarray
        The mean is their product.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Gamma(mx.np.array([2.0]), 3.0).variance
    array([18.])
    """

    has_grad = True
    support = Positive()
    arg_constraints = {"shape": Positive(), "scale": Positive()}
    _parameters = {"shape": 0, "scale": 0}

    def __init__(self, shape, scale=1.0, validate_args=None):
        self.shape, self.scale = shape, scale
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return np.random.gamma(self.shape, self.scale, shape)

    def _log_prob(self, value):
        return where_inside(value, value > 0, 1.0, lambda x: (self.shape - 1) * m.log(x) - x / self.scale - self.shape * m.log(self.scale)
                            - m.gammaln(self.shape))

    @property
    def mean(self):
        return self.shape * self.scale

    @property
    def variance(self):
        return self.shape * self.scale ** 2

    def entropy(self):
        return self.shape + m.log(self.scale) + m.gammaln(self.shape) + (1 - self.shape) * m.digamma(self.shape)

    @property
    def _natural_params(self):
        return self.shape - 1, -1 / self.scale
