"""Branches, loops and sequences."""

import numpy as np

from .graph import Reject, T, h
from .patterns import red
from .quantized import f32
from .registry import op


def small(g, x, nodes, tag):
    """Random pointwise nodes in a body on value x (shape and dtype stay)."""
    for i in range(g.rng.randint(1, 4)):
        y = f"{tag}_{len(nodes)}"
        r = g.rng.rand()
        if r < 0.5:
            nodes.append(h.make_node(g.pick(["Relu", "Tanh", "Sigmoid", "Neg", "Abs"]), [x], [y]))
        else:
            nodes.append(h.make_node(g.pick(["Mul", "Add", "Sub", "Max", "Min"]), [x, g.outer(tag)], [y]))
        x = y
    return x


@op(2, 11)
def if_(g):
    x = f32(g, 1, 4)
    g.outer = lambda tag: x if g.p(0.4) else g.const(np.asarray(g.pick([0.5, 2.0]), "float32"))
    if g.p(0.3):
        cond = g.const(np.asarray(g.p(0.5)))
    elif g.p(0.5):
        cond = g.input([], "bool")
    else:
        m = red(g, "ReduceMean", x, list(range(len(g.shape(x)))), 0)
        cond = g.add("Greater", [m, g.const(np.asarray(0, "float32"))])
    bodies = []
    k = g.rng.randint(1, 3)
    for b in "te":
        nodes, outs = [], []
        tag = g.name(b)
        for j in range(k):
            if g.p(0.15):
                o = x
                y = f"{tag}o{j}"
                nodes.append(h.make_node("Identity", [o], [y]))
            else:
                y = small(g, x, nodes, f"{tag}_{j}")
                if g.p(0.15):  # other shapes
                    z = y + "c"
                    nodes.append(h.make_node("Concat", [y, x], [z], axis=0))
                    y = z
            outs.append(y)
        bodies.append(h.make_graph(nodes, tag, [], [h.make_tensor_value_info(o, T.FLOAT, None) for o in outs]))
    names = [g.name("if") for _ in range(k)]
    g.run_nodes([h.make_node("If", [cond], names, name=names[0] + "_If", then_branch=bodies[0], else_branch=bodies[1])], names)


@op(2, 11)
def loop(g):
    x = f32(g, 0, 3)
    g.outer = lambda tag: x if g.p(0.4) else g.const(np.asarray(g.pick([0.5, 0.9]), "float32"))
    tag = g.name("l")
    nodes = []
    y = small(g, tag + "s", nodes, tag)
    y = small_bound(g, y, nodes, tag)
    outs = [tag + "co", y]
    stop = g.p(0.4)
    if stop:  # a condition that depends on the round
        lim = g.const(np.asarray(g.pick([1, 2]), "int64"))
        nodes.append(h.make_node("Less", [tag + "i", lim], [tag + "co"]))
    else:
        nodes.append(h.make_node("Identity", [tag + "c"], [tag + "co"]))
    scan = g.p(0.6)
    once = scan  # their sizes without a round are not those of onnxruntime
    if scan:
        z = small(g, tag + "s", nodes, tag + "z")
        if z in (y,):
            z = tag + "zz"
            nodes.append(h.make_node("Identity", [y], [z]))
        outs.append(z)
    ins = [
        h.make_tensor_value_info(tag + "i", T.INT64, []),
        h.make_tensor_value_info(tag + "c", T.BOOL, []),
        h.make_tensor_value_info(tag + "s", T.FLOAT, None),
    ]
    infos = [h.make_tensor_value_info(outs[0], T.BOOL, [])] + [h.make_tensor_value_info(o, T.FLOAT, None) for o in outs[1:]]
    body = h.make_graph(nodes, tag, ins, infos)
    trip = g.const(np.asarray(g.pick([1, 2, 3, 5] if once else [0, 1, 2, 3, 5]), "int64")) if g.p(0.8) else ""
    if trip == "" and not stop:
        raise Reject("endless")
    cond = g.const(np.asarray(once or g.p(0.9))) if g.p(0.6) or trip == "" else ""
    names = [g.name("lo") for _ in outs[1:]]
    g.run_nodes([h.make_node("Loop", [trip, cond, x], names, name=names[0] + "_Loop", body=body)], names)


def small_bound(g, y, nodes, tag):
    z = tag + "_b"
    nodes.append(h.make_node("Tanh", [y], [z]))
    return z


@op(2, 9)
def scan(g):
    x = f32(g, 2, 4)
    s = g.shape(x)
    tag = g.name("sc")
    st = g.input(s[1:], "float32") if g.p(0.5) else g.const(np.zeros(s[1:], "float32"))
    g.outer = lambda t: g.const(np.asarray(g.pick([0.5, 0.9]), "float32"))
    nodes = [h.make_node("Add", [tag + "s", tag + "x"], [tag + "a"])]
    y = small_bound(g, small(g, tag + "a", nodes, tag), nodes, tag)
    z = small(g, y, nodes, tag + "z")
    if z == y:
        z = tag + "q"
        nodes.append(h.make_node("Identity", [y], [z]))
    body = h.make_graph(
        nodes,
        tag,
        [h.make_tensor_value_info(tag + n, T.FLOAT, None) for n in "sx"],
        [h.make_tensor_value_info(o, T.FLOAT, None) for o in (y, z)],
    )
    names = [g.name("st"), g.name("sy")]
    a = {}
    if g.p(0.3):
        a["scan_input_directions"] = [1]
    if g.p(0.3):
        a["scan_output_directions"] = [1]
    g.run_nodes([h.make_node("Scan", [st, x], names, name=names[0] + "_Scan", body=body, num_scan_inputs=1, **a)], names)


@op(1, 11)
def sequences(g):
    x = f32(g, 1, 3)
    a, b = g.name("q"), g.name("q")
    g.opaque.add(a)
    y = g.find(lambda v: v.dtype.name == "float32" and v.ndim == len(g.shape(x)), lambda: g.input(g.shape(x), "float32"))
    nodes = [h.make_node("SequenceConstruct", [x, y, x], [a], name=a + "_S")]
    if g.p(0.5):
        i = g.const(np.asarray(g.pick([0, 1, -1]), "int64"))
        nodes.append(h.make_node("SequenceAt", [a, i], [b], name=b + "_A"))
    else:
        nodes.append(h.make_node("ConcatFromSequence", [a], [b], name=b + "_C", axis=g.pick([0, -1])))
    g.run_nodes(nodes, [b])
