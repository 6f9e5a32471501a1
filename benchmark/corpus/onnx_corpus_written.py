"""Files that people write in the corpus: onnxscript's functions, and layers of the first opsets as
Caffe2 and others gave them."""
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw, images


# name -> inputs of a function of onnx_nets_written.py
def normal(*shape):
    return (0.5 * draw(shape).normal(size=shape)).astype("float32")


SCRIPTED = {
    "layers": lambda n: {
        "x": normal(n or 3, 6, 32), "w": normal(32, 64), "v": normal(64, 32), "scale": 1 + normal(
            32)
    },
    "sums": lambda n: {"x": normal(n or 3, 5), "n": np.array(4 if n else 7)},
    "halved": lambda n: {"x": 40 * normal(6 if n else 9)},
    "either": lambda n: {"x": np.abs(normal(2, 4)) if n else -np.abs(normal(3, 4))},
}


def by_onnxscript(kind):

    def make(folder, name):
        import onnx
        import onnx_nets_written
        onnx.save(
            getattr(onnx_nets_written, kind).to_model_proto(),
            os.path.join(folder, name + ".onnx"))
        return onnx_models.reference_of(folder, name)

    return make


# The first opsets.


def weights(*shape, scale=0.2):
    return (scale * draw("weights", shape).normal(size=shape)).astype("float32")


def picture_net(opset, node):
    """Layers of Caffe2's and MXNet's exporters: sums that begin at an axis, norms with `spatial`,
    Upsample, dropout, softmax over all that follows the batch, and weights that are inputs."""
    w = {
        "a": weights(16, 3, 3, 3), "ab": weights(16), "s": 1 + weights(16), "b": weights(16), "m":
        weights(16), "v": np.abs(weights(16)) + 0.5, "g": weights(16, 4, 3, 3), "slope":
        np.abs(weights(16, 1, 1)), "up": weights(16, 8, 2, 2), "fc": weights(10,
                                                                             8), "fcb": weights(10)
    }
    norm = {"spatial": 1} if opset < 9 else {}
    nodes = [
        node("Conv", ["x", "a", "ab"], ["c"],
             kernel_shape=[3, 3],
             pads=[1, 1, 1, 1],
             strides=[2, 2]),
        node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"],
             epsilon=1e-3,
             momentum=0.9,
             **norm),
        node("PRelu", ["n", "slope"], ["r"]),
        node("LRN", ["r"], ["l"], size=5, alpha=1e-4, beta=0.75),
        node("Conv", ["l", "g"], ["gc"], group=4, auto_pad="SAME_LOWER", dilations=[1, 1]),
        node("Sum", ["gc", "l", "n"], ["sum"]),
        node("MaxPool", ["sum"], ["p"], kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])
    ]
    if opset < 9:
        nodes += [node("Upsample", ["p"], ["u"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])]
    else:
        w["scales"] = np.array([1, 1, 2, 2], "float32")
        nodes += [
            node("Upsample" if opset == 9 else "Resize", ["p", "scales"], ["u"], mode="linear")
        ]
    nodes += [
        node("ConvTranspose", ["u", "up"], ["t"],
             kernel_shape=[2, 2],
             strides=[2, 2],
             output_shape=[32, 32]),
        node("InstanceNormalization", ["t", "si", "bi"], ["i"]),
        node("Dropout", ["i"], ["d"], ratio=0.5),
        node("AveragePool", ["d"], ["ap"],
             kernel_shape=[4, 4],
             strides=[4, 4],
             count_include_pad=1),
        node("GlobalAveragePool", ["ap"], ["gp"]),
        node("Flatten", ["gp"], ["f"]),
        node("Gemm", ["f", "fc", "fcb"], ["y0"], transB=1),
        node("Softmax", ["y0"], ["y1"]),
        node("ReduceMean", ["u"], ["y2"], axes=[1, 2], keepdims=0),
        node("Softmax", ["t"], ["y3"], axis=1),
        node("Hardmax", ["y0"], ["y4"]),
        node("TopK", ["y0"], ["y5", "y6"], k=3) if opset < 10 else node(
            "Identity", ["y0"], ["y5"])
    ]
    return nodes, {**w, "si": 1 + weights(8), "bi": weights(8)}, {"x": [None, 3, 32, 32]}


def places_net(opset, node):
    """Attributes that became inputs later: of Slice, Squeeze, Split, ReduceSum, Clip and more."""
    nodes = [
        node("Slice", ["x"], ["a"], axes=[1, 2], starts=[1, -5], ends=[4, 100]),
        node("Pad", ["a"], ["p"], mode="reflect", pads=[0, 0, 1, 0, 0, 2]),
        node("Unsqueeze", ["p"], ["u"], axes=[0, 3]),
        node("Squeeze", ["u"], ["s"], axes=[0, 3]),
        node("Split", ["s"], ["s0", "s1"], axis=1, split=[1, 2]),
        node("ReduceSum", ["s1"], ["r"], axes=[1], keepdims=1),
        node("Add", ["s0", "r"], ["t"]),
        node("Clip", ["t"], ["y0"], min=-1.0, max=1.5),
        node("Tile", ["y0", "times"], ["y1"]),
        node("Expand", ["y0", "wide"], ["y2"]),
        node("ArgMax", ["x"], ["y3"], axis=2),
        node("LogSoftmax", ["x"], ["y4"], axis=2),
        node("Gather", ["x", "at"], ["y5"], axis=1),
        node("Cast", ["y3"], ["y6"], to=1),
        node("Shape", ["x"], ["shape"]),
        node("Slice", ["shape"], ["n"], starts=[0], ends=[1]),
        node("Concat", ["n", "rest"], ["to"], axis=0),
        node("Reshape", ["x", "to"], ["y7"]),
        node("Elu", ["x"], ["y8"], alpha=0.5),
        node("MatMul", ["y7", "w"], ["y9"])
    ]
    constants = {
        "times": np.array([1, 2, 1]), "wide": np.array([1, 3, 1]), "at": np.array([2, 0]), "rest":
        np.array([-1]), "w": weights(32, 5)
    }
    return nodes, constants, {"x": [None, 4, 8]}


def recurrent_net(opset, node):
    """LSTM, GRU and RNN with lengths and rare options, and Scan of opset 8, which has a batch."""
    h, i = 6, 8
    w = {
        "lw": weights(2, 4 * h, i), "lr": weights(2, 4 * h, h), "lb": weights(2, 8 * h), "lp":
        weights(2, 3 * h), "gw": weights(1, 3 * h, 2 * h), "gr": weights(1, 3 * h, h), "rw":
        weights(1, h, h), "rr": weights(1, h, h), "none": np.zeros((0, ), "float32")
    }
    nodes = [
        node("LSTM", ["x", "lw", "lr", "lb", "lengths", "", "", "lp"], ["a", "ah", "y1"],
             hidden_size=h,
             direction="bidirectional",
             clip=3.0,
             activations=["HardSigmoid", "Tanh", "Tanh"] * 2),
        node("Transpose", ["a"], ["at"], perm=[0, 2, 1, 3]),
        node("Reshape", ["at", "flat"], ["ar"]),
        node("GRU", ["ar", "gw", "gr", "", "lengths"], ["g", "y2"],
             hidden_size=h,
             linear_before_reset=1),
        node("Squeeze", ["g"], ["gs"], axes=[1]),
        node("RNN", ["gs", "rw", "rr"], ["y0", ""],
             hidden_size=h,
             activations=["Affine"],
             activation_alpha=[0.5],
             activation_beta=[0.1],
             direction="reverse")
    ]
    if opset == 8:
        import onnx
        from onnx import TensorProto, helper
        info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        body = helper.make_graph(
            [node("Add", ["s", "e"], ["so"]),
             node("Mul", ["so", "e"], ["eo"])], "body",
            [info("s", [i]), info("e", [i])], [info("so", [i]), info("eo", [i])])
        assert onnx
        nodes += [
            node("Transpose", ["x"], ["xt"], perm=[1, 0, 2]),
            node("ReduceSum", ["xt"], ["first"], axes=[1], keepdims=0),
            node("Scan", ["", "first", "xt"], ["y3", "y4"],
                 num_scan_inputs=1,
                 directions=[1],
                 body=body)
        ]
    return nodes, {**w, "flat": np.array([0, 0, -1])}, {"x": [7, None, i], "lengths": [None]}


NETS = {"pictures": picture_net, "places": places_net, "recurrent": recurrent_net}


def given(kind):

    def inputs(batch):
        n = batch or 3
        if kind == "pictures":
            return {"x": images((n, 3, 32, 32))}
        if kind == "places":
            return {"x": draw(n).normal(size=(n, 4, 8)).astype("float32")}
        return {
            "x": draw(n).normal(size=(7, n, 8)).astype("float32"), "lengths":
            np.array([7, 3, 5, 1][:n], "int32")
        }

    return inputs


def written(kind, opset):

    def make(folder, name):
        import onnx
        from onnx import TensorProto, helper, numpy_helper
        nodes, constants, inputs = NETS[kind](opset, helper.make_node)
        of = lambda key: TensorProto.INT32 if key == "lengths" else TensorProto.FLOAT
        listed = [
            helper.make_tensor_value_info(k, of(k), ["n" if d is None else d for d in s])
            for k, s in inputs.items()
        ]
        listed += [
            helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for k, v in constants.items()
        ]
        outputs = sorted({o for n in nodes for o in n.output if o.startswith("y")})
        graph = helper.make_graph(nodes, kind, listed,
                                  [onnx.ValueInfoProto(name=o) for o in outputs],
                                  [numpy_helper.from_array(v, k) for k, v in constants.items()])
        made = helper.make_model(graph,
                                 opset_imports=[helper.make_opsetid("", opset)],
                                 ir_version=3)
        made = onnx.shape_inference.infer_shapes(made)
        onnx.save(made, os.path.join(folder, name + ".onnx"))
        return onnx_models.reference_of(folder, name)

    return make


def files(corpus):
    for kind, inputs in SCRIPTED.items():
        corpus["written." + kind] = "onnxscript", Made("", by_onnxscript(kind), inputs, (1, ))
    for kind in NETS:
        for opset in (8, 9) if kind == "places" else (7, 8, 9):
            corpus[f"written.{kind}_{opset}"] = "first opsets", Made("", written(kind, opset),
                                                                     given(kind), (1, ))
