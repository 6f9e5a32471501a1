"""Operators on numbers, reductions and normalisations."""

import numpy as np

from .graph import F, NP2T, Reject, T, h
from .registry import op

UN = [
    ("Relu", 7),
    ("Sigmoid", 7),
    ("Tanh", 7),
    ("Neg", 7),
    ("Abs", 7),
    ("Erf", 9),
    ("Floor", 7),
    ("Ceil", 7),
    ("Round", 11),
    ("Sign", 9),
    ("Sin", 7),
    ("Cos", 7),
    ("Softplus", 7),
    ("Softsign", 7),
    ("LeakyRelu", 7),
    ("Elu", 7),
    ("Selu", 7),
    ("HardSigmoid", 7),
    ("HardSwish", 14),
    ("Celu", 12),
    ("ThresholdedRelu", 10),
    ("Mish", 18),
    ("Gelu", 20),
    ("Identity", 7),
    ("Exp", 7),
    ("Shrink", 9),
    ("Atan", 7),
    ("Sinh", 9),
    ("Asinh", 9),
    ("Relu", 7),
    ("Sigmoid", 7),
    ("Tanh", 7),
]


@op(10)
def unary(g):
    x = g.fl()
    n, since = g.pick(UN)
    if since > g.opset:
        raise Reject("opset")
    a = {}
    if g.p(0.5):
        if n in ("LeakyRelu", "Elu", "ThresholdedRelu", "Celu"):
            a["alpha"] = float(g.pick([0.01, 0.2, 1.0, 0.5, 2.0]))
        if n == "HardSigmoid":
            a.update(alpha=float(g.pick([0.2, 1 / 6, 0.5])), beta=float(g.pick([0.5, 0.3])))
        if n == "Gelu":
            a["approximate"] = g.pick(["none", "tanh"])
        if n == "Shrink":
            a.update(lambd=0.3, bias=0.1)
        if n == "Selu":
            a.update(alpha=1.5, gamma=0.9)
    g.add(n, [x], **a)


@op(2)
def rooted(g):
    x = g.fl()
    a = g.add("Abs", [x])
    if g.p(0.7):
        a = g.add("Add", [a, g.const(np.asarray(0.1, g.dt(x)))])
    g.add(g.pick(["Sqrt", "Log", "Reciprocal"]), [a])


@op(2)
def clip(g):
    x = g.fl()
    lo, hi = g.pick([(0.0, 6.0), (-1.0, 1.0), (None, 1.0), (0.0, None), (0.5, 0.2)])
    if g.opset < 11:
        if g.dt(x) != "float32":
            raise Reject("dtype")
        g.add("Clip", [x], min=lo, max=hi)
    else:
        c = lambda v: "" if v is None else g.const(np.asarray(v, g.dt(x)))
        ins = [x, c(lo), c(hi)]
        while ins[-1] == "":
            ins.pop()
        g.add("Clip", ins)


@op(14)
def binary(g):
    x = g.fl()
    y = g.partner(x)
    n = g.pick(["Add", "Add", "Mul", "Mul", "Sub", "Div", "Max", "Min", "PRelu"])
    if n == "Div":
        g.add("Div", [x, g.add("Add", [g.add("Abs", [y]), g.const(np.asarray(1, g.dt(x)))])])
        return
    if n == "PRelu":
        y = g.const(g.data(g.bcast(g.shape(x))[-len(g.shape(x)) :] if g.shape(x) else (), g.dt(x)))
    if g.p(0.4) and n != "PRelu":
        x, y = y, x
    g.add(n, [x, y])


@op(2)
def pow_(g):
    x = g.fl()
    e = g.pick([2.0, 2.0, 3.0, 0.5, 1.0, 0.0, -1.0])
    if e in (0.5, -1.0):
        x = g.add("Add", [g.add("Abs", [x]), g.const(np.asarray(0.5, g.dt(x)))])
    t = g.dt(x)
    if e in (2.0, 3.0) and g.opset >= 12 and g.p(0.3):
        t = g.pick(["int32", "int64", "float32"])
    g.add("Pow", [x, g.const(np.asarray(e, t).reshape(g.pick([(), (1,)])))])


@op(2, 8)
def variadic(g):
    x = g.fl()
    ys = [g.partner(x) for _ in range(g.rng.randint(0, 4))]
    n = g.pick(["Sum", "Mean", "Max", "Min", "Sum"])
    g.add(n, [x] + ys)


@op(3, 9)
def compare(g):
    x = g.fl()
    y = g.partner(x)
    n = g.pick(["Greater", "Less"] + (["Equal"] if g.opset >= 11 else []) + (["GreaterOrEqual", "LessOrEqual"] if g.opset >= 12 else []))
    g.add(n, [x, y])


def boolean(g, shape=None):
    def test(v):
        if v.dtype.name != "bool":
            return False
        if shape is None:
            return True
        try:
            return np.broadcast_shapes(v.shape, shape) == tuple(shape)
        except ValueError:
            return False

    def new():
        return g.input(g.bcast(shape) if shape is not None else g.dims(g.rng.randint(1, 4)), "bool")

    return g.find(test, new)


@op(2)
def logical(g):
    x = boolean(g)
    if g.p(0.3):
        return g.add("Not", [x])
    g.add(g.pick(["And", "Or", "Xor"]), [x, g.partner(x)])


@op(3, 9)
def where(g):
    x = g.fl() if g.p(0.8) else g.find(lambda v: v.dtype.kind in "iu")
    y = g.partner(x)
    s = np.broadcast_shapes(g.shape(x), g.shape(y))
    c = boolean(g, s)
    g.add("Where", [c, x, y] if g.p(0.5) else [c, y, x])


@op(4)
def cast(g):
    x = g.find(lambda v: True)
    v = g.vals[x]
    to = g.pick(["float32", "float32", "float64", "float16", "int32", "int64", "bool", "uint8", "int8"])
    if v.dtype.name in F and to in ("int32", "int64", "int8", "uint8"):
        if g.p(0.7):
            x = g.add("Mul", [x, g.const(np.asarray(g.pick([3, 10]), v.dtype))])
        if to == "uint8":
            x = g.add("Abs", [x])
        if v.size and np.abs(g.vals[x].astype("float64")).max() > 120:
            raise Reject("range")
    elif to in ("uint8", "int8") and v.size and v.dtype != bool and (v.min() < 0 or v.max() > 120):
        raise Reject("range")
    y = g.add("Cast", [x], to=NP2T[to])
    if to in ("int32", "int64", "int8", "uint8", "bool") and v.dtype.name in F and g.p(0.7):
        g.add("Cast", [y], to=NP2T[g.floats])


@op(1, 13)
def bfloat(g):
    """float32 -> bfloat16 -> moves -> float32"""
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim > 0)
    a, b, c = g.name("b"), g.name("b"), g.name("b")
    g.opaque |= {a, b}
    perm = [int(i) for i in g.rng.permutation(len(g.shape(x)))]
    mid = h.make_node("Transpose", [a], [b], perm=perm, name=b + "_T")
    g.run_nodes(
        [h.make_node("Cast", [x], [a], to=T.BFLOAT16, name=a + "_C"), mid, h.make_node("Cast", [b], [c], to=T.FLOAT, name=c + "_C")], [c]
    )


@op(4)
def ints(g):
    x = g.find(lambda v: v.dtype.name in ("int32", "int64"), lambda: g.input(g.dims(g.rng.randint(0, 4)), g.pick(["int32", "int64"])))
    t = g.dt(x)
    n = g.pick(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Neg", "Abs", "Less"])
    if n in ("Max", "Min") and g.opset < 12 or n == "Mod" and g.opset < 10 or n == "Less" and g.opset < 9:
        raise Reject("opset")
    if n in ("Neg", "Abs"):
        return g.add(n, [x])
    if n in ("Div", "Mod"):
        y = g.const(np.asarray(g.pick([1, 2, 3, -3, 7]) if n == "Mod" else g.pick([1, 2, 3, 7]), t))
        return g.add(n, [x, y], fmod=1 if n == "Mod" and g.p(0.3) else None)
    g.add(n, [x, g.partner(x)])


@op(6)
def reduce(g):
    x = g.fl(empty=False)
    nd = len(g.shape(x))
    n = g.pick(
        [
            "ReduceMean",
            "ReduceSum",
            "ReduceMax",
            "ReduceMin",
            "ReduceL2",
            "ReduceL1",
            "ReduceProd",
            "ReduceSumSquare",
            "ReduceLogSumExp",
            "ReduceMean",
        ]
    )
    k = int(g.pick([0, 1]))
    axes = None
    if nd and g.p(0.85):
        axes = [int(a) for a in g.rng.permutation(nd)[: g.rng.randint(1, nd + 1)]]
        if g.opset >= 11:
            axes = [a - nd if g.p(0.4) else a for a in axes]
    a = {} if g.p(0.2) else {"keepdims": k}
    if (n == "ReduceSum" and g.opset >= 13) or g.opset >= 18:
        if g.p(0.1):
            a["noop_with_empty_axes"] = 1
        ins = [x] + ([g.ints(axes)] if axes is not None else [g.ints(np.zeros(0, "int64"))] if g.p(0.2) else [])
        return g.add(n, ins, **a)
    g.add(n, [x], axes=axes, **a)


@op(2)
def arg(g):
    x = g.fl(lo=1, empty=False)
    nd = len(g.shape(x))
    g.add(
        g.pick(["ArgMax", "ArgMin"]),
        [x],
        axis=g.axis(nd),
        keepdims=int(g.pick([0, 1])),
        select_last_index=1 if g.opset >= 12 and g.p(0.2) else None,
    )


@op(2, 11)
def topk(g):
    x = g.fl(lo=1, empty=False)
    nd = len(g.shape(x))
    ax = g.axis(nd)
    k = g.rng.randint(1, g.shape(x)[ax] + 1)
    g.add("TopK", [x, g.ints([k])], 2, axis=ax, largest=int(g.pick([0, 1])), sorted=1)


@op(1, 11)
def cumsum(g):
    x = g.fl(lo=1)
    g.add("CumSum", [x, g.const(np.asarray(g.axis(len(g.shape(x))), "int64"))], exclusive=int(g.p(0.3)), reverse=int(g.p(0.3)))


@op(4)
def softmax(g):
    x = g.fl(lo=1)
    nd = len(g.shape(x))
    n = g.pick(["Softmax", "Softmax", "LogSoftmax"] + (["Hardmax"] if g.p(0.2) else []))
    if g.p(0.2):
        return g.add(n, [x])
    g.add(n, [x], axis=g.axis(nd))


@op(3, 17)
def layernorm(g):
    x = g.fl(lo=1, empty=False)
    nd = len(g.shape(x))
    ax = g.axis(nd)
    s = g.shape(x)[ax:] if ax < 0 else g.shape(x)[ax:]
    if g.p(0.15):
        s = [1] * len(s) if g.p(0.5) else [d if g.p(0.5) else 1 for d in s]
    t = g.dt(x)
    ins = [x, g.const(g.data(s, t))] + ([g.const(g.data(s, t))] if g.p(0.7) else [])
    g.add("LayerNormalization", ins, axis=ax, epsilon=float(g.pick([1e-5, 1e-3, 0.1])))


@op(3)
def batchnorm(g):
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim >= 2 and v.shape[1] > 0, lambda: g.input(g.dims(4)))
    c = g.shape(x)[1]
    t = g.dt(x)
    k = lambda kind=None: g.const(g.data([c], t, kind))
    g.add("BatchNormalization", [x, k(), k(), k(), k("pos")], epsilon=float(g.pick([1e-5, 1e-3, 0.2])))


@op(2)
def instancenorm(g):
    x = g.fl(lo=3, empty=False)
    c = g.shape(x)[1]
    t = g.dt(x)
    g.add("InstanceNormalization", [x, g.const(g.data([c], t)), g.const(g.data([c], t))], epsilon=float(g.pick([1e-5, 1e-2])))


@op(1, 18)
def groupnorm(g):
    x = g.fl(lo=3, empty=False)
    c = g.shape(x)[1]
    k = g.pick([d for d in range(1, c + 1) if c % d == 0])
    w = c if g.opset >= 21 else k
    t = g.dt(x)
    g.add("GroupNormalization", [x, g.const(g.data([w], t)), g.const(g.data([w], t))], num_groups=k)


@op(1)
def lrn(g):
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim == 4 and v.size > 0, lambda: g.input(g.dims(4), "float32"))
    g.add("LRN", [x], size=int(g.pick([1, 3, 5])), alpha=0.1, beta=0.75, bias=1.0)


@op(1)
def lpnorm(g):
    x = g.fl(lo=1, empty=False)
    g.add("LpNormalization", [x], axis=int(g.rng.randint(len(g.shape(x)))), p=int(g.pick([1, 2])))


@op(1, 9)
def mvn(g):
    x = g.fl(ndim=4, empty=False)
    g.add("MeanVarianceNormalization", [x], axes=g.pick([None, [0, 2, 3], [2, 3], [1, 2, 3]]))
