"""Files of mx.np arrays, and memory shared with other libraries."""
import os

import numpy as onp

from .. import dlpack as _dlpack   # noqa: F401  (its structs)
from ..base import CheckedValueError, open_file
from ..ndarray import NDArray, utils as _classic
from ..ndarray import from_dlpack as _from_dlpack, from_numpy as _from_numpy, to_dlpack_for_read, to_dlpack_for_write
from ..ndarray._native import shared
from ..numpy import ndarray
from ..numpy._dispatch import from_values

__all__ = ["save", "savez", "load", "from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def _as_numpy_array(value, function):
    if not isinstance(value, NDArray):
        raise ValueError(f"[{function}] got a {type(value).__name__}; accepted: arrays of mx.np")
    values = value.asnumpy()
    if value.dtype == "bfloat16":   # NumPy's format has no name for it
        raise ValueError(f"[{function}] bfloat16 is no dtype of NumPy's files; accepted: another one, or a dict of arrays for npx.save")
    return values


def _write(fname, write):
    """A file that appears complete or not at all."""
    fname = os.fspath(fname)
    temporary = f"{fname}.{os.getpid()}.partial"
    try:
        with open_file(temporary, "wb") as f:
            write(f)
        os.replace(temporary, fname)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def save(file, arr):
    """Writes one array as a ``.npy`` file, which NumPy reads, too; a list or dictionary of arrays
    as a ``.params`` file, as MXNet 1.9 does.

    Parameters
    ----------
    file : str
        The name of the file, which is taken as it is.
    arr : ndarray, list of ndarray, or dict of str to ndarray
        What to write.

    Raises
    ------
    ValueError
        for anything else, and for one array of bfloat16.
    OSError
        where the file cannot be written.

    Examples
    --------
    >>> mx.npx.save('/tmp/example.npy', mx.np.array([1., 2.]))
    >>> mx.npx.load('/tmp/example.npy').asnumpy().tolist()
    [1.0, 2.0]
    """
    if isinstance(arr, (list, tuple, dict)):
        arrays = list(arr.values()) if isinstance(arr, dict) else list(arr)
        if not all(isinstance(a, NDArray) for a in arrays):
            raise ValueError("[save] the list or dict holds something else than arrays; accepted: arrays of mx.np")
        before = _numpy_shape(True)
        try:
            _classic.save(file, arr if isinstance(arr, dict) else arrays)
        finally:
            _numpy_shape(before)
        return
    values = _as_numpy_array(arr, "save")
    _write(file, lambda f: onp.lib.format.write_array(f, values, allow_pickle=False))


def _numpy_shape(active):
    from ..util import set_np_shape
    return set_np_shape(active)


def savez(file, *args, **kwds):
    """Writes arrays into one ``.npz`` file, which NumPy reads, too: by keyword under that name, by
    position as ``arr_0``, ``arr_1`` and so on.

    Raises
    ------
    ValueError
        where two arrays have one name (an AssertionError as well), and for what is no array.

    Examples
    --------
    >>> mx.npx.savez('/tmp/example.npz', mx.np.zeros(2), scale=mx.np.array(3.))
    >>> sorted(mx.npx.load('/tmp/example.npz'))
    ['arr_0', 'scale']
    """
    for i in range(len(args)):
        if f"arr_{i}" in kwds:
            raise CheckedValueError(f"[savez] Naming conflict between arg {i} and kwargs.")
    given = {**{f"arr_{i}": a for i, a in enumerate(args)}, **kwds}
    values = {k: _as_numpy_array(a, "savez") for k, a in given.items()}

    def write(f):
        import zipfile
        with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:    # savez itself has names of its own: `file`
            for name, array in values.items():
                with archive.open(name + ".npy", "w", force_zip64=True) as member:
                    onp.lib.format.write_array(member, array, allow_pickle=False)
    _write(file, write)


def load(file):
    """Reads what :func:`save` and :func:`savez`, NumPy, or any version of MXNet wrote.

    Returns
    -------
    ndarray, list of ndarray, or dict of str to ndarray
        One array from a ``.npy`` file, a dictionary from files with names, a list from others.

    Raises
    ------
    OSError
        for a file that is not there, is malformed, or is of another kind (an MXNetError as well).

    Examples
    --------
    >>> mx.npx.save('/tmp/example.npy', mx.np.array([1, 2]))
    >>> mx.npx.load('/tmp/example.npy')
    array([1., 2.])
    """
    if not isinstance(file, (str, bytes)) and not hasattr(file, "__fspath__"):
        raise TypeError(f"[load] got a {type(file).__name__}; accepted: the name of a file")
    file = os.fspath(file)
    kind = _classic.kind_to_load(file)
    if kind == "npy":
        return from_values(_classic.read_npy(file))
    if kind == "npz":
        return {k: from_values(v) for k, v in _classic.read_npz(file).items()}
    before = _numpy_shape(True)
    try:
        found = _classic.load(file)
    finally:
        _numpy_shape(before)
    return {k: shared(a, ndarray) for k, a in found.items()} if isinstance(found, dict) else [shared(a, ndarray) for a in found]


def from_numpy(ndarray, zero_copy=True):   # pylint: disable=redefined-outer-name
    """An mx.np array of a NumPy array, sharing its memory where `zero_copy` is true; that of a
    NumPy array that is not contiguous cannot be shared (ValueError).

    Examples
    --------
    >>> mx.npx.from_numpy(numpy.ones(2)).asnumpy().tolist()
    [1.0, 1.0]
    """
    return _as_mx_np(_from_numpy(ndarray, zero_copy))


def from_dlpack(dlpack):
    """An mx.np array that shares memory with a DLPack capsule, or with an object that has
    ``__dlpack__``. A capsule is used up.

    Examples
    --------
    >>> x = mx.np.ones(3)
    >>> mx.npx.from_dlpack(mx.npx.to_dlpack_for_read(x)).shape
    (3,)
    """
    return _as_mx_np(_from_dlpack(dlpack))


def _as_mx_np(array):
    return shared(array, ndarray)
