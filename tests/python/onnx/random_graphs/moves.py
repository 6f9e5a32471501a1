"""Operators that move elements, and sizes."""

import numpy as np

from .graph import NP2T, Reject, h
from .registry import op


def any_of(g, lo=0, hi=6):
    return g.find(lambda v: lo <= v.ndim <= hi, lambda: g.input(g.dims(max(lo, 2))))


@op(6)
def reshape(g):
    x = any_of(g)
    v = g.vals[x]
    n = v.size
    if n == 0:
        to = [int(d) for d in v.shape]
        if g.p(0.5):
            g.rng.shuffle(to)
        if g.opset < 14 or g.p(0.5):
            to = [0 if i < v.ndim and v.shape[i] == t else t for i, t in enumerate(to)]
            return g.add("Reshape", [x, g.ints(to)])
        return g.add("Reshape", [x, g.ints(to)], allowzero=1)
    fac, rest = [], n
    for _ in range(g.rng.randint(0, 4)):
        d = g.pick([d for d in range(1, min(rest, 40) + 1) if rest % d == 0])
        fac.append(d)
        rest //= d
    to = fac + [rest]
    if g.p(0.5):
        g.rng.shuffle(to)
    if g.p(0.5):  # split or merge dimensions
        s = list(v.shape)
        if len(s) >= 2 and g.p(0.6):
            i = g.rng.randint(len(s) - 1)
            s[i : i + 2] = [s[i] * s[i + 1]]
        elif s:
            i = g.rng.randint(len(s))
            d = g.pick([d for d in range(1, s[i] + 1) if s[i] % d == 0])
            s[i : i + 1] = [d, s[i] // d]
        to = s
    to = [int(t) for t in to]
    to = [0 if i < v.ndim and v.shape[i] == t and g.p(0.5) else t for i, t in enumerate(to)]
    if to and g.p(0.6):
        to[g.rng.randint(len(to))] = -1
    g.add("Reshape", [x, g.ints(to)])


@op(5)
def transpose(g):
    x = any_of(g, 1)
    nd = len(g.shape(x))
    if g.p(0.15):
        return g.add("Transpose", [x])
    perm = list(g.rng.permutation(nd))
    if nd == 4 and g.p(0.5):
        perm = g.pick([[0, 2, 3, 1], [0, 3, 1, 2], [0, 2, 1, 3], [0, 1, 3, 2]])
    if nd == 3 and g.p(0.5):
        perm = [0, 2, 1]
    g.add("Transpose", [x], perm=[int(p) for p in perm])


@op(1)
def flatten(g):
    x = any_of(g)
    nd = len(g.shape(x))
    a = int(g.rng.randint(nd + 1))
    g.add("Flatten", [x], axis=a - nd if g.opset >= 11 and a < nd and g.p(0.3) else a)


@op(2)
def squeeze(g):
    x = g.find(lambda v: 1 in v.shape)
    s = g.shape(x)
    nd = len(s)
    axes = [i for i, d in enumerate(s) if d == 1 and g.p(0.7)]
    if not axes:
        axes = None
    elif g.opset >= 11 and g.p(0.4):
        axes = [a - nd for a in axes]
    if g.opset >= 13:
        return g.add("Squeeze", [x] + ([g.ints(axes)] if axes else []))
    g.add("Squeeze", [x], axes=axes)


@op(3)
def unsqueeze(g):
    x = any_of(g, 0, 4)
    nd = len(g.shape(x))
    k = g.rng.randint(1, 3)
    axes = [int(a) for a in g.rng.permutation(nd + k)[:k]]
    if g.opset >= 11 and g.p(0.4):
        axes = [a - nd - k if g.p(0.5) else a for a in axes]
    if g.opset >= 13:
        return g.add("Unsqueeze", [x, g.ints(axes)])
    g.add("Unsqueeze", [x], axes=sorted(axes) if g.opset < 11 else axes)


@op(2, 8)
def expand(g):
    x = any_of(g, 0, 4)
    s = [g.pick([1, 2, 3]) if d == 1 else (d if g.p(0.7) else 1) for d in g.shape(x)]
    if g.p(0.3):
        s = [g.pick([1, 2])] + s
    elif g.p(0.3):
        s = s[1:]
    g.add("Expand", [x, g.ints(s)])


@op(5)
def concat(g):
    x = any_of(g, 1, 5)
    v = g.vals[x]
    ax = int(g.rng.randint(v.ndim))
    parts = [x]
    for _ in range(g.rng.randint(0, 4)):

        def ok(w):
            return w.dtype == v.dtype and w.ndim == v.ndim and w.shape[:ax] + w.shape[ax + 1 :] == v.shape[:ax] + v.shape[ax + 1 :]

        if g.p(0.7):
            parts.append(g.find(ok))
        else:
            s = list(v.shape)
            s[ax] = g.pick([0, 1, 2, 3]) if g.p(0.5) else s[ax]
            parts.append(g.const(g.data(s, v.dtype.name)))
    if g.p(0.5):
        parts.reverse()
    g.add("Concat", parts, axis=ax - v.ndim if g.opset >= 11 and g.p(0.4) else ax)


@op(3)
def split(g):
    x = any_of(g, 1, 5)
    s = g.shape(x)
    ax = g.axis(len(s))
    d = s[ax]
    k = min(max(1, d), g.rng.randint(1, 4))
    cuts = sorted(g.rng.randint(0, d + 1, size=k - 1))
    sizes = [int(b - a) for a, b in zip([0] + list(cuts), list(cuts) + [d])]
    if g.p(0.4) and (d % k == 0 or g.opset >= 18):
        return g.add("Split", [x], [g.name("s") for _ in range(k)], axis=ax, num_outputs=k if g.opset >= 18 else None)
    names = [g.name("s") for _ in range(k)]
    if g.opset >= 13:
        return g.add("Split", [x, g.ints(sizes)], names, axis=ax)
    g.add("Split", [x], names, axis=ax, split=sizes)


@op(6)
def slice_(g):
    x = any_of(g, 1, 5)
    s = g.shape(x)
    nd = len(s)
    axes = [int(a) for a in g.rng.permutation(nd)[: g.rng.randint(1, min(nd, 3) + 1)]]
    st, en, sp = [], [], []
    for a in axes:
        d = s[a]
        step = g.pick([1, 1, 1, 2, 3, -1, -2]) if g.opset >= 10 else 1
        b = g.pick([0, 1, -1, -2, d, d // 2, 100, -100, -d])
        e = g.pick([d, d - 1, -1, 2**31 - 1, 2**63 - 1, -(2**31), 100, -100, 0, d // 2, 1])
        if step < 0 and g.p(0.6):
            b, e = g.pick([-1, d, 100]), g.pick([0, -100, -(2**63) + 1, -(2**31)])
        elif g.p(0.5):
            b, e = 0, g.pick([d, max(d - 1, 1), 100])
        st.append(b), en.append(e), sp.append(step)
    if g.opset >= 10:
        ax = [a - nd if g.p(0.4) else a for a in axes]
        t = "int64" if any(abs(v) > 2**31 - 1 for v in st + en) or g.p(0.8) else "int32"
        ins = [x, g.ints(st, dtype=t), g.ints(en, dtype=t), g.ints(ax, dtype=t)] + (
            [g.ints(sp, dtype=t)] if any(p != 1 for p in sp) or g.p(0.4) else []
        )
        return g.add("Slice", ins)
    g.add("Slice", [x], starts=st, ends=en, axes=axes)


def index_value(g, limit, shape, negative=True):
    lo = -limit if negative and g.opset >= 11 else 0
    return g.const(g.rng.randint(lo, limit, size=shape).astype(g.pick(["int64", "int64", "int32"])))


@op(4)
def gather(g):
    x = any_of(g, 1, 4)
    s = g.shape(x)
    ax = g.axis(len(s))
    if s[ax] == 0:
        raise Reject("empty")
    ish = g.pick([(), (1,), (3,), (2, 2), (2, 1)])
    g.add("Gather", [x, index_value(g, s[ax], ish)], axis=ax)


@op(1, 11)
def gather_more(g):
    x = any_of(g, 1, 4)
    s = g.shape(x)
    if 0 in s:
        raise Reject("empty")
    if g.p(0.5):
        ax = g.axis(len(s))
        sh = [g.rng.randint(1, d + 1) for d in s]
        return g.add("GatherElements", [x, index_value(g, s[ax], sh)], axis=ax)
    k = g.rng.randint(1, len(s) + 1)
    sh = g.pick([(1,), (2,), (2, 3)])
    idx = np.stack([g.rng.randint(0, s[i], size=sh) for i in range(k)], -1)
    g.add("GatherND", [x, g.const(idx.astype("int64"))])


@op(1, 11)
def scatter(g):
    x = any_of(g, 1, 4)
    v = g.vals[x]
    s = v.shape
    if 0 in s:
        raise Reject("empty")
    red = g.pick([None, None, "add"]) if g.opset >= 16 and v.dtype != bool else None
    if g.p(0.5):
        ax = g.axis(len(s))
        sh = [g.rng.randint(1, d + 1) for d in s]
        idx = np.argsort(g.rng.rand(*s), axis=ax)[tuple(slice(0, d) for d in sh)]
        return g.add("ScatterElements", [x, g.const(idx.astype("int64")), g.const(g.data(idx.shape, v.dtype.name))], axis=ax, reduction=red)
    idx = g.rng.permutation(s[0])[: max(1, s[0] // 2)].reshape(-1, 1)
    g.add("ScatterND", [x, g.const(idx.astype("int64")), g.const(g.data((len(idx),) + s[1:], v.dtype.name))], reduction=red)


@op(3)
def pad(g):
    x = g.fl(lo=1, hi=4, empty=False)
    s = g.shape(x)
    nd = len(s)
    mode = g.pick(["constant", "constant", "reflect", "edge"] + (["wrap"] if g.opset >= 19 else []))
    p = [int(g.pick([0, 0, 1, 2])) for _ in range(2 * nd)]
    if mode == "reflect":
        p = [min(q, s[i % nd] - 1) for i, q in enumerate(p)]
    elif mode == "constant" and g.p(0.2):
        i = g.rng.randint(2 * nd)
        p[i] = -1 if s[i % nd] > 2 else p[i]
    val = float(g.pick([0.0, 0.0, 1.5]))
    if g.opset < 11:
        if g.dt(x) != "float32":
            raise Reject("dtype")
        return g.add("Pad", [x], mode=mode, pads=p, value=val)
    ins = [x, g.ints(p)]
    if g.p(0.5):
        ins.append(g.const(np.asarray(val, g.dt(x))))
    if g.opset >= 18 and g.p(0.3) and nd > 1:
        axes = [int(a) for a in g.rng.permutation(nd)[: g.rng.randint(1, nd)]]
        ins = [
            x,
            g.ints([p[a] for a in axes] + [p[a + nd] for a in axes]),
            "" if len(ins) < 3 else ins[2],
            g.ints([a - nd if g.p(0.3) else a for a in axes]),
        ]
    g.add("Pad", ins, mode=mode)


@op(1)
def tile(g):
    x = any_of(g, 1, 4)
    g.add("Tile", [x, g.ints([g.pick([1, 1, 2, 3]) for _ in g.shape(x)])])


@op(3)
def shape_of(g):
    x = any_of(g, 1)
    nd = len(g.shape(x))
    if g.p(0.15):
        return g.add("Size", [x])
    if g.opset >= 15 and g.p(0.3):
        return g.add("Shape", [x], start=int(g.pick([0, 1, -1, -2])), end=g.pick([None, nd, -1, 100]))
    g.add("Shape", [x])


@op(2)
def shape_reshape(g):
    """Shape -> Gather -> Unsqueeze -> Concat -> Reshape"""
    x = any_of(g, 2, 4)
    v = g.vals[x]
    if v.size == 0:
        raise Reject("empty")
    s = g.add("Shape", [x])
    d = g.add("Gather", [s, g.const(np.asarray(0, "int64"))], axis=0)
    un = lambda n: g.add("Unsqueeze", [n, g.ints([0])]) if g.opset >= 13 else g.add("Unsqueeze", [n], axes=[0])
    parts = [un(d)]
    if g.p(0.5):
        e = g.add("Gather", [s, g.const(np.asarray(1, "int64"))], axis=0)
        if g.p(0.3):
            e = g.add("Mul", [e, g.const(np.asarray(1, "int64"))])
        parts.append(un(e))
    parts.append(g.ints([-1]))
    g.add("Reshape", [x, g.add("Concat", parts, axis=0)])


@op(1, 9)
def constant_of_shape(g):
    x = any_of(g, 1, 4)
    s = g.add("Shape", [x])
    t = g.pick([g.dt(x), "float32", "int64"])
    g.add("ConstantOfShape", [s], value=h.make_tensor("v", NP2T[t], [1], [g.pick([0, 1])]))


@op(1, 11)
def range_(g):
    t = g.pick(["int64", "int32", "float32"])
    a, b, d = g.pick([(0, 5, 1), (1, 8, 2), (5, 0, -2), (0, 0, 1)])
    c = lambda v: g.const(np.asarray(v, t))
    if t == "int64" and g.p(0.5):
        x = any_of(g, 1, 4)
        n = g.add("Gather", [g.add("Shape", [x]), g.const(np.asarray(-1, "int64"))])
        return g.add("Range", [c(0), n, c(1)])
    g.add("Range", [c(a), c(b), c(d)])


@op(1, 9)
def onehot(g):
    x = g.find(
        lambda v: v.dtype.name == "int64" and v.ndim <= 2 and v.size < 200, lambda: g.const(g.rng.randint(-4, 4, size=(3,)).astype("int64"))
    )
    g.add(
        "OneHot",
        [x, g.const(np.asarray(5, "int64").reshape(g.pick([(), (1,)]))), g.const(np.asarray([0, 1], "float32"))],
        axis=int(g.pick([-1, 0])),
    )


@op(1, 14)
def trilu(g):
    x = g.fl(lo=2)
    g.add("Trilu", [x] + ([g.const(np.asarray(g.pick([-1, 0, 1, 2]), "int64"))] if g.p(0.6) else []), upper=int(g.pick([0, 1])))


@op(1)
def eyelike(g):
    if g.opset < 9:
        raise Reject("opset")
    x = g.fl(ndim=2)
    g.add("EyeLike", [x], k=int(g.pick([-1, 0, 1])))


@op(2)
def depth(g):
    x = g.fl(ndim=4, empty=False)
    n, c, hh, w = g.shape(x)
    if g.p(0.5):
        b = g.pick([b for b in (1, 2, 3) if hh % b == 0 and w % b == 0])
        return g.add("SpaceToDepth", [x], blocksize=b)
    b = g.pick([b for b in (1, 2, 4) if c % (b * b) == 0])
    g.add("DepthToSpace", [x], blocksize=b, mode=g.pick(["DCR", "CRD"]) if g.opset >= 11 else None)


@op(1, 9)
def nonzero(g):
    x = any_of(g, 1, 3)
    y = g.add("NonZero", [x])
    if g.p(0.5) and g.opset >= 11 and len(g.shape(x)) > 0:
        g.add("GatherND", [x, g.add("Transpose", [y], perm=[1, 0])])


@op(1, 9)
def compress(g):
    x = any_of(g, 1, 4)
    ax = g.axis(len(g.shape(x)))
    g.add("Compress", [x, g.const(g.rng.rand(g.shape(x)[ax]) < 0.6)], axis=ax)


@op(1, 11)
def unique(g):
    x = g.find(lambda v: v.dtype.kind in "iu" and v.ndim == 1 or v.dtype.name == "float32" and v.ndim == 1)
    g.add("Unique", [x], 4, sorted=1)


@op(1, 10)
def reverse_sequence(g):
    x = g.fl(lo=2, empty=False)
    n, t = g.shape(x)[:2]
    g.add("ReverseSequence", [x, g.const(g.rng.randint(1, t + 1, size=(n,)).astype("int64"))], batch_axis=0, time_axis=1)
