"""Docstrings of the functions that ``_ufuncs`` makes of its tables."""
from ._operators import BINARY, UNARY

__all__ = ["text_of"]

# Function: what it gives, the arguments of its example, and what that shows.
_TEXTS = {
    "absolute": ("The magnitude of each element.", 'mx.np.array([-2.0, 3.0])', "[2.0, 3.0]"),
    "negative": ("Each element with the other sign.", 'mx.np.array([1.0, -2.0])', "[-1.0, 2.0]"),
    "positive": ("A copy.", 'mx.np.array([1.0, -2.0])', "[1.0, -2.0]"),
    "sign": ("-1, 0 or 1 by the sign of each element; 0 for NaN, unlike in NumPy.", 'mx.np.array([-2.0, 0.0, 3.0])', "[-1.0, 0.0, 1.0]"),
    "square": ("Each element times itself.", 'mx.np.array([2.0, -3.0])', "[4.0, 9.0]"),
    "reciprocal": ("1 divided by each element; of integers, the whole part of that.", 'mx.np.array([2.0, 4.0])', "[0.5, 0.25]"),
    "bitwise_not": ("Each integer with all bits inverted; bool is negated.", 'mx.np.array([0, 5], dtype="int32")', "[-1, -6]"),
    "floor": ("The largest whole number that is not above each element.", 'mx.np.array([1.5, -1.5])', "[1.0, -2.0]"),
    "ceil": ("The smallest whole number that is not below each element.", 'mx.np.array([1.5, -1.5])', "[2.0, -1.0]"),
    "trunc": ("Each element without what is behind its point.", 'mx.np.array([1.5, -1.5])', "[1.0, -1.0]"),
    "fix": ("Each element without what is behind its point; integers become floats.", 'mx.np.array([1.5, -1.5])', "[1.0, -1.0]"),
    "rint": ("The nearest whole number; halves go to the smaller one, unlike NumPy's, which go to the even one.",
             'mx.np.array([1.25, 1.75])', "[1.0, 2.0]"),
    "sqrt": ("The square root of each element; NaN below 0.", 'mx.np.array([1.0, 4.0])', "[1.0, 2.0]"),
    "cbrt": ("The cube root of each element.", 'mx.np.array([1.0, -8.0])', "[1.0, -2.0]"),
    "exp": ("e to the power of each element.", 'mx.np.array([0.0])', "[1.0]"),
    "expm1": ("exp(x) - 1, exact also near 0.", 'mx.np.array([0.0])', "[0.0]"),
    "log": ("The natural logarithm of each element.", 'mx.np.array([1.0])', "[0.0]"),
    "log2": ("The logarithm of each element to base 2.", 'mx.np.array([1.0, 8.0])', "[0.0, 3.0]"),
    "log10": ("The logarithm of each element to base 10.", 'mx.np.array([1.0])', "[0.0]"),
    "log1p": ("log(1 + x), exact also near 0.", 'mx.np.array([0.0])', "[0.0]"),
    "sin": ("The sine of each angle in radians.", 'mx.np.array([0.0])', "[0.0]"),
    "cos": ("The cosine of each angle in radians.", 'mx.np.array([0.0])', "[1.0]"),
    "tan": ("The tangent of each angle in radians.", 'mx.np.array([0.0])', "[0.0]"),
    "arcsin": ("The angle between -pi/2 and pi/2 with that sine.", 'mx.np.array([0.0])', "[0.0]"),
    "arccos": ("The angle between 0 and pi with that cosine.", 'mx.np.array([1.0])', "[0.0]"),
    "arctan": ("The angle between -pi/2 and pi/2 with that tangent.", 'mx.np.array([0.0])', "[0.0]"),
    "sinh": ("The hyperbolic sine of each element.", 'mx.np.array([0.0])', "[0.0]"),
    "cosh": ("The hyperbolic cosine of each element.", 'mx.np.array([0.0])', "[1.0]"),
    "tanh": ("The hyperbolic tangent of each element.", 'mx.np.array([0.0])', "[0.0]"),
    "arcsinh": ("The inverse of sinh.", 'mx.np.array([0.0])', "[0.0]"),
    "arccosh": ("The inverse of cosh, not below 0.", 'mx.np.array([1.0])', "[0.0]"),
    "arctanh": ("The inverse of tanh.", 'mx.np.array([0.0])', "[0.0]"),
    "degrees": ("Radians in degrees.", 'mx.np.array([0.0])', "[0.0]"),
    "radians": ("Degrees in radians.", 'mx.np.array([0.0])', "[0.0]"),
    "logical_not": ("Whether each element is 0.", 'mx.np.array([0.0, 2.0])', "[True, False]"),
    "isnan": ("Whether each element is NaN.", 'mx.np.array([1.0, mx.np.nan])', "[False, True]"),
    "isinf": ("Whether each element is infinite.", 'mx.np.array([1.0, -mx.np.inf])', "[False, True]"),
    "isfinite": ("Whether each element is neither NaN nor infinite.", 'mx.np.array([1.0, mx.np.inf])', "[True, False]"),
    "isposinf": ("Whether each element is infinity.", 'mx.np.array([mx.np.inf, -mx.np.inf])', "[True, False]"),
    "isneginf": ("Whether each element is minus infinity.", 'mx.np.array([mx.np.inf, -mx.np.inf])', "[False, True]"),
    "add": ("x1 + x2.", 'mx.np.array([1.0, 2.0]), 3', "[4.0, 5.0]"),
    "subtract": ("x1 - x2.", 'mx.np.array([1.0, 2.0]), 3', "[-2.0, -1.0]"),
    "multiply": ("x1 * x2.", 'mx.np.array([1.0, 2.0]), 3', "[3.0, 6.0]"),
    "true_divide": ("x1 / x2; integers become floats.", 'mx.np.array([1.0, 2.0]), 4', "[0.25, 0.5]"),
    "mod": ("What a division leaves, with the sign of x2; 0 where x2 is 0.", 'mx.np.array([7.0, -7.0]), 3', "[1.0, 2.0]"),
    "power": ("x1 to the power of x2.", 'mx.np.array([2.0, 3.0]), 2', "[4.0, 9.0]"),
    "floor_divide": ("The largest whole number that is not above x1 / x2; 0 for integers divided by 0.",
                     'mx.np.array([7.0, -7.0]), 2', "[3.0, -4.0]"),
    "bitwise_and": ("The bits that both integers have.", 'mx.np.array([6, 3], dtype="int32"), 2', "[2, 2]"),
    "bitwise_or": ("The bits that either integer has.", 'mx.np.array([6, 3], dtype="int32"), 8', "[14, 11]"),
    "bitwise_xor": ("The bits that one of the integers has.", 'mx.np.array([6, 3], dtype="int32"), 2', "[4, 1]"),
    "bitwise_left_shift": ("x1 with its bits moved up by x2 places.", 'mx.np.array([1, 3], dtype="int32"), 2', "[4, 12]"),
    "bitwise_right_shift": ("x1 with its bits moved down by x2 places.", 'mx.np.array([8, 5], dtype="int32"), 1', "[4, 2]"),
    "equal": ("x1 == x2.", 'mx.np.array([1.0, 2.0]), 2', "[False, True]"),
    "not_equal": ("x1 != x2.", 'mx.np.array([1.0, 2.0]), 2', "[True, False]"),
    "less": ("x1 < x2.", 'mx.np.array([1.0, 2.0]), 2', "[True, False]"),
    "less_equal": ("x1 <= x2.", 'mx.np.array([1.0, 2.0]), 1', "[True, False]"),
    "greater": ("x1 > x2.", 'mx.np.array([1.0, 2.0]), 1', "[False, True]"),
    "greater_equal": ("x1 >= x2.", 'mx.np.array([1.0, 2.0]), 2', "[False, True]"),
    "maximum": ("The larger one; NaN where either is.", 'mx.np.array([1.0, 5.0]), 2', "[2.0, 5.0]"),
    "minimum": ("The smaller one; NaN where either is.", 'mx.np.array([1.0, 5.0]), 2', "[1.0, 2.0]"),
    "fmax": ("The larger one; the other one where one is NaN.", 'mx.np.array([mx.np.nan, 5.0]), 2', "[2.0, 5.0]"),
    "fmin": ("The smaller one; the other one where one is NaN.", 'mx.np.array([mx.np.nan, 5.0]), 2', "[2.0, 2.0]"),
    "fmod": ("What a division leaves, with the sign of x1.", 'mx.np.array([7.0, -7.0]), 3', "[1.0, -1.0]"),
    "hypot": ("The root of x1 * x1 + x2 * x2.", 'mx.np.array([3.0]), 4', "[5.0]"),
    "gcd": ("The greatest common divisor of integers.", 'mx.np.array([12, 18], dtype="int32"), 8', "[4, 2]"),
    "lcm": ("The least common multiple of integers.", 'mx.np.array([4, 6], dtype="int32"), 6', "[12, 6]"),
    "arctan2": ("The angle of the point (x2, x1), between -pi and pi.", 'mx.np.array([0.0]), 1', "[0.0]"),
    "copysign": ("The magnitude of x1 with the sign of x2.", 'mx.np.array([1.0, -2.0]), -1', "[-1.0, -2.0]"),
    "ldexp": ("x1 times 2 to the power of x2.", 'mx.np.array([1.0, 3.0]), 2', "[4.0, 12.0]"),
    "logaddexp": ("log(exp(x1) + exp(x2)), also where these are too large.", 'mx.np.array([-mx.np.inf]), 0', "[0.0]"),
    "logical_and": ("Whether neither is 0.", 'mx.np.array([0.0, 2.0]), 1', "[False, True]"),
    "logical_or": ("Whether one is not 0.", 'mx.np.array([0.0, 2.0]), 0', "[False, True]"),
    "logical_xor": ("Whether exactly one is not 0.", 'mx.np.array([0.0, 2.0]), 1', "[True, False]"),
}
_SHARED = {
    "float": "Integers and bool become floats: 8 bits float16, others float32 (float64 from 32 bits on with NumPy's default dtypes).",
    "same": "The result has the dtype of the data.",
    "bool": "The result is bool.",
}
_UNARY_TEXT = """{summary}

Parameters
----------
x : ndarray, number or nested list
    Data of any shape and dtype. {dtypes}
out : ndarray, optional
    Where the result goes; it is cast to that dtype, if the kind is the same.
where : ndarray of bool, optional
    Where results are written; elsewhere `out` stays, or 0.
**kwargs
    NumPy's `dtype`, the dtype to compute in; its `order`, `casting` and `subok` at their defaults.

A number gives what NumPy gives.

Examples
--------
>>> mx.np.{name}({arguments}).asnumpy().tolist()
{result}
"""
_BINARY_TEXT = """{summary}

Parameters
----------
x1, x2 : ndarray, number or nested list
    Data of shapes that broadcast. {dtypes}
out : ndarray, optional
    Where the result goes; it is cast to that dtype, if the kind is the same.
where : ndarray of bool, optional
    Where results are written; elsewhere `out` stays, or 0.
**kwargs
    NumPy's `dtype`, the dtype to compute in; its `order`, `casting` and `subok` at their defaults.

Arrays of two dtypes meet as in NumPy, but an integer beside a float takes the float's dtype
(NumPy's default dtypes, ``npx.set_np(dtype=True)``, make it NumPy's). A number takes the dtype of
the array beside it; one with a fraction makes integers float64. Two numbers give what NumPy gives.

Examples
--------
>>> mx.np.{name}({arguments}).asnumpy().tolist()
{result}
"""
_ROWS = {name: row for row in UNARY + BINARY for name in (row.name,) + row.aliases}


def text_of(name):
    """The docstring of a function of the tables."""
    row = _ROWS[name]
    summary, arguments, result = _TEXTS[row.name]
    if row in UNARY:
        return _UNARY_TEXT.format(summary=summary, dtypes=_SHARED[row.kind], name=name, arguments=arguments, result=result)
    whole = "Integers or bool." if row.name.startswith("bitwise") or row.name in ("gcd", "lcm") else "Any dtype."
    return _BINARY_TEXT.format(summary=summary, dtypes=whole, name=name, arguments=arguments, result=result)
