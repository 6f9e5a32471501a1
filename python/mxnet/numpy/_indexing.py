"""``x[key]`` and ``x[key] = value`` of mx.np arrays, for the keys that the compiled binding leaves
to Python."""
from ..ndarray import _indexing as _classic

__all__ = ["getitem", "setitem"]


def getitem(a, key):
    """``a[key]``."""
    return _classic.getitem(a, key)


def setitem(a, key, value):
    """``a[key] = value``."""
    _classic.setitem(a, key, value)
