"""Layers against NumPy, each eager, compiled and as a symbol."""
import math

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.gluon.contrib import nn as contrib_nn

pytestmark = pytest.mark.on_gpu

RNG = np.random.RandomState(11)


def check(layer, shape, reference, rtol=1e-4, atol=1e-5, init=None, data=None):
    """`layer` on random data of `shape` gives `reference(data, {attribute: value})`, eager and
    compiled, and has a finite gradient."""
    x = nd.array(RNG.uniform(-1, 1, shape) if data is None else data)
    layer.initialize(init or mx.init.Uniform(0.5))
    y = layer(x).asnumpy()
    params = {k: p.data().asnumpy() for k, p in layer._reg_params.items()}
    expected = reference(x.asnumpy(), params)
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=rtol, atol=atol)
    inferred = layer(mx.sym.var('data')).infer_shape(data=x.shape)[1]
    assert inferred == [y.shape]
    layer.hybridize()
    x.attach_grad()
    with autograd.record():
        out = layer(x)
    out.backward()
    assert np.isfinite(x.grad.asnumpy()).all()
    return y


@pytest.mark.parametrize('flatten, shape, in_units', [(True, (4, 2, 3), 6), (False, (4, 2, 3), 3)])
def test_dense(flatten, shape, in_units):
    def reference(x, p):
        x = x.reshape(len(x), -1) if flatten else x
        return np.tanh(x @ p['weight'].T + p['bias'])
    layer = nn.Dense(5, activation='tanh', flatten=flatten)
    check(layer, shape, reference)
    assert layer.weight.shape == (5, in_units)
    check(nn.Dense(5, use_bias=False), (2, 3), lambda x, p: x @ p['weight'].T)


def conv_reference(x, w, b, stride, pad, dilate, groups):
    """Convolution over any number of axes, directly."""
    n = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    size = [(x.shape[2 + i] - dilate[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(n)]
    out = np.zeros((x.shape[0], w.shape[0], *size))
    per_group_in, per_group_out = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        xs, ws = x[:, g * per_group_in:(g + 1) * per_group_in], w[g * per_group_out:(g + 1) * per_group_out]
        for at in np.ndindex(*w.shape[2:]):
            window = xs[(slice(None), slice(None)) + tuple(
                slice(at[i] * dilate[i], at[i] * dilate[i] + stride[i] * (size[i] - 1) + 1, stride[i]) for i in range(n))]
            out[:, g * per_group_out:(g + 1) * per_group_out] += np.einsum('nc...,oc->no...', window, ws[(slice(None), slice(None)) + at])
    return out + (0 if b is None else b.reshape(1, -1, *[1] * n))


@pytest.mark.parametrize('layer, shape', [
    (lambda: nn.Conv1D(4, 3), (2, 3, 9)),
    (lambda: nn.Conv1D(4, 3, strides=2, padding=1, groups=2), (2, 2, 9)),
    (lambda: nn.Conv2D(4, 3), (2, 3, 7, 6)),
    (lambda: nn.Conv2D(4, (3, 2), strides=(2, 1), padding=(1, 0), use_bias=False), (2, 3, 7, 6)),
    (lambda: nn.Conv2D(4, 3, dilation=2), (1, 2, 7, 7)),
    (lambda: nn.Conv2D(6, 3, groups=3, padding=1), (1, 3, 5, 5)),
    (lambda: nn.Conv3D(2, 2), (1, 3, 4, 4, 4)),
])
def test_convolution(layer, shape):
    layer = layer()
    k = layer._kwargs
    check(layer, shape, lambda x, p: conv_reference(x, p['weight'], p.get('bias'), k['stride'], k['pad'], k['dilate'], k['num_group']))


def test_convolution_activation_and_layouts():
    x = RNG.uniform(-1, 1, (1, 2, 5, 5))
    layer = nn.Conv2D(3, 3, activation='relu')
    check(layer, None, lambda x, p: np.maximum(conv_reference(x, p['weight'], p['bias'], (1, 1), (0, 0), (1, 1), 1), 0), data=x)
    with pytest.raises(AssertionError, match='layout'):
        nn.Conv2D(3, 3, layout='NCW')
    with pytest.raises(AssertionError, match='groups'):
        nn.Conv2D(3, 3, groups=2)
    with pytest.raises(AssertionError, match='kernel_size'):
        nn.Conv2D(3, (3, 3, 3))


@pytest.mark.parametrize('layer, shape, weight', [
    (lambda: nn.Conv1DTranspose(4, 3), (2, 3, 5), (3, 4, 3)),
    (lambda: nn.Conv2DTranspose(4, 3, strides=2, padding=1, output_padding=1), (2, 3, 4, 4), (3, 4, 3, 3)),
    (lambda: nn.Conv2DTranspose(4, 3, use_bias=False), (1, 2, 4, 4), (2, 4, 3, 3)),
    (lambda: nn.Conv3DTranspose(2, 2, strides=2), (1, 3, 3, 3, 3), (3, 2, 2, 2, 2)),
])
def test_transposed_convolution_is_the_adjoint(layer, shape, weight):
    """<deconv(x), y> = <x, conv(y)> for the same weight."""
    layer = layer()
    layer.initialize(mx.init.Uniform(0.5))
    x = nd.array(RNG.uniform(-1, 1, shape))
    out = layer(x).asnumpy()
    assert layer.weight.shape == weight
    k = layer._kwargs
    expect = [(s - 1) * st - 2 * p + d * (kk - 1) + a + 1 for s, st, p, d, kk, a in
              zip(shape[2:], k['stride'], k['pad'], k['dilate'], k['kernel'], k['adj'])]
    assert out.shape == (shape[0], layer._channels, *expect)
    if layer.bias is not None:
        layer.bias.set_data(nd.zeros(layer.bias.shape))
        out = layer(x).asnumpy()
    y = RNG.uniform(-1, 1, out.shape)
    back = conv_reference(y, layer.weight.data().asnumpy(), None, k['stride'], k['pad'], k['dilate'], 1)
    np.testing.assert_allclose((out * y).sum(), (back * x.asnumpy()).sum(), rtol=1e-4)


def pool_reference(x, kernel, stride, pad, how, ceil=False, count_include_pad=True):
    n = x.ndim - 2
    fill = -np.inf if how == 'max' else 0
    size = [(math.ceil if ceil else math.floor)((x.shape[2 + i] + 2 * pad[i] - kernel[i]) / stride[i]) + 1 for i in range(n)]
    out = np.zeros(x.shape[:2] + tuple(size))
    for at in np.ndindex(*size):
        starts = [at[i] * stride[i] - pad[i] for i in range(n)]
        # windows may reach into the padding, and, rounding up, beyond it
        limits = [min(starts[i] + kernel[i], x.shape[2 + i] + pad[i]) for i in range(n)]
        inside = tuple(slice(max(0, s), min(e, x.shape[2 + i])) for i, (s, e) in enumerate(zip(starts, limits)))
        window = x[(slice(None), slice(None)) + inside].reshape(x.shape[0], x.shape[1], -1)
        count = np.prod([e - s for s, e in zip(starts, limits)]) if count_include_pad else window.shape[2]
        out[(slice(None), slice(None)) + at] = window.max(2, initial=fill) if how == 'max' else window.sum(2) / count
    return out


@pytest.mark.parametrize('layer, shape', [
    (lambda: nn.MaxPool1D(), (2, 3, 7)),
    (lambda: nn.MaxPool2D(3, 2, 1), (2, 3, 7, 6)),
    (lambda: nn.MaxPool2D((2, 3), ceil_mode=True), (1, 2, 7, 8)),
    (lambda: nn.MaxPool3D(2), (1, 2, 4, 4, 4)),
    (lambda: nn.AvgPool1D(3, 1, 1), (2, 3, 7)),
    (lambda: nn.AvgPool2D(3, 2, 1), (2, 3, 7, 6)),
    (lambda: nn.AvgPool2D(3, 2, 1, count_include_pad=False), (2, 3, 7, 6)),
    (lambda: nn.AvgPool3D(2), (1, 2, 4, 4, 4)),
])
def test_pooling(layer, shape):
    layer = layer()
    k = layer._kwargs
    check(layer, shape, lambda x, p: pool_reference(x, k['kernel'], k['stride'], k['pad'], k['pool_type'],
                                                    k['pooling_convention'] == 'full', k.get('count_include_pad', True)))


@pytest.mark.parametrize('name, how', [('Max', np.max), ('Avg', np.mean)])
@pytest.mark.parametrize('n', [1, 2, 3])
def test_global_pooling(name, how, n):
    check(getattr(nn, f'Global{name}Pool{n}D')(), (2, 3) + (4,) * n, lambda x, p: how(x, axis=tuple(range(2, 2 + n)), keepdims=True))


def test_batchnorm_training_and_prediction():
    layer = nn.BatchNorm(momentum=0.8, epsilon=1e-3)
    layer.initialize()
    x = nd.array(RNG.uniform(-1, 3, (4, 3, 2, 2)))
    layer(x)
    layer.gamma.set_data(nd.array([1, 2, 3]))
    layer.beta.set_data(nd.array([0, 1, -1]))
    values = x.asnumpy()
    mean, var = values.mean((0, 2, 3)), values.var((0, 2, 3))

    def normalised(mean, var):
        c = (1, -1, 1, 1)
        return (values - mean.reshape(c)) / np.sqrt(var.reshape(c)
                                                    + 1e-3) * np.array([1, 2, 3]).reshape(c) + np.array([0, 1, -1]).reshape(c)
    with autograd.record():
        y = layer(x)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), normalised(mean, var), rtol=1e-4, atol=1e-4)
    running_mean, running_var = layer.running_mean.data().asnumpy(), layer.running_var.data().asnumpy()
    np.testing.assert_allclose(running_mean, 0.2 * mean, rtol=1e-4)
    np.testing.assert_allclose(running_var, 0.8 + 0.2 * var, rtol=1e-4)
    np.testing.assert_allclose(layer(x).asnumpy(), normalised(running_mean, running_var), rtol=1e-4, atol=1e-4)


def test_batchnorm_options():
    fixed = nn.BatchNorm(scale=False, center=False, in_channels=2)
    assert fixed.gamma.grad_req == fixed.beta.grad_req == 'null' and fixed.running_mean.grad_req == 'null'
    last = nn.BatchNorm(axis=-1)
    last.initialize()
    assert last(nd.ones((2, 4, 3))).shape == (2, 4, 3) and last.gamma.shape == (3,)
    frozen = nn.BatchNorm(use_global_stats=True)
    frozen.initialize()
    x = nd.array(RNG.uniform(2, 3, (4, 2)))
    with autograd.record():
        y = frozen(x)
    np.testing.assert_allclose(y.asnumpy(), x.asnumpy(), rtol=1e-3)


def normalise(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_layer_group_instance_norm():
    check(nn.LayerNorm(), (2, 3, 5), lambda x, p: normalise(x, -1), atol=1e-4)
    check(nn.LayerNorm(axis=1, in_channels=3), (2, 3, 5), lambda x, p: normalise(x, 1), atol=1e-4)
    check(nn.InstanceNorm(), (2, 3, 5, 5), lambda x, p: normalise(x, (2, 3)), atol=1e-4)
    check(nn.InstanceNorm(axis=2), (2, 3, 5), lambda x, p: normalise(x, 1), atol=1e-4)
    check(nn.GroupNorm(2), (2, 4, 5), lambda x, p: normalise(x.reshape(2, 2, -1), -1).reshape(x.shape), atol=1e-4)


@pytest.mark.parametrize('layer, f', [
    (lambda: nn.Activation('relu'), lambda x: np.maximum(x, 0)),
    (lambda: nn.Activation('sigmoid'), lambda x: 1 / (1 + np.exp(-x))),
    (lambda: nn.Activation('softrelu'), lambda x: np.log1p(np.exp(x))),
    (lambda: nn.Activation('softsign'), lambda x: x / (1 + abs(x))),
    (lambda: nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    (lambda: nn.PReLU(), lambda x: np.where(x > 0, x, 0.25 * x)),
    (lambda: nn.ELU(0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    (lambda: nn.SELU(), lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    (lambda: nn.GELU(), lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    (lambda: nn.Swish(2.0), lambda x: x / (1 + np.exp(-2 * x))),
    (lambda: nn.SiLU(), lambda x: x / (1 + np.exp(-x))),
])
def test_activations(layer, f):
    check(layer(), (3, 4), lambda x, p: f(x))


def test_dropout():
    layer = nn.Dropout(0.4)
    x = nd.ones((100, 100))
    assert np.array_equal(layer(x).asnumpy(), x.asnumpy())
    with autograd.record():
        y = layer(x)
    kept = y.asnumpy() != 0
    assert 0.57 < kept.mean() < 0.63
    np.testing.assert_allclose(y.asnumpy()[kept], 1 / 0.6, rtol=1e-5)
    along = nn.Dropout(0.5, axes=(1,))
    with autograd.record():
        rows = along(x).asnumpy()
    assert (rows == rows[:, :1]).all() and 0 < (rows[:, 0] != 0).sum() < 100
    assert np.array_equal(nn.Dropout(0)(x).asnumpy(), x.asnumpy())


def test_embedding_gradient_adds_up():
    layer = nn.Embedding(5, 3)
    layer.initialize()
    ids = nd.array([[1, 4], [1, 0]])
    with autograd.record():
        y = layer(ids)
    y.backward()
    assert y.shape == (2, 2, 3)
    np.testing.assert_allclose(y.asnumpy(), layer.weight.data().asnumpy()[[[1, 4], [1, 0]]])
    assert layer.weight.grad().asnumpy()[:, 0].tolist() == [1, 2, 0, 0, 1]


def test_flatten_lambda_identity_padding():
    check(nn.Flatten(), (2, 3, 4), lambda x, p: x.reshape(2, 12))
    check(nn.HybridLambda('tanh'), (2, 3), lambda x, p: np.tanh(x))
    check(nn.HybridLambda(lambda F, x: F.square(x) + 1), (2, 3), lambda x, p: x * x + 1)
    x = nd.array([[1., -2.]])
    assert nn.Identity()(x) is x
    check(nn.ReflectionPad2D(1), (1, 1, 3, 4), lambda x, p: np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], 'reflect'))
    check(nn.ReflectionPad2D((0, 0, 0, 0, 2, 0, 1, 3)), (2, 1, 4, 4), lambda x, p: np.pad(x, [(0, 0), (0, 0), (2, 0), (1, 3)], 'reflect'))
    with pytest.raises(AssertionError, match='padding'):
        nn.ReflectionPad2D((1, 2))
    assert nn.Lambda('relu')(x).asnumpy().tolist() == [[1, 0]] and nn.Lambda(lambda v: v * 2)(x).asnumpy().tolist() == [[2, -4]]
    for wrong in ('no_such_function', 3):
        with pytest.raises(ValueError):
            nn.Lambda(wrong)
        with pytest.raises(ValueError):
            nn.HybridLambda(wrong)


def test_concurrent():
    for kind, inner in ((contrib_nn.HybridConcurrent, nn.HybridLambda), (contrib_nn.Concurrent, nn.Lambda)):
        net = kind(axis=1)
        net.add(contrib_nn.Identity(), inner('square'))
        assert net(nd.array([[1, 3]])).asnumpy().tolist() == [[1, 3, 1, 9]]


def test_pixel_shuffle():
    def two(x, p):
        n, c, h, w = x.shape
        return x.reshape(n, c // 6, 2, 3, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // 6, 2 * h, 3 * w)

    def three(x, p):
        n, c, d, h, w = x.shape
        return x.reshape(n, c // 24, 2, 3, 4, d, h, w).transpose(0, 1, 5, 2, 6, 3, 7, 4).reshape(n, c // 24, 2 * d, 3 * h, 4 * w)
    check(contrib_nn.PixelShuffle1D(2), (1, 4, 3), lambda x, p: x.reshape(1, 2, 2, 3).transpose(0, 1, 3, 2).reshape(1, 2, 6))
    check(contrib_nn.PixelShuffle2D((2, 3)), (1, 12, 2, 2), two)
    check(contrib_nn.PixelShuffle3D((2, 3, 4)), (1, 24, 2, 1, 2), three)


def test_layers_share_one_name_scheme():
    with mx.name.NameManager():
        assert [b.prefix for b in (nn.Conv2D(1, 1), nn.Conv1DTranspose(1, 1), nn.MaxPool2D(), nn.GlobalAvgPool1D(), nn.Activation('tanh'),
                                   nn.Dense(1), nn.BatchNorm(), gluon.loss.L2Loss())] == [
            'conv0_', 'conv1_', 'pool0_', 'pool1_', 'tanh0_', 'dense0_', 'batchnorm0_', 'l2loss0_']


def test_convolutions_without_channels_are_refused():
    for layer in (nn.Conv2D, nn.Conv1D, nn.Conv2DTranspose):
        with pytest.raises(AssertionError, match='channels=0'):
            layer(0, 3)


def test_gradients_in_sparse_storage_give_the_same_weights():
    layers = [gluon.nn.Embedding(5, 3, sparse_grad=sparse) for sparse in (True, False)]
    for layer in layers:
        layer.initialize(mx.init.One())
        trainer = gluon.Trainer(layer.collect_params(), 'adagrad', {'learning_rate': .1})
        for _ in range(2):
            with mx.autograd.record():
                loss = (layer(mx.nd.array([1, 3, 1])) ** 2).sum()
            loss.backward()
            trainer.step(1)
    assert [layer.weight.grad().stype for layer in layers] == ['row_sparse', 'default']
    np.testing.assert_allclose(*(layer.weight.data().asnumpy() for layer in layers), rtol=1e-6)
    with pytest.raises(ValueError, match="accepted: 'default', 'row_sparse', 'csr'"):
        mx.nd.ones(3).attach_grad(stype='dense')
