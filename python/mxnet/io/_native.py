"""Iterators of the native library: their functions are written from its records."""
import contextlib
import ctypes
import logging

import numpy as np

from ..base import _LIB, _MXValueError, NDArrayHandle, NotCopied, check_call
from ..ndarray import NDArray
from ..util import to_current_class
from ._records import records
from .base import DataBatch, DataDesc, DataIter
from .mnist import unpacked

__all__ = ["MXDataIter"]


class NativeIterator:
    """An iterator of the library: the calls that its functions take.

    Attributes: ``handle`` (ctypes.c_void_p), which is freed with this object.
    """

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            _LIB.MXDataIterFree(handle)

    def advance(self):
        """Go to the next batch. Returns whether there is one."""
        found = ctypes.c_int()
        check_call(_LIB.MXDataIterNext(self.handle, ctypes.byref(found)))
        return bool(found.value)

    def items(self):
        """The batch's arrays."""
        count, handles = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXDataIterGetItems(self.handle, ctypes.byref(count), ctypes.byref(handles)))
        return [NDArray(NDArrayHandle(handle)) for handle in handles[:count.value]]

    def index(self):
        """Numbers of the batch's instances, or None."""
        numbers, size = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
        check_call(_LIB.MXDataIterGetIndex(self.handle, ctypes.byref(numbers), ctypes.byref(size)))
        return np.array(numbers[:size.value], np.uint64) if size.value else None

    def pad(self):
        """How many of the batch's instances fill it up."""
        count = ctypes.c_int()
        check_call(_LIB.MXDataIterGetPadNum(self.handle, ctypes.byref(count)))
        return count.value

    def restart(self):
        """Begin a new epoch."""
        check_call(_LIB.MXDataIterBeforeFirst(self.handle))

    def length(self):
        """Batches in an epoch; -1 if they are not known."""
        count = ctypes.c_int64()
        check_call(_LIB.MXDataIterGetLenHint(self.handle, ctypes.byref(count)))
        return count.value


class MXDataIter(NotCopied, DataIter):
    """An iterator of the native library, as its function (:func:`CSVIter` for example) makes it.

    The first batch is read at once, for `provide_data` and `provide_label`. Arrays of a batch stay
    as they are when further ones are read. An iterator belongs to the process that made it, and
    cannot be pickled.

    Parameters
    ----------
    handle : DataIterHandle
        From ``MXDataIterCreateIter``; freed with this object.
    data_name, label_name : str
        Names in `provide_data` and `provide_label`.

    Raises
    ------
    MXNetError
        if the first batch can't be read, or there is none.
    """

    def __init__(self, handle, data_name="data", label_name="softmax_label", **_):
        super().__init__()
        self._native = NativeIterator(handle)
        self._debug_skip_load = False
        self.first_batch = None     # read, and not handed out yet
        self._batch = None
        if not self._advance():
            raise _MXValueError("[MXDataIter] there is no batch; accepted: files, and parts of them, with an instance "
                                "at least, and with a whole batch where the rest is left out")
        self.first_batch = self._batch
        names = [label_name] + [f"{label_name}{i}" for i in range(1, len(self._batch.label))]
        self.provide_data = [DataDesc(data_name, a.shape, a.dtype) for a in self._batch.data]
        self.provide_label = [DataDesc(name, a.shape, a.dtype) for name, a in zip(names, self._batch.label)]
        self.batch_size = self._batch.data[0].shape[0]

    @property
    def handle(self):
        """The iterator's handle for C functions."""
        return self._native.handle

    def __len__(self):
        length = self._native.length()
        if length < 0:
            raise TypeError("[MXDataIter] how many batches there are is known when all are read")
        return length

    def __bool__(self):
        return True     # whatever its length is

    def _advance(self):
        self._batch = None
        if self._native.advance():
            items = self._native.items()
            items = [to_current_class(item) for item in items]
            self._batch = DataBatch(data=items[:1], label=items[1:], pad=self._native.pad(), index=self._native.index())
        return self._batch is not None

    def debug_skip_load(self):
        """From now on give the first batch of all again and again, to measure what the rest of a
        program takes."""
        self._debug_skip_load = True
        logging.info("MXDataIter gives its first batch again and again: debug_skip_load() was called")

    def reset(self):
        if self.first_batch is None:    # else nothing was taken yet
            self._batch = None
            self._native.restart()

    def next(self):
        if self.iter_next():
            return self._batch
        raise StopIteration

    def iter_next(self):
        if self.first_batch is not None:
            self._batch = self.first_batch
            if not self._debug_skip_load:
                self.first_batch = None
            return True
        return self._debug_skip_load and self._batch is not None or self._advance()

    def _current(self):
        if self._batch is None:
            raise _MXValueError("[MXDataIter] there is no current batch; accepted: after iter_next() gave True")
        return self._batch

    def getdata(self):
        return self._current().data[0]

    def getlabel(self):
        return self._current().label[0]

    def getitems(self):
        """All arrays of the batch, as a tuple."""
        return (*self._current().data, *self._current().label)

    def getindex(self):
        return self._current().index

    def getpad(self):
        return self._current().pad


_NAMES = {"data_name": "str, optional, default='data'", "label_name": "str, optional, default='softmax_label'"}
_BEFORE = {"MNISTIter": unpacked}       # a context in which the iterator is made, with its arguments
_IGNORED = {"MNISTIter": ("input_shape", "data_shape")}     # scripts of 1.x give them
# What 1.9.1 takes and does not list.
_NORMALIZATION = ("mirror", "rand_mirror", "mean_r", "mean_g", "mean_b", "mean_a", "std_r", "std_g", "std_b", "std_a", "scale", "mean_img",
                  "max_random_contrast", "max_random_illumination")
_UNLISTED = dict.fromkeys(("ImageRecordInt8Iter", "ImageRecordUInt8Iter", "ImageRecordUInt8Iter_v1"), _NORMALIZATION)


def _function(record):
    others = (*_NAMES, *_IGNORED.get(record.name, ()))

    def make(*args, **kwargs):
        given = record.known(args, kwargs, others, _UNLISTED.get(record.name, ()))
        names = {name: kwargs[name] for name in _NAMES if name in kwargs}
        with _BEFORE.get(record.name, contextlib.nullcontext)(given) as prepared:
            handle = record.create(_LIB.MXDataIterCreateIter, prepared)
        return MXDataIter(handle, **names)

    make.__name__ = make.__qualname__ = record.name
    make.__module__ = "mxnet.io.io"
    make.__signature__ = record.signature(_NAMES)
    make.__doc__ = record.docstring(_NAMES, ("MXDataIter", "    The iterator, before its first batch."))
    return make


iterator_records = {record.name: record for record in records(_LIB.MXListDataIters, _LIB.MXDataIterGetIterInfo)}
functions = {name: _function(record) for name, record in iterator_records.items()}
