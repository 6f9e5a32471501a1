"""Loops and branches on mx.np arrays; with symbols they become nodes of a graph."""
from .._arrays.tracing import is_deferred_compute
from ..ndarray import NDArray, _control_flow as _eager
from ..numpy._dispatch import is_symbol

__all__ = ["foreach", "while_loop", "cond"]


def _any_symbol(value):
    if isinstance(value, (list, tuple)):
        return any(map(_any_symbol, value))
    return is_symbol(value)


def _of_symbols():
    from ..symbol import _control_flow
    return _control_flow


def _recorded():
    from . import _recorded_control_flow
    return _recorded_control_flow


def foreach(body, data, init_states, name="foreach"):
    """Calls a function with the slices of arrays along their first dimension, one after the other.

    Parameters
    ----------
    body : function
        ``outputs, states = body(slices, states)``. It gets one slice of each array of `data` (of
        one dimension less: zero-dim for vectors) and the states, in lists nested as they were
        given, and returns results and the next states.
    data : ndarray, Symbol, or a (nested) list of them
        What to go over.
    init_states : ndarray, Symbol, or a (nested) list of them
        States before the first step.
    name : str
        What the name of the graph begins with; arrays need none.

    Returns
    -------
    outputs : ndarray, Symbol, or a (nested) list of them
        The results of all steps, stacked along a new first dimension.
    states : ndarray, Symbol, or a (nested) list of them
        The states behind the last step.

    Examples
    --------
    >>> step = lambda x, total: (x + total, x + total)
    >>> sums, last = mx.npx.foreach(step, mx.np.array([1., 2., 3.]), mx.np.array(0.))
    >>> sums.asnumpy().tolist(), last.asnumpy().tolist()
    ([1.0, 3.0, 6.0], 6.0)
    """
    if _any_symbol([data, init_states]):
        return _of_symbols().foreach(body, data, init_states, name)
    if is_deferred_compute():
        return _recorded().foreach(body, data, init_states, name)
    return _eager.foreach(body, data, init_states)


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):   # pylint: disable=redefined-outer-name
    """Calls a function again and again while a condition holds, but not more than `max_iterations`
    times.

    Parameters
    ----------
    cond : function
        ``cond(*loop_vars)`` gives an array of one element or a Python value; true: go on.
    func : function
        ``outputs, loop_vars = func(*loop_vars)``. Results, or None, and the next loop variables.
    loop_vars : ndarray, Symbol, or a (nested) list of them
        Loop variables before the first step.
    max_iterations : int
        Size of the first dimension of the results, whose rows of steps that were not made are zero.
    name : str
        What the names of the graphs begin with; arrays need none.

    Returns
    -------
    outputs : ndarray, Symbol, or a (nested) list of them
        The results of all steps, stacked along a new first dimension; for arrays an empty list when
        no step was made.
    loop_vars : ndarray, Symbol, or a (nested) list of them
        The loop variables behind the last step.

    Raises
    ------
    ValueError
        without `max_iterations` or loop variables.

    Examples
    --------
    >>> powers, (i, last) = mx.npx.while_loop(
    ...     lambda i, x: i < 3, lambda i, x: (x, [i + 1, x * 2]), [mx.np.array(0), mx.np.array(1.)], 4)
    >>> powers.asnumpy().tolist(), last.asnumpy().tolist()
    ([1.0, 2.0, 4.0, 0.0], 8.0)
    """
    if _any_symbol(loop_vars):
        return _of_symbols().while_loop(cond, func, loop_vars, max_iterations, name)
    if is_deferred_compute():
        return _recorded().while_loop(cond, func, loop_vars, max_iterations, name)
    return _eager.while_loop(cond, func, loop_vars, max_iterations)


def cond(pred, then_func, else_func, inputs=(), name="cond"):
    """What one of two functions returns.

    Parameters
    ----------
    pred : function, ndarray, Symbol or bool
        ``pred(*inputs)``, or its value: of one element.
    then_func, else_func : function
        Called with `inputs`: the first if `pred` is true. Of arrays, only one is called.
    inputs : ndarray, Symbol, or a list of them
        Arguments of the functions.
    name : str
        What the names of the graphs begin with; arrays need none.

    Examples
    --------
    >>> x = mx.np.array([3., 4.])
    >>> mx.npx.cond(lambda a: a.sum() > 5, lambda a: a * 2, lambda a: a - 5, [x]).asnumpy().tolist()
    [6.0, 8.0]
    """
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    value = pred(*inputs) if callable(pred) and not is_symbol(pred) else pred
    if is_symbol(value):
        return _of_symbols().cond(value, lambda: then_func(*inputs), lambda: else_func(*inputs), name)
    if is_deferred_compute() and isinstance(value, NDArray):
        return _recorded().cond(value, lambda: then_func(*inputs), lambda: else_func(*inputs), name)
    return _eager.cond(value, lambda: then_func(*inputs), lambda: else_func(*inputs))
