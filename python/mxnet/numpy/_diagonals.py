"""Functions of mx.np about diagonals and triangles of matrices."""
import contextlib

import numpy as onp

from .._binding import NDArrayBase, is_traced
from ._creation import results
from ._dispatch import call, check_order, default_float, device_of, dtype_name, is_symbol, operand, place_name
from ._flat import repeated
from ._views import shows

__all__ = ["eye", "identity", "tri", "tril", "triu", "tril_indices", "triu_indices", "tril_indices_from", "triu_indices_from", "diag",
           "diagflat", "diagonal", "diag_indices_from", "fill_diagonal"]


def eye(N, M=None, k=0, dtype=None, ctx=None, device=None, **kwargs):   # pylint: disable=invalid-name
    """A matrix of N rows and M columns (N without it) with ones on diagonal `k`.

    Examples
    --------
    >>> mx.np.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    check_order("eye", kwargs.pop("order", "C"))
    if kwargs:
        raise TypeError(f"[eye] got {', '.join(kwargs)}; accepted: N, M, k, dtype, order, ctx, device")
    return call("_npi_eye", (), N=int(N), M=None if M is None else int(M), k=int(k), dtype=dtype_name(dtype, default_float()),
                ctx=place_name(ctx, device))


def identity(n, dtype=None, ctx=None, device=None):
    """The identity matrix of n rows and columns.

    Examples
    --------
    >>> mx.np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return call("_npi_identity", (), shape=(int(n), int(n)), dtype=dtype_name(dtype, default_float()), ctx=place_name(ctx, device))


def tri(N, M=None, k=0, dtype=None, ctx=None, device=None):   # pylint: disable=invalid-name
    """A matrix of N rows and M columns (N without it) with ones on and below diagonal `k`: float32
    unless `dtype` says otherwise.

    Examples
    --------
    >>> mx.np.tri(2, 3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    return call("_npi_tri", (), N=max(int(N), 0), M=None if M is None else max(int(M), 0), k=int(k), dtype=dtype_name(dtype, "float32"),
                ctx=place_name(ctx, device))


def tril(m, k=0):
    """Matrices with zeros above diagonal `k`. A vector stands for a matrix that has it in each row.

    Examples
    --------
    >>> mx.np.tril(mx.np.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return call("_npi_tril", (operand(m),), k=int(k))


def triu(m, k=0):
    """Matrices with zeros below diagonal `k`. A vector stands for a matrix that has it in each row.

    Examples
    --------
    >>> mx.np.triu(mx.np.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return call("_npi_triu", (operand(m),), k=int(k))


def tril_indices(n, k=0, m=None):
    """Rows and columns, as int64, of the elements on and below diagonal `k` of a matrix of n rows
    and m columns (n without it).

    Examples
    --------
    >>> rows, columns = mx.np.tril_indices(2)
    >>> columns.tolist()
    [0, 0, 1]
    """
    places = results(call("_npi_tril_indices", (), n=max(int(n), 0), k=int(k), m=max(int(n if m is None else m), 0)))
    return _placed(places, device_of())


def _placed(arrays, device):
    """The arrays on a device; symbols as they are."""
    return tuple(a if is_symbol(a) else a.as_in_context(device) for a in arrays)


def triu_indices(n, k=0, m=None, ctx=None, device=None):
    """Rows and columns, as int64, of the elements on and above diagonal `k` of a matrix of n rows
    and m columns (n without it).

    Examples
    --------
    >>> rows, columns = mx.np.triu_indices(2)
    >>> columns.tolist()
    [0, 1, 1]
    """
    n = max(int(n), 0)
    m = n if m is None else max(int(m), 0)
    # Turned by half a turn, the elements on and above a diagonal are those on and below another.
    turned = results(call("_npi_tril_indices", (), n=n, k=m - n - int(k), m=m))
    out = tuple(call("_npi_rsubtract_scalar", (call("_npi_flip", (places,), axis=(0,)),), scalar=size - 1)
                for places, size in zip(turned, (n, m)))
    return _placed(out, device_of(ctx, device))


def tril_indices_from(arr, k=0):
    """:func:`tril_indices` of a matrix's shape.

    Examples
    --------
    >>> [i.tolist() for i in mx.np.tril_indices_from(mx.np.ones((2, 2)))]
    [[0, 1, 1], [0, 0, 1]]
    """
    return _beside(arr, tril_indices, *_matrix("tril_indices_from", arr, k))


def triu_indices_from(arr, k=0):
    """:func:`triu_indices` of a matrix's shape.

    Examples
    --------
    >>> [i.tolist() for i in mx.np.triu_indices_from(mx.np.ones((2, 2)))]
    [[0, 0, 1], [0, 1, 1]]
    """
    return _beside(arr, triu_indices, *_matrix("triu_indices_from", arr, k))


def _beside(arr, function, *args):
    """What a function gives on the device of an array."""
    with arr.context if isinstance(arr, NDArrayBase) else contextlib.nullcontext():
        return function(*args)


def _matrix(function, arr, k):
    if len(arr.shape) != 2:
        raise ValueError(f"[{function}] an array of shape {tuple(arr.shape)}; accepted: 2 dimensions")
    return arr.shape[0], k, arr.shape[1]


@shows(lambda x, k=0: x.diagonal(k) if x.ndim == 2 else None, "v")
def diag(array=None, k=0, *, v=None):   # pylint: disable=redefined-outer-name
    """The diagonal `k` of a matrix, or a matrix with a vector on it. Of more dimensions, those of
    the first two. `v` is NumPy's name of `array`.

    Examples
    --------
    >>> mx.np.diag(mx.np.array([1, 2]))
    array([[1., 0.],
           [0., 2.]])
    """
    return call("_npi_diag", (operand(array if v is None else v),), k=int(k))


def diagflat(array=None, k=0, *, v=None):   # pylint: disable=redefined-outer-name
    """A matrix with all elements of an array on its diagonal `k`. `v` is NumPy's name of `array`.

    Examples
    --------
    >>> mx.np.diagflat(mx.np.array([[1, 2]]))
    array([[1., 0.],
           [0., 2.]])
    """
    return call("_npi_diagflat", (operand(array if v is None else v),), k=int(k))


@shows()
def diagonal(a, offset=0, axis1=0, axis2=1):
    """A copy of the diagonals of matrices, whose rows and columns are dimensions `axis1` and
    `axis2`.

    Examples
    --------
    >>> mx.np.diagonal(mx.np.array([[1, 2], [3, 4]]))
    array([1., 4.])
    """
    return call("_npi_diagonal", (operand(a),), offset=int(offset), axis1=int(axis1), axis2=int(axis2))


def diag_indices_from(arr):
    """The indices, as int64, of the main diagonal of an array of equal sizes: one array for each
    dimension.

    Examples
    --------
    >>> [i.tolist() for i in mx.np.diag_indices_from(mx.np.ones((2, 2)))]
    [[0, 1], [0, 1]]
    """
    if is_symbol(arr):
        raise NotImplementedError("[diag_indices_from] got a symbol, whose shape is not known; accepted: arrays")
    places = call("_npi_diag_indices_from", (operand(arr),))
    return tuple(places[i] for i in range(len(arr.shape)))


def fill_diagonal(a, val, wrap=False):
    """Sets the main diagonal of `a` to a number, or to numbers in turn, in place. `wrap`: the
    diagonal of a tall matrix begins again behind an empty row.

    Examples
    --------
    >>> a = mx.np.zeros((2, 2))
    >>> mx.np.fill_diagonal(a, 5)
    >>> a
    array([[5., 0.],
           [0., 5.]])
    """
    if isinstance(val, NDArrayBase) and is_traced() and val.size and a.size and a.ndim > 1:    # its values stay unknown, it has a gradient
        places = onp.zeros(a.shape, "bool")
        onp.fill_diagonal(places, True, wrap)
        places = onp.nonzero(places)
        a[places] = repeated(val, places[0].size, a).astype(a.dtype)
        return
    values = val.asnumpy() if isinstance(val, NDArrayBase) else onp.asarray(val)
    call("_npi_fill_diagonal", (a,), a, val=tuple(float(v) for v in values.ravel()), wrap=bool(wrap))
