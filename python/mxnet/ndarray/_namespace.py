"""Modules whose functions are the operators under a prefix."""
import sys

from .. import _opgen
from ..base import MXNetError


def attach(module, prefix):
    """Returns ``__getattr__`` and ``__dir__`` for a module: attribute NAME is operator PREFIX +
    NAME."""
    def getattribute(name):
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        try:
            function = _opgen.ndarray_function(prefix + name)
        except MXNetError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}: no such operator") from None
        setattr(sys.modules[module], name, function)
        return function

    def directory():
        return sorted(set(vars(sys.modules[module])) | set(_opgen.namespace_names(prefix)))

    return getattribute, directory
