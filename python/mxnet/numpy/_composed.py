"""Functions of mx.np that are made of other functions, and so have gradients and run on every
device: choosing along an axis, cases, integrals, differences."""

import functools

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, is_traced
from ._creation import arange
from ._dispatch import call, deliver, is_symbol, operand, promoted
from ._joining import axis_of, concatenate, entries, shape_of
from ._manipulation import flip, ravel
from ._searching import _on_host, comparable, sort, where
from ._cumulative import _scanned
from ._ufuncs import call_as_ufunc, true_divide
from .type_functions import result_type

__all__ = [
    "take_along_axis", "select", "heaviside", "trapz", "trapezoid", "vander", "msort", "isin",
    "in1d", "nanargmax", "nanargmin", "gradient",
    "sinc", "exp2", "angle", "block", "copyto", "put_along_axis",
]  # fmt: skip


def _places(arr, indices, axis, function):
    """The key of the entries along a dimension at these indices."""
    shape, places = shape_of(function, arr), shape_of(function, indices)
    if len(shape) != len(places):
        raise ValueError(
            f"[{function}] {len(places)} dimensions of indices for {len(shape)} of the array; "
            "accepted: as many"
        )
    if getattr(indices.dtype, "kind", "f") not in "iu":
        raise IndexError(f"[{function}] indices are {indices.dtype}; accepted: integers")
    axis = axis_of(function, axis, len(shape))
    key = []
    for i, size in enumerate(shape):
        if i == axis:
            key.append(indices)
            continue
        sizes = tuple(size if j == i else 1 for j in range(len(shape)))
        line = arange(0, size, dtype="int64", device=arr.context)
        key.append(call("_npi_reshape", (line,), newshape=sizes))
    return tuple(key)


def take_along_axis(arr, indices, axis=-1):
    """For each place of `indices`, integers, the entry of `arr` at that index along `axis` and at
    the same place else; without axis (None) of `arr` taken as a vector. The other dimensions
    broadcast. Differentiable.

    Examples
    --------
    >>> x = mx.np.array([[3, 1, 2], [6, 5, 4]])
    >>> mx.np.take_along_axis(x, mx.np.argsort(x, axis=1), axis=1)
    array([[1., 2., 3.],
           [4., 5., 6.]])
    """
    arr = operand(arr)
    indices = operand(indices, like=arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    return arr[_places(arr, indices, axis, "take_along_axis")]


def _is_number(value):
    return type(value) in (bool, int, float)


def select(condlist, choicelist, default=0):
    """For each element that of the first array of `choicelist` whose condition, a bool, is true
    there; `default` where none is. Arrays broadcast, and their dtypes meet. Differentiable.

    Examples
    --------
    >>> x = mx.np.arange(4)
    >>> mx.np.select([x < 1, x > 2], [x - 10, x * 10])
    array([-10.,   0.,   0.,  30.])
    """
    condlist, choicelist = list(condlist), list(choicelist)
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"[select] {len(condlist)} conditions for {len(choicelist)} arrays; accepted: as many, "
            "and one at least"
        )
    conditions = [operand(c) for c in condlist]
    for condition in conditions:
        if not is_symbol(condition) and condition.dtype != onp.bool_:
            raise TypeError(f"[select] a condition is {condition.dtype}; accepted: bool")
    arrays = [c for c in choicelist if isinstance(c, NDArrayBase)]
    if arrays:
        # Numbers take the dtype in which the arrays meet, wherever they stand.
        met = promoted(arrays)
        dtype = result_type(met[0], *[c for c in [*choicelist, default] if _is_number(c)])
        after = iter(met)
        choicelist = [next(after) if isinstance(c, NDArrayBase) else c for c in choicelist]
        *choicelist, default = [
            operand(c, met[0], dtype) if _is_number(c) else c for c in [*choicelist, default]
        ]
    result = default
    for condition, choice in zip(reversed(conditions), reversed(list(choicelist))):
        result = where(condition, choice, result)
    return result


def _heaviside(x1, x2):
    like = x1 if isinstance(x1, NDArrayBase) else x2
    if _is_plain(x1) and not is_symbol(x2):    # a number of Python takes the float of the array beside it
        x1 = operand(x1, like, true_divide(x2, 1).dtype)
    x1 = true_divide(operand(x1, like=like), 1)
    above = call("_npi_greater_scalar", (x1,), scalar=0.0, is_int=False)
    steps = call("_npi_where", (call("_npi_isnan", (x1,)), x1, above.astype(x1.dtype)))
    at_zero = call("_npi_equal_scalar", (x1,), scalar=0.0, is_int=False)
    return where(at_zero, x2, steps)


def heaviside(x1, x2, out=None, where=True, **kwargs):    # pylint: disable=redefined-outer-name
    """The step function: 0 below 0, 1 above, `x2` at 0, NaN for NaN. Operands broadcast, and their
    dtypes meet; integers become floats. `where` and others are those of NumPy's ufuncs.

    Examples
    --------
    >>> mx.np.heaviside(mx.np.array([-1.5, 0, 2]), 0.5)
    array([0. , 0.5, 1. ])
    """
    return call_as_ufunc("heaviside", _heaviside, (x1, x2), "float", out, where, kwargs)


def _is_plain(value):
    return isinstance(value, (bool, int, float))


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along a dimension by the trapezoidal rule, at places `x`, which broadcast with
    `y`, or at distances `dx`. Differentiable.

    Examples
    --------
    >>> mx.np.trapezoid(mx.np.array([1, 2, 3]), dx=2)
    array(8.)
    """
    y = operand(y)
    along = axis_of("trapezoid", axis, len(shape_of("trapezoid", y)))
    size = y.shape[along]
    if x is None and size > 2 and _is_plain(dx) and "float" in _dtypes.name(y.dtype):
        ends = entries(y, along, 0, 1) + entries(y, along, size - 1, size)      # which count half
        inner = call("_npi_sum", (entries(y, along, 1, size - 1),), axis=(along,))
        return (inner + call("_npi_sum", (ends,), axis=(along,)) * 0.5) * dx
    middle = true_divide(_shifted(y, along, 1) + _shifted(y, along, 0), 2)
    if x is None:
        return call("_npi_sum", (middle * dx,), axis=(along,))
    x = operand(x, like=y)
    own = 0 if x.ndim == 1 else axis_of("trapezoid", axis, x.ndim)
    after, before = _shifted(x, own, 1), _shifted(x, own, 0)
    steps = after != before if x.dtype == onp.bool_ else after - before
    if x.ndim == 1:
        return call("_npi_sum", (middle * call("_npi_reshape", (steps,), newshape=tuple(-1 if i == along else 1 for i in range(y.ndim))),),
                    axis=(along,))
    terms = middle * steps
    return call("_npi_sum", (terms,), axis=(axis_of("trapezoid", axis, terms.ndim),))


def trapz(y, x=None, dx=1.0, axis=-1):
    """Another name of :func:`trapezoid`, which NumPy 1 has.

    Examples
    --------
    >>> mx.np.trapz(mx.np.array([1, 2, 3]), mx.np.array([0, 1, 3]))
    array(6.5)
    """
    return trapezoid(y, x, dx, axis)


def _shifted(a, axis, by):
    """All entries of a dimension but the first, or but the last."""
    size = a.shape[axis]
    return entries(a, axis % a.ndim, by, size - 1 + by)


_FEW_POWERS = 16


def vander(x, N=None, increasing=False):  # pylint: disable=invalid-name
    """The powers of each element of a vector, `N` of them (or as many as elements), the highest
    first unless they are `increasing`: a matrix, float64 or int64 as in NumPy. Differentiable.

    Examples
    --------
    >>> mx.np.vander(mx.np.array([1, 2, 3]), 3)
    array([[1., 1., 1.],
           [4., 2., 1.],
           [9., 3., 1.]], dtype=float64)
    """
    x = operand(x)
    shape = shape_of("vander", x)
    if len(shape) != 1:
        raise ValueError(f"[vander] an array of shape {shape}; accepted: a vector")
    count = shape[0] if N is None else int(N)
    if getattr(x.dtype, "name", "bfloat16") != "bfloat16":
        x = call("_npi_cast", (x,), dtype=onp.promote_types(x.dtype, "int64").name)
    column = call("_npi_reshape", (x,), newshape=(shape[0], 1))
    ones = call("ones_like", (column,))
    if count < 1:
        return entries(column, 1, 0, 0)
    if count <= _FEW_POWERS:    # products of vectors are faster than a scan of short rows
        powers = [ones, column][:count]
        while len(powers) < count:
            powers.append(call("_npi_multiply", (powers[-1], column)))
        return concatenate(powers if increasing else powers[::-1], 1)
    columns = [ones] + [column] * (count - 1)
    powers = _scanned(concatenate(columns, 1), 1, count)
    return powers if increasing else flip(powers, 1)


def msort(a):
    """The array with its first dimension in order, as ``sort(a, axis=0)``.

    Examples
    --------
    >>> mx.np.msort(mx.np.array([[3, 1], [2, 4]]))
    array([[2., 1.],
           [3., 4.]])
    """
    return sort(a, axis=0)


# So few elements are compared with each of so many; more are searched for.
_FEW, _MANY = 8, 16384


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among those of another array (with `invert`: is not), as bool in the
    shape of `element`. `assume_unique` and `kind` are NumPy's and have no effect.

    Examples
    --------
    >>> mx.np.isin(mx.np.array([[0, 2], [4, 6]]), [2, 6])
    array([[False,  True],
           [False,  True]])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"[isin] kind={kind!r}; accepted: None, sort, table")
    del assume_unique
    like = element if isinstance(element, NDArrayBase) else test_elements
    element, among = comparable(operand(element, like), ravel(operand(test_elements, like)))
    if is_symbol(among) or is_symbol(element) or is_traced():   # sizes may depend on values
        among = sort(among)
        behind, before = (call("_searchsorted", (among, element), right=right) for right in (True, False))
        # NaN equals nothing, itself included.
        found = call("_npi_logical_and", (call("_npi_greater", (behind, before)), call("_npi_equal", (element, element))))
    elif not among.size:
        found = call("_npi_zeros", (), shape=tuple(element.shape), dtype="bool", ctx=str(element.context))
    elif among.size <= _FEW and element.size >= _MANY:
        ones = [call("slice_axis", (among,), axis=0, begin=i, end=i + 1) for i in range(among.size)]
        found = functools.reduce(
            lambda x, y: call("_npi_logical_or", (x, y)), [call("_npi_equal", (element, one)) for one in ones]
        )
    else:
        among = sort(among)
        places = call("_searchsorted", (among, element), right=False)
        found = call("_npi_equal", (call("_npi_take", (among, places), axis=0, mode="clip"), element))
    return call("_npi_logical_not", (found,)) if invert else found


def in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
    """:func:`isin` of an array taken as a vector.

    Examples
    --------
    >>> mx.np.in1d(mx.np.array([0, 2, 4]), [2, 6])
    array([False,  True, False])
    """
    return ravel(isin(ar1, ar2, assume_unique, invert, kind=kind))


def _nan_place(name, a, axis, out, keepdims):
    function = getattr(onp, name)
    a = operand(a)
    found = function(*_on_host(name, a), axis=axis, **({"keepdims": True} if keepdims else {}))
    return deliver(operand(onp.asarray(found, "int64"), like=a), out)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The index of the largest element that is a number, as int64; along a dimension, or of the
    array taken as a vector. Only NaN is a ValueError. Computed on the host.

    Examples
    --------
    >>> mx.np.nanargmax(mx.np.array([1, mx.np.nan, 3])).item()
    2
    """
    return _nan_place("nanargmax", a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The index of the smallest element that is a number; see :func:`nanargmax`.

    Examples
    --------
    >>> mx.np.nanargmin(mx.np.array([mx.np.nan, 1, 3])).item()
    1
    """
    return _nan_place("nanargmin", a, axis, out, keepdims)


def _along(f, axis, steps, edge_order):
    """The derivative along a dimension; `steps`: a number, or the distances of neighbours."""
    size = f.shape[axis]

    def part(begin, end):
        return entries(f, axis, begin, size + end)

    sizes = tuple(-1 if i == axis else 1 for i in range(f.ndim))
    if _is_plain(steps):
        inner = (part(2, 0) - part(0, -2)) / (2.0 * steps)
        first = last = float(steps)
        weights = (-1.5 / first, 2.0 / first, -0.5 / first), (0.5 / last, -2.0 / last, 1.5 / last)
    else:
        before, after = steps[:-1], steps[1:]
        a, b, c = -after / (before * (before + after)), (after - before) / (before * after), None
        c = before / (after * (before + after))
        a, b, c = (operand(w.reshape(sizes), like=f).astype(f.dtype) for w in (a, b, c))
        inner = a * part(0, -2) + b * part(1, -1) + c * part(2, 0)
        first, last = float(steps[0]), float(steps[-1])
        weights = (), ()
        if edge_order == 2:
            d, e = float(steps[1]), float(steps[-2])
            weights = (
                (-(2 * first + d) / (first * (first + d)), (first + d) / (first * d),
                 -first / (d * (first + d))),
                (last / (e * (e + last)), -(last + e) / (e * last),
                 (2 * last + e) / (last * (e + last))),
            )  # fmt: skip

    def at(i):
        return entries(f, axis, i, i + 1)

    if edge_order == 1:
        edges = (at(1) - at(0)) / first, (at(size - 1) - at(size - 2)) / last
    else:
        edges = (
            weights[0][0] * at(0) + weights[0][1] * at(1) + weights[0][2] * at(2),
            weights[1][0] * at(size - 3)
            + weights[1][1] * at(size - 2)
            + weights[1][2] * at(size - 1),
        )
    return concatenate((edges[0], inner, edges[1]), axis) if size > 2 else concatenate(edges, axis)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Derivatives along each dimension (or those of `axis`) by central differences, one-sided ones
    at the ends: an array, or a tuple of arrays for several dimensions.

    `varargs`: the distance of neighbours, for all or for each dimension; or vectors of coordinates.
    `edge_order` 2 takes three elements at the ends. Integers become floats. Differentiable.

    Examples
    --------
    >>> mx.np.gradient(mx.np.array([1, 2, 4, 7]))
    array([1. , 1.5, 2.5, 3. ])
    """
    f = operand(f)
    if is_symbol(f) or "float" not in _dtypes.name(f.dtype):
        f = true_divide(f, 1)
    shape = shape_of("gradient", f)
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = [axis_of("gradient", a, len(shape)) for a in axes]
    if edge_order not in (1, 2):
        raise ValueError(f"[gradient] edge_order={edge_order!r}; accepted: 1, 2")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(
            f"[gradient] {len(varargs)} distances for {len(axes)} dimensions; accepted: none, one, "
            "or one for each"
        )
    given = list(varargs or (1.0,)) * (len(axes) if len(varargs) <= 1 else 1)
    results = []
    for a, distance in zip(axes, given):
        if shape[a] < edge_order + 1:
            raise ValueError(
                f"[gradient] {shape[a]} entries in dimension {a}; accepted: {edge_order + 1} or "
                "more"
            )
        steps = distance.asnumpy() if isinstance(distance, NDArrayBase) else onp.asarray(distance)
        if steps.ndim == 0:
            results.append(_along(f, a, float(steps), edge_order))
            continue
        if steps.shape != (shape[a],):
            raise ValueError(
                f"[gradient] coordinates of shape {steps.shape} for {shape[a]} entries; accepted: "
                "one for each"
            )
        results.append(_along(f, a, onp.diff(steps.astype("float64")), edge_order))
    return results[0] if len(results) == 1 else tuple(results)


def sinc(x):
    """``sin(pi * x) / (pi * x)``, and 1 at 0. Integers become floats. Differentiable.

    Examples
    --------
    >>> mx.np.sinc(mx.np.array([0, 0.5])).round(4)
    array([1.    , 0.6366])
    """
    if _is_plain(x):
        return onp.sinc(x)
    angle_ = true_divide(operand(x), 1) * onp.pi
    at_zero = call("_npi_equal_scalar", (angle_,), scalar=0.0, is_int=False)
    safe = call("_npi_where_lscalar", (at_zero, angle_), scalar=1.0)
    waves = true_divide(call("_npi_sin", (safe,)), safe)
    return call("_npi_where_lscalar", (at_zero, waves), scalar=1.0)


def _exp2(x):
    if is_symbol(x) or "float" not in _dtypes.name(x.dtype):
        x = true_divide(x, 1)
    return call("_npi_rpower_scalar", (x,), scalar=2.0, is_int=False)


def exp2(x, out=None, where=True, **kwargs):    # pylint: disable=redefined-outer-name
    """2 to the power of each element; integers become floats. `where` and others are those of
    NumPy's ufuncs. Differentiable.

    Examples
    --------
    >>> mx.np.exp2(mx.np.array([0, 3, -1]))
    array([1. , 8. , 0.5])
    """
    if out is None and where is True and not kwargs and isinstance(x, NDArrayBase):
        return _exp2(x)
    return call_as_ufunc("exp2", _exp2, (x,), "float", out, where, kwargs)


def angle(z, deg=False):
    """The angle of each number from the positive axis: 0, or pi below 0 (180 with `deg`); of a
    complex array of NumPy that of NumPy, as an array of mx.np.

    Examples
    --------
    >>> mx.np.angle(mx.np.array([1, -1]), deg=True)
    array([  0., 180.])
    """
    if isinstance(z, NDArrayBase) or is_symbol(z):
        z = true_divide(z, 1)
        found = call("_npi_arctan2", (call("zeros_like", (z,)), z))
        return call("_npi_degrees", (found,)) if deg else found
    found = onp.angle(z, deg)
    return operand(found) if getattr(found, "ndim", 0) else found


def block(arrays):
    """Arrays put together by nested lists: the innermost along the last dimension, those around it
    along the one before, and so on. Differentiable.

    Examples
    --------
    >>> one = mx.np.ones((2, 2))
    >>> mx.np.block([[one, one * 2], [mx.np.zeros((1, 4))]])
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.],
           [0., 0., 0., 0.]])
    """

    def depth(part):
        return 1 + max(map(depth, part), default=0) if isinstance(part, list) else 0

    def deepest(part):
        return max(map(deepest, part)) if isinstance(part, list) else operand(part).ndim

    levels = depth(arrays)
    ndim = max(levels, deepest(arrays))

    def joined(part, level):
        if isinstance(part, list):
            return concatenate([joined(p, level - 1) for p in part], axis=-level)
        part = operand(part)
        return call("_npi_reshape", (part,), newshape=(1,) * (ndim - part.ndim) + tuple(part.shape))

    return joined(arrays, levels)


def copyto(dst, src, casting="same_kind", where=True):
    """Writes `src`, broadcast, into the array `dst`, where a bool array says so. `casting`
    "same_kind" refuses floats for integers; "unsafe" cuts fractions off.

    Examples
    --------
    >>> x = mx.np.zeros(3)
    >>> mx.np.copyto(x, 7, where=mx.np.array([True, False, True], dtype="bool"))
    >>> x
    array([7., 0., 7.])
    """
    if not isinstance(dst, NDArrayBase):
        raise TypeError(f"[copyto] dst is a {type(dst).__name__}; accepted: an array of mx.np")
    plain = _is_plain(src)
    if plain and casting != "unsafe" and onp.asarray(src).dtype.kind == "f" and "float" not in _dtypes.name(dst.dtype):
        raise TypeError(f"[copyto] {src!r} into {dst.dtype}; accepted by {casting!r}: what it casts")
    src = operand(src, like=dst, dtype=dst.dtype if plain else None)
    if casting != "unsafe" and not onp.can_cast(_dtypes.name(src.dtype), _dtypes.name(dst.dtype), casting):
        raise TypeError(
            f"[copyto] {src.dtype} into {dst.dtype}; accepted by {casting!r}: what it casts"
        )
    spare = max(src.ndim - dst.ndim, 0)
    if set(src.shape[:spare]) == {1}:       # leading dimensions of one are left out, as in NumPy
        src = call("_npi_reshape", (src,), newshape=src.shape[spare:])
    values = call("_npi_broadcast_to", (src.astype(dst.dtype),), shape=tuple(dst.shape))
    if where is not True:
        mask = call("_npi_broadcast_to", (operand(where, like=dst),), shape=tuple(dst.shape))
        values = call("_npi_where", (mask, values, dst))
    dst[()] = values


def put_along_axis(arr, indices, values, axis):
    """Writes `values`, which broadcast, into an array at the places that :func:`take_along_axis`
    reads.

    Examples
    --------
    >>> x = mx.np.zeros((2, 3))
    >>> mx.np.put_along_axis(x, mx.np.array([[1], [2]], dtype="int64"), 5, axis=1)
    >>> x
    array([[0., 5., 0.],
           [0., 0., 5.]])
    """
    indices = operand(indices, like=arr)
    if axis is None:
        arr[onp.unravel_index(indices.asnumpy() % arr.size, arr.shape)] = values
        return
    arr[_places(arr, indices, axis, "put_along_axis")] = values
