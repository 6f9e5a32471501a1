"""Networks as tables and as drawings."""
import json
import math

from .symbol import Symbol

__all__ = ["plot_network", "print_summary"]

_PARAMETER_ENDINGS = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var",
                      "_running_mean", "_parameters")
_HIDDEN_ENDINGS = _PARAMETER_ENDINGS[:-1]       # a drawing of 1.9.1 shows the parameters of RNN


def _graph(symbol, caller):
    if not isinstance(symbol, Symbol):
        raise TypeError(f"[{caller}] symbol must be Symbol, {type(symbol).__name__} was given")
    return json.loads(symbol.tojson())


def _attributes(node):
    return node.get("attrs") or node.get("attr") or node.get("param") or {}


def _numbers(text):
    """'(2, 3)' as [2, 3]."""
    return [int(part) for part in text.strip("()[] ").split(",") if part.strip()]


def _output_shapes(symbol, shape, dtype=None):
    """Shapes of all outputs of all nodes by name, given those of the data; and the names of
    auxiliary states."""
    if shape is None:
        return {}
    internals = symbol.get_internals()
    _, shapes, _ = internals.infer_shape(**shape)
    if shapes is None:
        raise ValueError(f"[visualization] Input shape is incomplete: {shape}")
    return dict(zip(internals.list_outputs(), shapes))


def _shape_of(nodes, index, output, shapes):
    """Shape of an output of a node, None if it is not known."""
    node = nodes[index]
    if node["op"] == "null":
        return shapes.get(node["name"])
    key = node["name"] + "_output"
    return shapes.get(key, shapes.get(f"{key}{output}"))


def _without_batch(shape):
    return "" if shape is None else "x".join(map(str, shape[1:]))


def _count_by_attributes(node):
    """What an operator's own attributes say of its number of parameters, when no shapes are
    known."""
    attributes = _attributes(node)
    biased = attributes.get("no_bias", "False") not in ("True", "1", "true")
    if node["op"] == "Convolution":
        return int(attributes["num_filter"]) if biased else 0
    if node["op"] == "FullyConnected":
        return int(attributes["num_hidden"]) if biased else 0
    if node["op"] == "Embedding":
        return int(attributes["input_dim"]) * int(attributes["output_dim"])
    return 0


def print_summary(symbol, shape=None, line_length=120, positions=(.44, .64, .74, 1.)):
    """Print a table of the layers: output shapes without the batch, numbers of parameters, and what
    comes before.

    Parameters
    ----------
    symbol : Symbol
    shape : dict of str to tuple, optional
        Shapes of the data. Without them the shapes of weights are not known: counted are biases of
        convolutions and dense layers, and embeddings.
    line_length : int
        Width of the table.
    positions : list of float
        Where its columns end, as shares of the width.
    """
    graph = _graph(symbol, "print_summary")
    nodes = graph["nodes"]
    shapes = _output_shapes(symbol, shape)
    auxiliary = set(symbol.list_auxiliary_states())
    columns = [int(line_length * p) if p <= 1 else int(p) for p in positions]

    def row(fields):
        line = ""
        for field, end in zip(fields, columns):
            line = (line + str(field))[:end].ljust(end)
        print(line)

    print("_" * line_length)
    row(["Layer (type)", "Output Shape", "Param #", "Previous Layer"])
    print("=" * line_length)
    shown = [i for i, node in enumerate(nodes) if node["op"] != "null" or i == 0]
    total, counted = 0, set()
    for number, index in enumerate(shown):
        node = nodes[index]
        previous, count = [], 0
        for source, output, *_ in node["inputs"]:
            name = nodes[source]["name"]
            if source in shown:
                previous.append(name)
            elif name not in auxiliary and name.endswith(_PARAMETER_ENDINGS) and name not in counted:
                counted.add(name)               # a shared parameter belongs to the first that uses it
                known = _shape_of(nodes, source, output, shapes)
                count += math.prod(known) if known else 0
        if not shapes:
            count = _count_by_attributes(node)
        total += count
        row([f"{node['name']}({node['op']})", _without_batch(_shape_of(nodes, index, 0, shapes)), count,
             previous[0] if previous else ""])
        for name in previous[1:]:
            row(["", "", "", name])
        print(("=" if number == len(shown) - 1 else "_") * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


_COLOURS = ("#8dd3c7", "#fb8072", "#ffffb3", "#bebada", "#80b1d3", "#fdb462", "#b3de69", "#fccde5")


def _look(node):
    """Label and colour of an operator."""
    op, attributes = node["op"], _attributes(node)
    if op == "Convolution":
        kernel = "x".join(map(str, _numbers(attributes["kernel"])))
        stride = "x".join(map(str, _numbers(attributes["stride"]))) if "stride" in attributes else "1"
        return f"{op}\n{kernel}/{stride}, {attributes['num_filter']}", _COLOURS[1]
    if op == "FullyConnected":
        return f"{op}\n{attributes['num_hidden']}", _COLOURS[1]
    if op == "BatchNorm":
        return node["name"], _COLOURS[3]
    if op in ("Activation", "LeakyReLU"):
        return f"{op}\n{attributes.get('act_type', 'Leaky' if op == 'LeakyReLU' else '')}", _COLOURS[2]
    if op == "Pooling":
        kernel = "x".join(map(str, _numbers(attributes.get("kernel", "()")))) or "global"
        stride = "x".join(map(str, _numbers(attributes["stride"]))) if "stride" in attributes else "1"
        return f"Pooling\n{attributes.get('pool_type', 'max')}, {kernel}/{stride}", _COLOURS[4]
    if op in ("Concat", "Flatten", "Reshape"):
        return node["name"], _COLOURS[5]
    if op == "Softmax":
        return node["name"], _COLOURS[6]
    return node["name"], _COLOURS[7]


def _drawing_class():
    import shutil
    if shutil.which("dot"):
        try:
            from graphviz import Digraph
            return Digraph
        except ImportError:
            pass
    from ._drawing import Drawing
    return Drawing


def plot_network(symbol, title="plot", save_format="pdf", shape=None, dtype=None, node_attrs={}, hide_weights=True):
    """Draw a network, with its data at the bottom.

    The drawing is a ``graphviz.Digraph`` where the Python package graphviz and its program dot are
    there. Elsewhere it is an object with the same methods (`source`, `save`, `render`, `view`),
    which makes SVG. Notebooks show both.

    Parameters
    ----------
    symbol : Symbol
    title : str
        Name of the drawing, and of the file to which it can be rendered.
    save_format : str
        Format of that file.
    shape : dict of str to tuple, optional
        Shapes of the data; with them the edges are labelled.
    dtype : dict of str to type, optional
        Accepted as in MXNet 1.x; the drawing does not depend on it.
    node_attrs : dict of str to str
        Attributes of all nodes, in the language of graphviz.
    hide_weights : bool
        Leave out weights, biases and the like.

    Returns
    -------
    graphviz.Digraph or an object like it

    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=10, name='fc')
    >>> drawing = mx.viz.plot_network(net, shape={'data': (1, 4)}, save_format='svg')
    >>> drawing.render()
    'plot.gv.svg'
    """
    graph = _graph(symbol, "plot_network")
    nodes = graph["nodes"]
    shapes = _output_shapes(symbol, shape, dtype)
    common = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled", **node_attrs}
    dot = _drawing_class()(name=title, format=save_format)
    hidden = {i for i, node in enumerate(nodes)
              if node["op"] == "null" and hide_weights and node["name"].endswith(_HIDDEN_ENDINGS)}
    for index, node in enumerate(nodes):
        if index in hidden:
            continue
        attributes = dict(common)
        if node["op"] == "null":
            attributes["shape"] = "oval"
            label, colour = node["name"], _COLOURS[0]
        else:
            label, colour = _look(node)
        dot.node(name=node["name"], label=label, fillcolor=colour, **attributes)
    for index, node in enumerate(nodes):
        for source, output, *_ in node["inputs"]:
            if source not in hidden:
                dot.edge(tail_name=node["name"], head_name=nodes[source]["name"], dir="back", arrowtail="open",
                         label=_without_batch(_shape_of(nodes, source, output, shapes)))
    return dot
