"""Arrays of given numbers, and of random ones."""
import numpy as np

from .activations import positions_along
from .conversion import is_float
from .package import tensor_type
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


# ---- random numbers

def _shape(c):
    dims = c.out_dims()
    if not all(map(is_static, dims)):
        return None
    return [d[0] for d in dims]


def _random(c, kind, **parameters):
    """Numbers of a distribution in the shape of the result."""
    if not is_float(c.out_dtype()):
        raise c.unsupported("random whole numbers", "floating-point numbers")
    dtype = int(tensor_type(c.out_dtype()))
    shape = _shape(c)
    if shape is not None:
        return c.op(f"Random{kind}", shape=shape, dtype=dtype, **parameters)
    like = c.expand(c.const(0, c.out_dtype()), c.out_dims())
    return c.op(f"Random{kind}Like", like, dtype=dtype, **parameters)


def _given(c, name, default):
    value = c.params.get(name, default)
    if value is None or len(c) > (1 if c.op_name.endswith("_like") else 0):
        raise c.unsupported("an array of parameters", "numbers")
    return float(value)


@converts("_random_uniform", "_random_uniform_like", "_npi_uniform", "_npi_uniform_n")
def _(c):
    return _random(c, "Uniform", low=_given(c, "low", 0), high=_given(c, "high", 1))


@converts("_random_normal", "_random_normal_like", "_npi_normal", "_npi_normal_n")
def _(c):
    return _random(c, "Normal", mean=_given(c, "loc", 0), scale=_given(c, "scale", 1))


@converts("_sample_multinomial", "_sample_categorical")
def _(c):
    """Classes, by their probabilities."""
    if c.params.get("get_prob"):
        raise c.unsupported("get_prob", "classes alone")
    x = c[0] if c.ndim() == 2 else c.reshape(c[0], [(1,) * len(c.dims()[-1]), c.dims()[-1]])
    shape = c.params.get("shape") or ()
    shape = (shape,) if isinstance(shape, int) else shape
    count = int(np.prod(shape)) if shape else 1
    drawn = c.op("Multinomial", c.op("Log", x), sample_size=count, dtype=int(tensor_type(np.int32)))
    return c.cast_from(c.reshape(drawn, c.out_dims()), np.int32, c.out_dtype())
