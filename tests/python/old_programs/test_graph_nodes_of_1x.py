"""Nodes that stand for graphs (_CachedOp), and the test backends that make them in 1.9.1."""
import ctypes
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call

X = np.array([-1, 2], "float32")
Z = np.array([1, 3], "float32")


def graph():
    return mx.sym.relu(mx.sym.var("x")) + mx.sym.var("z")


def operators(symbol):
    return [node["op"] for node in json.loads(symbol.tojson())["nodes"] if node["op"] != "null"]


def test_a_graph_given_as_text():
    """Names are those that 1.9.1 gives; it keeps a node, here the graph is in its place."""
    two = mx.sym.Group([graph(), mx.sym.var("x") * 2])      # two variables of one name
    symbol = mx.sym._internal._CachedOp(mx.sym.var("y"), mx.sym.var("q"), subgraph=two.tojson(), name="co")
    assert symbol.list_arguments() == ["y", "q", "co_x"]
    assert symbol.list_outputs() == [f"co_{name}" for name in two.list_outputs()]
    outputs = symbol.eval(y=mx.nd.array(X), q=mx.nd.array(Z), co_x=mx.nd.array(Z))
    assert [o.asnumpy().tolist() for o in outputs] == [[1, 5], [2, 6]]
    assert mx.sym.load_json(symbol.tojson()).list_arguments() == ["y", "q", "co_x"]
    with pytest.raises(mx.MXNetError, match="_CachedOp.*3"):
        mx.sym._internal._CachedOp(*map(mx.sym.var, "abcd"), subgraph=two.tojson())
    with pytest.raises(mx.MXNetError, match="symbol file"):
        mx.sym._internal._CachedOp(mx.sym.var("y"), subgraph="no graph")
    with pytest.raises(mx.MXNetError, match="static_shape"):
        mx.sym._internal._CachedOp(mx.sym.var("y"), subgraph=graph().tojson(), static_shape=True)


def test_inputs_by_name_and_gradients():
    symbol = mx.sym._internal._CachedOp(mx.sym.var("y"), mx.sym.var("q"), subgraph=graph().tojson(), name="co") * 3
    arguments = {"y": mx.nd.array(X), "q": mx.nd.array(Z)}
    run = symbol.bind(mx.cpu(), arguments, args_grad={name: mx.nd.zeros(2) for name in arguments})
    assert run.forward(is_train=True)[0].asnumpy().tolist() == [3, 15]
    run.backward(mx.nd.ones(2))
    assert run.grad_dict["y"].asnumpy().tolist() == [0, 3] and run.grad_dict["q"].asnumpy().tolist() == [3, 3]
    assert symbol.infer_shape(y=(4, 2), q=(4, 2))[1] == [(4, 2)]


def test_a_graph_given_as_text_of_a_call():
    x, z = mx.nd.array(X), mx.nd.array(Z)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd._internal._CachedOp(x, z, subgraph=graph().tojson(), inline_limit=0)
    y.backward()
    assert y.asnumpy().tolist() == [1, 5] and x.grad.asnumpy().tolist() == [0, 1]


# As 1.9.1 writes what optimize_for("default") gives.
FILE = {"nodes": [{"op": "null", "name": "x", "inputs": []},
                  {"op": "_CachedOp", "name": "_CachedOp0", "inputs": [[0, 0, 0]], "subgraphs": [
                      {"nodes": [{"op": "null", "name": "x0", "inputs": []}, {"op": "relu", "name": "relu0", "inputs": [[0, 0, 0]]},
                                 {"op": "exp", "name": "exp0", "inputs": [[1, 0, 0]]}],
                       "arg_nodes": [0], "node_row_ptr": [0, 1, 2, 3], "heads": [[1, 0, 0], [2, 0, 0]]}]},
                  {"op": "_plus_scalar", "name": "_plusscalar0", "attrs": {"scalar": "1"}, "inputs": [[1, 1, 0]]}],
        "arg_nodes": [0], "node_row_ptr": [0, 1, 3, 4], "heads": [[2, 0, 0], [1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}


def test_files_with_graphs_in_nodes():
    symbol = mx.sym.load_json(json.dumps(FILE))
    assert symbol.list_arguments() == ["x"] and symbol.list_outputs() == ["_plusscalar0_output", "_CachedOp0_relu0_output"]
    assert "_CachedOp0_exp0_output" in symbol.get_internals().list_outputs()
    sums, relu = symbol.eval(x=mx.nd.array([-1, 1]))
    np.testing.assert_allclose(sums.asnumpy(), [2, np.e + 1], rtol=1e-6)
    assert relu.asnumpy().tolist() == [0, 1]
    wrong = json.loads(json.dumps(FILE))
    wrong["heads"][1][1] = 2
    with pytest.raises(mx.MXNetError, match="output number"):
        mx.sym.load_json(json.dumps(wrong))


@pytest.fixture
def names():
    """Operators of a test backend, which are forgotten afterwards."""
    yield (ctypes.c_char_p * 2)(b"exp", b"relu")
    for forget in (_LIB.MXRemoveSubgraphPropertyOpNames, _LIB.MXRemoveSubgraphPropertyOpNamesV2):
        check_call(forget(b"default"))


def test_the_test_backends(names):
    symbol = mx.sym.exp(mx.sym.relu(mx.sym.var("x"))) + 1
    for get in (symbol.optimize_for, symbol.get_backend_symbol):
        with pytest.raises(mx.MXNetError, match="default.*MXSetSubgraphPropertyOpNamesV2"):
            get("default")
    check_call(_LIB.MXSetSubgraphPropertyOpNames(b"default", 2, names))
    with pytest.raises(mx.MXNetError, match="MXSetSubgraphPropertyOpNamesV2"):     # those were for executors
        symbol.optimize_for("default")
    check_call(_LIB.MXSetSubgraphPropertyOpNamesV2(b"default", 2, names))
    handle = ctypes.c_void_p()
    check_call(_LIB.MXBuildSubgraphByOpNames(symbol.handle, b"default", 2, names, ctypes.byref(handle)))
    for made in (symbol.optimize_for("default"), symbol.get_backend_symbol("default"), mx.sym.Symbol(handle)):
        assert made.list_arguments() == ["x"] and operators(made) == operators(symbol)
        np.testing.assert_array_equal(made.eval(x=mx.nd.array(X))[0].asnumpy(), symbol.eval(x=mx.nd.array(X))[0].asnumpy())
    with pytest.raises(mx.MXNetError, match="no backend 'nope'"):
        check_call(_LIB.MXBuildSubgraphByOpNames(symbol.handle, b"nope", 2, names, ctypes.byref(handle)))


@pytest.mark.parametrize("axis", [0, 1, None])
def test_cumsum_of_float16_rounds_every_sum(axis):
    """As NumPy and 1.9.1 do; the gradient, too."""
    rows = (np.random.RandomState(0).rand(3, 300) * 10).astype("float16")
    x, head = mx.nd.array(rows, dtype="float16"), np.random.RandomState(1).rand(3, 300).astype("float16")
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.cumsum(x, axis=axis)
    y.backward(mx.nd.array(head, dtype="float16").reshape(y.shape))
    np.testing.assert_array_equal(y.asnumpy(), np.cumsum(rows, axis=axis))
    flat = head.reshape(y.shape)
    along = 0 if axis is None else axis
    np.testing.assert_array_equal(x.grad.asnumpy(), np.flip(np.cumsum(np.flip(flat, along), axis=along), along).reshape(3, 300))
    wide = mx.np.cumsum(mx.np.array(rows.astype("float64") + 1e-5), axis=axis, dtype="float16")
    np.testing.assert_array_equal(wide.asnumpy(), np.cumsum((rows.astype("float64") + 1e-5).astype("float16"), axis=axis))
