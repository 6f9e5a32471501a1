"""Winograd convolutions as plans run them: forward with bias, sum and relu, and gradients, against
the direct kernels."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.gluon import nn


class Block(mx.gluon.HybridBlock):
    """relu(conv(relu(conv(x))) + x): what a residual network is made of."""

    def __init__(self, channels, use_bias):
        super().__init__()
        with self.name_scope():
            self.first = nn.Conv2D(channels, 3, padding=1, in_channels=channels, use_bias=use_bias)
            self.second = nn.Conv2D(channels, 3, padding=1, in_channels=channels, use_bias=use_bias)

    def hybrid_forward(self, F, x):
        return F.relu(self.second(F.relu(self.first(x))) + x)


@pytest.fixture(params=["0", "1"], ids=["measured", "by rule"])
def determinism(request):
    mx.util.set_env("MXNET_ENFORCE_DETERMINISM", request.param)
    yield
    mx.util.set_env("MXNET_ENFORCE_DETERMINISM", "")


def filled(channels, use_bias):
    net = Block(channels, use_bias)
    net.initialize()
    rng = np.random.default_rng(1)
    for p in net.collect_params().values():
        p.set_data(mx.nd.array(rng.uniform(-0.1, 0.1, p.shape)))
    return net


def results(allow, channels, size, use_bias, batch):
    mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", allow)
    try:
        net = filled(channels, use_bias)
        net.hybridize()
        x = mx.nd.array(np.random.default_rng(2).uniform(-1, 1, (batch, channels, *size)))
        x.attach_grad()
        infer = net(x).asnumpy()
        again = net(x).asnumpy()
        np.testing.assert_array_equal(infer, again)
        with autograd.record():
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        grads = [p.grad().asnumpy() for p in net.collect_params().values()]
        # weights that changed are transformed again
        for p in net.collect_params().values():
            p.set_data(p.data() * 0.5)
        return [infer, y.asnumpy(), x.grad.asnumpy(), net(x).asnumpy(), *grads]
    finally:
        mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", "")


@pytest.mark.parametrize("channels,size,use_bias,batch", [(64, (28, 28), True, 1), (40, (19, 33), False, 3), (128, (14, 15), True, 2)])
def test_on_against_off(determinism, channels, size, use_bias, batch):
    on, off = (results(allow, channels, size, use_bias, batch) for allow in "10")
    names = ["inference", "training", "gradient of data", "inference after a change"] + [f"gradient {i}" for i in range(4)]
    for name, a, b in zip(names, on, off):
        np.testing.assert_allclose(a, b, rtol=0, atol=3e-5 * np.abs(b).max(), err_msg=name)


def test_eager_calls_stay_direct(determinism):
    def run(allow):
        mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", allow)
        try:
            return filled(64, True)(mx.nd.array(np.random.default_rng(3).uniform(-1, 1, (1, 64, 28, 28)))).asnumpy()
        finally:
            mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", "")

    np.testing.assert_array_equal(run("1"), run("0"))


def test_weights_that_a_plan_dropped_come_back():
    """A plan gives up folded weights once a layer has its own form of them; another method, another
    parameter and a monitor see them again."""
    net = nn.HybridSequential()
    for _ in range(2):
        net.add(nn.Conv2D(64, 3, padding=1, in_channels=64, use_bias=False), nn.BatchNorm(in_channels=64))
    net.initialize()
    rng = np.random.default_rng(3)
    for name, p in net.collect_params().items():
        p.set_data(mx.nd.array(rng.uniform(0.5, 1.5, p.shape) if "running_var" in name
                               or "gamma" in name else rng.uniform(-0.1, 0.1, p.shape)))
    x = mx.nd.array(rng.uniform(-1, 1, (1, 64, 28, 28)))
    eager = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)

    def check(expected):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)
    check(eager)
    for name, value in (("MXNET_CPU_ALLOW_WINOGRAD", "0"), ("MXNET_ENFORCE_DETERMINISM", "1"), ("MXNET_ONEDNN_ENABLED", "0")):
        mx.util.set_env(name, value)
        try:
            check(eager)
            check(eager)
        finally:
            mx.util.set_env(name, "")
        check(eager)
    weight = net[0].weight
    weight.set_data(weight.data() * 2)
    check(net.hybridize(False) or net(x).asnumpy())
    net.hybridize(static_alloc=True, static_shape=True)
    doubled = net(x).asnumpy()
    weight.set_data(weight.data() * 0.5)
    check(eager)
    assert np.abs(doubled - eager).max() > 1e-2
