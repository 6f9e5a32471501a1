"""Non-maximum suppression: boxes in the order of falling scores, of which NonMaxSuppression says
which ones stay.

Its scores are places in that order, so that equal scores, negative ones and those of other dtypes
count as they do here. Each class has scores of its own there.
"""
import math

import numpy as np

from ... import _dtypes
from .detection import columns, to_center, to_corner
from .sampling import counted, size_of
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = []

_MOST = np.iinfo(np.int32).max


def _comparable(c, x):
    """A term in a dtype that all readers sort."""
    wide = _dtypes.number(x.dtype) == _dtypes.number(np.float64)
    return x.to(np.float64 if wide else np.float32)


class _Order:
    """The first places by falling score.

    Attributes: ``count`` (its size, where it is known, and the name of the number), ``places``
    (batch, count) in the array, ``scores`` there, and ``falling``: count, count - 1, ... 1.
    """

    def __init__(self, c, scores, count):
        self._c, (dim, name) = c, count
        values, places = c.op("TopK", scores.name, name, outputs=2, axis=1)
        self.count, self.scores = count, Term(c, values, scores.dtype)
        self.places = Term(c, places, np.int64)
        self._most = Term(c, c.cast(name, np.float32), np.float32)
        self.falling = self._most - counted(c, name if dim is None else dim)

    def of(self, x):
        """Rows of (batch, boxes, columns) in this order."""
        return x.op("GatherND", self.places.unsqueeze(2), batch_dims=1)

    def first(self, truth):
        """An order of these places that has those with the truth value first, otherwise as they
        are, and where these are."""
        made = _Order(self._c, self.falling + truth.where(self._most, 0), self.count)
        return made, made.scores > self._most

    def shape(self):
        """The name of (batch, count)."""
        return self._c.op("Shape", self.places.name)


def _count(c, dim, most=-1):
    """A size, at most `most` (if that is above 0), as `_Order` has it."""
    if most <= 0 or is_static(dim):
        dim = tuple(min(size, most) for size in dim) if most > 0 else dim
        return dim, c.size(dim)
    return None, c.op("Min", c.size(dim), c.ints(most))


def _staying(c, order, corners, threshold, valid=None, classes=None):
    """Which boxes stay: (batch, count) of truth values.

    Parameters
    ----------
    order : _Order
    corners : Term
        Boxes in that order.
    valid : Term, optional
        Truth values of boxes: the others are out of the question.
    classes : (Term, Term), optional
        Which class each box has, (batch, count), and the classes that there are, (classes, 1).
    """
    if valid is None:
        valid = Term(c, c.op("Expand", c.const(True, np.bool_), order.shape()), np.bool_)
    if threshold >= 1:
        return valid
    scores = valid.where(order.falling, -1).unsqueeze(1)
    if classes is not None:
        scores = classes[0].unsqueeze(1).same(classes[1]).where(scores, -1)
    low, high = (corners.columns(i, i + 2).to(np.float32) for i in (0, 2))
    # boxes that end before they begin are empty: readers would exchange their corners
    boxes = c.op("Concat", low.name, low.op("Max", high).name, axis=-1)
    if threshold < 0:       # then boxes suppress others wherever they are
        boxes = c.op("Expand", c.const([0, 0, 1, 1], np.float32), c.op("Shape", boxes))
    chosen = c.op("NonMaxSuppression", boxes, scores.name, c.const([_MOST], np.int64),
                  c.const([max(threshold, 0)], np.float32), c.const([0], np.float32))
    places = c.op("Gather", chosen, c.ints(0, 2), axis=1)
    nowhere = c.op("Expand", c.const(0, np.int32), order.shape())
    ones = c.op("Expand", c.const(1, np.int32),
                c.op("Slice", c.op("Shape", chosen), c.ints(0), c.ints(1)))
    return Term(c, c.cast(c.op("ScatterND", nowhere, places, ones), np.bool_), np.bool_)


def _column(x, place):
    return x.columns(place, place + 1).squeeze(2)


# ---- box_nms

@converts("_contrib_box_nms")
def _(c):
    """Rows that stay, best first, and rows of -1."""
    params, dims = c.params, c.dims()
    if params["topk"] == 0:
        return c.op("Identity", c[0])
    if not all(map(is_static, dims[:-2])) and len(dims) != 3:
        raise c.unsupported("free sizes in front of boxes", "arrays of 3 dimensions")
    x = term(c, 0)
    if len(dims) != 3:
        x = Term(c, c.reshape(c[0], [int(np.prod(c.shape()[:-2])), *dims[-2:]]), x.dtype)
    scores = _comparable(c, _column(x, params["score_index"]))
    valid = scores > params["valid_thresh"]
    if params["id_index"] >= 0:
        background = _column(x, params["id_index"]).same(params["background_id"])
        valid = valid & background.op("Not")
    order = _Order(c, valid.where(scores, -np.inf), _count(c, dims[-2], params["topk"]))
    valid, rows = order.scores > -np.inf, order.of(x)
    boxes = rows.columns(params["coord_start"], params["coord_start"] + 4)
    corners = _corners(c, _comparable(c, boxes), params["in_format"])
    stays = _staying(c, order, corners, params["overlap_thresh"], valid, _classes(c, rows))
    last, stays = order.first(stays)
    rows = stays.unsqueeze(2).where(last.of(_converted(c, rows, boxes)), -1)
    rows = _filled_up(c, rows, dims[-2], order.count)
    return rows.name if len(dims) == 3 else c.reshape(rows.name, dims)


def _corners(c, boxes, form):
    if form == "corner":
        return boxes
    half = boxes.columns(2, 4) * 0.5
    middle = boxes.columns(0, 2)
    return (middle - half).op("Concat", middle + half, axis=-1)


def _classes(c, rows):
    """The class of each row, without its fraction, and those that there are; None where boxes of
    all classes suppress each other."""
    if c.params["id_index"] < 0 or c.params["force_suppress"]:
        return None
    own = _column(rows, c.params["id_index"]).to(np.int64)
    known = c.op("Unique", own.name)
    return own, Term(c, known, np.int64).unsqueeze(1)


def _converted(c, rows, boxes):
    """The rows with coordinates in the form that is asked for."""
    params = c.params
    if params["in_format"] == params["out_format"]:
        return rows
    start, width = params["coord_start"], c.shape()[-1]
    change = to_center if params["out_format"] == "center" else to_corner
    parts = [change(c, boxes.name)]
    if start > 0:
        parts.insert(0, columns(c, rows.name, 0, start))
    if start + 4 < width:
        parts.append(columns(c, rows.name, start + 4, width))
    made = parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=-1)
    return Term(c, made, rows.dtype)


def _filled_up(c, rows, dim, count):
    """With rows of -1 behind, as many as the result has."""
    if count[0] == dim:
        return rows
    missing = c.op("Sub", c.size(dim), count[1])
    pads = c.op("Concat", c.ints(0, 0, 0, 0), missing, c.ints(0), axis=0)
    return rows.op("Pad", Term(c, pads, np.int64), -1)


# ---- single shot detector

@converts("_contrib_MultiBoxDetection")
def _(c):
    """Rows of class, score and box, by falling score; the class is -1 where another box is."""
    params, (_, classes, boxes) = c.params, c.dims()
    if not is_static(classes):
        raise c.unsupported("a free number of classes", "a fixed one")
    if classes[0] < 2:
        return c.expand(c.const(-1), c.out_dims())
    front = Term(c, c.slice(c[0], 1, 1, classes[0]), c.dtype())
    scores = front.reduce("Max", [1], False)
    names = front.op("ArgMax", axis=1, keepdims=0, dtype=np.int64)
    entries = [names.to(c.dtype()).unsqueeze(2), scores.unsqueeze(2), _decoded(c)]
    rows = Term(c, c.op("Concat", *(e.name for e in entries), axis=-1), c.dtype())
    valid = (scores >= params["threshold"]) & (scores > -1)
    ranks = _comparable(c, scores)
    found, there = _found(c, valid, boxes)
    found = there.unsqueeze(2).where(found.of(rows), -1)
    if not 0 < params["nms_threshold"] <= 1:
        return found.name
    order = _Order(c, valid.where(ranks, -np.inf), _count(c, boxes, params["nms_topk"]))
    valid, best = order.scores > -np.inf, order.of(rows)
    own = _column(best, 0).to(np.int64)
    known = Term(c, c.const(np.arange(classes[0] - 1).reshape(-1, 1), np.int64), np.int64)
    # Boxes are suppressed at the threshold, too.
    threshold = np.nextafter(np.float32(params["nms_threshold"]), np.float32(-1))
    stays = _staying(c, order, best.columns(2, 6), float(threshold), valid,
                     None if params["force_suppress"] else (own, known))
    named = stays.unsqueeze(2).where(best.columns(0, 1), -1)
    best = valid.unsqueeze(2).where(named.op("Concat", best.columns(1, 6), axis=-1), -1)
    return _with_rest(c, best, found, order.count, boxes)


def _found(c, valid, boxes):
    """The order of boxes that has valid ones first, and where these are."""
    count = _count(c, boxes)
    most = size_of(c, boxes)
    falling = most - counted(c, boxes)
    order = _Order(c, falling + valid.where(most, 0), count)
    return order, order.scores > most


def _with_rest(c, best, found, count, boxes):
    """Behind the best rows those that were found, without class."""
    if count[0] == boxes:
        return best.name
    rest = c.op("Slice", found.name, count[1], c.ints(np.iinfo(np.int64).max), c.ints(1))
    rest = Term(c, rest, best.dtype).columns(1, 6)
    rest = (rest.columns(0, 1) * 0 - 1).op("Concat", rest, axis=-1)
    return best.op("Concat", rest, axis=1).name


def _decoded(c):
    """Boxes from their differences to anchors."""
    params, dtype = c.params, c.dtype()
    moved = Term(c, c.reshape(c[1], [c.dims()[0], c.dims()[2], 4]), dtype)
    anchors = Term(c, to_center(c, c[2]), dtype)
    variances, size = params["variances"], anchors.columns(2, 4)
    middle = moved.columns(0, 2) * variances[:2] * size + anchors.columns(0, 2)
    half = (moved.columns(2, 4) * variances[2:]).exp() * size * 0.5
    corners = (middle - half).op("Concat", middle + half, axis=-1)
    return corners.op("Clip", 0, 1) if params["clip"] else corners


# ---- region proposal networks

def _base_anchors(params):
    """Corners of the anchors of the first cell, in float32 as the operator has them."""
    side, one = np.float32(params["feature_stride"]), np.float32(1)
    half, middle, rows = np.float32(0.5), np.float32(0.5) * (side - one), []
    for ratio in np.float32(params["ratios"]):
        for scale in np.float32(params["scales"]):
            width = np.floor(np.sqrt(np.floor(side * side / ratio)) + half) * scale
            height = np.floor(width / scale * ratio + half) * scale
            away = half * np.array([width - one, height - one])
            rows.append([*(middle - away), *(middle + away)])
    return np.array(rows)


def _moved(c, anchors, moves):
    """The boxes that predictions make of anchors."""
    if c.params["iou_loss"]:
        return anchors + moves
    size = anchors.columns(2, 4) - anchors.columns(0, 2) + 1
    middle = moves.columns(0, 2) * size + (anchors.columns(0, 2) + 0.5 * (size - 1))
    away = 0.5 * (moves.columns(2, 4).exp() * size - 1)
    return (middle - away).op("Concat", middle + away, axis=-1)


@converts("_contrib_Proposal", "_contrib_MultiProposal")
def _(c):
    """The best regions of each image, again from the first one where there are too few."""
    params, (batch, _, height, width), dtype = c.params, c.dims(), c.dtype()
    boxes, scores = _all_boxes(c)
    total = tuple(math.prod(sizes) for sizes in zip(
        height, width, [len(params["scales"]) * len(params["ratios"])] * len(height)))
    ranks = _comparable(c, scores)
    ranks = ranks.same(ranks).where(ranks, -np.inf)
    order = _Order(c, ranks, _count(c, total, params["rpn_pre_nms_top_n"]))
    best = order.of(boxes)
    # Both ends of a region are pixels inside.
    ends = best.columns(0, 2).op("Concat", best.columns(2, 4) + 1, axis=-1)
    stays = _staying(c, order, ends, params["threshold"])
    counts = stays.to(np.int64).reduce("Sum", [1])
    post = params["rpn_post_nms_top_n"]
    numbers = Term(c, c.const(np.arange(post), np.int64), np.int64).op("Mod", counts)
    places = order.first(stays)[0].places.op("GatherElements", numbers, axis=1)
    best = best.op("GatherND", places.unsqueeze(2), batch_dims=1)
    image = counted(c, batch, dtype).unsqueeze(1, 2) + 0 * best.columns(0, 1)
    rows = image.op("Concat", best, axis=-1)
    results = [c.op("Reshape", rows.name, c.ints(-1, 5))]
    if len(c.outputs) > 1:
        own = order.of(scores.unsqueeze(2)).op("GatherND", places.unsqueeze(2), batch_dims=1)
        results.append(c.op("Reshape", own.name, c.ints(-1, 1)))
    return results


def _all_boxes(c):
    """Boxes and scores of all cells' anchors: (batch, boxes, 4) and (batch, boxes)."""
    params, (batch, _, height, width), dtype = c.params, c.dims(), c.dtype()
    base = _base_anchors(params)
    n, stride = len(base), params["feature_stride"]
    split = c.reshape(c[1], [batch, n, 4, height, width], [batch])
    moves = Term(c, c.transpose(split, [0, 3, 4, 1, 2]), dtype)
    rows, columns = counted(c, height, dtype).unsqueeze(1, 2, 3), counted(c, width, dtype).unsqueeze(1, 2)
    shift = (columns + 0 * rows).op("Concat", rows + 0 * columns, axis=-1) * stride
    anchors = shift.op("Concat", shift, axis=-1) + base
    info = [term(c, 2, dtype).columns(i, i + 1).unsqueeze(2, 3, 4) for i in range(3)]
    limits = info[1].op("Concat", info[0], info[1], info[0], axis=-1) - 1
    boxes = _moved(c, anchors, moves).op("Min", limits).op("Max", 0)
    front = Term(c, c.slice(c[0], 1, n, 2 * n), dtype)
    scores = front.op("Transpose", perm=[0, 2, 3, 1]).unsqueeze(4)
    whole = [(info[i] / stride).floor() for i in (0, 1)]
    least = info[2] * params["rpn_min_size"]
    sides = boxes.columns(2, 4) - boxes.columns(0, 2) + 1
    small = (sides < least).to(np.int32).reduce("Max", [-1]).to(np.bool_)
    scores = ((rows < whole[0]) & (columns < whole[1])).where(scores, -1)
    scores = small.where(-1, scores)
    grown = boxes + least * np.array([-0.5, -0.5, 0.5, 0.5])
    boxes = small.where(grown, boxes)
    return (Term(c, c.op("Reshape", boxes.name, c.ints(0, -1, 4)), dtype),
            Term(c, c.op("Reshape", scores.name, c.ints(0, -1)), dtype))
