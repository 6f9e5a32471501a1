"""Writes into a part of an array while autograd records (``row = x[i]; row += y``): the whole array
has what was written, and its gradient, as it has where nothing is recorded. 1.9.1 and 2.0 refuse
these programs."""
import gc

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon


def row_in_place(lib, x, y):
    z = x + 0
    row = z[1]
    row *= y
    return z


def row_assigned(lib, x, y):
    z = x + 0
    row = z[1]
    row[:] = y
    return z


def rows_in_place(lib, x, y):
    z = x + 0
    rows = z[1:]
    rows += y
    return z + rows.sum()


def element_of_a_row(lib, x, y):
    z = x + 0
    z[1][0] = 7
    return z * z


def row_of_rows(lib, x, y):
    z = x + 0
    rows = z[1:]
    row = rows[1]
    row -= y
    return z * 2 + rows.sum()


def row_of_rows_that_are_gone(lib, x, y):
    z = x + 0
    row = z[1:][1]
    gc.collect()
    row *= y
    return z


def rows_of_zeros(lib, x, y):
    z = lib.zeros((3, 2))
    for row in z:
        row += y
    return z


def row_twice(lib, x, y):
    z = x + 0
    row = z[0]
    row *= y
    row *= y
    return z


def augmented(lib, x, y):
    z = x + 0
    z[1] += y
    z[2] *= y
    return z


def other_row_assigned(lib, x, y):
    z = x + 0
    row = z[0]
    row += y
    z[1] = row
    return z


def part_in_columns_is_a_copy(lib, x, y):
    z = x + 0
    column = z[:, 1]
    column += 1
    return z


PROGRAMS = [row_in_place, row_assigned, rows_in_place, element_of_a_row, row_of_rows, row_of_rows_that_are_gone, rows_of_zeros, row_twice,
            augmented, other_row_assigned]
X, Y = np.arange(1, 7, dtype="float32").reshape(3, 2), np.array([2, 3], "float32")
EPS = 1 / 64    # every number here is exact in float64


def gradient(program, of_x):
    values = [X.astype("float64"), Y.astype("float64")]
    at, out = values[0 if of_x else 1], []
    for i in range(at.size):
        ends = []
        for step in (EPS, -EPS):
            at.flat[i] += step
            ends.append(float((program(np, *values) * np.arange(1, 7).reshape(3, 2)).sum()))
            at.flat[i] -= step
        out.append((ends[0] - ends[1]) / (2 * EPS))
    return np.reshape(out, at.shape)


def recorded(program, lib):
    x, y = lib.array(X, dtype="float32"), lib.array(Y, dtype="float32")
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        result = program(lib, x, y)
        loss = (result * lib.array(np.arange(1, 7).reshape(3, 2), dtype="float32")).sum()
    loss.backward()
    return result.asnumpy(), x.grad.asnumpy(), y.grad.asnumpy()


@pytest.mark.parametrize("namespace", ["np", "nd"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_write_into_a_part_reaches_the_whole(program, namespace):
    if namespace == "nd" and program is row_assigned:
        pytest.skip("1.x: x[:] = y of a whole array takes no part in the array that it came from")
    got = recorded(program, getattr(mx, namespace))
    for value, wanted in zip(got, (program(np, X, Y), gradient(program, True), gradient(program, False))):
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("namespace", ["np", "nd"])
def test_elements_that_do_not_lie_side_by_side_are_copied(namespace):
    result, x_grad, _ = recorded(part_in_columns_is_a_copy, getattr(mx, namespace))
    np.testing.assert_array_equal(result, X)
    np.testing.assert_array_equal(x_grad, np.arange(1, 7).reshape(3, 2))


def test_a_part_of_an_array_with_a_gradient_is_not_written():
    x = mx.np.ones((3, 2))
    x.attach_grad()
    with autograd.record(), pytest.raises(ValueError, match="with a gradient"):
        row = x[0]
        row += 1


def test_parts_of_parts_need_no_stack():
    x = mx.np.ones(3000)
    x.attach_grad()
    with autograd.record():
        y = x * 1
        while y.size > 1:
            y = y[1:]
        y *= 2
    assert float(y) == 2
    del y


@pytest.mark.usefixtures("numpy_semantics")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.filterwarnings("ignore:.*runs operator by operator")
@pytest.mark.filterwarnings("ignore:.*is not used by any computation")
def test_hybridized_blocks_do_the_same(program):
    class Block(gluon.HybridBlock):
        def forward(self, x, y):
            return program(mx.np, x, y)

    block = Block()
    block.hybridize()
    wanted = recorded(program, mx.np)
    for _ in range(2):
        for value, expected in zip(recorded(lambda lib, x, y: block(x, y), mx.np), wanted):
            np.testing.assert_allclose(value, expected, rtol=1e-5)
