"""Operators on sparse arrays: storages as in 1.9.1, values as of dense arrays."""
import json
import os

import mxnet as mx
import numpy as np
import pytest
from sparse_cases import CASES, SHORT, call, dense, key
from sparse_helpers import mark, numpy, sparse, storage

pytestmark = pytest.mark.on_gpu

with open(os.path.join(os.path.dirname(__file__), "sparse_storages.json"), encoding="utf-8") as f:
    STORAGES = json.load(f)

OPERATORS = sorted({name for name, *_ in CASES})


def cases_of(name):
    return [case for case in CASES if case[0] == name]


def arrays_of(letters, shapes, dtype):
    values = [dense(np, s, i).astype(dtype) for i, s in enumerate(shapes)]
    return ([sparse(v, SHORT[letter]) for letter, v in zip(letters, values)],
            [mx.nd.array(v, dtype=dtype) for v in values])


@pytest.mark.parametrize("name", OPERATORS)
def test_storages_are_those_of_the_record(name):
    for _, letters, shapes, params in cases_of(name):
        result = call(mx, name, arrays_of(letters, shapes, "float32")[0], params)
        text = key(name, letters, shapes, params)
        assert storage(result) == STORAGES[text], text


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("name", OPERATORS)
def test_values_are_those_of_dense_arrays(name, dtype):
    if name.startswith("_scatter"):
        return  # of what is stored alone: test_scatter_operators
    if dtype == "int32" and name in (
            "dot", "FullyConnected", "LinearRegressionOutput", "LogisticRegressionOutput",
            "MAERegressionOutput"):
        return  # of floats alone
    for _, letters, shapes, params in cases_of(name):
        if params.get("scalar") == 0.0 and name in ("_div_scalar", "_mod_scalar", "_rdiv_scalar"):
            continue  # 0 / 0 where nothing is stored
        if name.startswith("broadcast_div") or (dtype == "int32" and "div" in name):
            continue
        in_sparse, in_dense = arrays_of(letters, shapes, dtype)
        if dtype == "int32":
            in_sparse = [sparse(np.round(numpy(a) * 0 + 3 * (d.asnumpy() != 0)).astype(dtype),
                                storage(a)) for a, d in zip(in_sparse, in_dense)]
            in_dense = [mx.nd.array(numpy(a), dtype=dtype) for a in in_sparse]
        got, want = call(mx, name, in_sparse, params), call(mx, name, in_dense, params)
        assert got.dtype == want.dtype and got.shape == want.shape
        want = numpy(want)
        tolerance = {"float16": 4e-3, "float32": 1e-5}.get(dtype, 1e-12)
        np.testing.assert_allclose(numpy(got).astype("float64"), want.astype("float64"),
                                   rtol=tolerance, atol=tolerance,
                                   err_msg=key(name, letters, shapes, params))


@pytest.mark.parametrize("name", OPERATORS)
def test_arrays_that_store_nothing(name):
    for _, letters, shapes, params in cases_of(name):
        if name.startswith("_scatter") or "div" in name or params.get("scalar") == 0.0:
            continue
        arrays = [sparse(np.zeros(s, "float32"), SHORT[letter])
                  for letter, s in zip(letters, shapes)]
        zeros = [mx.nd.zeros(s) for s in shapes]
        np.testing.assert_allclose(numpy(call(mx, name, arrays, params)),
                                   numpy(call(mx, name, zeros, params)),
                                   err_msg=key(name, letters, shapes, params))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_arrays_without_elements(stype, shape):
    with mx.util.np_shape(True):
        x = sparse(np.zeros(shape, "float32"), stype)
        for result in (mx.nd.abs(x), mx.nd.elemwise_add(x, x), mx.nd.elemwise_mul(x, x), x * 2):
            assert storage(result) == stype and numpy(result).shape == shape
        if stype == "csr":
            y = mx.nd.dot(x, mx.nd.ones((shape[1], 2)))
            np.testing.assert_array_equal(numpy(y), np.zeros((shape[0], 2)))
            y = mx.nd.dot(x, mx.nd.ones((shape[0], 2)), transpose_a=True)
            np.testing.assert_array_equal(numpy(y), np.zeros((shape[1], 2)))


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_scatter_operators(stype):
    x = dense(np, (4, 3), 0).astype("float32")
    stored = x != 0 if stype == "csr" else np.repeat((x != 0).any(1, keepdims=True), 3, 1)
    array = sparse(x, stype)
    for name, sign in (("_scatter_plus_scalar", 1), ("_scatter_minus_scalar", -1)):
        got = numpy(call(mx, name, [array], {"scalar": 2.0}))
        np.testing.assert_allclose(got, np.where(stored, x + sign * np.float32(2), 0))
    if stype == "row_sparse":
        got = mx.nd._internal._scatter_elemwise_div(array, mx.nd.ones((4, 3)) * 4)
        np.testing.assert_allclose(numpy(got), x / 4)


def difference(f, x, step=1e-6):
    """The gradient of sum(f(x)) by central differences."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[i] += sign * step
            ends.append(f(moved).sum())
        gradient[i] = (ends[0] - ends[1]) / (2 * step)
    return gradient


SMOOTH = [("sin", np.sin), ("square", np.square), ("tanh", np.tanh), ("expm1", np.expm1),
          ("negative", np.negative), ("degrees", np.degrees)]


@pytest.mark.parametrize("wanted", ["default", "row_sparse", "csr"])
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
@pytest.mark.parametrize("name,function", SMOOTH)
def test_gradients_of_unary_operators(name, function, stype, wanted):
    x = dense(np, (4, 3), 1)
    array = sparse(x, stype)
    gradient = mark(array, wanted)
    with mx.autograd.record():
        y = getattr(mx.nd, name)(array)
    y.backward()
    assert storage(y) == stype and storage(gradient) == wanted
    np.testing.assert_allclose(numpy(gradient), difference(function, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_gradients_that_come_in_sparse(stype):
    """Behind a product with a sparse array the gradient is sparse, and stays so."""
    x, mask = dense(np, (4, 3), 1), dense(np, (4, 3), 5)
    array = sparse(x, stype)
    gradient = mark(array, stype)
    with mx.autograd.record():
        y = mx.nd.elemwise_mul(mx.nd.sin(array), sparse(mask, stype))
    y.backward()
    np.testing.assert_allclose(numpy(gradient), np.cos(x) * mask, rtol=1e-12)


@pytest.mark.parametrize("name,function", [
    ("elemwise_add", np.add), ("elemwise_sub", np.subtract), ("elemwise_mul", np.multiply)])
@pytest.mark.parametrize("letters", ["rr", "cc", "dr", "rd", "dc", "cd"])
def test_gradients_of_binary_operators(name, function, letters):
    a, b = dense(np, (4, 3), 0), dense(np, (4, 3), 1)
    x, y = sparse(a, SHORT[letters[0]]), sparse(b, SHORT[letters[1]])
    wanted = [SHORT[letter] for letter in letters]
    gradients = [mark(v, s) for v, s in zip((x, y), wanted)]
    with mx.autograd.record():
        z = getattr(mx.nd, name)(x, y)
    z.backward()
    assert [storage(g) for g in gradients] == wanted
    np.testing.assert_allclose(numpy(gradients[0]), difference(lambda v: function(v, b), a),
                               atol=1e-8)
    np.testing.assert_allclose(numpy(gradients[1]), difference(lambda v: function(a, v), b),
                               atol=1e-8)


def test_rows_of_gradients():
    """As in 1.9.1: those of the data too behind most operators, of clip those that are not 0."""
    x = np.zeros((2, 4))
    x[0, 0], x[1, 2] = 1, 2
    data, values = sparse(x, "csr"), np.arange(1.0, 9.0).reshape(4, 2)
    slopes = {"square": 2 * values, "abs": np.ones((4, 2)), "negative": -np.ones((4, 2)),
              "clip": (values <= 3).astype(float)}
    for name, rows in (("square", 4), ("abs", 4), ("negative", 2), ("clip", 1)):
        weight = sparse(values, "row_sparse")
        gradient = mark(weight, "row_sparse")
        params = {"a_min": -3, "a_max": 3} if name == "clip" else {}
        with mx.autograd.record():
            y = mx.nd.dot(data, getattr(mx.nd, name)(weight, **params))
        y.backward()
        np.testing.assert_allclose(numpy(gradient), x.sum(0)[:, None] * slopes[name])
        assert len(gradient.indices) == rows


def test_gradients_add_up():
    """grad_req='add' into arrays of each storage."""
    x = dense(np, (4, 3), 0)
    for stype in ("default", "row_sparse", "csr"):
        array = sparse(x, "row_sparse")
        gradient = mark(array, stype, "add")
        for _ in range(3):
            with mx.autograd.record():
                y = mx.nd.square(array)
            y.backward()
        np.testing.assert_allclose(numpy(gradient), 6 * x, rtol=1e-12)


def test_sums_of_many_rows():
    """Runs of rows that one, the other or both have, on several threads."""
    rng = np.random.RandomState(3)
    for columns in (1, 7, 64):
        arrays = [rng.uniform(-1, 1, (3000, columns)) * (rng.rand(3000, 1) < p)
                  for p in (0.1, 0.9, 0.5, 1.0)]
        inputs = [sparse(a, "row_sparse") for a in arrays]
        np.testing.assert_allclose(numpy(mx.nd.elemwise_add(*inputs[:2])), arrays[0] + arrays[1])
        np.testing.assert_allclose(numpy(mx.nd.elemwise_sub(*inputs[1:3])), arrays[1] - arrays[2])
        np.testing.assert_allclose(numpy(mx.nd.add_n(*inputs)), sum(arrays), atol=1e-14)
        full = mx.nd.array(arrays[3], dtype="float64")
        np.testing.assert_allclose(numpy(mx.nd.elemwise_sub(inputs[0], full)),
                                   arrays[0] - arrays[3])


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_results_in_the_place_of_an_input(stype):
    a, b = dense(np, (4, 3), 0), dense(np, (4, 3), 1)
    x, y = sparse(a, stype), sparse(b, stype)
    mx.nd.elemwise_add(x, y, out=x)
    np.testing.assert_allclose(numpy(x), a + b)
    mx.nd.elemwise_mul(x, y, out=y)
    np.testing.assert_allclose(numpy(y), (a + b) * b)
    mx.nd.square(x, out=x)
    np.testing.assert_allclose(numpy(x), (a + b) ** 2)
    x = sparse(a, stype)
    wide = mx.nd.array(b, dtype="float64")
    mx.nd.elemwise_sub(x, wide, out=wide)
    np.testing.assert_allclose(wide.asnumpy(), a - b)


def test_broadcasting_with_csr():
    x = dense(np, (4, 3), 0)
    for shape in ((1, 3), (3,), (4, 1), (1,), (1, 1)):
        v = np.random.RandomState(1).uniform(1, 2, shape)
        array, other = sparse(x, "csr"), mx.nd.array(v, dtype="float64")
        gradient, of_other = mark(array, "csr"), mark(other)
        with mx.autograd.record():
            y = mx.nd.broadcast_mul(array, other)
        y.backward()
        assert storage(y) == "csr"
        np.testing.assert_allclose(numpy(y), x * v)
        np.testing.assert_allclose(numpy(gradient), np.broadcast_to(v, x.shape))
        np.testing.assert_allclose(numpy(of_other), difference(lambda w: x * w, v), atol=1e-8)
        np.testing.assert_allclose(numpy(mx.nd.broadcast_div(array, other)), x / v)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_retain(dtype):
    x = (dense(np, (4, 3), 0) * 10).astype(dtype)
    array = sparse(x, "row_sparse")
    for ids in ([0, 2], [3, 0, 1], [2, 2, 0], [], [1]):
        kept = np.zeros_like(x)
        kept[ids] = x[ids]
        for id_type in ("float32", "int64", "int32"):
            with mx.util.np_shape(True):
                got = mx.nd._internal._sparse_retain(array, mx.nd.array(ids, dtype=id_type))
            assert storage(got) == "row_sparse"
            np.testing.assert_array_equal(numpy(got), kept)
    for bad in ([4], [0, -1]):
        with pytest.raises(IndexError, match="_sparse_retain.*accepted: 0 to 3"):
            numpy(mx.nd._internal._sparse_retain(array, mx.nd.array(bad)))


def test_retain_of_no_rows_and_ids_of_two_axes():
    empty = mx.nd.sparse.zeros("row_sparse", (4, 3))
    assert mx.nd.sparse.retain(empty, mx.nd.array([0, 2])).indices.asnumpy().tolist() == []
    array = sparse(dense(np, (4, 3), 0), "row_sparse")
    got = mx.nd.sparse.retain(array, mx.nd.array([[3, 1], [1, 3]], dtype="int64"))
    np.testing.assert_array_equal(got.indices.asnumpy(), [1, 3])
    np.testing.assert_array_equal(numpy(got)[[1, 3]], numpy(array)[[1, 3]])


def test_gradient_of_retain():
    array = sparse(dense(np, (4, 3), 0), "row_sparse")
    gradient = mark(array, "row_sparse")
    with mx.autograd.record():
        y = mx.nd._internal._sparse_retain(array, mx.nd.array([2, 0]))
    y.backward()
    want = np.zeros((4, 3))
    want[[0, 2]] = 1
    np.testing.assert_array_equal(numpy(gradient), want)


def test_gradient_of_square_sum():
    x = dense(np, (4, 3), 0)
    for axis, keepdims in ((0, False), (1, False), (1, True), (0, True)):
        array = sparse(x, "row_sparse")
        gradient = mark(array, "row_sparse")
        with mx.autograd.record():
            y = mx.nd._internal._square_sum(array, axis=axis, keepdims=keepdims)
        y.backward()
        np.testing.assert_allclose(numpy(y), (x * x).sum(axis, keepdims=keepdims))
        np.testing.assert_allclose(numpy(gradient), 2 * x)


def test_gradients_of_slices_and_reductions():
    x = dense(np, (4, 3), 0)
    for function, want in (
            (lambda v: mx.nd.slice(v, begin=(1, 1), end=(4, 3)),
             np.pad(np.ones((3, 2)), ((1, 0), (1, 0)))),
            (lambda v: mx.nd.slice(v, begin=(0,), end=(2,)),
             np.pad(np.ones((2, 3)), ((0, 2), (0, 0)))),
            (lambda v: mx.nd.sum(v, axis=0), np.ones((4, 3))),
            (lambda v: mx.nd.mean(v), np.full((4, 3), 1 / 12)),
            (lambda v: mx.nd.square(mx.nd.slice(v, begin=(1, 1), end=(4, 3))),
             np.pad(2 * x[1:, 1:], ((1, 0), (1, 0))))):
        for wanted in ("default", "csr"):
            array = sparse(x, "csr")
            gradient = mark(array, wanted)
            with mx.autograd.record():
                y = function(array)
            y.backward()
            np.testing.assert_allclose(numpy(gradient), want)


def test_columns_in_any_order():
    """Products and functions take them; sums, which walk along two rows, refuse them."""
    parts = ([1.0, 2.0, 3.0], [2, 0, 1], [0, 2, 3])
    x = mx.nd.sparse.csr_matrix(parts, shape=(2, 3), dtype="float64")
    want = np.array([[2.0, 0, 1], [0, 3, 0]])
    np.testing.assert_array_equal(numpy(mx.nd.square(x)), want ** 2)
    for transpose, ones in ((False, (3, 2)), (True, (2, 2))):
        got = mx.nd.dot(x, mx.nd.ones(ones, dtype="float64"), transpose_a=transpose)
        np.testing.assert_array_equal(numpy(got), (want.T if transpose else want) @ np.ones(ones))
    with pytest.raises(ValueError, match=r"\[elemwise_add\].*ascending"):
        numpy(mx.nd.elemwise_add(x, sparse(np.eye(2, 3), "csr")))


@pytest.mark.parametrize("storage", ["row_sparse", "csr"])
def test_new_gradients_are_of_the_class_of_their_storage(storage):
    x = dense(np, (4, 3), 0).astype("float32")
    array = sparse(x, storage)
    array.attach_grad()
    with mx.autograd.record():
        y = mx.nd.square(array).sum()
    got, = mx.autograd.grad(y, [array])
    assert type(got) is mx.nd.NDArray and got.stype == "default"
    np.testing.assert_allclose(got.asnumpy(), 2 * x, rtol=1e-6)
