"""Writes operator cases for tests/cpp/gpu/gpu_op_cases_test.cc: python gpu_op_cases.py FILE.

The C++ test runs them on the emulator of GPUs, with the gradients that they ask for. What is
written are the names that tests/cpp/gpu/gpu_*_test.cc mention (those operators have cases there)
and the cases of all other operators of op_cases, but for large arrays. Pointwise operators are rows
of one table, which the C++ tests go through by themselves.
"""
import importlib
import pathlib
import pkgutil
import re
import sys

import numpy as np

import op_cases
from op_cases import FLOATS, INTEGERS, Draw, rand

HERE = pathlib.Path(__file__).parent
ROWS_OF_THE_TABLE = {"unary", "binary"}
LARGEST = 4096   # elements: the emulator is slow


def mentioned():
    """Names in quotes in the hand-written tests of GPU kernels."""
    text = "".join(path.read_text() for path in sorted((HERE.parent / "cpp" / "gpu").glob("gpu_*_test.cc")))
    return sorted(set(re.findall(r'"([A-Za-z_]\w*)"', text)))


def values(case, dtype):
    """(dtype, array) for each input; None for a case that leaves one out or is too large."""
    inputs = list(case["inputs"])
    while inputs and inputs[-1] is None:
        inputs.pop()
    rng, drawn = np.random.default_rng(1), []
    for i, spec in enumerate(inputs):
        own = case.get("input_dtypes", {}).get(i, dtype)
        if isinstance(spec, tuple):
            spec = rand(spec)
        value = None if spec is None else spec.values(rng, own) if isinstance(spec, Draw) else np.asarray(spec)
        if value is None or value.size > LARGEST or value.dtype == object:
            return None
        drawn.append((own, value.astype("float64" if own in FLOATS else "int64")))
    return drawn


def write(out, case, name):
    dtypes = case.get("dtypes", FLOATS)
    inputs = values(case, "float32" if "float32" in dtypes else dtypes[0])
    if inputs is None:
        return
    out.write(f"case {name}\n")
    for key, value in case.get("attrs", {}).items():
        out.write(f"attr {key} {value}\n")
    for dtype, value in inputs:
        numbers = [value.ndim, *value.shape, *(repr(v) for v in value.ravel().tolist())]
        out.write(f"input {dtype} {' '.join(map(str, numbers))}\n")
    grad = case.get("grad", False)
    floating = [i for i in range(len(inputs)) if i not in case.get("input_dtypes", {})]
    if grad and inputs[0][0] not in INTEGERS:
        out.write(f"grad {' '.join(map(str, floating if grad is True else grad))}\n")
    out.write("end\n")


def main(path):
    names = mentioned()
    with open(path, "w") as out:
        out.write(f"named {' '.join(names)}\n")
        for module in sorted(m.name for m in pkgutil.iter_modules(op_cases.__path__)):
            if module in ROWS_OF_THE_TABLE:
                continue
            for case in importlib.import_module(f"op_cases.{module}").CASES:
                name = case["op"] if isinstance(case["op"], str) else case["op"][0]
                if name not in names and "ref" in case:
                    write(out, case, name)


if __name__ == "__main__":
    main(sys.argv[1])
