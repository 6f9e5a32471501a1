"""Functions of mx.np that rearrange arrays: shapes, axes, repeating, inserting.

Results are new arrays, as in MXNet 1.9 and 2.0: a program may write into them, and what is recorded
is what runs without recording. Basic indexing, ``reshape(copy=False)``, ``reshape_view`` and
``asarray`` give views; with ``npx.set_np(views=True)`` all functions do whose twins in NumPy do.
"""
import numpy as onp

from .._binding import NDArrayBase, is_traced
from ..ndarray._native import _as_shape
from ._creation import asarray, results
from ._joining import as_tuple, entries, shape_of, with_axis
from ._dispatch import call, compiled, dtype_name, is_symbol, operand
from ._indexing import shaped
from ._padding import pad
from ._views import in_memory, makes_views, raveled, reshaped, shown_as, shows

__all__ = ["shape", "ndim", "size", "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "moveaxis", "rollaxis", "swapaxes",
           "squeeze", "expand_dims", "tile", "repeat", "roll", "rot90", "flip", "fliplr", "flipud", "pad", "resize", "insert", "delete",
           "broadcast_to", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d", "trim_zeros",
           "may_share_memory", "shares_memory"]


# ---- shapes

def shape(a):
    """The sizes of an array's dimensions.

    Examples
    --------
    >>> mx.np.shape([[1, 2], [3, 4]])
    (2, 2)
    """
    return tuple(a.shape) if hasattr(a, "shape") else onp.shape(a)


def ndim(a):
    """The number of an array's dimensions.

    Examples
    --------
    >>> mx.np.ndim(mx.np.ones((2, 3)))
    2
    """
    return len(shape(a))


def size(a, axis=None):
    """The number of an array's elements, or the size of dimension `axis`.

    Examples
    --------
    >>> mx.np.size(mx.np.ones((2, 3)))
    6
    """
    sizes = shape(a)
    if axis is not None:
        return sizes[axis]
    count = 1
    for s in sizes:
        count *= s
    return count


def _reshape_shared(a, newshape):
    """The elements of `a` in another shape, in the memory of `a`."""
    if not isinstance(a, NDArrayBase) or is_traced():
        raise ValueError("[reshape] copy=False where a copy is needed: of what is no array, or while autograd records or a block is "
                         "traced; accepted: copy=None")
    rest = -int(onp.prod(newshape, dtype="int64"))
    if newshape.count(-1) == 1 and rest > 0 and a.size % rest == 0:
        newshape = tuple(a.size // rest if s == -1 else s for s in newshape)
    if min(newshape, default=0) < 0 or onp.prod(newshape, dtype="int64") != a.size:
        raise ValueError(f"[reshape] an array of shape {a.shape} in the shape {newshape}; accepted: one of as many elements")
    return shaped(a, newshape)


@compiled("_npi_reshape")
@shows(reshaped)
def reshape(a, newshape=None, order="C", out=None, *, shape=None, copy=None):   # pylint: disable=redefined-outer-name
    """The elements of an array in another shape, in which one size may be -1. A new array. With
    `order` "F" elements are read and placed with the first index changing fastest. `shape` is NumPy
    2's name of `newshape`.

    With ``copy=False`` the result is a view: it shares memory with `a`, and writing into one
    changes the other. ValueError where that cannot be: while autograd records, or with `order` "F".

    Examples
    --------
    >>> mx.np.reshape(mx.np.arange(4), (2, -1))
    array([[0., 1.],
           [2., 3.]])
    """
    if (newshape is None) == (shape is None):
        raise TypeError("[reshape] needs a shape, by one of its names; accepted: newshape or shape")
    newshape = shape if newshape is None else newshape
    newshape = tuple([int(s) for s in newshape]) if isinstance(newshape, (list, tuple)) else (int(newshape),)
    if copy is not None and not copy:
        if order == "F" or out is not None:
            raise ValueError("[reshape] copy=False with order='F' or out; accepted: order='C'")
        return _reshape_shared(a, newshape)
    if order == "F":
        turned = call("_npi_reshape", (call("_npi_transpose", (operand(a),)),), newshape=newshape[::-1])
        return call("_npi_transpose", (turned,), out)
    if order not in ("C", "A"):
        raise ValueError(f"[reshape] order={order!r}; accepted: C, F, A")
    return call("_npi_reshape", (operand(a),), out, newshape=newshape)


@compiled("_npi_reshape", "vector")
@shows(raveled, "a")
def ravel(x=None, order="C", *, a=None):
    """The elements of an array as a vector. A new array. `a` is NumPy's name of `x`.

    Examples
    --------
    >>> mx.np.ravel(mx.np.eye(2))
    array([1., 0., 0., 1.])
    """
    if order not in ("C", "F", "K", "A"):
        raise ValueError(f"[ravel] order={order!r}; accepted: C, F, A, K")
    x = operand(x if a is None else a)
    return call("_npi_reshape", (call("_npi_transpose", (x,)) if order == "F" else x,), newshape=(-1,))


@compiled("_npi_transpose")
@shows()
def transpose(a, axes=None):
    """A new array whose dimension i is dimension ``axes[i]`` of `a`; without `axes`, in reverse
    order.

    Examples
    --------
    >>> mx.np.transpose(mx.np.ones((2, 3))).shape
    (3, 2)
    """
    if axes is not None:
        axes = as_tuple(axes)
        if not axes:
            return call("_npi_copy", (operand(a),))
    return call("_npi_transpose", (operand(a),), axes=axes)


def permute_dims(a, axes=None):
    """Another name of :func:`transpose`.

    Examples
    --------
    >>> mx.np.permute_dims(mx.np.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return transpose(a, axes)


@shows(lambda x: x.swapaxes(-1, -2))
def matrix_transpose(x, /):
    """Matrices with their last two dimensions exchanged.

    Examples
    --------
    >>> mx.np.matrix_transpose(mx.np.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    return call("_npi_swapaxes", (operand(x),), dim1=-1, dim2=-2)


@shows()
def moveaxis(a, source, destination):
    """Dimensions moved to other places; the others keep their order.

    Examples
    --------
    >>> mx.np.moveaxis(mx.np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return call("_npi_moveaxis", (operand(a),), source=as_tuple(source), destination=as_tuple(destination))


@shows()
def rollaxis(a, axis, start=0):
    """One dimension moved in front of dimension `start`.

    Examples
    --------
    >>> mx.np.rollaxis(mx.np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    return call("_npi_rollaxis", (operand(a),), axis=int(axis), start=int(start))


@compiled("_npi_swapaxes", "numbers")
@shows()
def swapaxes(a, axis1, axis2):
    """Two dimensions exchanged.

    Examples
    --------
    >>> mx.np.swapaxes(mx.np.ones((2, 3)), 0, 1).shape
    (3, 2)
    """
    return call("_npi_swapaxes", (operand(a),), dim1=int(axis1), dim2=int(axis2))


@compiled("_npi_squeeze")
@shows()
def squeeze(a, axis=None, out=None):
    """Without the dimensions of size 1: all of them, or those in `axis`.

    Examples
    --------
    >>> mx.np.squeeze(mx.np.ones((1, 3, 1))).shape
    (3,)
    """
    a = operand(a)
    if axis in (0, -1) and isinstance(a, NDArrayBase) and not a.ndim:      # as in NumPy
        axis = None
    return call("_npi_squeeze", (a,), out, axis=None if axis is None else as_tuple(axis))


@compiled("_npi_expand_dims", "numbers")
@shows()
def expand_dims(a, axis):
    """With new dimensions of size 1 at the places `axis` of the result, a number or several.

    Examples
    --------
    >>> mx.np.expand_dims(mx.np.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    a = operand(a)
    if not isinstance(axis, (list, tuple)):
        return call("_npi_expand_dims", (a,), axis=int(axis))
    n = len(shape_of("expand_dims", a)) + len(axis)
    places = []
    for x in axis:
        if not -n <= x < n or x % n in places:
            raise ValueError(f"[expand_dims] axis={tuple(axis)} for a result of {n} dimensions; accepted: different "
                             f"places, {-n} to {n - 1}")
        places.append(x % n)
    for place in sorted(places):
        a = call("_npi_expand_dims", (a,), axis=place)
    return a


@shows()
def broadcast_to(array, shape, subok=False):   # pylint: disable=redefined-outer-name
    """A new array of a larger shape, in which sizes of 1 are repeated. `subok` is NumPy's.

    Examples
    --------
    >>> mx.np.broadcast_to(mx.np.array([1, 2]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    return call("_npi_broadcast_to", (operand(array),), shape=_as_shape(shape))


def broadcast_arrays(*args, subok=False):
    """Arrays of the shape that all of them are broadcast to. Those that have it are returned as
    they are, the others are new.

    Examples
    --------
    >>> [x.shape for x in mx.np.broadcast_arrays(mx.np.ones(3), mx.np.ones((2, 1)))]
    [(2, 3), (2, 3)]
    """
    arrays = [operand(a) for a in args]
    shapes = [shape_of("broadcast_arrays", a) for a in arrays]
    try:
        to = onp.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"[broadcast_arrays] shapes {', '.join(map(str, shapes))} cannot be broadcast; "
                         "sizes must be equal or 1") from None
    return [a if tuple(s) == to else broadcast_to(a, to) for a, s in zip(arrays, shapes)]


def _atleast(ndim, arrays):   # pylint: disable=redefined-outer-name
    arrays = [operand(a) for a in arrays]
    if not arrays:
        return []
    if makes_views():
        twin = getattr(onp, f"atleast_{ndim}d")
        views = [shown_as(a, twin) for a in arrays]
        if all(view is not None for view in views):
            return views if len(views) > 1 else views[0]
    out = call(f"_npi_atleast_{ndim}d", arrays)
    return results(out) if len(arrays) > 1 else out


def atleast_1d(*arys):
    """Arrays with at least one dimension; a list of them where there are several.

    Examples
    --------
    >>> mx.np.atleast_1d(mx.np.array(3))
    array([3.])
    """
    return _atleast(1, arys)


def atleast_2d(*arys):
    """Arrays with at least two dimensions; a list of them where there are several.

    Examples
    --------
    >>> mx.np.atleast_2d(mx.np.ones(3)).shape
    (1, 3)
    """
    return _atleast(2, arys)


def atleast_3d(*arys):
    """Arrays with at least three dimensions; a list of them where there are several.

    Examples
    --------
    >>> mx.np.atleast_3d(mx.np.ones(3)).shape
    (1, 3, 1)
    """
    return _atleast(3, arys)


# ---- repeating and turning

def tile(A, reps):   # pylint: disable=invalid-name
    """An array laid out `reps` times along its dimensions.

    Examples
    --------
    >>> mx.np.tile(mx.np.array([1, 2]), 2)
    array([1., 2., 1., 2.])
    """
    return call("_npi_tile", (operand(A),), reps=as_tuple(reps))


def repeat(a, repeats, axis=None):
    """Every entry of a dimension `repeats` times in a row: a number, or one for each entry. Without
    `axis` the array is taken as a vector.

    Examples
    --------
    >>> mx.np.repeat(mx.np.array([1, 2]), [1, 2])
    array([1., 2., 2.])
    """
    a = with_axis(operand(a), axis)
    axis = None if axis is None else int(axis)
    if isinstance(repeats, NDArrayBase):
        repeats = repeats.asnumpy()
    if type(repeats) is int or onp.ndim(repeats) == 0:
        return call("_npi_repeat", (a,), repeats=int(repeats), axis=axis)
    return call("_npi_repeats", (a,), repeats=as_tuple(repeats), axis=axis)


def resize(a, new_shape):
    """The elements of an array, again and again, in an array of any size; zeros of an empty one.

    Examples
    --------
    >>> mx.np.resize(mx.np.array([1, 2]), (2, 3))
    array([[1., 2., 1.],
           [2., 1., 2.]])
    """
    new_shape = _as_shape(new_shape)
    if any(s < 0 for s in new_shape):
        raise ValueError(f"[resize] new_shape {new_shape}; sizes must not be negative")
    a = ravel(a)
    wanted, have = size(onp.empty(new_shape, "V0")), shape_of("resize", a)[0]
    if have == 0:
        return call("_npi_zeros", (), shape=new_shape, dtype=dtype_name(a.dtype), ctx=str(a.context))
    rounds = -(-wanted // have)
    if rounds != 1:
        a = call("_npi_tile", (a,), reps=(rounds,))
    if a.shape[0] != wanted:
        a = call("slice_axis", (a,), axis=0, begin=0, end=wanted)
    return call("_npi_reshape", (a,), newshape=new_shape)


def roll(a, shift, axis=None):
    """Entries moved by `shift` places; those that leave at one end come in at the other. Without
    `axis` the array is taken as a vector, and gets its shape again; several shifts are added then.

    Examples
    --------
    >>> mx.np.roll(mx.np.arange(4), 1)
    array([3., 0., 1., 2.])
    """
    shift = as_tuple(shift)
    if axis is None:
        return call("_npi_roll", (operand(a),), shift=(sum(shift),), axis=None)
    axis = as_tuple(axis)
    if not shift and not axis:      # moves along no axis
        return call("_copy", (operand(a),))
    return call("_npi_roll", (operand(a),), shift=shift, axis=axis)


@shows()
def rot90(m, k=1, axes=(0, 1)):
    """The planes of two dimensions turned `k` times by 90 degrees, from the first to the second.

    Examples
    --------
    >>> mx.np.rot90(mx.np.array([[1, 2], [3, 4]]))
    array([[2., 4.],
           [1., 3.]])
    """
    return call("_npi_rot90", (operand(m),), k=int(k), axes=as_tuple(axes))


@shows(lambda m, axis=None: onp.flip(m, axis) if m.ndim else None)     # else NumPy reads the element
def flip(m, axis=None, out=None):
    """The order of entries turned around along some dimensions, or all of them.

    Examples
    --------
    >>> mx.np.flip(mx.np.arange(3))
    array([2., 1., 0.])
    """
    m = operand(m)
    if axis is None:
        axis = tuple(range(len(shape_of("flip", m)) if is_symbol(m) else m.ndim))
    axis = as_tuple(axis)
    if not axis:
        return call("_npi_copy", (m,), out)
    return call("_npi_flip", (m,), out, axis=axis)


@shows()
def flipud(m):
    """:func:`flip` along dimension 0.

    Examples
    --------
    >>> mx.np.flipud(mx.np.arange(3))
    array([2., 1., 0.])
    """
    return call("_npi_flip", (operand(m),), axis=(0,))


@shows()
def fliplr(m):
    """:func:`flip` along dimension 1.

    Examples
    --------
    >>> mx.np.fliplr(mx.np.array([[1, 2]]))
    array([[2., 1.]])
    """
    return call("_npi_flip", (operand(m),), axis=(1,))


# ---- inserting and deleting

def _positions(function, obj, arr):
    """Where: parameters for an integer or a slice, and the array of positions otherwise."""
    if isinstance(obj, slice):
        start, stop, step = (None if v is None else int(v) for v in (obj.start, obj.stop, obj.step))
        # The record reads "all three left out" as an array of positions.
        return dict(start=start, stop=stop, step=1 if step is None else step), None
    if isinstance(obj, (int, onp.integer)) and not isinstance(obj, bool):
        return dict(int_ind=int(obj)), None
    if is_symbol(obj):
        return {}, obj
    if not isinstance(obj, NDArrayBase):
        values = onp.asarray(obj)
        if values.size == 0:
            values = values.astype("int64")
        if values.dtype.kind not in "iub":
            raise TypeError(f"[{function}] obj of dtype {values.dtype}; accepted: an integer, a slice, or integers or bools")
        obj = operand(values, like=arr)
    return {}, obj


def insert(arr, obj, values, axis=None):
    """An array with `values` before the positions `obj` of a dimension: an integer, a slice, or an
    array of integers or bools. Without `axis` the array is taken as a vector. The values take the
    dtype of `arr`.

    Raises
    ------
    IndexError
        For a position out of range.
    ValueError
        For values that cannot be broadcast to what is inserted.

    Examples
    --------
    >>> mx.np.insert(mx.np.array([1, 3]), 1, 2)
    array([1., 2., 3.])
    """
    arr = operand(arr)
    where, places = _positions("insert", obj, arr)
    where["axis"] = None if axis is None else int(axis)
    inputs = [arr]
    if isinstance(values, (bool, int, float)):
        where["val"] = float(values)
    else:
        inputs.append(operand(values, like=arr, dtype=None if is_symbol(arr) or is_symbol(values) else arr.dtype))
    if places is not None:
        return call("_npi_insert_tensor", [*inputs, places], **where)
    return call("_npi_insert_scalar" if "int_ind" in where else "_npi_insert_slice", inputs, **where)


def _without(arr, gone, axis):
    """:func:`delete` of positions that are known before anything runs: a graph can hold it."""
    if axis is None:
        arr, axis = ravel(arr), 0
    elif not -len(arr.shape) <= axis < len(arr.shape):
        raise ValueError(f"[delete] axis={axis} for an array of {len(arr.shape)} dimensions")
    length = arr.shape[axis]
    if gone.size and gone.dtype.kind not in "iub":
        raise TypeError(f"[delete] obj of dtype {gone.dtype}; accepted: an integer, a slice, or integers or bools")
    if gone.dtype.kind == "b" and gone.shape != (length,):
        raise IndexError(f"[delete] a mask of shape {gone.shape} for {length} entries; it needs one for each")
    if gone.dtype.kind in "iu" and gone.size and not (-length <= gone.min() and gone.max() < length):
        raise IndexError(f"[delete] an index out of range; accepted: {-length} to {length - 1}")
    keep = onp.ones(length, bool)
    keep[gone if gone.size else ()] = gone.size == 0
    return call("_npi_take", (arr, operand(onp.flatnonzero(keep).astype("int64"), like=arr)), axis=axis, mode="clip")


def delete(arr, obj, axis=None):
    """An array without the entries `obj` of a dimension: an integer, a slice, or an array of
    integers or bools. Without `axis` the array is taken as a vector.

    Raises
    ------
    IndexError
        For a position out of range.

    Examples
    --------
    >>> mx.np.delete(mx.np.arange(4), [0, 2])
    array([1., 3.])
    """
    arr = operand(arr)
    if not isinstance(obj, (slice, NDArrayBase)) and onp.ndim(obj) and not is_symbol(arr) and not is_symbol(obj):
        return _without(arr, onp.asarray(obj), None if axis is None else int(axis))
    where, places = _positions("delete", obj, arr)
    return call("_npi_delete", (arr,) if places is None else (arr, places), axis=None if axis is None else int(axis), **where)


def trim_zeros(filt, trim="fb", axis=None):
    """An array without the zeros at its front ("f" in `trim`) and back ("b"): along each dimension,
    or those of `axis`, the slices before the first and behind the last one that is not all zeros.

    Examples
    --------
    >>> mx.np.trim_zeros(mx.np.array([0, 1, 0, 2, 0]))
    array([1., 0., 2.])
    """
    filt, trim = asarray(filt), trim.lower()
    if trim not in ("f", "b", "fb", "bf"):
        raise ValueError(f"[trim_zeros] trim={trim!r}; accepted: f, b, fb")
    ndim, found = len(filt.shape), onp.argwhere(filt.asnumpy())
    axes = range(ndim) if axis is None else [a % ndim if -ndim <= a < ndim else a for a in onp.atleast_1d(axis).tolist()]
    if any(not 0 <= a < ndim for a in axes):
        raise ValueError(f"[trim_zeros] axis={axis}; accepted: dimensions of an array of shape {tuple(filt.shape)}")
    bounds = [(int(i.min()), int(i.max()) + 1) if i.size else (n, n) for i, n in zip(found.T, filt.shape)]
    for a, n in ((a, filt.shape[a]) for a in axes):
        begin = bounds[a][0] if "f" in trim else 0
        filt = entries(filt, a, begin, bounds[a][1] if "b" in trim and found.size else begin if "b" in trim else n)
    return filt


# ---- memory

def shares_memory(a, b, max_work=None):
    """Whether two arrays have elements in the same memory.

    Examples
    --------
    >>> x = mx.np.ones(3)
    >>> mx.np.shares_memory(x, x[1:])
    True
    """
    if not isinstance(a, NDArrayBase) or not isinstance(b, NDArrayBase):      # one of NumPy, which from_dlpack may have given
        views = [onp.from_dlpack(x) if isinstance(x, NDArrayBase) and x.context.device_type != "gpu" else x for x in (a, b)]
        return not any(isinstance(x, NDArrayBase) for x in views) and onp.shares_memory(*views, max_work)
    if makes_views():
        return onp.shares_memory(in_memory(a), in_memory(b), max_work)
    return bool(call("_npi_share_memory", (a, b)).item())


def may_share_memory(a, b, max_work=None):
    """Another name of :func:`shares_memory`.

    Examples
    --------
    >>> mx.np.may_share_memory(mx.np.ones(3), mx.np.ones(3))
    False
    """
    return shares_memory(a, b)
