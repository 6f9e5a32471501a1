"""PReLU of 16-bit floats, which is computed in pieces of 2048 elements, against float32."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

RNG = np.random.default_rng(2)


def with_gradients(x, gamma, weights, dtype):
    x, gamma, weights = (nd.array(v).astype(dtype) for v in (x, gamma, weights))
    x.attach_grad(), gamma.attach_grad()
    with mx.autograd.record():
        y = nd.LeakyReLU(x, gamma, act_type="prelu")
    y.backward(weights)
    return [v.astype("float32").asnumpy() for v in (y, x.grad, gamma.grad)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape,slopes", [((2, 3, 5), 3), ((2, 3, 5), 1), ((3, 5, 2047), 5), ((2, 5, 2049), 1), ((4, 700, 3), 700),
                                          ((7, 5), 5), ((4100,), 1), ((2, 3, 0), 3), ((1, 2, 64, 65), 2)])
def test_as_in_float32(dtype, shape, slopes):
    x, weights = RNG.integers(-8, 9, (2, *shape)).astype("float32") / 4
    gamma = RNG.integers(0, 8, slopes).astype("float32") / 8
    for got, wanted in zip(with_gradients(x, gamma, weights, dtype), with_gradients(x, gamma, weights, "float32")):
        np.testing.assert_allclose(got, wanted, rtol=2e-2 if dtype == "bfloat16" else 2e-3, atol=1e-2)
