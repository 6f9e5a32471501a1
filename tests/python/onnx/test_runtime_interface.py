"""Programs for onnxruntime on mx.onnx.runtime: the same calls on both, where the other is there."""
import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxnet as mx
import mxnet.onnx.runtime as ours

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402

info, node = helper.make_tensor_value_info, helper.make_node
F, ML = TensorProto.FLOAT, ("ai.onnx.ml", 3)
X = np.arange(6, dtype="float32").reshape(2, 1, 3) - 2


def model(nodes, inputs, outputs, weights=(), opsets=(("", 17),), **about):
    graph = helper.make_graph(nodes, "net", inputs, outputs, [numpy_helper.from_array(v, k) for k, v in dict(weights).items()],
                              doc_string="a graph")
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], ir_version=8, producer_name="me", **about)
    entry = made.metadata_props.add()
    entry.key, entry.value = "k", "v"
    return made.SerializeToString()


def sums():
    """y = x + w, z = relu(y); w has a value."""
    shape = ["n", None, 3]
    return model([node("Add", ["x", "w"], ["y"]), node("Relu", ["y"], ["z"])], [info("x", F, shape), info("w", F, [3])],
                 [info("y", F, shape), info("z", F, shape)], {"w": np.ones(3, "float32")}, domain="org", model_version=7,
                 doc_string="words")


@pytest.fixture(params=["mxnet", "onnxruntime"])
def ort(request):
    """Each test is run on both: what it says of ours holds for the original."""
    if request.param == "mxnet":
        return ours
    theirs = pytest.importorskip("onnxruntime")
    theirs.set_default_logger_severity(4)
    return theirs


def names(args):
    return [(a.name, a.shape, a.type) for a in args]


def test_what_describes_a_model(ort):
    session = ort.InferenceSession(sums(), providers=["CPUExecutionProvider"])
    assert names(session.get_inputs()) == [("x", ["n", None, 3], "tensor(float)")]
    assert names(session.get_outputs()) == [("y", ["n", None, 3], "tensor(float)"), ("z", ["n", None, 3], "tensor(float)")]
    assert names(session.get_overridable_initializers()) == [("w", [3], "tensor(float)")]
    assert all(word in repr(session.get_inputs()[0]) for word in (["name='x'", "tensor(float)"] if ort is ours else ["NodeArg"]))
    meta = session.get_modelmeta()
    assert (meta.producer_name, meta.graph_name, meta.graph_description) == ("me", "net", "a graph")
    assert (meta.domain, meta.version, meta.description, meta.custom_metadata_map) == ("org", 7, "words", {"k": "v"})
    assert session.get_providers() == ["CPUExecutionProvider"] and session.get_provider_options() == {"CPUExecutionProvider": {}}
    assert "CPUExecutionProvider" in ort.get_available_providers() and ort.get_device() in ("CPU", "GPU")


def test_results(ort):
    session = ort.InferenceSession(sums())
    y, z = session.run(None, {"x": X})
    assert type(y) is np.ndarray and y.flags.writeable
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(z, np.maximum(X + 1, 0))
    assert len(session.run([], {"x": X})) == 2
    again = session.run(["z", "y", "z"], {"x": X.tolist()}, ort.RunOptions())
    np.testing.assert_array_equal(again[1], y)
    assert [r.shape for r in again] == [(2, 1, 3)] * 3
    y, = session.run(["y"], {"x": np.asfortranarray(X), "w": np.full(3, 5, "float32")})
    np.testing.assert_array_equal(y, X + 5)


def test_results_of_many_elements_are_the_callers(ort):
    session = ort.InferenceSession(sums())
    x = np.ones((100, 100, 3), dtype="float32")
    first, = session.run(["y"], {"x": x})
    first[:] = 9
    second, = session.run(["y"], {"x": x})
    del session
    assert (first == 9).all() and (second == 2).all()


def test_wrong_calls(ort):
    state = ours if ort is ours else pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    session = ort.InferenceSession(sums())
    for outputs, feed, error in [
            (None, {}, ValueError), (["q"], {"x": X}, state.InvalidArgument), (None, {"x": X, "q": X}, state.InvalidArgument),
            (None, {"x": X[0]}, state.InvalidArgument), (None, {"x": X[:, :, :2]}, state.InvalidArgument),
            (None, {"x": X.astype(bool)}, state.InvalidArgument), ("z", {"x": X}, TypeError)]:
        with pytest.raises(error):
            session.run(outputs, feed)


def test_wrong_models(ort, tmp_path):
    state = ours if ort is ours else pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\x08\x07\x3a\xff\xff\xff")
    unknown = model([node("Foo", ["x"], ["y"])], [info("x", F, ["n"])], [info("y", F, ["n"])])
    for source, error in [(str(tmp_path / "none.onnx"), state.NoSuchFile), (str(bad), state.InvalidProtobuf),
                          (b"abc", state.InvalidProtobuf), (unknown, state.InvalidGraph), (None, TypeError), (3, TypeError)]:
        with pytest.raises(error):
            ort.InferenceSession(source)


def test_providers_that_are_not_there(ort):
    with pytest.warns(UserWarning, match="'FooExecutionProvider' is not"):
        session = ort.InferenceSession(sums(), providers=["FooExecutionProvider", ("CPUExecutionProvider", {})])
    assert session.get_providers() == ["CPUExecutionProvider"]
    session.set_providers(["CPUExecutionProvider"])


def test_values(ort):
    x = X.copy()
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert (value.shape(), value.data_type(), value.device_name(), value.element_type()) == ([2, 1, 3], "tensor(float)", "cpu", 1)
    assert value.is_tensor() and value.has_value() and not value.is_tensor_sequence() and value.tensor_size_in_bytes() == 24
    x[0, 0, 0] = -7
    assert value.numpy()[0, 0, 0] == -7
    session = ort.InferenceSession(sums())
    z, = session.run_with_ort_values(["z"], {"x": value})
    np.testing.assert_array_equal(z.numpy(), np.maximum(x + 1, 0))
    made = ort.OrtValue.ortvalue_from_shape_and_type([2, 1, 3], np.float32)
    made.update_inplace(X)
    np.testing.assert_array_equal(made.numpy(), X)
    np.testing.assert_array_equal(session.run(["y"], {"x": made})[0], X + 1)


def test_bindings(ort):
    session = ort.InferenceSession(sums())
    bound = session.io_binding()
    bound.bind_cpu_input("x", X)
    bound.bind_output("z")
    session.run_with_iobinding(bound)
    np.testing.assert_array_equal(bound.copy_outputs_to_cpu()[0], np.maximum(X + 1, 0))
    x, memory = X.copy(), np.zeros_like(X)
    bound = session.io_binding()
    bound.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    bound.bind_output("y", "cpu", 0, np.float32, x.shape, memory.ctypes.data)
    for step in range(3):
        x[:] = step
        session.run_with_iobinding(bound)
        assert (memory == step + 1).all()
    value = ort.OrtValue.ortvalue_from_shape_and_type([2, 1, 3], np.float32)
    bound.clear_binding_outputs()
    bound.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(X))
    bound.bind_ortvalue_output("y", value)
    session.run_with_iobinding(bound)
    np.testing.assert_array_equal(value.numpy(), X + 1)
    assert [o.shape() for o in bound.get_outputs()] == [[2, 1, 3]]
    with pytest.raises(RuntimeError):
        bound.bind_cpu_input("q", X)


def test_calls_on_other_threads(ort):
    session, done, told = ort.InferenceSession(sums()), threading.Event(), []

    def tell(results, data, error):
        told.append((results, data, error))
        done.set()
    session.run_async(["y"], {"x": X}, tell, "mine")
    assert done.wait(60)
    (results, data, error), = told
    np.testing.assert_array_equal(results[0], X + 1)
    assert (data, error) == ("mine", "")


def test_options(ort, tmp_path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.add_free_dimension_override_by_name("n", 4)
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    with pytest.raises(RuntimeError):
        options.get_session_config_entry("none")
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    session = ort.InferenceSession(sums(), options)
    assert session.get_inputs()[0].shape == [4, None, 3] and session.get_session_options().enable_profiling
    session.run(None, {"x": np.ones((4, 1, 3), "float32")})
    name = session.end_profiling()
    assert name.startswith(str(tmp_path / "profile_")) and json.loads(open(name, encoding="utf-8").read())
    assert session.end_profiling() == "" or ort is not ours


def test_strings_sequences_and_dictionaries(ort):
    echo = ort.InferenceSession(model([node("Identity", ["x"], ["y"])], [info("x", TensorProto.STRING, ["n"])],
                                      [info("y", TensorProto.STRING, ["n"])]))
    for given in (np.array(["a", "bb"]), ["a", "bb"], np.array(["a", "bb"], dtype=object)):
        result, = echo.run(None, {"x": given})
        assert result.dtype == object and result.tolist() == ["a", "bb"]
    pair = ort.InferenceSession(model([node("SequenceConstruct", ["x", "x"], ["y"])], [info("x", F, ["n"])],
                                      [helper.make_tensor_sequence_value_info("y", F, None)]))
    result, = pair.run(None, {"x": np.ones(2, "float32")})
    assert [r.tolist() for r in result] == [[1, 1], [1, 1]] and names(pair.get_outputs()) == [("y", [], "seq(tensor(float))")]
    for labels, key in ({"classlabels_strings": ["a", "b"]}, "string"), ({"classlabels_int64s": [3, 5]}, "int64"):
        out = helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_map_type_proto(
            TensorProto.STRING if key == "string" else TensorProto.INT64, helper.make_tensor_type_proto(F, []))))
        scores = ort.InferenceSession(model([node("ZipMap", ["x"], ["y"], domain=ML[0], **labels)], [info("x", F, ["n", 2])], [out],
                                            opsets=(("", 17), ML)))
        first, second = list(labels.values())[0]
        assert scores.run(None, {"x": np.array([[1, 2], [3, 4]], "float32")}) == [[{first: 1, second: 2}, {first: 3, second: 4}]]
        assert names(scores.get_outputs()) == [("y", [], f"seq(map({key},tensor(float)))")]


def test_threads_of_a_session():
    before = int(mx.util.getenv("OMP_NUM_THREADS") or 0)
    options = ours.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        ours.InferenceSession(sums(), options).run(None, {"x": X})
        assert mx.util.getenv("OMP_NUM_THREADS") == "1"
    finally:
        mx.base.check_call(mx.base._LIB.MXSetNumOMPThreads(max(before, 1)))


def test_programs_as_they_are(tmp_path):
    """A program that imports onnxruntime, with a module beside it and arguments."""
    (tmp_path / "beside.py").write_text("from onnxruntime.capi.onnxruntime_pybind11_state import NoSuchFile\n")
    (tmp_path / "net.onnx").write_bytes(sums())
    (tmp_path / "program.py").write_text("""
import importlib.util, sys
import numpy as np
import onnxruntime as ort
from beside import NoSuchFile
assert importlib.util.find_spec("onnxruntime") and ort.__version__
try:
    ort.InferenceSession("none.onnx")
except NoSuchFile:
    pass
session = ort.InferenceSession(sys.argv[1])
print(type(session).__module__, session.run(["y"], {"x": np.zeros((1, 1, 3), "float32")})[0].ravel().tolist())
""")
    done = subprocess.run([sys.executable, "-m", "mxnet.onnx.runtime", str(tmp_path / "program.py"), "net.onnx"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120)
    assert done.stdout == "mxnet.onnx.runtime._session [1.0, 1.0, 1.0]\n", done.stderr


def test_onnxruntime_that_was_imported_before():
    code = """
import sys, types
sys.modules["onnxruntime"] = types.ModuleType("onnxruntime")
import mxnet.onnx.runtime as ort
try:
    ort.replace_onnxruntime()
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "was imported before" in done.stdout, done.stderr


def test_tools_of_an_installed_onnxruntime(tmp_path):
    """They run models by this library."""
    pytest.importorskip("onnxruntime.quantization")
    (tmp_path / "net.onnx").write_bytes(model([node("MatMul", ["x", "w"], ["y"])], [info("x", F, ["n", 16])], [info("y", F, ["n", 8])],
                                              {"w": np.random.default_rng(0).standard_normal((16, 8)).astype("float32")}))
    code = """
import mxnet.onnx.runtime
mxnet.onnx.runtime.replace_onnxruntime()
import numpy as np
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, quantize_static
class Reader(CalibrationDataReader):
    def __init__(self):
        self.rows = iter([{"x": np.random.default_rng(i).standard_normal((8, 16)).astype("float32")} for i in range(4)])
    def get_next(self):
        return next(self.rows, None)
quantize_static("net.onnx", "bytes.onnx", Reader())
x = np.random.default_rng(9).standard_normal((4, 16)).astype("float32")
floats, integers = (ort.InferenceSession(name).run(None, {"x": x})[0] for name in ("net.onnx", "bytes.onnx"))
assert type(ort.InferenceSession("net.onnx")).__module__.startswith("mxnet") and ort.InferenceSession("net.onnx")._model_path == "net.onnx"
print(0 < abs(floats - integers).max() < 0.2)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout == "True\n", done.stderr


LARGE = np.arange(40000, dtype="float32").reshape(200, 200)


def passed_on(*more):
    """Results that are an input's elements in its order, and in another one."""
    nodes = [node("Identity", ["x"], ["same"]), node("Flatten", ["x"], ["flat"]), node("Transpose", ["x"], ["turned"])]
    shape = ["n", "n"]
    return model(nodes, [info("x", F, shape)], [info(name, F, shape) for name in ("same", "flat", "turned", *more)])


@pytest.mark.parametrize("more", [(), ("x",)])
def test_results_do_not_share_the_callers_input(more):
    session, x = ours.InferenceSession(passed_on(*more)), LARGE.copy()
    for feed in (x, ours.OrtValue.ortvalue_from_numpy(x)):
        for call in range(3):
            x[:] = LARGE + call
            results = session.run(None, {"x": feed}) if feed is x else [
                v.numpy() for v in session.run_with_ort_values(None, {"x": feed})]
            x[:] = -1
            for result, transposed in zip(results, (False, False, True, False)):
                want = LARGE + call
                np.testing.assert_array_equal(result, want.T if transposed else want)


def test_an_output_in_the_memory_of_an_input():
    """Bound by address and as a value: what is still to be read stays."""
    session, memory = ours.InferenceSession(passed_on()), LARGE.copy()
    bound = session.io_binding()
    bound.bind_input("x", "cpu", 0, np.float32, memory.shape, memory.ctypes.data)
    bound.bind_output("turned", "cpu", 0, np.float32, memory.shape, memory.ctypes.data)
    session.run_with_iobinding(bound)
    np.testing.assert_array_equal(memory, LARGE.T)
    value = ours.OrtValue.ortvalue_from_numpy(memory)
    bound.bind_ortvalue_input("x", value)
    bound.bind_ortvalue_output("turned", value)
    session.run_with_iobinding(bound)
    np.testing.assert_array_equal(value.numpy(), LARGE)
    np.testing.assert_array_equal(memory, LARGE)


def extra_bytes(run):
    """What a call takes beside what was there before, in the pool of the CPU."""
    mx.nd.waitall()
    mx.storage.reset_peak()
    before = mx.storage.stats().peak_used_bytes
    run()
    return mx.storage.stats().peak_used_bytes - before


@pytest.mark.parametrize("way", ["value", "address", "array"])
def test_inputs_and_outputs_are_not_copied(way):
    session = ours.InferenceSession(model([node("Neg", ["x"], ["y"])], [info("x", F, ["n"])], [info("y", F, ["n"])]))
    x, y = np.ones(1 << 20, "float32"), np.zeros(1 << 20, "float32")
    bound = session.io_binding()
    if way == "value":
        bound.bind_ortvalue_input("x", ours.OrtValue.ortvalue_from_numpy(x))
        bound.bind_ortvalue_output("y", ours.OrtValue.ortvalue_from_numpy(y))
    else:
        bound.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
        bound.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    run, most = lambda: session.run_with_iobinding(bound), 1 << 16
    if way == "array":
        run, most = lambda: session.run(None, {"x": x}), y.nbytes + (1 << 16)   # the result
    run()
    assert extra_bytes(run) < most
    assert way == "array" or (y == -1).all()
