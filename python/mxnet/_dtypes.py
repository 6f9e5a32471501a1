"""Dtype numbers of the native library and their NumPy types. bfloat16 has no NumPy type; see
:func:`to_numpy`."""
import ctypes

import numpy as np

from .base import _LIB, MXNetError, check_call, error_class


def _rows():
    """Names and bytes of an element, as the library lists them."""
    count, names, item_bytes = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(ctypes.c_uint32)()
    check_call(_LIB.MXListDTypes(ctypes.byref(count), ctypes.byref(names), ctypes.byref(item_bytes)))
    return tuple(names[i].decode() for i in range(count.value)), tuple(item_bytes[:count.value])


NAMES, ITEM_BYTES = _rows()
BFLOAT16 = NAMES.index("bfloat16")


class _BFloat16:
    """The dtype ``bfloat16``: compared and printed by name; arrays of it reach NumPy as float32."""

    name = "bfloat16"
    itemsize = 2

    def __repr__(self):
        return "bfloat16"

    def __eq__(self, other):
        if isinstance(other, np.dtype):
            return other == OF_1X
        return other is self or other == "bfloat16" or getattr(other, "name", None) == "bfloat16"

    def __hash__(self):
        return hash("bfloat16")

    def __reduce__(self):
        return "bfloat16"


bfloat16 = _BFloat16()
OF_1X = np.dtype([("bfloat16", np.uint16)])      # how programs of 1.9.1 spell it
TYPES = tuple(bfloat16 if n == "bfloat16" else np.dtype(n).type for n in NAMES)
FLOATS = frozenset(i for i, kind in enumerate(TYPES) if kind is bfloat16 or issubclass(kind, np.floating))
_NUMBERS = {}
for _i, _n in enumerate(NAMES):
    _NUMBERS[_n] = _i
    _NUMBERS[TYPES[_i]] = _i
    if _n != "bfloat16":
        _NUMBERS[np.dtype(_n)] = _i
_NUMBERS.update({float: _NUMBERS["float64"], int: _NUMBERS["int64"], bool: _NUMBERS["bool"], None: _NUMBERS["float32"],
                 OF_1X: BFLOAT16})


def number(dtype):
    """Number of a dtype given as name, NumPy type or dtype, or Python type; an array stands for its
    own dtype. Raises TypeError for what has none."""
    try:
        return _NUMBERS[dtype]
    except (KeyError, TypeError):
        pass
    if getattr(dtype, "name", None) == "bfloat16":
        return BFLOAT16
    try:
        return _NUMBERS[np.dtype(dtype).newbyteorder("=")]      # values are converted to the machine's order of bytes
    except (KeyError, TypeError, ValueError):
        if not isinstance(dtype, type) and hasattr(dtype, "dtype"):
            return number(dtype.dtype)
        raise error_class(MXNetError, TypeError, KeyError)(f"[dtype] got {dtype!r}; accepted: {', '.join(NAMES)}") from None


def exists(dtype):
    """Whether a NumPy dtype has a number: none of texts, objects and wider floats."""
    return dtype in _NUMBERS or dtype.newbyteorder("=") in _NUMBERS


def name(dtype):
    """Name of a dtype, as operator parameters spell it."""
    return NAMES[number(dtype)]


def spelled(dtype):
    """A parameter `dtype` of an operator with NumPy's other spellings (``'f4'``, ``b'float16'``, an
    array of that dtype) as names; all else as it is."""
    if isinstance(dtype, np.dtype) and dtype == OF_1X:
        return bfloat16
    try:
        return dtype if isinstance(dtype, type) or dtype in _NUMBERS else NAMES[number(dtype)]
    except (MXNetError, TypeError):
        return dtype


def given(dtype):
    """`spelled` for operators that are not NumPy's: None is float64, as ``numpy.dtype(None)`` is,
    which MXNet 1.x asks."""
    return "float64" if dtype is None else spelled(dtype)


def type_of(dtype_number):
    """NumPy scalar type of a number."""
    if not 0 <= dtype_number < len(TYPES):
        raise MXNetError(f"[dtype] number {dtype_number} does not exist; accepted: 0 to {len(TYPES) - 1}")
    return TYPES[dtype_number]
