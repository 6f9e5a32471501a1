"""Ctrl-C that waits."""
import _signal    # without the enumerations of `signal`, which take longer than a small operator
import _thread
import sys
import threading
import time

__all__ = ['HeldInterrupt', 'InterruptAfterFinalizer']


class HeldInterrupt:
    """Scope in which Ctrl-C waits until its end. Python drops what a signal's handler raises in
    callbacks of fork, and a child must not have it at all. Imports drop it as well: in the callback
    that forgets the lock of a module, and while compiled modules initialize themselves. A thread
    that starts may end with another error. Scopes may lie within each other."""

    def __enter__(self):
        self._arrived = []
        self._handler = None
        if threading.get_ident() == threading.main_thread().ident and callable(_signal.getsignal(_signal.SIGINT)):
            self._handler = _signal.signal(_signal.SIGINT, self._hold)

    def _hold(self, number, frame):
        self._arrived.append((number, frame))

    def __exit__(self, *_):
        if self._handler is not None:
            _signal.signal(_signal.SIGINT, self._handler)
            if self._arrived:
                self._again()

    def _again(self):
        self._handler(*self._arrived[-1])


class InterruptAfterFinalizer(HeldInterrupt):
    """Scope in a ``__del__`` that may take long: Ctrl-C waits until no such method runs. Python
    drops what is raised in one."""

    def _again(self):
        threading.Thread(target=_interrupt_later, daemon=True).start()


def _interrupt_later():
    main = threading.main_thread().ident
    while _finalizes(sys._current_frames().get(main)):
        time.sleep(0.001)
    _thread.interrupt_main()


def _finalizes(frame):
    while frame is not None:
        if frame.f_code.co_name == '__del__':
            return True
        frame = frame.f_back
    return False
