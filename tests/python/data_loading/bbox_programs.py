"""Images with boxes through the blocks of gluon.contrib.data.vision. MXNet 2.0.0b1 ran this for
data/bbox_2.0.json; the tests run it here.

    oracle20/bin/python bbox_programs.py data/bbox_2.0.json
"""
import json
import random
import sys
import warnings

import numpy as np


def rounded(array):
    return np.round(np.asarray(array, dtype="float64"), 3).tolist()


def blocks(bbox):
    return [bbox.ImageBboxRandomFlipLeftRight(0.5), bbox.ImageBboxCrop((1, 2, 5, 5)), bbox.ImageBboxCrop((3, 2, 6, 5), True),
            bbox.ImageBboxRandomCropWithConstraints(0.8),
            bbox.ImageBboxRandomCropWithConstraints(1, 0.4, 0.9, 1.5, [(0.1, None), (None, 0.8)], 5),
            bbox.ImageBboxRandomExpand(0.7, 3, (1, 2, 3)), bbox.ImageBboxRandomExpand(1, 2, (9, 9, 9), False),
            bbox.ImageBboxResize(9, 7), bbox.ImageBboxResize(9, 17, 2)]


def through_blocks(array, bbox, seeds):
    """Sizes and sums of images, boxes, and the random number that comes next."""
    found = []
    for seed in seeds:
        rng = np.random.RandomState(seed)
        height, width = (int(rng.randint(10, 60)) for _ in range(2))
        image = rng.randint(0, 256, (height, width, 3))
        corners = np.sort(rng.rand(rng.randint(1, 4), 2, 2), axis=1) * [width, height]
        boxes = np.concatenate([corners[:, 0], corners[:, 1], rng.randint(0, 3, (len(corners), 1))], 1)
        for block in blocks(bbox):
            random.seed(seed)
            np.random.seed(seed)
            out, moved = block(array(image, dtype="uint8"), array(boxes, dtype="float32"))
            found.append([list(out.shape), int(out.asnumpy().astype("int64").sum()), rounded(moved.asnumpy()), random.random()])
    return found


def functions(utils):
    """What the functions make of boxes; the kind of the error where they raise one."""
    boxes = np.array([[10, 20, 30, 40, 1], [5.5, 6, 50, 60, 2]])
    cases = [(utils.bbox_iou, (boxes, boxes[:1])), (utils.bbox_iou, (boxes, boxes, 1)), (utils.bbox_iou, (boxes[:, :3], boxes)),
             (utils.bbox_translate, (boxes, 3, 4)), (utils.bbox_resize, (boxes, (100, 80), (50, 160))), (utils.bbox_resize, (boxes, 1, 2)),
             (utils.bbox_resize, (boxes.astype("int64"), (100, 80), (50, 160))), (utils.bbox_flip, (boxes, (100, 80, 3)))]
    cases += [(utils.bbox_flip, (boxes, (100, 80), x, y)) for x in (True, False) for y in (True, False)]
    cases += [(utils.bbox_crop, (boxes, part, outside)) for outside in (True, False) for part in (
        None, (8, 18, 20, 20), (8, 18, None, 20), (None, None, 20, 20), (0, 0, 0, 0), (8, 18, 20), (25, 10, 10, 100), (-5, -5, 100, 100))]
    for given in ((10, 20, 30, 40), [10, 20, 30, 40], (1.5, 2, 3, 4), (1, 2, 3), boxes, boxes[:, :3], "abcd"):
        cases += [(utils.bbox_xywh_to_xyxy, (given,)), (utils.bbox_xyxy_to_xywh, (given,)), (utils.bbox_clip_xyxy, (given, 25, 35))]
    found = []
    for function, arguments in cases:
        try:
            made = function(*arguments)
            found.append([type(made).__name__, str(getattr(made, "dtype", "")), rounded(made)])
        except (IndexError, TypeError, ValueError) as error:
            found.append(type(error).__name__)
    return found


def everything(array, bbox):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps({"blocks": through_blocks(array, bbox, range(30)), "functions": functions(bbox.utils)}))


if __name__ == "__main__":
    import mxnet as mx
    from mxnet.gluon.contrib.data.vision.transforms.bbox import bbox as blocks_of_20, utils as functions_of_20
    mx.npx.set_np()
    blocks_of_20.utils = functions_of_20
    with open(sys.argv[1], "w") as out_file:
        json.dump(everything(mx.np.array, blocks_of_20), out_file, separators=(",", ":"))
        out_file.write("\n")
