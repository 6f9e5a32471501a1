"""Nested lists of Python's numbers into arrays and back, beside NumPy."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")
LISTS = {
    "floats": [1.5, -0.0, 2e-45, float("inf")], "whole": [3, -4, 0], "truth": [True, False],
    "mixed": [1, 2.5, True], "rows": [[1, 2, 3], [4, 5, 6]], "tuples": ((1, 2), [3, 4]),
    "deep": [[[[1]], [[2]]]], "empty": [], "rows of none": [[], []], "many": [list(range(50))] * 3,
    "near 2**24": [2 ** 24 + 1, 2 ** 24 + 3], "near 2**53": [2 ** 53 + 1, -2 ** 60 - 1],
    "NumPy's": [np.float32(1.5), np.int64(2)], "halfway": [1 + 2 ** -24 + 2 ** -53, 0.1],
    "arrays": [np.arange(3), np.ones(3)],
}
NOT_WHOLE = ("floats", "near 2**24", "near 2**53")      # what NumPy refuses or wraps
CASES = [(name, dtype) for name in LISTS for dtype in ("float32", "float64", "int32", "int64", "float16", "bool")
         if name not in NOT_WHOLE or dtype not in ("int32", "int64", "float16")]


@pytest.mark.parametrize("name, dtype", CASES)
@pytest.mark.parametrize("namespace", ("nd", "np"))
def test_array_of_lists_is_numpys(namespace, name, dtype):
    values = LISTS[name]
    want = np.array(values).astype(dtype)
    got = mx.np.array(values, dtype=dtype) if namespace == "np" else mx.nd.array(values, dtype=dtype)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("namespace", ("nd", "np"))
@pytest.mark.parametrize("values", ([[1, 2], [3]], [1, [2]], [[1], 2]))
def test_lists_of_unequal_lengths_are_refused(namespace, values):
    for kind in (ValueError, TypeError):    # NumPy's and that of 1.x
        with pytest.raises(kind, match="nested lists of equal lengths"):
            getattr(mx, namespace).array(values)


@pytest.mark.parametrize("namespace", ("nd", "np"))
def test_numbers_that_no_float32_can_be(namespace):
    array = getattr(mx, namespace).array
    np.testing.assert_array_equal(array([1e300, -1e300]).asnumpy(), [np.inf, -np.inf])
    np.testing.assert_array_equal(array([10 ** 30, 1]).asnumpy(), np.float32([1e30, 1]))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 1, 1), (40, 50), (0,), (2, 0, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tolist_is_numpys(dtype, shape):
    values = (np.arange(np.prod(shape)).reshape(shape) % 120 - (0 if dtype == "uint8" else 50)).astype(dtype)
    for array in (mx.np.array(values, dtype=dtype), mx.nd.array(values, dtype=dtype) if values.size else None):
        if array is None:
            continue
        got = array.tolist()
        assert got == values.tolist()
        assert not values.size or type(_first(got)) is type(_first(values.tolist()))


def _first(lists):
    return _first(lists[0]) if isinstance(lists, list) else lists


def test_tolist_of_zero_dims_is_a_number():
    for value in (1.5, True, 7):
        array = mx.np.asarray(value)
        assert array.tolist() == value and type(array.tolist()) is type(array.asnumpy().tolist())


def test_tolist_of_views_and_transposes():
    array = mx.np.arange(12).reshape(3, 4)
    values = array.asnumpy()
    assert array.T.tolist() == values.T.tolist()
    assert array[1:, ::2].tolist() == values[1:, ::2].tolist()
    assert array[1].tolist() == values[1].tolist()


def test_lists_with_the_ctypes_binding():
    program = ("import mxnet as mx\n"
               "assert mx.nd.array([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]\n"
               "assert mx.np.array([True, False], dtype=bool).tolist() == [True, False]\n")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "MXNET_ENABLE_CYTHON": "0"}, check=False)
    assert done.returncode == 0, done.stderr
