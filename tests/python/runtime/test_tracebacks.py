"""What a program prints when an error ends it: the user's lines, the whole message, and its causes.
What is caught is as it was raised."""
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import mxnet as mx
from mxnet._startup import tracebacks as _tracebacks

PACKAGE = Path(mx.__file__).resolve().parent
BLOCK = """
class Net(mx.gluon.nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.a, self.b = mx.gluon.nn.Dense(3), mx.gluon.nn.Dense(4)
    def hybrid_forward(self, F, x):
        return F.dot(self.a(x), self.b(x))
net = Net()
net.initialize()
net.hybridize()
net(mx.nd.ones((2, 5)))     # here
"""
WORKER = """
class Data(mx.gluon.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))      # there
for batch in mx.gluon.data.DataLoader(Data(), 2, num_workers=1):    # here
    pass
"""
CUSTOM = """
class Op(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        mx.nd.dot(in_data[0], in_data[0])       # there
@mx.operator.register("bad")
class Prop(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Op()
mx.nd.Custom(mx.nd.ones((2, 3)), op_type="bad").asnumpy()       # here
"""
DEFERRED = """
y = mx.nd.linalg.potrf(mx.nd.array([[-1.0]]))
(y + 1).asnumpy()       # here
"""
PROGRAMS = {
    "argument": ("mx.nd.ones((2, 3)).softmax(axis=7)     # here", "MXNetError: [softmax] axis 7"),
    "operator": ("mx.nd.reshape(mx.nd.ones((2, 3)), shape=(5, 5))     # here", "MXNetError: [reshape]"),
    "builtin class": ("mx.sym.var('x', colour='red')     # here", "ValueError: ["),
    "block": (BLOCK, "MXNetError: [dot]"),
    "worker": (WORKER, "MXNetError: [dot]"),
    "custom operator": (CUSTOM, "MXNetError: [Custom] forward of operator bad failed"),
    "deferred": (DEFERRED, "MXNetError: [_linalg_potrf]"),
}


def printed(program, folder, **variables):
    (folder / "program.py").write_text("import mxnet as mx\n" + program)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), **variables}
    return subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment, capture_output=True, text=True).stderr


@pytest.mark.cpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_traceback_ends_at_the_users_line(name, tmp_path):
    program, message = PROGRAMS[name]
    out = printed(program, tmp_path)
    assert message in out
    assert str(PACKAGE) not in out, out
    assert "<operator" not in out
    for mark in ("# here", "# there"):
        assert (mark in program) == (mark in out), out


@pytest.mark.cpu
def test_causes_and_notes_stay(tmp_path):
    out = printed(BLOCK, tmp_path)
    assert out.index("MXNetError: [dot]") < out.index("direct cause") < out.index("ValueError: [gluon.HybridBlock]")
    assert "in block net0, a Net, called with an array (2, 5)\n(left out: " in out


@pytest.mark.cpu
def test_variable_shows_every_frame(tmp_path):
    out = printed(PROGRAMS["operator"][0], tmp_path, DMLC_LOG_STACK_TRACE_DEPTH="1")
    assert "<operator reshape>" in out and "left out" not in out


@pytest.mark.cpu
def test_errors_that_may_be_ours_are_whole(tmp_path):
    """An error of Python's without our form of message may be a fault of the package."""
    out = printed("mx.sym.var('x', 3)", tmp_path)
    assert str(PACKAGE) in out and "left out" not in out


@pytest.mark.cpu
def test_users_hook_is_called_and_frames_come_back(tmp_path):
    out = printed("""
import sys, traceback
ours = sys.excepthook
def hook(kind, error, trace):
    before = len(traceback.extract_tb(error.__traceback__))
    ours(kind, error, trace)
    print("whole", before == len(traceback.extract_tb(error.__traceback__)) > 1,
          getattr(error, "__notes__", []), file=sys.stderr)
sys.excepthook = hook
mx.nd.reshape(mx.nd.ones((2, 3)), shape=(5, 5))
""", tmp_path)
    assert "whole True []" in out


def test_caught_errors_have_every_frame():
    with pytest.raises(mx.MXNetError) as caught:
        mx.nd.reshape(mx.nd.ones((2, 3)), shape=(5, 5))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == "<operator reshape>"


class Shell:
    """What IPython's shell does with the error of a cell."""

    def run(self, function):
        try:
            function()
        except Exception:
            self.showtraceback(running_compiled_code=True)

    def showtraceback(self, exc_tuple=None, running_compiled_code=False):
        traceback.print_exception(*(exc_tuple or sys.exc_info()))


def test_cells_of_notebooks(capsys):
    """The user's lines alone, and a line that says so. Other errors are printed as before."""
    shell = Shell()
    shell.run(lambda: mx.nd.ones((2, 3)).softmax(axis=7))
    assert "<operator softmax>" in capsys.readouterr().err
    _tracebacks._in_cells(shell)
    shell.run(lambda: mx.nd.ones((2, 3)).softmax(axis=7))
    out = capsys.readouterr().err
    assert "test_tracebacks.py" in out and "MXNetError: [softmax] axis 7" in out and "frames of mxnet" in out
    assert "<operator" not in out and str(PACKAGE) not in out
    shell.run(lambda: 1 / 0)
    shell.showtraceback((None, None, None))
    out = capsys.readouterr().err
    assert "ZeroDivisionError" in out and "frames of mxnet" not in out


def test_cells_name_the_nearest_attribute(capsys):
    """IPython prints no "Did you mean"."""
    shell = Shell()
    _tracebacks._in_cells(shell)
    shell.run(lambda: mx.nd.ones(2).sofmax())
    assert "(the nearest name is 'softmax')" in capsys.readouterr().err
    shell.run(lambda: mx.gluon.nn.Dense(2).initialise())
    assert "(the nearest name is 'initialize')" in capsys.readouterr().err
    for function in (lambda: "".jion, lambda: mx.nd.ones(2).qqqqq):
        shell.run(function)
        assert "the nearest" not in capsys.readouterr().err


IN_IPYTHON = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("import mxnet as mx")
shell.run_cell("mx.nd.reshape(mx.nd.ones((2, 3)), shape=(5, 5))")
"""


def test_ipython(tmp_path):
    pytest.importorskip("IPython")
    (tmp_path / "cells.py").write_text(IN_IPYTHON)
    done = subprocess.run([sys.executable, "cells.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
                          capture_output=True, text=True)
    assert "[reshape]" in done.stdout and "<operator" not in done.stdout, done.stdout + done.stderr
