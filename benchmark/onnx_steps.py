"""Are a runtime's quantized numbers those that each node defines? The end of a network says little
about that: one rounding of a tie that went the other way can change it by a fifth. So each
quantized array is compared with what onnxruntime, without optimizations, computes for its nodes
from the runtime's own arrays in front of them. Needs onnx and onnxruntime."""
import numpy as np
import onnx
import onnxruntime

QUANTIZERS = {"QuantizeLinear": 2, "QLinearConv": 7, "QLinearMatMul": 7, "QLinearAdd": 7, "QLinearMul": 7, "QGemm": 8,
              "QLinearSigmoid": 4, "QLinearLeakyRelu": 4, "QLinearSoftmax": 4, "QLinearGlobalAveragePool": 4,
              "QLinearAveragePool": 4, "QLinearConcat": 1, "QLinearWhere": 8}   # and which input is the zero point


def steps(model):
    """Quantized arrays that the graph computes: name -> type."""
    types = {t.name: t.data_type for t in model.graph.initializer}
    found = {}
    for n in model.graph.node:
        if n.op_type in QUANTIZERS and not all(i in types for i in n.input if i):
            zero = QUANTIZERS[n.op_type]
            found[n.output[0]] = types.get(n.input[zero] if zero < len(n.input) else "", onnx.TensorProto.UINT8)
        elif n.op_type == "DynamicQuantizeLinear":
            found.update(zip(n.output, (onnx.TensorProto.UINT8, onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8)))
    return found


def with_outputs(model, found):
    """The model whose outputs are also these arrays."""
    made, kept = onnx.ModelProto(), {o.name for o in model.graph.output}
    made.CopyFrom(model)
    made.graph.output.extend(onnx.helper.make_tensor_value_info(k, t, None) for k, t in found.items() if k not in kept)
    return made


def definition(model, feed, values):
    """What the nodes give for `values`, the arrays in front of them."""
    found = {k: t for k, t in steps(model).items() if k in values}
    made = with_outputs(model, found)
    for n in made.graph.node:
        for at, name in enumerate(n.input):
            if name in found:
                n.input[at] = name + "/given"
    made.graph.input.extend(onnx.helper.make_tensor_value_info(k + "/given", t, list(values[k].shape)) for k, t in found.items())
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = {**feed, **{k + "/given": values[k] for k in found}}
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, given)))


def judge(model, feed, values):
    """values: of all outputs of `with_outputs`. Numbers, those that are one step off, those that
    are more, and the first array with such; the largest relative difference of other outputs."""
    wanted = definition(model, feed, values)
    verdict = {"numbers": 0, "one": 0, "more": 0, "first": "", "rest": 0.0}
    for name, want in wanted.items():
        got = values[name]
        if got.shape != want.shape or got.dtype != want.dtype:
            verdict["more"], verdict["first"] = verdict["more"] + want.size, verdict["first"] or name
        elif want.dtype in (np.uint8, np.int8):
            off = np.abs(got.astype(int) - want.astype(int))
            verdict["numbers"] += off.size
            verdict["one"] += int((off == 1).sum())
            verdict["more"] += int((off > 1).sum())
            if (off > 1).any():
                verdict["first"] = verdict["first"] or name
        elif want.dtype.kind == "f" and want.size:
            verdict["rest"] = max(verdict["rest"], float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)))
    return verdict
