"""Dtypes and constants of mx.np."""
import numpy as _onp

__all__ = ["float16", "float32", "float64", "uint8", "int32", "int8", "int64", "int16", "uint16", "uint32", "uint64", "bool", "bool_",
           "pi", "inf", "nan", "PZERO", "NZERO", "newaxis", "e", "euler_gamma", "NINF", "PINF", "NAN", "NaN", "integer_dtypes",
           "floating_dtypes", "boolean_dtypes", "numeric_dtypes", "generic", "number", "integer", "signedinteger",
           "unsignedinteger", "inexact", "floating", "intp", "half", "single", "double", "byte", "ubyte", "short", "ushort",
           "intc", "uintc", "int_", "uint", "longlong", "ulonglong", "uintp", "True_", "False_"]

float16, float32, float64 = _onp.float16, _onp.float32, _onp.float64
int8, int16, int32, int64 = _onp.int8, _onp.int16, _onp.int32, _onp.int64
uint8, uint16, uint32, uint64 = _onp.uint8, _onp.uint16, _onp.uint32, _onp.uint64
# Kinds of dtypes, for issubdtype.
generic, number, inexact, floating = _onp.generic, _onp.number, _onp.inexact, _onp.floating
integer, signedinteger, unsignedinteger, intp = _onp.integer, _onp.signedinteger, _onp.unsignedinteger, _onp.intp
# Other names of dtypes, as NumPy has them on 64 bits.
half, single, double = float16, float32, float64
byte, ubyte, short, ushort, intc, uintc = int8, uint8, int16, uint16, int32, uint32
int_, uint, longlong, ulonglong, uintp = int64, uint64, int64, uint64, uint64
True_, False_ = _onp.True_, _onp.False_
bool = bool_ = _onp.bool_    # pylint: disable=redefined-builtin

integer_dtypes = [_onp.dtype(t) for t in (int8, int16, int32, int64, uint8, uint16, uint32, uint64)]
floating_dtypes = [_onp.dtype(t) for t in (float16, float32, float64)]
boolean_dtypes = [_onp.dtype(bool_)]
numeric_dtypes = integer_dtypes + floating_dtypes

e, euler_gamma, pi = _onp.e, _onp.euler_gamma, _onp.pi
inf = PINF = _onp.inf
NINF = -_onp.inf
nan = NaN = NAN = _onp.nan
PZERO, NZERO = 0.0, -0.0
newaxis = None
