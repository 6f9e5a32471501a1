"""The half-normal distribution."""
import math

from .. import _functions as m
from ..transformation.transformation import AbsTransform
from .constraint import NonNegative, Positive
from .distribution import Distribution, where_inside
from .normal import Normal
from .transformed_distribution import TransformedDistribution

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    """The distribution of absolute values of normal draws of mean 0. Gradients flow from draws to
    the scale.

    Parameters
    ----------
    scale : number or ndarray
        The standard deviation of the normal draws.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.HalfNormal(mx.np.array([1.0])).cdf(mx.np.array([0.0]))
    array([0.])
    """

    has_grad = True
    support = NonNegative()
    arg_constraints = {"scale": Positive()}
    _parameters = {"scale": 0}

    def __init__(self, scale=1.0, validate_args=None):
        self.scale = scale
        super().__init__(Normal(0.0, scale), AbsTransform(), validate_args=validate_args)
        self._base_dist = Normal(0.0, self.scale)

    def broadcast_to(self, batch_shape):
        new = Distribution.broadcast_to(self, batch_shape)
        new._base_dist = Normal(0.0, new.scale)
        return new

    @property
    def loc(self):
        """0."""
        return self._base_dist.loc

    def _log_prob(self, value):
        return where_inside(value, value >= 0, 1.0, lambda x: self._base_dist.log_prob(x) + math.log(2))

    def _cdf(self, value):
        return m.where(value >= 0, 2 * self._base_dist.cdf(value) - 1, 0.0)

    def _icdf(self, value):
        return self._base_dist.icdf((value + 1) / 2)

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale ** 2 * (1 - 2 / math.pi)

    def entropy(self):
        return self._base_dist.entropy() - math.log(2)
