"""Operators on 8 and 16 bits."""

import numpy as np

from .graph import Reject, T
from .layers import act
from .registry import op


def qparams(g, x, t, axis=None):
    lim = {"int8": 127, "uint8": 255, "int16": 32767, "uint16": 65535}[t]
    v = np.asarray(x, "float64")
    if axis is None:
        m = np.abs(v).max() if v.size else 1
        sc = np.asarray(max(m, 0.1) / (lim / 2 if t[0] == "u" else lim) * g.pick([1, 1, 0.7]), "float32")
    else:
        m = np.abs(v).max(axis=tuple(i for i in range(v.ndim) if i != axis)) if v.size else np.ones(v.shape[axis])
        sc = (np.maximum(m, 0.1) / lim).astype("float32")
    mid = (lim + 1) // 2 if t[0] == "u" else 0
    zp = np.full(sc.shape, mid if g.p(0.7) else mid + g.pick([-3, 0, 5]), t)
    return sc, zp


def qtype(g):
    return g.pick(["uint8", "int8", "uint8", "int8"] + (["int16", "uint16"] if g.opset >= 21 and g.p(0.4) else []))


def fake_quant(g, x, t=None):
    """Q and DQ around a value."""
    t = t or qtype(g)
    sc, zp = qparams(g, g.vals[x], t)
    s, z = g.const(sc), g.const(zp)
    leave = t == "uint8" and not zp.any()
    q = g.add("QuantizeLinear", [x, s] + ([] if leave else [z]))
    return g.add("DequantizeLinear", [q, s] + ([] if leave else [z]))


def dq_weight(g, w, axis=None, t="int8"):
    sc, zp = qparams(g, w, t, axis)
    shp = [1] * w.ndim
    if axis is not None:
        shp[axis] = -1
    q = np.clip(np.rint(w / sc.reshape(shp) + zp.reshape(shp).astype("float32")), np.iinfo(t).min, np.iinfo(t).max).astype(t)
    ins = [g.const(q, "wq"), g.const(sc)] + ([g.const(zp)] if g.p(0.7) or zp.any() else [])
    return g.add("DequantizeLinear", ins, axis=axis if axis is not None and g.opset >= 13 else None), sc


def f32(g, lo=1, hi=4, ndim=None):
    return g.find(
        lambda v: v.dtype.name == "float32" and v.size > 0 and lo <= v.ndim <= hi and (ndim is None or v.ndim == ndim),
        lambda: g.input(g.dims(ndim or max(lo, 2)), "float32"),
    )


@op(2, 10)
def qdq(g):
    fake_quant(g, f32(g, 0))


@op(3, 10)
def qdq_conv(g):
    x = f32(g, ndim=4)
    c = g.shape(x)[1]
    grp = g.pick([1, 1, 1, c])
    out = c if grp > 1 else g.pick([1, 4, 8, 16, 32])
    k = g.pick([1, 3])
    w = g.data([out, c // grp, k, k], "float32", "w")
    xq = fake_quant(g, x, g.pick(["uint8", "int8"])) if g.p(0.9) else x
    ax = 0 if g.opset >= 13 and g.p(0.5) else None
    wq, ws = dq_weight(g, w, ax, g.pick(["int8", "int8", "uint8"]) if ax is None else "int8")
    ins = [xq, wq] + ([g.const(g.data([out], "float32"))] if g.p(0.6) else [])
    y = g.add("Conv", ins, group=grp if grp > 1 else None, pads=[k // 2] * 4, strides=g.pick([None, [2, 2]]))
    if g.p(0.5):
        y = g.add("Relu", [y])
    if g.p(0.8):
        y = fake_quant(g, y, g.pick(["uint8", "int8"]))
    if g.p(0.4):
        z = g.add("Add", [y, fake_quant(g, g.partner(y), "uint8") if g.p(0.7) else g.partner(y)])
        fake_quant(g, z)


@op(3, 10)
def qdq_matmul(g):
    x = f32(g, 2)
    s = g.shape(x)
    n = g.pick([1, 3, 8, 16, 32])
    w = g.data([s[-1], n], "float32", "w")
    xq = fake_quant(g, x, g.pick(["uint8", "int8"])) if g.p(0.9) else x
    ax = 1 if g.opset >= 13 and g.p(0.5) else None
    wq, _ = dq_weight(g, w, ax)
    y = g.add("MatMul", [xq, wq])
    if g.p(0.5):
        y = g.add("Add", [y, g.const(g.data((n,), "float32"))])
    y = act(g, y)
    if g.p(0.7):
        fake_quant(g, y)


@op(2, 10)
def qdq_any(g):
    """Operators that move elements, and pointwise ones, between Q/DQ."""
    x = fake_quant(g, f32(g, 1), g.pick(["uint8", "int8"]))
    n = g.pick(
        [
            "Sigmoid",
            "Tanh",
            "Relu",
            "LeakyRelu",
            "MaxPool",
            "AveragePool",
            "GlobalAveragePool",
            "Transpose",
            "Softmax",
            "Mul",
            "Add",
            "Reshape",
            "Concat",
        ]
    )
    if n in ("MaxPool", "AveragePool", "GlobalAveragePool"):
        if len(g.shape(x)) != 4:
            raise Reject("rank")
        y = g.add(n, [x], **({} if n[0] == "G" else {"kernel_shape": [2, 2], "strides": [1, 2], "pads": [0, 0, 1, 1]}))
    elif n in ("Mul", "Add"):
        y = g.add(n, [x, fake_quant(g, f32_like(g, x), g.pick(["uint8", "int8"]))])
    elif n == "Concat":
        y = g.add(n, [x, fake_quant(g, f32_like(g, x, True)), x], axis=0)
    elif n == "Reshape":
        y = g.add(n, [x, g.ints([-1])])
    else:
        y = g.add(n, [x])
    fake_quant(g, y, g.pick(["uint8", "int8"]))


def f32_like(g, x, exact=False):
    if exact:
        return g.find(lambda v: v.dtype.name == "float32" and v.shape == g.shape(x), lambda: g.input(g.shape(x), "float32"))
    return g.partner(x)


@op(2, 11)
def dynamic_quant(g):
    x = f32(g, 2)
    q, s, z = g.add("DynamicQuantizeLinear", [x], 3)
    k = g.shape(x)[-1]
    n = g.pick([1, 3, 8, 16])
    w = g.rng.randint(-20, 20, size=(k, n)).astype("int8") if g.p(0.6) else g.rng.randint(100, 150, size=(k, n)).astype("uint8")
    wz = np.asarray(0, "int8") if w.dtype == np.int8 else np.asarray(g.pick([0, 128]), "uint8")
    if g.p(0.3):
        wz = np.full((n,), wz, wz.dtype)
    y = g.add("MatMulInteger", [q, g.const(w), z] + ([g.const(wz)] if wz.any() or g.p(0.5) else []))
    f = g.add("Cast", [y], to=T.FLOAT)
    ws = g.const(np.asarray(0.01, "float32") if g.p(0.5) else (g.rng.rand(n) * 0.02 + 0.001).astype("float32"))
    y = g.add("Mul", [f, g.add("Mul", [s, ws])])
    if g.p(0.5):
        g.add("Add", [y, g.const(g.data((n,), "float32"))])


@op(2, 10)
def qlinear(g):
    x = f32(g, 2, 4)
    t = g.pick(["uint8", "int8"])
    sc, zp = qparams(g, g.vals[x], t)
    q = g.add("QuantizeLinear", [x, g.const(sc), g.const(zp)])
    if len(g.shape(x)) == 4:
        c = g.shape(x)[1]
        o = g.pick([2, 8, 16])
        per = g.p(0.5)
        wt = "int8" if per or g.p(0.7) or t == "int8" else "uint8"
        w = g.data([o, c, 3, 3], "float32", "w")
        ws, wz = qparams(g, w, wt, 0 if per else None)
        if wt == "int8":
            wz = np.zeros_like(wz)
        wq = np.clip(
            np.rint(w / (ws.reshape(-1, 1, 1, 1) if per else ws)) + (wz.reshape(-1, 1, 1, 1) if per else wz).astype("float32"),
            np.iinfo(wt).min,
            np.iinfo(wt).max,
        ).astype(wt)
        ys = np.asarray(0.03, "float32")
        yz = np.asarray(128 if t == "uint8" else 3, t)
        b = [g.const(g.rng.randint(-300, 300, size=(o,)).astype("int32"))] if g.p(0.5) else []
        y = g.add(
            "QLinearConv", [q, g.const(sc), g.const(zp), g.const(wq), g.const(ws), g.const(wz), g.const(ys), g.const(yz)] + b, pads=[1] * 4
        )
    else:
        k = g.shape(x)[-1]
        n = g.pick([3, 8, 16])
        wt = "int8" if t == "int8" or g.p(0.5) else "uint8"
        wq = g.rng.randint(-60, 60, size=(k, n)).astype("int8") if wt == "int8" else g.rng.randint(60, 200, size=(k, n)).astype("uint8")
        ys = np.asarray(0.05, "float32")
        yz = np.asarray(120 if t == "uint8" else -3, t)
        y = g.add(
            "QLinearMatMul",
            [
                q,
                g.const(sc),
                g.const(zp),
                g.const(wq),
                g.const(np.asarray(0.01, "float32")),
                g.const(np.asarray(128 if wt == "uint8" else 0, wt)),
                g.const(ys),
                g.const(yz),
            ],
        )
    r = g.rng.rand()
    if r < 0.3:
        y = g.add(
            g.pick(["QLinearSigmoid", "QLinearLeakyRelu"]),
            [y, g.const(ys), g.const(yz), g.const(np.asarray(0.02, "float32")), g.const(yz)],
            domain="com.microsoft",
        )
        ys = np.asarray(0.02, "float32")
    elif r < 0.6:
        y = g.add(
            g.pick(["QLinearAdd", "QLinearMul"]),
            [y, g.const(ys), g.const(yz), y, g.const(ys), g.const(yz), g.const(np.asarray(0.06, "float32")), g.const(yz)],
            domain="com.microsoft",
        )
        ys = np.asarray(0.06, "float32")
    if g.p(0.8):
        g.add("DequantizeLinear", [y, g.const(ys), g.const(yz)])


@op(1, 10)
def convinteger(g):
    x = g.find(lambda v: v.dtype.name == "uint8" and v.ndim == 4, lambda: g.input([1, 3, 6, 6], "uint8"))
    c = g.shape(x)[1]
    y = g.add(
        "ConvInteger",
        [
            x,
            g.const(g.rng.randint(0, 20, size=(4, c, 3, 3)).astype("uint8")),
            g.const(np.asarray(3, "uint8")),
            g.const(np.asarray(7, "uint8")),
        ],
        pads=[1] * 4,
    )
    g.add("Cast", [y], to=T.FLOAT)
