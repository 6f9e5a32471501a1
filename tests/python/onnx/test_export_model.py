"""The arguments of mx.onnx.export_model, its errors, and the file that it writes."""
import importlib
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
from onnx_checks import onnx, operators, run

import mxnet as mx

DATA = mx.sym.var("data")
DENSE = mx.sym.FullyConnected(DATA, num_hidden=3, name="fc")
X = np.arange(8, dtype="float32").reshape(2, 4)
EXPECTED = X.sum(axis=1, keepdims=True).repeat(3, axis=1) + 1


def params():
    return {"fc_weight": mx.nd.ones((3, 4)), "fc_bias": mx.nd.ones(3)}


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model.onnx")


def sizes(values):
    return [[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values]


def test_names_and_order_of_arguments_are_those_of_1_9_1():
    names = list(inspect.signature(mx.onnx.export_model).parameters)
    assert names[:11] == ["sym", "params", "in_shapes", "in_types", "onnx_file_path", "verbose", "dynamic",
                          "dynamic_input_shapes", "run_shape_inference", "input_type", "input_shape"]
    assert mx.contrib.onnx.export_model is mx.onnx.export_model
    assert importlib.import_module('mxnet.onnx.mx2onnx').export_model is mx.onnx.export_model
    reader = importlib.import_module("mxnet.contrib.onnx.onnx2mx")
    for name in ("import_model", "get_model_metadata", "import_to_gluon"):
        assert callable(getattr(mx.contrib.onnx, name)) and getattr(reader, name) is getattr(mx.contrib.onnx, name)


OF_1_9_1 = """Activation BatchNorm BlockGrad Cast Concat Convolution Crop Deconvolution Dropout Embedding Flatten FullyConnected
    InstanceNorm L2Normalization LRN LayerNorm LeakyReLU LogisticRegressionOutput MakeLoss Pad Pooling RNN ROIPooling Reshape
    SequenceMask SequenceReverse SliceChannel SoftmaxOutput SwapAxis UpSampling _arange _contrib_AdaptiveAvgPooling2D
    _contrib_BilinearResize2D _contrib_ROIAlign _contrib_arange_like _contrib_box_decode _contrib_box_nms _contrib_div_sqrt_dim
    _contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt _copy _div_scalar _equal_scalar
    _greater_scalar _lesser_scalar _linalg_gemm2 _maximum _maximum_scalar _minimum _minimum_scalar _mul_scalar _ones _power
    _power_scalar _random_normal _random_uniform _random_uniform_like _rdiv_scalar _rnn_param_concat _sample_multinomial
    _split_v2 _zeros abs add_n arccos arcsin arctan argmax argmin argsort batch_dot broadcast_add broadcast_axis broadcast_div
    broadcast_equal broadcast_greater broadcast_greater_equal broadcast_lesser broadcast_lesser_equal broadcast_like
    broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_minimum broadcast_mod broadcast_mul
    broadcast_not_equal broadcast_power broadcast_sub broadcast_to ceil clip cos depth_to_space dot elemwise_add elemwise_div
    elemwise_mul elemwise_sub exp expand_dims floor gather_nd hard_sigmoid identity log log2 log_softmax logical_not max mean min
    negative norm null one_hot ones_like prod reciprocal relu repeat reshape_like reverse shape_array sigmoid sin size_array
    slice slice_axis slice_like softmax space_to_depth sqrt square squeeze stack sum sum_axis take tan tanh tile topk transpose
    where zeros_like""".split()


def test_all_operators_that_1_9_1_exported_are_supported():
    assert not set(OF_1_9_1) - set(mx.onnx.get_operator_support())
    assert mx.onnx.get_operator_support(11) == [] and mx.onnx.get_operator_support(13)


@pytest.mark.parametrize("given", [params(), [params(), {}], {"arg:" + n: a for n, a in params().items()}])
def test_forms_of_parameters(given, path):
    assert mx.onnx.export_model(DENSE, given, [(2, 4)], np.float32, path) == path
    np.testing.assert_allclose(run(path, {"data": X})[0], EXPECTED)
    model = onnx.load(path)
    assert [i.name for i in model.graph.input] == ["data"] and [o.name for o in model.graph.output] == ["fc"]
    assert operators(path) == ["Gemm"] and model.producer_name == "mxnet"


def test_files_of_a_checkpoint(tmp_path, path):
    net = mx.sym.SoftmaxOutput(mx.sym.BatchNorm(DENSE), name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params(mx.init.Xavier())
    module.save_checkpoint(str(tmp_path / "net"), 1)
    module.forward(mx.io.DataBatch([mx.nd.array(X)]), is_train=False)
    ours = module.get_outputs()[0].asnumpy()
    files = str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0001.params")
    for arguments in ((*files, [(2, 4)]), (*files, [(2, 4), (2,)], [np.float32, np.float32]), (module,)):
        mx.onnx.export_model(*arguments, onnx_file_path=path)
        np.testing.assert_allclose(run(path, {"data": X})[0], ours, rtol=1e-5)


def dense_block():
    net = mx.gluon.nn.Dense(3)
    net.initialize()
    return net


def test_block_that_never_ran_is_traced_and_left_as_it_was(path):
    net = dense_block()
    mx.onnx.export_model(net, in_shapes=[(2, 4)], onnx_file_path=path)
    assert not net._active
    np.testing.assert_allclose(run(path, [X])[0], net(mx.nd.array(X)).asnumpy(), rtol=1e-5)


def test_block_takes_shapes_of_samples_and_of_its_last_call(path):
    net = dense_block()
    mx.onnx.export_model(net, in_shapes=[mx.nd.array(X)], onnx_file_path=path)
    assert sizes(onnx.load(path).graph.input) == [[2, 4]]
    net.hybridize()
    net(mx.nd.zeros((5, 4)))
    mx.onnx.export_model(net, onnx_file_path=path)
    assert sizes(onnx.load(path).graph.input) == [[5, 4]]


class _PassesOver(mx.gluon.HybridBlock):
    """Has an argument that its graph does not read, as models with optional masks have."""

    def hybrid_forward(self, F, x, mask, scale):
        return F.broadcast_mul(x, scale)


def test_arguments_that_the_graph_does_not_read(path):
    net, second = _PassesOver(), np.full((2, 1), 3, "float32")
    types = {"in_types": ["float32", "int64", "float32"], "input_names": ["a", "b", "c"]}
    for more in ({}, types):
        mx.onnx.export_model(net, in_shapes=[("n", 4), ("n", 5), ("n", 1)], onnx_file_path=path, **more)
        inputs = onnx.load(path).graph.input
        assert sizes(inputs) == [["n", 4], ["n", 1]]
        np.testing.assert_allclose(run(path, [X, second])[0], X * 3)
    assert [i.name for i in inputs] == ["a", "c"]
    x, y = mx.sym.var("x"), mx.sym.var("y")
    block = mx.gluon.SymbolBlock(y * 2, [x, y])
    for shapes in ([(3,), (2, 4)], {"x": (3,), "y": (2, 4)}):
        mx.onnx.export_model(block, in_shapes=shapes, onnx_file_path=path)
        np.testing.assert_allclose(run(path, {"y": X})[0], X * 2)
    with pytest.raises(ValueError, match="in_shapes has 3 entries; accepted: one for each of x, y"):
        mx.onnx.export_model(block, in_shapes=[(3,)] * 3, onnx_file_path=path)


def test_free_sizes(path):
    mx.onnx.export_model(DENSE, params(), [(2, 4)], np.float32, path, dynamic=True, dynamic_input_shapes=[("rows", 4)])
    model = onnx.load(path)
    assert sizes(model.graph.input) == [["rows", 4]] and sizes(model.graph.output) == [["rows", 3]]
    mx.onnx.export_model(DENSE, params(), [("rows", 4)], np.float32, path)
    assert sizes(onnx.load(path).graph.output) == [["rows", 3]]
    mx.onnx.export_model(DENSE, params(), [(2, 4)], np.float32, path, dynamic=True)
    assert sizes(onnx.load(path).graph.input) == [["batch", 4]]
    for rows in (1, 7):
        assert run(path, {"data": np.ones((rows, 4), "float32")})[0].shape == (rows, 3)


@pytest.mark.parametrize("symbol, free", [
    (lambda x: mx.sym.Reshape(x, shape=(-1, 2)), ("n", 6, 4)), (lambda x: mx.sym.Reshape(x, shape=(0, -3)), ("n", "m", 4)),
    (lambda x: mx.sym.Reshape(x, shape=(-3, 0)), ("n", "m", 4)), (lambda x: mx.sym.broadcast_axis(x, axis=2, size=3), ("n", "m", 1)),
    (lambda x: mx.sym.Reshape(x, shape=(-1, 4)), ("n", "m", 4)), (lambda x: mx.sym.tile(x, reps=(2, 1, 1)), ("n", "m", 4)),
    (lambda x: mx.sym.mean(mx.sym.zeros_like(x) + x, axis=0), ("n", "m", 4)),
    (lambda x: mx.sym.topk(x, axis=1, k=0, ret_typ="value"), ("n", "m", 4)),
    (lambda x: mx.sym.repeat(x, repeats=2, axis=1), ("n", "m", 4)), (lambda x: mx.sym.split(x, num_outputs=2, axis=0), ("n", "m", 4)),
    (lambda x: mx.sym.SequenceMask(mx.sym.contrib.arange_like(x)), ("n", "m", 4)), (lambda x: mx.sym.L2Normalization(x), ("n", "m", 4))])
def test_graphs_hold_for_other_sizes(symbol, free, path):
    symbol = symbol(DATA)
    base = [{"n": 2, "m": 6}.get(s, s) for s in free]
    mx.onnx.export_model(symbol, {}, [tuple(base)], onnx_file_path=path, dynamic=True, dynamic_input_shapes=[free])
    for n, m in ((2, 6), (4, 8)):
        x = np.random.RandomState(n).uniform(size=[{"n": n, "m": m}.get(s, s) for s in free]).astype("float32")
        ours = symbol.bind(mx.cpu(), {"data": mx.nd.array(x)}).forward()
        for one, other in zip(ours, run(path, {"data": x})):
            np.testing.assert_allclose(other, one.asnumpy(), rtol=1e-5)


def test_names_of_inputs_and_outputs(path):
    symbol = mx.sym.Group([DENSE, mx.sym.topk(DENSE, k=2, ret_typ="both", name="tk"), DATA])
    mx.onnx.export_model(symbol, params(), [(2, 4)], onnx_file_path=path)
    assert [o.name for o in onnx.load(path).graph.output] == ["fc", "tk0", "tk1", "data_output1"]
    mx.onnx.export_model(symbol, params(), [(2, 4)], onnx_file_path=path, input_names=["in"], output_names=["a", "b", "c", "d"])
    assert [o.name for o in onnx.load(path).graph.output] == ["a", "b", "c", "d"]
    results = run(path, {"in": X})
    np.testing.assert_allclose(results[0], EXPECTED)
    np.testing.assert_allclose(results[3], X)


@pytest.mark.parametrize("opset", range(13, 22))
def test_opsets(opset, path):
    mx.onnx.export_model(mx.sym.softmax(mx.sym.LayerNorm(mx.sym.sum(DENSE, axis=1, keepdims=True), mx.sym.ones(1), mx.sym.zeros(1))),
                         params(), [(2, 4)], onnx_file_path=path, opset_version=opset)
    assert onnx.load(path).opset_import[0].version == opset
    run(path, {"data": X})


def test_large_model_keeps_parameters_beside_it(path):
    weight = mx.nd.random.uniform(shape=(300, 400))
    net = mx.sym.FullyConnected(DATA, num_hidden=300, no_bias=True, name="fc")
    mx.onnx.export_model(net, {"fc_weight": weight}, [(2, 400)], onnx_file_path=path, large_model=True)
    assert os.path.getsize(path) < 5000 and os.path.getsize(path + ".data") == 300 * 400 * 4
    x = np.ones((2, 400), "float32")
    np.testing.assert_allclose(run(path, {"data": x})[0][0], weight.asnumpy().sum(1), rtol=1e-4)


def test_shape_inference_and_words(path, capsys):
    mx.onnx.export_model(mx.sym.relu(DENSE, name="act"), params(), [(2, 4)], onnx_file_path=path, run_shape_inference=True, verbose=True)
    assert [v.name for v in onnx.load(path).graph.value_info] == ["fc"]
    assert capsys.readouterr().out == "fc: FullyConnected -> Gemm\nact: relu -> Relu\n"


# ---- errors

UNKNOWN = mx.sym.Group([mx.sym.contrib.getnnz(DENSE, name="one"), mx.sym.contrib.getnnz(DENSE, name="two"),
                        mx.sym._internal._tetragamma(DENSE, name="three")])


def test_unknown_operators_are_listed_and_an_older_file_stays(path):
    with open(path, "w") as file:
        file.write("older")
    with pytest.raises(mx.MXNetError, match=r"_contrib_getnnz \(one, two\); _tetragamma \(three\); accepted"):
        mx.onnx.export_model(UNKNOWN, params(), [(2, 4)], onnx_file_path=path)
    with open(path) as file:
        assert file.read() == "older"
    assert os.listdir(os.path.dirname(path)) == ["model.onnx"]


@pytest.mark.parametrize("arguments, error, words", [
    (((1), params(), [(2, 4)]), ValueError, "sym is a int; accepted: a Symbol"),
    ((DENSE, 3, [(2, 4)]), ValueError, "params is a int"),
    ((DENSE, params(), [(2, 4), (3,)]), ValueError, "in_shapes has 2 entries; accepted: one for each of data"),
    ((DENSE, params(), [(2, 4)], [np.float32, np.float32]), AssertionError, "in_types has 2 dtypes for 1 inputs"),
    ((DENSE, params(), {"dta": (2, 4)}), ValueError, "in_shapes has dta; accepted: inputs, data"),
    ((DENSE, {}), mx.MXNetError, "shapes of data, fc_weight.* are not known"),
    ((DENSE, params(), [(2, 5)]), mx.MXNetError, "shapes do not fit together"),
    (("net-symbol.json", None), ValueError, "params is None")])
def test_arguments_that_do_not_fit(arguments, error, words, path):
    with pytest.raises(error, match=words):
        mx.onnx.export_model(*arguments, onnx_file_path=path)


@pytest.mark.parametrize("options, words", [
    ({"dynamic_input_shapes": [("n", 4)]}, "dynamic is False"), ({"opset_version": 12}, "opset_version 12; accepted: 13 to 21"),
    ({"opset_version": "13"}, "opset_version '13'"), ({"output_names": ["a", "b"]}, "2 names for 1 outputs"),
    ({"input_names": ["a", "b"]}, "2 names for the inputs data"),
    ({"dynamic": True, "dynamic_input_shapes": [("n", 4, 4)]}, "as many dimensions")])
def test_options_that_do_not_fit(options, words, path):
    with pytest.raises(ValueError, match=words):
        mx.onnx.export_model(DENSE, params(), [(2, 4)], onnx_file_path=path, **options)


def test_size_that_cannot_be_free(path):
    with pytest.raises(mx.MXNetError, match="dimension 'm' of 'data', axis 1 cannot be free"):
        mx.onnx.export_model(DENSE, params(), [(2, 4)], onnx_file_path=path, dynamic=True, dynamic_input_shapes=[("n", "m")])


def test_part_of_an_operator_that_onnx_lacks_is_named(path):
    with pytest.raises(mx.MXNetError, match="node 'pad', operator Pad.*|node 'drop', operator Dropout: mode 'always' cannot"):
        mx.onnx.export_model(mx.sym.Dropout(DENSE, mode="always", name="drop"), params(), [(2, 4)], onnx_file_path=path)


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        mx.onnx.export_model(DENSE, params(), [(2, 4)], onnx_file_path=str(tmp_path / "nowhere" / "model.onnx"))


def test_package_is_imported_by_the_first_call_and_named_where_it_is_missing():
    code = """
import sys, mxnet as mx
mx.onnx.export_model, mx.contrib.onnx
assert 'onnx' not in sys.modules and 'google.protobuf' not in sys.modules
sys.modules['onnx'] = None
try:
    mx.onnx.export_model(mx.sym.var('x'), {}, [(1,)])
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "[onnx] the package onnx cannot be imported" in said and "pip install onnx" in said
