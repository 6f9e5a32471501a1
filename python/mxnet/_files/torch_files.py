"""Files of torch.save, read without PyTorch and without running what they hold.

A file since PyTorch 1.6 is a zip archive: ``data.pkl`` has the values, and names a storage for each
tensor, whose bytes are the entry ``data/KEY``. Before, it was one pickle after the other and then
the storages. Neither is trusted: sizes and places are checked against the file before anything is
made.
"""
import math
import warnings
import zipfile
import zlib

import numpy as np

from .. import _dtypes
from .._binding import NDArrayBase
from ..base import MXNetError
from . import kinds
from .mapped import Bytes, array_over, copied_array, is_shared
from .other_dtypes import IN_NUMPY, OtherTensor, is_small_float, item_bytes, small_floats, warn_of_small_floats
from .plain_pickle import Forbidden, PickleReader, Refused, brief
from .shards import is_index, load_shards
from .torch_forms import dequantized, triplets_of
from .torch_names import Rebuilt, Storage, Table, changed, give_attributes, storage_type

__all__ = ["load_torch"]

_ROOM = 64 << 20            # bytes that a small file may unfold to
_SPARSE_DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")
_UNFOLDS = 16               # times a file's size that its values may take when they are copied
_SAVE = "save a state dict instead, where PyTorch runs: torch.save(net.state_dict(), 'weights.pt')"


def load_torch(source, function, numpy, ctx, mapped=True):
    """What a file of torch.save has, or those of an index, with arrays for tensors: those of mx.np
    if `numpy`, on `ctx`. `source` is a path or an open file, `function` names the reader in
    errors."""
    if is_index(source):
        return load_shards(source, function, lambda path: load_torch(path, function, numpy, ctx, mapped))
    if isinstance(source, (str, bytes)) or hasattr(source, "__fspath__"):
        kinds.refuse_other(function, source, ("torch", "torch_legacy", "zip"), "files that torch.save wrote")
    content = Bytes(source, function, mapped)
    kind = kinds.kind_of(content.data[:kinds.HEAD].tobytes())
    reader = _Reader(content, numpy, ctx)
    if content.data[:2].tobytes() == b"PK":     # a zip archive, of whatever kind
        return reader.read_zip()
    if kind == "torch_legacy":
        return reader.read_legacy()
    what = kinds.words(kind)[0] if kind else "no file of torch.save"
    raise content.error(f"it is {what}; accepted: files that torch.save wrote")


class _Reader:
    """One file that is being read."""

    def __init__(self, content, numpy, ctx):
        self._content, self._numpy, self._ctx = content, numpy, ctx
        self._room = _ROOM + _UNFOLDS * len(content.data)
        self._storages, self._copies = {}, {}
        self._small = {}        # dtype of 8 bits: tensors that have become float32
        self._changed = {}      # the same of quantized tensors, and of sparse ones that are dense now

    # ---- values ----

    def _use(self, count):
        self._room -= count
        if self._room < 0:
            raise ValueError(f"its values unfold to more than {_UNFOLDS} times the file; accepted: tensors that are saved as they are "
                             "(clone() of views)")

    def _array(self, tensor):
        count = tensor.check()
        storage, width = tensor.storage, item_bytes(tensor.dtype)
        values = storage.values[tensor.offset * width:]
        if tensor.changes and tensor.dtype in _dtypes.NAMES:
            return self._changed_array(tensor)
        if tensor.dtype not in _dtypes.NAMES:
            return self._other(tensor, values, count)
        if tensor.is_contiguous():
            values = values[:count * width]
            if not is_shared(values, tensor.dtype, self._ctx):
                self._use(count * width)
            return array_over(values, tensor.shape, tensor.dtype, self._numpy, self._ctx)
        key = storage.key, tensor.offset, tensor.shape, tensor.strides, tensor.dtype
        if key not in self._copies:
            self._use(count * width)
            last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides)) + 1
            self._copies[key] = copied_array(values[:last * width], tensor.strides, tensor.shape, tensor.dtype, self._numpy, self._ctx)
        return self._copies[key]

    def _changed_array(self, tensor):
        """The array of a view whose numbers PyTorch changes when it reads them."""
        plain = self._array(Rebuilt(tensor.storage, tensor.offset, tensor.shape, tensor.strides, tensor.dtype))
        found = changed(plain.astype("float32").asnumpy() if tensor.dtype == "bfloat16" else plain.asnumpy(), tensor.changes)
        return self._made(found).astype(tensor.dtype) if tensor.dtype == "bfloat16" else self._made(found)

    def _other(self, tensor, values, count):
        """What a tensor becomes whose dtype no array has."""
        def read():
            width = item_bytes(tensor.dtype)
            elements = values[:len(values) // width * width].view(f"V{width}")
            strides = [stride * width for stride in tensor.strides]
            found = np.array(np.lib.stride_tricks.as_strided(elements, tensor.shape, strides, writeable=False), order="C")
            return changed(found.view(tensor.dtype), tensor.changes) if tensor.changes else found
        if tensor.changes and tensor.dtype not in IN_NUMPY:
            raise ValueError(f"a tensor of dtype {tensor.dtype} whose values are to be changed; save a clone() of it")
        if not is_small_float(tensor.dtype):
            return OtherTensor(self._content.function, tensor.shape, tensor.dtype, read)
        self._use(4 * count)
        self._small[tensor.dtype] = self._small.get(tensor.dtype, 0) + 1
        found = small_floats(read().view(np.uint8), tensor.dtype) if count else np.zeros(0, np.float32)
        return array_over(found.reshape(-1).view(np.uint8), tensor.shape, "float32", self._numpy, self._ctx)

    def _warn(self):
        warn_of_small_floats(self._content.function, self._content.name, self._small)
        for what, count in self._changed.items():
            warnings.warn(f"[{self._content.function}] {self._content.name}: {count} {what}", stacklevel=4)

    def _note(self, what):
        self._changed[what] = self._changed.get(what, 0) + 1

    def _made(self, values):
        """An array of what was computed of the file."""
        self._use(values.nbytes)
        return array_over(np.ascontiguousarray(values).reshape(-1).view(np.uint8), values.shape, values.dtype.name, self._numpy, self._ctx)

    def dequantized(self, values, how, dtype):
        """The array of a quantized tensor, whose integers are `values`."""
        how = tuple(part.asnumpy() if isinstance(part, NDArrayBase) else part for part in how)
        self._note(f"quantized tensors ({dtype}) are given as the float32 numbers that they stand for, scale * (integer - zero point)")
        return self._made(dequantized(values.asnumpy(), how))

    def sparse(self, layout, parts, shape):
        """The array of a sparse tensor: csr of a matrix, row_sparse where the first dimension alone
        is sparse, else a dense one."""
        if not all(isinstance(part, NDArrayBase) for part in parts):
            raise ValueError("a sparse tensor without arrays")
        shape = tuple(shape) if isinstance(shape, list) else shape
        self._use(sum(16 * part.size for part in parts))
        found = triplets_of(layout, [part.asnumpy() for part in parts], shape)
        from ..ndarray import sparse        # which needs this package
        dtype = found.values.dtype.name
        if dtype in _SPARSE_DTYPES and len(shape) > 1 and len(found.sparse) == 1:
            return sparse.row_sparse_array((found.values, found.indices[0]), shape=shape, ctx=self._ctx, dtype=dtype)
        if dtype in _SPARSE_DTYPES and len(shape) == len(found.sparse) == 2:
            self._use(8 * shape[0])
            return sparse.csr_matrix(found.csr(), shape=shape, ctx=self._ctx, dtype=dtype)
        self._use(math.prod(shape) * found.values.itemsize)
        self._note("sparse tensors are given as dense arrays; csr has matrices, and row_sparse what is sparse in the first dimension")
        return self._made(found.dense())

    def _run(self, data, at, make, persistent):
        """(value, end) of the pickle at a byte of `data`."""
        table = Table(make, len(data) + 1000, self if make == self._array else None)
        reader = PickleReader(data, table.find, persistent, at, build=give_attributes)
        try:
            return reader.read(), reader.at
        except Forbidden as error:
            raise self._content.error(f"{error}, which is no part of a state dict. No code was run. It holds {_whole(error.name)}; "
                                      f"{_SAVE}, then mx.contrib.torch.load('weights.pt')") from None
        except Refused as error:
            raise self._content.error(f"{error}{reader.where()}. No code was run") from error

    @staticmethod
    def _storage_of(identity, lengths):
        """(dtype, bytes of an element, key, number of elements, rest) of a persistent id.
        ValueError for anything else."""
        if not isinstance(identity, tuple) or len(identity) not in lengths or identity[0] != "storage":
            raise ValueError("something outside of the pickle that is no storage")
        _, kind, key, _, count, *rest = identity
        dtype, width = storage_type(kind)
        if not isinstance(key, str) or len(key) > 4096:
            raise ValueError("a storage without key")
        if type(count) is not int or not 0 <= count < 2 ** 60:      # pylint: disable=unidiomatic-typecheck
            raise ValueError(f"storage {key!r} of {brief(count)} elements")
        return dtype, width, key, count, rest

    # ---- zip archives ----

    def read_zip(self):
        with _Archive(self._content, self._use) as archive:
            order = archive.entry("byteorder")
            if order is not None and order[:16].tobytes().strip() not in (b"little", b""):
                raise self._content.error("it was written on a big-endian machine; accepted: little-endian values. Save it again on one")

            def persistent(identity):
                dtype, width, key, count, _ = self._storage_of(identity, (5,))
                if key in self._storages and self._storages[key].dtype == dtype:
                    return self._storages[key]
                values = archive.entry("data/" + key)
                if values is None:
                    raise ValueError(f"storage {key!r} is not in the archive")
                if len(values) < count * width:
                    raise ValueError(f"storage {key!r} is to hold {count} elements of {width} bytes, {len(values)} bytes are there")
                self._storages[key] = Storage(key, dtype, values[:count * width])
                return self._storages[key]
            found = self._run(memoryview(archive.entry("data.pkl")), 0, self._array, persistent)[0]
        self._warn()
        return found

    # ---- the form before 1.6 ----

    def read_legacy(self):
        data, at, found = memoryview(self._content.data), 0, []

        def no_storage(_):
            raise ValueError("a storage before the values")
        for _ in range(3):
            value, at = self._run(data, at, lambda tensor: None, no_storage)
            found.append(value)
        if found[1] != 1001 or not isinstance(found[2], dict):
            raise self._content.error("it has another head than files of torch.save")
        if not found[2].get("little_endian", True):
            raise self._content.error("it was written on a big-endian machine; accepted: little-endian values. Save it again on one")
        begin, kinds_of = at, {}

        def note(identity):     # the storages stand behind the values, so these are read twice
            dtype, width, key, count, _ = self._storage_of(identity, (5, 6))
            if kinds_of.setdefault(key, (dtype, width, count)) != (dtype, width, count):
                raise ValueError(f"storage {key!r} has two sizes or types")
            return Storage(key, dtype, np.zeros(0, np.uint8))
        _, at = self._run(data, begin, lambda tensor: None, note)
        keys, at = self._run(data, at, lambda tensor: None, no_storage)
        self._legacy_storages(keys, at, kinds_of)

        def persistent(identity):
            _, width, key, _, rest = self._storage_of(identity, (5, 6))
            if key not in self._storages:
                raise ValueError(f"storage {key!r} is not in the file")
            return self._part(self._storages[key], width, rest[0] if rest else None)
        found = self._run(data, begin, self._array, persistent)[0]
        self._warn()
        return found

    @staticmethod
    def _part(storage, width, view):
        """A storage that was part of another one: (key, offset, size)."""
        if view is None:
            return storage
        if not isinstance(view, tuple) or len(view) != 3 or not all(type(n) is int and n >= 0 for n in view[1:]):     # pylint: disable=unidiomatic-typecheck
            raise ValueError("a part of a storage without offset and size")
        if (view[1] + view[2]) * width > len(storage.values):
            raise ValueError(f"a part of storage {storage.key!r} that is not inside of it")
        return Storage(f"{storage.key}/{view[1]}", storage.dtype, storage.values[view[1] * width:(view[1] + view[2]) * width])

    def _legacy_storages(self, keys, at, kinds_of):
        values = self._content.data
        if not isinstance(keys, list):
            raise self._content.error("it has no list of storages")
        for key in keys:
            if not isinstance(key, str) or key not in kinds_of:
                raise self._content.error(f"it has storage {brief(key)}, which no tensor uses")
            dtype, width, count = kinds_of[key]
            size = count * width
            there = int.from_bytes(values[at:at + 8].tobytes(), "little") if at + 8 <= len(values) else None
            if there != count or size > len(values) - at - 8:
                raise self._content.error(f"storage {key!r} at byte {at} is to hold {count} elements, {size} bytes; the file ends or says "
                                          f"{there}")
            self._storages[key] = Storage(key, dtype, values[at + 8:at + 8 + size])
            at += 8 + size


def _whole(name):
    if name.startswith("__torch__"):
        return "a TorchScript program"
    if name.startswith(("torch.nn.modules", "torchvision.", "__main__.", "timm.", "models.", "transformers.")):
        return "a whole module, which is code and not only weights"
    if name.startswith("torch._"):
        return "tensors of a kind that there are no arrays for"
    return "more than weights"


class _Archive:
    """The entries of a zip archive, as views of its bytes where they are stored as they are."""

    def __init__(self, content, use):
        self._content, self._use = content, use
        self._entries, self._prefix = {}, ""

    def __enter__(self):
        try:
            self._read()
        except (MXNetError, MemoryError):
            raise
        except Exception as error:      # what zipfile raises has no common class
            raise self._content.error(f"it is no whole zip archive: {type(error).__name__}: {error}; it is damaged, or its copy or "
                                      "download was interrupted") from error
        return self

    def __exit__(self, *_):
        pass

    def _read(self):
        with zipfile.ZipFile(_Window(self._content.data)) as archive:
            infos = archive.infolist()
        pickles = [info.filename for info in infos if info.filename.rpartition("/")[2] == "data.pkl"]
        kind = kinds.kind_of(self._content.data)
        if kind != "torch":
            what, instead = kinds.words(kind)
            raise self._content.error(f"it is {what}: {instead}; accepted here: files that torch.save wrote")
        if len(pickles) != 1:
            raise self._content.error(f"it has {len(pickles)} entries data.pkl; accepted: one")
        self._prefix = pickles[0][:-len("data.pkl")]
        spans = []
        for info in infos:
            if info.filename in self._entries:
                raise self._content.error(f"it has two entries {info.filename!r}")
            begin = self._begin(info)
            spans.append((info.header_offset, begin + info.compress_size, info.filename))
            self._entries[info.filename] = info, begin
        spans.sort()
        for (_, end, name), (begin, _, after) in zip(spans, spans[1:]):
            if end > begin:
                raise self._content.error(f"entries {name!r} and {after!r} overlap")

    def _begin(self, info):
        """Where the bytes of an entry begin, all of which are inside."""
        values, at = self._content.data, info.header_offset
        head = values[at:at + 30].tobytes() if 0 <= at <= len(values) else b""
        if len(head) < 30 or head[:4] != b"PK\x03\x04":
            raise self._content.error(f"entry {info.filename!r} is not at byte {at}, where the archive's list has it")
        begin = at + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        if begin + info.compress_size > len(values):
            raise self._content.error(f"entry {info.filename!r} of {info.compress_size} bytes at byte {begin} is not inside of the file")
        return begin

    def entry(self, name):
        """The bytes of an entry, a flat array of uint8, or None."""
        found = self._entries.get(self._prefix + name)
        if found is None:
            return None
        info, begin = found
        values = self._content.data[begin:begin + info.compress_size]
        if info.flag_bits & 1:
            raise self._content.error(f"entry {info.filename!r} is encrypted")
        if info.compress_type == zipfile.ZIP_STORED:
            if info.file_size != info.compress_size:
                raise self._content.error(f"entry {info.filename!r} has {info.compress_size} bytes, and is to have {info.file_size}")
            return values
        if info.compress_type != zipfile.ZIP_DEFLATED:
            raise self._content.error(f"entry {info.filename!r} is compressed by method {info.compress_type}; accepted: stored, deflated")
        try:
            self._use(info.file_size)
            inflated = zlib.decompressobj(-15).decompress(values, info.file_size + 1)
        except (ValueError, zlib.error) as error:
            raise self._content.error(f"entry {info.filename!r}: {error}") from None
        if len(inflated) != info.file_size:
            raise self._content.error(f"entry {info.filename!r} unfolds to other than its {info.file_size} bytes")
        return np.frombuffer(bytearray(inflated), np.uint8)


class _Window:
    """An open file over bytes, for zipfile, that copies only what is read."""

    def __init__(self, values):
        self._values, self._at = values, 0

    def read(self, count=-1):
        end = len(self._values) if count is None or count < 0 else self._at + count
        part = self._values[self._at:end].tobytes()
        self._at += len(part)
        return part

    def seek(self, offset, whence=0):
        self._at = max(0, offset + (0, self._at, len(self._values))[whence])
        return self._at

    def tell(self):
        return self._at

    def seekable(self):
        return True
