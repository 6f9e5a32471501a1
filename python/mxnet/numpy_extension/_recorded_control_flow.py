"""Loops and branches in a forward that is recorded as a graph.

The functions get arrays, as always, and what they compute is recorded with the mark of the graph
that it belongs to. Then the functions of symbols cut these graphs out and make one node of them.
"""
from .._arrays import deferred_compute as dc
from .._arrays.tracing import stop, unnoted
from ..attribute import AttrScope
from ..ndarray import NDArray
from ..ndarray._native import _new_array
from ..numpy._dispatch import is_symbol
from .._arrays.classes import is_np_ndarray
from ..symbol import _control_flow as _of_symbols
from ..symbol._control_flow import _KEY

__all__ = ["foreach", "while_loop", "cond"]


def _map(value, kind, function):
    """`value`, a nested list, with `function` of each leaf that is a `kind`."""
    if isinstance(value, (list, tuple)):
        return [_map(v, kind, function) for v in value]
    return function(value) if isinstance(value, kind) else value


def _symbol(array):
    """What an array stands for in the graph."""
    symbol = dc.get_symbol([array])
    return symbol.as_np_ndarray() if is_np_ndarray(array) else symbol


class _Form:
    """The shape, dtype, device and class of an array. Who reads them here is not the program."""

    def __init__(self, array):
        with unnoted():
            self.shape, self.dtype, self.context = array.shape, array.dtype, array.context
        self.numpy = is_np_ndarray(array)

    def array(self, symbol, shape=None):
        """An array without values that stands for `symbol`."""
        made = _new_array(self.shape if shape is None else shape, self.context, self.dtype, True, self.numpy)
        dc.set_variable([made], [symbol])
        return made

    def __eq__(self, other):
        return (self.shape, self.dtype) == (other.shape, other.dtype)


def _leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in _leaves(v)]
    return [value]


def _recorded(function, forms, kept):
    """`function` of arrays as one of symbols for arrays of these forms. The forms of what it
    returns go to the list `kept`."""
    def of_symbols(*symbols):
        left = iter(forms)
        arrays = _map(list(symbols), object, lambda s: next(left).array(s) if is_symbol(s) else s)
        with dc.attributes({_KEY: AttrScope._current.value.get(None)[_KEY]}):
            results = function(*arrays)
        found = _leaves(results)
        if not all(isinstance(r, NDArray) or r is None for r in found):
            stop("a function of a loop or a branch returns something else than arrays")
        kept.append([_Form(r) for r in found if r is not None])
        return _map(results, NDArray, _symbol)
    return of_symbols


def _arrays(symbols, forms):
    left = iter(forms)
    return _map(symbols, object, lambda s: next(left)(s))


def foreach(body, data, init_states, name="foreach"):
    """:func:`mxnet.npx.foreach` of arrays that are recorded."""
    slices = [_Form(a) for a in _leaves(data)]
    length = {f.shape[0] if f.shape else None for f in slices}
    if len(length) != 1 or None in length:
        stop("foreach gets arrays of several lengths")
    for form in slices:
        form.shape = form.shape[1:]
    states, kept = [_Form(a) for a in _leaves(init_states)], []
    outputs, last = _of_symbols.foreach(_recorded(body, slices + states, kept), _map(data, NDArray, _symbol),
                                        _map(init_states, NDArray, _symbol), name)
    results = kept[0]
    rows = results[:len(results) - len(states)]
    if results[len(rows):] != states:
        stop("foreach changes the shape or dtype of a state")
    rows = [lambda s, f=f: f.array(s, (*length, *f.shape)) for f in rows]
    return _arrays(outputs, rows), _arrays(last, [f.array for f in states])


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):    # pylint: disable=redefined-outer-name
    """:func:`mxnet.npx.while_loop` of arrays that are recorded."""
    variables, truths, kept = [_Form(a) for a in _leaves(loop_vars)], [], []
    outputs, last = _of_symbols.while_loop(_recorded(cond, variables, truths), _recorded(func, variables, kept),
                                           _map(loop_vars, NDArray, _symbol), max_iterations, name)
    results = kept[0]
    rows = results[:len(results) - len(variables)]
    if results[len(rows):] != variables:
        stop("while_loop changes the shape or dtype of a loop variable")
    rows = [lambda s, f=f: f.array(s, (int(max_iterations), *f.shape)) for f in rows]
    return _arrays(outputs, rows), _arrays(last, [f.array for f in variables])


def cond(pred, then_func, else_func, name="cond"):
    """:func:`mxnet.npx.cond` of arrays that are recorded, with functions without arguments."""
    of_then, of_else = [], []
    made = _of_symbols.cond(_symbol(pred), _recorded(then_func, (), of_then), _recorded(else_func, (), of_else), name)
    if of_then != of_else:
        stop("the branches of cond give arrays of several shapes or dtypes")
    return _arrays(made, [f.array for f in of_then[0]])
