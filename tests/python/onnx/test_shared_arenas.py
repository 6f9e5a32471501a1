"""The memory between nodes is one block for all plans of a model: shapes and stages share it."""
import threading

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from memory_checks import figures

pytestmark = pytest.mark.cpu

WIDE, NARROW = 4096, 16


def _model(wide=WIDE):
    """A wide softmax, then the same of the rows that NonZero chooses, where the graph is cut."""
    rng = np.random.RandomState(0)
    weights = {"w": rng.randn(NARROW, wide) / 4, "v": rng.randn(wide, NARROW)}

    def wide_part(x, y):
        return [helper.make_node("MatMul", [x, "w"], [y + "a"]), helper.make_node("Softmax", [y + "a"], [y + "b"]),
                helper.make_node("MatMul", [y + "b", "v"], [y])]
    nodes = wide_part("x", "y") + [
        helper.make_node("ReduceMax", ["y"], ["most"], axes=[1], keepdims=0), helper.make_node("Greater", ["most", "least"], ["is"]),
        helper.make_node("NonZero", ["is"], ["where"]), helper.make_node("Squeeze", ["where", "first"], ["rows"]),
        helper.make_node("Gather", ["x", "rows"], ["chosen"])] + wide_part("chosen", "z")
    constants = [numpy_helper.from_array(a.astype("float32"), n) for n, a in weights.items()]
    constants += [numpy_helper.from_array(np.float32(-100), "least"), numpy_helper.from_array(np.array([0]), "first")]
    value = lambda name, rows: helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, NARROW])
    graph = helper.make_graph(nodes, "g", [value("x", "n")], [value("z", "m")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


MEMORY = r"""
model = mx.onnx.load(sys.argv[1])
for rows in range(2048, 2038, -1):
    model(np.ones((rows, 16), "float32")).asnumpy()
assert model.explain().count("plan of") >= 20
print(resident("VmHWM") - before)
"""


def test_shapes_and_stages_take_the_memory_of_one(tmp_path):
    path = str(tmp_path / "m.onnx")
    onnx.save(_model(), path)   # a plan's arena has 32 MiB
    grown, = figures(path, MEMORY)
    assert 30 < grown < 150


def test_threads_do_not_share(tmp_path):
    model = mx.onnx.load(_model(256).SerializeToString())
    rng = np.random.RandomState(1)
    inputs = [rng.randn(rows, NARROW).astype("float32") for rows in (3, 3, 8, 40)]
    expected = [model(x).asnumpy() for x in inputs]
    wrong = []

    def work(first):
        for i in range(40):
            at = (first + i // 3) % len(inputs)
            if not np.array_equal(model(inputs[at]).asnumpy(), expected[at]):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
