"""Chooses the binding, compiled or ctypes: the base class of arrays, and calls of operators and
compiled graphs.

A binding has the primitives: its class `NDArrayBase`, `invoke`, `CachedOp`, the switches of a
thread. What can be done with these alone stands in `composed`, and a binding may have a faster way
of the same name. Features of arrays are written above, in mxnet.ndarray and mxnet.numpy, for both.
"""
import ctypes
import glob
import importlib
import os
import warnings

from .._startup.process import outside as _outside
from .._dtypes import name as _dtype_name
from .._operators.methods import PYTHON_OPERATORS
from ..base import _KINDS, _LIB, _PACKAGE, __version__, c_str, check_call
from .written_parts import write_through


def _switched_on(variable):
    text = ctypes.c_char_p()   # not through mxnet.env: `python -m mxnet.env` must not find itself imported
    check_call(_LIB.MXGetEnv(c_str(variable), ctypes.byref(text)))
    return text.value in (b"1", b"true")


def _checksum():
    """What cmake/binding_sources.cmake computes of the binding's sources; None in a package that is
    installed without them."""
    folder = os.path.join(os.path.dirname(os.path.normpath(_PACKAGE)), "src")
    if not os.path.isfile(os.path.join(folder, "ndarray_module.cc")):
        return None
    import hashlib
    digests = []
    for path in sorted(glob.glob(os.path.join(folder, "*.cc")) + glob.glob(os.path.join(folder, "*.h"))):
        with open(path, "rb") as file:
            digests.append(hashlib.sha256(file.read()).hexdigest())
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _refuse_another(module):
    """Raises ImportError where the compiled binding is not that of this package: its functions may
    be absent, or take other arguments."""
    version, sources = getattr(module, "_version", "an older version"), _checksum()
    if version != __version__:
        reason = f"belongs to {version}, and the package is {__version__}"
    elif sources not in (None, module._sources):
        reason = "was compiled from other sources than those in python/src"
    else:
        return
    again = "install the package again" if sources is None else "./dev build compiles it again"
    raise ImportError(f"{module.__file__} {reason}; {again}")


_backend = None
if _switched_on("MXNET_ENABLE_CYTHON"):
    try:
        from .._cy3 import ndarray as _compiled
        _refuse_another(_compiled)
        _backend = _compiled
    except ImportError as _error:
        if _switched_on("MXNET_ENFORCE_CYTHON"):
            raise ImportError(f"[binding] MXNET_ENFORCE_CYTHON=1, but mxnet._cy3 cannot be imported: {_error}; "
                              "build it with ./dev build, or unset the variable") from _error
        warnings.warn(f"[binding] the compiled binding cannot be imported ({_error}); ctypes takes its place, and calls of operators "
                      "take about 14 µs instead of 0.5. `python -m mxnet.doctor` says more; MXNET_ENABLE_CYTHON=0 chooses ctypes",
                      RuntimeWarning, stacklevel=_outside() or 1)
if _backend is None:
    from .._ctypes import ndarray as _backend

NDArrayBase = _backend.NDArrayBase
CachedOp = _backend.CachedOp
invoke = _backend.invoke
invoke_np = _backend.invoke_np
new_array = _backend.new_array
set_mode = _backend.set_mode
wait_all = _backend.wait_all
is_traced = _backend.is_traced
is_recorded = _backend.is_recorded
_set_trace_note = _backend._set_trace_note
_set_ndarray_class = _backend._set_ndarray_class
_set_sparse_classes = _backend._set_sparse_classes
_set_indexing = _backend._set_indexing
_set_numpy_class = _backend._set_numpy_class
_numpy_base = _backend._numpy_base

for _name in ("numpy_call", "of_one_dtype", "set_symbols", "_set_symbol_call", "array_of", "array_of_lists", "filled",
              "show", "layout_of", "make_views", "makes_views", "store_push", "store_pull", "store_pushpull",
              "guarded", "onnx_run", "onnx_named", "onnx_numpy", "NumpyFunction", "NumpyProperty", "_set_making"):
    globals()[_name] = getattr(_backend, _name, None) or getattr(importlib.import_module(__name__ + ".composed"), _name)
_backend._set_part_written(write_through)


def attr_to_str(value):
    """A parameter value as the text that the native parser reads."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(map(attr_to_str, value)) + "]"       # so it is in symbol files of 1.x
    if isinstance(value, tuple):
        return "(" + ", ".join(map(attr_to_str, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, type) or (hasattr(value, "itemsize") and hasattr(value, "name")):
        return _dtype_name(value)
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return str(value.item())
    return str(value)


_backend._configure(attr_to_str, _KINDS, _PACKAGE,
                    [(method, row.arrays, row.number, row.left) for method, row in PYTHON_OPERATORS.items()])
