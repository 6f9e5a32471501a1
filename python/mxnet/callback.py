"""Callbacks for training loops: checkpoints, logging of metrics and speed.

A batch callback is called with a :class:`mxnet.model.BatchEndParam` after each batch, an epoch
callback with ``(epoch, symbol, arg_params, aux_params)`` after each epoch.
"""
import logging
import math
import time

__all__ = ["LogValidationMetricsCallback", "ProgressBar", "Speedometer", "do_checkpoint", "log_train_metric",
           "module_checkpoint"]


def do_checkpoint(prefix, period=1):
    """An epoch callback that writes ``prefix-symbol.json`` and ``prefix-NNNN.params`` every
    `period` epochs.

    >>> save = mx.callback.do_checkpoint('net', period=2)
    >>> net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=1, name='fc')
    >>> save(1, net, {'fc_weight': mx.nd.ones((1, 2)), 'fc_bias': mx.nd.zeros(1)}, {})
    >>> symbol, arg_params, aux_params = mx.model.load_checkpoint('net', 2)
    >>> arg_params['fc_weight'].asnumpy()
    array([[1., 1.]], dtype=float32)
    """
    period = max(1, int(period))

    def _callback(iter_no, sym, arg, aux):
        if (iter_no + 1) % period == 0:
            from ._training.model import save_checkpoint
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)
    return _callback


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """An epoch callback that saves module `mod` (and its optimizer's states, if asked) every
    `period` epochs.

    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, name='fc')
    >>> module = mx.mod.Module(net, label_names=None)
    >>> module.bind([('data', (4, 2))])
    >>> module.init_params()
    >>> save = mx.callback.module_checkpoint(module, 'fc', period=2)
    >>> save(1)
    >>> again = mx.mod.Module.load('fc', 2, label_names=None)
    >>> again.symbol.list_outputs()
    ['fc_output']
    """
    period = max(1, int(period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)
    return _callback


def log_train_metric(period, auto_reset=False):
    """A batch callback that logs the metric every `period` batches, as
    ``Iter[0] Batch[10] Train-accuracy=1.000000``, and then resets it if `auto_reset`.

    >>> from mxnet.model import BatchEndParam
    >>> metric = mx.metric.create('acc')
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([0, 1])])
    >>> report = mx.callback.log_train_metric(period=10)
    >>> report(BatchEndParam(epoch=0, nbatch=10, eval_metric=metric, locals=None))
    """
    def _callback(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()
    return _callback


class Speedometer:
    """Batch callback: logs samples per second, and the metric, every `frequent` batches, as
    ``Epoch[0] Batch [0-10]	Speed: 8201.33 samples/sec	accuracy=0.750000``.

    Parameters
    ----------
    batch_size : int
        Samples in a batch.
    frequent : int
        Batches between two lines.
    auto_reset : bool
        Start the metric afresh after each line.

    Examples
    --------
    >>> from mxnet.model import BatchEndParam
    >>> metric = mx.metric.create('acc')
    >>> report = mx.callback.Speedometer(batch_size=32, frequent=10)
    >>> for batch in range(11):
    ...     report(BatchEndParam(epoch=0, nbatch=batch, eval_metric=metric, locals=None))
    """

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.init = False
        self.tic = 0
        self.last_count = 0

    def __call__(self, param):
        count = param.nbatch
        if self.last_count > count:     # a new epoch has begun
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
            return
        if count % self.frequent:
            return
        elapsed = time.time() - self.tic
        speed = self.frequent * self.batch_size / elapsed if elapsed > 0 else float("inf")
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
        else:
            named = param.eval_metric.get_name_value()
            first = 0
            if self.auto_reset:
                param.eval_metric.reset_local()
                first = count - self.frequent
            values = [part for pair in named for part in pair]
            logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(named),
                         param.epoch, first, count, speed, *values)
        self.tic = time.time()


class ProgressBar:
    """Batch callback: logs a bar of `length` characters that is full after `total` batches, as
    ``[====----] 50%``.

    >>> from mxnet.model import BatchEndParam
    >>> bar = mx.callback.ProgressBar(total=4, length=8)
    >>> bar(BatchEndParam(epoch=0, nbatch=2, eval_metric=None, locals=None))
    """

    def __init__(self, total, length=80):
        self.bar_len = length
        self.total = total

    def __call__(self, param):
        done = param.nbatch / float(self.total)
        filled = int(round(self.bar_len * done))
        logging.info("[%s] %s%s\r", "=" * filled + "-" * (self.bar_len - filled), math.ceil(100 * done), "%")


class LogValidationMetricsCallback:
    """Callback after an evaluation: logs each value of the metric, as
    ``Epoch[3] Validation-accuracy=1.000000``.

    >>> from mxnet.model import BatchEndParam
    >>> metric = mx.metric.create('acc')
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([0, 1])])
    >>> report = mx.callback.LogValidationMetricsCallback()
    >>> report(BatchEndParam(epoch=3, nbatch=0, eval_metric=metric, locals=None))
    """

    def __call__(self, param):
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
