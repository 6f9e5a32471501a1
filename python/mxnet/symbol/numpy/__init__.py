"""``mx.sym.np``: the functions of mx.np on symbols."""
from .. import _functions
from ... import _opgen

__all__ = ["create"]


def create(name, inputs, params):
    """A symbol of the operator `name`, with NumPy's semantics."""
    info = _opgen.op_info(name)
    if info.variadic and info.counter:
        params = {info.counter: len(inputs), **params}
    return _functions.invoke(name, name.lower(), inputs, **params)
