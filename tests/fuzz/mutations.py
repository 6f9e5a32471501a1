"""Calls that are right but for one to three things: those of tests/python/op_cases with another
parameter, other numbers in an array, another size or dtype. They come behind the checks of shapes
that random calls seldom pass."""
import importlib
import os
import sys

import numpy as np

from mxnet._operators import functions as _op_functions

MODULES = ("binary", "boxes", "densities", "image", "indexing", "linalg", "matrix", "nn_attention", "nn_functions", "nn_layers",
           "numpy_arrays", "numpy_linalg", "optimizer", "random", "reduce", "roi", "spatial")
NUMBERS = (float("nan"), float("inf"), float("-inf"), 1e30, -1e30, 1e9, -1e9, 2.0**31, 2.0**63, -1, 0, -0.0, 1e-30, 100, 7.5, -3.7)
LARGEST = 400   # elements of an array


class Mutations:
    def __init__(self, names):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
        names, self.cases = set(names), {}
        for module in MODULES:
            for case in importlib.import_module("op_cases." + module).CASES:
                op = case["op"] if isinstance(case["op"], str) else case["op"][0]
                sizes = [np.prod(x if isinstance(x, tuple) else x.shape) for x in case["inputs"] if x is not None]
                if op in names and max(sizes, default=0) <= LARGEST:
                    self.cases.setdefault(op, []).append(case)
        self.ops = sorted(self.cases)

    def _arrays(self, rng, case):
        """[values, shape, dtype] of each."""
        draws = np.random.default_rng(rng.randrange(2**31))
        dtype, others = rng.choice(case.get("dtypes", ["float32"])[:4]), case.get("input_dtypes", {})
        arrays = []
        for i, given in enumerate(case["inputs"]):
            if given is None:
                continue
            own = others.get(i, dtype)
            if isinstance(given, tuple):
                values = draws.uniform(-2, 2, given)
            else:
                values = given if isinstance(given, np.ndarray) else np.asarray(given.values(draws, own))
            arrays.append([values.astype("float64"), values.shape, own])
        return arrays

    def make(self, rng, value, dtypes):
        """Returns operator, arrays and parameters. `value(rng, type)` draws one for a parameter."""
        op = rng.choice(self.ops)
        case, info = rng.choice(self.cases[op]), _op_functions.op_info(op)
        arrays, params = self._arrays(rng, case), dict(case.get("attrs", {}))
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            which = rng.random()
            if which < 0.4 and info.params:
                name, kind, _ = rng.choice(info.params)
                params[name] = value(rng, kind)
            elif which < 0.75 and arrays:
                flat = rng.choice(arrays)[0].reshape(-1)
                for _ in range(rng.choice([1, 1, 3, flat.size]) if flat.size else 0):
                    flat[rng.randrange(flat.size)] = rng.choice(NUMBERS)
            elif arrays:
                self._reshape(rng, rng.choice(arrays), dtypes)
        return op, arrays, params

    @staticmethod
    def _reshape(rng, array, dtypes):
        shape, which = list(array[1]), rng.random()
        if shape and which < 0.7:
            shape[rng.randrange(len(shape))] = rng.choice([0, 0, 1, 1, 2, 3, 5, 7])
        elif which < 0.8:
            shape = shape[1:]
        elif which < 0.9:
            shape.append(1)
        else:
            array[2] = rng.choice(dtypes)
        array[0] = np.resize(array[0].reshape(-1) if array[0].size else np.zeros(1), shape)
        array[1] = tuple(shape)
