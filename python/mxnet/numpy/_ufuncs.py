"""Functions of mx.np that work element by element, made from the tables of ``_operators``.

Each is a callable of the compiled binding: arrays and numbers alone go to the record at once. All
other calls (``out=``, ``where=``, lists, NumPy arrays, symbols, two numbers) come to the Python
functions here.
"""
import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, NumpyFunction
from ..base import _MXTypeError
from ._dispatch import ORDERS, call, check_out, default_float, deliver, dtype_name, is_symbol, operand
from ._operators import BINARY, UNARY
from ._ufunc_texts import text_of

_LONG = (_dtypes.number("int64"), _dtypes.number("uint64"))

__all__ = ["allclose", "around", "array_equal", "array_equiv", "clip", "divmod", "float_power", "isclose", "modf", "nan_to_num",
           "round", "round_", "signbit"]

_NUMBERS = (int, float, onp.number, onp.bool_)
_WHOLE = (int, onp.integer, onp.bool_)
# The arguments of NumPy's ufuncs that have one accepted value.
_DEFAULTS = {"order": ORDERS, "casting": ("same_kind", "unsafe"), "subok": (True,), "signature": (None,), "extobj": (None,)}
# NumPy's names where they differ.
_NUMPY_NAMES = {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "around": "round"}


def _options(name, kwargs):
    """The dtype among a ufunc's arguments; raises for others that are not at their defaults."""
    dtype = kwargs.pop("dtype", None)
    for key, value in kwargs.items():
        if key not in _DEFAULTS:
            raise TypeError(f"[{name}] got an unexpected argument {key!r}; accepted: out, where, dtype")
        if value not in _DEFAULTS[key]:
            raise NotImplementedError(f"[{name}] {key}={value!r} is not offered; accepted: {key}={_DEFAULTS[key][0]!r}")
    return dtype


def _the_array(name, out):
    """`out` of a function with one result."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    check_out(name, out)
    return out


def _check_cast(name, result, out):
    """As NumPy: floats are not written into integers."""
    have, want = _dtypes.name(result.dtype), _dtypes.name(out.dtype)
    if have == want or "bfloat16" in (have, want) and not want.startswith(("int", "uint", "bool")):
        return
    if have == "bfloat16" or not onp.can_cast(have, want, "same_kind"):
        raise _MXTypeError(f"[{name}] the result is {have}, which `out` of {want} cannot take; accepted: an array of the same kind or a "
                        "wider one")


def _finish(name, run, inputs, kind, out, where, dtype):
    """Runs `run(inputs, out)` as a ufunc does: into `out`, where the mask says, in `dtype`."""
    out = _the_array(name, out)
    if dtype is not None:
        dtype = dtype_name(dtype)
        if kind != "bool":
            inputs = [call("_npi_cast", (x,), dtype=dtype) for x in inputs]
    if where is True and out is not None and dtype is None and not is_symbol(inputs[0]):
        same = all(x._dtype_id == out._dtype_id for x in inputs)
        fits = out.dtype == onp.bool_ if kind == "bool" else same and (kind == "same" or out._dtype_id in _dtypes.FLOATS)
        if fits and not _is_larger(out, inputs):
            return run(inputs, out)
    result = run(inputs, None)
    if dtype is not None and (is_symbol(result) or _dtypes.name(result.dtype) != dtype):
        result = call("_npi_cast", (result,), dtype=dtype)
    if where is not True:
        mask = operand(where, inputs[0], "bool")
        base = out if out is not None else call("zeros_like", (result,))
        if out is not None:
            _check_cast(name, result, out)
            result = call("_npi_cast", (result,), dtype=_dtypes.name(out.dtype))
        result = call("_npi_where", (mask, result, base))
    elif out is not None:
        _check_cast(name, result, out)
        if result.shape != out.shape and _is_larger(out, [result]):
            result = call("_npi_broadcast_to", (result,), shape=out.shape)
    return deliver(result, out)


def _is_larger(out, inputs):
    """Whether what is computed of `inputs` is to be repeated to fill `out`, as NumPy does."""
    shape = out.shape
    if any(x.shape == shape for x in inputs):
        return False
    try:
        return onp.broadcast_shapes(*(x.shape for x in inputs)) != shape == onp.broadcast_shapes(shape, *(x.shape for x in inputs))
    except ValueError:
        return False    # the operator says what does not fit


def _of_numbers(name, values, out, where, dtype):
    """A function of Python's numbers, which is NumPy's."""
    function, out = getattr(onp, _NUMPY_NAMES.get(name, name)), _the_array(name, out)
    result = function(*values)
    if where is not True:       # elsewhere stands what `out` has, or 0 as for arrays
        result = onp.where(onp.asarray(where), result, onp.zeros_like(result) if out is None else out.asnumpy())[()]
    if dtype is not None:
        result = onp.dtype(_dtypes.TYPES[_dtypes.number(dtype)]).type(result)
    return result if out is None else deliver(operand(result, out), out)


def _is_number(value):
    return isinstance(value, _NUMBERS) and not isinstance(value, onp.ndarray)


def _is_truth(value):
    return isinstance(value, (bool, onp.bool_))


def _number_params(value):
    return {"scalar": float(value), "is_int": isinstance(value, _WHOLE)}


def call_as_ufunc(name, function, values, kind, out=None, where=True, options=None):
    """`function` of `values`, numbers or what arrays are made of, with what ufuncs of NumPy take.
    `kind` is what it makes of integers, as in the tables."""
    dtype = _options(name, options) if options else None
    if all(_is_number(v) for v in values):
        return _of_numbers(name, values, out, where, dtype)
    like = next((v for v in values if isinstance(v, NDArrayBase)), None)
    at = [i for i, v in enumerate(values) if not _is_number(v)]

    def run(inputs, into):
        all_of_them = list(values)
        for i, x in zip(at, inputs):
            all_of_them[i] = x
        return deliver(function(*all_of_them), into)
    return _finish(name, run, [operand(values[i], like) for i in at], kind, out, where, dtype)


def _unary(row, name):
    def function(x, out=None, where=True, **kwargs):
        dtype = _options(name, kwargs) if kwargs else None
        if _is_number(x):
            return _of_numbers(name, (x,), out, where, dtype)
        return _finish(name, lambda inputs, into: call(row.record, inputs, into), [operand(x)], row.kind, out, where, dtype)
    return function


def _run_binary(row, x1, x2):
    """What runs the row on its arrays, and these."""
    if row.truth and (_is_truth(x2) or _is_truth(x1)):
        array, truth = (operand(x1), x2) if _is_truth(x2) else (operand(x2), x1)
        if not is_symbol(array) and array.dtype == onp.bool_:
            return [array], lambda inputs, into: call(row.truth, inputs, into, **_number_params(truth))
    if _is_number(x2) and row.number:
        params = _number_params(x2)
        return [operand(x1)], lambda inputs, into: call(row.number, inputs, into, **params)
    if _is_number(x1) and row.left:
        params = _number_params(x1)
        return [operand(x2)], lambda inputs, into: call(row.left, inputs, into, **params)
    like = x1 if isinstance(x1, NDArrayBase) else x2
    return [operand(x1, like), operand(x2, like)], lambda inputs, into: call(row.arrays, inputs, into)


_BOOLS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor"}
_FLOATS = {"true_divide", "hypot", "arctan2", "ldexp", "logaddexp"}


def _kind_of(row):
    return "bool" if row.name in _BOOLS else "float" if row.name in _FLOATS else "same"


def _binary(row, name):
    kind = _kind_of(row)

    def function(x1, x2, out=None, where=True, **kwargs):
        dtype = _options(name, kwargs) if kwargs else None
        if _is_number(x1) and _is_number(x2):
            return _of_numbers(name, (x1, x2), out, where, dtype)
        inputs, run = _run_binary(row, x1, x2)
        return _finish(name, run, inputs, kind, out, where, dtype)
    return function


def _publish(name, record, rest, *more):
    attributes = {"__name__": name, "__qualname__": name, "__module__": "mxnet.numpy", "__doc__": text_of(name), "__wrapped__": rest}
    rest.__name__ = rest.__qualname__ = name
    globals()[name] = NumpyFunction(rest, attributes, record, *more)
    __all__.append(name)


for _row in UNARY:
    for _name in (_row.name,) + _row.aliases:
        _publish(_name, _row.record, _unary(_row, _name), "", "", _row.kind)
for _row in BINARY:
    for _name in (_row.name,) + _row.aliases:
        if _row.arrays and _row.number:
            _publish(_name, _row.arrays, _binary(_row, _name), _row.number, _row.left, _kind_of(_row), _row.truth)


_PLAIN = (int, float)


def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):   # pylint: disable=redefined-builtin
    """The elements of `a`, not below `a_min` and not above `a_max`.

    Parameters
    ----------
    a : ndarray
        Data of any dtype, which the result has, too.
    a_min, a_max : number, ndarray or None
        The bounds; arrays broadcast with `a`. None: there is none.
    out : ndarray, optional
        Where the result goes.
    min, max : number, ndarray or None
        NumPy 2's names of the bounds.

    Unlike NumPy's, integers stay integers beside bounds with fractions, which are cut off.

    Examples
    --------
    >>> mx.np.clip(mx.np.array([1.0, 5.0, 9.0]), 2, 8).asnumpy().tolist()
    [2.0, 5.0, 8.0]
    """
    if min is not None and a_min is not None or max is not None and a_max is not None:
        raise ValueError("[clip] a bound by both of its names; accepted: a_min or min, a_max or max")
    a_min, a_max = a_min if min is None else min, a_max if max is None else max
    if out is None and type(a_min) in _PLAIN and type(a_max) in _PLAIN and isinstance(a, NDArrayBase):   # without detours
        return call("_npi_clip", (a,), a_min=float(a_min), a_max=float(a_max))
    if _is_number(a):
        return onp.clip(a, a_min, a_max)
    a = operand(a)
    if all(b is None or _is_number(b) for b in (a_min, a_max)):
        bounds = {k: float(b) for k, b in (("a_min", a_min), ("a_max", a_max)) if b is not None}
        return _finish("clip", lambda inputs, into: call("_npi_clip", inputs, into, **bounds), [a], "same", out, True, None)
    result = a
    if a_min is not None:
        result = globals()["maximum"](result, operand(a_min, a) if not _is_number(a_min) else a_min)
    if a_max is not None:
        result = globals()["minimum"](result, operand(a_max, a) if not _is_number(a_max) else a_max)
    return deliver(result, out)


def around(x=None, decimals=0, out=None, **kwargs):
    """The elements rounded to so many decimal places; halves go to the even neighbour.

    Parameters
    ----------
    x : ndarray
        Data of any dtype, which the result has, too.
    decimals : int
        Places to keep behind the point; if negative, places before it that become 0.
    out : ndarray, optional
        Where the result goes.

    Examples
    --------
    >>> mx.np.around(mx.np.array([0.25, 1.5, 2.5]), 0).asnumpy().tolist()
    [0.0, 2.0, 2.0]
    """
    if out is None and not kwargs and isinstance(x, NDArrayBase) and x._dtype_id not in _LONG:     # the common call
        return call("_npi_around", (x,), decimals=int(decimals))
    x = kwargs.pop("a", x)      # NumPy's name
    where, dtype = kwargs.pop("where", True), _options("around", kwargs)
    if _is_number(x):
        return onp.round(x, decimals)
    run = lambda inputs, into: call("_npi_around", inputs, into, decimals=int(decimals))   # noqa: E731
    x = operand(x)
    if decimals >= 0 and not is_symbol(x) and x._dtype_id in _LONG:     # the operator computes with doubles, which end at 2**53
        run = lambda inputs, into: call("_copy", inputs, into)      # noqa: E731
    return _finish("around", run, [x], "same", out, where, dtype)


def round(x=None, decimals=0, out=None, **kwargs):   # pylint: disable=redefined-builtin
    """As :func:`around`.

    Examples
    --------
    >>> mx.np.round(mx.np.array([1.5, 2.5])).asnumpy().tolist()
    [2.0, 2.0]
    """
    return around(x, decimals, out, **kwargs)


round_ = round


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs):
    """The elements, with numbers in place of NaN and infinities.

    Parameters
    ----------
    x : ndarray
        Data of any dtype, which the result has, too.
    copy : bool
        False: `x` itself is changed.
    nan, posinf, neginf : number
        What NaN, infinity and minus infinity become. None: the largest and the smallest number of
        the dtype.

    Examples
    --------
    >>> mx.np.nan_to_num(mx.np.array([1.0, mx.np.nan])).asnumpy().tolist()
    [1.0, 0.0]
    """
    out, where, dtype = kwargs.pop("out", None), kwargs.pop("where", True), _options("nan_to_num", kwargs)
    if _is_number(x):
        return onp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    x = operand(x)
    if not copy and out is None:
        out = x
    params = {"nan": float(nan), "posinf": None if posinf is None else float(posinf), "neginf": None if neginf is None else float(neginf)}
    run = lambda inputs, into: call("_npi_nan_to_num", inputs, into, **params)   # noqa: E731
    return _finish("nan_to_num", run, [x], "same", out, where, dtype)


def divmod(x1, x2, out=(None, None), **kwargs):   # pylint: disable=redefined-builtin
    """``(floor_divide(x1, x2), mod(x1, x2))``.

    Examples
    --------
    >>> [r.asnumpy().tolist() for r in mx.np.divmod(mx.np.array([7.0, -7.0]), 2)]
    [[3.0, -4.0], [1.0, 1.0]]
    """
    quotient = globals()["floor_divide"](x1, x2, **kwargs)
    return deliver(quotient, out[0]), deliver(globals()["mod"](x1, x2, **kwargs), out[1])


def modf(x, out=(None, None), **kwargs):
    """Fractions and whole parts, both with the sign of `x`.

    Examples
    --------
    >>> [r.asnumpy().tolist() for r in mx.np.modf(mx.np.array([2.5, -0.25]))]
    [[0.5, -0.25], [2.0, -0.0]]
    """
    _options("modf", kwargs)
    if _is_number(x):
        return onp.modf(x)
    whole = call("_npi_fix", (operand(x),))
    rest = call("_npi_subtract", (operand(x), whole))
    rest = call("_npi_copysign", (call("_npi_where", (call("_npi_isinf", (whole,)), call("zeros_like", (whole,)), rest)), whole))
    return deliver(rest, out[0]), deliver(whole, out[1])


def float_power(x1, x2, out=None, where=True, **kwargs):
    """``power(x1, x2)`` in float64.

    Examples
    --------
    >>> mx.np.float_power(mx.np.array([2, 3], dtype="int32"), -1).asnumpy()[0].item()
    0.5
    """
    if _is_number(x1) and _is_number(x2):
        return onp.float_power(x1, x2)
    x1, x2 = (x if _is_number(x) else call("_npi_cast", (operand(x),), dtype="float64") for x in (x1, x2))
    return globals()["power"](x1, x2, out, where, **kwargs)


def signbit(x, out=None, where=True, **kwargs):
    """Whether the sign is minus, also that of zero and NaN.

    Examples
    --------
    >>> mx.np.signbit(mx.np.array([-0.0, 0.0])).asnumpy().tolist()
    [True, False]
    """
    dtype = _options("signbit", kwargs)
    if _is_number(x):
        return onp.signbit(x)

    def run(inputs, into):
        signs = call("_npi_rcopysign_scalar", inputs, scalar=1.0, is_int=False)
        return call("_npi_less_scalar", (signs,), into, scalar=0.0, is_int=True)
    return _finish("signbit", run, [operand(x)], "bool", out, where, dtype)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements are about equal: ``absolute(a - b) <= atol + rtol * absolute(b)``.

    Parameters
    ----------
    a, b : ndarray or number
        What is compared; they broadcast.
    rtol, atol : float
        Relative and absolute tolerance. They are seen in the dtype of the comparison: in float16,
        1e-08 is 0.
    equal_nan : bool
        Whether NaN is close to NaN.

    Examples
    --------
    >>> mx.np.isclose(mx.np.array([1.0, 2.0]), mx.np.array([1.0, 2.1])).asnumpy().tolist()
    [True, False]
    """
    if _is_number(a) and _is_number(b):
        return onp.isclose(a, b, rtol, atol, equal_nan)
    like = a if isinstance(a, NDArrayBase) else b
    a, b = operand(a, like), operand(b, like)
    if not is_symbol(b) and b.dtype == onp.bool_:
        b = call("_npi_cast", (b,), dtype=default_float())
    if not is_symbol(a) and a.dtype == onp.bool_:
        a = call("_npi_cast", (a,), dtype=default_float())
    bound = call("_npi_multiply_scalar", (call("_npi_absolute", (b,)),), scalar=float(rtol), is_int=False)
    bound = call("_npi_add_scalar", (bound,), scalar=float(atol), is_int=False)
    near = call("_npi_less_equal", (call("_npi_absolute", (call("_npi_subtract", (a, b)),)), bound))
    near = call("_npi_logical_and", (near, call("_npi_isfinite", (b,))))
    near = call("_npi_logical_or", (near, call("_npi_equal", (a, b))))
    if equal_nan:
        near = call("_npi_logical_or", (near, call("_npi_logical_and", (call("_npi_isnan", (a,)), call("_npi_isnan", (b,))))))
    return near


def _truth(condition):
    """Whether all are true, as a bool of Python; waits for them."""
    return bool(condition) if isinstance(condition, (bool, onp.bool_)) else bool(call("_npi_all", (condition,)).asnumpy().item())


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are about equal (see :func:`isclose`), as a bool of Python.

    Examples
    --------
    >>> mx.np.allclose(mx.np.array([1.0, 2.0]), mx.np.array([1.0, 2.0]))
    True
    """
    return _truth(isclose(a, b, rtol, atol, equal_nan))


def _both(a1, a2):
    """Both as arrays, or None where one can be none: NumPy's comparisons find it different."""
    like = a1 if isinstance(a1, NDArrayBase) else a2
    try:
        return operand(a1, like), operand(a2, like)
    except TypeError:
        return None


def array_equal(a1, a2, equal_nan=False):
    """Whether the arrays have one shape and equal elements, as a bool of Python.

    Examples
    --------
    >>> mx.np.array_equal(mx.np.array([1.0, 2.0]), mx.np.array([1.0, 2.0]))
    True
    """
    both = _both(a1, a2)
    if both is None:
        return False
    a1, a2 = both
    if a1.shape != a2.shape:
        return False
    equal = call("_npi_equal", (a1, a2))
    if equal_nan:
        equal = call("_npi_logical_or", (equal, call("_npi_logical_and", (call("_npi_isnan", (a1,)), call("_npi_isnan", (a2,))))))
    return _truth(equal)


def array_equiv(a1, a2):
    """Whether the arrays broadcast and then have equal elements, as a bool of Python.

    Examples
    --------
    >>> mx.np.array_equiv(mx.np.array([1.0, 1.0]), mx.np.array([[1.0], [1.0]]))
    True
    """
    both = _both(a1, a2)
    if both is None:
        return False
    a1, a2 = both
    try:
        onp.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return _truth(call("_npi_equal", (a1, a2)))
