"""Arrays of given numbers."""
import numpy as np

from .activations import positions_along
from .shapes import is_static
from .table import converts

__all__ = []


def _filled(c, number):
    return c.expand(c.const(number, c.out_dtype()), c.out_dims())


for _names, _number in (("zeros_like _zeros _npi_zeros _zeros_without_dtype", 0),
                        ("ones_like _ones _npi_ones", 1)):
    converts(*_names.split())(lambda c, number=_number: _filled(c, number))


@converts("_full", "_npi_full")
def _(c):
    return _filled(c, c.params["value"])


@converts("_npi_full_like")
def _(c):
    return _filled(c, c.params["fill_value"])


@converts("_arange", "_npi_arange")
def _(c):
    """The length comes from what is made with it, where none is given."""
    params = c.params
    count, repeat = c.out_dims()[0], params["repeat"]
    if is_static(count):
        places = np.arange(count[0]) // repeat
        return c.const(params["start"] + params["step"] * places, c.out_dtype())
    return _steps(c, c.size(count))


def _steps(c, count):
    """start, start + step, ... as many as `count` says."""
    params, repeat = c.params, c.params["repeat"]
    numbers = c.op("Range", c.const(0, np.int64), c.op("Squeeze", count), c.const(1, np.int64))
    if repeat != 1:
        numbers = c.op("Div", numbers, c.const(repeat, np.int64))
    numbers = c.cast(numbers, c.out_dtype())
    scaled = c.op("Mul", numbers, c.const(params["step"], c.out_dtype()))
    return c.op("Add", scaled, c.const(params["start"], c.out_dtype()))


@converts("_contrib_arange_like")
def _(c):
    dims, axis = c.dims(), c.params["axis"]
    if all(map(is_static, c.out_dims())):
        count = int(np.prod(c.out_shape()))
        numbers = c.params["start"] + c.params["step"] * (np.arange(count) // c.params["repeat"])
        return c.const(numbers.reshape(c.out_shape()), c.out_dtype())
    sizes = c.sizes(dims if axis is None else [dims[c.axis(axis)]])
    count = c.op("ReduceProd", sizes, keepdims=0)
    return c.reshape(_steps(c, count), c.out_dims())


@converts("_contrib_index_array")
def _(c):
    axes = range(c.ndim()) if c.params["axes"] is None else map(c.axis, c.params["axes"])
    dims = c.dims()
    parts = [c.unsqueeze(c.expand(positions_along(c, axis), dims), c.ndim()) for axis in axes]
    return parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=-1)
