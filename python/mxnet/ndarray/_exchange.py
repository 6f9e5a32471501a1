"""How arrays meet others: pickles, DLPack, CUDA's interface, and functions of NumPy."""
import ctypes
import operator

import numpy as np

from .._binding import NDArrayBase
from .._operators.methods import PYTHON_OPERATORS
from .._arrays.tracing import VALUE, is_deferred_compute, note
from ..base import NDArrayHandle, _LIB, check_call
from ..context import Context
from ._capsule import export, lend, stream_number
from ._native import from_values

__all__ = []

_UFUNCS = {ufunc: f"__{method}__" for method, row in PYTHON_OPERATORS.items() for ufunc in row.ufuncs}
_NUMBERS = {"b": bool, "i": int, "u": int, "f": float}


class _Exchange:
    """The part of NDArray that is for other libraries and for files."""

    __slots__ = ()

    # The layout of 1.x: its pickles (optimizer states, datasets, ...) are read here, and ours
    # there.
    def __reduce__(self):
        return type(self), (None,), self.__getstate__()

    def __getstate__(self):
        if is_deferred_compute():
            note(VALUE, self)
        if self.ndim < 0:
            return {"handle": None}
        state = {"handle": _raw_bytes(self)}
        if self._ctx_ids[0] == 2:
            state["context"] = self.context   # 1.x does not look at it
        return state

    def __setstate__(self, state):
        data = state["handle"]
        if data is None:
            NDArrayBase.__init__(self, None)
            return
        self._load_raw(data)
        if "context" in state:
            moved = self.copyto(state["context"])
            NDArrayBase.__init__(self, _shared_handle(moved))

    def _to_shared_mem(self):
        """What `_new_from_shared_mem` takes: process, number of the segment, shape, dtype. The
        values are copied into a segment first unless they are in one."""
        array = self if self.context.device_type == "cpu_shared" else self.as_in_context(Context("cpu_shared"))
        array.wait_to_read()    # the reader sees memory, not the engine of this process
        pid, number = ctypes.c_int(-1), ctypes.c_int(-1)
        try:
            check_call(_LIB.MXNDArrayGetSharedMemHandle(array.handle, ctypes.byref(pid), ctypes.byref(number)))
        except ValueError:
            array = array.copy()    # a view from the middle of its segment
            check_call(_LIB.MXNDArrayGetSharedMemHandle(array.handle, ctypes.byref(pid), ctypes.byref(number)))
        return pid.value, number.value, array.shape, array.dtype

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """DLPack capsule that shares this array's memory, or holds a copy if `copy` or `dl_device`,
        which may be the CPU, want one.

        On a GPU the consumer's CUDA `stream` waits for what is under way on the array: None or 1 is
        the legacy default stream, 2 the per-thread one; with -1 nothing waits. Elsewhere it must be
        None, and the capsule comes after pending work. Versioned for consumers of DLPack 1.0 or
        later. Raises BufferError for other devices, and for the CPU with ``copy=False``.
        """
        if is_deferred_compute():
            note(VALUE, self)
        own, source = self.__dlpack_device__(), self
        number = stream_number(stream, own[0] == 2, "__dlpack__", 1)
        if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != own:
            if int(dl_device[0]) != 1 or copy is False:
                raise BufferError(f"[__dlpack__] dl_device={tuple(dl_device)}, copy={copy}; "
                                  f"accepted: the array's own, {own}, or a copy on the CPU, (1, 0)")
            source, number = self.as_in_context(Context("cpu")), 0
        elif copy:
            source = self.copy()
        return export(source, number, max_version is not None and max_version[0] >= 1, source is not self)

    def __dlpack_device__(self):
        """DLPack's numbers of the device: kind (1 CPU, 2 CUDA, 3 pinned CPU memory) and index."""
        kind, number = self._ctx_ids
        return ({2: 2, 3: 3}.get(kind, 1), number if kind == 2 else 0)

    @property
    def __cuda_array_interface__(self):
        """Address, shape and dtype of an array on a GPU, after pending work is done; other arrays
        have no such attribute.

        The `stream` is None, nothing to wait for: not every consumer (PyTorch) looks at that entry.
        With DLPack it is the consumer's stream that waits. The consumer keeps the array object for
        as long as it uses the memory, which is used again when what is on the legacy default stream
        at the object's end has passed.
        """
        kind, _ = self._ctx_ids
        if kind != 2:
            raise AttributeError(f"[__cuda_array_interface__] of an array on {self.context}; accepted: arrays on gpu contexts")
        if self.dtype == "bfloat16":
            raise AttributeError("[__cuda_array_interface__] of bfloat16, which NumPy's type strings do not have; use DLPack")
        data = ctypes.c_void_p()
        check_call(_LIB.MXNDArrayGetData(self.handle, ctypes.byref(data)))
        self.wait_to_write()   # consumers may write: readers have to be done too
        lend(self)
        return {"shape": self.shape, "typestr": np.dtype(self.dtype).str,
                "data": (data.value or 0, False), "strides": None, "version": 3, "stream": None}

    def to_dlpack_for_read(self):
        """DLPack capsule of this array, for reading.

        >>> x = mx.nd.arange(3)
        >>> mx.nd.from_dlpack(x.to_dlpack_for_read()).asnumpy()
        array([0., 1., 2.], dtype=float32)
        """
        return export(self)

    def to_dlpack_for_write(self):
        """DLPack capsule of this array, for writing.

        >>> x = mx.nd.arange(3)
        >>> same = mx.nd.from_dlpack(x.to_dlpack_for_write())
        >>> same[0] = 9
        >>> x.asnumpy()
        array([9., 1., 2.], dtype=float32)
        """
        return export(self)

    def __array_function__(self, function, types, args, kwargs):
        # NumPy functions work on values: arrays become NumPy arrays, the result stays one.
        def convert(x):
            if isinstance(x, NDArrayBase):
                return x.asnumpy()
            if isinstance(x, (list, tuple)):
                return type(x)(convert(v) for v in x)
            return x
        return function(*[convert(a) for a in args], **{k: convert(v) for k, v in kwargs.items()})

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or kwargs.get("out") is not None:
            return NotImplemented
        if ufunc.__name__ in _UFUNCS and len(inputs) == 2 and not kwargs:
            method, context, dtype = _UFUNCS[ufunc.__name__], self.context, self.dtype
            if inputs[1] is self and np.ndim(inputs[0]) == 0:
                number = _NUMBERS.get(np.asarray(inputs[0]).dtype.kind)
                if number is not None:      # as Python's are: not put into the array's dtype first
                    return getattr(operator, method)(number(inputs[0]), self)
            a, b = (from_values(x, context, dtype) if isinstance(x, np.ndarray) else x for x in inputs)
            if isinstance(a, NDArrayBase):
                return getattr(a, method)(b)
            return getattr(from_values(np.asarray(a), context, dtype), method)(b)
        return ufunc(*[x.asnumpy() if isinstance(x, NDArrayBase) else x for x in inputs], **kwargs)


def _raw_bytes(a):
    size, data = ctypes.c_size_t(), ctypes.c_void_p()
    check_call(_LIB.MXNDArraySaveRawBytes(a.handle, ctypes.byref(size), ctypes.byref(data)))
    return bytearray((ctypes.c_char * size.value).from_address(data.value))     # one copy


def _shared_handle(a):
    """A handle of its own on the memory of `a`."""
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayDetach(a.handle, ctypes.byref(handle)))
    return handle
