"""Python functions for operators, written from the operator records when they are first asked
for."""
import ctypes
import functools
import keyword
import os
import re
import sys
import warnings

from .. import _dtypes
from .._binding import invoke
from .._startup.interrupt import HeldInterrupt
from .._startup.names import hint_of_any
from ..base import MXNetError, OpHandle, _LIB, _MXTypeError, _Null, c_str, check_call, py_str


_names = ()


def op_names():
    """Names and aliases of all operators, those of loaded libraries among them."""
    global _names
    n, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(n), ctypes.byref(names)))
    if n.value != len(_names):      # names are added, never taken away
        _names = tuple(py_str(names[i]) for i in range(n.value))
    return _names


class OpInfo:
    """What a record says about calling its operator.

    Attributes: ``handle`` (int), ``name`` (canonical), ``doc``, ``graphs`` (names of the graphs
    that come before the inputs), ``inputs`` (names), ``variadic`` (takes a list of arrays),
    ``counter`` (name of the parameter that counts them and is filled in, or ''), ``params`` (list
    of (name, type text, description)), ``open`` (takes any other keyword argument as a text: those
    of a custom operator are its own).
    """

    __slots__ = ("handle", "name", "doc", "graphs", "inputs", "variadic", "counter", "params", "open")

    def __init__(self, name):
        handle = OpHandle()
        check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
        text = ctypes.c_char_p
        real, doc, count, key, kind = text(), text(), ctypes.c_uint(), text(), text()
        names, types, docs = (ctypes.POINTER(text)() for _ in range(3))
        check_call(_LIB.MXSymbolGetAtomicSymbolInfo(handle, *(ctypes.byref(x) for x in (real, doc, count, names, types, docs, key, kind))))
        self.handle = handle.value
        self.name = py_str(real.value)
        self.doc = py_str(doc.value)
        self.counter = py_str(key.value)
        args = [(py_str(names[i]), py_str(types[i]), py_str(docs[i])) for i in range(count.value)]
        self.variadic = any(a[1] == "NDArray-or-Symbol[]" for a in args)
        self.inputs = [a[0] for a in args if a[1].startswith("NDArray-or-Symbol")]
        self.graphs = [a[0] for a in args if a[1] == "Symbol"]
        self.params = [a for a in args if a[1] != "Symbol" and not a[1].startswith("NDArray-or-Symbol") and not a[0].startswith("**")]
        self.open = any(a[0] in ("op_type", "info", "**attrs") for a in args) and self.variadic


@functools.lru_cache(None)
def op_info(name):
    """The record's calling information; raises MXNetError for an unknown name."""
    return OpInfo(name)


@functools.cache
def _example_text():
    """Sessions of an interpreter, each behind the canonical name of its operator in brackets
    (tools/record_examples.py)."""
    with open(os.path.join(os.path.dirname(__file__), "examples.txt"), encoding="utf-8") as f:
        return f.read()


def _example(name):
    """The lines of an operator's session; [] when it has none."""
    _, found, rest = _example_text().partition(f"\n\n[{name}]\n")
    return rest.partition("\n\n[")[0].rstrip("\n").split("\n") if found else []


def readable(type_text):
    """A parameter's type with a default as a programmer writes it: the library prints the digits of
    the 32 bits that it keeps.

    >>> readable("float, optional, default=0.899999976")
    'float, optional, default=0.9'
    """
    def short(found):
        import numpy as np
        return "default=" + str(np.float32(found.group(1)))

    return re.sub(r"default=(-?\d+\.\d{7,}(?:e[-+]?\d+)?)$", short, type_text)


def _docstring(info, name, kind):
    lines = [info.doc or f"Operator {info.name}.", "", "Parameters", "----------"]
    lines += [f"{n} : Symbol" for n in info.graphs]
    lines += [f"{n} : {kind}{'[]' if info.variadic else ''}" for n in info.inputs]
    for pname, ptype, pdoc in info.params:
        lines += [f"{pname} : {readable(ptype)}"] + ([f"    {pdoc}"] if pdoc else [])
    example = _example(info.name)
    if example:
        lines += ["", "Examples", "--------", *example]
    return "\n".join(lines)


def _identifier(name):
    return name + "_" if keyword.iskeyword(name) else name


def ndarray_function(name, short=None):
    """Returns ``f(*arrays, out=None, name=None, **params)`` for an operator. `short` is its name in
    its namespace.

    Inputs come first, then parameters, in the record's order; each may be given by position or by
    keyword.
    """
    info = op_info(name)
    params = [_identifier(p[0]) for p in info.params]
    real = {_identifier(p[0]): p[0] for p in info.params}
    scope = {"_invoke": invoke, "_Null": _Null, "_H": info.handle, "_bad": _bad_keywords, "_name": name,
             "_held": HeldInterrupt,
             "_inputs": _inputs_and_arguments, "_dtype": _dtypes.spelled if name.startswith("_np") else _dtypes.given}
    if info.variadic:
        params = [p for p in params if real[p] != info.counter]
        signature = ["*" + info.inputs[0]] + [f"{p}=_Null" for p in params] + ["out=None", "name=None", "**kwargs"]
        head = [f"    if len({info.inputs[0]}) == 1 and isinstance({info.inputs[0]}[0], (list, "
                f"tuple)): {info.inputs[0]} = {info.inputs[0]}[0]",
                f"    inputs = {info.inputs[0]}", f"    _count = kwargs.pop({info.counter!r}, _Null)"]
        if info.open:
            head = [f"    {info.inputs[0]} = _inputs({info.inputs[0]}, kwargs, {info.inputs[0]!r})", *head]
    else:
        signature = [f"{_identifier(n)}=None" for n in info.inputs] + [f"{p}=_Null" for p in params] + ["out=None", "name=None", "**kwargs"]
        inputs = [_identifier(n) for n in info.inputs]
        if len(inputs) == 1:
            head = [f"    inputs = ({inputs[0]},) if {inputs[0]} is not None else ()"]
        elif len(inputs) == 2:
            head = [f"    inputs = ({inputs[0]}, {inputs[1]}) if {inputs[1]} is not None else "
                    f"({inputs[0]},) if {inputs[0]} is not None else ()"]
        else:
            head = [f"    inputs = [a for a in ({', '.join(inputs)}{',' if inputs else ''}) if a is not None]"]
    body = head + ([] if info.open else ["    if kwargs: _bad(_name, kwargs)"])
    if params or info.variadic:
        # no name of a parameter
        body += ["    _keys = list(kwargs); _values = [str(kwargs[k]) for k in _keys]" if info.open else "    _keys = []; _values = []"]
        body += [f"    if {p} is not _Null: _keys.append({real[p]!r}); _values.append({'_dtype(dtype)' if p == 'dtype' else p})"
                 for p in params]
        if info.variadic:   # a count that is given is checked
            body += [f"    if _count is not _Null: _keys.append({info.counter!r}); _values.append(_count)"]
        body += ["    return _invoke(_H, inputs, tuple(_keys), tuple(_values), out)"]
    else:
        body += ["    return _invoke(_H, inputs, (), (), out)"]
    if info.open:       # it calls back into Python, where Ctrl-C could get lost
        body = ["    with _held():", *("    " + line for line in body)]
    function_name = name if name.isidentifier() and not keyword.iskeyword(name) else "op_" + name
    exec(compile(f"def {function_name}({', '.join(signature)}):\n" + "\n".join(body), f"<operator {name}>", "exec"), scope)
    function = scope[function_name]
    function.__doc__ = _docstring(info, name, "NDArray")
    function.__name__ = function.__qualname__ = short or name
    function.__module__ = "mxnet.ndarray"
    return function


def _inputs_and_arguments(inputs, kwargs, name):
    """The arrays of a custom operator, which may be given by keyword; leaves its own arguments in
    `kwargs`."""
    for key in [k for k in kwargs if k.startswith("__") or k == "attr" and kwargs[k] is None]:
        del kwargs[key]
    if name in kwargs and not inputs and (hasattr(kwargs[name], "handle") or isinstance(kwargs[name], (list, tuple))):
        return (kwargs.pop(name),)
    return inputs


def _bad_keywords(name, kwargs):
    for key in list(kwargs):
        if key.startswith("__") or key in ("attr", "ctx") and kwargs[key] is None:
            del kwargs[key]
    if kwargs:
        refuse_or_ignore(op_info(name), kwargs, 4)


def refuse_or_ignore(info, unknown, stacklevel):
    """
    Arguments that an operator does not know: a TypeError. An operator without any parameters
    ignores them, as in 1.x, with a warning; arrays and symbols are no such arguments.
    """
    accepted = [*info.inputs, *(p[0] for p in info.params)]
    text = f"[{info.name}] got unexpected arguments {', '.join(unknown)}; {hint_of_any(unknown, accepted)}accepted: {', '.join(accepted)}"
    if info.params or info.variadic or any(hasattr(v, "handle") for v in unknown.values()):
        raise _MXTypeError(text)
    warnings.warn(text + ". They are ignored, as in 1.x", stacklevel=stacklevel)


def namespace_names(prefix):
    """Operator names under a prefix such as ``_contrib_``, without it."""
    return [n[len(prefix):] for n in op_names() if n.startswith(prefix)]


def attach(module, prefix, make, **options):
    """Returns ``__getattr__`` and ``__dir__`` for a module of functions of operators.

    Attribute NAME is what ``make(PREFIX + NAME, NAME, **options)`` gives for the operator PREFIX +
    NAME. It is made when it is first asked for. Names that begin with an underscore are operators
    only where there is no prefix.
    """
    hidden = "_" if prefix else "__"

    def getattribute(name):
        if not name.startswith(hidden):
            try:
                function = make(prefix + name, name, **options)
            except MXNetError:
                pass
            else:
                setattr(sys.modules[module], name, function)
                return function
        raise AttributeError(f"module {module!r} has no attribute {name!r}: no such operator")

    def directory():
        return sorted(set(vars(sys.modules[module])) | {n for n in namespace_names(prefix) if not n.startswith(hidden)})

    return getattribute, directory
