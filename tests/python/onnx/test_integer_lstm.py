"""LSTM layers with weights of 8 bits: sums are exact, whatever the processor's instructions."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from integer_lstm_steps import reference

pytestmark = pytest.mark.cpu


def operands(seed, steps, batch, inputs, units, directions, unsigned, by_column):
    rng = np.random.RandomState(seed)
    low, high = (0, 256) if unsigned else (-127, 128)
    dtype = "uint8" if unsigned else "int8"
    columns = 4 * units
    numbers = (directions, columns) if by_column else (directions,)
    made = {"x": rng.randn(steps, batch, inputs).astype("float32"),
            "w": rng.randint(low, high, (directions, inputs, columns)).astype(dtype),
            "r": rng.randint(low, high, (directions, units, columns)).astype(dtype),
            "ws": rng.uniform(0.001, 0.004, numbers).astype("float32"),
            "wz": rng.randint(120 if unsigned else -5, 136 if unsigned else 6, numbers).astype(dtype),
            "rs": rng.uniform(0.001, 0.004, numbers).astype("float32"),
            "rz": rng.randint(120 if unsigned else -5, 136 if unsigned else 6, numbers).astype(dtype),
            "b": rng.randn(directions, 2 * columns).astype("float32") * 0.2,
            "h": rng.uniform(-1, 1, (directions, batch, units)).astype("float32"),
            "c": rng.randn(directions, batch, units).astype("float32")}
    return made


def run(given, lengths=None, reverse=False):
    arrays = [mx.nd.array(given[k], dtype=given[k].dtype) for k in ("x", "w", "r", "ws", "wz", "rs", "rz", "b", "h", "c")]
    if lengths is not None:
        arrays.append(mx.nd.array(lengths, dtype="int32"))
    units, directions = given["r"].shape[1], given["r"].shape[0]
    return [y.asnumpy() for y in mx.nd._internal._integer_lstm(
        *arrays, state_size=units, bidirectional=directions == 2, reverse=reverse,
        use_sequence_length=lengths is not None)]


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("steps, batch, inputs, units, directions, kind", [
    (5, 1, 8, 16, 1, "plain"), (7, 3, 13, 37, 2, "plain"), (6, 5, 70, 20, 2, "lengths"),
    (4, 2, 33, 5, 1, "reverse"), (3, 18, 7, 64, 1, "lengths")])
def test_numbers(steps, batch, inputs, units, directions, kind, unsigned, by_column):
    given = operands(steps, steps, batch, inputs, units, directions, unsigned, by_column)
    lengths = np.arange(batch) % steps + 1 if kind == "lengths" else None
    wide = dict(given)
    for k in ("ws", "wz", "rs", "rz"):  # for the reference: one for each direction broadcasts
        wide[k] = given[k].astype("float64").reshape(directions, -1)
    want = reference(*(wide[k] for k in ("x", "w", "r", "ws", "wz", "rs", "rz", "b", "h", "c")),
                     lengths=lengths, reverse=kind == "reverse")
    for got, expected in zip(run(given, lengths, kind == "reverse"), want):
        # a state between two steps of 8 bits may be rounded either way
        np.testing.assert_allclose(got, expected, atol=6e-3)
        assert np.abs(got - expected).mean() < 3e-4


LEVELS = r"""
import ctypes, sys, numpy as np
sys.path.insert(0, sys.argv[1])
import test_integer_lstm as t
# of CpuLevel, in src/base/cpu_dispatch.h
getattr(t.mx.base._LIB, "_ZN5mxnet11CapCpuLevelENS_8CpuLevelE")(ctypes.c_int(int(sys.argv[3])))
given = t.operands(3, 6, 3, 40, 24, 2, True, True)
np.savez(sys.argv[2], *t.run(given))
"""


def test_levels_of_the_processor_agree(tmp_path):
    here, made = os.path.dirname(os.path.abspath(__file__)), []
    for level in (2, 3, 4):
        file = str(tmp_path / f"{level}.npz")
        subprocess.run([sys.executable, "-c", LEVELS, here, file, str(level)], check=True, timeout=300)
        with np.load(file) as arrays:
            made.append([arrays[k] for k in arrays.files])
    for other in made[1:]:
        for one, two in zip(made[0], other):
            np.testing.assert_allclose(one, two, atol=6e-3)
            assert np.abs(one - two).mean() < 1e-4


def test_what_is_accepted():
    given = operands(0, 2, 1, 4, 8, 1, False, False)
    given["ws"] = np.ones(3, "float32")
    with pytest.raises(mx.MXNetError, match=r"\[_integer_lstm\] scale_input has shape \(3,?\)"):
        run(given)
