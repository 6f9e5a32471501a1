"""Image operators as functions of symbols."""
from .._operators.functions import attach as _attach
from ._functions import symbol_function as _symbol_function

__getattr__, __dir__ = _attach(__name__, "_image_", _symbol_function)
