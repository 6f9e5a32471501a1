"""Arithmetic of float16 and bfloat16: computed in float32 and rounded once, whatever the operands
and however many they are."""
import numpy as np
import pytest

import mxnet as mx

FUNCTIONS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
OPERATORS = {"add": "elemwise_add", "subtract": "elemwise_sub", "multiply": "elemwise_mul", "divide": "elemwise_div"}


def all_numbers(dtype):
    """Every number of the dtype, and the same as float32."""
    bits = np.arange(65536, dtype="uint16")
    if dtype == "float16":
        values = bits.view("float16").astype("float32")
    else:
        values = (bits.astype("uint32") << 16).view("float32")
    return mx.nd.array(values).astype(dtype), values


def rounded(values, dtype):
    """What float32 numbers become, as float32."""
    if dtype == "float16":
        return values.astype("float16").astype("float32")
    bits = values.view("uint32").astype("uint64")
    near = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype("uint32").view("float32")
    return np.where(np.isnan(values), values, near)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_number_with_others(dtype, name):
    x, values = all_numbers(dtype)
    with np.errstate(all="ignore"):
        for shift in (1, 7, 4099, 32768, 40001):
            other = np.roll(values, shift)
            want = rounded(FUNCTIONS[name](values, other), dtype)
            got = getattr(mx.nd, OPERATORS[name])(x, mx.nd.array(other).astype(dtype))
            assert got.dtype == x.dtype
            np.testing.assert_array_equal(got.astype("float32").asnumpy(), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_number_is_not_rounded_first(dtype):
    x, values = all_numbers(dtype)
    number = float(np.float32(1.0004 / 3))
    with np.errstate(all="ignore"):
        for got, want in ((x + number, values + number), (x - number, values - number), (number - x, number - values),
                          (x * number, values * number), (x / number, values / number), (number / x, number / values)):
            np.testing.assert_array_equal(got.astype("float32").asnumpy(), rounded(want, dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 31, 33, 1000])
def test_any_size_in_place_and_parts(dtype, size):
    values = np.random.default_rng(size).uniform(-4, 4, size + 3).astype("float32")
    values = rounded(values, dtype)
    x = mx.nd.array(values).astype(dtype)
    a, b = x[3:], x[:size]
    np.testing.assert_array_equal((a * b).astype("float32").asnumpy(), rounded(values[3:] * values[:size], dtype))
    a = a.copy()
    a += b
    np.testing.assert_array_equal(a.astype("float32").asnumpy(), rounded(values[3:] + values[:size], dtype))
    a.attach_grad(grad_req="add")
    for _ in range(2):
        with mx.autograd.record():
            y = a * 0.5
        y.backward()
    np.testing.assert_array_equal(a.grad.astype("float32").asnumpy(), np.ones(size, "float32"))
