"""How functions of mx.np.random and mx.npx.random call random operators."""
import numbers

import numpy as onp

from ._dispatch import call, deliver, device_of, from_values, operand
from .._binding import NDArrayBase

__all__ = ["draw"]

_FLOATS = ("float16", "float32", "float64")


def _shape(size):
    """`size` as records take it: a tuple, or None."""
    if size is None:
        return None
    if type(size) is int:
        size = (size,)
    if type(size) is tuple:      # what most programs give, without conversions
        for n in size:
            if type(n) is not int or n < 0:
                break
        else:
            return size
    try:
        shape = (int(size),) if isinstance(size, numbers.Integral) else tuple(int(n) for n in size)
    except (TypeError, ValueError):
        raise TypeError(f"[random] size={size!r}; accepted: None, an int, a tuple of ints") from None
    if any(n < 0 for n in shape):
        raise ValueError(f"[random] size={shape}; accepted: sizes of at least 0")
    return shape


def _split(parameters):
    """Arrays among the parameters, and what records are told: numbers, and "None" for arrays."""
    arrays, told = [], {}
    for name, value in parameters.items():
        kind = type(value)
        if (kind is float or kind is int) and -3e38 < value < 3e38:
            told[name] = value
        elif value is None:
            raise ValueError(f"[random] {name}=None; accepted: a number or an array")
        else:
            told[name] = "None"
            if isinstance(value, numbers.Real) or isinstance(value, onp.ndarray) and value.ndim == 0:
                if abs(value) < 3e38:
                    told[name] = float(value)
                    continue
                value = from_values(value, None, "float64")    # not a number that a record's text can be
            arrays.append(value)
    if arrays:
        like = next((a for a in arrays if isinstance(a, NDArrayBase)), None)
        arrays = [operand(a, like) for a in arrays]
    return arrays, told


def draw(record, parameters, size=None, dtype=None, ctx=None, device=None, out=None):
    """Runs a random operator whose parameters are numbers or arrays. `dtype` None: the record has
    none. Other dtypes than it makes are cast to."""
    if dtype is not None and dtype not in _FLOATS:
        return deliver(call("_npi_cast", (draw(record, parameters, size, "float32", ctx, device),), dtype=dtype), out)
    arrays, told = _split(parameters)
    if size is not None:
        told["size"] = _shape(size)
    if dtype is not None:
        told["dtype"] = dtype
    if not arrays:
        where = device_of(ctx, device)
        if where.device_typeid != 1 or where.device_id:      # the records' default is the first CPU
            told["ctx"] = str(where)
    return call(record, arrays, out, **told)
