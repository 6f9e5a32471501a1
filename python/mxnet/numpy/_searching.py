"""Functions of mx.np that search, sort, choose and compare neighbours."""
import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase, is_traced
from .._arrays.tracing import is_deferred_compute
from ._creation import results
from ._dispatch import call, default_float, deliver, from_values, is_symbol, of_one_dtype, operand, promoted, promoted_dtype
from ._joining import axis_of, concatenate, shape_of, with_axis
from ._manipulation import ravel
from .set_functions import unique_all, unique_counts, unique_inverse, unique_values

__all__ = ["where", "nonzero", "flatnonzero", "argwhere", "take", "choose", "compress", "extract", "sort", "argsort", "searchsorted",
           "digitize", "unravel_index", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "diff", "ediff1d"]


_FLOATS = {_dtypes.number(name) for name in ("float16", "float32", "float64")}
_NEVER_NEGATIVE = {_dtypes.number(name) for name in ("bool", "uint8", "uint16", "uint32", "uint64")}
_INT8 = _dtypes.number("int8")


def _is_number(value):
    if type(value) in (int, float):
        return True
    return isinstance(value, (bool, int, float, onp.bool_, onp.integer, onp.floating)) and not isinstance(value, NDArrayBase)


# ---- choosing by a condition

def _holding(array, number):
    """`array` in the dtype in which it meets the number."""
    if is_symbol(array):
        return array
    if array._dtype_id in _FLOATS and type(number) in (int, float):     # which holds every number
        return array
    kind = number.item() if isinstance(number, (onp.integer, onp.bool_)) else number if type(number) in (bool, int) else float(number)
    dtype = promoted_dtype((array._dtype_id,), (kind,))
    return array if dtype == array._dtype_id else call("_npi_cast", (array,), dtype=_dtypes.NAMES[dtype])


def where(condition, x=None, y=None):
    """Elements of `x` where `condition` is not zero and of `y` elsewhere, broadcast together; with
    `condition` alone, :func:`nonzero` of it.

    `x` and `y` may be numbers. Two numbers give the default float. Arrays of several dtypes get the
    one that holds them.

    Raises
    ------
    ValueError
        If only one of `x` and `y` is given, or shapes cannot be broadcast.

    Examples
    --------
    >>> x = mx.np.array([1, -2, 3])
    >>> mx.np.where(x > 0, x, 0)
    array([1., 0., 3.])
    """
    if of_one_dtype((x, y)) and isinstance(condition, NDArrayBase):
        return call("_npi_where", (condition, x, y))
    if type(y) in (int, float) and isinstance(x, NDArrayBase) and isinstance(condition, NDArrayBase):
        return call("_npi_where_rscalar", (condition, _holding(x, y)), scalar=float(y))
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("[where] one of x and y is given; accepted: both or neither")
    like = next((v for v in (x, y, condition) if isinstance(v, NDArrayBase)), None)
    condition = operand(condition, like=like)
    if _is_number(x) and _is_number(y):
        out = call("_npi_where_scalar2", (condition,), x=float(x), y=float(y))
        return out if default_float() == "float32" else call("_npi_cast", (out,), dtype="float64")
    if _is_number(x):
        return call("_npi_where_lscalar", (condition, _holding(operand(y, like=like), x)), scalar=float(x))
    if _is_number(y):
        return call("_npi_where_rscalar", (condition, _holding(operand(x, like=like), y)), scalar=float(y))
    return call("_npi_where", (condition, *promoted((operand(x, like=like), operand(y, like=like)))))


def nonzero(a):
    """The indices, as int64, of the elements that are not zero: a tuple of one array for each
    dimension.

    Examples
    --------
    >>> [i.tolist() for i in mx.np.nonzero(mx.np.array([[0, 1], [1, 0]]))]
    [[0, 1], [1, 0]]
    """
    a = operand(a)
    ndim = max(len(shape_of("nonzero", a)) if is_symbol(a) else a.ndim, 1)
    places = call("_npi_nonzero", (a,))
    if ndim == 1 and not is_symbol(places) and not is_traced() and places.shape[0]:
        return (places._reshape_view((places.shape[0],), False),)
    turned = call("_npi_transpose", (places,))
    return tuple(turned[i] for i in range(ndim))


def argwhere(a):
    """The indices, as int64, of the elements that are not zero: one row for each.

    Examples
    --------
    >>> mx.np.argwhere(mx.np.array([[0, 1], [1, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    a = operand(a)
    places = call("_npi_nonzero", (a,))
    if is_symbol(a) or a.shape:
        return places
    return call("_npi_zeros", (), shape=(places.shape[0], 0), dtype="int64", ctx=str(a.context))


def flatnonzero(a):
    """The indices, as int64, of the elements of an array taken as a vector that are not zero.

    Examples
    --------
    >>> mx.np.flatnonzero(mx.np.array([[0, 1], [1, 0]])).tolist()
    [1, 2]
    """
    if is_deferred_compute() or size_of(a):
        return nonzero(ravel(a))[0]
    return operand(onp.zeros(0, "int64"), like=a)


def size_of(a):
    """The number of elements of something that :func:`operand` takes; 1 for a symbol."""
    if is_symbol(a):
        return 1
    return a.size if isinstance(a, NDArrayBase) else onp.size(a)


def take(a, indices, axis=None, mode="raise", out=None):
    """Entries of dimension `axis` at integer indices; without `axis` of the array taken as a
    vector.

    `mode` says what happens to indices out of range: "raise" an IndexError; "clip" them to the
    nearest; "wrap" counts around. Negative ones count from the end with "raise", and are out of
    range with "clip".

    Examples
    --------
    >>> mx.np.take(mx.np.array([5, 6, 7]), mx.np.array([0, 2], dtype="int32"))
    array([5., 7.])
    """
    if mode not in ("wrap", "clip", "raise"):
        raise NotImplementedError(f"[take] mode={mode!r}; accepted: clip, wrap, raise")
    a = operand(a)
    eager = isinstance(a, NDArrayBase) and not is_deferred_compute()
    if axis is None:
        a, axis = a if eager and a.ndim == 1 else ravel(a), 0
    else:
        a = with_axis(a, axis)
    if mode == "raise" and not is_symbol(a):
        if eager:
            mode = "from_end"
        elif _may_be_negative(indices):     # a graph of operators that 2.0 has
            indices = _from_the_start(operand(indices, like=a), a.shape[axis])
    indices = operand(indices, like=a)
    return call("_npi_take", (a, indices), out, axis=int(axis), mode=mode)


def _may_be_negative(indices):
    if isinstance(indices, NDArrayBase):
        return indices._dtype_id not in _NEVER_NEGATIVE
    return not is_symbol(indices) and bool(onp.any(onp.less(indices, 0)))


def _from_the_start(indices, size):
    """`indices` with `size` added to negative ones, which the operator refuses with "raise". Those
    that are out of range stay, so that the error names them."""
    if indices._dtype_id == _INT8:      # which need not hold the sum
        indices = call("_npi_cast", (indices,), dtype="int64")
    negative = call("_npi_less_scalar", (indices,), scalar=0.0, is_int=True)
    inside = call("_npi_greater_equal_scalar", (indices,), scalar=float(-size), is_int=True)
    counted = call("_npi_add_scalar", (indices,), scalar=float(size), is_int=True)
    return call("_npi_where", (call("_npi_logical_and", (negative, inside)), counted, indices))


def choose(a, choices, out=None, mode="raise"):
    """Element by element one of several arrays, of which `a` gives the number; broadcast together.

    Examples
    --------
    >>> mx.np.choose(mx.np.array([0, 1], dtype="int64"), [mx.np.array([1, 2]), mx.np.array([3, 4])])
    array([1., 4.])
    """
    if mode not in ("wrap", "clip", "raise"):
        raise ValueError(f"[choose] mode={mode!r}; accepted: clip, wrap, raise")
    choices = promoted(list(choices))
    if not choices:
        raise ValueError("[choose] got no arrays; accepted: one or more")
    a = operand(a, like=choices[0])
    if a.dtype == _dtypes.bfloat16 or onp.dtype(a.dtype).kind not in "iub":
        raise TypeError(f"[choose] a is {a.dtype}; accepted: integers")
    values, n = a.asnumpy(), len(choices)
    if mode == "raise" and values.size and (values.min() < 0 or values.max() >= n):
        raise ValueError(f"[choose] a number out of range; accepted: 0 to {n - 1}")
    a = operand((onp.clip(values, 0, n - 1) if mode == "clip" else values % n).astype("int64"), like=a)
    result = choices[0]
    for i, other in enumerate(choices[1:], 1):
        result = call("_npi_where", (call("_npi_equal_scalar", (a,), scalar=i), other, result))
    to = onp.broadcast_shapes(tuple(a.shape), tuple(result.shape))
    return deliver(result if tuple(result.shape) == to else call("_npi_broadcast_to", (result,), shape=to), out)


def compress(condition, a, axis=None, out=None):
    """The entries of a dimension for which `condition`, a vector, is not zero; without `axis` of
    the array taken as a vector. Entries behind the end of `condition` are left out.

    Examples
    --------
    >>> mx.np.compress([True, False, True], mx.np.array([5, 6, 7]))
    array([5., 7.])
    """
    traced = is_deferred_compute() and isinstance(condition, NDArrayBase)
    if not traced:
        condition = condition.asnumpy() if isinstance(condition, NDArrayBase) else onp.asarray(condition)
    if condition.ndim != 1:
        raise ValueError(f"[compress] condition has {condition.ndim} dimensions; accepted: a vector")
    a = operand(a)
    a = ravel(a) if axis is None else with_axis(a, axis)
    axis = 0 if axis is None else axis_of("compress", axis, a.ndim)
    if traced:
        return call("take", (a, flatnonzero(condition)), out, axis=int(axis), mode="raise")
    places = onp.flatnonzero(condition)
    if places.size and places[-1] >= a.shape[axis]:
        raise IndexError(f"[compress] condition chooses entry {places[-1]}; accepted: 0 to {a.shape[axis] - 1}")
    return call("_npi_take", (a, operand(places.astype("int64"), like=a)), out, axis=int(axis), mode="clip")


def extract(condition, arr):
    """The elements of `arr`, taken as a vector, for which `condition` is not zero.

    Examples
    --------
    >>> x = mx.np.array([1, 2, 3])
    >>> mx.np.extract(x > 1, x)
    array([2., 3.])
    """
    return take(arr, flatnonzero(operand(condition, arr)))


# ---- order

def _order_arguments(function, kind, order, descending):
    if order is not None:
        raise NotImplementedError(f"[{function}] order={order!r}; accepted: None")
    if isinstance(kind, bool):   # 2.0's third argument
        return kind
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(f"[{function}] kind={kind!r}; accepted: None, quicksort, mergesort, heapsort, stable")
    return bool(descending)


def sort(a, axis=-1, kind=None, order=None, descending=False, stable=True):
    """A new array with every line of dimension `axis` in order; without dimension (None) of the
    array taken as a vector. Every kind of sort is a stable one. NaN stands last.

    Examples
    --------
    >>> mx.np.sort(mx.np.array([3, 1, 2]))
    array([1., 2., 3.])
    """
    descending = _order_arguments("sort", kind, order, descending)
    return call("_npi_sort", (operand(a),), axis="None" if axis is None else int(axis), is_ascend=not descending)


def argsort(a, axis=-1, kind=None, order=None, descending=False, stable=True):
    """The indices, as int64, that would put every line of dimension `axis` in order; see
    :func:`sort`.

    Examples
    --------
    >>> mx.np.argsort(mx.np.array([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    descending = _order_arguments("argsort", kind, order, descending)
    a = with_axis(operand(a), axis)
    return call("_npi_argsort", (a,), axis="None" if axis is None else int(axis), is_ascend=not descending, dtype="int64")


def _on_host(function, *values):
    if any(is_symbol(v) for v in values):
        raise NotImplementedError(f"[{function}] got a symbol; accepted: arrays, whose values it reads")
    return [v.asnumpy() if isinstance(v, NDArrayBase) else onp.asarray(v) for v in values]


def searchsorted(a, v, side="left", sorter=None):
    """Where `v` would be inserted into a sorted vector so that it stays sorted, as int64: before
    equal entries ("left") or behind them. `sorter`: indices that sort `a`.

    Examples
    --------
    >>> mx.np.searchsorted(mx.np.array([1, 2, 3]), mx.np.array([2.5, 0])).tolist()
    [2, 0]
    """
    if side not in ("left", "right"):
        raise ValueError(f"[searchsorted] side={side!r}; accepted: left, right")
    like = a if isinstance(a, NDArrayBase) else v
    a, v = operand(a, like), operand(v, like)
    if not is_symbol(a) and a.ndim != 1:
        raise ValueError(f"[searchsorted] a has shape {a.shape}; accepted: a vector")
    if sorter is not None:
        a = call("take", (a, operand(sorter, like)), axis=0, mode="raise")
    return call("_searchsorted", comparable(a, v), right=side == "right")


def comparable(*arrays):
    """Arrays in one dtype that has all their numbers: float64 where theirs differ."""
    if any(map(is_symbol, arrays)) or len({a.dtype for a in arrays}) == 1:
        return arrays
    return tuple(call("_npi_cast", (a,), dtype="float64") for a in arrays)


def digitize(x, bins, right=False):
    """The number of the bin, as int64, that each element of `x` falls into; `bins` rise or fall.
    Their order is looked at on the host.

    Examples
    --------
    >>> mx.np.digitize(mx.np.array([0.5, 2]), mx.np.array([0, 1])).tolist()
    [1, 2]
    """
    edges = _on_host("digitize", bins)[0]
    native = isinstance(x, NDArrayBase) and not is_deferred_compute()
    if not native or edges.dtype.kind not in "fiu" or _dtypes.name(x.dtype) == "bfloat16":
        values = _on_host("digitize", x)[0]
        return operand(onp.asarray(onp.digitize(values, edges, right), "int64"), like=x)
    rises = edges.ndim == 1 and bool((edges[1:] >= edges[:-1]).all())
    if rises and isinstance(bins, NDArrayBase) and bins.context == x.context:
        return call("_searchsorted", comparable(bins, x), right=not right)
    if not rises:
        onp.digitize(onp.zeros(1), edges, right)    # refuses what is in no order
    line = from_values(onp.ascontiguousarray(edges if rises else edges[::-1]), x.context, edges.dtype.name)
    place = call("_searchsorted", comparable(line, x), right=not right)
    return place if rises else edges.size - place


def unravel_index(indices, shape, order="C"):   # pylint: disable=redefined-outer-name
    """The indices in an array of that shape of elements that are numbered as in a vector: a tuple
    of one array for each dimension. `order` "F" numbers the first dimension fastest.

    Examples
    --------
    >>> [i.tolist() for i in mx.np.unravel_index(mx.np.array([3, 5], dtype="int64"), (2, 3))]
    [[1, 1], [0, 2]]
    """
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    if order == "F":
        return unravel_index(indices, shape[::-1])[::-1]
    if order != "C":
        raise ValueError(f"[unravel_index] order={order!r}; accepted: C, F")
    values = operand(indices)
    if not shape and not is_symbol(values):     # the only place of an array of one element has no indices
        if values.size != 1 or int(values) != 0:
            raise ValueError("[unravel_index] an index for shape (); accepted: 0")
        return ()
    places = call("_npi_unravel_index", (values,), shape=shape)
    if not is_symbol(values):
        count = int(onp.prod(shape))
        if values.size and (values.min().item() < 0 or values.max().item() >= count):
            raise ValueError(f"[unravel_index] an index out of range for shape {shape}; accepted: 0 to {count - 1}")
    return tuple(call("_npi_reshape", (call("slice_axis", (places,), axis=0, begin=i, end=i + 1),), newshape=(-1,)) if is_symbol(places)
                 else places[i] for i in range(len(shape)))


# ---- sets and differences

def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):   # noqa: E501 pylint: disable=redefined-builtin
    """The different elements in order, or slices of dimension `axis`. NaN stands last, once, or
    with `equal_nan` False as often as it occurs (NumPy computes that). `sorted` is NumPy's.

    Returns also, as int64 and in this order, the first index of each, for each element of the array
    (as a vector) the index among the results, and how often each stands there, as is asked for.

    Examples
    --------
    >>> values, counts = mx.np.unique(mx.np.array([2, 1, 2]), return_counts=True)
    >>> counts.tolist()
    [1, 2]
    """
    if not equal_nan:
        ar = operand(ar)
        if onp.isnan(ar.asnumpy()).any():
            found = onp.unique(ar.asnumpy(), return_index, return_inverse, return_counts, axis, equal_nan=False)
            found = [operand(v, ar) for v in (found if isinstance(found, tuple) else (found,))]
            return tuple(found) if len(found) > 1 else found[0]
    out = call("_npi_unique", (operand(ar),), return_index=bool(return_index), return_inverse=bool(return_inverse),
               return_counts=bool(return_counts), axis=None if axis is None else int(axis))
    out = results(out)
    return tuple(out) if len(out) > 1 else out[0]


def diff(a, n=1, axis=-1, prepend=None, append=None):   # pylint: disable=redefined-outer-name
    """Differences of neighbours along a dimension, taken `n` times. `prepend` and `append`: numbers
    or arrays that are put before and behind first. Bools differ where they are not equal.

    Examples
    --------
    >>> mx.np.diff(mx.np.array([1, 2, 4]))
    array([1., 2.])
    """
    a = operand(a)
    if n < 0:
        raise ValueError(f"[diff] n={n}; must not be negative")
    if n == 0:
        return a
    if prepend is not None or append is not None:
        def whole(part):
            part = operand(part, like=a, dtype=a.dtype if _is_number(part) else None)
            if len(part.shape):
                return part
            shape = list(shape_of("diff", a))
            shape[axis] = 1
            return call("_npi_broadcast_to", (part,), shape=tuple(shape))
        a = concatenate([part if part is a else whole(part) for part in (prepend, a, append) if part is not None], axis)
    if not is_symbol(a) and a.dtype == onp.bool_:
        before = (slice(None),) * axis_of("diff", axis, a.ndim)
        for _ in range(int(n)):
            a = a[(*before, slice(1, None))] != a[(*before, slice(None, -1))]
        return a
    return call("_npi_diff", (a,), n=int(n), axis=int(axis))


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of an array taken as a vector, with `to_begin` before and `to_end`
    behind them: numbers or arrays.

    Examples
    --------
    >>> mx.np.ediff1d(mx.np.array([1, 2, 4]), to_begin=0)
    array([0., 1., 2.])
    """
    ary = operand(ary)
    inputs, params = [ary], {}
    for name, part in (("to_begin", to_begin), ("to_end", to_end)):
        if part is None:
            continue
        if _is_number(part):
            params[name + "_scalar"] = float(part)
            continue
        part = operand(part, like=ary, dtype=None if is_symbol(ary) or isinstance(part, NDArrayBase) else ary.dtype)
        if not is_symbol(part) and part.dtype != ary.dtype:
            part = part.astype(ary.dtype, casting="safe")
        inputs.append(part)
        params[name + "_arr_given"] = True
    return call("_npi_ediff1d", inputs, **params)
