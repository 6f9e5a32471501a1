"""Names of custom operators: which are registered, and what the profile has."""
import re

import pytest

import mxnet as mx
from mxnet import autograd, operator
from test_custom_operators import copy, make


def test_the_profile_has_the_operator_by_its_name(tmp_path):
    """In the section of 1.9.1, with its names; nothing is recorded while the profiler is off."""
    make("profiled", copy)
    x = mx.nd.ones((2,))
    x.attach_grad()
    mx.profiler.set_config(filename=str(tmp_path / "p.json"), aggregate_stats=True, profile_imperative=True)
    for state in ("stop", "run"):
        mx.profiler.set_state(state)
        with autograd.record():
            y = mx.nd.Custom(x, op_type="profiled")
        y.backward()
        mx.nd.waitall()
    mx.profiler.set_state("stop")
    section = mx.profiler.dumps(reset=True).split("Custom Operator\n")[1].split("\n\n")[0]
    for name in ("profiled", "_backward_profiled"):
        assert re.search(rf"^{name}::pure_python +1 ", section, re.M), section


@pytest.mark.parametrize("name,what,text", [
    ("test_int", int, "registered as 'test_int' is the class int; accepted: a subclass of mx.operator.CustomOpProp"),
    ("test_number", 3, "is of the type int; accepted: a subclass"),
    (3, object, "the name is 3; accepted: a text"),
    ("", object, "the name is ''; accepted: a text")])
def test_what_cannot_be_registered(name, what, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        operator.register(name)(what)
    assert name not in operator.get_all_registered_operators()
