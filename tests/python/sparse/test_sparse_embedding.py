"""Tables of rows: gradients with the touched rows alone, tables that are row_sparse."""
import numpy as np
import pytest

import mxnet as mx
from contraction import assert_same

pytestmark = pytest.mark.on_gpu


def _cast(a, storage):
    return mx.nd.cast_storage(a, stype=storage)


def _dense(a):
    return _cast(a, "default").asnumpy()


def _rows_of(a):
    """Numbers of the stored rows, by adding up what is stored: rows of zeros count too."""
    return a.indices.asnumpy().tolist()


def _marked(weight, storage="row_sparse", req="write"):
    grad = _cast(mx.nd.zeros(weight.shape, dtype=weight.dtype), storage)
    mx.autograd.mark_variables([weight], [grad], req)
    return grad


def _expected(ids, ograd, rows):
    grad = np.zeros((rows, ograd.shape[-1]), "float64")
    np.add.at(grad, np.asarray(ids).astype("int64").reshape(-1), ograd.reshape(-1, ograd.shape[-1]).astype("float64"))
    return grad


CASES = [[[1, 3], [3, 0]], [5, 5, 5, 5], [0], [], [9, 0, 9, 0, 4]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("id_dtype", ["float32", "int32", "int64", "uint8"])
@pytest.mark.parametrize("ids", CASES, ids=str)
def test_gradient_has_the_touched_rows(ids, id_dtype, dtype):
    rng = np.random.RandomState(0)
    weight = mx.nd.array(rng.uniform(-1, 1, (10, 3)), dtype=dtype)
    grad = _marked(weight)
    x = mx.nd.array(np.array(ids), dtype=id_dtype)
    with mx.autograd.record():
        y = mx.nd.Embedding(x, weight, input_dim=10, output_dim=3, sparse_grad=True)
    ograd = rng.uniform(-1, 1, y.shape).astype(dtype)
    y.backward(mx.nd.array(ograd, dtype=dtype))
    assert grad.stype == "row_sparse"
    assert _rows_of(grad) == sorted(set(np.array(ids, "int64").reshape(-1).tolist()))
    np.testing.assert_allclose(_dense(grad), _expected(ids, ograd, 10), rtol=2e-3 if dtype == "float16" else 1e-6, atol=1e-6)


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("count, rows", [(65, 3), (65, 1000000), (300, 5000), (900, 300), (1000, 1000000), (5000, 100),
                                         (5000, 1000000), (70000, 5000)])
def test_many_ids(count, rows, columns):
    rng = np.random.RandomState(1)
    ids = rng.randint(0, rows, count)
    weight = mx.nd.zeros((rows, columns))
    grad = _marked(weight)
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array(ids, dtype="int64"), weight, input_dim=rows, output_dim=columns, sparse_grad=True)
    ograd = rng.uniform(-1, 1, y.shape).astype("float32")
    y.backward(mx.nd.array(ograd))
    touched = np.unique(ids)
    assert np.array_equal(grad.indices.asnumpy(), touched)
    np.testing.assert_allclose(grad.data.asnumpy(), _expected(ids, ograd, rows)[touched], rtol=1e-5, atol=1e-4)


def test_the_array_decides_about_the_storage_of_the_gradient():
    for sparse_grad in (False, True):
        for storage in ("default", "row_sparse"):
            weight = mx.nd.array(np.arange(8).reshape(4, 2))
            grad = _marked(weight, storage)
            with mx.autograd.record():
                y = mx.nd.Embedding(mx.nd.array([2, 2]), weight, input_dim=4, output_dim=2, sparse_grad=sparse_grad)
            y.backward()
            assert grad.stype == storage
            assert _dense(grad).tolist() == [[0, 0], [0, 0], [2, 2], [0, 0]]
    weight = mx.nd.ones((4, 2))
    weight.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array([2, 1]), weight, input_dim=4, output_dim=2, sparse_grad=True)
        found, = mx.autograd.grad(y, [weight])
    assert found.stype == "row_sparse" and _rows_of(found) == [1, 2]


def test_gradients_are_added_up():
    weight = mx.nd.zeros((6, 2))
    grad = _marked(weight, req="add")
    for ids in ([1, 2], [2, 5], [2, 2]):
        with mx.autograd.record():
            y = mx.nd.Embedding(mx.nd.array(ids), weight, input_dim=6, output_dim=2, sparse_grad=True)
        y.backward()
    assert grad.stype == "row_sparse"
    assert _dense(grad)[:, 0].tolist() == [0, 1, 4, 0, 0, 1]
    grad = _marked(weight)
    with mx.autograd.record():       # a table that is read twice
        y = sum(mx.nd.Embedding(mx.nd.array(ids), weight, input_dim=6, output_dim=2, sparse_grad=True).sum() for ids in ([0, 1], [1, 4]))
    y.backward()
    assert _dense(grad)[:, 0].tolist() == [1, 2, 0, 0, 1, 0]


def test_a_second_gradient():
    weight = mx.nd.array([[1., 2], [3, 4], [5, 6]])
    grad = _marked(weight, "default")
    x = mx.nd.array([1, 1, 2])
    with mx.autograd.record():
        y = mx.nd.Embedding(x, weight, input_dim=3, output_dim=2, sparse_grad=True)
        first, = mx.autograd.grad((y * y * y).sum(), [weight], create_graph=True)
        z = mx.nd.cast_storage(first, stype="default").sum()
    z.backward()
    expected = np.zeros((3, 2))
    np.add.at(expected, [1, 1, 2], 6 * np.array([[3, 4], [3, 4], [5, 6]]))
    np.testing.assert_allclose(grad.asnumpy(), expected)


@pytest.mark.parametrize("operator", [mx.nd.Embedding, mx.nd.contrib.SparseEmbedding])
@pytest.mark.parametrize("stored", [[0, 1, 2, 3], [1, 3], []])
def test_tables_may_be_row_sparse(operator, stored):
    table = np.zeros((4, 3), "float32")
    table[stored] = np.arange(1, 1 + 3 * len(stored)).reshape(-1, 3)
    weight = _cast(mx.nd.array(table), "row_sparse")
    grad = _marked(weight)
    ids = np.array([[3, 1, 0], [3, 2, 3]])
    with mx.autograd.record():
        y = operator(mx.nd.array(ids), weight, input_dim=4, output_dim=3, sparse_grad=True)
    y.backward()
    assert y.stype == "default" and np.array_equal(y.asnumpy(), table[ids])
    assert _dense(grad)[:, 0].tolist() == [1, 1, 1, 3]


def test_the_older_operator_has_a_sparse_gradient():
    x, w = mx.sym.Variable("x"), mx.sym.Variable("w")
    for text in ({}, {"deterministic": True}):
        symbol = mx.sym.contrib.SparseEmbedding(x, w, input_dim=5, output_dim=2, **text)
        for s in (symbol, mx.sym.load_json(symbol.tojson())):
            bound = s.simple_bind(mx.cpu(), x=(3,), grad_req={"x": "null", "w": "write"})
            assert bound.grad_dict["w"].stype == "row_sparse" and bound.arg_dict["w"].stype == "default"
            bound.forward(is_train=True, x=mx.nd.array([1, 3, 1]))
            bound.backward(mx.nd.ones((3, 2)))
            assert _rows_of(bound.grad_dict["w"]) == [1, 3] and bound.grad_dict["w"].data.asnumpy().tolist() == [[2, 2], [1, 1]]
    weight = mx.nd.ones((5, 2))
    weight.attach_grad()
    with mx.autograd.record():
        y = mx.nd.contrib.SparseEmbedding(mx.nd.array([4]), weight, input_dim=5, output_dim=2)
    assert mx.autograd.grad(y, [weight], retain_graph=True)[0].stype == "row_sparse"
    y.backward()        # into the array of the caller
    assert weight.grad.stype == "default" and weight.grad.asnumpy()[:, 0].tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("ids", [[1, 7], [-1], [4.0]])
def test_ids_that_a_table_does_not_have(ids):
    weight = _cast(mx.nd.ones((4, 2)), "row_sparse")
    with pytest.raises(IndexError, match=r"\[Embedding\]"):
        mx.nd.Embedding(mx.nd.array(ids), weight, input_dim=4, output_dim=2).wait_to_read()
    weight = mx.nd.ones((4, 2))
    grad = _marked(weight)
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array(ids), weight, input_dim=4, output_dim=2, sparse_grad=True)
    with pytest.raises(IndexError, match=r"\[_backward_Embedding\]"):
        y.backward()
        grad.wait_to_read()


@pytest.mark.parametrize("bind", ["write", "add", "simple"])
@pytest.mark.parametrize("storage, grad", [("row_sparse", "row_sparse"), ("row_sparse", "default"), ("default", "row_sparse")])
def test_ids_of_another_storage_in_a_graph(storage, grad, bind):
    ids, w = mx.sym.Variable("ids"), mx.sym.Variable("w")
    s = mx.sym.Embedding(ids, w, input_dim=5, output_dim=2, sparse_grad=True)
    values = {"ids": _cast(mx.nd.array([1, 0, 3, 3]), storage), "w": mx.nd.array(np.arange(10).reshape(5, 2))}
    if bind == "simple":
        e = s.simple_bind(mx.cpu(), grad_req={"ids": "null", "w": "write"}, stype_dict={"ids": storage}, ids=(4,))
        e.copy_params_from(values)
    else:
        e = s.bind(mx.cpu(), values, args_grad={"w": _cast(mx.nd.zeros((5, 2)), grad)}, grad_req={"ids": "null", "w": bind})
    for _ in range(2):
        out = e.forward(is_train=True)[0]
        e.backward(mx.nd.ones((4, 2)))
    assert out.asnumpy()[:, 0].tolist() == [2, 0, 6, 6]
    assert e.grad_dict["w"].stype == (grad if bind != "simple" else "row_sparse")
    assert _dense(e.grad_dict["w"])[:, 1].tolist() == [(2 if bind == "add" else 1) * k for k in (1, 1, 0, 2, 0)]


# ---- take

@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_take_of_row_sparse(mode):
    table = np.arange(12, dtype="float32").reshape(6, 2) * np.array([1, 0, 1, 1, 0, 1], "float32")[:, None]
    ids = np.array([[1, 3, -1], [8, 0, 5]])
    weight = _cast(mx.nd.array(table), "row_sparse")
    grad = _marked(weight)
    with mx.autograd.record():
        y = mx.nd.take(weight, mx.nd.array(ids), mode=mode)
    y.backward()
    real = np.clip(ids, 0, 5) if mode == "clip" else ids % 6
    assert y.stype == "default" and np.array_equal(y.asnumpy(), table[real])
    assert _rows_of(grad) == np.unique(real).tolist()
    assert np.array_equal(_dense(grad)[:, 1], np.bincount(real.reshape(-1), minlength=6))


@pytest.mark.parametrize("storage, wanted", [("default", "row_sparse"), ("row_sparse", "default")])
def test_gradients_of_take_in_other_storages(storage, wanted):
    weight = _cast(mx.nd.array(np.ones((5, 2))), storage)
    grad = _marked(weight, wanted)
    with mx.autograd.record():
        y = mx.nd.take(weight, mx.nd.array([4, 1, 1]))
    y.backward()
    assert grad.stype == wanted and _dense(grad)[:, 0].tolist() == [0, 2, 0, 0, 1]


def test_take_of_csr_is_csr():
    matrix = np.array([[0, 1, 2], [0, 0, 0], [3, 0, 0], [0, 4, 5]], "float32")
    a = _cast(mx.nd.array(matrix), "csr")
    for mode, ids in (("clip", [1, 3, 0, 9, -1]), ("wrap", [1, 3, 0, 9, -1])):
        y = mx.nd.take(a, mx.nd.array(ids), mode=mode)
        assert y.stype == "csr"
        assert np.array_equal(_dense(y), matrix[np.clip(ids, 0, 3) if mode == "clip" else np.array(ids) % 4])
    empty = mx.nd.take(a, mx.nd.array(np.zeros(0)))
    assert empty.shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
@pytest.mark.parametrize("ids", [[3, 3, 2], [[1, 3], [0, 0], [2, 1]], []])
def test_take_of_csr_rows_that_raises_is_dense(ids, dtype):
    matrix = np.array([[0, 1, 2], [0, 0, 0], [3, 0, 0], [0, 4, 5]], dtype)
    a = _cast(mx.nd.array(matrix, dtype=dtype), "csr")
    y = mx.nd.take(a, mx.nd.array(np.array(ids)), mode="raise")
    assert y.stype == "default" and np.array_equal(y.asnumpy(), matrix[np.array(ids, "int64")])
    into = _cast(mx.nd.ones((3, 3), dtype=dtype), "csr")
    mx.nd.take(a, mx.nd.array([3, 3, 2]), mode="raise", out=into)
    assert np.array_equal(_dense(into), matrix[[3, 3, 2]])
    with pytest.raises(IndexError):
        mx.nd.take(a, mx.nd.array([4]), mode="raise").wait_to_read()


# ---- draws

@pytest.mark.parametrize("name, args", [("uniform", (5, 6)), ("normal", (0, 1)), ("gamma", (2, 1)), ("exponential", (1,)),
                                        ("poisson", (9,))])
def test_draws_into_row_sparse_arrays_store_every_row(name, args):
    for start in (np.zeros((300, 4)), np.diag([1, 0, 2, 0])):
        out = _cast(mx.nd.array(start), "row_sparse")
        mx.random.seed(3)
        getattr(mx.nd.random, name)(*args, shape=start.shape, out=out)
        mx.random.seed(3)
        wanted = getattr(mx.nd.random, name)(*args, shape=start.shape).asnumpy()
        assert out.stype == "row_sparse"
        assert_same(_dense(out), wanted)     # the host draws them, for a GPU too
        assert _rows_of(out) == list(range(start.shape[0]))
