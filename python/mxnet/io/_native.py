"""Iterators of the native library: their functions are written from its records."""
import contextlib
import ctypes
import logging
import os
import threading

import numpy as np

from .._startup.interrupt import InterruptAfterFinalizer
from ..base import _LIB, _MXValueError, NDArrayHandle, NotCopied, check_call
from ..ndarray import NDArray
from ..util import to_current_class
from ._examples import EXAMPLES
from ._records import records
from .base import DataBatch, DataDesc, DataIter
from .mnist import unpacked

__all__ = ["MXDataIter"]


class NativeIterator:
    """An iterator of the library: the calls that its functions take. Several threads may use it.

    Attributes: ``handle`` (ctypes.c_void_p), which is freed with this object.
    """

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            with InterruptAfterFinalizer():     # it waits for the iterator's threads
                _LIB.MXDataIterFree(handle)

    def take(self):
        """The next batch as (arrays, numbers of its instances or None, how many of them fill it
        up); None at the end."""
        found, count, pad, handles = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
        numbers, size = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
        check_call(_LIB.MXDataIterNextBatch(self.handle, ctypes.byref(found), ctypes.byref(count), ctypes.byref(handles),
                                            ctypes.byref(numbers), ctypes.byref(size), ctypes.byref(pad)))
        if not found.value:
            return None
        arrays = [NDArray(NDArrayHandle(handle)) for handle in handles[:count.value]]
        return arrays, np.array(numbers[:size.value], np.uint64) if size.value else None, pad.value

    def restart(self):
        """Begin a new epoch."""
        check_call(_LIB.MXDataIterBeforeFirst(self.handle))

    def length(self):
        """Batches in an epoch; -1 if they are not known."""
        count = ctypes.c_int64()
        check_call(_LIB.MXDataIterGetLenHint(self.handle, ctypes.byref(count)))
        return count.value


class Epochs:
    """Iterables whose epochs do not disturb each other: an epoch has a native iterator of its own,
    which the next one uses again once this one is over or dropped.

    Parameters
    ----------
    make : callable
        Gives a new NativeIterator.
    convert : callable
        What becomes of a batch's arrays.
    """

    def __init__(self, make, convert):
        self._make, self._convert = make, convert
        self._idle = []
        self.latest = None      # the iterator of the latest epoch

    def prepare(self):
        """Make the first epoch's iterator now; errors in its arguments are raised here."""
        self.latest = self._make()
        self._idle.append(self.latest)

    def __iter__(self):
        try:
            native = self._idle.pop()
        except IndexError:
            native = self._make()
        else:
            native.restart()
        self.latest = native
        return _Epoch(native, self._idle, self._convert)


class _Epoch:
    """Several threads may ask for batches: each goes to one of them."""

    _native = None

    def __init__(self, native, idle, convert):
        self._native, self._idle, self._convert = native, idle, convert
        self._lock, self._process = threading.Lock(), os.getpid()

    def __iter__(self):
        return self

    def __next__(self):
        if self._process != os.getpid():    # a thread that is not in this process may hold the lock
            self._lock, self._process = threading.Lock(), os.getpid()
        with self._lock:
            batch = self._native and self._native.take()
            if batch is None:
                self._give_back()
                raise StopIteration
        return self._convert(batch[0])

    def _give_back(self):
        native, self._native = self._native, None
        if native is not None and not self._idle:
            self._idle.append(native)

    def __del__(self):
        self._give_back()


class MXDataIter(NotCopied, DataIter):
    """An iterator of the native library, as its function (:func:`CSVIter` for example) makes it.

    The first batch is read at once, for `provide_data` and `provide_label`. Arrays of a batch stay
    as they are when further ones are read. An iterator belongs to the process that made it, and
    cannot be pickled. Several threads may call `next`: each batch goes to one of them. What is
    about the current batch (`iter_next`, `getdata`) is for one thread.

    Parameters
    ----------
    handle : DataIterHandle
        From ``MXDataIterCreateIter``; freed with this object.
    data_name, label_name : str
        Names in `provide_data` and `provide_label`.
    layout : str
        Of the data, in `provide_data`.

    Raises
    ------
    MXNetError
        if the first batch can't be read, or there is none.

    Examples
    --------
    >>> with open('numbers.csv', 'w') as file:
    ...     _ = file.write('1,2\\n3,4\\n5,6\\n')
    >>> batches = mx.io.CSVIter(data_csv='numbers.csv', data_shape=(2,), batch_size=1)
    >>> type(batches).__name__, batches.provide_data[0].shape
    ('MXDataIter', (1, 2))
    >>> batches.first_batch.data[0].asnumpy()
    array([[1., 2.]], dtype=float32)
    >>> [batch.data[0].asnumpy().tolist() for batch in batches]
    [[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]]
    >>> batches.reset()
    >>> batches.iter_next(), batches.getdata().asnumpy(), batches.getpad()
    (True, array([[1., 2.]], dtype=float32), 0)
    """

    def __init__(self, handle, data_name="data", label_name="softmax_label", layout="NCHW", **_):
        super().__init__()
        self._native = NativeIterator(handle)
        self._debug_skip_load = False
        self._first = []            # the batch that was read and not handed out yet
        self._batch = self._take()
        if self._batch is None:
            raise _MXValueError("[MXDataIter] there is no batch; accepted: files, and parts of them, with an instance "
                                "at least, and with a whole batch where the rest is left out")
        self._first.append(self._batch)
        names = [label_name] + [f"{label_name}{i}" for i in range(1, len(self._batch.label))]
        self.provide_data = [DataDesc(data_name, a.shape, a.dtype, layout) for a in self._batch.data]
        self.provide_label = [DataDesc(name, a.shape, a.dtype) for name, a in zip(names, self._batch.label)]
        self.batch_size = self._batch.data[0].shape[0]

    @property
    def handle(self):
        """The iterator's handle for C functions.

        >>> with open('numbers.csv', 'w') as file:
        ...     _ = file.write('1\\n2\\n')
        >>> batches = mx.io.CSVIter(data_csv='numbers.csv', data_shape=(1,), batch_size=2)
        >>> mx.base.check_call(mx.base._LIB.MXDataIterBeforeFirst(batches.handle))
        """
        return self._native.handle

    def __len__(self):
        length = self._native.length()
        if length < 0:
            raise TypeError("[MXDataIter] how many batches there are is known when all are read")
        return length

    def __bool__(self):
        return True     # whatever its length is

    @property
    def first_batch(self):
        """The batch that was read at once, until it is handed out; then None."""
        return next(iter(self._first), None)

    def _take(self):
        taken = self._native.take()
        if taken is None:
            return None
        arrays, index, pad = taken
        arrays = [to_current_class(array) for array in arrays]
        return DataBatch(data=arrays[:1], label=arrays[1:], pad=pad, index=index)

    def _next(self):
        """The next batch, which is now the current one; None at the end."""
        if self._debug_skip_load and (self._first or self._batch is not None):
            batch = self.first_batch or self._batch
        else:
            try:
                batch = self._first.pop()
            except IndexError:
                self._batch = None
                batch = self._take()
        self._batch = batch
        return batch

    def debug_skip_load(self):
        """From now on give the first batch of all again and again, to measure what the rest of a
        program takes.

        >>> with open('numbers.csv', 'w') as file:
        ...     _ = file.write('1\\n2\\n')
        >>> batches = mx.io.CSVIter(data_csv='numbers.csv', data_shape=(1,), batch_size=1)
        >>> batches.debug_skip_load()
        >>> [float(next(batches).data[0].asscalar()) for _ in range(4)]
        [1.0, 1.0, 1.0, 1.0]
        """
        self._debug_skip_load = True
        logging.info("MXDataIter gives its first batch again and again: debug_skip_load() was called")

    def reset(self):
        if not self._first:         # else nothing was taken yet
            self._batch = None
            self._native.restart()

    def next(self):
        batch = self._next()
        if batch is None:
            raise StopIteration
        return batch

    def iter_next(self):
        return self._next() is not None

    def _current(self):
        if self._batch is None:
            raise _MXValueError("[MXDataIter] there is no current batch; accepted: after iter_next() gave True")
        return self._batch

    def getdata(self):
        return self._current().data[0]

    def getlabel(self):
        return self._current().label[0]

    def getitems(self):
        """All arrays of the batch, as a tuple: the data, then the labels.

        >>> with open('numbers.csv', 'w') as file:
        ...     _ = file.write('1,2\\n3,4\\n')
        >>> with open('labels.csv', 'w') as file:
        ...     _ = file.write('0\\n1\\n')
        >>> batches = mx.io.CSVIter(data_csv='numbers.csv', data_shape=(2,),
        ...                         label_csv='labels.csv', batch_size=2)
        >>> batches.iter_next(), [array.shape for array in batches.getitems()]
        (True, [(2, 2), (2,)])
        """
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
        names = {name: kwargs[name] for name in (*_NAMES, "layout") if name in kwargs and (name in _NAMES or name in given)}
        with _BEFORE.get(record.name, contextlib.nullcontext)(given) as prepared:
            handle = record.create(_LIB.MXDataIterCreateIter, prepared)
        return MXDataIter(handle, **names)

    make.__name__ = make.__qualname__ = record.name
    make.__module__ = "mxnet.io.io"
    make.__signature__ = record.signature(_NAMES)
    make.__doc__ = record.docstring(_NAMES, ("MXDataIter", "    The iterator, before its first batch."))
    if record.name in EXAMPLES:
        make.__doc__ += "\n\nExamples\n--------" + EXAMPLES[record.name]
    return make


iterator_records = {record.name: record for record in records(_LIB.MXListDataIters, _LIB.MXDataIterGetIterInfo)}
functions = {name: _function(record) for name, record in iterator_records.items()}
