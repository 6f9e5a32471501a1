"""Devices on which arrays live and operators run."""
import ctypes
import warnings

from ._startup.scopes import Scopes
from .base import _LIB, c_int, check_call, error_class

__all__ = ["Context", "cpu", "cpu_pinned", "current_context", "gpu", "gpu_memory_info", "num_gpus"]

_TYPE_TO_NAME = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
_NAME_TO_TYPE = {name: typeid for typeid, name in _TYPE_TO_NAME.items()}

# One object per (type, id). Equality and hashing are therefore those of object identity, which the
# interpreter does without calling back into Python: contexts are dictionary keys in hot paths.
_INTERNED = {}


def _warn_of_default():
    warnings.warn("Context.default_ctx has been deprecated. mx.current_context() gives it, and "
                  "mx.test_utils.set_default_context sets it.", DeprecationWarning, stacklevel=3)


class _ContextType(type):
    @property
    def default_ctx(cls):
        """The context that this thread uses when none is named. Deprecated: use
        `current_context`."""
        _warn_of_default()
        return _scopes.stack[-1]

    @default_ctx.setter
    def default_ctx(cls, ctx):
        _warn_of_default()
        _scopes.value = ctx


class Context(metaclass=_ContextType):
    """A device: its kind and its number.

    Used in a ``with`` statement it becomes the default device of the thread until the block ends.

    Parameters
    ----------
    device_type : {'cpu', 'gpu', 'cpu_pinned', 'cpu_shared'} or Context
        Kind of the device, or a context to be returned as it is.
    device_id : int
        Number of the device; ignored when `device_type` is a context.

    Raises
    ------
    ValueError
        if the kind is not one of the four.
    TypeError
        if the number is not an integer.

    Examples
    --------
    >>> with mx.Context('cpu', 1):
    ...     x = mx.nd.ones(2)
    >>> x.context
    cpu(1)
    """
    __slots__ = ("device_typeid", "device_id", "__weakref__")

    devtype2str = _TYPE_TO_NAME
    devstr2type = _NAME_TO_TYPE

    def __new__(cls, device_type=None, device_id=0):
        if isinstance(device_type, Context):
            return _INTERNED[device_type.device_type, device_type.device_id]
        if device_type is None:
            return object.__new__(_UnpickledContext)
        try:
            return _INTERNED[device_type, device_id]
        except (KeyError, TypeError):
            return cls._intern(device_type, device_id)

    @classmethod
    def _intern(cls, device_type, device_id):
        if not isinstance(device_type, str) or device_type not in _NAME_TO_TYPE:
            raise error_class(ValueError, KeyError)(f"[Context] device type {device_type!r}; accepted are {', '.join(_NAME_TO_TYPE)}")
        try:
            number = device_id.__index__()
        except AttributeError:
            raise TypeError(f"[Context] device id {device_id!r}; an integer is expected") from None
        self = object.__new__(cls)
        self.device_typeid = _NAME_TO_TYPE[device_type]
        self.device_id = c_int(number, "Context").value
        return _INTERNED.setdefault((device_type, number), self)

    @property
    def device_type(self):
        """Kind of the device as a string."""
        return _TYPE_TO_NAME[self.device_typeid]

    def __reduce__(self):
        return Context, (self.device_type, self.device_id)

    def __repr__(self):
        return f"{self.device_type}({self.device_id})"

    def __enter__(self):
        _scopes.stack.append(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _scopes.stack.pop()

    def empty_cache(self):
        """Give the memory that the device's pool holds but does not use back to the system.

        >>> mx.cpu().empty_cache()
        >>> mx.cpu().device_type
        'cpu'
        """
        check_call(_LIB.MXStorageEmptyCache(ctypes.c_int(self.device_typeid), ctypes.c_int(self.device_id)))


class _UnpickledContext(Context):
    """What a pickle of 1.x makes: an object of its own, filled in afterwards, so it can't be the
    one of its kind. It equals that one."""
    __slots__ = ()

    def __init__(self, *_args, **_kwargs):
        raise TypeError("[Context] no device type; accepted are " + ", ".join(_NAME_TO_TYPE))

    def __setstate__(self, state):
        self.device_typeid, self.device_id = state["device_typeid"], state["device_id"]
        Context(self.device_type, self.device_id)   # of this kind and number there is one from now on

    def __eq__(self, other):
        return isinstance(other, Context) and Context(self) is Context(other)

    def __hash__(self):
        return hash(Context(self))


_scopes = Context._default_ctx = Scopes(lambda: Context("cpu", 0), Context)


def cpu(device_id=0):
    """The host's memory and cores. The number only distinguishes contexts: all of them are the same
    device.

    Examples
    --------
    >>> mx.npx.cpu()
    cpu(0)
    """
    return _INTERNED.get(("cpu", device_id)) or Context("cpu", device_id)


def cpu_pinned(device_id=0):
    """Page-locked host memory, from which copies to a GPU are asynchronous.

    Examples
    --------
    >>> mx.npx.cpu_pinned().device_type
    'cpu_pinned'
    """
    return Context("cpu_pinned", device_id)


def gpu(device_id=0):
    """The GPU with that number.

    Examples
    --------
    >>> mx.npx.gpu(1)
    gpu(1)
    """
    return _INTERNED.get(("gpu", device_id)) or Context("gpu", device_id)


def num_gpus():
    """Number of GPUs that the library can use (0 when it was built without CUDA).

    Examples
    --------
    >>> device = mx.gpu(0) if mx.num_gpus() else mx.cpu()
    >>> mx.nd.ones((2, 3), ctx=device).shape
    (2, 3)
    """
    count = ctypes.c_int()
    check_call(_LIB.MXGetGPUCount(ctypes.byref(count)))
    return count.value


def gpu_memory_info(device_id=0):
    """Free and total bytes of a GPU, as the driver reports them.

    Returns
    -------
    (int, int)

    Raises
    ------
    MXNetError
        if there is no such GPU.

    Examples
    --------
    >>> if mx.npx.num_gpus():
    ...     free, total = mx.npx.gpu_memory_info(0)
    """
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    check_call(_LIB.MXGetGPUMemoryInformation64(c_int(device_id, "gpu_memory_info"), ctypes.byref(free), ctypes.byref(total)))
    return free.value, total.value


def context_of(text):
    """The device that `text` names: "gpu(1)", or "cpu" for the first of a kind."""
    kind, _, number = text.rstrip(")").partition("(")
    return Context(kind, int(number or 0))


def current_context():
    """The device of the innermost ``with`` block of this thread, ``cpu(0)`` outside of any.

    Examples
    --------
    >>> with mx.cpu(1):
    ...     mx.npx.current_device()
    cpu(1)
    """
    return _scopes.stack[-1]
