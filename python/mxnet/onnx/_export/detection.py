"""Boxes: suppression, anchors, regions."""
import numpy as np

from ... import ndarray as nd
from .rounds import repeat
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = []

_APART = 1e4    # boxes of other classes are moved by so many times the largest coordinate


def _columns(c, x, begin, end):
    """Columns of the last axis."""
    return c.slice(x, -1, begin, end)


def _to_center(c, boxes):
    low, high = _columns(c, boxes, 0, 2), _columns(c, boxes, 2, 4)
    middle = c.op("Mul", c.op("Add", low, high), c.const(0.5))
    return c.op("Concat", middle, c.op("Sub", high, low), axis=-1)


def _to_corner(c, boxes):
    middle = _columns(c, boxes, 0, 2)
    half = c.op("Mul", _columns(c, boxes, 2, 4), c.const(0.5))
    return c.op("Concat", c.op("Sub", middle, half), c.op("Add", middle, half), axis=-1)


def _never_turned(c, corners):
    """Boxes that end before they begin are empty: readers would exchange their corners."""
    low, high = _columns(c, corners, 0, 2), _columns(c, corners, 2, 4)
    return c.op("Concat", low, c.op("Max", low, high), axis=-1)


def _apart_by_class(c, corners, classes):
    """Boxes of each class where those of no other class are."""
    largest = c.op("Add", c.reduce("Max", c.op("Abs", corners), [0, 1, 2]), c.const(1))
    step = c.op("Mul", classes, c.op("Mul", largest, c.const(2)))
    return c.op("Add", corners, step)


def _suppressed(c, corners, scores, overlap, count):
    """Which boxes stay: (batch, boxes) of truth values.

    `scores` is (batch, boxes), below or at -1 for boxes that are out of the question.
    """
    chosen = c.op("NonMaxSuppression", corners, c.unsqueeze(scores, 1),
                  c.const([_LARGEST], np.int64), c.const([overlap], np.float32),
                  c.const([-0.5], np.float32))
    places = c.op("Gather", chosen, c.ints(0, 2), axis=1)
    nowhere = c.expand(c.const(0, np.int32), count)
    ones = c.op("Expand", c.const(1, np.int32),
                c.op("Slice", c.op("Shape", chosen), c.ints(0), c.ints(1)))
    return c.cast(c.op("ScatterND", nowhere, places, ones), np.bool_)


_LARGEST = 2**31 - 1


def _ranks(c, scores, kept_first, boxes):
    """Positions of boxes by falling score, those of `kept_first` before all others."""
    lifted = c.op("Add", scores, c.op("Where", kept_first, c.const(_APART), c.const(0)))
    return c.op("TopK", lifted, c.size(boxes), outputs=2, axis=1)[1]


def _by_rank(c, x, ranks):
    """Rows of (batch, boxes, columns) in the order of `ranks`."""
    return c.op("GatherND", x, c.unsqueeze(ranks, 2), batch_dims=1)


def _without_rank(c, scores, boxes, count):
    """Where a score is among the `count` largest."""
    if count < 0:
        return None
    if is_static(boxes):
        count = min(count, boxes[0])
    least = c.op("TopK", scores, c.ints(count), outputs=2, axis=1)[0]
    return c.op("GreaterOrEqual", scores, c.slice(least, 1, count - 1, count))


@converts("_contrib_box_nms")
def _(c):
    params, dims = c.params, c.dims()
    batch = (int(np.prod(c.shape()[:-2])),) if len(dims) != 3 else dims[0]
    if len(dims) != 3:
        if not all(map(is_static, dims[:-2])):
            raise c.unsupported("free sizes in front of boxes", "arrays of 3 dimensions")
    boxes = dims[-2]
    x = c[0] if len(dims) == 3 else c.reshape(c[0], [batch, boxes, dims[-1]])
    start, place = params["coord_start"], params["score_index"]
    scores = c.squeeze(_columns(c, x, place, place + 1), 2)
    coordinates = _columns(c, x, start, start + 4)
    corners = _to_corner(c, coordinates) if params["in_format"] == "center" else coordinates
    corners = _never_turned(c, corners)
    valid = c.op("Greater", scores, c.const(params["valid_thresh"]))
    classes = None
    if params["id_index"] >= 0:
        classes = _columns(c, x, params["id_index"], params["id_index"] + 1)
        named = c.op("Equal", c.squeeze(classes, 2), c.const(params["background_id"]))
        valid = c.op("And", valid, c.op("Not", named))
    candidates = c.op("Where", valid, scores, c.const(-1))
    first = _without_rank(c, candidates, boxes, params["topk"])
    if first is not None:
        candidates = c.op("Where", first, candidates, c.const(-1))
    if classes is not None and not params["force_suppress"]:
        corners = _apart_by_class(c, corners, classes)
    # A score may be negative where valid_thresh is: only their order counts.
    stays = _suppressed(c, corners, _shifted(c, candidates, params), params["overlap_thresh"],
                        [batch, boxes])
    stays = c.op("And", stays, valid if first is None else c.op("And", valid, first))
    ranks = _ranks(c, candidates, stays, boxes)
    rows = _converted(c, x, coordinates, start, dims[-1][0], params)
    rows = _by_rank(c, rows, ranks)
    kept = _by_rank(c, c.unsqueeze(c.cast(stays, np.int32), 2), ranks)
    rows = c.op("Where", c.cast(kept, np.bool_), rows, c.const(-1))
    return rows if len(dims) == 3 else c.reshape(rows, dims)


def _shifted(c, scores, params):
    if params["valid_thresh"] >= 0:
        return scores
    raise c.unsupported(f"valid_thresh {params['valid_thresh']}", "0 and more")


def _converted(c, x, coordinates, start, width, params):
    """The rows with coordinates in the form that is asked for."""
    if params["in_format"] == params["out_format"]:
        return x
    change = _to_center if params["out_format"] == "center" else _to_corner
    parts = [change(c, coordinates)]
    if start > 0:
        parts.insert(0, _columns(c, x, 0, start))
    if start + 4 < width:
        parts.append(_columns(c, x, start + 4, width))
    return parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=-1)


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


@converts("_contrib_MultiBoxDetection")
def _(c):
    """Rows of class, score and box, by falling score; the class is -1 where another box is."""
    params = c.params
    background, classes = params["background_id"], c.shape()[1]
    if background != 0:
        raise c.unsupported(f"background_id {background}", "0")
    batch, boxes = c.dims()[0], c.dims()[2]
    foreground = c.slice(c[0], 1, 1, classes)
    scores = c.reduce("Max", foreground, [1], False)
    names = c.cast(c.op("ArgMax", foreground, axis=1, keepdims=0), c.dtype())
    corners = _decoded(c, params)
    valid = c.op("GreaterOrEqual", scores, c.const(params["threshold"]))
    candidates = c.op("Where", valid, scores, c.const(-1))
    first = _without_rank(c, candidates, boxes, params["nms_topk"])
    if first is not None:
        candidates = c.op("Where", first, candidates, c.const(-1))
    apart = corners if params["force_suppress"] else \
        _apart_by_class(c, corners, c.unsqueeze(names, 2))
    stays = _suppressed(c, apart, candidates, params["nms_threshold"], [batch, boxes])
    names = c.op("Where", c.op("And", stays, valid), names, c.const(-1))
    rows = c.op("Concat", c.unsqueeze(names, 2), c.unsqueeze(scores, 2), corners, axis=-1)
    rows = c.op("Where", c.unsqueeze(valid, 2), rows, c.const(-1))
    order = _ranks(c, candidates, valid, boxes)
    return _by_rank(c, rows, order)


def _decoded(c, params):
    """Boxes from their differences to anchors."""
    moved = c.reshape(c[1], [c.dims()[0], c.dims()[2], 4])
    anchors = _to_center(c, c[2])
    variances = params["variances"]
    size = _columns(c, anchors, 2, 4)
    middle = c.op("Mul", _columns(c, moved, 0, 2), c.const(variances[:2]))
    middle = c.op("Add", c.op("Mul", middle, size), _columns(c, anchors, 0, 2))
    grown = c.op("Exp", c.op("Mul", _columns(c, moved, 2, 4), c.const(variances[2:])))
    half = c.op("Mul", c.op("Mul", grown, size), c.const(0.5))
    corners = c.op("Concat", c.op("Sub", middle, half), c.op("Add", middle, half), axis=-1)
    return c.op("Clip", corners, c.const(0), c.const(1)) if params["clip"] else corners


@converts("_contrib_box_iou")
def _(c):
    """The part that two boxes share, of every pair."""
    left, right = c[0], c[1]
    if c.params["format"] == "center":
        left, right = _to_corner(c, left), _to_corner(c, right)
    n, m = c.ndim(0) - 1, c.ndim(1) - 1
    left = c.unsqueeze(left, *range(n, n + m))
    low = c.op("Max", _columns(c, left, 0, 2), _columns(c, right, 0, 2))
    high = c.op("Min", _columns(c, left, 2, 4), _columns(c, right, 2, 4))
    shared = _area(c, c.op("Max", c.op("Sub", high, low), c.const(0)))
    whole = [_area(c, c.op("Max", c.op("Sub", _columns(c, b, 2, 4), _columns(c, b, 0, 2)),
                           c.const(0))) for b in (left, right)]
    union = c.op("Sub", c.op("Add", *whole), shared)
    ratio = c.op("Div", shared, union)
    return c.op("Where", c.op("Greater", union, c.const(0)), ratio, c.const(0))


def _area(c, sides):
    return c.reduce("Prod", sides, [-1], False)


@converts("_contrib_box_decode")
def _(c):
    params = c.params
    anchors = c[1] if params["format"] == "center" else _to_center(c, c[1])
    size = _columns(c, anchors, 2, 4)
    stds = [params[f"std{i}"] for i in range(4)]
    middle = c.op("Mul", _columns(c, c[0], 0, 2), c.const(stds[:2]))
    middle = c.op("Add", c.op("Mul", middle, size), _columns(c, anchors, 0, 2))
    grown = c.op("Mul", _columns(c, c[0], 2, 4), c.const(stds[2:]))
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
    own, other = (Term(c, _to_center(c, x), c.dtype(2)) for x in (c[2], other))
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


# ---- regions of images

@converts("ROIPooling")
def _(c):
    return c.op("MaxRoiPool", c[0], c[1], pooled_shape=list(c.params["pooled_size"]),
                spatial_scale=c.params["spatial_scale"])


@converts("_contrib_ROIAlign")
def _(c):
    params = c.params
    if params["position_sensitive"]:
        raise c.unsupported("position_sensitive", "plain regions")
    if params["aligned"] and c.opset < 16:
        raise c.unsupported(f"opset {c.opset} and aligned", "16 and newer")
    height, width = params["pooled_size"]
    image = c.cast(c.squeeze(_columns(c, c[1], 0, 1), 1), np.int64)
    mode = {} if c.opset < 16 else {"coordinate_transformation_mode": "half_pixel"
                                    if params["aligned"] else "output_half_pixel"}
    return c.op("RoiAlign", c[0], _columns(c, c[1], 1, 5), image, mode="avg",
                output_height=height, output_width=width, spatial_scale=params["spatial_scale"],
                sampling_ratio=max(0, params["sample_ratio"]), **mode)


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
