"""Whether some or all elements are not zero: bytes along every axis, with rows in fours and not."""

import numpy as onp
import pytest

from mxnet import np


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8"])
@pytest.mark.parametrize("rows", [1, 2, 4, 5, 6, 8, 9, 255, 5000])
@pytest.mark.parametrize("columns", [1, 3, 31, 64, 65, 511, 512, 513])
def test_any_and_all_of_bytes(dtype, rows, columns):
    random = onp.random.default_rng(rows * columns)
    for share in (1.0 / rows, 1 - 1.0 / rows):
        x = (random.random((rows, columns)) < share) * random.choice([1, 2, 128, 255], (rows, columns))
        x = x.astype("uint8").astype(dtype)
        a = np.array(x, dtype=dtype)
        for axis in (0, 1, None):
            onp.testing.assert_array_equal(np.any(a, axis=axis).asnumpy(), onp.any(x, axis=axis))
            onp.testing.assert_array_equal(np.all(a, axis=axis).asnumpy(), onp.all(x, axis=axis))


@pytest.mark.parametrize("shape", [(3, 40, 5), (2, 3, 4, 100), (0, 5), (5, 0), (2, 0, 3)])
def test_any_and_all_over_several_axes(shape):
    x = onp.random.default_rng(1).random(shape) < 0.8
    a = np.array(x, dtype="bool")
    for axis in [(0,), (1,), (0, 1), (0, len(shape) - 1)]:
        onp.testing.assert_array_equal(np.any(a, axis=axis).asnumpy(), onp.any(x, axis=axis))
        onp.testing.assert_array_equal(np.all(a, axis=axis).asnumpy(), onp.all(x, axis=axis))
