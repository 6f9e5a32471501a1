"""Weights that somebody writes without the library: plans must not go by what they packed then."""
import ctypes
import gc
import multiprocessing

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call

pytestmark = pytest.mark.sanitized
WIDTH = 64


def dlpack_view(weight):
    return np.from_dlpack(weight)


def array_of_a_capsule(weight):
    return mx.nd.from_dlpack(weight.to_dlpack_for_write())


def address(weight):
    data = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(weight.handle, ctypes.byref(data)))
    return np.frombuffer((ctypes.c_float * weight.size).from_address(data.value), "float32").reshape(weight.shape)


def graph(weights):
    """x W0' W1' with parameters of a compiled graph, as many as there are weights."""
    out = mx.sym.var("x")
    for i in range(len(weights)):
        out = mx.sym.FullyConnected(out, mx.sym.var(f"w{i}"), num_hidden=WIDTH, no_bias=True)
    flags = [("static_alloc", "1"), ("static_shape", "1"), ("data_indices", "[0]"),
             ("param_indices", str(list(range(1, len(weights) + 1))))]
    op = mx.nd.CachedOp(out, flags)
    return lambda x: op(x, *weights).asnumpy()


def want(x, weights):
    out = x.asnumpy()
    for weight in weights:
        out = out @ weight.asnumpy().T
    return out


def given(rows):
    rng = np.random.RandomState(rows)
    return mx.nd.array(rng.randn(rows, WIDTH)), [mx.nd.array(rng.randn(WIDTH, WIDTH) / 8) for _ in range(2)]


def check(run, x, weights):
    np.testing.assert_allclose(run(x), want(x, weights), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 5, 40])
@pytest.mark.parametrize("lend", [dlpack_view, array_of_a_capsule, address], ids=lambda lend: lend.__name__)
def test_what_was_lent(lend, rows):
    x, weights = given(rows)
    run = graph(weights)
    for _ in range(2):
        check(run, x, weights)
    view = lend(weights[0])
    for value in range(3):
        view[:] = value + np.arange(WIDTH) / WIDTH if lend is not array_of_a_capsule else value
        mx.nd.waitall()
        for _ in range(2):
            check(run, x, weights)
    view[1] = 5       # between the last call and the end of the loan
    mx.nd.waitall()
    del view
    gc.collect()
    for _ in range(2):
        check(run, x, weights)
    weights[0][:] = 0.25
    check(run, x, weights)


@pytest.mark.parametrize("rows", [1, 40])
def test_memory_of_others(rows):
    x, weights = given(rows)
    own = np.random.RandomState(0).randn(WIDTH, WIDTH).astype("float32")
    weights[1] = mx.nd.from_dlpack(own)
    run = graph(weights)
    for value in [None, 1, 2]:
        if value:
            own[:] = own * 0.5 + value
        for _ in range(2):
            check(run, x, weights)


def test_two_loans_of_one_array():
    x, weights = given(3)
    run = graph(weights)
    check(run, x, weights)
    first, second = np.from_dlpack(weights[0]), np.from_dlpack(weights[0])
    del first
    gc.collect()
    second[:] = 1
    check(run, x, weights)
    second[:] = 2
    check(run, x, weights)


def write_shared(weight):
    weight[:] = 3
    weight.wait_to_read()


def test_memory_that_processes_share():
    x, weights = given(3)
    weights[0] = weights[0].as_in_context(mx.Context("cpu_shared", 0))
    run = graph(weights)
    for _ in range(2):
        check(run, x, weights)
    process = multiprocessing.get_context("fork").Process(target=write_shared, args=(weights[0],))
    process.start()
    process.join()
    assert process.exitcode == 0 and (weights[0].asnumpy() == 3).all()
    for _ in range(2):
        check(run, x, weights)
