"""The array class and the functions of mx.np, collected from the modules that define them."""
import importlib as _importlib

from ._array import ndarray   # noqa: F401  (its home in 1.9.1)

# Modules of this package whose `__all__` is part of mx.np.
_PARTS = ("_array", "_namespace_info", "_creation", "_diagonals", "_joining", "_manipulation", "_searching", "arrayprint", "io",
          "_ufuncs", "_reductions", "_statistics", "_products", "type_functions", "_cumulative", "_complex_parts", "_composed", "_sliding",
          "_coordinates", "_ufunc_methods", "_placing", "_small_parts", "_nan_quantiles", "fallback")

__all__ = []
for _part in _PARTS:
    _module = _importlib.import_module(f"{__package__}.{_part}")
    for _name in _module.__all__:
        globals()[_name] = getattr(_module, _name)
    __all__ += _module.__all__
