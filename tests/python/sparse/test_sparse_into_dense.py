"""Functions of sparse arrays whose result is dense run without dense copies, as in 1.9.1."""
import json

import mxnet as mx
import numpy as np
import pytest

pytestmark = pytest.mark.on_gpu

X = np.array([[0, 1, 0], [0, 0, 0], [3, 0, -4], [.5, 0, 0]], "float32")
Y = np.array([[2, 0, 0], [0, 0, 0], [1, 5, .25], [0, 0, 3]], "float32")
x, y, z = (mx.sym.Variable(name) for name in "xyz")
CASES = {
    "plus": (x + 1.5, ["csr", "row_sparse"]),
    "minus": (x - 1.5, ["csr", "row_sparse"]),
    "broadcast_add": (mx.sym.broadcast_add(x, mx.sym.slice(y, begin=(2,), end=(3,))), ["csr", "row_sparse"]),
    "broadcast_sub": (mx.sym.broadcast_sub(mx.sym.slice(y, begin=(2,), end=(3,)), x), ["csr", "row_sparse"]),
    "power": ((y + 1) ** x, ["csr", "row_sparse"]),
    "divide": (x / (y + 1), ["csr", "row_sparse"]),
    "add_n": (mx.sym.add_n(y, x, z), ["csr", "row_sparse"]),
    "like_rhs": (mx.sym._internal._identity_with_attr_like_rhs(x, y), ["csr", "row_sparse"]),
    "regression": (mx.sym.LinearRegressionOutput(y, x), ["csr"]),
    "logistic": (mx.sym.LogisticRegressionOutput(y, x, grad_scale=2), ["csr"]),
    "absolute": (mx.sym.MAERegressionOutput(y, x), ["csr"]),
}


def count_fallbacks(call, folder):
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(folder / "profile.json"))
    mx.profiler.set_state("run")
    call()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    table = json.loads(mx.profiler.dumps(reset=True, format="json"))
    return [rows for category, rows in table["Time"].items() if "storage_fallback" in category]


def forward_and_backward(symbol, arrays, wanted):
    executor = symbol.bind(mx.cpu(), arrays, {n: mx.nd.zeros(X.shape) for n in wanted},
                           {n: "write" if n in wanted else "null" for n in symbol.list_arguments()})
    executor.forward(is_train=True)
    if wanted:
        executor.backward([mx.nd.array(Y + 1)])
    mx.nd.waitall()
    return executor


@pytest.mark.parametrize("name, stype", [(name, stype) for name, (_, stypes) in CASES.items() for stype in stypes])
def test_no_dense_copies(name, stype, tmp_path):
    symbol = CASES[name][0]
    # of a csr array alone what reads a label is differentiated: other gradients read its shape
    wanted = ["y"] if name in ("regression", "logistic", "absolute") else []
    dense = {n: mx.nd.array(v) for n, v in (("x", X), ("y", Y), ("z", X - Y)) if n in symbol.list_arguments()}
    sparse = dict(dense, x=dense["x"].tostype(stype))
    made = []
    assert count_fallbacks(lambda: made.append(forward_and_backward(symbol, sparse, wanted)), tmp_path) == []
    want = forward_and_backward(symbol, dense, wanted)
    assert made[0].outputs[0].stype == "default"
    np.testing.assert_array_equal(made[0].outputs[0].asnumpy(), want.outputs[0].asnumpy())
    for n in wanted:
        np.testing.assert_array_equal(made[0].grad_dict[n].asnumpy(), want.grad_dict[n].asnumpy())


@pytest.mark.parametrize("name, function", [("elemwise_div", "divide"), ("_power", "power")])
def test_rows_with_rows(name, function, tmp_path):
    call = getattr(mx.nd, name, None) or getattr(mx.nd._internal, name)
    a, b = mx.nd.array(X).tostype("row_sparse"), mx.nd.array(Y).tostype("row_sparse")
    made = []
    assert count_fallbacks(lambda: made.append(call(a, b)), tmp_path) == []
    with np.errstate(all="ignore"):
        want = getattr(np, function)(X, Y)
    assert made[0].stype == "default"
    np.testing.assert_allclose(made[0].asnumpy(), want, rtol=1e-5)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("function", ["square", "sin", "arctan", "sigmoid", "log1p"])
def test_dense_gradient_of_sparse_data_whose_memory_the_result_takes(function, stype):
    # The result of the gradient goes where what comes in is, so that nothing may be written first.
    data, weight = np.abs(X), np.float32(np.random.RandomState(0).randn(3, 3))
    symbol = mx.sym.dot(getattr(mx.sym, function)(x), y) + z
    grads = []
    for storage in ("default", stype):
        arrays = {"x": mx.nd.array(data).tostype(storage), "y": mx.nd.array(weight), "z": mx.nd.zeros(X.shape)}
        grads.append(forward_and_backward(symbol, arrays, ["x"]).grad_dict["x"].asnumpy())
    np.testing.assert_allclose(grads[1], grads[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_gradients_that_read_a_shape(name, stype, tmp_path):
    """What a gradient reads for its shape alone is not copied, bound and recorded."""
    function = {"axis": 1} if stype == "csr" else {}
    grads = []
    for storage in ("default", stype):
        data, gradient = mx.nd.array(X).tostype(storage), mx.nd.zeros(X.shape)
        symbol = getattr(mx.sym, name)(x, **function)
        executor = symbol.bind(mx.cpu(), {"x": data}, {"x": gradient}, "write")
        heads = mx.nd.array(np.arange(1, 5 if stype == "csr" else 2))

        def bound():
            executor.forward(is_train=True)
            executor.backward([heads])

        def recorded():
            data.attach_grad(stype="default")
            with mx.autograd.record():
                result = getattr(mx.nd, name)(data, **function)
            result.backward(heads)

        for call in (bound, recorded):
            fallbacks = count_fallbacks(call, tmp_path)
            assert stype == "row_sparse" or fallbacks == [], call
        grads.append((gradient.asnumpy(), data.grad.asnumpy()))
    np.testing.assert_array_equal(grads[0], grads[1])


@pytest.mark.parametrize("storage", ["csr", "row_sparse"])
@pytest.mark.parametrize("name", ["rint", "BlockGrad", "sign"])
def test_gradients_that_are_zero_store_nothing(name, storage, tmp_path):
    """Without zeros of the whole table, and without the warning of dense copies."""
    a = mx.nd.array(X).tostype(storage)
    a.attach_grad(stype=storage)

    def run():
        with mx.autograd.record():
            b = getattr(mx.nd, name)(a)
        b.backward()

    assert count_fallbacks(run, tmp_path) == []
    assert a.grad.stype == storage and a.grad.data.shape[0] in (0, a.data.shape[0])   # sign has the rows of its data
    assert not a.grad.asnumpy().any()


@pytest.mark.parametrize("storage", ["csr", "row_sparse"])
@pytest.mark.parametrize("head", ["same", "default"])
def test_gradients_of_a_division_by_a_number(head, storage, tmp_path):
    a = mx.nd.array(X).tostype(storage)
    executor = (x / 4).bind(mx.cpu(), {"x": a}, {"x": mx.nd.zeros(X.shape, stype=storage if head == "same" else head)})
    executor.forward(is_train=True)

    def run():
        executor.backward(mx.nd.array(Y).tostype(storage if head == "same" else head))

    assert count_fallbacks(run, tmp_path) == []
    grad = executor.grad_dict["x"]
    np.testing.assert_array_equal(mx.nd.cast_storage(grad, "default").asnumpy(), Y / 4)
    if head == "same":
        assert grad.data.shape == mx.nd.array(Y).tostype(storage).data.shape   # what the head stores, and no more
