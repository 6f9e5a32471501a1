"""Type stubs of mx.np, mx.npx and their parts, from the functions' signatures; generate_docs.py
writes them.

The tables are in tools/numpy_stub_tables.py. A parameter's type follows from its name (`NAMES`) or
its default. A function gives an array, unless `RESULTS` or `OVERLOADS` knows it.
"""
import importlib
import inspect
import keyword
import re

import numpy as onp

from numpy_stub_tables import (ARRAYS, ATTRIBUTES, BINARY, CLASS_RESULTS, CLASSES, EXTRA, HEAD, METHODS, MODULES, NAMED, NAMES,
                               NAMES_OF_MODULES, OF_MODULES, OF_NUMBERS, OVERLOADS, RESULTS, SPECIAL, STARRED, TYPES, UFUNC)

def parameter_type(parameter, module=None):
    """The annotation of a parameter."""
    name, default = parameter.name, parameter.default
    if name in NAMES_OF_MODULES.get(module, ()):
        return NAMES_OF_MODULES[module][name]
    if name in NAMES:
        return NAMES[name]
    if name in ARRAYS:
        return "_ArrayLike" if default is not None else "_ArrayLike | None"
    for kind in (bool, int, float, str):
        if type(default) is kind:
            return {bool: "_bool", int: "int", float: "float", str: "str"}[kind]
    return "Any"


def signature(function, skip=0, types=None, module=None):
    """The parameters of a function without the first `skip`, with annotations. `types`: those that
    an overload fixes, by name. The default of one that fixes it away from the signature's is left
    out, behind a star if others before it have one; "single" stands for one positional argument in
    place of any number."""
    types, parts, bare_star, optional = types or {}, [], False, False
    parameters = [p for p in list(inspect.signature(function).parameters.values())[skip:]
                  if not p.name.startswith("_") and not keyword.iskeyword(p.name)]
    for at, p in enumerate(parameters):
        fixed = types.get(p.name)
        if fixed == "single":
            parts += ["x: _ArrayLike", "/"]
            continue
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = fixed or ("Any" if star == "**" else STARRED.get(p.name, "_ArrayLike") if star
                         else parameter_type(p, module))
        needed = p.default is p.empty or is_needed(fixed, p.default)
        only = p.kind == p.KEYWORD_ONLY or needed and optional and not star
        if only and not bare_star and not any(q.kind == q.VAR_POSITIONAL for q in parameters):
            parts.append("*")
            bare_star = True
        optional = optional or not needed
        parts.append(f"{star}{p.name}: {kind.rstrip('!?')}" + ("" if star or needed else " = ..."))
        if p.kind == p.POSITIONAL_ONLY and not any(q.kind == q.POSITIONAL_ONLY for q in parameters[at + 1:]):
            parts.append("/")
    return ", ".join(parts)


def is_needed(fixed, default):
    """Whether an overload demands an argument: one that differs from the default."""
    if fixed is None or fixed.endswith("?"):
        return False
    return fixed.endswith("!") or fixed in ("Literal[True]", "Literal[False]") and fixed != f"Literal[{default}]"


def functions_of(module):
    """The public functions of a module, by name."""
    found = {}
    for name in sorted(n for n in dir(module) if not n.startswith("_") and not keyword.iskeyword(n)):
        value = getattr(module, name)
        if callable(value) and not inspect.isclass(value) and not inspect.ismodule(value):
            found[name] = value
    return found


def classes_of_others(module):
    """Lines that give a part of mx.npx the classes that it has of modules with stubs."""
    found = {name: value for name, value in vars(module).items() if inspect.isclass(value) and not name.startswith("_")}
    return [f"from mxnet.{home} import {value.__name__} as {name}" for name, value in sorted(found.items())
            for home in ("context", "image") if value.__module__.startswith(f"mxnet.{home}")]


def overloads(name, module):
    """Types that declarations of a function fix, and their results; None for one declaration."""
    from mxnet.numpy._operators import BINARY as pairs, UNARY as singles
    if name in OVERLOADS and module.startswith("numpy") and module != "numpy_extension":
        return OVERLOADS[name]
    if module != "numpy":
        return None
    for row in singles:
        if name in (row.name, *row.aliases):
            return ({"x": "int | float"}, OF_NUMBERS[row.kind]), ({"x": "ndarray | _Host | Sequence[Any]"}, "ndarray"), ({}, "Any")
    for row in pairs:
        if name in (row.name, *row.aliases) and row.number:
            return ({"x1": "int | float", "x2": "int | float"}, "Any"), ({}, "ndarray")
    return None


def declarations(name, function, module):
    """The lines that declare a function."""
    result = OF_MODULES.get(module, {}).get(name, RESULTS.get(name, "ndarray"))
    try:
        inspect.signature(function)
    except (TypeError, ValueError):      # compiled ones without a text signature
        return [f"def {name}(*args: Any, **kwargs: Any) -> {result}: ..."]
    known = overloads(name, module)
    if known is None:
        return [f"def {name}({signature(function, 0, None, module)}) -> {result}: ..."]
    if hasattr(function, "accumulate"):     # a function of two operands with the methods of NumPy's ufuncs
        return [f"{name}: _Ufunc"]
    mark = ["@overload"] if len(known) > 1 else []
    return [line for types, result in known
            for line in (*mark, f"def {name}({signature(function, 0, types, module)}) -> {result}: ...")]


def method(name, value):
    """The line that declares a method."""
    try:
        arguments = ", ".join(filter(None, ("self", signature(value, 1))))
    except (TypeError, ValueError):
        arguments = "self, *args: Any, **kwargs: Any"
    return f"    def {name}({arguments}) -> {METHODS.get(name, 'ndarray')}: ..."


def other_class(name, module_name):
    """Lines that declare another class of a module."""
    cls = getattr(importlib.import_module(f"mxnet.{module_name}"), name)
    bases = [b.__name__ for b in cls.__bases__ if b is not object]
    lines = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
    for member, value in sorted(vars(cls).items()):
        if member.startswith("_") and member not in ("__init__", "__len__", "__iter__", "__next__", "__getitem__", "__setitem__"):
            continue
        if isinstance(value, property):
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
            if value.fset:
                lines += [f"    @{member}.setter", f"    def {member}(self, value: Any) -> None: ..."]
            continue
        result = "None" if member in ("__init__", "__setitem__") else {"__len__": "int", "__iter__": "Iterator[ndarray]"}.get(member)
        result = result or CLASS_RESULTS.get(member, "ndarray")
        lines.append(f"    def {member}({', '.join(filter(None, ('self', signature(value, 1, None, module_name))))}) -> {result}: ...")
    attributes = {"Generator": "bit_generator: BitGenerator", "BitGenerator": "seed_seq: Any", "flatiter": "base: ndarray"}
    return lines[:1] + ([f"    {attributes[name]}"] if name in attributes else []) + lines[1:]


def array_class(cls):
    """Lines that declare mx.np.ndarray."""
    lines = ["class ndarray:", "    __array_priority__: float"]
    known = {name for name, _ in ATTRIBUTES}
    for name, kind in ATTRIBUTES:
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    lines += [f"    def {text} -> {result}: ..." for text, result in SPECIAL]
    for operator in BINARY:
        lines += [f"    def __{prefix}{operator}__(self, other: _ArrayLike) -> ndarray: ..." for prefix in ("", "r", "i")]
    for operator in ("lt", "le", "gt", "ge"):
        lines.append(f"    def __{operator}__(self, other: _ArrayLike) -> ndarray: ...")
    for operator in ("eq", "ne"):
        lines.append(f"    def __{operator}__(self, other: Any) -> ndarray: ...")
    for name in sorted(n for n in dir(cls) if not n.startswith("_") and n not in known):
        value = inspect.getattr_static(cls, name)
        if name == "flat":
            lines += ["    @property", "    def flat(self) -> flatiter: ...", "    @flat.setter",
                      "    def flat(self, values: _ArrayLike) -> None: ..."]
        elif getattr(value, "refused", False):
            continue
        elif isinstance(value, property) or not callable(value):
            lines += ["    @property", f"    def {name}(self) -> Any: ..."]
        else:
            lines.append(method(name, value))
    return lines


def stub(module_name):
    """Text of the stub of a module below mxnet."""
    module = importlib.import_module(f"mxnet.{module_name}")
    functions = functions_of(module)
    lines = [HEAD]
    if module_name == "numpy":
        lines += ["from . import array_api as array_api, fft as fft, linalg as linalg, random as random", ""]
        for name, value in sorted(vars(module).items()):
            if isinstance(value, float) and not name.startswith("_"):
                lines.append(f"{name}: float")
            elif inspect.isclass(value) and issubclass(value, onp.generic) and not name.startswith("_"):
                lines.append(f"{name} = _onp.{value.__name__}")
        lines += [f"{name}: list[_onp.dtype[Any]]" for name in sorted(vars(module)) if name.endswith("_dtypes")]
        lines += [f"{name} = _onp.{name}" for name in ("s_", "index_exp", "ndindex", "errstate")]
        lines += [f"{name}: Any" for name in ("mgrid", "ogrid", "r_", "c_")]
        lines += ["newaxis: None", "dtype = _onp.dtype", *array_class(module.ndarray)]
    else:
        lines.append(f"from {'.' if module_name.startswith('numpy.') else '..numpy'} import ndarray")
        lines += [f"from . import {part} as {part}" for part in ("random", "image") if module_name == "numpy_extension"]
        lines += classes_of_others(module)
    declared = [line for n, f in functions.items() for line in declarations(n, f, module_name)]
    lines += EXTRA.get(module_name, [])
    if any(line.endswith(": _Ufunc") for line in declared):
        lines += UFUNC.strip("\n").split("\n")
    for name in CLASSES.get(module_name, ()):
        lines += other_class(name, module_name)
    for name, fields in NAMED.items():
        if any(f"-> {name}:" in line for line in declared):
            lines += [f"class {name}(NamedTuple):", *(f"    {field}: ndarray" for field in fields)]
    return without_unused("\n".join(lines + TYPES.split("\n")[1:-1] + declared) + "\n")


def without_unused(text):
    """The text with only those imports of its head that are used."""
    text = text.replace(" | None | None", " | None")
    if text.count("_bytes") < 2:
        text = text.replace("import bool as _bool, bytes as _bytes", "import bool as _bool")
    for line, names in (("from collections.abc import ", ["Iterator", "Sequence"]),
                        ("from typing import ", ["Any", "Literal", "NamedTuple", "TypeAlias", "overload"])):
        used = [n for n in names if text.count(n) > 1]
        text = text.replace(line + ", ".join(names), line + ", ".join(used))
    return text


def paths():
    """Path (from the repository's root) to text of every stub."""
    out = {}
    for module in MODULES:
        try:
            source = importlib.import_module(f"mxnet.{module}")
        except ModuleNotFoundError:
            continue
        name = "/__init__.pyi" if hasattr(source, "__path__") else ".pyi"
        out[f"python/mxnet/{module.replace('.', '/')}{name}"] = stub(module)
    out["python/mxnet/numpy/array_api/__init__.pyi"] = array_api_stub(out["python/mxnet/numpy/__init__.pyi"])
    return out


def array_api_stub(numpy_text):
    """mxnet.numpy.array_api: the names that mxnet.numpy's stub declares for the same objects, and
    functions that the standard calls with other arguments."""
    source, base = (importlib.import_module(f"mxnet.{name}") for name in ("numpy.array_api", "numpy"))
    same, own = [], []
    for name in sorted(vars(source)):
        value = getattr(source, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        declared = re.search(rf"^(?:def {name}\(|{name}(?::| =))", numpy_text, re.M)
        if declared and getattr(base, name, None) is value:
            same.append(f"from mxnet.numpy import {name} as {name}")
        else:
            own.append(f"def {name}(*args: Any, **kwargs: Any) -> Any: ..." if inspect.isroutine(value) else f"{name}: Any")
    head = "# Generated by `./dev docs`; do not edit.\nfrom typing import Any\n"
    return head + "\n".join([*same, "", "__array_api_version__: str", "linalg: Any", *own]) + "\n"
