"""Views where NumPy has views, for programs that ask for them (``npx.set_np(views=True)``).

NumPy itself says which elements a view shows: its function gets a stand-in for the array, of the
same shape and steps, and what it returns has a place, a shape and steps that the binding's `show`
takes. The memory of a stand-in is never read, so the function must be one that cannot copy.
"""
import functools

import numpy as onp

from .._binding import is_traced, layout_of, makes_views, show

__all__ = ["in_memory", "makes_views", "shows", "shown_as"]


_RESHAPES_VIEWS = onp.lib.NumpyVersion(onp.__version__) >= "2.1.0"    # reshape(copy=False)


class _Memory:
    """What NumPy makes a stand-in of. With an `itemsize` of 1, its steps count elements."""

    __slots__ = ("__array_interface__",)

    def __init__(self, array, itemsize):
        address, steps = layout_of(array)
        self.__array_interface__ = {"data": (address, not array.writable), "shape": array.shape, "version": 3,
                                    "strides": tuple(step * itemsize for step in steps),
                                    "typestr": "|u1" if itemsize == 1 else f"|V{itemsize}"}


def in_memory(array):
    """A stand-in: an array of NumPy with the place, shape and steps of `array`, whose elements must
    not be read."""
    return onp.asarray(_Memory(array, array.itemsize))


def _place(array):
    return array.__array_interface__["data"][0]


def _view(a, start, part):
    return show(a, _place(part) - start if part.size else 0, part.shape, part.strides, part.flags.writeable)


def shown_as(a, change):
    """What ``change`` makes of an array, as a view of it, or a list or tuple of views. None where
    there is none: views are off, `a` is no array of mx.np, autograd records or a block is traced,
    or NumPy refuses."""
    if not makes_views() or is_traced():
        return None
    try:
        memory = _Memory(a, 1)
        parts = change(onp.asarray(memory))
    except Exception:   # pylint: disable=broad-exception-caught    # the function itself says what is wrong
        return None
    if isinstance(parts, onp.generic):      # of an array without dimensions NumPy may give the element, a copy
        return None
    start = _place(memory)
    if parts.__class__ in (list, tuple):
        return type(parts)([_view(a, start, part) for part in parts])
    return None if parts is None else _view(a, start, parts)


def reshaped(a, newshape=None, order="C", out=None, *, shape=None, copy=None):
    """NumPy's reshape of a stand-in; None where it would copy."""
    newshape = shape if newshape is None else newshape
    if order not in ("C", "A") or out is not None or copy:
        return None
    view = a.view()
    try:
        if _RESHAPES_VIEWS:
            return onp.reshape(view, newshape, copy=False)
        view.shape = newshape
        return view
    except (AttributeError, ValueError):
        return None


def raveled(a, order="C"):
    """NumPy's ravel of a stand-in; None where it copies, which it does more often than reshape."""
    return onp.reshape(a, -1) if a.flags.c_contiguous and order in ("C", "A", "K") else None


def shows(twin=None, of=None):
    """Decorator of a function of mx.np whose NumPy twin returns a view of its first argument, or a
    list of views. `twin` takes a stand-in, and the other arguments; by default it is NumPy's
    function of the same name. `of` is another name of the first argument."""
    def decorate(function):
        change = twin or getattr(onp, function.__name__)

        @functools.wraps(function)
        def with_views(*args, **kwargs):
            if makes_views():
                given = dict(kwargs)
                a = args[0] if args else given.pop(of, None)
                shown = shown_as(a, lambda x: change(x, *args[1:], **given))
                if shown is not None:
                    return shown
            return function(*args, **kwargs)
        with_views._shows = True
        return with_views
    return decorate
