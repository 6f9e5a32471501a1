"""Methods of mx.np.ndarray that are functions of mx.np, and names of mx.nd's methods that it
refuses: two tables."""
import functools
import importlib

from .._operators import methods as _methods

__all__ = ["add_methods"]

# Method and function have one name, and the arguments of the one follow the array in the other.
FUNCTIONS = """
    all any argmax argmin argpartition argsort broadcast_to choose clip compress conj cumprod cumsum diagonal dot
    max mean min nonzero prod ptp put ravel repeat round searchsorted sort squeeze std sum swapaxes take tile
    trace var
""".split()
# Python's own functions of an array: method and function.
SPECIAL = {"conjugate": "conj", "__floor__": "floor", "__ceil__": "ceil", "__trunc__": "trunc"}
# Methods of mx.nd that 2.0 refuses on arrays of mx.np although the class has them, and where there
# is what they did.
REFUSED = {
    **{name: f"mx.np.{name}" for name in """
        abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees diag exp expand_dims expm1 fix flip floor log
        log10 log1p log2 ones_like pad radians reciprocal rint sign sin sinh split sqrt square tan tanh trunc zeros_like
        nansum nanprod""".split()},
    **{name: f"mx.npx.{name}" for name in """
        broadcast_like log_softmax one_hot pick relu reshape_like sigmoid slice softmax topk gamma gammaln""".split()},
    "asscalar": "item()", "tostype": "as_nd_ndarray().tostype", "norm": "mx.np.linalg.norm", "split_v2": "mx.np.split",
    "shape_array": "the attribute shape", "size_array": "the attribute size", "broadcast_axes": "broadcast_to",
    "broadcast_axis": "broadcast_to", "log_sigmoid": "mx.npx.activation(x, act_type='log_sigmoid')",
    "mish": "mx.npx.activation(x, act_type='mish')",
}


# Attributes and methods of NumPy's arrays that neither 1.9.1 nor 2.0 has; hasattr says so.
ABSENT = {
    "data": "asnumpy().data", "ctypes": "asnumpy().ctypes", "resize": "mx.np.resize(x, shape), a new array",
    "setflags": "asnumpy(), since arrays of mx.np can always be written", "itemset": "x[index] = value",
    "getfield": "view(dtype)", "byteswap": "asnumpy().byteswap()", "newbyteorder": "asnumpy()",
}


class _Absent(property):
    refused = True      # stubs leave it out


def _absence(name):
    def get(self):
        raise AttributeError(f"mxnet.numpy.ndarray object has no attribute {name}; accepted: {ABSENT[name]}")
    get.__doc__ = f"""Not of mx.np's arrays, where it raises AttributeError: see {ABSENT[name]}.

    >>> hasattr(mx.np.ones(2), '{name}')
    False
    """
    return _Absent(get)


def _function(name):
    """The function of mx.np; its module stands on the class."""
    return getattr(importlib.import_module("mxnet.numpy.multiarray"), name)


def _method(name):
    function = _function(SPECIAL.get(name, name))
    text = f"``mx.np.{SPECIAL.get(name, name)}`` with this array as first argument."
    if hasattr(function, "_as"):    # compiled: it binds the array itself, with nothing in between
        return function._as({**vars(function), "__doc__": text})

    @functools.wraps(function, assigned=(), updated=())     # of which it has the signature
    def call(*args, **kwargs):      # a function of a class binds the array by itself
        return function(*args, **kwargs)
    call.__doc__ = text
    return call


def _spread(name):
    """std or var; `correction` is the array API's name of NumPy's `ddof`."""
    function = _function(name)

    def call(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        ddof = kwargs.pop("correction", ddof)
        return function(self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, **kwargs)
    call.__doc__ = f"``mx.np.{name}`` with this array as first argument; `correction` is another name of `ddof`."
    return call


def _clip(name):
    function = _function(name)

    def call(self, min=None, max=None, out=None):   # NumPy's names of a method's arguments
        return function(self, min, max, out=out)
    call.__doc__ = "``mx.np.clip`` with this array as first argument."
    return call


def _compress(name):
    function = _function(name)

    def call(self, condition, axis=None, out=None):
        return function(condition, self, axis, out)
    call.__doc__ = "``mx.np.compress`` of this array."
    return call


_MAKERS = {"compress": _compress, "std": _spread, "var": _spread, "clip": _clip}


def _refusal(name):
    instead = REFUSED.get(name, "as_nd_ndarray()")

    def call(self, *args, **kwargs):
        raise AttributeError(f"mxnet.numpy.ndarray object has no attribute {name}; accepted: {instead}")
    call.refused = True     # stubs leave it out
    call.instead = instead
    call.__doc__ = f"Not of mx.np's arrays, where it raises AttributeError: see {instead}."
    return call


def _made(name):
    return _MAKERS.get(name, _method)(name)


def add_methods(cls):
    """Gives the array class what the tables say."""
    _methods.add_methods(cls, [*FUNCTIONS, *SPECIAL], _made, "np")
    for name in ABSENT:
        setattr(cls, name, _absence(name))
    refused = dict.fromkeys([*_methods.METHODS, *_methods.ARRAY_METHODS, *REFUSED])
    _methods.add_methods(cls, [name for name in refused if name not in vars(cls)], _refusal, "np")
