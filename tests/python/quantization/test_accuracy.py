"""Networks that are trained here lose at most 0.5 % of their accuracy in 8 bits."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.contrib import quantization
from mxnet.gluon import nn

KINDS, HELD_OUT = 10, 4000


def pictures(count, seed):
    """Noisy pictures of ten kinds, and their kinds."""
    rng = np.random.RandomState(seed)
    patterns = np.random.RandomState(99).uniform(-1, 1, (KINDS, 3, 16, 16))
    kinds = rng.randint(0, KINDS, count)
    shifted = np.stack([np.roll(patterns[k], tuple(s), axis=(1, 2)) for k, s in zip(kinds, rng.randint(0, 3, (count, 2)))])
    return (shifted * rng.uniform(0.4, 1.2, (count, 1, 1, 1)) + rng.normal(0, 1.1, shifted.shape)).astype("float32"), kinds


def texts(count, seed):
    """Words, and how many were of the first twelve kinds before every twentieth became another."""
    rng = np.random.RandomState(seed)
    words = rng.randint(0, 50, (count, 16))
    given = np.where(rng.uniform(size=words.shape) < 0.05, rng.randint(0, 50, words.shape), words)
    return given.astype("float32"), np.clip((words < 12).sum(axis=1) - 2, 0, 4)


def convolutional():
    net = nn.HybridSequential()
    for channels in (16, 32):
        net.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2))
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(KINDS))
    return net


class Inverted(gluon.HybridBlock):
    """An inverted residual block of MobileNetV2: depthwise convolution, relu6, a sum."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.HybridSequential()
        for filters, groups, kernel in ((4 * channels, 1, 1), (4 * channels, 4 * channels, 3), (channels, 1, 1)):
            self.body.add(nn.Conv2D(filters, kernel, padding=kernel // 2, groups=groups, use_bias=False), nn.BatchNorm())
            if filters > channels:
                self.body.add(nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)))

    def hybrid_forward(self, F, x):
        return x + self.body(x)


def mobile():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, strides=2, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), Inverted(16), Inverted(16),
            nn.Conv2D(64, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(2), nn.Flatten(), nn.Dense(KINDS))
    return net


class Encoder(gluon.HybridBlock):
    """A layer of BERT between an embedding and a mean."""

    def __init__(self, units=32, heads=4, words=50, classes=5):
        super().__init__()
        self.heads, self.table = heads, nn.Embedding(words, units)
        self.query, self.key, self.value, self.out, self.narrow = (nn.Dense(units, flatten=False) for _ in range(5))
        self.wide, self.norm1, self.norm2, self.head = nn.Dense(2 * units, flatten=False), nn.LayerNorm(), nn.LayerNorm(), nn.Dense(classes)

    def hybrid_forward(self, F, tokens):
        def split(x):
            return F.reshape(F.transpose(F.reshape(x, shape=(0, 0, self.heads, -1)), axes=(0, 2, 1, 3)), shape=(-3, 0, 0))
        x = self.table(tokens)
        weights = F.softmax(F.batch_dot(split(self.query(x)) * 0.35, split(self.key(x)), transpose_b=True))
        y = F.reshape(F.batch_dot(weights, split(self.value(x))), shape=(-4, -1, self.heads, 0, 0))
        x = self.norm1(x + self.out(F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(0, 0, -3))))
        x = self.norm2(x + self.narrow(F.LeakyReLU(self.wide(x), act_type="gelu")))
        return self.head(F.mean(x, axis=1))


def trained(net, data, epochs):
    mx.random.seed(0)
    np.random.seed(0)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss, trainer = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 2e-3})
    for _ in range(epochs):
        for x, y in gluon.data.DataLoader(gluon.data.ArrayDataset(*data), batch_size=50, shuffle=True):
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(len(x))
    return net


@pytest.mark.parametrize("make, given, count, epochs", [
    pytest.param(convolutional, pictures, 6000, 4, marks=pytest.mark.nightly),
    pytest.param(mobile, pictures, 6000, 5, marks=pytest.mark.nightly), (Encoder, texts, 4000, 3)])
def test_eight_bits_are_as_right_as_floats(make, given, count, epochs):
    net = trained(make(), given(count, 1), epochs)
    x, kinds = given(HELD_OUT, 2)
    examples = gluon.data.DataLoader(gluon.data.ArrayDataset(given(500, 3)[0]), batch_size=50)

    def accuracy(block):
        return (block(mx.nd.array(x)).asnumpy().argmax(axis=1) == kinds).mean()
    exact = accuracy(net)
    assert 0.6 < exact < 0.995      # neither luck nor a task that nothing could get wrong
    for options in (dict(), dict(quantize_mode="smart"), dict(quantized_dtype="int8"), dict(calib_mode="entropy")):
        made = quantization.quantize_net(net, calib_data=lambda: examples, **{"calib_mode": "naive", **options})
        assert len(made.quantization.in_floats()) < len(made.quantization)
        assert accuracy(made) >= exact - 0.005, options
