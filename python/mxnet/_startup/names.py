"""Names that MXNet 1.9.1 had in a module beyond what the module here defines.

Scripts take `os` or `NDArray` from ``from mxnet.test_utils import *``, or a module of 1.9.1 that
lives elsewhere now. The table names_1_9_1.txt says where each such name comes from; it is looked up
when asked for, so nothing is imported before. The same table knows what 1.9.1 had and this package
has not yet: that is said instead of a similar name.

Lines of the table (a generated part and a part kept by hand, see its head):

    mxnet.autograd: ctypes=/ctypes NDArray=mxnet.ndarray ...     names with their origins: /module, module of the same name,
                                                                 module:name, ?module (None where it
                                                                 can't be imported), or nothing: the
                                                                 module finds it itself
    mxnet.io + _init_data=mxnet.io.utils ...                     names that the module kept for
                                                                 itself or had imported: they are
                                                                 found, and in no list of names
    mxnet.contrib.symbol -> mxnet.symbol.contrib                 another name of a module
    mxnet.ndarray !box_decode ...                                in 1.9.1, not here yet
    mxnet.image ~ Pillow                                         what to use instead, of a module or `module.name`
"""
import functools
import importlib
import importlib.machinery
import os
import sys

from .imports import importing

_ROOT = __name__.partition(".")[0]


def _read():
    names, inner, aliases, waiting, instead = {}, {}, {}, {}, {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "names_1_9_1.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            head, _, rest = line.rstrip("\n").partition(" ")
            if head.endswith(":"):
                names[head[:-1]] = rest
            elif rest.startswith("+ "):
                inner[head] = rest[2:]
            elif rest.startswith("-> "):
                aliases[head] = rest[3:]
            elif rest.startswith("~ "):
                instead[head] = rest[2:]
            else:
                waiting[head] = waiting.get(head, "") + " " + rest[1:]
    return names, inner, aliases, waiting, instead


_names, _inner, _aliases, _waiting, _instead = _read()


def _entries(line):
    return {name: origin for name, _, origin in (entry.partition("=") for entry in line.split())}


@functools.lru_cache(None)
def _origins(module):
    return _entries(_names.get(module, ""))


@functools.lru_cache(None)
def _inner_origins(module):
    return _entries(_inner.get(module, ""))


def _fetch(module, name, origin):
    with importing():
        if origin.startswith("/"):
            return importlib.import_module(origin[1:])
        if origin.startswith("?"):
            try:
                return importlib.import_module(origin[1:])
            except ImportError:
                return None
        home, _, other = origin.partition(":")
        return getattr(importlib.import_module(home), other or name)


def _modules_in(package):
    """Public modules of a package, imported or not."""
    return [entry.partition(".")[0] for folder in getattr(sys.modules[package], "__path__", ()) for entry in os.listdir(folder)
            if entry[0] not in "._" and (entry.endswith(".py") or os.path.exists(os.path.join(folder, entry, "__init__.py")))]


def submodules():
    """Public modules of the whole package."""
    return _modules_in(_ROOT)


def _is_waiting(module, name):
    return name in _waiting.get(module, "").split()


def _public_names(module):
    return [name for name in dir(sys.modules.get(module)) if not name.startswith("_")]


def _close(name, names):
    """A list of the one of `names` that is most like `name`, and begins most like it among equals;
    an empty list if none is near."""
    import difflib

    def order(other):
        return -difflib.SequenceMatcher(None, other, name).ratio(), -len(os.path.commonprefix([other, name]))
    return sorted(difflib.get_close_matches(name, names, 6), key=order)[:1]


def nearest(name, names):
    """The one of `names` (a set, or a dictionary's keys) that was most likely meant; None if none
    is near."""
    lower = {}
    for candidate in sorted(names):
        lower.setdefault(candidate.lower(), candidate)
    near = _close(name, names) or _close(name.lower(), lower)
    if not near and len(name) > 2:      # opt for optimizer
        near = sorted((n for n in lower if n.startswith(name.lower())), key=len)[:1]
    return lower.get(near[0].lower(), near[0]) if near and near[0] not in names else near[0] if near else None


def hint(name, names):
    """What errors say, in front of the names that are accepted, of the one that is nearest; "" if
    none is."""
    near = nearest(name.lower(), names)
    return f"the nearest name is {near!r}; " if near else ""


def hint_of_any(given, names):
    """The hint for the first of the given names that has one, else ""."""
    return next(filter(None, (hint(name, names) for name in given)), "")


def _elsewhere(module, name):
    """A loaded public module that has `name`, below `module` if there is one; None without any."""
    homes = [home for home, space in sys.modules.items()
             if home.startswith(_ROOT + ".") and "._" not in home and getattr(space, "__package__", None)
             and name in vars(space) and getattr(vars(space)[name], "__module__", "").startswith(_ROOT)]
    return min(homes, key=lambda home: (not home.startswith(module + "."), home.count("."), home), default=None)


def explain(module, name, reason="", what=""):
    """What is said of a name that a module has not; `reason` is what the module itself says, `what`
    what failed."""
    what = what or f"module {module!r} has no attribute {name!r}"
    if _is_waiting(module, name):
        use = _instead.get(f"{module}.{name}") or _instead.get(module)
        return f"{what}: in MXNet 1.9.1, not here yet" + (f"; use {use}" if use else "")
    reason = reason or what
    waiting = _waiting.get(module, "").split()
    near = nearest(name, {*_public_names(module), *waiting})
    if near:
        return f"{reason}; the nearest name is {near!r}" + (" (in MXNet 1.9.1, not here yet)" if near in waiting else "")
    home = _elsewhere(module, name)
    return reason + (f"; {home!r} has one" if home else "")


class MissingName(AttributeError):
    """A name that a module has not. What is said of it is found out when somebody reads it: many
    programs only probe."""

    def __init__(self, module, name, reason=""):
        super().__init__(reason)
        self._module, self._name, self._reason = module, name, reason

    def __str__(self):
        return explain(self._module, self._name, self._reason)

    def __reduce__(self):
        return AttributeError, (str(self),)


class MissingImport(ImportError):
    """The same for ``from module import name``, whose own message would not say more than that."""

    def __init__(self, module, name, _reason):
        super().__init__(name=module, path=getattr(sys.modules.get(module), "__file__", None))
        self._missing = module, name

    def __str__(self):
        module, name = self._missing
        return explain(module, name, what=f"cannot import name {name!r} from {module!r}")

    def __reduce__(self):
        return ImportError, (str(self),)


class MissingModule(ModuleNotFoundError):
    """The same for ``import package.name``."""

    def __init__(self, name):
        super().__init__(name=name)

    def __str__(self):
        parent, _, last = self.name.rpartition(".")
        if _is_waiting(parent, last):
            return explain(parent, last)
        near = nearest(last, _modules_in(parent)) if parent in sys.modules else None
        return f"No module named {self.name!r}" + (f"; the nearest name is '{parent}.{near}'" if near else "")

    def __reduce__(self):
        return ModuleNotFoundError, (str(self),)


# Tracebacks show the classes that programs catch.
for _shown, _class in (("AttributeError", MissingName), ("ImportError", MissingImport), ("ModuleNotFoundError", MissingModule)):
    _class.__name__ = _class.__qualname__ = _shown
    _class.__module__ = "builtins"
    _class.__repr__ = lambda error: f"{type(error).__name__}({str(error)!r})"


def _is_import(frame):
    """Whether the frame executes ``from module import name``."""
    import opcode
    return frame.f_code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]


def lookup(module, name, before=None):
    """What ``__getattr__`` of a module answers; `before` is the one that the module itself
    defines."""
    space = sys.modules[module]
    origins = _origins(module)
    origin = origins.get(name) or _inner_origins(module).get(name)
    if origin:
        value = _fetch(module, name, origin)
        setattr(space, name, value)
        return value
    if f"{module}.{name}" in _aliases:
        return importlib.import_module(f"{module}.{name}")
    if name == "__all__" and origins:
        return sorted({n for n in vars(space) if not n.startswith("_")} | set(origins))
    reason = ""
    if before is not None:
        try:
            with importing():
                return before(name)
        except MissingName as error:
            reason = error._reason
        except AttributeError as error:
            reason = str(error)
    if name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise (MissingImport if _is_import(sys._getframe(1)) else MissingName)(module, name, reason)


@functools.lru_cache(None)
def _old_names():
    """Other names of modules, by the package that they are asked of."""
    names = {}
    for alias in _aliases:
        package, _, name = alias.rpartition(".")
        names.setdefault(package, []).append(name)
    return names


def _complete(module):
    """A module of the package has just been executed: its list of public names and its lookup gain
    those of 1.9.1."""
    name = module.__name__
    if "__all__" in vars(module):
        module.__all__ = list(module.__all__) + [n for n in _origins(name) if n not in module.__all__]
    module.__getattr__ = functools.partial(lookup, name, before=vars(module).get("__getattr__"))
    old, listed = _old_names().get(name), vars(module).get("__dir__")
    if old and listed:
        module.__dir__ = lambda: sorted({*listed(), *old})


class _Alias:
    """Loads another module under an old name."""

    @staticmethod
    def create_module(_spec):
        return None

    @staticmethod
    def exec_module(module):
        sys.modules[module.__name__] = importlib.import_module(_aliases[module.__name__])


class _Finder:
    """Finds the package's modules as ever, and completes each after it was executed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith(_ROOT + ".") or name.startswith(_ROOT + "._"):
            return None
        if name in _aliases:
            return importlib.machinery.ModuleSpec(name, _Alias)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None:
            # importlib.util.find_spec only asks.
            if sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
                raise MissingModule(name)
        elif isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            execute = spec.loader.exec_module

            def execute_and_complete(module):
                execute(module)
                _complete(module)

            spec.loader.exec_module = execute_and_complete
        return spec


sys.meta_path.insert(0, _Finder)
