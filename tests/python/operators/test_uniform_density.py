"""random_pdf_uniform in rows of every length against NumPy."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("each", list(range(18)) + [31, 64, 700])
def test_rows(each, dtype):
    rng = np.random.default_rng(each)
    for rows in (1, 7, 16, 35, 600):
        low = rng.integers(-3, 3, rows).astype(dtype)
        high = (low + rng.integers(0, 3, rows)).astype(dtype)      # some are empty: NaN
        x = (rng.integers(-8, 12, (rows, each)) / 2).astype(dtype)
        if each:
            x[0, -1] = np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            density = np.where(low < high, 1 / (high.astype("float64") - low), np.nan)[:, None]
        right = np.where((x < low[:, None]) | (x > high[:, None]), np.where(np.isnan(density), np.nan, 0), density)
        right[np.isnan(x)] = np.nan
        y = mx.nd.random_pdf_uniform(*(mx.nd.array(a, dtype=dtype) for a in (x, low, high)))
        assert y.shape == (rows, each) and y.dtype == np.dtype(dtype)
        np.testing.assert_allclose(y.asnumpy(), right, rtol=1e-3 if dtype == "float16" else 1e-6)
