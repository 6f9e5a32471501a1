"""Padding by entries of the array: lines of every element size, alone and many."""

import numpy as onp
import pytest

from mxnet import np


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "maximum", "constant"])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize(
    "shape, widths",
    [
        ((7,), [(3, 2)]),
        ((300000,), [(5, 5)]),
        ((1,), [(4, 1)]),
        ((5, 6), [(0, 0), (2, 3)]),
        ((5, 6), [(4, 1), (0, 0)]),
        ((5, 6), [(9, 13), (7, 20)]),
        ((600, 700), [(3, 3), (3, 3)]),
        ((2, 3, 9, 5), [(0, 0), (0, 0), (3, 1), (2, 4)]),
        ((4, 8, 3), [(1, 2), (2, 1), (0, 0)]),
        ((4, 8, 40), [(0, 2), (2, 0), (0, 0)]),
        ((3, 1, 2), [(1, 1), (2, 2), (1, 0)]),
    ],
)
def test_pad(mode, dtype, shape, widths):
    x = onp.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
    onp.testing.assert_array_equal(
        np.pad(np.array(x, dtype=dtype), widths, mode=mode).asnumpy(), onp.pad(x, widths, mode=mode)
    )
