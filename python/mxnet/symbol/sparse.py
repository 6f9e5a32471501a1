"""Operators that know sparse storage, as functions of symbols; in a symbol they are the ordinary
ones."""
from .._operators import sparse_names as _sparse_names
from ._functions import symbol_function as _symbol_function

__all__ = _sparse_names.known()
__getattr__, __dir__ = _sparse_names.attach(__name__, _symbol_function)
