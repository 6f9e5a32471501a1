"""Functions of mx.np that came with NumPy 2 and the array API standard: casts, sums with a start,
unpacking, parts of complex numbers."""

import builtins

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, is_traced
from ._creation import results
from ._dispatch import call, deliver, device_of, dtype_name, is_symbol, operand
from ._joining import axis_of, concatenate, shape_of, with_axis
from ._reductions import _without_nan, cumsum
from ._ufuncs import call_as_ufunc
from ._views import shows

__all__ = [
    "astype",
    "broadcast_shapes",
    "unstack",
    "cumulative_sum",
    "cumulative_prod",
    "cumprod",
    "nancumprod",
    "conj",
    "conjugate",
    "imag",
    "real",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
]


def astype(x, dtype, /, *, copy=True, device=None):
    """An array in another dtype, of the same shape; `x` itself if `copy` is false and nothing
    changes. Fractions become integers by cutting them off. `device` says where the result is.

    Examples
    --------
    >>> mx.np.astype(mx.np.array([1.5, 2.0]), "int32")
    array([1, 2], dtype=int32)
    """
    x = operand(x)
    if is_symbol(x):
        return call("_npi_cast", (x,), dtype=dtype_name(dtype))
    result = x.astype(dtype, copy=copy)
    return result if device is None else result.as_in_context(device_of(device=device))


def broadcast_shapes(*args):
    """The shape in which shapes, tuples or whole numbers, meet. Raises ValueError if they do not.

    Examples
    --------
    >>> mx.np.broadcast_shapes((2, 1), 3)
    (2, 3)
    """
    return onp.broadcast_shapes(*args)


@shows(lambda x, axis=0: tuple(onp.moveaxis(x, axis, 0)[i, ...] for i in range(x.shape[axis])))
def unstack(x, /, *, axis=0):
    """The entries of a dimension as a tuple of arrays, which lack that dimension.

    Examples
    --------
    >>> mx.np.unstack(mx.np.array([[1, 2], [3, 4]]), axis=1)
    (array([1., 3.]), array([2., 4.]))
    """
    x = operand(x)
    shape = shape_of("unstack", x)
    axis = axis_of("unstack", axis, len(shape))
    if shape[axis] == 0:
        return ()
    parts = call(
        "_split_v2",
        (x,),
        indices=(),
        sections=shape[axis],
        axis=axis,
        squeeze_axis=True,
    )
    return tuple(results(parts))


# ---- running sums and products


def _line(function, x, axis):
    """`x` and the axis to run along; None stands for that of a vector, as in NumPy."""
    x = operand(x)
    if axis is not None:
        return x, axis
    if not is_symbol(x) and x.ndim > 1:
        raise ValueError(
            f"[{function}] an array of {x.ndim} dimensions without axis; accepted: "
            "a vector, or an axis"
        )
    return (
        call("_npi_reshape", (x,), newshape=(-1,)) if not is_symbol(x) and x.ndim == 0 else x
    ), 0


def _with_start(run, start, axis, include_initial):
    if not include_initial:
        return run
    shape = list(shape_of("cumulative", run))
    shape[axis] = 1
    first = call(
        "_npi_full",
        (),
        shape=tuple(shape),
        value=start,
        dtype=_dtypes.name(run.dtype),
        ctx=str(run.context),
    )
    return concatenate((first, run), axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sums along a dimension, in the dtype of `x` (bool: int64) or in `dtype`. Only a
    vector may do without `axis`. With `include_initial` a zero stands before them.

    Examples
    --------
    >>> mx.np.cumulative_sum(mx.np.array([1, 2, 3]), include_initial=True)
    array([0., 1., 3., 6.])
    """
    x, axis = _line("cumulative_sum", x, axis)
    return deliver(_with_start(cumsum(x, axis, dtype), 0.0, axis, include_initial), out)


def _scanned(a, axis, size):
    """Running products by doubling: every element takes in the product of as many before it."""
    reach = 1
    while reach < size:
        head = call("slice_axis", (a,), axis=axis, begin=0, end=reach)
        rest = call("slice_axis", (a,), axis=axis, begin=reach, end=size)
        before = call("slice_axis", (a,), axis=axis, begin=0, end=size - reach)
        a = concatenate((head, call("_npi_multiply", (rest, before))), axis)
        reach *= 2
    return call("_npi_copy", (a,)) if size < 2 else a


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along a dimension, or of the array taken as a vector; in `dtype`, or NumPy's
    dtype for them, that of `a` or a wider integer. Differentiable. On the CPU, while nothing is
    recorded, NumPy computes them.

    Examples
    --------
    >>> mx.np.cumprod(mx.np.array([1, 2, 3]))
    array([1., 2., 6.])
    """
    a = operand(a)
    if axis is None:
        a, axis = call("_npi_reshape", (a,), newshape=(-1,)), 0
    a = with_axis(a, axis)
    shape = shape_of("cumprod", a)
    axis = axis_of("cumprod", axis, len(shape))
    kind = dtype_name(dtype) or _dtypes.name(a.dtype)
    if dtype is None and kind != "bfloat16":
        kind = onp.cumprod(onp.zeros(0, kind)).dtype.name
    if (
        kind != "bfloat16"
        and a.dtype != _dtypes.bfloat16
        and not is_traced()
        and a.context.device_type.startswith("cpu")
    ):
        return deliver(operand(onp.cumprod(a.asnumpy(), axis, kind), a), out)
    a = a if _dtypes.name(a.dtype) == kind else call("_npi_cast", (a,), dtype=kind)
    return deliver(_scanned(a, axis, shape[axis]), out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """:func:`cumprod` that counts NaN as 1.

    Examples
    --------
    >>> mx.np.nancumprod(mx.np.array([2.0, mx.np.nan, 3.0]))
    array([2., 2., 6.])
    """
    return cumprod(_without_nan(a, 1)[0], axis, dtype, out)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running products along a dimension, as :func:`cumprod`. Only a vector may do without `axis`.
    With `include_initial` a one stands before them.

    Examples
    --------
    >>> mx.np.cumulative_prod(mx.np.array([1, 2, 3]), include_initial=True)
    array([1., 1., 2., 6.])
    """
    x, axis = _line("cumulative_prod", x, axis)
    return deliver(_with_start(cumprod(x, axis, dtype), 1.0, axis, include_initial), out)


# ---- complex numbers: arrays of mx.np hold none; NumPy's arrays get what NumPy gives


def _is_ours(x):
    return isinstance(x, NDArrayBase) or is_symbol(x)


def _is_host_complex(x):
    return isinstance(x, (onp.ndarray, onp.generic, builtins.complex)) and onp.iscomplexobj(x)


def conj(x, out=None, where=True, **kwargs):
    """The complex conjugate: a copy, because elements are real. Complex arrays of NumPy get
    NumPy's. `where` and others are those of NumPy's ufuncs.

    Examples
    --------
    >>> mx.np.conj(mx.np.array([1.0, -2.0]))
    array([ 1., -2.])
    """
    if _is_host_complex(x):
        return onp.conj(x)
    return call_as_ufunc("conj", lambda values: call("_npi_copy", (values,)), (x,), "same", out, where, kwargs)


conjugate = conj


def real(val):
    """The real parts: the array itself, because elements are real. Complex arrays of NumPy give an
    array of mx.np.

    Examples
    --------
    >>> mx.np.real(mx.np.array([1.0]))
    array([1.])
    """
    if _is_ours(val):
        return val
    parts = onp.real(val)
    return operand(parts) if _is_host_complex(val) and parts.ndim else parts


def imag(val):
    """The imaginary parts: zeros of the array's shape and dtype, because elements are real. Complex
    arrays of NumPy give an array of mx.np.

    Examples
    --------
    >>> mx.np.imag(mx.np.array([1.0]))
    array([0.])
    """
    if _is_ours(val):
        return call("zeros_like", (val,))
    parts = onp.imag(val)
    return operand(parts) if _is_host_complex(val) and parts.ndim else parts


def iscomplex(x):
    """Whether elements have an imaginary part: false for all of an array of mx.np.

    Examples
    --------
    >>> mx.np.iscomplex(mx.np.array([1.0]))
    array([False])
    """
    return (
        call("_npi_cast", (call("zeros_like", (x,)),), dtype="bool")
        if _is_ours(x)
        else onp.iscomplex(x)
    )


def isreal(x):
    """Whether elements have no imaginary part: true for all of an array of mx.np.

    Examples
    --------
    >>> mx.np.isreal(mx.np.array([1.0]))
    array([ True])
    """
    return (
        call("_npi_cast", (call("ones_like", (x,)),), dtype="bool")
        if _is_ours(x)
        else onp.isreal(x)
    )


def iscomplexobj(x):
    """Whether an array's dtype is complex: never of an array of mx.np.

    Examples
    --------
    >>> mx.np.iscomplexobj(mx.np.ones(1))
    False
    """
    return False if _is_ours(x) else onp.iscomplexobj(x)


def isrealobj(x):
    """Whether an array's dtype is not complex: always of an array of mx.np.

    Examples
    --------
    >>> mx.np.isrealobj(mx.np.ones(1))
    True
    """
    return not iscomplexobj(x)
