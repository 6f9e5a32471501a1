"""Copies whose runs are a few elements long, in arrays that take more than one table of places."""
import numpy as np
import pytest

import mxnet as mx

SHAPES = [((3000, 2, 3, 2), (0, 3, 2, 1)), ((5, 700, 3, 2), (1, 3, 0, 2)), ((40, 30, 2, 2, 3), (0, 3, 1, 4, 2)),
          ((7, 9, 11, 13), (3, 1, 2, 0)), ((2, 5000, 3), (0, 2, 1)), ((4097, 3, 5), (0, 2, 1)), ((600, 2, 2, 2, 2), (0, 4, 3, 2, 1))]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape, axes", SHAPES)
def test_axes_in_another_order(shape, axes, dtype):
    x = (np.arange(np.prod(shape)).reshape(shape) % 251).astype(dtype)
    np.testing.assert_array_equal(mx.nd.array(x, dtype=dtype).transpose(axes).asnumpy(), x.transpose(axes))
    part = x[1:-1, ..., ::-1]
    got = mx.nd.flip(mx.nd.array(x, dtype=dtype)[1:-1], axis=x.ndim - 1)
    np.testing.assert_array_equal(got.asnumpy(), part)


@pytest.mark.parametrize("block", [2, 3])
@pytest.mark.parametrize("height, width", [(1, 2), (3, 4), (20, 30)])
@pytest.mark.parametrize("batch", [1, 37])
def test_blocks_and_channels(batch, height, width, block):
    n, c = batch, 2
    deep = np.arange(n * c * block ** 2 * height * width, dtype="float32").reshape(n, c * block ** 2, height, width)
    wide = deep.reshape(n, block, block, c, height, width).transpose(0, 3, 4, 1, 5, 2).reshape(n, c, height * block, width * block)
    np.testing.assert_array_equal(mx.nd.depth_to_space(mx.nd.array(deep), block).asnumpy(), wide)
    back = wide.reshape(n, c, height, block, width, block).transpose(0, 3, 5, 1, 2, 4).reshape(deep.shape)
    np.testing.assert_array_equal(mx.nd.space_to_depth(mx.nd.array(wide), block).asnumpy(), back)


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("width", [1, 3, 16])
def test_upsampling_and_its_gradient(scale, width):
    x = np.arange(2 * 3 * 4 * width, dtype="float64").reshape(2, 3, 4, width)
    half = 1 + x[:, :, ::4]     # a second input, which is repeated more often down than across
    one, other = mx.nd.array(x, dtype="float64"), mx.nd.array(half, dtype="float64")
    for a in (one, other):
        a.attach_grad()
    with mx.autograd.record():
        alone = mx.nd.UpSampling(one, scale=scale, sample_type="nearest")
        both = mx.nd.UpSampling(one, other, scale=scale, sample_type="nearest", multi_input_mode="sum", num_args=2)
    large = x.repeat(scale, 2).repeat(scale, 3)
    np.testing.assert_array_equal(alone.asnumpy(), large)
    np.testing.assert_array_equal(both.asnumpy(), large + half.repeat(4 * scale, 2).repeat(scale, 3))
    head = np.arange(both.size, dtype="float64").reshape(both.shape)
    both.backward(mx.nd.array(head, dtype="float64"))
    blocks = head.reshape(2, 3, 4, scale, width, scale).sum((3, 5))
    np.testing.assert_array_equal(one.grad.asnumpy(), blocks)
    np.testing.assert_array_equal(other.grad.asnumpy(), blocks.sum(2, keepdims=True))
