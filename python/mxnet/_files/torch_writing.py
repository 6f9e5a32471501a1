"""Files that ``torch.load(path)`` reads: arrays as tensors, in plain values."""
import os
import struct
import zipfile

import numpy as np

from .. import _dtypes
from .._binding import NDArrayBase
from ..base import MXNetError, error_class
from ..ndarray._native import view_as
from .whole_files import NewFile

__all__ = ["bytes_of", "save_torch"]

# Types of storages, by our dtypes; newer dtypes have none of their own.
_STORAGES = {"float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
             "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
_ALIGNED = 64       # bytes: where PyTorch, and this library, map storages
_PIECE = 64 << 20   # bytes that are written at once


def bytes_of(array):
    """The elements of an array, as NumPy's uint8."""
    if array.dtype == _dtypes.bfloat16:
        array = view_as(array, array.shape, _dtypes.number("uint16"))
    return np.ascontiguousarray(array.asnumpy()).reshape(-1).view(np.uint8)


def _error(what, kind=TypeError):
    return error_class(MXNetError, kind)(f"[contrib.torch.save] {what}")


class _Pickle:
    """A pickle of protocol 2, as torch.save writes it; `storages` are arrays by number."""

    def __init__(self):
        self.storages, self._parts = [], [b"\x80\x02"]
        self._numbers = {}      # of arrays that stand in it more than once

    def whole(self, value):
        try:
            self._put(value, ())
        except RecursionError:
            raise _error("values are nested too deep, or hold themselves", ValueError) from None
        return b"".join(self._parts) + b"."

    def _put(self, value, where):
        put = self._parts.append
        if value is None or isinstance(value, bool):
            put({None: b"N", True: b"\x88", False: b"\x89"}[value])
        elif isinstance(value, NDArrayBase):
            self._array(value, where)
        elif isinstance(value, (int, np.integer)):
            data = int(value).to_bytes(int(value).bit_length() // 8 + 1, "little", signed=True)
            if len(data) > 255:
                raise _error(f"an integer of {len(data)} bytes; accepted: up to 255", ValueError)
            put(b"\x8a" + bytes([len(data)]) + data)
        elif isinstance(value, (float, np.floating)):
            put(b"G" + struct.pack(">d", value))
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogatepass")
            put(b"X" + len(text).to_bytes(4, "little") + text)
        elif isinstance(value, (list, tuple)):
            if isinstance(value, list):
                put(b"]")
            put(b"(")
            for number, item in enumerate(value):
                self._put(item, (*where, number))
            put(b"e" if isinstance(value, list) else b"t")
        elif isinstance(value, dict):
            put(b"ccollections\nOrderedDict\n)R(" if not where else b"}(")
            for key, item in value.items():
                if not isinstance(key, (str, int, float)):
                    raise _error(f"a {type(key).__name__} as a key{_at(where)}; accepted: texts and numbers")
                self._put(key, where)
                self._put(item, (*where, key))
            put(b"u")
        else:
            raise _error(f"a {type(value).__name__}{_at(where)}; accepted: arrays, numbers, texts, and dictionaries, lists and tuples of "
                         "them")

    def _array(self, array, where):
        if array.stype != "default":
            raise _error(f"a {array.stype} array{_at(where)}; accepted: dense arrays, as tostype('default') gives")
        dtype = _dtypes.name(array.dtype)
        storage = _STORAGES.get(dtype)
        number = self._numbers.setdefault(id(array), len(self.storages))
        if number == len(self.storages):
            self.storages.append(array)
        put, v3 = self._parts.append, storage is None
        put(b"ctorch._utils\n_rebuild_tensor_v%d\n((" % (3 if v3 else 2))
        self._put("storage", where)
        put(b"ctorch.storage\nUntypedStorage\n" if v3 else b"ctorch\n%sStorage\n" % storage.encode())
        width = _dtypes.ITEM_BYTES[_dtypes.number(dtype)]
        for value in (str(number), "cpu", array.size * (width if v3 else 1)):
            self._put(value, where)
        put(b"tQ")
        strides, step = [], 1
        for size in reversed(array.shape):
            strides.insert(0, step)
            step *= max(size, 1)
        for value in (0, tuple(array.shape), tuple(strides), False):
            self._put(value, where)
        put(b"ccollections\nOrderedDict\n)R")
        put(b"ctorch\n%s\n" % dtype.encode() if v3 else b"")
        put(b"tR")


def _at(where):
    return " at " + "".join(f"[{key!r:.60}]" for key in where) if where else ""


class _Counted:
    """What zipfile writes to, with a count of bytes and nothing to seek."""

    def __init__(self, put):
        self._put, self.at = put, 0

    def write(self, data):
        self._put(data)
        self.at += len(data)
        return len(data)

    def flush(self):
        pass


def _entry(archive, out, name, pieces, size):
    """Write an entry whose bytes begin at a multiple of `_ALIGNED`."""
    info = zipfile.ZipInfo("archive/" + name)
    large = size >= 1 << 31
    begin = out.at + 30 + len(info.filename) + 4 + (20 if large else 0)
    info.extra = b"FB" + (-begin % _ALIGNED).to_bytes(2, "little") + b"Z" * (-begin % _ALIGNED)
    with archive.open(info, "w", force_zip64=large) as entry:
        for piece in pieces:
            entry.write(piece)


def save_torch(target, values):
    """Write plain values with arrays to a path, or to a file that is open for bytes."""
    if not isinstance(target, (str, bytes, os.PathLike)) and not hasattr(target, "write"):
        raise _error(f"got {type(target).__name__} as the file; accepted: a path or an open file, then the values")
    pickle = _Pickle()
    text = pickle.whole(values)

    def write(put):
        out = _Counted(put)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            _entry(archive, out, "data.pkl", [text], len(text))
            _entry(archive, out, "byteorder", [b"little"], 6)
            for number, array in enumerate(pickle.storages):
                data = bytes_of(array)
                _entry(archive, out, f"data/{number}", (memoryview(data[at:at + _PIECE]) for at in range(0, len(data), _PIECE)), len(data))
            _entry(archive, out, "version", [b"3\n"], 2)
    if hasattr(target, "write"):
        write(target.write)
        return
    with NewFile(target) as file:
        write(file.write)
