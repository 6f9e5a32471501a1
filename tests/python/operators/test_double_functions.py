"""Functions of float64, which the C library computes for several numbers at a time."""
import math

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd

FUNCTIONS = {"log1p": math.log1p, "expm1": math.expm1, "sin": math.sin, "cos": math.cos, "tan": math.tan, "arctan": math.atan,
             "arcsin": math.asin, "arccos": math.acos, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
             "arcsinh": math.asinh, "arccosh": math.acosh, "arctanh": math.atanh, "erf": math.erf}
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310, -1e-310, 1e300, -1e300, 1.0, -1.0, 0.5, 1e-20, 710.0, -710.0, 1e22, math.pi,
           1 - 1e-10, 20.0, -40.0]


def by_libm(function, x):
    try:
        return function(x)
    except ValueError:   # a pole or outside of where it is defined
        pole = (function is math.log1p or function is math.atanh) and abs(x) == 1 and x != 1 or (function is math.atanh and x == 1)
        return math.copysign(math.inf, x) if pole else math.nan
    except OverflowError:
        return math.copysign(math.inf, x) if function is not math.cosh else math.inf


@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_4_ulp_of_libm(name):
    rng = np.random.default_rng(0)
    x = np.concatenate([SPECIAL, rng.uniform(-1, 1, 500), rng.standard_normal(500) * 5, 10.0 ** rng.uniform(-300, 300, 301)])
    y = getattr(nd, name)(nd.array(x, dtype="float64")).asnumpy()
    want = np.array([by_libm(FUNCTIONS[name], v) for v in x])
    np.testing.assert_array_equal(np.isnan(y), np.isnan(want))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(y[~finite], want[~finite])
    np.testing.assert_array_equal(np.signbit(y[want == 0]), np.signbit(want[want == 0]))
    assert (np.abs(y[finite] - want[finite]) <= 4 * np.spacing(np.abs(want[finite]))).all()


@pytest.mark.parametrize("name", [*FUNCTIONS, "erfinv"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 9, 17])
def test_a_result_does_not_depend_on_its_place(name, n):
    x = np.random.default_rng(1).uniform(-3, 3, 64) / (3 if name == "erfinv" else 1)
    whole = getattr(nd, name)(nd.array(x, dtype="float64")).asnumpy()
    part = getattr(nd, name)(nd.array(x[11:11 + n], dtype="float64")).asnumpy()
    np.testing.assert_array_equal(part, whole[11:11 + n])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", SPECIAL)
def test_nothing_but_one_special_number(name, x):
    """What a vector of others makes of it may be another path of the library."""
    y = getattr(nd, name)(nd.array([x] * 21, dtype="float64")).asnumpy()
    want = by_libm(FUNCTIONS[name], x)
    assert np.isnan(y).all() if np.isnan(want) else (np.abs(y - want) <= 4 * np.spacing(abs(want))).all() or (y == want).all()
    assert want != 0 or (np.signbit(y) == np.signbit(want)).all()


@pytest.mark.parametrize("name,formula", [("softrelu", lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0)),
                                          ("gelu", lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2)))),
                                          ("elu", lambda x: x if x > 0 else 0.25 * math.expm1(x))])
def test_activations_of_doubles(name, formula):
    x = np.random.default_rng(2).standard_normal(101) * 3
    a = nd.array(x, dtype="float64")
    a.attach_grad()
    with autograd.record():
        y = nd.Activation(a, act_type=name) if name == "softrelu" else nd.LeakyReLU(a, act_type=name, slope=0.25)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), [formula(v) for v in x], rtol=1e-13, atol=1e-15)
    step = 1e-6
    slopes = [(formula(v + step) - formula(v - step)) / (2 * step) for v in x]
    np.testing.assert_allclose(a.grad.asnumpy(), slopes, rtol=1e-6, atol=1e-8)


def test_elu_of_doubles_keeps_the_sign_of_zero_and_nan():
    x = nd.array([0.0, -0.0, math.inf, -math.inf, math.nan, 3.0] * 5, dtype="float64")
    y = nd.LeakyReLU(x, act_type="elu", slope=0.25).asnumpy()
    np.testing.assert_array_equal(y, [0.0, -0.0, math.inf, -0.25, math.nan, 3.0] * 5)
    assert np.signbit(y[[0, 1]]).tolist() == [False, True]


@pytest.mark.parametrize("most", [0.99, 1.0])   # the second: with arguments next to 1 in some blocks
def test_erfinv_of_doubles(most):
    rng = np.random.default_rng(3)
    near = 1 - 2.0 ** -rng.uniform(0, 53, 400) if most == 1 else []
    x = np.concatenate([rng.uniform(-most, most, 3000), near, 10.0 ** rng.uniform(-320, 0, 300) * most])
    y = nd.erfinv(nd.array(x, dtype="float64")).asnumpy()
    # erf(y) - x, or of the complements, and the slope of erf there, tell how far off y is
    far = np.abs(x) > 0.5
    left = np.array([(1 - abs(v)) - math.erfc(abs(w)) if f else math.erf(abs(w)) - abs(v) for v, w, f in zip(x, y, far)])
    off = np.abs(left) / (2 / math.sqrt(math.pi) * np.exp(-y * y))
    rounding = np.spacing(np.where(far, 1 - np.abs(x), np.abs(x))) / (2 / math.sqrt(math.pi) * np.exp(-y * y))   # of erf and erfc
    assert (off <= 4 * np.spacing(np.abs(y)) + 2 * rounding).all()
    assert (np.sign(y) == np.sign(x)).all()


def test_erfinv_of_doubles_at_its_ends():
    x = np.array([0.0, -0.0, 1.0, -1.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 0.5])
    y = nd.erfinv(nd.array(x, dtype="float64")).asnumpy()
    np.testing.assert_array_equal(y[:9], [0, 0, math.inf, -math.inf, math.nan, math.nan, math.nan, math.nan, math.nan])
    assert np.signbit(y[:2]).tolist() == [False, True] and abs(math.erf(y[9]) - 0.5) < 1e-15


def dividends_and_divisors():
    """Short and long quotients, close to whole numbers and equal to them, of all magnitudes."""
    rng = np.random.default_rng(4)
    n = 3001
    sign = rng.choice([-1.0, 1.0], n)
    yield sign * rng.uniform(0, 100, n), rng.standard_normal(n)
    yield sign * rng.integers(0, 2 ** 53, n), rng.integers(1, 9, n) * 1.0
    b = rng.standard_normal(n)
    yield np.nextafter(b * rng.integers(-10 ** 6, 10 ** 6, n), sign * np.inf), b
    yield rng.standard_normal(n) * 2.0 ** rng.integers(-1000, 1000, n), rng.standard_normal(n) * 2.0 ** rng.integers(-1000, 1000, n)
    yield sign * 10.0 ** rng.uniform(-323, -300, n), 10.0 ** rng.uniform(-323, -305, n)
    special = np.array([0.0, -0.0, 1.0, -1.0, 3.5, math.inf, -math.inf, math.nan, 1e308, 5e-324])
    yield tuple(v.ravel() for v in np.meshgrid(special, special))


@pytest.mark.parametrize("a,b", list(dividends_and_divisors()))
def test_remainders_of_doubles_are_exact(a, b):
    with np.errstate(all="ignore"):
        r = np.where(b == 0, 0, np.fmod(a, b))   # of a divisor of zero it is 0
        floored = np.where(b == 0, 0, np.where(r == 0, np.copysign(0, b), np.where((r < 0) != (b < 0), r + b, r)))
    given = [mx.np.array(v, dtype="float64") for v in (a, b)]
    for operator, want in ((mx.np.fmod, r), (mx.np.mod, floored)):
        got = operator(*given).asnumpy()
        np.testing.assert_array_equal(got, want)
        ordinary = (want == 0) & (b != 0)
        assert (np.signbit(got) == np.signbit(want))[ordinary].all()

def test_remainders_of_doubles_with_one_number():
    x = np.random.default_rng(5).standard_normal(1003) * 100
    given = mx.np.array(x, dtype="float64")
    for operator, by_numpy in ((mx.np.fmod, np.fmod), (mx.np.mod, np.mod)):
        np.testing.assert_array_equal(operator(given, -3.7).asnumpy(), by_numpy(x, -3.7))
        np.testing.assert_array_equal(operator(1e3, given).asnumpy(), by_numpy(1e3, x))
