"""Logarithms of other bases, powers, roots and inverse circular functions: digits, special numbers
and results that are exact."""
import itertools
import math

import numpy as np
import pytest

import mxnet as mx
from mxnet import doctor

mnp = mx.np
RNG = np.random.default_rng(3)
# Without fused multiply-add doubles go to the C library, whose last digits are its own.
FUSED = not doctor.report()["instructions"]["library"].startswith("SSE")
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310, -1e-310, 1e300, -1e300, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 2.5, 1e-45]
WIDE = np.concatenate([RNG.uniform(0.01, 4, 2000), 10.0 ** RNG.uniform(-300, 300, 2001), SPECIAL])
with np.errstate(over="ignore"):
    NARROW = np.concatenate([RNG.uniform(-4, 4, 2000), 10.0 ** RNG.uniform(-38, 37, 2001), SPECIAL]).astype("float32")


def of(function, *values):
    return getattr(mnp, function)(*(mnp.array(v, dtype=v.dtype) for v in values)).asnumpy()


def check(got, wanted, ulp):
    """NaN, infinity and the signs of zeros as wanted, all others within so many units of the last
    place."""
    rounded = wanted.astype(got.dtype)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
    special = np.isinf(rounded) | (rounded == 0)
    np.testing.assert_array_equal(got[special], rounded[special])
    np.testing.assert_array_equal(np.signbit(got[special]), np.signbit(rounded[special]))
    rest = ~special & ~np.isnan(rounded)
    assert (np.abs(got[rest].astype(wanted.dtype) - wanted[rest]) <= ulp * np.spacing(np.abs(rounded[rest]))).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["log2", "log10", "cbrt", "exp2"])
def test_of_one_number(name):
    x = np.concatenate([WIDE, -WIDE, RNG.uniform(-1080, 1030, 1000)])
    check(of(name, x), getattr(np, name)(x.astype("longdouble")), 1.01 if FUSED else 5)
    y = np.concatenate([NARROW, RNG.uniform(-151, 130, 1000).astype("float32")])
    check(of(name, y), getattr(np, name)(y.astype("float64")), 1.01)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["arctan", "arcsin", "arccos", "expm1"])
def test_floats_within_2_ulp(name):
    x = np.concatenate([NARROW, RNG.uniform(-1, 1, 3000).astype("float32"), np.float32(1 - 2.0 ** -np.arange(1, 25))])
    got, wanted = of(name, x), getattr(np, name)(x.astype("float64"))
    zero = wanted == 0
    check(np.where(zero, 1, got), np.where(zero, 1, wanted), 2)
    np.testing.assert_array_equal(got[zero], 0)


def test_exact_results():
    k = np.arange(-1074, 1024)
    np.testing.assert_array_equal(of("log2", np.ldexp(1.0, k)), k)
    np.testing.assert_array_equal(of("exp2", k.astype("float64")), np.ldexp(1.0, k))
    ten = np.array([float(f"1e{i}") for i in range(23)])
    np.testing.assert_array_equal(of("log10", ten), np.arange(23))
    np.testing.assert_array_equal(of("log10", ten[:11].astype("float32")), np.arange(11))
    i = np.arange(-5000, 5000).astype("float64")
    if FUSED:
        np.testing.assert_array_equal(of("cbrt", i ** 3), i)
    np.testing.assert_array_equal(of("cbrt", (i[4750:5250] ** 3).astype("float32")), i[4750:5250].astype("float32"))
    pairs = [(a, b) for a in range(-60, 60) for b in range(1, 30) if abs(a) ** b < 2 ** 53]
    a, b = (np.array(v, "float64") for v in zip(*pairs))
    np.testing.assert_array_equal(of("power", a, b), np.array([float(x ** y) for x, y in pairs]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["power", "arctan2", "hypot", "logaddexp"])
def test_of_two_numbers(name):
    """Special numbers with each other, alone and among others, which may be another path."""
    pairs = np.array(list(itertools.product(SPECIAL, SPECIAL)))
    a, b = np.concatenate([pairs, RNG.uniform(0.01, 100, (5000, 2)) * [1, 1.5], 10.0 ** RNG.uniform(-300, 300, (2000, 2)),
                           np.stack([RNG.uniform(0.99, 1.01, 2000), RNG.uniform(-7e4, 7e4, 2000)], 1)]).T
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(a.astype("longdouble"), b.astype("longdouble"))
    in_range = ~(np.abs(wanted) < 1e-307) | (wanted == 0) | (np.abs(wanted) < 1e-330)   # subnormal results are rounded twice
    got = of(name, a, b)
    check(got[in_range], wanted[in_range], 4 if name in ("arctan2", "logaddexp") else 1.01 if FUSED else 5)
    for i in range(0, len(pairs), 7):
        alone = of(name, a[i:i + 1], b[i:i + 1])
        np.testing.assert_array_equal(alone, got[i:i + 1])


@pytest.mark.parametrize("n", [1, 2, 3, 7, 9, 17, 511, 513])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_result_does_not_depend_on_its_place(n, dtype):
    x, y = RNG.uniform(0.1, 4, (2, 600)).astype(dtype)
    for name in ("log2", "log10", "cbrt", "exp2", "arctan", "expm1"):
        np.testing.assert_array_equal(of(name, x[31:31 + n]), of(name, x)[31:31 + n])
    for name in ("power", "arctan2", "hypot", "logaddexp"):
        np.testing.assert_array_equal(of(name, x[31:31 + n], y[31:31 + n]), of(name, x, y)[31:31 + n])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_power_of_two_and_its_gradient(dtype):
    x = mnp.array([-2.5, 0, 3, 10.25], dtype=dtype)
    x.attach_grad()
    with mx.autograd.record():
        y = 2 ** x
    y.backward()
    wanted = 2 ** x.asnumpy().astype("float64")
    np.testing.assert_allclose(y.asnumpy(), wanted, rtol=3e-7)
    np.testing.assert_allclose(x.grad.asnumpy(), wanted * math.log(2), rtol=3e-7)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "bool", "int64"])
@pytest.mark.parametrize("n", [0, 1, 7, 4097, 300001])
def test_a_copy_has_the_same_bits(dtype, n):
    x = mnp.array(RNG.integers(0, 2, n) if dtype == "bool" else RNG.uniform(-100, 100, n)).astype(dtype)
    y = x.copy()
    np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
    if n:
        y[:] = 0
        assert x.asnumpy().astype("float32").any() or n == 1
