"""The benchmarks' own checks: results of the measured operators against their references."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

BENCHMARK = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "benchmark")


def kernels(*arguments):
    return subprocess.run([sys.executable, os.path.join(BENCHMARK, "kernels.py"), *arguments], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("words, count", [("5x5,1x7,depthwise 3x3,dilated,1-D,avg pooling", 9), ("batch_dot,embedding,softmax,LayerNorm,gelu,gru,2048 to 1000", 8),
                                          pytest.param("", 47, marks=pytest.mark.nightly)])
def test_measured_operators_compute_what_their_references_do(words, count):
    done = kernels("--check", "--only", words)
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout.splitlines()[-1])
    assert len(errors) == count and 0 < max(errors.values()) < 4e-5, errors


def test_a_wrong_result_is_an_error(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import kernels as program
    name = "gelu, 128 rows of 3072"
    assert program.check([name])[name] < 2e-6
    monkeypatch.setattr(program, "reference_of", lambda case: np.full((128, 3072), 0.5))
    with pytest.raises(SystemExit, match="gelu, 128 rows of 3072: error .* against float64; accepted: 2e-06"):
        program.check([name])
    assert program.reference.error(np.array([np.nan]), np.ones(1)) == program.reference.error(np.ones(2), np.ones(1)) == float("inf")


def test_an_unknown_operator_is_refused():
    done = kernels("--only", "elsewhere")
    assert done.returncode == 2 and "--only elsewhere: no operator's name holds that" in done.stderr


@pytest.mark.skipif(mx.context.num_gpus() > 0, reason="a GPU is here")
def test_a_race_on_a_gpu_where_there_is_none():
    done = subprocess.run([sys.executable, os.path.join(BENCHMARK, "rnn.py"), "--ctx", "gpu"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 2 and "--ctx gpu needs a GPU" in done.stderr, done.stderr
