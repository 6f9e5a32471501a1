"""What names of NumPy and of texts stand for in pickles that are read without running code."""
import numpy as np

from .plain_pickle import brief

__all__ = ["array_from_buffer", "as_bytes", "empty_array", "encoded", "give_state", "numpy_dtype", "numpy_number"]

_LAST_CHARACTER = 0x10FFFF


def numpy_dtype(code, *_):
    """A dtype of numbers or texts, whose order of bytes may follow as its state. Raises
    ValueError."""
    if not isinstance(code, str) or len(code) > 8 or np.dtype(code).kind not in "fiubcUS":
        raise ValueError(f"a NumPy dtype {brief(code)}; accepted: those of numbers and texts")
    return np.dtype(code, False, True)


def numpy_number(kind, data):
    """The number that these bytes are. Raises ValueError."""
    if not isinstance(kind, np.dtype) or not isinstance(data, bytes) or len(data) != kind.itemsize:
        raise ValueError("a number of NumPy of the wrong size")
    return _elements(data, kind)[0].item()


def _elements(data, kind):
    """These bytes as a flat array. ValueError for texts with other numbers than characters have."""
    if kind.kind == "U" and len(data) and np.frombuffer(data[:len(data) // 4 * 4], kind.byteorder + "u4").max() > _LAST_CHARACTER:
        raise ValueError("a text of NumPy with numbers that are no characters")
    return np.frombuffer(data, kind)


def empty_array(_kind=None, _shape=(0,), _code=b"b"):
    """An array that :func:`give_state` fills in."""
    return np.ndarray((0,))


def array_from_buffer(data, kind, shape, order="C"):
    """An array of these bytes. Raises ValueError."""
    if not isinstance(kind, np.dtype) or not isinstance(data, bytes) or order not in ("C", "F") \
            or not isinstance(shape, tuple) or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError("an array of NumPy of something else than numbers and texts")
    return _elements(data, kind).reshape(shape, order=order).copy("A")


def give_state(made, state):
    """Give a dtype or an array what a pickle has as its state, and tell whether `made` is one.
    Raises ValueError."""
    if isinstance(made, np.dtype):
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", "|", "=", ">"):
            raise ValueError("a NumPy dtype with another state than its order of bytes")
        if made.kind in "US":
            if state[1] == ">":
                raise ValueError("texts of NumPy from a big-endian machine; accepted: little-endian ones")
            return True
        made.__setstate__((3, state[1], None, None, None, -1, -1, 0))
        return True
    if not isinstance(made, np.ndarray):
        return False
    if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[4], (bytes, str)):
        raise ValueError("an array of NumPy of something else than numbers and texts")
    data = state[4] if isinstance(state[4], bytes) else encoded(state[4])       # a text: of Python 2
    filled = array_from_buffer(data, state[2], state[1], "F" if state[3] else "C")
    made.__setstate__((1, filled.shape, filled.dtype, bool(state[3]), filled.tobytes("A")))
    return True


def encoded(text, encoding="latin1"):
    """The bytes of a text. Raises ValueError."""
    if encoding not in ("latin1", "latin-1", "utf-8", "utf8", "ascii"):
        raise ValueError(f"bytes in the encoding {brief(encoding)}")
    return text.encode(encoding)


def as_bytes(data=b"", encoding="latin1"):
    """Bytes that are given as bytes or, of Python 2, as a text. Raises ValueError."""
    if not isinstance(data, (bytes, str)):
        raise ValueError(f"bytes that are a {type(data).__name__}")
    return encoded(data, encoding) if isinstance(data, str) else data
