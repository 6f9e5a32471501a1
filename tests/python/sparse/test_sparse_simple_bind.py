"""Storages of the gradients that `simple_bind` makes: those of 1.9.1, where a result is sparse."""
import mxnet as mx
import numpy as np
import pytest

pytestmark = pytest.mark.cpu

X = np.array([[0, 1, 0], [0, 0, 0], [3, 0, -4], [0.5, 0, 0]], "float32")
ROWS, MATRIX = mx.sym.var("x", stype="row_sparse"), mx.sym.var("x", stype="csr")
OTHER_ROWS, OTHER_MATRIX = mx.sym.var("y", stype="row_sparse"), mx.sym.var("y", stype="csr")


@pytest.mark.parametrize("symbol, storages", [
    (ROWS * 2, ["row_sparse"]), (ROWS / 4, ["row_sparse"]), (MATRIX / 4, ["csr"]), (-ROWS, ["row_sparse"]),
    (mx.sym.square(ROWS), ["row_sparse"]),
    (mx.sym.abs(ROWS), ["row_sparse"]), (ROWS + OTHER_ROWS, ["row_sparse"] * 2),
    (mx.sym.add_n(ROWS, OTHER_ROWS), ["row_sparse"] * 2), (MATRIX * 2, ["csr"]),
    (MATRIX + OTHER_MATRIX, ["csr"] * 2), (mx.sym.cast_storage(mx.sym.var("x"), "row_sparse"), ["row_sparse"]),
    (mx.sym.cast_storage(ROWS, "default"), ["default"]), (mx.sym.sum(ROWS), ["default"])],
    ids=lambda value: None if isinstance(value, list) else value.name)
def test_storages_and_numbers(symbol, storages):
    names = symbol.list_arguments()
    executor = symbol.simple_bind(mx.cpu(), **{name: X.shape for name in names})
    assert [executor.grad_dict[name].stype for name in names] == storages
    data = {"x": mx.nd.array(X), "y": mx.nd.array(X[::-1].copy())}
    for name in names:
        data[name].tostype(executor.arg_dict[name].stype).copyto(executor.arg_dict[name])
    dense = symbol.bind(mx.cpu(), {n: data[n] for n in names}, {n: mx.nd.zeros(X.shape) for n in names})
    for bound in (executor, dense):
        result = bound.forward(is_train=True)[0]
        bound.backward(mx.nd.array(np.arange(np.prod(result.shape)).reshape(result.shape)))   # dense
    for name in names:
        np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), dense.grad_dict[name].asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
@pytest.mark.parametrize("req", ["write", "add"])
def test_gradients_of_a_product_of_two_matrices(stype, req):
    """The rows of the second one that the first one names, as in 1.9.1."""
    product = mx.sym.dot(MATRIX, OTHER_MATRIX)
    executor = product.simple_bind(mx.cpu(), x=(4, 3), y=(3, 2))
    assert [executor.grad_dict[name].stype for name in "xy"] == ["default", "row_sparse"]
    x, y, head = (np.random.RandomState(n).randint(-2, 3, shape).astype("float32") for n, shape in enumerate([(4, 3), (3, 2), (4, 2)]))
    x[:, 1] = 0
    grads = {"x": mx.nd.ones((4, 3)), "y": mx.nd.ones((3, 2)).tostype(stype)}
    bound = product.bind(mx.cpu(), {"x": mx.nd.array(x).tostype("csr"), "y": mx.nd.array(y).tostype("csr")}, grads, req)
    np.testing.assert_array_equal(bound.forward(is_train=True)[0].asnumpy(), x @ y)
    bound.backward(mx.nd.array(head))
    np.testing.assert_array_equal(grads["x"].asnumpy(), head @ y.T + (req == "add"))
    np.testing.assert_array_equal(grads["y"].asnumpy(), x.T @ head + (req == "add"))
    if stype == "row_sparse" and req == "write":
        assert grads["y"].indices.asnumpy().tolist() == [0, 2]
