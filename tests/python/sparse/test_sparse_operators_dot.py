"""dot with sparse arrays: products, gradients, and models that are made of them."""
import itertools

import mxnet as mx
import numpy as np
import pytest
from sparse_helpers import mark, numpy, sparse, storage

pytestmark = pytest.mark.on_gpu


def random(rng, shape, density):
    return rng.uniform(-1, 1, shape) * (rng.rand(*shape) < density)


PRODUCTS = ["csr default", "csr row_sparse", "default csr"]


@pytest.mark.parametrize("dtype,tolerance",
                         [("float64", 1e-12), ("float32", 1e-4), ("float16", 4e-2)])
@pytest.mark.parametrize("storages", PRODUCTS)
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 17, 33, 64, 100])
def test_products(storages, columns, dtype, tolerance):
    rng = np.random.RandomState(columns)
    left, right = storages.split()
    rows, inner = (columns, 90) if left == "default" else (70, 90)
    columns = 70 if left == "default" else columns
    for ta, tb in itertools.product((False, True), (False, True)):
        a = random(rng, (inner, rows) if ta else (rows, inner), 0.2).astype(dtype)
        b = random(rng, (columns, inner) if tb else (inner, columns), 0.5).astype(dtype)
        b[::3] = 0
        want = (a.T if ta else a).astype("float64") @ (b.T if tb else b).astype("float64")
        for asked in (None, "default", "row_sparse", "csr"):
            got = mx.nd.dot(sparse(a, left), sparse(b, right), transpose_a=ta, transpose_b=tb,
                            forward_stype=asked)
            assert got.dtype == np.dtype(dtype) and (asked is None or storage(got) == asked)
            np.testing.assert_allclose(numpy(got).astype("float64"), want, rtol=tolerance,
                                       atol=tolerance)


def test_rows_of_a_transposed_product():
    """Only columns that have an element, however many there are."""
    shape, rng = (5, 3_000_000), np.random.RandomState(0)
    columns = np.sort(rng.choice(shape[1], 40, replace=False))
    wide = np.zeros((5, 40))
    wide[rng.randint(0, 5, 40), np.arange(40)] = rng.uniform(1, 2, 40)
    x = np.zeros(shape, "float32")
    x[:, columns] = wide
    array = sparse(x, "csr")
    v = rng.uniform(-1, 1, (5, 6)).astype("float32")
    y = mx.nd.dot(array, mx.nd.array(v), transpose_a=True)
    assert storage(y) == "row_sparse"
    kept = mx.nd._internal._sparse_retain(y, mx.nd.array(columns, dtype="int64"))
    np.testing.assert_allclose(numpy(kept)[columns], wide.astype("float32").T @ v, rtol=1e-5)
    np.testing.assert_allclose(numpy(y).sum(0), (wide.T @ v).sum(0), rtol=1e-4)


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
@pytest.mark.parametrize("storages", PRODUCTS + ["row_sparse default"])
def test_gradients(storages, stype):
    rng = np.random.RandomState(0)
    left, right = storages.split()
    for ta, tb, asked in itertools.product((False, True), (False, True), (None, "default")):
        a, b = random(rng, (6, 5), 0.4), random(rng, (5, 4), 0.4)
        x, y = sparse(a.T.copy() if ta else a, left), sparse(b.T.copy() if tb else b, right)
        gradients = [mark(v, stype) for v in (x, y)]
        weights = rng.uniform(-1, 1, (6, 4))
        with mx.autograd.record():
            z = mx.nd.dot(x, y, transpose_a=ta, transpose_b=tb, forward_stype=asked)
            loss = mx.nd.elemwise_mul(z, mx.nd.array(weights, dtype="float64"))
        loss.backward()
        of_a, of_b = weights @ b.T, a.T @ weights
        assert [storage(g) for g in gradients] == [stype] * 2
        np.testing.assert_allclose(numpy(gradients[0]), of_a.T if ta else of_a, atol=1e-12)
        np.testing.assert_allclose(numpy(gradients[1]), of_b.T if tb else of_b, atol=1e-12)


def test_gradient_of_a_weight_stores_rows_that_were_used():
    x = np.zeros((3, 8))
    x[0, 2], x[2, 5] = 1, 2
    weight = mx.nd.ones((8, 4), dtype="float64")
    gradient = mark(weight, "row_sparse")
    with mx.autograd.record():
        y = mx.nd.dot(sparse(x, "csr"), weight)
    y.backward()
    assert storage(gradient) == "row_sparse"
    np.testing.assert_allclose(numpy(gradient), x.T @ np.ones((3, 4)))


def test_vectors():
    x = random(np.random.RandomState(0), (4, 3), 0.5)
    for ta in (False, True):
        v = np.arange(4.0 if ta else 3.0)
        got = mx.nd.dot(sparse(x, "csr"), mx.nd.array(v, dtype="float64"), transpose_a=ta,
                        forward_stype="default")
        np.testing.assert_allclose(numpy(got), (x.T if ta else x) @ v)
    got = mx.nd.dot(mx.nd.arange(4, dtype="float64"), sparse(x, "csr"), forward_stype="default")
    np.testing.assert_allclose(numpy(got), np.arange(4.0) @ x)


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_a_linear_model_learns(stype):
    """Logistic regression with plain steps, against NumPy."""
    rng = np.random.RandomState(1)
    x = random(rng, (64, 30), 0.2)
    label = (x @ rng.uniform(-1, 1, (30, 1)) > 0).astype("float64")
    w, b = np.zeros((30, 1)), np.zeros(1)
    weight, bias = sparse(w, stype), mx.nd.array(b, dtype="float64")
    of_weight, of_bias = mark(weight, "row_sparse"), mark(bias)
    data, target = sparse(x, "csr"), mx.nd.array(label, dtype="float64")
    for _ in range(50):
        with mx.autograd.record():
            y = mx.nd.sigmoid(mx.nd.broadcast_add(mx.nd.dot(data, weight), bias))
            loss = mx.nd.mean(mx.nd.square(y - target))
        loss.backward()
        p = 1 / (1 + np.exp(-(x @ w + b)))
        ograd = 2 * (p - label) / label.size * p * (1 - p)
        w, b = w - x.T @ ograd, b - ograd.sum()
        mx.nd.elemwise_sub(weight, of_weight, out=weight)
        mx.nd.elemwise_sub(bias, of_bias, out=bias)
    np.testing.assert_allclose(numpy(weight), w, atol=1e-12)
    np.testing.assert_allclose(numpy(bias), b, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
def test_fully_connected(bias):
    rng = np.random.RandomState(1)
    x, w, b = random(rng, (6, 9), 0.4), rng.uniform(-1, 1, (4, 9)), rng.uniform(-1, 1, 4)
    data = sparse(x, "csr")
    weight, offset = mx.nd.array(w, dtype="float64"), mx.nd.array(b, dtype="float64")
    gradients = [mark(v) for v in (data, weight, offset)]
    inputs = (data, weight, offset) if bias else (data, weight)
    with mx.autograd.record():
        y = mx.nd.FullyConnected(*inputs, num_hidden=4, no_bias=not bias)
    y.backward()
    np.testing.assert_allclose(numpy(y), x @ w.T + (b if bias else 0))
    ones = np.ones((6, 4))
    np.testing.assert_allclose(numpy(gradients[0]), ones @ w)
    np.testing.assert_allclose(numpy(gradients[1]), ones.T @ x)
    if bias:
        np.testing.assert_allclose(numpy(gradients[2]), ones.sum(0))


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_fully_connected_with_a_column_of_biases(stype):
    x, w, b = np.eye(3, dtype="float32"), np.ones((2, 3), "float32"), np.array([[1], [2]], "float32")
    bias = mx.nd.array(b).tostype(stype)
    bias.attach_grad(stype=stype)
    with mx.autograd.record():
        y = mx.nd.FullyConnected(mx.nd.array(x).tostype("csr"), mx.nd.array(w), bias, num_hidden=2)
    y.backward()
    np.testing.assert_array_equal(numpy(y), x @ w.T + b.T)
    np.testing.assert_array_equal(numpy(bias.grad), [[3], [3]])


def test_wide_weights():
    """Of which few elements meet one of the data."""
    rng = np.random.RandomState(2)
    x, w = random(rng, (5, 4000), 0.004), rng.uniform(-1, 1, (3, 4000))
    got = mx.nd.FullyConnected(sparse(x, "csr"), mx.nd.array(w, dtype="float64"), num_hidden=3,
                               no_bias=True)
    np.testing.assert_allclose(numpy(got), x @ w.T, atol=1e-13)
    got = mx.nd.dot(sparse(x, "csr"), mx.nd.array(w, dtype="float64"), transpose_b=True)
    np.testing.assert_allclose(numpy(got), x @ w.T, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 3])
def test_short_rows_of_different_lengths(dtype, columns):
    """Whose elements are computed without regard to rows; a long one stands among them."""
    rng = np.random.RandomState(3)
    x = random(rng, (700, 2500), 0.001)
    x[300] = rng.uniform(-1, 1, 2500)
    x[[0, 310, 699]] = 0
    x = x.astype(dtype)
    array = sparse(x, "csr")
    for transpose in (False, True):
        w = rng.uniform(-1, 1, (700 if transpose else 2500, columns)).astype(dtype)
        got = mx.nd.dot(array, mx.nd.array(w, dtype=dtype), transpose_a=transpose, forward_stype="default")
        tolerance = 1e-12 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(numpy(got), (x.T if transpose else x).astype("float64") @ w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype,tolerance", [("float32", 2e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("most", [5, 12, 26, 40])
def test_many_rows_of_different_lengths(dtype, tolerance, most):
    """So many that threads and vectors take other ways than with few."""
    rng, rows, columns = np.random.RandomState(most), 150_000, 300
    ends = np.concatenate([[0], rng.randint(0, most + 1, rows).cumsum()])
    index, values = rng.randint(0, columns, ends[-1]), rng.uniform(-1, 1, ends[-1])
    x = mx.nd.sparse.csr_matrix((values, index, ends), shape=(rows, columns), dtype=dtype)
    right = rng.uniform(-1, 1, columns)
    sums = np.concatenate([[0], (values * right[index]).cumsum()])
    got = mx.nd.dot(x, mx.nd.array(right, dtype=dtype)).asnumpy()
    np.testing.assert_allclose(got, np.diff(sums[ends]), rtol=tolerance, atol=max(tolerance, 1e-9))


@pytest.mark.parametrize("dtype,tolerance", [("float32", 1e-4), ("float64", 1e-12)])
@pytest.mark.parametrize("inner,columns", [(9_000, 64), (40_000, 32), (40_000, 66), (40_000, 129), (20_000, 200), (70_000, 33)])
def test_right_factors_that_a_core_does_not_hold(dtype, tolerance, inner, columns):
    """Their rows are read in parts, each by all rows of the csr matrix."""
    rng = np.random.RandomState(inner)
    rows = 40
    index = [np.sort(rng.choice(inner, n, replace=False)) for n in rng.choice([0, 5, inner // 30, inner // 10], rows)]
    index[3] = np.arange(inner // 2, inner // 2 + 700)      # one part has them all
    ends = np.concatenate([[0], np.cumsum([len(i) for i in index])])
    values = rng.uniform(-1, 1, ends[-1]).astype(dtype)
    dense = rng.uniform(-1, 1, (inner, columns)).astype(dtype)
    want = np.stack([values[b:e].astype("float64") @ dense[i] for b, e, i in zip(ends, ends[1:], index)])
    order = np.concatenate([b + rng.permutation(e - b) for b, e in zip(ends, ends[1:])])
    for way in (np.arange(ends[-1]), order):                # of rows in no order nothing is known
        matrix = mx.nd.sparse.csr_matrix((values[way], np.concatenate(index)[way], ends), shape=(rows, inner), dtype=dtype)
        got = mx.nd.dot(matrix, mx.nd.array(dense, dtype=dtype))
        np.testing.assert_allclose(got.asnumpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype,tolerance", [("float32", 2e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("last", [0, 1, 3, 40])
def test_a_vector_times_short_rows(dtype, tolerance, last):
    """The last row ends where the values end, so nothing behind it may be read. The third product
    finds the copy of the columns that the second one made."""
    rng = np.random.RandomState(last)
    lengths = np.append(rng.randint(0, 20, 4000), last)
    index = np.concatenate([np.sort(rng.choice(3000, n, replace=False)) for n in lengths])
    values = rng.uniform(-1, 1, len(index)).astype(dtype)
    x = mx.nd.sparse.csr_matrix((values, index, np.append(0, np.cumsum(lengths))), shape=(4001, 3000))
    dense = x.asnumpy().astype("float64")
    for _ in range(3):
        for transpose in (False, True):
            v = rng.uniform(-1, 1, (4001 if transpose else 3000, 1)).astype(dtype)
            got = mx.nd.dot(x, mx.nd.array(v, dtype=dtype), transpose_a=transpose, forward_stype="default")
            np.testing.assert_allclose(numpy(got), (dense.T if transpose else dense) @ v, rtol=tolerance, atol=tolerance)


def test_what_a_sparse_array_stores_may_change_between_calls():
    """Calls of it are short or long by what it stores when their turn comes."""
    rng = np.random.RandomState(0)
    ones = mx.nd.ones((3000, 1))
    x = mx.nd.sparse.zeros("csr", (2000, 3000))
    for density in (0.0, 0.001, 0.3, 0.002):
        dense = random(rng, (2000, 3000), density).astype("float32")
        mx.nd.cast_storage(mx.nd.array(dense), stype="csr", out=x)
        got = [mx.nd.dot(x, ones), mx.nd.dot(x * 2, ones), mx.nd.sum(x, axis=1, keepdims=True)]
        for g, factor in zip(got, (1, 2, 1)):
            np.testing.assert_allclose(numpy(g), factor * dense.sum(1, keepdims=True), rtol=1e-4, atol=1e-3)


def test_errors_name_what_does_not_fit():
    x = sparse(np.ones((4, 3), "float32"), "csr")
    with pytest.raises(ValueError, match=r"\[dot\].*\(4, ?3\).*\(4, ?2\)"):
        mx.nd.dot(x, mx.nd.ones((4, 2)))


@pytest.mark.parametrize("columns", [500, 70_000])
def test_large_products_follow_the_matrix(columns):
    """Copies of the columns that products of large matrices keep go when the matrix changes."""
    rng = np.random.RandomState(0)
    rows, each = 1500, 200

    def random_csr():
        index = np.sort(rng.rand(rows, columns if columns < 1000 else 1000)
                        .argpartition(each, axis=1)[:, :each], axis=1)
        index = index * (columns // 1000) + columns % 7 if columns > 1000 else index
        values = rng.uniform(-1, 1, rows * each).astype("float32")
        return values, index.reshape(-1).astype("int64"), np.arange(rows + 1) * each

    def expected(parts, right, transposed):
        values, index, ends = parts
        row = np.repeat(np.arange(rows), np.diff(ends))
        to, source = (index, row) if transposed else (row, index)
        size = columns if transposed else rows
        return np.bincount(to, values * right[source], size)

    first, second = random_csr(), random_csr()
    matrix = mx.nd.sparse.csr_matrix(first, shape=(rows, columns))
    change = mx.nd.sparse.csr_matrix(second, shape=(rows, columns))
    for parts in first, second:
        for transposed in (False, True) * 3:
            right = rng.uniform(-1, 1, rows if transposed else columns).astype("float32")
            got = mx.nd.dot(matrix, mx.nd.array(right.reshape(-1, 1)), transpose_a=transposed,
                            forward_stype="default")
            np.testing.assert_allclose(got.asnumpy()[:, 0], expected(parts, right, transposed),
                                       rtol=1e-4, atol=1e-4)
        matrix[:] = change
