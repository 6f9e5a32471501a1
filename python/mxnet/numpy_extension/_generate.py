"""Functions of mx.npx, written from the records of ``_npx_*`` operators when they are first asked
for.

A generated function costs what its twin in mx.nd costs: it collects the parameters that differ from
their defaults and calls the binding. Symbols take the way of the exception that the binding raises
for them, so arrays do not pay for the question.
"""
import ast
import keyword

from .._operators import functions as _op_functions
from .._binding import invoke_np
from ..base import _MXTypeError, _Null
from ..numpy import _dispatch
from ._examples import EXAMPLES
from ._signatures import SIGNATURES

__all__ = ["generate"]


class _Argument:
    """An argument of a function: its name in the record and in Python, whether it is an array, the
    source of its default, whether that is handed over, too, and whether None stands for it."""

    __slots__ = ("real", "name", "is_array", "default", "always", "optional")

    def __init__(self, real, name, is_array, default="None", always=False, optional=False):
        self.real, self.name, self.is_array, self.default, self.always = real, name, is_array, default, always
        self.optional = optional


def _identifier(name):
    return name + "_" if keyword.iskeyword(name) else name


def _arguments(info, signature):
    """The arguments in the order of the signature, or of the record without one."""
    if signature is None:
        return [_Argument(n, _identifier(n), True) for n in info.inputs] + [
            _Argument(p[0], _identifier(p[0]), False, "_Null") for p in info.params if p[0] not in info.inputs and p[0] != info.counter]
    real = {v: k for k, v in signature.renamed.items()}
    arrays = {*info.inputs, *signature.arrays}
    return [_Argument(real.get(n, n), n, real.get(n, n) in arrays, default, always, n in signature.optional)
            for n, default, always in signature.arguments]


def _inputs_source(names):
    """Source of the sequence of arrays that were given."""
    if len(names) == 1:
        return f"({names[0]},) if {names[0]} is not None else ()"
    if len(names) == 2:
        return f"({names[0]}, {names[1]}) if {names[1]} is not None else ({names[0]},) if {names[0]} is not None else ()"
    return f"[a for a in ({', '.join(names)}{',' if names else ''}) if a is not None]"


def _collect(params):
    """Lines that collect the parameters that are not left at their defaults."""
    lines = ["    _keys = []; _values = []"] if params else []
    for p in params:
        test = "" if p.always else f"if {p.name} is not _d_{p.name}{f' and {p.name} is not None' if p.optional else ''}: "
        lines.append(f"    {test}_keys.append({p.real!r}); _values.append({p.name})")
    return lines


def generate(name, short, module="mxnet.numpy_extension", records=False):
    """The function `short` of mx.npx, which runs the operator `name`. With `records` its signature
    and defaults are the record's whatever the table says.

    Raises
    ------
    MXNetError
        if there is no such operator.
    """
    info, signature = _op_functions.op_info(name), None if records else SIGNATURES.get(short)
    arguments = _arguments(info, signature)
    arrays, params = [a for a in arguments if a.is_array], [a for a in arguments if not a.is_array]
    scope = {"_invoke": invoke_np, "_H": info.handle, "_TypeError": _MXTypeError, "_symbols": _symbols, "_name": name,
             "_check": _check_keywords, "_aliases": signature.renamed if signature else {}, "_mode": _dispatch._mode}
    for p in params:
        scope["_d_" + p.name] = _Null if p.default == "_Null" else ast.literal_eval(p.default)
    pairs = "tuple(_keys), tuple(_values)" if params else "(), ()"
    if info.variadic and signature is None:
        first = arrays[0].name
        head = [f"*{first}"]
        body = [f"    if len({first}) == 1 and isinstance({first}[0], (list, tuple)): {first} = {first}[0]",
                f"    kwargs.pop({info.counter!r}, None)", "    if kwargs: _check(_name, kwargs, _aliases)",
                f"    inputs = {first}"]
        named = f"list({first})"
    else:
        head = []
        body = ["    if kwargs:", "        kwargs = _check(_name, kwargs, _aliases)"]
        body += [f"        {n} = kwargs.get({n!r}, {n})" for n in scope["_aliases"].values()]
        body += [f"    if {condition}: {array} = None" for array, condition in (signature.unless if signature else ())]
        body.append(f"    inputs = {_inputs_source([a.name for a in arrays])}")
        named = "{" + ", ".join(f"{a.real!r}: {a.name}" for a in arrays) + "}"
    body += _collect(params)
    if not arrays:
        body.append(f"    if _mode.symbols: return _symbols(None, _name, {{}}, {pairs}, name)")
    body += ["    try:", f"        return _invoke(_H, inputs, {pairs}, out)",
             "    except _TypeError as error:", f"        return _symbols(error, _name, {named}, {pairs}, name)"]
    head += [f"{a.name}=None" if a.is_array else f"{a.name}=_d_{a.name}" for a in arguments if not (head and a.is_array)]
    return _compile(info, name, short, module, [*head, "out=None", "name=None", "**kwargs"], body, scope)


def _compile(info, name, short, module, signature, body, scope):
    exec(compile(f"def {short}({', '.join(signature)}):\n" + "\n".join(body), f"<operator {name}>", "exec"), scope)
    function = scope[short]
    text = _op_functions._docstring(info, name, "ndarray")
    if short in EXAMPLES and ">>>" not in text:
        text += "\n\nExamples\n--------" + EXAMPLES[short]
    function.__doc__ = text
    function.__module__ = module
    return function


def _check_keywords(name, kwargs, aliases):
    """{Python's name: value} of arguments under their other names; raises TypeError for unknown
    ones."""
    found = {aliases[k]: v for k, v in kwargs.items() if k in aliases}
    rest = {k: v for k, v in kwargs.items() if k not in aliases}
    if rest:
        _op_functions._bad_keywords(name, rest)
    return found


def _symbols(error, name, inputs, keys, values, given_name):
    """A symbol, if symbols are among the inputs; raises `error` if not."""
    named = inputs if isinstance(inputs, dict) else dict(enumerate(inputs))
    named = {k: v for k, v in named.items() if v is not None}
    if error is not None and not any(_dispatch.is_symbol(v) for v in named.values()):
        raise error
    for k, v in named.items():
        if not _dispatch.is_symbol(v):
            raise _MXTypeError(f"[{name}] input {k} is a {type(v).__name__} beside symbols; accepted: symbols only") from None
    from ..symbol.numpy import create
    return create(name, named if isinstance(inputs, dict) else list(named.values()),
                  dict(zip(keys, values)), given_name)
