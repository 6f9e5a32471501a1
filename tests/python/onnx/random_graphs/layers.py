"""Products, layers of images and recurrent layers."""

import numpy as np

from .graph import Reject, h
from .registry import op


@op(6)
def matmul(g):
    x = g.fl(lo=1, empty=g.p(0.2))
    s, t = g.shape(x), g.dt(x)
    if g.p(0.3):
        return g.add("MatMul", [x, g.find(lambda v: v.dtype.name == t and v.ndim >= 1 and v.shape[-2 if v.ndim > 1 else 0] == s[-1])])
    n = g.pick([1, 2, 3, 4, 5, 8, 16, 32])
    b = g.pick([[], [], [], [], list(s[:-2]), [1]])
    w = [s[-1]] if g.p(0.06) else b + [s[-1], n]
    g.add("MatMul", [x, g.const(g.data(w, t, "w"))])


@op(4)
def matmul_add(g):
    x = g.fl(lo=1, empty=g.p(0.2))
    s, t = g.shape(x), g.dt(x)
    n = g.pick([1, 2, 3, 5, 8, 16, 32])
    y = g.add("MatMul", [x, g.const(g.data([s[-1], n], t, "w"))])
    o = g.shape(y)
    b = g.pick(
        [(n,), (n,), (n,), (1, n), (1,), (), o, (1,) * len(o), (1, 1, n), (1, 1, 1, 1, n), (1,) * (len(o) - 1) + (n,), o[-2:-1] + (1,)]
    )
    b = g.const(g.data(b, t))
    y = g.add("Add", [y, b] if g.p(0.6) else [b, y])
    act(g, y)


def act(g, y):
    r = g.rng.rand()
    if r < 0.3:
        return g.add("Relu", [y])
    if r < 0.4:
        return g.add(g.pick(["Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSigmoid"]), [y])
    if r < 0.5:
        return g.add("Mul", [y, g.add("Sigmoid", [y])])
    return y


@op(3)
def gemm(g):
    x = g.fl(ndim=2)
    s, t = g.shape(x), g.dt(x)
    ta, tb = int(g.p(0.3)), int(g.p(0.5))
    m, k = (s[1], s[0]) if ta else s
    n = g.pick([1, 2, 3, 4, 8, 16])
    w = g.const(g.data([n, k] if tb else [k, n], t, "w"))
    ins = [x, w]
    if g.opset < 11 or g.p(0.8):
        ins.append(g.const(g.data(g.pick([(n,), (n,), (1, n), (m, 1), (m, n), (1,), (), (1, 1)]), t)))
    a = {}
    if g.p(0.3):
        a.update(alpha=float(g.pick([0.5, 2.0, -1.0])), beta=float(g.pick([0.5, 1.0, 2.0, 0.0])))
    y = g.add("Gemm", ins, transA=ta, transB=tb, **a)
    act(g, y)


@op(1, 12)
def einsum(g):
    x = g.fl(lo=2, hi=4, empty=False)
    s, t = g.shape(x), g.dt(x)
    nd = len(s)
    letters = "abcd"[:nd]
    eq = g.pick(
        [
            f"{letters},{letters[-1]}z->{letters[:-1]}z",
            f"{letters},{letters}->{letters[:-1]}",
            f"{letters}->{letters[::-1]}",
            f"{letters},z{letters[-1]}->{letters[:-1]}z",
            f"...{letters[-1]},{letters[-1]}z->...z",
            f"{letters},{letters[0]}z->z{letters[1:]}",
        ]
    )
    ins = [x]
    if "," in eq:
        b = eq.split(",")[1].split("->")[0]
        size = dict(zip(letters, s), z=g.pick([1, 3, 5]))
        ins.append(g.const(g.data([size[c] for c in b], t, "w")))
    g.add("Einsum", ins, equation=eq)


def conv_attrs(g, sp, k, zero=False):
    n = len(sp)
    a = {}
    st = [int(g.pick([1, 1, 1, 2])) for _ in range(n)]
    di = [int(g.pick([1, 1, 1, 2])) if k[i] > 1 else 1 for i in range(n)]
    if g.p(0.7):
        a["strides"] = st
    if g.p(0.3):
        a["dilations"] = di
    r = g.rng.rand()
    if r < 0.5:
        a["pads"] = [x // 2 for x in k] * 2
    elif r < 0.7:
        a["pads"] = [int(g.rng.randint(0, k[i % n])) for i in range(2 * n)]
    elif r < 0.85:
        a["auto_pad"] = g.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if a["auto_pad"] != "VALID":
            a.pop("dilations", None)
    if g.p(0.6):
        a["kernel_shape"] = k
    return a


@op(8)
def conv(g, x=None):
    x = x or g.find(
        lambda v: v.dtype.name == g.floats and 3 <= v.ndim <= 5 and v.size > 0, lambda: g.input(g.dims(g.pick([3, 4, 4, 4, 4, 5])))
    )
    s, t = g.shape(x), g.dt(x)
    c = s[1]
    grp = g.pick([1, 1, 1, 1, c, c] + [d for d in (2, 4) if c % d == 0])
    out = grp * g.pick([1, 1, 2, 4]) if grp > 1 else g.pick([1, 2, 3, 4, 8, 16, 16, 24, 32])
    k = [g.pick([1, 3, 3, 2, 5])] * (len(s) - 2) if g.p(0.7) else [g.pick([1, 2, 3]) for _ in s[2:]]
    ins = [x, g.const(g.data([out, c // grp] + k, t, "w"))] + ([g.const(g.data([out], t))] if g.p(0.6) else [])
    y = g.add("Conv", ins, group=grp if grp > 1 or g.p(0.3) else None, **conv_attrs(g, s[2:], k))
    return y


@op(2)
def conv_transpose(g):
    x = g.find(lambda v: v.dtype.name == "float32" and 3 <= v.ndim <= 5 and v.size > 0, lambda: g.input(g.dims(4), "float32"))
    s = g.shape(x)
    c = s[1]
    grp = g.pick([1, 1, 1] + [d for d in (2, c) if c % d == 0])
    k = [g.pick([1, 2, 3, 4]) for _ in s[2:]]
    o = g.pick([1, 2, 4, 8])
    st = [int(g.pick([1, 2])) for _ in k]
    a = {"strides": st}
    if g.p(0.5):
        a["pads"] = [int(g.rng.randint(0, (q + 1) // 2 + 0)) if q > 1 else 0 for q in k] * 2
    elif g.p(0.3):
        a["auto_pad"] = g.pick(["SAME_UPPER", "SAME_LOWER", "VALID"]) if all(q >= s for q, s in zip(k, st)) else "VALID"
    if g.p(0.3):
        a["output_padding"] = [int(g.rng.randint(0, q)) for q in st]
    ins = [x, g.const(g.data([c, o] + k, "float32", "w"))] + ([g.const(g.data([o * grp], "float32"))] if g.p(0.5) else [])
    g.add("ConvTranspose", ins, group=grp, **a)


@op(4)
def pool(g):
    x = g.find(lambda v: v.dtype.name == g.floats and 3 <= v.ndim <= 5 and v.size > 0, lambda: g.input(g.dims(4)))
    s = g.shape(x)
    n = g.pick(["MaxPool", "AveragePool", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"])
    if n[0] == "G":
        return g.add(n, [x])
    k = [g.pick([1, 2, 3]) for _ in s[2:]]
    a = conv_attrs(g, s[2:], k)
    a["kernel_shape"] = k
    if "pads" in a:
        a["pads"] = [min(p, k[i % len(k)] - 1) for i, p in enumerate(a["pads"])]
    if n == "AveragePool":
        if g.opset < 19:
            a.pop("dilations", None)
        if g.p(0.5):
            a["count_include_pad"] = 1
    if n == "MaxPool" and g.opset < 10 or n == "LpPool" and g.opset < 18:
        a.pop("dilations", None)
    if g.p(0.3) and "auto_pad" not in a and (n != "LpPool" and g.opset >= 10 or g.opset >= 18):
        a["ceil_mode"] = 1
    if n == "MaxPool" and g.p(0.15):
        return g.add(n, [x], 2, **a)
    g.add(n, [x], **a)


@op(3, 10)
def resize(g):
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim in (3, 4) and v.size > 0, lambda: g.input(g.dims(4), "float32"))
    s = g.shape(x)
    n = len(s)
    mode = g.pick(["nearest", "nearest", "linear", "linear", "cubic"])
    if n == 3 and mode == "cubic":
        raise Reject("cubic")
    sc = [1.0, 1.0] + [float(g.pick([1.0, 2.0, 2.0, 0.5, 1.5, 3.0])) for _ in s[2:]]
    if g.opset == 10:
        return g.add("Resize", [x, g.const(np.asarray(sc, "float32"))], mode="nearest" if mode == "cubic" else mode)
    a = {
        "mode": mode,
        "coordinate_transformation_mode": g.pick(
            ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"] + (["half_pixel_symmetric"] if g.opset >= 19 else [])
        ),
    }
    if mode == "nearest":
        a["nearest_mode"] = g.pick(["round_prefer_floor", "floor", "ceil", "round_prefer_ceil"])
    if mode == "cubic":
        a["cubic_coeff_a"] = float(g.pick([-0.5, -0.75]))
        if g.p(0.3):
            a["exclude_outside"] = 1
    if g.opset >= 18 and g.p(0.3):
        a["antialias"] = 1
        if mode == "nearest":
            a.pop("antialias")
    e = "" if g.opset >= 13 else g.const(np.zeros(0, "float32"), literal=True)
    if g.p(0.5):
        size = [int(d) for d in s[:2]] + [max(1, int(d * g.pick([0.5, 1, 2, 1.7]))) for d in s[2:]]
        if g.opset >= 18 and g.p(0.3):
            return g.add(
                "Resize",
                [x, "", "", g.ints(size[2:])],
                axes=list(range(2, n)),
                keep_aspect_ratio_policy=g.pick([None, "not_larger", "not_smaller"]),
                **a,
            )
        return g.add("Resize", [x, e, e if g.opset < 13 else "", g.ints(size)], **a)
    g.add("Resize", [x, e, g.const(np.asarray(sc, "float32"))], **a)


@op(1)
def upsample(g):
    if g.opset > 9:
        raise Reject("opset")
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim == 4 and v.size > 0, lambda: g.input(g.dims(4), "float32"))
    sc = [1.0, 1.0, float(g.pick([1, 2, 3])), float(g.pick([1, 2]))]
    m = g.pick(["nearest", "linear"])
    if g.opset < 9:
        return g.add("Upsample", [x], mode=m, scales=sc)
    g.add("Upsample", [x, g.const(np.asarray(sc, "float32"))], mode=m)


@op(1, 16)
def gridsample(g):
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim == 4 and v.size > 0, lambda: g.input(g.dims(4), "float32"))
    n = g.shape(x)[0]
    gr = g.input([n, 3, 4, 2], "float32")
    m = ["linear", "nearest", "cubic"] if g.opset >= 20 else ["bilinear", "nearest", "bicubic"]
    g.add("GridSample", [x, gr], mode=g.pick(m), padding_mode=g.pick(["zeros", "border", "reflection"]), align_corners=int(g.pick([0, 1])))


@op(1)
def dropout(g):
    x = g.fl()
    if g.opset >= 12:
        return g.add("Dropout", [x] + ([g.const(np.asarray(0.3, "float32"))] if g.p(0.5) else []))
    g.add("Dropout", [x], ratio=0.4)


@op(2)
def rnn(g):
    x = g.find(
        lambda v: v.dtype.name == "float32" and v.ndim == 3 and v.size > 0 and v.shape[0] < 20,
        lambda: g.input([g.pick([1, 3, 5]), g.pick([1, 2, 3]), g.pick([3, 4, 8])], "float32"),
    )
    t, b, i = g.shape(x)
    kind, gates = g.pick([("LSTM", 4), ("GRU", 3), ("RNN", 1), ("LSTM", 4), ("GRU", 3)])
    hs = g.pick([1, 2, 4, 8])
    d = g.pick(["forward", "reverse", "bidirectional"])
    nd = 2 if d == "bidirectional" else 1
    c = lambda s: g.const(g.data(s, "float32", "w"))
    ins = [x, c([nd, gates * hs, i]), c([nd, gates * hs, hs])]
    ins.append(c([nd, 2 * gates * hs]) if g.p(0.7) else "")
    ins.append(g.const(g.rng.randint(1, t + 1, size=(b,)).astype("int32")) if g.p(0.3) else "")
    ins.append((g.input([nd, b, hs], "float32") if g.p(0.5) else c([nd, b, hs])) if g.p(0.5) else "")
    if kind == "LSTM":
        ins.append(c([nd, b, hs]) if g.p(0.5) else "")
        ins.append(c([nd, 3 * hs]) if g.p(0.2) else "")
    while ins[-1] == "":
        ins.pop()
    a = {"hidden_size": hs, "direction": d}
    if kind == "GRU":
        a["linear_before_reset"] = int(g.pick([0, 1]))
    if g.p(0.2):
        a["clip"] = 0.5
    if g.p(0.2):
        a["activations"] = {"LSTM": ["Sigmoid", "Relu", "Tanh"], "GRU": ["HardSigmoid", "Tanh"], "RNN": ["Relu"]}[kind] * nd
    if kind == "LSTM" and g.p(0.1):
        a["input_forget"] = 1
    names = [g.name("y"), g.name("h")] + ([g.name("c")] if kind == "LSTM" and g.p(0.6) else [])
    if g.p(0.15):
        names[0] = ""
    elif g.p(0.2):
        names = names[:1]
    node = h.make_node(kind, ins, names, name=names[-1] + "_" + kind, **a)
    g.run_nodes([node], names)
