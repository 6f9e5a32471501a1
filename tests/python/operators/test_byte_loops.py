"""Kernels whose elements or results are bytes, divisions of integers by one number and choices with
one, against NumPy."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

RNG = onp.random.default_rng(19)


@pytest.fixture(autouse=True)
def numpy_shapes():
    with mx.util.np_shape(True):
        yield


def given(values):
    return np.array(values, dtype=values.dtype)


def whole(dtype, size=2501):
    """All sorts of numbers, and those next to both ends of the dtype."""
    if dtype == "bool":
        return RNG.random(size) > 0.5
    least, most = onp.iinfo(dtype).min, onp.iinfo(dtype).max
    drawn = RNG.integers(least, most, size, dtype="int64") >> RNG.integers(0, 8 * onp.dtype(dtype).itemsize, size)
    drawn[:6] = (least, most, 0, least + 1, most - 1, 1)[:size]
    return drawn.astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor", "maximum", "minimum"])
def test_arithmetic_of_bytes_wraps(name, dtype):
    x, y = whole(dtype), RNG.permutation(whole(dtype))
    own, wanted = getattr(np, name), getattr(onp, name)
    assert onp.array_equal(own(given(x), given(y)).asnumpy(), wanted(x, y))
    for number in (0, 1, 100, 127):
        assert onp.array_equal(own(given(x), number).asnumpy(), wanted(x, onp.array(number, dtype)))
        assert onp.array_equal(own(number, given(x)).asnumpy(), wanted(onp.array(number, dtype), x))
    z = given(x)
    own(z, given(y), out=z)
    assert onp.array_equal(z.asnumpy(), wanted(x, y))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_numbers_that_bytes_do_not_hold(dtype):
    x = whole(dtype)
    a, wide = mx.nd.array(x, dtype=dtype), x.astype("int32")
    for number in (300, -7, 1000):
        for got, wanted in ((a + number, wide + number), (a * number, wide * number), (number - a, number - wide),
                            (mx.nd.maximum(a, number), onp.maximum(wide, number)), (mx.nd.minimum(a, number), onp.minimum(wide, number))):
            assert onp.array_equal(got.asnumpy(), wanted.astype(dtype)), number


COMPARISONS = ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "int8"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name, dtype):
    if dtype.startswith("float"):
        x = RNG.integers(-3, 3, 2501).astype(dtype)
        x[::7], x[1::11], x[2::13] = onp.nan, onp.inf, -0.0
    else:
        x = whole(dtype)
    y = RNG.permutation(x)
    own, wanted = getattr(np, name), getattr(onp, name)
    numbers = (0, 1, 2.5, onp.inf, onp.nan) if dtype.startswith("float") else (0, 1, 100)
    assert onp.array_equal(own(given(x), given(y)).asnumpy(), wanted(x, y))
    for number in numbers:
        assert onp.array_equal(own(given(x), number).asnumpy(), wanted(x, number)), number
        assert onp.array_equal(own(number, given(x)).asnumpy(), wanted(number, x)), number


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
def test_kinds_of_numbers(name, dtype):
    x = onp.array([0, -0.0, 1, onp.nan, -onp.nan, onp.inf, -onp.inf, onp.finfo(dtype).max, onp.finfo(dtype).tiny] * 77, dtype)
    got = getattr(np, name)(given(x))
    assert got.dtype == onp.bool_ and onp.array_equal(got.asnumpy(), getattr(onp, name)(x))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8"])
@pytest.mark.parametrize("shape", [(5, 9001), (300, 40), (40, 31), (70001,)])
def test_reductions_of_bytes(shape, dtype):
    x = whole(dtype, int(onp.prod(shape))).reshape(shape)
    few, most = onp.zeros(shape, dtype), onp.ones(shape, dtype)
    few.flat[-3], most.flat[-2] = 1, 0
    for values in (x, few, most, onp.zeros(shape, dtype), onp.ones(shape, dtype)):
        for axis in (None, *range(len(shape))):
            for name in ("any", "all", "sum", "max", "min"):
                got = getattr(np, name)(given(values), axis=axis)
                wanted = onp.asarray(getattr(onp, name)(values, axis=axis)).astype(got.dtype)   # sums keep the dtype
                assert onp.array_equal(got.asnumpy(), wanted), (name, axis)
            count = np.count_nonzero(given(values), axis=axis)
            assert onp.array_equal(count if axis is None else count.asnumpy(), onp.count_nonzero(values, axis=axis))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8"])
def test_divisions_by_a_number(dtype):
    x = whole(dtype, 5000)
    last = min(onp.iinfo(dtype).max, 2 ** 53 - 1)   # numbers travel as doubles
    for number in (1, 2, 3, 5, 7, 10, 16, 100, last, last - 1, -1, -2, -3, -7, -100, onp.iinfo(dtype).min):
        if number < 0 and dtype == "uint8" or number == 0:
            continue
        divisor = onp.array(number, dtype)
        with onp.errstate(over="ignore"):
            assert onp.array_equal(np.floor_divide(given(x), number).asnumpy(), x // divisor), number
            assert onp.array_equal(np.mod(given(x), number).asnumpy(), x % divisor), number
            assert onp.array_equal(np.fmod(given(x), number).asnumpy(), onp.fmod(x, divisor)), number
        if number != -1:
            quotient = (mx.nd.array(x, dtype=dtype) / number).asnumpy()
            wide = x.astype(object)
            wanted = onp.array([abs(int(v)) // abs(number) * (1 if (v < 0) == (number < 0) else -1) for v in wide]).astype(dtype)
            assert onp.array_equal(quotient, wanted), number


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_sums_of_arrays(count, dtype):
    arrays = [RNG.integers(0, 30, 5001).astype(dtype) for _ in range(count)]
    total = sum(arrays[1:], arrays[0])
    assert onp.array_equal(mx.nd.add_n(*(mx.nd.array(v, dtype=dtype) for v in arrays)).asnumpy(), total)
    for place in range(count):   # into one of them
        own = [mx.nd.array(v, dtype=dtype) for v in arrays]
        mx.nd.add_n(*own, out=own[place])
        assert onp.array_equal(own[place].asnumpy(), total)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "bool"])
def test_where_with_one_number(dtype):
    for shape in ((3, 5001), (7,), (2, 1, 4)):
        x = whole(dtype if dtype == "bool" else "int8", int(onp.prod(shape))).reshape(shape).astype(dtype)
        chosen = RNG.random(shape) > 0.4
        one = onp.ones((1,) * len(shape), dtype)
        for a, b in ((x, one), (one, x), (one, onp.zeros_like(one)), (x, one[0] if len(shape) > 1 else one)):
            got = np.where(given(chosen), given(a), given(b))
            assert got.dtype == x.dtype and onp.array_equal(got.asnumpy(), onp.where(chosen, a, b))
        if dtype.startswith("float"):
            for number in (0.0, -onp.inf, 2.5):
                assert onp.array_equal(np.where(given(chosen), given(x), number).asnumpy(), onp.where(chosen, x, number).astype(dtype))
                assert onp.array_equal(np.where(given(chosen), number, given(x)).asnumpy(), onp.where(chosen, number, x).astype(dtype))
    full = whole("int8", 9000).astype("float32").reshape(3, 3000)
    full[:, ::5] = onp.nan
    full[1] = onp.nan
    with onp.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        for axis in (None, 0, 1):
            for name in ("nanmax", "nanmin", "nansum", "nanprod"):
                wanted = getattr(onp, name)(full / 64, axis=axis)
                assert onp.allclose(getattr(np, name)(given(full / 64), axis=axis).asnumpy(), wanted, rtol=1e-5, equal_nan=True), name
