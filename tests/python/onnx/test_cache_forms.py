"""Caches of com.microsoft's attention as onnxruntime has them: quantized, of a window, of beams."""
import numpy as np
import pytest
from import_checks import onnx, ort

import mxnet as mx

helper = onnx.helper
KINDS = {"int8": 3, "uint8": 2, "float32": 1}


def numbers(*shape, seed=0):
    return np.random.RandomState(seed + sum(shape)).randn(*shape).astype("float32")


def ints(*values):
    return np.array(values, "int32")


def model_of(op, order, feeds, outputs, **attrs):
    """The bytes of a model of one node; inputs of `order` without a feed are left out."""
    names = [name if name in feeds else "" for name in order]
    while not names[-1]:
        names.pop()
    kinds = {"keys": feeds.get("past_key"), "values": feeds.get("past_value")}
    node = helper.make_node(op, names, outputs, domain="com.microsoft", **attrs)
    graph = helper.make_graph(
        [node], "graph",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
         for n, a in feeds.items()],
        [helper.make_tensor_value_info(n, KINDS[str(kinds[n].dtype)] if kinds.get(n) is not None
                                       else 1, None) for n in outputs if n])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def both(data, feeds):
    """Results by name: theirs and ours."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    want = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    return want, {n: v.asnumpy() for n, v in mx.onnx.load(data).run(feeds).items()}


def assert_near(want, got, tokens=None, tolerance=1e-5):
    """Equal shapes, dtypes and numbers; of caches the first `tokens` of each example."""
    for name, one in want.items():
        other = got[name]
        assert one.shape == other.shape and one.dtype == other.dtype, name
        if name in ("keys", "values"):
            for b, count in enumerate(tokens):
                np.testing.assert_allclose(other[b, :, :count].astype(float),
                                           one[b, :, :count].astype(float), atol=tolerance)
        else:
            np.testing.assert_allclose(other, one, atol=tolerance, rtol=tolerance)


# ---- GroupQueryAttention

GROUP = """query key value past_key past_value last total cos sin position bias sink key_scale
    value_scale query_norm key_norm steps""".split()
HEADS, GROUPS, SIZE = 4, 2, 16


def group_feeds(batch, steps, room, tokens):
    return {"query": numbers(batch, steps, HEADS * SIZE), "key": numbers(batch, steps, GROUPS * SIZE),
            "value": numbers(batch, steps, GROUPS * SIZE, seed=1),
            "past_key": numbers(batch, GROUPS, room, SIZE),
            "past_value": numbers(batch, GROUPS, room, SIZE, seed=1),
            "last": ints(*(t - 1 for t in tokens)), "total": ints(max(tokens))}


@pytest.mark.parametrize("steps,tokens", [(1, (4, 6)), (3, (5,)), (3, (3, 3))])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("kind", ["PER_TENSOR", "PER_CHANNEL"])
def test_quantized_caches(steps, tokens, bits, kind):
    batch, random = len(tokens), np.random.RandomState(3)
    feeds = group_feeds(batch, steps, 8, tokens)
    for name in ("key", "value"):
        shape = (batch, GROUPS, 8, SIZE if bits == 8 else SIZE // 2)
        feeds[f"past_{name}"] = random.randint(0, 256, shape).astype("uint8")
        if bits == 8:
            feeds[f"past_{name}"] = feeds[f"past_{name}"].view("int8")
        shape = (1,) if kind == "PER_TENSOR" else (1, GROUPS, 1, SIZE)
        feeds[f"{name}_scale"] = random.uniform(.1, .4, shape).astype("float32") * bits / 8
    data = model_of("GroupQueryAttention", GROUP, feeds, ["y", "keys", "values"], num_heads=HEADS,
                    kv_num_heads=GROUPS, k_quant_type=kind, v_quant_type=kind,
                    kv_cache_bit_width=bits, local_window_size=4, softcap=2.0)
    want, got = both(data, feeds)
    assert_near(want, got, tokens, 1e-4)
    # in place
    arrays = {n: mx.nd.array(a, dtype=a.dtype) for n, a in feeds.items()}
    out = {"keys": arrays["past_key"], "values": arrays["past_value"]}
    mx.onnx.load(data).run(arrays, out=out)
    assert_near({"keys": want["keys"], "values": want["values"]},
                {n: a.asnumpy() for n, a in out.items()}, tokens, 0)


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("attrs", [{}, {"local_window_size": 2}, {"softcap": 1.5},
                                   {"smooth_softmax": 1}])
def test_scores_of_groups(mode, attrs):
    for steps, tokens in ((1, (3, 5)), (3, (6,))):
        feeds = group_feeds(len(tokens), steps, 8, tokens)
        feeds["bias"] = numbers(1, 1, steps, max(tokens))
        data = model_of("GroupQueryAttention", GROUP, feeds, ["y", "keys", "values", "scores"],
                        num_heads=HEADS, kv_num_heads=GROUPS, qk_output=mode, **attrs)
        assert_near(*both(data, feeds), tokens)


def resident(tokens, room, window):
    step = room - window + 1
    return tokens if tokens <= room else tokens - step * -(-(tokens - room) // step)


@pytest.mark.parametrize("room,window", [(3, 3), (6, 4)])
@pytest.mark.parametrize("batch", [1, 2])
def test_caches_of_a_window(room, window, batch):
    """Steps of several lengths, of examples that have other numbers of tokens."""
    random, tokens = np.random.RandomState(batch), np.zeros(batch, int)
    caches = [np.zeros((batch, GROUPS, room, SIZE), "float32")] * 2
    angles = np.arange(64)[:, None] * np.arange(1, SIZE // 2 + 1)[None] / 9
    for steps in (4, 1, 1, 3, 1, 9, 1):
        new = np.array([random.randint(0 if t else 1, steps + 1) for t in tokens])
        tokens = tokens + new
        feeds = group_feeds(batch, steps, room, tokens)
        feeds.update(past_key=caches[0], past_value=caches[1], steps=new.astype("int32"),
                     bias=numbers(batch, 1, steps, max(tokens)),
                     cos=np.cos(angles).astype("float32"), sin=np.sin(angles).astype("float32"))
        data = model_of("GroupQueryAttention", GROUP, feeds, ["y", "keys", "values"],
                        num_heads=HEADS, kv_num_heads=GROUPS, sliding_window_cache=1,
                        local_window_size=window, do_rotary=1)
        want, got = both(data, feeds)
        for b, count in enumerate(new):     # other rows may be anything
            np.testing.assert_allclose(got["y"][b, :count], want["y"][b, :count], atol=1e-5)
        counts = [resident(t, room, window) for t in tokens]
        caches = [want.pop(n) for n in ("keys", "values")]
        want = dict(zip(("keys", "values"), caches))
        assert_near(want, got, counts)
        arrays = {n: mx.nd.array(a, dtype=a.dtype) for n, a in feeds.items()}
        out = {"keys": arrays["past_key"], "values": arrays["past_value"]}
        mx.onnx.load(data).run(arrays, out=out)
        assert_near(want, {n: a.asnumpy() for n, a in out.items()}, counts)


def test_windows_that_do_not_fit_are_refused():
    feeds = group_feeds(1, 1, 3, (2,))
    data = model_of("GroupQueryAttention", GROUP, feeds, ["y", "keys", "values"], num_heads=HEADS,
                    kv_num_heads=GROUPS, sliding_window_cache=1, local_window_size=4)
    with pytest.raises(mx.base.MXNetError, match="room for 3 tokens"):
        mx.onnx.load(data).run(feeds)


# ---- buffers of MultiHeadAttention and DecoderMaskedMultiHeadAttention

MULTI = "query key value sum mask bias past_key past_value past beams".split()
DECODER = "query key value mask bias past_key past_value past width beams sum".split()
ROWS, WIDTH = 4, 12


def buffer_feeds(steps, past, *more):
    total = past + steps
    feeds = {n: numbers(ROWS, steps, WIDTH, seed=i) for i, n in enumerate(("query", "key", "value"))}
    feeds.update({n: numbers(ROWS, 3, 8, 4, seed=i) for i, n in enumerate(("past_key", "past_value"))})
    others = {"sum": numbers(3 * WIDTH), "bias": numbers(1, 3, steps, total),
              "mask": (numbers(ROWS, total) > -.5).astype("int32"), "width": ints(2),
              "beams": np.random.RandomState(1).randint(0, 2, (2, 2, 8)).astype("int32")}
    feeds["past"] = ints(past)
    feeds.update({n: others[n] for n in more})
    return feeds


@pytest.mark.parametrize("steps,past", [(1, 0), (1, 3), (3, 0), (3, 2)])
@pytest.mark.parametrize("more", [(), ("sum", "mask"), ("beams",), ("sum", "bias", "mask", "beams")])
def test_buffers_of_beams(steps, past, more):
    feeds = buffer_feeds(steps, past, *more)
    for causal in (0, 1):
        data = model_of("MultiHeadAttention", MULTI, feeds, ["y", "keys", "values", "scores"],
                        num_heads=3, unidirectional=causal)
        assert_near(*both(data, feeds), [past + steps] * ROWS, 1e-3)
    if steps > 1:
        return
    if "beams" in more:
        feeds["width"] = ints(2)
    data = model_of("DecoderMaskedMultiHeadAttention", DECODER, feeds, ["y", "keys", "values"],
                    num_heads=3, past_present_share_buffer=1, scale=.3)
    assert_near(*both(data, feeds), [past + steps] * ROWS)


def test_attention_to_another_sequence():
    feeds = {"query": numbers(2, 1, WIDTH), "key": numbers(2, 3, 6, 4), "sum": numbers(3 * WIDTH),
             "value": numbers(2, 3, 6, 4, seed=1), "mask": (numbers(2, 6) > -.5).astype("int32")}
    data = model_of("DecoderMaskedMultiHeadAttention", DECODER, feeds, ["y", "", "", "scores"],
                    num_heads=3, output_qk=1)
    assert_near(*both(data, feeds), None, 1e-3)


def test_one_plan_serves_all_lengths():
    feeds = buffer_feeds(1, 0, "beams")
    data = model_of("MultiHeadAttention", MULTI, feeds, ["y", "keys", "values"], num_heads=3)
    model = mx.onnx.load(data)
    arrays = {n: mx.nd.array(a, dtype=a.dtype) for n, a in feeds.items()}
    for past in range(5):
        arrays["past"][:] = past
        model.run(arrays, out={"keys": arrays["past_key"], "values": arrays["past_value"]})
    assert str(model.explain()).count("plan of") == 1


def test_indirections_of_other_shapes_are_refused():
    feeds = buffer_feeds(1, 2, "beams")
    feeds["beams"] = feeds["beams"][:, :, :4].copy()
    data = model_of("MultiHeadAttention", MULTI, feeds, ["y"], num_heads=3)
    with pytest.raises(mx.base.MXNetError, match="cache_indirection has shape"):
        mx.onnx.load(data).run(feeds)


def test_shared_buffers_of_attention_are_refused():
    feeds = {"x": numbers(2, 1, 12), "w": numbers(12, 36), "b": numbers(36),
             "past": numbers(2, 2, 3, 8, 4), "length": ints(3)}
    data = model_of("Attention", ["x", "w", "b", "mask", "past", "bias", "length"], feeds, ["y", "p"],
                    num_heads=3, past_present_share_buffer=1)
    with pytest.raises(mx.base.MXNetError, match="past_present_share_buffer is not 0"):
        mx.onnx.load(data).run(feeds)


@pytest.mark.parametrize("last, steps, past", [([-1, 2], 3, 0), ([2, -5], 3, 0), ([-1, 6], 1, 6), ([7, 6], 1, 6)])
def test_lengths_out_of_range_are_refused(last, steps, past):
    """seqlens_k is the place of the last token, so -1 says that there is none."""
    helper = onnx.helper
    floats = lambda *shape: np.random.RandomState(0).randn(*shape).astype("float32")
    feeds = {"q": floats(2, steps, 32), "k": floats(2, steps, 16), "v": floats(2, steps, 16), "pk": floats(2, 2, past, 8),
             "pv": floats(2, 2, past, 8), "s": np.array(last, "int32"), "t": np.array(past + steps, "int32")}
    made = helper.make_node("GroupQueryAttention", list(feeds), ["y", "y1", "y2"], num_heads=4, kv_num_heads=2, domain="com.microsoft")
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in feeds.items()]
    graph = helper.make_graph([made], "g", infos, [onnx.ValueInfoProto(name=n) for n in made.output])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    with pytest.raises(Exception, match="out of range"):
        ort.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, feeds)
    with pytest.raises(IndexError, match=r"length -?\d of example .; accepted: 1 to|rows from"):
        mx.onnx.load(data).run(feeds)["y"].asnumpy()
