"""UpSampling of half types: pixels are repeated as they are, gradients summed in float32."""
import numpy as np
import pytest

import mxnet as mx


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("scale", [1, 2, 3, 5])
@pytest.mark.parametrize("mode", ["concat", "sum"])
@pytest.mark.parametrize("inputs", [1, 2])
def test_nearest_is_float32_rounded(dtype, scale, mode, inputs):
    def run(kind):
        rng = np.random.default_rng(0)
        draw = lambda s: mx.nd.array(rng.standard_normal(s).astype("float32")).astype("bfloat16").astype(kind)
        arrays = [draw((2, 3, 8, 10)), draw((2, 3, 4, 5))][:inputs]
        for a in arrays:
            a.attach_grad()
        with mx.autograd.record():
            y = mx.nd.UpSampling(*arrays, scale=scale, sample_type="nearest", num_args=inputs, multi_input_mode=mode)
        y.backward(draw(y.shape))
        return [y, *(a.grad for a in arrays)]

    for half, full in zip(run(dtype), run("float32")):
        np.testing.assert_array_equal(half.astype("float32").asnumpy(), full.astype(dtype).astype("float32").asnumpy())


def test_every_number_stays():
    """Infinity and NaN among them."""
    x = np.arange(1 << 16, dtype="uint16").view("float16").reshape(1, 4, 128, 128)
    y = mx.nd.UpSampling(mx.nd.array(x, dtype="float16"), scale=2, sample_type="nearest").asnumpy()
    np.testing.assert_array_equal(y.view("uint16"), x.view("uint16").repeat(2, 2).repeat(2, 3))
