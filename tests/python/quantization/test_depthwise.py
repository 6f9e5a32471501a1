"""Depthwise convolutions of bytes by loops of our own, which take over where oneDNN has no exact
sums of bytes (a processor without VNNI, MXNET_ONEDNN_ENABLED=0)."""
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
