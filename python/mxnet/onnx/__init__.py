"""Models in the Open Neural Network Exchange format (ONNX), which other runtimes read.

- :func:`export_model` writes a symbol with its parameters, or a Gluon block, as an ONNX model.
- :func:`get_operator_support` lists the operators that it can write.

The package ``onnx`` is needed: ``pip install onnx``. It is imported by the first call.
"""
from ._export import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
