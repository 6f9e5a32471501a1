"""Files of arrays, and creation functions that choose the storage type."""
import contextlib
import ctypes

from .._files import kinds
from ..base import NDArrayHandle, _LIB, _MXOSError, c_str, c_str_array, check_call, error_class, local_path, py_str
from .ndarray import NDArray, array, empty, zeros

__all__ = ["array", "empty", "load", "load_frombuffer", "save", "zeros"]


def _take_over(size, handles, name_size, names):
    arrays = [NDArray(NDArrayHandle(handles[i])) for i in range(size.value)]
    if name_size.value == 0:
        return arrays
    return {py_str(names[i]): a for i, a in enumerate(arrays)}


def _load(function, *args):
    size, name_size = ctypes.c_uint(), ctypes.c_uint()
    handles, names = ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(function(*args, ctypes.byref(size), ctypes.byref(handles), ctypes.byref(name_size), ctypes.byref(names)))
    return _take_over(size, handles, name_size, names)


def _from_numpy_file(fname, kind):
    """What ``numpy.load`` gives for a file; an OSError for what is no whole one."""
    import numpy as np
    try:
        with np.load(fname, allow_pickle=False) if kind == "npz" else contextlib.nullcontext() as data:
            return arrays_of(data) if kind == "npz" else np.load(fname, allow_pickle=False)
    except MemoryError:
        raise
    except Exception as e:   # what zipfile, zlib and NumPy raise has no common class
        raise _MXOSError(f"[load] {fname!r} is not a whole .{kind} file: {type(e).__name__}: {e}; accepted: what numpy.save writes") from e


def arrays_of(archive):
    """{name: NumPy array} of an open ``.npz`` file. ValueError, with the member's name, for a
    member that is damaged or no array, of which NumPy gives the bytes."""
    found = {}
    for name in archive.files:
        try:
            found[name] = archive[name]
        except (MemoryError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise ValueError(f"member {name!r}: {error}") from error
        if isinstance(found[name], bytes):
            raise ValueError(f"member {name!r} is no array: it does not begin with what numpy.save writes")
    return found


def kind_to_load(fname):
    """``"npz"`` or ``"npy"`` for a file of NumPy, else None: the library reads it. An OSError that
    says what it is and what to call, for files of other kinds."""
    kind = kinds.refuse_other("load", fname, ("params", "npz", "npy"), "files of mx.nd.save, net.save_parameters and export "
                              "(.params), .npz and .npy files")
    return None if kind == "params" else kind


def read_npz(fname):
    """{name: NumPy array} of an ``.npz`` file."""
    return _from_numpy_file(fname, "npz")


def read_npy(fname):
    """The NumPy array of an ``.npy`` file."""
    return _from_numpy_file(fname, "npy")


def load(fname):
    """Reads arrays from a file of any version (or an ``.npz`` or ``.npy`` file).

    Returns a list, or a dict when the file has names. Raises OSError with the byte offset of what
    is malformed; for a file of another kind (PyTorch's, ONNX, a picture) it says what that is and
    what reads it.

    >>> mx.nd.save('arrays.params', [mx.nd.ones(2), mx.nd.zeros(3)])
    >>> [array.shape for array in mx.nd.load('arrays.params')]
    [(2,), (3,)]
    """
    if not isinstance(fname, (str, bytes)) and not hasattr(fname, "__fspath__"):
        raise TypeError(f"[load] got {type(fname).__name__}; accepted: a path")
    fname = local_path(fname)
    kind = kind_to_load(fname)
    if kind == "npz":
        return {k: array(v, dtype=v.dtype) for k, v in read_npz(fname).items()}
    if kind == "npy":
        values = read_npy(fname)
        return [array(values, dtype=values.dtype)]
    return _load(_LIB.MXNDArrayLoad, c_str(fname))


def load_frombuffer(buf):
    """Like :func:`load`, from bytes.

    >>> mx.nd.save('arrays.params', [mx.nd.ones(2)])
    >>> with open('arrays.params', 'rb') as file:
    ...     arrays = mx.nd.load_frombuffer(file.read())
    >>> arrays[0].asnumpy()
    array([1., 1.], dtype=float32)
    """
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"[load] got {type(buf).__name__}; accepted: bytes")
    data = bytes(buf)
    return _load(_LIB.MXNDArrayLoadFromBuffer, data, ctypes.c_size_t(len(data)))


def save(fname, data):
    """Writes an array, a list of arrays or a dict of arrays. The file appears complete or not at
    all.

    >>> mx.nd.save('arrays.params', {'a': mx.nd.ones(2), 'b': mx.nd.zeros((2, 2))})
    >>> sorted(mx.nd.load('arrays.params'))
    ['a', 'b']
    """
    import os
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        names, arrays = list(data.keys()), list(data.values())
        if not all(isinstance(n, str) for n in names):
            raise TypeError("[save] names must be strings")
    elif isinstance(data, (list, tuple)):
        names, arrays = None, list(data)
    else:
        raise error_class(TypeError, ValueError)(f"[save] got {type(data).__name__}; accepted: an NDArray, a list or a dict of NDArrays")
    if not all(isinstance(a, NDArray) for a in arrays):
        raise TypeError("[save] every value must be an NDArray")
    check_call(_LIB.MXNDArraySave(c_str(os.fspath(fname)), ctypes.c_uint(len(arrays)),
                                  (ctypes.c_void_p * len(arrays))(*[a.handle for a in arrays]),
                                  c_str_array(names) if names is not None else None))
