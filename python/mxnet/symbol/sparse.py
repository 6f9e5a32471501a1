"""Operators that know sparse storage, as functions of symbols; in a symbol they are the ordinary
ones."""
from .._operators.functions import attach as _attach
from ._functions import symbol_function as _symbol_function

__getattr__, __dir__ = _attach(__name__, "", _symbol_function)
