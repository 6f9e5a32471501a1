"""Switches of NumPy's rules: what all scopes have, and the switch of views."""
import importlib

from .device_argument import wraps_safely

__all__ = ["Scope", "is_np_views", "np_views", "set_np_views"]


class Scope:
    """A ``with`` block, or a decorator of functions, in which a switch has a position (None: stays
    as it is)."""
    _set = None

    def __init__(self, active):
        self._active = active
        self._previous = []

    def __enter__(self):
        self._previous.append(None if self._active is None else type(self)._set(self._active))
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        previous = self._previous.pop()
        if previous is not None:
            type(self)._set(previous)

    def __call__(self, func):
        active, scope = self._active, type(self)

        @wraps_safely(func)
        def in_scope(*args, **kwargs):
            with scope(active):
                return func(*args, **kwargs)
        return in_scope


def is_np_views():
    """Whether mx.np makes views wherever NumPy does, in this thread.

    Examples
    --------
    >>> mx.npx.is_np_views()
    False
    """
    return importlib.import_module("mxnet._binding").makes_views()


def set_np_views(active):
    """Switch views of mx.np on or off for this thread: whether ``x[:, 1]``, ``x.T``, ``x.reshape``
    and their like show the elements of `x`, as NumPy's do, or copy them, as in MXNet 1.9 and 2.0.
    Returns the switch's previous position.

    While autograd records, and in a traced ``forward``, results are new arrays either way. Views
    need the compiled binding, and cost a copy of what they show when it is used after a write.

    Raises
    ------
    NotImplementedError
        without the compiled binding.

    Examples
    --------
    >>> before = mx.npx.set_np_views(True)
    >>> x = mx.np.zeros((2, 3))
    >>> x[:, 1] = 1
    >>> x.T[2][:] = 2
    >>> x
    array([[0., 1., 2.],
           [0., 1., 2.]])
    >>> _ = mx.npx.set_np_views(before)
    """
    return importlib.import_module("mxnet._binding").make_views(bool(active))


class _ViewsScope(Scope):
    _set = staticmethod(set_np_views)


def np_views(active=True):
    """A ``with`` block (or decorator) in which mx.np makes views wherever NumPy does, or not; see
    :func:`set_np_views`.

    >>> x = mx.np.zeros(4)
    >>> with mx.util.np_views():
    ...     x[::2][:] = 1
    >>> x
    array([1., 0., 1., 0.])
    """
    return _ViewsScope(active)
