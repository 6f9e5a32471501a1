"""Dense layers in bfloat16 with an activation, in plans, which keep packed weights: against float64
on the same numbers, with sizes that fill neither vectors, panels nor blocks."""
import math

import numpy as np
import pytest

import mxnet as mx

GELU = np.vectorize(lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)))
ACTIVATIONS = {
    "gelu": (lambda y: mx.sym.LeakyReLU(y, act_type="gelu"), GELU),
    "tanh": (lambda y: mx.sym.Activation(y, act_type="tanh"), np.tanh),
    "clip": (lambda y: mx.sym.clip(y, -1, 2), lambda y: np.clip(y, -1, 2)),
}


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("rows,units,features", [(9, 16, 33), (40, 70, 64), (300, 129, 50), (64, 640, 1030)])
def test_activation_of_unrounded_sums(activation, rows, units, features):
    of_symbol, of_numbers = ACTIVATIONS[activation]
    net = of_symbol(mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=units, name="f"))
    rng = np.random.default_rng(rows)
    arrays = {"x": rng.normal(0, 1, (rows, features)), "f_weight": rng.normal(0, 2 / np.sqrt(features), (units, features)),
              "f_bias": rng.normal(0, 1, units)}
    args = {n: mx.nd.array(a, dtype="bfloat16") for n, a in arrays.items()}
    executor = net.bind(mx.cpu(), args, grad_req="null")
    got = executor.forward(is_train=False)[0].astype("float32").asnumpy()
    exact = {n: a.astype("float32").asnumpy().astype("float64") for n, a in args.items()}
    want = of_numbers(exact["x"] @ exact["f_weight"].T + exact["f_bias"])
    np.testing.assert_allclose(got, want, rtol=2 ** -8, atol=2e-5)


def test_gelu_far_from_zero():
    """One input times one, and sums that are exact: gelu of each bfloat16 from -30 to 30."""
    numbers = mx.nd.array(np.concatenate([-np.geomspace(1e-3, 30, 800), np.geomspace(1e-3, 30, 800), [0]]), dtype="bfloat16")
    net = mx.sym.LeakyReLU(mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=8, no_bias=True, name="f"), act_type="gelu")
    args = {"x": numbers.reshape((-1, 1)), "f_weight": mx.nd.ones((8, 1), dtype="bfloat16")}
    got = net.bind(mx.cpu(), args, grad_req="null").forward(is_train=False)[0].astype("float32").asnumpy()
    want = GELU(numbers.astype("float32").asnumpy().astype("float64"))
    np.testing.assert_allclose(got, np.repeat(want[:, None], 8, 1), rtol=2 ** -8, atol=2e-6)
    plain = mx.nd.array([[np.nan], [np.inf]] * 8, dtype="bfloat16")
    got = net.bind(mx.cpu(), dict(args, x=plain), grad_req="null").forward(is_train=False)[0].astype("float32").asnumpy()
    assert np.isnan(got[0::2]).all() and np.isposinf(got[1::2]).all()
