"""The nodes of one graph, converted in turn: those of the model, of a loop's body, of a branch."""
from ...base import MXNetError
from . import families, folding, shapes
from .conversion import Conversion
from .graph import identifier
from .shapes import Value

__all__ = ["Scope", "check_operators", "unknown_operators"]


def unknown_operators(nodes, known=()):
    """{operator: names of nodes} without a converter, those of inner graphs among them."""
    listed = {}

    def look(part, skipped):
        for node in part:
            if not node.is_variable and node.index not in skipped and families.find(node.op) is None:
                listed.setdefault(node.op, []).append(node.name)
            for symbol in node.subgraphs:
                look(symbol.nodes(), ())

    look(nodes, known)
    return listed


def check_operators(nodes, known):
    """An error that names all nodes without a converter."""
    listed = unknown_operators(nodes, known)
    if listed:
        text = "; ".join(f"{op} ({', '.join(names)})" for op, names in listed.items())
        raise MXNetError(f"[onnx.export_model] no ONNX operators are known for {text}; "
                         "accepted: operators of mx.onnx.get_operator_support()")


class Scope:
    """The nodes of a symbol.

    Parameters
    ----------
    symbol : Symbol
    inferred : Inferred
        What :mod:`.shapes` found out about its results.
    parameters : dict of str to NDArray
        Variables whose values are known now.
    """

    def __init__(self, symbol, inferred, parameters, verbose=False):
        self.nodes, self._inferred = inferred.nodes, inferred
        self._internals, self._parameters = symbol.get_internals(), parameters
        self._verbose = verbose
        self.heads = [(self.nodes[n.index], i) for n, i in symbol.nodes().heads]
        self.values = {}        # (index of node, output): Value
        self.known = folding.foldable(self.nodes, parameters, self._all)

    def unknown(self, node, output):
        """A result as far as it is inferred, without a name."""
        dims, dtype = self._inferred.found.get((node.index, output), (None, None))
        return Value(None, dims, dtype)

    def outputs(self, node):
        """All visible results of a node."""
        return [self.unknown(node, i) for i in range(len(node.outputs))
                if (node.index, i) in self._inferred.found] or [self.unknown(node, 0)]

    def _all(self, node):
        return [self.unknown(node, i) for i in range(len(node.outputs))]

    def fold(self, graph):
        """Note results that are known now as constants of the graph."""
        made = folding.fold(self._internals, self.nodes, self.heads, self.known, self._parameters)
        for (index, output), array in made.items():
            value = self.unknown(self.nodes[index], output)
            value.name = graph.unique(self.nodes[index].outputs[output])
            value.array = graph.arrays[value.name] = array
            self.values[index, output] = value
        for index in self.known:        # of results that nobody reads
            self.values.setdefault((index, 0), self.unknown(self.nodes[index], 0))

    def rest(self):
        """Nodes that are still to be converted."""
        return [n for n in self.nodes if (n.index, 0) not in self.values]

    def convert(self, graph, dimensions, node):
        """Write the ONNX nodes that stand for a node."""
        inputs = [self.values[source.index, i] for source, i in node.inputs]
        outputs = self.outputs(node)
        start = len(graph.nodes)
        conversion = Conversion(graph, dimensions, node, inputs, outputs, self._inner)
        results = families.find(node.op)(conversion)
        results = [results] if isinstance(results, str) else list(results)
        name = identifier(node.name)
        for i, (result, value) in enumerate(zip(results, outputs)):
            if result is not None:
                wanted = name if len(outputs) == 1 else f"{name}{i}"
                value.name = graph.rename(start, result, wanted)
                self.values[node.index, i] = value
        if self._verbose:
            print(f"{node.name}: {node.op} -> "
                  f"{', '.join(n.op_type for n in graph.nodes[start:]) or 'nothing'}")

    def results(self):
        """What the symbol returns."""
        for node, output in self.heads:
            if (node.index, output) not in self.values:
                raise MXNetError(f"[onnx.export_model] node {node.name!r}, operator {node.op}: "
                                 f"output {output} cannot be exported; accepted: its other outputs")
        return [self.values[node.index, output] for node, output in self.heads]

    # ---- graphs that nodes hold

    def _inner(self, graph, dimensions, symbol, given):
        """The results of `symbol`, a graph that a node holds, written to `graph`; `given` has the
        values of its variables in the order of `list_inputs()`."""
        by_name = dict(zip(symbol.list_inputs(), given))
        scope = Scope(symbol, shapes.infer_inner(symbol, by_name, self._inferred),
                      {name: v.array for name, v in by_name.items() if v.array is not None},
                      self._verbose)
        for node in scope.nodes:
            if node.is_variable:
                scope.values[node.index, 0] = by_name[node.name]
        scope.fold(graph)
        for node in scope.rest():
            scope.convert(graph, dimensions, node)
        return scope.results()
