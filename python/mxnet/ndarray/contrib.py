"""Contributed operators as functions of arrays."""
import math as _math

import numpy as _numpy

from ..context import current_context as _current_context
from . import _control_flow
from .._operators.functions import attach as _attach
from .._operators.functions import ndarray_function as _ndarray_function
from ._updates import *

foreach, while_loop, cond = _control_flow.foreach, _control_flow.while_loop, _control_flow.cond
_getattr, __dir__ = _attach(__name__, "_contrib_", _ndarray_function)


def __getattr__(name):
    return _getattr(name)


def isnan(data):
    """1 where an element is not a number, 0 elsewhere, in the dtype of `data`.

    >>> mx.nd.contrib.isnan(mx.nd.array([1, float('nan')])).asnumpy().tolist()
    [0.0, 1.0]
    """
    return data != data   # pylint: disable=comparison-with-itself


def isinf(data):
    """1 where an element is an infinity of either sign, 0 elsewhere, in the dtype of `data`.

    >>> mx.nd.contrib.isinf(mx.nd.array([1, float('inf'), float('nan')])).asnumpy()
    array([0., 1., 0.], dtype=float32)
    """
    if not _numpy.issubdtype(data.dtype, _numpy.floating) and data.dtype != "bfloat16":
        return data != data   # pylint: disable=comparison-with-itself
    return abs(data) == _numpy.inf


def isfinite(data):
    """1 where an element is neither infinite nor NaN, 0 elsewhere, in the dtype of `data`.

    >>> mx.nd.contrib.isfinite(mx.nd.array([1, float('inf'), float('nan')])).asnumpy()
    array([1., 0., 0.], dtype=float32)
    """
    return (isnan(data) + isinf(data)) == 0


def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Draws classes by an approximately log-uniform (Zipfian) distribution: ``P(c) = log((c + 2) /
    (c + 1)) / log(range_max + 1)``.

    Parameters
    ----------
    true_classes : NDArray
        Classes, of any shape, whose expected counts are wanted.
    num_sampled : int
        How many classes to draw (with replacement).
    range_max : int
        Classes are 0, ..., range_max - 1.
    ctx : Context, optional
        Where to draw; the current context if None.

    Returns
    -------
    list of NDArray
        The sampled classes (int64, shape (num_sampled,)), the expected counts of `true_classes` and
        of the samples (float64).

    Examples
    --------
    >>> drawn, expected_true, expected_drawn = mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 4, 5)
    >>> drawn.shape, expected_true.shape
    ((4,), (1,))
    """
    from . import cast, random
    ctx = ctx or _current_context()
    log_range = _math.log(range_max + 1)
    sampled = cast(random.uniform(0, log_range, shape=(num_sampled,), dtype="float64", ctx=ctx).exp() - 1, dtype="int64") % range_max

    def expected(classes):
        classes = cast(classes.as_in_context(ctx), dtype="float64")
        return ((classes + 2) / (classes + 1)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)
