"""What a file is, told by its first bytes, and which function reads it.

Readers ask here when a file is not theirs, so that a `.pt` given to ``mx.nd.load`` is an error that
names both and not a guess about damage.
"""
import ctypes
import functools
import os

from ..base import _LIB, MXNetError, c_str, check_call, error_class, local_path, open_file

__all__ = ["HEAD", "TORCH_MAGIC", "kind_of", "kind_of_file", "refuse", "refuse_other", "refuse_prefix", "words"]

HEAD = 512      # bytes that `kind_of` wants to see

# The number with which a file of torch.save before 1.6 begins, as a pickle of any protocol has it.
TORCH_MAGIC = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."

@functools.lru_cache(None)
def words(kind):
    """(what a file of this kind is in words, what to do with it). The library has the words, for
    programs in C++ too: ``src/base/file_kinds.cc``."""
    what, instead, in_c = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p()
    check_call(_LIB.MXFileKindWords(c_str(kind), ctypes.byref(what), ctypes.byref(instead), ctypes.byref(in_c)))
    return what.value.decode(), instead.value.decode()


def kind_of(head):
    """The kind of a file, a name that `words` takes, from its contents or its first `HEAD` bytes;
    None for what has no sign. A zip archive of which the end is not given is ``"zip"``."""
    found = ctypes.c_char_p()
    data = (ctypes.c_char * len(head)).from_buffer_copy(head) if isinstance(head, bytes) else ctypes.c_void_p(head.ctypes.data)
    check_call(_LIB.MXFileKindOfBytes(data, ctypes.c_size_t(len(head)), ctypes.byref(found)))
    return found.value.decode() or None


def kind_of_file(path):
    """The kind of the file or folder `path`, a name that `words` takes, or None. A zip archive that
    is damaged is what its name says, ``"npz"`` if that says nothing.

    Raises
    ------
    OSError
        if there is no such file, or it cannot be read.
    """
    local = local_path(path)
    if not os.path.exists(local) or os.path.isfile(local):
        open_file(path, "rb").close()   # raises what says why it cannot be read
    found = ctypes.c_char_p()
    check_call(_LIB.MXFileKind(ctypes.c_char_p(os.fsencode(local)), ctypes.byref(found)))
    return found.value.decode() or None


def refuse(function, path, kind, accepted, error=OSError):
    """An error to raise: `path` is of `kind`, and `function` takes what `accepted` says."""
    what, instead = words(kind)
    if kind in ("folder", "saved_model") and error is OSError:
        error = IsADirectoryError
    return error_class(MXNetError, error)(f"[{function}] {os.fspath(path)!r} is {what}: {instead}; accepted here: {accepted}")


def refuse_other(function, path, own, accepted, error=OSError):
    """The kind of the file `path` if it is in `own`, or None for one without a sign; an error is
    raised for other kinds."""
    kind = kind_of_file(path)
    if kind is not None and kind not in own:
        raise refuse(function, path, kind, accepted, error)
    return kind


def refuse_prefix(function, prefix, accepted):
    """Raises if `prefix`, with which the names of several files are to begin, is a file itself."""
    if os.path.isfile(prefix):
        kind = kind_of_file(prefix)
        what, instead = words(kind) if kind else ("a file", "leave out what follows the prefix in its name")
        raise error_class(MXNetError, FileNotFoundError)(
            f"[{function}] {os.fspath(prefix)!r} is {what}: {instead}; accepted here: {accepted}")
