"""Memory shared with NumPy and PyTorch, and what of DLPack's rules shows without a GPU (streams of
devices: tests/cpp/gpu/gpu_exchange_test.cc)."""
import ctypes
import enum
import gc
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, storage

capsule_is = ctypes.pythonapi.PyCapsule_IsValid
capsule_is.restype, capsule_is.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64),
                ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("dtype", ctypes.c_uint32), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def versioned(capsule):
    assert capsule_is(capsule, b"dltensor_versioned")
    return Versioned.from_address(capsule_pointer(capsule, b"dltensor_versioned"))


def used_bytes(ctx=mx.cpu()):
    gc.collect()
    nd.waitall()
    return storage.stats(ctx).used_bytes


@pytest.mark.parametrize("asked, is_versioned", [(None, False), ((0, 8), False), ((1, 0), True), ((1, 1), True), ((2, 0), True)])
def test_which_capsule(asked, is_versioned):
    a = nd.arange(6).reshape((2, 3))
    options = {} if asked is None else {"max_version": asked}
    capsule = a.__dlpack__(**options)
    assert bool(capsule_is(capsule, b"dltensor_versioned")) == is_versioned
    assert bool(capsule_is(capsule, b"dltensor")) != is_versioned
    if is_versioned:
        tensor = versioned(capsule)
        assert (tensor.major, tensor.flags, tensor.ndim, tuple(tensor.device)) == (1, 0, 2, (1, 0))
        assert tensor.shape[:2] == [2, 3] and tensor.strides[:2] == [3, 1]
        copied = versioned(a.__dlpack__(copy=True, **options))
        assert copied.flags == 2 and copied.data != tensor.data
        assert versioned(a.__dlpack__(copy=False, **options)).flags == 0
    b = nd.from_dlpack(capsule)
    b[:] = 4
    assert a.asnumpy().tolist() == [[4] * 3] * 2
    with pytest.raises(ValueError, match="once"):
        nd.from_dlpack(capsule)


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}])
def test_unused_capsules_give_their_memory_back(options):
    before = used_bytes()
    kept = [nd.zeros((1000,)).__dlpack__(**options) for _ in range(3)]
    assert used_bytes() >= before + 12000
    taken = nd.from_dlpack(kept.pop())
    kept.clear()
    assert before < used_bytes() < before + 12000
    del taken
    assert used_bytes() == before


def test_numpy():
    a = nd.zeros((2, 3))
    view = np.from_dlpack(a)
    view[0, 1] = 5   # of a versioned capsule: for writing
    assert a.asnumpy()[0, 1] == 5
    np.from_dlpack(a, copy=True)[:] = 7
    assert a.asnumpy().max() == 5
    assert np.from_dlpack(a, device="cpu", copy=False)[0, 1] == 5
    for dtype in ("float64", "float16", "uint8", "int32", "int8", "int64", "bool"):
        assert np.from_dlpack(nd.ones((2,), dtype=dtype)).dtype == dtype
        assert nd.from_dlpack(np.ones((2,), dtype)).dtype == np.dtype(dtype)
    assert np.from_dlpack(nd.zeros((0, 3))).shape == (0, 3)


def test_memory_for_reading_only_is_copied():
    source = np.arange(3, dtype="float32")
    source.flags.writeable = False
    a = nd.from_dlpack(source)
    a[:] = 9
    assert a.asnumpy().tolist() == [9, 9, 9] and source.tolist() == [0, 1, 2]


def test_streams_are_for_gpus():
    a = nd.ones((2,))
    a.__dlpack__(stream=None)
    for stream in (-1, 0, 1, 2, 140000):
        with pytest.raises(ValueError, match=r"\[__dlpack__\] stream=.* not on a GPU; accepted: None"):
            a.__dlpack__(stream=stream)
    for stream in ("1", 1.0, True):
        with pytest.raises(TypeError, match=r"\[__dlpack__\] stream="):
            a.__dlpack__(stream=stream)


def test_devices():
    class Kind(enum.IntEnum):
        CPU = 1
        GPU = 2

    a = nd.ones((2,))
    assert a.__dlpack_device__() == (1, 0)
    a.__dlpack__(dl_device=(Kind.CPU, 0), copy=False)
    with pytest.raises(BufferError, match="dl_device"):
        a.__dlpack__(dl_device=(Kind.GPU, 0))
    pinned = nd.ones((2,), ctx=mx.cpu_pinned())
    assert pinned.__dlpack_device__() == (3, 0)
    copied = versioned(pinned.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert copied.flags == 2 and tuple(copied.device) == (1, 0)
    with pytest.raises(BufferError, match="copy=False"):
        pinned.__dlpack__(dl_device=(1, 0), copy=False)


def test_producers_of_before_versions():
    class Old:
        array = nd.arange(3)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, stream=None):
            return self.array.__dlpack__(stream=stream)

    b = nd.from_dlpack(Old())
    b[:] = 8
    assert Old.array.asnumpy().tolist() == [8, 8, 8]


class CudaArray:
    """Says that host memory is a GPU's."""

    def __init__(self, **entries):
        self.memory = np.arange(6, dtype="float32").reshape(2, 3)
        self.__cuda_array_interface__ = {"shape": (2, 3), "typestr": "<f4",
                                         "data": (self.memory.ctypes.data, False), "version": 3,
                                         **entries}


@pytest.mark.parametrize("entries, error, text", [
    ({}, ValueError, "on no GPU"), ({"stream": None, "strides": (12, 4)}, ValueError, "on no GPU"),
    ({"stream": 1}, ValueError, "on no GPU"),
    ({"stream": 0}, ValueError, "stream=0"), ({"stream": "1"}, TypeError, "stream='1'"), ({"strides": (4, 8)}, ValueError, "row-major"),
    ({"mask": object()}, ValueError, "mask"), ({"typestr": "<c8"}, TypeError, r"\[dtype\]"), ({"typestr": ">f4"}, TypeError, r"\[dtype\]")])
def test_cuda_arrays_that_cannot_be_shared(entries, error, text):
    producer = CudaArray(**entries)
    references = sys.getrefcount(producer)
    for take in (nd.from_dlpack, nd.array):
        with pytest.raises(error, match=text):
            take(producer)
    assert sys.getrefcount(producer) == references


def test_torch():
    torch = pytest.importorskip("torch")
    a = nd.zeros((2, 3))
    t = torch.from_dlpack(a)
    t[1, 2] = 5
    assert a.asnumpy()[1, 2] == 5
    torch.from_dlpack(a, copy=True)[:] = 1
    assert a.asnumpy()[0, 0] == 0
    assert torch.from_dlpack(a, device="cpu").data_ptr() == t.data_ptr()
    assert torch.from_dlpack(nd.ones((2,), dtype="bfloat16")).dtype == torch.bfloat16
    assert torch.utils.dlpack.from_dlpack(a.to_dlpack_for_write()).data_ptr() == t.data_ptr()
    source = torch.arange(6.0).reshape(2, 3)
    b = nd.from_dlpack(source)
    b[:] = 3
    b.wait_to_read()
    assert source.tolist() == [[3] * 3] * 2
    assert nd.from_dlpack(torch.utils.dlpack.to_dlpack(source)).asnumpy().tolist() == [[3] * 3] * 2
    assert nd.from_dlpack(torch.ones(2, dtype=torch.bfloat16)).dtype == "bfloat16"
    with pytest.raises(BufferError, match="require gradient"):
        nd.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(ValueError, match="row-major"):
        nd.from_dlpack(source.T)
