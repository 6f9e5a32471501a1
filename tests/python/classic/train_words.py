"""A word-level language model with Gluon, as scripts of 1.x have it: truncated
back-propagation through time.

python train_words.py --data . --model lstm --tied
"""

import argparse
import math
import os
import time

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn


class Dictionary(object):
    def __init__(self):
        self.word2idx, self.idx2word = {}, []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


class Corpus(object):
    def __init__(self, path):
        self.dictionary = Dictionary()
        self.train, self.valid, self.test = (
            self.tokenize(os.path.join(path, 'wiki.%s.txt' % part))
            for part in ('train', 'valid', 'test')
        )

    def tokenize(self, path):
        assert os.path.exists(path)
        with open(path, 'r') as f:
            ids = [
                self.dictionary.add_word(word) for line in f for word in line.split() + ['<eos>']
            ]
        return mx.nd.array(ids, dtype='int32')


class RNNModel(gluon.Block):
    def __init__(
        self,
        mode,
        vocab_size,
        num_embed,
        num_hidden,
        num_layers,
        dropout=0.5,
        tie_weights=False,
        **kwargs,
    ):
        super(RNNModel, self).__init__(**kwargs)
        with self.name_scope():
            self.drop = nn.Dropout(dropout)
            self.encoder = nn.Embedding(
                vocab_size, num_embed, weight_initializer=mx.init.Uniform(0.1)
            )
            shared = dict(num_layers=num_layers, dropout=dropout, input_size=num_embed)
            if mode == 'rnn_relu':
                self.rnn = rnn.RNN(num_hidden, activation='relu', **shared)
            elif mode == 'rnn_tanh':
                self.rnn = rnn.RNN(num_hidden, activation='tanh', **shared)
            elif mode == 'lstm':
                self.rnn = rnn.LSTM(num_hidden, **shared)
            elif mode == 'gru':
                self.rnn = rnn.GRU(num_hidden, **shared)
            else:
                raise ValueError(
                    'Invalid mode %s. Options are rnn_relu, rnn_tanh, lstm, and gru' % mode
                )
            if tie_weights:
                self.decoder = nn.Dense(vocab_size, in_units=num_hidden, params=self.encoder.params)
            else:
                self.decoder = nn.Dense(vocab_size, in_units=num_hidden)
            self.num_hidden = num_hidden

    def forward(self, inputs, hidden):
        emb = self.drop(self.encoder(inputs))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output.reshape((-1, self.num_hidden)))
        return decoded, hidden

    def begin_state(self, *args, **kwargs):
        return self.rnn.begin_state(*args, **kwargs)


def batchify(data, batch_size):
    nbatch = data.shape[0] // batch_size
    return data[: nbatch * batch_size].reshape((batch_size, nbatch)).T


def get_batch(source, i, bptt):
    seq_len = min(bptt, source.shape[0] - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape((-1,))


def detach(hidden):
    if isinstance(hidden, (tuple, list)):
        return [i.detach() for i in hidden]
    return hidden.detach()


def set_numbers(model):
    """The same weights with every release, whatever its random numbers."""
    for i, param in enumerate(model.collect_params().values()):
        if param.name.endswith('weight'):
            param.set_data(mx.nd.array(np.random.RandomState(i).uniform(-0.2, 0.2, param.shape)))


class Training(object):
    def __init__(self, args, context):
        self.args, self.context = args, context
        self.corpus = Corpus(args.data)
        self.vocabulary = len(self.corpus.dictionary)
        self.model = RNNModel(
            args.model,
            self.vocabulary,
            args.emsize,
            args.nhid,
            args.nlayers,
            args.dropout,
            args.tied,
        )
        self.model.collect_params().initialize(mx.init.Xavier(), ctx=context)
        if args.numbers:
            set_numbers(self.model)
        if args.hybridize:
            self.model.hybridize()
        self.trainer = gluon.Trainer(
            self.model.collect_params(), 'sgd', {'learning_rate': args.lr, 'momentum': 0, 'wd': 0}
        )
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def evaluate(self, source):
        total, ntotal = 0.0, 0
        hidden = self.model.begin_state(
            func=mx.nd.zeros, batch_size=self.args.batch_size, ctx=self.context
        )
        for i in range(0, source.shape[0] - 1, self.args.bptt):
            data, target = get_batch(source, i, self.args.bptt)
            output, hidden = self.model(data, hidden)
            loss = self.loss(output, target)
            total += mx.nd.sum(loss).asscalar()
            ntotal += loss.size
        return total / ntotal

    def epoch(self, number, source):
        total = all_total = 0.0
        start = time.time()
        hidden = self.model.begin_state(
            func=mx.nd.zeros, batch_size=self.args.batch_size, ctx=self.context
        )
        for ibatch, i in enumerate(range(0, source.shape[0] - 1, self.args.bptt)):
            data, target = get_batch(source, i, self.args.bptt)
            hidden = detach(hidden)
            with autograd.record():
                output, hidden = self.model(data, hidden)
                loss = mx.nd.sum(self.loss(output, target))
                (loss / (self.args.bptt * self.args.batch_size)).backward()
            grads = [p.grad(self.context) for p in self.model.collect_params().values()]
            norm = gluon.utils.clip_global_norm(grads, self.args.clip)
            self.trainer.step(1)
            total += loss.asscalar()
            all_total += loss.asscalar()
            if ibatch % self.args.log_interval == 0 and ibatch > 0:
                cur = total / self.args.bptt / self.args.batch_size / self.args.log_interval
                print(
                    '[Epoch %d Batch %d] loss %.4f, ppl %.4f, norm %.4f'
                    % (number, ibatch, cur, math.exp(cur), norm)
                )
                total = 0.0
        self.seconds = time.time() - start

    def run(self):
        args = self.args
        train, val, test = (
            batchify(part, args.batch_size).as_in_context(self.context)
            for part in (self.corpus.train, self.corpus.valid, self.corpus.test)
        )
        best = float('inf')
        for number in range(args.epochs):
            self.epoch(number, train)
            loss = self.evaluate(val)
            print(
                '[Epoch %d] valid loss %.4f, valid ppl %.4f, lr %g'
                % (number, loss, math.exp(loss), self.trainer.learning_rate)
            )
            if loss < best - 0.02:
                best = loss
                self.model.save_parameters(args.save)
            else:
                self.trainer.set_learning_rate(self.trainer.learning_rate * 0.25)
        self.model.load_parameters(args.save, self.context)
        loss = self.evaluate(test)
        print('best test loss %.4f, test ppl %.4f' % (loss, math.exp(loss)))


def main():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add('--model', default='lstm')
    add('--data', default='.')
    add('--emsize', type=int, default=16)
    add('--nhid', type=int, default=16)
    add('--nlayers', type=int, default=2)
    add('--lr', type=float, default=1.0)
    add('--clip', type=float, default=0.2)
    add('--epochs', type=int, default=3)
    add('--batch-size', type=int, default=8)
    add('--bptt', type=int, default=10)
    add('--dropout', type=float, default=0.2)
    add('--tied', action='store_true')
    add('--hybridize', action='store_true')
    add('--numbers', action='store_true')
    add('--log-interval', type=int, default=8)
    add('--save', default='model.params')
    Training(parser.parse_args(), mx.cpu()).run()


if __name__ == '__main__':
    main()
