"""Blocks that share, and arguments that blocks do not take."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn

pytestmark = pytest.mark.on_gpu


def test_save_and_load_between_instances_of_other_names(tmp_path):
    def make():
        net = nn.HybridSequential()
        with net.name_scope():
            net.add(nn.Dense(3, in_units=2), nn.HybridSequential())
            net[1].add(nn.Dense(2, in_units=3), nn.BatchNorm(in_channels=2))
        return net
    a, b, x = make(), make(), nd.array([[1, 2]])
    a.initialize(mx.init.Xavier())
    a.hybridize()
    want = a(x).asnumpy()
    a.save(str(tmp_path / 'net'))
    b.load(str(tmp_path / 'net'))
    assert not set(a.collect_params()) & set(b.collect_params())
    assert np.array_equal(b(x).asnumpy(), want) and b._cached_op is not None    # the graph came along


def pair():
    def made():
        net = nn.HybridSequential()
        net.add(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3))
        net.initialize(mx.init.Uniform(1))
        return net
    return made(), made()


@pytest.mark.parametrize('hybrid', [False, True])
def test_parameters_of_another_block_are_shared(hybrid):
    first, second = pair()
    x = nd.array([[1, 2]])
    outer = nn.HybridSequential()
    outer.add(second)
    for net in (outer, first):
        net.hybridize(hybrid)
    assert (outer(x) - first(x)).asscalar() != 0
    assert second.share_parameters(first.collect_params()) is second
    assert second[0].weight is first[0].weight and second[1].bias is first[1].bias
    assert (outer(x) - first(x)).asscalar() == 0
    assert list(second.collect_params()) == list(first.collect_params())
    with mx.autograd.record():
        loss = outer(x).sum() + first(x).sum()
    loss.backward()
    mx.gluon.Trainer(outer.collect_params(), 'sgd').step(1)
    assert (outer(x) - first(x)).asscalar() == 0


def test_parameters_are_shared_by_path():
    first, second = pair()
    second.share_parameters({'1.weight': first[1].weight})
    assert second[1].weight is first[1].weight and second[0].weight is not first[0].weight
    assert nn.Dense(3, in_units=2).share_parameters({'weight': first[0].weight}).weight is first[0].weight
    for path in ('foo', '0.foo', '7.weight', '0.0.weight'):
        with pytest.warns(UserWarning, match='is not in the current model'):
            second.share_parameters({path: first[0].weight})
    assert second.share_parameters(None) is second
    with pytest.raises(ValueError):
        second.share_parameters(3)
    with pytest.raises(ValueError):
        second.share_parameters(nn.Dense(3).collect_params())
    with pytest.raises(TypeError):
        second.share_parameters({'0.weight': 3})


def test_reset_device_is_reset_ctx():
    net = pair()[0]
    net.reset_device([mx.cpu(0), mx.cpu(1)])
    assert net[0].weight.list_ctx() == [mx.cpu(0), mx.cpu(1)]


@pytest.mark.parametrize("make, said", [
    (lambda: nn.Dense(3, activaton="relu"),
     r"\[nn.Dense\] unexpected arguments activaton; the nearest name is 'activation'; accepted: units, "),
    (lambda: nn.Conv2D(3, 3, stride=2), r"\[nn.Conv2D\] unexpected arguments stride; the nearest name is 'strides'"),
    (lambda: gluon.loss.L2Loss(wieght=1), r"\[gluon.L2Loss\] .*'weight'; accepted: weight, batch_axis, prefix, params"),
    (lambda: Own(unitz=3), r"\[Own\] unexpected arguments unitz; the nearest name is 'units'"),
    (lambda: nn.Sequential(nn.Dense(3)), r"\[nn.Sequential\] prefix of type Dense given; .* given to add\(\)"),
    (lambda: nn.Dense(3, prefix=4), r"\[nn.Dense\] prefix of type int given; a string is accepted$"),
    (lambda: nn.Dense(3, params=4), r"\[nn.Dense\] params of type int given; the params of another block are accepted"),
    (lambda: gluon.Trainer({}, "sgd", 0.1), r"\[gluon.Trainer\] optimizer_params of type float given; a dictionary is accepted"),
    (lambda: mx.mod.Module("net.json"), r"\[Module\] symbol of type str given; a Symbol is accepted"),
    (lambda: nn.Dense("three"), r"\[gluon.Parameter\] 'dense\d+_weight' of shape \('three', 0\); integers are accepted, not 'three'"),
    (lambda: nn.Conv2D("4", 3), r"\[nn.Conv2D\] channels='4'; an integer is accepted")])
def test_arguments_that_no_block_takes(make, said):
    with pytest.raises(TypeError, match=said):
        make()


class Own(gluon.Block):
    def __init__(self, units=2, **kwargs):
        super().__init__(**kwargs)
