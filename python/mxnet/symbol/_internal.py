"""Every operator as a function of symbols, also those whose names begin with an underscore."""
from .._operators.functions import attach as _attach
from ._functions import symbol_function as _symbol_function
from .symbol import SymbolBase  # noqa: F401

__getattr__, __dir__ = _attach(__name__, "", _symbol_function)
