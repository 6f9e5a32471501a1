"""``mx.sym.np``: the functions of mx.np on symbols."""
import importlib as _importlib

from .._functions import _set_numpy_class
from . import _indexing
from ._symbol import _Symbol, create
from ._namespace import symbolic_names as _symbolic_names

__all__ = ["_Symbol"]

_set_numpy_class(_Symbol)
_SUBMODULES = ("_internal", "linalg", "random")
_function, _directory = _symbolic_names(__name__, "mxnet.numpy")


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    return _function(name)


def __dir__():
    return sorted({*_directory(), *_SUBMODULES})
