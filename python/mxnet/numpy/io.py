"""``mx.np.io``: arrays in files of NumPy's formats and in text files, and arrays out of bytes,
iterators and functions."""
import io as _io
import os

import numpy as onp

from .. import _dtypes
from .._binding import NDArrayBase
from .._files import kinds
from .._files.whole_files import write_file
from ..ndarray.utils import arrays_of
from ._creation import array, indices
from ._dispatch import dtype_name, from_values

__all__ = ["genfromtxt", "loadtxt", "savetxt", "save", "savez", "savez_compressed", "load", "fromfile", "fromstring", "frombuffer",
           "fromiter", "fromfunction"]


def _host(function, value):
    """The values as an array of NumPy."""
    if not isinstance(value, NDArrayBase):
        return onp.asarray(value)
    if value.dtype == _dtypes.bfloat16:
        raise ValueError(f"[{function}] bfloat16 is no dtype of NumPy's files; accepted: another one")
    return value.asnumpy()


def _written(file, suffix, write):
    """Calls `write` with a file that is open for bytes, and puts it in the place that `file`
    names, as a whole."""
    if hasattr(file, "write"):
        write(file)
        return
    path = os.fspath(file)
    path = path if not suffix or path.endswith(suffix) else path + suffix
    held = _io.BytesIO()
    write(held)
    write_file(path, held.getvalue())


def genfromtxt(*args, **kwargs):
    """The numbers in a text file, read by NumPy's function of that name with the same arguments, as
    an array of mx.np. `ctx` or `device` says where.

    Examples
    --------
    >>> import io
    >>> mx.np.genfromtxt(io.StringIO("1,2\\n3,4"), delimiter=",").tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    device, ctx = kwargs.pop("device", None), kwargs.pop("ctx", None)
    values = onp.genfromtxt(*args, **kwargs)
    return array(values, dtype=values.dtype, ctx=ctx, device=device)


def loadtxt(fname, dtype=None, **kwargs):
    """The numbers in a text file, float64 unless `dtype` says otherwise. Other arguments are those
    of NumPy's function.

    Examples
    --------
    >>> import io
    >>> mx.np.loadtxt(io.StringIO("1 2"), dtype="int32")
    array([1, 2], dtype=int32)
    """
    values = onp.loadtxt(fname, dtype=float if dtype is None else dtype, **kwargs)
    return from_values(values, None, values.dtype)


def savetxt(fname, X, **kwargs):    # pylint: disable=invalid-name
    """Writes an array of one or two dimensions as text, with the arguments of NumPy's function.
    Files whose names end in ``.gz`` are compressed.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO(); mx.np.savetxt(file, mx.np.array([1., 2.]), fmt="%g"); file.getvalue()
    '1\\n2\\n'
    """
    onp.savetxt(fname, _host("savetxt", X), **kwargs)


def save(file, arr, allow_pickle=True, fix_imports=True):
    """Writes an array to a file of NumPy's format ``.npy``. `file` is a path, to which ``.npy`` is
    added where it is missing, or an open file. The last two arguments are NumPy's: there is nothing
    to pickle.

    Examples
    --------
    >>> mx.np.save('/tmp/example.npy', mx.np.array([1., 2.]))
    >>> mx.np.load('/tmp/example.npy')
    array([1., 2.])
    """
    values = _host("save", arr)
    _written(file, ".npy", lambda out: onp.save(out, values, allow_pickle=False))


def _zipped(name, write, file, given, named):
    given = [_host(name, value) for value in given]
    named = {key: _host(name, value) for key, value in named.items()}
    _written(file, ".npz", lambda out: write(out, *given, **named))


def savez(file, *args, **kwds):
    """Writes arrays to a file of NumPy's format ``.npz``: the first ones as `arr_0`, `arr_1`, ...,
    the others by their names. `file` is a path, to which ``.npz`` is added where it is missing, or
    an open file.

    Examples
    --------
    >>> mx.np.savez('/tmp/example.npz', mx.np.zeros(2), scale=mx.np.array(3.))
    >>> mx.np.load('/tmp/example.npz')['scale']
    array(3.)
    """
    if isinstance(kwds.get("allow_pickle"), bool):     # NumPy's: there is nothing to pickle
        del kwds["allow_pickle"]
    _zipped("savez", onp.savez, file, args, kwds)


def savez_compressed(file, *args, **kwds):
    """:func:`savez` with compressed arrays.

    Examples
    --------
    >>> mx.np.savez_compressed('/tmp/example.npz', zeros=mx.np.zeros(1000))
    >>> mx.np.load('/tmp/example.npz')['zeros'].shape
    (1000,)
    """
    if isinstance(kwds.get("allow_pickle"), bool):
        del kwds["allow_pickle"]
    _zipped("savez_compressed", onp.savez_compressed, file, args, kwds)


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    """The array in a file of NumPy's format ``.npy``, or a dict of those in an ``.npz``. Pickled
    objects in it are refused: that is a ValueError, also with `allow_pickle`. The other arguments
    are NumPy's; the file is read as a whole.

    Examples
    --------
    >>> mx.np.save('/tmp/example.npy', mx.np.eye(2))
    >>> mx.np.load('/tmp/example.npy').shape
    (2, 2)
    """
    del mmap_mode, allow_pickle, fix_imports, encoding, max_header_size
    if isinstance(file, (str, bytes, os.PathLike)) and os.path.exists(file):
        kinds.refuse_other("load", file, ("npy", "npz"), ".npy and .npz files", ValueError)
    found = onp.load(file, allow_pickle=False)
    if isinstance(found, onp.ndarray):
        return from_values(found, None, found.dtype)
    with found:
        try:
            arrays = arrays_of(found)
        except ValueError as error:
            raise ValueError(f"[load] {file!r}, {error}") from error
    return {name: from_values(value, None, value.dtype) for name, value in arrays.items()}


def fromfile(file, dtype="float64", count=-1, sep="", offset=0):
    """A vector of the numbers in a file, of bytes or of a text in which `sep` separates them, by
    NumPy's function of that name.

    Examples
    --------
    >>> mx.np.array([1, 2], dtype="int32").tofile("/tmp/example.bin")
    >>> mx.np.fromfile("/tmp/example.bin", dtype="int32")
    array([1, 2], dtype=int32)
    """
    values = onp.fromfile(file, dtype, count, sep, offset)
    return from_values(values, None, values.dtype)


def fromstring(string, dtype="float64", count=-1, *, sep):
    """A vector of the numbers in a text, in which `sep` separates them.

    Examples
    --------
    >>> mx.np.fromstring("1, 2", sep=",")
    array([1., 2.], dtype=float64)
    """
    values = onp.fromstring(string, dtype, count, sep=sep)
    return from_values(values, None, values.dtype)


def frombuffer(buffer, dtype="float64", count=-1, offset=0):
    """A vector with a copy of the bytes of a buffer, read as numbers of a dtype.

    Examples
    --------
    >>> mx.np.frombuffer(b"\\x01\\x02\\x03", dtype="uint8", offset=1)
    array([2, 3], dtype=uint8)
    """
    values = onp.frombuffer(buffer, dtype, count, offset)
    return from_values(values, None, values.dtype)


def fromiter(iter, dtype, count=-1):    # pylint: disable=redefined-builtin
    """A vector of the numbers that something gives one by one, `count` of them, or all.

    Examples
    --------
    >>> mx.np.fromiter((i * i for i in range(4)), "int32")
    array([0, 1, 4, 9], dtype=int32)
    """
    values = onp.fromiter(iter, dtype, count)
    return from_values(values, None, values.dtype)


def fromfunction(function, shape, *, dtype="float64", **kwargs):
    """What a function gives for arrays of the indices along each dimension of `shape`.

    Examples
    --------
    >>> mx.np.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype="int32").tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    return function(*indices(shape, dtype=dtype_name(dtype)), **kwargs)
