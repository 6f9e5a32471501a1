"""Attention to caches learns in blocks: GroupQueryAttention, SparseAttention and
MultiHeadAttention with buffers, whose operators have no gradients, are plain products there."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from import_checks import MICROSOFT, model, node, ours

RANDOM = np.random.RandomState(4)
BATCH, STEPS, HEADS, GROUPS, SIZE = 2, 3, 4, 2, 8


def floats(*shape):
    return RANDOM.randn(*shape).astype("f")


def group_query(past, tokens=None, room=0, bias=False, sink=False, rotary=False, **attributes):
    """Inputs by name, and the node. `past`: tokens that each example has; `room`: of the caches."""
    lengths = np.array(tokens if tokens is not None else [past + STEPS] * BATCH, "i4")
    room = room or past
    feeds = {"q": floats(BATCH, STEPS, HEADS * SIZE), "k": floats(BATCH, STEPS, GROUPS * SIZE), "v": floats(BATCH, STEPS, GROUPS * SIZE),
             "pk": floats(BATCH, GROUPS, room, SIZE), "pv": floats(BATCH, GROUPS, room, SIZE)}
    weights = {"last": lengths - 1, "total": np.array([lengths.max()], "i4")}
    names = ["q", "k", "v", "pk", "pv", "last", "total", *(["cos", "sin"] if rotary else ["", ""]), "", "bias" if bias else "",
             "sink" if sink else ""]
    if rotary:
        angles = np.outer(np.arange(32), 0.5 ** np.arange(SIZE // 2))
        weights.update(cos=np.cos(angles).astype("f"), sin=np.sin(angles).astype("f"))
    if bias:
        feeds["bias"] = floats(BATCH, HEADS, STEPS, int(lengths.max()))
    if sink:
        feeds["sink"] = floats(HEADS)
    while not names[-1]:
        names.pop()
    made = node("GroupQueryAttention", names, ["y", "y_key", "y_value"], num_heads=HEADS, kv_num_heads=GROUPS, do_rotary=int(rotary),
                **attributes, **MICROSOFT)
    return made, feeds, weights


def buffers():
    """MultiHeadAttention whose buffers have room for more."""
    width = HEADS * SIZE
    feeds = {"q": floats(BATCH, STEPS, width), "k": floats(BATCH, STEPS, width), "v": floats(BATCH, STEPS, width),
             "pk": floats(BATCH, HEADS, 8, SIZE), "pv": floats(BATCH, HEADS, 8, SIZE)}
    made = node("MultiHeadAttention", ["q", "k", "v", "", "", "", "pk", "pv", "past"], ["y", "y_key", "y_value"], num_heads=HEADS,
                unidirectional=1, **MICROSOFT)
    return made, feeds, {"past": np.array([2], "i4")}


CASES = {"no past": lambda: group_query(0), "a past": lambda: group_query(4), "a buffer": lambda: group_query(4, room=9),
         "lengths": lambda: group_query(0, [3, 2]), "lengths behind a past": lambda: group_query(4, [7, 5], room=8),
         "a window": lambda: group_query(4, local_window_size=3), "not causal": lambda: group_query(0, causal=0),
         "capped": lambda: group_query(0, softcap=2.0, scale=0.4), "turned": lambda: group_query(2, rotary=True),
         "a bias": lambda: group_query(2, bias=True), "a sink": lambda: group_query(2, sink=True), "buffers": buffers}


@pytest.mark.parametrize("case", CASES)
def test_attention_to_caches_learns(case):
    made, feeds, weights = CASES[case]()
    data = model([made], feeds, weights)
    want = ours(data, feeds)
    block = mx.onnx.load(data).to_block()
    given = [mx.nd.array(v) for v in feeds.values()]
    for a in given:
        a.attach_grad()
    with autograd.record():
        results = block(*given)
    heads = [mx.nd.array(floats(*r.shape)) for r in results]
    autograd.backward(list(results), heads)
    for got, wanted in zip(results, want):
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-4, atol=1e-5)

    def loss(values):
        return sum((r.asnumpy().astype("d") * h.asnumpy()).sum() for r, h in zip(block(*values), heads))
    for name, a in zip(feeds, given):
        if a.size == 0:
            continue
        step = 1e-2 * mx.nd.array(np.sign(floats(*a.shape)))
        sides = [loss([v + s * step if v is a else v for v in given]) for s in (1, -1)]
        np.testing.assert_allclose((a.grad * step).sum().asscalar(), (sides[0] - sides[1]) / 2, rtol=2e-2, atol=2e-2, err_msg=name)
        assert np.isfinite(a.grad.asnumpy()).all() and a.grad.abs().max().asscalar() > 0
