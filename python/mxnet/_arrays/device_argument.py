"""Decorators of functions that take a device under two names."""
import functools

__all__ = ["accepts_device", "wraps_safely"]


def wraps_safely(wrapped, assigned=functools.WRAPPER_ASSIGNMENTS):
    """``functools.wraps`` for anything callable: attributes that it does not have are left out.

    >>> def f():
    ...     'A docstring.'
    >>> @mx.util.wraps_safely(f)
    ... def g():
    ...     return f()
    >>> g.__name__, g.__doc__
    ('f', 'A docstring.')
    """
    return functools.wraps(wrapped, assigned=[a for a in assigned if hasattr(wrapped, a)])


def accepts_device(func=None, called="ctx"):
    """Decorator of a function whose argument `called` is a device, or several: accepts it under the
    name `device` of MXNet 2.0, too. Of both, `called` counts. For the `stacklevel` of warnings it
    is a frame more."""
    if func is None:
        return functools.partial(accepts_device, called=called)

    @wraps_safely(func)
    def renamed(*args, device=None, **kwargs):
        if device is not None and kwargs.get(called) is None:
            kwargs[called] = device
        return func(*args, **kwargs)
    return renamed
