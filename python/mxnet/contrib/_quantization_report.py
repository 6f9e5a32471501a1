"""Which layers of a quantized network compute in integers, which do not, and why."""
import warnings
from collections import namedtuple

from .._operators.functions import op_info
from .._startup.process import outside
from ..base import MXNetError

__all__ = ["LayerForm", "QuantizationReport"]

LayerForm = namedtuple("LayerForm", "name operator form why")
_NAMED = 3   # of the nodes that a line of the text is about


class QuantizationReport(list):
    """A row for each node of the network in float32, in the order in which they run: its `name` and
    `operator`, its `form`, and `why` it has that form where it is not an integer one. As text it is
    how many there are of each form, and a line for those in float32 of one operator and reason.

    The forms are 'integers', 'merged' (into a layer before it, as BatchNorm is) and 'float32'.

    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(3, prefix='a_'), mx.gluon.nn.Dense(3, prefix='b_'))
    >>> net.initialize()
    >>> int8 = mx.contrib.quantization.quantize_net(net, data_shapes=[(1, 2)], exclude_layers_match='b_')
    >>> for row in int8.quantization:
    ...     print(row.name, row.form, row.why)
    a_fwd integers None
    b_fwd float32 exclude_layers_match has 'b_'
    >>> int8.quantization.in_floats()
    ['b_fwd']
    """
    __module__ = "mxnet.contrib.quantization"

    def in_floats(self):
        """Names of the nodes that stay in float32."""
        return [row.name for row in self if row.form == "float32"]

    def __str__(self):
        counts = {form: sum(row.form == form for row in self) for form in ("integers", "merged", "float32")}
        lines = [f"{counts['integers']} nodes in integers, {counts['merged']} merged into others, {counts['float32']} in float32"]
        alike = {}
        for row in self:
            if row.form == "float32":
                alike.setdefault((row.operator, row.why), []).append(row.name)
        for (operator, why), names in alike.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            lines.append(f"  {operator}: {why} ({', '.join(names[:_NAMED])}{more})")
        return "\n".join(lines)


def operator_or_none(name):
    """The name that an operator goes by first."""
    try:
        return op_info(name).name
    except MXNetError:
        return None


def warn_of_unknown_names(original, layers, parts, operators):
    """A name that is nothing's stays without effect, which nobody would notice."""
    names = [node.name for node in original.nodes() if node.op not in (None, "null")]
    unknown = {"exclude_layers": [name for name in layers if name not in names],
               "exclude_layers_match": [part for part in parts if not any(part in name for name in names)],
               "exclude_operators": [name for name in operators if operator_or_none(name) is None]}
    said = [f"{argument} has {', '.join(map(repr, found))}" for argument, found in unknown.items() if found]
    if said:
        warnings.warn(f"[quantization] {'; '.join(said)}: no node of the network, or no operator, is called so; "
                      f"accepted: names of nodes, such as {names[:3]}, parts of these, and operators", stacklevel=outside())


def report_of(original, folded, quantized, asked):
    """The report of a network.

    `original`: the graph in float32, and `folded` what parameters were folded into. `quantized`:
    what was made of it. `asked`: the "layers", "parts" of names and "operators" that are to stay,
    and which nodes would become integers "without smart" choice, and "without floats" around them.
    """
    made = {node.name for node in quantized.nodes()}
    kept = {node.name for node in folded.nodes()}

    def why(node):
        if node.name in asked["layers"]:
            return "exclude_layers names it"
        part = next((part for part in asked["parts"] if part in node.name), None)
        if part is not None:
            return f"exclude_layers_match has {part!r}"
        if operator_or_none(node.op) in asked["operators"]:
            return f"exclude_operators has {node.op}"
        if node.name in asked["without smart"]:
            return "quantize_mode 'smart': it does not lie between two layers in integers"
        if node.name in asked["without floats"]:
            return "what it reads and what reads it are floats, or it moves floats"
        return f"{node.op} has no form on integers, or none for its parameters and readers"

    rows = QuantizationReport()
    for node in original.nodes():
        if node.op in (None, "null"):
            continue
        if "quantized_" + node.name in made:
            rows.append(LayerForm(node.name, node.op, "integers", None))
        elif node.name not in kept:
            rows.append(LayerForm(node.name, node.op, "merged", "its numbers are in the parameters of the layer before it"))
        else:
            rows.append(LayerForm(node.name, node.op, "float32", why(node)))
    return rows
