"""Recurrent layers of ONNX files: weights are held once, in the form that products want, and every
plan of a model shares them."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from memory_checks import figures
from import_checks import model, node, ours, theirs

pytestmark = pytest.mark.cpu
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def layer(op, units, inputs, seed=0, named=True):
    rng = np.random.RandomState(seed)
    gates = GATES[op] * units
    weights = {"w": rng.randn(2, gates, inputs) * 0.1, "r": rng.randn(2, gates, units) * 0.1,
               "b": rng.randn(2, 2 * gates)}
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    made = node(op, ["x", "w", "r", "b"], ["y", "y_h"], hidden_size=units, direction="bidirectional", **more)
    return made, {k: v.astype("float32") for k, v in weights.items()}


@pytest.mark.parametrize("op", list(GATES))
@pytest.mark.parametrize("steps, batch", [(2, 1), (9, 1), (33, 2), (5, 8), (70, 3), (6, 17)])
def test_sizes(op, steps, batch):
    made, weights = layer(op, 70, 40)
    feeds = {"x": np.random.RandomState(1).randn(steps, batch, 40).astype("float32")}
    data = model([made], feeds, weights)
    for one, other in zip(ours(data, feeds), theirs(data, feeds)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)


MEMORY = r"""
model = mx.onnx.load(sys.argv[1])
for steps in (3, 4, 5, 6, 7):
    x = np.ones((steps, 1, 1024), "float32")
    next(iter(model.run({"x": x}).values())).asnumpy()
mx.nd.waitall()
print(resident("VmRSS") - before)
"""


def test_weights_are_held_once(tmp_path):
    rng = np.random.RandomState(0)
    weights = {"w": rng.randn(1, 4096, 1024).astype("float32") * 0.01,
               "r": rng.randn(1, 4096, 1024).astype("float32") * 0.01}  # 32 MiB
    made = node("LSTM", ["x", "w", "r"], ["y"], hidden_size=1024)
    data = model([made], {"x": np.ones((3, 1, 1024), "float32")}, weights)
    import onnx
    proto = onnx.load_from_string(data)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "steps"
    path = str(tmp_path / "m.onnx")
    onnx.save(proto, path)
    grown, = figures(path, MEMORY)
    assert 30 < grown < 56


THREADS = r"""
import sys, numpy as np, mxnet as mx
from mxnet.gluon import rnn
mx.random.seed(1)
made = []
for layer in (rnn.LSTM(256, 2, input_size=64), rnn.GRU(256, input_size=64, bidirectional=True),
              rnn.RNN(320, input_size=64)):
    layer.initialize(mx.init.Uniform(0.1))
    layer.hybridize(static_alloc=True)
    for batch in (1, 2, 5):
        x = mx.nd.array(np.random.RandomState(batch).randn(21, batch, 64))
        layer(x)
        made.append(layer(x).asnumpy())
np.savez(sys.argv[1], *made)
"""


def test_results_do_not_depend_on_threads(tmp_path):
    made = []
    for threads in ("1", "2", "5"):
        file = str(tmp_path / f"{threads}.npz")

        subprocess.run([sys.executable, "-c", THREADS, file], check=True, timeout=300,
                       env={**os.environ, "OMP_NUM_THREADS": threads})
        with np.load(file) as arrays:
            made.append([arrays[k] for k in arrays.files])
    for other in made[1:]:
        for one, two in zip(made[0], other):
            np.testing.assert_array_equal(one, two)


def test_parameters_of_a_block_stay_changed():
    made, weights = layer("LSTM", 48, 32)
    x = np.random.RandomState(3).randn(6, 2, 32).astype("float32")
    loaded = mx.onnx.load(model([made], {"x": x}, weights))
    before = loaded.run({"x": x})["y"].asnumpy()
    block = loaded.to_block()
    block.hybridize()
    given = mx.nd.array(x)
    np.testing.assert_allclose(block(given)[0].asnumpy(), before, rtol=1e-5, atol=1e-6)
    for parameter in block.collect_params().values():
        parameter.set_data(parameter.data() * 0.5)
    changed = model([made], {"x": x}, {k: v * np.float32(0.5) for k, v in weights.items()})
    want = theirs(changed, {"x": x})[0]
    np.testing.assert_allclose(block(given)[0].asnumpy(), want, rtol=1e-4, atol=2e-5)
    np.testing.assert_array_equal(loaded.run({"x": x})["y"].asnumpy(), before)
