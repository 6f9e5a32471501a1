"""Shapes, labels and colours of a network's nodes, and its drawing."""
from collections.abc import Mapping

__all__ = ["PARAMETER_ENDINGS", "draw", "output_shapes", "shape_of", "without_batch"]

PARAMETER_ENDINGS = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var",
                      "_running_mean", "_parameters")
_HIDDEN_ENDINGS = PARAMETER_ENDINGS[:-1]       # a drawing of 1.9.1 shows the parameters of RNN


def output_shapes(symbol, shape):
    """Shapes of all outputs of all nodes by name, given those of the data; and the names of
    auxiliary states."""
    if shape is None:
        return {}
    internals = symbol.get_internals()
    _, shapes, _ = internals.infer_shape(**shape)
    if shapes is None:
        raise ValueError(f"[visualization] Input shape is incomplete: {shape}")
    return dict(zip(internals.list_outputs(), shapes))


def _output_types(symbol, dtype):
    """Names of the dtypes of all outputs of all nodes by name, given those of the data."""
    if dtype is None:
        return {}
    if not isinstance(dtype, Mapping):
        raise TypeError(f"[plot_network] dtype={dtype!r}; accepted: a dictionary from names of inputs to dtypes")
    internals = symbol.get_internals()
    _, types, _ = internals.infer_type(**dtype)
    if types is None:
        raise ValueError(f"[plot_network] Input type is incomplete: {dtype}")
    return {name: getattr(kind, "__name__", str(kind)) for name, kind in zip(internals.list_outputs(), types)}


def shape_of(node, output, shapes):
    """Shape of an output of a node, None if it is not known; or what else `shapes` has."""
    if node.is_variable:
        return shapes.get(node.name)
    key = node.name + "_output"
    return shapes.get(key, shapes.get(f"{key}{output}"))


def without_batch(shape):
    return "" if shape is None else "x".join(map(str, shape[1:]))


_COLOURS = ("#8dd3c7", "#fb8072", "#ffffb3", "#bebada", "#80b1d3", "#fdb462", "#b3de69", "#fccde5")


def _sizes(node, name):
    return "x".join(map(str, node.params[name] or ()))


def _kernel(node, whole):
    """The size of a kernel and its steps; `whole` stands for a kernel without a size."""
    return f"{_sizes(node, 'kernel') or whole}/{_sizes(node, 'stride') if 'stride' in node.attrs else 1}"


def _look(node):
    """Label and colour of an operator."""
    op = node.op
    if op == "Convolution":
        return f"{op}\n{_kernel(node, '')}, {node.params['num_filter']}", _COLOURS[1]
    if op == "FullyConnected":
        return f"{op}\n{node.params['num_hidden']}", _COLOURS[1]
    if op == "BatchNorm":
        return node.name, _COLOURS[3]
    if op in ("Activation", "LeakyReLU"):
        return f"{op}\n{node.attrs.get('act_type', 'Leaky' if op == 'LeakyReLU' else '')}", _COLOURS[2]
    if op == "Pooling":
        return f"Pooling\n{node.params['pool_type']}, {_kernel(node, 'global')}", _COLOURS[4]
    if op in ("Concat", "Flatten", "Reshape"):
        return node.name, _COLOURS[5]
    if op == "Softmax":
        return node.name, _COLOURS[6]
    return node.name, _COLOURS[7]


def draw(drawing, symbol, title="plot", save_format="pdf", shape=None, dtype=None, node_attrs={}, hide_weights=True):
    """What :func:`plot_network` returns, of the class `drawing`."""
    nodes = symbol._without_amp_cast().nodes()
    shapes = output_shapes(symbol, shape)
    types = _output_types(symbol, dtype)

    def label_of(source, output):
        kind = shape_of(source, output, types)
        return without_batch(shape_of(source, output, shapes)) + (f"({kind})" if kind else "")
    common = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled", **node_attrs}
    dot = drawing(name=title, format=save_format)
    shown = [node for node in nodes if not (node.is_variable and hide_weights and node.name.endswith(_HIDDEN_ENDINGS))]
    for node in shown:
        attributes = dict(common)
        if node.is_variable:
            attributes["shape"] = "oval"
            label, colour = node.name, _COLOURS[0]
        else:
            label, colour = _look(node)
        dot.node(name=node.name, label=label, fillcolor=colour, **attributes)
    places = {node.index for node in shown}
    for node in nodes:
        for source, output in node.inputs:
            if source.index in places:
                dot.edge(tail_name=node.name, head_name=source.name, dir="back", arrowtail="open", label=label_of(source, output))
    return dot
