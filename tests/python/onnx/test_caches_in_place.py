"""Steps of a decoder whose keys and values stay in buffers of the caller."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, model, node, onnx, theirs

reference = pytest.importorskip("onnx.reference")

_HEADS, _GROUPS, _SIZE = 4, 2, 16
_INPUTS = ["q", "k", "v", "pk", "pv", "l", "t", "cos", "sin", "places", "bias", "sink", "", "", "",
           "", "rows"]


def _typed(data, dtype):
    made = onnx.load_from_string(data)
    for output in made.graph.output:
        output.type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made.SerializeToString()


def _group(steps=1, tokens=(9,), room=24, dtype="float32", packed=False, total=None, rotary=True,
           extra=(), **attrs):
    """A model of one GroupQueryAttention and its feeds; tokens are those after the step."""
    rng = np.random.default_rng(3)
    batch = len(tokens)

    def floats(*shape):
        return rng.standard_normal(shape).astype(dtype)

    both = (_HEADS + 2 * _GROUPS) * _SIZE
    feeds = {"q": floats(batch, steps, both if packed else _HEADS * _SIZE)}
    if not packed:
        feeds.update(k=floats(batch, steps, _GROUPS * _SIZE), v=floats(batch, steps, _GROUPS * _SIZE))
    feeds.update(pk=floats(batch, _GROUPS, room, _SIZE), pv=floats(batch, _GROUPS, room, _SIZE),
                 l=np.array(tokens, np.int32) - 1, t=np.array(total or max(tokens), np.int32))
    if rotary:
        feeds.update(cos=floats(32, _SIZE // 2), sin=floats(32, _SIZE // 2))
    more = {"places": np.arange(steps)[None] + np.array(tokens)[:, None] - steps,
            "bias": floats(1, _HEADS, steps, total or max(tokens)), "sink": floats(_HEADS),
            "rows": np.full(batch, steps, np.int32)}
    feeds.update({name: more[name] for name in extra})
    names = [name if name in feeds else "" for name in _INPUTS]
    while not names[-1]:
        names.pop()
    made = node("GroupQueryAttention", names, ["y", "y_k", "y_v"], num_heads=_HEADS,
                kv_num_heads=_GROUPS, do_rotary=int(rotary), **attrs, **MICROSOFT)
    return _typed(model([made], feeds, {}), dtype), feeds


def _arrays(feeds):
    return {name: mx.nd.array(a, dtype=a.dtype) for name, a in feeds.items()}


_CASES = [{}, {"tokens": (9, 4)}, {"dtype": "float16"}, {"packed": True}, {"rotary_interleaved": 1},
          {"local_window_size": 5}, {"softcap": 3.0}, {"smooth_softmax": 1}, {"scale": 0.3},
          {"extra": ("places",)}, {"extra": ("bias",)}, {"extra": ("sink",)}, {"total": 24},
          {"steps": 6, "tokens": (6, 3)}, {"steps": 4, "tokens": (13,), "local_window_size": 6},
          {"steps": 3, "tokens": (5, 8), "extra": ("rows",)}, {"rotary": False, "causal": 1},
          {"steps": 5, "tokens": (5,), "extra": ("sink",), "dtype": "float16"}]


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_grouped_attention_in_the_callers_cache(case):
    data, feeds = _group(**case)
    want = theirs(data, feeds)
    arrays = _arrays(feeds)
    results = mx.onnx.load(data).run(arrays, out={"y_k": arrays["pk"], "y_v": arrays["pv"]})
    assert results["y_k"] is arrays["pk"]
    got = [results["y"].asnumpy(), arrays["pk"].asnumpy(), arrays["pv"].asnumpy()]
    tolerance = 5e-3 if case.get("dtype") == "float16" else 1e-5
    for example, tokens in enumerate(case.get("tokens", (9,))):
        steps = min(case.get("steps", 1), tokens)
        for a, b, end in zip(want, got, [np.s_[:steps]] + 2 * [np.s_[:, :tokens]]):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b[example][end], a[example][end], tolerance, tolerance)
    # what is behind the tokens stays as it was
    first = feeds["pk"][0, :, case.get("tokens", (9,))[0]:]
    np.testing.assert_array_equal(got[1][0, :, case.get("tokens", (9,))[0]:], first)


@pytest.mark.parametrize("size", [40, 64, 96])
@pytest.mark.parametrize("steps,tokens,window", [(130, (130, 70), -1), (130, (150, 131), -1), (75, (200,), 20), (9, (300, 64), 70),
                                                 (1, (300, 17), -1), (1, (300,), 33), (5, (90, 5), -1)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_prompts_and_steps_of_all_widths(size, steps, tokens, window, dtype):
    """Keys are packed for many queries and read as they lie for few; parts and vectors are not
    full."""
    rng, heads, groups, room = np.random.default_rng(1), 6, 2, 310
    shapes = {"q": (len(tokens), steps, heads * size), "k": (len(tokens), steps, groups * size), "v": (len(tokens), steps, groups * size),
              "pk": (len(tokens), groups, room, size), "pv": (len(tokens), groups, room, size)}
    feeds = {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}
    feeds.update(l=np.array(tokens, np.int32) - 1, t=np.array(max(tokens), np.int32))
    made = node("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "l", "t"], ["y", "y_k", "y_v"], num_heads=heads,
                kv_num_heads=groups, local_window_size=window, **MICROSOFT)
    data = _typed(model([made], feeds, {}), dtype)
    want = _attended(feeds, heads, tokens, window)
    arrays = _arrays(feeds)
    y = mx.onnx.load(data).run(arrays, out={"y_k": arrays["pk"], "y_v": arrays["pv"]})["y"].asnumpy()
    for example, count in enumerate(tokens):
        seen = slice(0, min(steps, count))
        np.testing.assert_allclose(y[example, seen], want[example][seen], 2e-3 if dtype == "float16" else 1e-5,
                                   2e-3 if dtype == "float16" else 1e-5)


def _attended(feeds, heads, tokens, window):
    """What grouped attention to a cache is, in float64."""
    groups, size = feeds["pk"].shape[1], feeds["pk"].shape[3]
    steps, results = feeds["q"].shape[1], []
    for b, count in enumerate(tokens):
        first = max(0, count - steps)
        cache = {}
        for past, more in (("pk", "k"), ("pv", "v")):
            cache[more] = feeds[past][b].astype("float64")
            rows = feeds[more][b].reshape(steps, groups, size).transpose(1, 0, 2)[:, :count - first]
            cache[more][:, first:count] = rows
        result = np.zeros((steps, heads, size))
        for s in range(min(steps, count)):
            begin = max(0, first + s + 1 - window) if window > 0 else 0
            for h in range(heads):
                group = h * groups // heads
                query = feeds["q"][b, s, h * size:(h + 1) * size].astype("float64")
                scores = cache["k"][group, begin:first + s + 1] @ query / np.sqrt(size)
                weights = np.exp(scores - scores.max())
                result[s, h] = weights @ cache["v"][group, begin:first + s + 1] / weights.sum()
        results.append(result.reshape(steps, -1))
    return results


def _extra_bytes(run):
    """What a call takes beside what was there before, in the pool of the CPU."""
    mx.nd.waitall()
    mx.storage.reset_peak()
    before = mx.storage.stats().peak_used_bytes
    kept = run()
    mx.nd.waitall()
    del kept
    return mx.storage.stats().peak_used_bytes - before


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_no_cache_is_copied(dtype):
    data, feeds = _group(room=32768, dtype=dtype)
    net, arrays = mx.onnx.load(data), _arrays(feeds)
    out = {"y_k": arrays["pk"], "y_v": arrays["pv"]}
    net.run(arrays, out=out)
    buffer = feeds["pk"].nbytes
    assert _extra_bytes(lambda: net.run(arrays, out=out)) < buffer // 20
    assert _extra_bytes(lambda: net.run(arrays)) >= 2 * buffer


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_scattered_caches(dtype):
    """TensorScatter, and Attention that is told how much is filled."""
    rng = np.random.default_rng(0)

    def run(room, compare):
        feeds = {name: rng.standard_normal(shape).astype(dtype) for name, shape in
                 {"q": (2, 4, 2, 8), "pk": (2, 2, room, 8), "pv": (2, 2, room, 8),
                  "k": (2, 2, 2, 8), "v": (2, 2, 2, 8)}.items()}
        feeds.update(at=np.array([3, 7]), n=np.array([5, 9]))
        nodes = [node("TensorScatter", ["pk", "k", "at"], ["y_k"], axis=2),
                 node("TensorScatter", ["pv", "v", "at"], ["y_v"], axis=2),
                 node("Attention", ["q", "y_k", "y_v", "", "", "", "n"], ["y"], is_causal=1)]
        data = _typed(model(nodes, feeds, {}, opset=24), dtype)
        net, arrays = mx.onnx.load(data), _arrays(feeds)
        out = {"y_k": arrays["pk"], "y_v": arrays["pv"]}
        results = net.run(arrays, out=out)
        if compare:
            evaluator = reference.ReferenceEvaluator(onnx.load_from_string(data))
            want = dict(zip(("y_k", "y_v", "y"), evaluator.run(["y_k", "y_v", "y"], feeds)))
            for name, array in {**out, "y": results["y"]}.items():
                assert array.asnumpy().dtype == want[name].dtype
                np.testing.assert_allclose(array.asnumpy(), want[name], 3e-3, 3e-3)
        return _extra_bytes(lambda: net.run(arrays, out=out)), feeds["pk"].nbytes

    run(12, True)
    extra, buffer = run(32768, False)
    assert extra < buffer // 20


def test_one_plan_serves_all_steps():
    """The number of tokens is no part of a plan, but that they fit into the buffer."""
    net = None
    for tokens in range(2, 24):
        data, feeds = _group(tokens=(tokens,))
        net = net or mx.onnx.load(data)
        arrays = _arrays(feeds)
        y = net.run(arrays, out={"y_k": arrays["pk"], "y_v": arrays["pv"]})["y"]
        np.testing.assert_allclose(y.asnumpy(), theirs(data, feeds)[0], 1e-5, 1e-5)
    plans = net.explain()
    assert plans.count("plan of") == 1
    assert "t <= 24" in plans


def test_a_cache_that_grows():
    data, feeds = _group(room=8, tokens=(9,))
    got = mx.onnx.load(data)(**feeds)
    assert got[1].shape == (1, _GROUPS, 9, _SIZE)
    for a, b in zip(theirs(data, feeds), got):
        np.testing.assert_allclose(b.asnumpy(), a, 1e-5, 1e-5)


def test_caches_that_change_places():
    """Outputs in the array of another input are written when all is read."""
    data, feeds = _group()
    arrays = _arrays(feeds)
    want = theirs(data, feeds)
    got = mx.onnx.load(data).run(arrays, out={"y_k": arrays["pv"], "y_v": arrays["pk"]})
    np.testing.assert_allclose(got["y"].asnumpy(), want[0], 1e-5, 1e-5)
    np.testing.assert_allclose(arrays["pv"].asnumpy()[:, :, :9], want[1][:, :, :9], 1e-5, 1e-5)
    np.testing.assert_allclose(arrays["pk"].asnumpy()[:, :, :9], want[2][:, :, :9], 1e-5, 1e-5)


def test_an_input_that_is_read_later_keeps_its_contents():
    x = np.arange(6, dtype="float32")
    data = model([node("TensorScatter", ["x", "u", "at"], ["y"], axis=1),
                  node("Add", ["y", "x"], ["y_sum"])],
                 {"x": x[None], "u": np.ones((1, 2), "float32")}, {"at": np.array([1])}, opset=24)
    array = mx.nd.array(x[None])
    got = mx.onnx.load(data).run({"x": array, "u": np.ones((1, 2), "float32")}, out={"y": array})
    assert array.asnumpy().tolist() == [[0, 1, 1, 3, 4, 5]]
    assert got["y_sum"].asnumpy().tolist() == [[0, 2, 3, 6, 8, 10]]


def test_more_tokens_than_the_buffer_has():
    data, feeds = _group(tokens=(30,), total=24)
    with pytest.raises(mx.MXNetError, match=r"_cache_append.* rows from 29 to 30.*accepted: 0 to 24"):
        mx.onnx.load(data)(**feeds)[0].asnumpy()


@pytest.mark.parametrize("attribute", [{"sliding_window_cache": 1}, {"qk_output": 3},
                                       {"k_quant_type": "PER_TENSOR"},
                                       {"sliding_window_cache": 1, "local_window_size": 25}])
def test_what_grouped_attention_refuses(attribute):
    data, feeds = _group(**attribute)
    with pytest.raises(mx.MXNetError, match="accepted are"):
        mx.onnx.load(data)(**feeds)


_BIG = 2 ** 63 - 2


@pytest.mark.parametrize("start, length", [(-1, 4), (7, 12), (_BIG, _BIG), (_BIG, 2 ** 63 - 1)])
def test_rows_outside_of_a_cache_are_an_error(start, length):
    cache, rows = mx.nd.zeros((1, 2, 8, 4)), mx.nd.ones((1, 3, 8))
    append = getattr(mx.nd._internal, "_cache_append")
    with pytest.raises((mx.MXNetError, IndexError), match="_cache_append.*accepted: 0 to 8"):
        append(cache, rows, *_places(start, length)).asnumpy()


@pytest.mark.parametrize("start, length, accepted", [
    (0, 9, "at most 8"), (_BIG, 8, "to 1099511627776"), (-_BIG, 8, "-1099511627776 to")])
def test_keys_outside_of_a_cache_are_an_error(start, length, accepted):
    cache, query = mx.nd.zeros((1, 2, 8, 4)), mx.nd.ones((1, 3, 16))
    attend = getattr(mx.nd._internal, "_cached_attention")
    with pytest.raises((mx.MXNetError, IndexError), match=f"_cached_attention.*{accepted}"):
        attend(query, cache, cache, *_places(start, length), heads=4, groups=2).asnumpy()
    assert attend(query, cache, cache, *_places(-5, -7), heads=4, groups=2).asnumpy().shape == (1, 3, 16)


def _places(*numbers):
    return [mx.nd.array(np.array([n]), dtype="int64") for n in numbers]


@pytest.mark.parametrize("case,change,message", [
    ({"room": 64, "tokens": (40,)}, {}, "take. index 39.*accepted: 0 to 31"),                  # of angles
    ({"extra": ("places",)}, {"places": [[32]]}, "take. index 32.*accepted: 0 to 31"),
    ({"extra": ("places",)}, {"places": [[-1]]}, "take. index -1"),
    ({"rotary": False}, {"l": [30]}, "_cache_append. rows from 30 to 31.*0 to 24")])
def test_places_that_are_not_there(case, change, message):
    data, feeds = _group(**case)
    feeds.update({name: np.array(value, feeds[name].dtype) for name, value in change.items()})
    arrays = _arrays(feeds)
    with pytest.raises(mx.MXNetError, match=message):
        mx.onnx.load(data).run(arrays, out={"y_k": arrays["pk"], "y_v": arrays["pv"]})["y"].asnumpy()


@pytest.mark.parametrize("room,total", [(24, 40), (0, 2)])
def test_tokens_that_no_cache_has(room, total):
    """More in all than there were and are new: known before the call where it is a size of a
    mask."""
    data, feeds = _group(room=room, tokens=(1,))
    made = onnx.load_from_string(data)
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.array(total, np.int32), "t"))
    feeds.pop("t")
    net = mx.onnx.load(made.SerializeToString())
    with pytest.raises(mx.MXNetError, match=f"GroupQueryAttention.*total_sequence_length is {total}.*up to {room + 1}"):
        net.run(feeds)


@pytest.mark.parametrize("domain", ["com.microsoft", ""])
def test_angles_that_are_not_there(domain):
    feeds = {"x": np.ones((1, 2, 3, 8), "float32"), "places": np.array([[0, 1, 5]]), "cos": np.ones((5, 4), "float32"),
             "sin": np.ones((5, 4), "float32")}
    inputs, more = (["x", "places", "cos", "sin"], MICROSOFT) if domain else (["x", "cos", "sin", "places"], {})
    net = mx.onnx.load(model([node("RotaryEmbedding", inputs, ["y"], **more)], feeds, {}, opset=23))
    with pytest.raises(mx.MXNetError, match="index 5 at position 2 is out of range; accepted: 0 to 4"):
        net(**feeds).asnumpy()


def test_rows_that_do_not_count_have_no_angles():
    """They are behind the last token, and there the table may end."""
    data, feeds = _group(steps=6, tokens=(32, 30), room=40, extra=("rows",))
    feeds["rows"] = np.array([2, 6], np.int32)
    arrays = _arrays(feeds)
    y = mx.onnx.load(data).run(arrays, out={"y_k": arrays["pk"], "y_v": arrays["pv"]})["y"].asnumpy()
    assert np.isfinite(y[0, :2]).all() and np.isfinite(y[1]).all()
