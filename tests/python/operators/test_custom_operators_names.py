"""Names of custom operators: which are registered, and what the profile has."""
import json
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


def _sin(req, out_grad, in_data, out_data, in_grad):
    in_grad[0][:] = mx.nd.sin(out_grad[0])


def _rows(section):
    """Name and count of each row of a section of the statistics."""
    return {name: int(count) for name, count in re.findall(r"^(\S+) +(\d+) +\d", section, re.M)}


@pytest.mark.parametrize("way", ["eager", "bulk", "bound", "hybridized inside"])
def test_what_a_custom_operator_calls_is_under_its_name(tmp_path, way):
    """As 1.9.1 does: only there, and not among the operators that the program itself calls."""
    inner = mx.gluon.nn.HybridLambda(lambda F, x: F.exp(x))
    inner.hybridize()

    def forward(req, in_data, out_data):
        with mx.engine.bulk(20 if way == "bulk" else 0):
            out_data[0][:] = inner(in_data[0]) if way == "hybridized inside" else mx.nd.exp(in_data[0])
    make("calls", forward, _sin)
    mx.profiler.set_config(filename=str(tmp_path / "p.json"), aggregate_stats=True, profile_all=True)
    mx.profiler.set_state("run")
    x = mx.nd.full((300, 400), 0.5)      # large enough for the engine's threads
    y = mx.nd.exp(x)                     # the program's own
    if way == "bound":
        net = mx.sym.Custom(mx.sym.Variable("data"), op_type="calls")
        bound = net.simple_bind(mx.cpu(), data=x.shape)
        bound.forward(is_train=True, data=x)
        bound.backward(mx.nd.ones_like(x))
    else:
        x.attach_grad()
        with autograd.record():
            y = mx.nd.Custom(x, op_type="calls")
        y.backward()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    sections = mx.profiler.dumps(reset=True).split("\n\n")
    own, = [_rows(s) for s in sections if s.startswith("operator\n")]
    custom, = [_rows(s) for s in sections if s.startswith("Custom Operator\n")]
    assert custom["calls::exp"] == 1 and custom["_backward_calls::sin"] == 1, custom
    assert own["exp"] == 1 and "sin" not in own, own
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    assert {e["cat"] for e in events if e["name"] in ("calls::exp", "_backward_calls::sin")} == {"Custom Operator"}
    assert {e["cat"] for e in events if e["name"] == "exp"} == {"operator"}


@pytest.mark.parametrize("name,what,text", [
    ("test_int", int, "registered as 'test_int' is the class int; accepted: a subclass of mx.operator.CustomOpProp"),
    ("test_number", 3, "is of the type int; accepted: a subclass"),
    (3, object, "the name is 3; accepted: a text"),
    ("", object, "the name is ''; accepted: a text")])
def test_what_cannot_be_registered(name, what, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        operator.register(name)(what)
    assert name not in operator.get_all_registered_operators()


def test_a_shape_is_asked_for_once():
    """Inference, passes and plans ask for the same shapes: the class is asked when a question is
    another one than the last."""
    asked = []

    class Copy(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0])

    class Prop(operator.CustomOpProp):
        def infer_shape(self, in_shape):
            asked.append(in_shape)
            return in_shape, [in_shape[0]], []

        def infer_type(self, in_type):
            asked.append("type")
            return in_type, [in_type[0]], []

        def create_operator(self, ctx, in_shapes, in_dtypes):
            assert asked and in_shapes[0] == [shape for shape in asked if shape != "type"][-1][0]
            return Copy()
    operator.register("asked_once")(Prop)
    net = mx.sym.Custom(mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=4), op_type="asked_once") * 2
    for rows in (2, 3, 2):
        del asked[:]
        executor = net.simple_bind(mx.cpu(), x=(rows, 3))
        executor.forward()[0].wait_to_read()
        assert asked.count([[rows, 4]]) == 1 and asked.count("type") <= 2 and len(asked) <= 4, asked
