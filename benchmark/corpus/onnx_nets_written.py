"""Functions of onnxscript that onnx_corpus_written.py exports: they call each other,
with loops and branches. Needs onnxscript."""
import onnxscript
from onnxscript import FLOAT, INT64, script
from onnxscript import opset18 as op

own = onnxscript.values.Opset("own.domain", 1)


@script(own, default_opset=op)
def gelu(x):
    return 0.5 * x * (1.0 + op.Erf(x / 1.4142135))


@script(own, default_opset=op)
def norm(x, scale, eps: float = 1e-5):
    mean = op.ReduceMean(x, [-1], keepdims=1)
    spread = op.ReduceMean((x - mean) * (x - mean), [-1], keepdims=1)
    return (x - mean) / op.Sqrt(spread + op.Cast(op.Constant(value_float=1e-5), to=1)) * scale


@script(own, default_opset=op)
def layer(x, w, v, scale):
    return x + op.MatMul(gelu(op.MatMul(norm(x, scale), w)), v)


@script(default_opset=op)
def layers(x: FLOAT[...], w: FLOAT[32, 64], v: FLOAT[64, 32],
           scale: FLOAT[32]) -> FLOAT[...]:
    y = layer(x, w, v, scale)
    return layer(y, w, v, scale)


@script(default_opset=op)
def sums(x: FLOAT[...], n: INT64) -> (FLOAT[...], FLOAT[...]):
    total = op.Identity(x)
    kept = op.SequenceEmpty()
    for i in range(n):
        total = total * 0.5 + op.Cast(i, to=1)
        kept = op.SequenceInsert(kept, total)
    found = op.ConcatFromSequence(kept, axis=0, new_axis=1)
    return total, found


@script(default_opset=op)
def halved(x: FLOAT[...]) -> FLOAT[...]:
    most = op.ReduceMax(op.Abs(x), keepdims=0)
    go = most > 1.0
    while go:
        x = x * 0.5
        most = op.ReduceMax(op.Abs(x), keepdims=0)
        go = most > 1.0
    return x


@script(default_opset=op)
def either(x: FLOAT[...]) -> FLOAT[...]:
    if op.ReduceSum(x, keepdims=0) > 0.0:
        y = gelu(x)
    else:
        y = op.Concat(x, -x, axis=1)
    return y
