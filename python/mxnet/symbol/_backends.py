"""Graphs rewritten by the partitioners and passes of libraries."""
import ctypes

from .. import _dtypes
from .._binding import attr_to_str
from ..base import SymbolHandle, _LIB, c_handle_array, c_str, c_str_array, check_call, py_str, CheckedTypeError, CheckedValueError


def backend_name(backend):
    if not isinstance(backend, str):
        raise CheckedTypeError(f"[optimize_for] backend={backend!r}; accepted: the name of a subgraph backend, 'MKLDNN' or 'ONEDNN'")
    return c_str(backend)


class _Made:
    """New parameters of one kind, as the C function gives them."""

    def __init__(self):
        self.count = ctypes.c_int()
        self.handles = ctypes.POINTER(ctypes.c_void_p)()
        self.names = ctypes.POINTER(ctypes.c_char_p)()

    def references(self):
        return [ctypes.byref(x) for x in (self.count, self.handles, self.names)]

    def arrays(self):
        from ..ndarray import NDArray
        return {py_str(self.names[i]): NDArray(ctypes.c_void_p(self.handles[i])) for i in range(self.count.value)}


def _handles(names, arrays):
    if isinstance(arrays, dict):
        arrays = [arrays.get(n) for n in names]
    return c_handle_array(arrays or [])


def _add(kind, given, made):
    """New parameters go into the caller's dictionary."""
    if not made:
        return
    if not isinstance(given, dict):
        raise CheckedValueError(f"[optimize_for] the backend makes new parameters ({', '.join(made)}), and `{kind}` is "
                                f"{'None' if given is None else 'a ' + type(given).__name__}; accepted: a dict, which gets them")
    given.update(made)


def optimize(symbol, backend, args, aux, device_type, shapes, dtypes, skip_infer, options):
    """The symbol after a backend; see ``Symbol.optimize_for``."""
    ends = [0]
    for shape in shapes.values():
        ends.append(ends[-1] + len(shape))
    sizes = [d for shape in shapes.values() for d in shape]
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    arrays = [x for g in (_handles(arguments, args), _handles(states, aux)) for x in (ctypes.c_uint(len(g)), g)]
    handle, new_args, new_aux = SymbolHandle(), _Made(), _Made()
    check_call(_LIB.MXOptimizeForBackend(
        symbol.handle, backend_name(backend), ctypes.c_int(device_type), ctypes.byref(handle), *arrays,
        ctypes.c_uint(len(options)), c_str_array(list(options)), c_str_array([attr_to_str(v) for v in options.values()]),
        ctypes.c_uint(len(shapes)), c_str_array(list(shapes)), (ctypes.c_int64 * len(sizes))(*sizes), (ctypes.c_uint * len(ends))(*ends),
        ctypes.c_uint(len(dtypes)), c_str_array(list(dtypes)), (ctypes.c_int * len(dtypes))(*[_dtypes.number(t) for t in dtypes.values()]),
        ctypes.c_uint(0), None, None, ctypes.c_bool(skip_infer), *new_args.references(), *new_aux.references()))
    result = type(symbol)(handle)
    made_args, made_aux = new_args.arrays(), new_aux.arrays()   # the store behind the pointers lasts until the next call
    _add("args", args, made_args)
    _add("aux", aux, made_aux)
    return result
