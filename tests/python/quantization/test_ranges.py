"""Ranges, thresholds and integers: those of MXNet 1.9.1, number for number."""
import json
from pathlib import Path

import numpy as np
import pytest
from quantization_cases import digits_network, values

import mxnet as mx
from mxnet.contrib import quantization

DATA = Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "quantization_1_9_1.json").read_text())
ARRAYS = np.load(DATA / "quantization_1_9_1.npz")


@pytest.mark.parametrize("key", ["even", "small", "one side", "halves"])
def test_parameters(key):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="f")
    params = quantization.quantize_graph(net, {"f_weight": mx.nd.array(ARRAYS[key + " in"])}, {}, calib_mode="none")[1]
    for name in ("f_weight_quantize", "f_weight_quantize_min", "f_weight_quantize_max"):
        made, recorded = params[name].asnumpy(), ARRAYS[f"{key} {name}"]
        assert made.dtype == recorded.dtype
        np.testing.assert_array_equal(made, recorded)


def test_zeros_are_zeros():
    """1.9.1 makes 127 of them."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, no_bias=True, name="f")
    params = quantization.quantize_graph(net, {"f_weight": mx.nd.zeros((3, 2))}, {}, calib_mode="none")[1]
    assert not any(a.asnumpy().any() for a in params.values())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_parameters_that_are_not_finite(bad):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, no_bias=True, name="f")
    with pytest.raises(ValueError, match="the parameter f_weight of shape .* not finite"):
        quantization.quantize_graph(net, {"f_weight": mx.nd.array([[1, bad]])}, {}, calib_mode="none")


def test_combined_histograms():
    first = np.random.RandomState(0).uniform(-1, 1, 50).astype("float32")
    counts, edges = np.histogram(first, bins=8, range=(-1., 1.))
    for scale, *recorded in RECORDED["combined"]:
        new = (np.random.RandomState(1).uniform(-1, 1, 50) * scale).astype("float32")
        made = quantization.combine_histogram((counts, edges, first.min(), first.max(), 1.0), new, new.min(), new.max(), abs(new).max())
        assert made[0].tolist() == recorded[0]
        np.testing.assert_allclose(made[1], recorded[1], rtol=1e-6)
        np.testing.assert_allclose(made[2:], recorded[2:], rtol=1e-6)


def test_histograms_that_begin_with_zeros():
    collector = quantization._LayerHistogramCollector(num_bins=5)
    for value in ([0., 0.], [1., -2.], [0., 4.]):
        collector.collect("x", mx.nd.array(value))
    counts, edges, least, most, threshold = collector.hist_dict["x"]
    assert counts.sum() == 6 and least == -2 and most == 4 and threshold >= 4
    assert counts[(len(counts) - 1) // 2] == 3    # zeros


@pytest.mark.parametrize("kind, seed, dtype, threshold, divergence", RECORDED["thresholds"])
def test_thresholds(kind, seed, dtype, threshold, divergence):
    x = values(kind, seed)
    end = float(abs(x).max())
    hist = (*np.histogram(x, bins=8001, range=(-end, end)), x.min(), x.max(), end)
    made = quantization._get_optimal_threshold(hist, dtype)
    assert made[:2] == (x.min(), x.max())
    np.testing.assert_allclose(made[2], threshold, rtol=1e-6)
    np.testing.assert_allclose(made[3], divergence, rtol=1e-4)


def model():
    arrays = {name: mx.nd.array(ARRAYS[name]) for name in ARRAYS if name[:4] in ("arg:", "aux:")}
    split = [{n[4:]: a for n, a in arrays.items() if n.startswith(kind)} for kind in ("arg:", "aux:")]
    return (digits_network(mx), *split)


def calibration():
    return mx.io.NDArrayIter(ARRAYS["calibration"].astype("float32")[:, None] / 16, None, 50)


def ranges(symbol):
    return {n: [float(a["min_calib_range"]), float(a["max_calib_range"])] for n, a in symbol.attr_dict().items() if "min_calib_range" in a}


@pytest.mark.parametrize("mode", ["naive", "entropy"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "auto"])
def test_ranges_of_a_network(mode, dtype):
    qsym, args, _ = quantization.quantize_model(*model(), calib_mode=mode, calib_data=calibration(), quantized_dtype=dtype,
                                                quantize_mode="full", num_calib_examples=150)
    made, recorded = ranges(qsym), RECORDED["digits"][f"{mode} {dtype}"]
    assert made.keys() == recorded.keys()
    for name, pair in recorded.items():
        np.testing.assert_allclose(made[name], pair, rtol=2e-5, atol=1e-6, err_msg=name)
    for name in args:
        if "_quantize" in name:
            np.testing.assert_array_equal(args[name].asnumpy(), ARRAYS[f"int8 {name}"], err_msg=name)


@pytest.mark.parametrize("mode", ["naive", "entropy"])
def test_ranges_of_merged_layers(mode):
    qsym, _, _ = quantization.quantize_model_mkldnn(*model(), calib_mode=mode, calib_data=calibration(), quantized_dtype="auto",
                                                    quantize_mode="full")
    made, recorded = ranges(qsym), RECORDED["digits"][f"merged {mode}"]
    names = {"data_quantize": "data_quantize", "requantize_relu0": "quantized_sg_mkldnn_conv_bn_act_0",
             "requantize_relu1": "quantized_sg_mkldnn_conv_bn_act_1", "requantize_relu2": "quantized_sg_mkldnn_fully_connected_eltwise_0"}
    assert made.keys() == names.keys()
    for name, theirs in names.items():
        np.testing.assert_allclose(made[name], recorded[theirs], rtol=2e-5, atol=1e-6, err_msg=name)


def test_collectors_of_both_versions():
    arrays = [mx.nd.array([1, 2]), mx.nd.array([-3, 1])]
    first = quantization._LayerOutputMinMaxCollector("int8", include_layer=["x"])
    second = quantization._LayerOutputMinMaxCollector(quantized_dtype="int8", include_layers=["x"])
    for array in arrays:
        first.collect("x", array)
        second.collect("x", "relu", array)
        first.collect("y", array)
    assert first.min_max_dict == second.post_collect() == {"x": (-3, 2)}
    third = quantization._LayerHistogramCollector("auto", num_bins=11, include_layers=["x"])
    assert third.quantized_dtype == "auto" and third.num_bins == 11
    third.collect("x", "relu", arrays[0])
    third.collect("x", "relu", arrays[1])
    assert third.hist_dict["x"][0].tolist() == [1] + 10 * [0] + [2, 0, 1, 0, 0, 0]
    assert third.hist_dict["x"][4] == pytest.approx(34 / 11)


def test_values_that_are_not_finite():
    collector = quantization._LayerOutputMinMaxCollector("int8")
    with pytest.raises(ValueError, match="x of shape .* not finite"):
        collector.collect("x", mx.nd.array([np.nan]))
    with pytest.raises(ValueError, match="x of shape .* has no values"):
        collector.collect("x", mx.nd.zeros((0,)))


def test_a_collector_without_collect():
    with pytest.raises(NotImplementedError, match="CalibrationCollector has no collect"):
        quantization.CalibrationCollector().collect("x", "relu", mx.nd.zeros(1))
