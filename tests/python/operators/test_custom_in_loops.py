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


COLLECTING = """
import gc, sys, threading
import custom_in_loops

def collect():
    while True:
        gc.collect(0)

gc.freeze()
threading.Thread(target=collect, daemon=True).start()
custom_in_loops.PROGRAMS[sys.argv[1]]()
"""


@pytest.mark.parametrize("name", ["many", "nested"])
def test_answers_of_callbacks_on_threads_of_the_library(name):
    """The library reads an answer after the callback has returned, when the interpreter has
    forgotten a thread that is not its own. What memory a collection frees in between is
    overwritten here."""
    folder = os.path.dirname(custom_in_loops.__file__)
    env = dict(os.environ, PYTHONMALLOC="debug", PYTHONPATH=os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]))
    run = subprocess.run([sys.executable, "-c", COLLECTING, name], env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
