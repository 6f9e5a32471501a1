"""`mx.onnx.load`: models as files have them, shapes of every call, control flow, damaged input."""
import threading

import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T, helper as h, numpy_helper  # noqa: E402  (needs onnx)


def _model(nodes, inputs, outputs, constants=(), opset=18, domains=(), **more):
    def infos(values):
        return [h.make_tensor_value_info(n, t, s) for n, t, s in values]
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in dict(constants).items()]
    graph = h.make_graph(nodes, "g", infos(inputs), infos(outputs), tensors)
    opsets = [h.make_opsetid("", opset)] + [h.make_opsetid(d, v) for d, v in domains]
    return h.make_model(graph, opset_imports=opsets, **more)


def _load(model, **how):
    return mx.onnx.load(model.SerializeToString(), **how)


def _dense():
    w = np.random.RandomState(0).randn(3, 4).astype("float32")
    return w, _model([h.make_node("Gemm", ["x", "w"], ["y"], transB=1)], [("x", T.FLOAT, ["n", 4])], [("y", T.FLOAT, ["n", 3])], {"w": w})


def test_inputs_by_position_name_and_kind():
    w, model = _dense()
    m = _load(model)
    x = np.random.RandomState(1).randn(2, 4).astype("float32")
    for y in (m(x), m(mx.nd.array(x)), m(x=x), m({"x": x}), m(x.tolist()), m(x.astype("float64")), m.run({"x": x})["y"]):
        np.testing.assert_allclose(y.asnumpy(), x @ w.T, rtol=1e-5, atol=1e-6)
    assert type(m(mx.nd.array(x))) is mx.nd.NDArray and type(m(mx.np.array(x))) is mx.np.ndarray
    assert m.inputs[0].shape == ("n", 4) and m.outputs[0].name == "y"
    assert "x: float32 (n, 4)" in repr(m) and "<table>" in m._repr_html_()


@pytest.mark.parametrize("numpy", [False, True])
def test_arrays_of_numpy(numpy):
    """Of any shape and layout; results are of the kind that the program uses."""
    graph = h.make_graph([h.make_node("Add", ["x", "y"], ["z"])], "g", [h.make_tensor_value_info(n, T.FLOAT, None) for n in "xy"],
                         [h.make_tensor_value_info("z", T.FLOAT, None)])
    m = _load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]))
    whole = np.arange(12, dtype="float32").reshape(3, 4)
    with mx.util.np_array(numpy):
        for x in (whole, whole.T, whole[::2], np.zeros((0, 3), "float32"), np.float32(3).reshape(()), whole.astype(">f4")):
            for z in (m(x, x), m.run({"x": x, "y": x})["z"]):
                assert type(z) is (mx.np.ndarray if numpy else mx.nd.NDArray) and z.shape == x.shape
                np.testing.assert_array_equal(z.asnumpy(), 2 * x)
        assert type(m(whole, mx.nd.array(whole))) is mx.nd.NDArray and type(m(mx.np.array(whole), whole)) is mx.np.ndarray
    with pytest.raises(ValueError, match="leave an optional input out"):
        m.run({"x": whole, "y": None})


def test_calls_with_arrays_are_those_of_the_long_way(monkeypatch):
    """The binding makes calls whose values are arrays; ctypes makes the others, and all without
    it."""
    two = [h.make_node("Identity", ["x"], ["y"]), h.make_node("SequenceConstruct", ["x", "x"], ["z"])]
    graph = h.make_graph(two, "g", [h.make_tensor_value_info("x", T.FLOAT, ["n"])],
                         [h.make_tensor_value_info("y", T.FLOAT, ["n"]), h.make_tensor_sequence_value_info("z", T.FLOAT, None)])
    m = _load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]))

    def results():
        found = []
        for x in (mx.nd.array([1, 2]), mx.np.array([3.0])):
            for y, z in (m(x), m(x=x), m.run({"x": x}).values()):
                assert type(y) is type(x) and [type(e) for e in z] == [type(x)] * 2
                found += [y.asnumpy().tolist(), [e.asnumpy().tolist() for e in z]]
        for wrong in ({"x": mx.nd.ones((2, 2))}, {"w": mx.nd.ones(2)}, {"x": mx.nd.ones(2), "w": mx.nd.ones(2)}):
            with pytest.raises(mx.MXNetError, match=r"\[onnx\]") as error:
                m.run(wrong)
            found.append(str(error.value).split("Stack")[0])
        return found
    short = results()
    from mxnet.onnx import _model
    for name in ("onnx_run", "onnx_named"):
        monkeypatch.setattr(_model, name, lambda *_: None)
    assert results() == short and short[0] == [1, 2] and short[1] == [[1, 2]] * 2


@pytest.mark.parametrize("numpy", [False, True])
def test_dtypes_and_strings_of_numpy_are_those_of_the_long_way(numpy, monkeypatch):
    def of(x):
        kind = T.STRING if x.dtype.kind in "OU" else h.np_dtype_to_tensor_dtype(x.dtype.newbyteorder("="))
        infos = [h.make_tensor_value_info(n, kind, None) for n in "xy"]
        graph = h.make_graph([h.make_node("Identity", ["x"], ["y"])], "g", infos[:1], infos[1:])
        return _load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]))

    texts = np.array([["a", "", "\u00e9t\u00e9"], ["x" * 100, "0", "b"]])
    given = [np.array([[0, 1], [2, 100]], dtype=d) for d in
             ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "=l", "=q", ">i4", ">f8")]
    given += [x.T for x in given[:3]] + [np.zeros((2, 0), "i4"), np.array(7, "u2"), np.float32(2.5)]
    given += [texts, texts.astype(object), texts.T, texts[:, :0], np.array("one"), np.array("one", object),
              np.array([b"bytes", "text"], object), np.array([[]], object)]

    def results():
        with mx.util.np_array(numpy):
            for x in map(np.asarray, given):
                y = of(x)(x)
                if x.dtype.kind not in "OU":
                    assert type(y) is (mx.np.ndarray if numpy else mx.nd.NDArray)
                    y = y.asnumpy()
                yield y.dtype.name, y.shape, y.tolist()
    short = list(results())
    for x, (name, shape, values) in zip(given, short):
        x = np.asarray(x)
        want = np.vectorize(lambda t: t if isinstance(t, str) else t.decode(), otypes=[object])(x) if x.dtype.kind in "OU" and x.size else x
        assert name == (x.dtype.name if x.dtype.kind not in "OU" else "object") and shape == x.shape and values == want.tolist()
    for wrong in (np.array(["a", 1], object), np.array([None], object)):
        with pytest.raises(TypeError, match="accepted: numbers or strings"):
            of(texts)(wrong)
    from mxnet.onnx import _model
    for name in ("onnx_run", "onnx_named"):
        monkeypatch.setattr(_model, name, lambda *_: None)
    assert list(results()) == short


def test_strings_of_fixed_width_are_converted_once(monkeypatch):
    """They took the others with them: all arrays were converted a second time."""
    infos = [h.make_tensor_value_info("x", T.STRING, ["n"]), h.make_tensor_value_info("z", T.FLOAT, ["n"])]
    outputs = [h.make_tensor_value_info("y", T.STRING, ["n"]), h.make_tensor_value_info("w", T.FLOAT, ["n"])]
    nodes = [h.make_node("Identity", ["x"], ["y"]), h.make_node("Identity", ["z"], ["w"])]
    m = _load(h.make_model(h.make_graph(nodes, "g", infos, outputs), opset_imports=[h.make_opsetid("", 18)]))
    texts = np.array(["a", "", "\u00e9\u20ac", "\U0001f600 z", "in\tside"])
    from mxnet.onnx import _model
    with monkeypatch.context() as patch:
        patch.setattr(_model, "_as_arrays", None)
        for x in (texts, texts[::1], texts[:0], np.char.encode(texts, "utf-8"), np.array(["one"]), np.zeros(2, "U5")):
            y, w = m(x, np.ones(len(x), "f"))
            assert y.tolist() == [t if isinstance(t, str) else t.decode() for t in x.tolist()] and w.shape == x.shape
    assert m(texts[::-1], np.ones(5, "f"))[0].tolist() == texts[::-1].tolist()
    assert m(texts.astype(texts.dtype.newbyteorder()), np.ones(5, "f"))[0].tolist() == texts.tolist()
    with pytest.raises(UnicodeEncodeError):
        m(np.array(["\ud800"]), np.ones(1, "f"))


def test_models_from_files_and_of_the_package_onnx(tmp_path):
    graph = h.make_graph([h.make_node("Neg", ["x"], ["y"])], "g", [h.make_tensor_value_info("x", T.FLOAT, ["n"])],
                         [h.make_tensor_value_info("y", T.FLOAT, ["n"])])
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=10)
    (tmp_path / "a.onnx").write_bytes(made.SerializeToString())
    with open(tmp_path / "a.onnx", "rb") as file:
        for source in (made, file, tmp_path / "a.onnx", bytearray(made.SerializeToString())):
            assert mx.onnx.load(source)([1.0, 2.0]).asnumpy().tolist() == [-1, -2]
    mx.contrib.torch.save(tmp_path / "a.pt", {"x": mx.nd.ones(2)})
    with pytest.raises(mx.MXNetError, match=r"a.pt' is a PyTorch file .*accepted here: ONNX models"):
        mx.onnx.load(tmp_path / "a.pt")
    with pytest.raises(mx.MXNetError, match="No such file"):
        mx.onnx.load(tmp_path / "not_there.onnx")
    with pytest.raises(TypeError, match=r"run\(None, inputs\) of onnxruntime is run\(inputs\) here"):
        mx.onnx.load(made).run(None, {"x": np.ones(2, "f")})


def test_plans_say_what_ran(tmp_path, capsys):
    """explain(runs=): an Explanation of each plan, with its implementations; the command prints
    it."""
    from mxnet.onnx.__main__ import main
    w = np.random.RandomState(0).randn(64, 64, 3, 3).astype("float32")
    model = _model([h.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), h.make_node("Conv", ["c", "w"], ["d"], pads=[1, 1, 1, 1]),
                    h.make_node("Relu", ["d"], ["y"])], [("x", T.FLOAT, ["n", 64, 56, 56])], [("y", T.FLOAT, ["n", 64, 56, 56])], {"w": w})
    m = _load(model)
    assert m.explain(runs=1).plans == [] and m.explain().plans == []
    m(np.ones((1, 64, 56, 56), "float32"))
    e = m.explain(runs=2)
    assert e.startswith("plan of") and len(e.plans) == 1 and e.plans[0].timed
    ran = [part["implementation"] for n in e.plans[0].plan["nodes"] if not n["constant"] for part in n["ran"]]
    assert any(name.startswith("Winograd F(") for name in ran) and "Winograd F(" in e
    assert not m.explain(runs=0).plans[0].timed
    m(np.ones((2, 64, 56, 56), "float32"))
    m.explain(str(tmp_path / "plan.json"), runs=0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plan-1.json", "plan-2.json"]
    with pytest.raises(ValueError, match=r"\[explain\] runs=-1"):
        m.explain(runs=-1)
    path = str(tmp_path / "m.onnx")
    onnx.save(model, path)
    main(["explain", path, "--shape", "x=1,64,56,56", "--runs", "1", "--save", str(tmp_path / "page.html")])
    assert "Winograd F(" in capsys.readouterr().out and "Winograd F(" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_every_batch_has_a_plan():
    w, model = _dense()
    m = _load(model)
    for n in 17 * [*range(1, 40), 0, 3]:   # fewer calls of a batch may run without a plan
        x = np.ones((n, 4), "float32")
        assert m(x).shape == (n, 3)
    assert m.explain().count("plan of") in (39, 40)   # of an empty batch everything is known


def test_plans_of_a_large_model_do_not_pile_up():
    nodes = [h.make_node("Neg", [f"t{i}"], [f"t{i + 1}"]) for i in range(600)]
    graph = h.make_graph(nodes, "chain", [h.make_tensor_value_info("t0", onnx.TensorProto.FLOAT, ["n"])],
                         [h.make_tensor_value_info("t600", onnx.TensorProto.FLOAT, ["n"])])
    m = _load(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8))
    for n in range(1, 21):
        for _ in range(17):  # after fewer calls a shape may have none
            np.testing.assert_array_equal(m(np.full(n, 2, "float32")), np.full(n, 2, "float32"))
    assert m.explain().count("plan of") == 16


@pytest.mark.parametrize("given, words", [
    ({"x": np.ones((2, 5), "float32")}, "shape (2,5); accepted: float32 (n, 4)"),
    ({"x": np.ones((2, 4), "int32")}, "is int32; accepted"),
    ({"z": np.ones((2, 4), "float32")}, "no input z; accepted: x"),
    ({"x": np.ones((2, 4), "float32"), "z": np.ones(1, "float32")}, "no input z"),
    ({}, "no value for the input x")])
def test_inputs_that_do_not_fit(given, words):
    with pytest.raises(mx.MXNetError, match=r"\[onnx\]") as error:
        _load(_dense()[1]).run(given)
    assert words in str(error.value)


def test_unknown_operators_are_named_with_node_domain_and_opset():
    nodes = [h.make_node("Frobnicate", ["x"], ["a"], name="first"),
             h.make_node("Quux", ["a"], ["y"], name="second", domain="my.own")]
    model = _model(nodes, [("x", T.FLOAT, [1])], [("y", T.FLOAT, [1])], domains=[("my.own", 3)])
    with pytest.raises(mx.MXNetError, match="not known") as error:
        _load(model)
    assert "first (ai.onnx.Frobnicate, opset 18)" in str(error.value) and "second (my.own.Quux, opset 3)" in str(error.value)
    assert "accepted: those of mx.onnx.operators(), in the domains ai.onnx, ai.onnx.ml and com.microsoft" in str(error.value)
    model = _model([h.make_node("RMSNormalization", ["x", "x"], ["y"])], [("x", T.FLOAT, [1])], [("y", T.FLOAT, [1])], opset=17)
    with pytest.raises(mx.MXNetError, match="RMSNormalization, opset 17; known for opset 23 on"):
        _load(model)


def test_operators_of_one_processor_are_refused_with_the_way_out():
    nodes = [h.make_node("Conv", ["x", "x"], ["y"], name="c", domain="com.microsoft.nchwc")]
    model = _model(nodes, [("x", T.FLOAT, [1, 1, 1, 1])], [("y", T.FLOAT, None)], domains=[("com.microsoft.nchwc", 1)])
    with pytest.raises(mx.MXNetError, match=r"c \(com.microsoft.nchwc.Conv, opset 1\).*ORT_ENABLE_EXTENDED"):
        _load(model)


def test_unknown_attributes_are_named():
    model = _model([h.make_node("Relu", ["x"], ["y"], name="r", slope=0.1)], [("x", T.FLOAT, [1])], [("y", T.FLOAT, [1])])
    with pytest.raises(mx.MXNetError, match=r"node r \(Relu, opset 18\): attribute slope is not known"):
        _load(model)(np.ones(1, "float32"))


def test_shapes_that_the_graph_computes_leave_no_trace():
    nodes = [h.make_node("Shape", ["x"], ["s"]), h.make_node("Gather", ["s", "zero"], ["n"]),
             h.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
             h.make_node("Concat", ["n1", "rest"], ["to"], axis=0), h.make_node("Reshape", ["x", "to"], ["y"])]
    model = _model(nodes, [("x", T.FLOAT, ["n", 2, 3])], [("y", T.FLOAT, None)],
                   {"zero": np.int64(0), "axes": np.array([0]), "rest": np.array([-1])})
    m = _load(model)
    for n in (1, 5):
        x = np.arange(6 * n, dtype="float32").reshape(n, 2, 3)
        np.testing.assert_array_equal(m(x).asnumpy(), x.reshape(n, 6))
    assert "on arrays" not in m.explain()


def test_results_of_value_dependent_shape_cut_the_graph_there_alone():
    nodes = [h.make_node("Relu", ["x"], ["a"]), h.make_node("NonZero", ["a"], ["i"]), h.make_node("Transpose", ["i"], ["t"]),
             h.make_node("GatherND", ["a", "t"], ["y"])]
    m = _load(_model(nodes, [("x", T.FLOAT, ["n", 3])], [("y", T.FLOAT, None)]))
    for seed in range(4):
        x = np.random.RandomState(seed).randn(4, 3).astype("float32")
        np.testing.assert_array_equal(m(x).asnumpy(), x[x > 0])
    assert m.explain().count("NonZero") >= 1 and "Relu" not in m.explain()


def test_branches_of_different_rank():
    then = h.make_graph([h.make_node("Squeeze", ["x"], ["a"])], "then", [], [h.make_tensor_value_info("a", T.FLOAT, None)])
    other = h.make_graph([h.make_node("Neg", ["x"], ["b"])], "else", [], [h.make_tensor_value_info("b", T.FLOAT, None)])
    nodes = [h.make_node("ReduceSum", ["x"], ["s"], keepdims=0), h.make_node("Greater", ["s", "zero"], ["c"]),
             h.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    m = _load(_model(nodes, [("x", T.FLOAT, [1, 3])], [("y", T.FLOAT, None)], {"zero": np.float32(0)}))
    for sign in (1, -1, 1):
        x = np.full((1, 3), sign, "float32")
        np.testing.assert_array_equal(m(x).asnumpy(), x[0] if sign > 0 else -x)


def test_loops_see_outer_values_and_stack_what_they_scan():
    info = h.make_tensor_value_info
    steps = [h.make_node("Mul", ["v", "factor"], ["v2"]), h.make_node("Identity", ["v2"], ["row"]),
             h.make_node("Identity", ["go"], ["go2"])]
    body = h.make_graph(steps, "body", [info("i", T.INT64, []), info("go", T.BOOL, []), info("v", T.FLOAT, [2])],
                        [info("go2", T.BOOL, []), info("v2", T.FLOAT, [2]), info("row", T.FLOAT, [2])])
    nodes = [h.make_node("Add", ["x", "x"], ["factor"]), h.make_node("Loop", ["n", "", "x"], ["last", "rows"], body=body)]
    m = _load(_model(nodes, [("n", T.INT64, []), ("x", T.FLOAT, [2])], [("last", T.FLOAT, [2]), ("rows", T.FLOAT, None)]))
    x = np.array([0.5, 1.5], "float32")
    for n in (0, 3):
        last, rows = m(np.int64(n), x)
        np.testing.assert_allclose(last.asnumpy(), x * (2 * x) ** n, rtol=1e-6)
        assert rows.shape == (n, 2)


def test_functions_of_the_model_are_written_out():
    f = h.make_function("my", "AddTwice", ["a", "b"], ["c"],
                        [h.make_node("Add", ["a", "b"], ["t"]), h.make_node("Add", ["t", "b"], ["u"]), h.make_node("Elu", ["u"], ["c"])],
                        [h.make_opsetid("", 18)])
    f.attribute.append("alpha")
    f.node[2].attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT))
    nodes = [h.make_node("AddTwice", ["x", "x"], ["y"], domain="my", alpha=0.5), h.make_node("AddTwice", ["y", "x"], ["z"], domain="my")]
    model = _model(nodes, [("x", T.FLOAT, [2])], [("z", T.FLOAT, [2])], domains=[("my", 1)], functions=[f])

    def elu(v, alpha):
        return np.where(v > 0, v, alpha * np.expm1(v))
    x = np.array([1.0, -1.0])
    np.testing.assert_allclose(_load(model)(x).asnumpy(), elu(elu(3 * x, 0.5) + 2 * x, 1.0), rtol=1e-5)


def test_nodes_in_any_order_but_no_circles():
    forward = [h.make_node("Relu", ["x"], ["a"]), h.make_node("Neg", ["a"], ["y"])]
    sides = [("x", T.FLOAT, [2])], [("y", T.FLOAT, [2])]
    assert _load(_model(forward[::-1], *sides))(np.array([1.0, -1.0])).asnumpy().tolist() == [-1.0, 0.0]
    with pytest.raises(mx.MXNetError, match="circle"):
        _load(_model([h.make_node("Add", ["x", "y"], ["a"]), h.make_node("Neg", ["a"], ["y"])], *sides))
    with pytest.raises(mx.MXNetError, match="nothing makes"):
        _load(_model([h.make_node("Add", ["x", "nowhere"], ["y"])], *sides))
    with pytest.raises(mx.MXNetError, match="has the name of another value"):
        _load(_model([h.make_node("Neg", ["x"], ["y"]), h.make_node("Relu", ["x"], ["y"])], *sides))


def test_external_data_stays_in_its_folder(tmp_path):
    w, model = _dense()
    folder = tmp_path / "deep"
    folder.mkdir()
    onnx.save_model(model, str(folder / "m.onnx"), save_as_external_data=True, location="w.bin", size_threshold=0)
    x = np.ones((1, 4), "float32")
    np.testing.assert_allclose(mx.onnx.load(folder / "m.onnx")(x).asnumpy(), x @ w.T, rtol=1e-5)
    data = (folder / "m.onnx").read_bytes()
    np.testing.assert_allclose(mx.onnx.load(data, folder=str(folder))(x).asnumpy(), x @ w.T, rtol=1e-5)
    with pytest.raises(mx.MXNetError, match="no folder"):
        mx.onnx.load(data)
    (tmp_path / "outside.bin").write_bytes(b"\0" * 48)
    for place in ("../outside.bin", "/etc/passwd", str(tmp_path / "outside.bin")):
        bad = onnx.load(str(folder / "m.onnx"), load_external_data=False)
        next(e for e in bad.graph.initializer[0].external_data if e.key == "location").value = place
        (folder / "bad.onnx").write_bytes(bad.SerializeToString())
        with pytest.raises(mx.MXNetError, match="stays in the folder"):
            mx.onnx.load(folder / "bad.onnx")
    (folder / "w.bin").unlink()
    (folder / "w.bin").symlink_to(tmp_path / "outside.bin")
    with pytest.raises(mx.MXNetError, match="leads out of the folder"):
        mx.onnx.load(folder / "m.onnx")
    (tmp_path / "deeper").mkdir()   # its name begins with that of the folder
    (tmp_path / "outside.bin").rename(tmp_path / "deeper" / "w.bin")
    (folder / "w.bin").unlink()
    (folder / "w.bin").symlink_to(tmp_path / "deeper" / "w.bin")
    with pytest.raises(mx.MXNetError, match="leads out of the folder"):
        mx.onnx.load(folder / "m.onnx")


def test_external_data_behind_links(tmp_path):
    """The Hugging Face Hub keeps files by their contents; in folders of names are links to them."""
    w, model = _dense()
    blobs, names = tmp_path / "blobs", tmp_path / "snapshots" / "1" / "onnx"
    blobs.mkdir()
    names.mkdir(parents=True)
    onnx.save_model(model, str(blobs / "m.onnx"), save_as_external_data=True, location="m.onnx_data", size_threshold=0)
    for name, content in (("m.onnx", "00"), ("m.onnx_data", "11")):
        (blobs / name).rename(blobs / content)
        (names / name).symlink_to(blobs / content)
    x = np.ones((1, 4), "float32")
    np.testing.assert_allclose(mx.onnx.load(names / "m.onnx")(x).asnumpy(), x @ w.T, rtol=1e-5)
    (names / "m.onnx_data").unlink()
    with pytest.raises(mx.MXNetError, match="keeps tensor w in the file 'm.onnx_data', and there is no .*accepted: the model with"):
        mx.onnx.load(names / "m.onnx")


@pytest.mark.parametrize("dims, size", [([2, 3], 20), ([-1, 3], 12), ([2**40, 2**40], 8), ([2**62], 8), ([1] * 70, 4)])
def test_weights_that_are_not_there(dims, size):
    w, model = _dense()
    model.graph.initializer[0].dims[:] = dims
    model.graph.initializer[0].raw_data = b"\0" * size
    with pytest.raises(mx.MXNetError, match=r"\[onnx\] tensor w"):
        _load(model)


def test_damaged_files_end_in_errors():
    data = _dense()[1].SerializeToString()
    for cut in range(0, len(data), 7):
        try:
            mx.onnx.load(data[:cut])
        except mx.MXNetError as error:
            assert "[onnx]" in str(error)
    with pytest.raises(mx.MXNetError, match="an empty file"):
        mx.onnx.load(b"")
    with pytest.raises(mx.MXNetError, match="damaged"):
        mx.onnx.load(b"\x3a\xff\xff\xff\xff\x0f")
    for depth, words in ((50, "has 0 inputs"), (150, "deep"), (10000, "deep")):
        with pytest.raises(mx.MXNetError, match=words):
            mx.onnx.load(_nested(depth))({})


def _field(number, data):
    """A field of bytes in the wire format."""
    size, length = len(data), b""
    while size >= 128:
        length, size = length + bytes([size % 128 + 128]), size // 128
    return bytes([number * 8 + 2]) + length + bytes([size]) + data


def _nested(depth):
    """Graphs in branches of graphs, as bytes: onnx's own writer refuses so many."""
    graph = b""
    for _ in range(depth):
        graph = _field(1, _field(4, b"If") + _field(5, _field(1, b"then_branch") + _field(6, graph)))
    return _field(7, graph)


def test_many_threads_share_one_model():
    w, model = _dense()
    m, errors = _load(model), []

    def work(seed):
        draw = np.random.RandomState(seed)
        for _ in range(20):
            x = draw.randn(draw.randint(1, 5), 4).astype("float32")
            if not np.allclose(m(x).asnumpy(), x @ w.T, rtol=1e-4, atol=1e-5):
                errors.append(seed)
    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert errors == []


def test_a_symbol_and_a_block_for_any_batch(tmp_path):
    w, model = _dense()
    path = str(tmp_path / "m.onnx")
    onnx.save_model(model, path)
    symbol, arguments, states = mx.contrib.onnx.import_model(path)
    assert list(arguments) == ["w"] and states == {}
    x = np.random.RandomState(0).randn(6, 4).astype("float32")
    y, = symbol.bind(mx.cpu(), {"x": mx.nd.array(x), **arguments}).forward()
    np.testing.assert_allclose(y.asnumpy(), x @ w.T, rtol=1e-5, atol=1e-6)
    block = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    block.hybridize()
    with mx.autograd.record():
        loss = block(mx.nd.array(x)).sum()
    loss.backward()
    np.testing.assert_allclose(block.collect_params()["w"].grad().asnumpy(), np.tile(x.sum(0), (3, 1)), rtol=1e-4, atol=1e-5)
    assert mx.contrib.onnx.get_model_metadata(path) == {"input_tensor_data": [("x", (0, 4))], "output_tensor_data": [("y", (0, 3))]}


def test_the_command_line(tmp_path, capsys):
    from mxnet.onnx.__main__ import main
    path, out = str(tmp_path / "m.onnx"), str(tmp_path / "out.npz")
    onnx.save_model(_dense()[1], path)
    np.save(tmp_path / "x.npy", np.ones((2, 4), "float32"))
    main(["check", path])
    main(["run", path, "--input", f"x={tmp_path / 'x.npy'}", "--out", out])
    main(["explain", path, "--shape", "x=3,4"])
    main(["convert", path, str(tmp_path / "m")])
    main(["bench", path, "--shape", "x=3,4", "--seconds", "0.05"])
    text = capsys.readouterr().out
    assert "Gemm" in text and "plan of" in text and "onnxruntime ÷ mxnet" in text
    assert np.load(out)["y"].shape == (2, 3)
    block = mx.gluon.SymbolBlock.imports(str(tmp_path / "m-symbol.json"), ["x"], str(tmp_path / "m-0000.params"))
    assert block(mx.nd.ones((5, 4))).shape == (5, 3)
    # sizes that are free: equal names are equal sizes, and errors say which were made up
    names = {"x": ["n", "m"], "z": ["n", 2]}
    graph = h.make_graph([h.make_node("Mul", ["x", "z"], ["y"])], "g", [h.make_tensor_value_info(k, T.FLOAT, v) for k, v in names.items()],
                         [h.make_tensor_value_info("y", T.FLOAT, None)])
    free = str(tmp_path / "free.onnx")
    onnx.save_model(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=10), free)
    main(["run", free, "--shape", "x=5,2"])
    assert "y: float32 (5, 2)" in capsys.readouterr().out
    main(["run", free, "--size", "n=4", "--size", "m=2"])
    assert "y: float32 (4, 2)" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"free are 1, or as in other inputs: n; --size n=... gives one, --shape z=... those of an input"):
        main(["run", free, "--shape", "x=5,3"])
    main(["convert", free, str(tmp_path / "sized"), "--size", "n=3", "--size", "m=2"])
    with pytest.raises(SystemExit, match=r"no shape for the input x: .*accepted: --shape x=SIZE"):
        main(["convert", free, str(tmp_path / "free")])
    for wrong in (["run", path, "--shape", "q=1"], ["run", str(tmp_path / "none.onnx")], ["run", path, "--shape", "x=a"],
                  ["run", free, "--size", "k=1"], ["run", free, "--size", "n=a"], ["run", free, "--size", "n"]):
        with pytest.raises(SystemExit, match=r"\[onnx\]"):
            main(wrong)


def test_sizes_that_are_sums(tmp_path, capsys):
    """As exporters name the sizes of a decoder with a cache."""
    from mxnet.onnx.__main__ import main
    dims = {"mask": ["n", "past + new"], "past_keys": ["n", "past", 2], "keys": ["n", "new", 2]}
    graph = h.make_graph([h.make_node("Concat", ["past_keys", "keys"], ["k"], axis=1), h.make_node("Unsqueeze", ["mask", "axis"], ["m"]),
                          h.make_node("Mul", ["k", "m"], ["y"])], "g", [h.make_tensor_value_info(k, T.FLOAT, v) for k, v in dims.items()],
                         [h.make_tensor_value_info("y", T.FLOAT, None)], [h.make_tensor("axis", T.INT64, [1], [2])])
    path = str(tmp_path / "cache.onnx")
    onnx.save_model(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=10), path)
    main(["run", path])
    main(["run", path, "--size", "past=7", "--shape", "keys=2,3,2"])
    text = capsys.readouterr().out
    assert "y: float32 (1, 2, 2)" in text and "y: float32 (2, 10, 2)" in text


@pytest.mark.parametrize("dimension, size", [("a", 5), ("a + b", 8), ("2*a", 10), ("a//2", 2), ("Max(a, b) - 1", 4), ("a*(b - 1)", 10),
                                             ("unknown", 1), ("a-b", 1), ("a + unknown", 6), ("any text", 1), ("a - 9", 0), ("a//c", 1),
                                             ("__import__('os')", 1), ("a.b", 1), ("", 1), ("(" * 500, 1), (7, 7), (None, 1)])
def test_sizes_by_names(dimension, size):
    from mxnet.onnx._sizes import size_of
    assert size_of(dimension, {"a": 5, "b": 3, "c": 0}) == size


def test_what_can_be_read_is_listed():
    table = mx.onnx.operators()
    assert len(table["ai.onnx"]) > 150 and {"ai.onnx.ml", "com.microsoft"} <= set(table)
    assert all(first >= 1 and (last is None or last >= first) for ops in table.values() for spans in ops.values() for first, last in spans)


def test_models_run_again_after_export(tmp_path):
    path = str(tmp_path / "again.onnx")
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3, padding=1, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.GlobalAvgPool2D(),
            mx.gluon.nn.Dense(3))
    net.initialize()
    x = mx.nd.random.normal(shape=(2, 3, 8, 8))
    y = net(x)
    mx.onnx.export_model(net, in_shapes=[("n", 3, 8, 8)], onnx_file_path=path)
    m = mx.onnx.load(path)
    np.testing.assert_allclose(m(x).asnumpy(), y.asnumpy(), rtol=1e-5, atol=1e-6)
    assert m(mx.nd.ones((5, 3, 8, 8))).shape == (5, 3)
