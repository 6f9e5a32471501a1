"""Functions of mx.np that write elements in place, and ``r_`` and ``c_``, which put arrays
together."""
import numpy as onp

from .._binding import NDArrayBase
from ._array import ndarray
from ._creation import arange
from ._dispatch import call, default_float, operand, promoted, place_name
from ._flat import repeated
from ._joining import concatenate

__all__ = ["put", "putmask", "place", "mask_indices", "r_", "c_"]


def _target(function, a):
    if not isinstance(a, ndarray):
        raise TypeError(f"[{function}] got a {type(a).__name__}; accepted: an array of mx.np, which is changed")
    return a


def _filling(values, count, like):
    return repeated(values, count, like).astype(like.dtype)


def put(a, ind, v, mode="raise"):
    """Writes `v` into an array at places that count its elements as in a vector; `v` begins anew
    when it is spent. `mode`: what places out of range are, "raise" (an error), "wrap" or "clip".

    Examples
    --------
    >>> x = mx.np.zeros((2, 2)); mx.np.put(x, [0, -1], [5, 6]); x
    array([[5., 0.],
           [0., 6.]])
    """
    a = _target("put", a)
    places = onp.ravel(ind.asnumpy() if isinstance(ind, NDArrayBase) else ind).astype("int64")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"[put] mode={mode!r}; accepted: raise, wrap, clip")
    if mode == "raise" and places.size and (places.min() < -a.size or places.max() >= a.size):
        raise IndexError(f"[put] a place is out of range for an array of {a.size} elements; accepted: {-a.size} to {a.size - 1}")
    if not places.size:
        return
    places = places.clip(0, a.size - 1) if mode == "clip" else places % a.size
    a[onp.unravel_index(places, a.shape) if a.ndim else ()] = _filling(v, places.size, a) if a.ndim else _filling(v, 1, a)[0]


def putmask(a, mask, values):
    """Writes elements of `values` into those of an array where `mask`, of its shape, is true: those
    of the same place in a vector, and `values` begins anew when it is spent.

    Examples
    --------
    >>> x = mx.np.arange(4); mx.np.putmask(x, x > 1, [10, 20, 30, 40]); x
    array([ 0.,  1., 30., 40.])
    """
    a = _target("putmask", a)
    mask = operand(mask, a).astype("bool")
    if mask.size != a.size:
        raise ValueError(f"[putmask] a mask of shape {mask.shape} for an array of shape {a.shape}; accepted: as many elements")
    if a.size:
        full = call("_npi_reshape", (_filling(values, a.size, a),), newshape=a.shape)
        mask = call("_npi_reshape", (mask,), newshape=a.shape)
        a[...] = call("_npi_where", (mask, full, a))


def place(arr, mask, vals):
    """Writes the first of `vals` into the first element of an array where `mask` is true, the
    second into the second, and so on; `vals` begins anew when it is spent.

    Examples
    --------
    >>> x = mx.np.arange(4); mx.np.place(x, x > 1, [10, 20]); x
    array([ 0.,  1., 10., 20.])
    """
    arr = _target("place", arr)
    mask = operand(mask, arr).astype("bool")
    if mask.size != arr.size:
        raise ValueError(f"[place] a mask of shape {mask.shape} for an array of shape {arr.shape}; accepted: as many elements")
    put(arr, onp.flatnonzero(mask.asnumpy()), vals)


def mask_indices(n, mask_func, k=0):
    """The indices of the elements of an n x n matrix that `mask_func`, such as :func:`triu`, keeps:
    one array for each dimension.

    Examples
    --------
    >>> [i.tolist() for i in mx.np.mask_indices(2, mx.np.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    kept = mask_func(call("_npi_ones", (), shape=(n, n), dtype="float32", ctx=place_name(None, None)), k)
    return kept.nonzero()


class _Joined:
    """``r_[...]`` and ``c_[...]``: numbers, arrays and slices, which are ranges, one after the
    other or as columns. An imaginary step of a slice is a number of values, the last included."""

    def __init__(self, columns):
        self._columns = columns

    def _part(self, key):
        if isinstance(key, str):
            raise NotImplementedError(f"[{'c_' if self._columns else 'r_'}] got the text {key!r}; accepted: arrays, numbers and slices")
        if isinstance(key, slice):
            start, step = key.start or 0, 1 if key.step is None else key.step
            if isinstance(step, complex):
                part = operand(onp.linspace(start, key.stop, int(abs(step))).astype(default_float()))
            else:
                whole = all(isinstance(v, int) for v in (start, step, key.stop))
                part = arange(start, key.stop, step, dtype="int64" if whole else default_float())
        else:
            part = operand(key)
        if not part.ndim:
            part = call("_npi_reshape", (part,), newshape=(1,))
        if self._columns and part.ndim == 1:
            part = call("_npi_reshape", (part,), newshape=(-1, 1))
        return part

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        return concatenate(promoted([self._part(k) for k in keys]), axis=-1 if self._columns else 0)


r_, c_ = _Joined(False), _Joined(True)
