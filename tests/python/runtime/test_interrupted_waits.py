"""Ctrl-C, alarms and the end of the program while operations are pending."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet import _binding

compiled = pytest.mark.skipif('_cy3' not in _binding.NDArrayBase.__module__, reason='ctypes waits for the library to return')


class Alarm(Exception):
    pass


class Slow(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        time.sleep(1.5)
        self.assign(out_data[0], req[0], in_data[0] * 2)


@mx.operator.register('interrupted_waits_slow')
class SlowProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Slow()


def ring(*_):
    raise Alarm


WAITS = {
    'asnumpy': lambda x: x.asnumpy(),
    'asscalar': lambda x: x.asscalar(),
    'wait_to_read': lambda x: x.wait_to_read(),
    'wait_to_write': lambda x: x.wait_to_write(),
    'waitall': lambda x: mx.nd.waitall(),
    'float': float,
    'item': lambda x: x.as_np_ndarray().item(),
}


@compiled
@pytest.mark.parametrize('name', WAITS)
def test_a_handler_that_raises_ends_the_wait(name):
    slow = mx.nd.Custom(mx.nd.array([21.0]), op_type='interrupted_waits_slow')
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begin = time.monotonic()
    try:
        with pytest.raises(Alarm):
            WAITS[name](slow)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begin < 1.2
    np.testing.assert_array_equal(slow.asnumpy(), [42])   # what was waited for went on
    mx.nd.waitall()


@compiled
def test_a_handler_that_returns_lets_the_wait_go_on():
    rung = []
    slow = mx.nd.Custom(mx.nd.array([21.0]), op_type='interrupted_waits_slow')
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        np.testing.assert_array_equal(slow.asnumpy(), [42])
        end = time.monotonic()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(rung) > 3 and rung[0] < end - 0.5   # while it waited, not behind it


@compiled
def test_failures_are_raised_after_interrupted_waits():
    slow = mx.nd.Custom(mx.nd.array([0.0]), op_type='interrupted_waits_slow')
    wrong = mx.nd.linalg.potrf(slow.reshape((1, 1)) - 1)
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(mx.base.MXNetError):
            wrong.asnumpy()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_thread_waits_as_before():
    slow = mx.nd.Custom(mx.nd.array([21.0]), op_type='interrupted_waits_slow')
    values = []
    thread = threading.Thread(target=lambda: values.append(slow.asnumpy()))
    thread.start()
    thread.join(20)
    np.testing.assert_array_equal(values[0], [42])


ENDLESS = '''
import threading, time
import mxnet as mx
started = threading.Event()
def spin():
    while True:
        y = mx.nd.dot(mx.nd.ones((200, 200)), mx.nd.ones((200, 200)))
        started.set()
threading.Thread(target=spin, daemon=True).start()
started.wait()
x = mx.nd.ones((300, 300))
for _ in range(50):
    x = mx.nd.dot(x, x) / 300
print('end')
'''


@pytest.mark.parametrize('engine', ['ThreadedEnginePerDevice', 'ThreadedEngine', 'NaiveEngine'])
def test_a_daemon_that_goes_on_does_not_keep_the_program(engine):
    done = subprocess.run([sys.executable, '-c', ENDLESS], env={**os.environ, 'MXNET_ENGINE_TYPE': engine},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == 'end\n', (done.returncode, done.stdout, done.stderr[-2000:])
