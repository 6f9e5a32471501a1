"""What the library calls of operators written in Python, as C functions.

The library holds numbers: one for each description (a CustomOpProp) and for each operator (a
CustomOp) that it has asked for and not given back.
"""
import contextlib
import ctypes
import functools
import itertools
import threading
from ctypes import CFUNCTYPE, POINTER

from .. import context
from .._binding import guarded, set_mode
from .._startup import tracebacks as _tracebacks
from .._startup.interrupt import HeldInterrupt
from .._dtypes import number as _dtype_number, type_of as _dtype_of
from ..attribute import AttrScope, _scopes as _attribute_scopes
from ..base import (CheckedTypeError, CheckedValueError, MXCallbackList, NDArrayHandle, _LIB, _interrupted_callbacks, kept_for_native,
                    py_str)
from ..context import _scopes as _device_scopes
from ..name import NameManager, _scopes as _name_scopes
from ..ndarray import NDArray
from ..ndarray._sparse_native import STYPES
from ..util import _set_np_array, is_np_array, is_np_shape, set_np_shape

_REQS = ("null", "write", "inplace", "add")
_IN, _OUT, _IN_GRAD, _OUT_GRAD, _AUX = range(5)
_FORWARD_WRITES, _BACKWARD_WRITES = (_OUT, _AUX), (_IN_GRAD, _AUX)
_NOTHING = contextlib.nullcontext()


@functools.lru_cache(maxsize=1024)
def _c_names(names):
    """A C array of texts that ends with null, and where it is."""
    array = (ctypes.c_char_p * (len(names) + 1))(*[n.encode() for n in names], None)
    return array, ctypes.addressof(array)


_live = {}                   # number -> _Described or _Created, while the library may call back
_numbers = itertools.count(1)


class _Described:
    """A CustomOpProp in the library's hands.

    The library reads what a callback has answered after that has returned, which may be on a thread
    of its own. The interpreter forgets such a thread, and its thread-local values, as soon as the
    callback is over. Answers are therefore kept here, those of each thread apart.
    """

    def __init__(self, name, prop, operator_class):
        self.name, self.prop, self.operator_class = name, prop, operator_class
        self.lists = {}
        self.answers = {}   # (function, thread) -> its last answer
        self.counts = tuple(len(names) for names in (self.names("list_arguments"), self.names("list_outputs"),
                                                     self.names("list_auxiliary_states")))

    def names(self, function):
        names = list(getattr(self.prop, function)() or ())
        if not all(isinstance(n, str) for n in names):
            raise TypeError(f"{function} returned {names!r}; accepted: a list of str")
        self.lists[function] = _c_names(tuple(names))
        return names

    def keep(self, function, answer):
        self.answers[function, threading.get_ident()] = answer
        return answer

    def complete(self, function, result):
        """The values for arguments, outputs and states that infer_shape or infer_type returned."""
        if not isinstance(result, (list, tuple)) or len(result) not in (2, 3):
            raise CheckedValueError(f"{function} returned {result!r}; accepted: 2 or 3 lists (arguments, outputs, auxiliary states)")
        parts = [list(p) for p in result] + [[]] * (3 - len(result))
        for what, part, count in zip(("arguments", "outputs", "auxiliary states"), parts, self.counts):
            if len(part) != count:
                raise CheckedValueError(f"{function} returned {len(part)} values for {what}; there are {count}")
        return [value for part in parts for value in part]


class _Created:
    """A CustomOp in the library's hands, the name that it was registered under, and the modes in
    which the user's thread made it: those of npx.set_np()."""

    def __init__(self, name, op):
        self.name, self.op, self.np_shape, self.np_array = name, op, is_np_shape(), is_np_array()


def _callback(prototype):
    """A C function that calls the Python one. What that raises is the library's error, with the
    traceback."""
    def decorate(function):
        return kept_for_native(prototype(guarded(function, _failed)))
    return decorate


def _failed(error):   # also what is no Exception: it must not be lost in C
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        _interrupted_callbacks[threading.get_ident()] = error
    _LIB.NNAPISetLastError(_tracebacks.text(error).encode("utf-8", "backslashreplace"))
    return 0


_int, _int_p, _void = ctypes.c_int, POINTER(ctypes.c_int), ctypes.c_void_p
_PLAIN = CFUNCTYPE(_int)
_FB = CFUNCTYPE(_int, _int, POINTER(_void), _int_p, _int_p, _int, _void)
_DELETE = CFUNCTYPE(_int, _void)
_LIST = CFUNCTYPE(_int, POINTER(_void), _void)
_SHAPE = CFUNCTYPE(_int, _int, _int_p, POINTER(_int_p), _void)
_TYPE = CFUNCTYPE(_int, _int, _int_p, _void)
_STORAGES = CFUNCTYPE(_int, _int, _int_p, _int_p, _void)
_DEPEND = CFUNCTYPE(_int, _int_p, _int_p, _int_p, _int_p, POINTER(_int_p), _void)
_CREATE = CFUNCTYPE(_int, ctypes.c_char_p, _int, POINTER(POINTER(ctypes.c_uint)), _int_p, _int_p, POINTER(MXCallbackList), _void)
_CREATOR = CFUNCTYPE(_int, ctypes.c_char_p, _int, POINTER(ctypes.c_char_p), POINTER(ctypes.c_char_p), POINTER(MXCallbackList))


def _hand_over(result, value, table):
    """Fills in the callbacks of `value`."""
    number = next(_numbers)
    contexts = value.contexts = (_void * len(table))(*[number] * len(table))   # read when the callback has returned
    result[0] = MXCallbackList(len(table), table, contexts)
    _live[number] = value


@_callback(_DELETE)
def _delete(number, live=_live):   # a default outlives the module's names when the interpreter ends
    live.pop(number, None)


def _lists(function):
    @_callback(_LIST)
    def entry(result, number):
        result[0] = _live[number].lists[function][1]
    return entry


@_callback(_SHAPE)
def _infer_shape(count, ndims, shapes, number):
    described = _live[number]
    given = [shapes[i][:ndims[i]] for i in range(described.counts[0])]
    result = described.complete("infer_shape", described.prop.infer_shape(given))
    sizes = described.keep("infer_shape", [(_int * len(s))(*map(int, s)) for s in result])
    for i, s in enumerate(sizes):
        shapes[i], ndims[i] = s, len(s)


@_callback(_TYPE)
def _infer_type(count, types, number):
    described = _live[number]
    given = [_dtype_of(types[i]) if types[i] >= 0 else None for i in range(described.counts[0])]
    result = described.complete("infer_type", described.prop.infer_type(given))
    for i, t in enumerate(result):
        types[i] = -1 if t is None else _dtype_number(t)


@_callback(_DEPEND)
def _depend(out_grad, in_data, out_data, num_deps, deps, number):
    described = _live[number]
    arguments, outputs, _ = described.counts
    wanted = [int(d) for d in described.prop.declare_backward_dependency(
        out_grad[:outputs], in_data[:arguments], out_data[:outputs])]
    kept = described.keep("declare_backward_dependency", (_int * len(wanted))(*wanted))
    num_deps[0], deps[0] = len(wanted), kept


@_callback(_CREATE)
def _create(ctx, count, shapes, ndims, dtypes, result, number):
    described = _live[number]
    op = described.prop.create_operator(context.context_of(py_str(ctx)), [shapes[i][:ndims[i]] for i in range(count)],
                                        dtypes[:count])
    if not isinstance(op, described.operator_class):
        raise CheckedTypeError(f"create_operator returned a {type(op).__name__}; accepted: a CustomOp")
    _hand_over(result, _Created(described.name, op), _OP_TABLE)


_STYPE_NAMES = {-1: "undefined", **{number: name for name, number in STYPES.items()}}
_STYPE_NUMBERS = {name: number for number, name in _STYPE_NAMES.items()}


def _storage_numbers(function, names):
    for name in names:
        if name not in _STYPE_NUMBERS:
            raise CheckedValueError(f"{function} returned {name!r}; accepted: {', '.join(map(repr, STYPES))}")
    return [_STYPE_NUMBERS[name] for name in names]


@_callback(_TYPE)
def _infer_storage(count, stypes, number):
    described = _live[number]
    given = [_STYPE_NAMES[stypes[i]] for i in range(described.counts[0])]
    result = described.complete("infer_storage_type", described.prop.infer_storage_type(given))
    for i, stype in enumerate(_storage_numbers("infer_storage_type", result)):
        stypes[i] = stype


@_callback(_STORAGES)
def _infer_backward_storage(count, stypes, tags, number):
    function, order = "infer_storage_type_backward", (_OUT_GRAD, _IN, _OUT, _IN_GRAD, _AUX)
    at = [[i for i in range(count) if tags[i] == tag] for tag in order]
    result = _live[number].prop.infer_storage_type_backward(*[[_STYPE_NAMES[stypes[i]] for i in places] for places in at])
    if not isinstance(result, (list, tuple)) or [len(r) for r in result] != [len(places) for places in at]:
        raise CheckedValueError(f"{function} returned {result!r}; accepted: 5 lists of {', '.join(str(len(p)) for p in at)} storage types "
                                "(gradients of outputs, inputs, outputs, gradients of inputs, auxiliary states)")
    for places, names in zip(at, result):
        for i, stype in zip(places, _storage_numbers(function, names)):
            stypes[i] = stype


_MOST_KEPT = 64
_kept_threads = itertools.count(1)
_SCOPES = (_device_scopes, _name_scopes, _attribute_scopes)


class _OfThread(threading.local):
    """What a thread keeps from one call to the next.

    The interpreter is to remember threads of the library, which it otherwise does not from one
    callback to the next: making its state anew takes as long as a small operator. Not every one
    of them, for those that the library ends would be remembered for ever. Calls that a thread of
    the program runs while it waits don't have the scopes that it has entered.
    """

    def __init__(self):
        if threading.get_ident() not in threading._active and next(_kept_threads) <= _MOST_KEPT:
            ctypes.pythonapi.PyGILState_Ensure()
        self.stacks = [[context.Context("cpu", 0)], [NameManager()], [AttrScope()]]


_of_thread = _OfThread()


def _run(count, pointers, tags, number, writable):
    """The operator and its arrays by tag."""
    created, arrays = _live[number], ([], [], [], [], [])
    for i in range(count):
        tag = tags[i]
        array = NDArray(NDArrayHandle(pointers[i]), tag in writable)
        if created.np_array and array.stype == "default":
            array = array.as_np_ndarray()
        arrays[tag].append(array)
    return created, arrays


def _recorded(name):
    """While the profiler runs, the time of a Python function under the names of 1.x."""
    from .. import profiler
    return profiler.Task(profiler.Domain("Custom Operator"), f"{name}::pure_python")


class _InterruptBehind(HeldInterrupt):
    """Ctrl-C while the main thread runs a call: the result is finished first, unless it comes
    twice. Who calls then knows that it has `arrived`."""

    _arrived, _handler = (), None       # before the scope has begun

    @property
    def arrived(self):
        return bool(self._arrived)

    def _hold(self, number, frame):
        super()._hold(number, frame)
        if len(self._arrived) > 1:
            raise KeyboardInterrupt

    def _again(self):
        pass


def _in_mode(created, is_train, name, function, *arguments):
    """Calls function(*arguments) with the modes of the operator. Whether Ctrl-C has arrived."""
    held = _InterruptBehind()
    running = ctypes.c_int()
    profiled = not _LIB.MXGetProfilerState(ctypes.byref(running)) and running.value
    np_shape, np_array, mode = is_np_shape(), is_np_array(), set_mode(False, bool(is_train))
    own = _of_thread.stacks
    stacks = [scopes.stack for scopes in _SCOPES]
    try:
        held.__enter__()    # pylint: disable=unnecessary-dunder-call
        for scopes, stack in zip(_SCOPES, own):
            scopes.stack = stack
        if np_shape != created.np_shape:
            set_np_shape(created.np_shape)
        _set_np_array(created.np_array)
        with _recorded(name) if profiled else _NOTHING:
            function(*arguments)
    except Exception:
        if held.arrived:
            raise KeyboardInterrupt from None
        raise
    finally:
        held.__exit__()
        _set_np_array(np_array)
        if np_shape != created.np_shape:
            set_np_shape(np_shape)
        for scopes, stack in zip(_SCOPES, stacks):
            scopes.stack = stack
        set_mode(*mode)
    return held.arrived


@_callback(_FB)
def _forward(count, pointers, tags, reqs, is_train, number):
    created, arrays = _run(count, pointers, tags, number, _FORWARD_WRITES)
    words = [_REQS[reqs[i]] for i in range(len(arrays[_OUT]))]
    return _in_mode(created, is_train, created.name, _call_forward, created.op, is_train, words, arrays)


def _call_forward(op, is_train, words, arrays):
    op.forward(is_train=is_train, req=words, in_data=arrays[_IN], out_data=arrays[_OUT], aux=arrays[_AUX])


@_callback(_FB)
def _backward(count, pointers, tags, reqs, is_train, number):
    created, arrays = _run(count, pointers, tags, number, _BACKWARD_WRITES)
    words = [_REQS[reqs[i]] for i in range(len(arrays[_IN_GRAD]))]
    return _in_mode(created, is_train, "_backward_" + created.name, _call_backward, created.op, words, arrays)


def _call_backward(op, words, arrays):
    op.backward(req=words, out_grad=arrays[_OUT_GRAD], in_data=arrays[_IN], out_data=arrays[_OUT], in_grad=arrays[_IN_GRAD],
                aux=arrays[_AUX])


def _table(*callbacks):
    return (_PLAIN * len(callbacks))(*[ctypes.cast(c, _PLAIN) for c in callbacks])


# In the order of the enumerations in c_api.h. They live as long as the process.
_OP_TABLE = _table(_delete, _forward, _backward)
_DENSE_PROP = (_delete, _lists("list_arguments"), _lists("list_outputs"), _lists("list_auxiliary_states"), _infer_shape, _depend,
               _create, _infer_type)
_PROP_TABLE = _table(*_DENSE_PROP)
_SPARSE_PROP_TABLE = _table(*_DENSE_PROP, _infer_storage, _infer_backward_storage)   # of classes that override one of the two


def _takes_sparse(prop, prop_class):
    return any(getattr(type(prop), name, None) is not getattr(prop_class, name)
               for name in ("infer_storage_type", "infer_storage_type_backward") if hasattr(type(prop), name))


def creator(classes, operator_class, prop_class):
    """The C function that describes the operators whose CustomOpProp is in `classes`, by name.
    Their operators are instances of `operator_class`."""
    @_callback(_CREATOR)
    def entry(op_type, count, keys, values, result):
        name = py_str(op_type)
        prop = classes[name](**{py_str(keys[i]): py_str(values[i]) for i in range(count)})
        table = _SPARSE_PROP_TABLE if _takes_sparse(prop, prop_class) else _PROP_TABLE
        _hand_over(result, _Described(name, prop, operator_class), table)
    return entry
