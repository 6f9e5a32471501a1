"""Copies of a module's parameters for whoever asks."""
import weakref

from .. import ndarray as nd
from ..context import cpu

__all__ = []


def zeros_like(array):
    """On the CPU, with the dtype and the storage type of `array`."""
    return nd.zeros(array.shape, ctx=cpu(), dtype=array.dtype, stype=array.stype)


class HostCopies:
    """What `get_params` gives where the parameters themselves lie in the executor on the CPU.

    As in 1.x a caller's arrays stay as they are until the parameters were updated and `get_params`
    is called again: then they are brought up to date in place. Between an update and that call
    nobody but the caller holds them, so that a training program has its weights once.
    """

    def __init__(self):
        self._given = weakref.WeakValueDictionary()
        self._held = {}

    def release(self):
        """The parameters are being updated."""
        self._held.clear()

    def give(self, dirty, arrays, fill):
        """`arrays`: dictionaries of parameters. `fill(*dictionaries)` writes values into what it is
        given; that are all arrays if the parameters were updated, else those that are new."""
        given, stale = [], []
        for kind, own in enumerate(arrays):
            copies = {name: self._given.get((kind, name)) for name in own}
            fresh = {name: zeros_like(own[name]) for name, copy in copies.items() if copy is None}
            copies.update(fresh)
            given.append(copies)
            stale.append(copies if dirty else fresh)
        if any(stale):
            fill(*stale)
        self._held = {(kind, name): copy for kind, copies in enumerate(given) for name, copy in copies.items()}
        self._given.update(self._held)
        return tuple(given)
