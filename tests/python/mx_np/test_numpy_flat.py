"""Attributes of mx.np's arrays that are about memory: `flat`, `strides`, `flags`, and what is
written in place."""
import io
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

SHAPES = [(), (4,), (3, 4), (2, 1, 3), (0,), (2, 0, 3)]


def pair(shape, dtype="float32"):
    values = onp.arange(int(onp.prod(shape)), dtype=dtype).reshape(shape)
    return np.array(values, dtype=dtype), values.copy()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_strides_and_flags(shape, dtype):
    x, values = pair(shape, dtype)
    if values.size:         # of no elements, releases of NumPy differ
        assert x.strides == values.strides
    assert x.flags.c_contiguous and x.flags["C"] and x.flags["WRITEABLE"] and x.flags.writeable and x.base is None
    assert x.flags.f_contiguous == values.flags.f_contiguous
    assert "C_CONTIGUOUS : True" in repr(x.flags)
    with pytest.raises(KeyError):
        x.flags["Q"]


KEYS = [0, -1, 3, slice(1, 3), slice(None, None, -2), [0, 2, -1], onp.array([1, 1]), slice(3, 3), Ellipsis, (2,)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_flat_get_and_set(key):
    for shape in [(4,), (3, 4), (2, 1, 3)]:
        x, values = pair(shape)
        taken = x.flat[key]
        onp.testing.assert_array_equal(taken.asnumpy(), values.flat[key])
        taken[...] = 99         # a copy
        onp.testing.assert_array_equal(x.asnumpy(), values)
        number = isinstance(key, (int, tuple))
        for value in (7, onp.float32(8), *([] if number else [[5, 6], onp.array([1.5, 2.5, 3.5]), onp.ones((2, 2))])):
            x.flat[key] = value
            values.flat[key] = value
            onp.testing.assert_array_equal(x.asnumpy(), values)
    mask = values.reshape(-1) > 2
    x.flat[np.array(mask, dtype="bool")] = [1, 2]
    values.flat[mask] = [1, 2]
    onp.testing.assert_array_equal(x.asnumpy(), values)


def test_flat_errors():
    x, values = pair((2, 3))
    for bad in (6, -7, [9], (1, 2), "a"):
        for flat in (x.flat, values.flat):
            with pytest.raises((IndexError, TypeError)):
                flat[bad]
        with pytest.raises((IndexError, TypeError)):
            x.flat[bad] = 1
    with pytest.raises(ValueError):
        x.flat[0] = [1, 2]
    with pytest.raises(ValueError):
        x.flat[1:3] = []


def test_flat_as_a_whole():
    for shape in SHAPES:
        x, values = pair(shape)
        assert len(x.flat) == values.size and [float(v) for v in x.flat] == values.ravel().tolist()
        assert (onp.asarray(x.flat) == values.ravel()).all() and x.flat.copy().shape == (values.size,)
        for new in (3, [1, 2], onp.arange(20)):
            x.flat = new
            values.flat = new
            onp.testing.assert_array_equal(x.asnumpy(), values)
    walk, theirs = pair((2, 3))[0].flat, pair((2, 3))[1].flat
    for _ in range(4):
        assert walk.index == theirs.index and walk.coords == theirs.coords and float(next(walk)) == float(next(theirs))
    assert (walk == walk).all() and (walk < 3).asnumpy().tolist() == [True] * 3 + [False] * 3 and walk.base.shape == (2, 3)
    x, _ = pair((2, 3))
    assert len(set(x.flat.base.shape)) == 2
    with mx.autograd.record():
        pass
    x.attach_grad()
    with mx.autograd.record():
        y = (x * 2).flat[1:3].sum()
    y.backward()
    assert x.grad.tolist() == [[0, 2, 2], [0, 0, 0]]


@pytest.mark.filterwarnings("ignore")
def test_partition_in_place():
    rng = onp.random.default_rng(1)
    for axis in (-1, 0, 1):
        values = rng.permutation(24).reshape(4, 6).astype("float32")
        x = np.array(values)
        assert x.partition(2, axis=axis) is None
        ordered = onp.sort(values, axis)
        onp.testing.assert_array_equal(onp.take(x.asnumpy(), 2, axis), onp.take(ordered, 2, axis))
        onp.testing.assert_array_equal(onp.sort(x.asnumpy(), axis), ordered)
    with pytest.raises(ValueError):
        x.partition(7)


def test_files(tmp_path):
    x = np.array([[1, 2], [3, 4]], dtype="int16")
    x.tofile(tmp_path / "bytes")
    assert np.fromfile(tmp_path / "bytes", dtype="int16").tolist() == [1, 2, 3, 4]
    x.tofile(str(tmp_path / "text"), sep=" ")
    assert np.fromfile(str(tmp_path / "text"), dtype="int16", sep=" ").tolist() == [1, 2, 3, 4]
    x.dump(tmp_path / "pickle")
    held = io.BytesIO()
    x.dump(held)
    for data in (x.dumps(), (tmp_path / "pickle").read_bytes(), held.getvalue()):
        assert (pickle.loads(data) == x).all()
    np.savez_compressed(tmp_path / "zip", x, name=x * 2, allow_pickle=False)
    found = np.load(tmp_path / "zip.npz", allow_pickle=True)
    assert found["arr_0"].tolist() == x.tolist() and found["name"].dtype == x.dtype and set(found) == {"arr_0", "name"}
