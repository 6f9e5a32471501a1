"""Ctrl-C that waits."""
import signal
import threading

__all__ = ['HeldInterrupt']


class HeldInterrupt:
    """Scope in which Ctrl-C waits until its end. Python drops what a signal's handler raises in
    callbacks of fork, and a child must not have it at all. Imports drop it as well: in the callback
    that forgets the lock of a module, and while compiled modules initialize themselves. A thread
    that starts may end with another error. Scopes may lie within each other."""

    def __enter__(self):
        self._arrived = []
        self._handler = None
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._handler = signal.signal(signal.SIGINT, lambda number, frame: self._arrived.append((number, frame)))

    def __exit__(self, *_):
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._arrived:
                self._handler(*self._arrived[-1])
