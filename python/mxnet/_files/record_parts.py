"""Records as RecordIO files have them (mxnet.recordio): what stands around a payload, and the parts
of one that contains the magic."""
import itertools
import struct

import numpy as np

__all__ = ["BEGIN", "END", "MAGIC", "MAX_LENGTH", "MIDDLE", "WHOLE", "encode"]

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


_PADDING = b"", b"\0\0\0", b"\0\0", b"\0"


def _framed(flag, part):
    length = len(part)
    return MAGIC + _pack_word(flag << 29 | length), part, _PADDING[length & 3]


def _has_magic(payload):
    """Is there a magic at a multiple of four in it? True as well for one elsewhere in a short
    one."""
    if len(payload) < 4096:
        return MAGIC in payload
    return bool((np.frombuffer(payload, "<u4", len(payload) // 4) == _MAGIC_WORD).any())     # many times as fast


def encode(payload):
    """The bytes of a record, which lie one behind the other, and how many they are together. The
    payload is not copied, as a rule."""
    if not _has_magic(payload) or len(parts := _split(payload)) == 1:
        return _framed(WHOLE, payload), len(payload) + 11 & -4
    flags = [BEGIN] + [MIDDLE] * (len(parts) - 2) + [END]
    pieces = tuple(itertools.chain.from_iterable(map(_framed, flags, parts)))
    return pieces, sum(map(len, pieces))
