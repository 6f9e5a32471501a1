"""Ctrl-C while the library calls back into Python: monitors of executors and custom operators. It
may arrive at the first instruction of a callback, where Python drops what a signal's handler
raises."""
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading, time
import mxnet as mx

class Copy(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0])

@mx.operator.register("copy")
class Described(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Copy()

net = mx.sym.var("x")
for i in range(100):
    net = mx.sym.exp(net * 0.1)
watched = net.simple_bind(mx.cpu(), x=(200,))
watched.set_monitor_callback(lambda name, array: None)
x = mx.nd.ones(3)
run = {"monitor": watched.forward, "custom": lambda: mx.nd.Custom(x, op_type="copy"),
       "lent": lambda: mx.nd.Custom(x, op_type="copy").wait_to_read()}[sys.argv[1]]
run()
mx.nd.waitall()
reached = 0
for turn in range(12):
    timer = threading.Timer(0.005 + 0.0007 * turn, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        end = time.time() + 2
        while time.time() < end:
            run()
    except KeyboardInterrupt:
        reached += 1
    timer.join()
mx.nd.waitall()
print(reached)
"""


@pytest.mark.parametrize("what", ["monitor", "custom", "lent"])
def test_interrupts_reach_the_program(what):
    done = subprocess.run([sys.executable, "-c", PROGRAM, what], capture_output=True, text=True, timeout=120)
    assert done.stdout == "12\n", done.stdout + done.stderr[-3000:]
