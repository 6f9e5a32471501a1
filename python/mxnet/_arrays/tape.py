"""Marking variables and differentiating what autograd recorded: what methods of arrays and
mxnet.autograd share."""
import ctypes

from . import tracing as _tracing
from .classes import is_np_ndarray
from .._binding import NDArrayBase
from ..base import _LIB, CheckedValueError, _MXValueError, c_handle_array, call_and_mark, check_call, error_class

__all__ = ["GRAD_REQS", "arrays_of", "heads_of", "mark_variables", "backward"]

GRAD_REQS = {"null": 0, "write": 1, "add": 3}


def arrays_of(arrays, what):
    """A list of NDArrays from one or an iterable of them. The list keeps them alive while their
    handles are used: an iterable may make them as it goes."""
    arrays = [arrays] if isinstance(arrays, NDArrayBase) else list(arrays)
    for a in arrays:
        if not isinstance(a, NDArrayBase):
            raise TypeError(f"[autograd] {what} holds a {type(a).__name__}; accepted: NDArrays")
    return arrays


def mark_variables(variables, gradients, grad_reqs="write"):
    """Makes arrays variables whose gradients are written to (or added into) `gradients`.

    A result of mx.nd that was recorded is cut off from what it was computed from, as in 1.x. One of
    mx.np is not, as in 2.0: gradients go through it.

    >>> x, gradient = mx.nd.array([1, 2]), mx.nd.zeros(2)
    >>> mx.autograd.mark_variables([x], [gradient])
    >>> with mx.autograd.record():
    ...     y = 3 * x
    >>> y.backward()
    >>> gradient.asnumpy()
    array([3., 3.], dtype=float32)
    """
    if _tracing.watch.on:
        _tracing.note(_tracing.SWITCH)
    variables, gradients = arrays_of(variables, "variables"), arrays_of(gradients, "gradients")
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(variables)
    unknown = [r for r in grad_reqs if r not in GRAD_REQS]
    if unknown:
        raise error_class(ValueError, KeyError)(f"[autograd] grad_req {unknown[0]!r}; accepted: {', '.join(GRAD_REQS)}")
    if not len(variables) == len(gradients) == len(grad_reqs):
        raise ValueError(f"[autograd] got {len(variables)} variables, {len(gradients)} gradients and {len(grad_reqs)} grad_reqs")
    for mark, numpy in ((_LIB.MXAutogradMarkVariables, False), (_LIB.MXAutogradMarkResults, True)):
        rows = [(v, g, GRAD_REQS[r]) for v, g, r in zip(variables, gradients, grad_reqs) if is_np_ndarray(v) == numpy]
        if rows:
            marked, arrays, reqs = zip(*rows)
            check_call(mark(ctypes.c_uint(len(rows)), c_handle_array(marked), (ctypes.c_uint * len(rows))(*reqs), c_handle_array(arrays)))


def heads_of(heads, head_grads):
    """Lists of heads and of their gradients (or None)."""
    if _tracing.watch.on:
        _tracing.note(_tracing.SWITCH)
    heads = arrays_of(heads, "heads")
    if not heads:
        raise _MXValueError("[autograd] got no heads; accepted: one array or more")
    if head_grads is None:
        return heads, None
    head_grads = [head_grads] if isinstance(head_grads, NDArrayBase) else list(head_grads)
    if len(head_grads) != len(heads):
        raise CheckedValueError(f"[autograd] got {len(heads)} heads and {len(head_grads)} head gradients")
    for g in head_grads:
        if g is not None and not isinstance(g, NDArrayBase):
            raise TypeError(f"[autograd] head_grads holds a {type(g).__name__}; accepted: NDArrays, and None for ones")
    return heads, None if all(g is None for g in head_grads) else c_handle_array(head_grads)


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Computes the gradients of `heads` with respect to all marked variables, into the variables'
    gradient arrays.

    `head_grads` weigh the heads (ones if None). `retain_graph` keeps what was recorded for another
    pass. Raises ValueError for a head that was not recorded.

    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y, z = 2 * x, x * x
    >>> mx.autograd.backward([y, z], head_grads=[mx.nd.ones(2), mx.nd.array([10, 10])])
    >>> x.grad.asnumpy()
    array([22., 42.], dtype=float32)
    """
    heads, ograds = heads_of(heads, head_grads)
    call_and_mark(_LIB.MXAutogradBackwardEx, ctypes.c_uint(len(heads)), c_handle_array(heads),
                  ograds, ctypes.c_uint(0), None, ctypes.c_int(bool(retain_graph)),
                  ctypes.c_int(0), ctypes.c_int(bool(train_mode)), None, None)
