"""Custom operators in the graphs of loops and conditions, where 1.9.1 crashed."""
import os
import subprocess
import sys

import pytest

import custom_in_loops


@pytest.mark.parametrize("name", custom_in_loops.PROGRAMS)
def test_program(name):
    custom_in_loops.PROGRAMS[name]()


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_nothing_waits_for_ever(engine):
    """One worker, one thread for custom operators, workspace memory for one operator."""
    env = dict(os.environ, MXNET_ENGINE_TYPE=engine, MXNET_CPU_WORKER_NTHREADS="1", MXNET_CUSTOM_OP_NUM_THREADS="1",
               MXNET_CPU_TEMP_COPY="1")
    run = subprocess.run([sys.executable, custom_in_loops.__file__, "2"], env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and run.stdout.endswith("all fine\n"), run.stdout + run.stderr
