"""Options of NumPy's ufuncs that functions of 2.0 take: which are legal, and decorators that
refuse all but the defaults."""
import functools
import inspect

import numpy as np

_DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")
_LEGAL_DTYPES = {*_DTYPES, *(getattr(np, name) for name in _DTYPES)}
# What is legal is what 1.9.1 takes for it.
_UFUNC_OPTIONS = {
    "where": {"default": True, "legal": lambda v: True},
    "subok": {"default": True, "legal": lambda v: isinstance(v, bool)},
    "casting": {"default": "same_kind", "legal": lambda v: v in ("no", "equiv", "safe", "same_kind", "unsafe")},
    "order": {"default": "K", "legal": lambda v: isinstance(v, str)},
    "dtype": {"default": None, "legal": lambda v: not isinstance(v, np.dtype) and v in _LEGAL_DTYPES},
}


def np_ufunc_legal_option(key, value):
    """Whether `value` is a legal one for option `key` of NumPy's ufuncs.

    >>> mx.util.np_ufunc_legal_option('casting', 'safe')
    True
    >>> mx.util.np_ufunc_legal_option('casting', 'rough')
    False
    """
    try:
        return key in _UFUNC_OPTIONS and bool(_UFUNC_OPTIONS[key]["legal"](value))
    except TypeError:
        return False


def _only_default_options(func):
    @functools.wraps(func)
    def checked(*args, **kwargs):
        for key in [k for k in kwargs if k not in ("out", *_keywords(func))]:
            value = kwargs.pop(key)
            if key not in _UFUNC_OPTIONS:
                raise TypeError(f"[{func.__name__}] {key} is an invalid keyword to function '{func.__name__}'")
            default = _UFUNC_OPTIONS[key]["default"]
            if value is not default and not (isinstance(value, (str, int)) and value == default):
                error = NotImplementedError if np_ufunc_legal_option(key, value) else TypeError
                raise error(f"[{func.__name__}] {key}={value!r}; accepted: {default!r}, the default")
        return func(*args, **kwargs)
    return checked


@functools.lru_cache(maxsize=None)
def _keywords(func):
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD and p.name not in _UFUNC_OPTIONS)


def wrap_np_unary_func(func):
    """Decorator of a function of one array: accepts NumPy's ufunc options at their defaults, and
    refuses others.

    Raises
    ------
    NotImplementedError
        for a legal value other than the default.
    TypeError
        for a value that is not legal, or an option that ufuncs do not have.

    Examples
    --------
    >>> @mx.util.wrap_np_unary_func
    ... def double(x, out=None):
    ...     return 2 * x
    >>> double(3, order='K')
    6
    """
    return _only_default_options(func)


def wrap_np_binary_func(func):
    """Decorator of a function of two arrays; see :func:`wrap_np_unary_func`.

    >>> @mx.util.wrap_np_binary_func
    ... def add(x, y, out=None):
    ...     return x + y
    >>> add(3, 4, casting='same_kind')
    7
    """
    return _only_default_options(func)
