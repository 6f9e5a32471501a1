"""Trainings with an Estimator, as users wrote them, and what they log.

    python estimator_programs.py data/estimator.json     under MXNet 1.9.1: records the lines that test_estimator.py expects
"""
import json
import logging
import os
import re
import sys
import tempfile
import warnings

import numpy as np

import mxnet as mx
from mxnet import gluon
from mxnet.gluon.contrib.estimator import (BatchBegin, BatchEnd, CheckpointHandler, EarlyStoppingHandler, EpochBegin,
                                           EpochEnd, Estimator, GradientUpdateHandler, LoggingHandler, TrainBegin,
                                           TrainEnd, ValidationHandler)

RNG = np.random.RandomState(0)
X = RNG.rand(20, 5).astype('float32')
Y = RNG.randint(0, 3, 20).astype('float32')


def data(batch_size=6):
    return gluon.data.DataLoader(gluon.data.ArrayDataset(X, Y), batch_size=batch_size)


def network(contexts=None, hybridize=True):
    net = gluon.nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(gluon.nn.Dense(8, activation='relu', in_units=5), gluon.nn.Dense(3, in_units=8))
    net.initialize(ctx=contexts)
    if hybridize:
        net.hybridize()
    rng = np.random.RandomState(1)
    for param in net.collect_params().values():
        param.set_data(mx.nd.array(rng.uniform(-1, 1, param.shape)))
    return net


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        line = re.sub(r'(in|total|interval:) [0-9.]+s', r'\1 Ts', record.getMessage())
        self.lines.append(line.replace(tempfile.gettempdir(), 'TMP'))


class Told(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Writes its name and the event."""

    def __init__(self, name, priority=None, stop=None):
        self.name, self.stop = name, stop
        if priority is not None:
            self.priority = priority

    def train_begin(self, estimator, *args, **kwargs):
        estimator.logger.info('%s train_begin %s', self.name, sorted(kwargs))

    def train_end(self, estimator, *args, **kwargs):
        estimator.logger.info('%s train_end %s', self.name, sorted(kwargs))

    def epoch_begin(self, estimator, *args, **kwargs):
        estimator.logger.info('%s epoch_begin %s', self.name, sorted(kwargs))

    def epoch_end(self, estimator, *args, **kwargs):
        estimator.logger.info('%s epoch_end %s', self.name, sorted(kwargs))
        return self.stop == 'epoch'

    def batch_begin(self, estimator, *args, **kwargs):
        estimator.logger.info('%s batch_begin %s', self.name, sorted(kwargs))

    def batch_end(self, estimator, *args, **kwargs):
        estimator.logger.info('%s batch_end %s', self.name, sorted(kwargs))
        return self.stop == 'batch'


class Files(EpochEnd, BatchEnd):
    """Writes what the folder holds after each epoch."""

    priority = 3000

    def __init__(self, folder):
        self.folder = folder

    def epoch_end(self, estimator, *args, **kwargs):
        estimator.logger.info('files %s', sorted(os.listdir(self.folder)))


class EverySecond(GradientUpdateHandler):
    done = 0

    def batch_end(self, estimator, *args, **kwargs):
        self.done += 1
        if self.done % 2 == 0:
            estimator.trainer.step(2 * len(kwargs['loss'][0]))
            estimator.net.collect_params().zero_grad()


def accumulate(estimator):
    for param in estimator.net.collect_params().values():
        param.grad_req = 'add'
    return [EverySecond()]


def train(handlers=(), val_data=None, contexts=None, batch_size=6, hybridize=True, optimizer='sgd', **kwargs):
    """Lines, the sum of a weight, and the number of updates of one training."""
    net = network(contexts, hybridize)
    trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': .1})
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer, context=contexts)
    lines = Lines()
    estimator.logger.handlers[:] = [lines]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        handlers = list(handlers(estimator) if callable(handlers) else handlers)
        try:
            estimator.fit(data(batch_size), val_data, event_handlers=handlers, **kwargs)
        except Exception as error:
            lines.lines.append('%s' % [c.__name__ for c in type(error).__mro__ if c.__name__ in ('ValueError', 'AssertionError')])
    weight = sum(float(p.list_data()[0].asnumpy().sum()) for p in net.collect_params().values())
    return {'lines': lines.lines, 'weight': weight, 'updates': trainer.optimizer.num_update}


def checkpoints(*runs):
    """Several trainings one after the other with the same folder; their results."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for options in runs:
            options = dict(options)
            own = options.pop('checkpoint')

            def handlers(estimator, own=own):
                arguments = {key: (value(estimator) if callable(value) else value) for key, value in own.items()}
                return [CheckpointHandler(folder, **arguments), Files(folder)]
            found.append(train(handlers, **options))
        for run in found:
            run['lines'] = [line.replace(folder.replace(tempfile.gettempdir(), 'TMP'), 'DIR') for line in run['lines']]
        return found


def train_loss(estimator):
    return estimator.train_metrics[1]


PROGRAMS = {
    'plain': lambda: train(epochs=2),
    'validation': lambda: train(val_data=data(4), epochs=2),
    'batches': lambda: train(val_data=data(10), batches=6),
    'log each batch': lambda: train(lambda e: [LoggingHandler(1, e.train_metrics)], epochs=1),
    'log each second batch': lambda: train(lambda e: [LoggingHandler(2, e.train_metrics + e.val_metrics)],
                                           val_data=data(4), epochs=2),
    'log nothing': lambda: train([LoggingHandler(2)], val_data=data(4), epochs=1),
    'validation by batches': lambda: train(lambda e: [ValidationHandler(data(10), e.evaluate, None, 2)], epochs=1),
    'validation each second epoch': lambda: train(lambda e: [ValidationHandler(data(10), e.evaluate, 2)], epochs=2),
    'two contexts': lambda: train(contexts=[mx.cpu(0), mx.cpu(1)], batch_size=10, epochs=2),
    'priorities': lambda: train([Told('a', 5), Told('b', -5), Told('c'), Told('d', -1500), Told('e', -3000), Told('f', 5)],
                                batches=2),
    'a batch ends the epoch': lambda: train([Told('a', stop='batch'), Told('b')], epochs=2),
    'an epoch ends all': lambda: train([Told('a', stop='epoch'), Told('b')], epochs=3),
    'accumulated gradients': lambda: train(accumulate, epochs=2),
    'early stopping': lambda: train(lambda e: [EarlyStoppingHandler(e.train_metrics[1], mode='max', patience=2)], epochs=6),
    'early stopping by delta': lambda: train(lambda e: [EarlyStoppingHandler(e.train_metrics[1], 1, 1, 'min')], epochs=6),
    'early stopping by validation': lambda: train(lambda e: [EarlyStoppingHandler(e.val_metrics[0], mode='min', patience=1)],
                                                  val_data=data(), epochs=6),
    'checkpoints': lambda: checkpoints(
        dict(checkpoint={}, epochs=2), dict(checkpoint={'resume_from_checkpoint': True}, epochs=4),
        dict(checkpoint={'resume_from_checkpoint': True}, epochs=2), dict(checkpoint={}, epochs=1)),
    'checkpoints by batches': lambda: checkpoints(
        dict(checkpoint={'batch_period': 3, 'epoch_period': None}, epochs=2),
        dict(checkpoint={'batch_period': 3, 'epoch_period': None, 'resume_from_checkpoint': True}, batches=14),
        dict(checkpoint={'batch_period': 3, 'epoch_period': None, 'resume_from_checkpoint': True}, epochs=3),
        dict(checkpoint={'batch_period': 3, 'epoch_period': None, 'resume_from_checkpoint': True}, batches=3)),
    'few checkpoints': lambda: checkpoints(
        dict(checkpoint={'batch_period': 2, 'max_checkpoints': 3, 'verbose': 1}, epochs=3)),
    'best checkpoint': lambda: checkpoints(
        dict(checkpoint={'monitor': train_loss, 'save_best': True, 'mode': 'min', 'model_prefix': 'm'}, epochs=2)),
    'not hybridized': lambda: checkpoints(dict(checkpoint={'epoch_period': 2}, epochs=2, hybridize=False)),
}


if __name__ == '__main__':
    with open(sys.argv[1], 'w') as file:
        json.dump({name: program() for name, program in PROGRAMS.items()}, file, indent=0, sort_keys=True)
