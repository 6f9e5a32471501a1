"""The Dirichlet distribution."""
from .. import _functions as m
from .... import numpy as np
from .constraint import Positive, Simplex
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution of vectors whose sum is 1.

    Parameters
    ----------
    alpha : ndarray
        Concentrations, along the last axis.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Dirichlet(mx.np.array([1.0, 3.0])).mean
    array([0.25, 0.75])
    """

    has_grad = True
    support = Simplex()
    arg_constraints = {"alpha": Positive()}
    _parameters = {"alpha": 1}

    def __init__(self, alpha, validate_args=None):
        self.alpha = alpha
        super().__init__(event_dim=1, validate_args=validate_args)

    def _draw(self, shape):
        # in float64, where sums of small numbers are rarely 0
        draws = np.random.gamma(self.alpha, 1.0, tuple(shape) + tuple(self.alpha.shape[-1:]), dtype="float64")
        return (draws / np.sum(draws, axis=-1, keepdims=True)).astype(self.alpha.dtype)

    def _log_prob(self, value):
        return (np.sum(m.xlogy(self.alpha - 1, value), axis=-1) + m.gammaln(np.sum(self.alpha, axis=-1))
                - np.sum(m.gammaln(self.alpha), axis=-1))

    @property
    def mean(self):
        return self.alpha / np.sum(self.alpha, axis=-1, keepdims=True)

    @property
    def variance(self):
        total = np.sum(self.alpha, axis=-1, keepdims=True)
        return self.alpha * (total - self.alpha) / (total ** 2 * (total + 1))

    def entropy(self):
        total, classes = np.sum(self.alpha, axis=-1), self.alpha.shape[-1]
        return (np.sum(m.gammaln(self.alpha), axis=-1) - m.gammaln(total) + (total - classes) * m.digamma(total)
                - np.sum((self.alpha - 1) * m.digamma(self.alpha), axis=-1))
