"""Attention and a small transformer with mx.np, in d2l's manner."""
import math
from typing import Optional

from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

npx.set_np()


def masked_softmax(X: np.ndarray, valid_lens: Optional[np.ndarray]) -> np.ndarray:
    if valid_lens is None:
        return npx.softmax(X)
    shape = X.shape
    valid_lens = valid_lens.repeat(shape[1]) if valid_lens.ndim == 1 else valid_lens.reshape(-1)
    X = npx.sequence_mask(X.reshape(-1, shape[-1]), valid_lens, True, value=-1e6, axis=1)
    return npx.softmax(X).reshape(shape)


class DotProductAttention(nn.Block):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Optional[np.ndarray] = None

    def forward(self, queries: np.ndarray, keys: np.ndarray, values: np.ndarray, valid_lens: Optional[np.ndarray] = None) -> np.ndarray:
        d = queries.shape[-1]
        scores = npx.batch_dot(queries, keys, transpose_b=True) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return npx.batch_dot(self.dropout(self.attention_weights), values)


class PositionalEncoding(nn.Block):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 100) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = np.zeros((1, max_len, num_hiddens))
        X = np.arange(max_len).reshape(-1, 1) / np.power(10000, np.arange(0, num_hiddens, 2) / num_hiddens)
        self.P[:, :, 0::2] = np.sin(X)
        self.P[:, :, 1::2] = np.cos(X)

    def forward(self, X: np.ndarray) -> np.ndarray:
        X = X + self.P[:, :X.shape[1], :].as_in_ctx(X.ctx)
        return self.dropout(X)


class Encoder(nn.Block):
    def __init__(self, vocab: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.pos = PositionalEncoding(hidden, 0.1)
        self.attention = DotProductAttention(0.1)
        self.ln1, self.ln2 = nn.LayerNorm(), nn.LayerNorm()
        self.ffn = nn.Sequential()
        self.ffn.add(nn.Dense(2 * hidden, flatten=False, activation="relu"), nn.Dense(hidden, flatten=False))
        self.hidden, self.heads = hidden, heads

    def split(self, X: np.ndarray) -> np.ndarray:
        X = X.reshape(X.shape[0], X.shape[1], self.heads, -1).transpose(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def forward(self, tokens: np.ndarray, valid_lens: np.ndarray) -> np.ndarray:
        X = self.pos(self.embedding(tokens) * math.sqrt(self.hidden))
        h = self.split(X)
        lens = valid_lens.repeat(self.heads, axis=0)
        a = self.attention(h, h, h, lens)
        a = a.reshape(-1, self.heads, a.shape[1], a.shape[2]).transpose(0, 2, 1, 3).reshape(X.shape)
        Y = self.ln1(X + a)
        return self.ln2(self.ffn(Y) + Y)


class MaskedLoss(gluon.loss.SoftmaxCELoss):
    def forward(self, pred: np.ndarray, label: np.ndarray, valid_len: np.ndarray) -> np.ndarray:
        weights = np.expand_dims(np.ones_like(label), axis=-1)
        weights = npx.sequence_mask(weights, valid_len, True, axis=1)
        out: np.ndarray = super().forward(pred, label, weights)
        return out


def grad_clipping(net: gluon.Block, theta: float) -> None:
    params = [p.data() for p in net.collect_params().values()]
    norm = math.sqrt(sum(float((p.grad ** 2).sum()) for p in params))
    if norm > theta:
        for p in params:
            p.grad[:] *= theta / norm


net = nn.Sequential()
encoder = Encoder(12, 8, 2)
encoder.initialize()
head = nn.Dense(12, flatten=False)
head.initialize()
tokens = np.random.randint(0, 12, (3, 5))
lens = np.array([5, 3, 2])
trainer = gluon.Trainer({**encoder.collect_params(), **head.collect_params()}, "adam", {"learning_rate": 0.01})
loss = MaskedLoss()
for epoch in range(2):
    with autograd.record():
        pred = head(encoder(tokens, lens))
        error = loss(pred, tokens, lens)
    error.backward()
    grad_clipping(encoder, 1)
    trainer.step(3)
    print(epoch, float(error.sum()) > 0)
weights = encoder.attention.attention_weights
assert weights is not None
print(weights.shape, weights[0].sum(axis=-1).asnumpy().round(3).tolist())
beta: np.ndarray = encoder.ln1.beta.data() + 1
mean, std = np.mean(beta), np.std(beta)
print(mean.item(), std.item(), np.stack([p.data().sum() for p in encoder.collect_params(".*bias").values()]).shape)
mask = np.where(beta > 0, beta, 0)
top = npx.topk(pred.reshape(-1, 12), k=2, ret_typ="indices")
print(mask.shape, top.shape, npx.pick(pred, tokens).shape, [int(v) for v in top[0]])
