"""mx.viz.plot_network: what is given to graphviz, seen by a stand-in for that package."""
import sys
import types

import pytest

import mxnet as mx


class Digraph:
    def __init__(self, name=None, format=None, **kwargs):
        self.name, self.format, self.nodes, self.edges = name, format, {}, {}

    def node(self, name, label=None, **attrs):
        self.nodes[name] = dict(attrs, label=label)

    def edge(self, tail_name, head_name, **attrs):
        self.edges[tail_name, head_name] = dict(attrs.pop("attrs", {}), **attrs)


@pytest.fixture
def graphviz(monkeypatch):
    module = types.ModuleType("graphviz")
    module.Digraph = Digraph
    monkeypatch.setitem(sys.modules, "graphviz", module)


def network():
    x = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), stride=(2, 2), num_filter=8, name="conv1")
    x = mx.sym.Activation(mx.sym.BatchNorm(x, name="bn1"), act_type="relu", name="relu1")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(x, name="flat"), num_hidden=10, name="fc1"), name="softmax")


SHAPES = {"data": (2, 3, 32, 32), "softmax_label": (2,)}


def test_plot(graphviz):   # as 1.9.1 draws it
    g = mx.viz.plot_network(network(), shape=SHAPES)
    assert (g.name, g.format) == ("plot", "pdf")
    assert set(g.nodes) == {"data", "conv1", "bn1", "relu1", "pool1", "flat", "fc1", "softmax", "softmax_label"}
    assert g.nodes["conv1"]["label"] == "Convolution\n3x3/2x2, 8" and g.nodes["conv1"]["fillcolor"] == "#fb8072"
    assert g.nodes["relu1"]["label"] == "Activation\nrelu" and g.nodes["pool1"]["label"] == "Pooling\nmax, 2x2/2x2"
    assert g.nodes["data"]["shape"] == "oval" and g.nodes["fc1"]["shape"] == "box"
    labels = {pair: attrs["label"] for pair, attrs in g.edges.items()}
    assert labels == {("conv1", "data"): "3x32x32", ("bn1", "conv1"): "8x15x15", ("relu1", "bn1"): "8x15x15", ("pool1", "relu1"): "8x15x15",
                      ("flat", "pool1"): "8x7x7", ("fc1", "flat"): "392", ("softmax", "fc1"): "10", ("softmax", "softmax_label"): ""}


def test_options(graphviz):
    g = mx.viz.plot_network(network(), title="t", save_format="png", hide_weights=False, node_attrs={"shape": "oval", "fixedsize": "false"})
    assert (g.name, g.format) == ("t", "png")
    assert {"conv1_weight", "bn1_gamma", "bn1_moving_mean", "fc1_bias"} <= set(g.nodes)
    assert g.nodes["fc1"]["shape"] == "oval" and g.nodes["fc1"]["fixedsize"] == "false"


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match="graphviz"):
        mx.viz.plot_network(network())


def table(capsys, symbol, **options):
    """What print_summary says: {layer: (shape, parameters, layers before)}, and the total."""
    mx.viz.print_summary(symbol, **options)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip("_=")]
    rows = {line[:52].strip(): (line[52:76].strip(), int(line[76:88]), line[88:].strip()) for line in lines[1:-1] if line[:52].strip()}
    return rows, int(lines[-1].split(":")[1])


def test_summary_without_shapes_counts_what_attributes_say(capsys):   # the numbers of 1.9.1
    data = mx.sym.var("data")
    rows, total = table(capsys, mx.sym.Convolution(mx.sym.Convolution(data, num_filter=4, num_group=2, kernel=(3, 3), name="c"),
                                                   num_filter=4, no_bias=True, kernel=(1, 1), name="c2"))
    assert rows == {"data(null)": ("", 0, ""), "c(Convolution)": ("", 4, "data"), "c2(Convolution)": ("", 0, "c")} and total == 4
    rows, total = table(capsys, mx.sym.FullyConnected(mx.sym.Embedding(data, input_dim=5, output_dim=3, name="e"), num_hidden=7, name="f"))
    assert rows["e(Embedding)"][1] == 15 and rows["f(FullyConnected)"][1] == 7 and total == 22
    rows, total = table(capsys, network())
    assert total == 8 + 10


def test_summary_shows_layers_only(capsys):
    two = mx.sym.Group([mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="f"), mx.sym.relu(mx.sym.var("q"), name="r")])
    rows, total = table(capsys, two, shape={"data": (2, 5), "q": (3, 4)})
    assert rows == {"data(null)": ("5", 0, ""), "f(FullyConnected)": ("3", 18, "data"), "r(relu)": ("4", 0, "")} and total == 18
