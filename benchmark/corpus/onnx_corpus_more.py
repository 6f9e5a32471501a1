"""Pictures and sentences in the corpus whose sizes are free: the nets of onnx_nets_newer.py by
both of torch's exporters, and some of them at each opset that the newer one writes."""
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw, images

OPSETS = (18, 19, 20, 21, 22, 23)


def own(name, *options):

    def build():
        import onnx_nets_newer
        return getattr(onnx_nets_newer, name)(*options)

    return build


def points(batch):
    n = 2 if batch else 5
    return {
        "features": images(
            (1, 64, 16, 16)), "coords": draw("c").uniform(0, 256, (1, n, 2)).astype("float32"),
        "labels": np.array([[0, 1, 2, 3, -1]], "float32")[:, :n], "mask": images(
            (1, 1, 64, 64)), "has_mask": np.array([0 if batch else 1], "float32"), "size":
        np.array([150, 200] if batch else [310, 233], "float32")
    }


def frames(batch):
    h, w = (64, 96) if batch else (96, 64)
    n = batch or 2
    return {
        "frames": (0.2 * images((n, 6, h, w)) + 0.5).clip(0, 1).astype("float32"), "time": np.full(
            (n, 1, 1, 1), 0.5, "float32")
    }


def holes(batch):
    x = (0.2 * images((batch or 2, 3, 64, 64)) + 0.5).clip(0, 1).astype("float32")
    return {
        "x": x, "mask": (draw("holes").uniform(size=(len(x), 1, 64, 64)) > 0.7).astype("float32")
    }


def sized(name, high, wide, other):
    return lambda batch: {name: images((batch or 2, 3, *((high, wide) if batch else other)))}


def queries(batch):
    n = batch or 2
    return {"x": images((n, 3, 128, 128)), "size": np.array([[640, 480]] * n, "float32")}


# name -> build, inputs, free sizes, outputs
NETS = {
    "points": (own("Points"), points, {"coords": {1: "p"}, "labels": {1: "p"}}, 3),
    "depth": (own("Depth"), sized("x", 126, 168, (182, 140)), {"x": {0: "n", 2: "h", 3: "w"}}, 1),
    "between": (own("Between"), frames, {"frames": {0: "n", 2: "h", 3: "w"}, "time": {0: "n"}}, 1),
    "filled": (own("Filled"), holes, {"x": {0: "n"}, "mask": {0: "n"}}, 1),
    "enlarged": (own("Enlarged"), sized("x", 64, 48, (48, 96)), {"x": {0: "n", 2: "h", 3:
                                                                       "w"}}, 1),
    "face": (own("Face"), sized("x", 112, 112, (112, 112)), {"x": {0: "n"}}, 1),
    "face_boxes": (own("FaceBoxes"), sized("x", 128, 160,
                                           (160, 128)), {"x": {0: "n", 2: "h", 3: "w"}}, 9),
    "sentence":
    (own("Sentence"), onnx_models.text(8000, 64,
                                       False), {"ids": {0: "n", 1: "t"}, "mask": {0: "n", 1:
                                                                                  "t"}}, 2),
    "queries": (own("Queries"), queries, {"x": {0: "n"}, "size": {0: "n"}}, 3),
}


def newest(build, inputs, free, outputs, opset):
    """By torch.export with shapes that it is to find itself."""

    def make(folder, name):
        import torch
        torch.manual_seed(0)
        given = inputs(2)
        tensors = tuple(torch.from_numpy(v) for v in given.values())
        net = onnx_models.settled(build(), tuple(torch.from_numpy(v) for v in inputs(8).values()))
        shapes = tuple({a: torch.export.Dim.DYNAMIC for a in free.get(k, {})} for k in given)
        with torch.no_grad():
            torch.onnx.export(
                net,
                tensors,
                os.path.join(folder, name + ".onnx"),
                dynamo=True,
                dynamic_shapes=shapes,
                opset_version=opset,
                input_names=list(given),
                output_names=["y"] if outputs == 1 else [f"y{i}" for i in range(outputs)],
                external_data=False,
                verbose=False)
        return onnx_models.reference_of(folder, name)

    return make


def files(corpus, add):
    for name, (build, inputs, free, outputs) in NETS.items():
        if name != "filled":  # the older exporter knows no complex numbers
            add("more." + name,
                "torch, free sizes",
                build,
                inputs,
                both=False,
                outputs=outputs,
                free=free)
        for opset in OPSETS if name in ("sentence", "enlarged") else OPSETS[:1]:
            corpus[f"more.{name}_dynamo{opset}"] = "torch, dynamo", Made(
                "", newest(build, inputs, free, outputs, opset), inputs, (1, ))
