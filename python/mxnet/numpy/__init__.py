"""``mx.np``: arrays and functions with NumPy's names and rules, compiled and differentiated."""
import importlib as _importlib

import numpy as _onp

from . import multiarray
from .multiarray import *  # noqa: F403

_SUBMODULES = ("random", "linalg", "fallback", "function_base", "stride_tricks", "io", "arrayprint", "set_functions", "type_functions",
               "utils")
e, euler_gamma, inf, nan, pi, newaxis = _onp.e, _onp.euler_gamma, _onp.inf, _onp.nan, _onp.pi, None
float16, float32, float64 = _onp.float16, _onp.float32, _onp.float64
int8, int16, int32, int64 = _onp.int8, _onp.int16, _onp.int32, _onp.int64
uint8, uint16, uint32, uint64 = _onp.uint8, _onp.uint16, _onp.uint32, _onp.uint64
bool = bool_ = _onp.bool_
dtype = _onp.dtype
_NoValue = getattr(_onp, "_NoValue", None)


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
