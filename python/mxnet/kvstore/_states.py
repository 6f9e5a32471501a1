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
    value = (state.astype("float32") if dtype == "bfloat16" else state).asnumpy()
    return {"dtype": dtype, "shape": state.shape, "data": base64.b64encode(value.tobytes()).decode("ascii")}


def decode(content):
    """The state that :func:`encode` made this of."""
    if not isinstance(content, dict):
        return content
    if "several" in content:
        return tuple(decode(part) for part in content["several"])
    kept = "float32" if content["dtype"] == "bfloat16" else content["dtype"]
    value = numpy.frombuffer(base64.b64decode(content["data"]), dtype=kept).reshape(content["shape"])
    return nd.array(value, dtype=kept).astype(content["dtype"])


def _shaped(array, shape):
    if shape is None:
        return array
    size = int(numpy.prod(shape, dtype=numpy.int64))
    return array.reshape(shape) if array.size == size and size else array


def join(states, shape):
    """One state of those of a weight's parts, in their order; arrays that cover the weight get its
    shape. What is no array is alike in all parts."""
    first = states[0]
    if isinstance(first, tuple):
        return tuple(join(parts, shape) for parts in zip(*states))
    if not isinstance(first, nd.NDArray):
        return first
    whole = nd.concat(*[s.reshape((-1,)) for s in states], dim=0) if len(states) > 1 else first
    return _shaped(whole, shape)


def part_of(state, begin, weight):
    """What of a whole state belongs to the part `weight`, which begins at that element."""
    if isinstance(state, (tuple, list)):
        return tuple(part_of(s, begin, weight) for s in state)
    if not isinstance(state, nd.NDArray) or state.size == weight.size or state.size == 1:
        return _shaped(state, weight.shape) if isinstance(state, nd.NDArray) else state
    if begin + weight.size > state.size:
        raise MXNetError(f"[optimizer] a loaded state has {state.size} elements; the weight has at least {begin + weight.size}")
    return state.reshape((-1,))[begin:begin + weight.size].reshape(weight.shape)
