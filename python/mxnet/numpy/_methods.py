"""Methods of mx.np.ndarray that are functions of mx.np, and names of mx.nd's methods that it
refuses: two tables."""
import importlib

from .._methods import ARRAY_METHODS, METHODS

__all__ = ["add_methods"]

# Method and function have one name, and the arguments of the one follow the array in the other.
FUNCTIONS = """
    all any argmax argmin argsort broadcast_to clip cumsum diagonal dot max mean min nonzero prod ravel repeat round
    sort squeeze std sum swapaxes take tile trace var
""".split()
# Python's own functions of an array: method and function.
SPECIAL = {"__floor__": "floor", "__ceil__": "ceil", "__trunc__": "trunc"}
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
    return getattr(importlib.import_module("mxnet.numpy.multiarray"), name)    # which stands on the class


def _method(method, name):
    def call(self, *args, **kwargs):
        return _function(name)(self, *args, **kwargs)
    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"``mx.np.{name}`` with this array as first argument."
    return call


def _spread(name):
    """std or var; `correction` is the array API's name of NumPy's `ddof`."""
    def call(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        ddof = kwargs.pop("correction", ddof)
        return _function(name)(self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, **kwargs)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"``mx.np.{name}`` with this array as first argument; `correction` is another name of `ddof`."
    return call


def _refusal(name, instead):
    def call(self, *args, **kwargs):
        raise AttributeError(f"mxnet.numpy.ndarray object has no attribute {name}; accepted: {instead}")
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Not of mx.np's arrays, where it raises AttributeError: see {instead}."
    return call


def add_methods(cls):
    """Gives the array class what the tables say."""
    for name in FUNCTIONS:
        setattr(cls, name, _spread(name) if name in ("std", "var") else _method(name, name))
    for method, name in SPECIAL.items():
        setattr(cls, method, _method(method, name))
    refused = dict.fromkeys(METHODS + ARRAY_METHODS, "as_nd_ndarray()")
    refused.update(REFUSED)
    for name, instead in refused.items():
        if name not in vars(cls):
            setattr(cls, name, _refusal(name, instead))
