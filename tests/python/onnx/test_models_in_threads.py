"""Several threads on one model, with shapes of their own, get what one thread alone computes."""
import random
import threading

import numpy as np
import pytest

import mxnet as mx

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, ValueInfoProto, numpy_helper  # noqa: E402

pytestmark = [pytest.mark.sanitized, pytest.mark.cpu]

node, info = helper.make_node, helper.make_tensor_value_info
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
SIZE = 160   # weights of so many rows are given back, and made again


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).standard_normal(shape).astype("float32")


def bytes_of(nodes, inputs, outputs, constants):
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, [ValueInfoProto(name=o) for o in outputs], tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def list_info(name):
    value = ValueInfoProto(name=name)
    value.type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    return value


def sequences():
    """Rounds that take elements, and put others in: by plans and node by node. What is computed of
    a weight alone is shared by all of them."""
    steps = [node("SequenceAt", ["all", "i"], ["e"]), node("Transpose", ["w"], ["wt"]), node("MatMul", ["e", "wt"], ["p"]),
             node("SequenceInsert", ["list", "p"], ["longer"]), node("Identity", ["go"], ["again"])]
    body = helper.make_graph(steps, "body", [info("i", INT, []), info("go", BOOL, []), list_info("list")],
                             [info("again", BOOL, []), list_info("longer")])
    nodes = [node("SplitToSequence", ["x", "sizes"], ["all"], axis=0), node("SequenceEmpty", [], ["none"]),
             node("SequenceLength", ["all"], ["n"]), node("Loop", ["n", "", "none"], ["found"], body=body),
             node("ConcatFromSequence", ["found"], ["y"], axis=0)]
    data = bytes_of(nodes, [info("x", FLOAT, ["b", 24]), info("sizes", INT, ["k"])], ["y"], {"w": numbers(24, 24)})

    def feeds(r):
        sizes = r.randint(1, 6, r.randint(1, 6))
        return {"x": numbers(int(sizes.sum()), 24, seed=r.randint(99)), "sizes": sizes.astype("int64")}
    return data, feeds


def branches():
    """Both branches read one large weight, and what is computed of it."""
    then = helper.make_graph([node("MatMul", ["x", "w"], ["a"])], "then", [], [info("a", FLOAT, None)])
    other = helper.make_graph([node("Transpose", ["w"], ["t"]), node("MatMul", ["x", "t"], ["b"])], "else", [], [info("b", FLOAT, None)])
    nodes = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Less", ["zero", "sum"], ["c"]),
             node("If", ["c"], ["y"], then_branch=then, else_branch=other), node("MatMul", ["y", "w"], ["z"])]
    data = bytes_of(nodes, [info("x", FLOAT, ["b", SIZE])], ["z"], {"w": numbers(SIZE, SIZE), "zero": np.float32(0)})
    return data, lambda r: {"x": numbers(r.randint(1, 30), SIZE, seed=r.randint(99))}


def stages():
    """Shapes that are contents cut the model."""
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("NonZero", ["h"], ["at"]), node("Transpose", ["at"], ["rows"]),
             node("GatherND", ["h", "rows"], ["v"]), node("TopK", ["v", "k"], ["y", "where"])]
    data = bytes_of(nodes, [info("x", FLOAT, ["b", 8])], ["y"], {"w": numbers(8, 8), "k": np.array([3])})
    return data, lambda r: {"x": numbers(r.randint(1, 9), 8, seed=r.randint(99))}


def ended():
    """A loop that its body ends, on states of any number of rows."""
    steps = [node("MatMul", ["s", "w"], ["p"]), node("Tanh", ["p"], ["t"]), node("Add", ["k", "one"], ["k2"]),
             node("Less", ["k2", "limit"], ["go"])]
    body = helper.make_graph(steps, "body", [info("i", INT, []), info("c", BOOL, []), info("k", INT, []), info("s", FLOAT, None)],
                             [info("go", BOOL, []), info("k2", INT, []), info("t", FLOAT, None)])
    nodes = [node("Loop", ["most", "", "zero", "x"], ["k", "y"], body=body)]
    constants = {"w": numbers(8, 8), "one": np.int64(1), "zero": np.int64(0), "most": np.int64(9)}
    data = bytes_of(nodes, [info("x", FLOAT, ["b", 8]), info("limit", INT, [])], ["k", "y"], constants)
    return data, lambda r: {"x": numbers(r.randint(1, 9), 8, seed=r.randint(99)), "limit": np.array(r.randint(12))}


def integers():
    """Layers of 8-bit weights."""
    constants = {"z": np.uint8(128), "s": np.float32(2 ** -10)}
    constants.update({f"w{i}": np.random.RandomState(i).randint(0, 256, (SIZE, SIZE)).astype("uint8") for i in range(2)})
    nodes = [node("DynamicQuantizeMatMul", [a, f"w{i}", "s", "z"], [b], domain="com.microsoft")
             for i, (a, b) in enumerate([("x", "h"), ("h", "y")])]
    data = bytes_of(nodes, [info("x", FLOAT, ["b", SIZE])], ["y"], constants)
    return data, lambda r: {"x": numbers(r.randint(1, 30), SIZE, seed=r.randint(99))}


def run(model, feeds):
    return [value.asnumpy() for value in model.run(feeds).values()]


def in_threads(works):
    """Each of them once; the first error of any."""
    failed = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # pylint: disable=broad-except
            failed.append(error)
    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("kind", [sequences, branches, stages, ended, integers])
def test_what_one_thread_computes(kind, tmp_path):
    data, make = kind()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    r = np.random.RandomState(1)
    feeds = [make(r) for _ in range(10)]
    alone, model = mx.onnx.load(str(path)), mx.onnx.load(str(path))
    want = [run(alone, f) for f in feeds]
    del alone

    def serve(seed):
        draw, at = random.Random(seed), 0
        for i in range(20):
            at = at if draw.random() < 0.3 else draw.randrange(len(feeds))
            used = mx.onnx.load(str(path)) if i % 10 == seed else model   # which goes behind the call
            for got, wanted in zip(run(used, feeds[at]), want[at]):
                assert got.shape == wanted.shape
                np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * max(1, abs(wanted).max(initial=0)))
            if i % 5 == seed:
                model.explain()
    in_threads([lambda seed=seed: serve(seed) for seed in range(4)])


def test_blocks_are_made_and_written_beside_runs(tmp_path):
    """The parameters of a block are the model's weights, until somebody writes them."""
    weights = {f"w{i}": numbers(SIZE, SIZE, seed=i) / 12 for i in range(2)}
    nodes = [node("MatMul", ["x", "w0"], ["h"]), node("Tanh", ["h"], ["t"]), node("Transpose", ["w1"], ["wt"]),
             node("MatMul", ["t", "wt"], ["y"])]
    path = tmp_path / "m.onnx"
    path.write_bytes(bytes_of(nodes, [info("x", FLOAT, ["b", SIZE])], ["y"], weights))
    model = mx.onnx.load(str(path))
    xs = [numbers(rows, SIZE, seed=rows) for rows in (1, 2, 5, 9, 17, 30)]
    want = [np.tanh(x.astype("float64") @ weights["w0"]) @ weights["w1"].T for x in xs]

    def serve(seed):
        for i in random.Random(seed).choices(range(len(xs)), k=30):
            np.testing.assert_allclose(run(model, {"x": xs[i]})[0], want[i], rtol=1e-4, atol=1e-4)

    def use(seed):
        for i in random.Random(seed).choices(range(len(xs)), k=6):
            block = model.to_block(shapes={"x": xs[i].shape})
            np.testing.assert_allclose(block(mx.nd.array(xs[i])).asnumpy(), want[i], rtol=1e-4, atol=1e-4)
            for name, parameter in block.collect_params().items():
                if name in weights:
                    np.testing.assert_array_equal(parameter.data().asnumpy(), weights[name])
                parameter.set_data(parameter.data() * 0)
            assert not block(mx.nd.array(xs[i])).asnumpy().any()
    in_threads([lambda work=work, seed=seed: work(seed) for seed, work in enumerate([serve, serve, use, use])])
