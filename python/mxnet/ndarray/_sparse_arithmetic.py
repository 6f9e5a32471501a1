"""Sums, differences, products and quotients of arrays of which some are sparse."""
from .._binding import NDArrayBase
from .._operators.methods import ARITHMETIC
from ._arithmetic import _is_number
from ._native import _call

__all__ = ["add", "divide", "multiply", "subtract"]


def _two(name, doc, alike, values, result):
    """The function `name`; arrays of one shape go to the operator `alike`, which knows more storages
    than the one that broadcasts. The example in its docstring is that of a row_sparse array with
    these values and itself."""
    row = next(row for row in ARITHMETIC if name in row.functions)

    def function(lhs, rhs, out=None):
        if isinstance(lhs, NDArrayBase):
            if isinstance(rhs, NDArrayBase):
                return _call(alike if lhs.shape == rhs.shape else row.arrays, (lhs, rhs), out)
            if _is_number(rhs):
                return _call(row.number, (lhs,), out, scalar=float(rhs))
        elif isinstance(rhs, NDArrayBase) and _is_number(lhs):
            return _call(row.left, (rhs,), out, scalar=float(lhs))
        elif _is_number(lhs) and _is_number(rhs):
            from . import _arithmetic
            return getattr(_arithmetic, name)(lhs, rhs)
        raise TypeError(f"[{name}] type {type(lhs).__name__} and type {type(rhs).__name__} not supported; accepted: NDArrays and numbers")
    function.__name__ = name
    function.__qualname__ = name
    function.__module__ = "mxnet.ndarray.sparse"
    function.__doc__ = f"""{doc} Shapes are broadcast; either side may be a number.

    Of which storage the result is follows from the operands': two of one shape and storage keep it
    where zeros stay zeros.

    >>> x = mx.nd.array({values}).tostype('row_sparse')
    >>> y = mx.nd.sparse.{name}(x, x)
    >>> y.stype, y.asnumpy().ravel()
    ({result}, dtype=float32))
    """
    return function


add = _two("add", "Sum.", "elemwise_add", "[[0], [2]]", "'row_sparse', array([0., 4.]")
subtract = _two("subtract", "Difference.", "elemwise_sub", "[[0], [2]]", "'row_sparse', array([0., 0.]")
multiply = _two("multiply", "Product.", "elemwise_mul", "[[0], [2]]", "'row_sparse', array([0., 4.]")
divide = _two("divide", "Quotient.", "elemwise_div", "[[1], [2]]", "'default', array([1., 1.]")
