"""Parameters that PyTorch keeps in parts: weight_norm, spectral_norm and pruning."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import torch
from mxnet.gluon import nn

SPECTRAL = [("weight_orig", "weight_u", "weight_v"),
            ("parametrizations.weight.original", "parametrizations.weight.0._u", "parametrizations.weight.0._v")]


def trained(rows, rounds=1):
    """Singular vectors as power iteration leaves them after a few rounds: not those of the end."""
    v = np.random.RandomState(3).randn(rows.shape[1])
    for _ in range(rounds):
        u = rows @ (v / np.linalg.norm(v))
        u /= np.linalg.norm(u)
        before, v = v / np.linalg.norm(v), rows.T @ u
    return u.astype("f"), before.astype("f")


@pytest.mark.parametrize("names", SPECTRAL)
@pytest.mark.parametrize("shape, axis", [((4, 3, 2, 2), 0), ((5, 5), 0), ((4, 4, 3, 3), 0), ((4, 4, 3, 3), 1), ((3, 5, 2, 2), 1)])
def test_a_weight_over_its_largest_singular_value(names, shape, axis):
    w = np.random.RandomState(2).randn(*shape).astype("f")
    rows = np.moveaxis(w, axis, 0).reshape(shape[axis], -1)
    u, v = trained(rows)
    layer = nn.Dense(5) if len(shape) == 2 else nn.Conv2DTranspose(shape[1], shape[2]) if axis else nn.Conv2D(shape[0], shape[2])
    weights = {**dict(zip(names, (mx.nd.array(part) for part in (w, u, v)))), "bias": mx.nd.zeros(shape[axis])}
    assert torch.load_into(layer, weights) == ([], [])
    np.testing.assert_allclose(layer.weight.data().asnumpy(), w / (u @ rows @ v), rtol=1e-5)


def test_singular_vectors_of_other_sizes():
    weights = dict(zip(SPECTRAL[0], (mx.nd.ones((2, 3)), mx.nd.ones(2), mx.nd.ones(4))), bias=mx.nd.ones(2))
    with pytest.raises(ValueError, match=r"weight of shape \(2, 3\) with singular vectors of shapes \(2,\) and \(4,\); accepted"):
        torch.load_into(nn.Dense(2), weights)


def test_a_pruned_weight():
    mask = np.array([[1, 0, 1], [0, 0, 1]], "f")
    net = nn.Dense(2)
    weights = {"weight_orig": mx.nd.array([[1, 2, 3], [4, 5, 6]]), "weight_mask": mx.nd.array(mask), "bias": mx.nd.zeros(2)}
    assert torch.load_into(net, weights) == ([], [])
    assert net.weight.data().asnumpy().tolist() == [[1, 0, 3], [0, 0, 6]]
    with pytest.raises(ValueError, match=r"\(2, 3\) with a mask of shape \(3,\)"):
        torch.load_into(net, {**weights, "weight_mask": mx.nd.ones(3)})


@pytest.mark.parametrize("names", [("weight_g", "weight_v"), ("parametrizations.weight.original0", "parametrizations.weight.original1")])
def test_one_length_for_all_of_a_weight(names):
    """weight_norm(layer, dim=None) has a length without dimensions."""
    v = np.random.RandomState(1).randn(4, 3).astype("f")
    with mx.util.np_shape(True):
        length = mx.nd.array(np.array(2, "f"))
    net = nn.Dense(4)
    assert torch.load_into(net, {names[0]: length, names[1]: mx.nd.array(v), "bias": mx.nd.zeros(4)}) == ([], [])
    np.testing.assert_allclose(net.weight.data().asnumpy(), 2 * v / np.linalg.norm(v), rtol=1e-5)


def test_parts_that_the_block_has_itself_stay():
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight_orig, self.weight_mask = (self.params.get(name, shape=(2,)) for name in ("orig", "mask"))
    net = Net()
    assert torch.load_into(net, {"weight_orig": mx.nd.ones(2), "weight_mask": mx.nd.zeros(2)}) == ([], [])
    assert net.weight_mask.data().asnumpy().tolist() == [0, 0]


def test_other_parametrizations_are_told():
    weights = {"parametrizations.weight.original": mx.nd.ones((2, 2)), "parametrizations.weight.0.base": mx.nd.ones((2, 2)),
               "bias": mx.nd.ones(2)}
    with pytest.raises(ValueError, match=r"are code; accepted: the weight itself, as torch.nn.utils.parametrize.remove_parametr"):
        torch.load_into(nn.Dense(2), weights)
