"""The files of MNIST, which are distributed compressed."""
import contextlib
import math
import os
import struct

import numpy as np

from ..base import _MXOSError, _MXValueError, open_file

__all__ = []

_IMAGES, _LABELS = 0x803, 0x801         # unsigned bytes in three dimensions, and in one
_DEFAULTS = {"image": "./train-images-idx3-ubyte", "label": "./train-labels-idx1-ubyte"}


def _is_compressed(path):
    with open_file(path, "rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _read_idx(path, magic, dimensions):
    """The array in an IDX file, which may be compressed with gzip."""
    import gzip
    with (gzip.open if _is_compressed(path) else open)(path, "rb") as stream:
        header = stream.read(4 + 4 * dimensions)
        if len(header) < 4 + 4 * dimensions:
            raise ValueError(f"[MNIST] {path}: {len(header)} bytes; the header alone has {4 + 4 * dimensions}")
        found, *shape = struct.unpack(f">{1 + dimensions}I", header)
        if found != magic:
            raise _MXValueError(f"[MNIST] {path} begins with {found:#x}; {magic:#x} is expected")
        size = math.prod(shape)
        data = bytearray()
        # in pieces: a wrong header must not allocate what the file does not have
        while len(data) < size:
            piece = stream.read(min(size - len(data), 1 << 24))
            if not piece:
                raise ValueError(f"[MNIST] {path} has {len(data)} bytes of data; shape {tuple(shape)} needs {size}")
            data += piece
    return np.frombuffer(data, np.uint8).reshape(shape)


def _uncompressed(path, stack):
    """Name of a copy that is there as long as `stack` is open."""
    import gzip
    import shutil
    import tempfile
    import zlib

    name = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), os.path.basename(path))
    try:
        with gzip.open(path) as packed, open(name, "wb") as out:
            shutil.copyfileobj(packed, out)
    except (EOFError, OSError, zlib.error) as error:
        raise _MXOSError(f"[MNISTIter] {path} can't be uncompressed: {error}") from None
    return name


@contextlib.contextmanager
def unpacked(arguments):
    """The arguments of MNISTIter with the names of uncompressed files, which are there within this
    context."""
    files = {name: os.fspath(arguments.get(name, default)) for name, default in _DEFAULTS.items()}
    with contextlib.ExitStack() as stack:
        for name, path in files.items():
            if _is_compressed(path):
                files[name] = _uncompressed(path, stack)
        yield {**arguments, **files}
