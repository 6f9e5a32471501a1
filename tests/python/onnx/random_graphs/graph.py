"""Builds random graphs that are valid: onnxruntime runs each node by itself when it is added."""

import numpy as np
import ml_dtypes
import onnx
import onnxruntime as ort
from onnx import TensorProto as T, helper as h, numpy_helper as nh

F = ("float32", "float64", "float16")
NP2T = {
    "float32": T.FLOAT,
    "float64": T.DOUBLE,
    "float16": T.FLOAT16,
    "bfloat16": T.BFLOAT16,
    "int64": T.INT64,
    "int32": T.INT32,
    "int16": T.INT16,
    "int8": T.INT8,
    "uint8": T.UINT8,
    "uint16": T.UINT16,
    "uint32": T.UINT32,
    "uint64": T.UINT64,
    "bool": T.BOOL,
}
LIMIT = 60000


class Reject(Exception):
    """Not this time."""


def session(model, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    o = ort.SessionOptions()
    o.graph_optimization_level = level
    o.intra_op_num_threads = 1
    o.inter_op_num_threads = 1
    o.log_severity_level = 4
    o.add_session_config_entry("session.set_denormal_as_zero", "0")
    return ort.InferenceSession(model.SerializeToString(), o, providers=["CPUExecutionProvider"])


def domains_of(nodes):
    found = set()
    for n in nodes:
        found.add("" if n.domain == "ai.onnx" else n.domain)
        for a in n.attribute:
            for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else []) + list(a.graphs):
                found |= domains_of(g.node)
    return found


def tensor(v, n):
    v = np.asarray(v)
    return nh.from_array(v, n)


def subgraph_reads(g):
    """Outer names that a body reads."""
    own = {i.name for i in g.input} | {i.name for i in g.initializer}
    reads = set()
    for n in g.node:
        reads |= node_reads(n) - own
        own |= set(n.output)
    reads |= {o.name for o in g.output} - own
    return reads


def node_reads(n):
    reads = {i for i in n.input if i}
    for a in n.attribute:
        if a.type == onnx.AttributeProto.GRAPH:
            reads |= subgraph_reads(a.g)
    return reads


class G:
    """A graph that grows, with the values of all tensors for the first inputs."""

    def __init__(self, seed, opset=None, size=None):
        self.rng = np.random.RandomState(seed)
        r = self.rng
        self.opset = opset or int(
            r.choice(
                [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22],
                p=np.array([1, 1, 2, 1, 4, 2, 5, 2, 2, 2, 4, 3, 2, 2, 4, 4]) / 41,
            )
        )
        self.nodes, self.consts, self.vals, self.inputs, self.order = [], {}, {}, {}, []
        self.kinds = {}
        self.count = 0
        self.opaque = set()
        self.floats = r.choice(["float32"] * 14 + ["float64", "float16"])
        self.wanted = []

    # -- names and values
    def name(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    def p(self, x):
        return self.rng.rand() < x

    def pick(self, seq):
        return seq[self.rng.randint(len(seq))]

    def shape(self, n):
        return self.vals[n].shape

    def dt(self, n):
        return self.vals[n].dtype.name

    def data(self, shape, dtype, kind=None):
        r = self.rng
        shape = tuple(int(s) for s in shape)
        if dtype == "bool":
            return r.rand(*shape) < 0.5 if shape else np.asarray(r.rand() < 0.5)
        if dtype in F or dtype == "bfloat16":
            v = r.randn(*shape) if kind != "pos" else r.rand(*shape) + 0.3
            if kind == "w":
                fan = max(1, int(np.prod(shape[1:])) if len(shape) > 1 else 1)
                v = v / np.sqrt(fan)
            dtype = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
            return np.asarray(v).astype(dtype)
        lo = 0 if dtype[0] == "u" else -8
        return np.asarray(r.randint(lo, 9, size=shape)).astype(dtype)

    def input(self, shape, dtype=None, kind=None):
        n = self.name("x")
        self.inputs[n] = kind
        self.vals[n] = self.data(shape, dtype or self.floats, kind)
        self.order.append(n)
        return n

    def const(self, v, stem="c", literal=False):
        v = np.asarray(v)
        r = self.rng.rand()
        if not literal and r < 0.15:
            for n, w in self.consts.items():  # the same initializer for two nodes
                if w.dtype == v.dtype and w.shape == v.shape and np.array_equal(w, v):
                    return n
        n = self.name(stem)
        if r > 0.85 and v.dtype.name != "bfloat16":
            self.nodes.append(h.make_node("Constant", [], [n], value=tensor(v, n)))
            self.vals[n] = v
            self.kinds[n] = "constant"
            return n
        self.consts[n] = v
        self.vals[n] = v
        if r > 0.8:  # through an Identity
            m = self.name("i")
            self.nodes.append(h.make_node("Identity", [n], [m]))
            self.vals[m] = v
            return m
        return n

    # -- nodes
    def add(self, op, ins, outs=1, domain="", **attrs):
        names = [self.name(op[0].lower()) for _ in range(outs)] if isinstance(outs, int) else outs
        attrs = {k: v for k, v in attrs.items() if v is not None}
        node = h.make_node(op, list(ins), names, name=f"n{self.count}_{op}", domain=domain, **attrs)
        self.run_nodes([node], names)
        return names[0] if outs == 1 else names

    def run_nodes(self, nodes, names):
        """Run these nodes together; keep results."""
        made = {o for n in nodes for o in n.output}
        reads = sorted(set().union(*[node_reads(n) for n in nodes]) - made)
        feeds, infos, consts = {}, [], {}
        for n in reads:
            if n not in self.vals:
                raise Reject(f"opaque {n}")
            v = self.vals[n]
            if n in self.consts or n in self.kinds:
                consts[n] = v
            else:
                feeds[n] = v
                infos.append((n, v.dtype.name, v.shape))
        outs = [n for n in names if n and n not in self.opaque]
        graph = h.make_graph(
            nodes,
            "g",
            [h.make_tensor_value_info(n, NP2T[d], s) for n, d, s in infos],
            [h.make_empty_tensor_value_info(n) for n in outs],
            [tensor(v, n) for n, v in consts.items()],
        )
        ops = [h.make_opsetid("", self.opset)] + [h.make_opsetid(d, 1) for d in sorted(domains_of(nodes)) if d]
        model = h.make_model(graph, opset_imports=ops, ir_version=10 if self.opset > 20 else 9 if self.opset > 10 else 7)
        try:
            got = session(model).run(outs, feeds)
        except Exception as e:  # noqa: BLE001
            raise Reject(f"{nodes[-1].op_type}: {e}") from None
        for n, v in zip(outs, got):
            if isinstance(v, list) or v is None:
                raise Reject("sequence")
            v = np.asarray(v)
            if v.size > LIMIT:
                raise Reject("large")
            if v.dtype.name in F and v.size and not (np.isfinite(v).all() and np.abs(v.astype("float64")).max() < 2e4):
                raise Reject("range")
            if v.dtype.name not in NP2T:
                raise Reject("dtype")
            if v.dtype.kind == "i" and v.size and np.abs(v.astype("float64")).max() > 1e6:
                raise Reject("range")
        for n, v in zip(outs, got):
            self.vals[n] = np.asarray(v)
            self.order.append(n)
        self.nodes.extend(nodes)

    # -- operands
    def find(self, test, make=None):
        """A value that passes the test, likelier a recent one; or a new one."""
        good = [n for n in self.order if test(self.vals[n])]
        if good and not (make and self.p(0.04)):
            w = np.arange(1, len(good) + 1) ** 1.5
            return good[self.rng.choice(len(good), p=w / w.sum())]
        if make is None:
            raise Reject("none fits")
        return make()

    def fl(self, ndim=None, lo=None, hi=None, empty=True):
        def test(v):
            if v.dtype.name not in F or (not empty and v.size == 0):
                return False
            if ndim is not None and v.ndim != ndim:
                return False
            return (lo is None or v.ndim >= lo) and (hi is None or v.ndim <= hi)

        nd = ndim if ndim is not None else max(lo or 0, min(hi or 4, self.rng.randint(1, 5)))
        return self.find(test, lambda: self.input(self.dims(nd)))

    def dims(self, nd):
        if nd >= 3 and self.p(0.6):  # images or sequences
            c = self.pick([1, 2, 3, 4, 5, 8, 16, 16, 24, 32])
            return [self.pick([1, 1, 2, 3]), c] + [self.pick([3, 4, 5, 6, 7, 8, 9]) for _ in range(nd - 2)]
        return [self.pick([1, 2, 3, 4, 5, 7, 8, 12, 16]) for _ in range(nd)]

    def bcast(self, shape):
        """A shape that broadcasts with `shape`."""
        s = [d if self.p(0.7) else 1 for d in shape]
        r = self.rng.rand()
        if r < 0.35 and s:
            s = s[self.rng.randint(len(s) + 1) :]
        elif r < 0.42 and len(s) < 5:
            s = [self.pick([1, 1, 2])] + s
        return s

    def partner(self, x):
        """A value of the same dtype that broadcasts with x."""
        v = self.vals[x]

        def ok(w):
            if w.dtype != v.dtype:
                return False
            try:
                return np.prod(np.broadcast_shapes(w.shape, v.shape)) < LIMIT
            except ValueError:
                return False

        if self.p(0.6):
            good = [n for n in self.order if n != x and ok(self.vals[n])]
            if good:
                return self.pick(good)
        if self.p(0.05):
            return x
        s = self.bcast(v.shape)
        if self.p(0.75):
            if self.p(0.3):
                return self.const(
                    np.asarray(
                        self.pick([0, 1, 2, 0.5, -1, 3, 1e-5]) if v.dtype.kind == "f" else self.pick([0, 1, 2, 3]),
                    )
                    .astype(v.dtype)
                    .reshape(self.pick([(), (), (1,), (1, 1)]))
                )
            return self.const(self.data(s, v.dtype.name))
        return self.input(s, v.dtype.name)

    def axis(self, nd, hi=None):
        a = int(self.rng.randint(hi if hi is not None else nd))
        return a - nd if self.p(0.5) and self.opset >= 11 else a

    def ints(self, v, literal=False, dtype="int64"):
        return self.const(np.asarray(v, dtype), "k", literal)
