"""What Python prints of an error that ends the program, or a cell of a notebook: the user's lines,
without this package's.

An error that says what was wrong with a call (see `_is_told`) has its cause in the user's line.
Frames of the package below and between the user's are left out of what is printed, also in the
errors that led to it. The error itself keeps all its frames, for debuggers. Other errors, which may
be ours, are printed whole; so is everything while DMLC_LOG_STACK_TRACE_DEPTH is above 0.

Nothing is done before an error ends the program: a call that succeeds, or whose error is caught,
costs nothing.
"""
import contextlib
import functools
import sys
import traceback
import types

from . import process as _process
from .names import nearest
from ..base import MXNetError, _is_own

_HINT = "(left out: %d frames of mxnet; DMLC_LOG_STACK_TRACE_DEPTH=1 shows them)"


def _is_ours(entry):
    return _is_own(entry.tb_frame.f_code.co_filename)


def _entries(trace):
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _is_told(error):
    """Whether the text says what was given and what is accepted: an MXNetError, or one of Python's
    classes with the text "[name] ..." that the package raised."""
    if isinstance(error, MXNetError):
        return True
    entries = _entries(error.__traceback__)
    return bool(entries) and _is_ours(entries[-1]) and str(error).startswith("[")


def _users(trace):
    """The traceback without the package's frames: new objects, None where nothing is left."""
    kept = None
    for entry in reversed(_entries(trace)):
        if not _is_ours(entry):
            kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def _chain(error):
    """The error and those that led to it, each once."""
    found, waiting = [], [error]
    while waiting:
        error = waiting.pop()
        if error is not None and all(error is not other for other in found):
            found.append(error)
            waiting += [error.__cause__, error.__context__]
    return found


def _shows_all():
    from .. import env
    return env.value("DMLC_LOG_STACK_TRACE_DEPTH") > 0


@contextlib.contextmanager
def _shortened(error):
    """Within it, the error and those that led to it have the user's frames alone, if they tell
    what was wrong. Gives the number of frames that are missing."""
    chain = _chain(error) if _is_told(error) and not _shows_all() else []
    whole = [(e, e.__traceback__) for e in chain if e.__traceback__ is not None]
    for e, trace in whole:
        e.__traceback__ = _users(trace)
    try:
        yield sum(_is_ours(entry) for _, trace in whole for entry in _entries(trace))
    finally:
        for e, trace in whole:
            e.__traceback__ = trace


def text(error):
    """What Python would print of an error of a user's function that this package called, without
    what called the function."""
    outer = error.__traceback__
    inner = next((entry for entry in _entries(outer) if not _is_ours(entry)), outer)
    try:
        error.__traceback__ = outer if _shows_all() else inner
        with _shortened(error):
            return "".join(traceback.format_exception(error))
    finally:
        error.__traceback__ = outer


def _meant(error):
    """The attribute of an object of this package that is nearest to one that it has not; None
    without any."""
    if type(error) is not AttributeError or not error.name or not type(error.obj).__module__.startswith("mxnet"):
        return None
    return nearest(error.name, {name for name in dir(error.obj) if not name.startswith("_")})


def _print(kind, error, trace):
    """The hook for errors that nobody caught."""
    with contextlib.ExitStack() as stack:
        hidden = 0
        try:
            hidden = stack.enter_context(_shortened(error))
        except Exception:       # while the interpreter ends; the error is what matters
            pass
        if hidden:
            error.add_note(_HINT % hidden)
            stack.callback(error.__notes__.pop)
        _before(kind, error, error.__traceback__ if hidden else trace)


def _in_cells(shell):
    """Has IPython's `shell`, which notebooks have too, print errors of cells the same way."""
    before = shell.showtraceback

    @functools.wraps(before)
    def show(exc_tuple=None, *args, **kwargs):
        error = (exc_tuple or sys.exc_info())[1]
        if not isinstance(error, BaseException):
            return before(exc_tuple, *args, **kwargs)
        with _shortened(error) as hidden:
            before((type(error), error, error.__traceback__) if hidden else exc_tuple, *args, **kwargs)
        near = _meant(error)
        if near:                # nor Python's "Did you mean"
            print(f"(the nearest name is {near!r})", file=sys.stderr)
        if hidden:              # IPython prints no notes
            print(_HINT % hidden, file=sys.stderr)

    shell.showtraceback = show


_before = sys.excepthook
sys.excepthook = _print
_shell = _process.shell()
if _shell is not None:
    _in_cells(_shell)
