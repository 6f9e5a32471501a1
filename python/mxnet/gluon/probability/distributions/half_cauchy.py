"""The half-Cauchy distribution."""
import numpy as onp

from ._families import Half
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The distribution of absolute values of Cauchy draws of median 0; its mean and variance are
    infinite. Gradients flow from draws to the scale.

    Parameters
    ----------
    scale : number or ndarray
        The median.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.HalfCauchy(mx.np.array([2.0])).cdf(mx.np.array([2.0]))
    array([0.5])
    """

    _whole = Cauchy

    @property
    def mean(self):
        return 0 * self.scale + onp.inf

    @property
    def variance(self):
        return 0 * self.scale + onp.inf
