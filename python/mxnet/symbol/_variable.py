"""Variables, and symbols from files."""
import ast
import ctypes
import numbers
import os

from .. import _dtypes
from .._files import kinds
from ..attribute import AttrScope
from ..base import SymbolHandle, _LIB, c_str, check_call, local_path
from ._symbol import Symbol, load_json

__all__ = ["Variable", "fromjson", "load", "var"]

_STORAGE = {"default": 0, "row_sparse": 1, "csr": 2}


def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None, profiler_scope=None, **kwargs):
    """A variable.

    Parameters
    ----------
    name : str
    attr : dict of str to str
    shape : tuple, optional; 0 for an unknown dimension
    lr_mult, wd_mult : float, optional factors on learning rate and weight decay
    dtype : optional
    init : Initializer or its description, optional
    stype : 'default', 'row_sparse' or 'csr', optional
    **kwargs : further attributes, spelled ``__name__``

    Raises
    ------
    TypeError : if the name is not a string
    ValueError : for an attribute without the underscores

    Examples
    --------
    >>> x = mx.sym.var('x', shape=(2, 3))
    >>> mx.sym.exp(x).infer_shape()[1]
    [(2, 3)]
    """
    if not isinstance(name, str):
        raise TypeError("[var] Expect a string for variable `name`")
    attributes = dict(AttrScope._current.value.get(attr))
    if shape is not None:
        if isinstance(shape, str):      # as an attribute of a symbol spells it
            shape = ast.literal_eval(shape)
        dimensions = (shape,) if isinstance(shape, numbers.Integral) else shape
        # Without int(), dimensions that NumPy computed would be written as "np.int64(2)".
        attributes["__shape__"] = str(tuple(int(d) if isinstance(d, numbers.Integral) else d for d in dimensions))
    if lr_mult is not None:
        attributes["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        attributes["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        attributes["__dtype__"] = str(_dtypes.number(dtype))
    if init is not None:
        attributes["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        if stype not in _STORAGE:
            raise ValueError(f"[var] stype {stype!r}; accepted: {', '.join(_STORAGE)}")
        attributes["__storage_type__"] = str(_STORAGE[stype])
    if profiler_scope is not None:
        attributes["__profiler_scope__"] = profiler_scope
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(f"[var] Attribute name={key} is not supported. Additional attributes "
                             f"must start and end with double underscores, e.g, __yourattr__")
        attributes[key] = str(value)
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateVariable(c_str(name), ctypes.byref(handle)))
    symbol = Symbol(handle)
    symbol._set_attr(**attributes)
    return symbol


Variable = var


def load(fname):
    """Reads a symbol file of MXNet 0.8 to 2.0. ValueError for a file of another kind, which says
    what it is and what reads it.

    >>> mx.sym.exp(mx.sym.Variable('x')).save('net-symbol.json')
    >>> mx.sym.load('net-symbol.json').list_arguments()
    ['x']
    """
    if not isinstance(fname, (str, os.PathLike)):
        raise TypeError(f"[load] {fname!r}; fname need to be string, or a path of pathlib")
    fname = os.fspath(fname)
    path = local_path(fname)
    if os.path.exists(path):
        kinds.refuse_other("load", path, ("symbol", "json", "empty", "text"), "files of Symbol.save and export (-symbol.json)", ValueError)
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateFromFile(c_str(fname), ctypes.byref(handle)))
    return Symbol(handle)


def fromjson(json_str):
    """:func:`load_json` under the name that MXNet 2.0 gave it.

    >>> mx.sym.fromjson(mx.sym.exp(mx.sym.var('x'), name='y').tojson()).list_outputs()
    ['y_output']
    """
    return load_json(json_str)
