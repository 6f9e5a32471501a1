"""Sparse arrays in graphs: bound, simple-bound and hybridized graphs give what eager calls give,
and what dense arrays give."""
import json

import mxnet as mx
import numpy as np
import pytest

from mxnet import gluon, nd

pytestmark = pytest.mark.on_gpu


def sparse_matrix(rows, columns, density=0.3, seed=0):
    rng = np.random.RandomState(seed)
    dense = (rng.randn(rows, columns) * (rng.rand(rows, columns) < density)).astype("float32")
    return dense, nd.array(dense).tostype("csr")


def linear_loss(x, w):
    """Loss sum((x w)^2) and its gradient in float64."""
    y = x.astype("float64") @ w.astype("float64")
    return (y * y).sum(), 2 * x.T.astype("float64") @ y


@pytest.mark.parametrize("req", ["write", "add", "null"])
@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_bound_linear_model(req, grad_stype):
    dense, x = sparse_matrix(6, 5)
    w = np.random.RandomState(1).randn(5, 3).astype("float32")
    before = np.zeros_like(w)
    before[2] = 1
    loss = mx.sym.MakeLoss(mx.sym.sum(mx.sym.square(mx.sym.dot(mx.sym.Variable("x", stype="csr"), mx.sym.Variable("w")))))
    grad = nd.array(before).tostype(grad_stype)
    executor = loss.bind(mx.cpu(), {"x": x, "w": nd.array(w)}, {"w": grad}, {"x": "null", "w": req})
    want, want_grad = linear_loss(dense, w)
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward()
        np.testing.assert_allclose(executor.outputs[0].asscalar(), want, rtol=1e-5)
    expected = {"write": want_grad, "add": before + 2 * want_grad, "null": before}[req]
    assert grad.stype == grad_stype
    np.testing.assert_allclose(grad.asnumpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_weight_of_another_storage(stype):
    dense, x = sparse_matrix(4, 6, seed=2)
    w = np.random.RandomState(1).randn(6, 2).astype("float32")
    out = mx.sym.dot(mx.sym.Variable("x", stype="csr"), mx.sym.Variable("w", stype=stype))
    executor = out.bind(mx.cpu(), {"x": x, "w": nd.array(w).tostype(stype)})
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), dense @ w, rtol=1e-5, atol=1e-6)


def test_simple_bind_makes_arrays_of_the_storages_that_the_graph_has():
    x, ids = mx.sym.Variable("x", stype="csr"), mx.sym.Variable("ids")
    table = mx.sym.Variable("table")
    embedded = mx.sym.Embedding(ids, table, input_dim=10, output_dim=3, sparse_grad=True)
    loss = mx.sym.MakeLoss(mx.sym.sum(mx.sym.dot(x, mx.sym.Variable("w"))) + mx.sym.sum(embedded))
    executor = loss.simple_bind(mx.cpu(), x=(4, 7), w=(7, 2), ids=(5,),
                                grad_req={"x": "null", "ids": "null", "w": "write", "table": "write"})
    assert executor.arg_dict["x"].stype == "csr"
    assert executor.arg_dict["table"].stype == "default"
    assert executor.grad_dict["table"].stype == "row_sparse"
    dense, csr = sparse_matrix(4, 7)
    executor.arg_dict["x"][:] = csr
    executor.arg_dict["ids"][:] = nd.array([3, 1, 3, 9, 1])
    executor.arg_dict["table"][:] = 1
    executor.arg_dict["w"][:] = 2
    executor.forward(is_train=True)
    executor.backward()
    grad = executor.grad_dict["table"]
    assert grad.indices.asnumpy().tolist() == [1, 3, 9]
    assert grad.data.asnumpy().tolist() == [[2] * 3, [2] * 3, [1] * 3]
    np.testing.assert_allclose(executor.grad_dict["w"].asnumpy(), np.repeat(dense.sum(0)[:, None], 2, 1), rtol=1e-5, atol=1e-6)


class Linear(gluon.HybridBlock):
    def __init__(self, columns, **kwargs):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(columns, 2), init=mx.init.Constant(0.5), **kwargs)

    def hybrid_forward(self, F, x, weight):
        return F.dot(x, weight)


@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_hybridized_block_with_ever_other_rows(flags, grad_stype):
    net = Linear(6, grad_stype=grad_stype)
    net.initialize()
    if flags is not None:
        net.hybridize(**flags)
    for seed in range(4):   # arrays of one shape with more and fewer elements
        dense, x = sparse_matrix(5, 6, density=0.1 + 0.2 * seed, seed=seed)
        with mx.autograd.record():
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        want, want_grad = linear_loss(dense, net.weight.data().asnumpy())
        np.testing.assert_allclose(loss.asscalar(), want, rtol=1e-5)
        assert net.weight.grad().stype == grad_stype
        np.testing.assert_allclose(net.weight.grad().asnumpy(), want_grad, rtol=1e-4, atol=1e-5)
    dense = nd.array(sparse_matrix(5, 6)[0])
    np.testing.assert_allclose(net(dense).asnumpy(), net(dense.tostype("csr")).asnumpy(), rtol=1e-5, atol=1e-6)


def test_sparse_results_leave_a_hybridized_block():
    class Cast(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.cast_storage(F.square(x), stype="csr"), F.cast_storage(x, stype="row_sparse")
    net = Cast()
    net.hybridize()
    x = np.array([[0, 2], [0, 0], [3, 0]], dtype="float32")
    csr, rows = net(nd.array(x))
    assert (csr.stype, rows.stype) == ("csr", "row_sparse")
    assert csr.asnumpy().tolist() == (x * x).tolist() and rows.indices.asnumpy().tolist() == [0, 2]


def test_an_operator_without_sparse_kernel_runs_dense_in_a_graph():
    dense, x = sparse_matrix(3, 4)
    s = mx.sym.Variable("x", stype="csr")
    both = mx.sym.softmax(s) + mx.sym.softmax(s * 2)    # one cast serves both where the product is dense
    out = both.bind(mx.cpu(), {"x": x}).forward()[0]
    want = (nd.softmax(nd.array(dense)) + nd.softmax(nd.array(dense) * 2)).asnumpy()
    np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-5)


def test_monitor_sees_sparse_arrays():
    seen = {}
    s = mx.sym.cast_storage(mx.sym.Variable("x"), stype="row_sparse", name="rows")
    executor = mx.sym.sum(s, name="total").bind(mx.cpu(), {"x": nd.array([[0, 1], [0, 0]])})
    executor.set_monitor_callback(lambda name, array: seen.update({name: array}), monitor_all=True)
    executor.forward()
    executor.outputs[0].wait_to_read()
    assert seen["rows_output"].stype == "row_sparse" and seen["rows_output"].indices.asnumpy().tolist() == [0]


def test_recomputed_graph_with_sparse_arrays():
    dense, x = sparse_matrix(6, 5)
    w = np.random.RandomState(1).randn(5, 3).astype("float32")
    grads = []
    for attributes in ({}, {"__force_mirroring__": "True"}):
        with mx.AttrScope(**attributes):
            hidden = mx.sym.relu(mx.sym.dot(mx.sym.Variable("x", stype="csr"), mx.sym.Variable("w")))
            loss = mx.sym.MakeLoss(mx.sym.sum(mx.sym.square(mx.sym.tanh(hidden))))
        grad = nd.sparse.zeros("row_sparse", w.shape)
        executor = loss.bind(mx.cpu(), {"x": x, "w": nd.array(w)}, {"w": grad}, {"x": "null", "w": "write"})
        executor.forward(is_train=True)
        executor.backward()
        grads.append(grad.asnumpy())
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-6)


def test_reshaped_executor_with_a_csr_input():
    out = mx.sym.dot(mx.sym.Variable("x", stype="csr"), mx.sym.Variable("w"))
    executor = out.simple_bind(mx.cpu(), x=(4, 6), w=(6, 2), grad_req="null")
    smaller = executor.reshape(x=(2, 6), w=(6, 2))
    dense, x = sparse_matrix(2, 6)
    assert smaller.arg_dict["x"].stype == "csr"
    smaller.arg_dict["x"][:] = x
    smaller.arg_dict["w"][:] = 1
    np.testing.assert_allclose(smaller.forward()[0].asnumpy(), np.repeat(dense.sum(1)[:, None], 2, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.cpu      # a GPU's dense results have dense copies on the host
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_no_memory_for_the_gradient_of_a_wide_csr_matrix(stype):
    """Dense, it would take 40 GB."""
    x = nd.sparse.csr_matrix(([1., 2.], [5, 9_999_999], [0, 1] + [2] * 999), shape=(1000, 10_000_000))
    s = mx.sym.sum(mx.sym.dot(mx.sym.Variable("x", stype="csr"), mx.sym.Variable("w", stype=stype)))
    executor = mx.sym.MakeLoss(s).simple_bind(mx.cpu(), x=(1000, 10_000_000), w=(10_000_000, 1),
                                              grad_req={"x": "null", "w": "write"})
    executor.arg_dict["x"][:] = x
    executor.forward(is_train=True)
    executor.backward()
    assert executor.grad_dict["w"].indices.asnumpy().tolist() == [5, 9_999_999]


@pytest.mark.parametrize("text", ["", "x", "9", "11"])
@pytest.mark.parametrize("stype", ["default", "csr"])
def test_attributes_in_files_do_not_say_what_storages_results_have(text, stype):
    """Forms note storages in an attribute of their nodes. The same in a file means nothing."""
    nodes = json.loads(mx.sym.sum(mx.sym.Variable("x"), axis=1, name="total").tojson())
    nodes["nodes"][-1]["attrs"]["__form_storages__"] = text
    x = nd.array([[0, 1], [2, 0]])
    executor = mx.sym.load_json(json.dumps(nodes)).bind(mx.cpu(), {"x": x.tostype(stype)})
    assert executor.forward()[0].asnumpy().tolist() == [1, 2]
    assert nd.sum(x.tostype(stype), axis=1, __form_storages__=text).asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_an_optimized_symbol_takes_arrays_of_other_storages(stype):
    dense, x = sparse_matrix(4, 3)
    s = mx.sym.Variable("x", stype="csr")
    s = mx.sym.broadcast_add(mx.sym.softmax(mx.sym.dot(s, mx.sym.Variable("w"))), mx.sym.sum(s, axis=1, keepdims=True))
    executor = s.bind(mx.cpu(), {"x": x, "w": nd.ones((3, 2))})
    want = executor.forward()[0].asnumpy()
    for optimized in (executor.get_optimized_symbol(), mx.sym.load_json(executor.get_optimized_symbol().tojson())):
        again = optimized.bind(mx.cpu(), {"x": nd.array(dense).tostype(stype), "w": nd.ones((3, 2))})
        np.testing.assert_allclose(again.forward()[0].asnumpy(), want, rtol=1e-6)
