"""Files that are written as a whole, and states that are read from them.

A reader of a name sees the old contents or the new ones, never a part; ``src/base/new_file.h`` has
the same rules for what the library itself writes.
"""
import contextlib
import errno
import itertools
import os
import stat

from ..base import MXNetError, _MXOSError, as_mxnet_error, local_path, open_file
from . import kinds

__all__ = ["NewFile", "load_states", "write_file"]

_SERIAL = itertools.count()
_MOST_PARTS = 16


class NewFile:
    """A file that takes its name when it is closed, with the mode and owner of the file that it
    replaces.

    Three kinds of files stay the same file and are written in place: what is not a regular file (a
    pipe, ``/dev/null``), an existing file of no bytes (somebody may hold it open), and a file
    beside which nothing can be made or whose owner could not be kept. A symbolic link stays: the
    file that it leads to is written. Nothing is buffered, so a fork inherits no bytes that it would
    write again.

    Parameters
    ----------
    path : str or os.PathLike
        The name.

    Raises
    ------
    OSError
        if no such file can be written.

    Attributes
    ----------
    given_up : bool
        Nothing was put in place, and nothing will be.
    is_hidden : bool
        Nobody sees what is written until the file is closed.
    """

    def __init__(self, path):
        self._target = os.path.realpath(local_path(path))
        self._temporary = None
        self._was_empty = False
        self.given_up = False
        try:
            self.file = self._open()
        except OSError as error:
            if error.filename:    # that of the file beside it, whose name nobody knows
                error.filename = self._target
            raise as_mxnet_error(error) from None

    def _open(self):
        try:
            old = os.stat(self._target)
        except FileNotFoundError:
            old = None
        regular = old is None or stat.S_ISREG(old.st_mode)
        self._was_empty = old is not None and regular and old.st_size == 0
        if not regular or self._was_empty:
            return open(self._target, "r+b" if regular else "wb", buffering=0)
        if old is not None and not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self._target)
        try:
            return self._open_beside(old)
        except PermissionError:
            return open(self._target, "wb", buffering=0)

    def _open_beside(self, old):
        # not made of the target's name, which may be as long as names can be
        name = f".mxnet-{os.getpid()}-py{next(_SERIAL)}.part"
        path = os.path.join(os.path.dirname(self._target), name)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            if old is not None:
                made = os.fstat(handle)
                if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
                    os.fchown(handle, old.st_uid, old.st_gid)
                os.fchmod(handle, stat.S_IMODE(old.st_mode))
        except BaseException:
            os.close(handle)
            os.unlink(path)
            raise
        self._temporary = path
        return os.fdopen(handle, "wb", buffering=0)

    @property
    def is_hidden(self):
        return self._temporary is not None

    def write(self, data):
        """Append bytes. An error gives the file up: the old one stays."""
        if self.file.closed:
            raise _MXOSError(f"[file] {self._target} was given up after an error, or is closed; accepted: an open file")
        data = memoryview(data).cast("B")
        try:
            while data:
                data = data[self.file.write(data):]
        except BaseException:
            self.discard()
            raise

    def write_parts(self, parts, count):
        """Append `parts`, a list of bytes that are `count` together: a few of them without a
        copy."""
        done = 0
        if len(parts) <= _MOST_PARTS and not self.file.closed:
            try:
                done = os.writev(self.file.fileno(), parts)
            except BaseException:
                self.discard()
                raise
        if done < count:
            self.write(memoryview(b"".join(parts))[done:])

    def close(self):
        """Put the file in its place. Nothing happens the second time, or after :meth:`discard`."""
        if self.file.closed:
            return
        self.file.close()
        temporary, self._temporary = self._temporary, None
        if temporary:
            try:
                os.replace(temporary, self._target)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):      # its folder is gone
                    os.unlink(temporary)
                raise

    def discard(self):
        """Leave an older file of this name as it is."""
        if self.file.closed:
            return
        self.given_up = True
        if self._was_empty:
            self.file.truncate(0)
        self.file.close()
        temporary, self._temporary = self._temporary, None
        if temporary:
            os.unlink(temporary)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.close()
        else:
            self.discard()


def write_file(path, data):
    """Write `data` (bytes, or str as UTF-8) to `path`, all of it or nothing.

    >>> write_file('notes.txt', 'complete')
    """
    with NewFile(path) as out:
        out.write(data.encode() if isinstance(data, str) else data)


def load_states(path, take):
    """Give the bytes of the file of optimizer states `path` to ``take(states)``.

    Raises
    ------
    MXNetError
        that names the file, if `take` finds the bytes damaged or made for other weights.
    OSError
        if there is no such file.
    """
    kinds.refuse_other("optimizer states", path, ("pickle", "empty", "text"), "files of save_states and save_optimizer_states",
                       ValueError)
    with open_file(path, "rb") as states:
        data = states.read()
    try:
        take(data)
    except Exception as error:
        what = str(error) if isinstance(error, MXNetError) else f"{type(error).__name__}: {error}"
        raise MXNetError(f"[optimizer states] {os.fspath(path)}, {len(data)} bytes: {what}; accepted: "
                         "a file that save_states or save_optimizer_states wrote for these weights") from error
