"""The Pareto distribution."""
import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ..transformation.transformation import AffineTransform, ExpTransform
from .constraint import GreaterThanEq, Positive, dependent_property
from .distribution import Distribution, where_inside
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """The Pareto distribution. Gradients flow from draws to both parameters.

    Parameters
    ----------
    alpha, scale : number or ndarray
        Shape, and the smallest value. Up to alpha 1 the mean is infinite, up to 2 the variance.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Pareto(mx.np.array([3.0]), 2.0).mean
    array([3.])
    >>> d = mx.gluon.probability.Pareto(3.0, mx.np.array([2.0, 4.0]))
    >>> d.broadcast_to((5, 2)).sample().shape
    (5, 2)
    >>> mx.gluon.probability.Pareto(3.0, 2.0).support.words()
    'greater than or equal to 2.0'
    """

    has_grad = True
    arg_constraints = {"scale": Positive(), "alpha": Positive()}
    _parameters = {"alpha": 0, "scale": 0}

    def __init__(self, alpha, scale=1.0, validate_args=None):
        self.alpha, self.scale = alpha, scale
        super().__init__(Exponential(1 / alpha), [ExpTransform(), AffineTransform(0.0, scale)], validate_args=validate_args)

    _batch_shape = Distribution._batch_shape
    broadcast_to = Distribution.broadcast_to

    @dependent_property
    def support(self):
        """Values from `scale` on."""
        return GreaterThanEq(self.scale)

    def _draw(self, shape):
        return self.scale * (1 + np.random.pareto(self.alpha, shape))

    def _log_prob(self, value):
        return where_inside(value, value >= self.scale, self.scale,
                            lambda x: m.log(self.alpha) + self.alpha * m.log(self.scale / x) - m.log(x))

    def _cdf(self, value):
        return -m.expm1(self.alpha * m.log(self.scale / m.where(value >= self.scale, value, self.scale)))

    def _icdf(self, value):
        return self.scale * m.exp(-m.log1p(-value) / self.alpha)

    @property
    def mean(self):
        alpha = m.where(self.alpha > 1, self.alpha, 2.0)
        return m.where(self.alpha > 1, alpha * self.scale / (alpha - 1), onp.inf)

    @property
    def variance(self):
        alpha = m.where(self.alpha > 2, self.alpha, 3.0)
        return m.where(self.alpha > 2, self.scale ** 2 * alpha / ((alpha - 1) ** 2 * (alpha - 2)), onp.inf)

    def entropy(self):
        return m.log(self.scale / self.alpha) + 1 / self.alpha + 1
