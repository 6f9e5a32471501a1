"""Whole random models."""

import numpy as np

from . import control, layers, moves, patterns, pointwise, quantized  # noqa: F401  (register)
from .graph import F, G, NP2T, Reject, domains_of, h, node_reads, tensor
from .registry import OPS


class Case:
    """A model and the inputs of its calls."""

    def __init__(self, model, feeds, seed=None):
        self.model, self.feeds, self.seed = model, feeds, seed


def generate(seed, only=None):
    """The case of that number; None: nothing came of it."""
    g = G(seed)
    r = g.rng
    target = int(r.choice([3, 5, 8, 12, 20, 30, 40]))
    table = [(f, w) for f, w, since in OPS.values() if since <= g.opset and (only is None or f.__name__ in only)]
    focus = {f.__name__ for f, _ in table if r.rand() < 0.3} if r.rand() < 0.6 else None
    if focus:
        table = [(f, w) for f, w in table if f.__name__ in focus] or table
    p = np.array([w for _, w in table], float)
    p /= p.sum()
    for _ in range(r.randint(1, 3)):
        g.input(g.dims(r.randint(1, 5)))
    if r.rand() < 0.04:  # nothing in it
        s = g.dims(r.randint(1, 4))
        s[r.randint(len(s))] = 0
        g.input(s)
    tries = 0
    while len(g.nodes) < target and tries < 4 * target:
        tries += 1
        f = table[r.choice(len(table), p=p)][0]
        try:
            f(g)
        except Reject:
            pass
    return finish(g, seed)


def has_lengths(n):
    """Does onnxruntime read behind sequences that are shorter than the node says?"""
    return n.op_type == "ReverseSequence" or (n.op_type in ("LSTM", "GRU", "RNN") and len(n.input) > 4 and n.input[4] != "")


def finish(g, seed):
    """Chooses results and free sizes."""
    r = g.rng
    made = [n for n in g.order if n not in g.inputs]
    if not made:
        return None
    read = set().union(*[node_reads(n) for n in g.nodes])
    leaves = [n for n in made if n not in read]
    outs = [n for n in leaves if r.rand() < 0.9]
    outs += [n for n in made if n in read and r.rand() < 0.06]
    outs += [n for n in g.wanted if n in g.vals]
    if r.rand() < 0.05 and g.inputs:
        outs.append(g.pick(list(g.inputs)))  # an input that is returned
    if r.rand() < 0.05 and g.consts:
        outs.append(g.pick(list(g.consts)))
    outs = list(dict.fromkeys(outs)) or made[-1:]
    r.shuffle(outs)
    dynamic = r.rand() < 0.5 and not any(has_lengths(n) for n in g.nodes)
    free = {}
    infos = []
    for n in g.inputs:
        s = g.shape(n)
        dims = []
        for i, d in enumerate(s):
            if dynamic and (d in free or r.rand() < 0.5):
                free.setdefault(d, f"d{d}" if r.rand() < 0.9 else None)
                dims.append(free[d] if free[d] else None)
            else:
                dims.append(d)
        infos.append((n, g.dt(n), dims))
    used = [n for n in infos if n[0] in read or n[0] in outs or r.rand() < 0.3] or infos[:1]
    model = make_model(g, used, outs)
    return Case(model, calls(g, used, free, dynamic), seed)


def calls(g, used, free, dynamic):
    """Six calls: the first values, others, other sizes twice, the first ones again, other sizes.
    Equal sizes stay equal."""
    r = g.rng
    feeds = [{n: g.vals[n] for n, _, _ in used}]
    for step in range(5):
        now = {d: d for d in free}
        if dynamic and step in (1, 2, 4):
            for d in free:
                if r.rand() < 0.7:
                    now[d] = int(r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17]))
        feed = {}
        for n, t, dims in used:
            first = feeds[0][n]
            shape = [d if isinstance(known, int) else now[d] for d, known in zip(first.shape, dims)]
            feed[n] = first if step == 3 and shape == list(first.shape) else g.data(shape, t, g.inputs[n])
        feeds.append(feed)
    return feeds


def make_model(g, inputs, outs):
    """Nodes keep their order; names of outputs are of the file."""
    infos = [h.make_tensor_value_info(n, NP2T[d], s) for n, d, s in inputs]
    ois = []
    for n in outs:
        v = g.vals[n]
        s = None if g.rng.rand() < 0.3 else [None] * v.ndim
        ois.append(h.make_tensor_value_info(n, NP2T[v.dtype.name], s))
    inits = [tensor(v, n) for n, v in g.consts.items()]
    if g.rng.rand() < 0.05 and g.consts:  # an initializer that may be overridden
        n = g.pick(list(g.consts))
        v = g.consts[n]
        if v.dtype.name in F:
            infos.append(h.make_tensor_value_info(n, NP2T[v.dtype.name], v.shape))
    graph = h.make_graph(g.nodes, f"random{g.opset}", infos, ois, inits)
    opsets = [h.make_opsetid("", g.opset)] + [h.make_opsetid(d, 1) for d in sorted(domains_of(g.nodes)) if d]
    return h.make_model(graph, opset_imports=opsets, ir_version=10 if g.opset > 20 else 9 if g.opset > 10 else 7)
