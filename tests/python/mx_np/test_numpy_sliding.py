"""Convolutions of vectors, sums of few products, powers, numbers of places and parts, on both sides
of the sizes at which they are computed in another way."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

RNG = onp.random.default_rng(5)


def drawn(n, dtype):
    return RNG.uniform(-9, 9, n).astype(dtype)


@pytest.mark.parametrize("function", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
def test_vectors_that_slide(function, mode, dtype):
    for m, n in [(1, 1), (31, 32), (32, 31), (33, 2), (64, 64), (65, 64), (129, 3), (3, 129), (1000, 255), (256, 1000), (700, 257),
                 (200000, 9)]:
        a, v = drawn(m, dtype), drawn(n, dtype)
        got = getattr(np, function)(np.array(a, dtype=dtype), np.array(v, dtype=dtype), mode).asnumpy()
        exact = "float" not in dtype
        wanted = getattr(onp, function)(a if exact else a.astype("float64"), v if exact else v.astype("float64"), mode)
        assert got.dtype == dtype and got.shape == wanted.shape
        if exact:
            onp.testing.assert_array_equal(got, wanted)
        else:
            onp.testing.assert_allclose(got, wanted, rtol=0, atol=(2e-5 if dtype == "float32" else 1e-13) * 81 * min(m, n) ** 0.5)


@pytest.mark.parametrize("function", ["convolve", "correlate"])
def test_halves_bools_and_mixed_dtypes(function):
    a, v = RNG.uniform(0, 3, 50), RNG.uniform(0, 3, 7)
    half = getattr(np, function)(np.array(a, dtype="float16"), np.array(v, dtype="float16"), "full")
    onp.testing.assert_allclose(half.asnumpy(), getattr(onp, function)(a.astype("float16"), v.astype("float16"), "full"), rtol=4e-3)
    truth = getattr(np, function)(np.array(a > 1), np.array(v > 1), "same")
    onp.testing.assert_array_equal(truth.asnumpy(), getattr(onp, function)(a > 1, v > 1, "same"))
    mixed = getattr(np, function)(np.array([1, 2, 3], dtype="int32"), np.array(v, dtype="float64"), "full")
    onp.testing.assert_allclose(mixed.asnumpy(), getattr(onp, function)(onp.array([1, 2, 3]), v, "full"))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("function", ["convolve", "correlate"])
@pytest.mark.parametrize("m,n", [(9, 4), (4, 9), (5, 5)])
def test_gradients_of_vectors_that_slide(function, mode, m, n):
    """The sum of products with `weights` is linear in each vector."""
    a, v = (np.array(drawn(k, "float64")) for k in (m, n))
    a, v = a.astype("float64"), v.astype("float64")
    a.attach_grad(), v.attach_grad()
    weights = drawn(getattr(onp, function)(a.asnumpy(), v.asnumpy(), mode).size, "float64")
    with mx.autograd.record():
        y = (getattr(np, function)(a, v, mode) * np.array(weights, dtype="float64")).sum()
    y.backward()
    of = getattr(onp, function)
    for x, gradient in ((a, lambda e: of(e, v.asnumpy(), mode)), (v, lambda e: of(a.asnumpy(), e, mode))):
        wanted = [weights @ gradient(e) for e in onp.eye(x.size)]
        onp.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-9, atol=1e-9)


def test_views_slide():
    a = np.array(drawn(60, "float64"))
    got = np.convolve(a[::2], a[::-1][:5])
    onp.testing.assert_allclose(got.asnumpy(), onp.convolve(a.asnumpy()[::2], a.asnumpy()[::-1][:5]), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("n", [1, 9, 10, 11, 31, 33])
def test_sums_of_few_and_of_more_products(dtype, n):
    """1024 products are the most that are summed in one walk."""
    a, b, c = (RNG.integers(0, 3, s).astype(dtype) for s in ((n, n), (n, n), (n,)))
    for text, arrays in [("ij,jk->ik", (a, b)), ("ij,kj->ki", (a, b)), ("ij,ij->", (a, b)), ("ij,j->i", (a, c)), ("ii->i", (a,)),
                         ("ij->ji", (a,)), ("ij,jk,k->i", (a, b, c)), ("i,j->ij", (c, c)), ("ij->", (a,)), ("ij,jk,k,i->", (a, b, c, c))]:
        got = np.einsum(text, *(np.array(v, dtype=dtype) for v in arrays)).asnumpy()
        wanted = onp.einsum(text, *(v.astype("float64" if "float" in dtype else dtype) for v in arrays))
        rounding = 2e-3 if dtype == "float16" else 1e-6
        onp.testing.assert_allclose(got.astype("float64"), wanted.astype(dtype).astype("float64"), rtol=rounding)


@pytest.mark.parametrize("n", [30, 31, 32, 33, 1024, 1025])
def test_traces(n):
    a = drawn((n, n), "float64")
    x = np.array(a, dtype="float64")
    onp.testing.assert_allclose(np.trace(x).item(), onp.trace(a))
    onp.testing.assert_allclose(np.trace(x, offset=-3).item(), onp.trace(a, -3))
    i = (a * 100).astype("int64")
    assert np.trace(np.array(i, dtype="int64")).item() == onp.trace(i)


@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 18])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_powers_of_a_vector(count, dtype):
    x = RNG.integers(-3, 4, 6).astype(dtype)
    for increasing in (False, True):
        got = np.vander(np.array(x, dtype=dtype), count, increasing)
        wanted = onp.vander(x, count, increasing)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        onp.testing.assert_array_equal(got.asnumpy(), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("right", [False, True])
def test_bins(dtype, right):
    x = onp.concatenate([onp.arange(-3, 12), onp.arange(0, 9)]).astype(dtype)
    for edges in ([0, 2, 5, 8], [8, 5, 2, 0], [3, 3, 3], [4], [], [1, 1, 5]):
        bins = onp.array(edges, dtype)
        wanted = onp.digitize(x, bins, right)
        for given in (np.array(bins, dtype=dtype), bins, list(edges)):
            got = np.digitize(np.array(x, dtype=dtype), given, right)
            assert got.dtype == "int64"
            onp.testing.assert_array_equal(got.asnumpy(), wanted)
    for bad in ([1, 3, 2], [[1, 2]]):
        with pytest.raises(ValueError):
            np.digitize(np.array(x), np.array(bad))


def test_numbers_of_places():
    a, b = RNG.integers(0, 5, 100), RNG.integers(0, 7, 100)
    for dtype in ("int64", "int32", "uint8"):
        given = np.array(a, dtype=dtype), np.array(b, dtype=dtype)
        for order in "CF":
            onp.testing.assert_array_equal(np.ravel_multi_index(given, (5, 7), order=order).asnumpy(),
                                           onp.ravel_multi_index((a, b), (5, 7), order=order))
        onp.testing.assert_array_equal(given[0].asnumpy(), a)
    for bad in ((a - 1, b), (a, b + 1)):
        with pytest.raises(ValueError):
            np.ravel_multi_index(tuple(np.array(v, dtype="int64") for v in bad), (5, 7))
    one = np.array([3, 1], dtype="int64")
    alone = np.ravel_multi_index((one,), (5,))
    alone[:] = 0
    onp.testing.assert_array_equal(one.asnumpy(), [3, 1])
    with pytest.raises(ValueError):
        np.unravel_index(np.array([35], dtype="int64"), (5, 7))
    with pytest.raises(ValueError):
        np.unravel_index(np.array([-1], dtype="int64"), (5, 7))
    assert [v.size for v in np.unravel_index(np.array([], dtype="int64"), (5, 7))] == [0, 0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "int8", "bool"])
@pytest.mark.parametrize("n", [1, 10, 8191, 8192, 20001])
def test_parts(dtype, n):
    a = (RNG.random(n) * 100).astype(dtype)
    x, k = np.array(a, dtype=dtype), n // 2
    ordered = onp.sort(a)
    parts = np.partition(x, k)
    places = np.argpartition(x, k)
    assert parts.dtype == dtype and places.dtype == "int64"
    for got in (parts.asnumpy(), a[places.asnumpy()]):
        assert got[k] == ordered[k] and (got[:k] <= ordered[k]).all() and (got[k:] >= ordered[k]).all()
    onp.testing.assert_array_equal(onp.sort(places.asnumpy()), onp.arange(n))
    onp.testing.assert_array_equal(x.asnumpy(), a)      # stays as it was


def test_parts_along_axes():
    a = RNG.random((90, 100))
    x = np.array(a, dtype="float64")
    for axis in (0, 1, -1, None):
        onp.testing.assert_array_equal(np.partition(x, [3, 50], axis).asnumpy(), onp.partition(a, [3, 50], axis))
    with pytest.raises(ValueError):
        np.partition(x, 100)
    with pytest.raises(ValueError), mx.autograd.record():
        np.partition(x, 1)
