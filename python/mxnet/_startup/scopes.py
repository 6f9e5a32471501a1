"""What ``with`` blocks make current, per thread."""
import threading

__all__ = ["Scopes"]


class Scopes(threading.local):
    """The scopes that this thread has entered; the last one is current.

    Parameters
    ----------
    first : callable
        Gives what is current outside of all blocks, once per thread.
    convert : callable, optional
        What is assigned goes through it.
    """

    def __init__(self, first, convert=None):
        self.stack = [first()]
        self._convert = convert

    @property
    def value(self):
        """The current scope; assigning replaces it until the ``with`` block ends that is open
        (``NameManager._current.value`` of 1.x)."""
        return self.stack[-1]

    @value.setter
    def value(self, scope):
        self.stack[-1] = scope if self._convert is None else self._convert(scope)
