"""What fusions look for, right and slightly wrong."""

import numpy as np

from .graph import Reject
from .layers import act, conv
from .moves import any_of
from .pointwise import F
from .registry import op


def c(g, v, t=None):
    return g.const(np.asarray(v, t or g.floats).reshape(g.pick([(), (), (1,)])))


def red(g, n, x, axes, keep=1):
    if (n == "ReduceSum" and g.opset >= 13) or g.opset >= 18:
        return g.add(n, [x, g.ints(axes)], keepdims=keep)
    return g.add(n, [x], axes=axes, keepdims=keep)


def extra(g, names):
    """Sometimes an intermediate has another reader."""
    if g.p(0.25):
        n = g.pick(names)
        g.add(g.pick(["Neg", "Relu", "Identity", "Abs"]), [n])
    if g.p(0.15):
        g.wanted.append(g.pick(names))


@op(3)
def written_layernorm(g):
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim >= 1 and v.size > 0 and v.shape[-1] > 1, lambda: g.input([2, 5, 8]))
    t = g.dt(x)
    nd = len(g.shape(x))
    ax = g.pick([[-1], [-1], [-1], [nd - 1], [0], [-2, -1] if nd > 1 else [-1], [1] if nd > 1 else [0]])
    ax = [a if g.opset >= 11 else a % nd for a in ax]
    m = red(g, "ReduceMean", x, ax)
    d = g.add("Sub", [x, m])
    r = g.rng.rand()
    if r < 0.6:
        sq = g.add("Pow", [d, c(g, g.pick([2.0, 2.0, 2.0, 3.0]) if g.p(0.2) else 2.0, t)])
    elif r < 0.8:
        sq = g.add("Mul", [d, d])
    else:
        sq = g.add("Mul", [d, x]) if g.p(0.3) else g.add("Mul", [d, d])
    if g.p(0.1):
        sq = g.add("Abs", [sq])
    v = red(g, "ReduceMean" if g.p(0.9) else "ReduceSum", sq, ax if g.p(0.9) else [0])
    if g.p(0.1):
        v = g.add("Abs", [v])
    e = g.add("Add", [v, c(g, g.pick([1e-5, 1e-6, 1e-12, 1e-3, 0.5]), t)] if g.p(0.8) else [c(g, 1e-5, t), v])
    s = g.add("Sqrt", [e])
    if g.p(0.2):
        s = g.add("Reciprocal", [s])
        y = g.add("Mul", [d, s])
    else:
        y = g.add("Div", [d, s])
    k = g.shape(x)[-1]
    mid = [m, d, sq, v, e, s, y]
    if g.p(0.7):
        y = g.add("Mul", [y, g.const(g.data(g.pick([(k,), (k,), (1,), (1, 1, k), g.shape(x)]), t))])
        mid.append(y)
        if g.p(0.8):
            y = g.add("Add", [y, g.const(g.data(g.pick([(k,), (k,), (1,), ()]), t))])
    extra(g, mid)


@op(2)
def written_rms(g):
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim >= 1 and v.size > 0, lambda: g.input([2, 5, 8]))
    t, k = g.dt(x), g.shape(x)[-1]
    sq = g.add("Pow", [x, c(g, 2.0, t)]) if g.p(0.6) else g.add("Mul", [x, x])
    m = red(g, "ReduceMean", sq, [-1 if g.opset >= 11 else len(g.shape(x)) - 1])
    e = g.add("Add", [m, c(g, g.pick([1e-6, 1e-5, 0.1]), t)])
    s = g.add("Sqrt", [e])
    if g.p(0.5):
        s = g.add("Div", [c(g, g.pick([1.0, 1.0, 2.0]), t), s]) if g.p(0.5) else g.add("Reciprocal", [s])
        y = g.add("Mul", [x, s])
    else:
        y = g.add("Div", [x, s])
    w = g.const(g.data(g.pick([(k,), (k,), (1,), (1, k)]), t))
    y2 = g.add("Mul", [y, w] if g.p(0.5) else [w, y])
    extra(g, [sq, m, e, s, y, y2])


@op(3, 9)
def written_gelu(g):
    x = g.fl(lo=1)
    t = g.dt(x)
    if g.p(0.6):
        k = g.pick([np.sqrt(2), np.sqrt(2), 1.4142, 1.5])
        d = g.add("Div", [x, c(g, k, t)]) if g.p(0.6) else g.add("Mul", [x, c(g, 1 / k, t)])
        e = g.add("Erf", [d])
        a = g.add("Add", [e, c(g, g.pick([1.0, 1.0, 1.0, 0.5]), t)])
        r = g.rng.rand()
        if r < 0.4:
            y = g.add("Mul", [g.add("Mul", [x, a]), c(g, g.pick([0.5, 0.5, 0.25]), t)])
        elif r < 0.7:
            y = g.add("Mul", [g.add("Mul", [x, c(g, 0.5, t)]), a])
        else:
            y = g.add("Mul", [x, g.add("Mul", [a, c(g, 0.5, t)])])
        return extra(g, [d, e, a, y])
    p = g.add("Pow", [x, c(g, 3.0, t)]) if g.p(0.5) else g.add("Mul", [g.add("Mul", [x, x]), x])
    m = g.add("Mul", [p, c(g, g.pick([0.044715, 0.044715, 0.05]), t)])
    s = g.add("Add", [x, m])
    k = g.add("Mul", [s, c(g, g.pick([np.sqrt(2 / np.pi), 0.8]), t)])
    th = g.add("Tanh", [k])
    a = g.add("Add", [th, c(g, 1.0, t)])
    y = g.add("Mul", [g.add("Mul", [x, a]), c(g, 0.5, t)])
    extra(g, [p, m, s, th, a, y])


@op(2)
def written_softmax(g):
    x = g.fl(lo=1, empty=False)
    nd = len(g.shape(x))
    a = g.axis(nd)
    k = int(g.p(0.85))
    if not k:
        a = 0
    m = red(g, "ReduceMax", x, [a], k)
    d = g.add("Sub", [x, m])
    e = g.add("Exp", [d])
    s = red(g, "ReduceSum", e, [a if g.p(0.9) else 0], k)
    y = g.add("Div", [e, s])
    if g.p(0.3):
        y = g.add("Log", [g.add("Add", [y, c(g, 0.0, g.dt(x))])])
    if g.p(0.2):
        y = g.add("Sub", [d, g.add("Log", [s])])
    extra(g, [m, d, e, s, y])


@op(2)
def written_swish(g):
    x = g.fl(lo=1)
    t = g.dt(x)
    r = g.rng.rand()
    if r < 0.3:
        s = g.add("Sigmoid", [g.add("Mul", [x, c(g, g.pick([1.702, 1.0, -1.0]), t)]) if g.p(0.5) else x])
        y = g.add("Mul", [x, s] if g.p(0.5) else [s, x])
    elif r < 0.6:
        s = g.add("HardSigmoid", [x], **({} if g.p(0.4) else {"alpha": float(g.pick([1 / 6, 0.2])), "beta": 0.5}))
        y = g.add("Mul", [x, s])
    elif r < 0.85 and (g.opset >= 11 or t == "float32"):
        s = g.add("Add", [x, c(g, g.pick([3.0, 3.0, 2.0]), t)])
        hi = g.pick([6.0, 6.0, 5.0])
        s = (
            g.add("Clip", [s, g.const(np.asarray(0, t)), g.const(np.asarray(hi, t))])
            if g.opset >= 11
            else g.add("Clip", [s], min=0.0, max=hi)
        )
        y = g.add("Div", [g.add("Mul", [x, s]), c(g, 6.0, t)]) if g.p(0.5) else g.add("Mul", [x, g.add("Div", [s, c(g, 6.0, t)])])
    else:
        s = g.add("Tanh", [g.add("Softplus", [x])])
        y = g.add("Mul", [x, s])
    extra(g, [s, y])


@op(5)
def conv_bn_relu(g):
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim == 4 and v.size > 0, lambda: g.input(g.dims(4)))
    y0 = conv(g, x)
    if y0 is None:
        raise Reject("conv")
    mids = [y0]
    t = g.dt(y0)
    y = y0
    ch = g.shape(y)[1]
    if g.p(0.7):
        k = lambda kind=None: g.const(g.data([ch], t, kind))
        y = g.add("BatchNormalization", [y, k(), k(), k(), k("pos")], epsilon=float(g.pick([1e-5, 1e-3])))
    else:
        y = g.add("Mul", [y, g.const(g.data(g.pick([(ch, 1, 1), (1, ch, 1, 1), (1,), (), (1, 1, 1, 1), g.shape(y)]), t))])
        y = g.add("Add", [y, g.const(g.data(g.pick([(ch, 1, 1), (1, ch, 1, 1), (1,), (), (g.shape(y)[-1],)]), t))])
    mids.append(y)
    if g.p(0.3):
        y = g.add("Add", [y, g.partner(y)])
        mids.append(y)
    y = act(g, y)
    mids.append(y)
    if g.p(0.3):
        conv(g, y)
    extra(g, mids)


@op(2)
def squeeze_excite(g):
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim == 4 and v.size > 0, lambda: g.input(g.dims(4)))
    ch, t = g.shape(x)[1], g.dt(x)
    m = g.add("GlobalAveragePool", [x]) if g.p(0.6) else red(g, "ReduceMean", x, [2, 3])
    r = g.pick([1, 2, 4])
    a = g.add("Relu", [g.add("Conv", [m, g.const(g.data([r, ch, 1, 1], t, "w")), g.const(g.data([r], t))])])
    s = g.add(g.pick(["Sigmoid", "HardSigmoid"]), [g.add("Conv", [a, g.const(g.data([ch, r, 1, 1], t, "w"))])])
    y = g.add("Mul", [x, s] if g.p(0.5) else [s, x])
    extra(g, [m, a, s, y])


@op(2)
def pad_conv(g):
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim == 4 and v.size > 0, lambda: g.input(g.dims(4), "float32"))
    p = [0, g.pick([0, 0, 0, 1]), g.pick([0, 1, 2]), g.pick([0, 1]), 0, 0, g.pick([0, 1]), g.pick([0, 1, 2])]
    mode = g.pick(["constant", "constant", "constant", "edge"])
    v = g.pick([0.0, 0.0, 0.0, 1.0])
    if g.opset < 11:
        y = g.add("Pad", [x], pads=p, mode=mode, value=v)
    else:
        y = g.add("Pad", [x, g.ints(p)] + ([g.const(np.asarray(v, "float32"))] if v or g.p(0.4) else []), mode=mode)
    r = g.rng.rand()
    if r < 0.8:
        conv(g, y)
    else:
        g.add(g.pick(["AveragePool", "MaxPool"]), [y], kernel_shape=[2, 2], pads=g.pick([None, [1, 1, 1, 1]]))
    extra(g, [y])


@op(4)
def attention(g):
    x = g.find(
        lambda v: v.dtype.name == g.floats and v.ndim == 3 and v.size > 0 and v.shape[1] < 20,
        lambda: g.input([g.pick([1, 2]), g.pick([1, 3, 5, 8]), g.pick([4, 8, 12, 16])]),
    )
    b, s, d = g.shape(x)
    t = g.dt(x)
    heads = g.pick([k for k in (1, 2, 4) if d % k == 0])
    hd = d // heads
    kvh = g.pick([heads, heads, heads, 1])

    def proj(z, n):
        y = g.add("MatMul", [z, g.const(g.data([d, n * hd], t, "w"))])
        if g.p(0.5):
            y = g.add("Add", [y, g.const(g.data([n * hd], t))])
        return y

    def split_heads(z, n, perm):
        y = g.add("Reshape", [z, g.ints(g.pick([[0, 0, n, hd], [b, s, n, hd], [0, -1, n, hd]]))])
        return g.add("Transpose", [y], perm=perm)

    if kvh == heads and g.p(0.3):  # one product of all three
        y = g.add("MatMul", [x, g.const(g.data([d, 3 * d], t, "w"))])
        r = g.add("Reshape", [y, g.ints([0, 0, 3, heads, hd])])
        tr = g.add("Transpose", [r], perm=[2, 0, 3, 1, 4])
        idx = lambda i: g.add("Gather", [tr, g.const(np.asarray(i, "int64"))], axis=0)
        q, k, v = idx(0), idx(1), idx(2)
        if g.p(0.2):
            q, k = k, q
    else:
        q = split_heads(proj(x, heads), heads, [0, 2, 1, 3])
        k = split_heads(proj(x, kvh), kvh, [0, 2, 1, 3])
        v = split_heads(proj(x, kvh), kvh, [0, 2, 1, 3])
    if g.p(0.25):  # rotary
        q, k = rotary(g, q, s, hd, t), rotary(g, k, s, hd, t) if g.p(0.9) else k
    if kvh != heads and g.opset >= 8 and g.p(0.6):

        def rep(z):
            u = g.add("Unsqueeze", [z, g.ints([2])]) if g.opset >= 13 else g.add("Unsqueeze", [z], axes=[2])
            e = g.add("Expand", [u, g.ints([b, kvh, heads // kvh, s, hd])])
            return g.add("Reshape", [e, g.ints([b, heads, s, hd])])

        k, v = rep(k), rep(v)
    scale = g.pick([hd**-0.5, hd**-0.5, 1.0, 0.3])
    if g.p(0.3):
        q = g.add("Mul", [q, c(g, scale, t)])
    kt = g.add("Transpose", [k], perm=[0, 1, 3, 2])
    sc = g.add("MatMul", [q, kt])
    if g.p(0.6):
        sc = g.add("Mul", [sc, c(g, scale, t)]) if g.p(0.5) else g.add("Div", [sc, c(g, 1 / scale, t)])
    raw = sc
    r = g.rng.rand()
    if r < 0.4:
        m = g.data(g.pick([(s, s), (1, 1, s, s), (b, 1, 1, s), (b, heads, s, s), (1, s), (heads, 1, 1), (s,)]), t)
        m = np.where(m > 0.7, np.asarray(-10000 if t != "float16" else -1000, t), np.asarray(0, t)) if g.p(0.6) else m
        sc = g.add("Add", [sc, g.const(m) if g.p(0.6) else masked_input(g, m)])
    elif r < 0.6 and g.opset >= 9:
        m = g.const(np.tril(np.ones((s, s), bool))) if g.p(0.5) else g.input(g.pick([(b, 1, 1, s), (s, s)]), "bool")
        sc = g.add("Where", [m, sc, g.const(np.asarray(-1000, t))]) if g.p(0.6) else g.add("Where", [m, g.const(np.asarray(-1000, t)), sc])
    p = g.add("Softmax", [sc], axis=g.pick([-1, 3]) if g.opset >= 11 else 3)
    if g.p(0.2) and g.opset >= 9:
        p = g.add("Where", [g.add("IsNaN", [p]), c(g, 0.0, t), p])
    o = g.add("MatMul", [p, v])
    tr = g.add("Transpose", [o], perm=[0, 2, 1, 3])
    y = g.add("Reshape", [tr, g.ints(g.pick([[0, 0, d], [b, s, d], [b, -1, d]]))])
    if g.p(0.5):
        y = g.add("MatMul", [y, g.const(g.data([d, d], t, "w"))])
    if g.p(0.4):
        g.add("Add", [y, x])
    extra(g, [q, kt, raw, sc, p, o, y])


def masked_input(g, m):
    n = g.name("x")
    g.inputs[n] = None
    g.vals[n] = m
    g.order.append(n)
    return n


def rotary(g, q, s, hd, t):
    if hd % 2 or g.opset < 10:
        return q
    cos, sin = g.const(g.data((s, hd), t)), g.const(g.data((s, hd), t))
    half = hd // 2
    a = g.add("Slice", [q, g.ints([0]), g.ints([half]), g.ints([3])])
    b = g.add("Slice", [q, g.ints([half]), g.ints([2**63 - 1]), g.ints([3])])
    r = g.add("Concat", [g.add("Neg", [b]), a], axis=-1 if g.opset >= 11 else 3)
    return g.add("Add", [g.add("Mul", [q, cos]), g.add("Mul", [r, sin])])


@op(2)
def shuffle(g):
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim == 4 and v.size > 0 and v.shape[1] % 2 == 0, lambda: g.input([1, 8, 4, 4]))
    n, ch, hh, w = g.shape(x)
    k = g.pick([d for d in (2, 4, 8) if ch % d == 0])
    a = g.add("Reshape", [x, g.ints([n, k, ch // k, hh, w])])
    b = g.add("Transpose", [a], perm=g.pick([[0, 2, 1, 3, 4], [0, 2, 1, 3, 4], [0, 1, 2, 4, 3]]))
    y = g.add("Reshape", [b, g.ints(g.pick([[n, ch, hh, w], [n, -1, hh, w], [0, ch, hh, w]]))])
    if g.p(0.4) and g.opset >= 10:
        g.add("Slice", [y, g.ints([0]), g.ints([ch // 2]), g.ints([1])])
        g.add("Slice", [y, g.ints([ch // 2]), g.ints([ch]), g.ints([1])])
    extra(g, [a, b, y])


@op(1)
def written_groupnorm(g):
    x = g.find(lambda v: v.dtype.name == "float32" and v.ndim == 4 and v.size > 0, lambda: g.input([2, 8, 3, 4], "float32"))
    n, ch, hh, w = g.shape(x)
    k = g.pick([d for d in (1, 2, 4, 8) if ch % d == 0])
    r = g.add("Reshape", [x, g.ints([0, k, -1])])
    one = np.ones(k, "float32") if g.p(0.8) else g.data([k], "float32")
    zero = np.zeros(k, "float32") if g.p(0.8) else g.data([k], "float32")
    i = g.add("InstanceNormalization", [r, g.const(one), g.const(zero)], epsilon=1e-5)
    y = g.add("Reshape", [i, g.add("Shape", [x]) if g.p(0.5) else g.ints([n, ch, hh, w])])
    z = g.add("Mul", [y, g.const(g.data(g.pick([(ch, 1, 1), (1, ch, 1, 1), (1,)]), "float32"))])
    g.add("Add", [z, g.const(g.data((ch, 1, 1), "float32"))])
    extra(g, [r, i, y, z])


@op(2)
def transposes(g):
    """Chains that cancel, or nearly."""
    x = any_of(g, 2, 5)
    nd = len(g.shape(x))
    p = g.rng.permutation(nd)
    y = g.add("Transpose", [x], perm=[int(i) for i in p])
    if g.vals[y].dtype.name in F and g.p(0.6):
        y = g.add(g.pick(["Relu", "Sigmoid", "Neg"]), [y])
        if g.p(0.5):
            y = g.add("Add", [y, g.partner(y)])
    q = np.argsort(p) if g.p(0.7) else g.rng.permutation(nd)
    if len(g.shape(y)) == nd:
        y = g.add("Transpose", [y], perm=[int(i) for i in q])
    extra(g, [y])


@op(2)
def nhwc(g):
    """Files of TensorFlow: transposes around images."""
    x = g.find(
        lambda v: v.dtype.name == "float32" and v.ndim == 4 and v.size > 0 and v.shape[3] < 40, lambda: g.input([1, 5, 6, 8], "float32")
    )
    y = g.add("Transpose", [x], perm=[0, 3, 1, 2])
    y = conv(g, y)
    ch = g.shape(y)[1]
    if g.p(0.5):
        y = g.add("Transpose", [y], perm=[0, 2, 3, 1])
        y = g.add("Add", [y, g.const(g.data((ch,), "float32"))])
        y = act(g, y)
        if g.p(0.5):
            y = red(g, "ReduceMean", y, [1, 2], int(g.p(0.5)))
        elif g.p(0.5):
            y = g.add("Transpose", [y], perm=[0, 3, 1, 2])
            y = conv(g, y)
    else:
        y = act(g, y)
        y = g.add("Transpose", [y], perm=[0, 2, 3, 1])
    extra(g, [y])


@op(2, 13)
def split_gate(g):
    """GLU and its kin."""
    x = g.find(lambda v: v.dtype.name == g.floats and v.ndim >= 1 and v.shape[-1] % 2 == 0 and v.size > 0, lambda: g.input([2, 3, 8]))
    k = g.shape(x)[-1] // 2
    n = [g.name("s"), g.name("s")]
    g.add("Split", [x, g.ints([k, k])], n, axis=-1)
    a, b = n if g.p(0.5) else n[::-1]
    g.add("Mul", [a, g.add(g.pick(["Sigmoid", "Tanh", "Relu"]), [b])])
    extra(g, n)
