"""Functions of mx.np that take a shorter way where their arguments allow it, against NumPy."""
import itertools

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

DTYPES = ["float32", "float64", "float16", "int32", "uint8"]


@pytest.fixture(autouse=True)
def numpy_arrays():
    mx.npx.set_np()
    mx.random.seed(0)
    yield
    mx.npx.reset_np()


def _numbers(n, dtype, seed=0):
    rng = onp.random.default_rng(seed)
    return (rng.standard_normal(n) * 20).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 8, 9, 100])
def test_places_among_sorted_numbers(dtype, size):
    edges = onp.sort(_numbers(size, dtype))
    with_nan = edges.copy()
    if dtype.startswith("float") and size > 2:
        with_nan[-2:] = onp.nan
    for n, right in itertools.product((0, 1, 7, 8, 9, 3001), (False, True)):
        values = _numbers(n, dtype, 1)
        if dtype.startswith("float"):
            values[::5], values[1::7] = onp.nan, onp.inf
        got = np.searchsorted(np.array(with_nan, dtype=dtype), np.array(values, dtype=dtype), side="right" if right else "left")
        onp.testing.assert_array_equal(got.asnumpy(), onp.searchsorted(with_nan, values, side="right" if right else "left"))
        for bins in (edges, edges[::-1]):
            got = np.digitize(np.array(values, dtype=dtype), np.array(bins, dtype=dtype), right)
            assert got.dtype == onp.int64
            onp.testing.assert_array_equal(got.asnumpy(), onp.digitize(values, bins, right))


def test_digitize_by_edges_of_another_dtype():
    x = np.array([0.1, 1.0, 2.5, -3.0], dtype="float32")
    for bins in ([0, 1, 2], onp.array([0.1, 1.0]), np.array([2, 1, 0], dtype="int32"), onp.array([0.1], "float16")):
        onp.testing.assert_array_equal(np.digitize(x, bins).asnumpy(), onp.digitize(x.asnumpy(), onp.asarray(bins)))
    with pytest.raises(ValueError, match="monoton"):
        np.digitize(x, np.array([1.0, 0.0, 2.0]))


@pytest.mark.parametrize("text, shapes", [
    ("ij,jk,kl->il", ((3, 40), (40, 50), (50, 2))), ("ij,jk,kl,lm->im", ((2, 30), (30, 40), (40, 5), (5, 6))),
    ("ij,ij,i,j->j", ((3, 4), (3, 4), (3,), (4,))), ("bi,oij,bj->bo", ((5, 3), (2, 3, 4), (5, 4))), ("i,j,k->", ((2,), (3,), (4,))),
    ("ab,bc,cd,de,ef->af", ((2, 3), (3, 4), (4, 5), (5, 6), (6, 2)))])
def test_products_of_several_arrays(text, shapes):
    arrays = [onp.random.default_rng(i).standard_normal(s) for i, s in enumerate(shapes)]
    ours = [np.array(a, dtype="float64") for a in arrays]
    for a in ours:
        a.attach_grad()
    with mx.autograd.record():
        y = np.einsum(text, *ours)
        y.sum().backward()
    onp.testing.assert_allclose(y.asnumpy(), onp.einsum(text, *arrays), rtol=1e-10)
    step = onp.zeros(shapes[0])
    step.flat[1] = 1e-3
    slope = (onp.einsum(text, arrays[0] + step, *arrays[1:]) - onp.einsum(text, arrays[0] - step, *arrays[1:])).sum() / 2e-3
    onp.testing.assert_allclose(ours[0].grad.asnumpy().flat[1], slope, rtol=1e-6)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nancumsum"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_without_nan(name, dtype):
    x = onp.arange(12).reshape(3, 4).astype(dtype)
    if dtype.startswith("float"):
        x[0, 1], x[1, 2], x[2, 0] = onp.nan, onp.inf, -onp.inf
    got = getattr(np, name)(np.array(x, dtype=dtype), axis=1).asnumpy()
    expected = getattr(onp, name)(x, axis=1)
    onp.testing.assert_allclose(got, expected, rtol=1e-6)
    assert got.dtype.kind == expected.dtype.kind


def test_infinities_keep_their_slope():
    x = np.array([1.0, onp.nan, onp.inf, -onp.inf])
    x.attach_grad()
    with mx.autograd.record():
        np.nansum(x).backward()
    onp.testing.assert_array_equal(x.grad.asnumpy(), [1, 0, 1, 1])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_trapezoid(axis, size):
    y = onp.random.default_rng(size).standard_normal((size, size + 1)).astype("float32")
    a = np.array(y, dtype="float32")
    a.attach_grad()
    with mx.autograd.record():
        area = np.trapezoid(a, dx=0.5, axis=axis)
        area.sum().backward()
    onp.testing.assert_allclose(area.asnumpy(), onp.trapezoid(y, dx=0.5, axis=axis), rtol=1e-5, atol=1e-6)
    steps = onp.full(y.shape[axis], 0.5 if y.shape[axis] > 1 else 0.0)
    if len(steps) > 1:
        steps[0] = steps[-1] = 0.25
    expected = onp.broadcast_to(steps[:, None] if axis == 0 else steps, y.shape)
    onp.testing.assert_allclose(a.grad.asnumpy(), expected, rtol=1e-6)
    y[(0,) * 2] = onp.inf
    onp.testing.assert_array_equal(onp.isinf(np.trapezoid(np.array(y), axis=axis).asnumpy()), onp.isinf(onp.trapezoid(y, axis=axis)))


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (300, 400), (5,), (0, 3), (70000, 1)])
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_indices(shape, dtype):
    onp.testing.assert_array_equal(np.indices(shape, dtype=dtype).asnumpy(), onp.indices(shape).astype(dtype))


@pytest.mark.parametrize("rows, columns, k", [(3, 4, 0), (5, 3, -2), (4, 4, 9), (4, 4, -9), (0, 3, 0), (3, 0, 1), (700, 300, 5)])
def test_triangles_of_ones(rows, columns, k):
    for dtype in ("float32", "int64", "bool"):
        onp.testing.assert_array_equal(np.tri(rows, columns, k, dtype=dtype).asnumpy(), onp.tri(rows, columns, k, dtype=dtype))


def test_any_number_of_rows_without_columns():
    assert np.tri(2**62, 0).shape == (2**62, 0)


@pytest.mark.parametrize("width", [0, 1, 3, (1, 2), ((1, 0), (2, 3))])
def test_widths_of_padding(width):
    x = onp.arange(12.0).reshape(3, 4)
    for mode in ("constant", "edge", "symmetric"):
        onp.testing.assert_array_equal(np.pad(np.array(x), width, mode).asnumpy(), onp.pad(x, width, mode))
    with pytest.raises(ValueError, match="negative"):
        np.pad(np.array(x), -1)


def test_counts_drawn_with_plain_numbers():
    assert np.random.binomial(10, 1.0, (3,)).tolist() == [10] * 3 and np.random.binomial(10, 0.0).shape == ()
    assert np.random.negative_binomial(3, 1.0, size=2).tolist() == [0, 0]
    draws = np.random.poisson(4.0, (100, 1000))
    assert draws.shape == (100, 1000) and draws.dtype == onp.int64
    assert abs(float(draws.mean()) - 4) < 0.05 and abs(float(draws.var()) - 4) < 0.1
    for draw, text in ((lambda: np.random.binomial(1.5, 0.5), "n=1.5"), (lambda: np.random.binomial(1, 2), "p=2"),
                       (lambda: np.random.poisson(float("inf")), "lam=inf"), (lambda: np.random.negative_binomial(0, 0.5), "n=0")):
        with pytest.raises(ValueError, match=text):
            draw()


def test_orders_are_permutations_and_none_is_likelier():
    for n in (1, 2, 31, 32, 33, 1000):
        assert sorted(np.random.permutation(n).tolist()) == list(range(n))
    table = np.arange(20).reshape(10, 2)
    mixed = np.random.permutation(table)
    assert sorted(mixed.tolist()) == table.tolist()
    first = onp.array([np.random.permutation(4).asnumpy() for _ in range(4000)])
    for place in range(4):
        assert (abs(onp.bincount(first[:, place], minlength=4) / 4000 - 0.25) < 0.04).all()
    chosen = onp.array([np.random.choice(4, 2, replace=False).asnumpy() for _ in range(4000)])
    assert (chosen[:, 0] != chosen[:, 1]).all()
    assert (abs(onp.bincount(chosen.ravel(), minlength=4) / 8000 - 0.25) < 0.04).all()
    assert sorted(np.random.choice(5, 5, replace=False).tolist()) == list(range(5))


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance(weighted):
    x = onp.random.default_rng(3).standard_normal((4, 50)).astype("float32")
    given = {"aweights": onp.arange(50.0) + 1} if weighted else {}
    ours = {k: np.array(v) for k, v in given.items()}
    onp.testing.assert_allclose(np.cov(np.array(x), **ours).asnumpy(), onp.cov(x, **given), rtol=1e-6)
    onp.testing.assert_allclose(np.corrcoef(np.array(x)).asnumpy(), onp.corrcoef(x), rtol=1e-6)
