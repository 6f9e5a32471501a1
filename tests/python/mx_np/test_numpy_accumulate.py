"""Running extremes: as NumPy has them, recorded or not."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8"])
@pytest.mark.parametrize("shape, axis", [((9,), 0), ((4, 5), 0), ((4, 5), 1), ((3, 2, 4), -2), ((0,), 0), ((2, 0), 1)])
def test_running_extremes(name, dtype, shape, axis):
    x = onp.random.default_rng(2).integers(0, 9, shape).astype(dtype)
    if "float" in dtype and x.ndim == 1 and x.size:
        x[x.size // 2] = onp.nan
    a = np.array(x, dtype=dtype)
    result = getattr(np, name).accumulate(a, axis)
    assert isinstance(result, np.ndarray) and result.dtype == x.dtype
    onp.testing.assert_array_equal(result.asnumpy(), getattr(onp, name).accumulate(x, axis))


def test_running_maximum_of_bfloat16_and_with_a_gradient():
    a = np.array([1.0, 3.0, 2.0])
    assert np.maximum.accumulate(a.astype("bfloat16")).astype("float32").tolist() == [1, 3, 3]
    a.attach_grad()
    with mx.autograd.record():
        y = np.maximum.accumulate(a)
    y.backward()
    assert y.tolist() == [1, 3, 3] and a.grad.tolist() == [1, 2, 0]
