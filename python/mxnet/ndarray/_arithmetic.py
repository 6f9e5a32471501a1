"""Two-operand functions: arrays with arrays or numbers."""
import numbers

import numpy as np

from ._internal import NDArrayBase
from ._native import _call

__all__ = ["add", "subtract", "multiply", "divide", "true_divide", "modulo", "power",
           "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and", "logical_or", "logical_xor"]


def _is_number(value):
    return isinstance(value, (numbers.Real, np.bool_)) or getattr(value, "ndim", None) == 0 and value.dtype.kind in "biuf"


def _two(method, array_op, scalar_op, reverse_op, doc):
    def function(lhs, rhs):
        if isinstance(lhs, NDArrayBase):
            if isinstance(rhs, NDArrayBase):
                return _call(array_op, (lhs, rhs))
            if _is_number(rhs):
                return _call(scalar_op, (lhs,), scalar=float(rhs))
        elif isinstance(rhs, NDArrayBase) and _is_number(lhs):
            return _call(reverse_op, (rhs,), scalar=float(lhs))
        elif _is_number(lhs) and _is_number(rhs):
            return getattr(np, {"lesser": "less", "lesser_equal": "less_equal", "modulo": "mod"}.get(method, method))(lhs, rhs)
        raise TypeError(f"[{method}] got {type(lhs).__name__} and {type(rhs).__name__}; accepted: NDArrays and numbers")
    function.__name__ = method
    function.__doc__ = doc + " Shapes are broadcast; either side may be a number."
    return function


add = _two("add", "broadcast_add", "_plus_scalar", "_plus_scalar", "Sum.")
subtract = _two("subtract", "broadcast_sub", "_minus_scalar", "_rminus_scalar", "Difference.")
multiply = _two("multiply", "broadcast_mul", "_mul_scalar", "_mul_scalar", "Product.")
divide = _two("divide", "broadcast_div", "_div_scalar", "_rdiv_scalar", "Quotient.")
true_divide = _two("true_divide", "broadcast_div", "_div_scalar", "_rdiv_scalar", "Quotient.")
modulo = _two("modulo", "broadcast_mod", "_mod_scalar", "_rmod_scalar", "Remainder with the divisor's sign.")
_power = _two("power", "broadcast_power", "_power_scalar", "_rpower_scalar", "`lhs` to the power `rhs`.")
maximum = _two("maximum", "broadcast_maximum", "_maximum_scalar", "_maximum_scalar", "Larger value.")
minimum = _two("minimum", "broadcast_minimum", "_minimum_scalar", "_minimum_scalar", "Smaller value.")
equal = _two("equal", "broadcast_equal", "_equal_scalar", "_equal_scalar", "1 where equal, else 0.")
not_equal = _two("not_equal", "broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar", "1 where different, else 0.")
greater = _two("greater", "broadcast_greater", "_greater_scalar", "_lesser_scalar", "1 where `lhs` is larger, else 0.")
greater_equal = _two("greater_equal", "broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar", "1 where `lhs` is not smaller, else 0.")
lesser = _two("lesser", "broadcast_lesser", "_lesser_scalar", "_greater_scalar", "1 where `lhs` is smaller, else 0.")
lesser_equal = _two("lesser_equal", "broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar", "1 where `lhs` is not larger, else 0.")
logical_and = _two("logical_and", "broadcast_logical_and", "_logical_and_scalar", "_logical_and_scalar", "1 where both are non-zero, else 0.")
logical_or = _two("logical_or", "broadcast_logical_or", "_logical_or_scalar", "_logical_or_scalar", "1 where one is non-zero, else 0.")
logical_xor = _two("logical_xor", "broadcast_logical_xor", "_logical_xor_scalar", "_logical_xor_scalar", "1 where exactly one is non-zero, else 0.")


def power(base, exp):
    """`base` to the power `exp`. Shapes are broadcast; either side may be a number."""
    return _power(base, exp)
