"""Numbers of 16 bits for tests of kernels that are chosen by processor and size."""
import numpy as np

from mxnet import nd

HALVES = ["float16", "bfloat16"]


def step_of(dtype):
    """The relative distance of neighbouring numbers."""
    return 2.0 ** (-10 if dtype == "float16" else -7)


def drawn(shape, rng):
    """Numbers that both half types hold."""
    return nd.array(rng.standard_normal(shape).astype("float32")).astype("bfloat16").astype("float32")


def close(half, full, dtype):
    """One rounding to the half type, and what sums in another order differ by."""
    half = half.astype("float32").asnumpy()
    full = full.asnumpy() if isinstance(full, nd.NDArray) else np.asarray(full, "float64")
    assert half.shape == full.shape
    np.testing.assert_allclose(half, full, rtol=step_of(dtype), atol=step_of(dtype) * 1e-2 * max(1, np.abs(full).max()))
