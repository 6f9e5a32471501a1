"""The threads that run custom operators: what they remember, and what they let go of."""
import gc
import threading
import time
import weakref

import mxnet as mx
import numpy as np

of_thread = threading.local()
made = []


class Counting(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        of_thread.calls = getattr(of_thread, "calls", 0) + 1
        self.assign(out_data[0], req[0], in_data[0] * 0 + of_thread.calls)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 3 * out_grad[0])


@mx.operator.register("test_custom_threads")
class CountingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        op = Counting()
        made.append(weakref.ref(op))
        return op


def test_values_of_a_thread_outlive_calls():
    """Calls one after the other share few threads: what one of them has left there, others find."""
    x = mx.nd.ones(2)
    counts = [mx.nd.Custom(x, op_type="test_custom_threads").asnumpy()[0] for _ in range(300)]
    assert max(counts) > 1 and set(counts) == set(range(1, int(max(counts)) + 1))


def test_operators_end_without_further_calls():
    """What a call has made is given back soon after its last use, though nothing else wakes the
    threads that give it back."""
    made.clear()
    x = mx.nd.ones(2)
    x.attach_grad()
    for _ in range(20):
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type="test_custom_threads")
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3])
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="test_custom_threads")
    y.backward()
    y = None
    mx.nd.waitall()
    gc.collect()
    end = time.monotonic() + 60
    while any(ref() is not None for ref in made) and time.monotonic() < end:
        threading.Event().wait(0.001)
    assert len(made) == 21
    assert all(ref() is None for ref in made)


def test_operators_end_while_another_one_runs():
    """Nor does what is given back wait for a call that goes on."""
    made.clear()
    go_on, started = threading.Event(), threading.Event()

    class Waiting(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            started.set()
            go_on.wait(60)
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("test_custom_threads_waiting")
    class WaitingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Waiting()

    y = mx.nd.Custom(mx.nd.ones(2), op_type="test_custom_threads_waiting")
    assert started.wait(60)
    z = mx.nd.Custom(mx.nd.ones(2), op_type="test_custom_threads")
    z.wait_to_read()
    end = time.monotonic() + 60
    while any(ref() is not None for ref in made) and time.monotonic() < end:
        threading.Event().wait(0.001)
    assert len(made) == 1 and made[0]() is None
    assert not go_on.is_set()
    go_on.set()
    np.testing.assert_array_equal(y.asnumpy(), [1, 1])
