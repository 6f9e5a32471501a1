"""The namespace of the array API standard, version 2023.12, which ``__array_namespace__()`` of
mx.np's arrays gives.

Its functions are those of mx.np. Where 1.x and 2.0 fixed another rule for mx.np, it has functions
of its own: of ``_functions`` and ``linalg``. Names beyond the standard are mx.np's.
"""

import importlib as _importlib

from .. import _namespace_info, type_functions as _types, utils as _constants
from .. import multiarray as _np
from . import _functions, linalg
from ._functions import *  # noqa: F403

__array_api_version__ = "2023.12"
__array_namespace_info__ = _namespace_info.__array_namespace_info__

# What mx.np has in the standard's form.
_SAME = """
    abs acos acosh add all any argmax argmin argsort asin asinh astype atan atan2 atanh
    bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    broadcast_arrays broadcast_shapes broadcast_to ceil clip concat conj copysign cos cosh
    count_nonzero diff divide empty empty_like equal exp expand_dims expm1 eye flip floor
    floor_divide from_dlpack full_like greater greater_equal hypot imag isfinite isin isinf
    isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not
    logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum
    moveaxis multiply negative nextafter nonzero not_equal ones ones_like permute_dims positive
    pow real reciprocal remainder repeat reshape roll round searchsorted signbit sin sinh sort
    sqrt square squeeze stack std subtract take take_along_axis tan tanh tensordot tile tril
    triu trunc unique_all unique_counts unique_inverse unique_values unstack var vecdot where
    zeros zeros_like
""".split()
_ABOUT_TYPES = "can_cast finfo iinfo isdtype result_type".split()
_TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
_CONSTANTS = "e inf nan newaxis pi".split()

for _name in _SAME:
    globals()[_name] = getattr(_np, _name)
for _name in _ABOUT_TYPES:
    globals()[_name] = getattr(_types, _name)
for _name in _TYPES + _CONSTANTS:
    globals()[_name] = getattr(_constants, _name)

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "linalg",
    *_ABOUT_TYPES,
    *_SAME,
    *_TYPES,
    *_CONSTANTS,
    *_functions.__all__,
]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module("mxnet.numpy"), name)


def __dir__():
    return __all__
