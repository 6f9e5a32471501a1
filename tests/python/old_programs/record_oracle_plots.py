"""Writes data/plots_oracle.json: the text of mx.viz.plot_network for some networks in MXNet 1.9.1.

    oracle/bin/python tests/python/old_programs/record_oracle_plots.py

in an environment with mxnet 1.9.1 and the Python package graphviz.
"""
import json
import os

import mxnet as mx

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "plots_oracle.json")
OTHERS = {"node_attrs": {"shape": "rect", "fixedsize": "false", "color": "red"}, "title": "T x"}
OPTIONS = {"plain": {}, "shapes": None, "attributes": OTHERS}


def networks():
    """(name, symbol, shapes) of each."""
    sym = mx.sym
    with mx.name.NameManager():
        x = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=8, name="c1")
        x = sym.Activation(sym.BatchNorm(x, name="bn"), act_type="relu", name="r")
        x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="p")
        x = sym.Pooling(x, global_pool=True, pool_type="avg", kernel=(1, 1), name="gp")
        x = sym.FullyConnected(sym.Flatten(x, name="fl"), num_hidden=10, name="fc")
        yield "classifier", sym.SoftmaxOutput(x, name="softmax"), {"data": (2, 3, 8, 8)}
        x = sym.LeakyReLU(sym.concat(sym.var("a"), sym.var("b"), dim=1, name="cc"), act_type="prelu", name="l")
        x = sym.softmax(sym.reshape(sym.LeakyReLU(x, name="l2"), shape=(-1, 2), name="rs"), name="sm")
        x = sym.Deconvolution(sym.reshape(x, shape=(1, 1, 2, -1), name="rq"), kernel=(2, 2), stride=(2, 2), num_filter=3, name="dc") + 1
        yield "mixed", sym.broadcast_add(x, sym.var("x_weight", shape=(1,)), name="ba"), {"a": (2, 3), "b": (2, 1)}
        parts = sym.split(sym.var("data"), num_outputs=2, name="sp")
        yield "two outputs", sym.Dropout(parts[0] + parts[1], name="node"), {"data": (2, 4)}
        several = [sym.exp(sym.var("q"), name="e1"), sym.Embedding(sym.var("i"), input_dim=5, output_dim=3, name="em")]
        yield "group", sym.Group(several), {"q": (2,), "i": (4,)}
        yield "residual", mx.gluon.model_zoo.vision.resnet18_v2(prefix="net_")(sym.var("data")), {"data": (1, 3, 32, 32)}
        yield "variable", sym.var("only"), {"only": (2, 3)}
        yield "line", sym.Convolution(sym.var("data"), kernel=(3,), num_filter=2, no_bias=True, name="c"), {"data": (1, 2, 9)}
        parameters = {"parameters": sym.var("rnn_parameters"), "state": sym.var("st"), "state_cell": sym.var("sc")}
        yield "recurrent", sym.RNN(sym.var("data"), state_size=3, num_layers=1, mode="lstm", name="rnn", **parameters), {"data": (2, 2, 3)}


def sources():
    """The text of each network's drawing, by its name and that of the options."""
    result = {}
    for name, symbol, shapes in networks():
        for label, options in OPTIONS.items():
            result[f"{name}/{label}"] = mx.viz.plot_network(symbol, **({"shape": shapes} if options is None else options)).source
    return result


if __name__ == "__main__":
    with open(FILE, "w") as out:
        json.dump(sources(), out, indent=0)
