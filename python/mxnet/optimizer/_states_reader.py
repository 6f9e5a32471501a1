"""Reads optimizer states, which are pickles as in 1.9.1, without running what a file says.

What is accepted: numbers, texts, containers, arrays, contexts, numbers and arrays of NumPy, and
objects of classes that the program has already: optimizers, schedules, and the classes of what the
caller's own optimizer holds. Of such an object a file gives the attributes and nothing else.
"""
import collections
import importlib
import os
import pickle
import sys

import numpy as np

from .. import _dtypes
from .._files.numpy_names import array_from_buffer, as_bytes, empty_array, encoded, give_state, numpy_dtype, numpy_number
from .._files.plain_pickle import Forbidden, Known, PickleReader, Refused, brief
from ..base import MXNetError
from ..context import Context
from ..lr_scheduler import LRScheduler
from ..ndarray import NDArray
from .base import Optimizer

__all__ = ["read_own_states", "read_states"]

# Our modules that may be imported because a file names them.
_OURS = ("mxnet.optimizer", "mxnet.lr_scheduler", "mxnet.contrib.svrg_optimization")
_ARRAYS = {"mxnet.ndarray.ndarray.NDArray": ("mxnet.ndarray", "NDArray"),
           "mxnet.ndarray.sparse.RowSparseNDArray": ("mxnet.ndarray.sparse", "RowSparseNDArray"),
           "mxnet.ndarray.sparse.CSRNDArray": ("mxnet.ndarray.sparse", "CSRNDArray"),
           "mxnet.numpy.multiarray.ndarray": ("mxnet.numpy", "ndarray"), "mxnet.numpy.ndarray": ("mxnet.numpy", "ndarray")}
_ALLOW = "PS_ACCEPT_PICKLE=1 in the environment lets pickle read the file, which may then run any code"


def read_states(data, optimizer=None):
    """(states, optimizer or None) of what :meth:`Updater.get_states` returned, here or in 1.9.1.

    Classes that `optimizer`, the one of the caller, holds are known as well. Where the environment
    has ``PS_ACCEPT_PICKLE=1``, a file that names other ones is read by pickle.

    Raises
    ------
    MXNetError
        for bytes that are no states, or that name what is not accepted.
    """
    table = _Table(optimizer)
    try:
        value = PickleReader(data, table.find, _no_storage, build=table.build).read()
    except Forbidden as error:
        if os.environ.get("PS_ACCEPT_PICKLE", "0") in ("", "0"):
            raise MXNetError(f"[optimizer] {error}; accepted: arrays, numbers, and optimizers and schedules that the program has "
                             f"imported or defined. {_ALLOW}") from None
        value = pickle.loads(data)
    except Refused as error:
        raise MXNetError(f"[optimizer] these bytes are no states: {error}") from None
    states, found = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    if not isinstance(states, dict) or not (found is None or isinstance(found, Optimizer)):
        raise MXNetError(f"[optimizer] a {type(value).__name__} was given as states; accepted: what get_states returned")
    return states, found


def read_own_states(data, _optimizer=None):
    """The same for what this process pickled a moment ago, which may hold anything."""
    return pickle.loads(data), None


def _no_storage(_value):
    raise ValueError("a value outside of the pickle")


def _blank(klass, name):
    """What a file may do with a class: make an object without attributes, which follow it."""
    is_array = issubclass(klass, NDArray)
    accepted = (None,) if is_array else ()

    def make(*arguments):
        if arguments != accepted:
            raise ValueError(f"{name} is made of {brief(arguments)}; accepted: its attributes behind it")
        return klass(None) if is_array else klass.__new__(klass)
    return Known(name, make)


class _Table:
    """The names that states may hold."""

    def __init__(self, optimizer):
        self._held = {}
        for value in vars(optimizer).values() if optimizer is not None else ():
            kind = type(value)
            if kind.__reduce__ is object.__reduce__ and kind.__reduce_ex__ is object.__reduce_ex__ and kind.__module__ != "builtins":
                self._held[f"{kind.__module__}.{kind.__qualname__}"] = kind
        plain = {"_codecs.encode": encoded, "numpy.dtype": numpy_dtype, "collections.OrderedDict": self._ordered,
                 "collections.defaultdict": self._counting, "mxnet.context.Context": Context,
                 "copyreg._reconstructor": self._rebuilt, "copy_reg._reconstructor": self._rebuilt}
        for home in ("builtins", "__builtin__"):
            plain.update({f"{home}.bytearray": as_bytes, f"{home}.bytes": as_bytes, f"{home}.set": set, f"{home}.frozenset": frozenset})
        for home in ("numpy.core", "numpy._core"):
            plain.update({f"{home}.multiarray.scalar": numpy_number, f"{home}.multiarray._reconstruct": empty_array,
                          f"{home}.numeric._frombuffer": array_from_buffer})
        self._known = {name: Known(name, call) for name, call in plain.items()}
        for home in ("builtins", "__builtin__"):
            for kind in (object, int, float, bool):
                self._known[f"{home}.{kind.__name__}"] = Known(kind.__name__, value=kind)
        self._known["numpy.ndarray"] = Known("numpy.ndarray", value=np.ndarray)
        for name in _dtypes.NAMES:
            kind = _dtypes.bfloat16 if name == "bfloat16" else np.dtype(name).type
            self._known[f"mxnet._dtypes.{name}" if name == "bfloat16" else f"numpy.{kind.__name__}"] = Known(name, value=kind)

    def find(self, name):
        known = self._known.get(name)
        if known is None:
            klass = self._class(name)
            if klass is not None:
                known = self._known[name] = _blank(klass, name)
        return known

    def _class(self, name):
        """The class of an array, an optimizer or a schedule, or one that the caller's optimizer
        holds; else None."""
        if name in _ARRAYS:
            home, attribute = _ARRAYS[name]
            return getattr(importlib.import_module(home), attribute)
        if name in self._held:
            return self._held[name]
        parts = name.split(".")
        for split in range(len(parts) - 1, 0, -1):
            home = ".".join(parts[:split])
            if home not in sys.modules and not any(home == ours or home.startswith(ours + ".") for ours in _OURS):
                continue
            try:
                found = importlib.import_module(home)
                for part in parts[split:]:
                    found = getattr(found, part)
            except (ImportError, AttributeError):
                continue
            return found if isinstance(found, type) and issubclass(found, (Optimizer, LRScheduler)) else None
        return None

    def build(self, made, state):
        if isinstance(made, NDArray):
            if not isinstance(state, dict) or not isinstance(state.get("handle"), (bytes, type(None))):
                raise ValueError("an array without values")
            made.__setstate__(state)
        elif give_state(made, state):
            return True
        elif isinstance(made, Context):
            if not isinstance(state, dict) or {"device_typeid", "device_id"} - state.keys():
                raise ValueError("a context without a device")
            made.__setstate__(state)
        elif isinstance(made, (Optimizer, LRScheduler)) or type(made) in self._held.values():
            if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
                raise ValueError(f"a {type(state).__name__} as the attributes of {type(made).__name__}; accepted: a dictionary of texts")
            take = getattr(made, "__setstate__", None)
            made.__dict__.update(state) if take is None else take(state)
        else:
            return False
        return True

    @staticmethod
    def _rebuilt(known, base=None, state=None):
        """How Python 2 and protocols 0 and 1 make an object of a class."""
        if not isinstance(known, Known) or known.call is None or base is not object or state is not None:
            raise ValueError(f"an object of {brief(known)} that is made of another one")
        return known.call()

    @staticmethod
    def _ordered(items=()):
        return collections.OrderedDict(_pairs(items))

    @staticmethod
    def _counting(_kind=None, items=()):
        return collections.defaultdict(int, _pairs(items))


def _pairs(items):
    items = list(items.items()) if isinstance(items, dict) else items
    if not isinstance(items, (list, tuple)) or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in items):
        raise ValueError("a dictionary of something else than pairs")
    return items
