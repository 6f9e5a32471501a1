"""How functions of mx.np and mx.npx run operators: the contract that all of their modules keep.

One function serves arrays, hybridized blocks and symbols. A function of mx.np is written once, in
Python, on top of ``call(name, inputs, out=None, **parameters)`` of the binding:

* with ``mx.np.ndarray`` inputs an operator runs at once, and its results are of that class;
* while a hybridized block is traced (deferred compute) the same call adds a node to the graph;
* with inputs that are symbols it returns a symbol of NumPy semantics. ``mx.sym.np.NAME`` is
  ``symbolic(mx.np.NAME)``: functions without inputs (``zeros``, ``arange``, ``random.normal``) make
  symbols there.

So a function does not read shapes or values of its inputs if the record can do it; what it cannot
do without them, it does behind ``is_symbol(x)``, with an error for symbols that says so.

Rules for a function:

* Operands of a function of several arrays may be numbers, nested lists or NumPy arrays. They go
  through :func:`operand`, which puts them on the device of the array beside them.
* Operands of a function that needs one dtype go through :func:`promoted`. The rule stands in C++
  (``src/operator/record/numpy_types.h``), and :func:`promoted_dtype` asks for it.
* Arrays of mx.nd are refused by the binding, with what to call (``as_np_ndarray()``).
* ``out=`` goes to `call`, or to :func:`deliver` where the result came another way. Both
  return `out`.
* A function that makes an array takes ``dtype=None, ctx=None, device=None``; the last two are names
  of one thing (:func:`device_of`). Default dtypes are :func:`default_float` and
  :func:`default_int`, which obey ``npx.set_np(dtype=True)``.
* Parameters that are None are left out, so that the record's default holds.
* A record with several results gives a list; functions return tuples where NumPy does.
* Every public function is in ``__all__`` of its module. ``mxnet/numpy/multiarray.py`` collects the
  modules that `_PARTS` names there, and ``mxnet.numpy`` shows them.
* What is not native calls NumPy through ``mxnet.numpy.fallback``, which warns once for each
  function and refuses while autograd records.
"""
import ctypes
import functools
import importlib
import sys
import threading

import numpy as onp

from .. import _dtypes
from .._binding import _set_making, _set_symbol_call, NDArrayBase, NumpyFunction, numpy_call as call, of_one_dtype, set_symbols
from ..base import _LIB, _MXTypeError, _MXValueError, check_call
from ..context import _scopes as _device_scopes, Context, context_of, current_context
from ..ndarray import _native
from ..util import is_np_default_dtype

__all__ = ["ORDERS", "call", "check_order", "compiled", "operand", "deliver", "device_of", "default_float", "default_int", "dtype_name",
           "empty_array", "filled_array", "from_values", "is_symbol", "natural_dtype", "place_name", "of_one_dtype",
           "promoted", "promoted_dtype", "symbolic"]


class _Mode(threading.local):
    symbols = False    # as `set_symbols` has it


_mode = _Mode()


def is_symbol(value):
    """Whether `value` is a symbol."""
    module = sys.modules.get("mxnet.symbol")
    # without the class: another thread is loading the module
    return module is not None and isinstance(value, getattr(module, "SymbolBase", ()))


def symbolic(function):
    """`function` of mx.np as one of mx.sym.np: without inputs it makes a symbol, too."""
    @functools.wraps(function)
    def of_symbols(*args, **kwargs):
        before = set_symbols(True)
        _mode.symbols = True
        try:
            return function(*args, **kwargs)
        finally:
            _mode.symbols = before
            set_symbols(before)
    return of_symbols


def _symbol_call(name, inputs, params):
    for i, x in enumerate(inputs):
        if not is_symbol(x):
            raise _MXTypeError(f"[{name}] input {i} is a {type(x).__name__}; accepted: an array of mx.np")
    create = importlib.import_module("mxnet.symbol.numpy").create    # which stands on this module
    return create(name, list(inputs), params)


_set_symbol_call(_symbol_call)


def compiled(record, kind="reduce"):
    """Decorator of functions whose common calls the binding takes to the record: those of kind
    "reduce" with a, axis (or axes, or newshape) and keepdims alone, methods of kind "spread" also
    with the entries of axes or newshape one by one, those of kind "make" with a shape or the bounds
    of a range, and a dtype, "fill" with a number behind the shape, and methods of kind "cast" with
    a dtype. Those of kind "numbers" take as many whole numbers as the record has parameters, and
    those of kind "vector" none. Of kind "blank" and "blank_like" are functions whose arrays have
    whatever the memory held; of kind "array" and "as_array" those of values; of kind "copy" and
    "item" methods without arguments."""
    def decorate(function):
        attributes = {"__name__": function.__name__, "__qualname__": function.__qualname__, "__module__": "mxnet.numpy",
                      "__doc__": function.__doc__, "__wrapped__": function}
        return NumpyFunction(function, attributes, record, "", "", kind)
    return decorate


_HOME = Context("cpu", 0)    # where operators without inputs make arrays unless told otherwise
_set_making(_device_scopes, _HOME, _dtypes._NUMBERS)


def place_name(ctx, device):
    """The name of the device on which to make an array: that which is asked for, or the current
    one. None where operators make arrays anyway, and for symbols unless one is asked for."""
    if ctx is None and device is None:
        place = _HOME if _mode.symbols else current_context()
        return None if place is _HOME else str(place)
    return str(device_of(ctx, device))


def operand(value, like=None, dtype=None):
    """`value` as something that `call` takes: arrays and symbols as they are; numbers, nested
    lists and NumPy arrays as arrays on the device of `like` (or the current one), of NumPy's dtype
    for them, or float32 for Python's floats: float64 if `like` is, so that 0.1 is 0.1 in both."""
    if isinstance(value, NDArrayBase) or is_symbol(value):
        return value
    if not isinstance(like, NDArrayBase):
        return from_values(value, current_context(), dtype)
    if dtype is None and like._dtype_id == _FLOAT64 and not isinstance(value, onp.ndarray) and natural_dtype(value) == "float32":
        dtype = "float64"
    return from_values(value, like.context, dtype)


_FLOAT64 = _dtypes.number("float64")
_NUMBERS = {int: 1, float: 2, bool: 0}    # numbers of Python, as MXOpPromoteDTypes knows them


@functools.lru_cache(maxsize=1024)
def _promoted_id(ids, number, default_is_float64):    # pylint: disable=unused-argument
    """The number of the dtype in which those of `ids` meet; the library knows the last argument."""
    result = ctypes.c_int()
    check_call(_LIB.MXOpPromoteDTypes(len(ids), (ctypes.c_int * len(ids))(*ids), number, ctypes.byref(result)))
    return result.value


def promoted_dtype(ids, numbers=()):
    """The number of the dtype in which arrays and numbers of Python meet, as operators have it.

    `ids` are the numbers of the arrays' dtypes, at least one. bool counts as a number that fits
    every array.
    """
    kind = max((_NUMBERS[type(n)] for n in numbers), default=0)
    return _promoted_id(tuple(sorted(set(ids))), kind, is_np_default_dtype())


def promoted(values):
    """The operands of a function, in the dtype in which they meet (:func:`promoted_dtype`).

    Numbers of Python take the dtype of the arrays beside them, if it has room for them. Symbols
    have no dtype yet: where one is among the operands, they stay as they are.
    """
    if of_one_dtype(values):
        return values
    like = next((v for v in values if isinstance(v, NDArrayBase)), None)
    weak = [v for v in values if type(v) in _NUMBERS]
    operands = [v if like is not None and type(v) in _NUMBERS else operand(v, like=like) for v in values]
    if any(is_symbol(v) for v in operands):
        return [operand(v, like=like) for v in operands]
    ids = [v._dtype_id for v in operands if isinstance(v, NDArrayBase)]
    if not ids:
        return operands
    number = promoted_dtype(ids, weak if like is not None else ())
    name = _dtypes.NAMES[number]
    return [operand(v, like=like, dtype=name) if not isinstance(v, NDArrayBase)
            else v if v._dtype_id == number else call("_npi_cast", (v,), dtype=name) for v in operands]


def _ids_within(values):
    """The numbers of the dtypes of the arrays of mx.np in nested lists."""
    return [i for v in values for i in ((v._dtype_id,) if isinstance(v, NDArrayBase) else _ids_within(v) if isinstance(v, (list, tuple))
                                        else ())]


def natural_dtype(value):
    """The dtype that an operand made of `value` has: its own for a NumPy array or scalar, that of
    the arrays in a list; bool, int64 or the default float for Python's numbers."""
    if type(value) is float:
        return default_float()
    if isinstance(value, (onp.ndarray, onp.generic)) and not isinstance(value, (float, complex)):
        return value.dtype
    if isinstance(value, (list, tuple)):
        ids = _ids_within(value)
        if ids:
            return _dtypes.NAMES[promoted_dtype(ids)]
    kind = onp.asarray(value).dtype.kind
    return {"b": "bool", "i": "int64", "u": "uint64"}.get(kind) or default_float()


def from_values(values, device=None, dtype=None):
    """An mx.np array with the values of a number, nested lists or a NumPy array."""
    return _native.from_values(values, device or current_context(), natural_dtype(values) if dtype is None else dtype, True)


def device_of(ctx=None, device=None):
    """The device that a function is to use: `device`, or `ctx`, its older name, or the current
    one."""
    chosen = device if device is not None else ctx
    if chosen is None:
        return current_context()
    if isinstance(chosen, str):
        return context_of(chosen)
    if not isinstance(chosen, Context):
        raise _MXTypeError(f"[device] got {chosen!r}; accepted: a Context such as mx.cpu(0)")
    return chosen


def default_float():
    """float32, or float64 with NumPy's default dtypes."""
    return "float64" if is_np_default_dtype() else "float32"


def default_int():
    """The dtype of integers that functions make: int64."""
    return "int64"


def dtype_name(dtype, default=None):
    """The name that records know a dtype by; None stays None, or becomes `default`."""
    return default if dtype is None else _dtypes.name(dtype)


def empty_array(shape, device=None, dtype="float32"):
    """An mx.np array with whatever the memory held."""
    return _native._new_array(shape, device or current_context(), dtype, numpy=True)


def filled_array(name, shape, device=None, dtype="float32", value=None):
    """An mx.np array that the operator `name` fills: ``_npi_zeros``, ``_npi_ones``, or
    ``_npi_full`` with a value."""
    return _native._new_filled(name, shape, device or current_context(), dtype, value, True)


ORDERS = ("C", "K", "A", "F")    # NumPy's orders in memory, which mean one thing: all arrays lie row by row


def check_order(function, order):
    """Refuses what is none of NumPy's orders."""
    if order not in ORDERS:
        raise ValueError(f"[{function}] order={order!r}; accepted: {', '.join(ORDERS)}")


def check_out(function, out):
    """Something else than an array in place of one that results are written into."""
    if not (out is None or isinstance(out, NDArrayBase) or is_symbol(out)):
        raise TypeError(f"[{function}] `out` is a {type(out).__name__}; accepted: an array of mx.np")


def deliver(result, out):
    """`result`, or `out` with it written there, cast to its dtype."""
    if out is None:
        return result
    check_out("out", out)
    if tuple(out.shape) != tuple(result.shape):
        raise _MXValueError(f"[out] an array of shape {out.shape} for a result of shape {result.shape}; accepted: equal shapes")
    call("_copyto", (result,), out)
    return out
