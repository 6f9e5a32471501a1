"""Arrays and eager operators: ``mx.nd``."""
import importlib as _importlib

from .._binding import CachedOp
from . import _internal
from . import ndarray
from .ndarray import *  # noqa: F403
from .ndarray import NDArray, _GRAD_REQ_MAP, _STORAGE_TYPE_ID_TO_STR, _STORAGE_TYPE_STR_TO_ID, _new_empty_handle
from . import _sparse_creation  # what _creation's functions do with a `stype`
from .utils import load, load_frombuffer, save
from . import op

_SUBMODULES = ("contrib", "image", "linalg", "numpy", "numpy_extension", "random", "sparse", "utils")
_SHORT = {"np": "numpy", "npx": "numpy_extension"}


def __getattr__(name):
    if name in _SUBMODULES or name in _SHORT:
        return _importlib.import_module("." + _SHORT.get(name, name), __name__)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.endswith("_like") or not name.startswith("_"):
        value = getattr(op, name, None)
        if value is not None:
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}: no such operator")


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_SHORT, *(name for name in dir(op) if not name.startswith("_"))})
