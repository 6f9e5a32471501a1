"""Calls of custom operators that the thread which waits for them runs itself."""
import subprocess
import sys
import threading
import time

import mxnet as mx
import numpy as np
import pytest

ran_on = []
seen = []


class Noting(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        ran_on.append(threading.get_ident())
        seen.append((mx.current_context(), mx.autograd.is_recording(), mx.util.is_np_array(), mx.util.is_np_shape(),
                     mx.attribute.current().get(None), mx.name.current().get(None, "dense")[:5]))
        self.assign(out_data[0], req[0], in_data[0] * 3)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        ran_on.append(threading.get_ident())
        self.assign(in_grad[0], req[0], out_grad[0] * 3)


@mx.operator.register("test_custom_lent")
class NotingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Noting()


def until_here(call, times=30000):
    """Calls it until a call of the operator has run on this thread."""
    ran_on.clear()
    for _ in range(times):
        call()
        if threading.get_ident() in ran_on:
            return True
    return False


def test_who_waits_runs_a_call():
    x = mx.nd.ones(3)
    assert until_here(lambda: np.testing.assert_array_equal(mx.nd.Custom(x, op_type="test_custom_lent").asnumpy(), [3, 3, 3]))


def test_who_waits_for_all_runs_a_call():
    x = mx.nd.ones(3)

    def call():
        y = mx.nd.Custom(x, op_type="test_custom_lent")
        mx.nd.waitall()
        np.testing.assert_array_equal(y.asnumpy(), [3, 3, 3])
    assert until_here(call)


def test_who_waits_for_what_comes_of_it_runs_a_call():
    x = mx.nd.ones(3)
    x.attach_grad()

    def call():
        with mx.autograd.record():
            y = mx.nd.Custom(mx.nd.Custom(x, op_type="test_custom_lent") + 1, op_type="test_custom_lent").sum()
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [9, 9, 9])
    assert until_here(call)


def test_executors():
    x, grad = mx.nd.ones(3), mx.nd.zeros(3)
    executor = mx.sym.Custom(mx.sym.var("x"), op_type="test_custom_lent").bind(mx.cpu(), {"x": x}, args_grad={"x": grad})

    def call():
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones(3))
        np.testing.assert_array_equal(grad.asnumpy(), [3, 3, 3])
    assert until_here(call)


def test_a_call_has_no_scopes_of_who_waits():
    x = mx.nd.ones(3)

    def call():
        y = mx.nd.Custom(x, op_type="test_custom_lent")
        with mx.Context("cpu", 3), mx.autograd.record(), mx.AttrScope(ctx_group="a"), mx.name.Prefix("of_the_program_"), \
                mx.util.np_shape(), mx.util.np_array():
            y.wait_to_read()
            assert mx.current_context() == mx.cpu(3) and mx.autograd.is_recording() and mx.util.is_np_array()
            assert mx.attribute.current().get(None) == {"ctx_group": "a"}
    seen.clear()
    assert until_here(call)
    assert set(map(repr, seen)) == {repr((mx.cpu(0), False, False, False, {}, "dense"))}


def test_a_long_call_is_left_to_its_thread():
    go_on = threading.Event()

    class Waiting(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            ran_on.append(threading.get_ident())
            go_on.wait(0.01)
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("test_custom_lent_long")
    class WaitingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Waiting()

    x = mx.nd.ones(3)
    assert not until_here(lambda: mx.nd.Custom(x, op_type="test_custom_lent_long").wait_to_read(), 30)
    assert len(ran_on) == 30


def test_a_call_that_is_long_for_the_other_thread_only():
    class Late(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            ran_on.append(threading.get_ident())
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.001)
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("test_custom_lent_late")
    class LateProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Late()

    x = mx.nd.ones(3)
    assert until_here(lambda: mx.nd.Custom(x, op_type="test_custom_lent_late").wait_to_read())


def test_errors_reach_who_waits():
    class Failing(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            if threading.current_thread() is threading.main_thread():
                raise RuntimeError("it failed on purpose")
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("test_custom_lent_failing")
    class FailingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Failing()

    x = mx.nd.ones(3)

    with pytest.raises(mx.base.MXNetError, match="it failed on purpose"):
        for _ in range(3000):
            mx.nd.Custom(x, op_type="test_custom_lent_failing").wait_to_read()
    np.testing.assert_array_equal(x.asnumpy(), [1, 1, 1])
    mx.nd.waitall()


def test_calls_within_calls():
    class Outer(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            ran_on.append(threading.get_ident())
            y = mx.nd.Custom(in_data[0], op_type="test_custom_lent_inner")
            with pytest.raises(mx.base.MXNetError, match="waitall was called inside a custom operator"):
                mx.nd.waitall()
            self.assign(out_data[0], req[0], mx.nd.array(y.asnumpy() + 1))

    @mx.operator.register("test_custom_lent_outer")
    class OuterProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Outer()

    class Inner(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

    @mx.operator.register("test_custom_lent_inner")
    class InnerProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Inner()

    x = mx.nd.ones(3)

    def call():
        np.testing.assert_array_equal(mx.nd.Custom(x, op_type="test_custom_lent_outer").asnumpy(), [3, 3, 3])
    assert until_here(call)


LOCKED = """
import threading
import mxnet as mx
lock = threading.Lock()
here = 0

class Locking(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        global here
        here += threading.current_thread() is threading.main_thread()
        with lock:
            self.assign(out_data[0], req[0], in_data[0] + 1)

@mx.operator.register("locking")
class Described(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Locking()

x, big = mx.nd.ones(3), mx.nd.ones((300, 300))
for _ in range(300):
    mx.nd.Custom(x, op_type="locking").wait_to_read()
assert here
for _ in range(300):
    y = mx.nd.Custom(x, op_type="locking")
    with lock:              # who waits for something else must not begin the call, which would wait for it
        z = mx.nd.dot(big, big)
        assert z[0, 0].asscalar() == 300
    assert y.asnumpy().tolist() == [2, 2, 2]
print("over")
"""


def test_locks_of_who_waits_for_something_else():
    done = subprocess.run([sys.executable, "-c", LOCKED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "over\n", done.stdout + done.stderr[-3000:]


def test_many_threads():
    x = mx.nd.ones(3)
    wrong = []

    def work(n):
        try:
            a = mx.nd.full(3, n)
            a.attach_grad()
            for _ in range(40):
                with mx.autograd.record():
                    y = mx.nd.Custom(a, op_type="test_custom_lent") + x
                y.backward()
                np.testing.assert_array_equal(y.asnumpy(), [3 * n + 1] * 3)
                np.testing.assert_array_equal(a.grad.asnumpy(), [3, 3, 3])
        except BaseException as error:      # pylint: disable=broad-except
            wrong.append(error)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
