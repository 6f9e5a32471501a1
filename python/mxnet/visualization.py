"""Networks as tables and as drawings."""
import math

from ._operators.functions import op_info
from ._display.plot import PARAMETER_ENDINGS, draw, output_shapes, shape_of, without_batch
from .symbol import Symbol

__all__ = ["plot_network", "print_summary"]


def _check_symbol(symbol, caller):
    if not isinstance(symbol, Symbol):
        raise TypeError(f"[{caller}] symbol must be Symbol, {type(symbol).__name__} was given")


def _count_by_attributes(node):
    """What an operator's own attributes say of its number of parameters, when no shapes are
    known."""
    if node.op in ("Convolution", "FullyConnected"):
        return 0 if node.params["no_bias"] else node.params["num_filter" if node.op == "Convolution" else "num_hidden"]
    if node.op == "Embedding":
        return node.params["input_dim"] * node.params["output_dim"]
    return 0


def _places(node):
    """What an operator calls its inputs. A variable of any name is a weight where it has one."""
    return [] if node.is_variable else op_info(node.op).inputs


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

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=3, name='fc')
    >>> mx.viz.print_summary(net, shape={'data': (1, 4)}, line_length=70)
    ______________________________________________________________________
    Layer (type)                  Output Shape  Param #Previous Layer
    ======================================================================
    data(null)                    4             0
    ______________________________________________________________________
    fc(FullyConnected)            3             15     data
    ======================================================================
    Total params: 15
    ______________________________________________________________________
    """
    _check_symbol(symbol, "print_summary")
    nodes = symbol._without_amp_cast().nodes()
    shapes = output_shapes(symbol, shape)
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
    shown = [node for node in nodes if not node.is_variable or node.index == 0]
    total, counted = 0, set()
    for node in shown:
        previous, count = [], 0
        places = _places(node)
        for position, (source, output) in enumerate(node.inputs):
            name = source.name
            place = "_" + places[position] if position < len(places) else ""
            if not source.is_variable or source.index == 0:
                previous.append(name)
            elif name not in auxiliary and name not in counted and (name + place).endswith(PARAMETER_ENDINGS):
                counted.add(name)               # a shared parameter belongs to the first that uses it
                known = shape_of(source, output, shapes)
                count += math.prod(known) if known else 0
        if not shapes:
            count = _count_by_attributes(node)
        total += count
        row([f"{node.name}({node.op})", without_batch(shape_of(node, 0, shapes)), count,
             previous[0] if previous else ""])
        for name in previous[1:]:
            row(["", "", "", name])
        print(("=" if node is nodes[-1] else "_") * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


def _drawing_class():
    import shutil
    if shutil.which("dot"):
        try:
            from graphviz import Digraph
            return Digraph
        except ImportError:
            pass
    from ._display.drawing import Drawing
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
        dtypes of the data; with them the labels of edges end in the dtype.
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
    _check_symbol(symbol, "plot_network")
    return draw(_drawing_class(), symbol, title, save_format, shape, dtype, node_attrs, hide_weights)
