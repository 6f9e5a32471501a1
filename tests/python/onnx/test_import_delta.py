"""Gated delta networks over requests that lie behind each other, and the convolution in front of
them: com.microsoft's GatedDeltaNet and VarlenCausalConvWithState, as Qwen3-Next has them."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from import_checks import MICROSOFT, check, model, node, ours

RANDOM = np.random.RandomState(5)
TOKENS, HEADS, VALUE_HEADS, KEY, VALUE = 7, 2, 4, 4, 3
BOUNDS = np.array([0, 2, 7], "i4")


def floats(*shape):
    return RANDOM.randn(*shape).astype("f")


def delta(rule="gated_delta", each_key=False, bounds=BOUNDS, tokens=TOKENS, state=True):
    """Inputs by name, those that the rule lacks left out."""
    decay = -np.abs(floats(tokens, VALUE_HEADS, KEY) if each_key else floats(tokens, VALUE_HEADS))
    feeds = {"q": floats(tokens, HEADS, KEY), "k": floats(tokens, HEADS, KEY), "v": floats(tokens, VALUE_HEADS, VALUE)}
    if bounds is not None:
        feeds["bounds"] = bounds
    if rule.startswith("gated"):
        feeds["decay"] = decay
    if rule.endswith("delta"):
        feeds["beta"] = RANDOM.rand(tokens, VALUE_HEADS).astype("f")
    if state:
        feeds["state"] = floats(2 if bounds is None else len(bounds) - 1, VALUE_HEADS, VALUE, KEY)
    return feeds


PLACES = ["q", "k", "v", "bounds", "decay", "beta", "state", "a", "bias", "count", "active"]


def made(feeds, outputs=("y", "y_state"), **attributes):
    names = [name if name in feeds else "" for name in PLACES]
    while not names[-1]:
        names.pop()
    return node("GatedDeltaNet", names, list(outputs), **attributes, **MICROSOFT)


@pytest.mark.parametrize("each_key", [False, True])
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_rules(rule, each_key):
    feeds = delta(rule, each_key)
    check(made(feeds, update_rule=rule, scale=0.3), feeds)
    # the keys have one length, as these rules want them
    check(made(feeds, update_rule=rule, qk_l2_norm=1), feeds)


@pytest.mark.parametrize("each_key, bias", [(False, (VALUE_HEADS,)), (True, (VALUE_HEADS, KEY)), (True, (VALUE_HEADS * KEY,))])
@pytest.mark.parametrize("gate", ["softplus", "qwen", "sigmoid", "kda"])
def test_gates(gate, each_key, bias):
    feeds = {**delta(each_key=each_key), "a": floats(VALUE_HEADS), "bias": floats(*bias)}
    check(made(feeds, gate_activation=gate, beta_activation="sigmoid", qk_l2_norm=1), feeds)
    check(made(feeds, gate_activation=gate, gate_lower_bound=-2.0, qk_l2_norm=1), feeds)


@pytest.mark.parametrize("bounds", [[0, 7], [0, 0, 7], [0, 3, 3, 7], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_requests_of_several_lengths(bounds):
    feeds = delta(bounds=np.array(bounds, "i4"))
    check(made(feeds, qk_l2_norm=1), feeds)
    check(made({n: v for n, v in feeds.items() if n != "state"}), {n: v for n, v in feeds.items() if n != "state"})


def test_requests_of_one_length():
    feeds = delta(bounds=None, tokens=6)
    check(made(feeds), feeds)
    apart = {n: v if n == "state" else v.reshape(2, 3, *v.shape[1:]) for n, v in feeds.items()}
    check(made(apart), apart)
    check(made({n: v for n, v in apart.items() if n != "state"}), {n: v for n, v in apart.items() if n != "state"})


@pytest.mark.parametrize("apart", [False, True])
def test_queries_keys_and_values_in_one_array(apart):
    feeds = delta(tokens=6, bounds=None if apart else np.array([0, 2, 6], "i4"))
    together = np.concatenate([feeds.pop(name).reshape(6, -1) for name in "qkv"], 1)
    feeds = {"q": together, **feeds}
    if apart:
        feeds = {n: v if n == "state" else v.reshape(2, 3, *v.shape[1:]) for n, v in feeds.items()}
    check(made(feeds), feeds)


@pytest.mark.parametrize("active", [None, 0, 1])
@pytest.mark.parametrize("rule, each_key", [("gated_delta", False), ("gated_delta", True), ("linear", False), ("delta", False)])
def test_steps_that_are_kept(rule, each_key, active):
    feeds = {**delta(rule, each_key), "count": np.array([1, 3], "i4")}
    if active is not None:
        feeds["active"] = np.array([active], "i4")
    check(made(feeds, ("y", "y_state", "y_kept"), update_rule=rule, state_update_capacity=4, qk_l2_norm=1), feeds)


def test_halves():
    feeds = {n: v.astype("f2") if n in "qkv" else v for n, v in delta().items()}
    check(made(feeds, qk_l2_norm=1), feeds, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("change, what", [
    ({"bounds": np.array([0, 4, 3], "i4")}, "cu_seqlens is"), ({"bounds": np.array([0, 2, 8], "i4")}, "cu_seqlens is"),
    ({"bounds": np.array([1, 2, 7], "i4")}, "cu_seqlens is"), ({"state": floats(2, VALUE_HEADS, KEY, VALUE)}, "initial_state has shape"),
    ({"k": floats(TOKENS, HEADS, KEY + 1)}, "query, key and value have shapes"), ({"decay": floats(TOKENS, 3)}, "input 4 has shape"),
    ({"v": floats(TOKENS, 3, VALUE)}, "as many heads of values, or a multiple")])
def test_what_does_not_fit(change, what):
    feeds = {**delta(), **change}
    with pytest.raises(mx.MXNetError, match=what):
        ours(model([made(feeds)], feeds, {}), feeds)


def test_a_rule_without_its_inputs():
    feeds = delta("linear")
    with pytest.raises(mx.MXNetError, match="do not suit attribute update_rule"):
        ours(model([made(feeds)], feeds, {}), feeds)


def numerically(block, arrays, i, og):
    """The derivative along a direction of input i, from both sides."""
    step = 1e-2 * np.sign(RANDOM.randn(*arrays[i].shape)).astype("f")

    def value(sign):
        moved = [mx.nd.array(a + sign * step if j == i else a, dtype=a.dtype) for j, a in enumerate(arrays)]
        return float((block(*moved)[0].asnumpy().astype("d") * og).sum())
    return (value(1) - value(-1)) / 2, step


def check_gradients(block, arrays):
    given = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
    for a in given:
        if a.dtype == np.float32:
            a.attach_grad()
    with autograd.record():
        y = block(*given)[0]
    og = floats(*y.shape)
    y.backward(mx.nd.array(og))
    for i, a in enumerate(given):
        if a.dtype == np.float32:
            want, step = numerically(block, arrays, i, og)
            np.testing.assert_allclose((a.grad.asnumpy() * step).sum(), want, rtol=2e-2, atol=2e-3)
            assert np.abs(a.grad.asnumpy()).max() > 0


def test_a_block_learns():
    feeds = delta(bounds=None, tokens=6)
    block = mx.onnx.load(model([made(feeds, qk_l2_norm=1)], feeds, {})).to_block()
    check_gradients(block, list(feeds.values()))


# ---- the convolution

def convolution(size=4, dilation=1, bias=True, kept=0, bounds=BOUNDS, channels=3):
    feeds = {"x": floats(int(bounds[-1]), channels), "w": floats(channels, 1, size), "bounds": bounds}
    if bias:
        feeds["bias"] = floats(channels)
    feeds["state"] = floats(len(bounds) - 1, channels, (size - 1) * dilation)
    if kept:
        feeds["count"] = RANDOM.randint(-1, kept + 2, len(bounds) - 1).astype("i4")
    return feeds


def packed(feeds, **attributes):
    names = ["x", "w", "bounds", "bias" if "bias" in feeds else "", "state"] + ["count"] * ("count" in feeds)
    outputs = ["y", "y_state"] + ["y_kept"] * ("count" in feeds)
    return node("VarlenCausalConvWithState", names, outputs, **attributes, **MICROSOFT)


@pytest.mark.parametrize("size, dilation, activation, bias, kept", [
    (4, 1, "silu", True, 0), (3, 2, "none", False, 2), (1, 1, "swish", True, 0), (2, 3, "none", True, 8), (4, 1, "none", False, 1)])
@pytest.mark.parametrize("bounds", [[0, 2, 7], [0, 7], [0, 0, 7], [0, 1, 2, 3, 4, 5]])
def test_convolutions(size, dilation, activation, bias, kept, bounds):
    feeds = convolution(size, dilation, bias, kept, np.array(bounds, "i4"))
    check(packed(feeds, activation=activation, dilation=dilation, state_update_capacity=kept), feeds)
    constants = {"w": feeds.pop("w")}
    check(packed(feeds, activation=activation, dilation=dilation, state_update_capacity=kept), feeds, constants)


@pytest.mark.parametrize("bounds", [[0, 3, 5], [1, 2, 7], [0, 9, 7]])
def test_bounds_of_convolutions_that_do_not_fit(bounds):
    """Those that are known are an error. Those that a graph computes are read in range."""
    feeds = convolution()
    with pytest.raises(mx.MXNetError, match="cumulative_sequence_length is"):
        data = model([packed(feeds)], {n: v for n, v in feeds.items() if n != "bounds"}, {"bounds": np.array(bounds, "i4")})
        ours(data, {n: v for n, v in feeds.items() if n != "bounds"})
    y, state = ours(model([packed(feeds)], feeds, {}), {**feeds, "bounds": np.array(bounds, "i4")})
    assert y.shape == (7, 3) and state.shape == (2, 3, 3)
    assert np.isfinite(y).all() and np.isfinite(state).all()


def test_a_block_of_the_convolution_learns():
    """One block serves requests of any lengths."""
    feeds = convolution()
    block = mx.onnx.load(model([packed(feeds, activation="silu")], feeds, {})).to_block()
    check_gradients(block, list(feeds.values()))
    feeds["bounds"] = np.array([0, 6, 7], "i4")
    check_gradients(block, list(feeds.values()))
    want = ours(model([packed(feeds, activation="silu")], feeds, {}), feeds)
    got = block(*(mx.nd.array(v, dtype=v.dtype) for v in feeds.values()))
    np.testing.assert_allclose(got[0].asnumpy(), want[0], rtol=1e-5, atol=1e-6)
