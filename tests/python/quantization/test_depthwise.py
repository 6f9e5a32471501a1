"""Depthwise convolutions of bytes by loops of our own, which take over where oneDNN has no exact
sums of bytes (a processor without VNNI, MXNET_ONEDNN_ENABLED=0), and for windows of 3 x 3."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def our_loops():
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "0")
    yield
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")


def sums(x, w, stride, pad, dilate):
    """Of images (n, h, w, c) and windows (c, kh, kw), in exact integers."""
    n, height, width, c = x.shape
    kernel = w.shape[1:]
    x = np.pad(x.astype("int64"), ((0, 0), (pad[0],) * 2, (pad[1],) * 2, (0, 0)))
    out = [(size + 2 * p - (k - 1) * d - 1) // s + 1 for size, p, k, d, s in zip((height, width), pad, kernel, dilate, stride)]
    y = np.zeros((n, *out, c), "int64")
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = x[:, i * dilate[0]:, j * dilate[1]:][:, ::stride[0], ::stride[1]][:, :out[0], :out[1]]
            y += part * w[:, i, j].astype("int64")
    return y


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("channels", [8, 32, 40, 67])
@pytest.mark.parametrize("kernel, stride, pad, dilate", [((3, 3), (1, 1), (1, 1), (1, 1)), ((3, 3), (2, 2), (1, 1), (1, 1)),
                                                         ((5, 3), (1, 2), (2, 0), (1, 1)), ((3, 3), (1, 1), (4, 3), (3, 2))])
def test_sums_are_exact(dtype, channels, kernel, stride, pad, dilate):
    rng = np.random.RandomState(0)
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    x, w = rng.randint(low, high, (2, 9, 11, channels)).astype(dtype), rng.randint(-127, 128, (channels, *kernel)).astype("int8")
    ends = [mx.nd.array([v]) for v in (-1, 1, -1, 1)]
    call = dict(kernel=kernel, stride=stride, pad=pad, dilate=dilate, num_filter=channels, num_group=channels, no_bias=True)

    def of(data, weight, **layout):
        arrays = dict(zip(("min_data", "max_data", "min_weight", "max_weight"), ends))
        return mx.nd.contrib.quantized_conv(data=mx.nd.array(data, dtype=dtype), weight=mx.nd.array(weight, dtype="int8"), **arrays,
                                            **call, **layout)[0].asnumpy()
    expected = sums(x, w, stride, pad, dilate)
    np.testing.assert_array_equal(of(x, w[..., None], layout="NHWC"), expected)
    np.testing.assert_array_equal(of(x.transpose(0, 3, 1, 2), w[:, None]), expected.transpose(0, 3, 1, 2))


def test_what_ran():
    names = ("data", "weight", "min_data", "max_data", "min_weight", "max_weight")
    out = mx.sym.contrib.quantized_conv(**{n: mx.sym.var(n) for n in names}, kernel=(3, 3), num_filter=16, num_group=16, no_bias=True,
                                        layout="NHWC")
    arrays = [mx.nd.zeros((1, 8, 8, 16), dtype="int8"), mx.nd.zeros((16, 3, 3, 1), dtype="int8"), *(mx.nd.ones(1) for _ in range(4))]
    executor = out.bind(mx.cpu(), dict(zip(names, arrays)), grad_req="null")
    executor.forward()
    ran = [n["ran"][0]["implementation"] for n in executor.explain(runs=1).plan["nodes"] if "quantized_conv" in n["op"]]
    assert ran == ["depthwise of bytes"]


@pytest.mark.parametrize("dtype, zero, out_type, out_zero", [("uint8", 0, "uint8", 0), ("uint8", 131, "int8", -3),
                                                              ("int8", -7, "uint8", 77), ("int8", 5, "int8", 0)])
@pytest.mark.parametrize("channels, width, stride, dilate", [(16, 9, 1, 1), (64, 1, 1, 1), (67, 12, 2, 1), (114, 7, 1, 1), (232, 6, 2, 1),
                                                             (96, 70, 1, 1), (40, 11, 3, 1), (56, 9, 1, 2)])
@pytest.mark.parametrize("onednn", ["0", "1"])
def test_layers_give_bytes(dtype, zero, out_type, out_zero, channels, width, stride, dilate, onednn):
    """A scale for each channel, a bias, limits and a step follow the sums."""
    mx.util.set_env("MXNET_ONEDNN_ENABLED", onednn)
    rng = np.random.RandomState(channels)
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    x = rng.randint(low, high, (2, 7, width, channels)).astype(dtype)
    w = rng.randint(-127, 128, (channels, 3, 3)).astype("int8")
    scale, bias = (rng.rand(channels) * 1e-3 + 1e-4).astype("float32"), rng.randn(channels).astype("float32")
    pad = dilate
    padded = x.astype("int64") - zero
    n = [(size + 2 * pad - 2 * dilate - 1) // stride + 1 for size in (7, width)]
    y = sums(padded, w, (stride, stride), (pad, pad), (dilate, dilate))
    assert y.shape[1:3] == tuple(n)
    values = np.clip(y * scale.astype("float64") + bias, -9.5, 20)
    ends = (-128, 127) if out_type == "int8" else (0, 255)
    expected = np.clip(np.rint(values / 0.11) + out_zero, *ends).transpose(0, 3, 1, 2)
    arrays = {"data": mx.nd.array(x.transpose(0, 3, 1, 2), dtype=dtype), "weight": mx.nd.array(w[:, None], dtype="int8"),
              "scale": mx.nd.array(scale), "zero": mx.nd.array([zero], dtype=dtype), "bias": mx.nd.array(bias)}
    symbol = mx.sym._internal._integer_convolution(
        **{name: mx.sym.var(name) for name in arrays}, kernel=(3, 3), stride=(stride,) * 2, dilate=(dilate,) * 2, pad=(pad,) * 2,
        num_filter=channels, num_group=channels, out_type=out_type, out_scale=0.11, out_zero=out_zero, low=-9.5, high=20)
    got = symbol.bind(mx.cpu(), arrays, grad_req="null").forward()[0].asnumpy().astype("int64")
    apart = np.abs(got - expected)
    assert apart.max() <= 1 and (apart != 0).mean() < 1e-3   # where a quotient is nearly the middle of two
