"""The class of symbols with NumPy's rules."""
import ctypes
import importlib
import numbers

import numpy as onp

from ... import _dtypes
from ..._operators.methods import add_methods
from ...base import NotImplementedForSymbol, SymbolHandle, _LIB, _MXTypeError, check_call
from ...numpy._operators import PYTHON_OPERATORS
from .. import _functions
from .._symbol import Symbol

__all__ = ["_Symbol", "create"]


def create(name, inputs, params, given_name=None, attr=None):
    """A symbol of the operator `name`, with NumPy's semantics, or a list of its results.

    `inputs` is a list of symbols, or a dictionary by the record's names, where symbols that are
    missing become variables. Raises TypeError for classic symbols.
    """
    from ..._operators import functions as _op_functions
    info = _op_functions.op_info(name)
    for key, value in inputs.items() if isinstance(inputs, dict) else enumerate(inputs):
        if not isinstance(value, _Symbol):
            raise _MXTypeError(f"[{name}] input {key} is a {type(value).__name__}; accepted: a symbol of mx.sym.np "
                               "(as_np_ndarray() makes it one)")
    if info.variadic and info.counter:
        params = {info.counter: len(inputs), **params}
    hint = name.removeprefix("_npi_").removeprefix("_npx_").removeprefix("_np_").lower()
    made = _functions.create(info.handle, hint, inputs, list(params), list(params.values()), given_name, attr, _Symbol)
    return made if made.num_outputs == 1 else [made._output(i) for i in range(made.num_outputs)]


def _operand(value):
    """(number as text, whether it is a whole one) of a number; None for anything else."""
    if isinstance(value, (numbers.Number, onp.bool_)) and not isinstance(value, complex):
        return repr(float(value)), isinstance(value, (numbers.Integral, onp.bool_))
    return None


def _binary(row, reflected=False):
    """The method of a Python operator; `reflected`: of a number on its left."""
    def method(self, other):
        if isinstance(other, Symbol):
            if row.arrays:
                return create(row.arrays, [other, self] if reflected else [self, other], {})
            return getattr(_functions_of_arrays(), row.name)(self, other)
        number = _operand(other) if row.number else None
        if number is None:
            raise TypeError(f"[_Symbol] type {type(other)} not supported; accepted: a symbol of mx.sym.np"
                            + (" or a number" if row.number else ""))
        return create(row.left if reflected else row.number, [self], {"scalar": number[0], "is_int": number[1]})
    return method


def _functions_of_arrays():
    return importlib.import_module("mxnet.numpy")


class _Symbol(Symbol):
    """An expression over variables with NumPy's rules for shapes, dtypes, operators and indexing.

    ``mx.sym.var('x').as_np_ndarray()`` makes a variable one, and functions of ``mx.sym.np`` and
    ``mx.sym.npx`` make them. Unlike a classic symbol it is one expression and no list: ``x[0]`` is
    the first row, and functions with several results return lists of symbols.

    >>> x = mx.sym.var('x').as_np_ndarray()
    >>> y = mx.sym.np.exp(x[0]) + x.sum()
    >>> y.eval(x=mx.np.array([[0, 0], [1, 2]]))[0]
    array([4., 4.])
    """

    __module__ = "mxnet.symbol.numpy"
    __slots__ = []
    _numpy = True

    def as_nd_ndarray(self):
        """The same expression as a classic symbol.

        >>> x = mx.sym.var('x').as_np_ndarray()
        >>> type(x.as_nd_ndarray()).__name__, x.as_np_ndarray() is x
        ('Symbol', True)
        """
        return shallow_copy(self, Symbol)

    def as_np_ndarray(self):
        """The symbol itself."""
        return self

    @property
    def num_outputs(self):
        """Number of results.

        >>> x = mx.sym.var('x').as_np_ndarray()
        >>> (x + 1).num_outputs
        1
        """
        return Symbol.__len__(self)

    def _output(self, index):
        return Symbol.__getitem__(self, index)

    def __iter__(self):
        if self.num_outputs > 1:
            return iter([self._output(i) for i in range(self.num_outputs)])
        raise TypeError(f"[_Symbol] {self!r} is not iterable: how long it is depends on its shape")

    def __len__(self):
        raise TypeError(f"[_Symbol] {self!r} is not a list and does not support len()")

    def __repr__(self):
        if self.num_outputs > 1:
            return f"<_Symbol group [{', '.join(str(self._output(i).name) for i in range(self.num_outputs))}]>"
        return f"<_Symbol {self.name}>"

    def __neg__(self):
        return create("_npi_negative", [self], {})

    def __abs__(self):
        return create("_npi_absolute", [self], {})

    def __invert__(self):
        return create("_npi_bitwise_not", [self], {})

    def __pos__(self):
        return create("_npi_copy", [self], {})

    __hash__ = object.__hash__

    # ---- what arrays have as methods, too
    @property
    def T(self):   # pylint: disable=invalid-name
        """With all axes in the opposite order.

        >>> mx.sym.var('x').as_np_ndarray().T.infer_shape(x=(2, 3))[1]
        [(3, 2)]
        """
        return self.transpose()

    def reshape(self, *shape, order="C", **kwargs):   # pylint: disable=arguments-differ
        """In another shape; -1 stands for what is left. Codes of the classic reshape are not known.

        >>> mx.sym.var('x').as_np_ndarray().reshape(4, -1).infer_shape(x=(2, 6))[1]
        [(4, 3)]
        """
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        shape = kwargs.pop("newshape", kwargs.pop("shape", shape))
        if kwargs:
            raise TypeError(f"[reshape] got {', '.join(kwargs)}; accepted: newshape and order")
        if order != "C":
            raise ValueError(f"[reshape] order={order!r}; accepted for symbols: 'C'")
        return create("_np_reshape", [self], {"newshape": tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)})

    def reshape_view(self, *shape, **kwargs):
        """:meth:`reshape`.

        >>> mx.sym.var('x').as_np_ndarray().reshape_view((-1, 2)).infer_shape(x=(2, 6))[1]
        [(6, 2)]
        """
        return self.reshape(*shape, **kwargs)

    def flatten(self, order="C"):   # pylint: disable=arguments-differ
        """As a vector.

        >>> mx.sym.var('x').as_np_ndarray().flatten().infer_shape(x=(2, 6))[1]
        [(12,)]
        """
        return self.reshape((-1,), order=order)

    def transpose(self, *axes):   # pylint: disable=arguments-differ
        """With axes permuted: reversed, or as listed.

        >>> x = mx.sym.var('x').as_np_ndarray()
        >>> x.transpose(0, 2, 1).infer_shape(x=(2, 3, 4))[1]
        [(2, 4, 3)]
        """
        axes = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes
        return create("_npi_transpose", [self], {"axes": tuple(axes)} if axes else {})

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):   # pylint: disable=arguments-differ
        """The values in another dtype. The other arguments are NumPy's; only their defaults, and
        ``copy=False``, are accepted.

        >>> x = mx.sym.var('x').as_np_ndarray()
        >>> x.astype('int32').eval(x=mx.np.array([1.7]))[0]
        array([1], dtype=int32)
        """
        del copy
        if order not in ("K", "C") or casting != "unsafe" or subok is not True:
            raise ValueError(f"[astype] order={order!r}, casting={casting!r}, subok={subok!r}; accepted: 'K', 'unsafe' and True")
        return create("_npi_cast", [self], {"dtype": _dtypes.name(dtype)})

    def expand_dims(self, axis):   # pylint: disable=arguments-differ
        """With a new axis of size 1 at `axis`.

        >>> mx.sym.var('x').as_np_ndarray().expand_dims(0).infer_shape(x=(2, 3))[1]
        [(1, 2, 3)]
        """
        return create("_npi_expand_dims", [self], {"axis": axis})


def shallow_copy(symbol, kind):
    """The very same node as a symbol of class `kind`."""
    handle = SymbolHandle()
    check_call(_LIB.MXShallowCopySymbol(symbol.handle, ctypes.byref(handle)))
    return kind(handle)


# Methods that are the function of mx.np of that name.
_METHODS = """
    all any argmax argmin argsort clip cumsum diagonal dot max mean min prod repeat round sort squeeze std
    sum swapaxes take tile trace var broadcast_to""".split()
# Methods of classic symbols whose arrays in NumPy have none, and what there is for them.
_INSTEAD = {
    **{name: f"mx.sym.np.{name}" for name in """
        abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees diag exp expm1 fix flip floor
        log log10 log1p log2 ones_like pad radians reciprocal rint sign sin sinh split sqrt square tan tanh trunc
        zeros_like""".split()},
    **{name: f"mx.sym.npx.{name}" for name in """
        broadcast_like log_softmax nonzero norm one_hot pick relu reshape_like shape_array sigmoid slice slice_like softmax
        topk""".split()},
    **dict.fromkeys("""
        argmax_channel broadcast_axes depth_to_space nanprod nansum rcbrt rsqrt size_array slice_axis softmin
        space_to_depth split_v2""".split(), "as_nd_ndarray() for the classic symbol, which has it"),
    **{name: f"mx.sym.npx.activation(x, act_type={name!r})" for name in ("log_sigmoid", "mish")},
}


def _method(name):
    def method(self, *args, **kwargs):
        return getattr(_functions_of_arrays(), name)(self, *args, **kwargs)
    method.__doc__ = f"``mx.sym.np.{name}`` of this symbol."
    return method


def _no_method(name):
    use = _INSTEAD[name] + "(x)" * _INSTEAD[name].endswith("." + name)

    def method(self, *args, **kwargs):
        raise AttributeError(f"_Symbol object has no attribute {name}: NumPy's arrays have no such method; use {use}")
    method.instead = _INSTEAD[name]
    method.__doc__ = f"Raises AttributeError: arrays of NumPy have no method of this name. Use {use}."
    return method


def _not_in_place(self, *args):
    raise NotImplementedForSymbol(self.__iadd__, "+=", *args)


def _add_methods():
    for name, row in PYTHON_OPERATORS.items():
        setattr(_Symbol, f"__{name}__", _binary(row))
        if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
            setattr(_Symbol, f"__r{name}__", _binary(row, True))
            setattr(_Symbol, f"__i{name}__", _not_in_place)
    _Symbol.__div__, _Symbol.__rdiv__ = _Symbol.__truediv__, _Symbol.__rtruediv__
    add_methods(_Symbol, _METHODS, _method, "sym.np")
    add_methods(_Symbol, _INSTEAD, _no_method, "sym.np")


_add_methods()
