"""Sorting: lines on both sides of every length at which the CPU sorts in another way."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

# Few keys by their places, up to 16 and 32; networks and partitions behind them.
LENGTHS = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 39, 40, 41, 255, 256, 257, 1000, 5000]
DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]


def numbers(dtype, shape, seed=0):
    random = onp.random.default_rng(seed)
    if "float" not in dtype:
        return random.integers(0 if dtype == "uint8" else -100, 100, shape).astype(dtype)
    x = random.standard_normal(shape)
    few = random.integers(0, 6, shape)
    return onp.choose(few, [x, x, onp.round(x), onp.inf * x, onp.nan * x, 0.0 * x]).astype(dtype)


def descending(x, axis):
    """Positions in falling order, NaN first, equal ones in the order of the array."""
    turned = onp.where(onp.isnan(x), -onp.inf, -x.astype("float64")) if x.dtype.kind == "f" else -x.astype("int64")
    nan_first = onp.where(onp.isnan(x), 0, 1) if x.dtype.kind == "f" else onp.ones_like(x)
    return onp.lexsort((turned, nan_first), axis=axis)


def rising(x, axis):
    """In float32 for float16: the sort of NumPy 2.4 for AVX-512 without FP16 (Zen 5) leaves some of
    5,000 halves in each other's place."""
    return onp.sort(x.astype("float32") if x.dtype == "float16" else x, axis=axis).astype(x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_sort_and_argsort(dtype, length):
    for shape, axis in (((length,), 0), ((3, length), 1), ((length, 37), 0), ((2, length, 5), 1)):
        x = numbers(dtype, shape, length)
        a = np.array(x, dtype=dtype)
        onp.testing.assert_array_equal(np.sort(a, axis=axis).asnumpy(), rising(x, axis))
        onp.testing.assert_array_equal(np.argsort(a, axis=axis).asnumpy(), onp.argsort(x, axis=axis, kind="stable"))
        onp.testing.assert_array_equal(a.asnumpy(), x)  # the data stays as it was
        if length:
            order = mx.nd.argsort(a.as_nd_ndarray(), axis=axis, is_ascend=False, dtype="int64").asnumpy()
            onp.testing.assert_array_equal(order, descending(x, axis))
            falling = mx.nd.sort(a.as_nd_ndarray(), axis=axis, is_ascend=False).asnumpy()
            onp.testing.assert_array_equal(falling, onp.take_along_axis(x, descending(x, axis), axis))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [16, 32, 300])
def test_zeros_keep_their_signs_in_order(dtype, length):
    x = onp.where(onp.arange(length) % 2, 0.0, -0.0).astype(dtype)
    signs = onp.signbit(np.sort(np.array(x, dtype=dtype)).asnumpy())
    assert signs.tolist() == [True] * (length // 2) + [False] * (length // 2)
    assert np.argsort(np.array(x, dtype=dtype)).tolist() == list(range(length))


def close_and_far(length, kind):
    """Numbers of 64 bits whose keys and positions do not fit into 64 bits together."""
    random = onp.random.default_rng(length)
    if kind == "integers":
        x = random.integers(-(2**62), 2**62, length)
    elif kind == "ties":  # most differ in the lowest bits alone, and one stretches the range
        x = 2**40 + random.integers(0, 4, length)
        x[length // 2] = -(2**62)
    elif kind == "few ties":
        x = random.integers(-(2**62), 2**62, length)
        x[: length // 10] = x[0] + random.integers(0, 4, length // 10)
    elif kind == "equal":
        x = onp.full(length, 7)
    else:
        x = 1.0 + random.integers(0, 9, length) * 2.0**-52
        x[length // 3] = -1e300
    return x


@pytest.mark.parametrize("kind", ["integers", "ties", "few ties", "equal", "doubles"])
@pytest.mark.parametrize("length", [2, 3, 32, 33, 400, 3000])
def test_argsort_of_keys_that_are_told_apart_by_their_lowest_bits(kind, length):
    x = close_and_far(length, kind)
    a = np.array(x, dtype=x.dtype)
    onp.testing.assert_array_equal(np.argsort(a).asnumpy(), onp.argsort(x, kind="stable"))
    falling = mx.nd.topk(
        a.as_nd_ndarray(), k=length, axis=0, ret_typ="value", is_ascend=False
    ).asnumpy()
    onp.testing.assert_array_equal(falling, onp.sort(x)[::-1])
    values, first, inverse, counts = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    for mine, theirs in zip((values, first, inverse, counts),
                            onp.unique(x, return_index=True, return_inverse=True, return_counts=True)):
        onp.testing.assert_array_equal(mine.asnumpy(), theirs)
