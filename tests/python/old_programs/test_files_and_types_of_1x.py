"""Outputs that symbol files count, dtypes of a SymbolBlock's Parameters, and shapes that are kept
as they are given, as 1.9.1 has them."""
import json
import warnings

import numpy as np
import pytest

import mxnet as mx

V = mx.sym.Variable
STATES = {"parameters": V("p"), "state": V("s")}


def counted(symbol):
    """How many outputs the file counts for the last node."""
    places = json.loads(symbol.tojson())["node_row_ptr"]
    return places[-1] - places[-2]


@pytest.mark.parametrize("symbol, outputs", [
    (mx.sym.Pooling(V("x"), kernel=(2, 2)), 2),
    (mx.sym.Pooling(V("x"), kernel=(2, 2), pool_type="avg"), 1),
    (mx.sym.Pooling(V("x"), kernel=(2, 2), layout="NHWC"), 1),
    (mx.sym.LRN(V("x"), nsize=3), 2),
    (mx.sym.L2Normalization(V("x")), 2),
    (mx.sym.InstanceNorm(V("x"), V("g"), V("b")), 3),
    (mx.sym.CTCLoss(V("x"), V("y")), 2),
    (mx.sym.Correlation(V("x"), V("y")), 3),
    (mx.sym.linalg.slogdet(V("x")), 4),
    (mx.sym.sort(V("x")), 2),
    (mx.sym.topk(V("x"), ret_typ="value"), 2),
    (mx.sym.RNN(V("x"), state_cell=V("c"), state_size=3, num_layers=1, mode="lstm", **STATES), 1),
    (mx.sym.RNN(V("x"), state_size=3, num_layers=1, mode="gru", state_outputs=True, **STATES), 2),
    (mx.sym.FullyConnected(V("x"), num_hidden=3), 1),
    (mx.sym.BatchNorm(V("x")), 3),
])
def test_outputs_that_files_count(symbol, outputs):
    assert counted(symbol) == outputs
    again = mx.sym.load_json(symbol.tojson())
    assert again.tojson() == symbol.tojson() and again.list_outputs() == symbol.list_outputs()


def test_places_in_a_file_add_up():
    net = mx.sym.Flatten(mx.sym.Pooling(mx.sym.LRN(V("x"), nsize=3), kernel=(2, 2)))
    assert json.loads(net.tojson())["node_row_ptr"] == [0, 1, 3, 5, 6]


def dense(data):
    return mx.sym.BatchNorm(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="bn")


def types_of(block):
    return {name: np.dtype(parameter.dtype).name for name, parameter in block.collect_params().items()}


@pytest.mark.parametrize("dtype, weight, gamma", [("float16", "float16", "float32"), ("float64", "float64", "float64"),
                                                  ("float32", "float32", "float32")])
def test_parameters_have_the_type_that_follows_from_the_input(dtype, weight, gamma, recwarn):
    data = V("x", dtype=dtype)
    for graph in (dense(data), dense(V("x"))):
        types = types_of(mx.gluon.SymbolBlock(graph, data))
        assert types["fc_weight"] == weight and types["bn_gamma"] == types["bn_moving_mean"] == gamma
    assert not [w for w in recwarn if "Cannot decide" in str(w.message)]


def test_an_input_without_a_type_warns_and_gives_float32():
    for graph, inputs, name in ((dense(V("x")), [V("x")], "x"),
                                (dense(V("x", dtype="float16")) + V("y"), [V("x", dtype="float16"), V("y")], "y")):
        with pytest.warns(UserWarning, match="^Cannot decide type for the following arguments. Consider providing them as "
                                             f"input:\n\t{name}: None$"):
            block = mx.gluon.SymbolBlock(graph, inputs)
        assert set(types_of(block).values()) == {"float32"}


def test_types_that_contradict_each_other_give_float32():
    inputs = [V("x", dtype="float16"), V("y", dtype="int32")]
    assert set(types_of(mx.gluon.SymbolBlock(dense(inputs[0]) + inputs[1], inputs)).values()) == {"float32"}


def test_imports_warn_with_values_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = mx.gluon.nn.Dense(2, in_units=2, prefix="d_")
    net.initialize()
    net.cast("float16")
    net.hybridize()
    data = mx.nd.ones((1, 2), dtype="float16")
    expected = net(data).asnumpy()
    net.export("net")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block = mx.gluon.SymbolBlock.imports("net-symbol.json", ["data"])
    block.collect_params().load("net-0000.params", cast_dtype=True, dtype_source="saved")
    assert block(data).asnumpy().tolist() == expected.tolist()
    with pytest.warns(UserWarning, match="Cannot decide type"):
        block = mx.gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0000.params")
    assert types_of(block) == {"d_weight": "float16", "d_bias": "float16"}
    assert block(data).asnumpy().tolist() == expected.tolist()


def test_descriptions_keep_the_shape_that_they_are_given():
    assert mx.io.DataDesc("x", [2, 3]).shape == [2, 3]
    assert repr(mx.io.DataDesc("x", [2, 3])) == "DataDesc[x,[2, 3],<class 'numpy.float32'>,NCHW]"
    module = mx.mod.Module(dense(V("x")), ["x"], None)
    module.bind([mx.io.DataDesc("x", [2, 3])], for_training=False)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 3))]))
    assert module.get_outputs()[0].shape == (2, 3)


def test_names_of_symbols_are_there():
    assert [name for name in dir(mx.sym) if not hasattr(mx.sym, name) and not name.startswith("__")] == []
