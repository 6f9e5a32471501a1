#!/usr/bin/env python3
"""A language model of words: an LSTM that says how likely each next word is.

    python examples/language_model.py [--text FILE] [--epochs N] [--gpu]

The text is cut into streams that are read side by side. Hidden states are carried from one part of
a stream to the next, and gradients are not. The last tenth of the text is held out.
"""
import argparse
import collections
import math
import os

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

TEXT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "harbour.txt")


class LanguageModel(gluon.Block):
    """Embedding, LSTM, and an output layer that shares the embedding's weights."""

    def __init__(self, words, size, layers, dropout, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.dropout = nn.Dropout(dropout)
            self.embedding = nn.Embedding(words, size, weight_initializer=mx.init.Uniform(0.1))
            self.lstm = rnn.LSTM(size, layers, dropout=dropout, input_size=size)
            self.out = nn.Dense(words, in_units=size, flatten=False, params=self.embedding.params)

    def forward(self, words, state):
        y, state = self.lstm(self.dropout(self.embedding(words)), state)
        return self.out(self.dropout(y)), state


def streams(numbers, batch):
    """The text as `batch` streams side by side: (words of a stream, batch)."""
    length = len(numbers) // batch
    return np.array(numbers[:length * batch], dtype="float32").reshape(batch, length).T


def parts(columns, steps):
    """(words, the words that follow them) of `steps` words each."""
    for start in range(0, len(columns) - 1, steps):
        count = min(steps, len(columns) - 1 - start)
        yield columns[start:start + count], columns[start + 1:start + count + 1]


def perplexity(net, columns, steps, loss_of, ctx):
    state = net.lstm.begin_state(columns.shape[1], ctx=ctx)
    total, count = 0.0, 0
    for words, following in parts(columns, steps):
        scores, state = net(mx.nd.array(words, ctx=ctx), state)
        loss = loss_of(scores.reshape((-3, -1)), mx.nd.array(following, ctx=ctx).reshape((-1,)))
        total += loss.sum().asscalar()
        count += loss.size
    return math.exp(total / count)


def write(net, numbers, words, count, ctx, temperature=0.7):
    """A text of `count` words that begins with `words`."""
    names = {number: word for word, number in numbers.items()}
    state = net.lstm.begin_state(1, ctx=ctx)
    for position in range(len(words) + count):
        word = mx.nd.array([[numbers[words[position]]]], ctx=ctx)
        scores, state = net(word, state)
        if position + 1 >= len(words):
            shares = mx.nd.softmax(scores[0, 0] / temperature)
            words = words + [names[int(mx.nd.sample_multinomial(shares).asscalar())]]
    return " ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", default=TEXT, help="words with spaces between them")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20, help="words that gradients go back")
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--dropout", type=float, default=0.4)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(8)
    np.random.seed(8)

    with open(args.text, encoding="utf-8") as file:
        text = file.read().split()
    cut = len(text) * 9 // 10
    counts = collections.Counter(text[:cut])
    numbers = {word: number for number, word in enumerate(["<unknown>"] + sorted(counts))}
    train, test = ([numbers.get(word, 0) for word in part] for part in (text[:cut], text[cut:]))
    shares = np.bincount(train, minlength=len(numbers)) + 1.0
    of_shares = math.exp(-np.mean(np.log(shares[test] / shares.sum())))
    train, test = streams(train, args.batch), streams(test, 1)

    net = LanguageModel(len(numbers), args.size, args.layers, args.dropout)
    net.initialize(mx.init.Xavier(), ctx=ctx)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.004, "wd": 1e-5})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    progress = tqdm(range(args.epochs), unit="epoch")
    for epoch in progress:
        trainer.set_learning_rate(0.004 * (1 - epoch / args.epochs))
        state = net.lstm.begin_state(args.batch, ctx=ctx)
        total, count = 0.0, 0
        for words, following in parts(train, args.steps):
            words, following = mx.nd.array(words, ctx=ctx), mx.nd.array(following, ctx=ctx)
            state = [s.detach() for s in state]
            with autograd.record():
                scores, state = net(words, state)
                loss = loss_of(scores.reshape((-3, -1)), following.reshape((-1,))).mean()
            loss.backward()
            grads = [p.grad(ctx) for p in net.collect_params().values()]
            gluon.utils.clip_global_norm(grads, 1.0)
            trainer.step(1)
            total += loss.asscalar() * words.size
            count += words.size
        progress.set_postfix(perplexity="%.1f" % math.exp(total / count))

    print(write(net, numbers, ["when", "the", "wind"], 40, ctx))
    print("language model: held-out perplexity %.2f (of the words' shares: %.2f; %d words)"
          % (perplexity(net, test, args.steps, loss_of, ctx), of_shares, len(numbers)))


if __name__ == "__main__":
    main()
