"""Tensors of files whose dtypes no array has: the others load."""
import io
import json
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet._files import other_dtypes
from mxnet.contrib import safetensors, torch

DATA = Path(__file__).resolve().parents[1] / "data" / "torch_files"


def file_of(*rows):
    header, at, data = {}, 0, b""
    for name, dtype, shape, values in rows:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(values)]}
        at, data = at + len(values), data + values
    text = json.dumps(header).encode()
    return io.BytesIO(struct.pack("<Q", len(text)) + text + data)


def test_small_floats_of_torch_are_float32():
    with pytest.warns(UserWarning, match=r"float8.pt': tensors of 8-bit floats are given as float32, .*: 1 of float8_e4m3fn. .*scales"):
        found = torch.load(DATA / "float8.pt")["w"]
    assert found.dtype == np.float32 and found.asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("dtype, rows", [
    ("float8_e4m3fn", {0: 0, 1: 2 ** -9, 0x38: 1, 0x7E: 448, 0x7F: np.nan, 0xFF: np.nan, 0xB8: -1, 0x08: 2 ** -6}),
    ("float8_e5m2", {1: 2 ** -16, 0x3C: 1, 0x7B: 57344, 0x7C: np.inf, 0xFC: -np.inf, 0x7D: np.nan, 0xBC: -1}),
    ("float8_e4m3fnuz", {0: 0, 1: 2 ** -10, 0x40: 1, 0x7F: 240, 0x80: np.nan, 0xFF: -240}),
    ("float8_e5m2fnuz", {1: 2 ** -17, 0x40: 1, 0x7F: 57344, 0x80: np.nan}),
    ("float8_e8m0fnu", {0: 2 ** -127, 127: 1, 254: 2.0 ** 127, 255: np.nan})])
def test_bytes_of_small_floats(dtype, rows):
    """Values of the OCP's and PyTorch's descriptions of these types."""
    found = other_dtypes.small_floats(np.array(list(rows), np.uint8), dtype)
    np.testing.assert_array_equal(found, np.array(list(rows.values()), np.float32))


def test_safetensors_give_the_others():
    turns = np.exp(1j * np.arange(3)).astype(np.complex64)
    file = file_of(("w", "F32", [2], np.ones(2, np.float32).tobytes()), ("q", "F8_E5M2", [1, 2], b"\x3c\xc0"),
                   ("turns", "C64", [3], turns.tobytes()), ("four", "F4", [3], b"ab"))
    with pytest.warns(UserWarning, match="1 of float8_e5m2"):
        found = safetensors.load(file, array_type="np")
    assert found["w"].asnumpy().tolist() == [1, 1] and isinstance(found["w"], mx.np.ndarray)
    assert found["q"].asnumpy().tolist() == [[1, -2]] and isinstance(found["q"], mx.np.ndarray)
    assert found["turns"].shape == (3,) and found["turns"].dtype == "complex64" and found["turns"].ndim == 1
    np.testing.assert_array_equal(found["turns"].numpy(), turns)
    np.testing.assert_array_equal(np.asarray(found["turns"]).real, turns.real)
    with pytest.raises(mx.MXNetError, match=r"'turns'\] a tensor of shape \(3,\) and dtype complex64, of which there are no arrays"):
        found["turns"].astype("float32")
    with pytest.raises(TypeError, match="dtype float4_e2m1fn"):
        found["four"].numpy()
    assert "float4_e2m1fn" in repr(found["four"]) and not hasattr(found["four"], "asscalar")


def test_blocks_take_the_others():
    net = mx.gluon.nn.Dense(2, in_units=2)
    weights = torch.load(DATA / "complex.pt")["layer"]
    assert weights["w"].numpy().tolist() == [1, 1]
    given = {"weight": mx.nd.ones((2, 2)), "bias": mx.nd.zeros(2), "turns": weights["w"]}
    assert torch.load_into(net, given, strict=False).unexpected == ["turns"]
    with pytest.raises(ValueError, match="'bias', which is to become 'bias', is <tensor of shape .2,. and dtype complex64"):
        torch.load_into(net, {"weight": mx.nd.ones((2, 2)), "bias": weights["w"]})


def test_files_without_them_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.load(DATA / "newer_dtypes.pt")
        safetensors.load(file_of(("w", "BF16", [1], b"ab")))
