"""Operators as functions of arrays. Names without a leading underscore; each is written from its record when first used."""
import sys as _sys

from .. import _opgen
from ..base import MXNetError


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        function = _opgen.ndarray_function(name)
    except MXNetError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from None
    setattr(_sys.modules[__name__], name, function)
    return function


def __dir__():
    return sorted(set(globals()) | {n for n in _opgen.op_names() if not n.startswith("_")})
