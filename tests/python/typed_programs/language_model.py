"""Word language model with LSTM, typed."""
import math
from typing import Optional

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn

State = list[nd.NDArray]


class RNNModel(gluon.Block):
    def __init__(self, vocab: int, embed: int, hidden: int, layers: int, dropout: float = 0.2, tie: bool = False) -> None:
        super().__init__()
        with self.name_scope():
            self.drop = nn.Dropout(dropout)
            self.encoder = nn.Embedding(vocab, embed, weight_initializer=mx.init.Uniform(0.1))
            self.rnn = rnn.LSTM(hidden, layers, dropout=dropout, input_size=embed)
            if tie:
                self.decoder = nn.Dense(vocab, in_units=hidden, params=self.encoder.params)
            else:
                self.decoder = nn.Dense(vocab, in_units=hidden)
            self.hidden = hidden

    def forward(self, inputs: nd.NDArray, hidden: State) -> tuple[nd.NDArray, State]:
        emb = self.drop(self.encoder(inputs))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output.reshape((-1, self.hidden)))
        return decoded, hidden

    def begin_state(self, batch_size: int, ctx: Optional[mx.Context] = None) -> State:
        return self.rnn.begin_state(batch_size=batch_size, ctx=ctx)


class Corpus:
    def __init__(self, text: str) -> None:
        self.words: dict[str, int] = {}
        ids = [self.words.setdefault(w, len(self.words)) for w in text.split()]
        self.data: nd.NDArray = nd.array(ids, dtype="int32")


def batchify(data: nd.NDArray, batch: int) -> nd.NDArray:
    n = data.shape[0] // batch
    return data[: n * batch].reshape((batch, n)).T


def get_batch(source: nd.NDArray, i: int, bptt: int) -> tuple[nd.NDArray, nd.NDArray]:
    length = min(bptt, source.shape[0] - 1 - i)
    return source[i:i + length], source[i + 1:i + 1 + length].reshape((-1,))


def detach(hidden: State) -> State:
    return [h.detach() for h in hidden]


def train() -> float:
    corpus = Corpus("the quick brown fox jumps over the lazy dog " * 20)
    data = batchify(corpus.data, 4)
    model = RNNModel(len(corpus.words), 8, 8, 1, tie=True)
    model.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 1.0, "momentum": 0, "wd": 0})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    total = 0.0
    hidden = model.begin_state(batch_size=4, ctx=mx.cpu())
    for ibatch, i in enumerate(range(0, data.shape[0] - 1, 5)):
        x, y = get_batch(data, i, 5)
        hidden = detach(hidden)
        with autograd.record():
            out, hidden = model(x, hidden)
            L = loss(out, y)
        L.backward()
        grads = [p.grad(x.context) for p in model.collect_params().values()]
        gluon.utils.clip_global_norm(grads, 0.25 * 5 * 4)
        trainer.step(4 * 5)
        total += nd.sum(L).asscalar()
        if ibatch % 2 == 0:
            print(f"{ibatch} ppl {math.exp(min(20, total / 20 / (ibatch + 1))):.2f}")
    cell = rnn.SequentialRNNCell()
    cell.add(rnn.GRUCell(4))
    cell.add(rnn.DropoutCell(0.1))
    cell.initialize()
    states = cell.begin_state(batch_size=2)
    step, states = cell(nd.ones((2, 3)), states)
    outputs, _ = cell.unroll(3, nd.ones((2, 3, 3)), layout="NTC", merge_outputs=True)
    print(step.shape, len(states), outputs.shape)
    return total


print(train() > 0)
