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


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("window", [{}, {"local_window_size": 4, "sliding_window_cache": 1}])
@pytest.mark.parametrize("each", [False, True])
def test_caches_of_few_bits_pass_gradients_to_what_they_were_not_given(bits, window, each):
    """As of plain caches with the same numbers; gradients pass the rounding of keys and values."""
    made, feeds, weights = group_query(4, [9, 9] if window else None, room=6 if window else 4, **window)
    del made.attribute[:]
    kind, most = "PER_CHANNEL" if each else "PER_TENSOR", 127 if bits == 8 else 7
    whole = {name: RANDOM.randint(-most - 1, most + 1, feeds[name].shape) for name in ("pk", "pv")}
    scales = (np.abs(floats(2, GROUPS, 1, SIZE)) + 1) * np.float32(2 / most) if each else np.full((2, 1, 1, 1), 2 / most, "f")
    cuts = {}
    for name, past, scale in zip("kv", ("pk", "pv"), scales):
        rows = feeds[name].reshape(BATCH, STEPS, GROUPS, SIZE) / scale.transpose(1, 0, 2) if each else feeds[name] / scale.ravel()
        cuts[name] = ((rows > -most - 1) & (rows < most)).reshape(feeds[name].shape)
        rows = np.clip(np.rint(rows), -most - 1, most)
        rows = rows * scale.transpose(1, 0, 2) if each else rows * scale.ravel()
        weights[name] = rows.reshape(feeds[name].shape).astype("f")
        weights[past] = (whole[past] * scale).astype("f")
    plain = {**feeds, **{n: weights.pop(n) for n in ("k", "v", "pk", "pv")}}
    packed = {n: w.astype("i1") if bits == 8 else (w[..., ::2] + 8 + (w[..., 1::2] + 8) * 16).astype("u1") for n, w in whole.items()}
    results, og = [], None
    for stored in (False, True):
        more = {"k_quant_type": kind, "v_quant_type": kind, "kv_cache_bit_width": bits} if stored else {}
        names = [*made.input, *([""] * (12 - len(made.input))), *(["ks", "vs"] if stored else [])]
        again = node("GroupQueryAttention", names if stored else list(made.input), ["y", "y_key", "y_value"], num_heads=HEADS,
                     kv_num_heads=GROUPS, **window, **more, **MICROSOFT)
        given = {**feeds, **packed} if stored else plain
        data = model([again], given, {**weights, **({"ks": scales[0].ravel(), "vs": scales[1].ravel()} if stored else {})})
        arrays = [mx.nd.array(a, dtype=a.dtype) for a in given.values()]
        for a in arrays[:3]:
            a.attach_grad()
        block = mx.onnx.load(data).to_block()
        with autograd.record():
            y, key, value = block(*arrays)
        og = mx.nd.array(floats(*y.shape)) if og is None else og
        y.backward(og)
        results.append([y.asnumpy(), *(a.grad.asnumpy() for a in arrays[:3])])
        for one, other in zip((y, key, value), ours(data, given)):
            np.testing.assert_allclose(one.asnumpy(), other, rtol=1e-4, atol=1e-5)
    (y, gq, gk, gv), got = results
    for one, other in zip(got, (y, gq, gk * cuts["k"], gv * cuts["v"])):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
        assert np.abs(one).max() > 0
