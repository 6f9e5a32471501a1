"""What programs that ran on 1.9.1 and here got differently; numbers and texts as its wheel gives
them, unless a test says otherwise."""
import contextlib
import io
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn

pytestmark = pytest.mark.filterwarnings("ignore:FeedForward is deprecated")


def net_of_two_layers():
    hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="first")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=2, name="second"), name="softmax")


def test_lars_knows_weights_by_name():
    """Stores call weights by name; biases, gammas and betas are not scaled."""
    update = mx.optimizer.get_updater(mx.optimizer.create("lars", learning_rate=0.5))
    for name in ("bias", "beta", "gamma"):
        weight = nd.ones(2)
        update("first_" + name, nd.array([0.5, -0.5]), weight)
        np.testing.assert_allclose(weight.asnumpy(), [0.75, 1.25])
    scaled = nd.ones(2)
    update("first_weight", nd.array([0.5, -0.5]), scaled)
    assert 0 < np.abs(scaled.asnumpy() - 1).max() < 0.01


def feed_forward(**kwargs):
    weights = {"first_weight": nd.ones((4, 3)) * 0.1, "first_bias": nd.zeros(4),
               "second_weight": nd.array([[1, 2, 3, 4], [4, 3, 2, 1.5]]), "second_bias": nd.zeros(2)}
    return mx.model.FeedForward(net_of_two_layers(), arg_params=weights, **kwargs)


def test_feed_forward_predicts_for_data_without_labels():
    data = np.arange(15, dtype=np.float32).reshape(5, 3)
    model = feed_forward(aux_params={})
    want = model.predict(data)
    np.testing.assert_array_equal(model.predict(mx.io.NDArrayIter(data, None, 2)), want)
    outputs, inputs, labels = model.predict(mx.io.NDArrayIter(data, None, 2), return_data=True)
    assert outputs.shape == (5, 2) and inputs.shape == (5, 3) and labels == []
    del model.arg_params["first_bias"]
    with pytest.raises(RuntimeError, match="first_bias"):
        model.predict(data)


def test_feed_forward_predicts_without_auxiliary_states():
    """They are zeros, as in 1.x, if none is given; some of them without the rest are an error."""
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="norm", eps=1e-3)
    weights = {"norm_gamma": nd.ones(2), "norm_beta": nd.zeros(2)}
    model = mx.model.FeedForward(net, arg_params=weights)
    np.testing.assert_allclose(model.predict(np.ones((1, 2), np.float32)), [[31.622776] * 2], rtol=1e-5)
    model.aux_params = {"norm_moving_mean": nd.ones(2)}
    with pytest.raises(RuntimeError, match="norm_moving_var"):
        model.predict(np.ones((1, 2), np.float32))


def test_feed_forward_draws_orders_as_1x_does():
    """Also for data that the network is evaluated with: what is drawn next is the same."""
    data, label = np.arange(12, dtype=np.float32).reshape(12, 1), np.arange(12, dtype=np.float32)
    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1), name="softmax")
    seen = []

    def note(labels, _):
        seen.append(labels.tolist())
        return 0.0
    np.random.seed(4)
    mx.model.FeedForward(net, num_epoch=1, numpy_batch_size=4).fit(data, label, eval_data=(data, label), eval_metric=note)
    assert seen[:3] == [[5, 3, 8, 1], [11, 9, 4, 0], [10, 2, 7, 6]]
    assert seen[3:] == [[9, 11, 2, 10], [3, 8, 1, 6], [7, 4, 0, 5]]


class Pair(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        return [x, [y, x]], y


def test_summary_of_several_inputs():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        Pair().summary(nd.ones(2), nd.ones(3))
    rows = out.getvalue().split("\n")
    assert rows[3] == "               Input                                  (2,), (3,)               0"
    assert rows[4].split()[:-1] == "Pair-1 [(2,), [(3,), (2,)]], (3,)".split()


def test_repr_of_nested_cells():
    inner, outer = rnn.SequentialRNNCell(), rnn.HybridSequentialRNNCell()
    hybrid = rnn.HybridSequentialRNNCell()
    for cells in (inner, hybrid):
        cells.add(rnn.LSTMCell(3))
    outer.add(hybrid)
    outer.add(rnn.GRUCell(3))
    assert repr(outer) == ("HybridSequentialRNNCell(\n(0): HybridSequentialRNNCell(\n  (0): LSTMCell(None -> 12)\n  )\n"
                           "(1): GRUCell(None -> 9)\n)")
    net = nn.Sequential()
    net.add(inner)
    assert repr(net) == "Sequential(\n  (0): SequentialRNNCell(\n  (0): LSTMCell(None -> 12)\n  )\n)"


def test_floor_division_by_true():
    np.testing.assert_array_equal((nd.array([2.5, -1.5]) // True).asnumpy(), [2, -2])
    np.testing.assert_array_equal((True // nd.array([0.4, 2])).asnumpy(), [2, 0])


@pytest.mark.parametrize("kind", [list, tuple])
def test_function_returns_what_forward_does(kind):
    class Double(autograd.Function):
        def forward(self, x):
            return kind([x * 2])

        def backward(self, dy):
            return dy * 2
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = Double()(x)
    assert type(y) is kind
    y[0].backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2])


def symbol_file(version, variable=(), operator=(), name="FullyConnected"):
    nodes = [{"op": "null", "name": "data", "inputs": []}]
    if name == "FullyConnected":
        nodes.append({"op": "null", "name": "w", "attr": dict(variable), "inputs": []})
    nodes.append({"op": name, "name": "node", "attr": dict(operator), "inputs": [[i, 0, 0] for i in range(len(nodes))]})
    return mx.sym.load_json(json.dumps({
        "nodes": nodes, "arg_nodes": list(range(len(nodes) - 1)), "heads": [[len(nodes) - 1, 0, 0]],
        "attrs": {"mxnet_version": ["int", version]}}))


@pytest.mark.parametrize("version", [800, 904, 10100, 10900])
def test_keys_without_underscores_in_symbol_files(version):
    """1.9.1 reads them in the files of every version before its own."""
    net = symbol_file(version, {"wd_mult": "0.5", "lr_mult": "3"},
                      {"num_hidden": "4", "no_bias": "True", "ctx_group": "a", "weight_lr_mult": "5"})
    attributes = net.attr_dict()
    assert attributes["w"]["__wd_mult__"] == "0.5" and attributes["w"]["__lr_mult__"] == "5"
    assert attributes["node"]["__ctx_group__"] == "a"
    optimizer = mx.optimizer.create("sgd", sym=net, param_idx2name={0: "w"})
    assert (optimizer.lr_mult, optimizer.wd_mult) == ({"w": 5.0}, {"w": 0.5})


@pytest.mark.parametrize("version", [10901, 11000])
def test_keys_without_underscores_in_new_symbol_files(version):
    net = symbol_file(version, {"lr_mult": "3"}, {"num_hidden": "4", "no_bias": "True"})
    assert net.attr_dict()["w"] == {"lr_mult": "3"}
    with pytest.raises(mx.MXNetError, match="ctx_group"):
        symbol_file(version, operator={"num_hidden": "4", "no_bias": "True", "ctx_group": "a"})


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_axis_of_all_elements_in_old_symbol_files(name):
    """Before 0.9.5 the default, all axes, was written as -1."""
    for version, shape in ((800, (1,)), (904, (1,)), (905, (2,)), (10901, (2,))):
        net = symbol_file(version, operator={"axis": "-1"}, name=name)
        assert net.infer_shape(data=(2, 3))[1] == [shape]
    assert symbol_file(800, operator={"axis": "1"}, name=name).infer_shape(data=(2, 3))[1] == [(2,)]


def test_compression_of_gradients_takes_a_dict():
    with pytest.raises(AssertionError, match=r"\[kvstore\] compression_params is a int; accepted: a dict"):
        mx.kv.create("device").set_gradient_compression(3)
