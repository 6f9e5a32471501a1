"""Distributions whose parameter is given as chances or as log-odds; the other is computed."""
from numbers import Integral, Number

from .. import _functions as m
from .... import numpy as np
from .constraint import Interval, Real, Simplex
from .utils import check_either, derived, logit2prob, prob2logit


class _Either:
    """`prob` or `logit`, whichever was given; the other one follows."""

    _binary = None      # of one of two outcomes, or of several classes

    def _take(self, prob, logit):
        check_either(prob, logit)
        if prob is None:
            self.logit = logit
        else:
            self.prob = prob

    @derived
    def prob(self):
        """Chances."""
        return logit2prob(self.logit, self._binary)

    @derived
    def logit(self):
        """Logarithms of odds; of several classes, logarithms of the chances, as given or of
        `prob`."""
        return prob2logit(self.prob, self._binary)


class Chance(_Either):
    """`prob` or `logit` of each element: of one of two outcomes."""

    _parameters = {"prob": 0, "logit": 0}
    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}
    _binary = True

    def _softplus(self, sign):
        """-log(1 - prob) for sign 1, -log(prob) for sign -1."""
        return m.softplus(sign * self.logit)


class Chances(_Either):
    """`prob` or `logit` of several classes, along the last axis. Logits are logarithms of chances
    up to a number that is added to all of them."""

    _parameters = {"prob": 1, "logit": 1}
    arg_constraints = {"prob": Simplex(), "logit": Real()}
    _binary = False

    def _take(self, num_events, prob, logit):   # pylint: disable=arguments-differ
        super()._take(prob, logit)
        if not isinstance(num_events, Number) or num_events <= 0:
            raise ValueError(f"`num_events` should be greater than zero. Received num_events={num_events}")
        self.num_events = int(num_events)

    def _log_chances(self):
        return m.log_softmax(self.logit)

    def _entropy(self):
        logs = self._log_chances()
        return -np.sum(m.exp(logs) * logs, axis=-1)


def check_count(n, name="n"):
    """That a number of trials is an integer from 0 on, if it is a number."""
    if isinstance(n, Number) and (not isinstance(n, Integral) and n != int(n) or n < 0):
        raise ValueError(f"Expect `{name}` to be non-negative integer, received {name}={n}")
