"""Methods that are made when they are first asked for: they look as others do, and importing the
package reads no examples."""
import inspect
import pickle
import pydoc
import subprocess
import sys
import threading

import pytest

import mxnet as mx
from mxnet._operators.method_examples import example
from mxnet._operators.methods import ARRAY_METHODS, METHODS, add_methods
from mxnet.numpy._methods import FUNCTIONS


def fresh(names=("exp", "log"), kind="nd"):
    """A class with methods that nobody has asked for."""
    made = []

    def make(name):
        made.append(name)

        def method(self, *args):
            return name, args
        method.__doc__ = f"The name {name}."
        return method

    class Array:
        pass
    add_methods(Array, names, make, kind)
    return Array, made


def test_a_method_is_made_once_and_is_a_function_then():
    Array, made = fresh()
    assert not made and "exp" in dir(Array)
    assert Array().exp(1) == ("exp", (1,)) and Array().exp(2) == ("exp", (2,)) and made == ["exp"]
    assert inspect.isfunction(vars(Array)["exp"]) and not inspect.isfunction(vars(Array)["log"])
    assert Array.exp.__name__ == "exp" and Array.exp.__qualname__.endswith("Array.exp") and Array.exp.__module__ == __name__


def test_who_looks_without_asking_sees_the_function():
    Array, _ = fresh()
    held = vars(Array)["log"]
    assert inspect.isroutine(held) and callable(held) and inspect.unwrap(held) is Array.log
    assert held(Array(), 3) == ("log", (3,)) and held.__doc__ == Array.log.__doc__ and held.__name__ == "log"
    assert str(inspect.signature(held)) == "(self, *args)"


def test_subclasses_share_the_function():
    Array, made = fresh()

    class Mine(Array):
        def log(self):
            return super().log(5)
    assert Mine.exp is Array.exp and Mine().log() == ("log", (5,)) and made == ["exp", "log"]


def test_threads_may_ask_at_once():
    names = [f"name{i}" for i in range(200)]
    Array, _ = fresh(names)
    start, wrong = threading.Barrier(4), []

    def ask():
        start.wait()
        wrong.extend(name for name in names if getattr(Array(), name)() != (name, ()))
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("cls, names", [
    (mx.nd.NDArray, METHODS + ARRAY_METHODS), (mx.sym.Symbol, METHODS), (mx.np.ndarray, FUNCTIONS)], ids=["nd", "sym", "np"])
def test_help_and_pickles(cls, names):
    for name in names:
        method = getattr(cls, name)
        assert method.__name__ == name and ">>> " in method.__doc__ and pickle.loads(pickle.dumps(method)) is method
        assert method.__doc__.split("\n")[0] in pydoc.plain(pydoc.render_doc(method))
        assert isinstance(inspect.signature(method), inspect.Signature)


def test_a_method_has_the_arguments_of_its_function():
    assert list(inspect.signature(mx.np.ndarray.cumsum).parameters) == list(inspect.signature(mx.np.cumsum).parameters)
    assert "axis" in pydoc.plain(pydoc.render_doc(mx.np.ones(2).cumsum))


def test_no_example_is_invented():
    assert example("nd", "no_such_method") == example("np", "no_such_method", "mx.np.abs") == []
    Array, _ = fresh(["no_such_method"])
    assert Array.no_such_method.__doc__ == "The name no_such_method."


def test_import_reads_no_examples():
    program = "import sys, mxnet as mx; mx.nd.NDArray, mx.np.ndarray; print([m for m in sys.modules if 'method_examples' in m])"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "[]\n"
