"""Python's operators and two-operand functions of mx.np: one table of what they are called and what
they run."""

__all__ = ["BINARY", "PYTHON_OPERATORS"]


class Binary:
    """A function of two operands, either of which may be a number.

    Attributes
    ----------
    name : str
        The function in mx.np, and the ufunc in NumPy.
    aliases : tuple of str
        Its other names.
    method : str or None
        Python's operator: "add" for ``__add__``.
    arrays, number, left : str
        The operators of two arrays, of an array and a number, and of a number on the left.
    """

    __slots__ = ("name", "aliases", "method", "arrays", "number", "left")

    def __init__(self, name, method=None, commutes=False, aliases="", left=None):
        self.name, self.method, self.aliases = name, method, tuple(aliases.split())
        self.arrays, self.number = f"_npi_{name}", f"_npi_{name}_scalar"
        self.left = self.number if commutes else f"_npi_{left or 'r' + name}_scalar"


class Products(Binary):
    """One that a number cannot be an operand of."""

    __slots__ = ()

    def __init__(self, name, method):
        super().__init__(name, method)
        self.number = self.left = ""


BINARY = (
    Binary("add", "add", True),
    Binary("subtract", "sub"),
    Binary("multiply", "mul", True),
    Binary("true_divide", "truediv", aliases="divide"),
    Binary("mod", "mod", aliases="remainder"),
    Binary("power", "pow", aliases="pow"),
    Binary("floor_divide", "floordiv"),
    Binary("bitwise_and", "and", True),
    Binary("bitwise_or", "or", True),
    Binary("bitwise_xor", "xor", True),
    Binary("bitwise_left_shift", "lshift"),
    Binary("bitwise_right_shift", "rshift"),
    Binary("equal", "eq", True),
    Binary("not_equal", "ne", True),
    Binary("less", "lt", left="greater"),
    Binary("less_equal", "le", left="greater_equal"),
    Binary("greater", "gt", left="less"),
    Binary("greater_equal", "ge", left="less_equal"),
    Products("matmul", "matmul"),
    Binary("maximum", commutes=True),
    Binary("minimum", commutes=True),
    Binary("fmax", commutes=True),
    Binary("fmin", commutes=True),
    Binary("fmod"),
    Binary("hypot", commutes=True),
    Binary("gcd", commutes=True),
    Binary("lcm", commutes=True),
    Binary("arctan2", aliases="atan2"),
    Binary("copysign"),
    Binary("ldexp"),
    Binary("logaddexp", commutes=True),
    Binary("logical_and", commutes=True),
    Binary("logical_or", commutes=True),
    Binary("logical_xor", commutes=True),
)
PYTHON_OPERATORS = {row.method: row for row in BINARY if row.method}
