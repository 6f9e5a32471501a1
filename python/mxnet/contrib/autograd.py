"""The first interface of automatic differentiation, from before :mod:`mxnet.autograd`.

Here one switch tells both that operations are recorded and that layers behave as in training.
"""
import functools
import operator

from .. import autograd as _autograd
from ..base import CheckedTypeError, CheckedValueError
from ..ndarray import NDArray, zeros_like

__all__ = ["TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss", "mark_variables",
           "set_is_training", "test_section", "train_section"]


def set_is_training(is_train):
    """Switch recording and training mode on or off. Returns what the training mode was.

    >>> before = set_is_training(True)
    >>> _ = set_is_training(before)
    """
    switch = bool(operator.index(is_train))
    before = _autograd.set_training(switch)
    _autograd.set_recording(switch)
    return before


class TrainingStateScope:
    """A ``with`` block that records and trains, or does neither; see :func:`train_section`.

    Parameters
    ----------
    enter_state : bool
        What holds within the block.
    """

    def __init__(self, enter_state):
        self._enter_state = enter_state
        self._prev = None

    def __enter__(self):
        self._prev = _autograd.set_training(self._enter_state), _autograd.set_recording(self._enter_state)

    def __exit__(self, ptype, value, trace):
        training, recording = self._prev
        _autograd.set_training(training)
        _autograd.set_recording(recording)


def train_section():
    """A ``with`` block whose operations are recorded, in training mode.

    >>> x = mx.nd.array([1., 2.])
    >>> gradient = mx.nd.zeros(2)
    >>> mark_variables([x], [gradient])
    >>> with train_section():
    ...     y = x * x
    >>> backward([y])
    >>> gradient.asnumpy().tolist()
    [2.0, 4.0]
    """
    return TrainingStateScope(True)


def test_section():
    """A ``with`` block whose operations are not recorded, within :func:`train_section`."""
    return TrainingStateScope(False)


test_section.__test__ = False      # no test, in spite of the name


def mark_variables(variables, gradients, grad_reqs="write"):
    """Tell that the gradients of arrays are wanted, and where they belong.

    Parameters
    ----------
    variables : list of NDArray
        Arrays to differentiate by.
    gradients : list of NDArray
        An array of the same shape for each of them.
    grad_reqs : str or list of str
        'write', 'add' or 'null', for all or for each.
    """
    _autograd.mark_variables(variables, gradients, grad_reqs)


def backward(outputs, out_grads=None, retain_graph=False):
    """Compute the gradients of marked variables.

    Parameters
    ----------
    outputs : list or tuple of NDArray
        What to differentiate; several are summed.
    out_grads : list of NDArray or None, optional
        Gradients of `outputs`; ones where there is None.
    retain_graph : bool
        Keep what was recorded for another pass.

    Raises
    ------
    AssertionError
        if `outputs` is no list, or `out_grads` has another length.
    """
    if not isinstance(outputs, (list, tuple)):
        raise CheckedTypeError(f"[contrib.autograd.backward] outputs of type {type(outputs).__name__}; outputs must be a "
                               "list or tuple of NDArrays")
    if out_grads is not None and len(out_grads) != len(outputs):
        raise CheckedValueError(f"[contrib.autograd.backward] outputs and out_grads must have the same length; {len(outputs)} "
                                f"and {len(out_grads)} given")
    _autograd.backward(list(outputs), None if out_grads is None else list(out_grads), retain_graph)


def compute_gradient(outputs):
    """:func:`backward` with gradients of ones."""
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """A function that returns the gradients of `func`, and what `func` returned.

    Parameters
    ----------
    func : callable
        From NDArrays to an NDArray or a list of them.
    argnum : int or list of int, optional
        By which arguments to differentiate; by all when None.

    Returns
    -------
    callable
        With the arguments of `func`; it returns (list of NDArray, result of `func`).

    >>> gradients, loss = grad_and_loss(lambda a, b: a * b)(mx.nd.array([2.]), mx.nd.array([3.]))
    >>> [g.asnumpy().tolist() for g in gradients], loss.asnumpy().tolist()
    ([[3.0], [2.0]], [6.0])
    """
    @functools.wraps(func)
    def wrapped(*args):
        chosen = args
        if argnum is not None:
            chosen = [args[i] for i in (argnum if isinstance(argnum, (list, tuple)) else [argnum])]
        for one in chosen:
            if not isinstance(one, NDArray):
                raise CheckedTypeError(f"[contrib.autograd] an argument of type {type(one).__name__}; type of autograd input "
                                       "should be NDArray")
        grads = [zeros_like(one) for one in chosen]
        mark_variables(chosen, grads)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, NDArray) else outputs)
        return grads, outputs
    return wrapped


def grad(func, argnum=None):
    """A function that returns the gradients of `func`; see :func:`grad_and_loss`.

    >>> grad(lambda a: a * a)(mx.nd.array([3.]))[0].asnumpy().tolist()
    [6.0]
    """
    gradients_and_loss = grad_and_loss(func, argnum)

    @functools.wraps(gradients_and_loss)
    def wrapped(*args):
        return gradients_and_loss(*args)[0]
    return wrapped
