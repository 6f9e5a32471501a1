"""Biases in 32 bits, and what 8 bits cannot hold."""
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import quantization

LARGEST = 2 ** 31 - 1


def layer(kind, *inputs, **more):
    if kind == "dense":
        return mx.nd.contrib.quantized_fully_connected(*inputs, num_hidden=3, **more)
    return mx.nd.contrib.quantized_conv(*inputs, kernel=(1, 1), num_filter=3, **more)


@pytest.mark.parametrize("kind", ["dense", "convolution"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_a_bias_of_32_bits_has_the_range_of_all_of_them(kind, dtype):
    rng = np.random.RandomState(4)
    shape, end = ((2, 5), (3, 5)) if kind == "dense" else ((2, 5, 2, 2), (3, 5, 1, 1))
    x = rng.randint(0, 100, shape)
    w = rng.randint(-127, 128, end)
    bias = np.array([0.7, -0.3, 0.001])
    one = lambda value: mx.nd.array([value])   # noqa: E731
    arrays = [mx.nd.array(x, dtype=dtype), mx.nd.array(w, dtype="int8"),
              mx.nd.array(np.rint(bias / 0.7 * LARGEST).astype("int32"), dtype="int32")]
    sums, _, high = layer(kind, *arrays, one(-2.0), one(2.0), one(-0.5), one(0.5), one(-0.7), one(0.7))
    unit = 2.0 / (127 if dtype == "int8" else 255) * 0.5 / 127
    assert abs(high.asscalar() / LARGEST - unit) < 1e-6 * unit
    added = bias if kind == "dense" else bias[:, None, None]
    exact = np.tensordot(x, w.reshape(3, 5), (1, 1))
    exact = (exact if kind == "dense" else np.moveaxis(exact, -1, 1)) + np.trunc(added / unit)
    assert abs(sums.asnumpy() - exact).max() <= 1


def test_biases_of_other_dtypes_are_refused():
    arrays = [mx.nd.zeros((2, 5), dtype="int8"), mx.nd.zeros((3, 5), dtype="int8"), mx.nd.zeros(3)]
    with pytest.raises(mx.MXNetError, match="bias.*float32"):
        layer("dense", *arrays, *[mx.nd.ones(1)] * 6)


@pytest.mark.parametrize("kind", ["dense", "convolution"])
def test_merged_graphs_have_biases_of_32_bits(kind):
    """They lie far from the weights' range, where 8 bits would lose most of them."""
    data = mx.sym.Variable("data")
    net = (mx.sym.FullyConnected(data, num_hidden=3, name="f") if kind == "dense"
           else mx.sym.Convolution(data, kernel=(1, 1), num_filter=3, name="f"))
    shape = (8, 5) if kind == "dense" else (8, 5, 2, 2)
    rng = np.random.RandomState(0)
    args = {"f_weight": mx.nd.array(rng.uniform(-1, 1, (3, 5) if kind == "dense" else (3, 5, 1, 1))),
            "f_bias": mx.nd.array([100, 0.3, -0.3])}
    x = mx.nd.array(rng.uniform(-1, 1, shape))
    exact = net.eval(data=x, **args)[0].asnumpy()
    batches = mx.io.NDArrayIter(x, None, 8)
    symbol, params, _ = quantization.quantize_model_mkldnn(net, args, {}, calib_mode="naive", calib_data=batches)
    assert params["f_bias_quantize"].dtype == np.int32 and params["f_weight_quantize"].dtype == np.int8
    assert abs(symbol.eval(data=x, **params)[0].asnumpy() - exact).max() < 0.05      # 8 bits: 0.4
    plain, params, _ = quantization.quantize_model(net, args, {}, calib_mode="naive", calib_data=batches)
    assert params["f_bias_quantize"].dtype == np.int8      # as 1.9.1 writes them


def test_negative_values_as_unsigned_integers_are_warned_of():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="f")
    args = {"f_weight": mx.nd.ones((2, 3)), "f_bias": mx.nd.zeros(2)}
    for sign, warned in ((-1, True), (1, False)):
        data = mx.io.NDArrayIter(mx.nd.ones((4, 3)) * sign, None, 4)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            quantization.quantize_model_mkldnn(net, args, {}, calib_mode="naive", calib_data=data, quantized_dtype="uint8")
        texts = [w for w in said if "makes 0 of the negative values" in str(w.message)]
        assert bool(texts) == warned and all(w.filename == __file__ for w in texts)
