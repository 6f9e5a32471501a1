"""What arrays and symbols have alike: Python's operators, and methods that are operators of that
name."""
from typing import NamedTuple

__all__ = ["Arithmetic", "ARITHMETIC", "PYTHON_OPERATORS", "METHODS", "ARRAY_METHODS"]


class Arithmetic(NamedTuple):
    """An operation of two operands, either of which may be a number."""

    method: str | None          # of Python's operator: "add" for __add__
    functions: tuple[str, ...]  # in mx.nd
    symbol_functions: tuple[str, ...]   # in mx.sym, where others are operators alone
    ufuncs: tuple[str, ...]     # NumPy's; the first is in every version
    arrays: str                 # operator of two arrays
    symbols: str                # operator of two symbols, which have no shapes to broadcast in 1.x
    number: str                 # operator of one and a number
    left: str                   # operator of one with the number on its left

    @property
    def compares(self):
        """Whether it is a comparison: Python reflects these itself."""
        return self.method in ("eq", "ne", "lt", "le", "gt", "ge")


def _row(method, functions, ufuncs, arrays, symbols, number, left=None, symbol_functions=""):
    return Arithmetic(method, tuple(functions.split()), tuple(symbol_functions.split()), tuple(ufuncs.split()),
                      arrays, symbols, f"_{number}_scalar", f"_{left or number}_scalar")


ARITHMETIC = (
    _row("add", "add", "add", "broadcast_add", "elemwise_add", "plus"),
    _row("sub", "subtract", "subtract", "broadcast_sub", "elemwise_sub", "minus", "rminus"),
    _row("mul", "multiply", "multiply", "broadcast_mul", "elemwise_mul", "mul"),
    _row("truediv", "divide true_divide", "divide true_divide", "broadcast_div", "elemwise_div", "div", "rdiv"),
    _row("mod", "modulo", "remainder", "broadcast_mod", "_mod", "mod", "rmod"),
    _row("pow", "power", "power", "broadcast_power", "_power", "power", "rpower", "pow power"),
    _row("eq", "equal", "equal", "broadcast_equal", "_equal", "equal"),
    _row("ne", "not_equal", "not_equal", "broadcast_not_equal", "_not_equal", "not_equal"),
    _row("lt", "lesser", "less", "broadcast_lesser", "_lesser", "lesser", "greater"),
    _row("le", "lesser_equal", "less_equal", "broadcast_lesser_equal", "_lesser_equal", "lesser_equal", "greater_equal"),
    _row("gt", "greater", "greater", "broadcast_greater", "_greater", "greater", "lesser"),
    _row("ge", "greater_equal", "greater_equal", "broadcast_greater_equal", "_greater_equal", "greater_equal", "lesser_equal"),
    _row(None, "maximum", "maximum", "broadcast_maximum", "_maximum", "maximum", symbol_functions="maximum"),
    _row(None, "minimum", "minimum", "broadcast_minimum", "_minimum", "minimum", symbol_functions="minimum"),
    _row(None, "", "hypot", "broadcast_hypot", "_hypot", "hypot", symbol_functions="hypot"),
    _row(None, "logical_and", "logical_and", "broadcast_logical_and", "_logical_and", "logical_and"),
    _row(None, "logical_or", "logical_or", "broadcast_logical_or", "_logical_or", "logical_or"),
    _row(None, "logical_xor", "logical_xor", "broadcast_logical_xor", "_logical_xor", "logical_xor"),
)
PYTHON_OPERATORS = {row.method: row for row in ARITHMETIC if row.method}

# Methods that are the operator of that name with the array or symbol as first input.
METHODS = tuple("""
    abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort broadcast_axes
    broadcast_like broadcast_to cbrt ceil clip cos cosh degrees depth_to_space exp expm1 fix flip floor log log10
    log1p log2 log_softmax max mean min nanprod nansum norm one_hot ones_like pad pick prod radians rcbrt
    reciprocal relu repeat reshape_like rint round rsqrt shape_array sigmoid sign sin sinh size_array slice
    slice_axis slice_like softmax softmin sort space_to_depth split sqrt square sum swapaxes take tan tanh tile
    topk trunc zeros_like""".split())
# What arrays have beyond these.
ARRAY_METHODS = ("batch_take", "broadcast_axis", "gamma", "gammaln")
