"""Every public function of mx.np and mx.npx has a docstring with an example, and the examples of
all of them, and of the array class's methods, give what stands there."""

import doctest
import inspect

import numpy
import pytest

import mxnet as mx

MODULES = {
    "np": mx.np,
    "np.linalg": mx.np.linalg,
    "np.random": mx.np.random,
    "np.fft": mx.np.fft,
    "np.array_api": mx.np.array_api,
    "np.array_api.linalg": mx.np.array_api.linalg,
    "npx": mx.npx,
    "npx.image": mx.npx.image,
    "npx.random": mx.npx.random,
}
NAMES = {"mx": mx, "numpy": numpy, "onp": numpy}


def functions(module):
    """The public functions of a module, by name."""
    found = {n: getattr(module, n) for n in dir(module) if not n.startswith("_")}
    return {
        n: f
        for n, f in found.items()
        if callable(f)
        and not inspect.isclass(f)
        and not inspect.ismodule(f)
        and not f.__module__.startswith("mxnet.image")  # classic ones, also in npx.image
    }


FUNCTIONS = [(space, name) for space, module in MODULES.items() for name in functions(module)]
METHODS = [n for n in dir(mx.np.ndarray) if not n.startswith("_")]


def run(text, name):
    """Runs the examples of a docstring; returns how many there are."""
    test = doctest.DocTestParser().get_doctest(text, dict(NAMES), name, None, 0)
    said = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failures, tried = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert not failures, "".join(said)
    return tried


@pytest.mark.parametrize("space, name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_function(space, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = mx.util.is_np_array(), mx.util.is_np_shape()
    try:
        assert run(functions(MODULES[space])[name].__doc__, f"{space}.{name}"), "no example"
    finally:
        if before != (mx.util.is_np_array(), mx.util.is_np_shape()):
            mx.npx.reset_np()


@pytest.mark.parametrize("name", METHODS)
def test_method(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    method = inspect.getattr_static(mx.np.ndarray, name)
    assert method.__doc__
    run(method.__doc__, name)


def test_modules_show_their_functions_alone():
    for space in ("np.linalg", "np.random", "np.fft", "np.array_api.linalg"):
        module = MODULES[space]
        assert set(functions(module)) <= set(module.__all__), space
