"""Operators on boxes. What mxnet 1.9.1 gives for many more settings: ../test_boxes.py."""
import math

import numpy as np

from op_cases import rand

RNG = np.random.default_rng(5)


def sixteenths(*shape):
    """Boxes whose corners are exact in every dtype."""
    low = RNG.integers(0, 12, shape + (2,))
    return np.concatenate([low, low + RNG.integers(1, 8, shape + (2,))], -1) / 16


def entries(*shape, classes=3):
    """Class, score (no two are equal) and box."""
    n = int(np.prod(shape))
    scores = (RNG.permutation(max(n, 64))[:n] + 1) / 128
    return np.concatenate([RNG.integers(0, classes, shape + (1,)), scores.reshape(shape + (1,)), sixteenths(*shape)], -1)


def singles(numbers):
    """As float32, like parameters of operators."""
    return np.array(numbers, "float32").astype("float64")


def corners(b):
    return np.stack([b[..., 0] - b[..., 2] / 2, b[..., 1] - b[..., 3] / 2, b[..., 0] + b[..., 2] / 2, b[..., 1] + b[..., 3] / 2], -1)


def centers(b):
    return np.stack([(b[..., 0] + b[..., 2]) / 2, (b[..., 1] + b[..., 3]) / 2, b[..., 2] - b[..., 0], b[..., 3] - b[..., 1]], -1)


def overlaps(a, b, extent=0):
    """(n, 4) and (m, 4) -> (n, m)."""
    a, b = a[:, None], b[None]
    size = np.maximum(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]) + extent, 0)
    common = size[..., 0] * size[..., 1]
    area = [np.prod(np.maximum(x[..., 2:] - x[..., :2] + extent, 0), -1) for x in (a, b)]
    return np.where(common > 0, common / np.where(common > 0, area[0] + area[1] - common, 1), 0)


def keep(boxes, threshold, ids=None, extent=0, at_threshold=False):
    """Positions that greedy suppression leaves of boxes in order."""
    over = overlaps(boxes, boxes, extent)
    stay = []
    for i in range(len(boxes)):
        rivals = [k for k in stay if ids is None or int(ids[k]) == int(ids[i])]
        if not any(over[k, i] > threshold or (at_threshold and over[k, i] == threshold) for k in rivals):
            stay.append(i)
    return stay


def box_iou(lhs, rhs, format="corner"):
    convert = corners if format == "center" else lambda b: b
    over = overlaps(convert(lhs).reshape(-1, 4), convert(rhs).reshape(-1, 4))
    return over.reshape(lhs.shape[:-1] + rhs.shape[:-1])


def box_nms(data, overlap_thresh=0.5, valid_thresh=0, topk=-1, coord_start=2, score_index=1, id_index=-1, background_id=-1,
            force_suppress=False, in_format="corner", out_format="corner"):
    if topk == 0 or data.size == 0:
        return data
    out = np.full_like(data, -1)
    box = slice(coord_start, coord_start + 4)
    for entry, result in zip(data.reshape((-1,) + data.shape[-2:]), out.reshape((-1,) + data.shape[-2:])):
        valid = entry[entry[:, score_index] > valid_thresh]
        if id_index >= 0:
            valid = valid[valid[:, id_index] != background_id]
        valid = valid[np.argsort(-valid[:, score_index], kind="stable")][:topk if topk > 0 else None]
        shapes = corners(valid[:, box]) if in_format == "center" else valid[:, box]
        ids = valid[:, id_index] if id_index >= 0 and not force_suppress else None
        valid = valid[keep(shapes, np.float32(overlap_thresh), ids)]
        if in_format != out_format:
            valid[:, box] = corners(valid[:, box]) if out_format == "corner" else centers(valid[:, box])
        result[:len(valid)] = valid
    return out


def bipartite_matching(data, threshold, is_ascend=False, topk=-1):
    rows, columns = np.full(data.shape[:-1], -1.0), np.full(data.shape[:-2] + data.shape[-1:], -1.0)
    for at in np.ndindex(data.shape[:-2]):
        scores = data[at] if is_ascend else -data[at]
        for pair in np.argsort(scores, axis=None, kind="stable"):
            r, c = divmod(int(pair), data.shape[-1])
            if not scores[r, c] < (threshold if is_ascend else -threshold) or 0 < topk < np.sum(rows[at] >= 0):
                break
            if rows[at][r] < 0 and columns[at][c] < 0:
                rows[at][r], columns[at][c] = c, r
    return [rows, columns]


def box_encode(samples, matches, anchors, refs, means, stds):
    own, other = centers(anchors), centers(np.take_along_axis(refs, np.repeat(matches.astype(int)[..., None], 4, -1), 1))
    code = np.concatenate([(other[..., :2] - own[..., :2]) / own[..., 2:], np.log(other[..., 2:] / own[..., 2:])], -1)
    on = np.repeat((samples > 0.5)[..., None], 4, -1)
    return [np.where(on, (code - means) / stds, 0), on.astype(float)]


def box_decode(data, anchors, std0=1, std1=1, std2=1, std3=1, clip=-1, format="center"):
    own = centers(anchors) if format == "corner" else anchors
    d = data * np.array([std0, std1, std2, std3])
    size = np.exp(np.minimum(d[..., 2:], clip if clip > 0 else np.inf)) * own[..., 2:]
    return corners(np.concatenate([d[..., :2] * own[..., 2:] + own[..., :2], size], -1))


def multibox_prior(data, sizes=(1,), ratios=(1,), clip=False, steps=(-1, -1), offsets=(0.5, 0.5)):
    height, width = data.shape[2:4]
    steps = steps if min(steps) > 0 else (1 / height, 1 / width)
    y = (np.arange(height) + offsets[0]) * steps[0]
    x = (np.arange(width) + offsets[1]) * steps[1]
    shapes = [(s, ratios[0]) for s in sizes] + [(sizes[0], r) for r in ratios[1:]]
    size = np.array([[s * height / width * np.sqrt(r), s / np.sqrt(r)] for s, r in shapes])
    box = np.zeros((height, width, len(shapes), 4))
    box[..., 0], box[..., 1], box[..., 2:] = x[None, :, None], y[:, None, None], size
    box = corners(box).reshape(1, -1, 4)
    return np.clip(box, 0, 1) if clip else box


def multibox_target(anchor, label, cls_pred, overlap_threshold=0.5, ignore_label=-1, negative_mining_ratio=-1, negative_mining_thresh=0.5,
                    minimum_negative_samples=0, variances=(0.1, 0.1, 0.2, 0.2)):
    batch, n = len(label), anchor.shape[1]
    loc, mask, cls = np.zeros((batch, n, 4)), np.zeros((batch, n, 4)), np.full((batch, n), float(ignore_label))
    for b in range(batch):
        boxes = label[b][:np.append(np.nonzero(label[b][:, 0] == -1)[0], len(label[b]))[0]]
        if len(boxes) == 0:
            continue
        over = overlaps(anchor[0], boxes[:, 1:5])
        match, free = np.full(n, -1), over.copy()
        while free.max() > 1e-6:
            i, k = np.unravel_index(np.argmax(free), free.shape)
            match[i], free[i], free[:, k] = k, 0, 0
        near = (match < 0) & (over.max(1) > overlap_threshold) & (overlap_threshold > 0)
        match[near] = over.argmax(1)[near]
        on = match >= 0
        if negative_mining_ratio > 0:
            score = np.exp(cls_pred[b] - cls_pred[b].max(0))
            choice = np.nonzero(~on & (over.max(1) < negative_mining_thresh))[0]
            order = choice[np.argsort((score[0] / score.sum(0))[choice], kind="stable")]
            cls[b][order[:int(on.sum() * negative_mining_ratio)]] = 0
        else:
            cls[b] = 0
        code, _ = box_encode(on[None], np.maximum(match, 0)[None], anchor, boxes[None, :, 1:5], 0, singles(variances))
        loc[b], mask[b], cls[b][on] = code[0], on[:, None], boxes[match[on], 0] + 1
    return [loc.reshape(batch, 4 * n), mask.reshape(batch, 4 * n), cls]


def multibox_detection(cls_prob, loc_pred, anchor, clip=True, threshold=0.01, background_id=0, nms_threshold=0.5, force_suppress=False,
                       variances=(0.1, 0.1, 0.2, 0.2), nms_topk=-1):
    out = np.full((len(cls_prob), anchor.shape[1], 6), -1.0)
    box = box_decode(loc_pred.reshape(len(cls_prob), anchor.shape[1], 4), anchor, *singles(variances), format="corner")
    box = np.clip(box, 0, 1) if clip else box
    for b in range(len(out)):
        found = np.concatenate([cls_prob[b][1:].argmax(0)[:, None], cls_prob[b][1:].max(0)[:, None], box[b]], 1)
        found = found[found[:, 1] >= threshold]
        result = out[b][:len(found)]
        result[:] = found
        if not 0 < nms_threshold <= 1:
            continue
        take = min(nms_topk, len(found)) if nms_topk > 0 else len(found)
        result[:take] = found[np.argsort(-found[:, 1], kind="stable")[:take]]
        stay = keep(result[:take, 2:], nms_threshold, None if force_suppress else result[:take, 0], at_threshold=True)
        result[np.setdiff1d(np.arange(len(found)), stay), 0] = -1
    return out


def proposal(cls_prob, bbox_pred, im_info, rpn_pre_nms_top_n=6000, rpn_post_nms_top_n=300, threshold=0.7, rpn_min_size=16,
             scales=(4, 8, 16, 32), ratios=(0.5, 1, 2), feature_stride=16, output_score=False, iou_loss=False):
    n, (height, width) = len(scales) * len(ratios), cls_prob.shape[2:]
    middle, base = (feature_stride - 1) / 2, []
    for ratio in ratios:
        w = np.floor(np.sqrt(np.floor(feature_stride ** 2 / ratio)) + 0.5)
        half = (np.outer(scales, [w, np.floor(w * ratio + 0.5)]) - 1) / 2
        base.append(np.concatenate([middle - half, middle + half], 1))
    y, x = np.mgrid[:height, :width]
    anchors = np.concatenate(base) + feature_stride * np.stack([x, y, x, y], -1)[:, :, None]
    rois, scores = [], []
    for image, (high, wide, scale) in enumerate(im_info):
        d = bbox_pred[image].reshape(n, 4, height, width).transpose(2, 3, 0, 1)
        if iou_loss:
            box = anchors + d
        else:
            size = anchors[..., 2:] - anchors[..., :2] + 1
            center = anchors[..., :2] + (size - 1) / 2 + d[..., :2] * size
            half = (np.exp(d[..., 2:]) * size - 1) / 2
            box = np.concatenate([center - half, center + half], -1)
        box = np.clip(box, 0, [wide - 1, high - 1] * 2)
        score = cls_prob[image][n:].transpose(1, 2, 0).copy()
        score[(y >= high // feature_stride) | (x >= wide // feature_stride)] = -1
        small = np.any(box[..., 2:] - box[..., :2] + 1 < rpn_min_size * scale, -1)
        box[small] += rpn_min_size * scale / 2 * np.array([-1, -1, 1, 1])
        score[small] = -1
        order = np.argsort(-score, axis=None, kind="stable")[:rpn_pre_nms_top_n if rpn_pre_nms_top_n > 0 else None]
        box, score = box.reshape(-1, 4)[order], score.reshape(-1)[order]
        stay = np.resize(keep(box, threshold, extent=1)[:rpn_post_nms_top_n], rpn_post_nms_top_n)
        rois.append(np.concatenate([np.full((len(stay), 1), image), box[stay]], 1))
        scores.append(score[stay][:, None])
    return [np.concatenate(rois), np.concatenate(scores)] if output_score else np.concatenate(rois)


def two(name):
    return [f"_contrib_{name}", f"_npx_{name}"]


NMS = ["_contrib_box_nms", "_contrib_box_non_maximum_suppression", "_npx_box_nms"]
SEPARATE = np.array([[0, 0.4, 0.1, 0.1, 0.5, 0.5], [1, 0.9, 0.2, 0.1, 0.6, 0.5], [0, 0.6, 0.7, 0.7, 0.9, 0.95],
                     [0, 0.2, 0.1, 0.7, 0.4, 0.9]])
HOLES = entries(12)
HOLES[3, 1], HOLES[5, 3], HOLES[7, 1], HOLES[8, 4] = np.nan, np.nan, -np.inf, np.inf


def nms(data, **attrs):
    return {"op": NMS, "inputs": [data], "attrs": attrs, "ref": box_nms}


CASES = [
    dict(nms(entries(20)), bad=[{"attrs": {"coord_start": 3}}, {"attrs": {"coord_start": -1}}, {"attrs": {"score_index": 6}},
                                {"attrs": {"score_index": 3}}, {"attrs": {"id_index": 1}}, {"attrs": {"id_index": 5}},
                                {"inputs": [(6,)]}, {"inputs": [(2, 5)]}], example="""
boxes = mx.nd.array([[0, 0.5, 0, 0, 2, 2], [1, 0.9, 0, 0, 2, 3], [0, 0.6, 5, 5, 6, 6]])
mx.nd.contrib.box_nms(boxes, overlap_thresh=0.5, coord_start=2, score_index=1, id_index=0, force_suppress=True).asnumpy()"""),
    nms(entries(2, 30), id_index=0, overlap_thresh=0.3), nms(entries(2, 2, 10), id_index=0, background_id=1, force_suppress=True),
    nms(entries(40), topk=7, valid_thresh=0.1), nms(entries(20), topk=0), nms(entries(30), overlap_thresh=0), nms(entries(9), topk=10**9),
    nms(entries(25), in_format="center"), nms(entries(25), out_format="center", topk=-3), nms(entries(12), valid_thresh=float("nan")),
    nms(np.insert(entries(2, 15), 0, 7, -1), coord_start=3, score_index=2, id_index=1),
    dict(nms(HOLES), check=lambda out, given, _: np.testing.assert_array_equal(out[0][-2:], -1)),
    dict(nms(SEPARATE, overlap_thresh=0.2), grad=True, grad2=True),
    {"op": two("box_iou"), "inputs": [sixteenths(7), sixteenths(2, 5)], "ref": box_iou, "empty": [(0, 4), (2, 4)], "example": """
mx.nd.contrib.box_iou(mx.nd.array([[0, 0, 2, 2]]), mx.nd.array([[0, 0, 2, 4], [1, 1, 3, 2], [5, 5, 6, 6]])).asnumpy().round(3)""",
     "bad": [{"inputs": [(4,), (3, 4)]}, {"inputs": [(2, 5), (3, 4)]}, {"inputs": [(2, 4), (3, 3)]}]},
    {"op": two("box_iou"), "inputs": [sixteenths(2, 4), sixteenths(9)], "attrs": {"format": "center"}, "ref": box_iou,
     "empty": [(3, 4), (0, 4)]},
    {"op": two("bipartite_matching"), "inputs": [RNG.permutation(60).reshape(3, 4, 5) / 64], "attrs": {"threshold": 0.2},
     "ref": bipartite_matching, "bad": [{"inputs": [(4,)]}, {"attrs": {}}], "example": """
rows, columns = mx.nd.contrib.bipartite_matching(mx.nd.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]]), threshold=0.25)
rows.asnumpy(), columns.asnumpy()"""},
    {"op": two("bipartite_matching"), "inputs": [RNG.integers(0, 5, (6, 8)) / 4], "attrs": {"threshold": 0.9, "is_ascend": True, "topk": 2},
     "ref": bipartite_matching, "empty": [(0, 3)]},
    {"op": two("box_encode"), "ref": box_encode, "tol": 20, "example": """
anchors, boxes = mx.nd.array([[[0, 0, 2, 2], [4, 4, 8, 6]]]), mx.nd.array([[[1, 1, 3, 3]]])
code, mask = mx.nd.contrib.box_encode(mx.nd.array([[1, -1]]), mx.nd.array([[0, 0]]), anchors, boxes, mx.nd.zeros(4), mx.nd.ones(4))
code.asnumpy(), mask.asnumpy()""",
     "empty": [(0, 6), (0, 6), (0, 6, 4), (0, 3, 4), (4,), (4,)],
     "inputs": [RNG.integers(0, 2, (2, 6)), RNG.integers(0, 3, (2, 6)), sixteenths(2, 6), sixteenths(2, 3), np.array([0, 0.125, 0, -0.5]),
                np.array([0.5, 0.25, 1, 2])],
     "bad": [{"inputs": [(6,), (6,), (6, 4), (3, 4), (4,), (4,)]}, {"inputs": [(1, 6), (1, 5), (1, 6, 4), (1, 3, 4), (4,), (4,)]},
             {"inputs": [(1, 6), (1, 6), (1, 6, 4), (2, 3, 4), (4,), (4,)]}]},
    {"op": two("box_decode"), "inputs": [rand((2, 5, 4)), sixteenths(1, 5)], "ref": box_decode, "tol": 20, "empty": [(0, 5, 4), (1, 5, 4)],
     "example": """
anchors = mx.nd.array([[[0, 0, 2, 2], [4, 4, 8, 6]]])
mx.nd.contrib.box_decode(mx.nd.array([[[0.5, 0.5, 0, 0], [0, 0, 0, 0]]]), anchors, format='corner').asnumpy()""",
     "attrs": {"format": "corner", "std0": 0.5, "std1": 0.25, "std2": 0.125, "std3": 0.5},
     "bad": [{"inputs": [(5, 4), (1, 5, 4)]}, {"inputs": [(2, 5, 4), (1, 4, 4)]}, {"inputs": [(2, 5, 3), (1, 5, 4)]}]},
    {"op": two("box_decode"), "inputs": [rand((3, 4, 4)), sixteenths(1, 4)], "attrs": {"clip": 0.5}, "ref": box_decode, "tol": 20},
    {"op": ["_contrib_MultiBoxPrior", "_npx_multibox_prior"], "inputs": [(2, 3, 3, 4)], "ref": multibox_prior, "tol": 10,
     "attrs": {"sizes": (0.5, 0.25, 1.5), "ratios": (1, 2, 0.5)}, "empty": [(0, 3, 3, 4)], "example": """
mx.nd.contrib.MultiBoxPrior(mx.nd.zeros((1, 3, 1, 2)), sizes=(0.5, 0.25), ratios=(1,)).asnumpy()""",
     "bad": [{"inputs": [(3, 4, 5)]}, {"attrs": {"sizes": ()}}, {"attrs": {"ratios": ()}}, {"attrs": {"steps": (0.1,)}},
             {"attrs": {"offsets": (1, 2, 3)}}, {"attrs": {"steps": (-1, 0.1)}}, {"attrs": {"sizes": (math.nan,)}},
             {"attrs": {"offsets": (0, math.inf)}}]},
    {"op": ["_contrib_MultiBoxPrior", "_npx_multibox_prior"], "inputs": [(1, 1, 2, 5)], "ref": multibox_prior, "tol": 10,
     "attrs": {"ratios": (2, 1), "clip": True, "steps": (0.25, 0.125), "offsets": (0.25, 0.75)}},
]

LABELS = np.full((3, 4, 6), -1.0)
LABELS[0, :2, 0], LABELS[0, :2, 1:5], LABELS[2, :, 0], LABELS[2, :, 1:5] = [2, 0], sixteenths(2), [1, 0, 1, 4], sixteenths(4)
TARGETS = [sixteenths(1, 20), LABELS, RNG.permutation(240).reshape(3, 4, 20) / 128]
CASES += [
    {"op": ["_contrib_MultiBoxTarget", "_npx_multibox_target"], "inputs": TARGETS, "attrs": attrs, "ref": multibox_target, "tol": 20,
     "empty": [(1, 20, 4), (0, 4, 6), (0, 4, 20)], "example": """
anchor = mx.nd.array([[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]])
label = mx.nd.array([[[3, 0.5, 0.5, 0.9, 0.9], [-1, -1, -1, -1, -1]]])
place, mask, classes = mx.nd.contrib.MultiBoxTarget(anchor, label, mx.nd.zeros((1, 5, 2)))
place.asnumpy().round(3), classes.asnumpy()""",
     "bad": [{"inputs": [(2, 5, 4), (2, 3, 5), (2, 4, 5)]}, {"inputs": [(1, 5, 4), (2, 3, 4), (2, 4, 5)]},
             {"inputs": [(1, 5, 4), (2, 3, 5), (2, 4, 6)]}, {"inputs": [(1, 5, 4), (2, 3, 5), (3, 4, 5)]},
             {"attrs": {"variances": (1, 2)}}, {"attrs": {"negative_mining_ratio": 1, "negative_mining_thresh": 0}}]}
    for attrs in ({}, {"overlap_threshold": 0.25, "variances": (0.5, 0.5, 1, 0.25)}, {"overlap_threshold": 0, "ignore_label": -2},
                  {"negative_mining_ratio": 1.5, "negative_mining_thresh": 0.75, "ignore_label": 9}, {"negative_mining_ratio": 1e30})]
PROBABILITIES = RNG.permutation(160).reshape(2, 4, 20) / 256
CASES += [
    {"op": ["_contrib_MultiBoxDetection", "_npx_multibox_detection"], "example": """
prob = mx.nd.array([[[0.1, 0.2, 0.7], [0.9, 0.8, 0.3]]])
anchor = mx.nd.array([[[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.6], [0.5, 0.5, 1, 1]]])
mx.nd.contrib.MultiBoxDetection(prob, mx.nd.zeros((1, 12)), anchor).asnumpy().round(3)""",
     "inputs": [PROBABILITIES, rand((2, 80), -0.5, 0.5), TARGETS[0]],
     "attrs": attrs, "ref": multibox_detection, "tol": 20, "empty": [(0, 4, 20), (0, 80), (1, 20, 4)], "dtypes": ["float32", "float64"],
     "refuses": False,
     "bad": [{"inputs": [(2, 4, 5), (2, 19), (1, 5, 4)]}, {"inputs": [(2, 4, 5), (2, 20), (1, 4, 4)]},
             {"inputs": [(2, 4), (2, 4), (1, 5, 4)]}, {"inputs": [(2, 4, 5), (2, 20), (2, 5, 4)]}, {"attrs": {"variances": ()}}]}
    for attrs in ({}, {"threshold": 0.4375, "force_suppress": True}, {"nms_threshold": 0.125, "clip": False, "nms_topk": 6},
                  {"nms_threshold": 0})]
CASES += [
    {"op": "_contrib_MultiBoxDetection", "inputs": [PROBABILITIES, rand((2, 80), -0.5, 0.5), TARGETS[0]],
     "attrs": {"nms_threshold": -1}, "ref": multibox_detection, "tol": 20, "empty": False}]
MAP = [RNG.permutation(2 * 12 * 12).reshape(2, 12, 3, 4) / 512, RNG.uniform(-0.5, 0.5, (2, 24, 3, 4)),
       np.array([[48, 60, 1.0], [40, 64, 0.5]])]
CASES += [
    {"op": "_contrib_MultiProposal", "example": """
prob, moves = mx.nd.array([[[[0.5, 0.5]], [[0.9, 0.4]]]]), mx.nd.zeros((1, 4, 1, 2))
mx.nd.contrib.MultiProposal(prob, moves, mx.nd.array([[16, 32, 1]]), scales=(1,), ratios=(1,), rpn_post_nms_top_n=2).asnumpy()""",
     "inputs": MAP, "ref": proposal, "tol": 50, "empty": False, "dtypes": ["float32", "float64"],
     "refuses": False,
     "attrs": dict({"scales": (0.5, 1, 2), "ratios": (0.5, 2), "rpn_post_nms_top_n": 12}, **attrs),
     "bad": [{"inputs": [(1, 4, 3, 4), (1, 24, 3, 4), (1, 3)]}, {"attrs": {"scales": ()}}, {"attrs": {"feature_stride": 0}},
             {"attrs": {"rpn_post_nms_top_n": -1}}]}
    for attrs in ({}, {"rpn_pre_nms_top_n": 5, "output_score": True, "threshold": 0.3}, {"iou_loss": True, "rpn_min_size": 20},
                  {"rpn_post_nms_top_n": 90, "rpn_pre_nms_top_n": -1, "output_score": True})]
CASES += [
    {"op": "_contrib_Proposal", "example": """
prob, moves = mx.nd.array([[[[0.5, 0.5]], [[0.9, 0.4]]]]), mx.nd.zeros((1, 4, 1, 2))
mx.nd.contrib.Proposal(prob, moves, mx.nd.array([[16, 32, 1]]), scales=(1,), ratios=(1,), rpn_post_nms_top_n=2).asnumpy()""",
     "inputs": [m[:1] for m in MAP], "ref": proposal, "tol": 50, "empty": False,
     "dtypes": ["float32", "float64"], "refuses": False,
     "attrs": {"scales": (0.5, 1, 2), "ratios": (0.5, 2), "rpn_post_nms_top_n": 10, "output_score": True},
     "bad": [{"inputs": [(2, 12, 3, 4), (2, 24, 3, 4), (2, 3)]}]},
    {"op": ["_contrib_Proposal", "_contrib_MultiProposal"], "empty": False, "ref": proposal,
     "inputs": [np.zeros((1, 2, 1, 1)), np.zeros((1, 4, 1, 1)), np.array([[16.0, 16, 1]])],
     "attrs": {"scales": (1,), "ratios": (1,), "rpn_post_nms_top_n": 2}}]

# More than a block of a GPU sorts, or compares, at once.
CASES += [
    {"op": "_contrib_box_nms", "inputs": [entries(600)], "attrs": {"overlap_thresh": 0.7, "id_index": 0}, "ref": box_nms},
    {"op": "_contrib_box_nms", "inputs": [entries(2, 300)], "attrs": {"overlap_thresh": 0.9, "topk": 280}, "ref": box_nms},
    {"op": "_contrib_bipartite_matching", "inputs": [RNG.integers(0, 50, (40, 45)) / 64], "attrs": {"threshold": 0.25},
     "ref": bipartite_matching, "empty": False},
    {"op": "_contrib_MultiBoxTarget",
     "inputs": [sixteenths(1, 300), np.insert(sixteenths(2, 9), 0, 1, -1), RNG.uniform(-2, 2, (2, 3, 300))],
     "attrs": {"negative_mining_ratio": 2, "negative_mining_thresh": 0.25}, "ref": multibox_target, "tol": 20, "empty": False,
     "dtypes": ["float32", "float64"], "refuses": False},
    {"op": "_contrib_MultiBoxDetection", "ref": multibox_detection, "tol": 50, "empty": False, "dtypes": ["float32", "float64"],
     "inputs": [RNG.permutation(900).reshape(1, 3, 300) / 1024, RNG.uniform(-0.5, 0.5, (1, 1200)), sixteenths(1, 300)],
     "attrs": {"nms_topk": 270, "nms_threshold": 0.75}, "refuses": False},
    {"op": "_contrib_MultiProposal", "ref": proposal, "tol": 200, "empty": False, "dtypes": ["float32", "float64"], "refuses": False,
     "inputs": [RNG.permutation(768).reshape(1, 12, 8, 8) / 1024, RNG.uniform(-0.5, 0.5, (1, 24, 8, 8)), np.array([[128, 120, 1.0]])],
     "attrs": {"scales": (0.5, 1, 2), "ratios": (0.5, 2), "threshold": 0.8, "rpn_post_nms_top_n": 290, "rpn_min_size": 4}}]
