"""Keywords that Gluon and optimizers have in 2.0, under npx.set_np()."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import rnn


@pytest.mark.parametrize("name, keywords, want", [      # numbers of 2.0.0b1
    ("rmsprop", {"rho": 0.5}, [0.6518567, -1.643288, 2.640778]),
    ("rmsprop", {"rho": 0.5, "momentum": 0.3, "centered": True}, [0.2599055, -1.171051, 2.149445]),
    ("adagrad", {"epsilon": 0.5}, [0.8164178, -1.978453, 2.779265]),
    ("adamax", {"epsilon": 0.5, "wd": 0.1}, [0.7678244, -1.90351, 2.712726]),
    ("lars", {"epsilon": 0.5, "wd": 0.1, "momentum": 0.9}, [0.9997678, -1.999973, 2.997977]),
])
def test_optimizers_take_the_keywords_of_2_0(numpy_semantics, name, keywords, want):
    weight = gluon.Parameter("p", shape=(3,))
    weight.initialize()
    weight.set_data(mx.np.array([1.0, -2, 3]))
    trainer = gluon.Trainer({"p": weight}, name, {"learning_rate": 0.1, **keywords})
    for _ in range(3):
        with mx.autograd.record():
            loss = (weight.data() ** 2 * mx.np.array([1, 0.01, 3.0])).sum()
        loss.backward()
        trainer.step(1)
    onp.testing.assert_allclose(weight.data().asnumpy(), want, rtol=1e-5)


@pytest.mark.parametrize("activation, recurrent, want", [      # numbers of 2.0.0b1
    ("relu", "sigmoid", [0.04403, -0.08806, 0.1321, 0.2406, 0.9198]),
    ("tanh", "relu", [-0.2913, -0.2913, -0.2913, 0.1588, 0.9088]),
    ("softsign", "tanh", [-0.3189, -0.2482, -0.366, 0.1564, 0.7915]),
])
def test_gru_cells_take_activations(numpy_semantics, activation, recurrent, want):
    cell = rnn.GRUCell(3, input_size=2, activation=activation, recurrent_activation=recurrent)
    cell.initialize(mx.init.Constant(0.3))
    states = [mx.np.array([[0.1, -0.2, 0.3], [0, 1, -1]])]
    for hybridized in (False, True):
        cell.hybridize(hybridized)
        output, _ = cell(mx.np.array([[1.0, -2], [0.5, 2]]), states)
        onp.testing.assert_allclose(output.asnumpy().ravel()[:5], want, atol=1e-4)


@pytest.mark.parametrize("name, axis", [("RandomFlipLeftRight", 1), ("RandomFlipTopBottom", 0)])
def test_flips_take_their_probability(numpy_semantics, name, axis):
    image = mx.np.arange(12).reshape(2, 2, 3)
    flip = getattr(gluon.data.vision.transforms, name)
    onp.testing.assert_array_equal(flip(p=1.0)(image).asnumpy(), onp.flip(image.asnumpy(), axis))
    onp.testing.assert_array_equal(flip(0)(image).asnumpy(), image.asnumpy())
    assert image.as_in_ctx(ctx=mx.cpu()) is image
