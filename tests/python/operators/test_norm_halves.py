"""Batch normalization of half types, which is computed in pieces that a cache holds."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd

HALVES = ["float16", "bfloat16"]
# (shape, axis): planes and rows beyond a piece of 4096 elements, planes so small that several go
# together, odd sizes
SHAPES = [((2, 3, 5000), 1), ((3, 5, 70, 61), 1), ((9, 4, 3, 3), 1), ((17, 13), 1), ((6, 4500), 1), ((5, 3, 4100), -1), ((700, 33), -1)]


def close(half, full, dtype):
    """Rounding of a result to the half type, and what sums in another order differ by."""
    half, full = half.astype("float32").asnumpy(), full.asnumpy()
    step = 2.0 ** (-10 if dtype == "float16" else -7)
    np.testing.assert_allclose(half, full, rtol=step, atol=step * 1e-2 * np.abs(full).max())


def run(operator, shape, axis, dtype, training, addend=False):
    """Results and gradients for numbers that the half types hold."""
    rng = np.random.default_rng(3)
    draw = lambda s: mx.nd.array(rng.standard_normal(s).astype("float32") * 2 + 1).astype(dtype_of_numbers).astype(dtype)
    dtype_of_numbers = "bfloat16"
    x, head = draw(shape), draw(shape)
    channels = (shape[axis],)
    gamma, beta, mean = (mx.nd.array(rng.uniform(.5, 2, channels).astype("float32")) for _ in range(3))
    var, other = mx.nd.array(rng.uniform(1, 5, channels).astype("float32")), draw(shape) if addend else None
    wanted = [x, gamma, beta] + ([other] if addend else [])
    for a in wanted:
        a.attach_grad()
    with autograd.record(train_mode=training):
        y = operator(x, gamma, beta, mean, var, fix_gamma=False, axis=axis, eps=1e-3, momentum=.7)
        if addend:
            y = mx.nd.relu(y + other)
    y.backward(head)
    return [y, *(a.grad for a in wanted), mean, var]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("relu", [False, True])
def test_halves_are_float32_rounded(dtype, shape, axis, training, relu):
    operator = mx.nd.contrib.BatchNormWithReLU if relu else mx.nd.BatchNorm
    for half, full in zip(run(operator, shape, axis, dtype, training), run(operator, shape, axis, "float32", training)):
        close(half, full, dtype)


class EndOfBlock(mx.gluon.HybridBlock):
    """relu(batch norm + addend): one operator in training."""

    def __init__(self, axis):
        super().__init__()
        self.axis = axis

    def hybrid_forward(self, F, x, other, gamma, beta, mean, var):
        return F.relu(F.BatchNorm(x, gamma, beta, mean, var, fix_gamma=False, axis=self.axis, eps=1e-3, momentum=.7) + other)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape,axis", SHAPES)
def test_sums_behind_halves(dtype, shape, axis):
    def of(kind):
        net = EndOfBlock(axis)
        net.hybridize()
        rng = np.random.default_rng(5)
        draw = lambda s: mx.nd.array(rng.standard_normal(s).astype("float32") * 2 + 1).astype("bfloat16").astype(kind)
        x, other, head = draw(shape), draw(shape), draw(shape)
        gamma, beta, mean, var = (mx.nd.array(rng.uniform(.5, 2, shape[axis]).astype("float32")) for _ in range(4))
        for a in (x, other, gamma, beta):
            a.attach_grad()
        with autograd.record():
            y = net(x, other, gamma, beta, mean, var)
        y.backward(head)
        return [y, x.grad, other.grad, gamma.grad, beta.grad, mean, var]

    half, full = of(dtype), of("float32")
    for a, b in zip(half, full):
        if a.shape == shape and a is not half[0]:   # near zero the two may be on different sides of the relu
            positive = (half[0].astype("float32") > 0) == (full[0] > 0)
            a, b = a.astype("float32") * positive, b * positive
        close(a, b, dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape,axis", [((5, 7, 130), -1), ((3, 5000), 1), ((4, 33, 6), 1), ((9, 20), -1), ((2, 3, 4, 40), 3)])
def test_layers_of_halves(dtype, shape, axis):
    """Rows are converted one by one; where the axis is not the last, gathered as well."""
    def of(kind):
        rng = np.random.default_rng(6)
        draw = lambda s: mx.nd.array(rng.standard_normal(s).astype("float32") * 2 + 1).astype("bfloat16")
        x, head = draw(shape).astype(kind), draw(shape).astype(kind)
        gamma, beta = (draw(shape[axis]).astype(kind) for _ in range(2))
        for a in (x, gamma, beta):
            a.attach_grad()
        with autograd.record():
            y, mean, deviation = mx.nd.LayerNorm(x, gamma, beta, axis=axis, eps=1e-3, output_mean_var=True)
        y.backward(head)
        return [y, mean, deviation, x.grad, gamma.grad, beta.grad]

    for half, full in zip(of(dtype), of("float32")):
        close(half, full, dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape", [(2, 6, 40, 70), (3, 6, 5), (2, 6, 3)])
@pytest.mark.parametrize("groups,by_group", [(6, False), (3, True), (3, False), (1, True), (0, False)])   # 0: InstanceNorm
def test_groups_of_halves_are_float32_rounded(dtype, shape, groups, by_group):
    def run(kind):
        rng = np.random.default_rng(5)
        draw = lambda s: mx.nd.array(rng.standard_normal(s).astype("float32") * 2 + 1).astype("bfloat16").astype(kind)
        x, head, gamma, beta = draw(shape), draw(shape), *(draw(groups if by_group else 6) for _ in range(2))
        for a in (x, gamma, beta):
            a.attach_grad()
        with autograd.record():
            outputs = ([mx.nd.InstanceNorm(x, gamma, beta, eps=.1)] if groups == 0
                       else mx.nd.GroupNorm(x, gamma, beta, num_groups=groups, eps=.1, output_mean_var=True))
        outputs[0].backward(head)
        return [*outputs, x.grad, gamma.grad, beta.grad]

    for half, full in zip(run(dtype), run("float32")):
        close(half, full, dtype)
