"""Other forms of nets of the transformers package in the corpus: quantized ones, float16, and
what onnxruntime's optimizers make of them, whose operators are com.microsoft's."""
import os

import onnx_models
from onnx_models import Made

# name -> what the optimizer calls the kind; it knows no fusions for some.
BASES = {"bert": "bert", "roberta": "bert", "distilbert": "bert", "deberta": "bert", "gpt2": "gpt2", "gpt_neox": "gpt2", "llama": "gpt2",
         "vit": "vit", "swin": "swin", "bart": "bart", "t5": "t5", "clip": "clip", "whisper": "bart", "qwen3": "gpt2"}
QUANTIZED = ("dynamic I8 per channel", "dynamic U8", "QDQ", "QOperator", "QDQ 16 bits")
FLOATS = ("4 bits", "4 bits asymmetric", "8 bits weights", "all", "optimizer", "optimizer 2")
# Compared as float16 is: of 4 bits in QDQ onnxruntime makes layers that round data to 8 bits.
HALVES = ("half", "half inside", "optimizer half", "4 bits QDQ")
TABLES = ("bert", "gpt2", "clip")   # their embeddings are quantized, too; the quantizer breaks others' Gather


def optimized(source, kind, level=None):
    from onnxruntime.transformers import optimizer
    return optimizer.optimize_model(source, model_type=kind, num_heads=0, hidden_size=0, opt_level=level)


def saved_by_session(source, path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = path
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"],
                                 disabled_optimizers=["NchwcTransformer"])   # its operators are for no file


def narrowed(form, source, path, tables):
    """Weights of a few bits."""
    import onnx
    from onnxruntime.quantization import QuantFormat
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
    layout = QuantFormat.QDQ if form.endswith("QDQ") else QuantFormat.QOperator
    kinds = ("MatMul", "Gather") if tables and form in ("4 bits", "4 bits asymmetric") else ("MatMul",)
    how = DefaultWeightOnlyQuantConfig(block_size=32, is_symmetric="asymmetric" not in form, quant_format=layout, bits=int(form[0]),
                                       op_types_to_quantize=kinds)
    maker = MatMulNBitsQuantizer(onnx.load(source), algo_config=how)
    maker.process()
    maker.model.save_model_to_file(path, False)


def static(form, source, path, inputs):
    from onnxruntime.quantization import QuantFormat, QuantType, quant_pre_process, quantize_static
    quant_pre_process(source, path + ".part", skip_symbolic_shape=True)
    layout = QuantFormat.QOperator if form == "QOperator" else QuantFormat.QDQ
    activations = QuantType.QUInt16 if "16" in form else QuantType.QUInt8
    names = onnx_inputs(source)
    values = [{k: v for k, v in inputs(1).items() if k in names}, {k: v[:1] for k, v in inputs(8).items() if k in names}]
    quantize_static(path + ".part", path, onnx_models.Calibration(values), weight_type=QuantType.QInt8, quant_format=layout,
                    activation_type=activations, per_channel=True)
    os.remove(path + ".part")


def onnx_inputs(path):
    import onnx
    return [i.name for i in onnx.load(path).graph.input]


def write(form, kind, source, path, inputs, tables):
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers.float16 import convert_float_to_float16
    if form.startswith("dynamic"):
        quantize_dynamic(source, path, weight_type=QuantType.QUInt8 if form.endswith("U8") else QuantType.QInt8,
                         per_channel=form.endswith("channel"))
    elif form.startswith("Q"):
        static(form, source, path, inputs)
    elif form[0] in "48":
        narrowed(form, source, path, tables)
    elif form.startswith("half"):
        onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types="inside" in form), path)
    elif form == "all":
        saved_by_session(source, path)
    else:
        made = optimized(source, kind, 2 if form.endswith("2") else None)
        if form.endswith("half"):
            made.convert_float_to_float16(keep_io_types=True)
        made.save_model_to_file(path)


def formed(about, base, kind, form):
    def make(folder, name):
        about.make(folder, base)
        source, path = os.path.join(folder, base + ".onnx"), os.path.join(folder, name + ".onnx")
        write(form, kind, source, path, about.inputs, base.split("_")[0] in TABLES)
        os.remove(source)
        return onnx_models.reference_of(folder, name)
    return make


def files(corpus):
    """Into the corpus, which has the nets themselves."""
    for base, kind in BASES.items():
        for dynamo in ("", "_dynamo"):
            family, about = corpus["transformers." + base + dynamo]
            for form in (*QUANTIZED, *FLOATS, *HALVES):
                name = f"forms.{base}{dynamo}_{form.lower().replace(' ', '_')}"
                corpus[name] = "transformers, " + form, Made(form, formed(about, base + dynamo, kind, form), about.inputs, (1,),
                                                             quantized=form in QUANTIZED, half=form in HALVES)
