# Generated from the modules by `./dev docs`; do not edit.
from mxnet.onnx import export_model as export_model

