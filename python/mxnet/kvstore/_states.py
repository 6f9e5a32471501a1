"""Optimizer states on their way between servers and a worker: as text, in parts or as a whole."""
import base64

import numpy

from .. import ndarray as nd
from ..base import MXNetError

__all__ = ["decode", "encode", "join", "part_of"]


def encode(state):
    """What :meth:`Optimizer.create_state` gave, for JSON."""
    if state is None or isinstance(state, (bool, int, float)):
        return state
    if isinstance(state, (tuple, list)):
        return {"several": [encode(part) for part in state]}
    if not isinstance(state, nd.NDArray):
        raise ValueError(f"[kvstore] a state with a {type(state).__name__} in it cannot be sent")
    dtype = numpy.dtype(state.dtype).name
    content = {"dtype": dtype, "shape": state.shape}
    if state.stype == "row_sparse":     # its rows alone
        content["rows"] = _text(state.indices.asnumpy().astype("int64"))
        state = state.data
    content["data"] = _text((state.astype("float32") if dtype == "bfloat16" else state).asnumpy())
    return content


def _text(array):
    return base64.b64encode(array.tobytes()).decode("ascii")


def decode(content):
    """The state that :func:`encode` made this of."""
    if not isinstance(content, dict):
        return content
    if "several" in content:
        return tuple(decode(part) for part in content["several"])
    kept = "float32" if content["dtype"] == "bfloat16" else content["dtype"]
    value = numpy.frombuffer(base64.b64decode(content["data"]), dtype=kept)
    if "rows" not in content:
        return nd.array(value.reshape(content["shape"]), dtype=kept).astype(content["dtype"])
    rows = numpy.frombuffer(base64.b64decode(content["rows"]), dtype="int64")
    values = nd.array(value.reshape((len(rows), *content["shape"][1:])), dtype=kept)
    return _of_rows(values.astype(content["dtype"]), rows, content["shape"])


def _of_rows(values, rows, shape):
    if not len(rows):
        return nd.sparse.zeros("row_sparse", tuple(shape), dtype=values.dtype)
    return nd.sparse.row_sparse_array((values, rows), shape=tuple(shape), dtype=values.dtype)


def _shaped(array, shape):
    if shape is None:
        return array
    size = _size_of(shape)
    return array.reshape(shape) if array.size == size and size else array


def _size_of(shape):
    return int(numpy.prod(shape, dtype=numpy.int64))


def join(states, shape):
    """One state of those of a weight's parts, in their order; arrays that cover the weight get its
    shape. What is no array is alike in all parts."""
    first = states[0]
    if isinstance(first, tuple):
        return tuple(join(parts, shape) for parts in zip(*states))
    if not isinstance(first, nd.NDArray):
        return first
    if first.stype == "row_sparse":
        return _join_rows(states) if len(states) > 1 else first
    whole = nd.concat(*[s.reshape((-1,)) for s in states], dim=0) if len(states) > 1 else first
    return _shaped(whole, shape)


def _join_rows(states):
    rows, begin = [], 0
    for state in states:
        rows.append(state.indices.asnumpy() + begin)
        begin += state.shape[0]
    filled = [state.data for state, of_state in zip(states, rows) if len(of_state)]
    values = nd.concat(*filled, dim=0) if filled else states[0].data
    return _of_rows(values, numpy.concatenate(rows), (begin, *states[0].shape[1:]))


def part_of(state, begin, weight):
    """What of a whole state belongs to the part `weight`, which begins at that element."""
    if isinstance(state, (tuple, list)):
        return tuple(part_of(s, begin, weight) for s in state)
    if not isinstance(state, nd.NDArray):
        return state
    if state.stype == "row_sparse":
        return _rows_of(state, begin, weight)
    size = _size_of(weight.shape)        # of one that may be row_sparse
    if state.size in (size, 1):
        return _shaped(state, weight.shape)
    if begin + size > state.size:
        raise MXNetError(f"[optimizer] a loaded state has {state.size} elements; the weight has at least {begin + size}")
    return state.reshape((-1,))[begin:begin + size].reshape(weight.shape)


def _rows_of(state, begin, weight):
    if state.shape == weight.shape:
        return state
    first = begin // max(_size_of(state.shape[1:]), 1)
    if state.shape[1:] != weight.shape[1:] or first + weight.shape[0] > state.shape[0]:
        raise MXNetError(f"[optimizer] a loaded state has shape {state.shape}; rows {first} to {first + weight.shape[0] - 1} of a "
                         f"weight of shape {weight.shape} are wanted")
    rows = state.indices.asnumpy()
    here = numpy.flatnonzero((rows >= first) & (rows < first + weight.shape[0]))
    if not len(here):
        return _of_rows(state.data, here, weight.shape)
    return _of_rows(state.data[int(here[0]):int(here[-1]) + 1], rows[here] - first, weight.shape)
