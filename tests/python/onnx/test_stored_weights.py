"""Weights stay in the file until a kernel wants them, and are given back once it has them in a form
of its own."""
import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from memory_checks import figures

pytestmark = pytest.mark.cpu


def _model(path, layers=4, size=1024, seed=0):
    rng = np.random.RandomState(seed)
    nodes, weights, x = [], [], "x"
    for i in range(layers):
        w = (rng.randn(size, size) / np.sqrt(size)).astype("float32")
        weights.append(numpy_helper.from_array(w, f"w{i}"))
        nodes += [helper.make_node("MatMul", [x, f"w{i}"], [f"y{i}"]), helper.make_node("Tanh", [f"y{i}"], [f"t{i}"])]
        x = f"t{i}"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", size])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["n", size])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return [numpy_helper.to_array(w) for w in weights]


def _expected(x, weights):
    for w in weights:
        x = np.tanh(x.astype("float64") @ w)
    return x


def _answer(model, x):
    return next(iter(model.run({"x": x}).values())).asnumpy()


def test_results_of_several_shapes(tmp_path):
    weights = _model(str(tmp_path / "m.onnx"), 3, 160)
    model = mx.onnx.load(str(tmp_path / "m.onnx"))
    rng = np.random.RandomState(1)
    for rows in (1, 70, 3, 128, 1, 200, 70):
        x = rng.randn(rows, 160).astype("float32")
        np.testing.assert_allclose(_answer(model, x), _expected(x, weights), rtol=1e-4, atol=1e-5)


MEMORY = r"""
model = mx.onnx.load(sys.argv[1])
x = np.ones((64, 1024), "float32")
first = next(iter(model.run({"x": x}).values())).asnumpy()
one = resident("VmHWM") - before
for rows in (65, 66, 67, 80, 96):
    next(iter(model.run({"x": x[:1].repeat(rows, 0)}).values())).asnumpy()
print(one, resident("VmHWM") - before)
"""


def test_memory_is_one_copy_of_the_weights(tmp_path):
    path = str(tmp_path / "m.onnx")
    _model(path, 20)   # 80 MiB
    one, several = figures(path, MEMORY)
    assert 70 < one < 130 and several < one + 20


LOOP_MEMORY = r"""
model = mx.onnx.load(sys.argv[1])
x = np.ones((64, 1024), "float32")
next(iter(model.run({"x": x}).values())).asnumpy()
print(resident("VmRSS") - before)
assert "on arrays" not in model.explain()
"""


def test_memory_of_weights_in_the_body_of_a_loop_is_one_copy(tmp_path):
    """48 MiB that the body's layers pack; and one of them that something else reads as it lies."""
    path = str(tmp_path / "m.onnx")
    weights = _model(path, 12)
    inside = onnx.load(path).graph
    value = helper.make_tensor_value_info
    extra = [helper.make_node("Gather", ["w0", "i"], ["row"]), helper.make_node("Add", ["t11", "row"], ["next"]),
             helper.make_node("Identity", ["c"], ["c2"])]
    body = helper.make_graph(list(inside.node) + extra, "body",
                             [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("x", TensorProto.FLOAT, None)],
                             [value("c2", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, None)], inside.initializer)
    body.input[2].name = body.node[0].input[0] = "s"
    loop = helper.make_node("Loop", ["k", "", "x"], ["y"], body=body)
    graph = helper.make_graph([loop], "g", inside.input, [value("y", TensorProto.FLOAT, ["n", 1024])],
                              [numpy_helper.from_array(np.int64(3), "k")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    x = np.random.RandomState(1).randn(2, 1024).astype("float32")
    want = x
    for i in range(3):
        want = _expected(want, weights) + weights[0][i]
    model = mx.onnx.load(path)
    for _ in range(2):
        np.testing.assert_allclose(_answer(model, x), want, rtol=1e-4, atol=1e-4)
    taken, = figures(path, LOOP_MEMORY)
    assert taken < 48 + 4 + 24


def _integer_model(path, layers, size, seed=0):
    """uint8 weights with a zero point, as onnxruntime's dynamic quantizer writes them."""
    rng = np.random.RandomState(seed)
    nodes, constants, weights, x = [], [numpy_helper.from_array(np.uint8(128), "z")], [], "x"
    for i in range(layers):
        w = rng.randint(0, 256, (size, size)).astype("uint8")
        weights.append(w)
        constants += [numpy_helper.from_array(w, f"w{i}"), numpy_helper.from_array(np.float32(2 ** -12), f"s{i}")]
        nodes.append(helper.make_node("DynamicQuantizeMatMul", [x, f"w{i}", f"s{i}", "z"], [f"y{i}"], domain="com.microsoft"))
        x = f"y{i}"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", size])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["n", size])], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return weights


def test_memory_of_integer_weights_is_one_copy(tmp_path):
    path = str(tmp_path / "m.onnx")
    _integer_model(path, 40, 1024)   # 40 MiB
    one, several = figures(path, MEMORY)
    assert 30 < one < 75 and several < one + 15


def test_small_constants_take_no_page_each(tmp_path):
    """400 numbers of the file in both of its forms, and 200 that are computed from them."""
    rng = np.random.RandomState(2)
    nodes, constants, want, x = [], [], np.arange(3.0), "x"
    for i in range(200):
        a, b = rng.uniform(0.9, 1.1, 2).astype("float32")
        constants += [numpy_helper.from_array(a, f"a{i}"), helper.make_tensor(f"b{i}", TensorProto.FLOAT, [], [b])]
        nodes += [helper.make_node("Mul", [f"a{i}", f"b{i}"], [f"c{i}"]), helper.make_node("Sub", [x, f"c{i}"], [f"d{i}"]),
                  helper.make_node("Abs", [f"d{i}"], [f"x{i}"])]
        want = np.abs(want - a * b)
        x = f"x{i}"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, [3])], constants)
    path = str(tmp_path / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    before = mx.storage.stats(mx.cpu()).used_bytes
    model = mx.onnx.load(path)
    np.testing.assert_allclose(_answer(model, np.arange(3, dtype="float32")), want, atol=1e-4)
    assert mx.storage.stats(mx.cpu()).used_bytes - before < 60 * 4096


def test_constants_computed_from_stored_weights(tmp_path):
    """Zero points are taken off, and matrices transposed, each time that somebody reads them."""
    weights = _integer_model(str(tmp_path / "m.onnx"), 1, 192)
    model = mx.onnx.load(str(tmp_path / "m.onnx"))
    rng = np.random.RandomState(1)
    for rows in (1, 70, 3, 70):
        x = np.rint(rng.uniform(-60, 60, (rows, 192))).astype("float32")
        x[0, :2] = -100, 155   # so that a step is one
        expected = x.astype("int64") @ (weights[0].astype("int64") - 128) / 4096
        np.testing.assert_allclose(_answer(model, x), expected, rtol=1e-5, atol=1e-5)


def test_threads_share_weights(tmp_path):
    weights = _model(str(tmp_path / "m.onnx"), 3, 192)
    model = mx.onnx.load(str(tmp_path / "m.onnx"))
    wrong = []

    def work(seed):
        rng = np.random.RandomState(seed)
        for _ in range(12):
            x = rng.randn(rng.choice([1, 2, 65, 66, 90]), 192).astype("float32")
            if not np.allclose(_answer(model, x), _expected(x, weights), rtol=1e-4, atol=1e-5):
                wrong.append(x.shape)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_file_that_becomes_shorter_is_an_error(tmp_path):
    path = str(tmp_path / "m.onnx")
    _model(path, 2, 256)
    model = mx.onnx.load(path)
    with open(path, "r+b") as f:
        f.truncate(1000)
    with pytest.raises(mx.MXNetError, match="m.onnx.*changed"):
        _answer(model, np.ones((1, 256), "float32"))


SHORTENED = r"""
import os, sys, threading, time, mxnet as mx
path, whole, stop = sys.argv[1], open(sys.argv[1], "rb").read(), threading.Event()


def shorten():
    while not stop.is_set():
        with open(path, "r+b") as f:
            f.truncate(5000)
            time.sleep(0.001)
            f.write(whole)
        time.sleep(0.001)


thread = threading.Thread(target=shorten)
thread.start()
errors = 0
for _ in range(60):
    try:
        mx.onnx.load(path)
    except OSError as error:
        errors += 1
        assert path in str(error) and any(t in str(error) for t in (" bytes at ", " at byte ", "shape")), error
stop.set()
thread.join()
print(errors)
"""


def test_a_file_that_becomes_shorter_while_it_is_read_is_an_error(tmp_path):
    """It is no signal, as reading a map of the file is."""
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"x{i + 1}"], name="a node with a long name " * 5) for i in range(4000)]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in ("x0", "x4000")]
    path = str(tmp_path / "m.onnx")
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", infos[:1], infos[1:])), path)
    out = subprocess.run([sys.executable, "-c", SHORTENED, path], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, (out.returncode, out.stderr)
    assert int(out.stdout) > 0


def test_reading_a_model_leaves_its_weights_in_the_file(tmp_path):
    path = str(tmp_path / "m.onnx")
    _model(path, 20)   # 80 MiB
    loaded, = figures(path, "model = mx.onnx.load(sys.argv[1])\nprint(resident('VmHWM') - before)")
    assert loaded < 20


def test_a_file_that_is_replaced_does_not_matter(tmp_path):
    path = tmp_path / "m.onnx"
    weights = _model(str(path), 2, 256)
    model = mx.onnx.load(str(path))
    _model(str(tmp_path / "other.onnx"), 2, 256, seed=5)
    (tmp_path / "other.onnx").replace(path)
    x = np.ones((3, 256), "float32")
    np.testing.assert_allclose(_answer(model, x), _expected(x, weights), rtol=1e-4, atol=1e-5)


def test_parameters_of_a_block_can_be_changed(tmp_path):
    """What is written is kept: it is not read from the file again."""
    weights = _model(str(tmp_path / "m.onnx"), 2, 128)
    model = mx.onnx.load(str(tmp_path / "m.onnx"))
    x = np.random.RandomState(2).randn(70, 128).astype("float32")
    before = _answer(model, x)
    block = model.to_block()
    block.hybridize()
    given = mx.nd.array(x)
    np.testing.assert_allclose(block(given).asnumpy(), before, rtol=1e-5, atol=1e-6)
    for name, parameter in block.collect_params().items():
        parameter.set_data(parameter.data() * 0.5)
    np.testing.assert_allclose(block(given).asnumpy(), _expected(x, [w * 0.5 for w in weights]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(_answer(model, x), before, rtol=1e-5, atol=1e-6)


def test_one_weight_in_two_layers(tmp_path):
    w = np.random.RandomState(3).randn(96, 96).astype("float32") / 10
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["a"], transB=1), helper.make_node("Gemm", ["a", "w"], ["b"], transB=1),
         helper.make_node("MatMul", ["b", "w"], ["c"]), helper.make_node("Add", ["c", "w"], ["y"])],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [96, 96])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [96, 96])], [numpy_helper.from_array(w, "w")])
    path = str(tmp_path / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    x = np.random.RandomState(4).randn(96, 96).astype("float32")
    expected = x.astype("float64") @ w.T @ w.T @ w + w
    model = mx.onnx.load(path)
    for _ in range(3):
        np.testing.assert_allclose(_answer(model, x), expected, rtol=1e-4, atol=1e-4)


CHAINS = r"""
model = mx.onnx.load(sys.argv[1])
x = np.ones((64, 1024), "float32")
for rows in (64, 65, 1):
    y = next(iter(model.run({"x": x[:1].repeat(rows, 0)}).values())).asnumpy()
print(resident("VmRSS") - before, y.mean())
"""


@pytest.mark.parametrize("ends", ["Transpose", "Split"])
def test_a_chain_on_constants_keeps_its_last_result(ends, tmp_path):
    """Eight weights of 1024 x 1024 that are no bytes of the file, 16 MiB in float16 and 32 in
    float32. Each result of Cast, Mul and what follows would take 32 MiB more."""
    rng, nodes, weights, x = np.random.RandomState(0), [], [], "x"
    weights.append(numpy_helper.from_array(np.array([2], "float32"), "two"))
    expected = np.ones((1, 1024))
    for i in range(8):
        w = (rng.randn(1024, 1024) / 64).astype("float16")
        weights.append(TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT16, dims=w.shape, int32_data=w.view("uint16").ravel().tolist()))
        nodes += [helper.make_node("Cast", [f"w{i}"], [f"a{i}"], to=1), helper.make_node("Mul", [f"a{i}", "two"], [f"b{i}"])]
        if ends == "Transpose":
            nodes += [helper.make_node("Transpose", [f"b{i}"], [f"c{i}"], perm=[1, 0]), helper.make_node("MatMul", [x, f"c{i}"], [f"y{i}"])]
        else:
            nodes += [helper.make_node("Split", [f"b{i}"], [f"c{i}", f"d{i}"], axis=1, num_outputs=2),
                      helper.make_node("MatMul", [x, f"c{i}"], [f"e{i}"]), helper.make_node("MatMul", [x, f"d{i}"], [f"f{i}"]),
                      helper.make_node("Concat", [f"e{i}", f"f{i}"], [f"y{i}"], axis=1)]
        x = f"y{i}"
        w = 2 * w.astype("float64")
        expected = expected @ (w.T if ends == "Transpose" else w)
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1024])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["n", 1024])], weights)
    path = str(tmp_path / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    memory, mean = figures(path, CHAINS)
    assert memory < 90
    np.testing.assert_allclose(mean, expected.mean(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_links_of_long_chains_on_constants(twice, tmp_path):
    """Each link reads the one before it once, or twice: 60 links would take 2 ** 60 kernels."""
    links = 60 if twice else 5000
    rng = np.random.RandomState(3)
    weight, step = rng.randn(64, 128).astype("float32"), np.array([0.5], "float32")
    names = ["w"] + [f"a{i}" for i in range(links)]
    nodes = [helper.make_node("Add", [a, a if twice else "step"], [b]) for a, b in zip(names, names[1:])]
    nodes.append(helper.make_node("Mul", ["x", names[-1]], ["y"]))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 128])],
                              [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(step, "step")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(tmp_path / "m.onnx"))
    y = _answer(mx.onnx.load(str(tmp_path / "m.onnx")), np.ones(1, "float32"))
    np.testing.assert_allclose(y, weight * 2.0**links if twice else weight + 0.5 * links, rtol=1e-4)
