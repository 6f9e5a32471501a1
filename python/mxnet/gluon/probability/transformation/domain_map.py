"""Transformations from all real numbers to what a constraint allows."""
from numbers import Number

from ..distributions import constraint as _constraint
from .transformation import AffineTransform, ComposeTransform, ExpTransform, SigmoidTransform, SoftmaxTransform

__all__ = ["domain_map", "biject_to", "transform_to"]


class domain_map:   # pylint: disable=invalid-name
    """A registry of functions that make a transformation for a constraint.

    Examples
    --------
    >>> p = mx.gluon.probability
    >>> t = p.biject_to(p.distributions.constraint.Positive())
    >>> t(mx.np.array([0.0]))
    array([1.])
    """

    def __init__(self):
        self._storage = {}

    def register(self, constraint, factory=None):
        """Registers `factory` (constraint -> Transformation) for a class of constraints; without
        `factory`, a decorator. Raises TypeError for anything but a Constraint or its class.

        >>> p = mx.gluon.probability
        >>> class Negative(p.distributions.constraint.LessThan):
        ...     def __init__(self):
        ...         super().__init__(0)
        >>> @p.biject_to.register(Negative)
        ... def _(constraint):
        ...     return p.ComposeTransform([p.ExpTransform(), p.AffineTransform(0, -1)])
        >>> p.biject_to(Negative())(mx.np.array([0.0]))
        array([-1.])
        """
        if factory is None:
            return lambda f: self.register(constraint, f)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, _constraint.Constraint):
            raise TypeError(f"[domain_map] got {constraint!r}; accepted: a Constraint or its class")
        self._storage[kind] = factory
        return factory

    def __call__(self, constraint):
        for kind in type(constraint).__mro__:
            if kind in self._storage:
                return self._storage[kind](constraint)
        raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


biject_to = domain_map()
transform_to = domain_map()


def _for_both(*kinds):
    def decorate(factory):
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory
    return decorate


@_for_both(_constraint.Real)
def _real(_):
    return ComposeTransform([])


@_for_both(_constraint.Positive, _constraint.NonNegative)
def _positive(_):
    return ExpTransform()


@_for_both(_constraint.GreaterThan, _constraint.GreaterThanEq)
def _above(constraint):
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._lower_bound, 1)])


@_for_both(_constraint.LessThan, _constraint.LessThanEq)
def _below(constraint):
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._upper_bound, -1)])


@_for_both(_constraint.Interval, _constraint.HalfOpenInterval, _constraint.OpenInterval)
def _between(constraint):
    low, high = constraint._lower_bound, constraint._upper_bound
    if isinstance(low, Number) and isinstance(high, Number) and low == 0 and high == 1:
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


@transform_to.register(_constraint.Simplex)
def _simplex(_):
    return SoftmaxTransform()


def _refuse(constraint):
    raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


for _name in ("IntegerGreaterThan", "IntegerGreaterThanEq", "IntegerLessThan", "IntegerLessThanEq", "IntegerInterval",
              "IntegerOpenInterval", "IntegerHalfOpenInterval"):
    _for_both(getattr(_constraint, _name))(_refuse)
