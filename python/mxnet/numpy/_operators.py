"""Python's operators and the functions of one or two operands of mx.np: tables of what they are
called and what they run."""

__all__ = ["BINARY", "PYTHON_OPERATORS", "UNARY"]


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
    truth : str
        The operator of a bool array and True or False, on either side, where that gives bool.
    """

    __slots__ = ("name", "aliases", "method", "arrays", "number", "left", "truth")

    def __init__(self, name, method=None, commutes=False, aliases="", left=None, truth=""):
        self.name, self.method, self.aliases = name, method, tuple(aliases.split())
        self.arrays, self.number = f"_npi_{name}", f"_npi_{name}_scalar"
        self.left = self.number if commutes else f"_npi_{left or 'r' + name}_scalar"
        self.truth = truth and f"_npi_{truth}_scalar"


class Products(Binary):
    """One that a number cannot be an operand of."""

    __slots__ = ()

    def __init__(self, name, method):
        super().__init__(name, method)
        self.number = self.left = ""


BINARY = (
    Binary("add", "add", True, truth="logical_or"),
    Binary("subtract", "sub"),
    Binary("multiply", "mul", True, truth="logical_and"),
    Binary("true_divide", "truediv", aliases="divide"),
    Binary("mod", "mod", aliases="remainder"),
    Binary("power", "pow", aliases="pow"),
    Binary("floor_divide", "floordiv"),
    Binary("bitwise_and", "and", True),
    Binary("bitwise_or", "or", True),
    Binary("bitwise_xor", "xor", True),
    Binary("bitwise_left_shift", "lshift", aliases="left_shift"),
    Binary("bitwise_right_shift", "rshift", aliases="right_shift"),
    Binary("equal", "eq", True),
    Binary("not_equal", "ne", True),
    Binary("less", "lt", left="greater"),
    Binary("less_equal", "le", left="greater_equal"),
    Binary("greater", "gt", left="less"),
    Binary("greater_equal", "ge", left="less_equal"),
    Products("matmul", "matmul"),
    Binary("maximum", commutes=True, truth="logical_or"),
    Binary("minimum", commutes=True, truth="logical_and"),
    Binary("fmax", commutes=True, truth="logical_or"),
    Binary("fmin", commutes=True, truth="logical_and"),
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


class Unary:
    """A function of one operand.

    Attributes
    ----------
    name : str
        The function in mx.np, and the ufunc in NumPy.
    aliases : tuple of str
        Its other names.
    record : str
        The operator.
    kind : str
        What it makes of integers: "float", "same" or "bool".
    """

    __slots__ = ("name", "aliases", "record", "kind")

    def __init__(self, name, kind="float", aliases="", record=None):
        self.name, self.kind, self.aliases = name, kind, tuple(aliases.split())
        self.record = f"_npi_{record or name}"


UNARY = (
    Unary("absolute", "same", "abs fabs"),
    Unary("negative", "same"),
    Unary("positive", "same", record="copy"),
    Unary("sign", "same"),
    Unary("square", "same"),
    Unary("reciprocal", "same"),
    Unary("bitwise_not", "same", "invert bitwise_invert"),
    Unary("floor", "same"),
    Unary("ceil", "same"),
    Unary("trunc", "same"),
    Unary("fix"),
    Unary("rint"),
    Unary("sqrt"),
    Unary("cbrt"),
    Unary("exp"),
    Unary("expm1"),
    Unary("log"),
    Unary("log2"),
    Unary("log10"),
    Unary("log1p"),
    Unary("sin"),
    Unary("cos"),
    Unary("tan"),
    Unary("arcsin", aliases="asin"),
    Unary("arccos", aliases="acos"),
    Unary("arctan", aliases="atan"),
    Unary("sinh"),
    Unary("cosh"),
    Unary("tanh"),
    Unary("arcsinh", aliases="asinh"),
    Unary("arccosh", aliases="acosh"),
    Unary("arctanh", aliases="atanh"),
    Unary("degrees", aliases="rad2deg"),
    Unary("radians", aliases="deg2rad"),
    Unary("logical_not", "bool"),
    Unary("isnan", "bool"),
    Unary("isinf", "bool"),
    Unary("isfinite", "bool"),
    Unary("isposinf", "bool"),
    Unary("isneginf", "bool"),
)
