"""Hybridized blocks that meet ever new shapes: what plans share, and that it is never stale."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

pytestmark = pytest.mark.sanitized


def made(seed=0):
    mx.random.seed(seed)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, padding=1, in_channels=16), nn.BatchNorm(), nn.Activation("relu"),
            nn.Conv2D(32, 3, padding=1, in_channels=32, use_bias=False), nn.BatchNorm(), nn.GlobalAvgPool2D(), nn.Dense(70))
    net.initialize(mx.init.Normal(0.1))
    with mx.autograd.record():
        net(images(9)).sum().backward()   # averages that are not those of the start
    return net


def images(size):
    return mx.nd.array(np.random.RandomState(size).rand(2, 16, size, size).astype("float32"))


def eager_and_planned():
    """Two blocks of one set of parameters."""
    net = made()
    eager = made(1)
    for own, other in zip(eager.collect_params().values(), net.collect_params().values()):
        own._data, own._grad = other._data, other._grad
    net.hybridize()
    return net, eager


def compare(net, eager, sizes):
    for size in sizes:
        np.testing.assert_allclose(net(images(size)).asnumpy(), eager(images(size)).asnumpy(), rtol=2e-4, atol=2e-5)


def write_in_place(net):
    for p in net.collect_params().values():
        p.data()[:] = p.data() * 1.25


def set_data(net):
    for p in net.collect_params().values():
        p.set_data(p.data() * 0.75)


def train(net):
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    with mx.autograd.record():
        loss = (net(images(10)) ** 2).sum()
    loss.backward()
    trainer.step(2)


def one_layer(net):
    net[0].weight.data()[3] = 0.5


@pytest.mark.parametrize("change", [write_in_place, set_data, train, one_layer])
def test_new_shapes_see_what_was_written(change):
    net, eager = eager_and_planned()
    compare(net, eager, (8, 11, 12))
    change(net)
    compare(net, eager, (13, 8, 14, 11, 12))
    change(net)
    compare(net, eager, (12, 15, 13))


def test_weights_that_were_written_differently_often():
    """Contents have numbers, made of the array and its version: 2 and 1 are not 3 and 0."""
    x = mx.nd.array(np.random.RandomState(0).randn(1, 8))
    data = mx.sym.var("x")
    outputs = [mx.sym.FullyConnected(data, mx.sym.var(f"w{i}"), num_hidden=8, no_bias=True) for i in range(8)]
    flags = [("static_alloc", "1"), ("static_shape", "1"), ("data_indices", "[0]"), ("param_indices", str(list(range(1, 9))))]
    for seed in range(3):
        weights = [mx.nd.array(w) for w in np.random.RandomState(seed).randn(8, 8, 8)]
        for i, weight in enumerate(weights):
            for _ in range(i % 4):
                weight[:] = weight + 0
        results = mx.nd.CachedOp(mx.sym.Group(outputs), flags)(x, *weights)
        for weight, result in zip(weights, results):
            np.testing.assert_allclose(result.asnumpy(), x.asnumpy() @ weight.asnumpy().T, rtol=1e-4, atol=1e-5)
