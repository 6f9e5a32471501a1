"""mx.viz: what is given to graphviz, seen by a stand-in for that package; drawings without it,
whose text is that of 1.9.1 (record_oracle_plots.py); tables of layers."""
import json
import os
import shutil
import sys
import types
import xml.dom.minidom

import pytest

import mxnet as mx
import record_oracle_plots as oracle


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
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/" + name)


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


def test_labels_end_in_the_dtype(graphviz):     # as 1.9.1 draws it
    g = mx.viz.plot_network(network(), shape=SHAPES, dtype={"data": "float16"})
    labels = {pair: attrs["label"] for pair, attrs in g.edges.items()}
    assert labels["conv1", "data"] == "3x32x32(float16)" and labels["fc1", "flat"] == "392(float16)"
    assert labels["softmax", "softmax_label"] == "(float16)"
    g = mx.viz.plot_network(mx.sym.cast(mx.sym.var("a"), dtype="int32", name="c") * 2, shape={"a": (2, 3)}, dtype={"a": "float64"})
    assert sorted(attrs["label"] for attrs in g.edges.values()) == ["3(float64)", "3(int32)"]
    g = mx.viz.plot_network(network(), dtype={"data": "float16"})
    assert {attrs["label"] for attrs in g.edges.values()} == {"(float16)"}
    with pytest.raises(TypeError, match=r"\[plot_network\] dtype='float16'; accepted: a dictionary"):
        mx.viz.plot_network(network(), shape=SHAPES, dtype="float16")
    with pytest.raises(ValueError, match="Input type is incomplete"):
        mx.viz.plot_network(network(), dtype={})


def test_options(graphviz):
    g = mx.viz.plot_network(network(), title="t", save_format="png", hide_weights=False, node_attrs={"shape": "oval", "fixedsize": "false"})
    assert (g.name, g.format) == ("t", "png")
    assert {"conv1_weight", "bn1_gamma", "bn1_moving_mean", "fc1_bias"} <= set(g.nodes)
    assert g.nodes["fc1"]["shape"] == "oval" and g.nodes["fc1"]["fixedsize"] == "false"


@pytest.fixture
def nothing(monkeypatch):
    """Neither the package nor the program."""
    monkeypatch.setitem(sys.modules, "graphviz", None)


def test_sources_are_those_of_1_9_1(nothing):
    with open(oracle.FILE) as file:
        wanted = json.load(file)
    got = oracle.sources()
    assert [name for name in wanted if wanted[name] != got[name]] == []


def test_files(nothing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawing = mx.viz.plot_network(network(), title="net", shape=SHAPES, save_format="svg")
    assert drawing.save() == "net.gv" and (tmp_path / "net.gv").read_text() == drawing.source + "\n" == str(drawing) + "\n"
    assert drawing.render() == "net.gv.svg" and drawing.render("a", "folder", cleanup=True) == "folder/a.svg"
    assert os.listdir("folder") == ["a.svg"] and sorted(os.listdir()) == ["folder", "net.gv", "net.gv.svg"]
    picture = (tmp_path / "net.gv.svg").read_text()
    assert picture == drawing._repr_svg_() == drawing.pipe().decode() == drawing._repr_mimebundle_()["image/svg+xml"]
    with pytest.warns(UserWarning, match="'pdf' needs"):
        assert mx.viz.plot_network(network()).render() == "plot.gv.svg"
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    drawing.view("shown")
    assert opened == ["file://" + str(tmp_path / "folder" / "shown.svg")]


def test_pictures(nothing):
    drawing = mx.viz.plot_network(network(), shape=SHAPES, hide_weights=False)
    document = xml.dom.minidom.parseString(drawing._repr_svg_())
    texts = [t.firstChild.data for t in document.getElementsByTagName("text")]
    assert {"Convolution", "3x3/2x2, 8", "3x32x32", "conv1_weight", "softmax"} <= set(texts)
    assert len(document.getElementsByTagName("rect")) == 7 and len(document.getElementsByTagName("ellipse")) == 10
    strange = mx.viz.plot_network(mx.sym.exp(mx.sym.var('a<b>&"c"'), name="1 & 2"), node_attrs={"style": "dashed", "width": "x"})
    assert "1 &amp; 2" in strange._repr_svg_() and xml.dom.minidom.parseString(strange._repr_svg_())
    assert '"a<b>&\\"c\\""' in strange.source


def test_nothing_overlaps_and_data_is_below(nothing):
    from mxnet._display.drawing import _Picture
    vision = mx.gluon.model_zoo.vision
    for symbol in (vision.densenet121()(mx.sym.var("data")), vision.inception_v3()(mx.sym.var("data"))):
        drawing = mx.viz.plot_network(symbol)
        picture = _Picture(drawing._nodes, drawing._edges, {})
        for layer in picture.layers:
            for v, u in zip(layer, layer[1:]):
                assert picture.x[u] - picture.x[v] >= (picture.size[v][0] + picture.size[u][0]) / 2 - 1e-6
        for path in picture.paths:
            assert all(picture.y[upper] < picture.y[lower] for upper, lower in zip(path, path[1:]))
        assert min(picture.x) >= 0 and max(picture.x) <= picture.width and picture.width < 3000


def test_long_and_wide_networks(nothing):
    x = mx.sym.var("data")
    for _ in range(1500):
        x = x + 1
    assert mx.viz.plot_network(x)._repr_svg_().count("<rect") == 1500
    assert mx.viz.plot_network(mx.sym.add_n(*[mx.sym.var(f"v{i}") for i in range(300)]))._repr_svg_().count("<ellipse") == 300


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


def test_summary_counts_weights_of_any_name(capsys):
    w, b = mx.sym.var("w"), mx.sym.var("b")
    dense = [mx.sym.FullyConnected(mx.sym.var(x), weight=w, bias=b, num_hidden=2, name="f" + x) for x in ("x", "y")]
    rows, total = table(capsys, mx.sym.Group([*dense, mx.sym.Embedding(mx.sym.var("z"), weight=mx.sym.var("v"), input_dim=4, output_dim=3,
                                                                       name="e")]), shape={"x": (1, 3), "y": (1, 3), "z": (1, 5)})
    assert {name: row[1] for name, row in rows.items()} == {
        "x(null)": 0, "fx(FullyConnected)": 8, "fy(FullyConnected)": 0, "e(Embedding)": 12} and total == 20


def test_the_last_line_is_of_the_last_node(capsys):   # as in 1.9.1
    layer = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="f")
    for net, line in ((layer, "="), (mx.sym.Group([layer, mx.sym.var("q")]), "_")):
        mx.viz.print_summary(net)
        assert capsys.readouterr().out.splitlines()[-3] == line * 120
