"""Sizes of 0 in symbolic zeros, ones and full are inferred from their use, as 1.x recurrent cells
need; eager arrays may have size 0."""
import mxnet as mx
import pytest


@pytest.mark.parametrize("make", [mx.sym.zeros, mx.sym.ones])
def test_open_batch_size(make):
    x = mx.sym.var("x")
    added = make(shape=(0, 4)) + x
    assert added.infer_shape(x=(3, 4))[1] == [(3, 4)]
    joined = mx.sym.concat(make(shape=(0, 2)), x, dim=1)
    assert joined.infer_shape(x=(3, 4))[1] == [(3, 6)]
    executor = added.simple_bind(mx.cpu(), x=(3, 4))
    assert executor.forward()[0].shape == (3, 4)


def test_eager_size_zero():
    assert mx.nd.zeros((0, 3)).shape == (0, 3)
    assert mx.nd.concat(mx.nd.zeros((0, 3)), mx.nd.ones((2, 3)), dim=0).shape == (2, 3)
