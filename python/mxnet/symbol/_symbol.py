"""Symbols: expressions over named variables that are bound to arrays later."""
import ctypes
import importlib
import numbers
import os

import numpy as np

from . import _backends, _functions, op as _op
from .. import _dtypes
from .._operators.methods import METHODS, PYTHON_OPERATORS, add_methods
from ..base import NotImplementedForSymbol, SymbolHandle, _LIB, c_handle_array, c_str, c_str_array, check_call, py_str
from ..context import current_context
from ._executors import _SymbolBinding
from ._inference import _SymbolInference
from ._nodes import _SymbolNodes
from ._unavailable import INSTEAD, missing, unavailable

__all__ = ["Group", "Symbol", "SymbolBase", "load_json"]


class SymbolBase:
    """Owner of a native symbol handle.

    >>> isinstance(mx.sym.var('x'), mx.symbol.SymbolBase)
    True
    """

    __module__ = "mxnet.symbol.symbol"   # its home in 1.x
    __slots__ = ["handle", "__weakref__"]
    _numpy = False   # an expression with NumPy's rules (mx.sym.np)

    def __init__(self, handle):
        self.handle = handle

    def __del__(self, _free=_LIB.MXSymbolFree):
        if getattr(self, "handle", None):
            _free(self.handle)

    def _compose(self, inputs, name):
        """Connects inputs: a list, or a dictionary by name."""
        values = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
        keys = c_str_array(list(inputs)) if isinstance(inputs, dict) else None
        check_call(_LIB.MXSymbolCompose(self.handle, c_str(name), ctypes.c_uint(len(values)), keys, c_handle_array(values)))


def _strings(function, handle):
    size, array = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(function(handle, ctypes.byref(size), ctypes.byref(array)))
    return [py_str(array[i]) for i in range(size.value)]


def _pairs(function, handle):
    size, array = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(function(handle, ctypes.byref(size), ctypes.byref(array)))
    return [(py_str(array[2 * i]), py_str(array[2 * i + 1])) for i in range(size.value)]


def _binary(row):
    """The method of a Python operator with the symbol on its left."""
    hint = row.number.removesuffix("_scalar")   # what automatic names begin with, as in 1.x
    scalar_hint = row.number if row.compares else "_" + row.number.replace("_", "")

    def method(self, other):
        if isinstance(other, Symbol):
            return _functions.invoke(row.symbols, hint, [self, other])
        if isinstance(other, (bool, np.bool_)):
            other = int(other)
        if isinstance(other, numbers.Number) or np.isscalar(other) and not isinstance(other, str):
            return _functions.invoke(row.number, scalar_hint, [self], scalar=str(other))
        raise TypeError(f"[Symbol] {type(other)} not supported as operand; accepted: a Symbol or a number")
    return method


def _reflected(row):
    """The method of a Python operator with a number on its left."""
    hint = row.left if row.method == "pow" else "_" + row.left.replace("_", "")

    def method(self, other):
        if isinstance(other, (bool, np.bool_)):
            other = int(other)
        if isinstance(other, numbers.Number) or np.isscalar(other) and not isinstance(other, str):
            return _functions.invoke(row.left, hint, [self], scalar=str(other))
        raise TypeError(f"[Symbol] {type(other)} not supported as operand; accepted: a Symbol or a number")
    return method


class Symbol(_SymbolInference, _SymbolBinding, _SymbolNodes, SymbolBase):
    """An expression over variables. Symbols are made by :func:`var`, operators
    (``mx.sym.FullyConnected``) and arithmetic.

    A symbol has one or more outputs; indexing by number, slice or output name chooses some of them.

    >>> x = mx.sym.Variable('x')
    >>> net = mx.sym.FullyConnected(x, num_hidden=3, name='fc') + 1
    >>> net.list_arguments()
    ['x', 'fc_weight', 'fc_bias']
    >>> net.infer_shape(x=(2, 4))[1]
    [(2, 3)]
    """

    __module__ = "mxnet.symbol.symbol"   # its home in 1.x, and where pickles look for it
    __slots__ = []
    __array_priority__ = 1000.0

    def __repr__(self):
        if self.name is None:
            return f"<{type(self).__name__} group [{', '.join(str(s.name) for s in self)}]>"
        return f"<{type(self).__name__} {self.name}>"

    def _repr_html_(self):
        from .._display.html import symbol_html
        return symbol_html(self)

    def __getattr__(self, name):
        raise missing(self, name)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __len__(self):
        count = ctypes.c_uint()
        check_call(_LIB.MXSymbolGetNumOutputs(self.handle, ctypes.byref(count)))
        return count.value

    def __getitem__(self, index):
        count = Symbol.__len__(self)   # len() of one with NumPy's rules is refused
        if isinstance(index, slice):
            return Group([self[i] for i in range(*index.indices(count))])
        if isinstance(index, str):
            names = self.list_outputs()
            found = [i for i, n in enumerate(names) if n == index]
            if not found:
                raise ValueError(f'[Symbol] Cannot find output that matches name "{index}"; outputs: {", ".join(names)}')
            if len(found) > 1:
                raise ValueError(f'[Symbol] There are multiple outputs with name "{index}"; choose by number: {found}')
            index = found[0]
        if not isinstance(index, numbers.Integral):
            raise TypeError(f"[Symbol] index {index!r}; accepted: a number, a slice or the name of an output")
        if index < 0:
            index += count
        if not 0 <= index < count:
            raise IndexError(f"[Symbol] output {index} of a symbol with {count} outputs")
        if count == 1:
            return self
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolGetOutput(self.handle, ctypes.c_uint(index), ctypes.byref(handle)))
        return type(self)(handle)

    def __call__(self, *args, **kwargs):
        """A copy with inputs replaced: ``net(data=other)``."""
        symbol = self.__copy__()
        name = kwargs.pop("name", "") or ""
        if args and kwargs:
            raise TypeError("[Symbol] got positional and keyword inputs; accepted: one kind")
        for value in [*args, *kwargs.values()]:
            if not isinstance(value, Symbol):
                raise TypeError(f"[Symbol] an input is a {type(value).__name__}; accepted: a Symbol")
        symbol._compose(kwargs if kwargs else args, name)
        return symbol

    def __copy__(self):
        return self.__deepcopy__(None)

    def __deepcopy__(self, _):
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolCopy(self.handle, ctypes.byref(handle)))
        return type(self)(handle)

    # The layout of 1.x: its pickles are read here, and ours there.
    def __reduce__(self):
        return type(self), (None,), self.__getstate__()

    def __getstate__(self):
        return {"handle": None if self.handle is None else self.tojson(remove_amp_cast=False)}

    def __setstate__(self, state):
        text, before = state["handle"], self.handle
        self.handle = None if text is None else load_json(text)._release()
        if before is not None:
            check_call(_LIB.MXSymbolFree(before))

    def as_nd_ndarray(self):
        """The symbol as one of ``mx.sym``: itself."""
        return self

    def as_np_ndarray(self):
        """The same expression as a symbol of ``mx.sym.np``, with NumPy's rules.

        >>> x = mx.sym.var('x').as_np_ndarray()
        >>> (x @ x.T).as_nd_ndarray().list_arguments()
        ['x']
        """
        numpy = importlib.import_module("mxnet.symbol.numpy._symbol")    # which stands on this module
        return numpy.shallow_copy(self, numpy._Symbol)

    def __bool__(self):
        raise NotImplementedForSymbol(self.__bool__, "bool")

    __hash__ = object.__hash__

    # ---- arithmetic; the operators of two operands follow the class

    def __neg__(self):
        return self * -1.0

    def __abs__(self):
        return self.abs()

    def __iadd__(self, other):
        raise NotImplementedForSymbol(self.__iadd__, "x = x + y", other)

    def __isub__(self, other):
        raise NotImplementedForSymbol(self.__isub__, "x = x - y", other)

    def __imul__(self, other):
        raise NotImplementedForSymbol(self.__imul__, "x = x * y", other)

    def __itruediv__(self, other):
        raise NotImplementedForSymbol(self.__itruediv__, "x = x / y", other)

    # ---- names and attributes
    @property
    def name(self):
        """Name of the node; None for a group."""
        text, success = ctypes.c_char_p(), ctypes.c_int()
        check_call(_LIB.MXSymbolGetName(self.handle, ctypes.byref(text), ctypes.byref(success)))
        return py_str(text.value) if success.value else None

    def attr(self, key):
        """The attribute's text, or None.

        >>> x = mx.sym.var('x', lr_mult=2, attr={'mood': 'good'})
        >>> x.attr('mood'), x.list_attr()['__lr_mult__']
        ('good', '2')
        >>> mx.sym.exp(x, name='y').attr_dict()['x']['mood']
        'good'
        """
        text, success = ctypes.c_char_p(), ctypes.c_int()
        check_call(_LIB.MXSymbolGetAttr(self.handle, c_str(key), ctypes.byref(text), ctypes.byref(success)))
        return py_str(text.value) if success.value else None

    def list_attr(self, recursive=False):
        """Attributes of this node as a dictionary; :meth:`attr_dict` has those of all nodes."""
        if recursive:
            raise DeprecationWarning("[Symbol] list_attr(recursive=True) has gone; accepted: attr_dict()")
        return dict(_pairs(_LIB.MXSymbolListAttrShallow, self.handle))

    def attr_dict(self):
        """Attributes of all nodes: {node: {key: value}}."""
        result = {}
        for key, value in _pairs(_LIB.MXSymbolListAttr, self.handle):
            node, _, attribute = key.partition("$")
            result.setdefault(node, {})[attribute] = value
        return result

    def _set_attr(self, **kwargs):
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"[Symbol] attribute {key}={value!r}; Set Attr only accepts string values")
            check_call(_LIB.MXSymbolSetAttr(self.handle, c_str(key), c_str(value)))

    def list_arguments(self):
        """Names of the variables that are no auxiliary states, in depth-first order."""
        return _strings(_LIB.MXSymbolListArguments, self.handle)

    def list_outputs(self):
        """Names of the outputs.

        >>> net = mx.sym.BatchNorm(mx.sym.var('x'), name='norm')
        >>> net.list_outputs(), net.list_auxiliary_states()
        (['norm_output'], ['norm_moving_mean', 'norm_moving_var'])
        >>> net.list_inputs()
        ['x', 'norm_gamma', 'norm_beta', 'norm_moving_mean', 'norm_moving_var']
        """
        return _strings(_LIB.MXSymbolListOutputs, self.handle)

    def list_auxiliary_states(self):
        """Names of variables that operators change, such as moving averages."""
        return _strings(_LIB.MXSymbolListAuxiliaryStates, self.handle)

    def list_inputs(self):
        """Names of all variables."""
        size, array = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
        check_call(_LIB.NNSymbolListInputNames(self.handle, ctypes.c_int(0), ctypes.byref(size), ctypes.byref(array)))
        return [py_str(array[i]) for i in range(size.value)]

    def _gen_atomic_symbol(self):
        """The operator of this symbol with its parameters, without inputs and name, as 1.x had it;
        MXNetError for a variable."""
        handle = SymbolHandle()
        check_call(_LIB.MXGenAtomicSymbolFromSymbol(self.handle, ctypes.byref(handle)))
        return Symbol(handle)

    def get_internals(self):
        """All outputs of all nodes as one group.

        >>> net = mx.sym.exp(mx.sym.relu(mx.sym.var('x'), name='a'), name='b')
        >>> inside = net.get_internals()
        >>> inside.list_outputs()
        ['x', 'a_output', 'b_output']
        >>> features = inside['a_output']
        >>> features.name
        'a'
        """
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolGetInternals(self.handle, ctypes.byref(handle)))
        return Symbol(handle)

    def get_children(self):
        """Inputs of the node as a group; None for a variable.

        >>> net = mx.sym.broadcast_add(mx.sym.var('x'), mx.sym.var('y'))
        >>> net.get_children().list_outputs(), mx.sym.var('x').get_children()
        (['x', 'y'], None)
        """
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolGetChildren(self.handle, ctypes.byref(handle)))
        children = Symbol(handle)
        return children if len(children) else None

    def get_inputs(self):
        """All variables as a group.

        >>> net = mx.sym.exp(mx.sym.var('x')) + mx.sym.var('y')
        >>> net.get_inputs().list_outputs()
        ['x', 'y']
        """
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolGetInputs(self.handle, ctypes.byref(handle)))
        return Symbol(handle)

    def gradient(self, wrt):
        """The gradients of the outputs, their head gradients being 1, with respect to the arguments
        named in `wrt`, as a group.

        >>> x = mx.sym.var('x')
        >>> (x * x).gradient(['x']).eval(x=mx.nd.array([3]))[0].asnumpy()
        array([6.], dtype=float32)
        """
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolGrad(self.handle, ctypes.c_uint(len(wrt)), c_str_array(list(wrt)), ctypes.byref(handle)))
        return type(self)(handle)

    # ---- files
    def debug_str(self):
        """The graph as text.

        >>> print(mx.sym.exp(mx.sym.var('x'), name='y').debug_str())
        Symbol Outputs:
            output[0]=y(0)
        Variable:x
        --------------------
        Op:exp, Name=y
        Inputs:
            arg[0]=x(0) version=0
        """
        text = ctypes.c_char_p()
        check_call(_LIB.MXSymbolPrint(self.handle, ctypes.byref(text)))
        return py_str(text.value)

    def get_backend_symbol(self, backend):
        """This graph for a subgraph backend: a partitioner or pass of a library
        (:func:`mxnet.library.load`), or `MKLDNN` or `ONEDNN`, also with `_QUANTIZE`.

        What 1.9.1 fuses for these names, plans fuse in every graph (docs/passes.md), so the graph
        is copied as it is.

        Raises
        ------
        ValueError
            for other names.

        Examples
        --------
        >>> net = mx.sym.relu(mx.sym.exp(mx.sym.var('x')), name='y')
        >>> net.get_backend_symbol('ONEDNN').list_outputs()
        ['y_output']
        """
        handle = SymbolHandle()
        check_call(_LIB.MXGenBackendSubgraph(self.handle, _backends.backend_name(backend), ctypes.byref(handle)))
        return type(self)(handle)

    def optimize_for(self, backend, args=None, aux=None, ctx=None, shape_dict=None, type_dict=None,
                     stype_dict=None, skip_infer=False, **kwargs):
        """This graph for a subgraph backend; see :meth:`get_backend_symbol`.

        Parameters
        ----------
        backend : str
            The name of a partitioner or pass.
        args, aux : list or dict of str to NDArray, optional
            Parameters that are known: the library may look at them, and their shapes and dtypes are
            inferred from. A dict gets the parameters that a pass makes.
        ctx : Context, optional
            Where the graph is to run.
        shape_dict, type_dict : dict, optional
            Shapes and dtypes of other inputs.
        skip_infer : bool
            Whether the library is told nothing of shapes and dtypes, which are then not checked.
        **kwargs
            Options of the backend, which get to the library as texts.

        Raises
        ------
        ValueError
            for unknown backends, for shapes that contradict each other, and where a pass makes
            parameters and there is no dict for them.
        MXNetError
            where the library fails.

        Examples
        --------
        >>> net = mx.sym.relu(mx.sym.exp(mx.sym.var('x')), name='y')
        >>> net.optimize_for('ONEDNN', args={'x': mx.nd.zeros(2)}).list_outputs()
        ['y_output']
        """
        del stype_dict   # operators of libraries get dense arrays
        return _backends.optimize(self, backend, args, aux, (ctx or current_context()).device_typeid, shape_dict or {}, type_dict or {},
                                  skip_infer, kwargs)

    def _without_amp_cast(self):
        handle = SymbolHandle()
        check_call(_LIB.MXSymbolRemoveAmpCast(self.handle, ctypes.byref(handle)))
        return type(self)(handle)

    def tojson(self, remove_amp_cast=True):
        """The graph as JSON; :func:`load_json` reads it.

        >>> text = mx.sym.exp(mx.sym.var('x'), name='y').tojson()
        >>> mx.sym.load_json(text).name
        'y'
        """
        symbol = self._without_amp_cast() if remove_amp_cast else self
        text = ctypes.c_char_p()
        check_call(_LIB.MXSymbolSaveToJSON(symbol.handle, ctypes.byref(text)))
        return py_str(text.value)

    def save(self, fname, remove_amp_cast=True):
        """Writes the graph to a file; :func:`load` reads it.

        >>> mx.sym.exp(mx.sym.var('x')).save('net-symbol.json')
        >>> mx.sym.load('net-symbol.json').list_arguments()
        ['x']
        """
        if not isinstance(fname, (str, os.PathLike)):
            raise TypeError(f"[Symbol] save to {fname!r}; accepted: the name of a file")
        symbol = self._without_amp_cast() if remove_amp_cast else self
        check_call(_LIB.MXSymbolSaveToFile(symbol.handle, c_str(os.fspath(fname))))

    # ---- operators as methods; see mx.sym.NAME
    def astype(self, dtype, **kwargs):
        """The values in another dtype.

        >>> mx.sym.var('x').astype('int32').infer_type(x='float32')[1]
        [<class 'numpy.int32'>]
        """
        return _functions.invoke("Cast", "cast", [self], dtype=dtype if dtype is None else _dtypes.name(dtype), **kwargs)

    def reshape(self, *shape, **kwargs):
        """The values in another shape; the codes 0, -1, -2, -3, -4 are those of NDArray.reshape.

        >>> x = mx.sym.var('x')
        >>> x.reshape((0, -1)).infer_shape(x=(2, 3, 4))[1]
        [(2, 12)]
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        shape = kwargs.pop("shape", shape)
        if shape != ():     # what stays unsaid is no attribute of the node
            kwargs["shape"] = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return _functions.invoke("Reshape", "reshape", [self], **kwargs)

    def expand_dims(self, axis, inplace=False, **kwargs):
        """With a new axis of size 1 at `axis`. `inplace` is accepted for what is written for
        arrays.

        >>> mx.sym.var('x').expand_dims(0).infer_shape(x=(2, 3))[1]
        [(1, 2, 3)]
        """
        del inplace
        return _functions.invoke("expand_dims", "expand_dims", [self], axis=axis, **kwargs)

    def flatten(self, inplace=False, **kwargs):
        """As a matrix; the first dimension stays.

        >>> mx.sym.var('x').flatten().infer_shape(x=(2, 3, 4))[1]
        [(2, 12)]
        """
        del inplace
        return _functions.invoke("Flatten", "flatten", [self], **kwargs)

    def squeeze(self, axis=None, inplace=False, **kwargs):
        """Without axes of size 1, or without those of `axis` (int or tuple of int).

        >>> mx.sym.var('x').squeeze(axis=0).infer_shape(x=(1, 3, 1))[1]
        [(3, 1)]
        """
        del inplace
        return _functions.invoke("squeeze", "squeeze", [self], axis=axis, **kwargs)

    def transpose(self, *axes, **kwargs):
        """With axes permuted, reversed by default.

        >>> x = mx.sym.var('x')
        >>> x.transpose().infer_shape(x=(2, 3, 4))[1], x.transpose((0, 2, 1)).infer_shape(x=(2, 3, 4))[1]
        ([(4, 3, 2)], [(2, 4, 3)])
        """
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = axes[0]
        axes = kwargs.pop("axes", axes)
        return _functions.invoke("transpose", "transpose", [self], axes=tuple(axes),
                                 **kwargs) if axes else _functions.invoke("transpose", "transpose", [self], **kwargs)

    def split_v2(self, indices_or_sections, axis=0, squeeze_axis=False):
        """In a number of equal parts along `axis`, or cut in front of the indices of a tuple: a
        symbol with that many outputs.

        >>> parts = mx.sym.var('x').split_v2((1, 3))
        >>> [part.asnumpy().tolist() for part in parts.eval(x=mx.nd.array([1, 2, 3, 4]))]
        [[1.0], [2.0, 3.0], [4.0]]
        """
        if isinstance(indices_or_sections, numbers.Integral):
            indices, sections = (), indices_or_sections
        else:
            indices, sections = (0,) + tuple(indices_or_sections), 0
        return _functions.invoke("_split_v2", "_split_v2", [self], indices=indices, axis=axis, squeeze_axis=squeeze_axis, sections=sections)

    def diag(self, k=0, **kwargs):
        """The diagonal of a matrix, or a matrix with this diagonal; `k` above 0 is that many places
        above the main one.

        >>> mx.sym.var('x').diag(k=1).eval(x=mx.nd.array([[1, 2], [3, 4]]))[0].asnumpy()
        array([2.], dtype=float32)
        """
        return _functions.invoke("diag", "diag", [self], k=k, **kwargs)


def _release(self):
    handle, self.handle = self.handle, None
    return handle


Symbol._release = _release
_functions._symbol_class = Symbol


def _forwarded(name):
    def method(self, *args, **kwargs):
        return getattr(_op, name)(self, *args, **kwargs)
    method.__doc__ = f"``mx.sym.{name}`` of this symbol."
    return method


add_methods(Symbol, METHODS, _forwarded, "sym")


def _add_operators():
    for name, row in PYTHON_OPERATORS.items():
        method = _binary(row)
        setattr(Symbol, f"__{name}__", method)
        if not row.compares:
            setattr(Symbol, f"__r{name}__", method if row.left == row.number else _reflected(row))
    Symbol.__div__, Symbol.__rdiv__ = Symbol.__truediv__, Symbol.__rtruediv__


_add_operators()


add_methods(Symbol, INSTEAD, unavailable, "sym")


def Group(symbols, create_fn=Symbol):
    """One symbol with the outputs of several.

    >>> x = mx.sym.Variable('x')
    >>> both = mx.sym.Group([mx.sym.exp(x, name='a'), mx.sym.log(x, name='b')])
    >>> both.list_outputs()
    ['a_output', 'b_output']
    """
    symbols = list(symbols)
    if not symbols or any(not isinstance(s, Symbol) for s in symbols):
        raise TypeError("[Group] Expected a list of symbols as input; accepted: one or more Symbols")
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateGroup(ctypes.c_uint(len(symbols)), c_handle_array(symbols), ctypes.byref(handle)))
    return create_fn(handle)


def load_json(json_str):
    """The symbol that :meth:`Symbol.tojson` wrote.

    >>> mx.sym.load_json(mx.sym.exp(mx.sym.var('x'), name='y').tojson()).list_outputs()
    ['y_output']
    """
    if not isinstance(json_str, str):
        raise TypeError(f"[load_json] {type(json_str).__name__}; accepted: a string")
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateFromJSON(c_str(json_str), ctypes.byref(handle)))
    return Symbol(handle)
