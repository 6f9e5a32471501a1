"""Every operator as a function of symbols, also those whose names begin with an underscore."""
from ._functions import attach as _attach
from .symbol import SymbolBase  # noqa: F401

__getattr__, __dir__ = _attach(__name__)
