"""Shapes of parameters that are known from what a block does with mx.np arrays."""
import numpy as onp
import pytest

import mxnet as mx


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("shape, data, known", [((0, 4), (2, 3), (3, 4)), ((0,), (2, 3), (3,)), ((2, 0, 4), (5, 3), (2, 3, 4))])
def test_dot_tells_the_shape_of_a_parameter(hybrid, shape, data, known):
    """As in 1.9.1: x.dot(w) with w of shape (0, k)."""
    class Dot(mx.gluon.nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = self.params.get("w", shape=shape, allow_deferred_init=True)

        def hybrid_forward(self, F, x, w):
            return x.dot(w)
    mx.npx.set_np()
    try:
        net = Dot()
        net.initialize(mx.init.One())
        if hybrid:
            net.hybridize()
        result = net(mx.np.ones(data))
        assert net.w.shape == known and (result.asnumpy() == 3).all() and result.shape == onp.ones(data).dot(onp.ones(known)).shape
    finally:
        mx.npx.reset_np()
