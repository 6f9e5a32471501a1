"""Edges of loops over whole vectors: lengths that leave a rest, numbers that take another way,
results made by several threads."""
import numpy as np
import pytest

import mxnet as mx

LENGTHS = [1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 1023, 1024, 1025, 1100, 2049]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_all_lengths(dtype, axis):
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        x = (rng.standard_normal((3, n) if axis == 1 else (n, 37)) * 4).astype(dtype)
        a = mx.nd.array(x, dtype=dtype)
        wide = x.astype("float64") if dtype != "int64" else x
        for name, expected in (("sum", wide.sum(axis)), ("max", x.max(axis)), ("min", x.min(axis)), ("nansum", wide.sum(axis))):
            np.testing.assert_allclose(getattr(mx.nd, name)(a, axis=axis).asnumpy(), expected,
                                       rtol=2e-6, atol=2e-5, err_msg=f"{name} of {n}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_nan_wins_wherever_it_stands(dtype):
    for n in (5, 8, 16, 19, 64, 67, 1030):
        for at in sorted({0, 1, n // 2, n - 2, n - 1}):
            x = np.arange(2 * n, dtype=dtype).reshape(2, n)
            x[1, at] = np.nan
            for op in (mx.nd.max, mx.nd.min):
                for axis, data in ((1, x), (0, np.ascontiguousarray(x.T))):
                    got = op(mx.nd.array(data, dtype=dtype), axis=axis).asnumpy()
                    assert not np.isnan(got[0]) and np.isnan(got[1]), (op.__name__, n, at, axis)


def test_remainders_of_every_kind():
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.5, 1e-45, -1e-38, 3e38, 16777216, 1e10], "float32")
    a = (np.concatenate([rng.standard_normal(3000) * 10,
                         10.0 ** rng.uniform(-30, 30, 3000) * rng.choice([-1, 1], 3000),
                         np.repeat(special, special.size)]).astype("float32"))
    b = (np.concatenate([rng.standard_normal(3000),
                         10.0 ** rng.uniform(-30, 30, 3000) * rng.choice([-1, 1], 3000),
                         np.tile(special, special.size)]).astype("float32"))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(mx.nd.broadcast_mod(mx.nd.array(a), mx.nd.array(b)).asnumpy(),
                                      np.where(b == 0, np.float32(0), np.mod(a, b)))
        np.testing.assert_array_equal(mx.nd._internal._npi_fmod(mx.nd.array(a), mx.nd.array(b)).asnumpy(),
                                      np.where(b == 0, np.float32(0), np.fmod(a, b)))
        np.testing.assert_array_equal((mx.nd.array(a) % 0.75).asnumpy(), np.mod(a, np.float32(0.75)))
        np.testing.assert_array_equal((0.75 % mx.nd.array(b)).asnumpy(), np.where(b == 0, np.float32(0), np.mod(np.float32(0.75), b)))
    x = mx.nd.array(a)
    x %= mx.nd.array(b)   # the result takes the place of an operand that is still read
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(x.asnumpy(), np.where(b == 0, np.float32(0), np.mod(a, b)))


@pytest.mark.parametrize("exponent", [2, 3, -1, 0.5, 2.5, 0, 1, -2, -0.5])
def test_powers_with_a_number(exponent):
    x = np.concatenate([np.linspace(0.01, 30, 700), [0.0, np.inf, 1.0]]).astype("float32")
    with np.errstate(all="ignore"):
        np.testing.assert_allclose((mx.nd.array(x) ** exponent).asnumpy(), x.astype("float64") ** exponent, rtol=3e-7)
        np.testing.assert_allclose((2.5 ** mx.nd.array(np.minimum(x, 30))).asnumpy(), 2.5 ** np.minimum(x, 30).astype("float64"), rtol=3e-7)
    assert mx.nd.power(mx.nd.array([-np.inf, -0.0]), 0.5).asnumpy().tolist() == [np.inf, 0.0]


def test_gamma_functions_of_all_signs():
    math = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(3)
    x = (np.concatenate([rng.uniform(-30, 40, 4000), rng.uniform(0, 3, 4000),
                         10.0 ** rng.uniform(-20, 20, 2000),
                         [1, 2, 0.5, -0.5, 8, 2.5, 1.5]]).astype("float32"))
    x = x[(x > 0) | (x != np.rint(x))]
    wide = x.astype("float64")
    with np.errstate(all="ignore"):
        for op, expected in ((mx.nd.gammaln, math.gammaln(wide)), (mx.nd.gamma, math.gamma(wide)), (mx.nd.digamma, math.digamma(wide))):
            np.testing.assert_allclose(op(mx.nd.array(x)).asnumpy(), expected.astype("float32"), rtol=3e-7, err_msg=op.__name__)
    u = np.concatenate([rng.uniform(-1, 1, 4000), 1 - 10.0 ** rng.uniform(-7, 0, 2000), [1.0, -1.0, 0.0, 1.5]]).astype("float32")
    np.testing.assert_allclose(mx.nd.erfinv(mx.nd.array(u)).asnumpy(), math.erfinv(u.astype("float64")).astype("float32"), rtol=2e-7)
    poles = mx.nd.array([0.0, -0.0, -1.0, -7.0, np.inf, np.nan])
    np.testing.assert_array_equal(mx.nd.gammaln(poles).asnumpy(), [np.inf, np.inf, np.inf, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(mx.nd.gamma(poles).asnumpy(), [np.inf, -np.inf, np.nan, np.nan, np.inf, np.nan])
    np.testing.assert_array_equal(mx.nd.digamma(poles).asnumpy(), [np.nan, np.nan, np.nan, np.nan, np.inf, np.nan])


def truncated(x, dtype):
    """What casts give: int32 or int64 with the smallest number for what does not fit, then the low
    bits."""
    wide, limit = ("int64", 2.0 ** 63) if dtype == "int64" else ("int32", 2.0 ** 31)
    whole = np.trunc(x.astype("float64"))
    fits = (whole >= -limit) & (whole < limit)
    return np.where(fits, np.where(fits, whole, 0).astype(wide), np.iinfo(wide).min).astype(dtype)


def test_bfloat16_rounds_to_even_and_keeps_nan():
    """All upper halves with lower halves around the middle, whose vectors hold NaN and not."""
    upper = np.arange(1 << 16, dtype="uint32") << 16
    for bits in [upper | low for low in (0, 1, 0x7fff, 0x8000, 0x8001, 0xffff)] + [np.roll(upper, 5)[3:-2]]:
        x = bits.view("float32")
        got = mx.nd.array(x).astype("bfloat16").astype("float32").asnumpy().view("uint32")
        nearest = (bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)
        np.testing.assert_array_equal(got[~np.isnan(x)], nearest[~np.isnan(x)])
        assert np.isnan(got.view("float32")[np.isnan(x)]).all()


@pytest.mark.parametrize("source", ["float32", "float64", "float16", "bfloat16"])
def test_casts_have_one_answer_for_what_does_not_fit(source):
    odd = (np.array([0.5, -1.5, np.nan, 1e10, -1e10, 3e9, np.inf, -np.inf, 2147483648.0,
                     -2147483648.9, 300.7, -129.2, 1e19, -1e19, 70000.0, 127.9]))
    for dtype in ("int32", "int64", "int8", "uint8"):
        for n in range(1, 71):
            x = mx.nd.array(odd[np.arange(n) * 7 % odd.size], dtype="float64").astype(source)
            expected = truncated(x.astype("float64").asnumpy(), dtype)
            target = mx.nd.zeros((n,), dtype=dtype)
            x.copyto(target)
            written = mx.nd.zeros((n,), dtype=dtype)
            written[:] = x
            bound = mx.sym.Cast(mx.sym.Cast(mx.sym.var("x", dtype=source), dtype=dtype),
                                dtype="float64").bind(mx.cpu(), {"x": x}).forward()[0]
            for way, got in (("astype", x.astype(dtype)), ("Cast", mx.nd.Cast(x, dtype=dtype)), ("copyto", target), ("x[:]", written)):
                np.testing.assert_array_equal(got.asnumpy(), expected, err_msg=f"{way} of {n} to {dtype}")
            np.testing.assert_array_equal(bound.asnumpy(), expected.astype("float64"), err_msg=f"bound, {n} to {dtype}")


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_softmax_over_the_first_axis(op):
    """Few slices of many columns: threads share the columns."""
    rng = np.random.default_rng(4)
    for shape in ((40, 3000), (7, 129), (3, 64), (2, 5, 1000)):
        x, head = rng.standard_normal(shape).astype("float32"), rng.standard_normal(shape).astype("float32")
        axis = len(shape) - 2
        e = np.exp(x.astype("float64") - x.max(axis, keepdims=True))
        soft = e / e.sum(axis, keepdims=True)
        a = mx.nd.array(x)
        a.attach_grad()
        with mx.autograd.record():
            y = getattr(mx.nd, op)(a, axis=axis)
        y.backward(mx.nd.array(head))
        np.testing.assert_allclose(y.asnumpy(), soft if op == "softmax" else np.log(soft), rtol=2e-5, atol=2e-6)
        grad = soft * (head - (head * soft).sum(axis, keepdims=True)) if op == "softmax" else head - soft * head.sum(axis, keepdims=True)
        np.testing.assert_allclose(a.grad.asnumpy(), grad, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("shape", [(5, 3), (64, 1000), (300, 17), (4, 6, 5)])
def test_prelu_slopes(shape, shared):
    rng = np.random.default_rng(5)
    x, slope, head = (rng.standard_normal(s).astype("float32") for s in (shape, 1 if shared else shape[1], shape))
    a, g = mx.nd.array(x), mx.nd.array(slope)
    a.attach_grad()
    g.attach_grad()
    with mx.autograd.record():
        y = mx.nd.LeakyReLU(a, g, act_type="prelu")
    y.backward(mx.nd.array(head))
    wide = slope.reshape((-1,) + (1,) * (len(shape) - 2))
    np.testing.assert_allclose(y.asnumpy(), np.where(x > 0, x, x * wide), rtol=1e-6)
    np.testing.assert_allclose(a.grad.asnumpy(), head * np.where(x > 0, 1, wide), rtol=1e-6)
    other = tuple(i for i in range(len(shape)) if shared or i != 1)
    np.testing.assert_allclose(g.grad.asnumpy(), (head * np.where(x > 0, 0, x)).astype("float64").sum(other), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("draw", ["uniform", "normal", "exponential", "gamma", "randint"])
def test_draws_do_not_depend_on_how_they_are_cut(draw):
    """Long arrays are made in pieces by several threads; their beginnings are those of short
    ones."""
    def numbers(n, **more):
        mx.random.seed(11)
        return (mx.nd.random.randint(0, 1000, shape=(n,), **more) if draw == "randint"
                else getattr(mx.nd.random, draw)(shape=(n,), **more)).asnumpy()

    long = numbers(300_001)
    for n in (1, 3, 5, 63, 65, 511, 513, 5000):
        np.testing.assert_array_equal(numbers(n), long[:n])
    if draw != "randint":
        np.testing.assert_allclose(numbers(5000, dtype="float16"), long[:5000].astype("float16"), rtol=2e-3, atol=1e-3)
    if draw == "uniform":
        assert 0 <= long.min() and long.max() < 1 and abs(long.mean() - 0.5) < 3e-3
    if draw == "normal":
        assert abs(long.mean()) < 8e-3 and abs(long.std() - 1) < 6e-3 and 4 < abs(long).max() < 7
    if draw == "exponential":
        assert long.min() >= 0 and abs(long.mean() - 1) < 8e-3 and abs(long.var() - 1) < 3e-2
    if draw == "randint":
        assert np.bincount(long, minlength=1000).std() < 25 and abs(long.mean() - 499.5) < 3


@pytest.mark.parametrize("mean", [0.0, 0.1, 3.0, 11.9, 12.1, 80.0])
def test_poisson_moments(mean):
    mx.random.seed(12)
    x = mx.nd.random.poisson(mean, shape=(200_000,)).asnumpy()
    assert (x == np.rint(x)).all() and x.min() >= 0
    assert abs(x.mean() - mean) < 4 * np.sqrt(mean / x.size) + 1e-9
    assert abs(x.var() - mean) < 6 * np.sqrt((2 * mean * mean + mean) / x.size) + 1e-9
    assert abs((x == 0).mean() - np.exp(-mean)) < 5e-3


@pytest.mark.parametrize("alpha", [0.25, 1.0, 7.5])
def test_gamma_numbers_are_those_of_arrays_of_parameters(alpha):
    def drawn(draw):
        mx.random.seed(14)
        return draw().asnumpy().ravel()

    one = drawn(lambda: mx.nd.random.gamma(alpha, 2.0, shape=(3001,), dtype="float64"))
    each = drawn(lambda: mx.nd.random.gamma(mx.nd.array([alpha]), mx.nd.array([2.0]), shape=(3001,), dtype="float64"))
    np.testing.assert_allclose(one, each, rtol=1e-11)


def test_integers_of_wide_ranges():
    mx.random.seed(15)
    for low, high in ((-3, 2 ** 32), (0, 2 ** 32 - 1), (-2 ** 62, 2 ** 62)):
        x = mx.nd.random.randint(low, high, shape=(50_001,), dtype="int64").asnumpy()
        assert x.min() >= low and x.max() < high and np.unique(x).size > 49_000
        assert abs((x.astype("float64") - low).mean() / (high - low) - 0.5) < 6e-3
        assert abs(np.corrcoef(x[:-1:2], x[1::2])[0, 1]) < 0.03


@pytest.mark.parametrize("alpha", [0.3, 1.0, 7.5])
def test_gamma_moments(alpha):
    mx.random.seed(13)
    x = mx.nd.random.gamma(alpha, 2.0, shape=(200_000,)).asnumpy().astype("float64")
    assert abs(x.mean() / (2 * alpha) - 1) < 0.02 and abs(x.var() / (4 * alpha) - 1) < 0.06
    assert abs(np.log(x).mean() - (np.log(x.mean()) - np.log(alpha) + mx.nd.digamma(mx.nd.array([alpha])).asscalar())) < 0.03


def test_copies_and_choices_by_threads():
    rng = np.random.default_rng(6)
    x, y = (rng.standard_normal((700, 801)).astype("float32") for _ in range(2))
    a, b = mx.nd.array(x), mx.nd.array(y)
    np.testing.assert_array_equal(a.copy().asnumpy(), x)
    np.testing.assert_array_equal(a.copyto(mx.nd.zeros(x.shape, dtype="float64")).asnumpy(), x.astype("float64"))
    np.testing.assert_array_equal(mx.nd.flip(a, axis=1).asnumpy(), x[:, ::-1])
    np.testing.assert_array_equal(a[:, ::-2].asnumpy(), x[:, ::-2])
    np.testing.assert_array_equal(mx.nd.concat(a, b, dim=1).asnumpy(), np.concatenate([x, y], 1))
    for dtype in ("float32", "int8", "float16", "int64"):
        c = mx.nd.array(x > 0.3, dtype=dtype)
        np.testing.assert_array_equal(mx.nd.where(c, a, b).asnumpy(), np.where(x > 0.3, x, y))
    for dtype in ("uint8", "float16", "float64"):
        p, q = mx.nd.array(x * 9 + 60, dtype=dtype), mx.nd.array(y * 9 + 60, dtype=dtype)
        np.testing.assert_array_equal(mx.nd.where(mx.nd.array(x > 0.3), p, q).asnumpy(), np.where(x > 0.3, p.asnumpy(), q.asnumpy()))
    view = a[100:200]
    a[150:250] = view   # views of one array that overlap
    np.testing.assert_array_equal(a.asnumpy()[150:250], x[100:200])


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "int8", "uint8", "int64"])
def test_orders_of_all_lengths(dtype):
    """Short lines are compared, longer ones go digit by digit, few of many are picked: all stable,
    NaN last."""
    rng = np.random.default_rng(7)
    for n in (1, 2, 63, 99, 100, 129, 999, 1000, 3000):
        x = rng.integers(-50, 50, (3, n)) if np.dtype(dtype).kind in "iu" else rng.standard_normal((3, n)).round(1)
        x = x.astype(dtype)
        if np.dtype(dtype).kind == "f" and n > 10:
            x[0, 3], x[1, 7], x[2, :5], x[2, 5:9] = np.nan, -np.inf, 0.0, -0.0
        a = mx.nd.array(x, dtype=dtype)
        order = np.argsort(x, axis=1, kind="stable")
        np.testing.assert_array_equal(mx.nd.sort(a).asnumpy(), np.take_along_axis(x, order, 1))
        np.testing.assert_array_equal(mx.nd.argsort(a, dtype="int32").asnumpy(), order)
        keys = -x.astype("float64")
        keys[np.isnan(keys)] = -np.inf   # largest first: NaN, then the others, equal ones as they stand
        falling = np.lexsort((np.broadcast_to(np.arange(n), x.shape), keys, ~np.isnan(x.astype("float64"))), axis=1)
        np.testing.assert_array_equal(mx.nd.argsort(a, is_ascend=False, dtype="int32").asnumpy(), falling)
        for k in (1, 2, 5, 32, 33, n // 3, n):
            if 0 < k <= n:
                np.testing.assert_array_equal(mx.nd.topk(a, k=k, dtype="int32").asnumpy(), falling[:, :k])
                np.testing.assert_array_equal(mx.nd.topk(a, k=k, is_ascend=True, dtype="int32").asnumpy(), order[:, :k])
        columns = mx.nd.array(np.ascontiguousarray(x.T), dtype=dtype)
        np.testing.assert_array_equal(mx.nd.sort(columns, axis=0).asnumpy(), np.take_along_axis(x, order, 1).T)


@pytest.mark.parametrize("shape", [(2, 7, 5, 13), (3, 2, 70), (1, 33, 64), (4, 9), (2, 3, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_local_response_normalization(shape, dtype):
    rng = np.random.default_rng(8)
    x, head = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    for size, alpha, beta, knorm in ((5, 0.3, 0.75, 2.0), (1, 1.0, 0.5, 1.0), (11, 0.01, 1.5, 0.5)):
        wide, up = x.astype("float64"), head.astype("float64")
        channels = shape[1]
        near = np.abs(np.subtract.outer(np.arange(channels), np.arange(channels))) <= size // 2
        total = lambda v: np.einsum("ij,bj...->bi...", near.astype("float64"), v)   # noqa: E731
        norm = knorm + alpha / size * total(wide * wide)
        a = mx.nd.array(x, dtype=dtype)
        a.attach_grad()
        with mx.autograd.record():
            y = mx.nd.LRN(a, nsize=size, alpha=alpha, beta=beta, knorm=knorm)
        y.backward(mx.nd.array(head, dtype=dtype))
        tolerance = {"rtol": 4e-3, "atol": 4e-3} if dtype == "float16" else {"rtol": 2e-5, "atol": 1e-6}
        np.testing.assert_allclose(y.asnumpy(), wide * norm ** -beta, **tolerance)
        expected = up * norm ** -beta - 2 * alpha * beta / size * wide * total(up * wide * norm ** (-beta - 1))
        np.testing.assert_allclose(a.grad.asnumpy(), expected, **tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
def test_broadcasts_with_short_rows(dtype):
    """Innermost dimensions that are walked as one, blocks that end in the middle of them."""
    random = np.random.default_rng(3)
    for left, right in (((300, 1, 3), (4, 1)), ((50, 5, 1, 2), (7, 1)), ((1, 3, 15), (90, 1, 1)), ((200, 2, 3, 1), (200, 1, 1, 5)),
                        ((40, 1, 13), (1, 5, 1)), ((600, 2), (600, 1)), ((90, 1, 2, 1, 2), (90, 2, 1, 3, 1)), ((9, 8, 1), (1, 1, 9))):
        x, y = (random.integers(0, 50, shape).astype(dtype) for shape in (left, right))
        got = mx.nd.broadcast_add(mx.nd.array(x, dtype=dtype), mx.nd.array(y, dtype=dtype)).asnumpy()
        np.testing.assert_array_equal(got, x + y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("low, high", [(-1, 1.5), (0, 0), (-0.0, 0.0), (2, -2), (-np.inf, np.inf), (np.nan, 1)])
def test_clip_of_all_lengths(dtype, low, high):
    special = np.array([-5, -1, -0.0, 0.0, 1.5, 1.75, np.inf, -np.inf, np.nan, 1e30, -1e-30], dtype)
    for n in LENGTHS:
        x = np.resize(special, n)
        want = np.where(x > high, dtype_of(high, dtype), np.where(x < low, dtype_of(low, dtype), x))   # high first where they cross
        got = mx.nd.clip(mx.nd.array(x, dtype=dtype), low, high).asnumpy()
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)]))


def dtype_of(number, dtype):
    return np.dtype(dtype).type(number)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int32", "int64"])
def test_differences_of_all_lengths(dtype):
    rng = np.random.default_rng(5)
    for n in LENGTHS:
        x = (rng.standard_normal((3, n + 1, 2)) * 90).astype(dtype)
        for data, axis in ((x, 1), (np.ascontiguousarray(x[..., 0]), 1), (x, 0)):
            for order in (1, 2):
                a = mx.np.array(data, dtype=dtype)
                expected = np.diff(data, order, axis)
                np.testing.assert_array_equal(mx.np.diff(a, order, axis).asnumpy(), expected, err_msg=f"{n}, {order}")
        if not dtype.startswith("float"):
            continue
        a.attach_grad()
        with mx.autograd.record():
            y = mx.np.diff(a, axis=1)
        g = (rng.standard_normal(y.shape) * 9).astype(dtype)
        y.backward(mx.np.array(g, dtype=dtype))
        zero = np.zeros((3, 1, 2), dtype)
        np.testing.assert_array_equal(a.grad.asnumpy(), np.concatenate([zero, g], 1) - np.concatenate([g, zero], 1), err_msg=str(n))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int32", "int64"])
@pytest.mark.parametrize("columns", [2, 3, 4, 7, 16, 33, 64, 65])
def test_reductions_of_few_columns(columns, dtype):
    rng = np.random.default_rng(6)
    for rows in (4095, 4096, 4111, 20011, 70001):
        x = (rng.standard_normal((rows, columns)) * 4).astype(dtype)
        wide = x.astype("float64" if dtype.startswith("float") else "int64")
        a = mx.np.array(x, dtype=dtype)
        for op, exact in (("max", True), ("min", True), ("sum", not dtype.startswith("float"))):
            got = getattr(a.astype("float32") if dtype == "float16" else a, op)(axis=0).asnumpy()
            if exact:
                np.testing.assert_array_equal(got, getattr(wide, op)(0).astype(got.dtype), err_msg=f"{op} of {rows}")
            else:
                np.testing.assert_allclose(got, wide.sum(0), rtol=3e-7, atol=np.abs(wide).sum(0).max() * 2e-8, err_msg=f"{op} of {rows}")
    if dtype.startswith("float"):
        x[rows // 2, 1] = np.nan
        assert np.isnan(mx.np.array(x, dtype=dtype).sum(0).asnumpy()).tolist() == [i == 1 for i in range(columns)]


@pytest.mark.parametrize("columns", [1, 5, 16, 40, 700])
def test_sums_of_floats_whose_partial_sums_are_infinite(columns):
    for rows in (4, 13, 300, 5000):
        for signs, expected in (([1, 1, -1, -1], 0.0), ([1, 1, 1, 1], np.inf), ([1, 0, 0, -1], 0.0)):
            x = np.zeros((rows, columns), "float32")
            x[:4] = np.float32(3e38) * np.array(signs, "float32")[:, None]
            for axis, data in ((0, x), (1, np.ascontiguousarray(x.T))):
                np.testing.assert_array_equal(mx.np.array(data).sum(axis).asnumpy(), np.full(columns, expected), err_msg=f"{rows} {signs}")
            x[0, columns // 2] = np.nan
            expected_here = np.full(columns, expected)
            expected_here[columns // 2] = np.nan
            np.testing.assert_array_equal(mx.np.array(x).sum(0).asnumpy(), expected_here)
