"""The Weibull distribution."""
import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ..transformation.transformation import AffineTransform, PowerTransform
from .constraint import NonNegative, Positive
from .distribution import Distribution, where_inside
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The Weibull distribution. Gradients flow from draws to both parameters.

    Parameters
    ----------
    concentration, scale : number or ndarray
        Shape and scale.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Weibull(mx.np.array([1.0]), 2.0).mean
    array([2.])
    >>> d = mx.gluon.probability.Weibull(mx.np.array([1.0, 2.0]), 2.0)
    >>> d.cdf(mx.np.array([2.0, 2.0])).round(3), d.broadcast_to((5, 2)).sample().shape
    (array([0.632, 0.632]), (5, 2))
    """

    has_grad = True
    support = NonNegative()
    arg_constraints = {"scale": Positive(), "concentration": Positive()}
    _parameters = {"concentration": 0, "scale": 0}

    def __init__(self, concentration, scale=1.0, validate_args=None):
        self.concentration, self.scale = concentration, scale
        super().__init__(Exponential(1.0), [PowerTransform(1 / concentration), AffineTransform(0.0, scale)], validate_args=validate_args)

    _batch_shape = Distribution._batch_shape
    broadcast_to = Distribution.broadcast_to

    def _draw(self, shape):
        return self.scale * np.random.weibull(self.concentration, shape)

    def _log_prob(self, value):
        k = self.concentration
        return where_inside(value, value > 0, 1.0,
                            lambda x: m.log(k / self.scale) + (k - 1) * m.log(x / self.scale) - (x / self.scale) ** k)

    def _cdf(self, value):
        inside = value > 0
        return m.where(inside, -m.expm1(-(m.where(inside, value, 1.0) / self.scale) ** self.concentration), 0.0)

    def _icdf(self, value):
        return self.scale * (-m.log1p(-value)) ** (1 / self.concentration)

    @property
    def mean(self):
        return self.scale * m.exp(m.gammaln(1 + 1 / self.concentration))

    @property
    def variance(self):
        return self.scale ** 2 * (m.exp(m.gammaln(1 + 2 / self.concentration)) - m.exp(2 * m.gammaln(1 + 1 / self.concentration)))

    def entropy(self):
        return onp.euler_gamma * (1 - 1 / self.concentration) + m.log(self.scale / self.concentration) + 1
