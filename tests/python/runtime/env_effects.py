"""For tests of what environment variables do: the same program in fresh processes under settings
that differ in one variable.

A test that shows the effect of variables says so with :func:`acts`, which holds it to that: a
variable that does nothing fails, whatever else the test asserts.
"""
import functools
import json
import os
import re
import subprocess
import sys

ACTING = {}      # variable -> name of the test that shows its effect
_OURS = re.compile("MXNET_|NNVM_|OMP_|DMLC_|CUDA_HOME")
_told = None     # [(program, variables, what it told)] of the test that runs now

PRELUDE = """
import ctypes, json, os
import mxnet as mx
from mxnet.base import _LIB, check_call

def threads():
    return len(os.listdir("/proc/self/task"))

def named(beginning):   # threads of this process with such a name
    names = [open(f"/proc/self/task/{t}/comm").read() for t in os.listdir("/proc/self/task")]
    return sum(name.startswith(beginning) for name in names)

def team():   # threads beside those that compute anyway
    return named("mx-omp\\n")

def engine():
    out = (ctypes.c_uint64 * 4)()
    check_call(_LIB.MXEngineStats(out))
    return dict(zip(("pushed", "inlined", "bulked", "bulks"), out))

def plan(executor):
    out = (ctypes.c_uint64 * 7)()
    check_call(_LIB.MXExecutorGetPlanStats(executor.handle, out))
    return dict(zip(("arena", "unshared", "lower_bound", "nodes", "bulks", "inplace", "removed"), out))

def chain(length=40):
    x = mx.sym.Variable("x")
    for i in range(length):
        x = mx.sym.tanh(mx.sym.dot(x, mx.sym.Variable("w"), name=f"dot{i}"), name=f"tanh{i}")
    return x

def bound(symbol, grad_req="write", **shapes):
    executor = symbol.simple_bind(mx.cpu(), grad_req=grad_req, **(shapes or dict(x=(64, 64), w=(64, 64))))
    executor.forward(is_train=grad_req != "null")
    return executor

def tell(**what):
    print(json.dumps(what))
"""


def told(program, variables, what):
    """Remembers what a program told, for :func:`acts`. Returns it."""
    if _told is not None:
        _told.append((program, variables, what))
    return what


def process(code, cwd=None, **variables):
    """A finished process of Python with these variables and none of the caller's, except where the
    library is."""
    environment = {k: v for k, v in os.environ.items() if not _OURS.match(k) or k == "MXNET_LIBRARY_PATH"}
    environment.update(variables)
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def run(program, **variables):
    """What `program`, behind the prelude, tells."""
    return told(program, variables, json.loads(process(PRELUDE + program, **variables).stdout.splitlines()[-1]))


def run_own(program, **variables):
    """On cores that count as the process's own, whoever else computes on them: every loop has its
    threads."""
    return run(program, OMP_WAIT_POLICY="active", **variables)


def shows(name, runs):
    """Whether two runs of one program whose settings differ in `name` alone told different
    things."""
    def others(variables):
        return {key: value for key, value in variables.items() if key != name}
    return any(one[0] == two[0] and others(one[1]) == others(two[1]) and one[1].get(name) != two[1].get(name) and one[2] != two[2]
               for i, one in enumerate(runs) for two in runs[:i])


def acts(*names, argument=None):
    """Marks a test that shows that the variables `names` act; with `argument`, each instance shows
    the one that the argument of this name says."""
    def decorate(test):
        for name in names:
            assert ACTING.setdefault(name, test.__name__) == test.__name__, f"{name} has two tests"

        @functools.wraps(test)
        def checked(*args, **kwargs):
            global _told
            _told = []
            try:
                test(*args, **kwargs)
                runs = _told
            finally:
                _told = None
            for name in [kwargs[argument]] if argument else names:
                assert name in names and shows(name, runs), f"no two runs that differ in {name} alone told different things"
        return checked
    return decorate
