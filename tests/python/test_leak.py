"""Resident memory stays flat over training steps (each run in a process of its own, so that other tests' memory does not count)."""
import os
import subprocess
import sys

import pytest

import mxnet as mx

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "benchmark", "leak.py")


def run(steps):
    done = subprocess.run([sys.executable, SCRIPT, "--steps", str(steps)], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr


def test_500_steps():
    run(500)


@pytest.mark.skipif(mx.context.num_gpus() > 0, reason="a GPU is here")
def test_gpu_where_there_is_none():
    done = subprocess.run([sys.executable, SCRIPT, "--ctx", "gpu"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and "--ctx gpu needs a GPU" in done.stderr, done.stdout + done.stderr


@pytest.mark.nightly
def test_10000_steps():
    run(10000)
