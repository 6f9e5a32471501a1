"""Arrays of more than 2**31 elements: each index, offset and count on the way is 64 bits wide. Peak
about 8 GiB."""
import gc
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

pytestmark = pytest.mark.nightly
N = 2 ** 31 + 8


@pytest.fixture(autouse=True)
def released():
    yield
    gc.collect()
    nd.waitall()
    mx.cpu().empty_cache()


def marked(dtype="int8", n=N):
    """Zeros, but 1 at 5 and 3 at the last place."""
    a = nd.zeros((n,), dtype=dtype)
    a[5] = 1
    a[n - 1] = 3
    return a


def test_create_index_and_slice_at_the_far_end():
    a = marked()
    assert a.size == N and a.shape == (N,)
    assert [int(a[i].asscalar()) for i in (5, N - 2, N - 1, -1)] == [1, 0, 3, 3]
    np.testing.assert_array_equal(a[N - 4:].asnumpy(), [0, 0, 0, 3])
    np.testing.assert_array_equal(a[2 ** 31 + 1:N:3].asnumpy(), [0, 0, 3])
    a[2 ** 31 - 2:2 ** 31 + 2] = 7   # across the border
    np.testing.assert_array_equal(a.slice(begin=(2 ** 31 - 3,), end=(2 ** 31 + 3,)).asnumpy(), [0, 7, 7, 7, 7, 0])
    a[2 ** 31 + 3:2 ** 31 + 5] = nd.array([8, 9], dtype="int8")
    np.testing.assert_array_equal(a.slice_axis(axis=0, begin=2 ** 31 + 2, end=None).asnumpy(), [0, 8, 9, 0, 0, 3])
    with pytest.raises(IndexError):
        a[N]


def test_fill_and_full():
    a = nd.full((N,), 2, dtype="uint8")
    assert int(a[N - 1].asscalar()) == 2
    a[:] = 4
    assert a[2 ** 31 - 1:2 ** 31 + 1].asnumpy().tolist() == [4, 4] and int(a[N - 1].asscalar()) == 4
    b = nd.ones((N,), dtype="int8")
    assert b[N - 2:].asnumpy().tolist() == [1, 1]


def test_pointwise():
    a = marked()
    a += 2
    a *= 3
    assert a[N - 3:].asnumpy().tolist() == [6, 6, 15] and a[4:7].asnumpy().tolist() == [6, 9, 6]
    b = nd.maximum(a, 7)
    b += a
    assert b[N - 3:].asnumpy().tolist() == [13, 13, 30]
    del b
    c = a == 15
    assert c[N - 2:].asnumpy().tolist() == [0, 1]


def test_float16():
    a = marked("float16")
    a += 0.5
    nd.square(a, out=a)
    assert a[N - 3:].asnumpy().tolist() == [0.25, 0.25, 12.25]
    assert nd.max(a).asscalar() == 12.25 and nd.min(a).asscalar() == 0.25 and nd.mean(a).asscalar() == 0.25
    assert np.isinf(nd.argmax(a, axis=0).asscalar())   # float16 as in 1.9.1: what it cannot hold is infinite


def test_reductions_have_the_dtype_of_the_input():
    a = nd.ones((N,), dtype="uint8")
    a[N - 1] = 200
    assert int(nd.max(a).asscalar()) == 200 and int(nd.min(a).asscalar()) == 1
    rows = a.reshape((2, N // 2))
    assert nd.max(rows, axis=1).asnumpy().tolist() == [1, 200]
    total = nd.sum(a)
    assert total.dtype == np.uint8 and int(total.asscalar()) == (N + 199) % 256


def test_reductions_to_64_bits():
    a = marked()
    a[2 ** 31 + 1] = 2
    assert nd._internal._np_sum(a, dtype="int64").asnumpy() == 6
    at = nd._internal._npi_argmax(a, axis=0)
    assert at.dtype == np.int64 and at.asnumpy() == N - 1
    assert int(nd.argmax(a, axis=0).asscalar()) == (N - 1) % 256   # int8, as in 1.9.1


def test_gather_and_scatter():
    a = marked()
    where = nd.array([5, N - 1, 2 ** 31], dtype="int64")
    assert nd.take(a, where).asnumpy().tolist() == [1, 3, 0]
    assert nd.gather_nd(a, where.reshape((1, 3))).asnumpy().tolist() == [1, 3, 0]
    assert a[where].asnumpy().tolist() == [1, 3, 0]
    assert nd.pick(a.reshape((1, N)), where[1:2], axis=1).asnumpy().tolist() == [3]
    a[where[1:]] = nd.array([4, 6], dtype="int8")
    assert a[2 ** 31 - 1:].asnumpy().tolist() == [0, 6, 0, 0, 0, 0, 0, 0, 4]


def test_many_rows():
    rows = 2 ** 28 + 1   # of 8 elements
    index = nd.zeros((rows,), dtype="int32")
    index[rows - 2:] = nd.array([3, 7], dtype="int32")
    hot = nd.one_hot(index, depth=8, dtype="int8")
    assert hot[rows - 2:].asnumpy().tolist() == [[0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]]
    del hot
    weight = nd.array(np.arange(64).reshape(8, 8), dtype="int8")
    assert nd.take(weight, index)[rows - 2:].asnumpy()[:, 0].tolist() == [24, 56]


def test_shapes_and_moves():
    a = marked()
    assert a.reshape((2, -1)).shape == (2, N // 2) and a.reshape((-1, 8))[N // 8 - 1].asnumpy().tolist() == [0] * 7 + [3]
    assert nd.transpose(a.reshape((2, -1)))[N // 2 - 2:].asnumpy().tolist() == [[0, 0], [0, 3]]
    assert nd.flip(a, axis=0)[:3].asnumpy().tolist() == [3, 0, 0]
    joined = nd.concat(a[:2 ** 30], a[:2 ** 30], a[2 ** 31:], dim=0)
    assert joined.shape == (N,) and joined[N - 2:].asnumpy().tolist() == [0, 3] and int(joined[2 ** 30 + 5].asscalar()) == 1
    del joined
    doubled = nd.repeat(a[N // 2:], repeats=2)
    assert doubled[N - 3:].asnumpy().tolist() == [0, 3, 3]
    del doubled
    wide = nd.broadcast_add(a[N // 2:].reshape((-1, 1)), nd.array([[1, 2]], dtype="int8"))
    assert wide[N // 2 - 2:].asnumpy().tolist() == [[1, 2], [4, 5]]


def test_copies_casts_and_exchange():
    a = marked()
    b = a.copy()
    b[N - 1] = 4
    assert [int(x[N - 1].asscalar()) for x in (a, b)] == [3, 4]
    del b
    assert a.astype("bool")[N - 2:].asnumpy().tolist() == [False, True]
    values = a.asnumpy()
    assert values.shape == (N,) and values[[5, N - 1]].tolist() == [1, 3] and np.count_nonzero(values[2 ** 31:]) == 1
    back = nd.array(values, dtype="int8")
    del values
    assert back[N - 2:].asnumpy().tolist() == [0, 3]
    shared = nd.from_dlpack(nd.to_dlpack_for_read(back))
    assert shared.shape == (N,) and int(shared[N - 1].asscalar()) == 3


def test_save_and_load(tmp_path):
    file = str(tmp_path / "large.params")
    nd.save(file, {"a": marked()})
    a = nd.load(file)["a"]
    os.remove(file)
    assert a.shape == (N,) and a.dtype == np.int8 and a[N - 2:].asnumpy().tolist() == [0, 3] and int(a[5].asscalar()) == 1


def test_half_precision_layers():
    # each works piece by piece: its peak is that of its arrays
    x = nd.full((N,), -1, dtype="float16")
    x[N - 1] = 3
    y = nd.Activation(x, act_type="relu")
    assert y[N - 2:].asnumpy().tolist() == [0, 3] and y[2 ** 31 - 1].asscalar() == 0
    nd.LeakyReLU(x, slope=0.5, out=y)
    assert y[N - 2:].asnumpy().tolist() == [-0.5, 3] and y[2 ** 31 - 1:2 ** 31 + 1].asnumpy().tolist() == [-0.5, -0.5]


def test_half_precision_dropout():
    x = nd.ones((N,), dtype="float16")
    with mx.autograd.train_mode():
        y = nd.Dropout(x, p=0.5)
    end = y[N - 4096:].asnumpy()
    assert set(np.unique(end)) == {0.0, 2.0} and 0.4 < (end > 0).mean() < 0.6
    # the draws of the far end are no repetition of the first ones
    assert (end != y[:4096].asnumpy()).any() and (end != y[2 ** 31 - 8192:2 ** 31 - 4096].asnumpy()).any()


def test_half_precision_softmax():
    x = nd.zeros((2 ** 20 + 1, 2 ** 11), dtype="float16")
    x[2 ** 20, 7] = 8
    y = nd.softmax(x)
    last = y[2 ** 20].asnumpy()
    assert last.argmax() == 7 and abs(last.astype("float64").sum() - 1) < 1e-2 and y[2 ** 20 - 1, 5].asscalar() == np.float16(2 ** -11)


def test_uniform():
    x = nd.random.uniform(1, 2, shape=(N,), dtype="float16")
    end, start = x[N - 4096:].asnumpy(), x[:4096].asnumpy()
    assert (end >= 1).all() and (end <= 2).all() and 1.45 < end.astype("float32").mean() < 1.55 and (end != start).mean() > 0.9
