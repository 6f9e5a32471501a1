"""Converters by operator. Each takes a :class:`~.conversion.Conversion` and returns the names of
the node's results: one name, or a sequence of them."""
import functools

from ..._operators.functions import op_info, op_names
from ...base import MXNetError

__all__ = ["converts", "find", "names"]

_CONVERTERS = {}


def converts(*operators):
    """Decorator: the function converts `operators`, under whatever alias a graph has them."""
    def register(function):
        for name in operators:
            if name in _CONVERTERS:
                raise ValueError(f"[onnx] two converters of {name}")
            _CONVERTERS[name] = function
        return function
    return register


@functools.lru_cache(None)
def _by_record():
    """The converters by the name of the operator's record."""
    from . import families  # noqa: F401 (fills the table)
    return {_record(name): function for name, function in _CONVERTERS.items()}


def _record(name):
    try:
        return op_info(name).name
    except MXNetError:
        return name     # of graphs of 1.x alone


def find(operator):
    """The converter of an operator, or None."""
    return _by_record().get(_record(operator))


def names():
    """All names of the operators that have a converter; "null" is a variable, as in 1.9.1."""
    return sorted({*_CONVERTERS, "null", *(name for name in op_names() if find(name))})
