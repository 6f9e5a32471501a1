"""BERT-base's encoder (Devlin et al., arXiv 1810.04805) of basic operators: token numbers (batch,
length) to states (batch, length, units)."""
from mxnet.gluon import nn
from mxnet.gluon.block import HybridBlock


class SelfAttention(HybridBlock):
    def __init__(self, units, heads):
        super().__init__()
        self._heads, self._scale = heads, (units // heads) ** -0.5
        with self.name_scope():
            self.query, self.key, self.value, self.out = (nn.Dense(units, flatten=False, in_units=units) for _ in range(4))

    def _split(self, F, x):
        """(batch, length, units) -> (batch x heads, length, units of a head)"""
        x = F.transpose(F.reshape(x, shape=(0, 0, self._heads, -1)), axes=(0, 2, 1, 3))
        return F.reshape(x, shape=(-3, 0, 0))

    def hybrid_forward(self, F, x):
        weights = F.softmax(F.batch_dot(self._split(F, self.query(x)) * self._scale,
                                        self._split(F, self.key(x)), transpose_b=True), axis=-1)
        y = F.reshape(F.batch_dot(weights, self._split(F, self.value(x))), shape=(-4, -1, self._heads, 0, 0))
        return self.out(F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(0, 0, -3)))


class Layer(HybridBlock):
    def __init__(self, units, hidden, heads):
        super().__init__()
        with self.name_scope():
            self.attention = SelfAttention(units, heads)
            self.wide = nn.Dense(hidden, flatten=False, in_units=units)
            self.narrow = nn.Dense(units, flatten=False, in_units=hidden)
            self.norm1, self.norm2 = (nn.LayerNorm(epsilon=1e-12, in_channels=units) for _ in range(2))

    def hybrid_forward(self, F, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.narrow(F.LeakyReLU(self.wide(x), act_type="gelu")))


class Encoder(HybridBlock):
    def __init__(self, layers, units, hidden, heads, length, words):
        super().__init__()
        with self.name_scope():
            self.words = nn.Embedding(words, units)
            self.position = self.params.get("position_embedding", shape=(1, length, units))
            self.norm = nn.LayerNorm(epsilon=1e-12, in_channels=units)
            self.layers = nn.HybridSequential()
            for _ in range(layers):
                self.layers.add(Layer(units, hidden, heads))

    def hybrid_forward(self, F, tokens, position):
        return self.layers(self.norm(F.broadcast_add(self.words(tokens), position)))


def bert_base(length=128):
    return Encoder(layers=12, units=768, hidden=3072, heads=12, length=length, words=30522)
