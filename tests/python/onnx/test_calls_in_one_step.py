"""Calls that the binding makes from arrays to arrays: they are those of the long way, step by step
in Python."""
import os
import sys
import threading
import time
import types

import numpy as np
import pytest

import mxnet as mx
import mxnet.onnx.runtime as ours
from mxnet._binding import onnx_named, onnx_numpy

helper = pytest.importorskip("onnx.helper")
from onnx import TensorProto, numpy_helper  # noqa: E402

info, node = helper.make_tensor_value_info, helper.make_node
F, I64 = TensorProto.FLOAT, TensorProto.INT64
X = np.arange(6, dtype="float32").reshape(2, 3) - 2
by_the_binding = pytest.mark.skipif(isinstance(onnx_named, types.FunctionType), reason="ctypes makes the calls")


def model(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "net", inputs, outputs, [numpy_helper.from_array(v, k) for k, v in dict(weights).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def sums():
    """y = x + w, z = relu(y), s = the sum of y; w has a value."""
    return model([node("Add", ["x", "w"], ["y"]), node("Relu", ["y"], ["z"]), node("ReduceSum", ["y"], ["s"], keepdims=0)],
                 [info("x", F, ["n", 3]), info("w", F, [3])], [info("y", F, ["n", 3]), info("z", F, ["n", 3]), info("s", F, [])],
                 {"w": np.ones(3, "float32")})


def rows():
    """Rows of a table; numbers behind its end fail while the model runs."""
    return model([node("Gather", ["table", "x"], ["y"])], [info("x", I64, ["n"])], [info("y", F, ["n", 2])],
                 {"table": np.arange(8, dtype="float32").reshape(4, 2)})


def mixed():
    """An array, a list of arrays, and another array."""
    nodes = [node("Relu", ["x"], ["y"]), node("SequenceConstruct", ["x", "y"], ["z"]), node("Neg", ["x"], ["w"])]
    return model(nodes, [info("x", F, ["n", 3])],
                 [info("y", F, ["n", 3]), helper.make_tensor_sequence_value_info("z", F, None), info("w", F, ["n", 3])])


def same(x):
    return model([node("Identity", ["x"], ["y"])], [info("x", helper.np_dtype_to_tensor_dtype(x.dtype), None)],
                 [info("y", helper.np_dtype_to_tensor_dtype(x.dtype), None)])


def described(result):
    if isinstance(result, list):
        return [described(r) for r in result]
    assert type(result) is np.ndarray and result.flags.writeable
    return result.dtype, result.shape, result.tolist()


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def the_long_way(monkeypatch):
    from mxnet.onnx import _model
    from mxnet.onnx.runtime import _session
    for module, name in ((_model, "onnx_run"), (_model, "onnx_named"), (_session, "onnx_numpy")):
        monkeypatch.setattr(module, name, lambda *_: None)


def outcomes(source, calls):
    """Results, or the kind of the error and what it says. Only the binding knows who called."""
    session, found = ours.InferenceSession(source), []
    for names, feed in calls:
        try:
            found.append(described(session.run(names, feed)))
        except Exception as error:   # whatever it is, the long way raises the same
            found.append((type(error), str(error).split("\n")[0].split("; called at")[0]))
    return found


GOOD = [(None, {"x": X}), ([], {"x": X}), (["s"], {"x": X}), (["z", "y", "z"], {"x": X}), (("y",), {"x": X, "w": np.full(3, 5, "float32")}),
        (None, {"x": np.asfortranarray(X)}), (None, {"x": X[:, ::-1]}), (None, {"x": read_only(X)}), (None, {"x": X.astype("float64")}),
        (None, {"x": X.astype(">f4")}), (None, {"x": X[:0]}), (None, {"x": X.tolist()}), (None, {"x": mx.nd.array(X)}),
        (None, {"x": mx.np.array(X)}), (None, {"x": np.resize(X, (50000, 3))}), (["y", "s"], {"x": np.resize(X, (2000, 3))})]
WRONG = [(None, {}), (None, {"w": X[0]}), (None, {"q": X}), (None, {"x": X, "q": X}), (["q"], {"x": X}), ("z", {"x": X}), ("", {"x": X}),
         (None, {"x": X[0]}), (None, {"x": X[:, :2]}), (None, {"x": X.astype(bool)}), (None, {"x": X.astype(int)}), (None, {3: X}),
         (None, {"x": None}), (None, {"x": X, "w": None}), (None, [X]), (None, {"x": np.array([["a", "b", "c"]])}), (None, {"x": object()})]


def test_results_and_errors_are_those_of_the_long_way(monkeypatch):
    good, wrong = outcomes(sums(), GOOD), outcomes(sums(), WRONG)
    assert not any(isinstance(found, tuple) for found in good)
    kinds = [found[0] if isinstance(found, tuple) else None for found in wrong]
    assert kinds[:7] == [ValueError] * 3 + [ours.InvalidArgument] * 2 + [TypeError] * 2
    assert kinds[7:11] == [ours.InvalidArgument] * 4 and kinds.count(None) == 1   # an input with a value may be None
    the_long_way(monkeypatch)
    assert outcomes(sums(), GOOD) == good and outcomes(sums(), WRONG) == wrong


def test_results_that_are_no_arrays_beside_arrays(monkeypatch):
    calls = [(None, {"x": X}), (["y"], {"x": X}), (["z", "w", "z"], {"x": X}), (["w"], {"x": mx.nd.array(X)})]
    found = outcomes(mixed(), calls)
    assert [part[0] for part in found[0][1]] == [np.float32] * 2 and found[1] == [found[0][0]]
    the_long_way(monkeypatch)
    assert outcomes(mixed(), calls) == found


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_results_of_each_dtype_and_rank(dtype):
    for x in (np.array([[0, 1], [2, 100]], dtype=dtype), np.array(7, dtype), np.zeros((0, 2), dtype), np.ones((1, 1, 2, 1), dtype)):
        result, = ours.InferenceSession(same(x)).run(None, {"x": x})
        assert type(result) is np.ndarray and (result.dtype, result.shape) == (x.dtype, x.shape)
        np.testing.assert_array_equal(result, x)
        assert not np.shares_memory(result, x)


def test_an_error_while_the_model_runs(monkeypatch):
    """Each call has its own, and the ones behind it are right."""
    calls = [(None, {"x": np.array(numbers)}) for numbers in ([0, 3], [4], [1], [-5, 2], [2, 2])] * 3
    found = outcomes(rows(), calls)
    assert all(kind is ours.RuntimeException and "out of range" in text for kind, text in found[3::5])
    assert all(result[0][2] == [[0, 1], [6, 7]] for result in found[::5]) and found[4][0][2] == [[4, 5]] * 2
    assert found[5:10] == found[10:]
    the_long_way(monkeypatch)
    assert outcomes(rows(), calls) == found


@by_the_binding
def test_a_dictionary_that_another_thread_changes():
    """A call has the array that was there when it began."""
    session, model_of_arrays = ours.InferenceSession(sums()), mx.onnx.load(sums())
    feed, stop, found = {"x": X}, threading.Event(), []

    def call(run):
        while not stop.is_set():
            y = run()
            found.append((y == y.flat[0]).all() and y.size % 3 == 0)

    def change():
        for i in range(3000):
            feed.pop("w", None)
            feed["x"] = np.full((i % 5 + 1, 3), i, dtype="float32")
            if i % 100 == 0:
                time.sleep(0.001)
            feed["w"] = np.ones(3, dtype="float32")
    threads = [threading.Thread(target=call, args=(run,)) for run in (
        lambda: session.run(["y"], feed)[0], lambda: model_of_arrays.run(feed)["y"].asnumpy())]
    feed["x"] = np.zeros((1, 3), "float32")
    for thread in threads:
        thread.start()
    try:
        change()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len(found) > 10 and all(found)


def test_a_call_lets_other_threads_run():
    """The interpreter lock is given up while the model computes: nobody is made to, here."""
    session, x = ours.InferenceSession(sums()), np.resize(X, (50000, 3))
    counted, ready, done, interval = [0], threading.Event(), threading.Event(), sys.getswitchinterval()

    def count():
        while not done.is_set():
            counted[0] += 1
            ready.set()
            time.sleep(0)   # gives it up, too

    def ran_meanwhile():
        before = counted[0]
        results = session.run(["y"], {"x": x})
        return counted[0] > before and results[0].shape == x.shape
    thread = threading.Thread(target=count)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        assert ready.wait(60)
        assert any(ran_meanwhile() for _ in range(1000))
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_calls_in_a_child_process():
    session = ours.InferenceSession(sums())
    want = session.run(["y"], {"x": X})[0].tolist()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if session.run(["y"], {"x": X})[0].tolist() == want else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0 and session.run(["y"], {"x": X})[0].tolist() == want


@by_the_binding
def test_what_the_binding_refuses():
    loaded = mx.onnx.load(sums())
    address = loaded.handle.value
    for wrong in ((address, {"x": X}, None), (address, {"x": X}, ["y"], 1), (address, [X], ("y",), 1)):
        with pytest.raises(TypeError, match="onnx_named"):
            onnx_named(*wrong)
    for wrong in ((address, {"x": X}), (address, [X], None), (address, {"x": X}, [0])):
        with pytest.raises(TypeError, match="onnx_numpy"):
            onnx_numpy(*wrong)
    for number in (3, -1):
        with pytest.raises(IndexError, match=f"result {number} of 3"):
            onnx_numpy(address, {"x": X}, (number,))
    assert list(onnx_named(address, {"x": X}, ("a", "b", "c"), 1)) == ["a", "b", "c"]
