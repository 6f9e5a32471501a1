"""Cases for test_operators.py: every module of this folder has ``CASES`` (a list of dicts) and may
have ``COVERED_ELSEWHERE``.

The same cases run on a GPU (test_gpu_operators.py) and on the emulator of GPUs
(tests/cpp/gpu/gpu_op_cases_test.cc).

A case:

``op``        operator name, or a list of names that must all behave alike (aliases, legacy and NumPy forms)
``inputs``    list; each is a shape tuple, ``rand(shape, low, high)``, ``ints(shape, low, high)``, or a NumPy array with fixed values.
              For several optional inputs give them all; ``None`` leaves one out
``attrs``     keyword arguments of the operator
``ref``       function of the inputs as float64 arrays (integers as int64) and the attrs as keywords; returns one array or a list.
              Integer results of a fractional reference are truncated towards zero
``dtypes``    accepted dtypes, each tested; every other dtype must be refused. Default: the floating ones.
              ``FLOATS``, ``NUMBERS``, ``NUMBERS_AND_BOOL``, ``INTEGERS`` below
``refuses``   False: do not test that other dtypes are refused (operators that take any)
``input_dtypes``  dtypes of inputs that do not follow the tested one: {1: "int32"}
``out_dtype``  dtype of the results, or function of the tested dtype; default: that of the first
input
``grad``      True: finite differences of every input, or a list of input indices; False (default): not tested
``grad2``     True: second derivatives too
``tol``       factor on the tolerance, or {dtype: relative tolerance}
``grad_tol``  relative tolerance of gradients (default 1e-5)
``empty``     list of input shapes with a 0 among them, tested for shape only through the reference; False: not tested;
              default: first dimension 0 for all inputs, when all inputs have one shape
``bad``       list of dicts with ``inputs`` and/or ``attrs`` that must raise an error that starts with [operator]
``check``     function(outputs as NumPy arrays, inputs, attrs) instead of ``ref``, for results that are not one fixed array
``example``   lines of Python for the docstring; the value of the last one is shown. Default: made of the inputs and ``attrs``
``train``     True: run forward inside autograd.record() (training mode)

``COVERED_ELSEWHERE``: {operator: test file relative to tests/python}; the file must exist and
mention the operator.
"""
import numpy as np

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["uint8", "int8", "int32", "int64"]
NUMBERS = FLOATS + INTEGERS
NUMBERS_AND_BOOL = NUMBERS + ["bool"]


def quotient_type(dtype):
    """What means and quotients of NumPy's operators give."""
    return dtype if dtype in FLOATS else "float32"


def float_type(dtype):
    """What exp and its like give in NumPy's operators."""
    return dtype if dtype in FLOATS else "float16" if dtype in ("int8", "uint8", "bool") else "float32"


class Draw:
    """Random values for one input, drawn again for each test from a fixed seed."""

    def __init__(self, shape, low, high, integer):
        self.shape, self.low, self.high, self.integer = tuple(shape), low, high, integer

    def values(self, rng, dtype):
        low = max(self.low, 0) if dtype in ("uint8", "bool") else self.low
        low, high = (min(low, 1), min(self.high, 1)) if dtype == "bool" else (low, self.high)
        if self.integer or dtype in INTEGERS or dtype == "bool":
            low, high = int(np.ceil(low)), int(np.floor(high))
            return rng.integers(low, max(high, low) + 1, self.shape).astype("int64")
        return rng.uniform(low, high, self.shape)


def rand(shape, low=-2.0, high=2.0):
    """Uniform fractions (integers in that range for integer dtypes)."""
    return Draw(shape, low, high, False)


def ints(shape, low=-3, high=3):
    """Whole numbers, both ends included, also for floating dtypes."""
    return Draw(shape, low, high, True)


def rotated(cases):
    """Aliases are one record: the first case of a list of names tests all of them, each further one
    takes the next name in turn. Second derivatives, which take longest, are tested for the first
    three."""
    seen, out = {}, []
    for case in cases:
        names = case["op"]
        if not isinstance(names, str) and tuple(names) in seen:
            at = seen[tuple(names)] = seen[tuple(names)] + 1
            case = dict(case, op=names[at % len(names)], grad2=case.get("grad2", False) and at < 3)
        elif not isinstance(names, str):
            seen[tuple(names)] = 0
        out.append(case)
    return out
