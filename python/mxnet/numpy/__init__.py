"""``mx.np``: arrays and functions with NumPy's names and rules, compiled and differentiated."""
import importlib as _importlib

import numpy as _onp

from . import multiarray
from .multiarray import *  # noqa: F403
from .utils import *  # noqa: F403

_SUBMODULES = ("random", "linalg", "fft", "array_api", "fallback", "fallback_linalg", "function_base", "stride_tricks", "io",
               "arrayprint", "set_functions", "type_functions", "utils")
dtype = _onp.dtype
_NoValue = getattr(_onp, "_NoValue", None)


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
