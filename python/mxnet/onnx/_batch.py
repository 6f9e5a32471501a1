"""One symbol for any batch, from the symbols that a model becomes for two of them."""
import ast
import json
import re

import numpy as np

from ..base import MXNetError

# Sizes of a free first dimension for which a model is converted; what differs follows the batch.
PROBES = (5, 7)
_FIXED = "accepted: shapes= with a fixed batch"


def _tuple(text):
    value = ast.literal_eval(text)
    return value if isinstance(value, tuple) else (value,)


def _place(first, second):
    """Where two tuples differ; None: nowhere, or in several places."""
    places = [i for i, (x, y) in enumerate(zip(first, second)) if x != y]
    return places[0] if len(first) == len(second) and len(places) == 1 else None


class _Law:
    """Of a constant: entry i of the batch along an axis is base + i * step, both without that axis.
    `outer`: the batch is the outer half of the axis of the constant, or the inner one."""

    def __init__(self, axis, outer, base, step):
        self.axis, self.base, self.step = axis, base, step
        self.at = axis if outer else axis + 1   # the axis of the batch once the axis of the constant is two


def _split(value, size, axis, outer):
    """As (batch, ...): the axis of the constant is the batch and what repeats in it."""
    each = value.shape[axis] // size
    halves = (size, each) if outer else (each, size)
    parts = value.reshape(value.shape[:axis] + halves + value.shape[axis + 1:])
    return np.moveaxis(parts, axis if outer else axis + 1, 0)


def _law(first, second):
    """None: a constant of the two batches follows none."""
    axis = _place(first.shape, second.shape)
    if axis is None or any(v.shape[axis] % n for v, n in zip((first, second), PROBES)) or \
            first.shape[axis] * PROBES[1] != second.shape[axis] * PROBES[0]:
        return None
    for outer in (True, False):
        a, b = (_split(v, n, axis, outer) for v, n in zip((first, second), PROBES))
        if a.dtype in (np.int32, np.int64):
            step = a[1] - a[0]
            if all(np.array_equal(v, a[0] + np.multiply.outer(np.arange(len(v)), step)) for v in (a, b)):
                return _Law(axis, outer, a[0], step)
        elif all(np.array_equal(v, np.broadcast_to(a[0], v.shape)) for v in (a, b)):
            return _Law(axis, outer, a[0], None)
    return None


class _Graph:
    """The nodes of a symbol, between which others are put."""

    def __init__(self, nodes, batch):
        self.old, self.nodes, self.places, self.batch = nodes, [], {}, batch

    def add(self, op, name, inputs, **attrs):
        self.nodes.append({"op": op, "name": name, "attrs": {k: str(v) for k, v in attrs.items()}, "inputs": [[i, 0, 0] for i in inputs]})
        return len(self.nodes) - 1

    def source(self):
        """The node of the input whose first dimension is the batch."""
        if self.batch not in self.places:   # it stands behind: inputs need nothing
            self.take(self.batch, self.old[self.batch])
        return self.places[self.batch]

    def take(self, at, node):
        if at in self.places:
            return
        self.nodes.append({**node, "inputs": [[self.places[i], *rest] for i, *rest in node["inputs"]]})
        self.places[at] = len(self.nodes) - 1

    def constant(self, at, node, law, params):
        """Gives a law's constant its number of entries again; the parameter becomes one of them."""
        name, source, lone = node["name"], self.source(), law.base.shape[law.axis] == 1
        where, one = (law.axis, lambda v: v) if lone else (law.at, lambda v: np.expand_dims(v, law.at))
        base = params[name] = one(law.base)
        self.take(at, {**node, "attrs": {k: v for k, v in node.get("attrs", {}).items() if k != "__shape__"}})
        rows = self.add("broadcast_like", name + "_rows", [self.places[at], source], lhs_axes=(where,), rhs_axes=(0,))
        if law.step is not None and law.step.any():
            params[name + "_step"] = one(law.step)
            count = self.add("_contrib_arange_like", name + "_count", [source], axis=0)
            count = self.add("Cast", name + "_number", [count], dtype=base.dtype)
            count = self.add("Reshape", name + "_column", [count], shape=tuple(-1 if i == where else 1 for i in range(base.ndim)))
            step = self.add("null", name + "_step", [])
            rows = self.add("broadcast_add", name + "_all", [rows, self.add("broadcast_mul", name + "_further", [count, step])])
        if not lone:
            shape = base.shape[:law.axis] + (-1,) + base.shape[law.axis + 2:]
            rows = self.add("Reshape", name + "_whole", [rows], shape=shape)
        self.places[at] = rows

    def repeat(self, at, axis):
        """Gives a node's result, which has one row, as many as the batch has."""
        self.places[at] = self.add("broadcast_like", self.nodes[self.places[at]]["name"] + "_rows", [self.places[at], self.source()],
                                   lhs_axes=(axis,), rhs_axes=(0,))

    def joined(self, text):
        """The symbol."""
        from ..symbol import load_json
        text["nodes"] = self.nodes
        text["heads"] = [[self.places[i], *rest] for i, *rest in text["heads"]]
        text["arg_nodes"] = [i for i, n in enumerate(self.nodes) if n["op"] == "null"]
        del text["node_row_ptr"]
        return load_json(json.dumps(text))


def _rows_of_one(node, first, second, shape):
    """The dimension in which a broadcast makes rows of the batch of one; None: there is none."""
    place = _place(first, second)
    if node["op"] not in ("_npi_broadcast_to", "broadcast_to") or place is None or shape is None or len(shape) != len(first):
        return None
    return place if shape[place] == 1 and (first[place], second[place]) == PROBES else None


def _attribute(node, key, first, second, shape):
    """(op, value) that serve any batch, from what an attribute is for two; None: there are none.
    `shape`: of the first operand, for the first batch."""
    if key not in ("newshape", "shape", "end"):
        return None
    a, b = _tuple(first), _tuple(second)
    place = _place(a, b)
    if place is None:
        return None
    op, put = node["op"], lambda value: str(tuple(value if i == place else x for i, x in enumerate(a)))
    if key in ("newshape", "shape") and "reshape" in op.lower():
        return op, put(-1)
    whole = shape is not None and place < len(shape) and a[place] == shape[place]
    backwards = "-" in node["attrs"].get("step", "")
    if op == "slice" and key == "end" and whole and not backwards and b[place] * PROBES[0] == a[place] * PROBES[1]:
        return op, put(None)   # to the end, which the batch moves
    rows = whole and len(shape) == len(a) or _rows_of_one(node, a, b, shape) is not None
    if op in ("_npi_broadcast_to", "broadcast_to") and key == "shape" and 0 not in a and rows:
        return "broadcast_to", put(0)   # as the operand has it; for rows of one see _Graph.repeat
    return None


def _followed(x, y, shape):
    """The node of two batches; throws where it is another."""
    ours, others = dict(x.get("attrs", {})), dict(y.get("attrs", {}))
    if x["op"] != y["op"] or x["inputs"] != y["inputs"] or set(ours) != set(others):
        raise MXNetError(f"[onnx] node {x['name']} is another for each batch; {_FIXED}")
    node = {**x, "attrs": ours}
    for key in [k for k in ours if ours[k] != others[k] and k != "__from__"]:
        found = _attribute(x, key, ours[key], others[key], shape)
        if found is None:
            raise MXNetError(f"[onnx] node {x['name']} ({x['op']}) has {key}={ours[key]} for one batch and {others[key]} for another; "
                             f"{_FIXED}")
        node["op"], ours[key] = found
    if ours.get("__from__") != others.get("__from__") or node["op"] != x["op"]:
        ours.pop("__from__", None)   # said of one batch alone
    return node


def _shapes(symbol, text, given):
    """Of the outputs of all nodes: for each node a list, empty where nothing is known."""
    from ..util import np_shape
    inner, inputs = symbol.get_internals(), set(symbol.list_inputs())
    with np_shape(True):   # without it () is an unknown shape
        known = inner.infer_shape_partial(**{k: v for k, v in given.items() if k in inputs})[1]
    names, found, at = inner.list_outputs(), [], 0
    for node in text["nodes"]:   # outputs that are no one's to read are in no list
        wanted = re.compile(re.escape(node["name"]) + ("$" if node["op"] == "null" else r"_output\d*$"))
        first = at
        while at < len(names) and wanted.match(names[at]):
            at += 1
        found.append(known[first:at])
    return found if at == len(names) else [[]] * len(found)


def join(first, second, probe, free):
    """(symbol, parameters) of two pairs of them. probe: shapes of the inputs for the first. free:
    names of inputs whose first dimension is the batch. Throws MXNetError where no one serves."""
    (symbol, params), (other, others) = first, second
    a, b = json.loads(symbol.tojson()), json.loads(other.tojson())
    if len(a["nodes"]) != len(b["nodes"]):
        raise MXNetError(f"[onnx] the model is another graph for each batch; {_FIXED}")
    batch = next((i for i, n in enumerate(a["nodes"]) if n["op"] == "null" and n["name"] in free), None)
    shapes = _shapes(symbol, a, {**probe, **{k: v.shape for k, v in params.items()}})
    def operand(node):
        made_by, output = node["inputs"][0][:2] if node["inputs"] else (0, len(shapes[0]))
        return shapes[made_by][output] if output < len(shapes[made_by]) else None
    graph, made = _Graph(a["nodes"], batch), {}
    for at, (x, y) in enumerate(zip(a["nodes"], b["nodes"])):
        node = _followed(x, y, operand(x))
        name = x["name"]
        if x["op"] != "null" or name not in params or (name in others and _same(params[name], others[name])):
            graph.take(at, node)
            rows = _rows_of_one(x, *(_tuple(n["attrs"]["shape"]) for n in (x, y)), operand(x)) if "broadcast_to" in x["op"] else None
            if rows is not None and batch is not None:
                graph.repeat(at, rows)
            continue
        law = _law(params[name].asnumpy(), others[name].asnumpy()) if name in others and batch is not None else None
        if law is None:
            raise MXNetError(f"[onnx] the constant {name} is another for each batch; {_FIXED}")
        graph.constant(at, node, law, made)
    from ..ndarray import array
    return graph.joined(a), {**params, **{k: array(v, dtype=v.dtype) for k, v in made.items()}}


def _same(a, b):
    return a.shape == b.shape and np.array_equal(a.asnumpy(), b.asnumpy(), equal_nan="float" in str(a.dtype))
