"""Helpers of the iterators over arrays."""
import numpy as np

from ..base import CheckedValueError
from .. import ndarray as nd
from ..ndarray import NDArray

__all__ = []


def _is_h5py(value):
    return type(value).__module__.split(".")[0] == "h5py"


def _init_data(data, allow_empty, default_name):
    """Arrays given in any of the accepted forms as a list of (name, NDArray), by name."""
    if data is None:
        data = []
    if isinstance(data, (np.ndarray, NDArray)) or _is_h5py(data):
        data = [data]
    if isinstance(data, (list, tuple)):
        if not allow_empty and not data:
            raise CheckedValueError(f"[NDArrayIter] no array was given as {default_name}")
        if len(data) == 1:
            data = {default_name: data[0]}
        else:
            data = {f"_{i}_{default_name}": array for i, array in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError(f"[NDArrayIter] {default_name} is a {type(data).__name__}; Input must be NDArray, "
                        "numpy.ndarray, h5py.Dataset a list of them or dict with them as values")
    arrays = []
    for name in sorted(data):
        value = data[name]
        if not isinstance(value, NDArray):
            if isinstance(value, str):
                raise TypeError(f"[NDArrayIter] Invalid type '{type(value)}' for {name}, should be NDArray, "
                                "numpy.ndarray or h5py.Dataset")
            try:
                value = nd.array(np.asarray(value, dtype=np.float32))
            except (TypeError, ValueError):
                raise TypeError(f"[NDArrayIter] Invalid type '{type(value)}' for {name}, should be NDArray, "
                                "numpy.ndarray or h5py.Dataset") from None
        if not value.shape:
            raise ValueError(f"[NDArrayIter] {name} is a single number; arrays with a row for each instance are accepted")
        # rows of a row_sparse array are what it does not give; its batches are dense, as in 1.9.1
        arrays.append((name, value.tostype("default") if value.stype == "row_sparse" else value))
    return arrays


def _has_instance(data, dtype):
    """Whether one of the arrays in a list of (name, array) is of a class."""
    return any(isinstance(array, dtype) for _, array in data)


def _getdata_by_idx(data, idx):
    """The rows `idx` of each array in a list of (name, array), in that order."""
    rows = nd.array(idx, dtype=np.int64)
    return [(name, nd.take(array, rows.as_in_context(array.context))) for name, array in data]
