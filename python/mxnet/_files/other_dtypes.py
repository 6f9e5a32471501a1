"""Tensors of files whose dtypes no array has.

Floats of 8 bits become float32. For what else there is (complex numbers, integers of 4 bits) an
:class:`OtherTensor` stands among the arrays, so that one of them does not keep the others away.
"""
import functools
import warnings

import numpy as np

from .. import _dtypes
from ..base import MXNetError, error_class

__all__ = ["BITS", "IN_NUMPY", "OtherTensor", "is_known", "is_small_float", "item_bytes", "small_floats", "warn_of_small_floats"]

# Bits of an element, by PyTorch's names.
BITS = {"float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8, "float4_e2m1fn": 4,
        "float4_e2m1fn_x2": 8, "float6_e2m3fn": 6, "float6_e3m2fn": 6, "complex32": 32, "complex64": 64, "complex128": 128,
        "quint8": 8, "qint8": 8, "qint32": 32, "quint4x2": 8, "quint2x4": 8, "bits8": 8, "bits16": 16}
IN_NUMPY = ("complex64", "complex128")
# (bits of the fraction, bias of the exponent, the byte of infinity or None, signed) of floats
_SMALL = {"float8_e4m3fn": (3, 7, None), "float8_e5m2": (2, 15, 0x7C), "float8_e4m3fnuz": (3, 8, None), "float8_e5m2fnuz": (2, 16, None),
          "float8_e8m0fnu": (0, 127, None)}


def is_known(dtype):
    """Whether elements of `dtype` have a size: there are arrays of it, or it is in this table."""
    return dtype in _dtypes.NAMES or dtype in BITS


def item_bytes(dtype):
    """Bytes of an element of a dtype of PyTorch; 1 for one that is not known."""
    return _dtypes.ITEM_BYTES[_dtypes.number(dtype)] if dtype in _dtypes.NAMES else max(BITS.get(dtype, 8) // 8, 1)


def is_small_float(dtype):
    """Whether :func:`small_floats` reads it."""
    return dtype in _SMALL


@functools.lru_cache(None)
def _values(dtype):
    """What the 256 bytes of a dtype stand for, as float32."""
    fraction, bias, infinity = _SMALL[dtype]
    byte = np.arange(256)
    if dtype == "float8_e8m0fnu":
        table = np.ldexp(1.0, byte - bias)
        table[255] = np.nan
        return table.astype(np.float32)
    exponent, rest = (byte & 0x7F) >> fraction, byte & ((1 << fraction) - 1)
    table = np.ldexp(np.where(exponent > 0, rest + (1 << fraction), rest).astype(np.float64),
                     np.maximum(exponent, 1) - bias - fraction)
    if infinity is not None:
        table[(byte & 0x7F) == infinity] = np.inf
        table[(byte & 0x7F) > infinity] = np.nan
    table[128:] *= -1
    if dtype.endswith("uz"):        # no negative zero: its byte is the one NaN
        table[128] = np.nan
    elif infinity is None:
        table[127] = table[255] = np.nan
    return table.astype(np.float32)


def small_floats(values, dtype):
    """The float32 numbers that `values`, bytes as an array of uint8, stand for."""
    return _values(dtype)[values]


def warn_of_small_floats(function, name, counts):
    """Say that tensors of a file are float32 now; `counts` has their number by dtype."""
    if counts:
        found = ", ".join(f"{count} of {dtype}" for dtype, count in counts.items())
        warnings.warn(f"[{function}] {name}: tensors of 8-bit floats are given as float32, which has all of their values: {found}. "
                      "If the file has scales beside them (weight_scale), a weight is the product of both", stacklevel=5)


class OtherTensor:
    """What stands for a tensor of a file whose dtype no array has. Nothing is read but on demand.

    Attributes
    ----------
    dtype : str
        By PyTorch's name.
    shape : tuple of int
    """

    __slots__ = ("_read", "dtype", "name", "shape")

    def __init__(self, name, shape, dtype, read):
        self.name, self.shape, self.dtype, self._read = name, tuple(shape), dtype, read

    @property
    def ndim(self):
        """Number of dimensions."""
        return len(self.shape)

    def error(self):
        """What to raise where an array is needed."""
        more = "its method numpy() gives an array of NumPy" if self.dtype in IN_NUMPY else "convert it where it was made: tensor.float()"
        return error_class(MXNetError, TypeError)(f"[{self.name}] a tensor of shape {self.shape} and dtype {self.dtype}, of which there "
                                                  f"are no arrays; accepted: {', '.join(_dtypes.NAMES)}. For this one, {more}")

    def numpy(self):
        """The values as an array of NumPy; a TypeError where NumPy has no such dtype."""
        if self.dtype not in IN_NUMPY:
            raise self.error()
        return self._read().view(self.dtype).reshape(self.shape)

    asnumpy = numpy

    def __array__(self, dtype=None, copy=None):     # pylint: disable=unused-argument  (NumPy's protocol)
        found = self.numpy()
        return found if dtype is None else found.astype(dtype)

    def __getattr__(self, name):
        raise error_class(MXNetError, AttributeError)(f"{self.error()} (asked for .{name})")

    def __repr__(self):
        return f"<tensor of shape {self.shape} and dtype {self.dtype}, of which there are no arrays>"
