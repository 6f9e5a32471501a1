"""_fused_attention in bfloat16 on a CPU, against the formula in float64 on the same numbers: masks,
lengths, layouts, and sizes that fill neither vectors nor blocks."""
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd


def attention(inputs, **attrs):
    """The operator that plans use, from a file: it has no function."""
    nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(inputs)]
    nodes.append({"op": "_fused_attention", "name": "attention", "attrs": {k: str(v) for k, v in attrs.items()},
                  "inputs": [[i, 0, 0] for i in range(inputs)]})
    graph = {"nodes": nodes, "arg_nodes": list(range(inputs)), "heads": [[inputs, 0, 0]]}
    return nd.CachedOp(mx.sym.load_json(json.dumps(graph)))


def heads_of(x, heads, parts, part):
    """(batch * heads, rows, size) of one part of (rows, batch, heads x parts x size)."""
    rows, batch, _ = x.shape
    return x.reshape(rows, batch * heads, parts, -1)[:, :, part].transpose(1, 0, 2)


def split(arrays, layout, heads):
    if layout == "selfatt":
        return [heads_of(arrays[0], heads, 3, i) for i in range(3)]
    if layout == "encdec":
        return [heads_of(arrays[0], heads, 1, 0)] + [heads_of(arrays[1], heads, 2, i) for i in range(2)]
    return [a.reshape(a.shape[0], a.shape[1], heads, -1).transpose(0, 2, 1, 3).reshape(a.shape[0] * heads, a.shape[1], -1)
            for a in arrays]


def join(y, layout, heads, batch):
    if layout == "separate":
        return y.reshape(batch, heads, y.shape[1], -1).transpose(0, 2, 1, 3).reshape(batch, y.shape[1], -1)
    return y.transpose(1, 0, 2).reshape(y.shape[1], batch, -1)


def expected(q, k, v, scale, mask, lengths):
    scores = scale * (q @ k.transpose(0, 2, 1))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if lengths is not None:
        scores = np.where(np.arange(k.shape[1]) < lengths[:, :, None], scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    return weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300) @ v


def shapes_of(layout, batch, heads, rows, columns, width, value_width):
    if layout == "selfatt":
        return [(columns, batch, heads * 3 * width)]
    if layout == "encdec":
        return [(rows, batch, heads * width), (columns, batch, heads * 2 * width)]
    return [(batch, rows, heads * width), (batch, columns, heads * width), (batch, columns, heads * value_width)]


def check(layout, sizes, mask=None, lengths=None, scale=0.7):
    batch, heads, rows, columns, width, value_width = sizes
    rng = np.random.default_rng(11)
    arrays = [nd.array(rng.uniform(-1, 1, s), dtype="bfloat16") for s in shapes_of(layout, *sizes)]
    more = []
    if mask is not None:
        more.append(nd.array(mask, dtype="bool" if mask.dtype == bool else "bfloat16"))
        mask = mask if mask.dtype == bool else more[0].astype("float32").asnumpy().astype("float64")
    if lengths is not None:
        more.append(nd.array(lengths, dtype="int32"))
    op = attention(len(arrays) + len(more), layout=layout, heads=heads, scale=scale, with_mask=int(mask is not None),
                   with_length=int(lengths is not None))
    got = op(*arrays, *more)
    assert got.dtype == arrays[0].dtype
    exact = [a.astype("float32").asnumpy().astype("float64") for a in arrays]
    want = join(expected(*split(exact, layout, heads), scale, mask, lengths), layout, heads, batch)
    # The weights, whose sum is 1, and the result are rounded to 8 digits each.
    np.testing.assert_allclose(got.astype("float32").asnumpy(), want, rtol=2 ** -8, atol=2 ** -8)


SIZES = (2, 3, 37, 41, 24, 20)


@pytest.mark.parametrize("layout", ["separate", "selfatt", "encdec"])
def test_layouts(layout):
    rows = SIZES[3] if layout == "selfatt" else SIZES[2]
    check(layout, SIZES[:2] + (rows,) + SIZES[3:5] + (SIZES[5] if layout == "separate" else SIZES[4],))


@pytest.mark.parametrize("rows,columns,width,value_width", [
    (8, 1, 1, 1), (9, 2, 3, 5), (13, 31, 7, 33), (14, 33, 40, 17), (15, 64, 32, 32), (29, 48, 16, 16), (300, 100, 65, 47),
    (40, 4100, 8, 9)])
def test_sizes(rows, columns, width, value_width):
    check("separate", (1, 2, rows, columns, width, value_width))


@pytest.mark.parametrize("shape", [(6, 37, 41), (1, 37, 41), (6, 1, 41), (1, 1, 41), (6, 37, 1)])
@pytest.mark.parametrize("kind", ["numbers", "booleans"])
def test_masks(shape, kind):
    rng = np.random.default_rng(5)
    mask = rng.uniform(size=shape) < 0.6 if kind == "booleans" else rng.uniform(-3, 3, shape)
    if kind == "booleans" and shape == (1, 37, 41):
        mask[0, 3] = False      # nothing counts in this row
    check("separate", SIZES, mask, scale=-0.7 if kind == "booleans" else 0.7)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("each", [False, True])
def test_lengths(masked, each):
    rng = np.random.default_rng(6)
    lengths = rng.integers(0, 42, (6, 37 if each else 1))
    lengths[2] = 0
    check("separate", SIZES, rng.uniform(size=(1, 37, 41)) < 0.6 if masked else None, lengths)


def test_elements_behind_a_length_are_not_looked_at():
    arrays = [np.ones((1, 16, 8)), np.ones((1, 5, 8)), np.ones((1, 5, 8))]
    arrays[1][:, 3:], arrays[2][:, 3:] = np.nan, np.inf
    op = attention(4, layout="separate", heads=1, scale=1, with_length=1)
    y = op(*(nd.array(a, dtype="bfloat16") for a in arrays), nd.array([[3]], dtype="int32"))
    np.testing.assert_array_equal(y.astype("float32").asnumpy(), np.ones((1, 16, 8)))
