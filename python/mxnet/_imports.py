"""Imports at first use, and forks. A child that is forked while another thread imports a module
waits for that thread, which it does not have, as soon as it needs the module too. So a fork waits
until such imports have ended, and they wait until it is made."""
import contextlib
import os
import threading

from ._interrupt import HeldInterrupt

__all__ = ["importing"]

_LONGEST = 10.0    # seconds; whoever waits may hold what the other one needs

_changed = threading.Condition()
_running = 0       # threads in `importing`
_forks = 0         # being made
_own = threading.local()


@contextlib.contextmanager
def importing():
    """Within it a module may be imported, and Ctrl-C waits. A thread may enter it again."""
    global _running
    if getattr(_own, "inside", False):
        yield
        return
    with HeldInterrupt():
        with _changed:
            _changed.wait_for(lambda: _forks == 0, _LONGEST)
            _running += 1
            _own.inside = True
        try:
            yield
        finally:
            with _changed:
                _running -= 1
                _own.inside = False
                _changed.notify_all()


def _before_fork():
    global _forks
    with _changed:
        _forks += 1
        _changed.wait_for(lambda: _running <= getattr(_own, "inside", False), _LONGEST)


def _after_fork():
    global _forks
    with _changed:
        _forks -= 1
        _changed.notify_all()


def _after_fork_in_child():
    global _changed, _running, _forks
    _changed, _running, _forks = threading.Condition(), int(getattr(_own, "inside", False)), 0


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
