"""Quantized and sparse tensors in files of torch.save."""
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet._files.torch_forms import dequantized, triplets_of

torch = mx.contrib.torch
DATA = os.path.join(os.path.dirname(__file__), "..", "data", "torch_files")
STYPES = {"coo": "csr", "csr": "csr", "csc": "csr", "bsr": "csr", "bsc": "csr", "rows": "row_sparse"}


@pytest.mark.parametrize("name", ["forms.pt", "forms_legacy.pt"])
def test_forms(name):
    with pytest.warns(UserWarning) as warned:
        found = torch.load(os.path.join(DATA, name))
    words = " ".join(str(w.message) for w in warned)
    assert "2 quantized tensors (qint8) are given as the float32 numbers" in words
    assert "1 sparse tensors are given as dense arrays" in words
    for key, array in found["given"].items():
        meant = found["meant"][key]
        assert array.stype == STYPES.get(key, "default") and array.shape == meant.shape and array.dtype == np.float32
        np.testing.assert_allclose(array.asnumpy(), meant.asnumpy(), rtol=1e-6, err_msg=key)


def test_mx_np_arrays():
    with pytest.warns(UserWarning):
        found = torch.load(os.path.join(DATA, "forms.pt"), array_type="np")["given"]
    assert isinstance(found["qint8"], mx.np.ndarray) and isinstance(found["plain"], mx.np.ndarray)


def test_layers_of_8_bits():
    def net():
        made = mx.gluon.nn.HybridSequential()
        made.add(mx.gluon.nn.Dense(4), mx.gluon.nn.Activation("relu"), mx.gluon.nn.Dense(2))
        return made
    small, large = net(), net()
    with pytest.warns(UserWarning, match="quantized tensors"):
        missing, unexpected = torch.load_into(small, os.path.join(DATA, "layers_of_8_bits.pt"))
    assert not missing and not unexpected
    torch.load_into(large, os.path.join(DATA, "layers_of_32_bits.pt"))
    x = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (5, 3)))
    np.testing.assert_allclose(small(x).asnumpy(), large(x).asnumpy(), atol=0.02)


def test_a_sparse_array_becomes_a_parameter():
    dense = mx.gluon.nn.Dense(4, in_units=4, use_bias=False)
    with pytest.warns(UserWarning):
        found = torch.load(os.path.join(DATA, "forms.pt"))
    torch.load_into(dense, {"weight": found["given"]["csr"]})
    np.testing.assert_array_equal(dense.weight.data().asnumpy(), found["meant"]["csr"].asnumpy())


IDS, V = np.array([[0, 1]]), np.ones(2, np.float32)


@pytest.mark.parametrize("layout, parts, shape, what", [
    ("torch.sparse_coo", (IDS, V), (1,), "outside of it"), ("torch.sparse_coo", (-IDS, V), (3,), "outside of it"),
    ("torch.sparse_coo", (IDS, V), (3, 2), "with indices"),
    ("torch.sparse_coo", (np.zeros((3, 1), int), V[:1]), (2 ** 21,) * 3, "accepted"),
    ("torch.sparse_csr", (np.array([0, 3]), IDS[0], V), (1, 2), "do not follow"),
    ("torch.sparse_csr", (IDS[0], IDS[0], V), (5, 2), "one place"),
    ("torch.sparse_csr", (np.array([0, 2]), IDS[0] + 9, V), (1, 2), "outside of it"),
    ("torch.sparse_xyz", (IDS, IDS, V), (2, 2), "accepted"),
    ("torch.sparse_bsr", (np.array([0, 2]), IDS[0], np.ones((2, 2, 2))), (3, 4), "values"), ("torch.sparse_coo", (IDS, V), "ab", "shape")])
def test_sparse_tensors_that_are_wrong(layout, parts, shape, what):
    with pytest.raises(ValueError, match=what):
        triplets_of(layout, parts, shape)


@pytest.mark.parametrize("how, what", [
    (None, "scheme"), (("per_tensor_affine", "1", 0), "a scale"), (("per_tensor_affine", 1.0), "scheme"),
    (("per_channel_affine", np.ones(3), np.ones(3), 0), "for each channel"),
    (("per_channel_affine", np.ones(2), np.ones(2), 7), "channels")])
def test_quantized_tensors_that_are_wrong(how, what):
    with pytest.raises(ValueError, match=what):
        dequantized(np.zeros((2, 3), np.int8), how)


def test_quantized_numbers_are_products_of_float32():
    """As in PyTorch: a product of doubles that is rounded afterwards is another number here."""
    values, scale = np.arange(-128, 128).astype("int8"), 0.1
    found = dequantized(values, ("per_tensor_affine", scale, 3))
    want = (values.astype("f") - np.float32(3)) * np.float32(scale)
    assert found.dtype == np.float32 and (found == want).all()
    assert (want != ((values.astype("float64") - 3) * scale).astype("f")).any()
    each = dequantized(values.reshape(2, 128), ("per_channel_affine", np.array([scale, 0.3]), np.array([3, 0]), 0))
    assert (each[0] == want[:128]).all() and (each[1] == values[128:].astype("f") * np.float32(0.3)).all()
