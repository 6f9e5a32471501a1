"""An error of an operator that ran in the background names the line of the program that started
it."""
import os
import subprocess
import sys

import pytest

PROGRAM = """import mxnet as mx
from mxnet import nd

def line(f):
    try:
        f()
    except IndexError as e:
        print(str(e).splitlines()[-1])

class Pick(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x, i):
        return F.take(x, i, mode='raise') * 2

x = nd.arange(4)
x.attach_grad()
bad = nd.array([7])
line(nd.take(x, bad, mode='raise').asnumpy)  # eager
line(x.take(bad, mode='raise').wait_to_read)  # method
block = Pick()
block.hybridize(static_alloc=True)
line(block(x, bad).asnumpy)  # hybrid
executor = mx.sym.take(mx.sym.var('x'), mx.sym.var('i'), mode='raise').bind(mx.cpu(), {'x': x, 'i': bad})
line(executor.forward()[0].asnumpy)  # executor
with mx.autograd.record():
    y = nd.gather_nd(x, nd.array([[9]]))
y.backward()  # backward
line(x.grad.asnumpy)
try:
    y.asnumpy()   # unread, it would be told at exit
except IndexError:
    pass
"""


@pytest.mark.parametrize("engine", ["ThreadedEnginePerDevice", "NaiveEngine"])
@pytest.mark.parametrize("compiled", ["1", "0"])
def test_line_of_the_program(tmp_path, compiled, engine):
    folder = tmp_path / "mxnet"   # a user's folder of that name is not the package
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(PROGRAM)
    lines = PROGRAM.splitlines()
    env = dict(os.environ, MXNET_ENABLE_CYTHON=compiled, MXNET_ENGINE_TYPE=engine)
    out = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True, check=True).stdout.splitlines()
    for what, message in zip(("eager", "method", "hybrid", "executor", "backward"), out, strict=True):
        number = 1 + next(i for i, text in enumerate(lines) if text.endswith("# " + what))
        assert message.endswith(f"called at {program}:{number}"), (what, message)
        assert "[take]" in message or "gather_nd]" in message
