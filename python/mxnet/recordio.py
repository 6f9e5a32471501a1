"""Files of records: RecordIO, with or without an index, and packed images.

A record is a magic word, a word of 3 bits continuation flag and 29 bits length, the payload, and
zeros up to a multiple of four bytes. A payload that contains the magic at a multiple of four is
split there.
"""
import contextlib
import numbers
import os
import re
import struct
import threading
from collections import namedtuple

import numpy as np

from ._files import record_images as _record_images
from ._files.record_parts import BEGIN as _BEGIN, END as _END, MAGIC as _MAGIC, MAX_LENGTH as _MAX_LENGTH
from ._files.record_parts import MIDDLE as _MIDDLE, WHOLE as _WHOLE, encode as _encode
from ._files.whole_files import NewFile
from .base import MXNetError, local_path, open_file, StateError

__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]

_MOST_COLLECTED = 1 << 16   # bytes of records that are written at once

_reopening = threading.Lock()    # of files that a fork goes on with


def _after_fork():
    global _reopening
    _reopening = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class MXRecordIO:
    """Reads or writes records one after the other. Several threads may use an object: each record
    is read by one of them, or written whole.

    An object that is open for reading goes on in a forked or unpickled copy, from the same place; a
    writer belongs to the process that opened it. A written file is there under its name once it is
    closed.

    Parameters
    ----------
    uri : str
        Path of the file.
    flag : {'r', 'w'}
        Read or write.
    skip_malformed : bool, default False
        Whether :meth:`read` goes on behind what is malformed, at the next place that may be the
        beginning of a record, instead of raising an error. `num_skipped` counts such places, and
        a warning names each.

    Raises
    ------
    ValueError
        for another flag.
    OSError
        if the file can't be opened.

    >>> record = mx.recordio.MXRecordIO('a.rec', 'w')
    >>> record.write(b'first'); record.close()
    >>> mx.recordio.MXRecordIO('a.rec', 'r').read()
    b'first'
    """

    skip_malformed = False      # of objects that an older version pickled
    num_skipped = 0

    def __init__(self, uri, flag, *, skip_malformed=False):
        self.uri = os.fspath(uri)
        self.flag = flag
        self.skip_malformed = bool(skip_malformed)
        self.is_open = False
        self._lock = threading.RLock()      # held while the file and its position are used
        self.open()

    def open(self):
        """Open the file again: for reading at its beginning, for writing as a new one.

        >>> reader = mx.recordio.MXRecordIO('a.rec', 'w')
        >>> reader.close()
        >>> reader.flag = 'r'
        >>> reader.open()
        >>> print(reader.read())
        None
        """
        if self.flag not in ("r", "w"):
            raise ValueError(f"[recordio] Invalid flag {self.flag!r}; 'r' and 'w' are accepted")
        if self.is_open:
            self.close()
        self.writable = self.flag == "w"
        self._target = NewFile(self.uri) if self.writable else None
        self._is_seen = self.writable and not self._target.is_hidden
        self._collected, self._num_collected = [], 0    # what is not in the file yet, and its bytes
        self._file = None if self.writable else open_file(self.uri, "rb")
        self._size = None if self.writable else self._regular_size()
        self._position = 0
        self.pid = os.getpid()
        self.is_open = True

    def _regular_size(self):
        status = os.fstat(self._file.fileno())
        return status.st_size if os.path.isfile(local_path(self.uri)) else None

    def close(self):
        """Close the file; a written one gets its name. Nothing happens if it is closed."""
        if not self.is_open:
            return
        self.is_open = False
        if self.pid != os.getpid():
            self._forsake()
        elif self.writable:
            with self._lock:
                self._write_collected()
            self._target.close()
        else:
            self._file.close()

    def _forsake(self):
        """Close a file of the process that forked: it is the parent's to finish. A thread that is
        not here may have held the lock of its buffer, which a file without buffer doesn't have."""
        (self._target.file if self.writable else self._file.raw).close()

    def __del__(self):
        if getattr(self, "is_open", False):
            with contextlib.suppress(FileNotFoundError):    # a folder that is gone, as after another error, wants no file
                self.close()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if exc_type is not None and self.is_open and self.writable and self.pid == os.getpid():
            self.is_open = False
            self._target.discard()
        else:
            self.close()

    def __getstate__(self):
        if self.is_open and self.writable:
            raise RuntimeError(f"[recordio] {self.uri} is open for writing, and a writer can't be copied")
        state = {k: v for k, v in self.__dict__.items() if k not in ("_file", "_target", "_lock", "_collected", "_num_collected")}
        state["_position"] = self.tell() if self.is_open else 0
        return state

    def __setstate__(self, state):
        is_open, position = state["is_open"], state["_position"]
        self.__dict__.update(state)
        self._lock = threading.RLock()
        self.is_open = False
        if is_open:
            MXRecordIO.open(self)
            self._seek(position)

    def _check(self, writing):
        if not self.is_open:
            raise RuntimeError(f"[recordio] {self.uri} is closed")
        if self.writable != writing:
            raise StateError(f"[recordio] {self.uri} is open for {'writing' if self.writable else 'reading'} only")
        if self.pid != os.getpid():
            if writing:
                raise RuntimeError(f"[recordio] {self.uri} was opened for writing by process {self.pid}: "
                                   "another one can't write to it")
            with _reopening:
                self._reopen()

    def _reopen(self):
        """In a fork: the position of a shared descriptor moves with every process that reads, so we
        get one of our own."""
        if self.pid == os.getpid():
            return      # another thread was faster
        reopened = open_file(self.uri, "rb")
        self._forsake()
        position, self._file = self._position, reopened
        self._lock = threading.RLock()
        self._seek(position)
        self.pid = os.getpid()

    def _seek(self, offset):
        self._file.seek(offset)
        self._position = offset

    def reset(self):
        """Begin again: a reader at its first record, a writer with a new file.

        >>> records = mx.recordio.MXRecordIO('a.rec', 'w')
        >>> records.write(b'one')
        >>> records.tell() % 4
        0
        >>> records.close()
        >>> records = mx.recordio.MXRecordIO('a.rec', 'r')
        >>> records.read(), records.read()
        (b'one', None)
        >>> records.reset()
        >>> records.read()
        b'one'
        """
        self.close()
        self.open()

    def tell(self):
        """Byte offset of the next record."""
        return self._position

    def write(self, buf):
        """Append a record.

        Parameters
        ----------
        buf : bytes-like
            Less than 512 MiB.
        """
        if not (self.is_open and self.writable and self.pid == os.getpid()):
            self._check(True)
        if type(buf) is not bytes:
            buf = bytes(buf)
        if len(buf) > _MAX_LENGTH:
            raise ValueError(f"[recordio] a record of {len(buf)} bytes; {_MAX_LENGTH} is the maximum")
        parts, length = _encode(buf)
        with self._lock:
            self._position += length
            self._collected += parts
            self._num_collected += length
            # What others see already, they see record by record.
            if self._num_collected >= _MOST_COLLECTED or self._is_seen:
                self._write_collected()

    def _write_collected(self):
        collected, self._collected = self._collected, []
        count, self._num_collected = self._num_collected, 0
        if not collected:
            return
        try:
            self._target.write_parts(collected, count)
        except BaseException:
            self._is_seen = True    # the file is given up, which the next record is to be told
            raise

    def _malformed(self, offset, what):
        return MXNetError(f"[recordio] {self.uri}, byte {offset}: {what}")

    def _read_part(self):
        """Flag and payload of the next part; None at the end of the file."""
        offset = self._position
        header = self._file.read(8)
        if not header:
            return None
        if header[:4] != _MAGIC[:len(header)]:
            raise self._malformed(offset, f"{header[:4].hex(' ')} where the magic {_MAGIC.hex(' ')} is expected")
        if len(header) < 8:
            raise self._malformed(offset, f"the file ends after {len(header)} of 8 bytes of a header")
        word, = struct.unpack("<I", header[4:])
        flag, length = word >> 29, word & _MAX_LENGTH
        if flag > _END:
            raise self._malformed(offset + 4, f"continuation flag {flag}; 0 to 3 are accepted")
        padded = length + -length % 4
        # before reading: a wrong length must not allocate what the file does not have
        if self._size is not None and padded > self._size - offset - 8:
            raise self._malformed(offset, f"a payload of {length} bytes where {self._size - offset - 8} are left")
        payload = self._file.read(padded)
        if len(payload) < padded:
            raise self._malformed(offset, f"a payload of {length} bytes where {len(payload)} are left")
        self._position = offset + 8 + padded
        return flag, payload[:length]

    def read(self):
        """The next record as bytes; None at the end of the file.

        Raises
        ------
        MXNetError
            if the file is malformed there; the message has the byte offset.
        """
        self._check(False)
        with self._lock:
            return self._read_good_record() if self.skip_malformed else self._read_record()

    def _read_good_record(self):
        while True:
            start = self._position
            try:
                return self._read_record()
            except MXNetError as error:
                import warnings
                self.num_skipped += 1
                self._seek(start + 4)
                found = self._find_record()
                warnings.warn(f"{error}; the reader goes on at " + (f"byte {found}" if found is not None else "the end of the file"),
                              stacklevel=3)

    def _find_record(self):
        """Go to the next header that begins a record and fits into the file, and return its offset;
        at the end of the file, None."""
        at = self._position
        while True:
            self._seek(at)
            block = self._file.read(1 << 20)
            if len(block) < 8:
                self._seek(at + len(block))
                return None
            place = block.find(_MAGIC)
            while place != -1 and place + 8 <= len(block):
                word, = struct.unpack_from("<I", block, place + 4)
                length = word & _MAX_LENGTH
                fits = self._size is None or at + place + 8 + length + -length % 4 <= self._size
                if place % 4 == 0 and word >> 29 in (_WHOLE, _BEGIN) and fits:
                    self._seek(at + place)
                    return at + place
                place = block.find(_MAGIC, place + 1)
            at += (len(block) - 4) // 4 * 4

    def _read_record(self):
        start = self._position
        part = self._read_part()
        if part is None:
            return None
        flag, payload = part
        if flag == _WHOLE:
            return payload
        if flag != _BEGIN:
            raise self._malformed(start, f"a record begins with continuation flag {flag}; 0 or 1 is expected")
        parts = [payload]
        while flag != _END:
            offset = self._position
            part = self._read_part()
            if part is None:
                raise self._malformed(start, "the file ends in the middle of a record")
            flag, payload = part
            if flag not in (_MIDDLE, _END):
                raise self._malformed(offset, f"continuation flag {flag} in the middle of a record; 2 or 3 is expected")
            parts.append(payload)
        return _MAGIC.join(parts)


# Keys and offsets that are numbers, as most indices have them: they are read at once.
_PLAIN_INDEX = re.compile(r"(?:[0-9]{1,18}\t[0-9]{1,18}\n)*")


class MXIndexedRecordIO(MXRecordIO):
    """Records with keys: an index file has a line ``key TAB byte offset`` for each.

    Parameters
    ----------
    idx_path : str
        Path of the index.
    uri : str
        Path of the file of records.
    flag : {'r', 'w'}
        Read or write.
    key_type : type
        Type of the keys.
    skip_malformed : bool, default False
        As for :class:`MXRecordIO`; :meth:`read_idx` always raises for a malformed record.

    Examples
    --------
    >>> records = mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w')
    >>> for n in range(3):
    ...     records.write_idx(n, b'record %d' % n)
    >>> records.close()
    >>> records = mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'r')
    >>> records.read_idx(2), records.keys
    (b'record 2', [0, 1, 2])
    """

    def __init__(self, idx_path, uri, flag, key_type=int, *, skip_malformed=False):
        self.idx_path = os.fspath(idx_path)
        self.idx = {}
        self.keys = []
        self.key_type = key_type
        self._index = None
        super().__init__(uri, flag, skip_malformed=skip_malformed)

    def open(self):
        super().open()
        self.idx = {}
        self.keys = []
        self._lines = []
        if self.writable:
            try:
                self._index = NewFile(self.idx_path)
            except BaseException:
                self.is_open = False
                self._target.discard()
                raise
            return
        with open_file(self.idx_path, "r", errors="surrogateescape") as file:
            text = file.read()
        if self.key_type is int and _PLAIN_INDEX.fullmatch(text):
            numbers = list(map(int, text.split()))
            self.keys = numbers[::2]
            self.idx = dict(zip(self.keys, numbers[1::2]))
            return
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            fields = line.split("\t")
            try:
                key, offset = self.key_type(fields[0]), int(fields[1])
                if not 0 <= offset < 2 ** 63:
                    raise ValueError(offset)
            except (ValueError, IndexError):
                raise MXNetError(f"[recordio] {self.idx_path}, line {number}: {line.rstrip()[:80]!r}; "
                                 "a key, a tab and an offset are expected") from None
            self.idx[key] = offset
            self.keys.append(key)

    def close(self):
        was_open = self.is_open
        try:
            super().close()
        except BaseException:
            if was_open and self.writable and self.pid == os.getpid():
                with contextlib.suppress(FileNotFoundError):
                    self._index.discard()
            raise
        if was_open and self.writable and self.pid == os.getpid():
            if self._target.given_up:       # a write failed: an index of records that are not there
                self._index.discard()
                return
            self._index.write("".join(self._lines).encode())
            self._index.close()

    def __exit__(self, exc_type, exc_value, traceback):
        if exc_type is not None and self.is_open and self.writable and self.pid == os.getpid():
            self._index.discard()
        super().__exit__(exc_type, exc_value, traceback)

    def __getstate__(self):
        state = super().__getstate__()
        del state["_index"]
        return state

    def __setstate__(self, state):
        self._index = None
        super().__setstate__(state)

    def _check_or_open(self):
        """A key says all that a closed reader has to know, so it opens its file again."""
        if not self.is_open and not self.writable:
            self.open()
        self._check(False)

    def seek(self, idx):
        """Go to the record with key `idx`; raises KeyError if there is none.

        >>> with mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w') as writer:
        ...     for key in range(3):
        ...         writer.write_idx(key, b'record %d' % key)
        >>> with mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'r') as reader:
        ...     reader.seek(2)
        ...     reader.read()
        b'record 2'
        """
        self._check_or_open()
        if idx not in self.idx:
            raise KeyError(f"[recordio] {self.idx_path} has no key {idx!r}")
        self._seek(self.idx[idx])

    def tell(self):
        """Byte offset of the next record.

        >>> with mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w') as writer:
        ...     writer.write_idx(0, b'record')
        ...     writer.tell()
        16
        """
        return super().tell()

    def read_idx(self, idx):
        """The record with key `idx`; KeyError if the index has none, MXNetError if the records end
        before it."""
        self._check_or_open()
        with self._lock:
            self.seek(idx)
            record = self._read_record()
        if record is None:
            raise self._malformed(self.idx[idx], f"the file ends here or before, and {self.idx_path} has the key {idx!r} here; one "
                                                 "of the two was cut, or belongs to another")
        return record

    def write_idx(self, idx, buf):
        """Append a record under key `idx`."""
        key = self.key_type(idx)
        self._check(True)
        with self._lock:
            offset = self.tell()
            self.write(buf)
        self._lines.append(f"{key}\t{offset}\n")
        self.idx[key] = offset
        self.keys.append(key)


# ---- records of images ----

IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])
IRHeader.__doc__ = """What stands before an image: `label` is a number (and `flag` 0) or a vector
(of `flag` numbers); `id` and `id2` are whole numbers of the program's own.

>>> mx.recordio.IRHeader(flag=0, label=4.0, id=7, id2=0)
HEADER(flag=0, label=4.0, id=7, id2=0)
"""
_IR_FORMAT = "<IfQQ"
_IR_SIZE = struct.calcsize(_IR_FORMAT)
_pack_header, _unpack_header = struct.Struct(_IR_FORMAT).pack, struct.Struct(_IR_FORMAT).unpack_from


def pack(header, s):
    """A record from an :class:`IRHeader` and bytes.

    >>> record = mx.recordio.pack(mx.recordio.IRHeader(0, 4, 7, 0), b'content')
    >>> header, content = mx.recordio.unpack(record)
    >>> header.label, header.id, content
    (4.0, 7, b'content')
    """
    flag, label, number, second = header
    if isinstance(label, (float, int, numbers.Number)):  # the common ones first: numbers.Number is slow to ask
        flag = 0
    else:
        vector = np.asarray(label, dtype="<f4")
        flag, label = vector.size, 0
        s = vector.tobytes() + s
    return _pack_header(flag, label, number, second) + s


def unpack(s):
    """:class:`IRHeader` and bytes from a record; a vector of labels is a float32 array.

    Raises
    ------
    ValueError
        if the record is shorter than its header says.

    Examples
    --------
    >>> record = mx.recordio.pack(mx.recordio.IRHeader(0, [1, 2], 7, 0), b'content')
    >>> header, content = mx.recordio.unpack(record)
    >>> header.label, content
    (array([1., 2.], dtype=float32), b'content')
    """
    if len(s) < _IR_SIZE:
        raise ValueError(f"[recordio] an image record of {len(s)} bytes; its header alone has {_IR_SIZE}")
    flag, label, number, second = _unpack_header(s)
    begin = _IR_SIZE + flag * 4
    if flag > 0:
        if begin > len(s):
            raise ValueError(f"[recordio] an image record with {flag} labels and {len(s) - _IR_SIZE} bytes after its header")
        label = np.frombuffer(s[_IR_SIZE:begin], np.float32)
    return IRHeader(flag, label, number, second), s[begin:]


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """A record from an :class:`IRHeader` and an image.

    The package cv2 encodes where it is installed, else this library, or Pillow where that was built
    without codecs. The bytes are the same for OpenCV and this library.

    Parameters
    ----------
    header : IRHeader
    img : numpy.ndarray
        Height x width, uint8, or height x width x 3 (blue first) or 4 (transparency last).
    quality : int
        Of a JPEG, 1 to 100; of a PNG the compression level, 0 to 9.
    img_fmt : {'.jpg', '.jpeg', '.png'}
        With cv2, what that accepts.

    >>> header = mx.recordio.IRHeader(0, 3.0, 17, 0)
    >>> record = mx.recordio.pack_img(header, np.zeros((8, 8, 3), 'uint8'))
    >>> mx.recordio.unpack_img(record)[0]
    HEADER(flag=0, label=3.0, id=17, id2=0)
    """
    return pack(header, _record_images.encode(img, quality, img_fmt))


def unpack_img(s, iscolor=-1):
    """:class:`IRHeader` and image from a record, decoded as :func:`pack_img` encodes.

    Parameters
    ----------
    s : bytes
        A record that :func:`pack_img` made.
    iscolor : {-1, 0, 1}
        As stored, grey, or colour (blue first).

    Examples
    --------
    >>> import numpy
    >>> picture = numpy.zeros((4, 6, 3), dtype='uint8')
    >>> record = mx.recordio.pack_img((0, 5, 7, 0), picture, img_fmt='.png')
    >>> header, image = mx.recordio.unpack_img(record)
    >>> header.label, image.shape
    (5.0, (4, 6, 3))
    """
    header, data = unpack(s)
    return header, _record_images.decode(data, iscolor)
