"""Models in the Open Neural Network Exchange format (ONNX), which other runtimes share.

- :func:`load` reads a model and runs it, with the shapes of each call.
- :func:`export_model` writes a symbol with its parameters, or a Gluon block, as an ONNX model.
- :func:`operators` and :func:`get_operator_support` list what can be read and written.

Reading needs nothing else. Writing needs the package ``onnx``: ``pip install onnx``; it is imported
by the first call.
"""
from ._export import export_model, get_operator_support
from ._model import Model, load, operators

__all__ = ["Model", "export_model", "get_operator_support", "load", "operators"]
