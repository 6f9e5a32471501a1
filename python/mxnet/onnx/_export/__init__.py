"""Symbols and Gluon blocks as ONNX models.

- `model.py` has the function that users call, and writes the file.
- `sources.py` makes a graph with parameters of what users give.
- `shapes.py` infers the shape and the dtype of every result, for several sizes of the dimensions
  that stay free.
- `folding.py` computes what depends on parameters alone.
- `graph.py` collects the ONNX nodes; `conversion.py` is what a converter sees of one node.
- `families.py` finds the converter of an operator in `table.py`, which the other files fill, by
  family.
"""
from .model import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
