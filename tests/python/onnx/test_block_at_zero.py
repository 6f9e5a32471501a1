"""Gradients of `to_block` where a formula would give NaN, and PyTorch gives 0: norms and deviations
of zeros, rows that a mask hides whole. And loops of which nobody says how often they go round."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from import_checks import node, onnx

h, nh = onnx.helper, onnx.numpy_helper
ROWS = np.array([[0, 0, 0, 0], [1, 2, 2, 4]], np.float32)


def block_of(nodes, shapes, constants=(), opset=18, outputs=("y",)):
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info(name, 9 if name == "mask" else 1, shape) for name, shape in shapes.items()],
                         [h.make_tensor_value_info(name, 1, None) for name in outputs],
                         [nh.from_array(np.asarray(value), name) for name, value in dict(constants).items()])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=10)
    return mx.onnx.load(model.SerializeToString()).to_block()


def gradient(block, x, *others):
    """That of the sum of the result times 1, 2, ..."""
    x = mx.nd.array(x)
    x.attach_grad()
    with autograd.record():
        y = block(x, *others)
        y = y[0] if isinstance(y, (list, tuple)) else y
        loss = (y * mx.nd.arange(1, y.size + 1).reshape(y.shape)).sum()
    loss.backward()
    return y.asnumpy(), x.grad.asnumpy()


TWO, HALF, LAST = np.float32(2), np.float32(0.5), np.array([1])
ALMOST = np.float32(0.49999976)   # torch's cdist, by its older exporter
NORMS = {
    "ReduceL2": [node("ReduceL2", ["x", "last"], ["y"], keepdims=1)],
    "Sqrt": [node("Mul", ["x", "x"], ["xx"]), node("ReduceSum", ["xx", "last"], ["s"]), node("Sqrt", ["s"], ["y"])],
    "Pow": [node("Pow", ["x", "two"], ["xx"]), node("ReduceSum", ["xx", "last"], ["s"]), node("Pow", ["s", "half"], ["y"])],
    "almost": [node("Pow", ["x", "two"], ["xx"]), node("ReduceSum", ["xx", "last"], ["s"]), node("Pow", ["s", "almost"], ["y"])],
    "products": [node("Mul", ["x", "x"], ["xx"]), node("ReduceSum", ["xx", "last"], ["s"]), node("Div", ["s", "all"], ["t"]),
                 node("Mul", ["t", "all"], ["u"]), node("Sqrt", ["u"], ["y"])],
}


@pytest.mark.parametrize("form", NORMS)
def test_norms_of_zeros(form):
    y, dx = gradient(block_of(NORMS[form], {"x": [2, 4]},
                              {"last": LAST, "two": TWO, "half": HALF, "almost": ALMOST, "all": np.full((2, 1), 3, "f")}), ROWS)
    np.testing.assert_allclose(y, [[0], [5]], rtol=1e-5)
    np.testing.assert_allclose(dx, [[0, 0, 0, 0], 2 * ROWS[1] / 5], rtol=1e-5)


def test_rows_of_zeros_over_their_norm():
    """PyTorch's F.normalize: a row of zeros, as padding is, made NaN of all that lies in front."""
    nodes = [node("ReduceL2", ["x", "last"], ["n"], keepdims=1), node("Clip", ["n", "least"], ["m"]), node("Div", ["x", "m"], ["y"])]
    constants = {"last": LAST, "least": np.float32(1e-12)}
    y, dx = gradient(block_of(nodes, {"x": [2, 4]}, constants), ROWS)
    np.testing.assert_allclose(y, ROWS / [[1], [5]], rtol=1e-6)
    g = np.arange(5, 9, dtype="f")
    np.testing.assert_allclose(dx[1], (g - ROWS[1] / 25 * (ROWS[1] * g).sum()) / 5, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dx[0], [1e12, 2e12, 3e12, 4e12], rtol=1e-5)    # as in PyTorch


def test_deviations_of_equal_numbers():
    nodes = [node("ReduceMean", ["x", "last"], ["m"]), node("Sub", ["x", "m"], ["d"]), node("Mul", ["d", "d"], ["dd"]),
             node("ReduceMean", ["dd", "last"], ["v"]), node("Mul", ["v", "more"], ["u"]), node("Sqrt", ["u"], ["y"])]
    y, dx = gradient(block_of(nodes, {"x": [2, 4]}, {"last": LAST, "more": np.float32(4 / 3)}), ROWS + 3)
    np.testing.assert_allclose(y[:, 0], np.std(ROWS, axis=1, ddof=1), rtol=1e-5)
    away = ROWS[1] - ROWS[1].mean()
    np.testing.assert_allclose(dx, [[0, 0, 0, 0], 2 * away / (3 * y[1, 0])], rtol=1e-5)


@pytest.mark.parametrize("axis, width", [(-1, 3), (-1, 300), (0, 3), (0, 300)])
def test_rows_that_a_mask_hides(axis, width):
    """PyTorch's scaled_dot_product_attention, whose weights are 0 there."""
    nodes = [node("Where", ["mask", "low", "x"], ["scores"]), node("Softmax", ["scores"], ["w"], axis=axis),
             node("IsNaN", ["w"], ["none"]), node("Where", ["none", "zero", "w"], ["y"])]
    x = np.random.RandomState(3).randn(2, width).astype("f")
    mask = np.zeros((2, width), bool)
    mask[0] = mask[1, 1] = True
    if axis == 0:
        x, mask = x.T.copy(), mask.T.copy()
    constants = {"low": np.float32(-np.inf), "zero": np.float32(0)}
    block = block_of(nodes, {"x": list(x.shape), "mask": list(x.shape)}, constants)
    y, dx = gradient(block, x, mx.nd.array(mask, dtype="bool"))
    g = np.arange(1, x.size + 1, dtype="f").reshape(x.shape)
    shown = ~mask.all(axis, keepdims=True) & ~mask
    e = np.where(shown, np.exp(x - x.max(axis, keepdims=True)), 0)
    want = e / np.maximum(e.sum(axis, keepdims=True), 1e-9)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dx, want * (g - (want * g).sum(axis, keepdims=True)), rtol=1e-3, atol=1e-3)


def test_attention_of_opset_23_with_a_hidden_row():
    block = block_of([node("Attention", ["x", "x", "x", "mask"], ["y"])], {"x": [1, 1, 2, 4], "mask": [2, 2]}, opset=23)
    _, dx = gradient(block, np.ones((1, 1, 2, 4), "f"), mx.nd.array([[0, 0], [1, 1]], dtype="bool"))
    assert np.isfinite(dx).all() and dx.any()


def test_a_loop_without_a_number_of_rounds():
    """torch's while_loop: memory for all rounds that there may be was 2 ** 31 times the state."""
    body = h.make_graph(
        [node("Mul", ["s", "half"], ["t"]), node("ReduceL2", ["t"], ["n"], keepdims=0), node("Greater", ["n", "one"], ["on"])], "body",
        [h.make_tensor_value_info("i", 7, []), h.make_tensor_value_info("c", 9, []), h.make_tensor_value_info("s", 1, [2, 4])],
        [h.make_tensor_value_info("on", 9, []), h.make_tensor_value_info("t", 1, [2, 4])])
    nodes = [node("ReduceL2", ["x"], ["size"], keepdims=0), node("Greater", ["size", "one"], ["start"]),
             node("Loop", ["", "start", "x"], ["y"], body=body)]
    block = block_of(nodes, {"x": [2, 4]}, {"half": HALF, "one": np.float32(1)})
    y, dx = gradient(block, ROWS)
    np.testing.assert_allclose(y, ROWS / 8)
    np.testing.assert_allclose(dx, np.arange(1, 9, dtype="f").reshape(2, 4) / 8)
