"""Operators of com.microsoft for onnx's reference evaluator. Those that add products of bytes are
written down here, exactly, as ONNX Runtime's page of these operators says. It is asked for one node
at a time for the others."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_qlinear_conv import QLinearConv as Standard

from integer_lstm_steps import reference

EVERY, NONE = ort.GraphOptimizationLevel.ORT_ENABLE_ALL, ort.GraphOptimizationLevel.ORT_DISABLE_ALL


def as_it_is(data, feeds, level=EVERY):
    """Results of ONNX Runtime, of a model's bytes or file, for arrays by name."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = level
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def less(x, zero):
    return x.astype("f8") if zero is None else x.astype("f8") - zero


def steps(y, scale, zero):
    """Integers of the zero point's type."""
    ends = np.iinfo(zero.dtype)
    return np.clip(np.rint(y.astype("f4") / scale) + zero.astype("f4"), ends.min, ends.max).astype(zero.dtype)


def by_own_range(x):
    """Integers less their zero point, and their scale, as DynamicQuantizeLinear says."""
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    scale = np.float32((high - low) / np.float32(255)) if high > low else np.float32(1)
    zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
    return less(steps(x, scale, zero), zero), scale


class Microsoft(OpRun):
    op_domain, op_schema = "com.microsoft", None

    def alone(self, op_type, *inputs):
        """Results of this node as one of that type, of ONNX Runtime."""
        names, outputs = ["" if a is None else f"i{n}" for n, a in enumerate(inputs)], list(self.onnx_node.output)
        feeds = {n: np.asarray(a) for n, a in zip(names, inputs) if n}
        node = onnx.NodeProto(op_type=op_type, domain="com.microsoft", input=names, output=outputs, attribute=self.onnx_node.attribute)
        given = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in feeds.items()]
        graph = helper.make_graph([node], "g", given, [onnx.ValueInfoProto(name=n) for n in outputs if n])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        results = iter(as_it_is(made.SerializeToString(), feeds))
        return tuple(next(results) if n else None for n in outputs)


class QGemm(Microsoft):
    def _run(self, a, a_scale, a_zero, b, b_scale, b_zero, c=None, scale=None, zero=None, alpha=1.0, transA=0, transB=0):
        a, b = less(a.T if transA else a, a_zero), less(b, b_zero[:, None] if transB and b_zero.ndim else b_zero)
        y = (a @ (b.T if transB else b) + (0 if c is None else c)) * (float(alpha) * a_scale.astype("f8") * b_scale)
        return (y.astype("f4") if scale is None else steps(y, scale, zero)),


class MatMulIntegerToFloat(Microsoft):
    def _run(self, a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None):
        y = less(a, a_zero) @ less(b, b_zero) * (a_scale.astype("f8") * b_scale)
        return (y + (0 if bias is None else bias)).astype("f4"),


class DynamicQuantizeMatMul(Microsoft):
    def _run(self, a, b, b_scale, b_zero=None, bias=None):
        a, a_scale = by_own_range(a)
        y = a @ less(b, b_zero) * (a_scale.astype("f8") * b_scale)
        return (y + (0 if bias is None else bias)).astype("f4"),


class QLinearConv(Microsoft):
    auto_pad, dilations, group, kernel_shape, pads, strides = "NOTSET", None, 1, None, None, None   # where a node has none

    def _run(self, x, x_scale, x_zero, w, w_scale, w_zero, scale, zero, bias=None, channels_last=0, **attributes):
        x = np.moveaxis(x, -1, 1) if channels_last else x
        y, = Standard._run(self, x, x_scale, x_zero, w, w_scale, w_zero, scale, zero, bias, **attributes)
        return (np.moveaxis(y, 1, -1) if channels_last else y),


class QAttention(Microsoft):
    def _run(self, x, w, bias, x_scale, w_scale, mask=None, x_zero=None, w_zero=None, past=None, **_):
        x, w = less(x, x_zero) * x_scale, less(w, w_zero) * w_scale
        return self.alone("Attention", x.astype("f4"), w.astype("f4"), bias, mask, past)


class DynamicQuantizeLSTM(Microsoft):
    """Without peepholes, clips and activations of other kinds."""

    def _run(self, x, w, r, bias=None, lengths=None, h=None, c=None, peepholes=None, w_scale=None, w_zero=None, r_scale=None,
             r_zero=None, hidden_size=0, direction="forward"):
        assert peepholes is None
        directions, batch = w.shape[0], x.shape[1]
        none = np.zeros((directions, batch, hidden_size))
        bias = np.zeros((directions, 8 * hidden_size)) if bias is None else bias.astype("f8")
        results = reference(x, w, r, w_scale.astype("f8"), w_zero, r_scale.astype("f8"), r_zero, bias, none if h is None else h,
                            none if c is None else c, lengths, direction == "reverse", by_own_range)
        return tuple(y.astype("f4") for y in results)


EXACT = {one.__name__: one for one in Microsoft.__subclasses__()}


def evaluator(made):
    """onnx's, of a model with operators of com.microsoft."""
    def kind_alone(name):
        return type(name, (Microsoft,), {"_run": lambda self, *inputs, **_: self.alone(name, *inputs)})

    kinds = {n.op_type for n in made.graph.node if n.domain == "com.microsoft"}
    return ReferenceEvaluator(made, new_ops=[EXACT.get(name) or kind_alone(name) for name in sorted(kinds)])
