"""Helpers about keys of `a[key]` that 1.x had in mxnet.ndarray.ndarray and that programs use;
indexing itself is in the binding."""
import numpy as np

from .. import _dtypes
from ..base import integer_types
from ._array import NDArray

__all__ = ["get_indexing_dispatch_code", "get_oshape_of_gather_nd_op", "indexing_key_expand_implicit_axes"]

_NDARRAY_UNSUPPORTED_INDEXING, _NDARRAY_BASIC_INDEXING, _NDARRAY_ADVANCED_INDEXING, _NDARRAY_EMPTY_TUPLE_INDEXING = -1, 0, 1, 2
_NDARRAY_NO_ZERO_DIM_BOOL_ARRAY, _NDARRAY_ZERO_DIM_BOOL_ARRAY_FALSE, _NDARRAY_ZERO_DIM_BOOL_ARRAY_TRUE = -1, 0, 1

_DTYPE_MX_TO_NP = {-1: None, **dict(enumerate(t for t in _dtypes.TYPES[:8])), 12: _dtypes.bfloat16}
_DTYPE_NP_TO_MX = {kind: number for number, kind in _DTYPE_MX_TO_NP.items()}


def _is_array(x):
    return isinstance(x, (NDArray, np.ndarray))


def get_indexing_dispatch_code(key):
    """Whether a tuple of indices is basic (0: numbers, slices, None, Ellipsis), advanced (1: also
    lists and arrays) or not accepted (-1). AssertionError for anything but a tuple.

    >>> code = mx.nd.ndarray.get_indexing_dispatch_code
    >>> code((1, None, Ellipsis)), code(([0, 1], 1)), code(('a',))
    (0, 1, -1)
    """
    assert isinstance(key, tuple), f"[indexing] {type(key).__name__} was given; a tuple is accepted"
    basic = True
    for index in key:
        if isinstance(index, (list, tuple, range)) or _is_array(index):
            basic = False
        elif not isinstance(index, (slice, *integer_types, np.integer)) and index is not None and index is not Ellipsis:
            return _NDARRAY_UNSUPPORTED_INDEXING
    return _NDARRAY_BASIC_INDEXING if basic else _NDARRAY_ADVANCED_INDEXING


def get_oshape_of_gather_nd_op(dshape, ishape):
    """Shape of ``gather_nd(data, indices)`` for data of `dshape` and indices of `ishape`, whose
    first dimension counts the axes indexed.

    >>> mx.nd.ndarray.get_oshape_of_gather_nd_op((5, 6, 7), (2, 3))
    (3, 7)
    >>> mx.nd.gather_nd(mx.nd.zeros((5, 6, 7)), mx.nd.zeros((2, 3))).shape
    (3, 7)
    """
    assert len(dshape) > 0 and len(ishape) > 0, f"[gather_nd] shapes {dshape} and {ishape}; at least one dimension is accepted"
    return tuple(ishape[1:]) + tuple(dshape[ishape[0]:])


def indexing_key_expand_implicit_axes(key, shape):
    """The tuple that `key` stands for in an array of `shape`, and what it holds of single truth
    values.

    An Ellipsis and missing axes become full slices. The second value is -1 without a truth value
    (bool or array of bool without dimensions), which is left out of the tuple, else 1 if all of
    them are true and 0 if not.

    >>> indexing_key_expand_implicit_axes((Ellipsis, 1), (2, 3, 4))
    ((slice(None, None, None), slice(None, None, None), 1), -1)
    """
    indices, truth = [], _NDARRAY_NO_ZERO_DIM_BOOL_ARRAY
    consumed, ellipsis = 0, None
    for index in key if isinstance(key, tuple) else (key,):
        if isinstance(index, (bool, np.bool_)) or _is_array(index) and index.dtype == np.bool_ and index.ndim == 0:
            truth = int(bool(index) and truth != _NDARRAY_ZERO_DIM_BOOL_ARRAY_FALSE)
            continue
        if index is Ellipsis:
            if ellipsis is not None:
                raise IndexError("[indexing] Cannot use more than one ellipsis (`...`) for indexing")
            ellipsis = len(indices)
            continue
        if index is not None:
            consumed += index.ndim if _is_array(index) and index.dtype == np.bool_ else 1
        indices.append(index)
    place = len(indices) if ellipsis is None else ellipsis
    indices[place:place] = [slice(None)] * (len(shape) - consumed)
    return tuple(indices), truth
