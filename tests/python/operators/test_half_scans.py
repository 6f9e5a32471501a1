"""Running sums of float16, of which several rows or columns go together."""
import ctypes

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB

# Along rows: fewer and more of them than go together, lengths beside the block of 256 and no
# multiple of 4; then along other axes.
SHAPES = [((1, 7), 1), ((1, 3000), 1), ((3, 257), 1), ((40, 1001), 1), ((16, 4), 1), ((33, 3), 1), ((9, 300), 0), ((2, 600, 300), 1),
          ((17, 5, 3), 1)]


@pytest.fixture(scope="module", autouse=True, params=[4, 3, 2])
def level(request):
    """Each level of the CPU has loops of its own."""
    cap = getattr(_LIB, "_ZN5mxnet11CapCpuLevelENS_8CpuLevelE")
    mx.nd.waitall()
    cap(ctypes.c_int(request.param))
    yield
    mx.nd.waitall()
    cap(ctypes.c_int(4))


def sums(x, axis):
    with np.errstate(all="ignore"):
        return np.cumsum(x, axis=axis)   # NumPy rounds every sum


def check(shape, axis, scale, infinite=False):
    x = (np.random.default_rng(1).standard_normal(shape) * scale).astype("float16")
    if infinite:
        x.flat[x.size // 2] = np.inf
    given = mx.nd.array(x, dtype="float16")
    given.attach_grad()
    with mx.autograd.record():
        y = mx.nd.cumsum(given, axis=axis)
    y.backward(mx.nd.array(x, dtype="float16"))
    np.testing.assert_array_equal(y.asnumpy(), sums(x, axis))
    np.testing.assert_array_equal(given.grad.asnumpy(), np.flip(sums(np.flip(x, axis), axis), axis))


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("scale", [1, 1e-6])   # the second: numbers of few bits
def test_every_sum_is_rounded(shape, axis, scale):
    check(shape, axis, scale)


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("scale,infinite", [(4000, False), (60000, False), (1, True)])
def test_sums_that_overflow(shape, axis, scale, infinite):
    check(shape, axis, scale, infinite)


def test_of_float32_as_float16():
    """Numbers are rounded before they are added."""
    x = np.random.default_rng(2).standard_normal((5, 400)).astype("float32")
    for axis in (0, 1):
        y = mx.np.cumsum(mx.np.array(x), axis=axis, dtype="float16").asnumpy()
        np.testing.assert_array_equal(y, sums(x.astype("float16"), axis))
