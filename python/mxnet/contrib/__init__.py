"""Names under which 1.x had experimental parts; names_1_9_1.txt says where others live now."""
import importlib

from .. import amp

# What is loaded when it is first touched.
_LAZY = ("autograd", "io", "onnx", "quantization", "safetensors", "svrg_optimization", "tensorboard",
         "text", "torch")
_OPERATORS = ("nd", "ndarray", "sym", "symbol")     # other names of mx.nd.contrib and mx.sym.contrib


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({name for name in globals() if name != "importlib"} | {*_LAZY, *_OPERATORS})
