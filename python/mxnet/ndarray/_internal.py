"""Chooses the binding (compiled or ctypes) and gives access to every operator, also those whose names begin with an underscore."""
import ctypes as _ctypes
import sys as _sys

from .._dtypes import name as _dtype_name
from ..base import MXNetError, _KINDS, _LIB, c_str as _c_str, check_call as _check_call



def _switched_on(variable):
    text = _ctypes.c_char_p()   # not through mxnet.env: `python -m mxnet.env` must not find itself imported
    _check_call(_LIB.MXGetEnv(_c_str(variable), _ctypes.byref(text)))
    return text.value in (b"1", b"true")


_backend = None
if _switched_on("MXNET_ENABLE_CYTHON"):
    try:
        from .._cy3 import ndarray as _backend
    except ImportError as _error:
        if _switched_on("MXNET_ENFORCE_CYTHON"):
            raise ImportError(f"[binding] MXNET_ENFORCE_CYTHON=1, but mxnet._cy3 cannot be imported: {_error}; build it with ./dev build, or unset the variable") from _error
if _backend is None:
    from .._ctypes import ndarray as _backend

NDArrayBase = _backend.NDArrayBase
CachedOp = _backend.CachedOp
invoke = _backend.invoke
_set_ndarray_class = _backend._set_ndarray_class


def _attr_to_str(value):
    """A parameter value as the text that the native parser reads."""
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_attr_to_str(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, type) or (hasattr(value, "itemsize") and hasattr(value, "name")):
        return _dtype_name(value)
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return str(value.item())
    return str(value)


_backend._configure(_attr_to_str, _KINDS)

from .. import _opgen  # noqa: E402  (needs nothing of the above; kept below so that a missing library is reported first)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        function = _opgen.ndarray_function(name)
    except MXNetError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from None
    setattr(_sys.modules[__name__], name, function)
    return function


def __dir__():
    return sorted(set(globals()) | set(_opgen.op_names()))
