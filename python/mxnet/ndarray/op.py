"""Operators as functions of arrays. Names without a leading underscore; each is written from its
record when first used."""
from .._operators import functions as _op_functions
from .._operators.functions import attach as _attach
from .._operators.functions import ndarray_function as _ndarray_function

__getattr__, _ = _attach(__name__, "", _ndarray_function)


def __dir__():
    return sorted(set(globals()) | {n for n in _op_functions.op_names() if not n.startswith("_")})
