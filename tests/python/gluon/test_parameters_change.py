"""Parameters that change in every way between calls of one compiled graph, beside eager blocks.

Plans keep packed, folded and transformed weights, and share them between nodes and plans. Layers of
equal shapes are what one takes for another.
"""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

pytestmark = pytest.mark.sanitized
WIDTH = 16


def dense(rng):
    net = nn.HybridSequential()
    for _ in range(4):
        net.add(nn.Dense(WIDTH, in_units=WIDTH, use_bias=bool(rng.randint(2)), activation=[None, "relu", "tanh"][rng.randint(3)]))
    return net


def convolutions(rng):
    net = nn.HybridSequential()
    for _ in range(3):
        net.add(nn.Conv2D(WIDTH, 3, padding=1, in_channels=WIDTH, use_bias=bool(rng.randint(2))))
        if rng.randint(2):
            net.add(nn.BatchNorm(in_channels=WIDTH))
        net.add(nn.Activation("relu"))
    return net


def depthwise(rng):
    net = nn.HybridSequential()
    for _ in range(2):
        net.add(nn.Conv2D(WIDTH, 1, in_channels=WIDTH), nn.BatchNorm(in_channels=WIDTH),
                nn.Conv2D(WIDTH, 3, padding=1, groups=WIDTH, in_channels=WIDTH), nn.BatchNorm(in_channels=WIDTH), nn.Activation("relu"))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(WIDTH, in_units=WIDTH))
    return net


def recurrent(rng):
    net = nn.HybridSequential()
    net.add(gluon.rnn.LSTM(WIDTH, num_layers=2, input_size=WIDTH), nn.LayerNorm(in_channels=WIDTH),
            nn.Dense(WIDTH, flatten=False, in_units=WIDTH))
    return net


SHAPES = {dense: lambda n: (n, WIDTH), recurrent: lambda n: (3 + n, 2, WIDTH),
          convolutions: lambda n: (1 + n % 3, WIDTH, 6 + n, 7), depthwise: lambda n: (1 + n % 3, WIDTH, 6 + n, 7)}


def values_for(p, rng):
    values = rng.randn(*p.shape) * 0.2
    return mx.nd.array(np.abs(values) + 0.5 if "var" in p.name else values)


def set_one(net, rng, data):
    p = rng.choice(list(net.collect_params().values()))
    p.set_data(values_for(p, rng))


def write_into_one(net, rng, data):
    p = rng.choice(list(net.collect_params().values()))
    p.data()[:] = values_for(p, rng)


def write_a_part(net, rng, data):
    rng.choice(list(net.collect_params().values())).data()[0] = 0.3


def update_one(net, rng, data):
    weight = rng.choice(list(net.collect_params().values())).data()
    mx.nd.sgd_update(weight, weight * 0.1, lr=0.1, out=weight)


def swap_two(net, rng, data):
    params = list(net.collect_params().values())
    alike = [p for p in params if p.shape == params[0].shape]
    if len(alike) > 1:
        a, b = rng.choice(alike, 2, replace=False)
        before = a.data().copy()
        a.set_data(b.data())
        b.set_data(before)


def train(net, rng, data):
    trainer = gluon.Trainer(net.collect_params(), ["sgd", "adam"][rng.randint(2)], {"learning_rate": 0.01})
    for _ in range(rng.randint(1, 3)):
        with autograd.record():
            loss = (net(data()) ** 2).mean()
        loss.backward()
        trainer.step(1)


def nothing(net, rng, data):
    pass


CHANGES = [set_one, write_into_one, write_a_part, update_one, swap_two, train, nothing]


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}],
                         ids=["plain", "alloc", "shape"])
@pytest.mark.parametrize("kind", [dense, convolutions, depthwise, recurrent], ids=lambda kind: kind.__name__)
def test_results_follow_the_parameters(kind, flags):
    for seed in range(6):
        rng, twin = np.random.RandomState(seed), np.random.RandomState(seed)
        mx.random.seed(seed)
        net, eager = kind(rng), kind(twin)
        for block in (net, eager):
            block.initialize(mx.init.Normal(0.3))
        net.hybridize(True, **flags)
        data = lambda: mx.nd.array(rng.randn(*SHAPES[kind](rng.randint(1, 7))))  # noqa: B023
        for step in range(25):
            change = CHANGES[rng.randint(len(CHANGES))]
            change(net, rng, data)
            x = data()
            for own, other in zip(eager.collect_params().values(), net.collect_params().values()):
                own._data, own._grad = other._data, other._grad
            want = eager(x).asnumpy()
            for _ in range(rng.randint(1, 3)):
                np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-4, atol=1e-5 * max(1, np.abs(want).max()),
                                           err_msg=f"seed {seed}, step {step}, {change.__name__}")


def test_a_bound_graph_follows_its_arguments():
    rng = np.random.RandomState(0)
    out = mx.sym.var("x")
    for i in range(5):
        out = mx.sym.tanh(mx.sym.FullyConnected(out, name=f"fc{i}", num_hidden=WIDTH))
    executor = out.simple_bind(mx.cpu(), x=(3, WIDTH), grad_req="null")
    for name, array in executor.arg_dict.items():
        array[:] = rng.randn(*array.shape) * 0.3
    for _ in range(30):
        for name in rng.choice(list(executor.arg_dict), rng.randint(0, 4)):
            array = executor.arg_dict[name]
            array[:] = rng.randn(*array.shape) * 0.3
        h = executor.arg_dict["x"].asnumpy()
        for i in range(5):
            h = np.tanh(h @ executor.arg_dict[f"fc{i}_weight"].asnumpy().T + executor.arg_dict[f"fc{i}_bias"].asnumpy())
        np.testing.assert_allclose(executor.forward(is_train=False)[0].asnumpy(), h, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_statistics_of_a_symbol_block_stay_in_float32(dtype):
    """As those of BatchNorm's layer, whatever they are called: bn1.weight in PyTorch's files."""
    names = ["bn1.weight", "bn1.bias", "bn1.mean", "bn1.var"]
    out = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc"), *map(mx.sym.var, names), fix_gamma=False)
    net = mx.gluon.SymbolBlock(out, mx.sym.var("x", dtype="float32"))
    net.initialize()
    net(mx.nd.ones((2, 4)))
    net.cast(dtype)
    params = net.collect_params()
    assert all(params[name].data().dtype == np.float32 for name in names) and dtype in str(params["fc_weight"].data().dtype)
    with mx.autograd.record():
        y = net(mx.nd.ones((2, 4), dtype=dtype))
    y.backward()
    assert dtype in str(y.dtype)
