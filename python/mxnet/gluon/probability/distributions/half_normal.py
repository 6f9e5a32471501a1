"""The half-normal distribution."""
import math

from ._families import Half
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
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
    >>> d = mx.gluon.probability.HalfNormal(mx.np.array([1.0]))
    >>> d.loc, d.mean.round(3), (d.sample((1000,)) >= 0).all()
    (0.0, array([0.798]), array(True))
    """

    _whole = Normal

    @property
    def loc(self):
        """0."""
        return self._base_dist.loc

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale ** 2 * (1 - 2 / math.pi)
