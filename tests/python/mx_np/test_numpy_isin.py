"""Membership, on both sides of the sizes from which elements are searched for."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8"])
@pytest.mark.parametrize("size", [0, 1, 5, 16383, 16384, 40000])
@pytest.mark.parametrize("among", [0, 1, 2, 8, 9, 300])
def test_isin(size, among, dtype, invert):
    random = onp.random.default_rng(size + among)
    x, y = (random.integers(-50, 50, n).astype(dtype) for n in (size, among))
    if "float" in dtype:
        x[::7], y[::3] = onp.nan, onp.nan
        x[1::11], y[1::5] = -0.0, 0.0
    shape = (size,) if size % 2 else (2, size // 2)
    result = np.isin(np.array(x.reshape(shape), dtype=dtype), np.array(y, dtype=dtype), invert=invert)
    assert result.dtype == bool
    onp.testing.assert_array_equal(result.asnumpy(), onp.isin(x.reshape(shape), y, invert=invert))
    with mx.autograd.record():
        traced = np.isin(np.array(x.reshape(shape), dtype=dtype), np.array(y, dtype=dtype), invert=invert)
    onp.testing.assert_array_equal(traced.asnumpy(), result.asnumpy())


def test_isin_of_other_dtypes_and_lists():
    x = np.array([1, 2, 3], dtype="int32")
    assert np.isin(x, np.array([2.5, 3.0], dtype="float64")).tolist() == [False, False, True]
    assert np.isin(x, [2]).tolist() == [False, True, False]
    assert bool(np.isin(np.array(2), [2, 5])) and not bool(np.isin(np.array(2), []))
