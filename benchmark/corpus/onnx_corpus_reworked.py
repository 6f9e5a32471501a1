"""What tools make of other files of the corpus: quantizers, float16, sessions that save what they
optimized, simplifiers, and onnxscript's functions and old layers written by hand."""
import os

import onnx_corpus_forms as forms
import onnx_models
from onnx_models import Made

BASES = """sounds.conformer sounds.zipformer sounds.nemo_decoder sounds.segmentation
sounds.speaker sounds.log_mel sounds.separator sounds.denoiser sounds.voice sounds.harmonics
sounds.repeated sounds.detector_16 more.points more.depth more.between more.enlarged more.face
more.face_boxes more.sentence more.queries more.filled_dynamo18 more.sentence_dynamo20
more.depth_dynamo18 sounds.speaker_dynamo torchaudio.emformer torchaudio.tasnet""".split()
QUANTIZED = ("QDQ", "QOperator", "dynamic U8", "dynamic I8 per channel", "QDQ 16 bits")
FLOATS = ("4 bits", "8 bits weights", "basic", "extended", "all", "simplified", "slimmed", "passes")
HALVES = ("half", "half inside")
LEVELS = {"basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED"}


# onnxruntime rounds data of an LSTM otherwise than this library, so steps behind it differ.
LSTMS = "nemo_decoder segmentation separator detector_16".split()


def tool(form, source, path):
    """Whether one of these makes the form."""
    import onnx
    if form in LEVELS:
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[form])
        options.optimized_model_filepath = path
        onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    elif form == "simplified":
        import onnxsim
        onnx.save(onnxsim.simplify(onnx.load(source))[0], path)
    elif form == "slimmed":
        import onnxslim
        onnx.save(onnxslim.slim(onnx.load(source)), path)
    elif form == "passes":
        import onnxoptimizer
        passes = onnxoptimizer.get_fuse_and_elimination_passes()
        onnx.save(onnxoptimizer.optimize(onnx.load(source), passes), path)
    else:
        return False
    return True


def static(form, source, path, inputs):
    """Ranges are those of both shapes: states of layers lie in front of examples here."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    names = forms.onnx_inputs(source)
    values = [{k: v for k, v in inputs(batch).items() if k in names} for batch in (1, None)]
    layout = QuantFormat.QOperator if form == "QOperator" else QuantFormat.QDQ
    activations = QuantType.QUInt16 if form.endswith("16 bits") else QuantType.QUInt8
    quant_pre_process(source, path + ".part", skip_symbolic_shape=True)
    quantize_static(path + ".part", path, onnx_models.Calibration(values), quant_format=layout,
                    weight_type=QuantType.QInt8, activation_type=activations, per_channel=True)
    os.remove(path + ".part")


def narrow(inputs):
    """With float16 in the place of floats."""
    import numpy as np

    def narrowed(batch):
        given = inputs(batch)
        smaller = lambda v: v.astype("float16") if v.dtype == np.float32 else v
        return given and {k: smaller(v) for k, v in given.items()}
    return narrowed


def reworked(about, form):
    def make(folder, name):
        compute = about.make(folder, name + ".part")
        source, path = os.path.join(folder, name + ".part.onnx"), os.path.join(folder, name + ".onnx")
        if form.startswith("Q"):
            static(form, source, path, about.inputs)
        elif not tool(form, source, path):
            forms.write(form, "bert", source, path, about.inputs, False)
        os.remove(source)
        return compute
    return make


def files(corpus):
    """Into the corpus, which has the nets themselves."""
    for base in BASES:
        if base not in corpus:   # its package is not there
            continue
        _, about = corpus[base]
        for form in (*QUANTIZED, *FLOATS, *HALVES):
            if form.startswith("dynamic") and base.split(".")[1] in LSTMS:
                continue
            name = f"reworked.{base.split('.', 1)[1]}_{form.lower().replace(' ', '_')}"
            inputs = narrow(about.inputs) if form == "half" else about.inputs
            corpus[name] = "reworked, " + form, Made(form, reworked(about, form), inputs,
                                                     about.batches, quantized=form in QUANTIZED, half=form in HALVES)
