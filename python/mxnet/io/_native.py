"""Iterators of the native library: their functions are written from its records."""
import contextlib
import ctypes
import inspect
import logging
import os
import warnings

import numpy as np

from ..base import (_LIB, _MXTypeError, _MXValueError, DataIterHandle, NDArrayHandle, c_str_array, check_call,
                    py_str)
from ..ndarray import NDArray
from .base import DataBatch, DataDesc, DataIter
from .mnist import unpacked

__all__ = ["MXDataIter"]


class MXDataIter(DataIter):
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
        self.handle = handle
        self._debug_skip_load = False
        self.first_batch = None     # read, and not handed out yet
        self._batch = None
        if not self._advance():
            raise _MXValueError("[MXDataIter] there is no batch; accepted: files, and parts of them, with an instance "
                                "at least, and with a whole batch where the rest is left out")
        self.first_batch = self._batch
        self.provide_data = [DataDesc(data_name, a.shape, a.dtype) for a in self._batch.data]
        self.provide_label = [DataDesc(label_name, a.shape, a.dtype) for a in self._batch.label]
        self.batch_size = self._batch.data[0].shape[0]

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            _LIB.MXDataIterFree(handle)

    def __reduce__(self):
        raise TypeError("[MXDataIter] an iterator of the native library cannot be pickled; accepted: its arguments, "
                        "from which a new one is made")

    def _items(self):
        count, handles = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXDataIterGetItems(self.handle, ctypes.byref(count), ctypes.byref(handles)))
        return [NDArray(NDArrayHandle(handle)) for handle in handles[:count.value]]

    def _index(self):
        numbers, size = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
        check_call(_LIB.MXDataIterGetIndex(self.handle, ctypes.byref(numbers), ctypes.byref(size)))
        return np.array(numbers[:size.value], np.uint64) if size.value else None

    def _advance(self):
        """Read the next batch. Returns whether there is one."""
        found, pad = ctypes.c_int(), ctypes.c_int()
        self._batch = None
        check_call(_LIB.MXDataIterNext(self.handle, ctypes.byref(found)))
        if found.value:
            check_call(_LIB.MXDataIterGetPadNum(self.handle, ctypes.byref(pad)))
            items = self._items()
            self._batch = DataBatch(data=items[:1], label=items[1:], pad=pad.value, index=self._index())
        return self._batch is not None

    def debug_skip_load(self):
        """From now on give the first batch of all again and again, to measure what the rest of a
        program takes."""
        self._debug_skip_load = True
        logging.info("MXDataIter gives its first batch again and again: debug_skip_load() was called")

    def reset(self):
        if self.first_batch is None:    # else nothing was taken yet
            self._batch = None
            check_call(_LIB.MXDataIterBeforeFirst(self.handle))

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

    def getindex(self):
        return self._current().index

    def getpad(self):
        return self._current().pad


_NAMES = {"data_name": "str, optional, default='data'", "label_name": "str, optional, default='softmax_label'"}
_BEFORE = {"MNISTIter": unpacked}       # a context in which the iterator is made, with its arguments
_IGNORED = {"MNISTIter": {"input_shape", "data_shape"}}     # scripts of 1.x give them


def _as_text(value):
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, np.ndarray):
        return str(tuple(value.tolist()))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


class _Record:
    """What the library says of an iterator, a dataset or a function that makes batches."""

    def __init__(self, handle, info):
        text = ctypes.c_char_p
        name, doc, count = text(), text(), ctypes.c_uint()
        names, types, docs = (ctypes.POINTER(text)() for _ in range(3))
        check_call(info(ctypes.c_void_p(handle), *(ctypes.byref(x) for x in (name, doc, count, names, types, docs))))
        self.handle = handle
        self.name = py_str(name.value)
        self.doc = py_str(doc.value)
        self.params = {}     # by name: type and meaning; a name that several parts have comes once
        for i in range(count.value):
            self.params.setdefault(py_str(names[i]), (py_str(types[i]), py_str(docs[i])))


def records(list_all, info):
    """The records that one of the library's lists has."""
    count, handles = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(list_all(ctypes.byref(count), ctypes.byref(handles)))
    return [_Record(handle, info) for handle in handles[:count.value]]


def create(record, create_function, handle_type, arguments):
    """A handle from the record's creator; `arguments` by name."""
    handle = handle_type()
    check_call(create_function(ctypes.c_void_p(record.handle), len(arguments), c_str_array(list(arguments)),
                               c_str_array([_as_text(value) for value in arguments.values()]), ctypes.byref(handle)))
    return handle


def signature_of(record, extra=()):
    """An `inspect.Signature` of keywords."""
    def default(kind):
        return inspect.Parameter.empty if "required" in kind else kind.partition("default=")[2].strip("'") or None
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default(kind))
                              for name, kind in [*((n, p[0]) for n, p in record.params.items()), *dict(extra).items()]])


def docstring_of(record, extra=(), returns=()):
    """The record as a docstring."""
    lines = [record.doc, "", "Parameters", "----------"]
    for name, (kind, meaning) in record.params.items():
        lines += [f"{name} : {kind}"] + ([f"    {meaning}"] if meaning else [])
    lines += [f"{name} : {kind}" for name, kind in dict(extra).items()]
    return "\n".join([*lines, *(["", "Returns", "-------", *returns] if returns else [])])


def only_keywords(record, positional):
    """Raises TypeError if there are positional arguments."""
    if positional:
        raise _MXTypeError(f"[{record.name}] got {len(positional)} positional arguments; {record.name} can only accept "
                           f"keyword arguments: {', '.join(record.params)}")


def _function(record):
    known = set(record.params) | set(_NAMES) | _IGNORED.get(record.name, set())

    def make(*args, **kwargs):
        only_keywords(record, args)
        unknown = sorted(set(kwargs) - known)
        if unknown:
            warnings.warn(f"[{record.name}] arguments {', '.join(unknown)} are ignored", UserWarning, stacklevel=2)
        given = {name: value for name, value in kwargs.items()
                 if name in record.params and not (value is None and name != "dtype")}
        names = {name: kwargs[name] for name in _NAMES if name in kwargs}
        with _BEFORE.get(record.name, contextlib.nullcontext)(given) as prepared:
            handle = create(record, _LIB.MXDataIterCreateIter, DataIterHandle, prepared)
        return MXDataIter(handle, **names)

    make.__name__ = make.__qualname__ = record.name
    make.__module__ = "mxnet.io.io"
    make.__signature__ = signature_of(record, _NAMES)
    make.__doc__ = docstring_of(record, _NAMES, ("MXDataIter", "    The iterator, before its first batch."))
    return make


def functions():
    """The functions that make the library's iterators, by name."""
    return {record.name: _function(record) for record in records(_LIB.MXListDataIters, _LIB.MXDataIterGetIterInfo)}
