"""The C predict API on files, for test_predict_file.py and the programs that it starts."""
import ctypes

import numpy as np

from mxnet.base import _LIB, check_call


def create(json, params, shape, by_file=True, threads=1):
    """Handles of a network with the input x; parameters by their file, or from memory."""
    keys, ends, dims = (ctypes.c_char_p * 1)(b"x"), (ctypes.c_uint32 * 2)(0, len(shape)), (ctypes.c_uint32 * len(shape))(*shape)
    out = (ctypes.c_void_p * threads)()
    if by_file:
        check_call(_LIB.MXPredCreateFromFile(json.encode(), params.encode(), 1, 0, 1, keys, ends, dims, threads, out))
    else:
        with open(params, "rb") as f:
            data = f.read()
        check_call(_LIB.MXPredCreateMultiThread(json.encode(), data, len(data), 1, 0, 1, keys, ends, dims, threads, out))
    return [ctypes.c_void_p(h) for h in out]


def predict(handle, x, count):
    """The first result, of `count` floats."""
    floats = ctypes.POINTER(ctypes.c_float)
    x = np.ascontiguousarray(x, "float32")
    check_call(_LIB.MXPredSetInput(handle, b"x", x.ctypes.data_as(floats), x.size))
    check_call(_LIB.MXPredForward(handle))
    y = np.empty(count, "float32")
    check_call(_LIB.MXPredGetOutput(handle, 0, y.ctypes.data_as(floats), y.size))
    return y
