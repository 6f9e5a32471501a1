"""A csr matrix times the sums of squares of a table's rows: one operator in a plan, which reads the
rows that the matrix names alone."""
import contextlib

import mxnet as mx
import numpy as np
import pytest
from sparse_helpers import mark, numpy, sparse, storage

from mxnet import gluon

pytestmark = pytest.mark.on_gpu

S = mx.sym
TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}
FORMS = {
    "operator": lambda w: S._internal._square_sum(w, axis=1, keepdims=True),
    "negative axis": lambda w: S._internal._square_sum(w, axis=-1, keepdims=True),
    "sum of squares": lambda w: S.sum(S.square(w), axis=1, keepdims=True),
    "sum of products": lambda w: S.sum(w * w, axis=1, keepdims=True),
    "reshaped": lambda w: S.reshape(S.sum(S.square(w), axis=1), shape=(-1, 1)),
}


@contextlib.contextmanager
def without_pass():
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "fuse_square_sum")
    try:
        yield
    finally:
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")


def matrix(rows, columns, seed, density=1):
    rng = np.random.RandomState(seed)
    return rng.uniform(-1, 1, (rows, columns)) * (rng.rand(rows, columns) < density)


def table(rows, columns, missing=()):
    w = matrix(rows, columns, 1)
    w[list(missing)] = 0
    return w


def want(x, w, head):
    """The product, and the table's gradient."""
    return x @ (w * w).sum(1, keepdims=True), 2 * w * (x.T @ head)


def bind(net, x, w, stype="row_sparse", grad="row_sparse", req="write", dtype="float32", before=0):
    arrays = {"x": sparse(x.astype(dtype), "csr"), "w": sparse(w.astype(dtype), stype)}
    grads = {} if req == "null" else {"w": sparse(np.full(w.shape, before, dtype), grad)}
    return net.bind(mx.cpu(), arrays, grads, {"x": "null", "w": req})


def run(e, head=None):
    outputs = [numpy(o) for o in e.forward(is_train=head is not None)]
    if head is not None:
        e.backward([mx.nd.array(head, dtype=outputs[0].dtype)])
    return outputs


def operators(e):
    return [line.split()[1] for line in e.debug_str().splitlines() if line[:1].isdigit()]


def is_fused(e):
    names = operators(e)
    return "_dot_square_sum" in names and not {"square", "sum", "_square_sum", "elemwise_mul"} & set(names)


def product(form="operator", stype="row_sparse"):
    return S.sparse.dot(S.Variable("x", stype="csr"), FORMS[form](S.Variable("w", stype=stype)))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
@pytest.mark.parametrize("form", FORMS)
def test_forms_give_what_they_gave(form, stype, dtype):
    x, w, head = matrix(5, 40, 0, .1), table(40, 6), matrix(5, 1, 2)
    x[2] = 0
    y, gradient = want(x, w, head)
    e = bind(product(form, stype), x, w, stype, dtype=dtype)
    assert is_fused(e)
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(run(e, head)[0], y, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(numpy(e.grad_dict["w"]), gradient, rtol=tolerance, atol=tolerance)
    assert e.grad_dict["w"].indices.asnumpy().tolist() == np.flatnonzero(x.any(0)).tolist()
    with without_pass():
        plain = bind(product(form, stype), x, w, stype, dtype=dtype)
        np.testing.assert_allclose(run(plain, head)[0], run(e, head)[0], rtol=tolerance, atol=tolerance)
    assert not is_fused(plain)


@pytest.mark.parametrize("grad", ["row_sparse", "default"])
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
@pytest.mark.parametrize("req", ["write", "add", "null"])
def test_requests(req, stype, grad):
    x, w, head = matrix(3, 20, 0, .1), table(20, 3), matrix(3, 1, 2)
    y, gradient = want(x, w, head)
    e = bind(product(), x, w, stype, grad, req, "float64", before=2)
    assert is_fused(e)
    for turn in (1, 2):
        np.testing.assert_allclose(run(e, head)[0], y, rtol=1e-12, atol=1e-12)
        if req != "null":
            got = e.grad_dict["w"]
            assert storage(got) == grad
            np.testing.assert_allclose(numpy(got), gradient if req == "write" else 2 + turn * gradient, rtol=1e-12)


@pytest.mark.parametrize("rows", [3, 60])
@pytest.mark.parametrize("missing", [(), (0, 7), range(1, 20), range(20)])
def test_rows_that_the_table_does_not_store(missing, rows):
    """`rows`: the matrix names few of the table's rows, or each of them often."""
    x, w, head = matrix(rows, 20, 0, .1 if rows == 3 else .9), table(20, 5, missing), matrix(rows, 1, 2)
    y, gradient = want(x, w, head)
    e = bind(product(), x, w, dtype="float64")
    np.testing.assert_allclose(run(e, head)[0], y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(numpy(e.grad_dict["w"]), gradient, rtol=1e-12, atol=1e-12)
    both = set(np.flatnonzero(x.any(0))) - set(missing)
    assert e.grad_dict["w"].indices.asnumpy().tolist() == sorted(both)
    assert is_fused(e)


@pytest.mark.parametrize("columns", range(1, 10))
def test_columns(columns):
    x, w = matrix(4, 30, 0, .2), table(30, columns)
    np.testing.assert_allclose(run(bind(product(), x, w, dtype="float64"))[0], want(x, w, np.zeros((4, 1)))[0], rtol=1e-12)


@pytest.mark.parametrize("x, w", [(np.zeros((3, 4)), np.ones((4, 2))), (np.ones((3, 4)), np.zeros((4, 2)))])
def test_nothing_stored(x, w):
    e = bind(product(), x, w)
    assert is_fused(e) and run(e, np.ones((3, 1)))[0].tolist() == [[0]] * 3
    assert not numpy(e.grad_dict["w"]).any()


def test_gradient_of_the_matrix():
    x, w, head = matrix(3, 8, 0, .4), table(8, 2), matrix(3, 1, 2)
    gradient = sparse(np.zeros(x.shape), "default")
    e = product().bind(mx.cpu(), {"x": sparse(x, "csr"), "w": sparse(w, "row_sparse")}, {"x": gradient}, {"x": "write", "w": "null"})
    run(e, head)
    assert "_dot_square_sum" in operators(e)
    np.testing.assert_allclose(numpy(gradient), head @ (w * w).sum(1)[None], rtol=1e-12)


def shared(use):
    sums = FORMS["operator"](S.Variable("w", stype="row_sparse"))
    return S.Group([S.sparse.dot(S.Variable("x", stype="csr"), sums), use(sums)])


NOT_FUSED = {
    "output": lambda: shared(lambda sums: sums),
    "other reader": lambda: shared(lambda sums: S.sum(S.cast_storage(sums, stype="default"))),
    "squares are read": lambda: (lambda squares: S.Group([
        S.sparse.dot(S.Variable("x", stype="csr"), S.sum(squares, axis=1, keepdims=True)), squares * 2]))(
            S.square(S.Variable("w", stype="row_sparse"))),
    "columns": lambda: S.sparse.dot(S.Variable("x", stype="csr"), S._internal._square_sum(S.Variable("w"), axis=0)),
    "dense matrix": lambda: S.dot(S.cast_storage(S.Variable("x", stype="csr"), stype="default"), FORMS["operator"](S.Variable("w"))),
    "transposed": lambda: S.sparse.dot(S.Variable("x", stype="csr"), FORMS["operator"](S.Variable("w")), transpose_a=True),
    "row_sparse wanted": lambda: S.sparse.dot(S.Variable("x", stype="csr"), FORMS["operator"](S.Variable("w", stype="row_sparse")),
                                              forward_stype="row_sparse"),
}


@pytest.mark.parametrize("name", NOT_FUSED)
def test_what_stays_as_it_is(name):
    x, w = matrix(6, 6, 0, .3), table(6, 6)
    e = bind(NOT_FUSED[name](), x, w, dtype="float64", req="null")
    got = run(e)
    assert "_dot_square_sum" not in operators(e)
    sums = (w * w).sum(1, keepdims=True)
    first = {"columns": x @ (w * w).sum(0), "transposed": x.T @ sums}.get(name, x @ sums)
    np.testing.assert_allclose(got[0], first, rtol=1e-12)
    others = {"output": sums, "other reader": [sums.sum()], "squares are read": 2 * w * w}
    if name in others:
        np.testing.assert_allclose(got[1], others[name], rtol=1e-12)


class FactorizationMachine(gluon.HybridBlock):
    def __init__(self, features, factors, grad_stype):
        super().__init__()
        with self.name_scope():
            self.w = self.params.get("w", shape=(features, 1), grad_stype=grad_stype, init=mx.init.Uniform(.5))
            self.v = self.params.get("v", shape=(features, factors), grad_stype=grad_stype, init=mx.init.Uniform(.5))

    def hybrid_forward(self, F, x, w, v):
        both = F.sum(F.square(F.sparse.dot(x, v)), axis=1, keepdims=True)
        own = F.sparse.dot(F.sparse.square(x), F._internal._square_sum(v, axis=1, keepdims=True))
        return F.sparse.dot(x, w) + .5 * (both - own)


@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_hybridized_blocks_learn_the_same(grad_stype):
    def weights(hybridize):
        mx.random.seed(1)
        net = FactorizationMachine(30, 4, grad_stype)
        net.initialize()
        if hybridize:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": .1, "momentum": .5})
        for step in range(5):
            x = sparse(matrix(6, 30, step, .1).astype("float32"), "csr")
            with mx.autograd.record():
                loss = mx.nd.square(net(x) - 1).sum()
            loss.backward()
            trainer.step(6)
        return [p.data().asnumpy() for p in net.collect_params().values()]
    for a, b in zip(weights(True), weights(False)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ograd", [(), range(0, 50, 7), range(50), (49,)])
@pytest.mark.parametrize("stored", [(), range(50), range(3, 50, 5), (0, 49)])
def test_gradient_of_sums_has_the_common_rows(ograd, stored):
    head, w = np.zeros((50, 1)), table(50, 3, set(range(50)) - set(stored))
    head[list(ograd)] = matrix(50, 1, 4)[list(ograd)]
    array = sparse(w, "row_sparse")
    gradient = mark(array, "row_sparse")
    with mx.autograd.record():
        y = mx.nd._internal._square_sum(array, axis=1, keepdims=True)
    y.backward(sparse(head, "row_sparse"))
    np.testing.assert_allclose(numpy(gradient), 2 * head * w, rtol=1e-12)
    assert gradient.indices.asnumpy().tolist() == sorted(set(ograd) & set(stored))


def test_refusals():
    call = mx.nd._internal._dot_square_sum
    with pytest.raises(ValueError, match=r"\[_dot_square_sum\] got lhs of shape \(2,3\) and rhs of shape \(4,3\)"):
        call(mx.nd.ones((2, 3)), mx.nd.ones((4, 3)))
    with pytest.raises(ValueError, match="matrices"):
        call(mx.nd.ones((2, 3)), mx.nd.ones(3))
