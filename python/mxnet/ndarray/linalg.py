"""Linear algebra operators as functions of arrays."""
from .._opgen import attach as _attach
from .._opgen import ndarray_function as _ndarray_function

__getattr__, __dir__ = _attach(__name__, "_linalg_", _ndarray_function)
