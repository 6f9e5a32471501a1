"""The interface of onnxruntime, for programs that were written for it.

``import mxnet.onnx.runtime as ort`` in the place of ``import onnxruntime as ort`` is all that a
program needs. A program that is not to be changed, or a library that imports onnxruntime, runs with

- ``python -m mxnet.onnx.runtime`` in the place of ``python``, or
- :func:`replace_onnxruntime`, called before the library is imported.

Models, inputs and results are those of :func:`mxnet.onnx.load`. What decides how onnxruntime plans
a model is accepted and changes nothing.
"""
from ._errors import Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile, RuntimeException
from ._options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from ._replace import replace_onnxruntime
from ._session import InferenceSession, get_available_providers, get_device, set_seed
from ._values import IOBinding, ModelMetadata, NodeArg, OrtValue

__all__ = ["ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "InvalidArgument",
           "InvalidGraph", "InvalidProtobuf", "ModelMetadata", "NoSuchFile", "NodeArg", "OrtValue", "RunOptions", "RuntimeException",
           "SessionIOBinding", "SessionOptions", "disable_telemetry_events", "enable_telemetry_events", "get_all_providers",
           "get_available_providers", "get_device", "get_version_string", "replace_onnxruntime", "set_default_logger_severity",
           "set_default_logger_verbosity", "set_seed"]

__version__ = "1.20.0"   # of the interface, for programs that look

SessionIOBinding = IOBinding


def get_all_providers():
    """What this library could run on with other machines."""
    return ["CUDAExecutionProvider", "CPUExecutionProvider"]


def get_version_string():
    """The version of onnxruntime whose interface this is."""
    return __version__


def set_default_logger_severity(severity):
    """Accepted: this library's messages are errors, and warnings of Python."""
    del severity


def set_default_logger_verbosity(verbosity):
    """Accepted: this library's messages are errors, and warnings of Python."""
    del verbosity


def enable_telemetry_events():
    """Nothing to do: this library sends nothing."""


def disable_telemetry_events():
    """Nothing to do: this library sends nothing."""
