"""Variables that a program puts into ``os.environ`` after the import, when the library has read
them.

Nothing watches ``os.environ``: it is compared with what it was at the import where training or a
compiled graph begins (``gluon.Trainer``, ``hybridize``, executors), after each cell of a notebook,
and at exit.
"""
import ctypes
import linecache
import os
import sys
import warnings

from .._startup.process import AT_START, outside
from ..base import _LIB, c_str, check_call
from ..util import getenv

_OBEYED = {"MXNET_GLUON_REPO", "MXNET_HOME"}    # gluon.utils looks at them itself

_seen = AT_START


def _line_that_names(variable, cell):
    """(file, number) of the first line of the cell, or else of the program, that has the variable's
    name; where there is none, what the interpreter says of itself."""
    if cell is not None:
        return "cell", next((number for number, line in enumerate(cell.splitlines(), 1) if variable in line), 1)
    path = sys.argv[0] if sys.argv else ""        # at exit, __main__ has no __file__ any more
    for number, line in enumerate(linecache.getlines(path) if os.path.isfile(path) else (), 1):
        if f"'{variable}'" in line or f'"{variable}"' in line:
            return path, number
    return "sys", 1


def warn_of_late_changes(cell=None):
    """Warns once of each variable of the library that was set or removed after the import and does
    not have the value in effect; `cell` is the text of a cell that has just run."""
    global _seen
    now = dict(os.environ)
    if now == _seen:
        return
    before, _seen = _seen, now
    for name in sorted(set(before) | set(now)):
        if now.get(name) in (before.get(name), AT_START.get(name)) or name in _OBEYED:
            continue
        try:
            check_call(_LIB.MXGetEnv(c_str(name), ctypes.byref(ctypes.c_char_p())))
        except ValueError:      # none of the library's
            continue
        effective = getenv(name)
        if now.get(name) == effective:
            continue
        what = f"set to {now[name]!r}" if name in now else "removed"
        text = (f"[environment] {name} was {what} in os.environ after mxnet was imported, which has no effect: {effective!r} holds. "
                f"Set it before the import, or call mx.util.set_env({name!r}, ...) if it can be changed later")
        level = 0 if cell is not None else outside()
        if level:
            warnings.warn(text, UserWarning, stacklevel=level)
        else:       # after a cell, and at exit
            warnings.warn_explicit(text, UserWarning, *_line_that_names(name, cell))
