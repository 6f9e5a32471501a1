"""How mx.np's arrays are printed: as NumPy's, with the dtype where it is neither the default float
nor bool, and the device where it is a GPU."""
import numpy as onp

from ._dispatch import default_float

__all__ = ["array_repr", "array_str"]


def array_repr(a):
    """``repr(a)``: ``array([1., 2.], dtype=float64, device=gpu(0))``."""
    values = a.asnumpy()
    name = a.dtype.name
    body = onp.array2string(values, separator=", ", prefix="array(") if values.size else "[]"
    said = [body]
    if not values.size and values.shape != (0,):
        said.append(f"shape={values.shape}")
    if name != default_float() and (name != "bool" or not values.size):
        said.append(f"dtype={name}")
    if a.context.device_type == "gpu":
        said.append(f"device={a.context}")
    return f"array({', '.join(said)})"


def array_str(a):
    """``str(a)``: the values, and behind them the GPU that they are on, if any."""
    text = str(a.asnumpy())
    return f"{text} @{a.context}" if a.ndim and a.context.device_type == "gpu" else text
