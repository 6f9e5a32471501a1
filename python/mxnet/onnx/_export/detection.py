"""Boxes: anchors, overlaps, codes, matches; and pictures."""
import numpy as np

from ... import ndarray as nd
from .rounds import repeat
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = ["columns", "to_center", "to_corner"]


def columns(c, x, begin, end):
    """Columns of the last axis."""
    return c.slice(x, -1, begin, end)


def to_center(c, boxes):
    """Boxes by their middle and size, of those by their corners."""
    low, high = columns(c, boxes, 0, 2), columns(c, boxes, 2, 4)
    middle = c.op("Mul", c.op("Add", low, high), c.const(0.5))
    return c.op("Concat", middle, c.op("Sub", high, low), axis=-1)


def to_corner(c, boxes):
    """The other way round."""
    middle = columns(c, boxes, 0, 2)
    half = c.op("Mul", columns(c, boxes, 2, 4), c.const(0.5))
    return c.op("Concat", c.op("Sub", middle, half), c.op("Add", middle, half), axis=-1)


@converts("_contrib_MultiBoxPrior")
def _(c):
    """Anchors depend on the size of the array alone, so they are computed now."""
    dims = c.dims()
    if not all(map(is_static, dims[2:])):
        raise c.unsupported("an image of free size", "fixed sizes")
    names = ("sizes", "ratios", "clip", "steps", "offsets")
    anchors = nd.contrib.MultiBoxPrior(nd.zeros((1, 1, *c.shape()[2:])),
                                       **{n: c.params[n] for n in names})
    return c.const(anchors.asnumpy(), c.out_dtype())


@converts("_contrib_box_iou")
def _(c):
    """The part that two boxes share, of every pair."""
    left, right = c[0], c[1]
    if c.params["format"] == "center":
        left, right = to_corner(c, left), to_corner(c, right)
    n, m = c.ndim(0) - 1, c.ndim(1) - 1
    left = c.unsqueeze(left, *range(n, n + m))
    low = c.op("Max", columns(c, left, 0, 2), columns(c, right, 0, 2))
    high = c.op("Min", columns(c, left, 2, 4), columns(c, right, 2, 4))
    shared = _area(c, c.op("Max", c.op("Sub", high, low), c.const(0)))
    whole = [_area(c, c.op("Max", c.op("Sub", columns(c, b, 2, 4), columns(c, b, 0, 2)),
                           c.const(0))) for b in (left, right)]
    union = c.op("Sub", c.op("Add", *whole), shared)
    ratio = c.op("Div", shared, union)
    return c.op("Where", c.op("Greater", union, c.const(0)), ratio, c.const(0))


def _area(c, sides):
    return c.reduce("Prod", sides, [-1], False)


@converts("_contrib_box_decode")
def _(c):
    params = c.params
    anchors = c[1] if params["format"] == "center" else to_center(c, c[1])
    size = columns(c, anchors, 2, 4)
    stds = [params[f"std{i}"] for i in range(4)]
    middle = c.op("Mul", columns(c, c[0], 0, 2), c.const(stds[:2]))
    middle = c.op("Add", c.op("Mul", middle, size), columns(c, anchors, 0, 2))
    grown = c.op("Mul", columns(c, c[0], 2, 4), c.const(stds[2:]))
    if params["clip"] > 0:
        grown = c.op("Min", grown, c.const(params["clip"]))
    half = c.op("Mul", c.op("Mul", c.op("Exp", grown), size), c.const(0.5))
    return c.op("Concat", c.op("Sub", middle, half), c.op("Add", middle, half), axis=-1)


@converts("_contrib_box_encode")
def _(c):
    """Differences of boxes that anchors are matched with, in units of the anchors; zeros for
    anchors without."""
    samples, matches = term(c, 0), c.op("Floor", c[1])
    refs = c.dims(3)[1]
    if not is_static(refs):
        raise c.unsupported("a free number of boxes", "a fixed one")
    known = Term(c, matches, c.dtype(1))
    on = (samples > 0.5) & (known >= 0) & (known < refs[0])
    places = c.cast(c.op("Clip", matches, c.const(0, c.dtype(1)), c.const(refs[0] - 1, c.dtype(1))), np.int64)
    other = c.op("GatherND", c[3], c.unsqueeze(places, 2), batch_dims=1)
    own, other = (Term(c, to_center(c, x), c.dtype(2)) for x in (c[2], other))
    size = own.columns(2, 4)
    moved = (other.columns(0, 2) - own.columns(0, 2)) / size
    grown = (other.columns(2, 4) / size).log()
    code = Term(c, c.op("Concat", moved.name, grown.name, axis=-1), c.dtype(2))
    code = (code - term(c, 4)) / term(c, 5)
    on = on.unsqueeze(2)
    return [on.where(code, 0).name, c.expand(on.to(c.out_dtype(1)).name, c.out_dims(1))]


@converts("_contrib_bipartite_matching")
def _(c):
    """The best pair of those that are left, round by round."""
    params, dims = c.params, c.dims()
    if not all(map(is_static, dims)):
        raise c.unsupported("a free size", "fixed sizes")
    rows, columns = c.shape()[-2:]
    batch = int(np.prod(c.shape()[:-2], dtype=int))
    rounds = min(rows, columns) if params["topk"] <= 0 else min(rows, columns, params["topk"] + 1)
    scores = Term(c, c.op("Reshape", c[0], c.ints(batch, rows * columns)), c.dtype())
    good = scores < params["threshold"] if params["is_ascend"] else scores > params["threshold"]
    ranks = good.where(-scores if params["is_ascend"] else scores, -np.inf)
    marks = [Term(c, c.const(np.full((batch, n), -1.0), c.dtype()), c.dtype()) for n in (rows, columns)]
    of_row, of_column = (c.const(np.arange(rows * columns) // columns, np.int64), c.const(np.arange(rows * columns) % columns, np.int64))
    numbers = [c.const(np.arange(n), np.int64) for n in (rows, columns)]

    def step(body, number, terms):
        left, row_mark, column_mark = terms
        best = left.op("ArgMax", axis=1, keepdims=1, dtype=np.int64)
        some = left.reduce("Max", [1]) > -np.inf
        row, column = best / columns, best.op("Mod", columns)
        here = Term(body, numbers[0], np.int64).same(row) & some
        there = Term(body, numbers[1], np.int64).same(column) & some
        taken = Term(body, of_row, np.int64).same(row) | Term(body, of_column, np.int64).same(column)
        return [taken.where(-np.inf, left), here.where(column.to(left.dtype), row_mark),
                there.where(row.to(left.dtype), column_mark)], None

    states = [(ranks, [(batch,), (rows * columns,)]), (marks[0], [(batch,), (rows,)]), (marks[1], [(batch,), (columns,)])]
    made = repeat(c, states, step, c.const(rounds, np.int64))
    return [c.reshape(made[1].name, c.out_dims(0)), c.reshape(made[2].name, c.out_dims(1))]


# ---- pictures

@converts("_image_to_tensor")
def _(c):
    x = c.op("Div", c.cast(c[0], np.float32), c.const(255, np.float32))
    return c.transpose(x, [2, 0, 1] if c.ndim() == 3 else [0, 3, 1, 2])


@converts("_image_normalize")
def _(c):
    def channels(values):
        return c.const(np.reshape(values, (-1, 1, 1)))

    shifted = c.op("Sub", c[0], channels(c.params["mean"]))
    return c.op("Div", shifted, channels(c.params["std"]))


@converts("_image_crop")
def _(c):
    params, first = c.params, c.ndim() - 3
    begin = (params["y"], params["x"])
    end = (params["y"] + params["height"], params["x"] + params["width"])
    return c.op("Slice", c[0], c.ints(*begin), c.ints(*end), c.ints(first, first + 1))


for _name, _axis in (("_image_flip_left_right", -2), ("_image_flip_top_bottom", -3)):
    converts(_name)(lambda c, axis=_axis: c.slice(
        c[0], c.ndim() + axis, np.iinfo(np.int64).max, np.iinfo(np.int64).min, -1))
