"""Symbol.nodes(): what a graph consists of, against what its JSON says."""
import gc
import json
import threading

import pytest

import mxnet as mx
from mxnet import np
from mxnet.base import MXNetError


def described(symbol):
    """The graph as its JSON has it."""
    return json.loads(symbol.tojson(remove_amp_cast=False))


def check_against_json(nodes, graph):
    assert len(nodes) == len(graph["nodes"])
    for node, wanted in zip(nodes, graph["nodes"]):
        assert (node.name, node.op) == (wanted["name"], wanted["op"])
        assert node.attrs == wanted.get("attrs", {})
        assert [[source.index, output] for source, output in node.inputs] == [i[:2] for i in wanted["inputs"]]
        assert len(node.subgraphs) == len(wanted.get("subgraphs", ()))
        for inner, text in zip(node.subgraphs, wanted.get("subgraphs", ())):
            check_against_json(inner.nodes(), text)
    assert [[node.index, output] for node, output in nodes.heads] == [h[:2] for h in graph["heads"]]


def loop():
    x, outside = mx.sym.var("x"), mx.sym.var("outside", lr_mult=2)

    def body(item, state):
        inner, _ = mx.sym.contrib.foreach(lambda i, s: (i * outside, s), item, [state[0]])
        return mx.sym.sum(inner, axis=0) + state[0], [state[0] * 2]
    results, last = mx.sym.contrib.foreach(body, x, [mx.sym.var("start")])
    return mx.sym.Group([results, last[0]])


def network():
    x = mx.sym.var("data", shape=(2, 3, 8, 8))
    x = mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, name="conv", attr={"__mood__": "good"})
    x = mx.sym.BatchNorm(x, name="norm", eps=0.01)
    parts = mx.sym.split(mx.sym.Pooling(x, kernel=(2, 2), pool_type="avg"), num_outputs=2, axis=1, name="halves")
    return mx.sym.Group([parts[1] + parts[0], mx.sym.Dropout(x, name="drop")])


@pytest.mark.parametrize("make", [loop, network, lambda: mx.sym.var("alone"), lambda: mx.sym.zeros((2,)),
                                  lambda: mx.sym.np.transpose(mx.sym.var("x").as_np_ndarray())])
def test_nodes_are_those_of_the_json(make):
    symbol = make()
    check_against_json(symbol.nodes(), described(symbol))


@mx.util.use_np
def test_operators_of_numpy_have_the_names_of_files():
    net = mx.gluon.nn.Dense(3, in_units=2)
    net.initialize()
    symbol = net(np.ones((1, 2))) is not None and net(mx.sym.var("x").as_np_ndarray())
    check_against_json(symbol.nodes(), described(symbol))


def test_auxiliary_states_and_outputs():
    symbol = network()
    nodes, shown = {node.name: node for node in symbol.nodes()}, symbol.get_internals().list_outputs()
    assert [n for n in nodes if nodes[n].is_auxiliary] == ["norm_moving_mean", "norm_moving_var"]
    assert [n for n in nodes if nodes[n].is_variable] == symbol.list_inputs()
    assert nodes["norm"].outputs == ("norm_output", "norm_mean", "norm_var")
    assert nodes["halves"].outputs == ("halves_output0", "halves_output1")
    assert nodes["data"].outputs == ("data",)
    assert [output for node in symbol.nodes() for output in node.outputs if output in shown] == shown


def test_parameters_are_values():
    nodes = {node.name: node for node in network().nodes()}
    conv = nodes["conv"].params
    assert (conv["kernel"], conv["num_filter"], conv["no_bias"], conv["cudnn_tune"], conv["workspace"]) == ((3, 3), 4, False, None, 1024)
    assert (conv["stride"], conv["layout"]) == ((), None)
    assert nodes["conv"].attrs["__mood__"] == "good"
    assert not any(key.startswith("__") for key in conv)
    assert (nodes["norm"].params["eps"], nodes["norm"].params["momentum"], nodes["norm"].params["fix_gamma"]) == (0.01, 0.9, True)
    assert nodes["drop"].params["axes"] == () and nodes["drop"].params["mode"] == "training"
    assert nodes["data"].params == {} and nodes["data"].attrs["__shape__"] == "(2, 3, 8, 8)"
    assert isinstance(nodes["halves"].params["squeeze_axis"], bool)


@pytest.mark.parametrize("symbol,name,value", [
    (mx.sym.var("x") * 0.5, "scalar", 0.5),
    (mx.sym.var("x") * float("inf"), "scalar", float("inf")),
    (mx.sym.Cast(mx.sym.var("x"), dtype="float16"), "dtype", "float16"),
    (mx.sym.sum(mx.sym.var("x"), axis=1), "axis", (1,)),
    (mx.sym.sum(mx.sym.var("x"), axis=(0, -1)), "axis", (0, -1)),
    (mx.sym.sum(mx.sym.var("x")), "axis", None),
    (mx.sym.slice(mx.sym.var("x"), begin=(None, 1), end=(2, None)), "begin", (None, 1)),
    (mx.sym.Concat(mx.sym.var("x"), mx.sym.var("y"), dim=0), "num_args", 2),
    (mx.sym.adam_update(*[mx.sym.var(n) for n in "wgmv"], lr=1e-3), "beta1", 0.9),
    (mx.sym.clip(mx.sym.var("x"), 0, 1e-6), "a_max", 1e-6),
])
def test_value_of(symbol, name, value):
    assert symbol.nodes()[-1].params[name] == value


def test_every_operator_has_readable_defaults():
    """Types of parameters are known: no number, tuple or truth value comes as a text."""
    from mxnet._operators.functions import op_names
    from mxnet.symbol._nodes import _parameters, _value
    texts = set()
    for name in op_names():
        for kind, default in _parameters(name).values():
            value = None if default is None else _value(kind, default)
            if isinstance(value, str) and not kind.startswith(("string", "{", "ptr")) and kind:
                texts.add((name, kind, default))
    assert texts == set()


def test_arguments_of_custom_operators_stay_texts():
    @mx.operator.register("of_nodes")
    class Prop(mx.operator.CustomOpProp):
        def __init__(self, depth):
            super().__init__()
            self.depth = depth

        def create_operator(self, ctx, shapes, dtypes):
            raise NotImplementedError
    params = mx.sym.Custom(mx.sym.var("x"), op_type="of_nodes", depth=3).nodes()[-1].params
    assert (params["op_type"], params["depth"]) == ("of_nodes", "3")


def test_a_chain_of_20000_nodes():
    x = mx.sym.var("x")
    for i in range(20000):
        x = mx.sym.relu(x, name=f"r{i}")
    nodes = x.nodes()
    assert len(nodes) == 20001 and nodes[-1].inputs[0][0] is nodes[-2] and nodes.heads == ((nodes[-1], 0),)
    last = nodes[-1]
    del nodes, x
    gc.collect()
    assert last.inputs[0][0].name == "r19998"
    del last          # 20,000 nodes hold each other
    gc.collect()


def test_nodes_outlive_the_symbol_and_other_calls():
    symbol = loop()
    nodes = symbol.nodes()
    mx.sym.var("other").nodes()
    del symbol
    gc.collect()
    inner = next(node for node in nodes if node.op == "_foreach").subgraphs[0]
    assert "_foreach" in [node.op for node in inner.nodes()]
    assert inner.list_outputs()


def test_from_many_threads():
    wanted, seen = [n.name for n in network().nodes()], []

    def ask():
        symbol = network()
        seen.extend([n.name for n in symbol.nodes()] == wanted for _ in range(50))
    threads = [threading.Thread(target=ask) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(seen) == 200


def test_errors():
    symbol = mx.sym.var("x")
    symbol.handle, handle = None, symbol.handle
    with pytest.raises(MXNetError, match="null symbol handle"):
        symbol.nodes()
    symbol.handle = handle
    assert repr(symbol.nodes()[0]) == "<Node x: null>"
    with pytest.raises(TypeError):
        symbol.nodes(1)


def test_a_graph_with_casts_is_seen_with_them():
    symbol = mx.amp.convert_symbol(mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="f"), "float16",
                                   target_dtype_ops=["FullyConnected"])
    assert [n.op for n in symbol.nodes()].count("amp_cast") == 4
    assert [n.op for n in symbol._without_amp_cast().nodes()].count("amp_cast") == 1    # that of the result
