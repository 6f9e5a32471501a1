"""The native library: loading it, its errors as Python exceptions, and ctypes helpers for calling
it."""
import atexit
import contextlib
import ctypes
import errno
import functools
import operator
import os
import re
import sys
import threading

import numpy as _np

from . import libinfo
from ._startup import passes as _passes, process as _process  # noqa: F401  (notes what the environment is now)

__all__ = ["MXNetError"]

__version__ = libinfo.__version__


class MXNetError(RuntimeError):
    """What the library reports; a more specific built-in class is a second base where one fits.

    >>> try:
    ...     mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
    ... except mx.MXNetError as error:
    ...     print(str(error).split(']')[0] + ']')
    [dot]
    """


@functools.lru_cache(None)
def error_class(*kinds):
    """The exception class that each of `kinds` catches: the fitting one first, then what 1.x
    raised. It goes by the name of the first."""
    return type(kinds[0].__name__, kinds, {"__module__": kinds[0].__module__, "__doc__": kinds[0].__doc__, "__str__": Exception.__str__,
                                           "__reduce__": lambda error: (_make_error, (kinds, error.args))})


def _make_error(kinds, arguments):
    return error_class(*kinds)(*arguments)


# Tracebacks show mxnet.base.MXNetError for all of these, as in 1.x.
_MXValueError = error_class(MXNetError, ValueError)                     # a value that is not accepted
_MXTypeError = error_class(MXNetError, TypeError, AssertionError)       # 1.x asserted types of what it handed to its library
_MXIndexError = error_class(MXNetError, IndexError)                     # an index outside of its array
_MXNotImplementedError = error_class(MXNetError, NotImplementedError)   # an operator without this dtype, device or storage type
_MXMemoryError = error_class(MXNetError, MemoryError)                   # a device whose memory is used up
_MXOSError = error_class(MXNetError, OSError)                           # a file or connection that failed
_MXFileNotFoundError = error_class(MXNetError, FileNotFoundError)        # a file that is not there


class NotCopied:
    """Mixin of objects that own a handle of the library: a copy would free it a second time."""

    _instead = "its arguments, from which a new one is made"

    def __reduce_ex__(self, _protocol):
        raise error_class(TypeError, ValueError)(f"[{type(self).__name__}] it belongs to the library and cannot be pickled "
                                                 f"or copied; accepted: {self._instead}")


class CheckedValueError(ValueError, AssertionError):
    """A value that 1.x asserted; programs catch either."""


class CheckedTypeError(TypeError, AssertionError):
    """A type that 1.x asserted; programs catch either."""


class StateError(RuntimeError, AssertionError):
    """A call at the wrong time, which 1.x asserted; programs catch either."""


class _MissingMethod(MXNetError):
    """A method that one class of arrays has and another one cannot have; `_reason` completes the
    sentence."""

    _reason = ""

    def __init__(self, function, alias, *args):
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = [str(type(a)) for a in args]

    def __str__(self):
        text = self._reason.format(self.function)
        if self.alias:
            text += f"; accepted: {self.alias}"
        return text + (f"; given: {', '.join(self.args)}" if self.args else "")


class NotImplementedForSymbol(_MissingMethod):
    """A method that NDArray has and Symbol cannot have, because a symbol holds no values."""

    _reason = "[symbol] {} needs values, which a symbol has not"


class NotSupportedForSparseNDArray(_MissingMethod):
    """A method of NDArray that sparse arrays do not have."""

    _reason = "[sparse] {} does not take sparse arrays"


# In the order of Error::Kind (mxnet/error.h).
_KINDS = (MXNetError, _MXValueError, _MXTypeError, _MXIndexError, _MXNotImplementedError, _MXMemoryError, _MXOSError)
error_types = {}
_NOT_FOUND = os.strerror(errno.ENOENT)
_PREFIX = re.compile(r"([A-Za-z_][\w.]*): ")


def register_error(func_name=None, cls=None):
    """Raises `cls` for messages that begin with ``func_name:``; as a decorator of the class, its
    own name.

    This is how an exception of a Python callback keeps its class on its way through the library.
    """
    if isinstance(func_name, type) and cls is None:
        func_name, cls = func_name.__name__, func_name

    def register(given):
        error_types[func_name or given.__name__] = given
        return given

    return register if cls is None else register(cls)


# Thread -> the KeyboardInterrupt that ended a Python callback: the library knows its text alone.
_interrupted_callbacks = {}


def get_last_ffi_error():
    """Returns the exception for the last failure on this thread."""
    if _interrupted_callbacks:
        interrupt = _interrupted_callbacks.pop(threading.get_ident(), None)
        if interrupt is not None:
            return interrupt
    message = py_str(_LIB.MXGetLastError())
    prefix = _PREFIX.match(message)
    if prefix and prefix.group(1) in error_types:
        return error_types[prefix.group(1)](message[prefix.end():])
    kind = _LIB.MXGetLastErrorKind()
    error = _KINDS[kind if 0 <= kind < len(_KINDS) else 0]
    if error is _MXOSError and _NOT_FOUND in message:
        error = _MXFileNotFoundError
    return error(message)


def local_path(path):
    """The path that a name of a file stands for: ``file:///a/b`` is ``/a/b``, as in 1.x.

    >>> mx.base.local_path('file:///data/net-0000.params')
    '/data/net-0000.params'
    """
    path = os.fsdecode(path)
    return path[len("file://"):] if path.startswith("file://") else path


def open_file(path, mode="r", **kwargs):
    """``open``, whose failure is an MXNetError as well: 1.x opened files in its library, and
    programs catch either."""
    try:
        return open(local_path(path), mode, **kwargs)
    except OSError as error:
        raise as_mxnet_error(error) from None


def as_mxnet_error(error):
    """An OSError as one that is an MXNetError as well, with the same message, number and file
    name."""
    both = error_class(MXNetError, type(error))(str(error))
    both.errno, both.strerror, both.filename = error.errno, error.strerror, error.filename
    return both


def check_call(ret):
    """Raises the library's last error unless `ret`, what a C function returned, is 0.

    >>> mx.base.check_call(0)
    """
    if ret != 0:
        raise get_last_ffi_error()


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@functools.lru_cache(maxsize=4096)
def _is_own(name):
    """Whether code of that file is this package's."""
    return name.startswith((_PACKAGE, "<operator "))


@functools.lru_cache(maxsize=4096)
def _site_text(name, line):
    return f"{name}:{line}".encode("utf-8", "backslashreplace")


def _call_site():
    """Where the user's program is: "file:line" of the innermost frame outside of this package, as
    bytes."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not _is_own(name):
            return _site_text(name, frame.f_lineno)
        frame = frame.f_back
    return b""


def call_and_mark(function, *args):
    """Calls a C function that pushes operations. What fails later in one of them names the line of
    the user's program that is running now."""
    _LIB.MXEngineMarkCallSite(_call_site())
    try:
        check_call(function(*args))
    finally:
        _LIB.MXEngineMarkCallSite(None)


def py_str(x):
    """bytes of C to str; what is not UTF-8 (file names, mostly) is shown escaped.

    >>> mx.base.py_str(b'text')
    'text'
    """
    return x.decode("utf-8", "backslashreplace")


def _open(path):
    tried = set()
    while True:
        try:
            return ctypes.CDLL(path, ctypes.RTLD_LOCAL)
        except OSError as error:
            message = str(error)
            from ._startup.packages import open_missing
            if message in tried or not open_missing(message):
                raise
            tried.add(message)


@contextlib.contextmanager
def _blas_alone():
    """OpenBLAS that is loaded here starts no threads: it would raise SIGINT where none can start,
    and at exit wait for ever for threads that found no memory. The library lets it start them when
    it first has work for them."""
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["_MXNET_OPENBLAS_NUM_THREADS"] = before or ""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["_MXNET_OPENBLAS_NUM_THREADS"]
        if before is None:
            del os.environ["OPENBLAS_NUM_THREADS"]
        else:
            os.environ["OPENBLAS_NUM_THREADS"] = before


def _load_lib():
    # Local: symbols of the library must not be picked up by other extensions of the process.
    path = libinfo.find_lib_path()[0]
    try:
        with _blas_alone():
            lib = _open(path)
    except OSError as e:
        gpu = (" It computes on GPUs and needs the libraries of CUDA and cuDNN on this machine, if without a GPU; "
               "MXNET_LIBRARY_PATH may name a build that does not.")
        from ._machine.report import advice
        source = advice(str(e))
        raise OSError(f"[libinfo] {path} cannot be loaded: {e}." + (f" It comes from: {source}." if source else "")
                      + (gpu if str(e).startswith(("libcu", "libnvrtc", "libnvJitLink", "libnccl"))
                         else "")) from None
    lib.MXGetLastError.restype = ctypes.c_char_p
    return lib


try:
    _LIB = _load_lib()
    check_call(_LIB.MXCheckEnv())  # a bad value in the environment ends the import here
    _wrong_pass = _passes.wrong_name(_LIB)
    if _wrong_pass:
        raise _MXValueError(_wrong_pass)
except (OSError, RuntimeError) as _failure:
    if "mxnet.doctor" not in sys.orig_argv:
        raise
    # python -m mxnet.doctor, which says what to do about it
    from ._machine.report import main as _main
    sys.exit(_main(sys.argv[1:], str(_failure)))


@atexit.register
def _notify_shutdown():
    # Before Python tears down modules: operations in flight may call back into them.
    if hasattr(_LIB, "MXNotifyShutdown"):
        check_call(_LIB.MXNotifyShutdown())


def _wait_before_fork():
    # 1.9.1 waits as well: its programs fork workers that read what was being computed. The call
    # lets go of the interpreter, which custom operators need.
    _LIB.MXEngineWaitBeforeFork()


# After that of _startup.imports, so it comes before: operations may import.
os.register_at_fork(before=_wait_before_fork)

string_types = (str,)
basestring = str
long = int
integer_types = (int, _np.int32, _np.int64)
numeric_types = (float, int, _np.generic)

mx_int = ctypes.c_int
mx_uint = ctypes.c_uint
mx_int64 = ctypes.c_int64
mx_float = ctypes.c_float
mx_float_p = ctypes.POINTER(mx_float)
mx_real_t = _np.float32  # dtype of arrays when nothing says otherwise

NDArrayHandle = ctypes.c_void_p
FunctionHandle = ctypes.c_void_p
OpHandle = ctypes.c_void_p
CachedOpHandle = ctypes.c_void_p
SymbolHandle = ctypes.c_void_p
ExecutorHandle = ctypes.c_void_p
DataIterCreatorHandle = ctypes.c_void_p
DataIterHandle = ctypes.c_void_p
KVStoreHandle = ctypes.c_void_p
RecordIOHandle = ctypes.c_void_p
RtcHandle = ctypes.c_void_p
CudaModuleHandle = ctypes.c_void_p
CudaKernelHandle = ctypes.c_void_p
ProfileHandle = ctypes.c_void_p
DLPackHandle = ctypes.c_void_p


class MXCallbackList(ctypes.Structure):
    """Callbacks and their contexts, as MXCustomFunctionRecord and MXCustomOpRegister take them.

    >>> mx.base.MXCallbackList().num_callbacks
    0
    """
    _fields_ = [("num_callbacks", ctypes.c_int),
                ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
                ("contexts", ctypes.POINTER(ctypes.c_void_p))]


def kept_for_native(callback):
    """A ctypes callback that native code may call until the process ends: not even the collection
    at the interpreter's end frees it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback


class _NullType:
    """Stands for an operator parameter that the caller did not give."""

    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = object.__new__(cls)
        return cls._instance

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False

    def __reduce__(self):
        return "_Null"  # there is one, also after pickling


_Null = _NullType()


def c_str(string):
    """str to a C string.

    >>> mx.base.c_str('text').value
    b'text'
    """
    return ctypes.c_char_p(string.encode("utf-8"))


def c_str_array(strings):
    """Strings to ``const char**``.

    >>> list(mx.base.c_str_array(['a', 'b']))
    [b'a', b'b']
    """
    return (ctypes.c_char_p * len(strings))(*[s.encode("utf-8") for s in strings])


def c_int(value, what):
    """An integer as a C int. ``ctypes.c_int`` keeps the low 32 bits of any; this raises
    OverflowError, or TypeError for what is none. Both say what the integer was for."""
    try:
        value = operator.index(value)
    except TypeError:
        raise _MXTypeError(f"[{what}] {value!r} was given; accepted: an integer") from None
    if not -2**31 <= value < 2**31:
        raise OverflowError(f"[{what}] {value} was given; accepted: -2147483648 to 2147483647")
    return ctypes.c_int(value)


def c_array(ctype, values):
    """A C array of `ctype` with these values.

    >>> import ctypes
    >>> list(mx.base.c_array(ctypes.c_int, [1, 2]))
    [1, 2]
    """
    return (ctype * len(values))(*values)


def c_array_buf(ctype, buf):
    """A C array of `ctype` that shares the memory of `buf`, an `array.array`.

    >>> import array, ctypes
    >>> numbers = array.array('i', [1, 2])
    >>> mx.base.c_array_buf(ctypes.c_int, numbers)[0] = 5
    >>> numbers[0]
    5
    """
    return (ctype * len(buf)).from_buffer(buf)


def c_handle_array(objs):
    """The handles of objects that keep theirs in `.handle`, as a C array; null for None.

    The array keeps the objects: an iterable may make them as it goes (the rows of an NDArray), and
    their handles die with them.

    >>> handles = mx.base.c_handle_array([mx.nd.ones(2), mx.nd.zeros(2)])
    >>> len(handles), handles[0] == handles[1]
    (2, False)
    """
    objs = list(objs)
    handles = (ctypes.c_void_p * len(objs))(*[None if o is None else o.handle for o in objs])
    handles.objects = objs
    return handles


def ctypes2buffer(cptr, length):
    """Copies `length` bytes from a ``char*`` into a bytearray."""
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise TypeError(f"[ctypes2buffer] {type(cptr).__name__}; accepted: a pointer to char")
    return bytearray(ctypes.string_at(cptr, length))


def ctypes2numpy_shared(cptr, shape):
    """A NumPy array of float32 over the memory at a ``float*``; valid as long as that memory."""
    if not isinstance(cptr, mx_float_p):
        raise TypeError(f"[ctypes2numpy_shared] {type(cptr).__name__}; accepted: a pointer to float")
    return _np.ctypeslib.as_array(cptr, tuple(shape))


def _as_list(obj):
    """`obj` if it is a list or tuple, else a list of it."""
    return obj if isinstance(obj, (list, tuple)) else [obj]


def public_home(namespace, names=None):
    """Classes that a public module collects from its package say that they are its own: there
    pickles look for them, also those of 1.x."""
    package = namespace["__package__"] + "."
    for name in namespace["__all__"] if names is None else names:
        value = namespace.get(name)
        if isinstance(value, type) and value.__module__.startswith(package):
            value.__module__ = namespace["__name__"]


def data_dir():
    """The folder of downloaded models and data sets (MXNET_HOME)."""
    value = ctypes.c_char_p()
    check_call(_LIB.MXGetEnv(c_str("MXNET_HOME"), ctypes.byref(value)))
    return py_str(value.value)


def with_metaclass(meta, *bases):
    """A base class whose subclasses get metaclass `meta` and `bases`.

    >>> class Named(type):
    ...     def __str__(cls):
    ...         return cls.__name__.lower()
    >>> class Thing(mx.base.with_metaclass(Named, object)):
    ...     pass
    >>> str(Thing)
    'thing'
    """
    return meta("_" + meta.__name__ + "Base", bases, {})


class classproperty:
    """A read-only property of the class itself.

    >>> class Thing:
    ...     @mx.base.classproperty
    ...     def kind(cls):
    ...         return cls.__name__
    >>> Thing.kind
    'Thing'
    """

    def __init__(self, fget):
        self._fget = fget

    def __get__(self, obj, owner):
        return self._fget(owner)
