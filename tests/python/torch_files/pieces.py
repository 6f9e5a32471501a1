"""Files of torch.save in pieces, for those that no program writes."""
import io
import struct
import zipfile

MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
SYSTEM = b"\x80\x02}X\r\x00\x00\x00little_endian\x88s."


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value):
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def numbers(values):
    return b"(" + b"".join(number(v) for v in values) + b"t"


def storage(key="0", kind="FloatStorage", count=6, more=b""):
    return b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu") + number(count) + more + b"tQ"


def tensor(shape=(2, 3), strides=(3, 1), offset=0, of=None, more=b""):
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + (of or storage()) + number(offset) + numbers(shape) + numbers(strides)
            + b"\x89ccollections\nOrderedDict\n)R" + more + b"tR")


def dictionary(**values):
    return b"\x80\x02}(" + b"".join(text(key) + value for key, value in values.items()) + b"u."


def archive(pickle, storages=(("0", bytes(24)),), byteorder=b"little", method=zipfile.ZIP_STORED, prefix="a/"):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as out:
        out.writestr(prefix + "data.pkl", pickle)
        if byteorder is not None:
            out.writestr(prefix + "byteorder", byteorder)
        for key, data in storages:
            out.writestr(prefix + "data/" + key, data)
    return held.getvalue()


def legacy(pickle, keys, storages, system=SYSTEM):
    listed = b"\x80\x02](" + b"".join(text(key) for key in keys) + b"e."
    return MAGIC + system + pickle + listed + b"".join(struct.pack("<q", count) + data for count, data in storages)
