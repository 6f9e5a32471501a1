"""The interface of modules, and training, evaluation and prediction in terms of it."""
import logging
import time
import warnings

import numpy as np

from .._display.repr import from_arguments
from ..base import CheckedValueError as _ArgumentError, StateError as _StateError
from .. import metric as metrics
from .. import ndarray as nd
from ..initializer import Uniform
from ..io import DataBatch, DataDesc
from .._training.model import BatchEndParam, _multiple_callbacks, _split_params
from ..ndarray import NDArray

__all__ = ["BaseModule"]


def _check_input_names(symbol, names, typename, throw):
    """Complain of `names` that are no arguments of the symbol: a ValueError, or a warning without
    `throw`."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        candidates = [a for a in arguments if not a.endswith(("_weight", "_bias", "_gamma", "_beta"))]
        text = f"You created Module with Module(..., {typename}_names={list(names)}) but input with name " \
               f"'{name}' is not found in symbol.list_arguments(). Did you mean one of:\n\t" + "\n\t".join(candidates)
        if throw:
            raise ValueError(f"[Module] {text}")
        warnings.warn(text, stacklevel=3)


def _check_names_match(data_names, data_shapes, name, throw):
    """Complain of descriptions whose names are not those that the module has."""
    given = [desc[0] for desc in data_shapes]
    if sorted(data_names) != sorted(given):
        if throw:
            raise ValueError(f"[Module] {name}_shapes are for {given}, and the module has {name}_names={list(data_names)}")
        warnings.warn(f"Data provided by {name}_shapes don't match names specified by {name}_names "
                      f"({data_shapes} vs. {list(data_names)})", stacklevel=3)


def _parse_data_desc(data_names, label_names, data_shapes, label_shapes):
    """Shapes in any of the accepted forms as lists of DataDesc."""
    def described(shapes):
        return [desc if isinstance(desc, DataDesc) else DataDesc(*desc) for desc in shapes]

    data_shapes = described(data_shapes)
    _check_names_match(data_names, data_shapes, "data", True)
    if label_shapes is not None:
        label_shapes = described(label_shapes)
        _check_names_match(label_names, label_shapes, "label", False)
    else:
        _check_names_match(label_names, [], "label", False)
    return data_shapes, label_shapes


def _merged(outer, inner):
    """The variables of `fit` and of its pass in one dictionary."""
    return {name: value for name, value in {**outer, **inner}.items() if name != "outer"}


class BaseModule:
    """A network with the machinery to train it and to predict with it.

    It goes through states: made, bound (`bind`: memory for given shapes), with parameters
    (`init_params`), with an optimizer (`init_optimizer`). :meth:`fit` goes through all of them.

    Parameters
    ----------
    logger : logging.Logger

    Examples
    --------
    >>> scores = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=1, name='fc')
    >>> net = mx.sym.LinearRegressionOutput(scores, name='out')
    >>> module = mx.mod.Module(net, label_names=['out_label'])
    >>> module.data_names, module.output_names, module.symbol.name
    (['data'], ['out_output'], 'out')
    >>> module.bind([('data', (4, 2))], [('out_label', (4, 1))], inputs_need_grad=True)
    >>> module.init_params(mx.init.Zero())
    >>> module.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.5})
    >>> batch = mx.io.DataBatch([mx.nd.ones((4, 2))], [mx.nd.ones((4, 1))])
    >>> for _ in range(10):
    ...     module.prepare(batch)
    ...     module.forward(batch, is_train=True)
    ...     module.backward()
    ...     module.update()
    >>> module.get_outputs()[0].asnumpy().round(2).ravel()
    array([1., 1., 1., 1.], dtype=float32)
    >>> module.get_input_grads()[0].shape
    (4, 2)
    >>> metric = mx.metric.MSE()
    >>> module.update_metric(metric, batch.label)
    >>> module.data_shapes[0].shape, module.label_shapes[0].shape, module.output_shapes
    ((4, 2), (4, 1), [('out_output', (4, 1))])
    """

    __repr__ = from_arguments(without=("logger", "work_load_list"))

    def __init__(self, logger=logging):
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol = None
        self._total_exec_bytes = 0

    def _need(self, *states):
        """Raise an error, both an AssertionError and a RuntimeError, unless the module is in all of
        these states."""
        calls = {"binded": "bind", "params_initialized": "init_params", "optimizer_initialized": "init_optimizer",
                 "for_training": "bind with for_training=True", "inputs_need_grad": "bind with inputs_need_grad=True"}
        for state in states:
            if not getattr(self, state):
                raise _StateError(f"[{type(self).__name__}] {calls[state]} comes first")

    # -- high-level --
    def forward_backward(self, data_batch):
        """A forward and a backward pass in training mode.

        >>> scores = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1)
        >>> net = mx.sym.MakeLoss(mx.sym.sum(scores))
        >>> module = mx.mod.Module(net, label_names=None)
        >>> module.bind([('data', (4, 2))])
        >>> module.init_params(mx.init.One())
        >>> module.forward_backward(mx.io.DataBatch([mx.nd.ones((4, 2))]))
        >>> module.get_outputs()[0].asnumpy()
        array([8.], dtype=float32)
        """
        self.forward(data_batch, is_train=True)
        self.backward()

    def score(self, eval_data, eval_metric, num_batch=None, batch_end_callback=None, score_end_callback=None,
              reset=True, epoch=0, sparse_row_id_fn=None):
        """Predict the instances of an iterator, and evaluate.

        Parameters
        ----------
        eval_data : DataIter
        eval_metric : EvalMetric or anything that `mxnet.metric.create` takes
        num_batch : int, optional
            At most so many batches.
        batch_end_callback, score_end_callback : callable or list of them
            Called with a BatchEndParam.
        reset : bool
            Begin a new pass of the iterator.
        epoch : int
            For the callbacks.
        sparse_row_id_fn : callable, optional
            See :meth:`prepare`.

        Returns
        -------
        list of (str, float)

        Examples
        --------
        >>> data, label = mx.nd.array([[1], [2], [3]]), mx.nd.array([2, 4, 7])
        >>> net = mx.sym.LinearRegressionOutput(2 * mx.sym.var('data'), mx.sym.var('label'))
        >>> module = mx.mod.Module(net, label_names=['label'])
        >>> batches = mx.io.NDArrayIter(data, label, batch_size=3, label_name='label')
        >>> module.bind(batches.provide_data, batches.provide_label, for_training=False)
        >>> module.init_params()
        >>> module.score(batches, ['mae', 'mse'])
        [('mae', 0.333...), ('mse', 0.333...)]
        """
        self._need("binded", "params_initialized")
        if reset:
            eval_data.reset()
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        eval_metric.reset()
        actual_num_batch = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if num_batch is not None and nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._measure(eval_metric, eval_batch)
            _multiple_callbacks(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            actual_num_batch += 1
        _multiple_callbacks(score_end_callback, BatchEndParam(epoch, actual_num_batch, eval_metric, locals()))
        return eval_metric.get_name_value()

    def _measure(self, eval_metric, batch):
        if isinstance(batch, list):
            self.update_metric(eval_metric, [part.label for part in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(self, eval_data, num_batch=None, reset=True, sparse_row_id_fn=None):
        """Iterate over predictions: (outputs without padding, number of the batch, batch).

        Parameters are as in :meth:`predict`.

        >>> module = mx.mod.Module(2 * mx.sym.var('data'), label_names=None)
        >>> batches = mx.io.NDArrayIter(mx.nd.array([[1], [2], [3]]), batch_size=2)
        >>> module.bind(batches.provide_data, for_training=False)
        >>> module.init_params()
        >>> for outputs, number, batch in module.iter_predict(batches):
        ...     print(number, outputs[0].asnumpy().ravel(), batch.pad)
        0 [2. 4.] 0
        1 [6.] 1
        """
        self._need("binded", "params_initialized")
        if reset:
            eval_data.reset()
        for nbatch, eval_batch in enumerate(eval_data):
            if num_batch is not None and nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            pad = eval_batch.pad or 0
            yield [out[0:out.shape[0] - pad] for out in self.get_outputs()], nbatch, eval_batch

    def predict(self, eval_data, num_batch=None, merge_batches=True, reset=True, always_output_list=False,
                sparse_row_id_fn=None):
        """Predict the instances of an iterator, or of one array.

        Parameters
        ----------
        eval_data : DataIter, NDArray or numpy.ndarray
        num_batch : int, optional
            At most so many batches.
        merge_batches : bool
            Join the outputs of all batches.
        reset : bool
            Begin a new pass of the iterator.
        always_output_list : bool
            Return a list also of one output.
        sparse_row_id_fn : callable, optional
            See :meth:`prepare`.

        Returns
        -------
        NDArray, or list of NDArray
            The output, or a list of outputs; with ``merge_batches=False`` a list of lists of
            outputs, one per batch.

        Raises
        ------
        ValueError
            if the outputs of batches can't be joined because there are different numbers of them.

        Examples
        --------
        >>> module = mx.mod.Module(2 * mx.sym.var('data'), label_names=None)
        >>> batches = mx.io.NDArrayIter(mx.nd.array([[1], [2], [3]]), batch_size=2)
        >>> module.bind(batches.provide_data, for_training=False)
        >>> module.init_params()
        >>> module.predict(batches).asnumpy().ravel()
        array([2., 4., 6.], dtype=float32)
        """
        self._need("binded", "params_initialized")
        if isinstance(eval_data, (NDArray, np.ndarray)):
            if isinstance(eval_data, np.ndarray):
                eval_data = nd.array(eval_data)
            self.forward(DataBatch([eval_data]), is_train=False)
            return self.get_outputs()[0]
        if not hasattr(eval_data, "reset"):
            raise ValueError(f"[{type(self).__name__}] eval_data of type {type(eval_data).__name__}; "
                             "a DataIter, an NDArray or a numpy.ndarray is accepted")
        outputs = [[out.copy() for out in outs]
                   for outs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)]
        if not outputs or not merge_batches:
            return outputs
        count = len(outputs[0])
        if any(len(outs) != count for outs in outputs):
            raise ValueError(f"[{type(self).__name__}] Cannot merge batches, as num of outputs is not the same "
                             "in mini-batches. Maybe bucketing is used?")
        merged = [nd.concat(*parts, dim=0) for parts in zip(*outputs)]
        return merged[0] if count == 1 and not always_output_list else merged

    def fit(self, train_data, eval_data=None, eval_metric="acc", epoch_end_callback=None, batch_end_callback=None,
            kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), eval_end_callback=None,
            eval_batch_end_callback=None, initializer=Uniform(0.01), arg_params=None, aux_params=None,
            allow_missing=False, force_rebind=False, force_init=False, begin_epoch=0, num_epoch=None,
            validation_metric=None, monitor=None, sparse_row_id_fn=None):
        """Train.

        Parameters
        ----------
        train_data, eval_data : DataIter
            Instances to train with and, optionally, to evaluate with after each epoch.
        eval_metric, validation_metric : EvalMetric or anything that `mxnet.metric.create` takes
            For training and, if it is another one, for evaluation.
        epoch_end_callback : callable or list of them
            Called with epoch, symbol, arguments and auxiliary states.
        batch_end_callback, eval_end_callback, eval_batch_end_callback : callable or list of them
            Called with a BatchEndParam.
        kvstore, optimizer, optimizer_params
            See :meth:`init_optimizer`.
        initializer, arg_params, aux_params, allow_missing, force_init
            See :meth:`init_params`.
        force_rebind : bool
            See :meth:`bind`.
        begin_epoch, num_epoch : int
            Number of the first epoch, and of the one after the last.
        monitor : Monitor, optional
        sparse_row_id_fn : callable, optional
            See :meth:`prepare`.

        Examples
        --------
        >>> data = mx.nd.arange(20).reshape((20, 1)) / 20
        >>> batches = mx.io.NDArrayIter(data, 3 * data + 1, batch_size=5, label_name='out_label')
        >>> scores = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1)
        >>> net = mx.sym.LinearRegressionOutput(scores, name='out')
        >>> module = mx.mod.Module(net, label_names=['out_label'])
        >>> module.fit(batches, num_epoch=50, eval_metric='mse', optimizer='adam',
        ...            optimizer_params={'learning_rate': 0.1})
        >>> module.score(batches, 'mse')[0][1] < 0.01
        True
        """
        if num_epoch is None:
            raise _ArgumentError("[fit] please specify number of epochs: num_epoch")
        self.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label, for_training=True,
                  force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                         allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        if validation_metric is None:
            validation_metric = eval_metric
        for epoch in range(begin_epoch, num_epoch):
            tic = time.time()
            eval_metric.reset()
            eval_name_vals = self._fit_epoch(locals(), epoch, train_data, eval_metric, batch_end_callback, monitor,
                                             sparse_row_id_fn)
            for name, val in eval_name_vals:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, val)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            # The copies on the devices differ where each updates its own: all go on from the same
            # values.
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            _multiple_callbacks(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
            if eval_data is not None:
                # all rows are there: pulling some would drop those of the next first batch
                res = self.score(eval_data, validation_metric, score_end_callback=eval_end_callback,
                                 batch_end_callback=eval_batch_end_callback, epoch=epoch)
                for name, val in res:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, val)
            train_data.reset()

    def _fit_epoch(self, outer, epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn):
        """One pass over the training data. Returns the metric's names and values at its end.

        Callbacks get the variables of `fit`, `outer`, and of this pass, under the names that 1.9.1
        has for them.
        """
        data_iter = iter(train_data)
        next_data_batch = next(data_iter, None)
        if next_data_batch is None:
            raise StopIteration(f"[Module.fit] epoch {epoch}: the training data give no batch; accepted: at least one. "
                                "reset() begins again where they were used before")
        nbatch = 0
        end_of_batch = False
        while not end_of_batch:
            data_batch = next_data_batch
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            self._measure(eval_metric, data_batch)
            # What the next batch needs is fetched while this one is computed.
            next_data_batch = next(data_iter, None)
            end_of_batch = next_data_batch is None
            if not end_of_batch:
                self.prepare(next_data_batch, sparse_row_id_fn=sparse_row_id_fn)
            if monitor is not None:
                monitor.toc_print()
            if end_of_batch:
                eval_name_vals = eval_metric.get_global_name_value()    # before a callback resets it
            _multiple_callbacks(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, _merged(outer, locals())))
            nbatch += 1
        return eval_name_vals

    # -- what the module is --
    @property
    def data_names(self):
        """Names of the data."""
        raise NotImplementedError()

    @property
    def output_names(self):
        """Names of the outputs."""
        raise NotImplementedError()

    @property
    def data_shapes(self):
        """Descriptions of the data."""
        raise NotImplementedError()

    @property
    def label_shapes(self):
        """Descriptions of the labels."""
        raise NotImplementedError()

    @property
    def output_shapes(self):
        """Names and shapes of the outputs."""
        raise NotImplementedError()

    @property
    def symbol(self):
        """The network."""
        return self._symbol

    # -- parameters --
    def get_params(self):
        """Dictionaries of arguments and of auxiliary states: name to NDArray on the CPU."""
        raise NotImplementedError()

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False,
                    force_init=False, allow_extra=False):
        """Give first values to the parameters.

        Parameters
        ----------
        initializer : Initializer
            For those that have no values.
        arg_params, aux_params : dict of str to NDArray, optional
            Values.
        allow_missing : bool
            Let the initializer fill what the dictionaries lack.
        force_init : bool
            Also if it has been done.
        allow_extra : bool
            Let the dictionaries have values that the network does not need. They are left out in
            any case; with ``allow_missing=True`` and without this, :meth:`set_params` complains.
        """
        raise NotImplementedError()

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        """Give values to the parameters; see :meth:`init_params`.

        >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, no_bias=True, name='fc')
        >>> module = mx.mod.Module(net, label_names=None)
        >>> module.bind([('data', (1, 2))], for_training=False)
        >>> module.set_params({'fc_weight': mx.nd.array([[1, 2]])}, {})
        >>> module.get_params()[0]['fc_weight'].asnumpy()
        array([[1., 2.]], dtype=float32)
        >>> module.save_params('fc.params')
        >>> module.load_params('fc.params')
        """
        self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params, allow_missing=allow_missing,
                         force_init=force_init, allow_extra=allow_extra)

    def save_params(self, fname):
        """Write the parameters to a file."""
        arg_params, aux_params = self.get_params()
        arrays = {f"arg:{name}": array for name, array in arg_params.items()}
        arrays.update((f"aux:{name}", array) for name, array in aux_params.items())
        nd.save(fname, arrays)

    def load_params(self, fname):
        """Read the parameters from a file; raises ValueError if it is not one that
        :meth:`save_params` wrote."""
        self.set_params(*_split_params(nd.load(fname), fname))

    def get_states(self, merge_multi_context=True):
        """Values of the state arrays; a module that has none returns an empty list.

        >>> next_state = mx.sym.var('state') + mx.sym.var('data')
        >>> module = mx.mod.Module(next_state, label_names=None, state_names=['state'])
        >>> module.bind([('data', (1, 2))], for_training=False)
        >>> module.init_params()
        >>> module.set_states(value=5)
        >>> [[copy.asnumpy().tolist() for copy in state] for state in module.get_states(False)]
        [[[[5.0, 5.0]]]]
        """
        self._need("binded", "params_initialized")
        assert not merge_multi_context
        return []

    def set_states(self, states=None, value=None):
        """Set the state arrays to arrays or to one number.

        >>> next_state = mx.sym.var('state') + mx.sym.var('data')
        >>> module = mx.mod.Module(next_state, label_names=None, state_names=['state'])
        >>> module.bind([('data', (1, 2))], for_training=False)
        >>> module.init_params()
        >>> module.set_states(value=5)
        >>> batch = mx.io.DataBatch([mx.nd.array([[1, 2]])])
        >>> for _ in range(2):
        ...     module.forward(batch)
        ...     module.set_states(states=module.get_outputs(merge_multi_context=False))
        ...     print(module.get_outputs()[0].asnumpy())
        [[6. 7.]]
        [[7. 9.]]
        """
        self._need("binded", "params_initialized")
        assert not states and not value

    def install_monitor(self, mon):
        """Let a monitor look at all executors.

        >>> out = mx.sym.relu(mx.sym.var('data'), name='relu')
        >>> module = mx.mod.Module(out, label_names=None)
        >>> module.bind([('data', (1, 2))], for_training=False)
        >>> module.init_params()
        >>> monitor = mx.mon.Monitor(1, stat_func=lambda x: x.max())
        >>> module.install_monitor(monitor)
        >>> monitor.tic()
        >>> module.forward(mx.io.DataBatch([mx.nd.array([[1, 2]])]))
        >>> [(name, value.strip()) for _, name, value in monitor.toc()]
        [('relu_output', '2.0'), ('data', '2.0')]
        """
        raise NotImplementedError()

    # -- computation --
    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Before a forward pass: fetch what it needs.

        Parameters
        ----------
        data_batch : DataBatch
        sparse_row_id_fn : callable, optional
            From a batch to a dictionary of the rows of row_sparse parameters that it needs.
        """
        if sparse_row_id_fn is not None:
            self.logger.warning("sparse_row_id_fn is not used by %s", type(self).__name__)

    def forward(self, data_batch, is_train=None):
        """A forward pass; with ``is_train=None`` in training mode if the module is bound for
        training."""
        raise NotImplementedError()

    def backward(self, out_grads=None):
        """A backward pass, from the gradients of the outputs (None: they are losses)."""
        raise NotImplementedError()

    def get_outputs(self, merge_multi_context=True):
        """Outputs of the last forward pass; `merge_multi_context` joins those of several
        devices."""
        raise NotImplementedError()

    def get_input_grads(self, merge_multi_context=True):
        """Gradients of the data after the last backward pass; the module is bound with
        ``inputs_need_grad=True``."""
        raise NotImplementedError()

    def update(self):
        """Let the optimizer update the parameters by the gradients of the last batch."""
        raise NotImplementedError()

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric take in the outputs of the last forward pass.

        Parameters
        ----------
        eval_metric : EvalMetric
        labels : list of NDArray; or of lists of NDArray, one for each device, if `pre_sliced`
        """
        raise NotImplementedError()

    # -- setting up --
    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False,
             shared_module=None, grad_req="write"):
        """Make executors for given shapes.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc or of (str, tuple)
        for_training : bool
            With gradients of the parameters.
        inputs_need_grad : bool
            With gradients of the data.
        force_rebind : bool
            Also if it has been done.
        shared_module : BaseModule, optional
            One with which memory is shared.
        grad_req : str, list or dict of str
            'write', 'add' or 'null', for all arguments or for each.
        """
        raise NotImplementedError()

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        """Set up the optimizer.

        Parameters
        ----------
        kvstore : KVStore or str
        optimizer : Optimizer or str
        optimizer_params : dict, or pairs
            For the constructor of an optimizer that is given by name.
        force_init : bool
            Also if it has been done.
        """
        raise NotImplementedError()
