"""The categorical distribution."""
import numpy as onp

from .. import _functions as m
from .... import numpy as np
from ._chances import Chances
from .constraint import IntegerInterval
from .distribution import Distribution

__all__ = ["Categorical"]


class Categorical(Chances, Distribution):
    """A class number below `num_events`; draws are int64.

    Parameters
    ----------
    num_events : int
    prob, logit : ndarray
        The chances of the classes along the last axis, or their logarithms up to a number that is
        added to all: one of them.
    validate_args : bool, optional

    Examples
    --------
    >>> d = mx.gluon.probability.Categorical(2, prob=mx.np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> d.sample()
    array([1, 0], dtype=int64)
    >>> d = mx.gluon.probability.Categorical(3, logit=mx.np.log(mx.np.array([2.0, 3.0, 5.0])))
    >>> d.prob.round(3), d.log_prob(mx.np.array(2)).round(3), d.entropy().round(3)
    (array([0.2, 0.3, 0.5]), array(-0.693), array(1.03))
    >>> d.support.check(2), d.support.words()
    (2, 'integer and be >= 0 and <= 2.')
    """

    has_enumerate_support = True

    def __init__(self, num_events, prob=None, logit=None, validate_args=None):
        self._take(num_events, prob, logit)
        super().__init__(event_dim=0, validate_args=validate_args)

    @property
    def support(self):
        """Integers below `num_events`."""
        return IntegerInterval(0, self.num_events - 1)

    def _draw(self, shape):
        return draw_classes(self.prob, shape)

    def _log_prob(self, value):
        logs = self._log_chances()
        shape = tuple(onp.broadcast_shapes(m.shape_of(value), tuple(logs.shape[:-1])))
        logs = np.broadcast_to(logs, shape + (self.num_events,))
        # pick wants an axis beside that of the classes
        picked = m.call("pick", (np.expand_dims(logs, 0), np.expand_dims(m.broadcast_to(value, shape), 0)), axis=-1)
        return np.squeeze(picked, axis=0)

    def entropy(self):
        return self._entropy()

    def enumerate_support(self):
        shape = self._batch_shape()
        classes = np.arange(self.num_events, dtype="float32").reshape((self.num_events,) + (1,) * len(shape))
        return np.broadcast_to(classes, (self.num_events,) + shape)


def draw_classes(prob, shape, dtype="int64"):
    """Class numbers of batch shape `shape`, with the chances `prob` that broadcast to it."""
    classes = prob.shape[-1]
    if len(prob.shape) > 1:
        prob = np.broadcast_to(prob, tuple(shape) + (classes,))
        drawn = m.call("_sample_categorical", (prob,))
    else:
        drawn = m.call("_sample_categorical", (prob,), shape=tuple(shape)) if shape else m.call("_sample_categorical", (prob,))
    return drawn.reshape(tuple(shape)).astype(dtype)
