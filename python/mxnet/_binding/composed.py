"""What can be done with the primitives of a binding, for one that has no faster way of its own: the
ctypes one. Those that hasten something say here that there is nothing to hasten."""
import ctypes
import threading

from . import NDArrayBase, invoke, invoke_np, new_array
from .._ctypes.ndarray import handle_of
from .._dtypes import NAMES
from ..base import _LIB, check_call

# ---- making arrays

def array_of(values, device_type, device_id, dtype, numpy):
    """A copy of NumPy's array `values`, which has that dtype."""
    array = new_array(values.shape, device_type, device_id, dtype, False, numpy)
    array._copy_from(values, values.nbytes)
    return array


def array_of_lists(values, device_type, device_id, dtype, numpy):    # pylint: disable=unused-argument
    """None: NumPy reads the numbers of nested lists."""
    return None


def filled(op_handle, value, shape, device_type, device_id, dtype, numpy=False):
    """What the operator ``_zeros``, ``_ones`` or, with a value, ``_full`` writes into a new
    array."""
    keys, values = ("shape", "dtype"), (shape, NAMES[dtype])
    if value is not None:
        keys, values = keys + ("value",), values + (repr(float(value)),)
    return invoke(op_handle, (), keys, values, new_array(shape, device_type, device_id, dtype, True, numpy))


# ---- callbacks

def guarded(function, failed):
    """A function for C to call back: 1 where `function` returns, else what ``failed(error)``
    returns."""
    def entry(*args):
        try:
            function(*args)
            return 1
        except BaseException as error:      # pylint: disable=broad-except
            return failed(error)
    return entry


# ---- operators of mx.np

class _Symbols(threading.local):
    wanted = False    # functions of mx.np without inputs make symbols


_symbols = _Symbols()
_symbol_call = None


def set_symbols(on):
    """Whether functions of mx.np without inputs make symbols, on this thread. Returns what it
    was."""
    before, _symbols.wanted = _symbols.wanted, bool(on)
    return before


def _set_symbol_call(function):
    global _symbol_call   # pylint: disable=global-statement
    _symbol_call = function


def numpy_call(name, inputs, out=None, **params):
    """Runs the operator `name` on a tuple or list of mx.np arrays, or makes a symbol of it;
    parameters that are None are left out."""
    params = {k: v for k, v in params.items() if v is not None}
    if _symbols.wanted or inputs and not isinstance(inputs[0], NDArrayBase):
        return _symbol_call(name, inputs, params)
    return invoke_np(handle_of(name), inputs, tuple(params), tuple(params.values()), out)


def of_one_dtype(values):
    """Whether the members of a tuple or list are arrays, and their dtypes equal."""
    return all(isinstance(v, NDArrayBase) and v._dtype_id == values[0]._dtype_id for v in values)


# ---- views, which the compiled binding alone has

def make_views(on):
    """Refuses views of elements that do not lie side by side: the compiled binding has them."""
    if on:
        raise NotImplementedError("[set_np] views=True without the compiled binding; accepted: views=False, or MXNET_ENABLE_CYTHON=1")
    return False


def makes_views():
    """Whether mx.np makes views where NumPy does: never."""
    return False


def layout_of(array):
    """(address, elements from one to the next along each dimension) of an array of mx.np."""
    steps, step = [], 1
    for size in reversed(array.shape):
        steps.append(step)
        step *= size
    address = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(array.handle, ctypes.byref(address)))
    return address.value or 0, tuple(reversed(steps))


def show(*_):
    """Never called: see :func:`make_views`."""
    make_views(True)


def store_push(*_):
    """None: the store itself makes the call, by ctypes."""


store_pull = store_pushpull = store_push


def onnx_run(*_):
    """None: the model itself makes the call, by ctypes."""


onnx_named = onnx_numpy = onnx_run


def NumpyFunction(rest, attributes, arrays, number, left, kind, truth=""):   # pylint: disable=invalid-name
    """A function of mx.np: `rest`, which serves every call, by the name that `attributes` say."""
    del arrays, number, left, kind, truth    # what the compiled binding calls itself
    attributes = dict(attributes)
    attributes.pop("__wrapped__", None)
    for name, value in attributes.items():
        setattr(rest, name, value)
    return rest


def NumpyProperty(function, attribute, dtypes):     # pylint: disable=invalid-name
    """A property of mx.np.ndarray."""
    del attribute, dtypes   # what the compiled binding reads itself
    return property(function)


def _set_making(current, home, dtypes):
    """What functions go by that the compiled binding calls itself: there are none here."""
    del current, home, dtypes
