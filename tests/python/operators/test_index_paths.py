"""The compiled way of common keys against Python's, which has all rules, and against NumPy."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.ndarray import _indexing


def _key(rng, shape):
    def entry(size):
        kind = rng.integers(0, 6)
        if kind == 0:
            return int(rng.integers(-size, size))
        if kind == 1:
            return slice(None)
        bounds = [None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3)) for _ in range(2)]
        return slice(*bounds, [None, 1, 2, -1, -2, 3][int(rng.integers(0, 6))])
    n = int(rng.integers(1, len(shape) + 1))
    key = tuple(entry(s) for s in shape[:n])
    return key[0] if n == 1 and rng.random() < 0.7 else key


@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 1, 6), (2, 3, 4, 5)])
def test_reading(shape):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype("float32")
    a = mx.nd.array(x)
    for _ in range(400):
        key = _key(rng, shape)
        got, rules = a[key], _indexing.getitem(a, key)
        expected = np.asarray(x[key])
        assert got.shape == rules.shape == (expected.shape or (1,)), key
        np.testing.assert_array_equal(got.asnumpy(), expected.reshape(got.shape), err_msg=repr(key))
        if expected.size:   # both are views, or both are copies
            for part in (got, rules):
                before = a.asnumpy()
                part += 1
                changed = (a.asnumpy() != before).any()
                a[:] = mx.nd.array(before)
                if part is got:
                    viewed = changed
            assert changed == viewed, key


@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 1, 6), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_writing(shape, dtype):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(shape) * 9).astype(dtype)
    a = mx.nd.array(x, dtype=dtype)
    for i in range(300):
        key = _key(rng, shape)
        part = np.asarray(x[key])
        value = [3, -2.5 if dtype != "int32" else 4,
                 (rng.standard_normal(part.shape) * 9).astype(dtype),
                 (rng.standard_normal(part.shape) * 9).astype(dtype)][i % 4]
        x[key] = value
        a[key] = mx.nd.array(value.reshape(part.shape or (1,)), dtype=dtype) if i % 4 == 2 else value
        np.testing.assert_array_equal(a.asnumpy(), x, err_msg=repr(key))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e-45, 0.1, 123456789.0, True])
def test_written_numbers(value):
    a, line = mx.nd.zeros((3, 4)), mx.nd.zeros((3, 4))
    a[1] = value
    line[:, 2] = value
    np.testing.assert_array_equal(a.asnumpy()[1], np.full(4, value, "float32"))
    np.testing.assert_array_equal(line.asnumpy()[:, 2], np.full(3, value, "float32"))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "uint8", "int8"])
def test_rows_by_an_array(dtype):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((9, 4)).astype("float32")
    a = mx.nd.array(x)
    for index in ([0, 3, 8], [[1, 2], [7, 0]], [5]):
        np.testing.assert_array_equal(a[mx.nd.array(index, dtype=dtype)].asnumpy(), x[np.array(index)])
    if dtype != "uint8":
        np.testing.assert_array_equal(a[mx.nd.array([-1, -9, 2], dtype=dtype)].asnumpy(), x[[-1, -9, 2]])
    for bad in ([9], [0, 200 if dtype != "int8" else 100]):
        with pytest.raises(IndexError, match="out of range"):
            a[mx.nd.array(bad, dtype=dtype)]
    w = mx.nd.array(x)
    w.attach_grad()
    index = mx.nd.array([2, 2, 0], dtype=dtype)
    with mx.autograd.record():
        y = (w[index] * mx.nd.array([[1], [10], [100]])).sum()
    y.backward()
    expected = np.zeros_like(x)
    expected[2], expected[0] = 11, 100
    np.testing.assert_array_equal(w.grad.asnumpy(), expected)


def _keys_of_arrays(rng, shape):
    """Keys whose arrays stand side by side, as NumPy and the classic arrays take them."""
    def numbers(axis, *dims):
        return rng.integers(-shape[axis], shape[axis], dims)
    i, j, k, whole = numbers(0, 4), numbers(1, 4), numbers(2, 4), slice(None)
    return [(i,), (i, j), (i, whole), (whole, j), (whole, j, k), (i, 2), (i, j, -1), (..., k), (numbers(0, 2, 1), numbers(1, 3)),
            (i, slice(None), slice(None)), (i, j, k), (i, [0, 1, 1, 2]), (1, j), (i, slice(1, 3)), (i, whole, k), (2, whole, k)]


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64"])
@pytest.mark.parametrize("numpy", [False, True])
def test_keys_of_arrays(dtype, numpy):
    if numpy and dtype.startswith("float"):
        dtype = "int16"
    mx.npx.set_np(shape=numpy, array=numpy)
    array = mx.np.array if numpy else mx.nd.array
    try:
        rng = np.random.default_rng(5)
        x = rng.standard_normal((5, 4, 3)).astype("float32")
        for key in _keys_of_arrays(rng, x.shape):
            ours = tuple(array(k, dtype=dtype) if isinstance(k, np.ndarray) else k for k in key)
            a, want = array(x, dtype="float32"), x.copy()
            a.attach_grad()
            with mx.autograd.record():
                got = a[ours]
                (got * got).sum().backward()
            np.testing.assert_array_equal(got.asnumpy(), x[key], err_msg=repr(key))
            slope = np.zeros_like(x)
            np.add.at(slope, key, 2 * x[key])
            np.testing.assert_allclose(a.grad.asnumpy(), slope, rtol=1e-6, err_msg=repr(key))
            value = rng.standard_normal(x[key].shape).astype("float32")
            for given in (1.5, value, value[-1:]):
                a[ours] = given if isinstance(given, float) else array(given, dtype="float32")
                want[key] = given
                np.testing.assert_array_equal(a.asnumpy(), want, err_msg=repr(key))
    finally:
        mx.npx.reset_np()


def test_refused_keys_of_arrays():
    a = mx.nd.zeros((3, 4))
    for bad in ([3], [-4], [0, 9]):
        index = mx.nd.array(bad)
        for key in ((index, 0), (index, slice(None)), (0, mx.nd.array([4])), (mx.nd.array([0]), 4)):
            with pytest.raises(IndexError, match="out of range"):
                a[key]
            with pytest.raises(IndexError, match="out of range"):
                a[key] = 1
    with pytest.raises(ValueError, match="does not fit"):
        a[mx.nd.array([0, 1]), :] = mx.nd.zeros((2, 3))
    with pytest.raises((IndexError, ValueError)):
        a[mx.nd.array([0, 1]), mx.nd.array([0, 1, 2])]


def test_recorded_keys_reach_the_gradient():
    w = mx.nd.array(np.arange(12, dtype="float32").reshape(3, 4))
    for key in (1, slice(0, 2), (slice(None), 2), (1, slice(1, 3)), (slice(None, None, -1), slice(None))):
        w.attach_grad()
        with mx.autograd.record():
            y = (w[key] * 3).sum()
        y.backward()
        expected = np.zeros((3, 4), "float32")
        expected[key] = 3
        np.testing.assert_array_equal(w.grad.asnumpy(), expected)


def test_what_is_refused():
    a = mx.nd.zeros((3, 4))
    for key in (3, -4, (0, 4), (0, 0, 0), 10 ** 30, (slice(None), -5)):
        with pytest.raises(IndexError, match=r"\[indexing\]"):
            a[key]
        with pytest.raises(IndexError, match=r"\[indexing\]"):
            a[key] = 1
    with pytest.raises((TypeError, IndexError, ValueError)):
        a["x"]
    with pytest.raises(ValueError, match="zero"):
        a[::0]
    with pytest.raises((TypeError, AttributeError), match="del"):
        del a[0]
    with pytest.raises((TypeError, ValueError)):
        a[0] = "x"
    with pytest.raises(ValueError, match="does not fit"):
        a[0] = mx.nd.zeros((5,))
    w = mx.nd.ones((2, 2))
    w.attach_grad()
    with mx.autograd.record(), pytest.raises(ValueError, match="not differentiable"):
        w[0] = 1.0
    shared = mx.nd.from_numpy(np.ones((2, 3), "float32"))
    assert shared[0].shape == (3,)
    view = a[1]
    assert view.writable
    assert len(list(a)) == 3


def test_modes_are_restored():
    assert not mx.autograd.is_recording() and not mx.autograd.is_training()
    with mx.autograd.record():
        assert mx.autograd.is_recording() and mx.autograd.is_training()
        with mx.autograd.predict_mode():
            assert mx.autograd.is_recording() and not mx.autograd.is_training()
            with mx.autograd.pause():
                assert not mx.autograd.is_recording() and not mx.autograd.is_training()
            assert mx.autograd.is_recording()
        with pytest.raises(RuntimeError):
            with mx.autograd.pause(train_mode=True):
                raise RuntimeError
        assert mx.autograd.is_recording() and mx.autograd.is_training()
    assert not mx.autograd.is_recording()
    assert mx.autograd.set_recording(True) is False and mx.autograd.set_recording(False) is True
    assert mx.autograd.set_training(True) is False and mx.autograd.set_training(False) is True


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "int8", "bool"])
def test_new_arrays(dtype):
    for shape in ((), (3,), 4, (2, 0), [2, 3], (np.int64(2), 3)):
        size = tuple(np.zeros(shape).shape)
        for made, value in ((mx.nd.zeros(shape, dtype=dtype), 0),
                            (mx.nd.ones(shape, dtype=dtype), 1),
                            (mx.nd.full(shape, 1, dtype=dtype), 1)):
            assert made.shape == size and mx.nd.zeros((1,), dtype=dtype).dtype == made.dtype and (made.asnumpy() == value).all()
    one = mx.nd.ones((1,), dtype=dtype)
    assert one.asscalar() == 1 and (dtype == "bfloat16" or type(one.asscalar()) is one.asnumpy().dtype.type)
    out = mx.nd.ones((2, 2), dtype=dtype)
    assert mx.nd.zeros((2, 2), dtype=dtype, out=out) is out and not out.asnumpy().any()
    for bad in ((-1,), (2, -3)):
        with pytest.raises(ValueError):
            mx.nd.zeros(bad, dtype=dtype).wait_to_read()
    with pytest.raises(TypeError):
        mx.nd.zeros((2,), dtype="float33")
    with pytest.raises(TypeError):
        mx.nd.zeros((2,), ctx="cpu")
    with pytest.raises(TypeError):
        mx.nd.zeros((2.5,))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "int64", "float64"])
@pytest.mark.parametrize("size,inner", [(39, 1), (300, 1), (300, 3), (5000, 2)])
def test_sorted_values_of_every_dtype(dtype, size, inner):
    """Bytes are counted, and other values sorted by keys of 16 or 64 bits."""
    rng = np.random.default_rng(4)
    if dtype.startswith("float"):
        values = rng.standard_normal((size, inner)).astype(dtype)
        for special in (np.nan, np.inf, -np.inf, 0.0, 1e-7):
            values[rng.random(values.shape) < 0.05] = special
    elif dtype == "bool":
        values = rng.random((size, inner)) < 0.5
    else:
        ends = np.iinfo(dtype)
        values = rng.integers(ends.min, ends.max, (size, inner), dtype, endpoint=True)
    want, data = np.sort(values, axis=0), mx.nd.array(values, dtype=dtype)
    np.testing.assert_array_equal(mx.nd.sort(data, axis=0).asnumpy(), want)
    np.testing.assert_array_equal(mx.nd.sort(data, axis=0, is_ascend=False).asnumpy(), want[::-1])


def test_sorted_halves_of_all_bits():
    halves = np.arange(1 << 16, dtype="uint16").view("float16")
    np.testing.assert_array_equal(mx.nd.sort(mx.nd.array(halves, dtype="float16")).asnumpy(), np.sort(halves))
    brains = mx.nd.array(halves, dtype="float32").astype("bfloat16")
    want = np.sort(brains.astype("float32").asnumpy())
    np.testing.assert_array_equal(mx.nd.sort(brains).astype("float32").asnumpy(), want)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float64"])
@pytest.mark.parametrize("far", [False, True])
def test_order_of_close_and_far_numbers(dtype, far):
    rng = np.random.default_rng(7)
    values = rng.integers(-50, 50, (3, 500)) + 60
    if far:
        values[:, ::7] *= 2 ** 40 if dtype == "int64" else 2
        values[1, 3] = np.iinfo("int64").max if dtype == "int64" else 0
    values = values.astype(dtype)
    mx.npx.set_np()
    try:
        a = mx.np.array(values, dtype=dtype)
        for axis in (0, 1):
            order = mx.np.argsort(a, axis=axis).asnumpy()
            np.testing.assert_array_equal(order, np.argsort(values, axis=axis, kind="stable"))
        for ascending in (False, True):
            found = mx.npx.topk(a, k=100, ret_typ="indices", is_ascend=ascending, dtype="int64").asnumpy()
            wide = values.astype("int64" if dtype != "float64" else dtype)
            expected = np.argsort(wide if ascending else -wide, axis=1, kind="stable")[:, :100]
            np.testing.assert_array_equal(found, expected)
        different, places, counts = mx.np.unique(a, return_inverse=True, return_counts=True)
        for got, want in zip((different, places, counts), np.unique(values, return_inverse=True, return_counts=True)):
            np.testing.assert_array_equal(got.asnumpy().ravel(), want.ravel())
    finally:
        mx.npx.reset_np()
