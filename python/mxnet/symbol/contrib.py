"""Contributed operators as functions of symbols."""
import math as _math

from . import _control_flow
from ._functions import attach as _attach

foreach, while_loop, cond = _control_flow.foreach, _control_flow.while_loop, _control_flow.cond
_getattr, __dir__ = _attach(__name__, "_contrib_")


def __getattr__(name):
    return _getattr(name)


def rand_zipfian(true_classes, num_sampled, range_max):
    """Draws classes by an approximately log-uniform (Zipfian) distribution, see
    :func:`mxnet.ndarray.contrib.rand_zipfian`.

    Returns three symbols: the samples (int64), the expected counts of `true_classes` and of the
    samples (float64).
    """
    from . import cast, exp, log, random
    log_range = _math.log(range_max + 1)
    sampled = cast(exp(random.uniform(0, log_range, shape=(num_sampled,), dtype="float64")) - 1, dtype="int64") % range_max

    def expected(classes):
        classes = cast(classes, dtype="float64")
        return log((classes + 2) / (classes + 1)) / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)
