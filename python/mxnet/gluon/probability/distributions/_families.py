"""What several distributions have alike: parameters, and how they follow from another one."""
import math

from .. import _functions as m
from .constraint import NonNegative, Positive, Real
from .distribution import Distribution, where_inside
from .transformed_distribution import TransformedDistribution
from ..transformation.transformation import AbsTransform


class LocationScale:
    """Parameters of a distribution of all real numbers that is moved by `loc` and stretched by
    `scale`; stands before `Distribution` among the bases."""

    has_grad = True
    support = Real()
    arg_constraints = {"loc": Real(), "scale": Positive()}
    _parameters = {"loc": 0, "scale": 0}

    def __init__(self, loc=0.0, scale=1.0, validate_args=None):
        self.loc, self.scale = loc, scale
        super().__init__(event_dim=0, validate_args=validate_args)


class Half(TransformedDistribution):
    """The distribution of absolute values of draws of `_whole`, a class of distributions that are
    symmetric about their first parameter, which is 0 here."""

    has_grad = True
    support = NonNegative()
    arg_constraints = {"scale": Positive()}
    _parameters = {"scale": 0}
    _whole = None

    def __init__(self, scale=1.0, validate_args=None):
        self.scale = scale
        super().__init__(self._whole(0.0, scale), AbsTransform(), validate_args=validate_args)
        self._base_dist = self._whole(0.0, self.scale)

    def broadcast_to(self, batch_shape):
        new = Distribution.broadcast_to(self, batch_shape)
        new._base_dist = self._whole(0.0, new.scale)
        return new

    def _log_prob(self, value):
        return where_inside(value, value >= 0, 1.0, lambda x: self._base_dist.log_prob(x) + math.log(2))

    def _cdf(self, value):
        return m.where(value >= 0, 2 * self._base_dist.cdf(value) - 1, 0.0)

    def _icdf(self, value):
        return self._base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self._base_dist.entropy() - math.log(2)


class Relaxed(TransformedDistribution):
    """A transformed distribution whose temperature `T` and chances are its base's."""

    has_grad = True

    def _remade(self, base, **given):
        return type(self)(base.T, **given)

    def broadcast_to(self, batch_shape):
        base = self._base_dist.broadcast_to(batch_shape)
        given = {k: base.__dict__[k] for k in ("prob", "logit") if k in base.__dict__}
        return self._remade(base, **dict(list(given.items())[:1]), validate_args=self._validate_args)

    @property
    def T(self):
        """The temperature."""
        return self._base_dist.T

    @property
    def prob(self):
        """The chances."""
        return self._base_dist.prob

    @property
    def logit(self):
        """The chances as logarithms of odds, or of several classes up to a number that is added to
        all."""
        return self._base_dist.logit
