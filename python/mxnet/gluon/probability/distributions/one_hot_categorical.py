"""The categorical distribution of one-hot vectors."""
import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ._chances import Chances
from .categorical import draw_classes
from .constraint import Simplex
from .distribution import Distribution

__all__ = ["OneHotCategorical"]


class OneHotCategorical(Chances, Distribution):
    """Vectors with one 1 among zeros.

    Parameters
    ----------
    num_events : int
    prob, logit : ndarray
        The chances of the classes along the last axis, or their logarithms up to a number that is
        added to all: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.OneHotCategorical(2, prob=mx.np.array([0.0, 1.0])).sample()
    array([0., 1.])
    """

    has_enumerate_support = True
    support = Simplex()

    def __init__(self, num_events, prob=None, logit=None, validate_args=None):
        self._take(num_events, prob, logit)
        super().__init__(event_dim=1, validate_args=validate_args)

    def _draw(self, shape):
        classes = draw_classes(self.prob, shape, "float32")
        return m.call("one_hot", (classes,), depth=self.num_events)

    def _log_prob(self, value):
        return np.sum(m.where(value == 0, 0.0, value * self._log_chances()), axis=-1)

    @property
    def mean(self):
        return self.prob

    @property
    def variance(self):
        return self.prob * (1 - self.prob)

    def entropy(self):
        return self._entropy()

    def enumerate_support(self):
        shape, n = self._batch_shape(), self.num_events
        return np.broadcast_to(np.array(onp.eye(n, dtype="float32")).reshape((n,) + (1,) * len(shape) + (n,)), (n,) + shape + (n,))
