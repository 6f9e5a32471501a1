"""What values of parameters and samples may be. ``check(value)`` gives the value back, or a
ValueError when it, or something computed from it, is waited for."""
from numbers import Number

from .... import numpy as np
from .. import _functions as m

__all__ = ["Constraint", "Real", "Boolean", "Interval", "OpenInterval", "HalfOpenInterval", "UnitInterval", "IntegerInterval",
           "IntegerOpenInterval", "IntegerHalfOpenInterval", "GreaterThan", "GreaterThanEq", "IntegerGreaterThan", "IntegerGreaterThanEq",
           "LessThan", "LessThanEq", "IntegerLessThan", "IntegerLessThanEq", "Positive", "NonNegative", "PositiveInteger",
           "NonNegativeInteger", "Simplex", "LowerTriangular", "LowerCholesky", "PositiveDefinite", "Cat", "Stack", "is_dependent",
           "dependent_property"]


class Constraint:
    """A set of values.

    Examples
    --------
    >>> positive = mx.gluon.probability.distributions.constraint.Positive()
    >>> positive.check(2.0)
    2.0
    """

    def holds(self, value):
        """Where `value` is in the set: a bool or an array of bool."""
        raise NotImplementedError

    def words(self):
        """The set in words, behind "should be"."""
        raise NotImplementedError

    def check(self, value):
        """`value`; ValueError where it is not in the set."""
        holds = self.holds(value)
        given = "" if isinstance(holds, bool) and holds else _shown(value)
        ok = m.constraint_check(holds, f"Constraint violated: {given} should be {self.words()}")
        return value if isinstance(value, Number) else value * ok


def _shown(value):
    # what an array holds is not known while a block is traced; a message must not wait for it
    return repr(value) if isinstance(value, Number) else f"an array of shape {tuple(value.shape)}"


class _Dependent(Constraint):
    """A set that other parameters decide."""

    def check(self, value):
        raise ValueError("Cannot validate dependent constraint")


def is_dependent(constraint):
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that is a constraint; on the class, a dependent one."""


dependent_property = _DependentProperty


class Real(Constraint):
    """Numbers; NaN is none."""

    def holds(self, value):
        return value == value   # pylint: disable=comparison-with-itself

    def words(self):
        return "a real tensor"


class Boolean(Constraint):
    """0 and 1."""

    def holds(self, value):
        return (value == 0) + (value == 1) if not isinstance(value, Number) else value in (0, 1)

    def words(self):
        return "either 0 or 1."


class _Range(Constraint):
    """Bounds, which the subclasses' class attributes describe."""

    _low = _high = None       # ">", ">=" and "<", "<="
    _integer = False

    def _bounds(self):
        return getattr(self, "_lower_bound", None), getattr(self, "_upper_bound", None)

    def holds(self, value):
        low, high = self._bounds()
        conditions = []
        if self._low:
            conditions.append(value > low if self._low == ">" else value >= low)
        if self._high:
            conditions.append(value < high if self._high == "<" else value <= high)
        if self._integer:
            conditions.append(m.floor(value) == value)
        result = m.both(*conditions)
        return bool(result) if isinstance(value, Number) and isinstance(result, Number) else result

    def words(self):
        low, high = self._bounds()
        names = {">": "greater than", ">=": "greater than or equal to", "<": "less than", "<=": "less than or equal to"}
        if self._low and self._high:
            text = f"{self._low} {low} and {self._high} {high}."
        else:
            text = f"{names[self._low or self._high]} {low if self._low else high}"
        return "integer and be " + text if self._integer else text


class _Between(_Range):
    def __init__(self, lower_bound, upper_bound):
        self._lower_bound, self._upper_bound = lower_bound, upper_bound


class Interval(_Between):
    """[lower_bound, upper_bound]."""

    _low, _high = ">=", "<="


class OpenInterval(_Between):
    """(lower_bound, upper_bound)."""

    _low, _high = ">", "<"


class HalfOpenInterval(_Between):
    """[lower_bound, upper_bound)."""

    _low, _high = ">=", "<"


class IntegerInterval(Interval):
    """Integers from lower_bound to upper_bound."""

    _integer = True


class IntegerOpenInterval(OpenInterval):
    """Integers between lower_bound and upper_bound, without them."""

    _integer = True


class IntegerHalfOpenInterval(HalfOpenInterval):
    """Integers from lower_bound to before upper_bound."""

    _integer = True


class UnitInterval(Interval):
    """[0, 1]."""

    def __init__(self):
        super().__init__(0, 1)


class _Above(_Range):
    def __init__(self, lower_bound):
        self._lower_bound = lower_bound


class _Below(_Range):
    def __init__(self, upper_bound):
        self._upper_bound = upper_bound


class GreaterThan(_Above):
    """Above lower_bound."""

    _low = ">"


class GreaterThanEq(_Above):
    """lower_bound and above."""

    _low = ">="


class IntegerGreaterThan(GreaterThan):
    """Integers above lower_bound."""

    _integer = True


class IntegerGreaterThanEq(GreaterThanEq):
    """Integers from lower_bound on."""

    _integer = True


class LessThan(_Below):
    """Below upper_bound."""

    _high = "<"


class LessThanEq(_Below):
    """upper_bound and below."""

    _high = "<="


class IntegerLessThan(LessThan):
    """Integers below upper_bound."""

    _integer = True


class IntegerLessThanEq(LessThanEq):
    """Integers up to upper_bound."""

    _integer = True


class Positive(GreaterThan):
    """Above 0."""

    def __init__(self):
        super().__init__(0)


class NonNegative(GreaterThanEq):
    """0 and above."""

    def __init__(self):
        super().__init__(0)


class PositiveInteger(IntegerGreaterThan):
    """Integers from 1 on."""

    def __init__(self):
        super().__init__(0)


class NonNegativeInteger(IntegerGreaterThanEq):
    """Integers from 0 on."""

    def __init__(self):
        super().__init__(0)


class Simplex(Constraint):
    """Vectors in the last axis without negative elements, whose sum is 1."""

    def holds(self, value):
        return m.both(np.min(value, axis=-1) >= 0, abs(np.sum(value, axis=-1) - 1) < 1e-6)

    def words(self):
        return ">= 0 and its rightmost dimension should sum up to 1"


class LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal."""

    def holds(self, value):
        return np.tril(value) == value

    def words(self):
        return "square lower triangular matrices"


class LowerCholesky(LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def holds(self, value):
        diagonal = np.expand_dims(m.diagonal(value), -1)
        return m.both(super().holds(value), diagonal > 0)

    def words(self):
        return "square lower triangular matrices with real and positive diagonal entries"


class PositiveDefinite(Constraint):
    """Symmetric matrices with positive eigenvalues."""

    def holds(self, value):
        symmetric = abs(value - m.transposed(value)) < 1e-5
        eigenvalues = m.call("_linalg_syevd", (value,))[1]
        return m.both(symmetric, np.expand_dims(eigenvalues, -1) > 0)

    def words(self):
        return "positive definite matrices"


class Cat(Constraint):
    """Constraints of consecutive pieces along an axis.

    Parameters
    ----------
    constraint_seq : list of Constraint
    axis : int
        The axis along which the value is cut.
    lengths : list of int
        How long each piece is; 1 where None.
    """

    def __init__(self, constraint_seq, axis=0, lengths=None):
        self._constraints, self._axis = list(constraint_seq), axis
        self._lengths = list(lengths) if lengths is not None else [1] * len(self._constraints)
        if len(self._lengths) != len(self._constraints):
            raise ValueError(f"[Cat] {len(self._constraints)} constraints and {len(self._lengths)} lengths; accepted: as many")

    def check(self, value):
        begins = [sum(self._lengths[:i]) for i in range(len(self._lengths))]
        pieces = [c.check(m.call("slice_axis", (value,), axis=self._axis, begin=b, end=b + n))
                  for c, b, n in zip(self._constraints, begins, self._lengths)]
        return np.concatenate(pieces, axis=self._axis)


class Stack(Constraint):
    """Constraints of the slices along an axis, one for each.

    Parameters
    ----------
    constraint_seq : list of Constraint
    axis : int
    """

    def __init__(self, constraint_seq, axis=0):
        self._constraints, self._axis = list(constraint_seq), axis

    def check(self, value):
        size = value.shape[self._axis]
        if size != len(self._constraints):
            raise ValueError(f"[Stack] {len(self._constraints)} constraints for {size} slices; accepted: as many")
        pieces = [c.check(m.call("slice_axis", (value,), axis=self._axis, begin=i, end=i + 1)) for i, c in enumerate(self._constraints)]
        return np.concatenate(pieces, axis=self._axis)
