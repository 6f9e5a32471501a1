"""Formulas of results: `a * b + 1` writes the ONNX nodes."""
import numpy as np

from ... import _dtypes

__all__ = ["Term", "term"]


class Term:
    """A result in a formula, whose other operands are terms, or numbers in its dtype.

    Attributes: ``name`` in the ONNX graph, ``dtype``.
    """

    __slots__ = ("_c", "name", "dtype")

    def __init__(self, conversion, name, dtype):
        self._c, self.name, self.dtype = conversion, name, dtype

    def _name(self, other):
        return other.name if isinstance(other, Term) else self._c.const(other, self.dtype)

    def op(self, kind, *others, dtype=None, **attrs):
        """The ONNX operator `kind` of this term and others."""
        name = self._c.op(kind, self.name, *map(self._name, others), **attrs)
        return Term(self._c, name, dtype or self.dtype)

    def _turned(self, kind, other):
        return Term(self._c, self._c.op(kind, self._name(other), self.name), self.dtype)

    def __add__(self, other):
        return self.op("Add", other)

    def __sub__(self, other):
        return self.op("Sub", other)

    def __mul__(self, other):
        return self.op("Mul", other)

    def __truediv__(self, other):
        return self.op("Div", other)

    def __rsub__(self, other):
        return self._turned("Sub", other)

    def __rtruediv__(self, other):
        return self._turned("Div", other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self.op("Neg")

    def __lt__(self, other):
        return self.op("Less", other, dtype=np.bool_)

    def __le__(self, other):
        return self.op("LessOrEqual", other, dtype=np.bool_)

    def __gt__(self, other):
        return self.op("Greater", other, dtype=np.bool_)

    def __ge__(self, other):
        return self.op("GreaterOrEqual", other, dtype=np.bool_)

    def same(self, other):
        """Where both are equal."""
        return self.op("Equal", other, dtype=np.bool_)

    def __and__(self, other):
        return self.op("And", other)

    def __or__(self, other):
        return self.op("Or", other)

    def exp(self):
        """e to this power."""
        return self.op("Exp")

    def log(self):
        """The natural logarithm."""
        return self.op("Log")

    def sqrt(self):
        """The square root."""
        return self.op("Sqrt")

    def abs(self):
        """The magnitude."""
        return self.op("Abs")

    def floor(self):
        """The whole number below."""
        return self.op("Floor")

    def where(self, one, other):
        """One of two terms, the first where this truth value says so. One of them may be a
        number."""
        like = one if isinstance(one, Term) else other
        name = self._c.op("Where", self.name, like._name(one), like._name(other))
        return Term(self._c, name, like.dtype)

    def to(self, dtype):
        """In another dtype."""
        name = self.name if _dtypes.number(dtype) == _dtypes.number(self.dtype) \
            else self._c.cast(self.name, dtype)
        return Term(self._c, name, dtype)

    def reduce(self, kind, axes, keepdims=True):
        """A reduction such as "Sum"."""
        return Term(self._c, self._c.reduce(kind, self.name, axes, keepdims), self.dtype)

    def unsqueeze(self, *axes):
        """With axes of size 1."""
        return Term(self._c, self._c.unsqueeze(self.name, *axes), self.dtype)

    def squeeze(self, *axes):
        """Without axes of size 1."""
        return Term(self._c, self._c.squeeze(self.name, *axes), self.dtype)

    def columns(self, begin, end):
        """Part of the last axis."""
        return Term(self._c, self._c.slice(self.name, -1, begin, end), self.dtype)


def term(c, i, dtype=None):
    """Input i of a node, in the dtype `dtype` if it is given."""
    dtype = c.dtype(i) if dtype is None else dtype
    return Term(c, c.input_as(i, dtype), dtype)
