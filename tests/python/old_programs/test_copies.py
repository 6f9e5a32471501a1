"""copy.copy, copy.deepcopy and pickle of networks and what belongs to them, and arrays as numbers.

What is said of 1.9.1 here was seen by running it.
"""
import copy
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

X = nd.array([[1, 2.0]])
WAYS = {"deepcopy": copy.deepcopy, "pickle": lambda net: pickle.loads(pickle.dumps(net))}


def network(compiled, static=False):
    net = nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3), nn.Dense(1, in_units=3))
    net.initialize(mx.init.One())
    if compiled:
        net.hybridize(static_alloc=static, static_shape=static)
        net(X)
    return net


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compiled, static", [(False, False), (True, False), (True, True)])
def test_networks(way, compiled, static):
    """The copy computes the same, has the same names, and shares nothing; 1.9.1 copies only
    networks that are not compiled."""
    net = network(compiled, static)
    before = net(X).asscalar()
    other = WAYS[way](net)
    assert other(X).asscalar() == before and other._active == compiled
    assert list(other.collect_params()) == list(net.collect_params()) and other.prefix == "n_"
    other[0].weight.set_data(nd.zeros((3, 2)))
    assert other(X).asscalar() == 0 and net(X).asscalar() == before
    trainer = gluon.Trainer(other.collect_params(), "sgd", {"learning_rate": 1})
    with autograd.record():
        other(X).backward()
    trainer.step(1)
    assert other(X).asscalar() != 0 and net(X).asscalar() == before
    other[0].weight.set_data(nd.ones((3, 2)))         # the children know the copy's graph, and not that of the original
    other[2].cast("float64")
    assert net[2].weight.data().dtype == np.float32 and net(X).asscalar() == before


def test_changed_copies_record_anew():
    class Scaled(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

        def forward(self, x):
            return x * self.factor

    net = nn.HybridSequential()
    net.add(Scaled())
    net.hybridize()
    net(X)
    other = copy.deepcopy(net)
    other(X)
    other[0].factor = 3.0
    assert other(X).asnumpy().tolist() == [[3, 6]] and net(X).asnumpy().tolist() == [[2, 4]]
    net[0].factor = 4.0
    assert other(X).asnumpy().tolist() == [[3, 6]] and net(X).asnumpy().tolist() == [[4, 8]]


@pytest.mark.parametrize("compiled", [False, True])
def test_shallow_copies_share(compiled):
    net = network(compiled)
    other = copy.copy(net)
    assert other[0] is net[0] and other._children is net._children and other(X).asscalar() == net(X).asscalar()
    other[0].weight.set_data(nd.zeros((3, 2)))
    assert net(X).asscalar() == other(X).asscalar() == 0


@pytest.mark.parametrize("make", [
    lambda: nn.Dense(3), lambda: gluon.loss.L2Loss(), lambda: gluon.rnn.LSTM(3), lambda: gluon.model_zoo.vision.resnet18_v1(),
    lambda: nn.Lambda("tanh"), lambda: gluon.data.vision.transforms.Compose([gluon.data.vision.transforms.ToTensor()])])
def test_blocks_without_values(make):
    block = make()
    for way in WAYS.values():
        assert repr(way(block)) == repr(block) and way(block).name == block.name


@pytest.mark.parametrize("way", WAYS)
def test_symbol_blocks_keep_their_graph(way):
    data = mx.sym.var("data")
    block = gluon.SymbolBlock(mx.sym.FullyConnected(data, num_hidden=2, name="fc"), data)
    block.initialize(mx.init.One())
    assert block(X).asnumpy().tolist() == [[3, 3]] or block(X).shape == (1, 2)
    assert WAYS[way](block)(X).asnumpy().tolist() == block(X).asnumpy().tolist()


@pytest.mark.parametrize("make", [
    lambda: mx.kv.create("local"), lambda: (mx.sym.var("a") * 2).simple_bind(mx.cpu(), a=(2,)), lambda: mx.profiler.Domain("d")])
def test_handles_are_not_freed_twice(make):
    """1.9.1 makes shallow copies of stores and executors, and ends the process when both go."""
    owner = make()
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            way(owner)
        with pytest.raises(ValueError):                   # which 1.9.1 raises for two of the three
            way(owner)


@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
def test_arrays_of_one_value_are_formatted(kind):
    x = kind.array([3.14159])
    assert f"{x:.2f}" == "3.14" and f"{x:8.3e}" == "3.142e+00" and f"{x}" == str(x) and "%.1f %d" % (x, x) == "3.1 3"
    assert f"{kind.array([[7]], dtype='int32'):03d}" == "007" and f"{kind.array([1.5], dtype='float16'):.1f}" == "1.5"
    with pytest.raises(TypeError, match="one value"):
        f"{kind.array([1.0, 2.0]):.2f}"
    assert float(x) == pytest.approx(3.14159) and int(x) == 3 and bool(x) and len(x) == 1 and complex(x).imag == 0
    assert [float(v) for v in reversed(kind.array([1.0, 2, 3]))] == [3, 2, 1]
    assert [float(v) for v in kind.array([1.0, 2, 3])] == [1, 2, 3]
