"""Values of callers as those of the library, and the other way round."""
import ctypes
import numbers

import numpy as _np

from ..base import MXNetError, NDArrayHandle, _LIB, check_call
from ..ndarray import NDArray, array as _nd_array
from ..ndarray._dlpack import of_other_library
from ..symbol import Symbol
from ..util import is_np_array as _is_np_array

# ONNX's types of few bits by their names in ml_dtypes: integers are stored here as numbers of 8
# bits, floats by their bits. What the file calls floats.
_INTEGERS = {"int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8"}
_FLOATS = {"float8_e4m3fn": "FLOAT8E4M3FN", "float8_e4m3fnuz": "FLOAT8E4M3FNUZ", "float8_e5m2": "FLOAT8E5M2",
           "float8_e5m2fnuz": "FLOAT8E5M2FNUZ", "float8_e8m0fnu": "FLOAT8E8M0", "float4_e2m1fn": "FLOAT4E2M1"}
_NONE, _TENSOR, _STRINGS, _SEQUENCE = range(4)


class Handle:
    """A value of the library, given back at the end."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if self.handle is not None and _LIB is not None:
            _LIB.MXOnnxValueFree(self.handle)


def _strings(value, where):
    """The shape of an array of strings, their number and pointers to their bytes."""
    texts = _np.asarray(value, dtype=object)
    flat = texts.ravel().tolist()
    ends = ()
    if len(flat) > 64:   # in one piece of memory, between zeros, which is faster for many
        try:
            data = _np.frombuffer("\0".join(flat).encode() + b"\0", dtype=_np.uint8)
            ends = _np.flatnonzero(data == 0)
        except TypeError:
            pass
    if flat and len(ends) == len(flat):
        starts = _np.zeros(len(flat), dtype=_np.uintp)
        starts[1:] = ends[:-1] + 1
        starts += data.ctypes.data
        pointers = starts.ctypes.data_as(ctypes.POINTER(ctypes.c_char_p))
        pointers.texts = data, starts   # as long as the pointers
        return texts.shape, len(flat), pointers
    for text in flat:
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"[onnx] {where} has a {type(text).__name__} among objects; accepted: numbers or strings. "
                            "array.astype('float32') makes numbers of objects")
    encoded = [t if isinstance(t, bytes) else t.encode() for t in flat]
    return texts.shape, len(flat), (ctypes.c_char_p * len(flat))(*encoded)


def _stored(given, stored, where):
    """An array of ml_dtypes as the bytes that the library has; `stored`: the type that the model
    takes, None where any will do."""
    name = given.dtype.name
    if name in _INTEGERS:
        return given.astype(_INTEGERS[name])
    if name not in _FLOATS:
        return given
    if stored not in (_FLOATS[name], None):
        raise TypeError(f"[onnx] {where} is an array of {name}; accepted: numbers of {stored}")
    return given.view("uint8")


def _numbers(value, dtype, stored, where, ctx):
    """What is no array of the library, as one. Numbers and lists have no dtype of their own."""
    given = _array_of(value, where)
    if not isinstance(value, _np.ndarray) and dtype not in (None, "string", "sequence"):
        if given.dtype.kind == "f" and given.size and dtype.startswith(("int", "uint", "bool")):
            raise TypeError(f"[onnx] {where} has fractions or other floats; accepted: {dtype}")
        given = given.astype("float32" if dtype == "bfloat16" else dtype)
    try:
        return _from_numpy(_stored(given, stored, where), ctx)
    except MXNetError as error:
        raise TypeError(f"[onnx] {where}: {error}") from None


def _array_of(value, where):
    """As NumPy's."""
    if isinstance(value, Symbol):
        raise TypeError(f"[onnx] {where} is a Symbol; accepted: arrays. A model becomes a part of a graph by Model.convert()")
    try:
        return _np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise type(error)(f"[onnx] {where} is a {type(value).__name__} of which NumPy makes no array: {error}") from error


def to_value(value, dtype, ctx, stored=None, where="a value"):
    """What a caller gave, as a value of the library. `where`: what it is, for errors."""
    out = ctypes.c_void_p()
    if value is None:
        raise ValueError(f"[onnx] {where} is None; leave an optional input out")
    if isinstance(value, (list, tuple)) and dtype == "sequence":
        parts = [to_value(v, None, ctx, where=f"element {i} of {where}") for i, v in enumerate(value)]
        handles = (ctypes.c_void_p * len(parts))(*[p.handle for p in parts])
        check_call(_LIB.MXOnnxValueCreateSequence(ctypes.c_int(len(parts)), handles, ctypes.byref(out)))
        return Handle(out)
    if not isinstance(value, (NDArray, _np.ndarray)) and hasattr(value, "__dlpack__"):
        try:
            value = of_other_library(value)
        except TypeError as refused:
            what = f"{type(value).__module__}.{type(value).__name__}"
            raise TypeError(f"[onnx] {where} is a {what} that gives no array: {refused}") from refused
    if not isinstance(value, NDArray):
        if _array_of(value, where).dtype.kind in "UOST":
            shape, size, texts = _strings(value, where)
            dims = (ctypes.c_int64 * len(shape))(*shape)
            check_call(_LIB.MXOnnxValueCreateStrings(ctypes.c_int(len(shape)), dims, ctypes.c_int64(size), texts, ctypes.byref(out)))
            return Handle(out)
        value = _numbers(value, dtype, stored, where, ctx)
    check_call(_LIB.MXOnnxValueCreateTensor(value.handle, ctypes.byref(out)))
    return Handle(out)


def row_of_map(info, given):
    """The values of a dictionary in the order of the keys that the model knows: 0 where one is
    absent; others are left out."""
    kind = int if all(isinstance(label, int) for label in info.labels) else str
    for key, value in given.items():
        fits = isinstance(key, str) if kind is str else isinstance(key, numbers.Integral)
        if not fits or not isinstance(value, numbers.Real):
            raise TypeError(f"[onnx] input {info.name} has the item {key!r}: {value!r}; accepted: a dictionary of numbers, "
                            f"whose keys are {'strings' if kind is str else 'integers'}")
    return _np.array([[given.get(label, 0) for label in info.labels]], dtype=info.dtype)


def takes_sequence(info, value):
    """An optional may be one too: a list of arrays says so."""
    return info.kind == "sequence" or (info.kind == "optional" and isinstance(value, (list, tuple)) and
                                       all(isinstance(v, (NDArray, _np.ndarray)) for v in value))


def _from_numpy(given, ctx):
    """An array with NumPy's shape and dtype, also () and sizes of 0."""
    if given.size > 0 and given.ndim > 0:
        return _nd_array(given, ctx=ctx, dtype=given.dtype)
    from .. import util
    with util.np_shape(True):
        return _nd_array(given, ctx=ctx, dtype=given.dtype)


def as_arrays(values, ctx):
    """`values` with arrays of ours in the place of NumPy's, and arrays of strings as their shapes
    and lists; None where one is something else."""
    found, all_theirs = [], True
    for value in values:
        if type(value) is _np.ndarray and value.dtype.isbuiltin == 1 and value.dtype.kind in "fiub" and value.dtype.itemsize <= 8:
            value = _from_numpy(value, ctx)
        elif type(value) is _np.ndarray and value.dtype.kind in "OU":
            value = value.shape, value.ravel().tolist()
        elif isinstance(value, NDArray):
            all_theirs = False
        else:
            return None
        found.append(value)
    if all_theirs and _is_np_array():
        found = [value.as_np_ndarray() if isinstance(value, NDArray) else value for value in found]
    return tuple(found)


def array_of_strings(texts, shape):
    values = _np.empty(len(texts), dtype=object)
    values[:] = texts
    return values.reshape(shape)


def from_value(handle, make):
    """A value of the library for the caller; `make`: the class of arrays."""
    kind = ctypes.c_int()
    check_call(_LIB.MXOnnxValueGetKind(handle.handle, ctypes.byref(kind)))
    if kind.value == _NONE:
        return None
    if kind.value == _TENSOR:
        out = NDArrayHandle()
        check_call(_LIB.MXOnnxValueGetTensor(handle.handle, ctypes.byref(out)))
        return make(handle=out)
    if kind.value == _STRINGS:
        ndim, dims, count, texts = ctypes.c_int(), ctypes.POINTER(ctypes.c_int64)(), ctypes.c_int64(), ctypes.POINTER(ctypes.c_char_p)()
        check_call(_LIB.MXOnnxValueGetStrings(handle.handle, ctypes.byref(ndim), ctypes.byref(dims), ctypes.byref(count),
                                              ctypes.byref(texts)))
        return array_of_strings([t.decode() for t in texts[:count.value]], [dims[i] for i in range(ndim.value)])
    count, elements = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(_LIB.MXOnnxValueGetElements(handle.handle, ctypes.byref(count), ctypes.byref(elements)))
    handles = [Handle(ctypes.c_void_p(elements[i])) for i in range(count.value)]
    return [from_value(h, make) for h in handles]
