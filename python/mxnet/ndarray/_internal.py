"""Every operator as a function of arrays, also those whose names begin with an underscore."""
from .._binding import CachedOp, NDArrayBase, _set_ndarray_class, invoke  # noqa: F401  (programs of 1.x take them from here)
from ._namespace import attach as _attach

__getattr__, __dir__ = _attach(__name__, "")
