"""Type stubs of the modules that ordinary programs import, written from what the modules define.

Types come from docstrings (`name : int, optional` and the Returns section) where they are plain,
from defaults that are bools or floats, and from module_stub_tables.py. All else is Any: a stub must
not refuse what the package takes. Operators and mx.np have stubs of their own (generate_docs.py,
numpy_stubs.py).
"""
import ast
import functools
import importlib
import inspect
import keyword
import os
import re
import types

from mxnet._operators import sparse_names
from mxnet._operators.functions import op_names

from module_stub_tables import (ARITHMETIC, FIELDS, FUNCTION_OVERLOADS, GIVEN, KNOWN, LEFT_OUT, MEMBERS, MERGED, NAMED, OPEN, OVERLOADS,
                                OVERRIDDEN, PARAMETERS, PLAIN, PROTECTED, RENAMED, RESULTS, SPECIAL, THE_SAME_KIND, ZOO)

# In this order: a class or function is declared by the first of these that has it.
MODULES = """
mxnet.base mxnet.context mxnet.ndarray.ndarray mxnet.ndarray.random mxnet.ndarray.sparse mxnet.ndarray mxnet.attribute mxnet.name
mxnet.executor mxnet.symbol.symbol mxnet.symbol.random mxnet.symbol.sparse mxnet.symbol mxnet.autograd mxnet.initializer
mxnet.lr_scheduler mxnet.optimizer mxnet.metric mxnet.kvstore mxnet.io mxnet.recordio mxnet.image mxnet.model
mxnet.module mxnet.callback mxnet.monitor mxnet.operator mxnet.profiler mxnet.random mxnet.runtime mxnet.rnn
mxnet.engine mxnet.error mxnet.env mxnet.util mxnet.visualization mxnet.test_utils mxnet.device mxnet.memory
mxnet.storage mxnet.explain mxnet.library mxnet.log mxnet.registry mxnet.amp mxnet.gluon.parameter
mxnet.gluon.block mxnet.gluon.loss mxnet.gluon.nn mxnet.gluon.rnn mxnet.gluon.data.vision.transforms
mxnet.gluon.data.vision mxnet.gluon.data.batchify mxnet.gluon.data mxnet.gluon.utils mxnet.gluon.trainer mxnet.gluon.metric
mxnet.gluon.model_zoo.vision mxnet.gluon.model_zoo mxnet.gluon.contrib.nn mxnet.gluon.contrib.rnn
mxnet.gluon.contrib.data mxnet.gluon.contrib.estimator mxnet.gluon.contrib mxnet.gluon.probability mxnet.gluon
mxnet.contrib.quantization mxnet.contrib.text mxnet.contrib.tensorboard mxnet.contrib.io mxnet.contrib.autograd mxnet.onnx.runtime
mxnet.onnx mxnet.contrib.onnx mxnet.contrib.safetensors mxnet.contrib.torch mxnet.contrib mxnet
""".split()
BY_OTHERS = {"mxnet.numpy", "mxnet.numpy_extension", *(f"mxnet.{kind}.{name}" for kind in ("ndarray", "symbol")
                                                        for name in ("op", "contrib", "linalg", "image"))}
# Modules of more names: operators, or what is found when it is asked for.
_OPERATORS = set(op_names())
_SPARSE = [f"from .op import {name} as {name}" for name in sparse_names.NAMES
           if name[0] != "_" and name in _OPERATORS]
ALSO = {"mxnet.ndarray": ["from .op import *"], "mxnet.ndarray.sparse": _SPARSE, "mxnet.symbol.sparse": _SPARSE,
        "mxnet.symbol": ["from .op import *"], "mxnet": ["__version__: str"]}


def documented_types(text):
    """{name: type} of the parameters that a docstring describes. Of several in one line each may
    also be something else, such as None; only those that are numbers or arrays are not."""
    found = re.findall(r"^\s*(\w+(?:, \w+)*) : (.*)$", inspect.cleandoc(text or ""), re.M)
    return {name: kind for names, kind in found if "," not in names or "ndarray" in kind for name in names.split(", ")}


class Writer:
    """Writes the stub of one module."""

    def __init__(self, module, homes):
        self.module, self.homes = module, homes
        self.lines, self.named = [], set()
        self.fluent = _operator_names()

    def known(self, text):
        """An annotation; notes the classes that it names."""
        self.named |= {name for name in NAMED if re.search(rf"(?<![.\w]){name}\b", text)}
        return text

    def parameter_type(self, name, default, documented):
        text = documented.get(name, "").split(", optional")[0].strip()
        found = PLAIN.get(text)
        if found is None and isinstance(default, (bool, float)):
            found = type(default).__name__
        if found is None or name in OPEN:
            return "Any"
        if found == "int" and isinstance(default, float):
            found = "float"
        return self.known(found + (" | None" if default is None else ""))

    def arguments(self, function, method=False):
        """The arguments as text; None if nobody knows them."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return None
        documented = documented_types(inspect.getdoc(function))
        if method and inspect.isfunction(function) and function.__name__ == "__init__":
            documented.update(documented_types(self.of_class))
        parts, stars = [], False
        for index, p in enumerate(parameters):
            if keyword.iskeyword(p.name):
                return None
            if p.kind == p.VAR_KEYWORD and p.name == "unknown":      # which are refused
                continue
            if method and index == 0 and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                parts.append(p.name)
                continue
            if p.kind == p.KEYWORD_ONLY and not stars:
                parts.append("*")
                stars = True
            stars |= p.kind == p.VAR_POSITIONAL
            star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            annotation = "Any" if star else self.parameter_type(p.name, p.default, documented)
            parts.append(f"{star}{p.name}: {annotation}" + (" = ..." if p.default is not p.empty else ""))
            if p.kind == p.POSITIONAL_ONLY and (index + 1 == len(parameters) or parameters[index + 1].kind != p.POSITIONAL_ONLY):
                parts.append("/")
        if "device" in (getattr(function, "__kwdefaults__", None) or {}) and "device" not in [p.name for p in parameters]:
            several = parts and parts[-1].startswith("**")      # @accepts_device
            parts.insert(len(parts) - several, "device: Any = ..." if stars else "*, device: Any = ...")
        return ", ".join(parts)

    def result(self, function, cls, name):
        """The annotation of what a function or method returns."""
        for base in cls.__mro__ if cls else ():
            if f"{base.__name__}.{name}" in KNOWN:
                return self.known(KNOWN[f"{base.__name__}.{name}"])
        if cls is None and f"{self.module.__name__}.{name}" in KNOWN:
            return self.known(KNOWN[f"{self.module.__name__}.{name}"])
        if cls is None and self.module.__name__ == "mxnet.gluon.model_zoo.vision":
            return self.known(next((kind for begin, kind in ZOO if name.startswith(begin)), "Any"))
        if cls is None and self.module.__name__ in GIVEN:
            return self.known(GIVEN[self.module.__name__])
        if name.startswith("is_") and function is not None:
            return "bool"
        if name in ("__enter__", "__new__"):
            return "Self"
        if name in SPECIAL and SPECIAL[name]:
            return SPECIAL[name]
        if cls and cls.__name__ in ("NDArray", "Symbol") and (name in self.fluent or name in ARITHMETIC or name in THE_SAME_KIND):
            return f"Iterator[{cls.__name__}]" if name == "__iter__" else cls.__name__
        found = re.search(r"^Returns\n-+\n([^\n]*)$", inspect.getdoc(function) or "", re.M)
        return self.known(RESULTS.get(found.group(1).strip(), "Any")) if found else "Any"

    def function(self, name, function, indent="", cls=None, method=False):
        decorated = inspect.unwrap(function)
        arguments = self.arguments(function, method)
        if arguments is None or cls is not None and OVERRIDDEN.get(name, set()) & {b.__name__ for b in cls.__mro__}:
            arguments = "self, *args: Any, **kwargs: Any" if method else "*args: Any, **kwargs: Any"
        elif cls is not None and RENAMED.get(name, set()) & {b.__name__ for b in cls.__mro__}:
            arguments += ", /"
        result = "None" if name == "__init__" else self.result(decorated, cls, name)
        if name in ("__eq__", "__ne__"):
            result = cls.__name__ if cls.__name__ in ("NDArray", "Symbol") else "bool"      # a comparison, element by element
            self.lines.append(f"{indent}def {name}(self, other: object) -> {result}: ...")
            return
        if name in ARITHMETIC and arguments != "self":
            arguments = "self, other: Any"
        self.lines.append(f"{indent}def {name}({arguments}) -> {result}: ...")

    def member(self, cls, name, value):
        """A member of a class."""
        if isinstance(value, (staticmethod, classmethod)):
            self.lines.append(f"    @{type(value).__name__}")
            self.function(name, value.__func__, "    ", cls, method=isinstance(value, classmethod))
        elif isinstance(value, property):
            kind = self.result(value.fget, cls, name)
            self.lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
            if value.fset:
                self.lines += [f"    @{name}.setter", f"    def {name}(self, value: Any) -> None: ..."]
        elif inspect.isroutine(value):
            self.function(name, value, "    ", cls, method=True)
        elif inspect.isdatadescriptor(value):
            self.lines.append(f"    {name}: {self.result(None, cls, name)}")
        elif not name.startswith("__"):
            self.lines.append(f"    {name}: Any")

    def attribute(self, cls, name):
        """The annotation of an attribute that methods set."""
        bases = {base.__name__ for base in cls.__mro__}
        if name in PARAMETERS and "Block" in bases:
            return self.known("Parameter")
        return self.known(next((KNOWN[f"{base}.{name}"] for base in bases if f"{base}.{name}" in KNOWN), "Any"))

    def overloads(self, signatures, member, indent="    "):
        for signature in signatures:
            self.lines += [f"{indent}@overload"] * (len(signatures) > 1) + [f"{indent}def {member}{self.known(signature)}: ..."]

    def named_tuple(self, name, cls):
        """A named tuple that has no class statement."""
        kinds = FIELDS.get(name, {})
        self.lines += ["", f"class {name}(NamedTuple):", *(f"    {field}: {kinds.get(field, 'Any')}" for field in cls._fields)]

    def known_bases(self, cls):
        """The bases; of one that has no stub its own bases."""
        found = []
        for base in cls.__bases__:
            hidden = base not in self.homes and base.__module__.startswith("mxnet")
            found += [b for b in (self.known_bases(base) if hidden else [base]) if b not in found]
        return found

    def class_(self, name, cls):
        self.of_class = cls.__doc__ or ""
        bases = []
        for base in self.known_bases(cls):
            home = self.homes.get(base)
            if home:
                bases.append(base.__name__ if home == self.module.__name__ else f"{self.reference(home)}.{base.__name__}")
            elif issubclass(base, (dict, list, tuple)):
                bases.append("dict[Any, Any]" if issubclass(base, dict) else "list[Any]" if issubclass(base, list) else "tuple[Any, ...]")
            elif base.__module__ == "builtins" and base is not object:
                bases.append(base.__name__)
        self.lines += ["", f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
        start = len(self.lines)
        own = {}
        self.lines += MEMBERS.get(f"{cls.__module__}.{name}", MEMBERS.get(name, ()))
        inherited = {base for known in cls.__mro__[1:] if known in self.homes for base in known.__mro__}
        for base in reversed(cls.__mro__):      # members of bases that have no stub
            if base is cls or (base not in inherited and base.__module__.startswith("mxnet")):
                own.update(vars(base))
        for member, value in sorted(own.items()):
            if member == "__new__" and cls.__init__ is object.__init__:      # there is no other constructor
                self.function(member, value.__func__, "    ", cls, method=True)
            hidden = member.startswith("_") and not member.startswith("__") and member not in PROTECTED.get(name, ())
            if hidden or member in LEFT_OUT or f"{name}.{member}" in LEFT_OUT:
                continue
            if member.startswith("__") and not inspect.isroutine(value):
                continue
            if isinstance(value, type) or isinstance(value, types.ModuleType):
                self.lines.append(f"    {member}: Any")
            elif f"{name}.{member}" in OVERLOADS and (member != "__call__" or "Block" in {base.__name__ for base in cls.__mro__}):
                self.lines += ["    @staticmethod"] * isinstance(value, staticmethod)
                self.overloads(OVERLOADS[f"{name}.{member}"], member)
            else:
                self.member(cls, member, value)
        if cls.__module__ == "mxnet.gluon.loss" and name == "Loss":     # its own member at run time is forward() alone
            self.overloads(OVERLOADS["Loss.__call__"], "__call__")
        if cls.__name__ in ("NDArray", "Symbol"):
            for member in ARITHMETIC:
                if member not in own:
                    other = "" if member in ("__neg__", "__abs__") else ", other: Any"
                    self.lines.append(f"    def {member}(self{other}) -> {name}: ...")
        self.lines += [f"    {attribute}: {self.attribute(cls, attribute)}" for attribute in attributes(cls) if attribute not in own]
        if len(self.lines) == start:
            self.lines[-1] += " ..."

    def reference(self, home):
        self.imported.add(home)
        return home

    def reexport(self, home, name, here):
        """Lines that make what another module has a name of this one. Only `x as x` is exported."""
        if name == here:
            return [f"from {home} import {name} as {name}"]
        hidden = f"_{home.rpartition('.')[2]}_{name}"     # two modules may have the name
        self.lines.append(f"{here} = {hidden}")
        return [f"from {home} import {name} as {hidden}"]

    def text(self, names):
        self.imported = set()
        own = self.module.__name__
        exported, aliases = [], []
        for name in names:
            value = getattr(self.module, name)
            if isinstance(value, types.ModuleType):
                if value.__name__ in MODULES or value.__name__ in BY_OTHERS:
                    exported += self.reexport(*value.__name__.rpartition(".")[::2], name)
                elif value.__name__ == f"{own}.{name}":
                    self.lines.append(f"{name}: Any")
                continue
            try:
                home = self.homes.get(value)
            except TypeError:
                home = None
            if home and home != own:
                exported += self.reexport(home, value.__name__, name)
            elif home and value.__name__ != name:
                aliases.append(f"{name} = {value.__name__}")
            elif isinstance(value, type) and home:
                self.class_(name, value)
            elif name in FIELDS and isinstance(value, type) and issubclass(value, tuple):
                self.named_tuple(name, value)
            elif f"{own}.{name}" in FUNCTION_OVERLOADS:
                self.overloads(FUNCTION_OVERLOADS[f"{own}.{name}"], name, "")
            elif callable(value) and home:
                self.function(name, value)
            else:
                self.lines.append(f"{name}: Any")
        body = "\n".join(self.lines + aliases)
        here = {name for name in NAMED if NAMED[name] == own}
        imports = [f"from {NAMED[name]} import {name}" for name in sorted(self.named - here)
                   if not any(line.endswith(f" as {name}") for line in exported) and f"class {name}(" not in body]
        typing = [name for name in ("Any", "Literal", "NamedTuple", "Self", "overload") if re.search(rf"\b{name}\b", body)]
        abc = [name for name in "Callable ItemsView Iterator KeysView Sequence ValuesView".split() if re.search(rf"\b{name}\b", body)]
        head = ["# Generated from the modules by `./dev docs`; do not edit."]
        if abc:
            head.append(f"from collections.abc import {', '.join(abc)}")
        if typing:
            head.append(f"from typing import {', '.join(typing)}")
        if "numpy." in body:
            head.append("import numpy")
        head += [f"import {home}" for home in sorted(self.imported)] + imports + sorted(set(exported)) + ALSO.get(own, [])
        return "\n".join([*head, body.lstrip("\n") if not head else body]) + "\n"


@functools.lru_cache(None)
def _set_in(path):
    """{line: attributes of self that the function that begins there sets}."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        functions = [node for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.FunctionDef)]
    return {min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)]):
            {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
             and getattr(node.value, "id", "") == "self"} for function in functions}


def attributes(cls):
    """Public attributes that the methods of a class set, and of its bases that have no stub."""
    found = set()
    for base in cls.__mro__:
        for function in filter(inspect.isfunction, vars(base).values()):
            code = inspect.unwrap(function).__code__
            found |= _set_in(code.co_filename).get(code.co_firstlineno, set())
    return sorted(name for name in found if not name.startswith("_"))


@functools.lru_cache(None)
def _operator_names():
    from mxnet._operators import functions as _op_functions
    return frozenset(name for name in _op_functions.op_names() if not name.startswith("_"))


MADE_LATE = {"mxnet.model": ["FeedForward"]}    # what a module has of its own once it was asked for


def public_names(module):
    """Names that a module offers: its own, and what it finds when it is asked."""
    operators = _operator_names() if module.__name__ in ALSO else ()
    names = []
    for name in sorted({*dir(module), *MADE_LATE.get(module.__name__, ())}):
        if name.startswith("_") or keyword.iskeyword(name):
            continue
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):
            continue
        if name in operators and getattr(value, "__module__", "") in ("mxnet.ndarray", "mxnet.symbol"):
            continue
        if isinstance(value, types.ModuleType) and not value.__name__.startswith("mxnet"):
            continue
        home = getattr(value, "__module__", None)
        if home and (inspect.isroutine(value) or isinstance(value, type)) and not str(home).startswith("mxnet"):
            continue        # numpy's and the standard library's
        names.append(name)
    return names


def paths():
    """Path (from the repository's root) to contents."""
    modules = [importlib.import_module(name) for name in MODULES]
    names = {module.__name__: public_names(module) for module in modules}
    homes = {}
    for module in modules:
        for name in names[module.__name__]:
            value = getattr(module, name)
            if (isinstance(value, type) or inspect.isroutine(value)) and value.__name__.isidentifier() and name not in MERGED:
                if value not in homes and value.__name__ in names[module.__name__] and getattr(module, value.__name__) is value:
                    homes[value] = module.__name__
    out = {}
    for module in modules:
        path = module.__name__.replace(".", "/")
        file = f"python/{path}/__init__.pyi" if hasattr(module, "__path__") else f"python/{path}.pyi"
        out[file] = Writer(module, homes).text(names[module.__name__])
    return out
