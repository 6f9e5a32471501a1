"""`import onnxruntime` that gives this package."""
import importlib.machinery
import sys
import types

__all__ = ["replace_onnxruntime"]

# where onnxruntime has its errors and classes, too
_INNER = ("onnxruntime.capi", "onnxruntime.capi.onnxruntime_pybind11_state", "onnxruntime.capi._pybind_state",
          "onnxruntime.capi.onnxruntime_inference_collection")


def replace_onnxruntime():
    """Lets ``import onnxruntime`` give :mod:`mxnet.onnx.runtime` in this process from now on.

    It is to be called before anything imports onnxruntime, which need not be installed. If it is,
    ``onnxruntime.quantization`` and its other tools in Python are those of the installed package,
    and run models by this library.

    Raises
    ------
    RuntimeError
        where onnxruntime itself was imported before.

    Examples
    --------
    >>> import mxnet.onnx.runtime
    >>> mxnet.onnx.runtime.replace_onnxruntime()                               # doctest: +SKIP
    >>> import onnxruntime                                                     # doctest: +SKIP
    """
    package = sys.modules[__package__]
    there = sys.modules.get("onnxruntime")
    if there is not None and getattr(there, "replace_onnxruntime", None) is not replace_onnxruntime:
        raise RuntimeError(f"[onnx.runtime] onnxruntime was imported before, from {getattr(there, '__file__', 'elsewhere')}; "
                           "call replace_onnxruntime first")
    installed = importlib.machinery.PathFinder.find_spec("onnxruntime")
    tools = list(installed.submodule_search_locations or ()) if installed is not None else []
    for name in ("onnxruntime", *_INNER):
        module = types.ModuleType(name, package.__doc__)
        module.__dict__.update({key: getattr(package, key) for key in (*package.__all__, "__version__")})
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        module.__path__ = tools if name == "onnxruntime" else []
        sys.modules[name] = module
        outer, _, last = name.rpartition(".")
        if outer:
            setattr(sys.modules[outer], last, module)
