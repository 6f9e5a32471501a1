"""Sparse arrays on a GPU: kernels of its own, without copies on the host, and the CPU's numbers."""
import json
import os
import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest
from sparse_helpers import numpy

pytestmark = [pytest.mark.gpu, pytest.mark.gpu_quick,
              pytest.mark.skipif(mx.context.num_gpus() == 0, reason="no GPU")]


def host_copies(function, folder):
    """What ran on copies on the host while the function did, by operator."""
    mx.profiler.set_config(profile_all=True, aggregate_stats=True,
                           filename=os.path.join(str(folder), "profile.json"))
    mx.profiler.set_state("run")
    function()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    table = json.loads(mx.profiler.dumps(reset=True, format="json"))
    return {name: row["Count"] for category, rows in table["Time"].items()
            if "host_copy" in category for name, row in rows.items()}


def matrix(rng, shape, density=0.3, dtype="float32"):
    values = rng.uniform(-2, 2, shape) * (rng.rand(*shape) < density)
    values[1] = 0
    return values.astype(dtype)


def arrays(stypes, dtype="float32", shape=(9, 7)):
    rng = np.random.RandomState(3)
    values = [matrix(rng, shape, 1 if s == "default" else 0.3, dtype) for s in stypes]
    return lambda ctx: [mx.nd.array(v, ctx=ctx, dtype=dtype).tostype(s)
                        for v, s in zip(values, stypes)]


R, C, D = "row_sparse", "csr", "default"
_ = mx.nd._internal
IDS = [5, 0, 5, 2]


def ids(like, dtype="float32"):
    return mx.nd.array(IDS, ctx=like.context, dtype=dtype)


CALLS = {
    "cast rows": ((R,), lambda a: a.tostype(D)),
    "cast csr": ((C,), lambda a: a.tostype(D)),
    "cast to rows": ((D,), lambda a: (a * (a > 1)).tostype(R)),
    "cast to csr": ((D,), lambda a: (a * (a > 1)).tostype(C)),
    "copy rows": ((R,), lambda a: a.copy()),
    "copy csr": ((C,), lambda a: a.copy()),
    "zeros like": ((C,), mx.nd.zeros_like),
    "unary rows": ((R,), mx.nd.square),
    "unary csr": ((C,), mx.nd.sin),
    "scalar": ((C,), lambda a: a * 3),
    "clip": ((R,), lambda a: mx.nd.clip(a, -1, 1)),
    "add rows": ((R, R), mx.nd.elemwise_add),
    "subtract rows": ((R, R), mx.nd.elemwise_sub),
    "maximum rows": ((R, R), lambda a, b: _._maximum(a, b)),
    "multiply rows": ((R, R), mx.nd.elemwise_mul),
    "add csr": ((C, C), mx.nd.elemwise_add),
    "subtract itself": ((C,), lambda a: mx.nd.elemwise_sub(a, a)),
    "multiply csr": ((C, C), mx.nd.elemwise_mul),
    "add dense": ((R, D), mx.nd.elemwise_add),
    "subtract from dense": ((D, C), mx.nd.elemwise_sub),
    "subtract dense": ((R, D), mx.nd.elemwise_sub),
    "multiply dense": ((C, D), mx.nd.elemwise_mul),
    "multiply by columns": ((C, D), lambda a, b: mx.nd.broadcast_mul(a, b[0])),
    "divide by rows": ((C, D), lambda a, b: mx.nd.broadcast_div(a, b[:, :1] + 5)),
    "add_n rows": ((R, R, R), mx.nd.add_n),
    "add_n dense": ((R, D, R), mx.nd.add_n),
    "sum": ((C,), mx.nd.sum),
    "sum of rows": ((C,), lambda a: mx.nd.sum(a, axis=1)),
    "sum of columns": ((C,), lambda a: mx.nd.sum(a, axis=0)),
    "mean of columns": ((C,), lambda a: mx.nd.mean(a, axis=0, keepdims=True)),
    "norm": ((R,), mx.nd.norm),
    "norm of rows": ((C,), lambda a: mx.nd.norm(a, axis=1)),
    "square sum": ((R,), lambda a: _._square_sum(a, axis=1)),
    "square sum kept": ((R,), lambda a: _._square_sum(a, axis=1, keepdims=True)),
    "square sum of columns": ((R,), lambda a: _._square_sum(a, axis=0)),
    "retain": ((R,), lambda a: mx.nd.sparse.retain(a, ids(a))),
    "retain dense": ((D,), lambda a: _._sparse_retain(a, ids(a))),
    "take rows": ((R,), lambda a: mx.nd.take(a, ids(a))),
    "take csr": ((C,), lambda a: mx.nd.take(a, ids(a, "int64"))),
    "slice csr": ((C,), lambda a: a[2:6]),
    "slice columns": ((C,), lambda a: mx.nd.slice(a, begin=(1, 2), end=(8, 5))),
    "slice of nothing": ((C,), lambda a: mx.nd.slice(a, begin=(1, 0), end=(2, 5))),
    "concat csr": ((C, C), lambda a, b: mx.nd.concat(a, b, dim=0)),
    "where": ((C, D, D), mx.nd.where),
    "dot": ((C, D), lambda a, b: mx.nd.dot(a, b, transpose_b=True)),
    "dot rows": ((C, R), lambda a, b: mx.nd.dot(a, b, transpose_a=True, forward_stype=D)),
    "dot rows to rows": ((C, R), lambda a, b: mx.nd.dot(a, b, transpose_a=True)),
    "dot to rows": ((C, D), lambda a, b: mx.nd.dot(a, b[:7], forward_stype=R)),
    "count": ((C,), lambda a: mx.nd.contrib.getnnz(a)),
    "count of rows": ((C,), lambda a: mx.nd.contrib.getnnz(a, axis=1)),
    "count of columns": ((C,), lambda a: mx.nd.contrib.getnnz(a, axis=0)),
    "dot transposed": ((C, D), lambda a, b: mx.nd.dot(a, b, transpose_a=True)),
    "dot transposed dense": ((C, D), lambda a, b: mx.nd.dot(a, b, transpose_a=True, forward_stype=D)),
    "dot dense csr": ((D, C), lambda a, b: mx.nd.dot(a, b, transpose_a=True)),
    "dot dense csr dense": ((D, C), lambda a, b: mx.nd.dot(a, b, transpose_b=True)),
    "dot square sums": ((C, D), lambda a, b: _._dot_square_sum(a, b[:7])),
    "dot square sums of some rows": ((C, D), lambda a, b: _._dot_square_sum(a, (b[:7] * (b[:7, :1] > 0)).tostype(R))),
    "fully connected": ((C, D), lambda a, b: mx.nd.FullyConnected(a, b, num_hidden=9, no_bias=True)),
    "embedding": ((R,), lambda a: mx.nd.Embedding(ids(a), a, input_dim=9, output_dim=7)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_calls_stay_on_the_gpu(name, dtype, tmp_path):
    stypes, function = CALLS[name]
    make = arrays(stypes, dtype)
    want = function(*make(mx.cpu(0)))
    inputs, got = make(mx.gpu(0)), []
    mx.nd.waitall()
    assert host_copies(lambda: got.append(function(*inputs)), tmp_path) == {}
    assert got[0].stype == want.stype and got[0].dtype == want.dtype
    assert got[0].context == mx.gpu(0)
    tolerance = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(numpy(got[0]), numpy(want), rtol=tolerance, atol=tolerance)
    if want.stype != D:
        assert got[0].indices.asnumpy().tolist() == want.indices.asnumpy().tolist()
    if want.stype == C:
        assert got[0].indptr.asnumpy().tolist() == want.indptr.asnumpy().tolist()


@pytest.mark.parametrize("name", ["cast to csr", "cast csr", "add csr", "sum of rows", "add_n rows", "take csr"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8"])
def test_integers(name, dtype, tmp_path):
    stypes, function = CALLS[name]
    make = arrays(stypes, dtype)
    want, inputs, got = function(*make(mx.cpu(0))), make(mx.gpu(0)), []
    assert host_copies(lambda: got.append(function(*inputs)), tmp_path) == {}
    np.testing.assert_array_equal(numpy(got[0]), numpy(want))


def test_what_stays_on_the_host_is_counted(tmp_path):
    x = mx.nd.sparse.csr_matrix(([1, 2], [0, 1], [0, 1, 2]), shape=(2, 2), ctx=mx.gpu(0),
                                dtype="int64")
    u = mx.nd.array([0, 1], ctx=mx.gpu(0), dtype="int64")
    got = host_copies(lambda: mx.nd.contrib.edge_id(x, u, u), tmp_path)
    assert sum(got.values()) == 1 and "edge_id" in list(got)[0]


@pytest.mark.parametrize("stype", [R, C])
@pytest.mark.parametrize("function", [
    lambda a: mx.nd.clip(a, -1, .5), mx.nd.square, mx.nd.sin,
    lambda a: mx.nd.slice(a, begin=(1, 2), end=(8, 5)) if a.stype == C else a * 2])
def test_gradients_stay_on_the_gpu(function, stype, tmp_path):
    make, found = arrays((stype,)), []
    for ctx in (mx.cpu(0), mx.gpu(0)):
        x = make(ctx)[0]
        gradient = mx.nd.sparse.zeros(stype, x.shape, ctx=ctx)
        mx.autograd.mark_variables([x], [gradient])
        with mx.autograd.record():
            y = function(x)
        ograd = arrays((stype, stype), shape=y.shape)(ctx)[1]
        assert host_copies(lambda: y.backward(ograd), tmp_path) == {}
        assert gradient.stype == stype
        found.append(gradient)
    assert found[1].indices.asnumpy().tolist() == found[0].indices.asnumpy().tolist()
    np.testing.assert_allclose(numpy(found[1]), numpy(found[0]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("stype", [R, D])
def test_gradients_of_sums_of_squares_have_the_rows_of_the_matrix(stype, tmp_path):
    make, found = arrays((C, D, D)), []
    for ctx in (mx.cpu(0), mx.gpu(0)):
        x, dense, ograd = make(ctx)
        table = dense[:7].tostype(stype)
        gradient = mx.nd.sparse.zeros(R, table.shape, ctx=ctx)
        mx.autograd.mark_variables([table], [gradient])
        with mx.autograd.record():
            y = _._dot_square_sum(x, table)
        # rows that both lists have are found by the host
        on_host = {"_backward_square_sum": 1} if ctx.device_type == "gpu" and stype == R else {}
        assert host_copies(lambda: y.backward(ograd[:, :1]), tmp_path) == on_host
        found.append(gradient)
    assert found[1].indices.asnumpy().tolist() == found[0].indices.asnumpy().tolist()
    np.testing.assert_allclose(numpy(found[1]), numpy(found[0]), rtol=1e-5, atol=1e-6)


UPDATES = {
    "sgd_update": (0, {}, (True, False)),
    "sgd_mom_update": (1, {"momentum": .9}, (True, False)),
    "adam_update": (2, {}, (True, False)),
    "ftrl_update": (2, {"lamda1": .01}, (None,)),
    "adagrad_update": (1, {}, (None,)),
    "group_adagrad_update": (1, {}, (None,)),
}


@pytest.mark.parametrize("size", [1, 3, 8, 130])
@pytest.mark.parametrize("name", UPDATES)
def test_updates_stay_on_the_gpu(name, size, tmp_path):
    states, extra, lazies = UPDATES[name]
    place = {"adagrad_update": mx.nd.sparse, "group_adagrad_update": mx.nd.contrib}.get(name, mx.nd)
    rng = np.random.RandomState(size)
    shape = (11, size)
    weight, grad = rng.rand(*shape), rng.uniform(-1, 1, shape) * (rng.rand(11, 1) < .5)
    state = rng.rand(11, 1) if name.startswith("group") else rng.rand(*shape)
    for stype in ((R,) if name in ("ftrl_update", "adagrad_update", "group_adagrad_update") else (D, R)):
        for lazy in lazies:
            found = []
            for ctx in (mx.cpu(0), mx.gpu(0)):
                made = [mx.nd.array(weight, ctx=ctx).tostype(stype)]
                made += [mx.nd.array(state, ctx=ctx).tostype(stype) for _ in range(states)]
                g = mx.nd.array(grad, ctx=ctx).tostype(R)
                options = dict(extra, lr=.1) if lazy is None else dict(extra, lr=.1, wd=.1, lazy_update=lazy)
                copies = host_copies(
                    lambda: getattr(place, name)(made[0], g, *made[1:], out=made[0], **options),
                    tmp_path)
                assert copies == {}
                found.append([numpy(a) for a in made])
            for a, b in zip(*found):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_gradient_of_picked_rows(tmp_path):
    rng = np.random.RandomState(0)
    table, picked = rng.rand(50, 6), rng.randint(0, 50, (7, 30))
    gradients = []
    for ctx in (mx.cpu(0), mx.gpu(0)):
        weight = mx.nd.array(table, ctx=ctx)
        gradient = mx.nd.sparse.zeros(R, table.shape, ctx=ctx)
        mx.autograd.mark_variables([weight], [gradient])
        places = mx.nd.array(picked, ctx=ctx)

        def step():
            with mx.autograd.record():
                y = mx.nd.Embedding(places, weight, input_dim=50, output_dim=6, sparse_grad=True)
                loss = (y * y).sum()
            loss.backward()

        assert host_copies(step, tmp_path) == {}
        assert gradient.stype == R
        gradients.append(gradient)
    assert gradients[1].indices.asnumpy().tolist() == sorted(set(picked.ravel()))
    np.testing.assert_allclose(numpy(gradients[1]), numpy(gradients[0]), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("size", [1, 6, 8, 130])
def test_a_number_that_is_picked_often(size, dtype):
    """Such as the one that fills up short sentences: its rows are summed in pieces."""
    rng = np.random.RandomState(0)
    picked = np.where(rng.rand(4000) < .6, 3, rng.randint(0, 40, 4000))
    picked[2000:2700] = 17
    rows = rng.randint(-2, 3, (4000, size)).astype(dtype)
    want = np.zeros((40, size))
    np.add.at(want, picked, rows)
    weight = mx.nd.zeros((40, size), ctx=mx.gpu(0), dtype=dtype)
    gradient = mx.nd.sparse.zeros(R, weight.shape, ctx=mx.gpu(0), dtype=dtype)
    mx.autograd.mark_variables([weight], [gradient])
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array(picked, ctx=mx.gpu(0)), weight, input_dim=40,
                            output_dim=size, dtype=dtype, sparse_grad=True)
    y.backward(mx.nd.array(rows, ctx=mx.gpu(0), dtype=dtype))
    np.testing.assert_array_equal(numpy(gradient), want)
    x = mx.nd.sparse.csr_matrix((np.ones(4000, dtype), picked, np.arange(4001)), shape=(4000, 40),
                                ctx=mx.gpu(0), dtype=dtype)
    got = mx.nd.dot(x, mx.nd.array(rows, ctx=mx.gpu(0), dtype=dtype), transpose_a=True)
    np.testing.assert_array_equal(numpy(got), want)


def test_dtypes_are_cast(tmp_path):
    x = arrays((C,))(mx.gpu(0))[0]
    got = []
    assert host_copies(lambda: got.append(x.astype("float64")), tmp_path) == {}
    assert got[0].dtype == np.float64 and got[0].stype == C
    np.testing.assert_array_equal(numpy(got[0]), numpy(x))


def csr(values, columns, ends, shape=(2, 4)):
    # all in one call: nothing looks at them in between
    return mx.nd.sparse.csr_matrix((values, columns, ends), shape=shape, ctx=mx.gpu(0))


@pytest.mark.parametrize("columns, ends, text", [
    ([0, 9, 1], [0, 2, 3], r"indices\[1\] is 9 .*accepted: 0 to 3"),
    ([0, -1, 1], [0, 2, 3], r"indices\[1\] is -1"),
    ([0, 1, 1], [0, 4, 3], r"indptr\[2\] is 3 behind 4"),
    ([0, 1, 1], [0, 2, 2], r"indptr begins with 0 and ends with 2"),
])
def test_bad_parts_are_named(columns, ends, text):
    x = csr([1, 2, 3], columns, ends)
    with pytest.raises(ValueError, match=text):
        mx.nd.dot(x, mx.nd.ones((4, 2), ctx=mx.gpu(0))).wait_to_read()


@pytest.mark.parametrize("rows, text", [([1, 1], r"indices\[1\] is 1 behind 1"),
                                        ([1, 5], r"indices\[1\] is 5")])
def test_bad_rows_are_named(rows, text):
    x = mx.nd.sparse.row_sparse_array((np.ones((2, 3), "float32"), rows), shape=(4, 3), ctx=mx.gpu(0))
    weight = mx.nd.ones((4, 3), ctx=mx.gpu(0))
    with pytest.raises(ValueError, match=text):
        mx.nd.sgd_update(weight, x, out=weight, lr=.1)
        weight.wait_to_read()


def test_columns_in_any_order():
    """Products take them, and what needs them in order says so."""
    x = csr([1, 2, 3, 4], [3, 0, 2, 2], [0, 2, 4])
    dense = np.array([[2, 0, 0, 1], [0, 0, 7, 0]], "float32")
    np.testing.assert_array_equal(x.tostype(D).asnumpy(), dense)
    b = np.arange(8, dtype="float32").reshape(4, 2)
    np.testing.assert_allclose(mx.nd.dot(x, mx.nd.array(b, ctx=mx.gpu(0))).asnumpy(), dense @ b)
    with pytest.raises(ValueError, match="not in ascending order"):
        mx.nd.elemwise_add(x, x.copy()).wait_to_read()


def test_a_picked_row_that_is_not_there():
    x = mx.nd.ones((4, 3), ctx=mx.gpu(0)).tostype(R)
    with pytest.raises(IndexError, match=r"index 7 at position 1 .*0 to 3"):
        mx.nd.sparse.retain(x, mx.nd.array([1, 7], ctx=mx.gpu(0))).wait_to_read()


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad", "groupadagrad"])
def test_training_stays_on_the_gpu(optimizer, tmp_path):
    """A table by rows, and weights that meet csr data, with Gluon's trainer."""
    rng = np.random.RandomState(0)
    data, table = matrix(rng, (16, 12)), rng.rand(20, 5).astype("float32")
    places, found = rng.randint(0, 20, (3, 16)), []
    for ctx in (mx.cpu(0), mx.gpu(0)):
        embedding = mx.gluon.nn.Embedding(20, 5, sparse_grad=True)
        dense = mx.gluon.Parameter("weight", shape=(12, 5), grad_stype=R)
        for parameter in (embedding.weight, dense):
            parameter.initialize(mx.init.Zero(), ctx=ctx)
        embedding.weight.set_data(mx.nd.array(table))
        parameters = dict(embedding.collect_params(), weight=dense)
        trainer = mx.gluon.Trainer(parameters, optimizer, {"learning_rate": .1})
        x = mx.nd.array(data, ctx=ctx).tostype(C)

        def step(batch):
            with mx.autograd.record():
                y = embedding(mx.nd.array(batch, ctx=ctx)) - mx.nd.dot(x, dense.data())
                loss = (y * y).sum()
            loss.backward()
            trainer.step(1)

        step(places[0])
        for batch in places[1:]:
            assert host_copies(lambda: step(batch), tmp_path) == {}
        assert embedding.weight.grad().stype == dense.grad().stype == R
        found.append([embedding.weight.data().asnumpy(), dense.data().asnumpy()])
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def run(program, **environment):
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300,
                   env=dict(os.environ, **environment))


def test_cuda_graphs_leave_sparse_nodes_alone():
    """How much they launch changes with what is stored."""
    run("""
import mxnet as mx, numpy as np
rng = np.random.RandomState(0)
x, w = mx.sym.var("x", stype="csr"), mx.sym.var("w")
y = mx.sym.sqrt(mx.sym.square(mx.sym.dot(x, w) + 1))
weight = rng.rand(7, 3).astype("float32")
data = mx.nd.sparse.zeros("csr", (6, 7), ctx=mx.gpu(0))
bound = y.bind(mx.gpu(0), {"x": data, "w": mx.nd.array(weight, ctx=mx.gpu(0))})
for density in (.1, .9, .0, .5, 1, .2):
    values = (rng.rand(6, 7) * (rng.rand(6, 7) < density)).astype("float32")
    data[:] = mx.nd.array(values, ctx=mx.gpu(0)).tostype("csr")
    got = bound.forward()[0].asnumpy()
    np.testing.assert_allclose(got, np.abs(values @ weight + 1), rtol=1e-4, atol=1e-5)
""", MXNET_ENABLE_CUDA_GRAPHS="1")


def test_a_transposed_product_has_one_order_if_that_is_wanted():
    run("""
import mxnet as mx, numpy as np
rng = np.random.RandomState(0)
a = (rng.rand(300, 20) * (rng.rand(300, 20) < .3)).astype("float32")
b = rng.rand(300, 5).astype("float32")
x, y = mx.nd.array(a, ctx=mx.gpu(0)).tostype("csr"), mx.nd.array(b, ctx=mx.gpu(0))
dense = mx.nd.dot(x, y, transpose_a=True, forward_stype="default").asnumpy()
rows = mx.nd.dot(x, y, transpose_a=True, forward_stype="row_sparse").tostype("default").asnumpy()
assert (dense == rows).all()
np.testing.assert_allclose(dense, a.T @ b, rtol=1e-4)
np.testing.assert_allclose(mx.nd.sum(x, axis=0).asnumpy(), a.sum(0), rtol=1e-5)
""", MXNET_ENFORCE_DETERMINISM="1")


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_copies_between_devices_into_another_storage(stype):
    values = matrix(np.random.RandomState(5), (9, 7))
    for here, there in ((mx.cpu(), mx.gpu(0)), (mx.gpu(0), mx.cpu())):
        dense = mx.nd.array(values, ctx=here)
        sparse = dense.tostype(stype)
        out = mx.nd.ones((9, 7), ctx=there)
        sparse.copyto(out)
        np.testing.assert_array_equal(out.asnumpy(), values)
        out = mx.nd.sparse.zeros(stype, (9, 7), ctx=there)
        dense.copyto(out)
        assert out.context == there and out.stype == stype
        np.testing.assert_array_equal(numpy(out), values)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_a_store_of_the_cpu_gives_sparse_values_to_dense_arrays_on_a_gpu(stype):
    values = matrix(np.random.RandomState(6), (9, 7))
    store, out = mx.kv.create("local"), mx.nd.ones((9, 7), ctx=mx.gpu(0))
    store.init(1, mx.nd.array(values, ctx=mx.cpu()).tostype(stype))
    store.pull(1, out=out, ignore_sparse=False)
    np.testing.assert_array_equal(out.asnumpy(), values)
