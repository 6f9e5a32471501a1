"""Records as RecordIO files have them (mxnet.recordio): what stands around a payload, and the parts
of one that contains the magic."""
import struct

import numpy as np

__all__ = ["BEGIN", "END", "MAGIC", "MAX_LENGTH", "MIDDLE", "WHOLE", "encode", "frame", "has_magic"]

MAGIC = struct.pack("<I", 0xCED7230A)
_MAGIC_WORD = np.uint32(0xCED7230A)
WHOLE, BEGIN, MIDDLE, END = range(4)
MAX_LENGTH = (1 << 29) - 1
_pack_word = struct.Struct("<I").pack


def _split(payload):
    """The parts of a payload between the aligned magics in it."""
    parts, start, at = [], 0, payload.find(MAGIC)
    while at != -1:
        if at % 4 == 0:
            parts.append(payload[start:at])
            start = at + 4
            at = payload.find(MAGIC, start)
        else:
            at = payload.find(MAGIC, at + 1)
    parts.append(payload[start:])
    return parts


def _framed(flag, part):
    return b"".join((MAGIC, _pack_word(flag << 29 | len(part)), part, b"\0" * (-len(part) % 4)))


_PADDING = b"", b"\0\0\0", b"\0\0", b"\0"


def has_magic(payload):
    """Is there a magic at a multiple of four in it? True as well for one elsewhere in a short
    one."""
    if len(payload) < 4096:
        return MAGIC in payload
    return bool((np.frombuffer(payload, "<u4", len(payload) // 4) == _MAGIC_WORD).any())     # many times as fast


def frame(payload):
    """What stands in front of a payload without magics, and behind it."""
    length = len(payload)
    return MAGIC + _pack_word(length), _PADDING[length & 3]


def encode(payload):
    """The bytes of a record."""
    parts = _split(payload)
    if len(parts) == 1:
        return _framed(WHOLE, payload)
    flags = [BEGIN] + [MIDDLE] * (len(parts) - 2) + [END]
    return b"".join(map(_framed, flags, parts))
