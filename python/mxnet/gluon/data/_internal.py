"""Datasets, samplers and functions that make batches, of the native library. They read items
without the interpreter, in threads of :func:`mxnet.io.io.ThreadedDataLoader`.

Their functions are written from the library's records: NDArrayDataset, GroupDataset,
IndexedDataset, LazyTransformDataset, RecordFileDataset, ImageRecordFileDataset,
ImageSequenceDataset, StackBatchify, PadBatchify, GroupBatchify.
"""
import ctypes
import operator

import numpy as np

from ...base import _LIB, NDArrayHandle, check_call, c_handle_array
from ...io._native import Epochs, NativeIterator, iterator_records
from ...io._records import records
from ...ndarray import NDArray, array
from .dataset import Dataset
from .sampler import Sampler

__all__ = ['MXBatchifyFunction', 'MXDataset', 'MXSampler']


def _arrays(handles, count):
    return [NDArray(NDArrayHandle(handle)) for handle in handles[:count]]


class _Native:
    _free = None

    def __init__(self, handle, **kwargs):
        if not isinstance(handle, ctypes.c_void_p):
            raise TypeError(f'[{type(self).__name__}] handle is a {type(handle).__name__}; '
                            'accepted: a ctypes.c_void_p that a C function made')
        self.handle = handle
        self._kwargs = kwargs

    def __del__(self):
        handle, self.handle = getattr(self, 'handle', None), None
        if handle:
            self._free(handle)

    def __reduce__(self):
        raise TypeError(f'[{type(self).__name__}] an object of the native library cannot be pickled')


class MXDataset(_Native, Dataset):
    """A dataset of the native library. An item is an array, or a tuple of them.

    Parameters
    ----------
    handle : ctypes.c_void_p
        From ``MXDatasetCreateDataset``; freed with this object.
    kwargs
        What it was made of.
    """

    _free = _LIB.MXDatasetFree

    def __init__(self, handle, **kwargs):
        super().__init__(handle, **kwargs)
        length = ctypes.c_uint64()
        check_call(_LIB.MXDatasetGetLen(handle, ctypes.byref(length)))
        self._len = length.value

    def __len__(self):
        return self._len

    def __getitem__(self, idx):
        index = operator.index(idx)
        if not -self._len <= index < self._len:
            raise IndexError(f'[MXDataset] Index {index} out of bound: (0, {self._len})')
        count, handles = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXDatasetGetItems(self.handle, ctypes.c_uint64(index % self._len), ctypes.byref(count), ctypes.byref(handles)))
        items = _arrays(handles, count.value)
        return items[0] if len(items) == 1 else tuple(items)

    def __mx_handle__(self):
        return self


class MXBatchifyFunction(_Native):
    """A function of the native library that makes one batch of a list of items.

    Parameters
    ----------
    handle : ctypes.c_void_p
        From ``MXBatchifyFunctionCreateFunction``; freed with this object.
    kwargs
        What it was made of.
    """

    _free = _LIB.MXBatchifyFunctionFree

    def __call__(self, data, num_out=1):
        """A batch of arrays, numbers, or tuples of `num_out` of them: an array, or a list of one
        for each part."""
        if not len(data):
            raise ValueError('[MXBatchifyFunction] got no items; accepted: one or more')
        parts = len(data[0]) if isinstance(data[0], (list, tuple)) else 1
        rows = [item if isinstance(item, (list, tuple)) else [item] for item in data]
        if any(len(row) != parts for row in rows) or num_out not in (1, parts):
            raise ValueError(f'[MXBatchifyFunction] got items of {sorted({len(row) for row in rows})} parts, and num_out={num_out}; '
                             'accepted: the same number')
        arrays = [part if isinstance(part, NDArray) else array(np.asarray(part), dtype=np.asarray(part).dtype)
                  for row in rows for part in row]
        handles = ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXBatchifyFunctionInvoke(self.handle, len(data), parts, c_handle_array(arrays), ctypes.byref(handles)))
        made = _arrays(handles, parts)
        return made[0] if parts == 1 else made

    def __mx_handle__(self):
        return self


class MXSampler(Sampler):
    """A sampler of the native library: lists of numbers, or numbers where batches have one.

    Parameters
    ----------
    name : {'SequentialSampler', 'RandomSampler'}
    kwargs
        length (how many items there are), batch_size, last_batch ('keep', 'discard', 'rollover'),
        and, of SequentialSampler, start.

    Several epochs may be read at a time, also in several threads, and while a loader has the
    sampler.

    Raises
    ------
    ValueError
        for another name, or values that are not accepted.
    """

    def __init__(self, name, **kwargs):
        if name not in iterator_records:
            raise ValueError(f'[MXSampler] {name} is not a valid MXDataIter class; accepted: {", ".join(iterator_records)}')
        record = iterator_records[name]
        given = record.known((), kwargs)
        single = int(kwargs.get('batch_size', 0)) == 1
        self._epochs = Epochs(lambda: NativeIterator(record.create(_LIB.MXDataIterCreateIter, given)),
                              lambda arrays: arrays[0].asnumpy().tolist()[0 if single else slice(None)])
        self._epochs.prepare()

    @property
    def handle(self):
        """The handle, for C functions, of the latest epoch's iterator. A ThreadedDataLoader that is
        given it reads an iterator of its own. The handle is valid as long as the object that is
        returned here."""
        native = self._epochs.latest
        handle = ctypes.c_void_p(native.handle.value)
        handle.owner = native       # a new epoch in another thread may replace it
        return handle

    def __len__(self):
        return max(self._epochs.latest.length(), 0)

    def __iter__(self):
        return iter(self._epochs)


def _function(record, create, kind):
    def make(*args, **kwargs):
        given = record.known(args, kwargs)
        return kind(record.create(create, given), **kwargs)

    make.__name__ = make.__qualname__ = record.name
    make.__module__ = __name__
    make.__signature__ = record.signature()
    make.__doc__ = record.docstring(returns=(kind.__name__,))
    return make


_functions = {record.name: _function(record, create, kind) for kind, create, found in (
    (MXDataset, _LIB.MXDatasetCreateDataset, records(_LIB.MXListDatasets, _LIB.MXDatasetGetDatasetInfo)),
    (MXBatchifyFunction, _LIB.MXBatchifyFunctionCreateFunction,
     records(_LIB.MXListBatchifyFunctions, _LIB.MXBatchifyFunctionGetFunctionInfo)),
) for record in found}
globals().update(_functions)
__all__ += sorted(_functions)
