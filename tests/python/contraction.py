"""Results that two kernels compute by the same steps."""
import numpy as np

import mxnet as mx

UNITS = 32


def assert_same(actual, expected):
    """Equal to the bit on the CPU, and in 16 bits and integers everywhere.

    On a GPU NVRTC makes one fused operation of a product and a sum where both stand in one kernel
    (docs/gpu/design.md, "Fusion of pointwise operators"), so float32 and float64 may differ by some
    units of what the array's largest number has."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if mx.current_context().device_type != "gpu" or expected.dtype not in (np.float32, np.float64):
        return np.testing.assert_array_equal(actual, expected)
    unit = UNITS * np.finfo(expected.dtype).eps
    scale = np.max(np.abs(expected), initial=0, where=np.isfinite(expected))
    np.testing.assert_allclose(actual, expected, rtol=unit, atol=unit * scale)
