"""Switches between classic and NumPy semantics, environment variables, and small helpers."""
import ctypes
import functools  # noqa: F401  (programs of 1.x have it from here by import *)
import importlib
import inspect
import logging
import os
import threading
import warnings

import numpy as np

from ._binding import set_mode
from ._arrays.device_argument import accepts_device, wraps_safely  # noqa: F401  (modules take accepts_device from here)
from ._machine.gpus import (get_cuda_compute_capability, get_gpu_count, get_gpu_memory, get_max_supported_compute_capability,
                    get_rtc_compile_opts)
from ._arrays.switches import Scope as _Scope, is_np_views, np_views, set_np_views
from ._operators.ufunc_options import np_ufunc_legal_option, wrap_np_binary_func, wrap_np_unary_func
from ._machine.variables import _library_value, getenv, set_env, setenv  # noqa: F401
from .base import _LIB, c_str, check_call, py_str  # noqa: F401  (as above)

__all__ = ["default_array", "dtype_from_number", "get_cuda_compute_capability", "get_gpu_count", "get_gpu_memory",
           "get_max_supported_compute_capability", "get_rtc_compile_opts", "getenv", "is_np_array", "is_np_default_dtype", "is_np_shape",
           "is_np_views", "makedirs", "np_array", "np_default_dtype", "np_shape", "np_ufunc_legal_option", "np_views", "numpy_fallback",
           "reset_np", "set_env", "set_flush_denorms", "set_module", "set_np", "set_np_default_dtype", "set_np_shape", "set_np_views",
           "setenv", "use_np", "use_np_array", "use_np_default_dtype", "use_np_shape", "wrap_ctx_to_device_func",
           "wrap_data_api_linalg_func", "wrap_data_api_statical_func", "wrap_np_binary_func", "wrap_np_unary_func", "wrap_sort_functions",
           "wraps_safely"]


# ---- files, functions ----

def makedirs(d):
    """Make folder `d` and those above it; nothing happens if it is there.

    >>> import os
    >>> mx.util.makedirs('a/b')
    >>> mx.util.makedirs('a/b')
    >>> os.path.isdir('a/b')
    True
    """
    os.makedirs(os.path.expanduser(d), exist_ok=True)


def set_module(module):
    """Decorator that says in which module a function or class is to be found.

    >>> @mx.util.set_module('mxnet.example')
    ... def f():
    ...     pass
    >>> f.__module__
    'mxnet.example'
    """
    def decorator(func):
        if module is not None:
            func.__module__ = module
        return func
    return decorator


# ---- floating point ----

def set_flush_denorms(value):
    """Whether operators on the CPU treat denormal numbers (floats closer to zero than the smallest
    normal one) as zero, which some processors compute much faster. Holds for every operator that
    starts from now on, on all threads; other code of the process, such as Python's and NumPy's,
    keeps its mode. oneDNN and OpenBLAS obey it as far as they compute on the library's threads.

    Parameters
    ----------
    value : bool
        The new setting; off at the start.

    Returns
    -------
    bool
        The previous setting.

    Examples
    --------
    >>> before = mx.util.set_flush_denorms(True)
    >>> mx.util.set_flush_denorms(before)
    True
    """
    previous = ctypes.c_bool()
    check_call(_LIB.MXSetFlushDenorms(ctypes.c_bool(value), ctypes.byref(previous)))
    return previous.value


# ---- NumPy semantics ----
# Shapes: whether () is a scalar and 0 a length (NumPy), or both mean "unknown" (classic). The
# library keeps this flag per thread, and one for all. Arrays: whether Gluon makes mx.np.ndarray or
# mx.nd.NDArray. Only Python needs to know.

class _Local(threading.local):
    """A thread's switches. What no thread has set is in the class: that costs less to read than a
    default of getattr."""
    np_array = False
    np_default_dtype = False


_local = _Local()
_told = set()         # what the log has been told


def is_np_shape():
    """Whether shapes mean what they mean in NumPy, in this thread.

    Examples
    --------
    >>> with mx.np_shape(True):
    ...     mx.npx.is_np_shape()
    True
    """
    current = ctypes.c_int()
    check_call(_LIB.MXIsNumpyShape(ctypes.byref(current)))
    return current.value != 0


def _tell_once(message):
    """An entry in the log of the program, the first time in a process."""
    if message not in _told:
        _told.add(message)
        logging.info(message)


def set_np_shape(active):
    """Switch the meaning of shapes. Returns the switch's previous position.

    Parameters
    ----------
    active : bool or int
        True and False switch this thread; 2 switches all threads on, and False ends that as well.

    Examples
    --------
    >>> before = mx.util.set_np_shape(True)
    >>> mx.nd.zeros(()).shape, mx.nd.zeros((0, 2)).shape
    ((), (0, 2))
    >>> _ = mx.util.set_np_shape(before)
    """
    if active:
        _tell_once("NumPy-shape semantics has been activated: shapes () and (0, 2) are what they are in NumPy. Leave it on "
                   "while mx.np and mx.npx are in use")
    previous = ctypes.c_int()
    check_call(_LIB.MXSetIsNumpyShape(ctypes.c_int(active), ctypes.byref(previous)))
    return previous.value != 0


def is_np_array():
    """Whether Gluon makes mx.np arrays, in this thread.

    Examples
    --------
    >>> with mx.np_array(True):
    ...     mx.npx.is_np_array()
    True
    """
    return _local.np_array


def _set_np_array(active):
    previous = is_np_array()
    _local.np_array = bool(active)
    return previous


def _set_np_shape(active):
    """The same; returns 2 where the switch was on for all threads."""
    current = ctypes.c_int()
    check_call(_LIB.MXIsNumpyShape(ctypes.byref(current)))
    set_np_shape(active)
    return current.value


class _NumpyShapeScope(_Scope):
    _set = staticmethod(_set_np_shape)


class _ArrayScopeOfThread:
    """``_NumpyArrayScope._current``, by which 1.x asked for the switch: ``.value._is_np_array``."""

    @property
    def value(self):
        return _NumpyArrayScope(is_np_array())


class _NumpyArrayScope(_Scope):
    _set = staticmethod(_set_np_array)
    _current = _ArrayScopeOfThread()

    @property
    def _is_np_array(self):
        return bool(self._active)


class _NumpyDefaultDtypeScope(_Scope):
    @staticmethod
    def _set(active):
        return set_np_default_dtype(active)


def is_np_default_dtype():
    """Whether mx.np makes float64 and int64 arrays where NumPy does, instead of float32, in this
    thread.

    Examples
    --------
    >>> with mx.util.np_default_dtype(True):
    ...     mx.npx.is_np_default_dtype()
    True
    """
    return _local.np_default_dtype    # mirrors the library's flag, so that asking costs no call


def set_np_default_dtype(is_np_default_dtype=True):   # pylint: disable=redefined-outer-name
    """Switch NumPy's default dtypes on or off for this thread. Returns the switch's previous
    position.

    Examples
    --------
    >>> before = mx.npx.set_np_default_dtype(True)
    >>> mx.np.zeros(1).dtype.name
    'float64'
    >>> mx.npx.set_np_default_dtype(before)
    True
    """
    previous = ctypes.c_bool()
    check_call(_LIB.MXSetIsNumpyDefaultDtype(ctypes.c_bool(is_np_default_dtype), ctypes.byref(previous)))
    _local.np_default_dtype = bool(is_np_default_dtype)
    return previous.value


def np_default_dtype(active=True):
    """A ``with`` block (or decorator) with NumPy's default dtypes, or with those of mx.np.

    >>> with mx.util.np_default_dtype():
    ...     mx.np.ones(2).dtype.name
    'float64'
    """
    return _NumpyDefaultDtypeScope(active)


def default_array(source_array, device=None, dtype=None):
    """An array from anything that has values: an mx.np array where Gluon makes these, else an
    mx.nd.NDArray.

    Parameters
    ----------
    source_array : array_like
        The values.
    device : Context, optional
        Where to put the array; by default the current one.
    dtype : str or numpy.dtype, optional
        Of the array; by default as `array` of either kind has it.

    Examples
    --------
    >>> type(mx.util.default_array([1, 2])).__name__
    'NDArray'
    >>> with mx.util.np_array(True):
    ...     type(mx.util.default_array([1, 2])).__name__
    'ndarray'
    """
    arrays = importlib.import_module("mxnet.numpy" if is_np_array() else "mxnet.ndarray")
    return arrays.array(source_array, ctx=device, dtype=dtype)


def dtype_from_number(number):
    """The dtype that mx.np gives an array made of one number: int64 for integers, else float32, or
    float64 with NumPy's default dtypes; a NumPy scalar keeps its own.

    Raises
    ------
    TypeError
        if `number` is no real number.

    >>> mx.util.dtype_from_number(1.5)
    <class 'numpy.float32'>
    """
    if isinstance(number, np.generic) and np.issubdtype(number.dtype, np.number) and not isinstance(number, (float, complex)):
        return number.dtype
    if isinstance(number, int):
        return np.int64
    if isinstance(number, float):
        return np.float64 if is_np_default_dtype() else np.float32
    raise TypeError(f"[util] {number!r}; accepted: an integer or a float")


def np_shape(active=True):
    """A ``with`` block (or decorator) with NumPy's shapes, or with classic ones.

    >>> with mx.np_shape(): mx.nd.ones(shape=()).shape
    ()
    """
    return _NumpyShapeScope(active)


def np_array(active=True):
    """A ``with`` block (or decorator) in which Gluon makes mx.np arrays, or classic ones.

    >>> with mx.util.np_shape(), mx.util.np_array():
    ...     net = mx.gluon.nn.Dense(1, in_units=2)
    ...     net.initialize()
    >>> type(net.weight.data()) is mx.np.ndarray
    True
    """
    return _NumpyArrayScope(active)


def _use(scope, func, name):
    if inspect.isclass(func):
        for attribute, value in _members_to_wrap(func):
            wrapped = _use_member(scope, value)
            if wrapped is not value:
                setattr(func, attribute, wrapped)
        return func
    if callable(func):
        return scope(True)(func)
    raise TypeError(f"[{name}] {name} can only decorate classes and callable objects, while received a {type(func)}")


def _members_to_wrap(cls):
    """(name, value) of what a class defines, and of the methods that it inherits: a decorated Block
    initialises its Parameters in the scope, too. What its bases call inside of their methods runs
    in the scope as it is."""
    members = {}
    for base in reversed(cls.__mro__[:-1]):
        own = base is cls
        members.update((k, v) for k, v in vars(base).items() if own or not k.startswith("_") or k in ("__init__", "__call__", "__repr__"))
    return list(members.items())


def _use_member(scope, value):
    if isinstance(value, (staticmethod, classmethod)):
        return type(value)(scope(True)(value.__func__))
    if isinstance(value, property):
        return property(*(accessor and scope(True)(accessor) for accessor in (value.fget, value.fset, value.fdel)),
                        doc=value.__doc__)
    return scope(True)(value) if inspect.isfunction(value) else value


def to_current_class(array):
    """A dense array as one of the class that Gluon makes now: of mx.np or of mx.nd; memory and
    gradients are shared."""
    if getattr(array, "stype", "default") != "default":
        return array
    return array.as_np_ndarray() if is_np_array() else array.as_nd_ndarray()


def use_np_shape(func):
    """Decorator: a function, or all methods of a class, with NumPy's shapes.

    >>> @mx.util.use_np_shape
    ... def empty():
    ...     return mx.nd.zeros((0, 2)).shape
    >>> empty()
    (0, 2)
    """
    return _use(_NumpyShapeScope, func, "use_np_shape")


def use_np_array(func):
    """Decorator: a function, or all methods of a class, with mx.np arrays.

    >>> @mx.util.use_np_array
    ... def class_of_arrays():
    ...     return mx.util.is_np_array()
    >>> class_of_arrays(), mx.util.is_np_array()
    (True, False)
    """
    return _use(_NumpyArrayScope, func, "use_np_array")


def use_np(func):
    """Decorator: a function, or all methods of a class, with NumPy's shapes and mx.np arrays.

    >>> @mx.util.use_np
    ... class Mean(mx.gluon.HybridBlock):
    ...     def hybrid_forward(self, F, x):
    ...         return F.np.mean(x)
    >>> Mean()(mx.np.array([1, 2, 6]))
    array(3.)
    """
    return use_np_shape(use_np_array(func))


def use_np_default_dtype(func):
    """Decorator: a function, or all methods of a class, with NumPy's default dtypes.

    >>> @mx.util.use_np_default_dtype
    ... def ones():
    ...     return mx.np.ones(2)
    >>> ones().dtype.name
    'float64'
    """
    return _use(_NumpyDefaultDtypeScope, func, "use_np_default_dtype")


def wrap_ctx_to_device_func(func):
    """Decorator of a function with an argument `device`: accepts it under its older name `ctx`,
    too. Of both, `ctx` counts.

    >>> @mx.util.wrap_ctx_to_device_func
    ... def where(device=None):
    ...     return device
    >>> where(ctx=mx.cpu(1))
    cpu(1)
    """
    @wraps_safely(func)
    def renamed(*args, ctx=None, **kwargs):
        if ctx is not None:
            kwargs["device"] = ctx
        return func(*args, **kwargs)
    return renamed


# {NumPy's argument: (that of the array API standard, its value)}
_SORTING = {"kind": ("stable", lambda kind: kind == "stable"), "order": (None, None)}
_STATISTICS = {"ddof": ("correction", lambda ddof: ddof)}
_LINEAR_ALGEBRA = {"UPLO": ("upper", lambda triangle: triangle == "U"), "rcond": ("rtol", lambda tolerance: tolerance),
                   "tol": ("rtol", lambda tolerance: tolerance)}


def _accepting(func, arguments):
    @wraps_safely(func)
    def accepting(*args, **kwargs):
        for old in arguments.keys() & kwargs.keys():
            value = kwargs.pop(old)
            new, convert = arguments[old]
            if new is not None and value is not None:
                kwargs[new] = convert(value)
        return func(*args, **kwargs)
    return accepting


def wrap_sort_functions(func):
    """Decorator of a function with the array API's arguments `descending` and `stable`: accepts
    NumPy's `kind` and `order`, too. Of the kinds only 'stable' sorts stably; `order` says nothing
    for numbers.

    >>> @mx.util.wrap_sort_functions
    ... def arguments(x, descending=False, stable=False):
    ...     return stable
    >>> arguments([2, 1], kind='stable')
    True
    """
    return _accepting(func, _SORTING)


def wrap_data_api_statical_func(func):
    """Decorator of a function with the array API's argument `correction`: accepts it under NumPy's
    name `ddof`, too.

    >>> @mx.util.wrap_data_api_statical_func
    ... def arguments(x, correction=0):
    ...     return correction
    >>> arguments([2, 1], ddof=1)
    1
    """
    return _accepting(func, _STATISTICS)


def wrap_data_api_linalg_func(func):
    """Decorator of a function with the array API's arguments `upper` and `rtol`: accepts NumPy's
    `UPLO` ('L' or 'U'), `rcond` and `tol`, too.

    >>> @mx.util.wrap_data_api_linalg_func
    ... def arguments(x, upper=False):
    ...     return upper
    >>> arguments([[1]], UPLO='U')
    True
    """
    return _accepting(func, _LINEAR_ALGEBRA)


def numpy_fallback(func):
    """Decorator of a function on NumPy arrays: takes and gives mx.np arrays. Its first call warns
    that it computes with NumPy, on the host.

    Raises
    ------
    ValueError
        in calls while autograd records: there are no gradients.

    >>> @mx.util.numpy_fallback
    ... def spread(x):
    ...     return numpy.ptp(x)
    >>> float(spread(mx.np.array([1., 4.])))
    3.0
    """
    if not callable(func):
        raise ValueError(f"[numpy_fallback] {func!r}; should wrap a function")
    warned = []

    @wraps_safely(func)
    def on_arrays(*args, **kwargs):
        arrays = importlib.import_module("mxnet.numpy._dispatch")     # which stands on this module
        name = getattr(func, "__name__", "function")
        if set_mode(None, None)[0]:
            raise ValueError(f"[{name}] computes with NumPy, which records nothing for gradients; accepted: calls outside of "
                             "autograd.record()")
        if not warned:
            warned.append(True)
            warnings.warn(f"[{name}] computes with NumPy, on the host", stacklevel=2)
        device = arrays.device_of(kwargs.pop("ctx", None), kwargs.pop("device", None))
        host = _mapped((args, kwargs), lambda v: hasattr(v, "asnumpy"), lambda v: v.asnumpy())
        result = func(*host[0], **host[1])
        return _mapped(result, lambda v: isinstance(v, (np.ndarray, np.generic)), lambda v: arrays.from_values(np.asarray(v), device))
    return on_arrays


def _mapped(value, chosen, convert):
    """A nested value with what is `chosen` converted."""
    if chosen(value):
        return convert(value)
    if isinstance(value, dict):
        return {k: _mapped(v, chosen, convert) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mapped(v, chosen, convert) for v in value)
    return value


def set_np(shape=True, array=True, dtype=False, views=False):
    """Switch this thread to NumPy's shapes and to mx.np arrays; with `dtype` to NumPy's default
    dtypes, too: float64 instead of float32. With `views`, results of indexing and of functions such
    as ``transpose`` and ``reshape`` are views wherever NumPy's are; else those of other elements
    than whole rows are copies, as in MXNet 1.9 and 2.0. What was made before stays as it is.

    Raises
    ------
    ValueError
        for arrays without shapes: mx.np arrays need NumPy's shapes.
    NotImplementedError
        for views without the compiled binding.

    Examples
    --------
    >>> mx.npx.set_np()
    >>> layer = mx.gluon.nn.Dense(2, in_units=3)
    >>> layer.initialize()
    >>> type(layer.weight.data()) is mx.np.ndarray
    True
    >>> mx.npx.reset_np()
    """
    if array and not shape:
        raise ValueError("[set_np] NumPy Shape semantics is required in using NumPy array semantics.")
    set_np_shape(shape)
    if array:
        _tell_once("NumPy array semantics has been activated: Gluon makes arrays of mx.np")
    _set_np_array(array)
    set_np_default_dtype(dtype)
    set_np_views(views)


def reset_np():
    """Switch this thread back to classic semantics.

    Examples
    --------
    >>> mx.npx.set_np()
    >>> mx.npx.reset_np()
    >>> mx.npx.is_np_array()
    False
    """
    set_np(shape=False, array=False, dtype=False)
