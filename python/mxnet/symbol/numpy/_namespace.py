"""Modules whose functions are those of another one on symbols."""
import importlib
import sys
import types

from ...numpy._dispatch import symbolic

__all__ = ["symbolic_names"]


def symbolic_names(module, arrays):
    """Returns ``__getattr__`` and ``__dir__`` for a module: its functions are those of the module
    `arrays`, which make symbols here; numbers and dtypes are the same."""
    def getattribute(name):
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        try:
            value = getattr(importlib.import_module(arrays), name)
        except AttributeError:
            value = None
        if value is None or isinstance(value, types.ModuleType):
            raise AttributeError(f"module {module!r} has no attribute {name!r}: neither has {arrays}")
        if callable(value) and not isinstance(value, type):
            value = symbolic(value)
            value.__module__ = module
        setattr(sys.modules[module], name, value)
        return value

    def directory():
        space = importlib.import_module(arrays)
        known = {*getattr(space, "__all__", ()), *vars(space)}
        shown = [n for n in known if not n.startswith("_") and not isinstance(vars(space).get(n), types.ModuleType)]
        return sorted({*vars(sys.modules[module]), *shown})

    return getattribute, directory
