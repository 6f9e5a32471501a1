"""The training loop itself."""
import copy
import logging
import sys
import warnings

import numpy

from .... import metric as metric_module
from ....context import Context, cpu, gpu, num_gpus
from ....util import accepts_device
from ...data import DataLoader
from ...loss import Loss
from ...trainer import Trainer
from ...utils import split_and_load
from ._handler_bases import (BatchBegin, BatchEnd, EpochBegin, EpochEnd, TrainBegin, TrainEnd,
                             _check_event_handlers)
from .batch_processor import BatchProcessor
from .event_handler import (GradientUpdateHandler, LoggingHandler, MetricHandler, StoppingHandler,
                            ValidationHandler)
from .utils import _check_handler_metric_ref, _check_metrics, _suggest_metric_for_loss

__all__ = ["Estimator"]


def _count(name, value):
    """`value` as a number of epochs or batches, 0 if it is None. Other than in 1.9.1 it is a whole
    number and not negative: that training would never end."""
    if value is None:
        return 0
    if not isinstance(value, (int, float, numpy.number)) or value != value or value < 0 or value % 1:
        raise ValueError(f"[Estimator.fit] {name}={value!r}; a whole number above 0 is accepted")
    return int(value)


class Estimator:
    """Trains and evaluates a network, and calls handlers on the way.

    Parameters
    ----------
    net : gluon.Block
        The network. It is initialized here unless all its Parameters are.
    loss : gluon.loss.Loss
        From predictions and labels to losses.
    train_metrics, val_metrics : EvalMetric or list of EvalMetric, optional
        Measures of training and validation. Without any, the loss is measured, and the accuracy if
        the loss is SoftmaxCrossEntropyLoss. Their names get "training " and "validation " in front.
        `val_metrics` are copies of `train_metrics` when None.
    initializer : Initializer, optional
        For Parameters that have no values yet.
    trainer : Trainer, optional
        SGD with learning rate 0.001 when None.
    context : Context or list of Context, optional
        Where to compute; a batch is split over several. When None, it is where `trainer` has the
        Parameters, else the first GPU, or the CPU if there is none.
    val_net, val_loss : Block and Loss, optional
        What to evaluate with; `net` and `loss` when None.
    batch_processor : BatchProcessor, optional
        What to do with one batch.

    Attributes
    ----------
    logger : logging.Logger
        Lines about the progress go to it; its handler prints them.
    max_epoch, max_batch : int or None
        When the training that :meth:`fit` runs will end.

    Raises
    ------
    ValueError
        if an argument is of another type.

    >>> net = mx.gluon.nn.Dense(2)
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4)), 2)
    >>> estimator = Estimator(net, mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.fit(data, epochs=1)       # doctest: +ELLIPSIS
    Training begin: using optimizer SGD with current learning rate 0.0010...
    Train for 1 epochs.
    [Epoch 0] Begin, current learning rate: 0.0010
    [Epoch 0] Finished in ...s, training accuracy: ..., training softmaxcrossentropyloss: ...
    Train finished using total ...s with 1 epochs. training accuracy: ...
    """

    logger = None

    @accepts_device(called='context')
    def __init__(self, net, loss, train_metrics=None, val_metrics=None, initializer=None, trainer=None, context=None,
                 val_net=None, val_loss=None, batch_processor=None):
        self.net = net
        self.loss = self._check_loss(loss)
        self._train_metrics = _check_metrics(train_metrics)
        self._val_metrics = _check_metrics(val_metrics)
        self._add_default_training_metrics()
        self._add_validation_metrics()
        self.val_loss = self.loss if val_loss is None else self._check_loss(val_loss)
        self.val_net = net if val_net is None else val_net
        # A logger of its own: lines of two estimators do not meet, and the root logger prints none
        # twice.
        self.logger = logging.Logger("Estimator", logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = self._check_context(context, trainer)
        self._initialize(initializer)
        self.trainer = self._check_trainer(trainer)
        self.batch_processor = self._check_batch_processor(batch_processor)

    @property
    def device(self):
        """`context` under the name that MXNet 2.0 gave it.

        >>> net = mx.gluon.nn.Dense(2)
        >>> Estimator(net, mx.gluon.loss.L2Loss(), context=mx.cpu()).device
        [cpu(0)]
        """
        return self.context

    @property
    def train_metrics(self):
        """The metrics of training, a list of EvalMetric. Handlers refer to these very objects.

        >>> net, loss = mx.gluon.nn.Dense(2), mx.gluon.loss.L2Loss()
        >>> estimator = Estimator(net, loss, train_metrics=mx.metric.MAE())
        >>> [metric.get()[0] for metric in estimator.train_metrics]
        ['training mae']
        """
        return self._train_metrics

    @property
    def val_metrics(self):
        """The metrics of validation, a list of EvalMetric.

        >>> net, loss = mx.gluon.nn.Dense(2), mx.gluon.loss.L2Loss()
        >>> estimator = Estimator(net, loss, train_metrics=mx.metric.MAE())
        >>> [metric.get()[0] for metric in estimator.val_metrics]
        ['validation mae']
        """
        return self._val_metrics

    @staticmethod
    def _check_loss(loss):
        if not isinstance(loss, Loss):
            raise ValueError(f"[Estimator] loss must be a Loss, refer to gluon.loss.Loss:{loss}")
        return loss

    def _check_context(self, context, trainer=None):
        if context is None:
            if isinstance(trainer, Trainer) and self._is_initialized() and trainer._contexts:
                return list(trainer._contexts)
            return [gpu(0) if num_gpus() else cpu()]
        contexts = context if isinstance(context, list) else [context]
        if not all(isinstance(ctx, Context) for ctx in contexts):
            raise ValueError("[Estimator] context must be a Context or a list of Context, for example mx.cpu() or "
                             f"[mx.gpu(0), mx.gpu(1)], refer to mxnet.Context:{context}")
        for ctx in contexts:
            # 1.9.1 raises AssertionError
            assert ctx.device_type != "gpu" or ctx.device_id < num_gpus(), (
                f"[Estimator] {ctx} is not available, please make sure your context is in one of: mx.cpu(), "
                + ", ".join(f"mx.gpu({i})" for i in range(num_gpus())))
        return contexts or [cpu()]

    @staticmethod
    def _check_batch_processor(batch_processor):
        if batch_processor is None:
            return BatchProcessor()
        if not all(callable(getattr(batch_processor, name, None)) for name in ("fit_batch", "evaluate_batch")):
            raise ValueError("[Estimator] Customized Batch Processor must contain fit_batch() and evaluate_batch() methods")
        return batch_processor

    def _is_initialized(self):
        return all(param._data is not None or param._deferred_init for param in self.net.collect_params().values())

    def _initialize(self, initializer):
        if not self._is_initialized():
            if initializer is None:
                self.net.initialize(ctx=self.context)
            else:
                self.net.initialize(init=initializer, ctx=self.context)
        elif initializer is not None:
            warnings.warn("Network already fully initialized, skipping initialization. You don't need to pass initializer "
                          "if you already initialized your net. You can use net.initialize(init=your_initializer, "
                          "force_reinit=True) to force re-initialize.", stacklevel=4)

    def _check_trainer(self, trainer):
        if trainer is None:
            warnings.warn("No trainer specified, default SGD optimizer with learning rate 0.001 is used.", stacklevel=4)
            self.net.collect_params().reset_ctx(self.context)
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f"[Estimator] Trainer must be a Gluon Trainer instance, refer to gluon.Trainer:{trainer}")
        return trainer

    def _add_default_training_metrics(self):
        if not self._train_metrics:
            suggested = _suggest_metric_for_loss(self.loss)
            if suggested is not None:
                self._train_metrics = [suggested]
            self._train_metrics.append(metric_module.Loss(type(self.loss).__name__.lower()))
        for one in self._train_metrics:
            if "training " not in one.name:     # an estimator before this one may have named it
                one.name = "training " + one.name

    def _add_validation_metrics(self):
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(one) for one in self._train_metrics]
        for i, one in enumerate(self._val_metrics):
            if any(one is other for other in self._train_metrics):
                one = self._val_metrics[i] = copy.deepcopy(one)
            if "training " in one.name:
                one.name = one.name.replace("training ", "")
            if "validation " not in one.name:
                one.name = "validation " + one.name

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        return tuple(split_and_load(array, ctx, batch_axis) for array in (batch[0], batch[1]))

    # -- handlers --
    def _prepare_default_handlers(self, val_data, event_handlers):
        """The user's handlers and those that training needs, by priority."""
        handlers = _check_event_handlers(event_handlers)
        kinds = [GradientUpdateHandler, MetricHandler, ValidationHandler, LoggingHandler]
        present = {kind for kind in kinds if any(isinstance(handler, kind) for handler in handlers)}
        if GradientUpdateHandler not in present:
            handlers.append(GradientUpdateHandler())
        if MetricHandler not in present:
            handlers.append(MetricHandler(self.train_metrics))
        if ValidationHandler not in present and val_data is not None:
            handlers.append(ValidationHandler(val_data, self.evaluate))
        handlers.append(StoppingHandler(self.max_epoch, self.max_batch))
        if LoggingHandler not in present:
            handlers.append(LoggingHandler(metrics=self.train_metrics))
        return self._in_order(handlers, self.train_metrics + self.val_metrics)

    def _prepare_default_validation_handlers(self, event_handlers):
        handlers = _check_event_handlers(event_handlers)
        if not any(isinstance(handler, MetricHandler) for handler in handlers):
            handlers.append(MetricHandler(self.val_metrics))
        if not any(isinstance(handler, LoggingHandler) for handler in handlers):
            handlers.append(LoggingHandler(metrics=self.val_metrics))
        return self._in_order(handlers, self.val_metrics)

    @staticmethod
    def _in_order(handlers, known_metrics):
        for handler in handlers:
            _check_handler_metric_ref(handler, known_metrics)
        return sorted(handlers, key=lambda handler: getattr(handler, "priority", 0))

    def _categorize_handlers(self, event_handlers):
        """Handlers by event: train_begin, epoch_begin, batch_begin, batch_end, epoch_end,
        train_end."""
        return tuple([handler for handler in event_handlers if isinstance(handler, kind)]
                     for kind in (TrainBegin, EpochBegin, BatchBegin, BatchEnd, EpochEnd, TrainEnd))

    # -- loops --
    def evaluate(self, val_data, batch_axis=0, event_handlers=None):
        """Measure `val_metrics` over one pass through data.

        Parameters
        ----------
        val_data : gluon.data.DataLoader
            Batches of data and label.
        batch_axis : int
            The axis of the samples.
        event_handlers : EventHandler or list of EventHandler, optional
            Handlers of epochs and batches. They may refer to metrics in `val_metrics` only.

        Examples
        --------
        >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
        >>> net = mx.gluon.nn.Dense(2, weight_initializer='zeros')
        >>> estimator = Estimator(net, mx.gluon.loss.SoftmaxCrossEntropyLoss())
        >>> estimator.logger.setLevel('ERROR')
        >>> estimator.evaluate(mx.gluon.data.DataLoader(data, 2))
        >>> for metric in estimator.val_metrics:
        ...     print('%s %.4f' % metric.get())
        validation accuracy 1.0000
        validation softmaxcrossentropyloss 0.6931
        """
        if not isinstance(val_data, DataLoader):
            raise ValueError(_NO_LOADER)
        for one in self.val_metrics:
            one.reset()
        handlers = self._prepare_default_validation_handlers(event_handlers)
        _, epoch_begin, batch_begin, batch_end, epoch_end, _ = self._categorize_handlers(handlers)
        for handler in epoch_begin:
            handler.epoch_begin(self)
        for batch in val_data:
            for handler in batch_begin:
                handler.batch_begin(self, batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            for handler in batch_end:
                handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
        for handler in epoch_end:
            handler.epoch_end(self)

    def fit(self, train_data, val_data=None, epochs=None, event_handlers=None, batches=None, batch_axis=0):
        """Train for a number of epochs or of batches.

        Parameters
        ----------
        train_data : gluon.data.DataLoader
            Batches of data and label.
        val_data : gluon.data.DataLoader, optional
            Evaluated after each epoch.
        epochs, batches : int
            When to end; exactly one of them is given. `batches` begins `train_data` again as often
            as needed.
        event_handlers : EventHandler or list of EventHandler, optional
            What to do at the begin and the end of the training, of epochs and of batches. Handlers
            that update weights and metrics, validate, log and stop join them where they are
            missing. They are called in ascending order of their `priority`, which is 0 without
            that attribute. A handler whose ``batch_end`` returns True ends the epoch; one whose
            ``epoch_end`` returns True ends the training.
        batch_axis : int
            The axis of the samples.

        Raises
        ------
        ValueError
            if `train_data` is no DataLoader, or the end is not given or given twice.
        """
        if not isinstance(train_data, DataLoader):
            raise ValueError(_NO_LOADER)
        epochs, batches = _count("epochs", epochs), _count("batches", batches)
        if bool(epochs) == bool(batches):
            raise ValueError("[Estimator.fit] Fit only support exactly one type of iteration, train by number of epochs or "
                             "number of batches. Please specify one and only one of: epochs or batches.")
        self.max_epoch, self.max_batch = epochs or None, batches or None
        self.batch_axis = batch_axis
        handlers = self._prepare_default_handlers(val_data, event_handlers)
        train_begin, epoch_begin, batch_begin, batch_end, epoch_end, train_end = self._categorize_handlers(handlers)
        for handler in train_begin:
            handler.train_begin(self)
        while True:
            for handler in epoch_begin:
                handler.epoch_begin(self)
            batch = None
            for batch in train_data:
                for handler in batch_begin:
                    handler.batch_begin(self, batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                if any([handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss) for handler in batch_end]):
                    break
            if any([handler.epoch_end(self) for handler in epoch_end]):     # every one is called
                break
            if batch is None and self.max_batch:
                raise ValueError(f"[Estimator.fit] train_data has no batches; {self.max_batch} batches are to be trained")
        for handler in train_end:
            handler.train_end(self)


_NO_LOADER = ("[Estimator] Estimator only support input as Gluon DataLoader. Alternatively, you can transform your DataIter "
              "or any NDArray into Gluon DataLoader. Refer to gluon.data.DataLoader")
