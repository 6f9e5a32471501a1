"""Imports at first use, by several threads, and forks.

One thread at a time imports modules of the package that are asked for by attribute. Python lets two
threads whose imports wait for each other go on, and one of them would see half of a module.

A child that is forked while another thread imports a module waits for that thread, which it does
not have, as soon as it needs the module too. So a fork waits until the imports of other threads
have ended, and those at first use wait until it is made.
"""
import contextlib
import importlib
import os
import sys
import threading
import time

from .interrupt import HeldInterrupt

__all__ = ["importing", "complete_standard_packages"]

_LONGEST = 10.0    # seconds; whoever waits may hold what the other one needs

_changed = threading.Condition()
_running = 0       # threads in `importing`
_forks = 0         # being made
_turn = threading.Lock()       # of those threads
_own = threading.local()


@contextlib.contextmanager
def importing():
    """Within it a module may be imported, and Ctrl-C waits. A thread may enter it again."""
    global _running
    if getattr(_own, "inside", False):
        yield
        return
    with HeldInterrupt():
        # A thread that imports already, by a statement, may have what the one whose turn it is
        # waits for.
        turn = not _owns_import() and _turn.acquire(timeout=_LONGEST)
        try:
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
        finally:
            if turn:
                _turn.release()


class _Completing:
    """Finds packages of `parts`, once each, and imports the part with the package."""

    def __init__(self, parts):
        self._parts = parts

    def find_spec(self, name, path=None, target=None):
        part = self._parts.pop(name, None)
        if part is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, part)
        return spec


class _Loader:
    """Loads one package as its own loader does, which it has from then on, and then `part`."""

    def __init__(self, own, part):
        self._own, self._part = own, part

    def create_module(self, spec):
        return self._own.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._own
        self._own.exec_module(module)
        importlib.import_module(self._part)


def complete_standard_packages():
    """Programs of 1.x imported these packages alone, and used the parts that mxnet had loaded:
    ``import multiprocessing`` and then ``multiprocessing.pool.Pool`` in an annotation. So the parts
    are loaded where the program loads the package, before or later; `importlib` always is."""
    importlib.import_module("importlib.util")
    later = {}
    for package, part in (("multiprocessing", "multiprocessing.pool"), ("concurrent", "concurrent.futures")):
        if package in sys.modules:
            importlib.import_module(part)
        else:
            later[package] = part
    sys.meta_path.insert(0, _Completing(later))


def _importers():
    """Threads that hold locks of modules, as Python's imports do from the search to the end of the
    module."""
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    return {getattr(reference(), "owner", None) for reference in list(locks.values())} - {None}


def _owns_import():
    return threading.get_ident() in _importers()


def _before_fork():
    global _forks
    logs, deadline = "logging" in sys.modules, time.monotonic() + _LONGEST
    with _changed:
        _forks += 1
        _changed.wait_for(lambda: _running <= getattr(_own, "inside", False), _LONGEST)
    while _importers() - {threading.get_ident()} and time.monotonic() < deadline:
        time.sleep(0.001)
    # It releases its lock after this fork, before which it didn't take it.
    if not logs and "logging" in sys.modules:
        sys.modules["logging"]._lock.acquire()


def _after_fork():
    global _forks
    with _changed:
        _forks -= 1
        _changed.notify_all()


def _after_fork_in_child():
    global _changed, _running, _forks, _turn
    inside = getattr(_own, "inside", False)
    _changed, _running, _forks, _turn = threading.Condition(), int(inside), 0, threading.Lock()
    if inside:
        _turn.acquire()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
