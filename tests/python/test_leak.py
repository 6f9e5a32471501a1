"""Resident memory stays flat over training steps (each run in a process of its own, so that other tests' memory does not count)."""
import os
import subprocess
import sys

import pytest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "benchmark", "leak.py")


def run(steps):
    done = subprocess.run([sys.executable, SCRIPT, "--steps", str(steps)], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr


def test_500_steps():
    run(500)


@pytest.mark.nightly
def test_10000_steps():
    run(10000)
