"""Loops and branches on arrays: Python's own, with the functions that symbols have."""
from .._arrays.nested import flatten as _flatten, regroup, whole_number
from ._array import NDArray

__all__ = ["foreach", "while_loop", "cond"]


def flatten(value, what):
    return _flatten(value, NDArray, what)


def _truth(value):
    """Of a condition: an array of one element, or any Python value."""
    return bool(value.item() if isinstance(value, NDArray) else value)


def _stack(rows):
    from . import stack
    return stack(*rows)


def foreach(body, data, init_states):
    """Calls a function with the slices of arrays along their first dimension, one after the other.

    Parameters
    ----------
    body : function
        ``outputs, states = body(slices, states)``. It gets one slice of each array of `data` and
        the states, in lists nested as they were given, and returns results and the next states.
    data : NDArray or (nested) list of NDArray
        What to go over.
    init_states : NDArray or (nested) list of NDArray
        States before the first step.

    Returns
    -------
    outputs : NDArray or (nested) list of NDArray
        The results of all steps, stacked along a new first dimension.
    states : NDArray or (nested) list of NDArray
        The states behind the last step.

    Examples
    --------
    >>> step = lambda x, total: (x + total, x + total)
    >>> sums, last = mx.nd.contrib.foreach(step, mx.nd.array([1, 2, 3]), mx.nd.array([0]))
    >>> sums.asnumpy().ravel().tolist(), last.asscalar()
    ([1.0, 3.0, 6.0], 6.0)
    """
    leaves, form = flatten(data, "foreach input")
    flatten(init_states, "foreach states")
    states, rows, out_form = init_states, [], []
    for i in range(len(leaves[0])):
        outputs, states = body(regroup([x[i] for x in leaves], form), states)
        row, out_form = flatten(outputs, "foreach output")
        rows.append(row)
    return regroup([_stack(column) for column in zip(*rows)], out_form if rows else []), states


def while_loop(cond, func, loop_vars, max_iterations=None):
    """Calls a function again and again while a condition holds, but not more than `max_iterations`
    times.

    Parameters
    ----------
    cond : function
        ``cond(*loop_vars)`` gives an array of one element or a Python value; true: go on.
    func : function
        ``outputs, loop_vars = func(*loop_vars)``. Results, or None, and the next loop variables.
    loop_vars : NDArray or (nested) list of NDArray
        Loop variables before the first step.
    max_iterations : int
        Size of the first dimension of the results, whose rows of steps that were not made are zero.

    Returns
    -------
    outputs : NDArray or (nested) list of NDArray
        The results of all steps, stacked along a new first dimension; an empty list when no step
        was made.
    loop_vars : NDArray or (nested) list of NDArray
        The loop variables behind the last step.

    Examples
    --------
    >>> powers, (i, last) = mx.nd.contrib.while_loop(
    ...     lambda i, x: i < 3, lambda i, x: (x, [i + 1, x * 2]), [mx.nd.array([0]), mx.nd.array([1])], 4)
    >>> powers.asnumpy().ravel().tolist(), last.asscalar()
    ([1.0, 2.0, 4.0, 0.0], 8.0)
    """
    from . import zeros_like
    max_iterations = whole_number(max_iterations)
    single = isinstance(loop_vars, NDArray)
    values = [loop_vars] if single else loop_vars
    if not len(values):
        raise ValueError("[while_loop] loop_vars should contain at least one element")
    _, form = flatten(list(values), "while loop_vars")
    rows, out_form, steps = [], [], 0
    while steps < max_iterations and _truth(cond(*values)):
        outputs, new = func(*values)
        new = [new] if isinstance(new, NDArray) else list(new)
        if flatten(new, "while loop_vars")[1] != form:
            raise ValueError("[while_loop] The length of loop_vars should be consistent during the loop")
        row, this_form = flatten([] if outputs is None else outputs, "while output")
        if rows and len(row) != len(rows[0]):
            raise ValueError("[while_loop] Number of elements in step_output should be the same in each step: "
                             f"got {len(row)}, before {len(rows[0])}")
        values, out_form, steps = new, this_form, steps + 1
        rows.append(row)
    columns = [list(column) for column in zip(*rows)]
    stacked = [_stack(column + [zeros_like(column[0])] * (max_iterations - steps)) for column in columns]
    # Without a step the variables are what came in, as in 1.x.
    last = values if steps == 0 else list(values)
    return regroup(stacked, out_form if rows else []), values[0] if single else last


def cond(pred, then_func, else_func):
    """What ``then_func()`` returns if `pred` is true, else what ``else_func()`` returns.

    Parameters
    ----------
    pred : NDArray
        An array of one element, or a Python value.
    then_func, else_func : function
        Without arguments; only one of them is called.

    Examples
    --------
    >>> x = mx.nd.array([3])
    >>> mx.nd.contrib.cond(x < 5, lambda: x * 2, lambda: x - 5).asscalar()
    6.0
    """
    return then_func() if _truth(pred) else else_func()
