"""Depthwise convolutions of planes, channels first: results and gradients against float64."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu

SIZES = [(1, 1), (2, 3), (7, 7), (8, 20), (14, 14), (30, 31), (70, 80), (3, 5000)]


def shifted(padded, i, j, dilate, height, width):
    return padded[:, :, i * dilate[0]:i * dilate[0] + height, j * dilate[1]:j * dilate[1] + width]


def wanted(x, w, b, head, pad, dilate):
    """Result, gradients of x, w and b."""
    size, (height, width) = w.shape[2], head.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    y, dw, dx = np.zeros(head.shape) + b[:, None, None], np.zeros(w.shape), np.zeros(padded.shape)
    for i in range(size):
        for j in range(size):
            part, weight = shifted(padded, i, j, dilate, height, width), w[:, 0, i, j, None, None]
            y += part * weight
            dw[:, 0, i, j] = (part * head).sum((0, 2, 3))
            shifted(dx, i, j, dilate, height, width)[:] += head * weight
    return y, dx[:, :, pad[0]:pad[0] + x.shape[2], pad[1]:pad[1] + x.shape[3]], dw, head.sum((0, 2, 3))


@pytest.mark.parametrize("dilate", [(1, 1), (2, 1), (1, 3)])
@pytest.mark.parametrize("kernel", [3, 5, 7])
@pytest.mark.parametrize("size", SIZES)
def test_against_float64(size, kernel, dilate):
    rng = np.random.default_rng(kernel)
    for pad in {(0, 0), (1, 1), (kernel // 2, kernel // 2), (kernel - 1, 0), (0, kernel - 1)}:
        out = [n + 2 * p - (kernel - 1) * d for n, p, d in zip(size, pad, dilate)]
        if min(out) < 1:
            continue
        x, w, b = (rng.standard_normal(s) for s in ((2, 3, *size), (3, 1, kernel, kernel), 3))
        head = rng.standard_normal((2, 3, *out))
        arrays = [mx.nd.array(v) for v in (x, w, b)]
        for array in arrays:
            array.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Convolution(*arrays, num_filter=3, num_group=3, kernel=(kernel, kernel), pad=pad, dilate=dilate)
        y.backward(mx.nd.array(head))
        for got, want in zip([y] + [a.grad for a in arrays], wanted(x, w, b, head, pad, dilate)):
            np.testing.assert_allclose(got.asnumpy(), want, rtol=2e-5, atol=2e-5 * np.sqrt(max(want.size, head.size / 3)))


def test_what_a_plane_holds_stays_in_it():
    """Infinite numbers reach the results of their own plane only, and no other row's borders."""
    x = np.zeros((1, 3, 6, 6), "float32")
    x[0, 1, 2, 5] = np.inf
    y = mx.nd.Convolution(mx.nd.array(x), mx.nd.ones((3, 1, 3, 3)), num_filter=3, num_group=3, kernel=(3, 3), pad=(1, 1),
                          no_bias=True).asnumpy()
    want = np.zeros_like(x)
    want[0, 1, 1:4, 4:] = np.inf
    np.testing.assert_array_equal(y, want)
