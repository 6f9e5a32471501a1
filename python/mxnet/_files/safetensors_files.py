"""Files of safetensors: a header in JSON, and the bytes of arrays behind each other.

1. the length of the header in bytes, uint64
2. the header: ``{"name": {"dtype", "shape", "data_offsets"}, ...}``, with texts by name under
   ``"__metadata__"``, and spaces
3. the elements of the arrays, without a hole
"""
import json
from collections import Counter

import numpy as np

from .. import _dtypes
from .._binding import NDArrayBase
from ..base import MXNetError, error_class
from . import kinds
from .mapped import Bytes, array_over, check_shape
from .other_dtypes import BITS, OtherTensor, is_small_float, item_bytes, small_floats, warn_of_small_floats
from .shards import is_index, load_shards
from .torch_writing import bytes_of
from .whole_files import NewFile

__all__ = ["load_safetensors", "read_header", "save_safetensors"]

DTYPES = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "F16": "float16", "BF16": "bfloat16",
          "U32": "uint32", "I32": "int32", "F32": "float32", "U64": "uint64", "I64": "int64", "F64": "float64"}
_OTHER = {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
          "F8_E8M0": "float8_e8m0fnu", "C64": "complex64", "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn", "F6_E3M2": "float6_e3m2fn"}
_NAMES = {ours: theirs for theirs, ours in DTYPES.items()}
LONGEST_HEADER = 100_000_000    # bytes, as the format's own library has it
_PIECE = 64 << 20               # bytes that are written at once


def _pairs(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        seen = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"the header has {twice!r:.80} twice")
    return made


def _whole(text):
    if len(text) > 20:
        raise ValueError(f"the header has a number of {len(text)} digits")
    return int(text)


def _no_number(text):
    raise ValueError(f"the header has the number {text:.40}; accepted: whole numbers")


def read_header(content):
    """(metadata, {name: (dtype, shape, begin, end)}) of the `Bytes` of a file, in the order of
    places. Raises an OSError for a header that does not fit the file."""
    values = content.data
    length = int.from_bytes(values[:8].tobytes(), "little")
    if len(values) < 8 or length > len(values) - 8 or length < 2:
        raise content.error(f"a header of {length} bytes is not inside of the file; it is no safetensors file, or its copy or download "
                            "was interrupted")
    if length > LONGEST_HEADER:
        raise content.error(f"a header of {length} bytes; accepted: up to {LONGEST_HEADER}")
    try:
        if values[8] != ord("{"):
            raise ValueError("the header does not begin with '{'")
        header = json.loads(values[8:8 + length].tobytes().decode("utf-8"), object_pairs_hook=_pairs, parse_int=_whole,
                            parse_float=_no_number, parse_constant=_no_number)
        return _checked(header, len(values) - 8 - length, 8 + length)
    except (ValueError, RecursionError) as error:
        raise content.error(f"{error}" if not isinstance(error, RecursionError) else "the header is nested too deep") from None


def _checked(header, room, begin):
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("__metadata__ is no dictionary of texts")
    found = {}
    for name, row in header.items():
        if not isinstance(row, dict) or row.keys() != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"array {name!r:.200} is not described by dtype, shape and data_offsets alone")
        dtype, shape, places = row["dtype"], row["shape"], row["data_offsets"]
        if not isinstance(shape, list) or not isinstance(places, list) or len(places) != 2 \
                or not all(type(n) is int and n >= 0 for n in places):     # pylint: disable=unidiomatic-typecheck
            raise ValueError(f"array {name!r:.200}: shape and data_offsets are no lists of whole numbers from 0")
        known = {**DTYPES, **_OTHER}.get(dtype) if isinstance(dtype, str) else None
        if known is None:
            raise ValueError(f"array {name!r:.200} has dtype {dtype if isinstance(dtype, str) else type(dtype).__name__!r:.40}, of which "
                             f"there are no arrays; accepted: {', '.join(DTYPES)}. Convert it where it was made")
        count = check_shape(tuple(shape), f"array {name!r:.200}")
        size = (count * BITS[known] + 7) // 8 if dtype in _OTHER else count * item_bytes(known)
        if places[1] - places[0] != size:
            raise ValueError(f"array {name!r:.200} of shape {tuple(shape)} and dtype {dtype} takes {size} bytes; the header gives it bytes "
                             f"{places[0]} to {places[1]}")
        found[name] = (known, tuple(shape), *places)
    at = 0
    for name, (_, _, first, last) in sorted(found.items(), key=lambda item: item[1][2:]):
        if first != at:
            raise ValueError(f"array {name!r:.200} begins at byte {first} of the values, where {at} is expected: arrays "
                             f"{'overlap' if first < at else 'leave a hole'}")
        at = last
    if at != room:
        raise ValueError(f"the arrays take {at} bytes, {room} bytes are there; the file is damaged, or its "
                         "copy or download was interrupted")
    return metadata, {name: (dtype, shape, begin + first, begin + last) for name, (dtype, shape, first, last) in
                      sorted(found.items(), key=lambda item: item[1][2:])}


def open_safetensors(source, function, mapped=True):
    """(`Bytes`, metadata, places) of a file."""
    if isinstance(source, (str, bytes)) or hasattr(source, "__fspath__"):
        kinds.refuse_other(function, source, ("safetensors",), "safetensors files")
    content = Bytes(source, function, mapped)
    return content, *read_header(content)


def load_safetensors(source, function, numpy, ctx, mapped=True):
    """{name: array} of a file, or of those of an index: arrays of mx.np if `numpy`, on `ctx`."""
    if is_index(source):
        return load_shards(source, function, lambda path: load_safetensors(path, function, numpy, ctx, mapped))
    content, _, places = open_safetensors(source, function, mapped)
    warn_of_small_floats(function, content.name, Counter(dtype for dtype, *_ in places.values() if is_small_float(dtype)))
    return {name: _array(content.data[first:last], shape, dtype, numpy, ctx, f"{function}: {name!r:.200}")
            for name, (dtype, shape, first, last) in places.items()}


def _array(values, shape, dtype, numpy, ctx, name):
    if dtype in _dtypes.NAMES:
        return array_over(values, shape, dtype, numpy, ctx)
    if not is_small_float(dtype):
        return OtherTensor(name, shape, dtype, values.copy)
    return array_over(small_floats(values, dtype).view(np.uint8), shape, "float32", numpy, ctx)


# ---- writing ----

def _texts(metadata):
    if metadata is None:
        return {}
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for pair in metadata.items() for text in pair):
        raise error_class(MXNetError, TypeError)("[contrib.safetensors.save] metadata is no dictionary of texts; accepted: {str: str}")
    return metadata


def _rows(arrays):
    """(name, array) with wide elements first, so that all lie where processors want them."""
    if not isinstance(arrays, dict):
        raise error_class(MXNetError, TypeError)(f"[contrib.safetensors.save] got {type(arrays).__name__}; accepted: a dictionary "
                                                 "{name: array}")
    for name, array in arrays.items():
        if not isinstance(name, str) or name == "__metadata__":
            raise error_class(MXNetError, ValueError)(f"[contrib.safetensors.save] the name {name!r}; accepted: texts other than "
                                                      "'__metadata__'")
        if not isinstance(array, NDArrayBase) or array.stype != "default":
            what = f"a {array.stype} array" if isinstance(array, NDArrayBase) else f"a {type(array).__name__}"
            raise error_class(MXNetError, TypeError)(f"[contrib.safetensors.save] {name!r} is {what}; accepted: dense arrays of mx.nd and "
                                                     "mx.np")
    return sorted(arrays.items(), key=lambda item: (-_width(item[1]), item[0]))


def _width(array):
    return _dtypes.ITEM_BYTES[_dtypes.number(array.dtype)]


def save_safetensors(target, arrays, metadata=None):
    """Write {name: array} to a path or to a file that is open for bytes."""
    if not isinstance(target, (str, bytes)) and not hasattr(target, "__fspath__") and not hasattr(target, "write"):
        raise error_class(MXNetError, TypeError)(f"[contrib.safetensors.save] got {type(target).__name__} as the file; accepted: a path "
                                                 "or an open file, then the arrays")
    rows, at, header = _rows(arrays), 0, {}
    if metadata:
        header["__metadata__"] = _texts(metadata)
    else:
        _texts(metadata)
    for name, array in rows:
        size = array.size * _width(array)
        header[name] = {"dtype": _NAMES[_dtypes.name(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        raise error_class(MXNetError, ValueError)(f"[contrib.safetensors.save] names and metadata take {len(text)} bytes; accepted: up to "
                                                  f"{LONGEST_HEADER}")

    def write(put):
        put(len(text).to_bytes(8, "little") + text)
        for _, array in rows:
            values = bytes_of(array)
            for begin in range(0, len(values), _PIECE):
                put(memoryview(values[begin:begin + _PIECE]))
    if hasattr(target, "write"):
        write(target.write)
        return
    with NewFile(target) as out:
        write(out.write)
