"""Names under which 1.x had :mod:`mxnet.onnx`."""
from ...onnx import export_model

__all__ = ["export_model"]
