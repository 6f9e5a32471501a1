"""Operators that know sparse storage, as functions of symbols; in a symbol they are the ordinary
ones."""
from ._functions import attach as _attach

__getattr__, __dir__ = _attach(__name__)
