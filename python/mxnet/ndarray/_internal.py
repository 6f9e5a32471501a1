"""Every operator as a function of arrays, also those whose names begin with an underscore."""
from .._binding import CachedOp, NDArrayBase, _set_ndarray_class, invoke  # noqa: F401  (programs of 1.x take them from here)
from .._operators.functions import attach as _attach
from .._operators.functions import ndarray_function as _ndarray_function

__getattr__, __dir__ = _attach(__name__, "", _ndarray_function)
