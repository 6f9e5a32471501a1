"""Compares this library with onnxruntime, and weighs differences by the noise of rounding."""

import numpy as np
from onnx import helper as h, numpy_helper as nh

import mxnet as mx
from exact_sums import saturates
from microsoft_reference import evaluator
from .graph import NP2T, T, node_reads, ort, session, tensor

# What is refused here and let through there: windows outside of images, slopes that make data
# larger, arrays without elements that do not fit, choices behind the end.
ACCEPTED = ["does not fit into spatial axis", "(PRelu, opset", "ConcatFromSequence", "(Concat, opset", "Compress"]
LEVELS = ort.GraphOptimizationLevel


def want(case, level=LEVELS.ORT_DISABLE_ALL):
    """Results of each feed, or the error."""
    s = session(case.model, level)
    res = []
    for f in case.feeds:
        try:
            res.append(s.run(None, f))
        except Exception as e:  # noqa: BLE001
            res.append(e)
    return res


TOLERANCE = {"float32": 1e-4, "float64": 1e-4, "float16": 1e-2}


def differ(a, b):
    """None, or a text; `a`: theirs, `b`: ours."""
    a = np.asarray(a)
    if a.shape != b.shape:
        return f"shape {b.shape} for {a.shape}"
    if a.dtype != b.dtype:
        return f"dtype {b.dtype} for {a.dtype}"
    if a.size == 0:
        return None
    if a.dtype.kind != "f":
        if a.dtype == bool:
            n = int((a != b).sum())
        elif a.dtype.itemsize == 1:
            n = int((np.abs(a.astype(int) - b.astype(int)) > 1).sum())
        else:
            n = int((a != b).sum())
        return f"values: {n} of {a.size} {a.dtype}" if n else None
    x, y = a.astype("float64"), b.astype("float64")
    fin = np.isfinite(x)
    if (np.isnan(x) != np.isnan(y)).any():
        return f"values: NaN {int((np.isnan(x) != np.isnan(y)).sum())} of {a.size}"
    if not np.array_equal(x[~fin & ~np.isnan(x)], y[~fin & ~np.isnan(x)]):
        return f"values: inf {int((~np.isfinite(y) & fin).sum())}"
    if not fin.any():
        return None
    scale = max(np.abs(x[fin]).max(), 1e-3)
    e = np.abs(x - y)[fin].max() / scale
    t = TOLERANCE[a.dtype.name]
    return f"values: off by {e:.3g} of {scale:.3g} {a.dtype}" if not e <= t else None


class Steps:
    """The model node by node in onnxruntime, with noise on each float result."""

    def __init__(self, model):
        self.m = model
        g = model.graph
        self.consts = {t.name: nh.to_array(t) for t in g.initializer}

    def run(self, feed, noise, rng):
        vals = dict(self.consts)
        vals.update(feed)
        pending = []
        for n in self.m.graph.node:
            pending.append(n)
            outs = [o for m in pending for o in m.output if o]
            made = set(outs)
            reads = sorted(set().union(*[node_reads(m) for m in pending]) - made)
            ins = [(r, vals[r]) for r in reads]
            keepc = {r: v for r, v in ins if r in self.consts}
            graph = h.make_graph(
                pending,
                "g",
                [h.make_tensor_value_info(r, NP2T[v.dtype.name], v.shape) for r, v in ins if r not in keepc],
                [h.make_empty_tensor_value_info(o) for o in outs],
                [tensor(v, r) for r, v in keepc.items()],
            )
            m = h.make_model(graph, opset_imports=self.m.opset_import, ir_version=self.m.ir_version)
            if (
                any(a.name == "to" and a.i == T.BFLOAT16 for a in n.attribute)
                or n.op_type == "SequenceConstruct"
                or (pending[0] is not n and n.op_type == "Transpose")
            ):
                continue
            if len(pending) > 1:
                outs = list(n.output)
                del m.graph.output[:]
                m.graph.output.extend([h.make_empty_tensor_value_info(o) for o in outs])
            got = session(m).run(outs, {r: v for r, v in ins if r not in keepc})
            pending = []
            for o, v in zip(outs, got):
                v = np.asarray(v)
                if noise and v.dtype.kind == "f" and v.size and n.op_type not in ("Constant", "Identity", "Reshape", "Transpose"):
                    eps = {"float32": 2e-7, "float64": 1e-7, "float16": 5e-4}[v.dtype.name] * noise
                    fin = np.abs(v[np.isfinite(v)])
                    sc = fin.max() if fin.size else 0
                    v = (v.astype("float64") * (1 + eps * rng.randn(*v.shape)) + 0.3 * eps * sc * rng.randn(*v.shape)).astype(v.dtype)
                vals[o] = v
        return [vals[o.name] for o in self.m.graph.output]


def noisy(model, feed, k, a, b):
    """Is the difference of result k (a: theirs, b: ours) what rounding makes?"""
    rng = np.random.RandomState(0)
    try:
        s = Steps(model)
        runs = [s.run(feed, n, rng)[k] for n in (1, 3, 1, 3, 3)]
    except Exception:  # noqa: BLE001  (onnxruntime throws its own)
        return False
    a = np.asarray(a)
    if any(r.shape != a.shape for r in runs):
        return True
    if b.shape != a.shape or b.dtype != a.dtype:
        return False
    if a.dtype.kind != "f":
        if a.dtype == bool or a.dtype.itemsize > 1:
            moved = np.zeros(a.shape, bool)
            for r in runs:
                moved |= r != a
            return bool(moved.any()) and (a != b).sum() <= 4 * max(int((r != a).sum()) for r in runs) + 2
        d = np.abs(a.astype(int) - b.astype(int)).max()
        return bool(d <= 3 * max(np.abs(a.astype(int) - r.astype(int)).max() for r in runs) + 1)
    x, y = a.astype("float64"), b.astype("float64")
    if (np.isfinite(x) != np.isfinite(y)).any():
        return any((np.isfinite(x) != np.isfinite(r.astype("float64"))).any() for r in runs)
    spread = max(np.nanmax(np.abs(np.where(np.isfinite(x), x - r.astype("float64"), 0))) for r in runs)
    off = np.nanmax(np.abs(np.where(np.isfinite(x), x - y, 0)))
    return bool(off <= 12 * spread)


def quantized(model):
    return any("Quantize" in n.op_type or "QLinear" in n.op_type or "Integer" in n.op_type for n in model.graph.node)


def as_onnx_says(case, i, k, ours, step):
    """Does onnx's reference give the result, within a step, or can it not run the graph?"""
    try:
        reference = evaluator(case.model).run(None, case.feeds[i])[k]
    except Exception:  # noqa: BLE001  (what it gets wrong)
        return True
    if reference.dtype.kind == "f" and reference.shape == ours.shape:
        return bool(np.abs(reference.astype("float64") - ours).max() <= step)
    return not differ(reference, ours)


def steps_of(model):
    """The largest quantization scales of the file: what one step may move a float result."""
    found = [0.0]
    consts = {t.name: nh.to_array(t) for t in model.graph.initializer}
    for n in model.graph.node:
        if n.op_type == "Constant":
            consts[n.output[0]] = nh.to_array(n.attribute[0].t)
        if n.op_type == "Identity" and n.input[0] in consts:
            consts[n.output[0]] = consts[n.input[0]]
        if n.op_type in ("QuantizeLinear", "DequantizeLinear") and n.input[1] in consts:
            found.append(float(np.max(consts[n.input[1]])))
    return max(found)


def ours_run(case):
    """Results of each call, and of calls with the same shapes in a row and in turn: what differs
    from the first ones takes their place."""
    model = mx.onnx.load(case.model.SerializeToString())
    names = [o.name for o in case.model.graph.output]
    results = [None] * len(case.feeds)
    turns = list(range(len(case.feeds)))
    for i in turns + turns + [0] * 5 + turns[1:]:
        try:
            got = model.run(case.feeds[i])
            assert list(got) == names
            now = [got[n].asnumpy() for n in names]
        except Exception as e:  # noqa: BLE001  (of any kind: it is reported)
            now = e
        before = results[i]
        steady = before is not None and isinstance(now, Exception) == isinstance(before, Exception)
        if not steady or (not isinstance(now, Exception) and any(differ(a, b) for a, b in zip(before, now))):
            results[i] = now
    return results


def allowed(case, i, k, text, theirs, ours):
    """Is the difference in result `k` of call `i` a matter of rounding?"""
    nodes = [n.op_type for n in case.model.graph.node]
    if "NaN" in text:  # of data without variance
        return "MeanVarianceNormalization" in nodes and bool(np.isnan(theirs).any())
    if not text.startswith("values"):
        return False
    bytes_inside = quantized(case.model)
    step = max(1.01 * steps_of(case.model), 0.01 * np.abs(theirs).max() if "DynamicQuantizeLinear" in nodes else 0) if bytes_inside else 0
    if bytes_inside and theirs.dtype.kind == "f" and np.isfinite(theirs).all() and np.isfinite(ours).all():
        if np.abs(theirs.astype("float64") - ours).max() <= step:
            return True
    if noisy(case.model, case.feeds[i], k, theirs, ours):
        return True
    if not bytes_inside:
        return False
    if saturates() and as_onnx_says(case, i, k, ours, step):
        return True
    try:  # does onnxruntime differ from itself?
        other = want(case, LEVELS.ORT_ENABLE_ALL)[i]
    except Exception:  # noqa: BLE001
        return False
    return not isinstance(other, Exception) and not differ(other[k], ours)


def judge(case):
    """A list of (call, output, text) that differ for real."""
    theirs = want(case)
    try:
        ours = ours_run(case)
    except Exception as e:  # noqa: BLE001
        return [] if isinstance(theirs[0], Exception) else [(0, None, f"load: {type(e).__name__} {e}")]
    found = []
    for i, (a, b) in enumerate(zip(theirs, ours)):
        if isinstance(a, Exception):
            continue
        if isinstance(b, Exception):
            if not any(t in str(b) for t in ACCEPTED):
                found.append((i, None, f"run: {type(b).__name__} {b}"))
            continue
        for k, (x, y) in enumerate(zip(a, b)):
            text = differ(x, y)
            if text and not allowed(case, i, k, text, np.asarray(x), y):
                found.append((i, k, text))
                break
    return found
