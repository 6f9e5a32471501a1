"""Functions of single numbers, with broadcasting."""
import math

import numpy as np

from .conversion import is_float
from .shapes import is_static
from .table import converts

__all__ = []


def _computed(c):
    """Input 0 in the dtype that a function of it has: whole numbers become those of the result."""
    return c.input_as(0, c.out_dtype())


def _register(table, *names):
    for name in names:
        converts(name)(table)


# ---- functions of fractions

class _Floats:
    """A conversion as if its input and its result were float32."""

    def __init__(self, c):
        self._c = c
        self._x = c.cast(c[0], np.float32)

    def __getattr__(self, name):
        return getattr(self._c, name)

    def __getitem__(self, i):
        return self._x if i == 0 else self._c[i]

    def dtype(self, i=0):
        """Of the floats."""
        return np.float32 if i == 0 else self._c.dtype(i)

    out_dtype = dtype

    def input_as(self, i, dtype):
        """As of the conversion."""
        return self._c.cast_from(self[i], self.dtype(i), dtype)

    def const(self, values, dtype=None):
        """A constant of float32, if nothing else is asked for."""
        return self._c.const(values, np.float32 if dtype is None else dtype)


def _in_floats(convert):
    """`convert`, whose result for whole numbers is that of floats without the fraction."""
    def converted(c):
        if is_float(c.out_dtype()):
            return convert(c)
        return c.cast(convert(_Floats(c)), c.out_dtype())
    return converted


# ---- one number each

_SAME_NAME = {
    "abs": "Abs", "negative": "Neg", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "floor": "Floor",
    "ceil": "Ceil", "sin": "Sin", "cos": "Cos", "tan": "Tan", "arcsin": "Asin", "arccos": "Acos",
    "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "arcsinh": "Asinh",
    "arccosh": "Acosh", "arctanh": "Atanh", "erf": "Erf", "sign": "Sign",
    "reciprocal": "Reciprocal"}
_FLOAT_ONLY = {"floor", "ceil"}     # ONNX has them for floating point alone


def _unary(c, name):
    if name in _FLOAT_ONLY and not is_float(c.out_dtype()):
        return c.op("Identity", c[0])
    return c.op(_SAME_NAME[name], _computed(c))


for _name in _SAME_NAME:
    _others = [] if _name == "erf" else [f"_npi_{_name if _name != 'abs' else 'absolute'}"]
    _whole = _name in ("abs", "negative", "sign", *_FLOAT_ONLY)
    _register((lambda f: f if _whole else _in_floats(f))(lambda c, name=_name: _unary(c, name)), _name, *_others)


def _like(number, c):
    return c.const(number, c.out_dtype())


def _toward_zero(c, x):
    return c.op("Mul", c.op("Sign", x), c.op("Floor", c.op("Abs", x)))


def _rounded(c, x):
    """Halves go away from zero."""
    half = c.op("Add", c.op("Abs", x), _like(0.5, c))
    return c.op("Mul", c.op("Sign", x), c.op("Floor", half))


def _cube_root(c, x):
    return c.op("Mul", c.op("Sign", x), c.op("Pow", c.op("Abs", x), _like(1 / 3, c)))


_COMPOSED = {
    "square": lambda c, x: c.op("Mul", x, x),
    "rsqrt": lambda c, x: c.op("Reciprocal", c.op("Sqrt", x)),
    "cbrt": _cube_root,
    "rcbrt": lambda c, x: c.op("Reciprocal", _cube_root(c, x)),
    "log2": lambda c, x: c.op("Div", c.op("Log", x), _like(math.log(2), c)),
    "log10": lambda c, x: c.op("Div", c.op("Log", x), _like(math.log(10), c)),
    "log1p": lambda c, x: c.op("Log", c.op("Add", x, _like(1, c))),
    "expm1": lambda c, x: c.op("Sub", c.op("Exp", x), _like(1, c)),
    "degrees": lambda c, x: c.op("Mul", x, _like(180 / math.pi, c)),
    "radians": lambda c, x: c.op("Mul", x, _like(math.pi / 180, c)),
    "trunc": _toward_zero, "fix": _toward_zero,
}


def _composed(c, name):
    if name in ("trunc", "fix") and not is_float(c.out_dtype()):
        return c.op("Identity", c[0])
    return _COMPOSED[name](c, _computed(c))


for _name in _COMPOSED:
    _others = [] if _name in ("rsqrt", "rcbrt") else [f"_npi_{_name}"]
    _whole = _name in ("square", "trunc", "fix")
    _register((lambda f: f if _whole else _in_floats(f))(lambda c, name=_name: _composed(c, name)), _name, *_others)


@converts("round", "_contrib_round_ste")
def _(c):
    return _rounded(c, c[0]) if c.is_float() else c.op("Identity", c[0])


@converts("rint", "_npi_rint")
def _(c):
    """Halves go down."""
    if not is_float(c.out_dtype()):
        return c.op("Identity", c[0])
    return c.op("Ceil", c.op("Sub", _computed(c), _like(0.5, c)))


@converts("_npi_around")
def _(c):
    decimals = c.params["decimals"]
    if not c.is_float():
        return c.op("Identity", c[0]) if decimals >= 0 else _in_floats(_around)(c)
    return _around(c)


def _around(c):
    scale = 10.0 ** c.params["decimals"]
    if scale == 1:
        return c.op("Round", c[0])
    return c.op("Div", c.op("Round", c.op("Mul", c[0], c.const(scale))), c.const(scale))


@converts("clip", "_npi_clip")
def _(c):
    bounds = [c.params.get(name) for name in ("a_min", "a_max")]
    if not c.is_float():
        info = np.iinfo(c.dtype())
        bounds = [v if v is None else max(info.min, min(info.max, int(v))) for v in bounds]
    return c.op("Clip", c[0], *(v if v is None else c.const(v) for v in bounds))


@converts("_contrib_quadratic")
@_in_floats
def _(c):
    a, b, k = (c.const(c.params[name]) for name in "abc")
    inner = c.op("Add", c.op("Mul", c[0], a), b)
    return c.op("Add", c.op("Mul", c[0], inner), k)


@converts("smooth_l1")
@_in_floats
def _(c):
    squared = c.params.get("scalar", 1.0) ** 2
    size = c.op("Abs", c[0])
    inner = c.op("Mul", c.op("Mul", c[0], c[0]), c.const(squared / 2))
    outer = c.op("Sub", size, c.const(0.5 / squared))
    return c.op("Where", c.op("Less", size, c.const(1 / squared)), inner, outer)


@converts("_npi_nan_to_num")
def _(c):
    if not c.is_float():
        return c.op("Identity", c[0])
    kind = np.float32 if not isinstance(c.dtype(), type) else c.dtype()
    ends = np.finfo(kind)
    x = c.op("Where", c.op("IsNaN", c[0]), c.const(c.params["nan"]), c[0])
    high, low = c.params["posinf"], c.params["neginf"]
    for number, replaced in ((np.inf, ends.max if high is None else high),
                             (-np.inf, ends.min if low is None else low)):
        x = c.op("Where", c.op("Equal", x, c.const(number)), c.const(replaced), x)
    return x


# ---- two numbers each

def _by_whole(c, formula, a, b):
    """A quotient or a rest of whole numbers: 0 for a divisor of 0, which readers refuse."""
    if is_float(c.out_dtype()) or c.never_zero(b):
        return formula(a, b)
    nothing = c.op("Equal", b, _like(0, c))
    made = formula(a, c.op("Where", nothing, _like(1, c), b))
    return c.op("Where", nothing, _like(0, c), made)


def _divided(c, a, b):
    return _by_whole(c, lambda x, y: c.op("Div", x, y), a, b)


def _floor_divided(c, a, b):
    if is_float(c.out_dtype()):
        return c.op("Floor", c.op("Div", a, b))
    return _by_whole(c, lambda x, y: c.op("Div", c.op("Sub", x, c.op("Mod", x, y)), y), a, b)


def _modulo(c, a, b):
    """With the sign of the divisor, as in Python; 0 for a divisor of 0."""
    if not is_float(c.out_dtype()):
        return _by_whole(c, lambda x, y: c.op("Mod", x, y), a, b)
    rest = c.op("Sub", a, c.op("Mul", c.op("Floor", c.op("Div", a, b)), b))
    return c.op("Where", c.op("Equal", b, _like(0, c)), _like(0, c), rest)


def _power(c, a, b):
    dtype = c.out_dtype()
    if is_float(dtype) or np.dtype(dtype).itemsize > 2:
        return c.op("Pow", a, b)
    return c.cast(c.op("Pow", c.cast(a, np.int32), c.cast(b, np.int32)), dtype)     # readers have no smaller ones


def _rest(c, a, b):
    """With the sign of the dividend; 0 for a divisor of 0."""
    made = _by_whole(c, lambda x, y: c.op("Mod", x, y, fmod=1), a, b)
    if not is_float(c.out_dtype()) or c.never_zero(b):
        return made
    return c.op("Where", c.op("Equal", b, _like(0, c)), _like(0, c), made)


def _hypotenuse(c, a, b):
    a, b = (x if is_float(c.out_dtype()) else c.cast(x, np.float64) for x in (a, b))
    length = c.op("Sqrt", c.op("Add", c.op("Mul", a, a), c.op("Mul", b, b)))
    return length if is_float(c.out_dtype()) else c.cast(length, c.out_dtype())


def _copysign(c, a, b):
    size = c.op("Abs", a)
    return c.op("Where", c.op("Less", b, _like(0, c)), c.op("Neg", size), size)


def _log_sum(c, a, b):
    apart = c.op("Neg", c.op("Abs", c.op("Sub", a, b)))
    return c.op("Add", c.op("Max", a, b),
                c.op("Log", c.op("Add", c.op("Exp", apart), _like(1, c))))


def _arctan2(c, a, b):
    """The angle of (b, a)."""
    zero, pi = _like(0, c), _like(math.pi, c)
    plain = c.op("Atan", c.op("Div", a, b))
    turned = c.op("Where", c.op("Less", a, zero), c.op("Sub", plain, pi), c.op("Add", plain, pi))
    angle = c.op("Where", c.op("Less", b, zero), turned, plain)
    upright = c.op("Mul", c.op("Sign", a), _like(math.pi / 2, c))
    return c.op("Where", c.op("Equal", b, zero), upright, angle)


_BINARY = {
    "add": lambda c, a, b: c.op("Add", a, b),
    "sub": lambda c, a, b: c.op("Sub", a, b),
    "mul": lambda c, a, b: c.op("Mul", a, b),
    "div": _divided, "floordiv": _floor_divided, "mod": _modulo, "hypot": _hypotenuse,
    "fmod": _rest,
    "pow": _power,
    "max": lambda c, a, b: c.op("Max", a, b),
    "min": lambda c, a, b: c.op("Min", a, b),
    "ldexp": lambda c, a, b: c.op("Mul", a, c.op("Pow", _like(2, c), b)),
    "copysign": _copysign, "logaddexp": _log_sum, "arctan2": _arctan2,
}
_BINARY_NAMES = {
    "add": "elemwise_add broadcast_add _npi_add _grad_add", "mod": "_mod broadcast_mod _npi_mod",
    "sub": "elemwise_sub broadcast_sub _npi_subtract",
    "mul": "elemwise_mul broadcast_mul _npi_multiply",
    "div": "elemwise_div broadcast_div _npi_true_divide _scatter_elemwise_div",
    "floordiv": "_npi_floor_divide", "fmod": "_npi_fmod", "pow": "_power broadcast_power _npi_power",
    "max": "_maximum broadcast_maximum _npi_maximum _npi_fmax",
    "min": "_minimum broadcast_minimum _npi_minimum _npi_fmin",
    "hypot": "_hypot broadcast_hypot _npi_hypot", "ldexp": "_npi_ldexp",
    "copysign": "_npi_copysign", "logaddexp": "_npi_logaddexp", "arctan2": "_npi_arctan2"}
# With a number: the function, what mx.nd and mx.np call it ("-": it has none), and whether there is
# one for the number in front.
_WITH_NUMBER = """
add plus add -
sub minus subtract reversed
mul mul multiply -
div div true_divide reversed
mod mod mod reversed
pow power power reversed
max maximum fmax -
min minimum fmin -
hypot hypot hypot -
floordiv - floor_divide reversed
fmod - fmod reversed
ldexp - ldexp reversed
copysign - copysign reversed
logaddexp - logaddexp -
arctan2 - arctan2 reversed
"""


def _number(c):
    """The scalar, as the result's dtype holds it."""
    scalar = c.params["scalar"]
    return c.const(scalar if is_float(c.out_dtype()) else int(scalar), c.out_dtype())


def _of_two(c, kind):
    return _BINARY[kind](c, _computed(c), c.input_as(1, c.out_dtype()))


for _kind, _names in _BINARY_NAMES.items():
    _register(lambda c, kind=_kind: _of_two(c, kind), *_names.split())
for _kind, _old, _new, _reversed in (line.split() for line in _WITH_NUMBER.split("\n") if line):
    for _letter in ("", "r") if _reversed == "reversed" else ("",):
        _names = [f"_npi_{_letter}{_new}_scalar"]
        _names += [f"_{_letter}{_old}_scalar"] if _old != "-" else []
        _names += [f"_scatter_{_old}_scalar"] if _kind in ("add", "sub") and not _letter else []
        if _letter:
            _register(lambda c, kind=_kind: _BINARY[kind](c, _number(c), _computed(c)), *_names)
        else:
            _register(lambda c, kind=_kind: _BINARY[kind](c, _computed(c), _number(c)), *_names)


@converts("add_n")
def _(c):
    if c.is_float():
        return c.op("Sum", *(c[i] for i in range(len(c))))
    total = c[0]
    for i in range(1, len(c)):      # Sum is for floats alone
        total = c.op("Add", total, c[i])
    return total if len(c) > 1 else c.op("Identity", total)


@converts("_npi_cross")
def _(c):
    if any(c.params[axis] not in (-1, c.ndim(i) - 1) for axis, i in
           (("axisa", 0), ("axisb", 1), ("axisc", 0))) or {c.shape(0)[-1], c.shape(1)[-1]} != {3}:
        raise c.unsupported("axes of vectors", "vectors of 3 numbers along the last axis")
    a, b = ([c.op("Gather", c[i], c.ints(*((n + k) % 3 for n in range(3))), axis=-1)
             for k in (1, 2)] for i in (0, 1))
    return c.op("Sub", c.op("Mul", a[0], b[1]), c.op("Mul", a[1], b[0]))


@converts("_silu")
def _(c):
    """What :func:`mx.onnx.load` makes of x times its sigmoid."""
    beta = c.params["beta"]
    x = c[0] if beta == 1 else c.op("Mul", c[0], c.const(beta))
    return c.op("Mul", c[0], c.op("Sigmoid", x))


@converts("_hard_swish")
def _(c):
    gate = c.op("HardSigmoid", c[0], alpha=c.params["alpha"], beta=c.params["beta"])
    return c.op("Mul", c[0], gate)


@converts("_contrib_sign_ste")
def _(c):
    return c.op("Sign", c[0])


@converts("_npi_ediff1d")
def _(c):
    """Differences of neighbours, with what is put around them."""
    params = c.params
    if params["to_begin_arr_given"] or params["to_end_arr_given"]:
        raise c.unsupported("arrays around the differences", "numbers")
    flat = c.op("Reshape", c[0], c.ints(-1))
    parts = [c.op("Sub", c.slice(flat, 0, 1, np.iinfo(np.int64).max), c.slice(flat, 0, 0, -1))]
    if params["to_begin_scalar"] is not None:
        parts.insert(0, c.const([params["to_begin_scalar"]]))
    if params["to_end_scalar"] is not None:
        parts.append(c.const([params["to_end_scalar"]]))
    return parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=0)


@converts("_npi_polyval")
def _(c):
    """Coefficients, the highest first, times powers of x."""
    if not is_static(c.dims()[0]):
        raise c.unsupported("a free number of coefficients", "a fixed one")
    made = None
    for i in range(c.shape()[0]):
        term = c.op("Gather", c[0], c.const(i, np.int64), axis=0)
        made = term if made is None else c.op("Add", c.op("Mul", made, c[1]), term)
    return c.expand(made, c.out_dims())
