"""ONNX models: `load` runs them, with the shapes and dtypes of each call."""
from ._model import Model, load, operators

__all__ = ["Model", "load", "operators"]
