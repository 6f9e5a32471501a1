"""What paddle2onnx writes, in the corpus: the nets and functions of onnx_nets_paddle.py. It
needs an interpreter with paddle 2.6 and paddle2onnx 1.3; newer ones fail at most of them."""
import inspect
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw, images

OPSETS = (11, 13, 16, 19)


def settled(net, given):
    """With the statistics of BatchNorm that such inputs have."""
    import paddle
    for layer in net.sublayers():
        if isinstance(layer, paddle.nn.layer.norm._BatchNormBase):
            layer._momentum = 0.0
    net.train()
    with paddle.no_grad():
        net(*given)
    net.eval()
    return net


def exported(build, shapes, inputs, opset):

    def make(folder, name):
        import paddle
        import paddle2onnx
        paddle.seed(0)
        given = {k: paddle.to_tensor(v) for k, v in inputs(2).items()}
        net = settled(build(), list(given.values()))
        specs = [
            paddle.static.InputSpec([-1 if s is None else s for s in shapes[k]],
                                    str(v.dtype).split(".")[-1], k) for k, v in given.items()
        ]
        path = os.path.join(folder, name)
        paddle.jit.save(paddle.jit.to_static(net, input_spec=specs, full_graph=True), path)
        program = next(path + e for e in (".json", ".pdmodel") if os.path.exists(path + e))
        params = path + ".pdiparams"
        more = {"optimize_tool": "None"} if "optimize_tool" in inspect.signature(
            paddle2onnx.export).parameters else {}
        try:
            paddle2onnx.export(program,
                               params if os.path.exists(params) else "",
                               path + ".onnx",
                               opset_version=opset,
                               **more)
        except SystemExit:  # its way to say that it failed
            raise RuntimeError("paddle2onnx ended") from None
        return onnx_models.reference_of(folder, name)

    return make


def numbers(**shapes):

    def inputs(batch):
        n = batch or 3
        return {
            k: (0.8 * draw(k, n).normal(size=[n if d is None else d for d in s])).astype("float32")
            for k, s in shapes.items()
        }

    return inputs


def boxed(batch):
    n = batch or 2
    return {
        "x": images((n, 3, 64, 96)), "size": np.array([[64, 96]] * n, "int32"), "scale": np.ones(
            (n, 2), "float32")
    }


def words(batch):
    n, t = (batch, 24) if batch else (3, 17)
    return {
        "ids": onnx_models.words((n, t), 1000) * onnx_models.masks(n, t), "kinds": np.zeros(
            (n, t), "int64")
    }


def photos(name, high, wide, other):
    return lambda batch: {name: images((batch or 2, 3, *((high, wide) if batch else other)))}


def files(corpus):

    def own(kind, *options):

        def build():
            import onnx_nets_paddle
            return getattr(onnx_nets_paddle, kind)(*options)

        return build

    def put(name, build, shapes, inputs, opsets=OPSETS[1:2]):
        for opset in opsets:
            corpus[f"paddle.{name}_{opset}"] = "paddle2onnx", Made(
                "", exported(build, shapes, inputs, opset), inputs, (1, ))

    wide = {"x": [None, 3, -1, -1]}
    put("text_places", own("TextPlaces"), wide, photos("x", 64, 96, (96, 64)), OPSETS[1:])
    for cell in ("lstm", "gru", "attention"):
        put("text_reader_" + cell, own("TextReader", cell), {"x": [None, 3, 48, -1]},
            photos("x", 48, 160, (48, 320)), OPSETS)
    for kind in ("picodet", "yolo"):
        put(kind, own("Boxes", kind), {**wide, "size": [None, 2], "scale": [None, 2]}, boxed,
            OPSETS[1:3])
    put("ernie", own("Ernie"), {"ids": [None, -1], "kinds": [None, -1]}, words, OPSETS)
    import onnx_nets_paddle
    for name, (function, shape) in onnx_nets_paddle.FUNCTIONS.items():
        put(name,
            lambda f=function: onnx_nets_paddle.Function(f), {"x": shape},
            numbers(x=shape),
            OPSETS[1::2])
    for name, (build, shape) in onnx_nets_paddle.LAYERS.items():
        put(name, build, {"x": shape}, numbers(x=shape), OPSETS[1::2])
