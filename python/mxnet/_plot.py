"""Shapes, labels and colours of a network's nodes, and its drawing."""
import json

__all__ = ["PARAMETER_ENDINGS", "attributes_of", "draw", "output_shapes", "shape_of", "without_batch"]

PARAMETER_ENDINGS = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var",
                      "_running_mean", "_parameters")
_HIDDEN_ENDINGS = PARAMETER_ENDINGS[:-1]       # a drawing of 1.9.1 shows the parameters of RNN


def attributes_of(node):
    return node.get("attrs") or node.get("attr") or node.get("param") or {}


def _numbers(text):
    """'(2, 3)' as [2, 3]."""
    return [int(part) for part in text.strip("()[] ").split(",") if part.strip()]


def output_shapes(symbol, shape, dtype=None):
    """Shapes of all outputs of all nodes by name, given those of the data; and the names of
    auxiliary states."""
    if shape is None:
        return {}
    internals = symbol.get_internals()
    _, shapes, _ = internals.infer_shape(**shape)
    if shapes is None:
        raise ValueError(f"[visualization] Input shape is incomplete: {shape}")
    return dict(zip(internals.list_outputs(), shapes))


def shape_of(nodes, index, output, shapes):
    """Shape of an output of a node, None if it is not known."""
    node = nodes[index]
    if node["op"] == "null":
        return shapes.get(node["name"])
    key = node["name"] + "_output"
    return shapes.get(key, shapes.get(f"{key}{output}"))


def without_batch(shape):
    return "" if shape is None else "x".join(map(str, shape[1:]))


_COLOURS = ("#8dd3c7", "#fb8072", "#ffffb3", "#bebada", "#80b1d3", "#fdb462", "#b3de69", "#fccde5")


def _look(node):
    """Label and colour of an operator."""
    op, attributes = node["op"], attributes_of(node)
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


def draw(drawing, symbol, title="plot", save_format="pdf", shape=None, dtype=None, node_attrs={}, hide_weights=True):
    """What :func:`plot_network` returns, of the class `drawing`."""
    nodes = json.loads(symbol.tojson())["nodes"]
    shapes = output_shapes(symbol, shape, dtype)
    common = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled", **node_attrs}
    dot = drawing(name=title, format=save_format)
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
                         label=without_batch(shape_of(nodes, source, output, shapes)))
    return dot
