"""The products of attention on interleaved projections in half types: which kernel runs depends on
the processor and the size, the result does not."""
import numpy as np
import pytest

from mxnet import autograd, nd

from half_numbers import HALVES, close, drawn


def run(operator, inputs, head, heads, dtype):
    arrays = [x.astype(dtype) for x in inputs]
    for x in arrays:
        x.attach_grad()
        x.grad[:] = 7
    with autograd.record():
        y = operator(*arrays, heads=heads)
    y.backward(head.astype(dtype))
    return [y] + [x.grad for x in arrays]


# odd numbers of steps and of features of a head, one head, rows of more than one block
SIZES = [(8, 8, 2, 3, 16), (7, 5, 1, 2, 12), (230, 34, 1, 2, 8), (9, 250, 2, 1, 33), (1, 1, 1, 1, 1), (33, 64, 3, 4, 64)]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("queries,keys,batch,heads,size", SIZES)
def test_between_two_sequences(dtype, queries, keys, batch, heads, size):
    rng = np.random.default_rng(queries)
    q, kv = drawn((queries, batch, heads * size), rng), drawn((keys, batch, 2 * heads * size), rng)
    weights, up = drawn((batch * heads, queries, keys), rng), drawn((queries, batch, heads * size), rng)
    for operator, inputs, head in ((nd.contrib.interleaved_matmul_encdec_qk, (q, kv), weights),
                                   (nd.contrib.interleaved_matmul_encdec_valatt, (kv, weights), up)):
        for half, full in zip(run(operator, inputs, head, heads, dtype), run(operator, inputs, head, heads, "float64")):
            close(half, full, dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("steps,batch,heads,size", [(8, 2, 3, 16), (7, 1, 2, 12), (226, 1, 2, 8), (1, 1, 1, 1), (40, 2, 2, 33)])
def test_within_a_sequence(dtype, steps, batch, heads, size):
    rng = np.random.default_rng(steps)
    qkv = drawn((steps, batch, 3 * heads * size), rng)
    weights, up = drawn((batch * heads, steps, steps), rng), drawn((steps, batch, heads * size), rng)
    for operator, inputs, head in ((nd.contrib.interleaved_matmul_selfatt_qk, (qkv,), weights),
                                   (nd.contrib.interleaved_matmul_selfatt_valatt, (qkv, weights), up)):
        for half, full in zip(run(operator, inputs, head, heads, dtype), run(operator, inputs, head, heads, "float64")):
            close(half, full, dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_no_batch(dtype):
    y = nd.contrib.interleaved_matmul_selfatt_qk(nd.zeros((5, 0, 24), dtype=dtype), heads=2)
    assert y.shape == (0, 5, 5) and y.astype("float32").asnumpy().size == 0
