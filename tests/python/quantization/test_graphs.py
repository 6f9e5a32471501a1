"""Graphs in 8-bit integers: those of MXNet 1.9.1, and what merging layers changes."""
import json
import re
from pathlib import Path

import numpy as np
import pytest
from quantization_cases import cases, conv, parameters, relu, residual

import mxnet as mx
from mxnet.contrib import quantization

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "quantization_1_9_1.json").read_text())
CASES = {key: (net, options) for key, net, options in cases()}


def nodes_of(symbol):
    nodes = json.loads(symbol.tojson())["nodes"]
    return [[n["op"], n["name"], n.get("attrs", {}), [[nodes[i]["name"], k] for i, k, _ in n["inputs"]]] for n in nodes]


def of_operators(nodes):
    """{name: (operator, parameters, inputs)}. 1.9.1 calls the result of some operators NAME_0."""
    plain = lambda name: re.sub(r"_0_quantize$", "_output_quantize", name)
    return {plain(name): (op, {k: v for k, v in attrs.items() if k[:2] != "__"}, [[plain(n), i] for n, i in inputs])
            for op, name, attrs, inputs in nodes if op != "null"}


def quantized(make, **options):
    net = make(mx)
    return quantization.quantize_graph(net, parameters(mx, net), {}, **{"calib_mode": "naive", **options})


@pytest.mark.parametrize("key", CASES)
def test_graphs_are_those_of_1_9_1(key):
    net, options = CASES[key]
    qsym, params, _, collector = quantized(net, **options)
    recorded = RECORDED["graphs"][key]
    assert of_operators(nodes_of(qsym)) == of_operators(recorded["nodes"])
    assert qsym.list_outputs() == recorded["outputs"]
    assert sorted(params) == recorded["params"]
    assert collector.include_layers == recorded["calibrated"]
    variables = [name for op, name, *_ in recorded["nodes"] if op == "null"]
    assert sorted(qsym.list_inputs()) == sorted(variables)


def test_without_calibration_there_is_no_collector():
    assert quantized(residual, calib_mode="none")[3] is None
    assert quantized(residual, calib_mode=None)[3] is None
    assert quantized(residual, calib_mode="customize")[3] is None


def test_pooling_that_has_no_form_in_integers_stays():
    """1.9.1 makes a graph that cannot run of it."""
    net = mx.sym.Pooling(mx.sym.Variable("data"), kernel=(2, 2), pool_type="sum", name="p")
    assert [op for op, *_ in nodes_of(quantization.quantize_graph(net, {}, {}, calib_mode="none")[0])] == ["null", "Pooling"]


def test_moments_that_somebody_reads_keep_a_normalization():
    data = mx.sym.Variable("data")
    norm = mx.sym.BatchNorm(data, name="b", output_mean_var=True)
    qsym = quantization.quantize_graph(mx.sym.Group([norm[0], norm[1]]), {}, {}, calib_mode="none")[0]
    assert "BatchNorm" in [op for op, *_ in nodes_of(qsym)]


def test_ranges_find_their_nodes():
    qsym, params, states, collector = quantized(residual)
    for i, name in enumerate(collector.include_layers):
        collector.min_max_dict[name] = -0.1 - i, 1e-7 + i
    collector.min_max_dict["absent"] = 0, 1
    calibrated = quantization.calib_graph(qsym, params, states, collector, calib_mode="naive")[0]
    attrs = calibrated.attr_dict()
    read = {n: (float(a["min_calib_range"]), float(a["max_calib_range"])) for n, a in attrs.items() if "min_calib_range" in a}
    names = ["data_quantize", "requantize_conv0", "quantized_bn0", "requantize_conv1", "requantize_plus0", "requantize_fc0"]
    assert list(collector.include_layers) == ["data", "conv0_output", "bn0_output", "conv1_output", "plus0_output", "fc0_output"]
    assert {n: tuple(np.float32(pair)) for n, pair in read.items()} == {n: (np.float32(-0.1 - i), np.float32(1e-7 + i))
                                                                        for i, n in enumerate(names)}
    assert "min_calib_range" not in qsym.tojson()    # the graph that was given stays


def merged(net, arg_params, aux_params=None, **options):
    options = dict(dict(calib_mode="none", quantize_mode="full"), **options)
    return quantization.quantize_model_mkldnn(net, arg_params, aux_params or {}, **options)


def random_parameters(net, **shapes):
    rng = np.random.RandomState(0)
    arg_shapes, _, aux_shapes = net.infer_shape(**shapes)
    draw = lambda shape: mx.nd.array(rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape))
    arg_params = {n: draw(s) for n, s in zip(net.list_arguments(), arg_shapes) if n not in shapes}
    return arg_params, {n: abs(draw(s)) for n, s in zip(net.list_auxiliary_states(), aux_shapes)}


def test_merging_folds_normalization_into_the_layer():
    x = conv(mx, mx.sym.Variable("data"), "c")
    net = mx.sym.tanh(relu(mx, mx.sym.BatchNorm(x, name="b", fix_gamma=False), "r"))
    arg_params, aux_params = random_parameters(net, data=(2, 3, 6, 6))
    qsym, args, states = merged(net, arg_params, aux_params)
    operators = of_operators(nodes_of(qsym))
    assert [n for n in operators if "b" == n or n == "quantized_b"] == []
    assert not states and "b_gamma" not in args
    scale = arg_params["b_gamma"].asnumpy() / np.sqrt(aux_params["b_moving_var"].asnumpy() + 1e-3)
    weight = arg_params["c_weight"].asnumpy() * scale[:, None, None, None]
    bias = arg_params["b_beta"].asnumpy() - aux_params["b_moving_mean"].asnumpy() * scale
    for name, wanted, steps in (("c_weight", weight, 127), ("c_bias", bias, 2 ** 31 - 1)):
        end = args[name + "_quantize_max"].asnumpy()[0]
        np.testing.assert_allclose(end, abs(wanted).max(), rtol=1e-5)
        np.testing.assert_allclose(args[name + "_quantize"].asnumpy() * (end / steps), wanted, atol=0.51 * end / steps, rtol=1e-5)


def test_a_relu_shares_its_range_with_the_layer():
    net = conv(mx, relu(mx, conv(mx, mx.sym.Variable("data"), "c"), "r"), "d")
    arg_params, _ = random_parameters(net, data=(2, 3, 6, 6))
    operators = of_operators(nodes_of(merged(net, arg_params)[0]))
    assert "requantize_r" in operators and operators["quantized_r"][2][0] == ["requantize_r", 0]


def test_a_relu_beside_another_reader_does_not():
    x = conv(mx, mx.sym.Variable("data"), "c")
    net = mx.sym.Group([conv(mx, relu(mx, x, "r"), "d"), mx.sym.tanh(x)])
    arg_params, _ = random_parameters(net, data=(2, 3, 6, 6))
    operators = of_operators(nodes_of(merged(net, arg_params)[0]))
    assert "requantize_c" in operators and "requantize_r" not in operators


def test_what_lies_between_floats_stays():
    """A layer gives floats as well as integers: what follows the last one needs no range."""
    table = mx.sym.Embedding(mx.sym.Variable("words"), mx.sym.Variable("e_weight"), input_dim=7, output_dim=36, name="e")
    moved = mx.sym.transpose(mx.sym.reshape(mx.sym.Variable("data"), shape=(0, 6, 6, 3)), axes=(0, 3, 1, 2), name="t")
    x = mx.sym.Pooling(relu(mx, conv(mx, moved, "c"), "r"), kernel=(2, 2), stride=(2, 2), pool_type="max", name="p")
    net = relu(mx, mx.sym.elemwise_add(mx.sym.flatten(conv(mx, x, "d"), name="f"), mx.sym.tanh(table), name="s"), "q")
    arg_params, _ = random_parameters(net, data=(2, 108), words=(2,))
    operators = of_operators(nodes_of(merged(net, arg_params, data_names=("data", "words"))[0]))
    assert {"quantized_c", "quantized_r", "quantized_p", "quantized_d", "quantized_e"} <= set(operators)
    assert {"t", "f", "s", "q"} <= set(operators)


@pytest.mark.parametrize("how", ["shared weight", "other reader", "kept", "moments"])
def test_what_is_not_folded(how):
    data, w = mx.sym.Variable("data"), mx.sym.Variable("w")
    x = mx.sym.Convolution(data, w, kernel=(3, 3), num_filter=4, no_bias=True, name="c")
    y = mx.sym.BatchNorm(x, name="b", output_mean_var=how == "moments")
    net = mx.sym.Group([y[0], {"shared weight": w, "other reader": x, "kept": data, "moments": y[len(y.list_outputs()) - 1]}[how]])
    arg_params, aux_params = random_parameters(net, data=(2, 3, 6, 6))
    _, args, states = merged(net, arg_params, aux_params, excluded_sym_names=["b"] if how == "kept" else None)
    assert sorted(states) == ["b_moving_mean", "b_moving_var"] and "b_gamma" in args


def test_folding_needs_no_shape_of_the_data():
    net = mx.sym.BatchNorm(conv(mx, mx.sym.Variable("data"), "c"), name="b")
    arg_params, aux_params = random_parameters(net, data=(2, 3, 6, 6))
    assert not merged(net, arg_params, aux_params)[2]


def test_names_of_new_biases_are_free():
    """A variable that is called as the new bias would be."""
    x = conv(mx, mx.sym.Variable("data") + mx.sym.Variable("c_bias"), "c")
    net = mx.sym.BatchNorm(x, name="b")
    arg_params, aux_params = random_parameters(net, data=(2, 3, 6, 6))
    args = merged(net, arg_params, aux_params)[1]
    assert "c_bias_quantize" in args and args["c_bias_quantize"].shape == (2, 3, 6, 6)
    assert args["c_bias__quantize"].shape == (4,)


@pytest.mark.parametrize("mode", ["naive", "none"])
def test_a_clip_from_zero_is_a_relu_whose_range_ends_where_it_does(mode):
    """Without ranges nothing would cut values above: it stays in float32."""
    clip = mx.sym.clip(conv(mx, mx.sym.Variable("data"), "c"), a_min=0, a_max=0.75, name="clip")
    net = mx.sym.Convolution(clip, kernel=(1, 1), num_filter=4, no_bias=True, name="d")
    arg_params, _ = random_parameters(net, data=(2, 3, 6, 6))
    arg_params["d_weight"] = mx.nd.array(np.eye(4).reshape(4, 4, 1, 1))
    x = mx.nd.array(np.random.RandomState(1).uniform(-1, 1, (2, 3, 6, 6)))
    batches = mx.io.NDArrayIter(x, None, 2)
    qsym, args, _ = merged(net, arg_params, calib_mode=mode, calib_data=batches, quantized_dtype="auto")
    operators = of_operators(nodes_of(qsym))
    assert ("clip" in operators) == (mode == "none") and ("quantized_clip" in operators) == (mode == "naive")
    exact = net.eval(data=x, **arg_params)[0].asnumpy()
    assert exact.max() == 0.75 and abs(qsym.eval(data=x, **args)[0].asnumpy() - exact).max() < 0.06
