"""Elements put side by side from 2 to 4 arrays, and every second to fourth element taken."""
import numpy as np
import pytest

import mxnet as mx

LENGTHS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129, 257, 300, 4097, 70001]
DTYPES = ["uint8", "float16", "float32", "float64"]


def numbers(dtype, *shape):
    return (np.arange(np.prod(shape)).reshape(shape) * 7 % 251).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_stack_and_split_of_single_elements(count, dtype):
    for n in LENGTHS:
        x = numbers(dtype, count, n + 1)
        whole = mx.np.array(x, dtype=dtype)
        parts = [whole[i, 1:] for i in range(count)]     # of which not all begin at a whole vector
        y = mx.np.stack(parts, axis=-1)
        np.testing.assert_array_equal(y.asnumpy(), x[:, 1:].T, err_msg=str(n))
        for i, part in enumerate(mx.np.split(y, count, axis=1)):
            np.testing.assert_array_equal(part.asnumpy()[:, 0], x[i, 1:], err_msg=str(n))


@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs_and_uneven_parts(dtype):
    x = numbers(dtype, 3, 1001, 2)
    a, b, c = (mx.np.array(part, dtype=dtype) for part in x)
    for parts, whole in (((a, b), x[:2]), ((a, b, c), x), ((a[:, :1], b), (x[0, :, :1], x[1])), ((a[1:], c[1:]), (x[0, 1:], x[2, 1:]))):
        np.testing.assert_array_equal(mx.np.concatenate(parts, axis=1).asnumpy(), np.concatenate(list(whole), axis=1))
    for part, expected in zip(mx.np.split(mx.np.concatenate((a, b, c), axis=1), 3, axis=1), x):
        np.testing.assert_array_equal(part.asnumpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [2, 3, 4, 5, -2])
def test_slices_with_a_step(step, dtype):
    for n in LENGTHS:
        x = numbers(dtype, 3, n)
        a = mx.np.array(x, dtype=dtype)
        for begin in range(min(n, 5)):
            np.testing.assert_array_equal(a[:, begin::step].asnumpy(), x[:, begin::step], err_msg=f"{n} from {begin}")
    x = numbers(dtype, 400, 60 * abs(step))     # rows that become one run
    np.testing.assert_array_equal(mx.np.array(x, dtype=dtype)[:, ::step].asnumpy(), x[:, ::step])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("planes", [2, 3, 4, 5])
def test_planes_to_neighbours_and_back(planes, dtype):
    for n in (64, 65, 127, 1000, 9001):
        x = numbers(dtype, 2, planes, n)
        y = mx.np.transpose(mx.np.array(x, dtype=dtype), (0, 2, 1))
        np.testing.assert_array_equal(y.asnumpy(), x.transpose(0, 2, 1))
        np.testing.assert_array_equal(mx.np.transpose(y, (0, 2, 1)).asnumpy(), x)
