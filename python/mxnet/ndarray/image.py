"""Image operators as functions of arrays."""
from .._operators.functions import attach as _attach
from .._operators.functions import ndarray_function as _ndarray_function

__getattr__, __dir__ = _attach(__name__, "_image_", _ndarray_function)
