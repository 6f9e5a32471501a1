"""Operators as functions of symbols, written from their records when they are first used."""
import ctypes
import keyword

from .. import _dtypes
from .._operators import functions as _op_functions
from .._binding import attr_to_str
from ..attribute import AttrScope
from ..base import SymbolHandle, _LIB, _Null, c_str_array, check_call, CheckedTypeError
from ..name import NameManager

_symbol_class = None   # set by _symbol.py
_numpy_class = None    # that of symbols with NumPy's rules; set when the package mxnet.symbol.numpy is imported


def _set_numpy_class(cls):
    global _numpy_class
    _numpy_class = cls


def _class_of(inputs):
    """The class of what is made of symbols: that of the first one, as with arrays."""
    first = next(iter(inputs.values() if isinstance(inputs, dict) else inputs), None)
    return _numpy_class if _numpy_class is not None and isinstance(first, _numpy_class) else _symbol_class


def create(op_handle, hint, inputs, keys, values, name=None, attr=None, cls=None):
    """Makes a symbol of an operator, of the class `cls` or that of the inputs.

    `inputs` is a list of symbols, or a dictionary from input names to symbols; inputs that are
    missing become variables. `hint` is what an automatic name begins with.
    """
    attributes = AttrScope._current.value.get(attr)
    text = {k: attr_to_str(v) for k, v in attributes.items()}
    cls = cls or _class_of(inputs)
    dtype = _dtypes.spelled if cls is _numpy_class else _dtypes.given
    text.update(zip(keys, (attr_to_str(dtype(v) if k == "dtype" else v) for k, v in zip(keys, values))))
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateAtomicSymbol(ctypes.c_void_p(op_handle), ctypes.c_uint(len(text)),
                                               c_str_array(list(text)),
                                               c_str_array(list(text.values())),
                                               ctypes.byref(handle)))
    symbol = cls(handle)
    symbol._compose(inputs, NameManager._current.value.get(name, hint))
    return symbol


def invoke(op_name, hint, inputs, **params):
    """Makes a symbol of the operator `op_name` from a list of symbols and parameters."""
    name, attr = params.pop("name", None), params.pop("attr", None)
    params = {k: v for k, v in params.items() if v is not _Null}
    return create(_op_functions.op_info(op_name).handle, hint, list(inputs), list(params), list(params.values()), name, attr)


def _check_inputs(function, inputs, cls=None):
    for key, value in inputs.items() if isinstance(inputs, dict) else enumerate(inputs):
        if not isinstance(value, cls or _symbol_class):
            raise CheckedTypeError(f"[{function}] input {key} is a {type(value).__name__}; accepted: a {(cls or _symbol_class).__name__}"
                                   + (" (as_np_ndarray() makes a symbol one)" if cls else ""))


def _extra(info, kwargs):
    """Keyword arguments that are no parameters: hidden attributes stay, and those of operators
    without parameters; anything else is an error."""
    if info.open:
        return {k: str(v) for k, v in kwargs.items()}
    unknown = {k: v for k, v in kwargs.items()
               if not (k.startswith("__") and k.endswith("__"))
               and k not in ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")}
    if unknown:
        _op_functions.refuse_or_ignore(info, unknown, 4)
    return kwargs


def _make_variadic(info, hint, cls=None):
    counter = info.counter

    def function(*args, name=None, attr=None, out=None, **kwargs):
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = args[0]
        named = {k: kwargs.pop(k) for k in list(kwargs) if isinstance(kwargs[k], _symbol_class)}
        inputs = list(args) if not named else [*args, *named.values()]
        _check_inputs(info.name, inputs, cls)
        if info.open:   # a custom operator has named inputs
            if named and args:
                raise CheckedTypeError(f"[{info.name}] got inputs by position and by name ({', '.join(named)}); accepted: one of the two")
            inputs = named or inputs
        known = {p[0] for p in info.params} | {counter}
        params = {k: kwargs.pop(k) for k in list(kwargs) if k in known and kwargs[k] is not _Null}
        params = {k: v for k, v in params.items() if v is not _Null}
        kwargs = {k: v for k, v in kwargs.items() if v is not _Null}
        if counter:
            params.setdefault(counter, len(inputs))
        params.update(_extra(info, kwargs))
        return create(info.handle, hint, inputs, list(params), list(params.values()), name, attr, cls)
    return function


def _make_fixed(info, hint, function_name, cls=None):
    python = {n: n + "_" if keyword.iskeyword(n) else n for n in info.inputs + [p[0] for p in info.params]}
    params = [p[0] for p in info.params if p[0] not in info.inputs]
    signature = [f"{python[n]}=None" for n in info.inputs] + [f"{python[p]}=_Null"
                                                              for p in params] + ["name=None", "attr=None", "out=None", "**kwargs"]
    lines = [f"def {function_name}({', '.join(signature)}):", "    inputs = {}; params = {}"]
    lines += [f"    if {python[n]} is not None: inputs[{n!r}] = {python[n]}" for n in info.inputs]
    lines += [f"    if {python[p]} is not _Null: params[{p!r}] = {python[p]}" for p in params]
    lines += ["    if kwargs: params.update(_extra(_info, kwargs))",
              "    _check_inputs(_info.name, inputs, _cls)",
              "    return _create(_info.handle, _hint, inputs, list(params), list(params.values()), name, attr, _cls)"]
    scope = {"_Null": _Null, "_create": create, "_info": info, "_hint": hint, "_extra": _extra, "_check_inputs": _check_inputs,
             "_cls": cls}
    exec(compile("\n".join(lines), f"<operator {function_name}>", "exec"), scope)
    return scope[function_name]


def symbol_function(op_name, short=None, cls=None):
    """Returns ``f(*symbols, name=None, attr=None, **params)`` for an operator; `short` is its name
    in its namespace, `cls` the class of its inputs and results where only one is accepted."""
    info = _op_functions.op_info(op_name)
    short = short or op_name
    function_name = short if short.isidentifier() and not keyword.iskeyword(short) else "op_" + short
    hint = short.lower()
    function = _make_variadic(info, hint, cls) if info.variadic else _make_fixed(info, hint, function_name, cls)
    function.__name__ = function.__qualname__ = short
    function.__doc__ = _op_functions._docstring(info, op_name, "Symbol")
    function.__module__ = "mxnet.symbol"
    return function
