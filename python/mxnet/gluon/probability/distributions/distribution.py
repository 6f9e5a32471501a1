"""The base class of distributions."""
import copy
from numbers import Number

import numpy as onp

from .. import _functions as m
from .constraint import is_dependent
from .utils import _CachedProperty

__all__ = ["Distribution"]


class Distribution:
    """A distribution, or an array of them: its parameters are numbers or mx.np arrays, which
    broadcast to the *batch shape*. One draw of one of them has the *event shape*: () or the last
    ``event_dim`` axes.

    A subclass names its parameters in ``_parameters``, with the number of axes that one value of
    each has, and defines ``_draw(shape)``, ``_log_prob(value)``, ``_cdf(value)`` and
    ``_icdf(value)`` as far as there are formulas; what is missing raises NotImplementedError.

    Attributes
    ----------
    has_grad : bool
        Whether gradients flow from draws to parameters.
    has_enumerate_support : bool
        Whether `enumerate_support` lists the support.
    support : Constraint
        The values that draws have.
    arg_constraints : dict of str to Constraint
        What parameters may be.
    event_dim : int
        Axes of one draw.

    Parameters
    ----------
    event_dim : int, optional
    validate_args : bool, optional
        Whether parameters, and values given to `log_prob` and `cdf`, are checked. The default is
        that of `set_default_validate_args`: they are not.

    Examples
    --------
    >>> constraint = mx.gluon.probability.distributions.constraint
    >>> class Triangle(mx.gluon.probability.Distribution):
    ...     has_grad = True
    ...     _parameters = {'width': 0}
    ...     arg_constraints = {'width': constraint.Positive()}
    ...     support = constraint.NonNegative()
    ...     def __init__(self, width, validate_args=None):
    ...         self.width = width
    ...         super().__init__(event_dim=0, validate_args=validate_args)
    ...     def _draw(self, shape):
    ...         return self.width * mx.np.sqrt(mx.np.random.uniform(size=shape))
    ...     def _log_prob(self, value):
    ...         return mx.np.log(2 * value / self.width ** 2)
    ...     def _cdf(self, value):
    ...         return (value / self.width) ** 2
    ...     def _icdf(self, value):
    ...         return self.width * mx.np.sqrt(value)
    ...     @property
    ...     def mean(self):
    ...         return 2 * self.width / 3
    ...     @property
    ...     def variance(self):
    ...         return self.width ** 2 / 18
    ...     def entropy(self):
    ...         return .5 + mx.np.log(self.width / 2)
    >>> widths = Triangle(mx.np.array([1., 6.]))
    >>> widths.sample().shape, widths.sample((3, 2)).shape, widths.sample_n(3).shape
    ((2,), (3, 2), (3, 2))
    >>> widths.pdf(mx.np.array([.5, 3.])), widths.log_prob(mx.np.array([.5, 3.]))
    (array([1.        , 0.16666666]), array([ 0.       , -1.7917595]))
    >>> widths.cdf(mx.np.array([.5, 3.])), widths.icdf(mx.np.array([.25, .25]))
    (array([0.25, 0.25]), array([0.5, 3. ]))
    >>> widths.mean, widths.variance
    (array([0.6666667, 4.       ]), array([0.05555556, 2.        ]))
    >>> widths.stddev
    array([0.23570226, 1.4142135 ])
    >>> widths.entropy(), widths.perplexity()
    (array([-0.19314718,  1.5986123 ]), array([0.8243606, 4.946164 ]))
    >>> widths.broadcast_to((4, 2)).sample().shape, list(widths.arg_constraints)
    ((4, 2), ['width'])
    """

    has_grad = False
    has_enumerate_support = False
    support = None
    _validate_args = False
    _parameters = {}

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions made afterwards, without `validate_args`, check values.

        >>> mx.gluon.probability.Distribution.set_default_validate_args(True)
        >>> try:
        ...     mx.gluon.probability.Normal(mx.np.array(0.), scale=mx.np.array(-1.)).scale.item()
        ... except mx.MXNetError:
        ...     print('refused when the scale was read')
        ... finally:
        ...     mx.gluon.probability.Distribution.set_default_validate_args(False)
        refused when the scale was read
        """
        if value not in (True, False):
            raise ValueError(f"[set_default_validate_args] got {value!r}; accepted: True, False")
        Distribution._validate_args = value

    def __init__(self, event_dim=None, validate_args=None):
        self.event_dim = event_dim
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__ and not is_dependent(constraint):
                self.__dict__[name] = constraint.check(self.__dict__[name])

    # ---- shapes

    def _given(self):
        """Names and values of the parameters that were given, with the axes of one value."""
        return [(name, self.__dict__[name], dims) for name, dims in self._parameters.items() if name in self.__dict__]

    def _batch_shape(self):
        shapes = [m.shape_of(value) for _, value, _ in self._given()]
        shapes = [s[:len(s) - dims] for s, (_, _, dims) in zip(shapes, self._given())]
        return tuple(onp.broadcast_shapes(*shapes)) if shapes else ()

    def broadcast_to(self, batch_shape):
        """The same distribution with its parameters broadcast to a batch shape."""
        new = copy.copy(self)
        for name in list(new.__dict__):    # what was computed of the parameters
            if name not in self._parameters and isinstance(getattr(type(self), name, None), _CachedProperty):
                del new.__dict__[name]
        for name, value, dims in self._given():
            shape = m.shape_of(value)
            new.__dict__[name] = m.broadcast_to(value, tuple(batch_shape) + shape[len(shape) - dims:])
        return new

    def _lacks(self, name):
        kind = type(self).__name__
        return NotImplementedError(f"[{kind}] {name} has no formula for this distribution; accepted: one that has it, or draws of sample()")

    # ---- draws

    def _draw(self, shape):
        raise self._lacks("sample")

    def sample(self, size=None):
        """Draws of batch shape `size`, to which the parameters broadcast; None or (): of their own
        batch shape."""
        return self._draw((() if size is None else _as_tuple(size)) or self._batch_shape())

    def sample_n(self, size=None):
        """Draws of shape `size` from each distribution of the batch: the result's batch shape is
        `size` and then the parameters'."""
        return self._draw((() if size is None else _as_tuple(size)) + self._batch_shape())

    # ---- densities

    def _log_prob(self, value):
        raise self._lacks("log_prob")

    def _cdf(self, value):
        raise self._lacks("cdf")

    def _icdf(self, value):
        raise self._lacks("icdf")

    def log_prob(self, value):
        """The logarithm of the density, or of the probability of a discrete value; -inf outside of
        the support."""
        return self._log_prob(self._checked(value))

    def pdf(self, value):
        """The density, or the probability of a discrete value."""
        return m.exp(self.log_prob(value))

    def cdf(self, value):
        """The probability of values up to `value`."""
        return self._cdf(self._checked(value))

    def icdf(self, value):
        """The inverse of `cdf`: the quantile of probability `value`."""
        return self._icdf(value)

    @property
    def arg_constraints(self):
        """What parameters may be, by name."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean, of batch shape and event shape."""
        raise self._lacks("mean")

    @property
    def variance(self):
        """The variance, of batch shape and event shape."""
        raise self._lacks("variance")

    @property
    def stddev(self):
        """The standard deviation."""
        return m.sqrt(self.variance)

    def entropy(self):
        """The entropy in nats, of batch shape."""
        raise self._lacks("entropy")

    def perplexity(self):
        """The exponential of the entropy."""
        return m.exp(self.entropy())

    def enumerate_support(self):
        """All values of the support, along a new first axis.

        >>> mx.gluon.probability.Categorical(3, prob=mx.np.array([.2, .3, .5])).enumerate_support()
        array([0., 1., 2.])
        """
        raise self._lacks("enumerate_support")

    def _checked(self, value):
        return self._validate_samples(value) if self._validate_args else value

    def _validate_samples(self, value):
        """`value`, checked against the support."""
        return value if self.support is None else self.support.check(value)

    def __repr__(self):
        shown = (f"{name}: {value!r}" if isinstance(value, Number) else f"{name}: shape {tuple(value.shape)}"
                 for name, value, _ in self._given())
        return f"{type(self).__name__}({', '.join(shown)})"


def _as_tuple(size):
    return (int(size),) if isinstance(size, (Number, onp.integer)) else tuple(size)


def where_inside(value, inside, safe, density):
    """density(value) where `inside`, -inf elsewhere; gradients do not meet what the formula makes
    of values outside: it sees `safe` there."""
    return m.where(inside, density(m.where(inside, value, safe)), -onp.inf)
