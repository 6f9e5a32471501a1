"""What distributions share: attributes that are computed once, chances and log-odds."""
from numbers import Number

from .... import numpy as np
from .. import _functions as m

__all__ = ["prob2logit", "logit2prob", "cached_property", "sample_n_shape_converter", "constraint_check", "digamma", "gammaln", "erf",
           "erfinv"]

_SMALLEST = 1.1920929e-07    # float32's distance of 1 from the next number


def constraint_check():
    """A function (condition, message) that raises ValueError(message) unless the condition, a bool
    or an array, holds everywhere.

    Examples
    --------
    >>> mx.gluon.probability.constraint_check()(True, "no")
    1.0
    """
    return m.constraint_check


def digamma():
    """The digamma function of numbers and arrays.

    Examples
    --------
    >>> round(mx.gluon.probability.digamma()(1.0), 4)
    -0.5772
    """
    return m.digamma


def gammaln():
    """The logarithm of the gamma function, of numbers and arrays.

    Examples
    --------
    >>> round(mx.gluon.probability.gammaln()(5.0), 4)
    3.1781
    """
    return m.gammaln


def erf():
    """The error function of numbers and arrays.

    Examples
    --------
    >>> mx.gluon.probability.erf()(0.0)
    0.0
    """
    return m.erf


def erfinv():
    """The inverse of the error function, of numbers and arrays.

    Examples
    --------
    >>> round(mx.gluon.probability.erfinv()(0.5), 4)
    0.4769
    """
    return m.erfinv


def sample_n_shape_converter(size):
    """What ``sample_n(size)`` was asked for as a ``batch_shape`` of mx.npx: a tuple before which
    -2, "the parameters' shape", stands, or None.

    Examples
    --------
    >>> mx.gluon.probability.sample_n_shape_converter(3)
    (-2, 3)
    """
    if size is None or isinstance(size, (tuple, list)) and not size:
        return None
    return (-2,) + ((size,) if isinstance(size, Number) else tuple(size))


def _clip_prob(prob):
    if isinstance(prob, Number):
        return min(max(prob, _SMALLEST), 1 - _SMALLEST)
    return np.clip(prob, _SMALLEST, 1 - _SMALLEST)


def prob2logit(prob, binary=True):
    """Log-odds of chances, or with ``binary=False`` their logarithms; chances of 0 and 1 count as
    the next float32.

    Examples
    --------
    >>> float(mx.gluon.probability.prob2logit(mx.np.array([0.5])).asnumpy()[0])
    0.0
    """
    clipped = _clip_prob(prob)
    return m.log(clipped) - m.log1p(-clipped) if binary else m.log(clipped)


def logit2prob(logit, binary=True):
    """Chances whose log-odds are `logit`, or with ``binary=False`` the softmax of `logit`.

    Examples
    --------
    >>> float(mx.gluon.probability.logit2prob(mx.np.array([0.0])).asnumpy()[0])
    0.5
    """
    return 1 / (1 + m.exp(-logit)) if binary else m.softmax(logit)


def sum_right_most(x, ndim):
    """The sum over the last `ndim` axes."""
    return np.sum(x, axis=tuple(range(-ndim, 0))) if ndim else x


def check_either(prob, logit):
    """That exactly one of `prob` and `logit` is given."""
    if (prob is None) == (logit is None):
        raise ValueError("Either `prob` or `logit` must be specified, but not both. "
                         f"Received prob={prob}, logit={logit}")


class derived:    # pylint: disable=invalid-name
    """Decorator of methods: an attribute that follows from parameters, unless one of that name is
    set.

    It is computed whenever it is asked for: what autograd recorded once has no gradient later, and
    parameters may be trained meanwhile.
    """

    def __init__(self, func):
        self._function = func
        self.__doc__ = func.__doc__

    def __get__(self, instance, owner=None):
        return self if instance is None else self._function(instance)


class _CachedProperty:
    """An attribute that is computed when it is first asked for, and then kept."""

    def __init__(self, func):
        self._function = func
        self.__doc__ = func.__doc__
        self.__name__ = func.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = instance.__dict__[self.__name__] = self._function(instance)
        return value


class cached_property(_CachedProperty):   # pylint: disable=invalid-name
    """Decorator of methods: the result of the first call, as an attribute.

    Examples
    --------
    >>> class Circle:
    ...     @mx.gluon.probability.cached_property
    ...     def area(self):
    ...         return 3.14
    >>> Circle().area
    3.14
    """
