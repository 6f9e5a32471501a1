"""The graph of a block that defines `forward` on NDArrays, recorded by deferred compute."""
from .. import _deferred_compute as dc, autograd
from ..ndarray import NDArray
from ._structure import flatten, regroup

__all__ = ['record']


def record(block, args, flat, variables):
    """(output symbol, nesting of the outputs) of `block.forward(*args)`.

    `flat` are the arguments without nesting and `variables` their symbol variables (None for None). Nothing is computed
    while recording. Parameters below `block` must be initialised.
    """
    arrays = [a for a in flat if a is not None]
    wrong = [type(a).__name__ for a in arrays if not isinstance(a, NDArray)]
    if wrong:
        raise ValueError(f'[gluon.hybridize] arguments of types {wrong} given to {block.name!r}; NDArrays are accepted')
    # Fresh handles: an input that is also a Parameter, or is given twice, must not lose its own variable.
    inputs = [None if a is None else a.detach() for a in flat]
    marked = [(a, v) for a, v in zip(inputs, variables) if a is not None]
    for param in block.collect_params().values():
        for array in param._data or ():
            marked.append((array, param.var()))
    nesting = flatten(list(args), 'input')[1]
    with autograd.pause(), dc.context():
        dc.set_variable([a for a, _ in marked], [v for _, v in marked])
        try:
            result = block.forward(*regroup(inputs, nesting))
            outputs, out_format = flatten(result, 'output')
            out = dc.get_symbol([o for o in outputs if o is not None])
        finally:
            dc.clear([a for a, _ in marked])
    return out, out_format
