"""How operators cast what they are given, in mixed precision."""
import functools

from .. import ndarray as nd, symbol as sym
from .._dtypes import number
from ..ndarray import NDArray
from ..symbol import Symbol

DTYPE_CODE = {name: number(name) for name in ("float32", "float16", "bfloat16")}


def low_or_single(a):
    return isinstance(a, Symbol) or isinstance(a, NDArray) and str(getattr(a.dtype, "__name__", a.dtype)) in DTYPE_CODE


def dtype_name(a):
    return None if isinstance(a, Symbol) else str(getattr(a.dtype, "__name__", a.dtype))


def cast(a, dtype):
    if not low_or_single(a) or dtype_name(a) == dtype:
        return a
    return (sym if isinstance(a, Symbol) else nd).amp_cast(a, dtype=dtype)


def cast_arguments(args, kwargs, change):
    """`args` and `kwargs` with all arrays and symbols in them (also in lists) replaced by what
    `change` returns for their list."""
    places, values = [], []
    args = [list(a) if isinstance(a, (list, tuple)) and any(low_or_single(x) for x in a) else a for a in args]
    kwargs = dict(kwargs)
    for container, keys in [(args, range(len(args))), (kwargs, [k for k in kwargs if k != "out"])]:
        for key in keys:
            value = container[key]
            for inner, k in [(value, i) for i in range(len(value))] if isinstance(value, list) else [(container, key)]:
                if low_or_single(inner[k]):
                    places.append((inner, k))
                    values.append(inner[k])
    for (container, key), value in zip(places, change(values)):
        container[key] = value
    return args, kwargs


def widest(values):
    if len({dtype_name(v) for v in values}) == 1 and not isinstance(values[0], Symbol) or len(values) < 2:
        return values
    module = sym if isinstance(values[0], Symbol) else nd
    return list(module.amp_multicast(*values, num_outputs=len(values)))


def cast_made_arguments(symbol, change):
    """`symbol`, an operator's result, with the arguments that the operator made for itself (weights
    that were not given) replaced by what `change` returns for their list. What was given has been
    changed, and is no variable any more."""
    aux = symbol.list_auxiliary_states()
    children = symbol.get_children()
    inputs = [c for c in ([] if children is None else children) if c.get_children() is None and c.name not in aux]
    return symbol(**dict(zip([c.name for c in inputs], change(inputs)))) if inputs else symbol


def wrap(function, change, condition=None, made=False):
    """`made`: also change the arguments that an operator of mx.sym makes for itself."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        if condition is not None and not condition(kwargs):
            return function(*args, **kwargs)
        args, kwargs = cast_arguments(args, kwargs, change)
        result = function(*args, **kwargs)
        if made and any(isinstance(v, Symbol) for a in [*args, *kwargs.values()] for v in (a if isinstance(a, list) else [a])):
            return cast_made_arguments(result, change)
        return result
    call._amp_original = function
    return call
