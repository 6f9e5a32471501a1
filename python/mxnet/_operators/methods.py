"""What arrays and symbols have alike: Python's operators, and methods that are operators of that
name."""
import importlib

from .._startup.imports import importing

__all__ = ["Arithmetic", "ARITHMETIC", "PYTHON_OPERATORS", "METHODS", "ARRAY_METHODS", "add_methods"]


class Arithmetic:
    """An operation of two operands, either of which may be a number.

    Attributes
    ----------
    method : str or None
        Python's operator: "add" for ``__add__``.
    functions, symbol_functions : tuple of str
        Its names in mx.nd and, where it is no operator of that name, in mx.sym.
    ufuncs : tuple of str
        NumPy's names; the first is in every version.
    arrays, symbols : str
        The operators of two arrays and of two symbols, which have no shapes to broadcast in 1.x.
    number, left : str
        The operators of one and a number, and of a number on its left.
    """

    __slots__ = ("method", "functions", "symbol_functions", "ufuncs", "arrays", "symbols", "number", "left")

    def __init__(self, method, functions, ufuncs, arrays, symbols, number, left=None, symbol_functions=""):
        self.method = method
        self.functions, self.symbol_functions = tuple(functions.split()), tuple(symbol_functions.split())
        self.ufuncs = tuple(ufuncs.split())
        self.arrays, self.symbols = arrays, symbols
        self.number, self.left = f"_{number}_scalar", f"_{left or number}_scalar"

    @property
    def compares(self):
        """Whether it is a comparison: Python reflects these itself."""
        return self.method in ("eq", "ne", "lt", "le", "gt", "ge")


ARITHMETIC = (
    Arithmetic("add", "add", "add", "broadcast_add", "elemwise_add", "plus"),
    Arithmetic("sub", "subtract", "subtract", "broadcast_sub", "elemwise_sub", "minus", "rminus"),
    Arithmetic("mul", "multiply", "multiply", "broadcast_mul", "elemwise_mul", "mul"),
    Arithmetic("truediv", "divide true_divide", "divide true_divide", "broadcast_div", "elemwise_div", "div", "rdiv"),
    Arithmetic("mod", "modulo", "remainder", "broadcast_mod", "_mod", "mod", "rmod"),
    Arithmetic("pow", "power", "power", "broadcast_power", "_power", "power", "rpower", "pow power"),
    Arithmetic("eq", "equal", "equal", "broadcast_equal", "_equal", "equal"),
    Arithmetic("ne", "not_equal", "not_equal", "broadcast_not_equal", "_not_equal", "not_equal"),
    Arithmetic("lt", "lesser", "less", "broadcast_lesser", "_lesser", "lesser", "greater"),
    Arithmetic("le", "lesser_equal", "less_equal", "broadcast_lesser_equal", "_lesser_equal", "lesser_equal", "greater_equal"),
    Arithmetic("gt", "greater", "greater", "broadcast_greater", "_greater", "greater", "lesser"),
    Arithmetic("ge", "greater_equal", "greater_equal", "broadcast_greater_equal", "_greater_equal", "greater_equal", "lesser_equal"),
    Arithmetic(None, "maximum", "maximum", "broadcast_maximum", "_maximum", "maximum", symbol_functions="maximum"),
    Arithmetic(None, "minimum", "minimum", "broadcast_minimum", "_minimum", "minimum", symbol_functions="minimum"),
    Arithmetic(None, "", "hypot", "broadcast_hypot", "_hypot", "hypot", symbol_functions="hypot"),
    Arithmetic(None, "logical_and", "logical_and", "broadcast_logical_and", "_logical_and", "logical_and"),
    Arithmetic(None, "logical_or", "logical_or", "broadcast_logical_or", "_logical_or", "logical_or"),
    Arithmetic(None, "logical_xor", "logical_xor", "broadcast_logical_xor", "_logical_xor", "logical_xor"),
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


class _OnDemand:
    # A method that nobody has asked for yet. A class has some hundred of them, of which a program
    # uses a few. The function takes its place with the first look at it.

    __slots__ = ("_cls", "_name", "_make", "_kind")

    def __init__(self, cls, name, make, kind):
        self._cls, self._name, self._make, self._kind = cls, name, make, kind

    @property
    def __wrapped__(self):
        cls, name = self._cls, self._name
        function = vars(cls).get(name)
        if function is not self and function is not None:    # another thread was here first
            return function
        with importing():
            examples = importlib.import_module("mxnet._operators.method_examples")
            function = self._make(name)
            lines = examples.example(self._kind, name, getattr(function, "instead", None))
        if lines:
            function.__doc__ = "\n    ".join([function.__doc__ + "\n", *lines, ""])
        function.__name__, function.__qualname__, function.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, function)
        return function

    def __get__(self, instance, owner=None):
        return self.__wrapped__.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    __doc__ = property(lambda self: self.__wrapped__.__doc__)


def add_methods(cls, names, make, kind):
    """Gives a class methods that are made when they are first asked for.

    Parameters
    ----------
    cls : type
    names : iterable of str
    make : callable
        From a name to a function with a docstring, to which the example is added. The attribute
        ``instead`` of one that only raises an error names what to call.
    kind : str
        Whose examples they get (_method_examples).
    """
    for name in names:
        setattr(cls, name, _OnDemand(cls, name, make, kind))
