"""Operators ``_npi_*`` as functions of symbols with NumPy's rules, each written from its record
when first used, and those that :func:`mxnet.numpy_op_fallback.register` added."""
from ..._operators.functions import attach as _attach
from .._functions import symbol_function as _symbol_function
from ._symbol import _Symbol

__getattr__, __dir__ = _attach(__name__, "_npi_", _symbol_function, cls=_Symbol)


def custom(op_name):
    """The function of the custom operator `op_name`: symbols by position, its arguments by
    keyword."""
    from ... import sym

    def function(*data, **kwargs):
        made = sym.Custom(*data, op_type=op_name, **kwargs)
        return made.as_np_ndarray()
    function.__name__ = function.__qualname__ = op_name
    return function
