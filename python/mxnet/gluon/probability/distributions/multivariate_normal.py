"""The normal distribution of vectors."""
import math

import numpy as onp

from .. import _functions as m
from .... import numpy as np
from .constraint import LowerCholesky, PositiveDefinite, Real
from .distribution import Distribution
from .utils import derived

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """The normal distribution of vectors. Gradients flow from draws to all parameters.

    Parameters
    ----------
    loc : ndarray
        Means, along the last axis.
    cov, precision, scale_tril : ndarray
        The covariance matrix, its inverse, or its lower triangular factor, in the last two axes:
        one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> d = mx.gluon.probability.MultivariateNormal(mx.np.zeros(2), cov=mx.np.array([[4.0, 0.0], [0.0, 9.0]]))
    >>> d.scale_tril
    array([[2., 0.],
           [0., 3.]])
    >>> d.precision.round(3)
    array([[0.25 , 0.   ],
           [0.   , 0.111]])
    >>> d = mx.gluon.probability.MultivariateNormal(mx.np.zeros(2), scale_tril=d.scale_tril)
    >>> d.cov, d.variance
    (array([[4., 0.],
           [0., 9.]]), array([4., 9.]))
    >>> d.log_prob(mx.np.array([[0.0, 0.0], [2.0, 3.0]])).round(3), d.sample((5,)).shape
    (array([-3.63, -4.63]), (5, 2))
    """

    has_grad = True
    support = Real()
    arg_constraints = {"loc": Real(), "cov": PositiveDefinite(), "precision": PositiveDefinite(), "scale_tril": LowerCholesky()}
    _parameters = {"loc": 1, "cov": 2, "precision": 2, "scale_tril": 2}

    def __init__(self, loc, cov=None, precision=None, scale_tril=None, validate_args=None):
        given = {k: v for k, v in (("cov", cov), ("precision", precision), ("scale_tril", scale_tril)) if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of `cov` or `precision` or `scale_tril` may be specified")
        self.loc = loc
        self.__dict__.update(given)
        super().__init__(event_dim=1, validate_args=validate_args)

    @derived
    def cov(self):
        """The covariance matrix."""
        if "precision" in self.__dict__:
            return m.inverse(self.precision)
        return m.matmul(self.scale_tril, m.transposed(self.scale_tril))

    @derived
    def precision(self):
        """The inverse of the covariance matrix."""
        return m.inverse(self.cov)

    @derived
    def scale_tril(self):
        """The lower triangular factor of the covariance matrix."""
        return m.cholesky(self.cov)

    def _draw(self, shape):
        noise = np.random.normal(0.0, 1.0, tuple(shape) + (self.loc.shape[-1], 1), dtype=onp.dtype(self.loc.dtype).name)
        return self.loc + np.squeeze(m.matmul(self.scale_tril, noise), axis=-1)

    def _log_prob(self, value):
        away, factor, size = value - self.loc, self.scale_tril, self.loc.shape[-1]
        batch = tuple(onp.broadcast_shapes(tuple(away.shape[:-1]), tuple(factor.shape[:-2])))
        away = np.broadcast_to(away, batch + (size,))
        factor = np.broadcast_to(factor, batch + (size, size))
        z = np.squeeze(m.solve_lower(factor, np.expand_dims(away, -1)), axis=-1)
        return -0.5 * np.sum(z ** 2, axis=-1) - self._half_log_det(factor) - 0.5 * size * math.log(2 * math.pi)

    @staticmethod
    def _half_log_det(factor):
        return np.sum(m.log(m.diagonal(factor)), axis=-1)

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return m.diagonal(self.cov) + 0 * self.loc

    def entropy(self):
        constant = 0.5 * self.loc.shape[-1] * (1 + math.log(2 * math.pi))
        return self._half_log_det(self.scale_tril) + constant + 0 * np.sum(self.loc, axis=-1)
