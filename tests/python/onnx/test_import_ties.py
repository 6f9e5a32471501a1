"""Ties of quantized layers: with scales that are powers of two all arithmetic is exact, so results
are those of onnx's reference evaluator, also where many are ties and zero points are odd."""
import os
import subprocess
import sys

import numpy as np
import pytest

from import_checks import MICROSOFT, model, node, ours, theirs
from test_import_integers import Builder, image, operators

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


class Exact(Builder):
    """Small weights, one result of eight is a tie."""

    def __init__(self, activation):
        super().__init__(activation, "i1", False)
        self.nodes.append(node("Identity", ["x"], ["in"]))

    def kernel(self, shape, axis=0, scale=2 ** -3):
        w = self.constant(self.random.randint(-7, 8, shape), "i1")
        return self.op("DequantizeLinear", w, self.constant(scale, "f4"), self.constant(0, "i1"))

    def bias(self, n):
        b = self.constant(self.random.randint(-30, 30, n), "i4")
        return self.op("DequantizeLinear", b, self.constant(2 ** -5, "f4"))

    def data(self, scale=2 ** -2, zero=121):
        return self.through("in", scale, zero)


def conv(b, **attributes):
    return b.conv(b.data(), (16, 16 // attributes.get("group", 1), 3, 3), **attributes)


def joined(b):
    x = b.data()
    y = b.through(b.conv(x, (16, 16, 1, 1)), 2 ** -2, 101)
    return b.op("Relu", b.op("Add", y, x))


def stepped_bias(b):
    y = b.through(b.op("MatMul", b.data(), b.kernel((7, 24), 1)), 2 ** -2, 121)
    return b.op("Add", y, b.bias(24))


def again(b):
    y = b.through(conv(b), 2 ** -2, 101)
    return b.op("Concat", y, y, axis=1)


def pair(op):
    return lambda b: b.op(op, b.data(), b.through(b.op("Mul", "in", b.constant(0.7, "f4")), 2 ** -1, 99))


def product(b):
    x = b.data()
    return b.op("MatMul", x, b.op("Transpose", x, perm=[0, 1, 3, 2]))


LAYERS = {
    "convolution": conv, "relu": lambda b: b.op("Relu", conv(b)), "depthwise": lambda b: conv(b, group=16),
    "groups": lambda b: conv(b, group=2), "joined": joined, "again": again, "add": pair("Add"), "mul": pair("Mul"),
    "dense": lambda b: b.op("Add", b.op("MatMul", b.data(), b.kernel((7, 24), 1)), b.bias(24)),
    "stepped bias": stepped_bias, "product": product, "mean": lambda b: b.op("GlobalAveragePool", b.data()),
    "function": lambda b: b.op("LeakyRelu", b.data(), alpha=0.25)}
SCALES = {"add": 1.0, "mul": 1.0, "mean": 2 ** -5, "product": 2 ** -1, "function": 2 ** -3}


def check_ties(layer, activation):
    b = Exact(activation)
    b.steps(LAYERS[layer](b), SCALES.get(layer, 2 ** -2), 101, out="y")
    feeds = {"x": 2 * image(2, 16, 8, 7)["x"]}
    if layer == "mean":
        feeds["x"] = feeds["x"][..., :4]   # means of 32
    data = model(b.nodes, feeds, b.weights, 21)
    want, = reference.ReferenceEvaluator(onnx.load_from_string(data)).run(None, feeds)
    got, = ours(data, feeds)
    assert len(np.unique(want)) > 20
    np.testing.assert_array_equal(got, want, err_msg=layer)
    return operators(data)


@pytest.mark.parametrize("activation", ["u1", "i1"])
@pytest.mark.parametrize("layer", LAYERS)
def test_ties(layer, activation):
    assert any(op.startswith("_integer") for op in check_ties(layer, activation)[1:])


@pytest.mark.parametrize("level", ["AVX2", "SSE41"])
def test_ties_at_other_levels(level):
    code = "import test_import_ties as t; [t.check_ties(layer, 'u1') for layer in t.LAYERS]"
    paths = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300,
                   env={**os.environ, "PYTHONPATH": paths, "ONEDNN_MAX_CPU_ISA": level})


POOLED = {"kernel_shape": [2, 2], "strides": [2, 2]}
AROUND = ["a", "as", "az", "ys", "yz"]
PAIR = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
LAYER = ["a", "as", "az", "w", "bs", "wz", "ys", "yz"]
# name: inputs, attributes, scale of the result
OPERATORS = {
    "QLinearAdd": (PAIR, MICROSOFT, 1), "QLinearMul": (PAIR, MICROSOFT, 1),
    "QLinearAveragePool": (AROUND, {**POOLED, **MICROSOFT}, 2 ** -2),
    "QLinearGlobalAveragePool": (AROUND, MICROSOFT, 2 ** -5),
    "QLinearLeakyRelu": (AROUND, {"alpha": 0.25, **MICROSOFT}, 2 ** -3),
    "QLinearConcat": (["ys", "yz", "a", "as", "az", "b", "bs", "bz"], {"axis": 1, **MICROSOFT}, 1),
    "QLinearConv": (LAYER, {}, 1), "QLinearMatMul": (LAYER, {}, 1)}


@pytest.mark.parametrize("activation", ["u1", "i1"])
@pytest.mark.parametrize("op", OPERATORS)
def test_ties_of_operators(op, activation):
    """Some add the zero point before they round, others behind that, as onnxruntime does."""
    inputs, attributes, scale = OPERATORS[op]
    random = np.random.RandomState(3)
    shift = 0 if activation == "u1" else 128
    feeds = {k: (random.randint(60, 190, (40, 16, 4, 4)) - shift).astype(activation) for k in "ab" if k in inputs}
    shape = (4, 5) if op == "QLinearMatMul" else (8, 16, 2, 2)
    weights = {"w": random.randint(-7, 8, shape).astype("i1"), "wz": np.int8(0)}
    for name, value, zero in (("a", 0.25, 121), ("b", 0.5, 99), ("y", scale, 101)):
        weights.update({name + "s": np.float32(value), name + "z": np.array(zero - shift, activation)})
    weights = {k: np.asarray(v) for k, v in weights.items() if k in inputs}
    data = model([node(op, inputs, ["y"], **attributes)], feeds, weights)
    want, = theirs(data, feeds, exact=False)
    assert len(np.unique(want)) > 20
    np.testing.assert_array_equal(ours(data, feeds)[0], want)
