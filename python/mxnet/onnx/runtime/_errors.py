"""Errors with onnxruntime's names, each an :class:`mxnet.base.MXNetError`, too."""
import contextlib

from ...base import MXNetError

__all__ = ["Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "RuntimeException"]


class Fail(MXNetError):
    """Something else went wrong."""


class InvalidArgument(MXNetError):
    """Inputs, outputs or options do not fit the model."""


class InvalidGraph(MXNetError):
    """The model has operators that are not known, or uses some wrongly."""


class InvalidProtobuf(MXNetError):
    """The file is damaged, or no ONNX model."""


class NoSuchFile(MXNetError):
    """There is no such file."""


class RuntimeException(MXNetError):
    """A call failed while it computed."""


@contextlib.contextmanager
def loading():
    """Errors of reading a model under their names."""
    try:
        yield
    except MXNetError as error:
        kind = (NoSuchFile if isinstance(error, FileNotFoundError) else InvalidProtobuf if isinstance(error, OSError) else
                InvalidGraph if isinstance(error, (ValueError, TypeError)) else Fail)
        raise kind(str(error)) from error


def of_call(error):
    """An error of a call under its name."""
    return (InvalidArgument if isinstance(error, (ValueError, TypeError)) else RuntimeException)(str(error))
