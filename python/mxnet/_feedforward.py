"""The oldest training interface; Module does the work."""
import logging
import time
import warnings

import numpy as np

from . import metric as metrics
from ._model import BatchEndParam, _multiple_callbacks, load_checkpoint, save_checkpoint
from .callback import LogValidationMetricsCallback
from .context import Context, cpu
from .initializer import Uniform
from .io import DataIter, NDArrayIter
from .module import Module
from .ndarray import NDArray

__all__ = ["FeedForward"]


class FeedForward:
    """A network that is trained and used with arrays or iterators. Deprecated: Module and Gluon do
    more.

    Parameters
    ----------
    symbol : Symbol
        With one label, whose name ends in ``label``.
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
        warnings.warn("FeedForward is deprecated; use Module or Gluon", DeprecationWarning, stacklevel=2)
        self.symbol = symbol
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

    # -- data --
    def _iterator(self, X, y, is_train):
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

    def _module(self, data):
        """The network bound for predictions. Labels need no values: those that the data comes with,
        and arguments whose names end in ``label``."""
        if self.arg_params is None:
            raise RuntimeError("[FeedForward] there are no parameters: fit or load comes first")
        data_names = [desc[0] for desc in data.provide_data]
        given = [desc[0] for desc in data.provide_label]
        labels = [name for name in self.symbol.list_arguments()
                  if (name in given or name.endswith("label")) and name not in data_names and name not in self.arg_params]
        module = Module(self.symbol, data_names, labels, context=self.ctx)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\[Module\] label_shapes")    # predictions need no labels
            module.bind(data.provide_data, [desc for desc in data.provide_label if desc[0] in labels] or None,
                        for_training=False)
        have = set(data_names).union(labels, self.arg_params)
        zeros = not self.aux_params and have.issuperset(self.symbol.list_arguments())    # auxiliary states, as in 1.x
        module.set_params(self.arg_params, self.aux_params or {}, allow_missing=zeros, allow_extra=True)
        return module

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
            raise ValueError("[FeedForward] num_epoch is needed for training")
        data = self._iterator(X, y, True)
        if isinstance(eval_data, (tuple, list)):
            eval_data = self._iterator(*eval_data, True)    # 1.x draws an order here, too: equal seeds, equal runs
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        logger = logger or logging
        module = Module(self.symbol, [desc[0] for desc in data.provide_data],
                        [desc[0] for desc in data.provide_label], logger=logger, context=self.ctx,
                        work_load_list=work_load_list)
        module.bind(data.provide_data, data.provide_label)
        if monitor is not None:
            module.install_monitor(monitor)
        module.init_params(self.initializer, self.arg_params, self.aux_params, allow_missing=True)
        module.init_optimizer(kvstore, self.optimizer, self.kwargs or {"learning_rate": 0.01})
        logger.info("Start training with %s", self.ctx)
        data.reset()
        for epoch in range(self.begin_epoch, self.num_epoch):
            tic = time.time()
            eval_metric.reset()
            self._train(module, epoch, data, eval_metric, batch_end_callback, logger, monitor)
            logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            self.arg_params, self.aux_params = module.get_params()
            module.set_params(self.arg_params, self.aux_params)    # all devices go on from the same values
            _multiple_callbacks(epoch_end_callback, epoch, self.symbol, self.arg_params, self.aux_params)
            if eval_data is not None:
                module.score(eval_data, eval_metric, score_end_callback=eval_end_callback,
                             batch_end_callback=eval_batch_end_callback, epoch=epoch)
        self.arg_params, self.aux_params = module.get_params()

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
        data = self._iterator(X, None, False)
        module = self._module(data)
        outputs, inputs, labels = [], [], []
        for outs, _, batch in module.iter_predict(data, num_batch, reset):
            real = outs[0].shape[0]
            outputs.append([out.asnumpy() for out in outs])
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
        X : DataIter
            With labels.
        eval_metric : EvalMetric or anything that `mxnet.metric.create` takes
        num_batch : int, optional
            At most so many batches.
        batch_end_callback : callable or list of them, optional
        reset : bool
            Begin a new pass of the iterator.
        """
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        self._module(X).score(X, eval_metric, num_batch, batch_end_callback, reset=reset)
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
