"""Results that depend on parameters alone, computed now by the library itself."""
from ... import symbol as sym
from ...context import cpu

__all__ = ["foldable", "fold"]

_SMALL = 1 << 16    # numbers of a result that is kept although its parameters are smaller


_DRAWS = """bernoulli choice exponential gamma gumbel laplace logistic multinomial normal normal_n
    pareto powerd rayleigh uniform uniform_n weibull"""
_RANDOM = frozenset({f"_npi_{name}" for name in _DRAWS.split()} | {"Dropout", "_draw_counters"})


def _is_random(op):
    """Whether each call gives other numbers."""
    return op in _RANDOM or any(word in op for word in ("random", "_sample", "shuffle"))


def _size(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def _grows(node, values):
    """Whether results are much larger than what they are made of, which the file would hold."""
    made = [v for v in values(node) if v.shape is not None]
    read = sum(_size(v.shape) for source, i in node.inputs for v in [values(source)[i]])
    return sum(_size(v.shape) for v in made) > max(_SMALL, 2 * read)


def foldable(nodes, parameters, values):
    """Indices of nodes whose results are known now.

    `values(node)` lists what is known of the node's results.
    """
    known = set()
    for node in nodes:
        if node.is_variable:
            if node.name in parameters:
                known.add(node.index)
        elif (all(source.index in known for source, _ in node.inputs) and not node.subgraphs
              and not _is_random(node.op) and not _keeps_form(node) and not _is_inferred(node)
              and all(_is_fixed(v) for v in values(node)) and not _grows(node, values)):
            known.add(node.index)
    return known


def _is_inferred(node):
    """Whether the shape of a result comes from what is done with it."""
    return not node.inputs and (0 in (node.params.get("shape") or ())
                                or bool(node.params.get("infer_range")))


def _keeps_form(node):
    """Whether readers want to see the node: weights of 8 bits."""
    return "quantize" in node.op


def _is_fixed(value):
    return value.dims is not None and all(len(set(d)) == 1 for d in value.dims)


def fold(internals, nodes, heads, known, parameters):
    """{(index of node, output): NDArray} of the results of `known` nodes that others read."""
    read = {(source.index, i) for node in nodes if node.index not in known
            for source, i in node.inputs}
    read.update((node.index, i) for node, i in heads)
    places = {(node.index, i): place for place, (node, i) in enumerate(internals.nodes().heads)}
    wanted = sorted(key for key in read
                    if key[0] in known and not nodes[key[0]].is_variable and key in places)
    if not wanted:
        return {}
    group = sym.Group([internals[places[key]] for key in wanted])
    arguments = {n: parameters[n] for n in group.list_arguments()}
    states = {n: parameters[n] for n in group.list_auxiliary_states()}
    results = group.bind(cpu(), arguments, aux_states=states, grad_req="null").forward()
    return dict(zip(wanted, results))
