"""Comparisons, logic and choices."""
import numpy as np

from ... import _dtypes
from .conversion import is_float
from .table import converts
from .terms import Term, term

__all__ = []

_KINDS = {"equal": "Equal", "greater": "Greater", "less": "Less",
          "greater_equal": "GreaterOrEqual", "less_equal": "LessOrEqual"}
_OLD = {"less": "lesser", "less_equal": "lesser_equal"}


def _common(*dtypes):
    """A dtype that ONNX compares, in which numbers of `dtypes` are what they were."""
    if any(_dtypes.name(d) == "bfloat16" for d in dtypes):
        return np.float32 if len(set(map(_dtypes.name, dtypes))) > 1 else dtypes[0]
    found = np.result_type(*(np.dtype(d) for d in dtypes))
    if found.kind in "bui" and found.itemsize < 4:
        return np.int32
    return np.int64 if found.kind == "u" else found.type


def _compared(c, kind, a, b):
    if kind == "not_equal":
        return c.op("Not", c.op("Equal", a, b))
    return c.op(_KINDS[kind], a, b)


def _result(c, name):
    """A truth value in the dtype of the result."""
    return c.cast_from(name, np.bool_, c.out_dtype())


def _of_two(c, kind):
    dtype = _common(c.dtype(0), c.dtype(1))
    return _result(c, _compared(c, kind, c.input_as(0, dtype), c.input_as(1, dtype)))


def _with_number(c, kind):
    scalar, dtype = c.params["scalar"], _common(c.dtype())
    if not is_float(dtype) and scalar != int(scalar):
        dtype = np.float32
    return _result(c, _compared(c, kind, c.input_as(0, dtype), c.const(scalar, dtype)))


for _kind in (*_KINDS, "not_equal"):
    _old = _OLD.get(_kind, _kind)
    converts(f"_{_old}", f"broadcast_{_old}", f"_npi_{_kind}")(
        lambda c, kind=_kind: _of_two(c, kind))
    converts(f"_{_old}_scalar", f"_npi_{_kind}_scalar")(
        lambda c, kind=_kind: _with_number(c, kind))


# ---- logic

def _truth(c, i):
    return c.input_as(i, np.bool_)


for _kind in ("And", "Or", "Xor"):
    _name = _kind.lower()
    converts(f"_logical_{_name}", f"broadcast_logical_{_name}", f"_npi_logical_{_name}")(
        lambda c, kind=_kind: _result(c, c.op(kind, _truth(c, 0), _truth(c, 1))))
    converts(f"_logical_{_name}_scalar", f"_npi_logical_{_name}_scalar")(
        lambda c, kind=_kind: _result(
            c, c.op(kind, _truth(c, 0), c.const(bool(c.params["scalar"]), np.bool_))))


@converts("logical_not", "_npi_logical_not")
def _(c):
    return _result(c, c.op("Not", _truth(c, 0)))


def _bitwise(c, kind, a, b):
    if np.dtype(c.out_dtype()) == np.bool_:
        return c.op(kind, a, b)
    if c.opset < 18:
        return _bit_by_bit(c, kind, a, b)
    return c.op("Bitwise" + kind, a, b)


def _bits(c, x, count):
    """0 or 1 for each of `count` bits of whole numbers, and whether they are negative."""
    whole = Term(c, x, np.int64).unsqueeze(-1)
    negative = whole < 0
    whole = negative.where(whole - np.iinfo(np.int64).min, whole)
    parts = whole / 2 ** np.arange(count)
    return parts - parts / 2 * 2, negative.to(np.int64)


def _bit_by_bit(c, kind, a, b):
    """What opsets have that know no bits: arithmetic on each."""
    dtype = np.dtype(c.out_dtype())
    count = min(8 * dtype.itemsize, 63)
    formula = {"And": lambda x, y: x * y, "Or": lambda x, y: x.op("Max", y), "Xor": lambda x, y: (x - y).abs()}[kind]
    (a, a_sign), (b, b_sign) = (_bits(c, c.cast_from(x, dtype, np.int64), count) for x in (a, b))
    sign = formula(a_sign, b_sign)
    bits, made = formula(a, b), None
    for first in range(0, count, 32):   # ONNX Runtime adds 64 bits as float64
        some = bits.columns(first, min(first + 32, count)) * 2 ** np.arange(min(32, count - first))
        some = some.reduce("Sum", [-1]) * 2**first
        made = some if made is None else made + some
    # bits beyond those of the dtype are the sign's
    made = sign.same(1).where(made + np.int64(-2**63) if count == 63 else made - 2**count, made)
    return made.squeeze(-1).to(dtype).name


for _kind in ("And", "Or", "Xor"):
    converts(f"_npi_bitwise_{_kind.lower()}")(
        lambda c, kind=_kind: _bitwise(c, kind, c.input_as(0, c.out_dtype()),
                                       c.input_as(1, c.out_dtype())))
    converts(f"_npi_bitwise_{_kind.lower()}_scalar")(
        lambda c, kind=_kind: _bitwise(c, kind, c.input_as(0, c.out_dtype()),
                                       c.const(int(c.params["scalar"]), c.out_dtype())))


@converts("_npi_bitwise_not")
def _(c):
    if np.dtype(c.dtype()) == np.bool_:
        return c.op("Not", c[0])
    if c.opset < 18:
        dtype = np.dtype(c.dtype())
        most = -1 if dtype.kind == "i" else np.iinfo(dtype).max
        return (most - term(c, 0, np.int64)).to(dtype).name
    return c.op("BitwiseNot", c[0])


# ---- what kind of number

@converts("_npi_isnan")
def _(c):
    return _never(c) if not c.is_float() else _result(c, c.op("IsNaN", c[0]))


def _never(c):
    return _result(c, c.op("Not", c.op("Equal", c.input_as(0, np.int32), c.input_as(0, np.int32))))


def _infinite(c, **signs):
    if not c.is_float():
        return _never(c)
    return _result(c, c.op("IsInf", c.input_as(0, np.float32), **signs))


converts("_npi_isinf")(_infinite)
converts("_npi_isposinf")(lambda c: _infinite(c, detect_negative=0))
converts("_npi_isneginf")(lambda c: _infinite(c, detect_positive=0))


@converts("_npi_isfinite")
def _(c):
    if not c.is_float():
        same = c.input_as(0, np.int32)
        return _result(c, c.op("Equal", same, same))
    odd = c.op("Or", c.op("IsNaN", c[0]), c.op("IsInf", c.input_as(0, np.float32)))
    return _result(c, c.op("Not", odd))


# ---- choices

@converts("where")
def _(c):
    """A condition of one dimension chooses rows."""
    condition = _truth(c, 0)
    if c.ndim(0) == 1 and c.ndim(1) > 1:
        condition = c.op("Unsqueeze", condition, c.ints(*range(1, c.ndim(1))))
    return c.op("Where", condition, c.input_as(1, c.out_dtype()), c.input_as(2, c.out_dtype()))


@converts("_npi_where")
def _(c):
    return c.op("Where", _truth(c, 0), c.input_as(1, c.out_dtype()), c.input_as(2, c.out_dtype()))


def _scalar(c, name):
    return c.const(c.params[name], c.out_dtype())


@converts("_npi_where_lscalar")
def _(c):
    return c.op("Where", _truth(c, 0), _scalar(c, "scalar"), c.input_as(1, c.out_dtype()))


@converts("_npi_where_rscalar")
def _(c):
    return c.op("Where", _truth(c, 0), c.input_as(1, c.out_dtype()), _scalar(c, "scalar"))


@converts("_npi_where_scalar2")
def _(c):
    return c.op("Where", _truth(c, 0), _scalar(c, "x"), _scalar(c, "y"))


@converts("all_finite")
def _(c):
    """1 where nothing is infinite or no number."""
    if not c.params["init_output"]:
        raise c.unsupported("init_output=False", "True")
    zero = c.op("Mul", c[0], c.const(0))
    bad = c.cast(c.op("IsNaN", zero), np.float32)
    worst = c.reduce("Max", c.op("Reshape", bad, c.ints(-1)), [0], True)
    return c.cast_from(c.op("Sub", c.const(1, np.float32), worst), np.float32, c.out_dtype())


@converts("_contrib_allclose")
def _(c):
    """1 if all elements are as near as the tolerances say, or both no numbers or equal."""
    params = c.params
    room = c.op("Add", c.op("Mul", c.op("Abs", c[1]), c.const(params["rtol"])), c.const(params["atol"]))
    far = c.op("Abs", c.op("Sub", c[0], c[1]))
    near = c.op("Or", c.op("LessOrEqual", far, room), c.op("Equal", c[0], c[1]))
    if params["equal_nan"]:
        near = c.op("Or", near, c.op("And", c.op("IsNaN", c[0]), c.op("IsNaN", c[1])))
    flat = c.op("Reshape", c.cast(near, np.float32), c.ints(-1))
    return c.cast(c.reduce("Min", flat, [0], False), np.uint8)
