"""What tools make of other files of the corpus: quantizers, float16, sessions that save what they
optimized, simplifiers, and onnxscript's functions and old layers written by hand."""
import os

import onnx_corpus_forms as forms
import onnx_models
from onnx_models import Made

BASES = """sounds.conformer sounds.zipformer sounds.nemo_decoder sounds.segmentation sounds.speaker sounds.log_mel
sounds.separator sounds.denoiser sounds.voice sounds.harmonics sounds.repeated sounds.detector_16 more.points more.depth
more.between more.enlarged more.face more.face_boxes more.sentence more.queries more.filled_dynamo18 more.sentence_dynamo20
more.depth_dynamo18 sounds.speaker_dynamo torchaudio.emformer torchaudio.tasnet""".split()
QUANTIZED = ("QDQ", "QOperator", "dynamic U8", "dynamic I8 per channel", "QDQ 16 bits")
FLOATS = ("4 bits", "8 bits weights", "basic", "extended", "all", "simplified", "slimmed", "passes")
HALVES = ("half", "half inside", "4 bits QDQ")
LEVELS = {"basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED"}


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
        onnx.save(onnxoptimizer.optimize(onnx.load(source), onnxoptimizer.get_fuse_and_elimination_passes()), path)
    else:
        return False
    return True


def reworked(about, form):
    def make(folder, name):
        compute = about.make(folder, name + ".part")
        source, path = os.path.join(folder, name + ".part.onnx"), os.path.join(folder, name + ".onnx")
        if not tool(form, source, path):
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
            name = f"reworked.{base.split('.', 1)[1]}_{form.lower().replace(' ', '_')}"
            corpus[name] = "reworked, " + form, Made(form, reworked(about, form), about.inputs, about.batches,
                                                     quantized=form in QUANTIZED, half=form in HALVES)
