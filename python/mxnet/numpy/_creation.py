"""Functions of mx.np that make arrays: of values, of one value, of ranges, grids and windows."""
import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, array_of, array_of_lists, filled
from ..context import cpu, current_context
from ..ndarray._dlpack import from_dlpack as _from_dlpack
from ..ndarray import _native
from ..ndarray._native import _as_shape, _handle, _handle_of, shared
from ..util import is_np_default_dtype
from . import _dispatch
from ._array import ndarray
from ._dispatch import (_mode, call, check_order, check_out, compiled, default_float, deliver, device_of, dtype_name, empty_array,
                        from_values, is_symbol, operand, place_name)

__all__ = ["array", "asarray", "ascontiguousarray", "from_dlpack", "copy", "empty", "zeros", "ones", "full", "empty_like", "zeros_like",
           "ones_like", "full_like", "arange", "linspace", "logspace", "indices", "meshgrid", "blackman", "hamming", "hanning"]


_NUMBERS = {int, float, bool}


def _plain(values):
    """`values` with NumPy arrays in place of arrays of mx.np in lists."""
    if isinstance(values, NDArrayBase):
        return values.asnumpy()
    if isinstance(values, (list, tuple)) and not _NUMBERS.issuperset(map(type, values)):
        return [_plain(v) for v in values]
    return values


def results(out):
    """The results of a call as a list, of symbols as well."""
    if is_symbol(out):
        return [out._output(i) for i in range(out.num_outputs)]
    return list(out) if isinstance(out, (list, tuple)) else [out]


# ---- of values

@compiled("_npi_copy", "array")
def array(object, dtype=None, ctx=None, device=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):   # noqa: E501 pylint: disable=redefined-builtin
    """A new array with the values of numbers, nested lists, or another array.

    With `copy` None an array of mx.np that fits is returned itself, and False refuses to copy, as
    in :func:`asarray`. Dimensions of size 1 are put in front until there are `ndmin`. `order`,
    `subok` and `like` are NumPy's; arrays lie in memory row by row.

    Without `dtype`, arrays and scalars of mx.np and of NumPy keep theirs. Python's numbers and
    lists become float32, or float64 with ``npx.set_np(dtype=True)``.

    Raises
    ------
    ValueError
        For an array of mx.nd: its ``as_np_ndarray()`` gives one of mx.np without a copy.
    TypeError
        For what is no rectangular collection of real numbers. Texts are read as numbers, and None
        among floats is NaN.

    Examples
    --------
    >>> mx.np.array([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    if order != "K":
        check_order("array", order)
    device = None if ctx is None and device is None else device_of(ctx, device)
    if not copy and (copy is False or isinstance(object, ndarray)):
        made = asarray(object, dtype, device, copy)
    else:
        made = _new_array(object, dtype, device)
    if not ndmin or ndmin <= made.ndim:
        return made
    return call("_npi_reshape", (made,), newshape=(1,) * (ndmin - made.ndim) + tuple(made.shape))


def _new_array(object, dtype, device):   # pylint: disable=redefined-builtin
    kind = type(object)
    if kind is list:        # what most programs give
        device = device or current_context()
        number = _dtypes.number(default_float() if dtype is None else dtype)
        made = array_of_lists(object, device.device_typeid, device.device_id, number, True)
        if made is not None:
            return made
    if kind in _NUMBERS or kind is list and _NUMBERS.issuperset(map(type, object)):
        number = _dtypes.number(default_float() if dtype is None else dtype)
        if number < 2:      # float32 and float64 take all numbers
            try:
                values = onp.array(object, _dtypes.TYPES[number])
            except OverflowError:       # a whole number that no float can be
                return _native.from_values(object, device or current_context(), dtype, True, True)
            device = device or current_context()
            return array_of(values, device.device_typeid, device.device_id, number, True)
    if isinstance(object, NDArrayBase):
        if not isinstance(object, ndarray):
            raise ValueError("[array] got an array of mx.nd; accepted: an array of mx.np, which as_np_ndarray() gives without a copy")
        out = call("_npi_copy", (object,)) if device is None or device == object.context else object.copyto(device)
        return out if dtype is None or _dtypes.number(dtype) == out._dtype_id else call("_npi_cast", (out,), dtype=dtype_name(dtype))
    if dtype is None:
        own = getattr(object, "dtype", None) if isinstance(object, (onp.ndarray, onp.generic)) else None
        dtype = own if own is not None and _dtypes.exists(own) else default_float()
    return _native.from_values(_plain(object), device or current_context(), dtype, True, True)


@compiled("_npi_copy", "as_array")
def asarray(obj=None, dtype=None, device=None, copy=None, *, a=None, order=None, like=None):   # pylint: disable=redefined-outer-name
    """`obj` itself if it is an array of mx.np of that dtype and on that device; otherwise a new
    array.

    Python's numbers become bool, int64 or the default float; everything else as :func:`array` says.
    `copy` True makes a new array in any case; False refuses to. `a` is NumPy's name of `obj`;
    `order` and `like` are NumPy's.

    Examples
    --------
    >>> x = mx.np.ones(2)
    >>> mx.np.asarray(x) is x
    True
    """
    if order is not None:
        check_order("asarray", order)
    obj = obj if a is None else a
    if isinstance(obj, ndarray):
        same = (dtype is None or _dtypes.number(dtype) == obj._dtype_id) and (device is None or device_of(None, device) == obj.context)
        if same and not copy:
            return obj
    if copy is False:
        raise ValueError("[asarray] copy=False, but a copy is needed; accepted: copy=None")
    if isinstance(obj, (bool, int, float)) and dtype is None:
        dtype = _dispatch.natural_dtype(obj)
    return array(obj, dtype, device=device)


def ascontiguousarray(a, dtype=None, *, like=None):
    """`a` as an array of at least one dimension; arrays of mx.np are contiguous.

    Examples
    --------
    >>> mx.np.ascontiguousarray(3.0)
    array([3.])
    """
    return call("_npi_atleast_1d", (asarray(a, dtype),))


def from_dlpack(x, /, *, device=None, copy=None):
    """An array on the memory of another library's array or of a DLPack capsule; a copy of it, if
    `copy` is true. On another `device`, and where elements do not lie row by row, it is a copy,
    which copy=False refuses.

    Examples
    --------
    >>> mx.np.from_dlpack(onp.ones(2, "float32"))
    array([1., 1.])
    """
    try:
        found = shared(_from_dlpack(x), ndarray)
    except ValueError:
        found = None if copy is False else _copied(x)
        if found is None:
            raise
    moves = device is not None and device_of(None, device) != found.context
    if moves and copy is False:
        raise ValueError(f"[from_dlpack] copy=False from {found.context} to {device_of(None, device)}; accepted: copy=None")
    return found.copyto(device_of(None, device)) if moves else found.copy() if copy else found


def _copied(x):
    """A copy of another library's array on the host that NumPy reads; None of others."""
    try:
        return from_values(onp.from_dlpack(x), cpu())
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None


def copy(a, out=None, *, order="K", subok=False):
    """A new array with the elements of `a`. `order` and `subok` are NumPy's.

    Examples
    --------
    >>> mx.np.copy(mx.np.ones(2))
    array([1., 1.])
    """
    check_order("copy", order)
    return call("_npi_copy", (operand(a),), out)


# ---- of one value

def _filled(name, shape, dtype, order, ctx, device, function):
    if order != "C":
        check_order(function, order)
    if _mode.symbols:
        return call(name, (), shape=_as_shape(shape), dtype=dtype_name(dtype, default_float()), ctx=place_name(ctx, device))
    device = current_context() if ctx is None and device is None else device_of(ctx, device)
    number = _dtypes.number(default_float() if dtype is None else dtype)
    return filled(_handle_of.get(name) or _handle(name), None, _as_shape(shape), device.device_typeid, device.device_id, number, True)


@compiled("_npi_zeros", "blank")
def empty(shape, dtype=None, order="C", ctx=None, device=None):
    """An array with whatever the memory held.

    Examples
    --------
    >>> mx.np.empty((2, 0)).shape
    (2, 0)
    """
    check_order("empty", order)
    if _dispatch._mode.symbols:
        return zeros(shape, dtype, ctx=ctx, device=device)
    device = None if ctx is None and device is None else device_of(ctx, device)
    return empty_array(shape, device, default_float() if dtype is None else dtype)


@compiled("_npi_zeros", "make")
def zeros(shape, dtype=None, order="C", ctx=None, device=None):
    """An array of zeros: float32, or float64 with ``npx.set_np(dtype=True)``, unless `dtype` says
    otherwise.

    Examples
    --------
    >>> mx.np.zeros((2, 2))
    array([[0., 0.],
           [0., 0.]])
    """
    return _filled("_npi_zeros", shape, dtype, order, ctx, device, "zeros")


@compiled("_npi_ones", "make")
def ones(shape, dtype=None, order="C", ctx=None, device=None):
    """An array of ones: float32, or float64 with ``npx.set_np(dtype=True)``, unless `dtype` says
    otherwise.

    Examples
    --------
    >>> mx.np.ones(3)
    array([1., 1., 1.])
    """
    return _filled("_npi_ones", shape, dtype, order, ctx, device, "ones")


@compiled("_npi_full", "fill")
def full(shape, fill_value, dtype=None, order="C", ctx=None, out=None, device=None):
    """An array of one value, or of an array that is broadcast to `shape`. Its dtype is that of an
    array, bool for Python's truth values, and the default float for numbers. With
    ``npx.set_np(dtype=True)`` whole numbers give int64.

    Examples
    --------
    >>> mx.np.full((2,), 1.5)
    array([1.5, 1.5])
    """
    check_order("full", order)
    check_out("full", out)
    if isinstance(fill_value, (NDArrayBase, onp.ndarray, list, tuple)) or is_symbol(fill_value):
        value = operand(fill_value)
        value = call("_npi_broadcast_to", (value,), shape=_as_shape(shape))
        return deliver(value if dtype is None else call("_npi_cast", (value,), dtype=dtype_name(dtype)), out)
    if dtype is None:
        dtype = _dispatch.natural_dtype(fill_value) if out is None else out.dtype
        if type(fill_value) is int and out is None and not is_np_default_dtype():   # 1.x
            dtype = _dispatch.default_float()
    number = float(fill_value) if not isinstance(fill_value, int) else int(fill_value)
    place = place_name(ctx, device) if out is None else None
    return call("_npi_full", (), out, shape=_as_shape(shape), value=number, dtype=dtype_name(dtype), ctx=place)


def _like(a, value, dtype, order, ctx, device, out, function, shape=None):
    check_order(function, order)
    a = operand(a)
    if shape is not None:
        place = a.context if ctx is None and device is None else device_of(ctx, device)
        return full(shape, value, dtype_name(dtype, _dtypes.name(a.dtype)), device=place)
    result = call("_npi_full_like", (a,), out, fill_value=float(value), dtype=dtype_name(dtype))
    place = None if ctx is None and device is None else device_of(ctx, device)
    return result if out is not None or place is None or is_symbol(a) or place == result.context else result.copyto(place)


@compiled("zeros_like", "blank_like")
def empty_like(prototype, dtype=None, order="C", subok=False, shape=None, ctx=None, device=None):
    """An array of the shape and dtype of another, with whatever the memory held.

    Examples
    --------
    >>> mx.np.empty_like(mx.np.ones((2, 3))).shape
    (2, 3)
    """
    if subok:
        raise NotImplementedError("[empty_like] subok=True; accepted: False")
    if is_symbol(prototype) and shape is None:
        return _like(prototype, 0, dtype, order, ctx, device, None, "empty_like")
    prototype = operand(prototype)
    place = prototype.context if ctx is None and device is None else device_of(ctx, device)
    return empty(prototype.shape if shape is None else shape, prototype.dtype if dtype is None else dtype, order, device=place)


def zeros_like(a, dtype=None, order="C", ctx=None, out=None, device=None, *, shape=None, subok=True):
    """An array of zeros of the shape of another, or of `shape`, and of its dtype unless `dtype`
    says otherwise. `subok` is NumPy's.

    Examples
    --------
    >>> mx.np.zeros_like(mx.np.ones(2))
    array([0., 0.])
    """
    return _like(a, 0, dtype, order, ctx, device, out, "zeros_like", shape)


def ones_like(a, dtype=None, order="C", ctx=None, out=None, device=None, *, shape=None, subok=True):
    """An array of ones of the shape of another, or of `shape`, and of its dtype unless `dtype` says
    otherwise. `subok` is NumPy's.

    Examples
    --------
    >>> mx.np.ones_like(mx.np.zeros(2))
    array([1., 1.])
    """
    return _like(a, 1, dtype, order, ctx, device, out, "ones_like", shape)


def full_like(a, fill_value, dtype=None, order="C", ctx=None, out=None, device=None, *, shape=None, subok=True):
    """An array of one value, or of an array that is broadcast, of the shape of another, or of
    `shape`, and of its dtype unless `dtype` says otherwise. `subok` is NumPy's.

    Examples
    --------
    >>> mx.np.full_like(mx.np.zeros(2), 7)
    array([7., 7.])
    """
    if isinstance(fill_value, (NDArrayBase, onp.ndarray, list, tuple)) and not is_symbol(a):
        check_order("full_like", order)
        a = operand(a)
        shape, dtype = a.shape if shape is None else shape, dtype_name(dtype, _dtypes.name(a.dtype))
        return full(shape, fill_value, dtype, ctx=ctx, out=out, device=device)
    return _like(a, fill_value, dtype, order, ctx, device, out, "full_like", shape)


# ---- ranges

@compiled("_npi_arange", "make")
def arange(start=None, stop=None, step=1, dtype=None, ctx=None, device=None, *, like=None):
    """Values from `start` up to but without `stop`, `step` apart; from 0 to `start` if it is alone.
    float32 also for integers, unless `dtype` says otherwise; with ``npx.set_np(dtype=True)`` int64
    for integers and float64 for others.

    Examples
    --------
    >>> mx.np.arange(1, 7, 2)
    array([1., 3., 5.])
    """
    if step is None:
        step = 1
    if step == 0:
        raise ZeroDivisionError("[arange] step is 0; accepted: any other number")
    if start is None and stop is not None:
        start, stop = stop, None
    if start is None:
        raise TypeError("[arange] start and stop are None; accepted: a number for one of them")
    if dtype is None:
        dtype = "float32"
        if is_np_default_dtype():
            whole = all(isinstance(v, (int, onp.integer)) for v in (start, stop, step) if v is not None)
            dtype = "int64" if whole else "float64"
    if stop is None:
        start, stop = 0, start
    place = place_name(ctx, device)
    return call("_npi_arange", (), start=float(start), stop=float(stop), step=float(step), dtype=_dtypes.name(dtype), ctx=place)


def _count(function, num):
    try:
        num = num.__index__()
    except AttributeError:
        raise TypeError(f"[{function}] num={num!r}; accepted: an integer") from None
    if num < 0:
        raise ValueError(f"[{function}] num={num}; must not be negative")
    return num


def _between(start, stop, num, endpoint, dtype, place, axis):
    """Values at equal distances between arrays, which are broadcast together."""
    start, stop = operand(start, like=stop), operand(stop, like=start)
    kind = "float64" if dtype is not None or "float64" in (str(start.dtype), str(stop.dtype)) else default_float()
    start, stop = (call("_npi_cast", (x,), dtype=kind) for x in (start, stop))
    parts = num - 1 if endpoint else num
    steps = call("_npi_arange", (), start=0.0, stop=float(num), step=1.0, dtype=kind, ctx=place or str(start.context))
    if parts > 0:
        steps = call("_npi_true_divide_scalar", (steps,), scalar=float(parts))
    reach = call("_npi_subtract", (stop, start))
    steps = call("_npi_reshape", (steps,), newshape=(num,) + (1,) * len(reach.shape))
    out = call("_npi_add", (call("_npi_multiply", (steps, reach)), start))
    if axis not in (0, -len(out.shape)):
        out = call("_npi_moveaxis", (out,), source=(0,), destination=(axis,))
    return out


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, ctx=None, device=None):
    """`num` values at equal distances from `start` to `stop`; without `stop` itself if `endpoint`
    is False. `start` and `stop` may be arrays: the values then go along dimension `axis`. With
    `retstep` it returns the distance, too.

    Examples
    --------
    >>> mx.np.linspace(0, 1, 3)
    array([0. , 0.5, 1. ])
    """
    num = _count("linspace", num)
    place, parts = place_name(ctx, device), num - 1 if endpoint else num
    if onp.ndim(start) == 0 and onp.ndim(stop) == 0 and not isinstance(start, NDArrayBase) and not isinstance(stop, NDArrayBase):
        # NumPy rounds towards minus infinity to whole numbers, a conversion towards zero.
        whole = dtype is not None and onp.dtype(_dtypes.TYPES[_dtypes.number(dtype)]).kind in "iu" if dtype != "bfloat16" else False
        kind = "float64" if whole else dtype_name(dtype, default_float())
        out = call("_npi_linspace", (), start=float(start), stop=float(stop), num=num, endpoint=bool(endpoint), dtype=kind, ctx=place)
        step = (float(stop) - float(start)) / parts if parts > 0 else float("nan")
    else:
        out = _between(start, stop, num, endpoint, dtype, place, axis)
        whole = dtype is not None and onp.dtype(dtype).kind in "iu"
        step = (operand(stop, like=start) - operand(start, like=stop)) / parts if parts > 0 else float("nan")
    if whole:
        out = call("_npi_floor", (out,))
    if dtype is not None:
        out = call("_npi_cast", (out,), dtype=dtype_name(dtype))
    return (out, step) if retstep else out


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None, device=None):
    """`num` powers of `base`, whose exponents are at equal distances from `start` to `stop`.

    Examples
    --------
    >>> mx.np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    num = _count("logspace", num)
    place = place_name(ctx, device)
    if onp.ndim(start) == 0 and onp.ndim(stop) == 0 and not isinstance(start, NDArrayBase) and not isinstance(stop, NDArrayBase):
        return call("_npi_logspace", (), start=float(start), stop=float(stop), num=num, endpoint=bool(endpoint), base=float(base),
                    dtype=dtype_name(dtype, default_float()), ctx=place)
    out = call("_npi_rpower_scalar", (_between(start, stop, num, endpoint, dtype, place, axis),), scalar=float(base))
    return out if dtype is None else call("_npi_cast", (out,), dtype=dtype_name(dtype))


# ---- grids and windows

def indices(dimensions, dtype=None, ctx=None, device=None, *, sparse=False):
    """The indices of every element of an array of that shape, along a new first dimension: int32
    unless `dtype` says otherwise, int64 with ``npx.set_np(dtype=True)``. With `sparse`, a tuple of
    arrays that broadcast to them.

    Examples
    --------
    >>> mx.np.indices((2, 2)).shape
    (2, 2, 2)
    """
    if not isinstance(dimensions, (list, tuple)):
        raise ValueError(f"[indices] dimensions is {dimensions!r}; accepted: a tuple of sizes")
    whole = "int64" if is_np_default_dtype() else "int32"
    if sparse:
        lines = [arange(n, dtype=dtype_name(dtype, whole), ctx=ctx, device=device) for n in dimensions]
        return tuple(call("_npi_reshape", (x,), newshape=(1,) * i + (-1,) + (1,) * (len(lines) - 1 - i)) for i, x in enumerate(lines))
    return call("_npi_indices", (), dimensions=_as_shape(dimensions), dtype=dtype_name(dtype, whole), ctx=place_name(ctx, device))


def meshgrid(*xi, indexing="xy", sparse=False, copy=True):   # pylint: disable=redefined-outer-name
    """Arrays of the coordinates of a grid, whose sides are vectors.

    `indexing` "ij": dimension i goes along vector i; "xy": the first two are exchanged. With
    `sparse` each array has one dimension that is not 1. Arrays are always new ones (`copy`).

    Examples
    --------
    >>> x, y = mx.np.meshgrid(mx.np.arange(2), mx.np.arange(3))
    >>> x
    array([[0., 1.],
           [0., 1.],
           [0., 1.]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"[meshgrid] indexing={indexing!r}; accepted: 'xy', 'ij'")
    n = len(xi)
    axes = list(range(n))
    if indexing == "xy" and n > 1:
        axes[:2] = [1, 0]
    sides = [call("_npi_reshape", (operand(x),), newshape=tuple(-1 if d == axis else 1 for d in range(n))) for x, axis in zip(xi, axes)]
    if sparse:
        return sides
    if any(is_symbol(x) for x in sides):
        return [_spread(x, axis, sides, axes) for x, axis in zip(sides, axes)]
    shape = [1] * n
    for x, axis in zip(sides, axes):
        shape[axis] = x.shape[axis]
    return [call("_npi_broadcast_to", (x,), shape=tuple(shape)) for x in sides]


def _spread(x, axis, sides, axes):
    """A side of a grid of symbols, repeated along those dimensions that the other sides lie in."""
    for other, at in zip(sides, axes):
        if at != axis:
            x = call("broadcast_like", (x, other), lhs_axes=(at,), rhs_axes=(at,))
    return x


def _window(name, points, dtype, ctx, device):
    return call(name, (), M=max(int(points), 0), dtype=dtype_name(dtype, default_float()), ctx=place_name(ctx, device))


def blackman(M, dtype=None, ctx=None, device=None):   # pylint: disable=invalid-name
    """The Blackman window of M points.

    Examples
    --------
    >>> mx.np.blackman(5).shape
    (5,)
    """
    return _window("_npi_blackman", M, dtype, ctx, device)


def hamming(M, dtype=None, ctx=None, device=None):   # pylint: disable=invalid-name
    """The Hamming window of M points.

    Examples
    --------
    >>> mx.np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window("_npi_hamming", M, dtype, ctx, device)


def hanning(M, dtype=None, ctx=None, device=None):   # pylint: disable=invalid-name
    """The Hann window of M points.

    Examples
    --------
    >>> mx.np.hanning(3)
    array([0., 1., 0.])
    """
    return _window("_npi_hanning", M, dtype, ctx, device)
