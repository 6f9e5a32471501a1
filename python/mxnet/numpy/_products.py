"""Products of arrays: dot, matmul, einsum and their relatives; values of polynomials, and
interpolation."""
import string

import numpy as onp

from .._binding import NDArrayBase, is_traced
from .._arrays.tracing import is_deferred_compute
from ..base import _MXTypeError, _MXValueError
from ._dispatch import call, check_out, deliver, dtype_name, is_symbol, operand, promoted

__all__ = ["dot", "vdot", "inner", "outer", "matmul", "tensordot", "einsum", "einsum_path", "kron", "cross", "trace", "polyval",
           "interp", "vecdot"]


def _flat(a):
    return call("_np_reshape", (a,), newshape=(-1,))


def dot(a, b, out=None):
    """The product of two arrays.

    Vectors give the sum of their products, matrices the product of matrices, a number or an array
    of shape () multiplies. Otherwise the last dimension of `a` and the last but one of `b` are
    summed over. Operands of different dtypes meet first; NumPy's, too. Differentiable.

    Examples
    --------
    >>> mx.np.dot(mx.np.array([[1, 2], [3, 4]]), mx.np.array([1, 1]))
    array([3., 7.])
    """
    return call("_npi_dot", promoted((a, b)), out)


def vdot(a, b):
    """The sum of the products of all elements, in their order; the result has shape ().

    Examples
    --------
    >>> mx.np.vdot(mx.np.array([[1, 2], [3, 4]]), mx.np.array([[1, 0], [0, 1]]))
    array(5.)
    """
    a, b = promoted((a, b))
    return call("_npi_dot", (_flat(a), _flat(b)))


def inner(a, b):
    """The sum of products over the last dimensions; the result has the other dimensions of `a`,
    then those of `b`. A number or an array of shape () multiplies.

    Examples
    --------
    >>> mx.np.inner(mx.np.array([1, 2, 3]), mx.np.array([0, 1, 0]))
    array(2.)
    """
    a, b = promoted((a, b))
    if not is_symbol(a) and not is_symbol(b) and (a.ndim == 0 or b.ndim == 0):
        return call("_npi_dot", (a, b))
    return call("_npi_tensordot", (a, b), a_axes_summed=(-1,), b_axes_summed=(-1,))


def outer(a, b, out=None):
    """The products of every element of `a` with every element of `b`, as a matrix.

    Examples
    --------
    >>> mx.np.outer(mx.np.array([1, 2]), mx.np.array([3, 4, 5]))
    array([[ 3.,  4.,  5.],
           [ 6.,  8., 10.]])
    """
    a, b = promoted((a, b))
    return call("_npi_tensordot_int_axes", (_flat(a), _flat(b)), out, axes=0)


def matmul(a, b, out=None, **kwargs):
    """Products of the matrices in the last two dimensions; those before them are broadcast.

    A vector stands for a row of `a` or a column of `b`, and its dimension is left out of the
    result. Arrays of shape () are refused. NumPy's options ``where``, ``order``, ``dtype``, ...
    are refused, too.

    Examples
    --------
    >>> mx.np.matmul(mx.np.ones((2, 3, 4)), mx.np.ones((4, 5))).shape
    (2, 3, 5)
    """
    if kwargs:
        raise NotImplementedError(f"[matmul] got {', '.join(kwargs)}; accepted: a, b, out")
    a, b = promoted((a, b))
    check_out("matmul", out)
    if out is None or is_symbol(a) or out._dtype_id == a._dtype_id:
        return call("_npi_matmul", (a, b), out)
    if not onp.can_cast(a.dtype, out.dtype, "same_kind"):
        raise _MXTypeError(f"[matmul] the result is {a.dtype}, which `out` of {out.dtype} cannot take; accepted: an array of the same kind")
    return deliver(call("_npi_matmul", (a, b)), out)


def tensordot(a, b, axes=2):
    """The sum of products over pairs of dimensions.

    `axes`: how many of the last dimensions of `a` and of the first ones of `b`; or two lists, of
    dimensions of `a` and of those of `b` that belong to them. The result has the other dimensions
    of `a`, then those of `b`.

    Examples
    --------
    >>> a, b = mx.np.ones((3, 4, 5)), mx.np.ones((4, 3, 2))
    >>> mx.np.tensordot(a, b, axes=([1, 0], [0, 1])).shape
    (5, 2)
    """
    a, b = promoted((a, b))
    try:
        of_a, of_b = axes
    except TypeError:
        return call("_npi_tensordot_int_axes", (a, b), axes=int(axes))
    of_a, of_b = (tuple(v) if hasattr(v, "__len__") else (v,) for v in (of_a, of_b))
    if len(of_a) != len(of_b):
        raise _MXValueError(f"[tensordot] axes is {axes}; accepted: as many dimensions of a as of b")
    return call("_npi_tensordot", (a, b), a_axes_summed=of_a, b_axes_summed=of_b)


def _letters(labels, letters):
    """The text for a list of labels: numbers, and Ellipsis."""
    text = ""
    for label in labels:
        if label is Ellipsis:
            text += "..."
        else:
            if label not in letters:
                if len(letters) == 52:
                    raise _MXValueError("[einsum] more than 52 different labels; accepted: up to 52")
                letters[label] = None
            text += f"<{label}>"
    return text


def _as_text(operands):
    """NumPy's other form, arrays each followed by the list of its labels, as text and arrays."""
    arrays, lists = list(operands[0:-1:2]), list(operands[1::2])
    result = operands[-1] if len(operands) % 2 else None
    letters = {}
    text = ",".join(_letters(labels, letters) for labels in lists)
    if result is not None:
        text += "->" + _letters(result, letters)
    for letter, label in zip(string.ascii_uppercase + string.ascii_lowercase, sorted(letters)):
        text = text.replace(f"<{label}>", letter)
    return text, arrays


def einsum(*operands, out=None, optimize=False, dtype=None, **kwargs):
    """Einstein's sums: the sum of the products of arrays over the letters that the result lacks.

    ``einsum('ij,jk->ik', a, b)`` is the product of matrices. Without ``->`` the result has the
    letters that occur once, in the order of the alphabet; ``...`` stands for further dimensions,
    which are broadcast. ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` is accepted, too. Differentiable.

    Differences from NumPy: the arrays are multiplied two at a time, as matrices where anything is
    summed, whatever `optimize` is. Up to four of them go in the order with the fewest
    multiplications; of more, those with the smallest product go first. Integers wrap around.

    Examples
    --------
    >>> a = mx.np.arange(6).reshape(2, 3)
    >>> mx.np.einsum('ij->j', a)
    array([3., 5., 7.])
    """
    unknown = set(kwargs) - {"order", "casting"}
    if unknown:
        raise TypeError(f"[einsum] got {', '.join(sorted(unknown))}; accepted: out, optimize, dtype, order, casting")
    if not operands:
        raise _MXValueError("[einsum] got nothing; accepted: subscripts and arrays")
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], operands[1:]
    else:
        subscripts, arrays = _as_text(operands)
    if not arrays:
        raise _MXValueError(f"[einsum] got the subscripts {subscripts!r} and no array")
    arrays = promoted(arrays)
    if dtype is not None:
        arrays = [a.astype(dtype) for a in arrays]
    result = call("_npi_einsum", arrays, None if dtype is not None else out, num_args=len(arrays), subscripts=subscripts,
                  optimize=int(bool(optimize)))
    return deliver(result, out) if dtype is not None else result


def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """The order in which NumPy would multiply the arrays of :func:`einsum`, and a text about it: a
    list of "einsum_path" and of the numbers of arrays that are multiplied at a time. Values are not
    read. :func:`einsum` takes the list as `optimize`, and keeps to its own order.

    Examples
    --------
    >>> a, b, c = mx.np.ones((2, 3)), mx.np.ones((3, 9)), mx.np.ones((9, 2))
    >>> mx.np.einsum_path('ij,jk,kl->il', a, b, c)[0]
    ['einsum_path', (1, 2), (0, 1)]
    """
    if not operands:
        raise _MXValueError("[einsum_path] got nothing; accepted: subscripts and arrays")
    subscripts, arrays = (operands[0], operands[1:]) if isinstance(operands[0], str) else _as_text(operands)
    nothing = onp.zeros((), "float32")
    shapes = [onp.broadcast_to(nothing, operand(a).shape) for a in arrays]
    return onp.einsum_path(subscripts, *shapes, optimize=optimize, einsum_call=einsum_call)


def kron(a, b):
    """Kronecker's product: each element of `a` replaced by `b` times it.

    Examples
    --------
    >>> mx.np.kron(mx.np.array([1, 10]), mx.np.array([5, 6]))
    array([ 5.,  6., 50., 60.])
    """
    return call("_npi_kron", promoted((a, b)))


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross products of vectors with 2 or 3 components, the third of 2 being 0.

    The vectors lie along `axisa` and `axisb`, the other dimensions are broadcast; those of the
    result lie along `axisc`. `axis` stands for all three. Of two vectors with 2 components the
    result is the third component of the product, without that dimension.

    Examples
    --------
    >>> mx.np.cross(mx.np.array([1, 2, 3]), mx.np.array([4, 5, 6]))
    array([-3.,  6., -3.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    return call("_npi_cross", promoted((a, b)), axisa=axisa, axisb=axisb, axisc=axisc)


def trace(a, offset=0, axis1=0, axis2=1, out=None, *, dtype=None):
    """Sums of diagonals: of the matrices along `axis1` and `axis2`, `offset` above the main one.

    The result has the dtype of `a`, or `dtype`; NumPy's sums of small integers are wider. Truth
    values are counted, as int64.

    Examples
    --------
    >>> mx.np.trace(mx.np.eye(3))
    array(3.)
    """
    a = operand(a)
    if dtype is None and not is_symbol(a) and a.dtype == onp.bool_:
        dtype = "int64"
    if dtype is not None:
        a = call("_npi_cast", (a,), dtype=dtype_name(dtype))
    return call("_npi_trace", (a,), out, offset=offset, axis1=axis1, axis2=axis2)


def polyval(p, x):
    """``p[0] * x**(n-1) + ... + p[n-1]`` for each element of `x`, an array of any shape.

    Differentiable in both. A polynomial of NumPy (`poly1d`) in place of `x` is refused.

    Examples
    --------
    >>> mx.np.polyval(mx.np.array([3, 0, 1]), mx.np.array([5, 2]))
    array([76., 13.])
    """
    return call("_npi_polyval", promoted((p, x)))


def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation at `x` between the points (`xp`, `fp`); `xp` ascends.

    `x` is a number or an array of any shape, the result has that shape and dtype float64. Below and
    above `xp` it is `left` and `right`, or the first and the last of `fp`. With `period`, `x` and
    `xp` are angles. Differentiable in all three.

    Examples
    --------
    >>> mx.np.interp(2.5, mx.np.array([1, 2, 3]), mx.np.array([3, 2, 0]))
    array(1., dtype=float64)
    """
    options = {"left": left, "right": right, "period": period}
    array = next((v for v in (x, xp, fp) if isinstance(v, NDArrayBase)), None)
    xp, fp = (operand(v, like=array) for v in (xp, fp))
    number = type(x) in (int, float)
    if not is_symbol(xp) and is_traced() and not (number and is_deferred_compute()) and xp.size > 1 and period != 0:
        return _recorded_interp(operand(x, like=array), xp, fp, left, right, period)
    if number:
        return call("_npi_interp", (xp, fp), x_scalar=float(x), x_is_scalar=True, **options)
    return call("_npi_interp", (xp, fp, operand(x, like=array)), **options)


def _one_turn(x, xp, fp, period):
    """Places within one period, the points in their order, with one more at each end."""
    x, xp = x % period, xp % period
    order = call("argsort", (xp,), dtype="int64")
    xp, fp = (call("_npi_take", (v, order), axis=0, mode="clip") for v in (xp, fp))
    ends = (xp[-1:] - period, xp, xp[:1] + period), (fp[-1:], fp, fp[:1])
    return (x, *(call("_npi_concatenate", parts, dim=0) for parts in ends))


def _recorded_interp(x, xp, fp, left, right, period):
    """:func:`interp` made of operators that have gradients: the places are looked up, the line
    between two points is computed."""
    x, xp, fp = (call("_npi_cast", (v,), dtype="float64") for v in (x, xp, fp))
    if period is not None:
        x, xp, fp = _one_turn(x, xp, fp, abs(float(period)))
        left = right = None     # there is nothing beyond
    last = xp.size - 1
    place = call("clip", (call("_searchsorted", (xp, x), right=True),), a_min=1, a_max=last)
    ends = place - 1, place
    (x0, x1), (y0, y1) = ([call("_npi_take", (v, p), axis=0, mode="clip") for p in ends] for v in (xp, fp))
    inside = y0 + (x - x0) * (y1 - y0) / (x1 - x0)
    for beyond, value, end in ((x < xp[0], left, 0), (x > xp[last], right, last)):
        value = fp[end] if value is None else operand(float(value), like=x).astype("float64")
        inside = call("_npi_where", (beyond, value, inside))
    return inside


def vecdot(x1, x2, axis=-1):
    """Sums of products along one dimension; the others are broadcast.

    Examples
    --------
    >>> mx.np.vecdot(mx.np.ones((2, 3)), mx.np.array([1, 2, 3]))
    array([6., 6.])
    """
    x1, x2 = promoted((x1, x2))
    if axis != -1:
        x1, x2 = (call("_np_moveaxis", (v,), source=(axis,), destination=(-1,)) for v in (x1, x2))
    return call("_npi_einsum", (x1, x2), num_args=2, subscripts="...i,...i->...")
