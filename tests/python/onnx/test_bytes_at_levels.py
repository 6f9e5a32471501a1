"""Quantized graphs give the same bytes at every level of the processor's instructions: sums are
exact, and what becomes of them is float32 in one order (docs/onnx.md)."""
import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from import_checks import model, ours
from test_import_integers import Builder, operators

onnx = pytest.importorskip("onnx")


class Net(Builder):
    """Layers at random, with scales that are no powers of two."""

    def scale(self, around):
        return float(np.float32(around * (0.5 + self.random.rand())))

    def layer(self, x, channels):
        """(a layer of x, its channels)"""
        filters = int(self.random.choice([16, 24, 32, 48]))
        kind = self.random.choice(["1x1", "3x3", "5x5", "strided", "depthwise", "groups"])
        if kind == "depthwise":
            y, filters = self.conv(x, (channels, 1, 3, 3), pads=[1] * 4, group=channels), channels
        elif kind == "groups":
            y = self.conv(x, (filters, channels // 8, 3, 3), pads=[1] * 4, group=8)
        elif kind == "strided":
            size = int(self.random.choice([1, 3]))
            y = self.conv(x, (filters, channels, size, size), pads=[size // 2] * 4, strides=[2, 2])
        else:
            size = int(kind[0])
            y = self.conv(x, (filters, channels, size, size), bool(self.random.rand() < 0.7), pads=[size // 2] * 4)
        return (self.op("Relu", y) if self.random.rand() < 0.5 else y), filters

    def block(self, x, channels):
        """x, a layer beside it, and their sum or product."""
        y = self.conv(x, (channels, channels, 3, 3), pads=[1] * 4)
        y = self.through(y, self.scale(1.1), int(self.random.randint(90, 150)))
        if self.random.rand() < 0.4:
            y = self.op("Add", y, x)
        else:
            y = self.op(str(self.random.choice(["Add", "Mul"])), y, self.through("x", self.scale(0.03), 117))
        return self.op("Relu", y) if self.random.rand() < 0.5 else y


def random_graph(seed):
    b = Net("u1" if seed % 3 else "i1", "i1", bool(seed % 2), seed)
    channels = 24
    shape = (1 + seed % 2, channels, 32 + seed % 5, 33)
    x = b.through("x", b.scale(0.02), 120)
    for depth in range(3):
        x = b.through(b.block(x, channels) if depth == 0 else b.layer(x, channels)[0] if depth == 1 else x, b.scale(0.9), 100)
        if depth == 1:
            channels = next(len(b.weights[n.input[0]]) for n in reversed(b.nodes) if n.op_type == "DequantizeLinear"
                            and n.input[0] in b.weights and b.weights[n.input[0]].ndim == 4)
    x, channels = b.layer(x, channels)
    b.steps(x, b.scale(0.7), 110, out="y0")
    flat = b.op("Flatten", b.op("GlobalAveragePool", b.through(x, b.scale(0.7), 110)))
    flat = b.through(flat, b.scale(0.3), 110)
    b.steps(b.op("MatMul", flat, b.kernel((channels, 200), 1)), b.scale(0.5), 128, out="y1")
    feeds = {"x": np.random.RandomState(seed).randn(*shape).astype("float32")}
    return model(b.nodes, feeds, b.weights, 21), feeds


def wide_layers(seed):
    """Layers with half a million results each: some are nearly in the middle of two steps."""
    b = Net("u1", "i1", True, seed)
    x = b.through("x", b.scale(0.02), 120)
    for i, (size, strides) in enumerate([(1, 1), (3, 1), (7, 2)]):
        y = b.conv(x, (64, 64, size, size), pads=[size // 2] * 4, strides=[strides] * 2)
        b.steps(y, b.scale(0.6), 131, out=f"y{i}")
        if i == 0:
            y = b.through(y, b.scale(0.8), 125)
            b.steps(b.op("Add", y, x), b.scale(0.9), 121, out="ya")
    feeds = {"x": np.random.RandomState(seed).randn(1, 64, 90, 90).astype("float32")}
    return model(b.nodes, feeds, b.weights, 21), feeds


def odd_windows(seed):
    """Images of few channels, and windows that are strided, dilated, uneven, or larger than the
    image."""
    b = Net("u1" if seed % 2 else "i1", "i1", True, seed)
    channels = (3, 1, 4, 6)[seed % 4]
    x = b.through("x", b.scale(0.02), 120)
    layers = [((18, 7, 7), dict(pads=[3] * 4, strides=[2, 2])), ((6, 3, 3), dict(pads=[2, 1, 0, 3], dilations=[2, 1])),
              ((37, 1, 7), dict(pads=[0, 3, 0, 3])), ((70, 3, 3), dict(pads=[2] * 4, dilations=[2, 2])),
              ((33, 5, 5), dict(pads=[2] * 4, strides=[2, 1])), ((40, 3, 3), dict(pads=[0, 1, 1, 0], strides=[2, 2])),
              ((20, 1, 1), dict(strides=[3, 2])), ((48, 2, 4), dict(pads=[1, 2, 1, 2]))]
    for i, ((filters, *window), where) in enumerate(layers):
        y = b.conv(x, (filters, channels, *window), (seed + i) % 3 > 0, **where)
        b.steps(y, b.scale(0.6), 131, out=f"y{i}")
        x, channels = b.through(y, b.scale(0.8), 125), filters
    feeds = {"x": np.random.RandomState(seed).randn(1 + seed % 3, (3, 1, 4, 6)[seed % 4], 53 + seed, 61).astype("float32")}
    return model(b.nodes, feeds, b.weights, 21), feeds


GRAPHS = ([(random_graph, seed) for seed in range(24)] + [(wide_layers, seed) for seed in range(3)] +
          [(odd_windows, seed) for seed in range(8)])


def digests():
    """Of all results of all graphs."""
    found = {}
    for make, seed in GRAPHS:
        data, feeds = make(seed)
        assert sum(op.startswith("_integer") for op in operators(data)) >= 4
        for i, y in enumerate(ours(data, feeds)):
            assert y.dtype.kind in "iu" and len(np.unique(y)) > 20
            found[f"{make.__name__} {seed} {i}"] = hashlib.sha256(y.tobytes()).hexdigest()
    return found


@pytest.fixture(scope="module")
def here():
    return digests()


@pytest.mark.parametrize("level", ["SSE41", "AVX2", "AVX512_CORE", "AVX512_CORE_VNNI", "no oneDNN"])
def test_bytes_are_the_same_at_every_level(level, here):
    code = "import json, sys, test_bytes_at_levels as t; json.dump(t.digests(), sys.stdout)"
    variable = {"MXNET_ONEDNN_ENABLED": "0"} if level == "no oneDNN" else {"ONEDNN_MAX_CPU_ISA": level}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]), **variable}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, env=env, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    other = json.loads(done.stdout)
    assert other.keys() == here.keys() and [name for name in here if here[name] != other[name]] == []
