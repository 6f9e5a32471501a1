"""Rows added at indices: short ones and long, for one thread and several, and refused indices."""
import numpy as np
import pytest

import mxnet as mx


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("inner", [(), (1,), (3,), (15,), (16,), (70,)])
def test_index_add_of_many_rows(inner, dtype):
    rng = np.random.default_rng(7)
    for n in (1, 7, 50001 // max(1, int(np.prod(inner)))):
        for places in ((40,), (13, 7)):
            ind = np.stack([rng.integers(0, size, n) for size in places])
            val = rng.integers(-3, 4, (n,) + inner).astype(dtype)
            a = rng.integers(-3, 4, places + inner).astype(dtype)
            expected = a.copy()
            np.add.at(expected, tuple(ind), val)
            got = mx.npx.index_add(mx.np.array(a, dtype=dtype), mx.np.array(ind, dtype="int64"), mx.np.array(val, dtype=dtype))
            np.testing.assert_array_equal(got.asnumpy(), expected, err_msg=f"{n} into {places}")
            if dtype.startswith("float"):       # gather_nd, whose indices may count from the end, and its gradient
                x = mx.np.array(a, dtype=dtype)
                x.attach_grad()
                from_end = np.where(ind % 2, ind - np.array(places)[:, None], ind)
                with mx.autograd.record():
                    y = mx.npx.gather_nd(x, mx.np.array(from_end, dtype="int64"))
                np.testing.assert_array_equal(y.asnumpy(), a[tuple(ind)])
                y.backward(mx.np.array(val, dtype=dtype))
                np.testing.assert_array_equal(x.grad.asnumpy(), expected - a)


@pytest.mark.parametrize("n, inner", [(40000, 1), (900, 33)])
@pytest.mark.parametrize("outer", [2, 5])
def test_gradient_of_take_along_a_middle_axis(outer, n, inner):
    rng = np.random.default_rng(8)
    index = rng.integers(0, 50, n)
    x = mx.np.array(rng.standard_normal((outer, 50, inner)), dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = mx.np.take(x, mx.np.array(index, dtype="int64"), axis=1)
    g = rng.integers(-9, 10, y.shape).astype("float64")
    y.backward(mx.np.array(g, dtype="float64"))
    expected = np.zeros(x.shape)
    np.add.at(expected.transpose(1, 0, 2), index, g.transpose(1, 0, 2))
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


@pytest.mark.parametrize("row, bad, size", [(0, 5, 5), (1, 4, 4), (0, -1, 5), (1, -5, 4)])
def test_refused_indices_are_named(row, bad, size):
    ind = np.zeros((2, 20000), "int64")
    ind[row, 12345] = bad
    a, val, where = mx.np.ones((5, 4)), mx.np.ones(20000), mx.np.array(ind, dtype="int64")
    with pytest.raises(IndexError, match=rf"index {bad} at position 12345 is out of range; accepted: 0 to {size - 1}"):
        mx.npx.index_add(a, where, val).wait_to_read()
    if bad == -1:
        assert mx.npx.gather_nd(a, where).sum() == 20000
        return
    with pytest.raises(IndexError, match=rf"index {bad} is out of bounds for axis {row} with size {size}"):
        mx.npx.gather_nd(a, where).wait_to_read()
