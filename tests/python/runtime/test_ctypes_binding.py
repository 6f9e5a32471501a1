"""The binding without a compiled part: test files that hand handles of both kinds on, run again
with it."""
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.mark.parametrize("name", ["passes/test_explain.py", "runtime/test_autograd.py", "gluon/test_gluon_block.py",
                                  "kvstore/test_kvstore.py", "mx_np/test_numpy_types.py"])
def test_file(name):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(HERE, name)],
                          env={**os.environ, "MXNET_ENABLE_CYTHON": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


ARITHMETIC = """
import operator, warnings
import numpy as onp
import mxnet as mx
warnings.simplefilter("ignore")
OPERATORS = "add sub mul truediv mod pow eq lt floordiv matmul and_ lshift iadd imul ipow imatmul iand".split()
def arrays(module):
    return [module.array([[1, 2], [3, 4]]), module.array([[1, 2], [3, 4]], dtype="int32")]
def others():
    return [2, 2.5, True, [[1, 2], [3, 4]], (1, 2), None, "a", onp.array([[1., 2], [3, 4]]), onp.array(2), onp.float32(2), onp.bool_(1),
            onp.ma.array([[1., 2], [3, 4]], mask=[[0, 1], [0, 0]]), [[1], [2, 3]], [], 1j, int, 2 ** 70, *arrays(mx.nd), *arrays(mx.np)]
def result(function, one, other):
    try:
        got = function(one, other)
    except Exception as error:
        return type(error).__name__
    return f"{type(got).__name__} {got.dtype} {got.asnumpy().tolist()}" if hasattr(got, "asnumpy") else repr(got)
for module in (mx.nd, mx.np):
    for name in OPERATORS:
        for i in range(2):
            for j in range(len(others())):
                for turned in (False, True)[:1 if name[0] == "i" else 2]:
                    pair = (arrays(module)[i], others()[j])[::-1 if turned else 1]
                    print(module.__name__, name, i, j, turned, result(getattr(operator, name), *pair), sep="|")
"""


def test_arithmetic_is_that_of_the_compiled_binding():
    results = []
    for switch in "01":
        done = subprocess.run([sys.executable, "-c", ARITHMETIC], env={**os.environ, "MXNET_ENABLE_CYTHON": switch},
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-1000:]
        results.append(done.stdout.splitlines())
    assert len(results[0]) > 2000
    assert [pair for pair in zip(*results) if pair[0] != pair[1]] == []
