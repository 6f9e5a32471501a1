"""What a stranger gives by mistake: each error says what it was, and what is accepted."""
import copy
import io
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T, helper as h, numpy_helper as nh

import mxnet as mx
from mxnet.onnx.__main__ import main

pytestmark = pytest.mark.cpu


def proto():
    """y = x + table[ids]"""
    nodes = [h.make_node("Gather", ["table", "ids"], ["rows"]), h.make_node("Add", ["x", "rows"], ["y"])]
    table = nh.from_array(np.array([[0, 1], [2, 3], [4, 5]], "float32"), "table")
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, ["n", 2]), h.make_tensor_value_info("ids", T.INT64, ["n"])],
                         [h.make_tensor_value_info("y", T.FLOAT, ["n", 2])], [table])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(name="model", scope="module")
def _model():
    return mx.onnx.load(proto())


X, IDS = np.ones((2, 2), "float32"), np.array([0, 2])
OBJECTS = np.array([[1.0, 2.0]] * 2, dtype=object)


@pytest.mark.parametrize("shape", [2, "24", np.int64(3), None])
def test_shapes_that_are_none(model, shape):
    for make in (model.convert, model.to_block):
        with pytest.raises(TypeError, match=r"shapes has .* for x; accepted: a tuple with a size for each dimension"):
            make(shapes={"x": shape, "ids": (2,)})


def test_opsets_that_are_newer():
    newer = proto()
    assert max(first for versions in mx.onnx.operators()["ai.onnx"].values() for first, _ in versions) == 28
    newer.opset_import[0].version = 29
    with pytest.warns(UserWarning, match="opset 29 of ai.onnx; accepted: up to 28"):
        mx.onnx.load(newer)


@pytest.mark.parametrize("x, ids, kind, words", [
    (OBJECTS, IDS, TypeError, r"input x has a float among objects; accepted: numbers or strings.*astype"),
    ([[1, 2], [3]], IDS, ValueError, "input x is a list of which NumPy makes no array"),
    (X.astype("complex64"), IDS, TypeError, "input x: .*complex64.*accepted: float32"),
    (X.astype("longdouble"), IDS, TypeError, "input x: .*float128.*accepted: float32"),
    (np.full((2, 2), "a"), IDS, ValueError, r"input x is an array of strings; accepted: float32 \(n, 2\)"),
    (mx.sym.var("x"), IDS, TypeError, r"input x is a Symbol; accepted: arrays.*Model.convert\(\)"),
    (X, [0.5, 2.0], TypeError, "input ids has fractions or other floats; accepted: int64"),
    (X, IDS.astype("float32"), TypeError, "input ids is float32; accepted: int64")])
def test_arrays_that_do_not_fit(model, x, ids, kind, words):
    with pytest.raises(kind, match=words):
        model(x, ids)


def test_names_that_do_not_fit(model):
    with pytest.raises(ValueError, match="the model has no input X; accepted: x float32"):
        model.run({"X": X, "ids": IDS})
    with pytest.raises(TypeError, match="inputs called 0, 'ids'; accepted: names, x, ids"):
        model.run({0: X, "ids": IDS})
    with pytest.raises(ValueError, match="no value for the input ids"):
        model.run({"x": X})
    with pytest.raises(TypeError, match="out is a list; accepted: a dictionary"):
        model.run({"x": X, "ids": IDS}, out=[mx.nd.zeros((2, 2))])
    twice = mx.nd.zeros((2, 2))
    with pytest.raises(ValueError, match="one array for several of y, z"):
        model.run({"x": X, "ids": IDS}, out={"y": twice, "z": twice})


def test_an_empty_list_has_no_fractions(model):
    assert model(np.ones((0, 2), "float32"), []).shape == (0, 2)


class Tensor:
    """Of another library: its gradient has to be left behind, and bfloat16 is nothing for NumPy."""

    def __init__(self, array, detached=False):
        self._array, self._detached = array, detached

    def detach(self):
        return Tensor(self._array, True)

    def __array__(self, dtype=None, copy=None):   # pylint: disable=redefined-outer-name
        if not self._detached:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if "bfloat16" in str(self._array.dtype):
            raise TypeError("Got unsupported ScalarType BFloat16")
        if self._array.shape[0] == 1:
            raise RuntimeError("Can't call numpy() on Tensor that has negative bit set.")
        return self._array.asnumpy()

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16"))
def test_tensors_of_another_library(model, dtype):
    given = mx.nd.array([[1, 2], [3, 4]]).astype(dtype)
    y = model(Tensor(given), Tensor(mx.nd.array(IDS, dtype="int64")))
    given[:] = 0    # a copy was read
    np.testing.assert_array_equal(y.asnumpy(), [[1, 3], [7, 9]])


def test_tensors_whose_memory_has_other_numbers(model):
    with pytest.raises(TypeError, match="input x is a .*Tensor that gives no array: .*negative bit"):
        model(Tensor(mx.nd.ones((1, 2))), [0])


@pytest.mark.parametrize("what, kind, words", [
    (None, TypeError, "got NoneType; accepted: a path, bytes"), (3, TypeError, "got int; accepted: a path"),
    ({"w": X}, TypeError, "got dict; .*load_into"),
    (io.StringIO("a"), TypeError, r"open for text \(StringIO\); accepted: open\(path, 'rb'\)"),
    (proto().graph, TypeError, "got the GraphProto .*accepted: a ModelProto"),
    (type("Module", (), {"state_dict": None})(), TypeError, r"got Module; .*torch.onnx.export\(")])
def test_what_is_no_model(what, kind, words):
    with pytest.raises(kind, match=words):
        mx.onnx.load(what)


def test_a_model_is_read_again_where_it_cannot_be_copied(model):
    with pytest.raises(TypeError, match=r"got a Model, which is loaded"):
        mx.onnx.load(model)
    with pytest.raises(TypeError, match=r"accepted: its file. mx.onnx.load\(path\) makes one in each process"):
        copy.deepcopy(model)


@pytest.mark.parametrize("given, kind, words", [
    ({"shapes": {"X": (2, 2)}}, ValueError, "shapes has 'X', which is no input; accepted: x, ids"),
    ({"values": {"z": 1}}, ValueError, "values has 'z', which is no input"), ({"dtypes": {"z": "int8"}}, ValueError, "dtypes has 'z'"),
    ({"shapes": [(2, 2)]}, TypeError, "shapes is a list; accepted: a dictionary"),
    ({"shapes": {"x": (None, 2)}}, ValueError, r"shapes has \(None, 2\) for x; accepted: sizes from 0"),
    ({"shapes": {"x": ("n", 2)}}, ValueError, "accepted: sizes from 0"),
    ({"shapes": {"x": (-1, 2)}}, ValueError, "accepted: sizes from 0")])
def test_blocks_of_what_is_not_there(model, given, kind, words):
    for make in (model.to_block, model.convert):
        with pytest.raises(kind, match=words):
            make(**given)


def test_graphs_have_no_strings():
    graph = h.make_graph([h.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["a"], values_int64s=[1])], "g",
                         [h.make_tensor_value_info("x", T.STRING, ["n"])], [h.make_tensor_value_info("y", T.INT64, ["n"])])
    opsets = [h.make_opsetid("", 17), h.make_opsetid("ai.onnx.ml", 2)]
    model = mx.onnx.load(h.make_model(graph, opset_imports=opsets, ir_version=8))
    with pytest.raises(mx.MXNetError, match="input x takes strings, which no graph of this library has; accepted: inputs of numbers"):
        model.to_block()
    with pytest.raises(ValueError, match=r"input x has shape \(1,1\); accepted: string \(n\)"):
        model([["a"]])
    assert model(["a", "b"]).asnumpy().tolist() == [1, -1]


def test_a_notebook_shows_shapes_as_the_report_does(model):
    assert "<td>float32</td><td>(n, 2)</td>" in model._repr_html_()
    assert "x: float32 (n, 2)" in repr(model)


@pytest.mark.parametrize("arguments, words", [
    (["--size", "n=-3"], "--size n=-3; accepted: a number, from 0 on"), (["--shape", "x=-1,2"], "--shape x=-1,2; accepted: sizes"),
    (["--input", "z=a.npy"], "the model has no input z; accepted: x, ids"),
    (["--input", "x=text.npy"], r"--input x=text.npy cannot be read \(.*accepted: a file of numpy.save"),
    (["--input", "x=empty.npy"], "--input x=empty.npy cannot be read"),
    (["--input", "x=several.npz"], r"several arrays \(a, b\); accepted: a .npy file")])
def test_the_command_line(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    onnx.save(proto(), "m.onnx")
    (tmp_path / "text.npy").write_text("not an array")
    (tmp_path / "empty.npy").write_text("")
    np.savez("several.npz", a=X, b=X)
    with pytest.raises(SystemExit, match=words):
        main(["run", "m.onnx", *arguments])


def test_a_race_of_no_time_is_one_call(tmp_path, monkeypatch, capsys, recwarn):
    monkeypatch.chdir(tmp_path)
    onnx.save(proto(), "m.onnx")
    main(["bench", "m.onnx", "--seconds", "0"])
    assert "nan" not in capsys.readouterr().out and not [w for w in recwarn if "slice" in str(w.message)]


def dense():
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize()
    return net


@pytest.mark.parametrize("make, given, kind, words", [
    (dense, {"in_shapes": [(-1, 4)]}, ValueError, "accepted: sizes from 0, and a name, such as 'batch', or None"),
    (dense, {"in_shapes": [(2, 4), (2, 4)]}, TypeError, "cannot be called with 2 arrays, one for each of in_shapes"),
    (lambda: mx.gluon.nn.Sequential(), {"in_shapes": [(2, 4)]}, TypeError, "is a Sequential, which has no graph; accepted: a HybridBlock"),
    (dense, {"in_shapes": [(2, 4)], "onnx_file_path": "none/a.onnx"}, FileNotFoundError, "'none/a.onnx'; accepted: a path in a folder")])
def test_exports_of_what_cannot_be(tmp_path, monkeypatch, make, given, kind, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=words):
        mx.onnx.export_model(make(), **{"onnx_file_path": "a.onnx", **given})


def test_paths_become_texts(tmp_path):
    path = tmp_path / "a.onnx"
    assert mx.onnx.export_model(dense(), in_shapes=[(2, 4)], onnx_file_path=path) == str(path) and path.exists()


@pytest.mark.parametrize("layer, shape", [(mx.gluon.rnn.LSTM, (5, "n", 4)), (mx.gluon.rnn.GRU, ("t", "n", 4))])
@pytest.mark.parametrize("called", (False, True))
def test_a_recurrent_layer_alone_has_a_free_batch(tmp_path, layer, shape, called):
    net = layer(6, 2, bidirectional=True)
    net.initialize()
    sizes = [(size if isinstance(size, int) else 3) for size in shape]
    if called:
        net(mx.nd.ones(sizes))
    path = mx.onnx.export_model(net, in_shapes=[shape], onnx_file_path=str(tmp_path / "rnn.onnx"))
    x = mx.nd.random.normal(shape=(5, 4, 4))
    model = mx.onnx.load(path)
    assert re.search(r"in .*\(\w+, n, 4\)", repr(model))
    np.testing.assert_allclose(model(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-6)
