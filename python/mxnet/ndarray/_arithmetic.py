"""Two-operand functions: arrays with arrays or numbers."""
import numbers

import numpy as np

from .._binding import NDArrayBase
from .._operators.methods import ARITHMETIC
from ._native import _call

__all__ = ["add", "subtract", "multiply", "divide", "true_divide", "modulo", "power",
           "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "lesser",
           "lesser_equal", "logical_and", "logical_or", "logical_xor"]


def _is_number(value):
    return isinstance(value, (numbers.Real, np.bool_)) or getattr(value, "ndim", None) == 0 and value.dtype.kind in "biuf"


def _of_numbers(result):
    """A result of two numbers as Python's number; comparisons give 0 or 1."""
    return int(result) if result.dtype.kind == "b" else result.item()


def _two(name, doc, values, number, result):
    """The function `name` of two arrays or numbers. The example in its docstring is that of an
    array with these values and a number."""
    row = next(row for row in ARITHMETIC if name in row.functions)

    def function(lhs, rhs):
        if isinstance(lhs, NDArrayBase):
            if isinstance(rhs, NDArrayBase):
                return _call(row.arrays, (lhs, rhs))
            if _is_number(rhs):
                return _call(row.number, (lhs,), scalar=float(rhs))
        elif isinstance(rhs, NDArrayBase) and _is_number(lhs):
            return _call(row.left, (rhs,), scalar=float(lhs))
        elif _is_number(lhs) and _is_number(rhs):
            return _of_numbers(getattr(np, row.ufuncs[0])(lhs, rhs))
        raise TypeError(f"[{name}] got {type(lhs).__name__} and {type(rhs).__name__}; accepted: NDArrays and numbers")
    function.__name__ = name
    function.__doc__ = f"""{doc} Shapes are broadcast; either side may be a number.

    >>> mx.nd.{name}(mx.nd.array({values}), {number}).asnumpy()
    array({result}, dtype=float32)
    """
    return function


add = _two("add", "Sum.", "[1, 2]", 10, "[11., 12.]")
subtract = _two("subtract", "Difference.", "[1, 2]", 10, "[-9., -8.]")
multiply = _two("multiply", "Product.", "[1, 2]", 10, "[10., 20.]")
divide = _two("divide", "Quotient.", "[1, 2]", 10, "[0.1, 0.2]")
true_divide = _two("true_divide", "Quotient.", "[1, 2]", 10, "[0.1, 0.2]")
modulo = _two("modulo", "Remainder with the divisor's sign.", "[7, -7]", 3, "[1., 2.]")
_power = _two("power", "`lhs` to the power `rhs`.", "[1, 2]", 3, "[1., 8.]")
maximum = _two("maximum", "Larger value.", "[1, 5]", 3, "[3., 5.]")
minimum = _two("minimum", "Smaller value.", "[1, 5]", 3, "[1., 3.]")
equal = _two("equal", "1 where equal, else 0.", "[1, 2]", 2, "[0., 1.]")
not_equal = _two("not_equal", "1 where different, else 0.", "[1, 2]", 2, "[1., 0.]")
greater = _two("greater", "1 where `lhs` is larger, else 0.", "[1, 2, 3]", 2, "[0., 0., 1.]")
greater_equal = _two("greater_equal", "1 where `lhs` is not smaller, else 0.", "[1, 2, 3]", 2, "[0., 1., 1.]")
lesser = _two("lesser", "1 where `lhs` is smaller, else 0.", "[1, 2, 3]", 2, "[1., 0., 0.]")
lesser_equal = _two("lesser_equal", "1 where `lhs` is not larger, else 0.", "[1, 2, 3]", 2, "[1., 1., 0.]")
logical_and = _two("logical_and", "1 where both are non-zero, else 0.", "[0, 2]", 1, "[0., 1.]")
logical_or = _two("logical_or", "1 where one is non-zero, else 0.", "[0, 2]", 1, "[1., 1.]")
logical_xor = _two("logical_xor", "1 where exactly one is non-zero, else 0.", "[0, 2]", 1, "[1., 0.]")


def power(base, exp):
    """`base` to the power `exp`. Shapes are broadcast; either side may be a number.

    >>> mx.nd.power(mx.nd.array([1, 2]), 3).asnumpy()
    array([1., 8.], dtype=float32)
    """
    return _power(base, exp)
