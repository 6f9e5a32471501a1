"""Distributions of transformed draws."""
from ..transformation.transformation import ComposeTransform, Transformation
from .distribution import Distribution
from .utils import sum_right_most

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(x) where x has the base distribution.

    Parameters
    ----------
    base_dist : Distribution
    transforms : Transformation or list of Transformation
        The first one is applied first.
    validate_args : bool, optional

    Examples
    --------
    >>> p = mx.gluon.probability
    >>> d = p.TransformedDistribution(p.Normal(0.0, 1.0), p.ExpTransform())
    >>> d.cdf(mx.np.array([1.0]))
    array([0.5])
    """

    arg_constraints = {}

    def __init__(self, base_dist, transforms, validate_args=None):
        transforms = [transforms] if isinstance(transforms, Transformation) else list(transforms)
        for t in transforms:
            if not isinstance(t, Transformation):
                raise TypeError(f"[TransformedDistribution] got a {type(t).__name__}; accepted: transformations")
        self._base_dist, self._transforms = base_dist, transforms
        event_dim = max([base_dist.event_dim] + [t.event_dim for t in transforms])
        super().__init__(event_dim=event_dim, validate_args=validate_args)
        if not type(self).has_grad:
            self.has_grad = base_dist.has_grad

    def _batch_shape(self):
        return self._base_dist._batch_shape()

    def broadcast_to(self, batch_shape):
        return TransformedDistribution(self._base_dist.broadcast_to(batch_shape), self._transforms)

    def _draw(self, shape):
        return ComposeTransform(self._transforms)(self._base_dist.sample(shape))

    def _log_prob(self, value):
        result = 0.0
        for t in reversed(self._transforms):
            x = t.inv(value)
            result = result - sum_right_most(t.log_det_jacobian(x, value), self.event_dim - t.event_dim)
            value = x
        return result + sum_right_most(self._base_dist.log_prob(value), self.event_dim - self._base_dist.event_dim)

    def _sign(self):
        sign = 1
        for t in self._transforms:
            sign = sign * t.sign
        return sign

    def _cdf(self, value):
        for t in reversed(self._transforms):
            value = t.inv(value)
        return self._sign() * (self._base_dist.cdf(value) - 0.5) + 0.5

    def _icdf(self, value):
        value = self._base_dist.icdf(self._sign() * (value - 0.5) + 0.5)
        return ComposeTransform(self._transforms)(value)

    def __repr__(self):
        if type(self) is TransformedDistribution:
            return f"TransformedDistribution({self._base_dist!r}, {[type(t).__name__ for t in self._transforms]})"
        return super().__repr__()
