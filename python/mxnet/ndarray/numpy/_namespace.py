"""Modules that show another one's names."""
import importlib
import sys

__all__ = ["same_names"]


def same_names(module, other, submodules=()):
    """Returns ``__getattr__`` and ``__dir__`` for a module that has the public names of `other`;
    `submodules` are its own."""
    def getattribute(name):
        if name in submodules:
            return importlib.import_module(f"{module}.{name}")
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(other), name)
        setattr(sys.modules[module], name, value)
        return value

    def directory():
        shown = [n for n in dir(importlib.import_module(other)) if not n.startswith("_")]
        return sorted({*vars(sys.modules[module]), *shown, *submodules})

    return getattribute, directory
