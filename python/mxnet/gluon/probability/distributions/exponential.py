"""The exponential distribution."""
from .. import _functions as m
from .... import numpy as np
from .constraint import NonNegative, Positive
from .distribution import where_inside
from .exp_family import ExponentialFamily
from .utils import derived

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """The exponential distribution. Gradients flow from draws to the scale.

    Parameters
    ----------
    scale : number or ndarray
        The mean.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Exponential(mx.np.array([2.0])).log_prob(mx.np.array([-1.0]))
    array([-inf])
    >>> d = mx.gluon.probability.Exponential(scale=mx.np.array([1.0, 4.0]))
    >>> d.rate, d.icdf(d.cdf(mx.np.array([3.0, 3.0]))).round(3)
    (array([1.  , 0.25]), array([3., 3.]))
    """

    has_grad = True
    support = NonNegative()
    arg_constraints = {"scale": Positive()}
    _parameters = {"scale": 0}

    def __init__(self, scale=1.0, validate_args=None):
        self.scale = scale
        super().__init__(event_dim=0, validate_args=validate_args)

    @derived
    def rate(self):
        """1 / scale."""
        return 1 / self.scale

    def _draw(self, shape):
        return np.random.exponential(self.scale, shape)

    def _log_prob(self, value):
        return where_inside(value, value >= 0, 1.0, lambda x: -x / self.scale - m.log(self.scale))

    def _cdf(self, value):
        return -m.expm1(-m.where(value >= 0, value, 0.0) / self.scale)

    def _icdf(self, value):
        return -self.scale * m.log1p(-value)

    @property
    def mean(self):
        return self.scale

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.scale ** 2

    def entropy(self):
        return 1 + m.log(self.scale)

    @property
    def _natural_params(self):
        return (-1 / self.scale,)

    def _log_normalizer(self, x):
        return -m.log(-x)
