"""`./dev bench onnx_corpus`: how it runs and judges files, with two that are made here."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

BENCHMARK = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "benchmark")


@pytest.fixture
def corpus(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import onnx_corpus
    return onnx_corpus


def quantized():
    """A dense layer between steps, and its data."""
    make, rng = onnx.helper, np.random.default_rng(0)
    constants = {"s": np.float32(0.05), "z": np.uint8(121), "t": np.float32(0.01), "w": rng.integers(-99, 99, (8, 6)).astype("int8"),
                 "u": np.float32(0.3)}
    nodes = [make.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), make.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             make.make_node("DequantizeLinear", ["w", "t"], ["v"]), make.make_node("MatMul", ["d", "v"], ["m"]),
             make.make_node("QuantizeLinear", ["m", "u", "z"], ["p"]), make.make_node("DequantizeLinear", ["p", "u", "z"], ["y"])]
    value = lambda name, width: make.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", width])
    graph = make.make_graph(nodes, "quantized", [value("x", 8)], [value("y", 6)],
                            [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    return (make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=10),
            {"x": rng.normal(size=(5, 8)).astype("float32")})


def test_steps_are_judged_layer_by_layer(corpus):
    import onnx_steps

    import mxnet as mx
    model, feed = quantized()
    found = onnx_steps.steps(model)
    assert found == {"q": onnx.TensorProto.UINT8, "p": onnx.TensorProto.UINT8}
    exposed = onnx_steps.with_outputs(model, found)
    values = {k: v.asnumpy() for k, v in mx.onnx.load(exposed.SerializeToString()).run(feed).items()}
    good = onnx_steps.judge(model, feed, values)
    assert good["numbers"] == 70 and good["more"] == 0 and good["rest"] < 1e-6
    values["q"] = values["q"] + np.uint8(1)   # of which the layer behind makes something else
    values["p"][0, 0] += np.uint8(3)
    bad = onnx_steps.judge(model, feed, values)
    assert bad["one"] >= 40 and bad["more"] >= 1 and bad["first"] == "p"


def test_a_file_is_run_in_a_process_of_its_own(corpus, tmp_path):
    model, feed = quantized()
    onnx.save(model, tmp_path / "good.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    env = corpus.environments("wall")[0]
    command = [sys.executable, os.path.join(BENCHMARK, "onnx_corpus.py"), "--run", str(tmp_path)]
    for name in ("good", "bad"):
        np.savez(tmp_path / f"{name}.1.npz", in_x=feed["x"])
    assert corpus.ask([*command, "good"], 100, env, 8) == {}
    assert list(corpus.arrays(tmp_path / "good.ours.1.npz", "out_")["0"].shape) == [5, 6]
    assert corpus.ask([*command, "bad"], 100, env, 8)["stage"] == "load"
    assert "takes more than" in corpus.ask([sys.executable, "-c", "while True: pass"], 0.2, env)["failed"]
    assert "status" in corpus.ask([sys.executable, "-c", "bytearray(2 ** 31)"], 100, env, 1)["failed"]


def test_detections_are_sets_of_rows(corpus):
    boxes, scores, labels = np.eye(3, 4), np.array([0.9, 0.5, 0.5]), np.array([1, 2, 3])
    other = [a[[0, 2, 1]] for a in (boxes, scores, labels)]
    assert corpus.rows_alike(other, [boxes, scores, labels], 1e-4)
    other[2] = labels
    assert not corpus.rows_alike(other, [boxes, scores, labels], 1e-4)


def test_causes_are_counted_by_kind(corpus):
    row = lambda name, cause: {"file": name, "family": "nets", "made": True, "loads": not cause, "agrees": not cause, "cause": cause}
    text = corpus.table([row("a", None), row("b", "load: ValueError: '/x/Conv' has shape (1, 2)"),
                         row("c", "load: ValueError: '/y' has shape (3, 4)")])
    assert "| nets | 3 | 3 | 1 | 1 |" in text and "2  load: ValueError" in text and "b, c" in text


def test_packages_that_are_missing_are_said():
    files = os.path.join(BENCHMARK, "corpus", "onnx_corpus_files.py")
    done = subprocess.run([sys.executable, files], capture_output=True, text=True, timeout=100)
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    assert set(answer) == {"missing", "files"} and "onnxruntime" not in answer["missing"]
    assert "timm" in answer["missing"] or any(n.startswith("timm.") for n in answer["files"])
