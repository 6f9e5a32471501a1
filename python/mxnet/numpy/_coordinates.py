"""Functions of mx.np about places in arrays and on lines: grids, flat indices, keys, windows."""

import math

import numpy as onp

from .._binding import NDArrayBase
from . import _dispatch
from ._creation import arange, logspace, meshgrid
from ._dispatch import call, default_float, device_of, dtype_name, operand, promoted


__all__ = [
    "geomspace", "diag_indices", "ravel_multi_index", "mgrid", "ogrid", "s_", "index_exp",
    "ndindex", "bartlett", "kaiser", "isscalar", "issubdtype",
]  # fmt: skip

s_, index_exp, ndindex = onp.s_, onp.index_exp, onp.ndindex


def geomspace(start, stop, num=50, endpoint=True, dtype=None, ctx=None, device=None, *, axis=0):
    """`num` numbers from `start` to `stop`, each the one before times the same number; without
    `stop` if `endpoint` is False. Both have one sign and are not 0. They may be arrays: the numbers
    then go along dimension `axis`.

    Examples
    --------
    >>> mx.np.geomspace(1, 100, 3)
    array([  1.,  10., 100.])
    """
    if onp.ndim(start) or onp.ndim(stop):
        start, stop = (onp.asarray(v.asnumpy() if isinstance(v, NDArrayBase) else v, "float64") for v in (start, stop))
        return operand(onp.geomspace(start, stop, num, endpoint, axis=axis).astype(dtype_name(dtype, default_float())))
    start, stop = float(start), float(stop)
    if start == 0 or stop == 0 or (start < 0) != (stop < 0):
        raise ValueError(f"[geomspace] from {start} to {stop}; accepted: two numbers of one sign")
    kind = dtype_name(dtype, default_float())
    place = {"ctx": ctx, "device": device}
    powers = (math.log10(abs(v)) for v in (start, stop))
    line = logspace(*powers, num, endpoint, dtype="float64", **place)
    if num > 0:
        line[0] = abs(start)
    if num > 1 and endpoint:
        line[-1] = abs(stop)
    return (-line if start < 0 else line).astype(kind)


def diag_indices(n, ndim=2, device=None):
    """The indices, as int64, of the main diagonal of an array of `ndim` dimensions of size `n`: a
    tuple of that many equal vectors.

    Examples
    --------
    >>> x = mx.np.zeros((2, 2))
    >>> x[mx.np.diag_indices(2)] = 1
    >>> x
    array([[1., 0.],
           [0., 1.]])
    """
    line = arange(0, n, dtype="int64", device=device)
    return (line,) * ndim


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The numbers, as int64, that elements have in an array of shape `dims` taken as a vector.

    `multi_index`: a sequence of integer arrays, one for each dimension, which broadcast. `mode`
    says what happens to indices out of range, for all dimensions or for each: "raise" a ValueError,
    "clip" to the nearest, "wrap" counts around. `order` "F": the first index changes fastest.

    Examples
    --------
    >>> mx.np.ravel_multi_index((mx.np.array([1, 0], dtype="int64"), [2, 1]), (2, 3)).tolist()
    [5, 1]
    """
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    if order not in ("C", "F") or any(m not in ("raise", "clip", "wrap") for m in modes):
        raise ValueError(
            f"[ravel_multi_index] mode={mode!r}, order={order!r}; accepted: raise, clip, wrap; C, F"
        )
    like = next((v for v in multi_index if isinstance(v, NDArrayBase)), None)
    parts = [operand(v, like=like).astype("int64", copy=False) for v in multi_index]
    if len(parts) != len(dims) or len(modes) != len(dims):
        raise ValueError(
            f"[ravel_multi_index] {len(parts)} arrays of indices for the shape {dims}; accepted: "
            "as many"
        )
    total, weight = None, 1
    for part, size, m in list(zip(parts, dims, modes))[:: -1 if order == "C" else 1]:
        if m == "raise":
            if part.size and (part.min().item() < 0 or part.max().item() >= size):
                raise ValueError(f"[ravel_multi_index] an index out of range for the shape {dims}")
        part = part % size if m == "wrap" else part.clip(0, size - 1) if m == "clip" else part
        part = part if weight == 1 else part * weight
        total = part if total is None else total + part
        weight *= size
    return total.copy() if len(parts) == 1 else total


class _Grid:
    """``mgrid[0:2, 0:3]``: coordinates of a grid by slices, as arrays of mx.np. A step that is
    imaginary is a number of values, the last included. Whole bounds and steps make int64, others
    the default float.
    """

    def __init__(self, sparse):
        self._sparse = sparse

    def _line(self, key):
        start, step = key.start or 0, 1 if key.step is None else key.step
        if isinstance(step, complex):
            values = onp.linspace(start, key.stop, int(abs(step)))
            return operand(values.astype(default_float()))
        whole = all(isinstance(v, int) for v in (start, step, key.stop))
        return arange(start, key.stop, step, dtype="int64" if whole else default_float())

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return self._line(key)
        lines = promoted([self._line(k) for k in key])
        grids = meshgrid(*lines, indexing="ij", sparse=self._sparse)
        if self._sparse:
            return tuple(grids)
        return call("_npi_stack", grids, axis=0, num_args=len(grids))


mgrid, ogrid = _Grid(False), _Grid(True)


def _centred(M, dtype):  # pylint: disable=invalid-name
    count = max(int(M), 0)
    return onp.arange(1 - count, count, 2, dtype="float64"), dtype_name(dtype, default_float())


def _window(values, kind, ctx, device):
    place = device_of(ctx, device)
    return _dispatch.from_values(values.astype(kind), place)


def bartlett(M, dtype=None, ctx=None, device=None):  # pylint: disable=invalid-name
    """The Bartlett window of M points: a triangle with zeros at its ends.

    Examples
    --------
    >>> mx.np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    places, kind = _centred(M, dtype)
    return _window(1 - onp.abs(places) / (M - 1) if M > 1 else places + 1, kind, ctx, device)


def kaiser(M, beta, dtype=None, ctx=None, device=None):  # pylint: disable=invalid-name
    """The Kaiser window of M points, narrower the larger `beta` is.

    Examples
    --------
    >>> mx.np.kaiser(3, 0)
    array([1., 1., 1.])
    """
    kind = dtype_name(dtype, default_float())
    return _window(onp.kaiser(max(int(M), 0), float(beta)), kind, ctx, device)


def isscalar(element):
    """Whether something is a number or a text, of Python or of NumPy; no array is.

    Examples
    --------
    >>> mx.np.isscalar(3.0), mx.np.isscalar(mx.np.array(3.0))
    (True, False)
    """
    return onp.isscalar(element)


def issubdtype(arg1, arg2):
    """Whether a dtype is of a kind, such as ``numpy.floating``, or is another dtype.

    Examples
    --------
    >>> mx.np.issubdtype(mx.np.ones(1).dtype, numpy.floating)
    True
    """
    return onp.issubdtype(arg1, arg2)
