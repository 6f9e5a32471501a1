"""How a camera was held, which image files say in the form of Exif."""
import struct

import numpy as np

__all__ = ["AS_IT_LIES", "orientation", "upright"]

AS_IT_LIES = 256    # added to the flag of decoding operators, which put some JPEG files upright otherwise


def _tiff_orientation(data):
    """The tag 274 (orientation) in TIFF's first directory, the form that Exif has too; else 1."""
    if data[:4] not in (b"II*\0", b"MM\0*"):
        return 1
    order = "<" if data[:1] == b"I" else ">"
    try:
        at, = struct.unpack_from(order + "I", data, 4)
        count, = struct.unpack_from(order + "H", data, at)
        for i in range(count):
            tag, kind = struct.unpack_from(order + "HH", data, at + 2 + 12 * i)
            if tag == 274 and kind == 3:
                return struct.unpack_from(order + "H", data, at + 10 + 12 * i)[0]
    except struct.error:
        pass
    return 1


def orientation(data):
    """How the picture lies in a JPEG, PNG or TIFF file: 1 (upright) to 8, as in Exif 2.3, 4.6.4."""
    found = _orientation_in(data)
    return found if 1 <= found <= 8 else 1


def _orientation_in(data):
    if data[:2] == b"\xff\xd8":
        at = 2
        while data[at:at + 1] == b"\xff" and len(data) >= at + 4 and data[at + 1] not in (0xDA, 0xD9):
            if data[at + 1] == 0xE1 and data[at + 4:at + 10] == b"Exif\0\0":
                return _tiff_orientation(data[at + 10:at + 2 + int.from_bytes(data[at + 2:at + 4], "big")])
            at += 2 + int.from_bytes(data[at + 2:at + 4], "big")
        return 1
    if data[:4] == b"\x89PNG":
        at = 8
        while len(data) >= at + 8 and data[at + 4:at + 8] != b"IDAT":
            length = int.from_bytes(data[at:at + 4], "big")
            if data[at + 4:at + 8] == b"eXIf":
                return _tiff_orientation(data[at + 8:at + 8 + length])
            at += 12 + length
        return 1
    return _tiff_orientation(data)


def upright(pixels, orientation):
    """The picture (height, width, channels) as it was taken, for such an orientation."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)
