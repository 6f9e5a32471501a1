"""Models with QuantizeLinear and DequantizeLinear learn: gradients pass the roundings."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from import_checks import node, onnx
from onnx_checks import operators, run

RANDOM = np.random.RandomState(5)
LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535), "int32": (-2.0**31, 2.0**31)}


def floats(*shape):
    return (RANDOM.randn(*shape) * 0.5).astype(np.float32)


def along(v, axis, ndim):
    return v if v.size == 1 else v.reshape([-1 if i == axis % ndim else 1 for i in range(ndim)])


def rounded(x, scale, zero, dtype, axis=0):
    """What is left of floats, and where they were not cut."""
    low, high = LIMITS[dtype]
    scale, zero = along(np.asarray(scale, "f"), axis, x.ndim), along(np.asarray(zero), axis, x.ndim)
    q = np.rint(x / scale) + zero
    return ((np.clip(q, low, high) - zero) * scale).astype("f"), (q >= low) & (q <= high)


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_the_operator_and_its_gradient(dtype, axis):
    x = floats(3, 5, 40) * 600
    count = 1 if axis is None else x.shape[axis]
    scale = (np.abs(floats(count)) + np.float32(0.5)) * np.float32(0.01 if "16" in dtype else 1)
    zero = RANDOM.randint(0, 9, count) if dtype != "int32" else np.zeros(count, int)
    want, inside = rounded(x, scale, zero, dtype, axis or 0)
    data, grad = mx.nd.array(x), floats(*x.shape)
    data.attach_grad()
    with autograd.record():
        y = mx.nd._internal._fake_quantize(data, mx.nd.array(scale), mx.nd.array(zero, dtype="int32"), out_type=dtype, axis=axis or 0)
    y.backward(mx.nd.array(grad))
    np.testing.assert_array_equal(y.asnumpy(), want)
    np.testing.assert_array_equal(data.grad.asnumpy(), np.where(inside, grad, 0))
    assert 0 < inside.sum() and (dtype == "int32" or inside.sum() < inside.size)


def test_ties_and_what_is_no_number():
    x = np.array([0.5, 1.5, -0.5, np.inf, -np.inf, np.nan], "f")
    y = mx.nd._internal._fake_quantize(mx.nd.array(x), mx.nd.array([1]), mx.nd.array([0], dtype="int32"), out_type="int8")
    assert y.asnumpy().tolist() == [0, 2, 0, 127, -128, -128]
    empty = mx.nd._internal._fake_quantize(mx.nd.zeros((0, 2)), mx.nd.ones((2,)), mx.nd.array([0, 0], dtype="int32"), axis=1)
    assert empty.shape == (0, 2)


def test_steps_that_do_not_fit():
    call, x, zero = mx.nd._internal._fake_quantize, mx.nd.ones((2, 3)), mx.nd.array([0], dtype="int32")
    with pytest.raises(mx.MXNetError, match=r"_fake_quantize.*scale has shape \(3,\); accepted are one number and \(2,\)"):
        call(x, mx.nd.ones((3,)), zero)
    with pytest.raises(mx.MXNetError, match=r"axis is 2; accepted for data of shape \(2,3\) is -2 to 1"):
        call(x, mx.nd.ones((3,)), zero, axis=2)


def loaded(nodes, dims, weights, opset=17):
    h = onnx.helper
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, dims)], [h.make_tensor_value_info("y", 1, None)],
                         [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()])
    return mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=10).SerializeToString())


def pair(x, y, steps, **more):
    """QuantizeLinear and DequantizeLinear."""
    return [node("QuantizeLinear", [x, *steps], [y + "_q"], **more), node("DequantizeLinear", [y + "_q", *steps], [y], **more)]


STEPS = {"xs": np.array(0.02, "f"), "xz": np.array(120, "uint8"), "hs": np.array(0.015, "f"), "hz": np.array(0, "uint8")}
WEIGHTS = {"w": RANDOM.randint(-127, 128, (6, 8)).astype("int8"), "ws": (np.abs(floats(8)) * 0.02 + 0.005).astype("f"),
           "b": RANDOM.randint(-400, 400, 8).astype("int32"), "bs": np.full(8, 2e-4, "f"),
           "v": RANDOM.randint(-127, 128, (8, 3)).astype("int8"), "vs": np.array(0.01, "f")}


def network():
    """Two dense layers as onnxruntime's quantizer writes them."""
    nodes = [*pair("x", "xr", ["xs", "xz"]), node("DequantizeLinear", ["w", "ws"], ["wf"], axis=1),
             node("DequantizeLinear", ["b", "bs"], ["bf"], axis=0), node("Gemm", ["xr", "wf", "bf"], ["h"]), node("Relu", ["h"], ["r"]),
             *pair("r", "rr", ["hs", "hz"]), node("DequantizeLinear", ["v", "vs"], ["vf"]), node("MatMul", ["rr", "vf"], ["y"])]
    return loaded(nodes, ["n", 6], {**STEPS, **WEIGHTS})


def test_a_quantized_network_learns():
    """Weights are floats that each step rounds, as in PyTorch."""
    model, x, og = network(), floats(5, 6) * 3, floats(5, 3)
    block = model.to_block()
    with autograd.record():
        y = block(mx.nd.array(x))
    y.backward(mx.nd.array(og))
    np.testing.assert_allclose(y.asnumpy(), model(x).asnumpy(), atol=0.02 * 1.5)    # a step of r, at most
    w, b, v = (WEIGHTS[n].astype("f") * WEIGHTS[n + "s"] for n in "wbv")
    xr, x_inside = rounded(x, STEPS["xs"], 120, "uint8")
    h = xr @ w + b
    rr, inside = rounded(np.maximum(h, 0), STEPS["hs"], 0, "uint8")
    np.testing.assert_allclose(y.asnumpy(), rr @ v, atol=1e-5)
    below = (og @ v.T) * inside * (h > 0)
    want = {"w": xr.T @ below, "b": below.sum(0), "v": rr.T @ og}
    grads = {n: p.grad().asnumpy() for n, p in block.collect_params().items() if p.grad_req != "null"}
    assert sorted(n[0] for n in grads) == ["b", "v", "w"]
    for name, grad in grads.items():
        np.testing.assert_allclose(grad, want[name[0]], rtol=1e-4, atol=1e-5)
    assert not x_inside.all() and not inside.all()
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.05})
    losses = []
    for _ in range(30):
        with autograd.record():
            loss = ((block(mx.nd.array(x)) - mx.nd.array(og)) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss.asscalar()))
    assert losses[-1] < 0.7 * losses[0]


def test_a_trained_network_is_written_in_8_bits(tmp_path):
    model, x = network(), floats(5, 6)
    block = model.to_block()
    for name, p in block.collect_params().items():
        if p.grad_req != "null":
            p.set_data(p.data() * 0.9)
    ours = block(mx.nd.array(x)).asnumpy()
    path = mx.onnx.export_model(block, in_shapes=[(5, 6)], onnx_file_path=str(tmp_path / "again.onnx"))
    stored = {t.name: t.data_type for t in onnx.load(path).graph.initializer if len(t.dims) == 2}
    assert sorted(stored.values()) == [3, 3]       # int8
    assert operators(path).count("QuantizeLinear") == 2 and operators(path).count("DequantizeLinear") == 5
    np.testing.assert_allclose(run(path, [x])[0], ours, atol=0.02)
    again = mx.onnx.load(path).to_block()
    np.testing.assert_allclose(again(mx.nd.array(x)).asnumpy(), ours, atol=1e-5)


@pytest.mark.parametrize("axis, dtype", [(None, "int8"), (0, "int8"), (1, "int16")])
def test_float_weights_that_a_file_rounds(axis, dtype, tmp_path):
    """PyTorch's fake_quantize, of a weight and of a result."""
    w, count = floats(4, 3), 1 if axis is None else (4, 3)[axis]
    scale = (np.abs(floats(count)) * 0.01 + 0.005).astype("f") if axis is not None else np.array(0.004, "f")
    more = {} if axis is None else {"axis": axis}
    nodes = [*pair("w", "wr", ["s", "z"], **more), node("MatMul", ["x", "wr"], ["y"])]
    zero = np.zeros(scale.shape, dtype)
    block = loaded(nodes, ["n", 4], {"w": w, "s": scale, "z": zero}, opset=21).to_block()
    x, og = floats(2, 4), floats(2, 3)
    with autograd.record():
        y = block(mx.nd.array(x))
    y.backward(mx.nd.array(og))
    wr, inside = rounded(w, scale, zero, dtype, axis or 0)
    np.testing.assert_allclose(y.asnumpy(), x @ wr, rtol=1e-5, atol=1e-6)
    (name, p), = [(n, p) for n, p in block.collect_params().items() if p.grad_req != "null"]
    np.testing.assert_allclose(p.data().asnumpy(), w)
    np.testing.assert_allclose(p.grad().asnumpy(), x.T @ og * inside, rtol=1e-5, atol=1e-6)
    path = mx.onnx.export_model(block, in_shapes=[(2, 4)], onnx_file_path=str(tmp_path / "w.onnx"))
    np.testing.assert_allclose(run(path, [x])[0], x @ wr, atol=0.01)   # onnxruntime rounds the data beside 8-bit weights


def test_results_that_are_rounded_to_16_bits_are_written(tmp_path):
    """In opset 21 by QuantizeLinear, before that by what it does."""
    nodes = pair("x", "y", ["s", "z"])
    block = loaded(nodes, [2, 4], {"s": np.array(0.001, "f"), "z": np.array(7, "uint16")}, opset=21).to_block()
    x = floats(2, 4)
    want = block(mx.nd.array(x)).asnumpy()
    np.testing.assert_array_equal(want, rounded(x, 0.001, 7, "uint16")[0])
    for opset in (17, 21):
        path = mx.onnx.export_model(block, in_shapes=[(2, 4)], onnx_file_path=str(tmp_path / "16.onnx"), opset_version=opset)
        assert ("QuantizeLinear" in operators(path)) == (opset == 21)
        np.testing.assert_allclose(run(path, [x])[0], want, atol=1e-6)


def test_rows_of_padding_do_not_learn():
    """PyTorch's new exporter notes the padding_idx of an Embedding beside the Gather."""
    gather, h = node("Gather", ["w", "x"], ["y"]), onnx.helper
    call = "%embedding : [num_users=1] = call_function[target=torch.ops.aten.embedding.default](args = (%p_w, %x{}), kwargs = {{}})"
    table, ids, og = floats(5, 2), np.array([[2, 0], [2, 4]]), floats(2, 2, 2)
    want = np.zeros((5, 2), "f")
    np.add.at(want, ids, og)
    for more, left in ((", 2", [2]), ("", []), (", -1", [])):
        del gather.metadata_props[:]
        gather.metadata_props.add(key="pkg.torch.onnx.fx_node", value=call.format(more))
        graph = h.make_graph([gather], "g", [h.make_tensor_value_info("x", 7, [2, 2])], [h.make_tensor_value_info("y", 1, None)],
                             [onnx.numpy_helper.from_array(table, "w")])
        model = mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=10).SerializeToString())
        np.testing.assert_array_equal(model(ids).asnumpy(), table[ids])
        block = model.to_block()
        with autograd.record():
            y = block(mx.nd.array(ids, dtype="int64"))
        y.backward(mx.nd.array(og))
        np.testing.assert_array_equal(y.asnumpy(), table[ids])
        expected = want.copy()
        expected[left] = 0
        (p,) = block.collect_params().values()
        np.testing.assert_allclose(p.grad().asnumpy(), expected, rtol=1e-6)
