"""Image operators as functions of symbols."""
from ._functions import attach as _attach

__getattr__, __dir__ = _attach(__name__, "_image_")
