"""Gradients of programs that write into arrays while autograd records: each operator's gradient
reads the values that the operator saw. 1.9.1 refuses most of these programs."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd


def square_then_fill(x, w):
    y = w * 2
    z = y * y
    y[:] = 0
    return z


def square_then_add(x, w):
    y = w * 2
    z = y * y
    y += 1
    return z + y


def square_then_out(x, w):
    y = w * 2
    z = y * y
    nd.elemwise_add(y, y, out=y)
    return z


def write_through_a_view(x, w):
    y = w * 2
    z = y * y
    v = y.reshape((2, 1))
    v += 1
    return z


def product_with_a_counter(x, w):
    z = w * 1
    for _ in range(3):
        z = z * x
        x += 1
    return z


def one_element_of_a_factor(x, w):
    z = x * w
    x[0] = 10
    return z


def buffer_of_constants(x, w):
    buffer, total = nd.zeros(2), 0
    for i in range(3):
        buffer[:] = i + 1
        total = total + buffer * w
    return total


def products_in_place(x, w):
    s = nd.ones(2) * 2
    for _ in range(3):
        s *= w
    return s


def square_in_place(x, w):
    y = w * 2
    y *= y
    return y


def out_is_an_input(x, w):
    y = w.exp()
    nd.broadcast_mul(y, y, out=y)
    nd.log(y, out=y)
    return y


def rows_of_a_buffer(x, w):
    rows = nd.zeros((3, 2))
    for i in range(3):
        rows[i] = w * (i + 1)
    z = rows * rows
    rows[1] = 0
    return z.sum(axis=0)


def mask_that_changes(x, w):
    mask = x > 1.5
    y = w * mask
    mask[:] = 1
    return y


def indices_that_change(x, w):
    index = nd.array([0, 1, 1])
    y = w.take(index)
    index[:] = 0
    return y


WANTED = {                                      # at x = [1, 2], w = [3, 4]
    square_then_fill: [24, 32], square_then_add: [26, 34], square_then_out: [24, 32], write_through_a_view: [24, 32],
    product_with_a_counter: [6, 24], one_element_of_a_factor: [1, 2], buffer_of_constants: [6, 6],
    products_in_place: [54, 96], square_in_place: [24, 32], out_is_an_input: [2, 2], rows_of_a_buffer: [84, 112],
    mask_that_changes: [0, 1], indices_that_change: [1, 2],
}


@pytest.mark.parametrize('program', WANTED, ids=lambda program: program.__name__)
def test_gradients_read_what_was_there(program):
    x, w = nd.array([1, 2]), nd.array([3, 4])
    w.attach_grad()
    with autograd.record():
        z = program(x, w)
    z.backward()
    np.testing.assert_allclose(w.grad.asnumpy(), WANTED[program], rtol=1e-5)


def test_arrays_of_mx_np():
    with mx.util.np_shape(True), mx.util.np_array(True):
        x, w = mx.np.array([1.0, 2.0]), mx.np.array([3.0, 4.0])
        w.attach_grad()
        with autograd.record():
            y = w * x
            z = y ** 2
            y[0] = 7
            x *= 5
            z = z * x
        z.backward()
        np.testing.assert_allclose(w.grad.asnumpy(), [2 * 3 * 5, 2 * 8 * 2 * 10], rtol=1e-5)


def test_constants_are_forgotten_with_their_graphs():
    w = nd.ones(2)
    w.attach_grad()
    for step in range(3000):
        with autograd.record():
            factor = nd.ones(2) * step
            z = w * factor
            factor += 1
        z.backward()
        if step % 1000 == 999:
            assert w.grad.asnumpy().tolist() == [step, step]


def fill_rows(b):
    b[0][1] = 4
    row = b[1]
    row[:] = 5
    for line in b[2:4]:
        line += 1


@pytest.mark.parametrize('numpy', [False, True])
def test_parts_of_arrays_without_gradients_are_views_while_autograd_records(numpy):
    with mx.util.np_shape(numpy), mx.util.np_array(numpy):
        m = mx.np if numpy else nd
        b, w = m.zeros((4, 2)), m.ones(2)
        w.attach_grad()
        with autograd.record():
            fill_rows(b)
            if not numpy:
                b.reshape((8,))[0] = 3
            z = (b * w).sum()
        z.backward()
        first = 0 if numpy else 3
        assert b.asnumpy().tolist() == [[first, 4], [5, 5], [1, 1], [1, 1]]
        assert w.grad.asnumpy().tolist() == [first + 7, 11]


def test_recorded_results_in_parts_of_other_arrays():
    b, w = nd.zeros((3, 2)), nd.ones(2)
    w.attach_grad()
    with autograd.record():
        b[0] += w * 2                           # assigned to the array itself
        b[1] = w * 3
        with pytest.raises(ValueError, match='part of another array'):
            nd.zeros((3, 2))[1:2][:] = w.reshape((1, 2))
        z = (b * b).sum()
    z.backward()
    assert b.asnumpy().tolist() == [[2, 2], [3, 3], [0, 0]]
    assert w.grad.asnumpy().tolist() == [2 * 2 * 2 + 2 * 3 * 3] * 2
