"""Models with several residual streams, tables of hashed words, words in letters, texts that are
guessed and checked, and an LSTM that asks a memory: com.microsoft's operators."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from import_checks import MICROSOFT, check, model, node, onnx, ours, theirs

RANDOM = np.random.RandomState(8)
STREAMS, WIDTH = 3, 4


def floats(*shape):
    return RANDOM.randn(*shape).astype("f")


def flat(x):
    return x.reshape(*x.shape[:-2], -1)


def one(op, feeds, outputs=1, names=None, **attributes):
    names = list(feeds) if names is None else names
    return node(op, names, [f"y{i}" for i in range(outputs)], **attributes, **MICROSOFT)


@pytest.mark.parametrize("scale", [None, (WIDTH,), (STREAMS, WIDTH), (STREAMS * WIDTH,)])
def test_norm_of_streams(scale):
    x = floats(2, 5, STREAMS, WIDTH)
    more = {} if scale is None else {"s": floats(*scale)}
    check(one("BranchwiseRMSNorm", {"x": x, **more}, epsilon=1e-3), {"x": x, **more})
    feeds = {"x": flat(x), **more}
    check(one("BranchwiseRMSNorm", feeds, num_branches=STREAMS), feeds)


@pytest.mark.parametrize("gates", [(2, 5, STREAMS), (2, 5, STREAMS, 1), (2, 5, STREAMS, WIDTH)])
def test_mixing_streams(gates):
    x, gate, block, mix = floats(2, 5, STREAMS, WIDTH), floats(*gates), floats(2, 5, WIDTH), floats(2, 5, STREAMS, STREAMS)
    for data, more in ((x, {}), (flat(x), {"num_branches": STREAMS})):
        check(one("HyperConnectionPreMix", {"x": data, "g": gate}, reduction_scale=0.5, **more), {"x": data, "g": gate})
        for feeds in ({"x": data, "b": block, "g": gate}, {"x": data, "b": block, "g": gate, "m": mix}):
            check(one("HyperConnectionPostMix", feeds, **more), feeds)


def test_gates_beside_flat_streams():
    feeds = {"x": floats(2, STREAMS * WIDTH), "g": floats(2, STREAMS * WIDTH)}
    check(one("HyperConnectionPreMix", feeds, num_branches=STREAMS), feeds)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("before", [False, True])
def test_gates_of_low_rank(before):
    """onnxruntime has it on GPUs alone: this is its definition, written in NumPy."""
    rank, size = 5, STREAMS * WIDTH
    feeds = {"x": floats(2, 6, size), "s": floats(size), "d": floats(size, rank), "u": floats(rank, size), "i": floats(size, STREAMS)}
    if before:
        feeds.update(b=floats(2, 6, WIDTH), g=floats(2, 6, STREAMS))
    made = one("HyperConnectionLowRankMix", feeds, 3, num_branches=STREAMS, silu_alpha=1.5, gate_mul=2.0, gate_div=4.0, reduction_scale=0.3)
    streams = feeds["x"].reshape(2, 6, STREAMS, WIDTH).astype("d")
    if before:
        streams = streams + feeds["g"][..., None] * feeds["b"][:, :, None]
    normed = flat(streams / np.sqrt((streams ** 2).mean(-1, keepdims=True) + 1e-5)) * feeds["s"]
    down = 1.5 * (normed @ feeds["d"])
    gate = sigmoid((down * sigmoid(down)) @ feeds["u"])
    wanted = [0.3 * (normed * gate).reshape(streams.shape).sum(2), sigmoid((normed @ feeds["i"]) / 4) * 2, flat(streams)]
    for got, want in zip(ours(model([made], feeds, {}), feeds), wanted):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_gate_of_hashed_words():
    shape = (2, 5, STREAMS, WIDTH)
    feeds = {"k": floats(*shape), "q": floats(*shape), "v": floats(2, 5, WIDTH), "ks": floats(STREAMS, WIDTH), "qs": floats(STREAMS, WIDTH),
             "cs": floats(STREAMS, WIDTH)}
    check(one("EngramGate", feeds, 2), feeds)
    del feeds["cs"]
    check(one("EngramGate", feeds), feeds)
    feeds["k"][0] = 0    # the gate's sign is none
    check(one("EngramGate", feeds), feeds)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("past, offsets, end, segments", [
    (False, False, None, False), (True, False, None, False), (False, True, 4, False), (True, True, 4, True), (False, False, 4, True),
    (True, False, None, True)])
@pytest.mark.parametrize("reset", [0, 1])
def test_hashes_of_words(dtype, past, offsets, end, segments, reset):
    feeds = {"i": RANDOM.randint(0, 6, (2, 9)).astype(dtype),
             "m": np.array([3, 2 ** 30 + 7, -11] if dtype == "i4" else [3, 2 ** 62 + 7, -11], dtype),   # products wrap
             "v": np.array([17, 19, 23, 29], dtype)}
    if past:
        feeds["p"] = RANDOM.randint(0, 6, (2, 2)).astype(dtype)
    if offsets:
        feeds["o"] = np.array([0, 17, 36, 59], dtype)
    if end is not None:
        feeds["e"] = np.array(end, dtype)
    if segments:
        feeds["s"] = np.sort(RANDOM.randint(0, 3, (2, 9)), 1).astype("i4")
    names = ["i", "m", "v", *(n if n in feeds else "" for n in "poes")]
    while not names[-1]:
        names.pop()
    made = one("NGramHashMapping", feeds, 2, names, max_ngram_size=3, n_head_per_ngram=2, pad_id=1, reset_on_eos=reset)
    check(made, feeds)


@pytest.mark.parametrize("length", [1, 2])
def test_hashes_of_texts_that_are_shorter_than_what_is_hashed(length):
    feeds = {"i": RANDOM.randint(0, 6, (1, length)), "m": np.array([3, 5, 7, 9]), "v": np.array([17, 19, 23]),
             "s": np.arange(length).astype("i4")[None]}
    check(one("NGramHashMapping", feeds, 2, ["i", "m", "v", "", "", "", "s"], max_ngram_size=4, n_head_per_ngram=1, pad_id=1), feeds)


def test_tables_without_entries():
    feeds = {"i": np.array([[1, 2]]), "m": np.array([3, 5])}
    with pytest.raises(mx.MXNetError, match="vocab_sizes has 0"):
        made = one("NGramHashMapping", {**feeds, "v": 0}, max_ngram_size=2, n_head_per_ngram=1, pad_id=1)
        ours(model([made], feeds, {"v": np.array([0])}), feeds)


# ---- words

def letters(lengths, size):
    made = RANDOM.randint(1, 7, (len(lengths), size)).astype("i4")
    for row, length in zip(made, lengths):
        row[length:] = 0
    return made


def test_words_in_letters():
    feeds = {"s": letters([1, 2, 3, 5, 8], 8), "w": floats(4, 1, 3, 5), "b": floats(4), "c": floats(7, 5)}
    check(one("WordConvEmbedding", feeds), feeds)
    check(one("WordConvEmbedding", feeds, embedding_size=4, conv_window_size=3, char_embedding_size=5), feeds)
    feeds["s"][2, 5] = 4    # letters behind a gap count
    check(one("WordConvEmbedding", feeds), feeds)


def test_a_word_without_letters_is_zeros():
    feeds = {"s": letters([0, 3], 4), "w": floats(4, 1, 3, 5), "b": floats(4), "c": floats(7, 5)}
    data = model([one("WordConvEmbedding", feeds)], feeds, {})
    (got,), (want,) = ours(data, feeds), theirs(data, feeds)
    assert (got[0] == 0).all()
    np.testing.assert_allclose(got[1], want[1], rtol=1e-5)


@pytest.mark.parametrize("letter", [7, -8])
def test_letters_that_the_table_lacks(letter):
    feeds = {"s": np.array([[1, letter, 2]], "i4"), "w": floats(4, 1, 3, 5), "b": floats(4), "c": floats(7, 5)}
    with pytest.raises(mx.MXNetError):
        ours(model([one("WordConvEmbedding", feeds)], feeds, {}), feeds)


def test_words_that_are_shorter_than_the_window():
    feeds = {"s": letters([1, 2], 2), "w": floats(4, 1, 3, 5), "b": floats(4), "c": floats(7, 5)}
    with pytest.raises(mx.MXNetError, match="no shorter than the window"):
        ours(model([one("WordConvEmbedding", feeds)], feeds, {}), feeds)


@pytest.mark.parametrize("seed", range(12))
def test_texts_that_are_guessed_and_checked(seed):
    rng = np.random.RandomState(seed)
    source, text, place = rng.randint(0, 4, rng.randint(3, 9)), rng.randint(0, 4, rng.randint(1, 6)), 0
    place = rng.randint(0, len(source))
    said = np.append(source[place:], rng.randint(0, 4))
    said[rng.randint(0, len(said)):] = rng.randint(0, 4)
    feeds = {"a": source, "b": text, "p": np.array([place]), "q": said}
    least = rng.randint(1, 3)
    check(one("BifurcationDetector", feeds, 2, min_ngram_size=least, max_ngram_size=least + rng.randint(0, 3)), feeds)
    del feeds["q"]
    check(one("BifurcationDetector", feeds, 2), feeds)


# ---- maxima of what a mask shows

@pytest.mark.parametrize("spatial, mask, attributes", [
    ((8,), (1, 1), {"kernel_shape": [3]}), ((8,), (2, 2), {"kernel_shape": [3], "pads": [1, 1]}),
    ((7,), (2, 2), {"kernel_shape": [2], "strides": [2]}), ((5, 6), (1, 1), {"kernel_shape": [3, 2]}),
    ((5, 5), (2, 2), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ((4, 4, 5), (1, 1), {"kernel_shape": [3, 2, 2]}), ((8,), (1, 1), {"kernel_shape": [3], "auto_pad": "SAME_UPPER"})])
def test_maxima_of_what_a_mask_shows(spatial, mask, attributes):
    feeds = {"x": floats(2, 2, *spatial), "m": (RANDOM.rand(*mask, *spatial) > 0.3).astype("i4")}
    check(one("MaxpoolWithMask", feeds, **attributes), feeds)


def test_a_mask_of_other_sizes():
    feeds = {"x": floats(1, 1, 6), "m": np.ones((1, 1, 5), "i4")}
    with pytest.raises(mx.MXNetError, match="a mask of the same spatial sizes"):
        ours(model([one("MaxpoolWithMask", feeds, kernel_shape=[2])], feeds, {}), feeds)


# ---- an LSTM that asks a memory

STEPS, BATCH, INPUT, HIDDEN, DEPTH, LENGTH, UNITS, FOUND = 5, 2, 3, 4, 6, 7, 5, 8


def asking(directions=1, layer=False, lengths=False, states=False, peepholes=False, memory=False):
    found = FOUND if layer else DEPTH
    feeds = {"x": floats(STEPS, BATCH, INPUT), "w": floats(directions, 4 * HIDDEN, INPUT + found),
             "r": floats(directions, 4 * HIDDEN, HIDDEN), "b": floats(directions, 8 * HIDDEN)}
    if lengths:
        feeds["l"] = np.array([5, 3], "i4")
    if states:
        feeds.update(h=floats(directions, BATCH, HIDDEN), c=floats(directions, BATCH, HIDDEN))
    if peepholes:
        feeds["p"] = floats(directions, 3 * HIDDEN)
    feeds.update(qw=floats(directions, HIDDEN, UNITS), mw=floats(directions, DEPTH, UNITS), v=floats(directions, UNITS),
                 m=floats(BATCH, LENGTH, DEPTH))
    if memory:
        feeds["ml"] = np.array([7, 4], "i4")
    if layer:
        feeds["aw"] = floats(directions, DEPTH + HIDDEN, FOUND)
    return feeds


def lstm(feeds, **attributes):
    names = [n if n in feeds else "" for n in ("x", "w", "r", "b", "l", "h", "c", "p", "qw", "mw", "v", "m", "ml", "aw")]
    while not names[-1]:
        names.pop()
    return one("AttnLSTM", feeds, 3, names, hidden_size=HIDDEN, **attributes)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("layer", [False, True])
@pytest.mark.parametrize("lengths, states, peepholes, memory", [
    (False, False, False, False), (True, False, False, True), (False, True, True, False), (True, True, True, True)])
def test_an_lstm_that_asks_a_memory(direction, layer, lengths, states, peepholes, memory):
    feeds = asking(2 if direction == "bidirectional" else 1, layer, lengths, states, peepholes, memory)
    check(lstm(feeds, direction=direction), feeds)
    weights = {n: feeds.pop(n) for n in ("w", "r", "b", "qw", "mw", "v", "aw") if n in feeds}
    check(lstm({**feeds, **weights}, direction=direction, clip=0.9), feeds, weights)


def test_a_memory_that_does_not_fit():
    feeds = {**asking(), "mw": floats(1, DEPTH + 1, UNITS)}
    with pytest.raises(mx.MXNetError, match="AttnLSTM.*MW"):
        ours(model([lstm(feeds)], feeds, {}), feeds)


# ---- training

@pytest.mark.parametrize("what", ["norm", "pre", "post", "gate", "letters", "mask", "memory"])
def test_blocks_learn(what):
    """Each array of floats has a gradient that is right along a direction."""
    x = floats(2, 5, STREAMS, WIDTH)
    cases = {
        "norm": ("BranchwiseRMSNorm", {"x": x, "s": floats(STREAMS, WIDTH)}, {}),
        "pre": ("HyperConnectionPreMix", {"x": x, "g": floats(2, 5, STREAMS)}, {}),
        "post": ("HyperConnectionPostMix", {"x": x, "b": floats(2, 5, WIDTH), "g": floats(2, 5, STREAMS),
                                            "m": floats(2, 5, STREAMS, STREAMS)}, {}),
        "gate": ("EngramGate", {"k": x, "q": floats(*x.shape), "v": floats(2, 5, WIDTH), "ks": floats(STREAMS, WIDTH),
                                "qs": floats(STREAMS, WIDTH)}, {}),
        "letters": ("WordConvEmbedding", {"s": letters([1, 3, 8], 8), "w": floats(4, 1, 3, 5), "b": floats(4), "c": floats(7, 5)}, {}),
        "mask": ("MaxpoolWithMask", {"x": floats(2, 2, 8), "m": np.ones((1, 1, 8), "i4")}, {"kernel_shape": [3]}),
        "memory": (None, asking(layer=True, lengths=True, memory=True), {})}
    op, feeds, attributes = cases[what]
    made = lstm(feeds) if op is None else one(op, feeds, **attributes)
    block = mx.onnx.load(model([made], feeds, {})).to_block()
    arrays = {n: mx.nd.array(v, dtype=v.dtype) for n, v in feeds.items()}
    learned = [a for a in arrays.values() if a.dtype == np.float32]
    for a in learned:
        a.attach_grad()

    def first(values):
        made = block(*values)
        return made[0] if isinstance(made, (list, tuple)) else made
    with autograd.record():
        y = first(arrays.values())
    og = mx.nd.array(floats(*y.shape))
    y.backward(og)
    for a in learned:
        step = 3e-3 * mx.nd.array(np.sign(floats(*a.shape)))
        moved = [[v + s * step if v is a else v for v in arrays.values()] for s in (1, -1)]
        sides = [(first(values).asnumpy().astype("d") * og.asnumpy()).sum() for values in moved]
        np.testing.assert_allclose((a.grad * step).sum().asscalar(), (sides[0] - sides[1]) / 2, rtol=5e-2, atol=2e-3)
        assert a.grad.abs().max().asscalar() > 0


def test_a_sparse_weight_times_a_dense_array():
    values, indices = floats(4), np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
    h = onnx.helper
    sparse = h.make_sparse_tensor(onnx.numpy_helper.from_array(values, "a"), onnx.numpy_helper.from_array(indices, "i"), [3, 4])
    whole = np.zeros((3, 4), "f")
    whole[tuple(indices.T)] = values
    for across in (0, 1):
        b = floats(3 if across else 4, 5)
        graph = h.make_graph([h.make_node("SparseToDenseMatMul", ["a", "b"], ["y"], alpha=2.0, transA=across, **MICROSOFT)], "g",
                             [h.make_tensor_value_info("b", onnx.TensorProto.FLOAT, b.shape)], [onnx.ValueInfoProto(name="y")],
                             sparse_initializer=[sparse])
        opsets = [h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)]
        data = h.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
        (got,) = ours(data, {"b": b})
        np.testing.assert_allclose(got, 2 * (whole.T if across else whole) @ b, rtol=1e-5, atol=1e-6)


# ---- rows that are packed as in GGUF files

PACKED = {1: (1, 2), 2: (32, 18), 6: (32, 22), 8: (32, 34), 13: (256, 176), 14: (256, 210), 30: (1, 2)}
HALVES = {2: (0,), 6: (0,), 8: (0,), 13: (0, 2), 14: (208,)}    # where a block has float16


def table(kind, rows, size):
    numbers, width = PACKED[kind]
    data = RANDOM.randint(0, 256, (rows, size // numbers, width)).astype("u1")
    for at in HALVES.get(kind, ()):
        data[..., at:at + 2] = RANDOM.uniform(-0.1, 0.1, data.shape[:2]).astype("f2").view("u1").reshape(*data.shape[:2], 2)
    if numbers == 1:
        floats_ = floats(rows, size)
        data = floats_.astype("f2").view("u1") if kind == 1 else np.ascontiguousarray(floats_.view("u1").reshape(rows, size, 4)[..., 2:])
    return data.reshape(rows, -1)


@pytest.mark.parametrize("kind", PACKED)
def test_rows_of_packed_tables(kind):
    data, indices = table(kind, 5, 512), np.array([[0, 4, 2], [-1, 5, 1]])
    made = one("GatherPacked", {"t": 0, "i": 0}, packed_type=kind, K=512, output_dtype=1)
    check(made, {"i": indices}, {"t": data}, rtol=1e-6, atol=1e-7)
    check(made, {"t": data, "i": indices.astype("i4")}, rtol=1e-6, atol=1e-7)


def test_a_packed_table_learns():
    data, indices = table(13, 5, 256), np.array([0, 4, 4])
    made = one("GatherPacked", {"t": 0, "i": 0}, packed_type=13, K=256, output_dtype=1)
    whole = model([made], {"i": indices}, {"t": data})
    block = mx.onnx.load(whole).to_block()
    with autograd.record():
        y = block(mx.nd.array(indices, dtype="int64"))
    og = floats(3, 256)
    y.backward(mx.nd.array(og))
    np.testing.assert_allclose(y.asnumpy(), ours(whole, {"i": indices})[0], rtol=1e-6)
    (parameter,) = [p for p in block.collect_params().values() if p.grad_req != "null"]
    want = np.zeros((5, 256), "f")
    np.add.at(want, indices, og)
    np.testing.assert_allclose(parameter.grad().asnumpy(), want, rtol=1e-6)


@pytest.mark.parametrize("attributes, what", [({"packed_type": 5, "K": 256}, "packed_type is 5"), ({"packed_type": 2, "K": 40}, "K is 40")])
def test_packed_tables_that_are_not_known(attributes, what):
    made = one("GatherPacked", {"t": 0, "i": 0}, output_dtype=1, **attributes)
    with pytest.raises(mx.MXNetError, match=what):
        ours(model([made], {"i": np.array([0])}, {"t": table(2, 2, 256)}), {"i": np.array([0])})
