"""Records what mxnet 1.9.1 computes for the operators on boxes with settings drawn at random, into
data/boxes_oracle.npz: ties, boxes without area, unordered corners, classes with fractions.

Run with the Python that has the old wheel: PYTHON tests/python/operators/record_oracle_boxes.py
[COUNT FILE], where COUNT settings of each operator are drawn (10) and FILE is written. A case is
(operator, inputs, attributes, results).
"""
import json
import pathlib
import sys

import mxnet as mx
import numpy as np

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 10
FILE = sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[1] / "data" / "boxes_oracle.npz"


def number(rng, *values):
    return values[rng.randint(len(values))]


def boxes(rng, *shape):
    """Fractions, or few different numbers; sometimes of unordered corners."""
    grid = number(rng, 0, 4, 10)
    b = rng.rand(*shape, 4)
    b = np.round(b * grid) / grid if grid else b
    return b if rng.rand() < 0.2 else np.concatenate([np.minimum(b[..., :2], b[..., 2:]), np.maximum(b[..., :2], b[..., 2:])], -1)


def scores(rng, *shape):
    s = rng.rand(*shape)
    return np.round(s * 8) / 8 if rng.rand() < 0.5 else s


def box_iou(rng):
    lhs = number(rng, (5,), (2, 3), (1,))
    return [boxes(rng, *lhs), boxes(rng, rng.randint(1, 20))], {"format": number(rng, "corner", "center")}


def box_nms(rng):
    width, n = rng.randint(6, 9), rng.randint(1, 40)
    shape = number(rng, (n, width), (2, n, width), (2, 1, n, width))
    coord = rng.randint(0, width - 3)
    free = rng.permutation([k for k in range(width) if not coord <= k < coord + 4])
    data = scores(rng, *shape)
    data[..., coord:coord + 4] = boxes(rng, *shape[:-1])
    attrs = dict(overlap_thresh=number(rng, 0, 0.1, 0.25, 0.5, 0.7, 1, -0.5), valid_thresh=number(rng, 0, 0.25, 0.5, -1), coord_start=coord,
                 topk=number(rng, -1, 0, 1, 3, 10, 1000), score_index=int(free[0]), force_suppress=bool(rng.rand() < 0.3),
                 background_id=number(rng, -1, 0, 1, -2), in_format=number(rng, "corner", "center"),
                 out_format=number(rng, "corner", "center"))
    if rng.rand() < 0.7:
        attrs["id_index"] = int(free[-1])
        data[..., free[-1]] = rng.randint(-1, 3, shape[:-1]) + number(rng, 0, 0.25)
    return [data], attrs


def bipartite_matching(rng):
    shape = number(rng, (), (2,)) + (rng.randint(1, 12), rng.randint(1, 12))
    return [scores(rng, *shape)], dict(threshold=number(rng, 0.1, 0.5, 0.25, 0, -1, 2), is_ascend=bool(rng.rand() < 0.5),
                                       topk=number(rng, -1, 0, 1, 2, 3, 100))


def box_encode(rng):
    n, m = rng.randint(1, 9, 2)
    return [rng.rand(2, n), rng.randint(0, m, (2, n)), boxes(rng, 2, n), boxes(rng, 2, m), rng.rand(4), rng.rand(4) + 0.1], {}


def box_decode(rng):
    n = rng.randint(1, 9)
    attrs = {f"std{k}": float(np.round(rng.rand(), 2)) for k in range(4)}
    return [rng.randn(2, n, 4) * 3, boxes(rng, 1, n)], dict(attrs, clip=number(rng, -1, 0, 0.5, 2), format=number(rng, "corner", "center"))


def multibox_prior(rng):
    return [np.zeros((1, 1) + tuple(rng.randint(1, 5, 2)))], dict(
        sizes=np.round(rng.rand(rng.randint(1, 4)) * 1.5, 3).tolist(), ratios=np.round(rng.rand(rng.randint(1, 4)) * 3 + 0.1, 3).tolist(),
        clip=bool(rng.rand() < 0.5), steps=number(rng, (-1, -1), (0.1, 0.2), (0, 0.1), (0.3, 0), (-0.1, -0.2)),
        offsets=np.round(rng.rand(2), 2).tolist())


def multibox_target(rng):
    n, batch, most, classes = rng.randint(1, 30), rng.randint(1, 4), rng.randint(1, 6), rng.randint(1, 5)
    label = np.full((batch, most, rng.randint(5, 7)), -1.0)
    for rows in label:
        m = rng.randint(0, most + 1)
        rows[:m, 0], rows[:m, 1:5] = rng.randint(0, classes, m), boxes(rng, m)
    attrs = dict(overlap_threshold=number(rng, 0.5, 0.3, 0, -1, 0.05, 1), ignore_label=number(rng, -1, -2, 5),
                 negative_mining_ratio=number(rng, -1, 0, 0.5, 1), negative_mining_thresh=number(rng, 0.5, 0.9),
                 minimum_negative_samples=number(rng, 0, 2, 5), variances=number(rng, (0.1, 0.1, 0.2, 0.2), (0.3, 0.2, 0.1, 1)))
    return [boxes(rng, 1, n), label, rng.randn(batch, classes + 1, n)], attrs


def multibox_detection(rng):
    n, batch, classes = rng.randint(1, 40), rng.randint(1, 4), rng.randint(1, 5)
    attrs = dict(clip=bool(rng.rand() < 0.5), threshold=number(rng, 0.01, 0.5, 0.75, 0, -1, 2), background_id=number(rng, 0, 1, -1),
                 nms_threshold=number(rng, 0.5, 0.25, 0.1, 0, 1, 1.1), force_suppress=bool(rng.rand() < 0.5),
                 nms_topk=number(rng, -1, 0, 1, 5, 1000), variances=number(rng, (0.1, 0.1, 0.2, 0.2), (0.3, 0.2, 0.1, 1)))
    return [scores(rng, batch, classes + 1, n), rng.randn(batch, 4 * n) * number(rng, 0, 0.3, 2), boxes(rng, 1, n)], attrs


def proposal(rng, batch=1):
    stride, scales = number(rng, 16, 8, 7, 4), np.round(rng.rand(rng.randint(1, 4)) * 6 + 0.2, 2).tolist()
    ratios = np.round(rng.rand(rng.randint(1, 4)) * 3 + 0.2, 2).tolist()
    n, (h, w) = len(scales) * len(ratios), rng.randint(1, 7, 2)
    info = np.array([[h * stride - rng.randint(0, stride), w * stride - rng.randint(0, stride), number(rng, 1, 0.75, 2)]
                     for _ in range(batch)])
    attrs = dict(rpn_pre_nms_top_n=number(rng, 6000, 10, 0, -1, 3), rpn_post_nms_top_n=number(rng, 1, 5, 30),
                 threshold=number(rng, 0.7, 0.3, 0.5, 1, 0, 0.1), rpn_min_size=number(rng, 16, 0, 4, 40), scales=scales, ratios=ratios,
                 feature_stride=stride, output_score=True, iou_loss=bool(rng.rand() < 0.3))
    return [scores(rng, batch, 2 * n, h, w), rng.randn(batch, 4 * n, h, w) * number(rng, 0, 0.3, 1, 3), info], attrs


DRAWS = {"_contrib_box_iou": box_iou, "_contrib_box_nms": box_nms, "_contrib_bipartite_matching": bipartite_matching,
         "_contrib_box_encode": box_encode, "_contrib_box_decode": box_decode, "_contrib_MultiBoxPrior": multibox_prior,
         "_contrib_MultiBoxTarget": multibox_target, "_contrib_MultiBoxDetection": multibox_detection, "_contrib_Proposal": proposal,
         "_contrib_MultiProposal": lambda rng: proposal(rng, rng.randint(1, 4))}

arrays, cases = {}, []
for op, draw in DRAWS.items():
    seed, function = 0, getattr(mx.nd.contrib, op[len("_contrib_"):])
    while sum(case["op"] == op for case in cases) < COUNT:
        inputs, attrs = draw(np.random.RandomState(seed))
        seed += 1
        inputs = [np.asarray(i, "float32") for i in inputs]
        try:
            out = function(*map(mx.nd.array, inputs), **attrs)
            out = [o.asnumpy() for o in (out if isinstance(out, list) else [out])]
        except mx.MXNetError:   # it refuses to choose more background anchors than there are
            continue
        for kind, values in (("in", inputs), ("out", out)):
            for i, value in enumerate(values):
                arrays[f"{len(cases)}_{kind}{i}"] = value
        cases.append({"op": op, "attrs": attrs, "in": len(inputs), "out": len(out)})
arrays["cases"] = np.frombuffer(json.dumps(cases).encode(), "uint8")
np.savez_compressed(FILE, **arrays)
