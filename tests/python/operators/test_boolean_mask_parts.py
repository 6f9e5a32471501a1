"""boolean_mask of arrays that threads share, with entries of every length; histograms."""
import numpy as np
import pytest

import mxnet as mx


@pytest.mark.on_gpu
@pytest.mark.parametrize("share", [0, .3, 1])
@pytest.mark.parametrize("dtype,inner", [("uint8", 1), ("float16", 1), ("float32", 1), ("float64", 1), ("float32", 3), ("float32", 4),
                                         ("float32", 5), ("float64", 4), ("int8", 70000)])
def test_parts(dtype, inner, share):
    rng = np.random.default_rng(2)
    outer, size = (2, 9) if inner > 1000 else (3, 70001)
    x = rng.integers(0, 100, (outer, size, inner)).astype(dtype)
    mask = (rng.random(size) < share).astype("int32")
    a = mx.nd.array(x, dtype=dtype)
    result = mx.nd.contrib.boolean_mask(a, mx.nd.array(mask, dtype="int32"), axis=1)
    np.testing.assert_array_equal(result.asnumpy(), x[:, mask != 0])
    if not dtype.startswith("float"):
        return
    a.attach_grad()
    with mx.autograd.record():
        y = mx.nd.contrib.boolean_mask(a, mx.nd.array(mask, dtype="int32"), axis=1)
    head = rng.integers(0, 100, y.shape).astype(dtype)
    y.backward(mx.nd.array(head, dtype=dtype))
    right = np.zeros_like(x)
    right[:, mask != 0] = head
    np.testing.assert_array_equal(a.grad.asnumpy(), right)


@pytest.mark.on_gpu
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("bins", [1, 4, 100, 5000])
def test_histograms(bins, dtype):
    rng = np.random.default_rng(bins)
    for n in (3, 5000, 300001):
        # Whole numbers and halves lie on edges, some values outside.
        x = (rng.integers(-6, 50, n) / 2).astype(dtype)
        if dtype == "float16" and bins > 100:      # several edges would be one number
            continue
        counts, edges = mx.nd._internal._histogram(mx.nd.array(x, dtype=dtype), bin_cnt=bins, range=(-2, 18))
        if dtype in ("float32", "float64", "float16"):
            right, _ = np.histogram(x.astype("float64"), edges.asnumpy().astype("float64"))
            np.testing.assert_array_equal(counts.asnumpy(), right)
        assert counts.asnumpy().sum() == ((x >= -2) & (x <= 18)).sum()
