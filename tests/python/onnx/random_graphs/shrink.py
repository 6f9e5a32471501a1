"""Smaller models that still fail."""

import copy
import numpy as np
import onnx
from onnx import helper as h, numpy_helper as nh

from . import compare as J
from .generate import Case
from .graph import NP2T, node_reads, session


def prune(model):
    """Only what the outputs need."""
    g = model.graph
    need = {o.name for o in g.output}
    keep = []
    for n in reversed(g.node):
        if any(o in need for o in n.output if o):
            keep.append(n)
            need |= node_reads(n)
    keep = [copy.deepcopy(n) for n in reversed(keep)]
    del g.node[:]
    g.node.extend(keep)
    for field in (g.initializer, g.input):
        left = [copy.deepcopy(t) for t in field if t.name in need]
        del field[:]
        field.extend(left)
    return model


def all_values(case):
    """Values of each tensor in each feed."""
    m = copy.deepcopy(case.model)
    have = {o.name for o in m.graph.output} | {i.name for i in m.graph.input}
    names = [o for n in m.graph.node for o in n.output if o and o not in have]
    res = []
    full = copy.deepcopy(m)
    full.graph.output.extend([h.make_empty_tensor_value_info(o) for o in names])
    try:
        s = session(full)
        outs = [o.name for o in s.get_outputs()]
        for f in case.feeds:
            try:
                r = dict(zip(outs, s.run(outs, f)))
            except Exception:  # noqa: BLE001
                r = None
            res.append(r)
    except Exception:  # noqa: BLE001
        return [None] * len(case.feeds)
    return res


def fails(case, key):
    try:
        session(case.model)
    except Exception:  # noqa: BLE001
        return False
    try:
        found = J.judge(case)
    except Exception:  # noqa: BLE001
        return False
    return any(kind(t) == key for _, _, t in found)


def kind(text):
    """What a failure is: other causes should not take its place while the graph shrinks."""
    return " ".join(text.split(" ")[:2]) if text.startswith(("run", "load")) else text.split(" ")[0]


def pruned(case, change):
    """The case after `change`, of a copy of its model, and without what nobody reads then."""
    m = copy.deepcopy(case.model)
    change(m)
    return restrict(Case(prune(m), case.feeds))


def with_outputs(case, outputs):
    def change(m):
        kept = [copy.deepcopy(o) for o in outputs]
        del m.graph.output[:]
        m.graph.output.extend(kept)

    return pruned(case, change)


def candidates(case):
    """Smaller cases: fewer calls, fewer outputs, earlier outputs, nodes whose results are given."""
    outputs, feeds = list(case.model.graph.output), case.feeds
    for i in range(len(feeds) if len(feeds) > 1 else 0):
        yield Case(case.model, feeds[:i] + feeds[i + 1 :])
    if len(outputs) > 1:
        for o in outputs:
            yield with_outputs(case, [o])
        for o in outputs:
            yield with_outputs(case, [p for p in outputs if p.name != o.name])
    values = all_values(case)
    if any(v is None for v in values):
        return
    ends = {o.name for o in outputs}
    for n in case.model.graph.node:
        made = [o for o in n.output if o]
        if any(o not in v or isinstance(v[o], list) for o in made for v in values):
            continue
        for o in made:
            if o not in ends:
                yield with_outputs(case, [h.make_tensor_value_info(o, NP2T[np.asarray(values[0][o]).dtype.name], None)])
        if not ends & set(made):
            yield given(case, n, made, values)


def given(case, node, made, values):
    """The results of the node as inputs."""

    def change(m):
        nodes = [copy.deepcopy(n) for n in m.graph.node if n.output != node.output]
        del m.graph.node[:]
        m.graph.node.extend(nodes)
        for o in made:
            v = np.asarray(values[0][o])
            m.graph.input.append(h.make_tensor_value_info(o, NP2T[v.dtype.name], [None] * v.ndim))

    feeds = [{**f, **{o: np.asarray(v[o]) for o in made}} for f, v in zip(case.feeds, values)]
    return pruned(Case(case.model, feeds), change)


def shrink(case, found, tries=250):
    """The smallest case that was found to fail in the same way."""
    key = kind(found[0][2])
    changed = True
    while changed:
        changed = False
        for small in candidates(case):
            tries -= 1
            if tries < 0:
                return case
            if fails(small, key):
                case, changed = small, True
                break
    return case


def restrict(case):
    names = {i.name for i in case.model.graph.input}
    case.feeds = [{n: v for n, v in f.items() if n in names} for f in case.feeds]
    return case


def show(case):
    """The graph as text."""
    g = case.model.graph
    lines = [f"opset {[(o.domain, o.version) for o in case.model.opset_import]}"]
    lines += [f"call { ({n: (v.shape, v.dtype.name) for n, v in f.items()}) }" for f in case.feeds]
    lines.append("inputs " + ", ".join(f"{i.name}{[d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim]}" for i in g.input))
    for t in g.initializer:
        v = nh.to_array(t)
        lines.append(f"  {t.name} = {v.dtype} {v.shape} {v.ravel().tolist() if v.size <= 8 else '...'}")
    for n in g.node:
        at = {}
        for a in n.attribute:
            x = h.get_attribute_value(a)
            if a.type == onnx.AttributeProto.TENSOR:
                x = nh.to_array(x)
                x = f"{x.dtype}{x.shape}{x.ravel().tolist() if x.size <= 8 else '...'}"
            if a.type == onnx.AttributeProto.GRAPH:
                x = " ; ".join(f"{list(k.output)}={k.op_type}{list(k.input)}" for k in x.node) + " -> " + str([o.name for o in x.output])
            at[a.name] = x
        lines.append(f"  {list(n.output)} = {n.op_type}({', '.join(n.input)}) {at}")
    lines.append("outputs " + ", ".join(o.name for o in g.output))
    return "\n".join(lines)
