"""SparseAttention: blocks of keys that a matrix of blocks names, with caches in place."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, model, node, ort

RANDOM = np.random.RandomState(0)
ROWS = np.array([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]], "int32")
COLUMNS = np.array([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]], "int32")
BATCH, HEADS, GROUPS, SIZE, ROOM, BLOCK = 2, 4, 2, 16, 64, 16
NAMES = ["q", "k", "v", "past_key", "past_value", "rows", "columns", "total", "lengths", "cos", "sin"]


def made(feeds, layouts=2, **attributes):
    """The bytes, whose matrix of blocks is a constant."""
    names = [n if n in feeds or n in ("rows", "columns") else "" for n in NAMES]
    while not names[-1]:
        names.pop()
    nodes = [node("SparseAttention", names, ["y", "y_key", "y_value"], num_heads=HEADS, kv_num_heads=GROUPS,
                  sparse_block_size=BLOCK, **attributes, **MICROSOFT)]
    return model(nodes, feeds, {"rows": ROWS[:layouts], "columns": COLUMNS[:layouts]})


def theirs(data, feeds):
    """onnxruntime wants caches and presents to be one buffer."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    copies = {k: v.copy() for k, v in feeds.items()}   # values do not keep them
    bound, values = session.io_binding(), {k: ort.OrtValue.ortvalue_from_numpy(v) for k, v in copies.items()}
    for name, value in values.items():
        bound.bind_ortvalue_input(name, value)
    bound.bind_output("y")
    bound.bind_ortvalue_output("y_key", values["past_key"])
    bound.bind_ortvalue_output("y_value", values["past_value"])
    session.run_with_iobinding(bound)
    return [v.numpy().copy() for v in bound.get_outputs()]


def alone(feeds, i, layouts, attributes):
    own = {k: v if k in ("cos", "sin") else v[i:i + 1] for k, v in feeds.items()}
    own["total"] = own["lengths"]
    return theirs(made(own, layouts, **attributes), own)


def floats(*shape):
    return RANDOM.randn(*shape).astype("float32")


def feeds_of(steps, lengths, packed=False, rotary=False):
    width, more = HEADS * SIZE, GROUPS * SIZE
    given = {"q": floats(BATCH, steps, width + 2 * more if packed else width)}
    if not packed:
        given.update(k=floats(BATCH, steps, more), v=floats(BATCH, steps, more))
    given.update(past_key=floats(BATCH, GROUPS, ROOM, SIZE), past_value=floats(BATCH, GROUPS, ROOM, SIZE),
                 total=np.array([max(lengths)], "int32"), lengths=np.array(lengths, "int32"))
    if rotary:
        angles = RANDOM.rand(ROOM, SIZE // 2)
        given.update(cos=np.cos(angles).astype("float32"), sin=np.sin(angles).astype("float32"))
    return given


@pytest.mark.parametrize("steps, lengths", [(40, [40, 40]), (64, [64, 64]), (5, [5, 5]), (1, [33, 33]), (1, [33, 50]),
                                            (1, [1, 64])])
@pytest.mark.parametrize("attributes", [{}, {"do_rotary": 1}, {"do_rotary": 1, "rotary_interleaved": 1, "scale": 0.3}], ids=str)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("layouts", [1, 2])
def test_blocks(steps, lengths, attributes, packed, layouts):
    feeds = feeds_of(steps, lengths, packed, "do_rotary" in attributes)
    data = made(feeds, layouts, **attributes)
    got = mx.onnx.load(data).run(feeds)
    if len(set(lengths)) == 1:
        want = theirs(data, feeds)
    else:  # there the shorter texts of a batch see memory that nothing was written to
        want = zip(*(alone(feeds, i, layouts, attributes) for i in range(BATCH)))
        want = [np.concatenate(some) for some in want]
    for one, other in zip(got.values(), want):
        np.testing.assert_allclose(one.asnumpy(), other, rtol=1e-4, atol=1e-5)


def test_one_plan_serves_all_steps_and_copies_no_cache():
    feeds = feeds_of(1, [1, 1])
    runner = mx.onnx.load(made(feeds))
    key, value = (mx.nd.array(feeds[n]) for n in ("past_key", "past_value"))
    for step in range(1, 40):
        given = feeds_of(1, [step, step])
        again = {**given, "past_key": key.asnumpy(), "past_value": value.asnumpy()}
        want = theirs(made(given), again)
        got = runner.run({**given, "past_key": key, "past_value": value}, out={"y_key": key, "y_value": value})
        np.testing.assert_allclose(got["y"].asnumpy(), want[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(key.asnumpy(), want[1], rtol=1e-5)
    assert runner.explain().count("plan of") <= 1


@pytest.mark.parametrize("change, message", [
    ({"rows": np.array([[0, 1, 3, 5, 12]], "int32")}, "name columns 5 to 12 of 9"),
    ({"columns": np.full((1, 9), 4, "int32")}, "a block is 4; accepted: 0 to 3"),
    ({"rows": np.zeros((1, 20000), "int32")}, "1 layouts of 19999 blocks; accepted: up to 134217728 pairs of blocks"),
    ({"lengths": np.array([4], "int32")}, "key_total_sequence_lengths have shape"),
    ({"past_key": np.zeros((BATCH, GROUPS, 80, SIZE), "float32"),
      "past_value": np.zeros((BATCH, GROUPS, 80, SIZE), "float32")}, "room for 80 tokens; accepted: up to 64")])
def test_what_is_refused(change, message):
    feeds = {**feeds_of(4, [4, 4]), "rows": ROWS[:1], "columns": COLUMNS[:1], **change}
    weights = {k: feeds.pop(k) for k in ("rows", "columns")}
    nodes = [node("SparseAttention", NAMES[:9], ["y", "y_key", "y_value"], num_heads=HEADS, kv_num_heads=GROUPS,
                  sparse_block_size=BLOCK, **MICROSOFT)]
    with pytest.raises(ValueError, match=message):
        mx.onnx.load(model(nodes, feeds, weights)).run(feeds)
