"""The examples in the operators' docstrings run and give what stands there."""
import doctest
import re

import numpy as np
import pytest

import mxnet as mx
from mxnet._operators import functions as _op_functions

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|nan|inf)(?![\w])")


class Close(doctest.OutputChecker):
    """Numbers agree to two units of the third decimal, all else but spaces exactly."""

    def check_output(self, want, got, optionflags):
        words = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (want, got)]
        numbers = [[float(n) for n in NUMBER.findall(text)] for text in (want, got)]
        return (words[0] == words[1] and len(numbers[0]) == len(numbers[1])
                and np.allclose(*numbers, rtol=2e-3, atol=2e-3, equal_nan=True))


EXAMPLES = sorted(re.findall(r"\n\n\[(\w+)\]\n", _op_functions._example_text()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    mx.random.seed(1)
    text = _op_functions._docstring(_op_functions.op_info(name), name, "NDArray")
    test = doctest.DocTestParser().get_doctest(text, {"mx": mx}, name, None, 0)
    assert any(example.want for example in test.examples)
    said = []
    failures, _ = doctest.DocTestRunner(Close()).run(test, out=said.append)
    assert not failures, "".join(said)


def test_every_public_operator_has_an_example():
    public = [name for name in _op_functions.op_names() if not name.startswith("_")]
    missing = {_op_functions.op_info(name).name for name in public} - set(EXAMPLES)
    assert not missing, f"no example of {sorted(missing)}; run ./dev python tools/record_examples.py"


def test_checker_tells_numbers_apart():
    assert Close().check_output("array([1., 2.001])", "array([1.,  2.002])", 0)
    assert not Close().check_output("array([1., 2.])", "array([1., 2.1])", 0)
    assert not Close().check_output("array([1., 2.])", "array([1.])", 0)
