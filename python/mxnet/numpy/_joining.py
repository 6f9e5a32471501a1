"""Functions of mx.np that put arrays together and take them apart, and what other modules share."""
import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase
from .._arrays.tracing import is_deferred_compute, shape_is_value
from ._creation import results
from ._dispatch import (call, check_out, deliver, dtype_name, is_symbol, of_one_dtype, operand, promoted,
                        promoted_dtype)
from ._views import shows

__all__ = ["concatenate", "concat", "stack", "hstack", "vstack", "dstack", "row_stack", "column_stack", "append", "split",
           "array_split", "hsplit", "vsplit", "dsplit", "unstack"]


def as_tuple(value):
    """A number as a tuple of one; lists and tuples as tuples."""
    return tuple(int(v) for v in value) if isinstance(value, (list, tuple, onp.ndarray)) else (int(value),)


def entries(a, axis, begin, end):
    """Entries [begin, end) of a dimension; none if `end` is not behind `begin`."""
    if begin < end:
        return call("slice_axis", (a,), axis=axis, begin=begin, end=end)
    return call("_npi_take", (a, operand(onp.zeros(0, "int64"), like=a)), axis=axis, mode="clip")


def shape_of(function, a):
    """The shape of an array; a symbol has none yet."""
    if is_symbol(a):
        raise NotImplementedError(f"[{function}] got a symbol, whose shape is not known; accepted: arrays")
    return tuple(a.shape)


def axis_of(function, axis, ndim):
    """The number of a dimension from 0, of one that may count from the end."""
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"[{function}] axis is {axis}; an array of {ndim} dimensions accepts {-ndim} to "
            f"{ndim - 1}"
        )
    return axis % ndim


def with_axis(a, axis):
    """`a`; one of shape () as one of shape (1,), if an axis is given, as NumPy has it in functions
    along an axis."""
    return call("_npi_reshape", (a,), newshape=(1,)) if axis is not None and isinstance(a, NDArrayBase) and not a.ndim else a


# ---- joining

def _some(function, arrays):
    if arrays is None:
        raise TypeError(f"[{function}] got no arrays; accepted: a list or a tuple of them")
    if type(arrays) is not tuple:
        arrays = list(arrays)
    if not arrays:
        raise ValueError(f"[{function}] got no arrays; accepted: one or more")
    return promoted(arrays)


def concatenate(seq, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays put together along a dimension that they have, or as vectors if `axis` is None. Arrays
    of several dtypes get the one that holds them, or `dtype`, if `casting` allows it.

    Examples
    --------
    >>> mx.np.concatenate((mx.np.ones(2), mx.np.zeros(1)))
    array([1., 1., 0.])
    """
    if out is None and dtype is None and type(axis) is int and type(seq) in (list, tuple):
        arrays = tuple(seq)
        if arrays and of_one_dtype(arrays) and arrays[0].ndim:   # what most programs give
            return call("_npi_concatenate", arrays, dim=axis)
    check_out("concatenate", out)
    arrays = _cast("concatenate", _some("concatenate", seq), dtype, casting)
    if axis is None:
        arrays, axis = [call("_npi_reshape", (a,), newshape=(-1,)) for a in arrays], 0
    if isinstance(arrays[0], NDArrayBase):
        for a in arrays:
            if a.ndim == 0:
                raise ValueError("[concatenate] an array of shape (); accepted: at least 1 dimension")
    if out is not None and out.dtype != arrays[0].dtype:
        _cast("concatenate", [arrays[0]], out.dtype, casting)     # raises where the rule forbids it
    result = call("_npi_concatenate", arrays, None if out is None or out.dtype != arrays[0].dtype else out, dim=int(axis))
    return result if out is None or result is out else deliver(result, out)


def concat(seq, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Another name of :func:`concatenate`.

    Examples
    --------
    >>> mx.np.concat((mx.np.ones(2), mx.np.zeros(1)))
    array([1., 1., 0.])
    """
    return concatenate(seq, axis, out, dtype=dtype, casting=casting)


def _cast(function, arrays, dtype, casting):
    """The arrays in `dtype`, as the rule `casting` of NumPy allows it."""
    if dtype is None:
        return arrays
    wanted, cast = dtype_name(dtype), []
    for a in arrays:
        if not is_symbol(a) and "bfloat16" not in (wanted, _dtypes.name(a.dtype)) and not onp.can_cast(a.dtype, wanted, casting):
            raise TypeError(f"[{function}] {a.dtype} to {wanted} with casting={casting!r}; accepted: what that rule of NumPy allows")
        cast.append(call("_npi_cast", (a,), dtype=wanted))
    return cast


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape put together along a new dimension. `dtype` and `casting` as for
    :func:`concatenate`.

    Examples
    --------
    >>> mx.np.stack((mx.np.ones(2), mx.np.zeros(2)))
    array([[1., 1.],
           [0., 0.]])
    """
    if out is None and dtype is None and type(axis) is int and type(arrays) in (list, tuple):
        arrays = tuple(arrays)
        if arrays and of_one_dtype(arrays):
            return call("_npi_stack", arrays, axis=axis)
    if axis is None:
        raise TypeError("[stack] axis is None; accepted: an int")
    return call("_npi_stack", _cast("stack", _some("stack", arrays), dtype, casting), out, axis=int(axis))


def vstack(arrays=None, out=None, *, tup=None, dtype=None, casting="same_kind"):
    """Arrays put together along dimension 0; vectors are rows. `tup` is NumPy's name of `arrays`;
    `dtype` and `casting` as for :func:`concatenate`.

    Examples
    --------
    >>> mx.np.vstack((mx.np.ones(2), mx.np.zeros(2))).shape
    (2, 2)
    """
    return call("_npi_vstack", _cast("vstack", _some("vstack", arrays if tup is None else tup), dtype, casting), out)


def row_stack(arrays=None, *, tup=None, dtype=None, casting="same_kind"):
    """Another name of :func:`vstack`.

    Examples
    --------
    >>> mx.np.row_stack((mx.np.ones(2), mx.np.zeros(2))).shape
    (2, 2)
    """
    return vstack(arrays, tup=tup, dtype=dtype, casting=casting)


def hstack(arrays=None, *, tup=None, dtype=None, casting="same_kind"):
    """Arrays put together along dimension 1; vectors along their only one. Arguments as for
    :func:`vstack`.

    Examples
    --------
    >>> mx.np.hstack((mx.np.ones(2), mx.np.zeros(2)))
    array([1., 1., 0., 0.])
    """
    return call("_npi_hstack", _cast("hstack", _some("hstack", arrays if tup is None else tup), dtype, casting))


def dstack(arrays=None, *, tup=None):
    """Arrays put together along dimension 2. `tup` is NumPy's name of `arrays`.

    Examples
    --------
    >>> mx.np.dstack((mx.np.ones(2), mx.np.zeros(2))).shape
    (1, 2, 2)
    """
    return call("_npi_dstack", _some("dstack", arrays if tup is None else tup))


def column_stack(tup):
    """Arrays put together along dimension 1; vectors are columns.

    Examples
    --------
    >>> mx.np.column_stack((mx.np.ones(3), mx.np.zeros(3))).shape
    (3, 2)
    """
    return call("_npi_column_stack", _some("column_stack", tup))


def append(arr, values, axis=None):
    """`values` behind `arr` along a dimension; as vectors if `axis` is None.

    Examples
    --------
    >>> mx.np.append(mx.np.ones(2), 5)
    array([1., 1., 5.])
    """
    arr = operand(arr)
    if not isinstance(values, NDArrayBase) and not is_symbol(values):   # numbers take the dtype that holds them
        values = operand(values, like=arr, dtype=None if is_symbol(arr) else _weak_dtype(values, arr))
    return concatenate((arr, values), axis)


def _weak_dtype(values, arr):
    """The dtype of numbers and lists of them beside an array: that of Python's numbers there."""
    kind = {"b": bool, "i": int, "f": float}.get(onp.asarray(values).dtype.kind)
    if kind is None or isinstance(values, (onp.ndarray, onp.generic)):
        return None
    return _dtypes.NAMES[promoted_dtype((arr._dtype_id,), (kind(),))]


# ---- splitting

def _by_operator(ary, where, uneven):
    """Whether the operator alone splits: a symbol, or an array whose shape depends on values, which
    are not known while a graph is recorded. (It does not tell parts that are not equal.)"""
    if is_symbol(ary):
        return True
    if isinstance(where, (list, tuple)):
        fits = all(isinstance(b, int) and b >= 0 for b in where) and list(where) == sorted(where)
    else:
        fits = uneven and isinstance(where, int) and where > 0
    return fits and is_deferred_compute() and shape_is_value(ary)


def _split(function, ary, where, axis, uneven=False):
    ary = operand(ary)
    if _by_operator(ary, where, uneven):
        if isinstance(where, (list, tuple)):
            return results(call("_npi_split", (ary,), indices=(0, *as_tuple(where)), axis=axis, sections=0))
        return results(call("_npi_split", (ary,), indices=(), axis=axis, sections=int(where)))
    if not -ary.ndim <= axis < ary.ndim:
        raise ValueError(f"[{function}] axis={axis} for an array of {ary.ndim} dimensions")
    length = ary.shape[axis]
    if not isinstance(where, (list, tuple)) and not getattr(where, "ndim", 0):
        sections = int(where)
        if sections <= 0 or not uneven and length % sections:
            raise ValueError(f"[{function}] dimension {axis} of {tuple(ary.shape)} into {sections} equal parts; accepted: "
                             + ("a number of parts" if uneven else "a divisor of its size"))
        return results(call("_npi_split", (ary,), indices=(), axis=axis, sections=sections))
    bounds = [slice(None, i).indices(length)[1] for i in as_tuple(where.asnumpy() if isinstance(where, NDArrayBase) else where)]
    if bounds == sorted(bounds):
        return results(call("_npi_split", (ary,), indices=(0, *bounds), axis=axis, sections=0))
    return [entries(ary, axis, b, e) for b, e in zip([0, *bounds], [*bounds, length])]


@shows()
def split(ary, indices_or_sections, axis=0):
    """A list of the parts of an array: as many equal ones, or those that end before each of several
    indices, and the rest.

    Examples
    --------
    >>> mx.np.split(mx.np.arange(4), [1])
    [array([0.]), array([1., 2., 3.])]
    """
    return _split("split", ary, indices_or_sections, int(axis))


@shows()
def array_split(ary, indices_or_sections, axis=0):
    """As :func:`split`, but the parts need not be equal: the first ones are one entry longer.

    Examples
    --------
    >>> [len(x) for x in mx.np.array_split(mx.np.arange(5), 3)]
    [2, 2, 1]
    """
    return _split("array_split", ary, indices_or_sections, int(axis), uneven=True)


def _split_dimension(function, ary, where, axis, least):
    ary = operand(ary)
    if ary.ndim < least:
        raise ValueError(f"[{function}] an array of shape {tuple(ary.shape)}; accepted: at least {least} dimensions")
    return _split(function, ary, where, axis)


@shows()
def hsplit(ary, indices_or_sections):
    """:func:`split` along dimension 1, of vectors along their only one.

    Examples
    --------
    >>> [x.shape for x in mx.np.hsplit(mx.np.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    ary = operand(ary)
    if is_symbol(ary):
        cut = isinstance(indices_or_sections, (list, tuple))
        return results(call("_npi_hsplit", (ary,), indices=(0, *as_tuple(indices_or_sections)) if cut else (),
                            sections=0 if cut else int(indices_or_sections)))
    return _split_dimension("hsplit", ary, indices_or_sections, 0 if ary.ndim == 1 else 1, 1)


@shows()
def vsplit(ary, indices_or_sections):
    """:func:`split` along dimension 0 of an array of at least two.

    Examples
    --------
    >>> [x.shape for x in mx.np.vsplit(mx.np.ones((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    return _split("vsplit", ary, indices_or_sections, 0) if is_symbol(ary) else _split_dimension("vsplit", ary, indices_or_sections, 0, 2)


@shows()
def dsplit(ary, indices_or_sections):
    """:func:`split` along dimension 2.

    Examples
    --------
    >>> [x.shape for x in mx.np.dsplit(mx.np.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2) if is_symbol(ary) else _split_dimension("dsplit", ary, indices_or_sections, 2, 3)


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
