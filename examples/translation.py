#!/usr/bin/env python3
"""Translation with a transformer, word by word.

    python examples/translation.py [--pairs FILE.tsv] [--steps N] [--gpu]

Each line of the file has a sentence, a tab, and its translation. Without --pairs these are English
and German number words: "one hundred twenty one", "ein hundert ein und zwanzig".
"""
import argparse
import os

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

PAIRS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "numbers.tsv")


def numbered(sentences):
    """(rows of word numbers from 1, filled up with 0; the words' numbers)."""
    words = dict((word, i + 1) for i, word in enumerate(sorted(set(sum(sentences, [])))))
    rows = np.zeros((len(sentences), max(map(len, sentences))), dtype="float32")
    for row, sentence in zip(rows, sentences):
        row[:len(sentence)] = [words[word] for word in sentence]
    return rows, words


class Attention(gluon.HybridBlock):
    def __init__(self, size, heads):
        super().__init__()
        self.heads, self.scale = heads, (size // heads) ** -0.5
        with self.name_scope():
            self.query, self.key, self.value, self.out = (
                nn.Dense(size, flatten=False, use_bias=False) for _ in range(4))

    def hybrid_forward(self, F, x, memory, hidden):
        """`hidden`: 1 for what must not be seen; (batch, 1, 1 or steps of x, steps of memory)."""
        def split(y):       # (batch, steps, size) to (batch * heads, steps, size / heads)
            y = F.transpose(F.reshape(y, (0, 0, -4, self.heads, -1)), (0, 2, 1, 3))
            return F.reshape(y, (-3, 0, 0))
        scores = F.batch_dot(split(self.query(x)), split(self.key(memory)), transpose_b=True)
        scores = F.reshape(scores * self.scale, (-4, -1, self.heads, 0, 0))
        shares = F.softmax(F.broadcast_add(scores, -1e4 * hidden), axis=-1)
        y = F.batch_dot(F.reshape(shares, (-3, 0, 0)), split(self.value(memory)))
        y = F.transpose(F.reshape(y, (-4, -1, self.heads, 0, 0)), (0, 2, 1, 3))
        return self.out(F.reshape(y, (0, 0, -3)))


class Layer(gluon.HybridBlock):
    def __init__(self, size, heads, decoder):
        super().__init__()
        with self.name_scope():
            self.within, self.norm1 = Attention(size, heads), nn.LayerNorm()
            self.across = Attention(size, heads) if decoder else None
            self.norm2 = nn.LayerNorm() if decoder else None
            self.norm3, self.wide = nn.LayerNorm(), nn.Dense(4 * size, "relu", flatten=False)
            self.narrow = nn.Dense(size, flatten=False)

    def hybrid_forward(self, F, x, hidden, memory=None, memory_hidden=None):
        y = self.norm1(x)
        x = x + self.within(y, y, hidden)
        if memory is not None:
            x = x + self.across(self.norm2(x), memory, memory_hidden)
        return x + self.narrow(self.wide(self.norm3(x)))


class Transformer(gluon.HybridBlock):
    def __init__(self, source_words, target_words, size=64, heads=4, layers=2, most=32):
        super().__init__()
        with self.name_scope():
            self.source = nn.Embedding(source_words, size)
            self.target = nn.Embedding(target_words, size)
            self.places = self.params.get("places", shape=(1, most, size), init=mx.init.Normal(0.1))
            self.encoder, self.decoder = nn.HybridSequential(), nn.HybridSequential()
            for _ in range(layers):
                self.encoder.add(Layer(size, heads, decoder=False))
                self.decoder.add(Layer(size, heads, decoder=True))
            self.norm, self.out = nn.LayerNorm(), nn.Dense(target_words, flatten=False)

    def hybrid_forward(self, F, source, target, later, places):
        empty = F.expand_dims(F.expand_dims(source == 0, 1), 1)
        x = F.broadcast_add(self.source(source), F.slice_like(places, source, axes=(1,)))
        for layer in self.encoder:
            x = layer(x, empty)
        y = F.broadcast_add(self.target(target), F.slice_like(places, target, axes=(1,)))
        for layer in self.decoder:
            y = layer(y, later, x, empty)
        return self.out(self.norm(y))


def later(steps, ctx):      # what a word must not see: 1 above the diagonal
    return mx.nd.array(np.triu(np.ones((1, 1, steps, steps)), 1), ctx=ctx)


def translate(net, source, length, begin, ctx):
    """The likeliest next word, again and again: rows of word numbers after `begin`."""
    source, target = mx.nd.array(source, ctx=ctx), mx.nd.full((len(source), 1), begin, ctx=ctx)
    for _ in range(length):
        scores = net(source, target, later(target.shape[1], ctx))[:, -1]
        target = mx.nd.concat(target, scores.argmax(axis=1, keepdims=True), dim=1)
    return target[:, 1:].asnumpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(9)
    np.random.seed(9)

    with open(args.pairs, encoding="utf-8") as file:
        pairs = np.random.permutation([line.rstrip("\n").split("\t") for line in file])
    source, source_words = numbered([pair[0].split() for pair in pairs])
    target, words = numbered([["<begin>"] + pair[1].split() + ["<end>"] for pair in pairs])
    seen = len(pairs) * 2 // 3           # the others are held out

    net = Transformer(len(source_words) + 1, len(words) + 1)
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=True)
    schedule = mx.lr_scheduler.CosineScheduler(args.steps, base_lr=2e-3, warmup_steps=50)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in tqdm(range(args.steps), unit="step"):
        rows = np.random.randint(0, seen, args.batch)
        x, y = mx.nd.array(source[rows], ctx=ctx), mx.nd.array(target[rows], ctx=ctx)
        with autograd.record():
            scores = net(x, y[:, :-1], later(y.shape[1] - 1, ctx))
            loss = loss_of(scores, y[:, 1:], mx.nd.expand_dims(y[:, 1:] > 0, 2))
        loss.backward()
        trainer.step(args.batch)

    test = slice(seen, seen + 500)
    guess = translate(net, source[test], target.shape[1] - 1, words["<begin>"], ctx)
    names = dict((number, word) for word, number in words.items())
    texts = [" ".join(names.get(word, "") for word in row).split(" <end>")[0] for row in guess]
    print("%s -> %s" % (pairs[seen][0], texts[0]))
    right = np.mean(np.array(texts) == pairs[test][:, 1])
    print("translation: %.4f of %d held-out sentences without a mistake" % (right, len(texts)))


if __name__ == "__main__":
    main()
