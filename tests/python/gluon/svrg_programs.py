"""Trainings with an SVRGModule.

    python svrg_programs.py data/contrib_svrg.json     under MXNet 1.9.1: records what test_contrib_svrg.py expects

They end before the second mean of gradients: 1.9.1 adds a part of the first one to it.
"""
import json
import logging
import sys

import numpy as np

import mxnet as mx
from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule

RNG = np.random.RandomState(0)
X = RNG.rand(32, 4).astype('float32')
Y = X @ np.array([1, 2, -3, .5], 'float32')
START = {'fc_weight': np.array([[.1, .2, .3, .4]], 'float32'), 'fc_bias': np.array([.1], 'float32')}


def data(batch_size=8):
    return mx.io.NDArrayIter(X, Y, batch_size, label_name='label')


def module(update_freq=4, **kwargs):
    output = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, name='fc')
    logger = logging.getLogger('svrg')
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return SVRGModule(mx.sym.LinearRegressionOutput(output, mx.sym.var('label'), name='out'), label_names=['label'],
                      update_freq=update_freq, logger=logger, **kwargs)


def weights(trained):
    return {name: value.asnumpy().ravel().tolist() for name, value in trained.get_params()[0].items()}


def train(update_freq=4, num_epoch=4, context=None, **kwargs):
    """The error of each epoch, and the weights at the end."""
    errors = []

    def note(param):
        if param.nbatch == 3:
            errors.append(float(param.eval_metric.get()[1]))

    made = module(update_freq, **({'context': context} if context else {}))
    made.fit(data(), eval_metric='mse', arg_params={name: mx.nd.array(value) for name, value in START.items()},
             initializer=mx.init.Zero(), num_epoch=num_epoch, batch_end_callback=note, **kwargs)
    return [errors, weights(made)]


PROGRAMS = {
    'sgd': {'optimizer_params': {'learning_rate': .05}}, 'no store': {'kvstore': None},
    'momentum': {'optimizer_params': {'learning_rate': .05, 'momentum': .9}},
    'adam': {'optimizer': 'adam', 'optimizer_params': {'learning_rate': .05}},
    'nag': {'optimizer': 'nag', 'optimizer_params': {'learning_rate': .05, 'momentum': .9}},
    'decay': {'optimizer_params': {'learning_rate': .05, 'momentum': .9, 'wd': .1}},
    'rmsprop': {'optimizer': 'rmsprop'}, 'longer period': {'update_freq': 7, 'num_epoch': 5},
    'default': {}}


if __name__ == '__main__':
    with open(sys.argv[1], 'w') as file:
        json.dump({name: train(**kwargs) for name, kwargs in PROGRAMS.items()}, file, indent=0)
