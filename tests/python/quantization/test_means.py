"""Averages of 8-bit images whose channels lie beside each other: whole numbers, ties to the even
one."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.cpu
INTEGERS = {"int8": (-128, 127), "uint8": (0, 255)}
ODD = [(1, 1), (1, 3), (3, 3), (5, 3), (1, 127), (11, 11), (5, 25)]
EVEN = [(1, 2), (2, 2), (4, 1), (8, 8), (2, 64), (16, 8)]


def means(x, kernel, stride, pad):
    """Of windows that are whole; what is outside of the image counts as zeros."""
    x = np.pad(x.astype("int64"), ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    out = [(x.shape[i + 2] - kernel[i]) // stride[i] + 1 for i in (0, 1)]
    y = sum(x[:, :, i::stride[0], j::stride[1]][:, :, :out[0], :out[1]] for i in range(kernel[0]) for j in range(kernel[1]))
    return np.rint(y / (kernel[0] * kernel[1]))


def pooled(x, **options):
    """Behind a layer that gives its data as they are, but with their channels beside each other."""
    dtype, channels = str(x.dtype), x.shape[1]
    names = ("data", "weight", "scale", "zero", "bias", "low", "high")
    arrays = [mx.nd.array(x, dtype=dtype), mx.nd.array(np.eye(channels)[:, :, None, None], dtype="int8"), mx.nd.ones(1),
              mx.nd.zeros(1, dtype=dtype), mx.nd.zeros(channels), mx.nd.array([-1]), mx.nd.array([1])]
    given = [mx.sym.var(n) for n in names]
    layer = mx.sym._internal._integer_convolution(*given[:5], kernel=(1, 1), num_filter=channels, out_type=dtype, out_scale=1, out_zero=0)
    out = mx.sym.contrib.quantized_pooling(layer, *given[5:], pool_type="avg", **options)[0]
    executor = out.bind(mx.cpu(), dict(zip(names, arrays)), grad_req="null")
    y = executor.forward()[0].asnumpy()
    return y, [n["ran"][0]["implementation"] for n in executor.explain(runs=1).plan["nodes"] if "pooling" in n["op"]]


@pytest.mark.parametrize("kernel", ODD + EVEN)
@pytest.mark.parametrize("dtype", list(INTEGERS))
def test_means_of_rows(dtype, kernel):
    rng = np.random.default_rng(sum(kernel))
    low, high = INTEGERS[dtype]
    for stride, pad in (((1, 1), (0, 0)), ((2, 1), (kernel[0] // 2, kernel[1] // 2)), ((1, 2), (0, kernel[1] // 2))):
        image = [kernel[i] + 2 * stride[i] for i in (0, 1)]
        x = rng.integers(low, high + 1, (2, 37, *image))
        x[0, :5], x[0, 5:9] = low, high                    # the largest sums
        x[1, :8] = rng.choice([low, high], x[1, :8].shape)
        y, ran = pooled(x.astype(dtype), kernel=kernel, stride=stride, pad=pad)
        np.testing.assert_array_equal(y, means(x, kernel, stride, pad))
        assert ran == ["means of rows"]


@pytest.mark.parametrize("dtype", list(INTEGERS))
def test_every_sum(dtype):
    """Of three numbers, and of four, whose sums may lie in the middle of two whole ones."""
    low, high = INTEGERS[dtype]
    for count in (3, 4):
        total = np.arange(count * low, count * high + 1)
        parts = [total // count + (total % count > i) for i in range(count)]
        x = np.stack(parts)[None, None].astype(dtype).transpose(0, 3, 1, 2)   # a channel for each sum
        y, ran = pooled(x, kernel=(1, count))
        np.testing.assert_array_equal(y.ravel(), np.rint(total / count))
        assert ran == ["means of rows"]
