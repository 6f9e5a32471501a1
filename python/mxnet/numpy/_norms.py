"""Parts of the norms of mx.np.linalg."""
import numpy as onp

from ..base import _MXValueError
from ._dispatch import call, is_symbol


def total(x, axes, keepdims):
    return call("_np_sum", (x,), axis=axes, keepdims=keepdims)


def root_of_squares(x, axes, keepdims):
    result = call("_npx_norm", (x,), ord=2, axis=axes, keepdims=True)
    return result if keepdims else call("_np_squeeze", (result,), axis=axes)


def of_vectors(x, order, axes, keepdims):
    if not axes:    # vectors of one element
        size = call("abs", (x,))
        return call("sign", (size,)) if order == 0 else size
    if order is None or order == 2:
        return root_of_squares(x, axes, keepdims)
    if isinstance(order, str):
        raise _MXValueError(f"[norm] ord is {order!r}; accepted for vectors: None, 'inf', '-inf' and numbers")
    size = call("abs", (x,))
    if order == onp.inf:
        # Sizes are not below 0, which is the norm of a vector without elements.
        return call("_np_max", (size,), axis=axes, keepdims=keepdims, **({} if is_symbol(x) or x.size else {"initial": 0.0}))
    if order == -onp.inf:
        return call("_np_min", (size,), axis=axes, keepdims=keepdims)
    if order == 0:
        return total(call("sign", (size,)), axes, keepdims)
    if order == 1:
        return total(size, axes, keepdims)
    return total(size ** order, axes, keepdims) ** (1.0 / order)


def order_of(given):
    """`ord` as a number where 1.9.1's texts name one."""
    return {"inf": onp.inf, "-inf": -onp.inf}.get(given, given) if isinstance(given, str) else given


def checked(function, x, axis):
    """Axes as numbers that are not negative, where the number of dimensions is known."""
    axes = (axis,) if isinstance(axis, (int, onp.integer)) else tuple(axis)
    if is_symbol(x):
        return axes
    for a in axes:
        if not -x.ndim <= a < x.ndim:
            raise _MXValueError(f"[{function}] axis is {axis}; an array of {x.ndim} dimensions accepts {-x.ndim} to {x.ndim - 1}")
    axes = tuple(int(a) % x.ndim for a in axes)
    if len(set(axes)) != len(axes):
        raise _MXValueError(f"[{function}] axis is {axis}; a dimension cannot occur twice")
    return axes
