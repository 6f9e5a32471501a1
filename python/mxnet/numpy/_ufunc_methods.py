"""Methods of NumPy's functions of one and two operands: ``np.add.reduce``,
``np.maximum.accumulate``, ``np.subtract.outer``, ``np.add.at``."""
import builtins
import functools

import numpy as onp

from . import _cumulative, _reductions, _ufuncs
from .._binding import NDArrayBase, is_traced
from ._array import ndarray
from ._dispatch import call, deliver, operand, promoted
from ._joining import axis_of, stack
from ._operators import BINARY, UNARY

__all__ = []

# The reductions that are records of their own; the others go along the dimension step by step.
_REDUCTIONS = {
    "add": _reductions.sum, "multiply": _reductions.prod, "maximum": _reductions.max, "minimum": _reductions.min,
    "logical_and": _reductions.all, "logical_or": _reductions.any,
}
_SCANS = {"add": _reductions.cumsum, "multiply": _cumulative.cumprod}
# Operators without a gradient, for the CPU while nothing is recorded.
_EXTREMES = {"maximum": "_npi_cummax", "minimum": "_npi_cummin"}


def _array(value):
    """An array; a list that holds arrays is stacked, which autograd records."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, NDArrayBase) for v in value):
        return stack(promoted([operand(v) for v in value]))
    return operand(value)


def _slices(array, axis):
    return [array[(slice(None),) * axis + (i,)] for i in range(array.shape[axis])]


def _reduce(name, function, array, axis=0, dtype=None, out=None, keepdims=False, **kwargs):
    """The function between all entries along a dimension, as ``numpy.ufunc.reduce`` does it."""
    array = _array(array)
    if name in _REDUCTIONS:
        if dtype is not None:
            array = array.astype(dtype)
        return _REDUCTIONS[name](array, axis=axis, out=out, keepdims=keepdims, **kwargs)
    if kwargs or not isinstance(axis, int):
        raise NotImplementedError(f"[{name}.reduce] got {', '.join(kwargs) or f'axis={axis}'}; accepted: array, axis (an int), dtype, "
                                  "out, keepdims")
    axis = axis_of(name + ".reduce", axis, array.ndim)
    if not array.shape[axis]:
        raise ValueError(f"[{name}.reduce] an array of shape {array.shape}; accepted: entries along dimension {axis}")
    result = functools.reduce(function, _slices(array if dtype is None else array.astype(dtype), axis))
    return deliver(call("expand_dims", (result,), axis=axis) if keepdims else result, out)


def _accumulate(name, function, array, axis=0, dtype=None, out=None):
    """What :func:`_reduce` has after each entry, as ``numpy.ufunc.accumulate`` does it."""
    array = _array(array)
    if dtype is not None:
        array = array.astype(dtype)
    axis = axis_of(name + ".accumulate", axis, array.ndim)
    if name in _SCANS:
        return deliver(_SCANS[name](array, axis), out)
    if name in _EXTREMES and not is_traced() and array.context.device_type.startswith("cpu"):
        return deliver(call(_EXTREMES[name], (array,), axis=axis), out)
    steps = []
    for entry in _slices(array, axis):
        steps.append(function(steps[-1], entry) if steps else entry)
    return deliver(stack(steps, axis) if steps else array, out)


def _outer(name, function, A, B, **kwargs):   # pylint: disable=invalid-name
    """The function of every pair of elements, as ``numpy.ufunc.outer`` does it."""
    del name
    A, B = operand(A), operand(B)   # pylint: disable=invalid-name
    return function(call("_npi_reshape", (A,), newshape=tuple(A.shape) + (1,) * B.ndim), B, **kwargs)


def _at(name, function, a, indices, *b):
    """In place: the function of the elements at `indices`, and of `b` if it has two operands, with
    each index that comes several times as often, as ``numpy.ufunc.at`` does it. NumPy computes
    it."""
    del function
    if not isinstance(a, ndarray):
        raise TypeError(f"[{name}.at] got a {type(a).__name__}; accepted: an array of mx.np, which is changed")
    if is_traced():
        raise ValueError(f"[{name}.at] has no gradient and is in no graph; accepted: calls outside of autograd.record() and hybridized "
                         "blocks")
    host = a.asnumpy().copy()
    keys = tuple(_plain(i) for i in indices) if isinstance(indices, tuple) else _plain(indices)
    getattr(onp, name).at(host, keys, *map(_plain, b))
    a[...] = host


def _reduceat(name, function, array, indices, axis=0, dtype=None, out=None):
    """The function between the entries of parts of a dimension, as ``numpy.ufunc.reduceat`` does
    it: each begins at one index and ends before the next, or has one entry where that does not
    rise."""
    array, indices = _array(array), onp.asarray(_plain(indices))
    axis = axis_of(name + ".reduceat", axis, array.ndim)
    ends, size = [*indices[1:], array.shape[axis]], array.shape[axis]
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        raise IndexError(f"[{name}.reduceat] an index out of range; accepted: 0 to {size - 1}")
    parts = []
    for begin, end in zip(indices.tolist(), map(int, ends)):
        part = array[(slice(None),) * axis + (slice(begin, builtins.max(end, begin + 1)),)]
        parts.append(_reduce(name, function, part, axis, dtype))
    return deliver(stack(parts, axis), out)


def _plain(value):
    return value.asnumpy() if isinstance(value, NDArrayBase) else value


def _bound(method, name, function):
    def call_method(*args, **kwargs):
        return method(name, function, *args, **kwargs)
    call_method.__name__ = call_method.__qualname__ = f"{name}.{method.__name__[1:]}"
    call_method.__doc__ = method.__doc__
    return call_method


for _row in BINARY:
    for _name in (_row.name, *_row.aliases):
        _function = getattr(_ufuncs, _name, None)
        if _function is not None and isinstance(getattr(onp, _name, None), onp.ufunc):
            for _method in (_reduce, _accumulate, _outer, _at, _reduceat):
                setattr(_function, _method.__name__[1:], _bound(_method, _name, _function))
for _row in UNARY:
    for _name in (_row.name, *_row.aliases):
        _function = getattr(_ufuncs, _name, None)
        if _function is not None and isinstance(getattr(onp, _name, None), onp.ufunc):
            _function.at = _bound(_at, _name, _function)
for _row in (*BINARY, *UNARY):
    for _name in (_row.name, *_row.aliases):
        _theirs = getattr(onp, _name, None)
        if isinstance(_theirs, onp.ufunc) and hasattr(_ufuncs, _name):
            for _attribute in ("nin", "nout", "nargs", "identity", "signature"):
                setattr(getattr(_ufuncs, _name), _attribute, getattr(_theirs, _attribute))
