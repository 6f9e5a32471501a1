"""Functions of symbols and numbers that are no operators of their own, and symbols of constant
arrays."""
import numbers

import numpy as np

from . import _functions
from .. import _dtypes
from .._operators.methods import ARITHMETIC
from ._symbol import Symbol

__all__ = ["arange", "eye", "full", "histogram", "hypot", "linspace", "maximum", "minimum", "ones", "pow", "power", "split_v2", "zeros"]


def _either(name, plain, values, number, result):
    """The function `name` of two symbols or numbers; `plain` is that of two numbers. The example in
    its docstring is that of a symbol with these values and a number."""
    row = next(row for row in ARITHMETIC if name in row.symbol_functions)
    number_hint, left_hint = ("_" + op.replace("_", "") for op in (row.number, row.left))   # what automatic names begin with

    def function(left, right):
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return _functions.invoke(row.symbols, row.symbols, [left, right])
        if isinstance(left, Symbol) and isinstance(right, numbers.Number):
            return _functions.invoke(row.number, number_hint, [left], scalar=right)
        if isinstance(left, numbers.Number) and isinstance(right, Symbol):
            return _functions.invoke(row.left, left_hint, [right], scalar=left)
        if isinstance(left, numbers.Number) and isinstance(right, numbers.Number):
            return plain(left, right)
        raise TypeError(f"[{name}] types ({type(left)}, {type(right)}) not supported; accepted: symbols and numbers")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Element-wise {name} of symbols and numbers.

    >>> y = mx.sym.{name}(mx.sym.var('x'), {number})
    >>> y.eval(x=mx.nd.array({values}))[0].asnumpy()
    array({result}, dtype=float32)
    """
    return function


_pow = _either("pow", lambda a, b: a ** b, "[1, 8]", 2, "[1., 64.]")
maximum = _either("maximum", max, "[1, 8]", 2, "[2., 8.]")
minimum = _either("minimum", min, "[1, 8]", 2, "[1., 2.]")
hypot = _either("hypot", np.hypot, "[3, 8]", 4, "[5.     , 8.944272]")


def pow(base, exp):
    """Element-wise `base` to the power `exp`, of symbols and numbers.

    >>> mx.sym.pow(mx.sym.Variable('x'), 2).eval(x=mx.nd.array([1, 3]))[0].asnumpy()
    array([1., 9.], dtype=float32)
    """
    return _pow(base, exp)


power = pow


def _dtype_text(dtype):
    return "float32" if dtype is None else _dtypes.name(dtype)


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """Ones on the k-th diagonal of an N x M matrix (M = 0: N x N).

    >>> mx.sym.eye(2).eval()[0].asnumpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _functions.invoke("_eye", "_eye", [], N=N, M=M, k=k, dtype=_dtype_text(dtype), **kwargs)


def zeros(shape, dtype=None, **kwargs):
    """Zeros.

    >>> mx.sym.zeros((2, 2)).eval()[0].asnumpy()
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _functions.invoke("_zeros", "_zeros", [], shape=shape, dtype=_dtype_text(dtype), **kwargs)


def ones(shape, dtype=None, **kwargs):
    """Ones.

    >>> mx.sym.ones((2, 2)).eval()[0].asnumpy()
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _functions.invoke("_ones", "_ones", [], shape=shape, dtype=_dtype_text(dtype), **kwargs)


def full(shape, val, dtype=None, **kwargs):
    """`val` everywhere.

    >>> mx.sym.full((2, 2), 7).eval()[0].asnumpy()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    return _functions.invoke("_full", "_full", [], shape=shape, value=float(val), dtype=_dtype_text(dtype), **kwargs)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """Evenly spaced values in [start, stop), each `repeat` times.

    >>> mx.sym.arange(3).eval()[0].asnumpy()
    array([0., 1., 2.], dtype=float32)
    """
    return _functions.invoke("_arange", "_arange", [], start=start, stop=stop, step=step,
                             repeat=repeat, infer_range=infer_range, name=name,
                             dtype=_dtype_text(dtype))


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """`num` evenly spaced values from `start` to `stop`.

    >>> mx.sym.linspace(0, 1, 3).eval()[0].asnumpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return _functions.invoke("_linspace", "_linspace", [], start=start, stop=stop, num=num,
                             endpoint=endpoint, name=name, dtype=_dtype_text(dtype))


def histogram(a, bins=10, range=None, **kwargs):
    """Counts of values in `bins` equal bins over `range`, or between the edges in the symbol
    `bins`.

    >>> counts, edges = mx.sym.histogram(mx.sym.var('x'), bins=2, range=(0, 4))
    >>> counts.eval(x=mx.nd.array([0, 1, 3]))[0].asnumpy()
    array([2, 1])
    """
    if isinstance(bins, Symbol):
        return _functions.invoke("_histogram", "_histogram", [a, bins], **kwargs)
    if isinstance(bins, numbers.Integral) and range is not None:
        return _functions.invoke("_histogram", "_histogram", [a], bin_cnt=bins, range=range, **kwargs)
    raise ValueError(f"[histogram] bins={bins!r}, range={range!r}; accepted: a symbol of edges, or a number of bins with a range")


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Splits along `axis` into equal sections (an int) or at positions (a tuple).

    >>> parts = mx.sym.split_v2(mx.sym.var('x'), (1, 4))
    >>> parts.infer_shape(x=(6, 2))[1]
    [(1, 2), (3, 2), (2, 2)]
    """
    return Symbol.split_v2(ary, indices_or_sections, axis, squeeze_axis)
