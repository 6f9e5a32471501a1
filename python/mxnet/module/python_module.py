"""Modules whose computation is written in Python."""
import logging

from .. import ndarray as nd
from ..base import CheckedTypeError as _ArgumentTypeError
from ..initializer import Uniform
from .base_module import BaseModule, _ArgumentError

__all__ = ["PythonLossModule", "PythonModule"]


class PythonModule(BaseModule):
    """Base of modules without parameters whose computation is Python code.

    A subclass defines `forward`, `backward`, `get_outputs`, `get_input_grads` and
    `_compute_output_shapes`.

    Parameters
    ----------
    data_names, label_names, output_names : list of str
        Labels may be None.
    logger : logging.Logger

    Examples
    --------
    >>> class Scores(mx.mod.PythonModule):
    ...     def _compute_output_shapes(self):
    ...         return [('scores_output', self._data_shapes[0][1])]
    ...     def forward(self, data_batch, is_train=None):
    ...         self.outputs = [10 * data_batch.data[0]]
    ...     def get_outputs(self, merge_multi_context=True):
    ...         return self.outputs
    >>> module = Scores(['data'], None, ['scores_output'])
    >>> module.bind([('data', (2, 1))])
    >>> module.init_params()
    >>> module.init_optimizer()
    >>> module.forward(mx.io.DataBatch([mx.nd.array([[1], [2]])]))
    >>> module.get_outputs()[0].asnumpy().ravel(), module.output_shapes
    (array([10., 20.], dtype=float32), [('scores_output', (2, 1))])
    >>> module.update()    # there is nothing to update
    >>> module.get_params()
    ({}, {})
    """

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = list(output_names)
        self._data_shapes = None
        self._label_shapes = None
        self._output_shapes = None

    @property
    def data_names(self):
        return self._data_names

    @property
    def output_names(self):
        return self._output_names

    @property
    def data_shapes(self):
        return self._data_shapes

    @property
    def label_shapes(self):
        return self._label_shapes

    @property
    def output_shapes(self):
        return self._output_shapes

    def get_params(self):
        """Two empty dictionaries: there are no parameters."""
        return {}, {}

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False,
                    force_init=False, allow_extra=False):
        """There are no parameters to give values to."""
        self.params_initialized = True

    def update(self):
        """There are no parameters to update."""

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        if self._label_shapes is None:
            return                      # no labels: nothing to compare the outputs with
        if pre_sliced:
            raise _ArgumentError("[PythonModule] pre_sliced labels are not supported")
        eval_metric.update(labels, self.get_outputs())

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False,
             shared_module=None, grad_req="write"):
        if grad_req != "write":
            raise _ArgumentError(f"[PythonModule] grad_req={grad_req!r}; only 'write' is supported")
        for what, names, shapes in (("data", self._data_names, data_shapes), ("label", self._label_names, label_shapes)):
            if shapes is not None and [desc[0] for desc in shapes] != (names or []):
                raise _ArgumentError(f"[PythonModule] {what} shapes of {[desc[0] for desc in shapes]}, and the module has "
                                 f"{names}")
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._data_shapes = data_shapes
        self._label_shapes = label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self):
        """Names and shapes of the outputs, from those of data and labels."""
        raise NotImplementedError()

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        """There is nothing to optimize."""
        self.optimizer_initialized = True


class PythonLossModule(PythonModule):
    """A loss at the end of a chain: its output is its input, and a function says what the gradient
    is.

    Parameters
    ----------
    name : str
        Of the output: ``NAME_output``.
    data_names, label_names : list of str
        One each.
    logger : logging.Logger
    grad_func : callable
        From scores and labels, NDArrays, to the gradient of the scores: an NDArray or a NumPy
        array.

    Examples
    --------
    >>> module = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - labels)
    >>> module.bind([('data', (2, 1))], [('softmax_label', (2, 1))])
    >>> module.forward(mx.io.DataBatch([mx.nd.array([[1], [2]])], [mx.nd.array([[1], [1]])]))
    >>> module.backward()
    >>> module.get_input_grads()[0].asnumpy().ravel()
    array([0., 1.], dtype=float32)
    """

    def __init__(self, name="pyloss", data_names=("data",), label_names=("softmax_label",), logger=logging,
                 grad_func=None):
        super().__init__(data_names, label_names, [name + "_output"], logger=logger)
        if len(self._data_names) != 1 or len(self._label_names) != 1:
            raise _ArgumentError("[PythonLossModule] one array of data and one of labels is expected")
        if grad_func is not None and not callable(grad_func):
            raise _ArgumentTypeError(f"[PythonLossModule] grad_func is a {type(grad_func).__name__}; a function is expected")
        self._name = name
        self._grad_func = grad_func
        self._scores = None
        self._labels = None
        self._scores_grad = None

    def _compute_output_shapes(self):
        return [(self._name + "_output", self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        self._scores = data_batch.data[0]
        if is_train is None:
            is_train = self.for_training
        if is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context=True):
        return [self._scores]

    def backward(self, out_grads=None):
        if out_grads is not None:
            raise _ArgumentError("[PythonLossModule] a loss has no gradients of its output")
        self._need("for_training")
        self._backward_impl()

    def _backward_impl(self):
        """Compute the gradient; a subclass may do this instead of giving a function."""
        if self._grad_func is None:
            raise NotImplementedError("[PythonLossModule] grad_func is not given, and _backward_impl not defined")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, nd.NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context=True):
        return [self._scores_grad]

    def install_monitor(self, mon):
        raise NotImplementedError("[PythonLossModule] there is no executor to look at")
