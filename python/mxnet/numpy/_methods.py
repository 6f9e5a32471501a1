"""Methods of mx.np.ndarray that are functions of mx.np, and names of mx.nd's methods that it
refuses: two tables."""
import importlib

from .._methods import ARRAY_METHODS, METHODS
from ._method_examples import add_example

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
    "broadcast_axis": "broadcast_to", "log_sigmoid": "mx.npx.log_sigmoid", "mish": "mx.npx.mish",
}


def _function(name):
    """The function of mx.np, looked up with the first call: its module stands on the class."""
    found = None

    def function(*args, **kwargs):
        nonlocal found
        if found is None:
            found = getattr(importlib.import_module("mxnet.numpy.multiarray"), name)
        return found(*args, **kwargs)
    return function


def _named(call, name, text):
    call.__name__ = call.__qualname__ = name
    call.__doc__ = text
    return call


def _method(method, name):
    # a function of a class binds the array by itself: no call in between
    return _named(_function(name), method, f"``mx.np.{name}`` with this array as first argument.")


def _spread(name):
    """std or var; `correction` is the array API's name of NumPy's `ddof`."""
    function = _function(name)

    def call(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        ddof = kwargs.pop("correction", ddof)
        return function(self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, **kwargs)
    return _named(call, name, f"``mx.np.{name}`` with this array as first argument; `correction` is another name of `ddof`.")


def _clip(name):
    function = _function(name)

    def call(self, min=None, max=None, out=None):   # NumPy's names of a method's arguments
        return function(self, min, max, out=out)
    return _named(call, name, "``mx.np.clip`` with this array as first argument.")


def _compress(name):
    function = _function(name)

    def call(self, condition, axis=None, out=None):
        return function(condition, self, axis, out)
    return _named(call, name, "``mx.np.compress`` of this array.")


_MAKERS = {"compress": _compress, "std": _spread, "var": _spread, "clip": _clip}


def _refusal(name, instead):
    def call(self, *args, **kwargs):
        raise AttributeError(f"mxnet.numpy.ndarray object has no attribute {name}; accepted: {instead}")
    call.refused = True     # stubs leave it out
    return _named(call, name, f"Not of mx.np's arrays, where it raises AttributeError: see {instead}.")


def add_methods(cls):
    """Gives the array class what the tables say."""
    for name in FUNCTIONS:
        setattr(cls, name, add_example(_MAKERS[name](name) if name in _MAKERS else _method(name, name)))
    for method, name in SPECIAL.items():
        setattr(cls, method, _method(method, name))
    refused = dict.fromkeys(METHODS + ARRAY_METHODS, "as_nd_ndarray()")
    refused.update(REFUSED)
    for name, instead in refused.items():
        if name not in vars(cls):
            setattr(cls, name, _refusal(name, instead))
