"""The gradient of an Embedding of half types, whose rows are added up in float32."""
import numpy as np
import pytest

import mxnet as mx


# Many rows without a position, one with most of them, wide and narrow ones.
@pytest.mark.parametrize("rows,width,positions", [(1000, 40, 700), (3, 300, 5000), (50, 129, 1), (1, 1, 9), (20, 256, 0)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_gradient_is_float32_rounded(dtype, rows, width, positions, grad_req):
    def run(kind):
        rng = np.random.default_rng(0)
        draw = lambda s: mx.nd.array(rng.standard_normal(s).astype("float32"), dtype="float32").astype("bfloat16").astype(kind)
        with mx.util.np_shape(True):
            index = mx.nd.array(np.minimum(rng.integers(-2, rows + 2, positions), rng.integers(0, 2 * rows, positions)), dtype="int64")
            weight = draw((rows, width))
            weight.attach_grad(grad_req)
            weight.grad[:] = draw((rows, width))
            with mx.autograd.record():
                y = mx.nd.Embedding(index, weight, input_dim=rows, output_dim=width, dtype=kind)
            y.backward(draw((positions, width)))
            return weight.grad

    half, full = (run(kind).astype("float32").asnumpy() for kind in (dtype, "float32"))
    if grad_req == "write":
        full = mx.nd.array(full, dtype="float32").astype(dtype).astype("float32").asnumpy()
        np.testing.assert_array_equal(half, full)
    else:   # what is added may have been rounded before
        step = 2.0 ** (-11 if dtype == "float16" else -8)
        np.testing.assert_allclose(half, full, rtol=step, atol=step * (np.abs(full).max() + 5))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_added_by_an_executor(dtype):
    """Rows that no position names keep what they hold."""
    net = mx.sym.Embedding(mx.sym.var("data"), mx.sym.var("weight"), input_dim=200, output_dim=30, dtype=dtype)
    index, head = np.arange(0, 400, 7) % 199, np.arange(58 * 30).reshape(58, 30) % 16
    arrays = {"data": mx.nd.array(index, dtype="int32"), "weight": mx.nd.zeros((200, 30), dtype=dtype)}
    grad = mx.nd.full((200, 30), 3, dtype=dtype)
    executor = net.bind(mx.cpu(), arrays, args_grad={"weight": grad}, grad_req={"data": "null", "weight": "add"})
    executor.forward(is_train=True)
    executor.backward(mx.nd.array(head, dtype=dtype))
    want = np.full((200, 30), 3)
    np.add.at(want, index, head)
    np.testing.assert_array_equal(grad.astype("float32").asnumpy(), want)
