"""Automatic names of symbols."""
import warnings

from ._startup.scopes import Scopes

__all__ = ["NameManager", "Prefix", "current"]


class _ManagerType(type):
    @property
    def current(cls):
        """The manager that names symbols in this thread. Deprecated: use a ``with`` statement."""
        warnings.warn("NameManager.current has been deprecated. A with statement with a NameManager is advised.",
                      DeprecationWarning, stacklevel=2)
        return _scopes.stack[-1]

    @current.setter
    def current(cls, manager):
        _scopes.value = manager


class NameManager(metaclass=_ManagerType):
    """Numbers the symbols that the user did not name: ``convolution0``, ``convolution1``, ...

    Used in a ``with`` statement it names what is created in the block. Subclasses change `get`.

    >>> with mx.name.NameManager():
    ...     y = mx.sym.exp(mx.sym.Variable('x'))
    >>> y.name
    'exp0'
    """

    def __init__(self):
        self._counter = {}

    def get(self, name, hint):
        """Return `name` if there is one, or else `hint` with the next number for this hint.

        >>> names = mx.name.NameManager()
        >>> names.get(None, 'conv'), names.get(None, 'conv'), names.get('mine', 'conv')
        ('conv0', 'conv1', 'mine')
        """
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self):
        _scopes.stack.append(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _scopes.stack.pop()


class Prefix(NameManager):
    """Puts a prefix in front of every name, given or automatic.

    >>> data = mx.sym.Variable('data')
    >>> with mx.name.Prefix('stage1_'):
    ...     net = mx.sym.FullyConnected(data, num_hidden=10, name='fc')
    >>> net.name
    'stage1_fc'
    """

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        return self._prefix + super().get(name, hint)


_scopes = NameManager._current = Scopes(NameManager)


def current():
    """The manager that names symbols in this thread.

    >>> with mx.name.Prefix('net_'):
    ...     mx.name.current().get(None, 'conv')
    'net_conv0'
    """
    return _scopes.stack[-1]
