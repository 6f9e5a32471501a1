"""Blocks of models whose scales the graph computes: they learn as those with constants do."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from import_checks import MICROSOFT, model, node, ours
from onnx_checks import onnx
from test_block_integers import FORMS, STEPS, WEIGHTS, WHOLE, X, Y, floats, gradients, there

# "xs" and "ys" as the graph computes them: the constant, and nothing of the data.
COMPUTED = [node("ReduceMax", ["x"], ["largest"], keepdims=0), node("Mul", ["largest", "nothing"], ["no"]),
            node("Add", ["xs_known", "no"], ["xs"]), node("Add", ["ys_known", "no"], ["ys"])]
# Their tables of rows and weights of sums have one scale that is known.
FIXED = {"rows"}


@pytest.mark.parametrize("what", sorted(set(FORMS) - FIXED))
def test_operators_on_integers_with_computed_scales_learn(what):
    shape, nodes, _ = FORMS[what]
    x, og, made = floats(*shape), None, []
    for before in ([], COMPUTED):
        every = [*before, node("QuantizeLinear", ["x", *X], ["x_q"]), *nodes, there("y_q", Y, "y")]
        weights = {**STEPS, **WEIGHTS, **WHOLE, "xs_known": STEPS["xs"], "ys_known": STEPS["ys"], "nothing": np.zeros((), "f")}
        read = {name for n in every for name in n.input} - {name for n in every for name in n.output}
        data = onnx.load_from_string(model(every, {"x": x}, {name: a for name, a in weights.items() if name in read}))
        del data.graph.output[1:]
        data.graph.output[0].CopyFrom(onnx.ValueInfoProto(name="y"))
        data = data.SerializeToString()
        og = og if made else floats(*ours(data, {"x": x})[0].shape)
        made.append(gradients(mx.onnx.load(data).to_block(), x, og))
    (want, want_gx, want_gw), (y, gx, gw) = made
    np.testing.assert_array_equal(y, want)
    np.testing.assert_allclose(gx, want_gx, rtol=1e-5, atol=1e-6)
    assert sorted(gw) == sorted(want_gw) and np.abs(gx).max() > 0
    for name, grad in gw.items():   # a bias is counted in steps of its data, which are computed
        steps = STEPS["xs"] * WEIGHTS[name[0] + "s"] if name[1:] == "b" else 1
        np.testing.assert_allclose(grad, want_gw[name] * steps, rtol=1e-4, atol=1e-6)


SCALED = {"a product": [node("MatMulInteger", ["x_q", "w", "xz", "wz"], ["p"]), node("Cast", ["p"], ["f"], to=1),
                        node("Mul", ["xs", "ws"], ["both"]), node("Mul", ["f", "both"], ["y"])],
          "one operator": [node("MatMulIntegerToFloat", ["x_q", "w", "xs", "ws", "xz", "wz"], ["y"], **MICROSOFT)],
          "floats": [there("x_q", X, "a"), there("w", ["ws", "wz"], "b"), node("MatMul", ["a", "b"], ["y"])]}


@pytest.mark.parametrize("how", SCALED)
def test_products_with_a_computed_scale_of_the_data_learn(how):
    x, og, made = floats(2, 6), floats(2, 5), []
    for before in ([], COMPUTED[:3]):
        every = [*before, node("QuantizeLinear", ["x", *X], ["x_q"]), *SCALED[how]]
        weights = {**STEPS, **WEIGHTS, "xs_known": STEPS["xs"], "nothing": np.zeros((), "f")}
        read = {name for n in every for name in n.input} - {name for n in every for name in n.output}
        data = model(every, {"x": x}, {name: a for name, a in weights.items() if name in read})
        made.append(gradients(mx.onnx.load(data).to_block(), x, og))
        np.testing.assert_allclose(made[-1][0], ours(data, {"x": x})[0], rtol=1e-4, atol=1e-5)
    for want, got in zip(*made):
        for one, other in zip(got.values(), want.values()) if isinstance(got, dict) else [(got, want)]:
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
            assert np.abs(one).max() > 0


@pytest.mark.parametrize("zeros", [None, "known", "computed"])
@pytest.mark.parametrize("each", [False, True])
def test_a_weight_whose_scale_is_computed_is_counted_in_steps(each, zeros):
    """y = x (w - z) s: the numbers are the parameter, and are rounded."""
    x, og = floats(3, 6), floats(3, 5)
    scale = WEIGHTS["ts"] if each else WEIGHTS["ws"]
    zero = np.zeros(scale.shape, "i1") if each else WEIGHTS["wz"]
    names = [] if zeros is None else ["wz"] if zeros == "known" else ["wz_made"]
    made = [node("Add", ["s", "xs"], ["ws"]), there("w", ["ws", *names], "b"), *back_and_there("x", "a"), node("MatMul", ["a", "b"], ["y"])]
    if zeros == "computed":
        made.insert(0, node("Cast", ["z"], ["wz_made"], to=3))
    feeds = {"x": x, "s": scale - STEPS["xs"], "z": zero.astype("f")}
    feeds = {k: v for k, v in feeds.items() if k != "z" or zeros == "computed"}
    constants = {"w": WEIGHTS["w"], "xs": STEPS["xs"], "xz": STEPS["xz"], "wz": zero}
    read = {name for n in made for name in n.input}
    data = model(made, feeds, {name: a for name, a in constants.items() if name in read})
    block = mx.onnx.load(data).to_block()
    with autograd.record():
        y = block(*(mx.nd.array(a) for a in feeds.values()))
    y.backward(mx.nd.array(og))
    np.testing.assert_allclose(y.asnumpy(), ours(data, feeds)[0], rtol=1e-5, atol=1e-6)
    (p,) = [p for p in block.collect_params().values() if p.grad_req != "null"]
    np.testing.assert_array_equal(p.data().asnumpy(), WEIGHTS["w"])
    inside = np.clip(np.rint(x / STEPS["xs"]) + 120, 0, 255) - 120
    np.testing.assert_allclose(p.grad().asnumpy(), (inside * STEPS["xs"]).T @ og * scale, rtol=1e-4, atol=1e-6)
    p.set_data(p.data() + 0.4)   # less than half a step
    np.testing.assert_array_equal(block(*(mx.nd.array(a) for a in feeds.values())).asnumpy(), y.asnumpy())


def back_and_there(x, y):
    """Data in steps, as floats."""
    return [node("QuantizeLinear", [x, *X], [y + "_q"]), there(y + "_q", X, y)]
