"""What the native library says of its iterators, datasets and functions that make batches; and
making them from Python values."""
import ctypes
import inspect
import os
import warnings

import numpy as np

from .. import _dtypes
from ..base import _MXTypeError, c_str_array, check_call, py_str

__all__ = []

# Parameters that are other objects of the library, whose handles are given as numbers.
_OBJECTS = {"arr", "datasets", "base", "dataset", "cached_op", "functions", "sampler", "batchify_fn"}


class Record:
    """Attributes: ``handle`` (of the creator, int), ``name``, ``doc``, ``params`` (types and
    meanings by name)."""

    __slots__ = ("handle", "name", "doc", "params")

    def __init__(self, handle, info):
        text = ctypes.c_char_p
        name, doc, count = text(), text(), ctypes.c_uint()
        names, types, docs = (ctypes.POINTER(text)() for _ in range(3))
        check_call(info(ctypes.c_void_p(handle), *(ctypes.byref(x) for x in (name, doc, count, names, types, docs))))
        self.handle = handle
        self.name = py_str(name.value)
        self.doc = py_str(doc.value)
        self.params = {}
        for i in range(count.value):    # a name that several of its parts have comes once
            self.params.setdefault(py_str(names[i]), (py_str(types[i]), py_str(docs[i])))

    def signature(self, extra=()):
        """An `inspect.Signature` of keywords. `extra`: types of further ones by name."""
        def default(kind):
            return inspect.Parameter.empty if "required" in kind else kind.partition("default=")[2].strip("'")
        kinds = {**{name: param[0] for name, param in self.params.items()}, **dict(extra)}
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default(kind))
                                  for name, kind in kinds.items()])

    def docstring(self, extra=(), returns=()):
        """The record as a docstring."""
        lines = [self.doc, "", "Parameters", "----------"]
        for name, (kind, meaning) in self.params.items():
            lines += [f"{name} : {kind}"] + ([f"    {meaning}"] if meaning else [])
        lines += [f"{name} : {kind}" for name, kind in dict(extra).items()]
        return "\n".join([*lines, *(["", "Returns", "-------", *returns] if returns else [])])

    def known(self, positional, arguments, others=(), unlisted=(), stacklevel=3):
        """Those of a call's arguments that have a value and are the record's, or `unlisted`. Warns
        of unknown ones but for `others`; TypeError for positional ones."""
        if positional:
            raise _MXTypeError(f"[{self.name}] got {len(positional)} positional arguments; {self.name} can only accept "
                               f"keyword arguments: {', '.join(self.params)}")
        taken = {*self.params, *unlisted}
        unknown = sorted(set(arguments) - taken - set(others))
        if unknown:
            warnings.warn(f"[{self.name}] arguments {', '.join(unknown)} are ignored", UserWarning, stacklevel=stacklevel)
        return {name: value for name, value in arguments.items()
                if name in taken and not (value is None and name != "dtype")}

    def create(self, function, arguments):
        """A handle from the record's creator; `arguments` by name."""
        handle = ctypes.c_void_p()
        held = []       # handles of objects that other threads might let go before the call
        values = [self._text(name, value, held) for name, value in arguments.items()]
        check_call(function(ctypes.c_void_p(self.handle), len(arguments), c_str_array(list(arguments)), c_str_array(values),
                            ctypes.byref(handle)))
        return handle

    def _text(self, name, value, held):
        if name in _OBJECTS and "long" in self.params[name][0]:
            if "tuple" not in self.params[name][0]:
                return str(self._number(name, value, held))
            return str(tuple(self._number(name, one, held) for one in value))
        if name == "dtype" and self.params[name][0].startswith("int"):
            return str(value if isinstance(value, int) else _dtypes.number(value))
        if isinstance(value, type) and issubclass(value, np.generic):
            return np.dtype(value).name
        if isinstance(value, (np.ndarray, range)):
            return str(tuple(map(int, value)))
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)

    def _number(self, name, value, held):
        kinds = {"arr": "NDArray", "cached_op": "CachedOp", "sampler": "MXSampler or MXDataIter", "functions": "MXBatchifyFunction",
                 "batchify_fn": "MXBatchifyFunction"}
        expected = kinds.get(name, "MXDataset")
        if not any(kind.__name__ in expected.split(" or ") for kind in type(value).__mro__):
            raise _MXTypeError(f"[{self.name}] {name} has a {type(value).__name__}; accepted: {expected}")
        handle = value.handle
        held.append(handle)
        return getattr(handle, "value", handle) or 0


def records(list_all, info):
    """The records that one of the library's lists has."""
    count, handles = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(list_all(ctypes.byref(count), ctypes.byref(handles)))
    return [Record(handle, info) for handle in handles[:count.value]]
