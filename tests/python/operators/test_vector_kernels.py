"""Kernels with vector loops, blocks or branches that small arrays do not reach, against NumPy."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx


@pytest.fixture(autouse=True)
def numpy_shapes():
    with mx.util.np_shape(True):
        yield


RNG = onp.random.default_rng(7)
DTYPES = ["float32", "float64", "float16", "int8", "uint8", "int32", "int64"]


def given(values, dtype=None):
    values = onp.asarray(values, dtype)
    return np.array(values, dtype=values.dtype)


def drawn(shape, dtype):
    if dtype.startswith("float"):
        return RNG.standard_normal(shape).astype(dtype)
    low = 0 if dtype.startswith("u") else -100
    return RNG.integers(low, 100, shape).astype(dtype)


# ---- order

@pytest.mark.parametrize("size", [1, 2, 39, 40, 41, 100, 1000, 5000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_and_argsort(dtype, size):
    x = drawn((3, size), dtype)
    assert onp.array_equal(np.sort(given(x)).asnumpy(), onp.sort(x))
    assert onp.array_equal(np.argsort(given(x)).asnumpy(), onp.argsort(x, kind="stable"))
    assert onp.array_equal(np.sort(given(x), axis=0).asnumpy(), onp.sort(x, axis=0))


def test_sort_descends_and_keeps_nan_behind_everything():
    x = drawn((2, 300), "float32")
    x[0, 5], x[1, 7], x[1, 8] = onp.nan, onp.inf, -onp.inf
    assert onp.array_equal(np.sort(given(x)).asnumpy(), onp.sort(x), equal_nan=True)
    down = mx.nd.sort(mx.nd.array(x), is_ascend=False).asnumpy()
    assert onp.array_equal(down, onp.sort(x)[:, ::-1], equal_nan=True)


def test_sort_keeps_the_sign_of_zeros():
    x = onp.array([0.0, -0.0, 1.0, -1.0] * 20, "float32")
    assert onp.signbit(np.sort(given(x)).asnumpy()).sum() == 40


@pytest.mark.parametrize("k", [1, 5, 60, 200])
def test_topk_of_long_rows(k):
    x = drawn((4, 1000), "float32")
    both = mx.nd.topk(mx.nd.array(x), k=k, ret_typ="both")
    order = onp.argsort(-x, kind="stable")[:, :k]
    assert onp.array_equal(both[1].asnumpy(), order)
    assert onp.array_equal(both[0].asnumpy(), onp.take_along_axis(x, order, 1))


# ---- what depends on values

@pytest.mark.parametrize("size", [0, 1, 50, 3000])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_unique(dtype, size):
    x = RNG.integers(0, 40, size).astype(dtype)
    wanted = onp.unique(x, True, True, True)
    got = np.unique(given(x), True, True, True)
    for g, w in zip(got, wanted):
        assert onp.array_equal(g.asnumpy(), w)
    values, counts = np.unique(given(x), return_counts=True)
    assert onp.array_equal(values.asnumpy(), wanted[0]) and onp.array_equal(counts.asnumpy(), wanted[3])
    assert onp.array_equal(np.unique(given(x)).asnumpy(), wanted[0])


def test_unique_has_nan_once():
    x = onp.array([onp.nan, 2.0, onp.nan, 1.0] * 30, "float32")
    assert onp.array_equal(np.unique(given(x)).asnumpy(), [1, 2, onp.nan], equal_nan=True)
    values, first = np.unique(given(x), return_index=True)
    assert first.tolist() == [3, 1, 0] and values.shape == (3,)


@pytest.mark.parametrize("shape", [(), (0,), (9000,), (3, 5000), (4, 3, 50), (2, 0, 3), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", ["bool", "float32", "int64"])
def test_nonzero(shape, dtype):
    x = RNG.integers(0, 2, shape).astype(dtype)
    if shape == ():
        assert np.argwhere(given(x)).shape == onp.argwhere(x).shape
        return
    for got, wanted in zip(np.nonzero(given(x)), onp.nonzero(x)):
        assert onp.array_equal(got.asnumpy(), wanted)
    assert onp.array_equal(np.argwhere(given(x)).asnumpy(), onp.argwhere(x))


@pytest.mark.parametrize("most", [3, 1000, 20000])
def test_bincount(most):
    x = RNG.integers(0, most, 10001)
    weights = RNG.random(10001).astype("float32")
    assert onp.array_equal(np.bincount(given(x)).asnumpy(), onp.bincount(x))
    assert onp.array_equal(np.bincount(given(x.astype("uint8"))).asnumpy(), onp.bincount(x.astype("uint8")))
    got = np.bincount(given(x), weights=given(weights)).asnumpy()
    assert onp.allclose(got, onp.bincount(x, weights), rtol=1e-5)
    with pytest.raises(ValueError, match="-1"):
        np.bincount(given([3, -1, 2], "int64"))


@pytest.mark.parametrize("most", [3, 1000, 5000, 400000])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint16"])
def test_bincount_of_as_many_as_threads_share(dtype, most):
    x = RNG.integers(0, min(most, onp.iinfo(dtype).max), 250003).astype(dtype)
    assert onp.array_equal(np.bincount(given(x)).asnumpy(), onp.bincount(x))
    assert onp.array_equal(np.bincount(given(x), minlength=most + 7).asnumpy(), onp.bincount(x, minlength=most + 7))
    if dtype != "uint16":
        x[200000], x[250002] = -5, -7
        with pytest.raises(ValueError, match="-7"):
            np.bincount(given(x))


@pytest.mark.parametrize("kind", ["constant", "edge", "reflect", "symmetric", "maximum", "minimum"])
@pytest.mark.parametrize("width", [((1, 2),), ((0, 3), (2, 1)), ((1, 0), (0, 0), (2, 3))])
def test_pad(kind, width):
    x = drawn((5, 6, 7)[:len(width)], "float32")
    wanted = onp.pad(x, width, kind)
    assert onp.array_equal(np.pad(given(x), width, kind).asnumpy(), wanted)
    if kind == "constant":
        got = np.pad(given(x), width, kind, constant_values=2.5).asnumpy()
        assert onp.array_equal(got, onp.pad(x, width, kind, constant_values=2.5))


# ---- along an axis

@pytest.mark.parametrize("size", [1, 7, 511, 512, 513, 3000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_argmax_and_argmin(dtype, size):
    x = drawn((3, size), dtype)
    for axis in (0, 1, None):
        assert onp.array_equal(np.argmax(given(x), axis).asnumpy(), onp.argmax(x, axis))
        assert onp.array_equal(np.argmin(given(x), axis).asnumpy(), onp.argmin(x, axis))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_argmax_takes_the_first_nan_and_equal_zeros(dtype):
    x = drawn((2, 1200), dtype)
    x[0, 700], x[0, 900], x[1, 3] = onp.nan, onp.nan, -onp.nan
    zeros = onp.array([[-0.0, 0.0] * 300, [0.0, -0.0] * 300], dtype)
    for function, wanted in ((np.argmax, onp.argmax), (np.argmin, onp.argmin)):
        assert onp.array_equal(function(given(x), 1).asnumpy(), wanted(x, 1))
        assert onp.array_equal(function(given(zeros), 1).asnumpy(), [0, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_argmax_of_rows_with_nan_anywhere(dtype):
    for size in (2, 8, 70, 4096, 4100, 9000):
        for at in sorted({0, 1, size // 2, size - 2, size - 1}):
            x = drawn((3, size), dtype)
            x[1, at:] = onp.nan
            x[2] = -onp.inf
            assert onp.array_equal(np.argmax(given(x), axis=1).asnumpy(), onp.argmax(x, 1)), (size, at)
            assert onp.array_equal(np.argmin(given(x), axis=1).asnumpy(), onp.argmin(x, 1)), (size, at)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_argmax_of_columns(dtype):
    x = drawn((70, 300), dtype)
    if dtype != "int64":
        x[40, 5], x[50, 5], x[0, 6], x[69, 7] = onp.nan, onp.nan, onp.nan, onp.inf
    x[20] = x[30] = x.max(0)    # the first of equals
    for function, wanted in ((np.argmax, onp.argmax), (np.argmin, onp.argmin)):
        assert onp.array_equal(function(given(x), 0).asnumpy(), wanted(x, 0))
        assert onp.array_equal(function(given(x.reshape(7, 10, 300)), 1).asnumpy(), wanted(x.reshape(7, 10, 300), 1))


# ---- moves

@pytest.mark.parametrize("sizes", [(600, 512), (128, 127), (1, 600), (300, 0, 200), (700,)])
def test_concatenation_of_long_rows(sizes):
    parts = [drawn((5, size, 2), "float32") for size in sizes]
    for axis in (1, -2):
        assert onp.array_equal(np.concatenate([given(p) for p in parts], axis).asnumpy(), onp.concatenate(parts, axis))
    for axis in (0, 1, 2):
        stacked = np.stack([given(parts[0]), given(parts[0] + 1)], axis).asnumpy()
        assert onp.array_equal(stacked, onp.stack([parts[0], parts[0] + 1], axis))
    a, b = (given(p) for p in (parts[0], parts[-1]))
    a.attach_grad()
    with mx.autograd.record():
        y = np.concatenate([a, b, a], 1)
    y.backward(y)
    assert onp.array_equal(a.grad.asnumpy(), 2 * a.asnumpy())


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_transposes_of_all_sizes(dtype):
    for rows, columns in [(1, 9), (7, 8), (8, 7), (8, 8), (9, 17), (16, 33), (31, 64), (65, 63), (64, 130), (200, 129), (2, 65),
                          (3, 63), (3, 9000), (4, 4097)]:
        x = onp.arange(2 * rows * columns).reshape(2, rows, columns).astype(dtype)
        assert onp.array_equal(np.transpose(given(x), (0, 2, 1)).asnumpy(), x.transpose(0, 2, 1)), (rows, columns)
        assert onp.array_equal(np.transpose(given(x), (2, 0, 1)).asnumpy(), x.transpose(2, 0, 1)), (rows, columns)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_quarter_turns_of_all_sizes(dtype):
    for rows, columns in [(1, 9), (8, 8), (9, 17), (65, 63), (200, 129)]:
        x = onp.arange(2 * rows * columns).reshape(2, rows, columns).astype(dtype)
        for k in (1, 2, 3):
            assert onp.array_equal(np.rot90(given(x), k, axes=(1, 2)).asnumpy(), onp.rot90(x, k, (1, 2))), (rows, columns, k)


@pytest.mark.parametrize("shape", [(1, 4), (2, 5), (5, 1), (3, 7, 2), (40, 30, 20)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int64"])
def test_differences_along_every_axis(shape, dtype):
    x = drawn(shape, dtype)
    for axis in range(len(shape)):
        for n in (1, 2):
            assert onp.array_equal(np.diff(given(x), n, axis).asnumpy(), onp.diff(x, n, axis)), (axis, n)
        if dtype == "float32":
            a = given(x)
            a.attach_grad()
            weight = drawn(onp.diff(x, axis=axis).shape, dtype)
            with mx.autograd.record():
                y = (np.diff(a, 1, axis) * given(weight)).sum()
            y.backward()
            zero = onp.zeros_like(x).take([0], axis)
            expected = onp.concatenate([zero, weight], axis) - onp.concatenate([weight, zero], axis)
            assert onp.array_equal(a.grad.asnumpy(), expected), axis


def test_powers_of_doubles():
    x = onp.array([0.0, -0.0, 1.5, -2.0, onp.inf, -onp.inf, onp.nan, 1e200, 5e-324])
    for exponent in (2.0, -1.0, 0.5, 3.0, 1.0, 0.0):
        with onp.errstate(all="ignore"):
            expected = onp.power(x, onp.full_like(x, exponent))
        got = (given(x) ** exponent).asnumpy()
        assert onp.allclose(got, expected, rtol=1e-15, atol=0, equal_nan=True), exponent
        assert onp.array_equal(onp.signbit(got[:6]), onp.signbit(expected[:6])), exponent


@pytest.mark.parametrize("shift", [1, 5, 15, 16, 1000, -1, -7])
def test_roll_of_rows_as_long_as_pages(shift):
    x = drawn((5, 1024), "float32")
    assert onp.array_equal(np.roll(given(x), shift, 1).asnumpy(), onp.roll(x, shift, 1))
    padded = np.pad(given(x), ((0, 0), (abs(shift) % 9, 3))).asnumpy()
    assert onp.array_equal(padded, onp.pad(x, ((0, 0), (abs(shift) % 9, 3))))


@pytest.mark.parametrize("dtype", ["bool", *DTYPES])
def test_where_of_conditions_of_every_dtype(dtype):
    for size in (1, 15, 4095, 4097, 9000):
        condition = drawn(size, "int8").clip(0, 1).astype(dtype) if dtype != "bool" else drawn(size, "int8") > 0
        if dtype.startswith("float"):
            condition[::3] = [-0.0, onp.nan, 1e-7][size % 3]
        for kind in ("float32", "float64", "float16", "int8"):
            x, y = drawn(size, kind), drawn(size, kind)
            got = mx.nd.where(*(mx.nd.array(v, dtype=v.dtype) for v in (condition, x, y))).asnumpy()
            assert onp.array_equal(got, onp.where(condition, x, y)), (size, kind)


@pytest.mark.parametrize("size", [1, 3, 4, 255, 256, 257, 5001])
def test_cumsum_and_its_gradient(size):
    x = drawn((2, size), "float32")
    wanted = onp.cumsum(x.astype("float64"), 1)
    a = given(x)
    a.attach_grad()
    with mx.autograd.record():
        y = np.cumsum(a, axis=1)
    assert onp.allclose(y.asnumpy(), wanted, rtol=1e-6, atol=1e-5)
    g = drawn((2, size), "float32")
    y.backward(given(g))
    back = onp.cumsum(g.astype("float64")[:, ::-1], 1)[:, ::-1]
    assert onp.allclose(a.grad.asnumpy(), back, rtol=1e-6, atol=1e-5)


# ---- pointwise

SPECIAL = onp.array([0.0, -0.0, 1.0, -1.0, 2.5, -1e-30, 1e30, onp.inf, -onp.inf, onp.nan], "float32")


def ulps(got, wanted):
    """The largest distance, in units of the last place of float32."""
    rounded = wanted.astype("float32")
    assert onp.array_equal(onp.isnan(got), onp.isnan(rounded))
    finite = onp.isfinite(rounded)
    assert onp.array_equal(got[~finite], rounded[~finite], equal_nan=True)
    return onp.max(onp.abs(got[finite] - wanted[finite]) / onp.spacing(onp.abs(rounded[finite])), initial=0)


def test_arctan2():
    x, y = onp.meshgrid(SPECIAL, SPECIAL)
    got, wanted = np.arctan2(given(x), given(y)).asnumpy(), onp.arctan2(x, y)
    assert onp.allclose(got, wanted, rtol=2e-7, atol=0, equal_nan=True)
    numbers = ~onp.isnan(wanted)
    assert onp.array_equal(onp.signbit(got[numbers]), onp.signbit(wanted[numbers]))
    x, y = drawn((2, 5000), "float32")
    got = np.arctan2(given(x), given(y)).asnumpy()
    assert ulps(got, onp.arctan2(x.astype("float64"), y)) < 1.01


def test_log1p_and_softrelu():
    edges = [1 - 2 ** 0.5, 2 ** 0.5 - 1, -2 ** -24, 2 ** 24, 2 ** 25, 1.7e38, 3.4e38, -1 + 2 ** -24, 1e-38, -1e-40, -1e-7]
    x = onp.concatenate([RNG.uniform(-1, 3, 5000), 10 ** RNG.uniform(-30, 38, 5000), -10 ** RNG.uniform(-30, 0, 5000), edges,
                         SPECIAL, [-2]]).astype("float32")
    with onp.errstate(all="ignore"):
        wanted = onp.log1p(x.astype("float64"))
    got = np.log1p(given(x)).asnumpy()
    assert ulps(got, wanted) < 1.5 and onp.signbit(got[x == 0]).tolist() == onp.signbit(x[x == 0]).tolist()
    x = onp.concatenate([RNG.uniform(-90, 90, 5000), RNG.uniform(-1, 1, 5000), SPECIAL]).astype("float32")
    wide = x.astype("float64")
    a = given(x)
    a.attach_grad()
    with mx.autograd.record():
        y = npx.activation(a, act_type="softrelu")
    y.backward()
    assert ulps(y.asnumpy(), onp.logaddexp(0, wide)) < 2.5
    numbers = (x > -80) & (x < 90)   # below, the result is subnormal
    assert onp.allclose(a.grad.asnumpy()[numbers], 1 / (1 + onp.exp(-wide[numbers])), rtol=5e-7, atol=0)


def test_logaddexp():
    x, y = onp.meshgrid(SPECIAL, SPECIAL)
    got = np.logaddexp(given(x), given(y)).asnumpy()
    assert onp.allclose(got, onp.logaddexp(x, y), rtol=1e-6, equal_nan=True)
    x, y = 10 * drawn((2, 5000), "float32")
    got = np.logaddexp(given(x), given(y)).asnumpy()
    assert onp.allclose(got, onp.logaddexp(x.astype("float64"), y), rtol=1e-6, atol=2e-7)


def test_erfinv():
    special = pytest.importorskip("scipy.special")
    x = onp.concatenate([RNG.uniform(-1, 1, 5000), 1 - 2.0 ** -RNG.uniform(0, 24, 2000), SPECIAL]).astype("float32")
    got = npx.erfinv(given(x)).asnumpy()
    assert ulps(got, special.erfinv(x.astype("float64"))) < 4


@pytest.mark.parametrize("beta", [1, 1.702])
def test_silu(beta):
    edges = [-60, -88.5, -89, 88.5, -1e3, 1e3]
    x = onp.concatenate([RNG.uniform(-20, 20, 5000), RNG.uniform(-1, 1, 5000), edges, SPECIAL]).astype("float32")
    wide = x.astype("float64")
    with onp.errstate(all="ignore"):
        wanted = wide / (1 + onp.exp(-beta * wide))
    got = mx.nd._internal._silu(mx.nd.array(x), beta=beta).asnumpy()
    assert onp.allclose(got, wanted, rtol=6e-6, atol=1e-36, equal_nan=True)
    usual = onp.abs(x) < 20   # where x is negative, the result is small
    assert onp.max(onp.abs(got - wanted)[usual] / onp.maximum(onp.abs(wanted[usual]), 0.05)) < 5e-7
    assert onp.array_equal(got[x == 0], x[x == 0]) and onp.array_equal(onp.signbit(got[x == 0]), onp.signbit(x[x == 0]))


LOGIC = ["logical_and", "logical_or", "logical_xor", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal",
         "bitwise_and", "bitwise_or", "bitwise_xor"]


@pytest.mark.parametrize("name", LOGIC)
def test_logic_of_bools(name):
    x, y = RNG.random((2, 3, 1001)) > 0.5
    function, wanted = getattr(np, name), getattr(onp, name)
    for a, b in ((x, y), (x, y[:1]), (x[:, :1], y)):
        got = function(given(a), given(b))
        assert got.dtype == onp.bool_ and onp.array_equal(got.asnumpy(), wanted(a, b))
    assert onp.array_equal(np.logical_not(given(x)).asnumpy(), ~x)


@pytest.mark.parametrize("source", ["bool", "uint8", "int8", "int32", "int64", "float32", "float64", "float16"])
def test_conversions(source):
    x = RNG.integers(0, 2, 1001).astype(source) if source == "bool" else RNG.integers(0, 100, 1001).astype(source)
    for target in ("bool", "uint8", "int8", "int32", "int64", "float32", "float64", "float16"):
        assert onp.array_equal(given(x).astype(target).asnumpy(), x.astype(target)), target


# ---- linear algebra

@pytest.mark.parametrize("n", [65, 100, 129, 256, 333])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_solve_inverse_and_determinant(n, dtype):
    a = RNG.standard_normal((n, n)).astype(dtype)
    tolerance = 2e-2 if dtype == "float32" else 1e-8
    for shape in ((n,), (n, 3), (n, n)):
        b = RNG.standard_normal(shape).astype(dtype)
        x = np.linalg.solve(given(a), given(b)).asnumpy().astype("float64")
        assert onp.abs(a @ x - b).max() < tolerance
    inverse = np.linalg.inv(given(a)).asnumpy().astype("float64")
    assert onp.abs(a @ inverse - onp.eye(n)).max() < tolerance
    sign, logarithm = np.linalg.slogdet(given(a))
    wanted = onp.linalg.slogdet(a.astype("float64"))
    assert sign.item() == wanted[0] and abs(logarithm.item() - wanted[1]) < 1e-4 * n


def test_a_singular_matrix_is_refused():
    a = onp.ones((100, 100), "float32")
    with pytest.raises((ValueError, mx.MXNetError), match="singular"):
        np.linalg.solve(given(a), given(onp.ones(100, "float32"))).asnumpy()


@pytest.mark.parametrize("rows", [1, 7, 5000])
def test_products_with_a_small_matrix(rows):
    a, b = drawn((rows, 5), "float32"), drawn((5, 9), "float32")
    wanted = a.astype("float64") @ b
    assert onp.allclose(np.dot(given(a), given(b)).asnumpy(), wanted, rtol=1e-5, atol=1e-5)
    got = mx.nd.dot(mx.nd.array(a.T), mx.nd.array(b.T), transpose_a=True, transpose_b=True)
    assert onp.allclose(got.asnumpy(), wanted, rtol=1e-5, atol=1e-5)


# ---- places

def test_unravel_index():
    shape = (70, 3, 11)
    flat = RNG.integers(0, 70 * 33, 5000)
    got = mx.nd.unravel_index(mx.nd.array(flat, dtype="int64"), shape=shape).asnumpy()
    assert onp.array_equal(got, onp.stack(onp.unravel_index(flat, shape)))
    got = mx.nd.unravel_index(mx.nd.array([-1, -8, 100]), shape=(7, 6)).asnumpy()    # as in 1.9.1
    assert got.tolist() == [[0, -1, 16], [-1, -2, 4]]
    far = onp.array([2 ** 60 + 5, 7])     # beyond what doubles hold
    got = mx.nd.unravel_index(mx.nd.array(far, dtype="int64"), shape=(2 ** 58, 16)).asnumpy()
    assert onp.array_equal(got, onp.stack([far // 16, far % 16]))


@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 70)])
def test_index_array(shape):
    got = mx.nd.contrib.index_array(mx.nd.zeros(shape)).asnumpy()
    assert onp.array_equal(got, onp.moveaxis(onp.indices(shape), 0, -1))


@pytest.mark.parametrize("kinds", ["near", "far", "both"])
@pytest.mark.parametrize("each", [1, 5, 600])
def test_densities_of_two_forms(kinds, each):
    stats = pytest.importorskip("scipy.stats")
    k = {"near": RNG.integers(8, 40, 300), "far": RNG.integers(1, 8, 300), "both": RNG.integers(1, 20, 300)}[kinds].astype("float64")
    p = RNG.uniform(0.1, 0.9, 300)
    x = RNG.integers(0, 30, (300, each)).astype("float64")
    expected = stats.nbinom.logpmf(x, k[:, None], p[:, None])
    samples, successes, chances = (mx.nd.array(v, dtype="float64") for v in (x, k, p))
    got = mx.nd.random_pdf_negative_binomial(samples, successes, chances, is_log=True).asnumpy()
    assert onp.allclose(got, expected, rtol=1e-10, atol=1e-10)
    mean, alpha = k * (1 - p) / p, 1 / k
    got = mx.nd.random_pdf_generalized_negative_binomial(samples, mx.nd.array(mean, dtype="float64"),
                                                         mx.nd.array(alpha, dtype="float64"), is_log=True).asnumpy()
    assert onp.allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_one_hot_of_many_rows():
    index = RNG.integers(-1, 11, 3000)
    got = mx.nd.one_hot(mx.nd.array(index), depth=10, on_value=3, off_value=-1).asnumpy()
    wanted = onp.full((3000, 10), -1.0, "float32")
    inside = (index >= 0) & (index < 10)
    wanted[onp.flatnonzero(inside), index[inside]] = 3
    assert onp.array_equal(got, wanted)


@pytest.mark.parametrize("size", [255, 256, 257, 511, 1000, 3072, 100003])
def test_sums_of_floats_are_close_where_they_cancel(size):
    x = onp.random.RandomState(size).standard_normal((3, size)).astype("float32")
    x[:, ::2] *= 1e4
    exact, bound = x.astype("float64").sum(1), 2 * onp.finfo("float32").eps * onp.abs(x.astype("float64")).sum(1)
    assert (onp.abs(mx.nd.sum(mx.nd.array(x), axis=1).asnumpy() - exact) <= bound).all()
    assert abs(mx.nd.sum(mx.nd.array(x)).asscalar() - exact.sum()) <= bound.sum()


@pytest.mark.parametrize("apart", [1, 16, 32, 64, 128])
def test_sums_of_floats_do_not_overflow_on_the_way(apart):
    x = onp.zeros(1024, "float32")
    x[[0, apart]], x[[500, 501]] = 3e38, -3e38
    assert mx.nd.sum(mx.nd.array(x)).asscalar() == 0
    x[7] = onp.inf
    assert mx.nd.sum(mx.nd.array(x)).asscalar() == onp.inf
    x[9] = -onp.inf
    assert onp.isnan(mx.nd.sum(mx.nd.array(x)).asscalar())
