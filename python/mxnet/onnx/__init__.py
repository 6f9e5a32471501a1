"""Models in the Open Neural Network Exchange format (ONNX), which other runtimes share.

- :func:`load` reads a model and runs it, with the shapes of each call.
- :func:`export_model` writes a symbol with its parameters, or a Gluon block, as an ONNX model.
- :func:`operators` and :func:`get_operator_support` list what can be read and written.
- :mod:`mxnet.onnx.runtime` has the interface of onnxruntime, for programs that were written for it.

Reading needs nothing else. Writing needs the package ``onnx``: ``pip install onnx``; it is imported
by the first call.
"""
import importlib
import typing
from typing import Any

from ._model import Model, load, operators

if typing.TYPE_CHECKING:
    from . import runtime
    from ._export import export_model, get_operator_support

__all__ = ["Model", "export_model", "get_operator_support", "load", "operators", "runtime"]


def __getattr__(name: str) -> Any:
    """What few programs need is imported when it is first asked for: others start sooner."""
    if name == "runtime":
        return importlib.import_module(".runtime", __name__)
    if name not in ("export_model", "get_operator_support"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _export
    globals()[name] = value = getattr(_export, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
