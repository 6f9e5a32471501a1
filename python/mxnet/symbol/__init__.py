"""Symbols and operators on them: ``mx.sym``."""
import importlib as _importlib

from . import symbol
from .symbol import *  # noqa: F403
from .symbol import Symbol, SymbolBase
from . import op

_SUBMODULES = ("_internal", "contrib", "image", "linalg", "numpy", "numpy_extension", "random", "sparse")
_SHORT = {"np": "numpy", "npx": "numpy_extension"}


def __getattr__(name):
    if name in _SUBMODULES or name in _SHORT:
        return _importlib.import_module("." + _SHORT.get(name, name), __name__)
    if not name.startswith("_"):
        value = getattr(op, name, None)
        if value is not None:
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}: no such operator")


def __dir__():
    operators = {name for name in dir(op) if not name.startswith("_")}    # _internal has the others
    return sorted(set(globals()) | set(_SUBMODULES) | set(_SHORT) | operators)
