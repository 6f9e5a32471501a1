"""Inputs that are maps, as scikit-learn's DictVectorizer has them: dictionaries here."""
import numpy as np
import pytest

import mxnet as mx
import mxnet.onnx.runtime as ours

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto as T  # noqa: E402

WORDS, NUMBERS = ["q", "é", "r"], [3, 7, -1]
ITEMS = {"string": [{"é": 4.0, "r": 1.0}, {"q": -2.0, "zz": 3.0}, {"zz": 1.0}], "int64": [{7: 2.0, 3: 1.0, 99: 1.0}, {-1: 0.5}]}


def model_of_map(key="string", value=T.FLOAT, vocabularies=1):
    nodes, outputs = [], []
    for i in range(vocabularies):
        words = {"string_vocabulary": WORDS[i:] + WORDS[:i]} if key == "string" else {"int64_vocabulary": NUMBERS}
        nodes.append(helper.make_node("DictVectorizer", ["x"], [f"row{i}"], domain="ai.onnx.ml", **words))
        nodes.append(helper.make_node("Add", [f"row{i}", f"row{i}"], [f"y{i}"]))
        outputs.append(helper.make_tensor_value_info(f"y{i}", value, [1, 3]))
    kind = helper.make_map_type_proto(T.STRING if key == "string" else T.INT64, helper.make_tensor_type_proto(value, []))
    graph = helper.make_graph(nodes, "g", [helper.make_value_info("x", kind)], outputs)
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


@pytest.mark.parametrize("key", ["string", "int64"])
def test_dictionaries_are_rows_of_the_vocabulary(key):
    data = model_of_map(key)
    model, session = mx.onnx.load(data), ours.InferenceSession(data)
    words = WORDS if key == "string" else NUMBERS
    assert model.inputs[0].kind == "map" and model.inputs[0].labels == words
    arg, = session.get_inputs()
    assert (arg.name, arg.type, arg.shape) == ("x", f"map({key},tensor(float))", [])
    for items in ITEMS[key]:
        want = np.array([[2 * items.get(w, 0) for w in words]], "float32")
        for got in (model(items), model(x=items), model({"x": items}), model.run({"x": items})["y0"],
                    model(want / 2), session.run(None, {"x": items})[0]):
            got = got if isinstance(got, np.ndarray) else got.asnumpy()
            assert got.dtype == want.dtype and got.tolist() == want.tolist()
    assert model({}).asnumpy().tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("key", ["string", "int64"])
def test_same_as_onnxruntime(key):
    theirs = pytest.importorskip("onnxruntime")
    data = model_of_map(key)
    there, here = theirs.InferenceSession(data), ours.InferenceSession(data)
    assert [(i.name, i.type, i.shape) for i in there.get_inputs()] == [(i.name, i.type, i.shape) for i in here.get_inputs()]
    for items in ITEMS[key]:
        want, got = there.run(None, {"x": items})[0], here.run(None, {"x": items})[0]
        assert got.dtype == want.dtype and got.tolist() == want.tolist()


def test_values_of_other_types():
    for value, dtype in (T.DOUBLE, "float64"), (T.INT64, "int64"):
        got = mx.onnx.load(model_of_map(value=value))({"r": 5})
        assert got.dtype == np.dtype(dtype) and got.asnumpy().tolist() == [[0, 0, 10]]


@pytest.mark.parametrize("key, items", [("string", {1: 2.0}), ("string", {"q": "a"}), ("int64", {"q": 1.0}), ("int64", {3: None})])
def test_items_of_wrong_types(key, items):
    with pytest.raises(TypeError, match="input x has the item .*accepted: a dictionary of numbers, whose keys are"):
        mx.onnx.load(model_of_map(key))(x=items)


def test_rows_of_wrong_sizes():
    with pytest.raises(mx.MXNetError, match=r"input x has shape \(1,2\); accepted: float32 \(1, 3\)"):
        mx.onnx.load(model_of_map())(np.ones((1, 2), "float32"))


def test_two_vocabularies_of_one_map():
    with pytest.raises(mx.MXNetError, match="input x is a map of two vocabularies"):
        mx.onnx.load(model_of_map(vocabularies=2))


def test_a_block_takes_the_row():
    assert mx.onnx.load(model_of_map()).to_block()(mx.nd.array([[1, 2, 3]])).asnumpy().tolist() == [[2, 4, 6]]
