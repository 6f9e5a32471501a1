"""Arrays for tests of sparse operators, and what is in them."""
import ctypes

import mxnet as mx
from mxnet.base import _LIB, check_call

NAMES = ("default", "row_sparse", "csr")


def storage(array):
    """Its storage, as the library says."""
    number = ctypes.c_int()
    check_call(_LIB.MXNDArrayGetStorageType(array.handle, ctypes.byref(number)))
    return NAMES[number.value]


def sparse(values, stype, dtype=None):
    """A NumPy array in this storage."""
    array = mx.nd.array(values, dtype=dtype or str(values.dtype))
    return array if stype == "default" else mx.nd.cast_storage(array, stype=stype)


def numpy(array):
    """Its elements."""
    return mx.nd.cast_storage(array, stype="default").asnumpy()


def mark(array, stype="default", req="write"):
    """Gives the array a gradient of this storage, and returns that."""
    zeros = mx.nd.zeros(array.shape, dtype=array.dtype)
    gradient = zeros if stype == "default" else mx.nd.cast_storage(zeros, stype=stype)
    mx.autograd.mark_variables([array], [gradient], req)
    return gradient
