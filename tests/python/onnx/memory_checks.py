"""What a model takes in memory, in a process of its own."""
import subprocess
import sys

_BEGIN = r"""
import sys, numpy as np, mxnet as mx
def resident(key):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key)) / 1024
mx.nd.waitall(); _ = mx.onnx.operators()
before = resident("VmRSS")
"""


def figures(path, program):
    """The numbers that a program prints.

    It finds the model's path in `sys.argv[1]`, and in `before` the MiB that were resident when it
    began. `resident(key)` gives those of VmRSS and VmHWM.
    """
    out = subprocess.run([sys.executable, "-c", _BEGIN + program, path], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr
    return [float(word) for word in out.stdout.split()]
