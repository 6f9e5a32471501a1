"""A language model of words as scripts of 1.x train it: truncated back-propagation with detached
states, gradients clipped by their norm, tied weights, and texts from local files.

    python language_model_programs.py data/language_model.json     under MXNet 1.9.1: records what test_language_model.py expects
"""
import json
import os
import random
import sys
import tempfile

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn
from mxnet.gluon.contrib.data import text

BATCH, STEPS, WIDTH = 4, 5, 12


def write_texts(folder):
    rng, words = random.Random(5), [f'w{i}' for i in range(40)]
    for name, lines in (('train', 80), ('valid', 30)):
        with open(os.path.join(folder, f'wiki.{name}.tokens'), 'w') as out:
            for i in range(lines):
                word, line = rng.randrange(40), []
                for _ in range(rng.randrange(3, 12)):
                    line.append(words[word])
                    word = (word * 7 + rng.randrange(3)) % 40
                out.write(f" {' '.join(line)} \n" if i % 7 else ' \n')


class Model(gluon.HybridBlock):
    def __init__(self, kind, size, layers, tied, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.drop = nn.Dropout(0)
            self.encoder = nn.Embedding(size, WIDTH, weight_initializer=mx.init.Uniform(0.1))
            made = {'lstm': rnn.LSTM, 'gru': rnn.GRU, 'rnn': rnn.RNN}[kind]
            self.rnn = made(WIDTH, layers, input_size=WIDTH)
            self.decoder = nn.Dense(size, in_units=WIDTH, **({'params': self.encoder.params} if tied else {}))

    def hybrid_forward(self, F, inputs, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(inputs)), hidden)
        return self.decoder(F.reshape(self.drop(output), (-1, WIDTH))), hidden

    def begin_state(self, *args, **kwargs):
        return self.rnn.begin_state(*args, **kwargs)


def detach(hidden):
    return [detach(part) for part in hidden] if isinstance(hidden, (tuple, list)) else hidden.detach()


def batches(data):
    sampler = gluon.contrib.data.IntervalSampler(len(data), len(data) // BATCH)
    return gluon.data.DataLoader(data, batch_size=BATCH, sampler=sampler, last_batch='discard')


def evaluate(model, loss, data):
    total, count = 0., 0
    hidden = model.begin_state(func=mx.nd.zeros, batch_size=BATCH)
    for x, y in data:
        output, hidden = model(x.T, hidden)
        errors = loss(output, y.T.reshape((-1, 1)))
        total, count = total + errors.sum().asscalar(), count + errors.size
    return float(total / count)


def train(folder, kind='lstm', layers=2, tied=False, hybridize=None, optimizer='sgd', lr=1., clip=.2, epochs=2):
    """Mean loss, last norm of the gradients, and loss of the validation, for each epoch."""
    write_texts(folder)
    train_data = text.WikiText2(folder, 'train', seq_len=STEPS)
    held_out = batches(text.WikiText2(folder, 'validation', vocab=train_data.vocabulary, seq_len=STEPS))
    model = Model(kind, len(train_data.vocabulary), layers, tied, prefix='model_')
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    if hybridize is not None:
        model.hybridize(**hybridize)
        loss.hybridize(**hybridize)
    model.initialize(mx.init.Xavier())
    rng = np.random.RandomState(3)
    for _, param in sorted(model.collect_params().items()):
        param.set_data(mx.nd.array(rng.uniform(-.1, .1, param.shape)))
    trainer = gluon.Trainer(model.collect_params(), optimizer, {'learning_rate': lr})
    best, found = float('inf'), []
    for _ in range(epochs):
        losses, hidden = [], model.begin_state(func=mx.nd.zeros, batch_size=BATCH)
        for x, y in batches(train_data):
            hidden = detach(hidden)
            with autograd.record():
                output, hidden = model(x.T, hidden)
                mean = loss(output, y.T.reshape((-1,))).mean()
            mean.backward()
            norm = gluon.utils.clip_global_norm([p.grad() for p in model.collect_params().values()], clip)
            trainer.step(1)
            losses.append(float(mean.asscalar()))
        value = evaluate(model, loss, held_out)
        found.append([float(np.mean(losses)), float(norm), value])
        if value < best:
            best = value
            model.save_parameters(os.path.join(folder, 'model.params'))
        else:
            trainer.set_learning_rate(trainer.learning_rate * .25)
    model.load_parameters(os.path.join(folder, 'model.params'), mx.cpu())
    return found, evaluate(model, loss, held_out)


PROGRAMS = {
    'lstm': {}, 'tied': {'tied': True}, 'gru, hybridized': {'kind': 'gru', 'hybridize': {}},
    'rnn, static memory': {'kind': 'rnn', 'layers': 1, 'hybridize': {'static_alloc': True, 'static_shape': True}},
    'tied and hybridized, large steps': {'tied': True, 'hybridize': {}, 'lr': 5., 'epochs': 3},
    'adam': {'optimizer': 'adam', 'lr': .01, 'tied': True, 'layers': 1}, 'no clipping': {'clip': 1000., 'lr': .1}}


if __name__ == '__main__':
    text.check_sha1 = lambda *_: True       # 1.9.1 fetches the published files otherwise
    recorded = {}
    for name, options in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as place:
            recorded[name] = train(place, **options)
    with open(sys.argv[1], 'w') as file:
        json.dump(recorded, file, indent=0)
