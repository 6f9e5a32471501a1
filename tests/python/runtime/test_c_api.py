"""Functions of the C interface that the package itself does not call."""
import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.base import _LIB, check_call


def symbol_of(function, *arguments):
    out = ctypes.c_void_p()
    check_call(function(*arguments, ctypes.byref(out)))
    return mx.sym.Symbol(out)


def text_of(function):
    out = ctypes.c_char_p()
    check_call(function(ctypes.byref(out)))
    return out.value.decode()


# ---- denormal numbers ----

@pytest.fixture
def flushed():
    assert mx.util.set_flush_denorms(True) is False
    yield
    assert mx.util.set_flush_denorms(False) is True


TINY = 1e-40   # denormal in float32


def products(n):
    """TINY * 0.5 at both ends of n elements: by an eager operator, in a bulk and in a plan."""
    a = nd.array(np.full(n, TINY, "float32"))
    with mx.engine.bulk(4):
        bulked = (a * 0.5) * 0.5
        bulked.wait_to_read()
    x = mx.sym.var("x")
    plan = (mx.sym.sin(x * 0.5) * 0.5).bind(mx.cpu(), {"x": a})
    return [r[i].asnumpy()[0] for r in (a * 0.5, bulked, plan.forward()[0]) for i in (slice(0, 1), slice(n - 1, n))]


@pytest.mark.parametrize("n", [8, 3000000], ids=["on the calling thread", "on several threads"])
def test_denormal_numbers_are_flushed(flushed, n):
    assert products(n) == [0] * 6
    assert (np.float32(TINY) * np.float32(0.5) > 0) and 5e-324 * 1.0 > 0   # others compute as before


@pytest.mark.parametrize("n", [8, 3000000])
def test_denormal_numbers_are_kept_by_default_and_again(n):
    assert all(p > 0 for p in products(n))
    mx.util.set_flush_denorms(True)
    nd.array(np.full(n, TINY, "float32")).sum().asscalar()
    assert mx.util.set_flush_denorms(False) is True
    assert all(p > 0 for p in products(n))


def test_every_element_is_flushed_whichever_thread_computes_it(flushed):
    a = nd.array(np.full(3000000, TINY, "float32"))
    for _ in range(5):
        assert not (a * 0.5).asnumpy().any()


# ---- the build ----

def test_branch_and_commit_are_those_of_a_checkout():
    commit, branch = text_of(_LIB.MXGetCommitHash), text_of(_LIB.MXGetBranch)
    root = os.path.join(os.path.dirname(os.path.dirname(__file__)), "..", "..")
    if not shutil.which("git") or subprocess.run(["git", "-C", root, "rev-parse"], capture_output=True).returncode:
        pytest.skip("not a checkout")
    assert len(commit) == 40 and branch
    assert subprocess.run(["git", "-C", root, "cat-file", "-t", commit], capture_output=True, text=True).stdout.strip() == "commit"


def test_abi_of_the_standard_library():
    out = ctypes.c_int(-1)
    check_call(_LIB.MXLibInfoCompiledWithCXX11ABI(ctypes.byref(out)))
    names = subprocess.run(["nm", "-DC", _LIB._name], capture_output=True, text=True).stdout if shutil.which("nm") else ""
    if not names:
        pytest.skip("no nm")
    assert out.value == int("std::__cxx11::basic_string" in names)


# ---- symbols ----

def test_atomic_symbol_keeps_the_parameters_alone():
    x = mx.sym.var("x")
    conv = mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, name="first")
    bare = symbol_of(_LIB.MXGenAtomicSymbolFromSymbol, conv.handle)
    assert {k: bare.list_attr()[k] for k in ("kernel", "num_filter")} == {"kernel": "(3, 3)", "num_filter": "4"}
    y = mx.sym.var("y")
    check_call(_LIB.MXSymbolCompose(bare.handle, b"second", 1, (ctypes.c_char_p * 1)(b"data"), (ctypes.c_void_p * 1)(y.handle)))
    assert bare.list_arguments() == ["y", "second_weight", "second_bias"] and bare.list_outputs() == ["second_output"]
    assert conv.list_arguments() == ["x", "first_weight", "first_bias"]
    with pytest.raises(ValueError, match="variable 'x'"):
        symbol_of(_LIB.MXGenAtomicSymbolFromSymbol, x.handle)


def test_gradient_symbol():
    x, w, unused = mx.sym.var("x"), mx.sym.var("w"), mx.sym.var("b")
    y = mx.sym.Group([x * x * w, mx.sym.BlockGrad(unused) + x])
    grad = symbol_of(_LIB.MXSymbolGrad, y.handle, 3, (ctypes.c_char_p * 3)(b"w", b"x", b"b"))
    values = {"x": nd.array([2, 3]), "w": nd.array([5, 7]), "b": nd.array([1, 1])}
    dw, dx, db = grad.eval(ctx=mx.cpu(), **{k: values[k] for k in grad.list_arguments()})
    np.testing.assert_allclose(dw.asnumpy(), [4, 9])
    np.testing.assert_allclose(dx.asnumpy(), [21, 43])
    np.testing.assert_allclose(db.asnumpy(), [0, 0])
    with pytest.raises(ValueError, match="accepted: the arguments x, w, b"):
        symbol_of(_LIB.MXSymbolGrad, y.handle, 1, (ctypes.c_char_p * 1)(b"z"))


def cut(symbol):
    handles, n = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_int()
    check_call(_LIB.MXSymbolCutSubgraph(symbol.handle, ctypes.byref(handles), ctypes.byref(n)))
    return [mx.sym.Symbol(ctypes.c_void_p(handles[i])) for i in range(n.value)]


def test_cut_subgraph():
    x = mx.sym.var("x")
    y = x * x
    with mx.AttrScope(__subgraph_name__="body"):
        d = mx.sym.var("d")
        z = mx.sym.exp(y * 2) + mx.sym.sin(x) + d + mx.sym.cos(y)
    whole = z.bind(mx.cpu(), {"x": nd.array([0.5]), "d": nd.array([3])}).forward()[0].asscalar()
    outside = cut(z)
    name = y.list_outputs()[0]
    assert [s.list_outputs()[0] for s in outside] == [name, "x", name]   # as 1.9.1: one per use
    assert z.list_arguments() == [name, "x", "d"]
    values = {name: outside[0].eval(ctx=mx.cpu(), x=nd.array([0.5]))[0], "x": nd.array([0.5]), "d": nd.array([3])}
    assert z.eval(ctx=mx.cpu(), **values)[0].asscalar() == pytest.approx(whole)
    assert cut(y) == [] and y.list_arguments() == ["x"]
