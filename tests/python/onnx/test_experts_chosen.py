"""Operators of com.microsoft beside mixtures of experts: a router that chooses among groups of
experts, beside onnxruntime, and what decoders' layers are written as, beside NumPy."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, check, model, node, ours

EXPERTS = 8


def floats(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape).astype(np.float32)


def router(outputs=("y",), **attributes):
    return node("MoEGroupRouter", ["x", "b"], list(outputs), **attributes, **MICROSOFT)


@pytest.mark.parametrize("attributes", [
    {"top_k": 2},
    {"top_k": 3, "n_group": 4, "topk_group": 2},
    {"top_k": 2, "n_group": 2, "topk_group": 2},
    {"top_k": 2, "n_group": 2, "group_topk": 1, "router_sentinel": -77.0},
    {"top_k": 2, "n_group": 2, "group_topk": 9},     # more than a group has
    {"top_k": 5, "n_group": 2},                      # more than the chosen group has
    {"top_k": EXPERTS}])
@pytest.mark.parametrize("shape", [(6, EXPERTS), (2, 3, EXPERTS)])
def test_experts_of_the_best_groups(attributes, shape):
    check(router(**attributes), {"x": floats(*shape)}, {"b": 0.3 * floats(EXPERTS)})


def test_scores_that_are_equal_or_tiny():
    x = np.zeros((3, EXPERTS), "float32")
    x[1], x[2] = -60, -200   # a share of 1e-26, whose logarithm is that of 1e-20
    check(router(top_k=2, n_group=4, topk_group=2), {"x": x}, {"b": np.zeros(EXPERTS, "float32")})


def test_scores_of_float16():
    check(router(top_k=3, n_group=2), {"x": floats(5, EXPERTS).astype("float16")}, {"b": 0.3 * floats(EXPERTS)}, rtol=1e-3)


def test_shares_of_all_experts():
    weights = {"b": 0.3 * floats(EXPERTS)}
    check(router(["", "y", "y_shares"], top_k=2), {"x": floats(2, 3, EXPERTS)}, weights)
    made = node("MoEGroupRouter", ["x", "b", "w"], ["", "y", "y_shares"], top_k=2, **MICROSOFT)
    check(made, {"x": floats(4, 256)}, {**weights, "w": 0.1 * floats(EXPERTS, 256)})
    # float32, also of scores that are not
    check(router(["", "y", "y_shares"], top_k=2), {"x": floats(4, EXPERTS).astype("float16")}, weights)


@pytest.mark.parametrize("outputs, attributes, words", [
    (("y",), {"top_k": 9}, "top_k is 9 for 8 experts"),
    (("y",), {"top_k": 2, "n_group": 3}, "are 3, 1 and 2 for 8 experts"),
    (("y",), {"top_k": 2, "n_group": 2, "topk_group": 3}, "are 2, 3 and 2 for 8 experts"),
    (("y", "y_b", "y_s"), {"top_k": 2}, "accepted are output 0, or outputs 1 and 2"),
    (("", "y_b", "y_s"), {"top_k": 2, "n_group": 2}, "accepted are 1 with outputs 1 and 2")])
def test_routers_that_are_refused(outputs, attributes, words):
    feeds = {"x": floats(6, EXPERTS)}
    with pytest.raises(mx.MXNetError, match=words):
        ours(model([router(outputs, **attributes)], feeds, {"b": floats(EXPERTS)}), feeds)


@pytest.mark.parametrize("attributes", [
    {}, {"limit": 0.5}, {"limit": -1.0, "activation_alpha": 1.702, "activation_beta": 1.0},
    {"limit": 0.7, "activation_alpha": 1.702, "activation_beta": 1.0}])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_gates_of_two_halves(attributes, dtype, rounds):
    """onnxruntime's CPU provider has no SwiGLU."""
    both = 2 * floats(2, 3, 10).astype(dtype)
    gate, up = np.split(both.astype("float64"), 2, -1)
    limit = attributes.get("limit", 0.0)
    if limit > 0:
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
    wanted = gate / (1 + np.exp(-attributes.get("activation_alpha", 1.0) * gate)) * (up + attributes.get("activation_beta", 0.0))
    for feeds in ({"x": both}, {"x": both[..., :5].copy(), "u": both[..., 5:].copy()}):
        made = node("SwiGLU", list(feeds), ["y"], round_activation=rounds, **attributes, **MICROSOFT)
        y, = ours(model([made], feeds, {}), feeds)
        assert y.dtype == dtype
        np.testing.assert_allclose(y.astype(float), wanted, rtol=1e-5 if dtype == "float32" else 4e-3, atol=1e-6)


def test_gates_that_are_refused():
    feeds = {"x": floats(2, 5)}
    with pytest.raises(mx.MXNetError, match="an even last size"):
        ours(model([node("SwiGLU", ["x"], ["y"], **MICROSOFT)], feeds, {}), feeds)
    feeds["u"] = floats(2, 4)
    with pytest.raises(mx.MXNetError, match=r"gate has shape \(2, 5\), up \(2, 4\)"):
        ours(model([node("SwiGLU", ["x", "u"], ["y"], **MICROSOFT)], feeds, {}), feeds)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_queries_and_keys_turned_by_angles(dtype):
    """onnxruntime has GemmaRotaryEmbedding on GPUs alone; heads of keys may be fewer."""
    angles, q, k = floats(2, 5, 8), floats(2, 3, 5, 8).astype(dtype), floats(2, 1, 5, 8).astype(dtype)
    turned = [np.concatenate([-x[..., 4:], x[..., :4]], -1) for x in (q, k)]
    feeds = {"e": angles, "q": q, "qr": turned[0], "k": k, "kr": turned[1]}
    found = ours(model([node("GemmaRotaryEmbedding", list(feeds), ["y", "y_keys"], **MICROSOFT)], feeds, {}), feeds)
    for one, x, other in zip(found, (q, k), turned):
        assert one.dtype == dtype
        wanted = x * np.cos(angles)[:, None] + other * np.sin(angles)[:, None]
        np.testing.assert_allclose(one, wanted, rtol=1e-4, atol=1e-5 if dtype == "float32" else 4e-3)
    feeds["e"] = floats(2, 4, 8)
    with pytest.raises(mx.MXNetError, match=r"input 1 has shape \(2, 3, 5, 8\) for angles of shape \(2, 4, 8\)"):
        ours(model([node("GemmaRotaryEmbedding", list(feeds), ["y", "y_keys"], **MICROSOFT)], feeds, {}), feeds)
