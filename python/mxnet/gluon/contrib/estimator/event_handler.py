"""Handlers of what happens while an Estimator trains."""
import os
import re
import time
import warnings

import numpy

from ....metric import CompositeEvalMetric, EvalMetric
from ....metric import Loss as LossMetric
from ._handler_bases import EventHandler as EventHandler     # programs for 1.9.1 find it here
from ._handler_bases import BatchBegin, BatchEnd, EpochBegin, EpochEnd, TrainBegin, TrainEnd
from .utils import _check_metrics

__all__ = ["BatchBegin", "BatchEnd", "CheckpointHandler", "EarlyStoppingHandler", "EpochBegin", "EpochEnd",
           "GradientUpdateHandler", "LoggingHandler", "MetricHandler", "StoppingHandler", "TrainBegin", "TrainEnd",
           "ValidationHandler"]


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends training after a number of epochs or batches.

    Parameters
    ----------
    max_epoch, max_batch : int, optional
        The numbers. When training begins they become those of the estimator.

    Examples
    --------
    >>> handler = mx.gluon.contrib.estimator.StoppingHandler(max_epoch=10)
    >>> handler.max_epoch
    10
    """

    def __init__(self, max_epoch=None, max_batch=None):
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator, *args, **kwargs):
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator, *args, **kwargs):
        self.current_batch += 1
        if self.current_batch == self.max_batch:
            self.stop_training = True
        return self.stop_training

    def epoch_end(self, estimator, *args, **kwargs):
        self.current_epoch += 1
        if self.current_epoch == self.max_epoch:
            self.stop_training = True
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Resets metrics at the begin of an epoch and updates them with each batch: metrics
    :class:`mxnet.metric.Loss` with the losses, others with labels and predictions.

    Parameters
    ----------
    metrics : EvalMetric or list of EvalMetric
        From the estimator's `train_metrics` or `val_metrics`.
    priority : int
        Handlers with a lower one are called first.

    Examples
    --------
    >>> accuracy = mx.metric.Accuracy()
    >>> handler = mx.gluon.contrib.estimator.MetricHandler(accuracy)
    >>> pred = mx.nd.array([[.1, .9], [.8, .2]])
    >>> handler.batch_end(None, pred=[pred], label=[mx.nd.ones(2)], loss=[])
    >>> accuracy.get()
    ('accuracy', 0.5)
    """

    def __init__(self, metrics, priority=-1000):
        self.metrics = _check_metrics(metrics)
        self.priority = priority

    def epoch_begin(self, estimator, *args, **kwargs):
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator, *args, **kwargs):
        pred, label, loss = kwargs["pred"], kwargs["label"], kwargs["loss"]
        for metric in self.metrics:
            if isinstance(metric, LossMetric):
                metric.update(0, loss)
            else:
                metric.update(label, pred)


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates every `epoch_period` epochs or every `batch_period` batches.

    Parameters
    ----------
    val_data : gluon.data.DataLoader
        What to evaluate on.
    eval_fn : callable
        Called as ``eval_fn(val_data=, batch_axis=, event_handlers=)``, such as
        :meth:`Estimator.evaluate`.
    epoch_period, batch_period : int or None
        How often; None for never.
    priority : int
        Handlers with a lower one are called first.
    event_handlers : EventHandler or list of EventHandler, optional
        Handlers for `eval_fn`.

    Examples
    --------
    >>> def evaluate(val_data, batch_axis, event_handlers):
    ...     print('evaluated on', len(val_data), 'batches')
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> loader = mx.gluon.data.DataLoader(data, 2)
    >>> handler = mx.gluon.contrib.estimator.ValidationHandler(loader, evaluate, epoch_period=2)
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> estimator.fit(loader, epochs=5, event_handlers=[handler])
    evaluated on 2 batches
    evaluated on 2 batches
    """

    def __init__(self, val_data, eval_fn, epoch_period=1, batch_period=None, priority=-1000, event_handlers=None):
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator, *args, **kwargs):
        self.current_batch = 0
        self.current_epoch = 0

    def batch_end(self, estimator, *args, **kwargs):
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator, *args, **kwargs):
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)

    def _evaluate(self, estimator):
        self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Writes the progress to ``estimator.logger``.

    Parameters
    ----------
    log_interval : int or str
        A line for every so many batches, or 'epoch' for epochs only.
    metrics : EvalMetric or list of EvalMetric, optional
        What the lines show, from the estimator's `train_metrics` or `val_metrics`.
    priority : int or float
        Handlers with a lower one are called first.

    Raises
    ------
    ValueError
        if `log_interval` is something else, or 0.

    Examples
    --------
    >>> handler = mx.gluon.contrib.estimator.LoggingHandler(log_interval=10, metrics=[])
    """

    def __init__(self, log_interval="epoch", metrics=None, priority=numpy.inf):
        if isinstance(log_interval, bool) or log_interval != "epoch" and not (
                isinstance(log_interval, (int, numpy.integer)) and log_interval):
            raise ValueError("[LoggingHandler] log_interval must be either an integer or string 'epoch'"
                             f", and not 0; {log_interval!r} given")
        self.metrics = _check_metrics(metrics)
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.priority = priority
        self.log_interval = log_interval
        self.log_interval_time = 0

    def _values(self):
        return ", ".join("%s: %.4f" % pair for metric in self.metrics for pair in metric.get_name_value())

    def train_begin(self, estimator, *args, **kwargs):
        self.train_start = time.time()
        estimator.logger.info("Training begin: using optimizer %s with current learning rate %.4f ",
                              type(estimator.trainer.optimizer).__name__, estimator.trainer.learning_rate)
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)
        self.current_epoch = 0
        self.batch_index = 0
        self.processed_samples = 0
        self.log_interval_time = 0

    def train_end(self, estimator, *args, **kwargs):
        line = "Train finished using total %ds with %d epochs. " % (time.time() - self.train_start, self.current_epoch)
        estimator.logger.info((line + self._values()).rstrip())

    def batch_begin(self, estimator, *args, **kwargs):
        self.batch_start = time.time()

    def batch_end(self, estimator, *args, **kwargs):
        if not isinstance(self.log_interval, str):
            self.log_interval_time += time.time() - self.batch_start
            line = "[Epoch %d][Batch %d]" % (self.current_epoch, self.batch_index)
            data = kwargs["batch"][0]
            self.processed_samples += data.shape[0] if hasattr(data, "shape") else len(data)
            line += "[Samples %s] " % self.processed_samples
            if self.batch_index % self.log_interval == 0:
                line += "time/interval: %.3fs " % self.log_interval_time
                self.log_interval_time = 0
                estimator.logger.info((line + self._values()).rstrip())
        self.batch_index += 1

    def epoch_begin(self, estimator, *args, **kwargs):
        self.epoch_start = time.time()
        # The metrics tell what is going on: no other handler knows of training and validation.
        if any("training" in metric.name for metric in self.metrics):
            estimator.logger.info("[Epoch %d] Begin, current learning rate: %.4f", self.current_epoch,
                                  estimator.trainer.learning_rate)
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator, *args, **kwargs):
        line = "[Epoch %d] Finished in %.3fs, " % (self.current_epoch, time.time() - self.epoch_start)
        estimator.logger.info((line + self._values()).rstrip(", "))
        self.current_epoch += 1
        self.batch_index = 0


def _comparison(who, mode, monitor):
    """numpy.less or numpy.greater: how a value of `monitor` is better than another."""
    if mode not in ("auto", "min", "max"):
        warnings.warn(f"{who} mode {mode} is unknown, fallback to auto mode.", RuntimeWarning, stacklevel=3)
        mode = "auto"
    if mode == "auto":
        name = monitor.get()[0]
        warnings.warn(f"`greater` operator will be used to determine if {name} has improved. Please specify `mode='min'` "
                      "to use the `less` operator. Specify `mode='max' to disable this warning.`", stacklevel=3)
    return numpy.less if mode == "min" else numpy.greater


_METRIC_OBJECTS = "one of the metric objects from estimator.train_metrics and estimator.val_metrics as monitor."


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves the Parameters and the trainer's states while training goes on.

    It writes ``{prefix}-epoch{e}batch{b}.params`` and ``.states``, with epochs counted from 0, and
    ``{prefix}-symbol.json`` for a hybridized network. Files that are written every `batch_period`
    batches bear the number of the batch from 0, those at the end of an epoch the number of batches
    so far.

    Parameters
    ----------
    model_dir : str
        Folder of the files; it is made if need be.
    model_prefix : str
        What the files' names begin with.
    monitor : EvalMetric, optional
        The metric that tells the best model, from the estimator's `train_metrics` or `val_metrics`.
    verbose : int
        Log what is saved if above 0.
    save_best : bool
        Keep ``{prefix}-best.params`` and ``.states`` of the best value of `monitor` as well.
    mode : str
        'min' if smaller values are better, 'max' if greater ones are; 'auto' is 'max' with a
        warning.
    epoch_period, batch_period : int or None
        How often; None for never.
    max_checkpoints : int
        How many of the files that this handler has written stay; the best one is not counted.
    resume_from_checkpoint : bool
        Begin with the latest files in `model_dir`, and train for what is left of the epochs or
        batches. Data begins anew with an epoch. It needs `batch_period=None` in a training by
        epochs, and `epoch_period=None` in one by batches.

    Raises
    ------
    ValueError
        if `save_best` has no metric, a file's name has other numbers, or there is nothing left to
        train.
    AssertionError
        if `resume_from_checkpoint` finds a period that does not fit, or no trainer's states.

    Examples
    --------
    >>> import os, tempfile
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saver = mx.gluon.contrib.estimator.CheckpointHandler(folder, 'dense')
    ...     estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=2, event_handlers=[saver])
    ...     for name in sorted(os.listdir(folder)):
    ...         print(name)
    dense-epoch0batch2.params
    dense-epoch0batch2.states
    dense-epoch1batch4.params
    dense-epoch1batch4.states
    """

    def __init__(self, model_dir, model_prefix="model", monitor=None, verbose=0, save_best=False, mode="auto",
                 epoch_period=1, batch_period=None, max_checkpoints=5, resume_from_checkpoint=False):
        self.monitor = monitor
        self.verbose = verbose
        os.makedirs(os.fspath(model_dir), exist_ok=True)
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.save_best = save_best
        if save_best and not isinstance(monitor, EvalMetric):
            raise ValueError(f"[CheckpointHandler] To save best model only, please provide {_METRIC_OBJECTS}")
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints = []
        if save_best:
            self.monitor_op = _comparison("ModelCheckpoint", mode, monitor)
            self._forget_best()

    def _forget_best(self):
        self.best = numpy.inf if self.monitor_op is numpy.less else -numpy.inf

    def _path(self, name):
        return os.path.join(self.model_dir, name)

    def train_begin(self, estimator, *args, **kwargs):
        self.current_batch = 0
        self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1
        self._batches_before = 0        # batches that earlier runs have trained
        if self.save_best:
            self._forget_best()
        if self.resume_from_checkpoint:
            self._resume_from_checkpoint(estimator)

    def batch_end(self, estimator, *args, **kwargs):
        if self.current_batch == 0 and self.current_epoch == 0:
            self._save_symbol(estimator)        # there is one since the first forward pass
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save_checkpoint(estimator)
        self.current_batch += 1

    def epoch_end(self, estimator, *args, **kwargs):
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save_checkpoint(estimator)
        self.current_epoch += 1

    def _save_symbol(self, estimator):
        path = self._path(self.model_prefix + "-symbol.json")
        graph = getattr(estimator.net, "_cached_graph", None)
        if graph and estimator.net._active:
            graph[1].save(path)
        else:
            estimator.logger.info("Model architecture(symbol file) is not saved, please use HybridBlock to construct your "
                                  "model, and call net.hybridize() before passing to Estimator in order to save model "
                                  "architecture as %s.", path)

    def _save_params_and_trainer(self, estimator, file_prefix):
        estimator.net.save_parameters(self._path(file_prefix + ".params"))
        estimator.trainer.save_states(self._path(file_prefix + ".states"))

    def _save_checkpoint(self, estimator):
        epoch = self.current_epoch + self.trained_epoch + 1
        batch = self.current_batch + self._batches_before
        prefix = f"{self.model_prefix}-epoch{epoch}batch{batch}"
        self._save_params_and_trainer(estimator, prefix)
        if self.verbose > 0:
            estimator.logger.info("[Epoch %d] CheckpointHandler: trained total %d batches, saving model at %s with prefix: %s",
                                  self.current_epoch, self.current_batch + 1, self.model_dir, prefix)
        self.saved_checkpoints.append(prefix)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            for ending in (".params", ".states"):
                if os.path.exists(self._path(oldest + ending)):
                    os.remove(self._path(oldest + ending))
        if self.save_best:
            self._save_best(estimator)

    def _save_best(self, estimator):
        name, value = self.monitor.get()
        if numpy.isnan(value):
            warnings.warn(f"Skipping save best because {name} is not updated, make sure you pass {_METRIC_OBJECTS}",
                          RuntimeWarning, stacklevel=4)
        elif self.monitor_op(value, self.best):
            prefix = self.model_prefix + "-best"
            self._save_params_and_trainer(estimator, prefix)
            if self.verbose > 0:
                estimator.logger.info("[Epoch %d] CheckpointHandler: %s improved from %0.5f to %0.5f, updating best model at "
                                      "%s with prefix: %s", self.current_epoch, name, self.best, value, self.model_dir, prefix)
            self.best = value
        elif self.verbose > 0:
            estimator.logger.info("[Epoch %d] CheckpointHandler: %s did not improve from %0.5f, skipping updating best model",
                                  self.current_epoch, name, self.best)

    # -- resuming --
    def _resume_from_checkpoint(self, estimator):
        by_epochs = bool(estimator.max_epoch)
        # 1.9.1 raises AssertionError
        assert not (self.batch_period if by_epochs else self.epoch_period), (
            "[CheckpointHandler] To use resume from checkpoint, you must only specify the same type of period you used for "
            "training. For example, if you are training based on number of epochs, you must save only based on epochs, "
            "and set batch_period to None.")
        unit, wanted = ("epoch", estimator.max_epoch) if by_epochs else ("batch", estimator.max_batch)
        found = self._latest_checkpoint()
        if found is None:
            estimator.logger.info("CheckpointHandler: No checkpoint found, training from scratch for %d %s", wanted,
                                  "epochs" if by_epochs else "batches")
            return
        self.trained_epoch, self.trained_batch = found
        # At the end of an epoch a file counts the batches; between, its number is the last one's.
        self._batches_before = self.trained_batch + (not by_epochs)
        done = (self.trained_epoch if by_epochs else self.trained_batch) + 1
        if done >= wanted:
            raise ValueError(f"[CheckpointHandler] Found checkpoint with maximum number of {unit} {done} reached, please "
                             "specify resume_from_checkpoint=False (default value) if you want to train from scratch.")
        prefix = self._path("%s-epoch%dbatch%d" % (self.model_prefix, *found))
        # 1.9.1 raises AssertionError
        assert os.path.exists(prefix + ".states"), (
            f"[CheckpointHandler] Failed to load checkpoint, {prefix}.states does not exist")
        estimator.net.load_parameters(prefix + ".params", ctx=estimator.context)
        estimator.trainer.load_states(prefix + ".states")
        if by_epochs:
            estimator.max_epoch = wanted - done
        else:
            estimator.max_batch = wanted - done
        estimator.logger.warning("CheckpointHandler: Checkpoint resumed from epoch %d batch %d, continue to train for %d %s ",
                                 *found, wanted - done, "epochs" if by_epochs else "batches")

    def _latest_checkpoint(self):
        """The greatest (epoch, batch) among the files' names, or None without files."""
        found = []
        for name in os.listdir(self.model_dir):
            if not (name.startswith(self.model_prefix + "-epoch") and name.endswith(".params")):
                continue
            numbers = re.fullmatch(r"epoch(\d+)batch(\d+)\.params", name[len(self.model_prefix) + 1:])
            if numbers is None:
                raise ValueError(f"[CheckpointHandler] Error parsing checkpoint file {name!r}, please check your checkpoints "
                                 "have the format: {model_name}-epoch{epoch_number}batch{batch_number}.params, there should "
                                 "also be a .states file for each .params file")
            found.append(tuple(map(int, numbers.groups())))
        return max(found, default=None)


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends training when a metric no longer improves.

    Parameters
    ----------
    monitor : EvalMetric
        The metric, from the estimator's `train_metrics` or `val_metrics`.
    min_delta : float
        Changes that are no greater than this do not count.
    patience : int
        For how many epochs in a row the metric may fail to improve.
    mode : str
        'min' if smaller values are better, 'max' if greater ones are; 'auto' is 'max' with a
        warning.
    baseline : float, optional
        The value that the metric must beat at first.

    Raises
    ------
    ValueError
        if `monitor` is no metric, or a composite one.

    Examples
    --------
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> stopper = mx.gluon.contrib.estimator.EarlyStoppingHandler(
    ...     estimator.train_metrics[0], patience=2, mode='max')
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=100, event_handlers=[stopper])
    >>> stopper.stop_training, stopper.current_epoch < 100
    (True, True)
    """

    def __init__(self, monitor, min_delta=0, patience=0, mode="auto", baseline=None):
        if not isinstance(monitor, EvalMetric):
            raise ValueError(f"[EarlyStoppingHandler] Please provide {_METRIC_OBJECTS}")
        if isinstance(monitor, CompositeEvalMetric):
            raise ValueError("[EarlyStoppingHandler] CompositeEvalMetric is not supported for EarlyStoppingHandler, please "
                             "specify a simple metric instead.")
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.min_delta = min_delta
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.monitor_op = _comparison("EarlyStopping", mode, monitor)
        if self.monitor_op is numpy.less:
            self.min_delta = -self.min_delta

    def train_begin(self, estimator, *args, **kwargs):
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        if self.baseline is not None:
            self.best = self.baseline
        else:
            self.best = numpy.inf if self.monitor_op is numpy.less else -numpy.inf

    def epoch_end(self, estimator, *args, **kwargs):
        name, value = self.monitor.get()
        if numpy.isnan(value):
            warnings.warn(f"{name} is not updated, make sure you pass {_METRIC_OBJECTS}", RuntimeWarning, stacklevel=3)
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best = value
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator, *args, **kwargs):
        if self.stop_training:
            # the word is that of 1.9.1, for programs that read logs
            estimator.logger.info("[Epoch %d] EarlyStoppingHanlder: early stopping due to %s not improving",
                                  self.stopped_epoch, self.monitor.get()[0])


class GradientUpdateHandler(BatchEnd):
    """Updates the weights after each batch: ``trainer.step`` with the number of losses.

    Gradients of several batches are added up with Parameters of ``grad_req='add'`` and a handler of
    one's own that is derived from this one.

    >>> class EveryFourth(GradientUpdateHandler):
    ...     done = 0
    ...     def batch_end(self, estimator, *args, **kwargs):
    ...         self.done += 1
    ...         if self.done % 4 == 0:
    ...             estimator.trainer.step(4 * len(kwargs['loss'][0]))
    ...             estimator.net.collect_params().zero_grad()

    Parameters
    ----------
    priority : int
        Handlers with a lower one are called first, before the weights change.
    """

    def __init__(self, priority=-2000):
        self.priority = priority

    def batch_end(self, estimator, *args, **kwargs):
        loss = kwargs["loss"]
        estimator.trainer.step(sum(one.shape[0] if one.shape else 1 for one in (loss if isinstance(loss, list) else [loss])))
