"""The optional package `onnx`, imported when it is first needed."""
import functools

import numpy as np

from ... import _dtypes

__all__ = ["onnx", "tensor_type"]


@functools.lru_cache(None)
def onnx():
    """The package; an ImportError that says what to install where there is none."""
    try:
        import onnx as package
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(f"[onnx] the package onnx cannot be imported ({error}); install it with "
                          "`pip install onnx`") from error
    return package


@functools.lru_cache(None)
def tensor_type(dtype):
    """ONNX's number of a dtype."""
    proto = onnx().TensorProto
    if _dtypes.name(dtype) == "bfloat16":
        return proto.BFLOAT16
    return onnx().helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
