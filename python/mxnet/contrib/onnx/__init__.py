"""Names under which 1.x had :mod:`mxnet.onnx`."""
from ...onnx import export_model
from ...onnx._contrib import get_model_metadata, import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
