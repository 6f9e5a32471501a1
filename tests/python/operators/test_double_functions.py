"""Functions of float64, which the C library computes for several numbers at a time."""
import math

import numpy as np
import pytest

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


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 9, 17])
def test_a_result_does_not_depend_on_its_place(name, n):
    x = np.random.default_rng(1).uniform(-3, 3, 64)
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
