"""The oldest training interface; Module does the work."""
import logging
import time
import warnings

import numpy as np

from .. import metric as metrics
from .model import BatchEndParam, _multiple_callbacks, load_checkpoint, save_checkpoint
from ..base import error_class
from ..callback import LogValidationMetricsCallback
from ..context import Context, cpu
from ..executor_manager import _check_arguments
from ..initializer import InitDesc, Uniform
from ..io import DataIter, NDArrayIter
from ..module import BucketingModule, Module
from ..ndarray import NDArray, zeros
from ..symbol import Symbol

__all__ = ["FeedForward"]


class FeedForward:
    """A network that is trained and used with arrays or iterators. Deprecated: Module and Gluon do
    more.

    Parameters
    ----------
    symbol : Symbol or callable
        With one label, whose name ends in ``label``. A function that makes the Symbol of a bucket's
        key, for data that comes in buckets.
    ctx : Context or list of Context, optional
    num_epoch : int
        Number of the epoch after the last.
    epoch_size : int, optional
        Batches in an epoch; all of the data by default.
    optimizer : str or Optimizer
    initializer : Initializer
    numpy_batch_size : int
        Of batches that are made of arrays.
    arg_params, aux_params : dict of str to NDArray, optional
        First values of parameters.
    allow_extra_params : bool
        These may have values that the network does not need.
    begin_epoch : int
        Number of the first epoch.
    **kwargs
        For the optimizer, e.g. ``learning_rate``.

    Examples
    --------
    >>> scores = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc')
    >>> net = mx.sym.SoftmaxOutput(scores, name='softmax')
    >>> data, label = mx.nd.array([[1, 0], [0, 1]] * 4), mx.nd.array([0, 1] * 4)
    >>> model = mx.model.FeedForward(net, num_epoch=20, numpy_batch_size=4, learning_rate=0.5)
    >>> model.fit(data, label)
    >>> model.score(mx.io.NDArrayIter(data, label, batch_size=4))
    1.0
    >>> model.predict(data).argmax(axis=1)
    array([0, 1, 0, 1, 0, 1, 0, 1])
    >>> model.save('net', 20)
    >>> again = mx.model.FeedForward.load('net', 20)
    >>> sorted(again.arg_params)
    ['fc_bias', 'fc_weight']
    """
    __module__ = "mxnet.model"      # where programs have it from

    def __init__(self, symbol, ctx=None, num_epoch=None, epoch_size=None, optimizer="sgd", initializer=Uniform(0.01),
                 numpy_batch_size=128, arg_params=None, aux_params=None, allow_extra_params=False, begin_epoch=0,
                 **kwargs):
        warnings.warn("mxnet.model.FeedForward has been deprecated. Please use mxnet.mod.Module instead.", DeprecationWarning, stacklevel=2)
        self.symbol, self.sym_gen = (None, symbol) if callable(symbol) and not isinstance(symbol, Symbol) else (symbol, None)
        ctx = cpu() if ctx is None else ctx
        self.ctx = [ctx] if isinstance(ctx, Context) else list(ctx)
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self.arg_params = arg_params
        self.aux_params = aux_params
        self.allow_extra_params = allow_extra_params
        self.begin_epoch = begin_epoch
        self.kwargs = kwargs
        self.argument_checked = False
        self._pred_exec = None
        if self.sym_gen is None:
            self._check_arguments()

    def __getstate__(self):
        return dict(vars(self), _pred_exec=None)    # copies bind the network anew

    # Programs of 1.x override or call the methods with an underscore.
    def _check_arguments(self):
        """Refuses a network that names two arguments alike, and, with `allow_extra_params`, forgets
        values that it does not need."""
        if self.argument_checked:
            return
        _check_arguments(self.symbol)
        names, states = self.symbol.list_arguments(), self.symbol.list_auxiliary_states()
        if self.allow_extra_params:
            if self.arg_params:
                self.arg_params = {name: value for name, value in self.arg_params.items() if name in names}
            if self.aux_params:
                self.aux_params = {name: value for name, value in self.aux_params.items() if name in states}
        self.argument_checked = True

    # -- data --
    def _init_iter(self, X, y, is_train):
        """The data as an iterator: arrays get batches, in random order for training."""
        if isinstance(X, DataIter):
            return X
        if not isinstance(X, (np.ndarray, NDArray)):
            raise TypeError(f"[FeedForward] X is a {type(X).__name__}; a DataIter, an NDArray or a numpy.ndarray is expected")
        if y is None:
            if is_train:
                raise ValueError("[FeedForward] y must be specified when X is numpy.ndarray")
            y = np.zeros(X.shape[0], np.float32)
        y = y.asnumpy() if isinstance(y, NDArray) else np.asarray(y)
        if y.shape[0] != X.shape[0]:
            raise ValueError(f"[FeedForward] The numbers of data points and labels not equal: {X.shape[0]}, {y.shape[0]}")
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.ravel()
        if y.ndim != 1:
            raise ValueError(f"[FeedForward] labels of shape {y.shape}; one dimension is expected")
        size = min(self.numpy_batch_size, X.shape[0])
        return NDArrayIter(X, y, size, shuffle=is_train, last_batch_handle="roll_over" if is_train else "pad")

    def _init_eval_iter(self, eval_data):
        """Validation data as an iterator, or None. Labels that are a list become an array."""
        if eval_data is None or isinstance(eval_data, DataIter):
            return eval_data
        if not isinstance(eval_data, (tuple, list)) or len(eval_data) != 2:
            raise TypeError(f"[FeedForward] eval_data is {type(eval_data).__name__}; a DataIter or a pair of arrays is expected")
        data, label = (np.asarray(part) if isinstance(part, list) else part for part in eval_data)
        return self._init_iter(data, label, is_train=True)    # 1.x draws an order here, too: equal seeds, equal runs

    def _names(self, inputs):
        """Names of the network's parameters and of its auxiliary states."""
        given = {desc[0] for desc in inputs}
        return [name for name in self.symbol.list_arguments() if name not in given], self.symbol.list_auxiliary_states()

    def _init_params(self, inputs, overwrite=False):
        """Make arrays of all parameters, for inputs of these names and shapes: those that are there
        keep their values unless `overwrite`. Returns the names of arguments, of parameters and of
        auxiliary states."""
        params, states = self._names(inputs)
        arg_shapes, _, aux_shapes = self.symbol.infer_shape(**{desc[0]: desc[1] for desc in inputs})
        shapes = dict(zip(self.symbol.list_arguments(), arg_shapes))
        attributes = self.symbol.attr_dict()

        def made(name, shape, known):
            array = zeros(shape)
            if known and name in known and not overwrite:
                known[name].copyto(array)
            else:
                self.initializer(InitDesc(name, attributes.get(name)), array)
            return array

        self.arg_params = {name: made(name, shapes[name], self.arg_params) for name in params}
        self.aux_params = {name: made(name, shape, self.aux_params) for name, shape in zip(states, aux_shapes)}
        return self.symbol.list_arguments(), params, states

    def _init_predictor(self, input_shapes, type_dict=None):
        """Bind the network for predictions, on the first context, unless it is bound for inputs of
        these names and shapes. Labels need no values."""
        shapes = {desc[0]: tuple(desc[1]) for desc in (input_shapes.items() if isinstance(input_shapes, dict) else input_shapes)}
        names = self.symbol.list_arguments()
        bound = self._pred_exec
        if bound is None or any(bound.arg_dict[name].shape != shape
                                for name, shape in zip(names, self.symbol.infer_shape(**shapes)[0])):
            bound = self.symbol.simple_bind(self.ctx[0], grad_req="null", type_dict=type_dict, **shapes)
        for arrays, params in ((bound.arg_dict, self.arg_params), (bound.aux_dict, self.aux_params)):
            extra = sorted(set(params or ()) - set(arrays))
            if extra:
                raise ValueError(f"[FeedForward] the network does not need {extra}; allow_extra_params=True drops such values")
        bound.copy_params_from(self.arg_params, self.aux_params)    # they may have changed
        self._pred_exec = bound

    def _outputs(self, data, num_batch, reset):
        """(batch, outputs) for the batches of an iterator; the outputs are valid until the next."""
        if self.arg_params is None:
            raise RuntimeError("[FeedForward] there are no parameters: fit or load comes first")
        if reset:
            data.reset()
        given = [desc[0] for desc in data.provide_data]
        labels = {desc[0] for desc in data.provide_label}
        params, states = self._names(data.provide_data)
        lacking = [name for name in params if name not in labels and name not in self.arg_params and not name.endswith("label")]
        lacking += [name for name in states if self.aux_params and name not in self.aux_params]    # without any, they are 0
        if lacking:
            raise RuntimeError(f"[FeedForward] the parameters {lacking} have no values")
        types = {name: value.dtype for name, value in self.arg_params.items()}
        for position, desc in enumerate(data.provide_data):
            types[given[position]] = getattr(desc, "dtype", np.float32)
        shapes = self.symbol.infer_shape_partial(**{desc[0]: desc[1] for desc in data.provide_data})[0]
        undecided = [name for name, shape in zip(self.symbol.list_arguments(), shapes) if not shape or 0 in shape]
        self._init_predictor(list(data.provide_data) + [desc for desc in data.provide_label if desc[0] in undecided], types)
        for nbatch, batch in enumerate(data):
            if num_batch is not None and nbatch == num_batch:
                break
            for name, value in zip(given, batch.data):
                value.copyto(self._pred_exec.arg_dict[name])
            yield nbatch, batch, self._pred_exec.forward(is_train=False)

    # -- use --
    def fit(self, X, y=None, eval_data=None, eval_metric="acc", epoch_end_callback=None, batch_end_callback=None,
            kvstore="local", logger=None, work_load_list=None, monitor=None,
            eval_end_callback=LogValidationMetricsCallback(), eval_batch_end_callback=None):
        """Train.

        Parameters
        ----------
        X : DataIter, NDArray or numpy.ndarray
        y : NDArray or numpy.ndarray
            Labels, if X is an array.
        eval_data : DataIter, or pair of arrays, optional
        eval_metric : EvalMetric or anything that `mxnet.metric.create` takes
        epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback : callable or list of them
        kvstore : str or KVStore
        logger : logging.Logger, optional
        work_load_list : list of float, optional
            How batches are divided among the devices.
        monitor : Monitor, optional
        """
        if self.num_epoch is None:
            raise error_class(ValueError, TypeError)("[FeedForward] num_epoch is needed for training")
        data = self._init_iter(X, y, is_train=True)
        eval_data = self._init_eval_iter(eval_data)
        if self.sym_gen is not None:
            self.symbol = self.sym_gen(data.default_bucket_key)
            self._check_arguments()
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        logger = logger or logging
        module = self._training_module(data, logger, work_load_list)
        module.bind(data.provide_data, data.provide_label)
        if monitor is not None:
            module.install_monitor(monitor)
        self._init_params(list(data.provide_data) + list(data.provide_label))
        module.init_params(self.initializer, self.arg_params, self.aux_params)
        self._init_optimizer(module, kvstore)
        logger.info("Start training with %s", self.ctx)
        data.reset()
        for epoch in range(self.begin_epoch, self.num_epoch):
            tic = time.time()
            eval_metric.reset()
            self._train(module, epoch, data, eval_metric, batch_end_callback, logger, monitor)
            logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            self.arg_params, self.aux_params = module.get_params()
            _multiple_callbacks(epoch_end_callback, epoch, self.symbol, self.arg_params, self.aux_params)
            if eval_data is not None:
                module.score(eval_data, eval_metric, score_end_callback=eval_end_callback,
                             batch_end_callback=eval_batch_end_callback, epoch=epoch)
        self.arg_params, self.aux_params = module.get_params()

    def _training_module(self, data, logger, work_load_list):
        names, labels = ([desc[0] for desc in described] for described in (data.provide_data, data.provide_label))
        options = {"logger": logger, "context": self.ctx, "work_load_list": work_load_list}
        if self.sym_gen is None:
            return Module(self.symbol, names, labels, **options)
        return BucketingModule(lambda key: (self.sym_gen(key), names, labels), data.default_bucket_key, **options)

    def _init_optimizer(self, module, kvstore):
        """`kwargs` get what the optimizer is told of the network: programs of 1.x read it there."""
        told = ("sym", "param_idx2name")
        module.init_optimizer(kvstore, self.optimizer, {name: value for name, value in self.kwargs.items() if name not in told})
        trained = module if self.sym_gen is None else module._curr_module
        self.kwargs["sym"] = self.symbol
        self.kwargs["param_idx2name"] = trained._index_to_name(trained._update_on_kvstore)

    def _train(self, module, epoch, train_data, eval_metric, batch_end_callback, logger, monitor):
        """One epoch: a pass over the data, or `epoch_size` batches, which go on where the epoch
        before stopped. Batches are counted from 1, as 1.x does here."""
        nbatch = 0
        while True:
            for data_batch in train_data:
                if monitor is not None:
                    monitor.tic()
                module.forward_backward(data_batch)
                module.update()
                module.update_metric(eval_metric, data_batch.label)
                if monitor is not None:
                    monitor.toc_print()
                nbatch += 1
                _multiple_callbacks(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
                if self.epoch_size is not None and nbatch >= self.epoch_size:
                    return
            logger.info("Epoch[%d] Resetting Data Iterator", epoch)
            train_data.reset()
            if self.epoch_size is None or nbatch >= self.epoch_size:
                return

    def predict(self, X, num_batch=None, return_data=False, reset=True):
        """Predictions as a NumPy array, or a list of them.

        Parameters
        ----------
        X : DataIter, NDArray or numpy.ndarray
        num_batch : int, optional
            At most so many batches.
        return_data : bool
            Return predictions, data and labels.
        reset : bool
            Begin a new pass of an iterator.
        """
        data = self._init_iter(X, None, is_train=False)
        outputs, inputs, labels = [], [], []
        for _, batch, outs in self._outputs(data, num_batch, reset):
            real = outs[0].shape[0] - (batch.pad or 0)
            outputs.append([out[:real].asnumpy() for out in outs])
            if return_data:
                inputs.append([x[:real].asnumpy() for x in batch.data])
                labels.append([x[:real].asnumpy() for x in batch.label])
        joined = [[np.concatenate(parts) for parts in zip(*batches)] for batches in (outputs, inputs, labels)]
        joined = [parts[0] if len(parts) == 1 else parts for parts in joined]
        return tuple(joined) if return_data else joined[0]

    def score(self, X, eval_metric="acc", num_batch=None, batch_end_callback=None, reset=True):
        """Value of a metric for the predictions of an iterator.

        Parameters
        ----------
        X : DataIter, NDArray or numpy.ndarray
            An iterator with labels; those of an array are 0.
        eval_metric : EvalMetric or anything that `mxnet.metric.create` takes
        num_batch : int, optional
            At most so many batches.
        batch_end_callback : callable or list of them, optional
        reset : bool
            Begin a new pass of the iterator.
        """
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        eval_metric.reset()
        for nbatch, batch, outs in self._outputs(self._init_iter(X, None, is_train=False), num_batch, reset):
            eval_metric.update(batch.label, outs)
            _multiple_callbacks(batch_end_callback, BatchEndParam(None, nbatch, eval_metric, locals()))
        return eval_metric.get()[1]

    def save(self, prefix, epoch=None, remove_amp_cast=True):
        """Write the network and its parameters; see `mxnet.model.save_checkpoint`. The epoch is
        `num_epoch` by default."""
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None:
            raise ValueError("[FeedForward] the epoch is needed for the name of the file")
        save_checkpoint(prefix, epoch, self.symbol, self.arg_params, self.aux_params or {}, remove_amp_cast)

    @staticmethod
    def load(prefix, epoch, ctx=None, **kwargs):
        """A network from what :meth:`save` wrote; `kwargs` go to the constructor."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx=ctx, arg_params=arg_params, aux_params=aux_params, begin_epoch=epoch, **kwargs)

    @staticmethod
    def create(symbol, X, y=None, ctx=None, num_epoch=None, epoch_size=None, optimizer="sgd",
               initializer=Uniform(0.01), eval_data=None, eval_metric="acc", epoch_end_callback=None,
               batch_end_callback=None, kvstore="local", logger=None, work_load_list=None,
               eval_end_callback=LogValidationMetricsCallback(), eval_batch_end_callback=None, **kwargs):
        """Make a network and train it; the parameters are those of the constructor and of
        :meth:`fit`.

        >>> scores = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2)
        >>> net = mx.sym.SoftmaxOutput(scores, name='softmax')
        >>> data, label = mx.nd.array([[1, 0], [0, 1]] * 4), mx.nd.array([0, 1] * 4)
        >>> model = mx.model.FeedForward.create(net, data, label, num_epoch=20, learning_rate=0.5)
        >>> model.predict(data[:2]).argmax(axis=1)
        array([0, 1])
        """
        model = FeedForward(symbol, ctx=ctx, num_epoch=num_epoch, epoch_size=epoch_size, optimizer=optimizer,
                            initializer=initializer, **kwargs)
        model.fit(X, y, eval_data=eval_data, eval_metric=eval_metric, epoch_end_callback=epoch_end_callback,
                  batch_end_callback=batch_end_callback, kvstore=kvstore, logger=logger, work_load_list=work_load_list,
                  eval_end_callback=eval_end_callback, eval_batch_end_callback=eval_batch_end_callback)
        return model
