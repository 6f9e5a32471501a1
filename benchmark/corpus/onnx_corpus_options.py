"""Quantizers' options in the corpus, one after another on two small nets: types of data and of
weights, ways to find ranges, weights of a few bits in blocks of each size; and torch's loops and
branches at each opset. Blocks whose data onnxruntime rounds (level 4) agree on processors with
AVX-512 VNNI alone."""
import itertools
import os

import onnx_models
from onnx_models import Made, draw, images

TYPES = (("U8", "I8"), ("I8", "I8"), ("U8", "U8"), ("U16", "I8"), ("I16", "I16"), ("U8", "U4"), ("U8", "I4"), ("U16", "I4"))
# name -> extra_options, or the way to find ranges
EXTRAS = {
    "symmetric": {"ActivationSymmetric": True}, "asymmetric weights": {"WeightSymmetric": False},
    "pairs": {"DedicatedQDQPair": True}, "weights in pairs": {"AddQDQPairToWeight": True},
    "own domain": {"UseQDQContribOps": True}, "kept": {"QDQKeepRemovableActivations": True},
    "float bias": {"QuantizeBias": False}, "constants": {"MatMulConstBOnly": True},
    "least range": {"MinimumRealRange": 0.01}, "percentile": "Percentile", "entropy": "Entropy"}
KINDS = ("branch", "branches", "while", "until", "scan", "backwards")
OPSETS = (18, 20, 21, 22, 23)


def pictures(batch):
    return {"x": images((batch or 3, 3, 16, 16))}


def words(batch):
    return {"x": draw("words").integers(0, 50, (batch or 3, 7))}


def rows(batch):
    x = draw("rows").standard_normal((6, 8)).astype("float32")
    return {"x": x if batch else -x}


def net(name, *options):
    def build():
        import onnx_nets_options
        return getattr(onnx_nets_options, name)(*options)
    return build


NETS = {"pictures": ("Pictures", pictures), "words": ("Words", words)}


def source_of(base, folder, name):
    """Opset 21 has integers of 16 and of 4 bits."""
    import torch
    kind, inputs = NETS[base]
    torch.manual_seed(0)
    made = onnx_models.settled(net(kind)(), (torch.from_numpy(inputs(8)["x"]), ))
    path = os.path.join(folder, name + ".part")
    torch.onnx.export(made, (torch.from_numpy(inputs(2)["x"]), ), path, input_names=["x"], output_names=["y"], dynamo=False,
                      dynamic_axes={"x": {0: "n"}}, opset_version=21)
    return path


def static(base, layout, data, weights, per_channel, extra):
    def make(folder, name):
        from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quant_pre_process, quantize_static
        source = source_of(base, folder, name)
        quant_pre_process(source, source + ".clean", skip_symbolic_shape=True)
        inputs, more = NETS[base][1], {}
        if isinstance(extra, str):
            more["calibrate_method"] = CalibrationMethod[extra]
        values = [{"x": v[None]} for v in inputs(8)["x"]]   # all of one shape, which some ways need
        types = {k: getattr(QuantType, "Q" + k.replace("U", "UInt") if k[0] == "U" else "Q" + k.replace("I", "Int"))
                 for k in (data, weights)}
        quantize_static(source + ".clean", os.path.join(folder, name + ".onnx"), onnx_models.Calibration(values),
                        quant_format=QuantFormat[layout], activation_type=types[data], weight_type=types[weights],
                        per_channel=per_channel, extra_options={} if isinstance(extra, str) else dict(extra), **more)
        os.remove(source), os.remove(source + ".clean")
        return onnx_models.reference_of(folder, name)
    return make


def blocks(bits, size, symmetric, level):
    def make(folder, name):
        import onnx
        from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
        source = source_of("words", folder, name)
        how = DefaultWeightOnlyQuantConfig(block_size=size, is_symmetric=symmetric, bits=bits, accuracy_level=level)
        maker = MatMulNBitsQuantizer(onnx.load(source), algo_config=how)
        maker.process()
        maker.model.save_model_to_file(os.path.join(folder, name + ".onnx"), False)
        os.remove(source)
        return onnx_models.reference_of(folder, name)
    return make


def control(kind, opset):
    def make(folder, name):
        import torch
        torch.manual_seed(0)
        torch.onnx.export(net("Control", kind)().eval(), (torch.from_numpy(rows(1)["x"]), ), os.path.join(folder, name + ".onnx"),
                          dynamo=True, opset_version=opset, input_names=["x"], output_names=["y"], external_data=False, verbose=False)
        return onnx_models.reference_of(folder, name)
    return make


def files(corpus):
    def add(family, words_, make, inputs, **more):
        corpus["options." + "_".join(str(w).lower().replace(" ", "_") for w in words_)] = family, Made("", make, inputs, (1, ), **more)

    for base, (_, inputs) in NETS.items():
        for layout, (data, weights), per_channel in itertools.product(("QDQ", "QOperator"), TYPES, (False, True)):
            if layout == "QOperator" and (data, weights) not in TYPES[:3]:
                continue
            ways = "channels" if per_channel else "one scale"
            add("options, " + layout, (base, layout, data, weights, ways), static(base, layout, data, weights, per_channel, {}),
                inputs, quantized=True)
        for name, extra in EXTRAS.items():
            add("options, " + name, (base, name), static(base, "QDQ", "U8", "I8", False, extra), inputs, quantized=True)
    for bits, size, symmetric, level in itertools.product((2, 4, 8), (16, 32, 128), (False, True), (None, 4)):
        words_ = ("words", bits, "bits", size, "symmetric" if symmetric else "zeros", level or "exact")
        add("options, few bits", words_, blocks(bits, size, symmetric, level), words)
    for kind, opset in itertools.product(KINDS, OPSETS):
        add("options, loops", ("control", kind, opset), control(kind, opset), rows)
