"""One model, many shapes: what was converted for one serves the next where it is the same."""

import os
import pickle
import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from processor import has_amx  # noqa: E402

WIDTH = 8
WIDE = 256


def decoder_step(dtype=TensorProto.FLOAT):
    """A step of a language model whose cache grows: most shapes stay, some nodes see the length."""
    rng = np.random.default_rng(0)
    numpy_type = helper.tensor_dtype_to_np_dtype(dtype)
    weights = {
        name: rng.standard_normal(shape).astype(numpy_type) / 4
        for name, shape in [
            ("places", (64, WIDTH)),
            ("qkv", (WIDTH, 3 * WIDTH)),
            ("out", (WIDTH, WIDTH)),
            ("scale", (WIDTH,)),
        ]
    }
    weights.update(axis=np.array(1), one=np.array([1]), zero=np.array([0]))
    node = helper.make_node
    nodes = [
        node("Shape", ["past"], ["past_shape"]),
        node("Gather", ["past_shape", "axis"], ["length"]),
        node("Gather", ["places", "length"], ["place"]),
        node("Add", ["x", "place"], ["h0"]),
        node("MatMul", ["h0", "qkv"], ["joined"]),
        node("Split", ["joined"], ["q", "k", "v"], axis=2, num_outputs=3),
        node("Concat", ["past", "k"], ["present"], axis=1),
        node("Transpose", ["present"], ["keys"], perm=[0, 2, 1]),
        node("MatMul", ["q", "keys"], ["scores"]),
        node("Softmax", ["scores"], ["share"], axis=-1),
        node("MatMul", ["share", "present"], ["read"]),
        node("Add", ["read", "v"], ["both"]),
        node("MatMul", ["both", "out"], ["mixed"]),
        node("Shape", ["mixed"], ["mixed_shape"]),
        node("Reshape", ["mixed", "mixed_shape"], ["same"]),
        node("Mul", ["same", "same"], ["square"]),
        node("Add", ["square", "h0"], ["h1"]),
        node("LayerNormalization", ["h1", "scale"], ["y"], axis=-1),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "step",
        [info("x", dtype, [1, 1, WIDTH]), info("past", dtype, [1, "past", WIDTH])],
        [info("y", dtype, [1, 1, WIDTH]), info("present", dtype, [1, "all", WIDTH])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def inputs_of(length, numpy_type="float32"):
    rng = np.random.default_rng(length)
    return {
        "x": rng.standard_normal((1, 1, WIDTH)).astype(numpy_type),
        "past": rng.standard_normal((1, length, WIDTH)).astype(numpy_type),
    }


@pytest.fixture
def plans_alone():
    """Nothing runs node by node, which rounds otherwise."""
    with mx.test_utils.environment("MXNET_ENFORCE_DETERMINISM", "1"):
        yield


def test_each_length_is_as_the_first_of_its_model(plans_alone):
    model = decoder_step()
    reference = ReferenceEvaluator(model)
    used = mx.onnx.load(model.SerializeToString())
    for length in [3, 4, 5, 1, 9, 4, 0, 33]:
        given = inputs_of(length)
        got = used.run(given)
        fresh = mx.onnx.load(model.SerializeToString()).run(given)
        for name, want in zip(["y", "present"], reference.run(None, given)):
            np.testing.assert_array_equal(got[name].asnumpy(), fresh[name].asnumpy())
            np.testing.assert_allclose(got[name].asnumpy(), want, rtol=1e-5, atol=1e-5)


def test_float16_is_widened_in_each_length(plans_alone):
    model = decoder_step(TensorProto.FLOAT16)
    used = mx.onnx.load(model.SerializeToString())
    for length in [3, 4, 5, 9]:
        given = inputs_of(length, "float16")
        got = used.run(given)
        fresh = mx.onnx.load(model.SerializeToString()).run(given)
        for name in ["y", "present"]:
            assert got[name].dtype == np.float16
            np.testing.assert_array_equal(got[name].asnumpy(), fresh[name].asnumpy())


def test_the_same_input_twice_and_two_inputs():
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Identity", ["a"], ["c"]),
        helper.make_node("Where", ["t", "c", "b"], ["d"]),
        helper.make_node("Sub", ["d", "b"], ["y"]),
    ]
    shape = ["n", 2]
    graph = helper.make_graph(
        nodes,
        "twice",
        [info("a", 1, shape), info("b", 1, shape), info("t", TensorProto.BOOL, ["m", 2])],
        [info("y", 1, shape)],
    )
    model = mx.onnx.load(helper.make_model(graph, ir_version=9).SerializeToString())
    for rows in [1, 2, 3, 2]:
        a = np.arange(2 * rows, dtype="float32").reshape(rows, 2)
        t = np.arange(2 * rows).reshape(rows, 2) % 3 == 0
        y = model.run({"a": a, "b": a * 3, "t": t})["y"].asnumpy()
        np.testing.assert_array_equal(y, np.where(t, a, a * 3) - a * 3)


def test_contents_that_chose_a_plan_may_change_later():
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Reshape", ["x", "sizes"], ["y"]),
        helper.make_node("Add", ["sizes", "w"], ["z"]),
    ]
    graph = helper.make_graph(
        nodes,
        "sizes",
        [info("x", 1, ["n"]), info("sizes", TensorProto.INT64, [2]), info("w", TensorProto.INT64, [2])],
        [info("y", 1, ["a", "b"]), info("z", TensorProto.INT64, [2])],
    )
    model = mx.onnx.load(helper.make_model(graph, ir_version=9).SerializeToString())
    sizes = mx.nd.array([2, 3], dtype="int64")
    others = {"x": np.arange(6, dtype="float32"), "w": np.array([10, 20])}
    assert model.run({"sizes": sizes, **others})["z"].asnumpy().tolist() == [12, 23]
    sizes[:] = mx.nd.array([3, 2], dtype="int64")
    got = model.run({"sizes": np.array([2, 3]), **others})
    assert got["y"].shape == (2, 3) and got["z"].asnumpy().tolist() == [12, 23]
    got = model.run({"sizes": sizes, **others})
    assert got["y"].shape == (3, 2) and got["z"].asnumpy().tolist() == [13, 22]


def test_large_results_of_lengths_that_come_once(tmp_path):
    """They are arrays like others, though the memory behind them has room for more."""
    nodes = [helper.make_node("Concat", ["past", "x"], ["present"], axis=1), helper.make_node("Exp", ["present"], ["y"])]
    shape = [1, None, 64]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("past", 1, shape), info("x", 1, shape)], [info("present", 1, shape), info("y", 1, shape)])
    model = mx.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString())
    rng = np.random.default_rng(0)
    given = {"past": rng.random((1, 290, 64)).astype("float32"), "x": rng.random((1, 1, 64)).astype("float32")}
    expected = given["past"]
    for _ in range(40):
        got = model.run(given)
        expected = np.concatenate([expected, given["x"]], axis=1)
        np.testing.assert_array_equal(got["present"].asnumpy(), expected)
        np.testing.assert_allclose(got["y"].asnumpy(), np.exp(expected), rtol=1e-6)
        given["past"] = got["present"]
    assert "node by node" in str(model.explain())
    present = got["present"]
    path = str(tmp_path / "present.params")
    mx.nd.save(path, [present])
    shared = mx.nd.from_dlpack(present.to_dlpack_for_read())
    for other in (mx.nd.load(path)[0], pickle.loads(pickle.dumps(present)), present.copy(), shared):
        np.testing.assert_array_equal(other.asnumpy(), expected)
    present[0, 5:7] = 3
    np.testing.assert_array_equal(present.reshape((-1, 64))[5:8].asnumpy(), np.vstack([np.full((2, 64), 3, "float32"), expected[0, 7:8]]))
    np.testing.assert_array_equal((present + 1)[0, -1].asnumpy(), expected[0, -1] + 1)


def test_a_layer_of_many_steps_is_written_down_once():
    """Through what an LSTM of another form becomes, each step has several ways back."""
    rng = np.random.default_rng(0)
    steps, hidden = 40, 3
    weights = {"w": (1, 4 * hidden, 2), "r": (1, 4 * hidden, hidden), "b": (1, 8 * hidden)}
    weights = {name: rng.standard_normal(shape).astype("float32") / 2 for name, shape in weights.items()}
    info = helper.make_tensor_value_info
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=hidden, input_forget=1)
    graph = helper.make_graph(
        [node],
        "steps",
        [info("x", 1, [steps, "batch", 2])],
        [info("y", 1, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
    used, whole = mx.onnx.load(model), rng.standard_normal((steps, 6, 2)).astype("float32")
    want = mx.onnx.load(model)(whole).asnumpy()
    for batch in [4, 4, 4, 4, 4, 5, 3, 6]:
        np.testing.assert_allclose(used(whole[:, :batch]).asnumpy(), want[:, :, :batch], rtol=1e-5, atol=1e-6)


def bytes_model():
    """Two dense layers and sums behind them, whose data is quantized at the call, for any number of
    rows."""
    rng = np.random.default_rng(1)
    nodes, weights, x = [], {"scale": np.float32(0.01)}, "x"
    for i in range(2):
        weights[f"w{i}"] = rng.integers(-127, 128, (WIDE, WIDE)).astype("int8")
        weights[f"b{i}"] = rng.standard_normal(WIDE).astype("float32")
        nodes += [
            helper.make_node("DynamicQuantizeLinear", [x], [f"q{i}", f"s{i}", f"z{i}"]),
            helper.make_node("MatMulInteger", [f"q{i}", f"w{i}", f"z{i}"], [f"m{i}"]),
            helper.make_node("Cast", [f"m{i}"], [f"c{i}"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"s{i}", "scale"], [f"t{i}"]),
            helper.make_node("Mul", [f"c{i}", f"t{i}"], [f"d{i}"]),
            helper.make_node("Add", [f"d{i}", f"b{i}"], [f"a{i}"]),
            helper.make_node("Add", [f"a{i}", x], [f"y{i}"]),
        ]
        x = f"y{i}"
    graph = helper.make_graph(
        nodes,
        "dense",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", WIDE])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["rows", WIDE])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def test_weights_of_bytes_are_packed_once_for_all_shapes():
    """A call whose shape is new finds those of the plan."""
    made = bytes_model()
    net, judge = mx.onnx.load(made.SerializeToString()), ReferenceEvaluator(made)

    def packed():
        return net.explain(runs=0).plans[0].plan["stats"]["packed_forms"]

    x = np.random.default_rng(2).standard_normal((24, WIDE)).astype("float32")
    net.run({"x": x[:1]})
    before = packed()
    assert before >= 2
    for _ in range(8):
        net.run({"x": x[:1]})
    for rows in (2, 7, 24):
        for _ in range(2):
            got = net.run({"x": x[:rows]})["y1"].asnumpy()
        np.testing.assert_allclose(got, judge.run(None, {"x": x[:rows]})[0], rtol=1e-5, atol=1e-4)
    assert packed() == before


def few_bytes_model():
    """A dense layer of three columns, with data quantized at the call, for any number of rows."""
    rng = np.random.default_rng(3)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["m"]),
        helper.make_node("Cast", ["m"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "scale"], ["t"]),
        helper.make_node("Mul", ["c", "t"], ["d"]),
        helper.make_node("Add", ["d", "b"], ["y"]),
    ]
    weights = {
        "w": rng.integers(-127, 128, (WIDE, 3)).astype("int8"),
        "b": rng.standard_normal(3).astype("float32"),
        "scale": np.float32(0.0123),
    }
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "head",
        [info("x", TensorProto.FLOAT, ["rows", WIDE])],
        [info("y", TensorProto.FLOAT, ["rows", 3])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def test_few_weights_of_bytes_give_the_same_bits_without_a_plan():
    """A call whose shape is new packs them each time, for the kernel that the plan takes."""
    made = few_bytes_model()
    net, judge = mx.onnx.load(made.SerializeToString()), ReferenceEvaluator(made)
    x = np.random.default_rng(4).standard_normal((40, WIDE)).astype("float32")
    net.run({"x": x[:1]})
    for rows in (2, 3, 7, 40):
        once, planned = (net.run({"x": x[:rows]})["y"].asnumpy() for _ in range(2))
        np.testing.assert_array_equal(once, planned)
        np.testing.assert_allclose(once, judge.run(None, {"x": x[:rows]})[0], rtol=1e-5, atol=1e-4)
    assert "node by node" in net.explain()


NEW_ROWS = """
import sys
import numpy as np, mxnet as mx
model = mx.onnx.load(sys.argv[1])
for rows in (1, 1, 2, 5):
    model.run({"x": np.ones((rows, int(sys.argv[2])), "float32")})
assert "node by node" in model.explain()
"""


@pytest.mark.skipif(not has_amx(), reason="other processors take the product of oneDNN in plans, too")
def test_few_weights_of_bytes_wait_for_no_primitive(tmp_path):
    """The first one of a process takes longer than such a layer, and reads megabytes of code."""
    path = tmp_path / "few.onnx"
    path.write_bytes(few_bytes_model().SerializeToString())
    command = [sys.executable, "-c", NEW_ROWS, str(path), str(WIDE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env={**os.environ, "ONEDNN_VERBOSE": "1"})
    assert ",exec,cpu," not in done.stdout


WAKES = """
import os, sys, time
import numpy as np, mxnet as mx
def has_purge():
    return any(open(f"/proc/self/task/{t}/comm").read() == "mx_purge\\n" for t in os.listdir("/proc/self/task"))
model = mx.onnx.load(sys.argv[1])
x = np.ones((2, 8), "float32")
model.run({"x": x})
first = has_purge()
for _ in range(8):
    model.run({"x": x})
end = time.monotonic() + 2   # it takes its name when it begins
while not has_purge() and time.monotonic() < end:
    time.sleep(0.01)
print(int(first), int(has_purge()))
"""


@pytest.mark.parametrize(("rows", "told"), [("rows", "0 1"), (2, "0 0")], ids=["free", "fixed"])
def test_the_thread_that_gives_memory_back_is_there_before_a_new_shape(tmp_path, rows, told):
    """Where sizes are free and shapes stay for some calls; else when memory is first given back."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "one",
        [info("x", TensorProto.FLOAT, [rows, WIDTH])],
        [info("y", TensorProto.FLOAT, [rows, WIDTH])],
        [numpy_helper.from_array(np.eye(WIDTH, dtype="float32"), "w")],
    )
    path = str(tmp_path / "one.onnx")
    with open(path, "wb") as f:
        f.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString())
    done = subprocess.run([sys.executable, "-c", WAKES, path], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == told
