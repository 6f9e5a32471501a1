"""Files of former years in the corpus: torch's oldest opsets with weights that are inputs, scripted
loops and branches, and what onnxruntime makes of files that it optimized or quantized before."""
import os

import numpy as np

import onnx_corpus_forms as forms
import onnx_corpus_transformers as transformers_nets
import onnx_models
from onnx_models import Made, draw

OPSETS = (7, 8, 9, 10, 11)
NETS = ("alexnet", "vgg11_bn", "resnet18", "squeezenet1_1", "densenet121", "mobilenet_v2", "googlenet", "shufflenet_v2_x1_0", "mnasnet0_5")


def older(build, inputs, opset):
    """IR 3: weights are inputs, too."""
    def make(folder, name):
        import onnx
        import torch
        torch.manual_seed(0)
        given = tuple(torch.from_numpy(v) for v in inputs(2).values())
        net = onnx_models.settled(build(), given)
        path = os.path.join(folder, name + ".onnx")
        with torch.no_grad():
            torch.onnx.export(net, given, path, input_names=list(inputs(1)), output_names=["y"], dynamo=False, opset_version=opset,
                              keep_initializers_as_inputs=True, dynamic_axes={k: {0: "n"} for k in inputs(1)} if opset > 8 else None)
        made = onnx.load(path)
        made.ir_version = 3
        onnx.save(made, path)

        def compute(values):
            with torch.no_grad():
                found = net(*(torch.from_numpy(v) for v in values.values()))
            return [f.numpy() for f in (found if isinstance(found, (tuple, list)) else [found])]
        return compute
    return make


def layered(kind):
    def build():
        import torch
        layers = torch.nn

        class Upscaled(layers.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = layers.Conv2d(3, 8, 3, padding=1), layers.ConvTranspose2d(8, 4, 4, stride=2, padding=1)
                self.norm = layers.InstanceNorm2d(8, affine=True)

            def forward(self, x):
                y = layers.functional.interpolate(layers.functional.elu(self.norm(self.a(x))), scale_factor=2, mode="nearest")
                y = layers.functional.interpolate(self.b(y), scale_factor=2, mode="bilinear", align_corners=False)
                return layers.functional.avg_pool2d(layers.functional.prelu(y, torch.full((1,), 0.2)), 3, 2, 1)

        class Recurrent(layers.Module):
            def __init__(self, cell):
                super().__init__()
                self.net, self.out = cell(10, 16, 2, batch_first=True, bidirectional=True), layers.Linear(32, 4)

            def forward(self, x):
                y = self.net(x)[0]
                return layers.functional.log_softmax(self.out(y.max(1)[0]), 1)
        return Upscaled() if kind == "upscaled" else Recurrent({"lstm": layers.LSTM, "gru": layers.GRU, "rnn": layers.RNN}[kind])
    return build


def rows(batch):
    n = batch or 2
    return {"x": draw("rows", n).normal(size=(n, 12, 10)).astype("float32")}


# Loops and branches of torch.jit.script.

def scripted(kind):
    import torch
    from typing import List

    class Voice(torch.nn.Module):
        """Two nets in a branch of the rate, as voice detectors are."""

        def __init__(self):
            super().__init__()
            self.fast, self.slow = torch.nn.Conv1d(1, 8, 16, 8), torch.nn.Conv1d(1, 8, 8, 4)
            self.cell = torch.nn.LSTM(8, 8)
            self.out = torch.nn.Linear(8, 1)

        def forward(self, x, state, rate):
            if int(rate) == 16000:
                y = self.fast(x[:, None])
            else:
                if x.shape[1] > 300:
                    y = self.slow(x[:, None, ::2])
                else:
                    y = self.slow(x[:, None])
            y, (h, c) = self.cell(torch.relu(y).permute(2, 0, 1), (state[0:1], state[1:2]))
            return torch.sigmoid(self.out(y)).mean(0), torch.cat([h, c])

    class Steps(torch.nn.Module):
        """Words one after another until there are enough, in a list."""

        def __init__(self):
            super().__init__()
            self.cell, self.out, self.table = torch.nn.Linear(28, 16), torch.nn.Linear(16, 30), torch.nn.Embedding(30, 12)

        def forward(self, h):
            found: List[torch.Tensor] = []
            word = torch.zeros(h.shape[0], dtype=torch.long)
            for _ in range(6):
                h = torch.tanh(self.cell(torch.cat([self.table(word), h], 1)))
                word = self.out(h).argmax(1)
                found.append(word)
            return torch.stack(found, 1), h

    class Halved(torch.nn.Module):
        def forward(self, x):
            steps = torch.zeros([], dtype=torch.long)
            while bool(x.abs().max() > 1.0):
                x = x * 0.5
                steps = steps + 1
            return x, steps

    class Rows(torch.nn.Module):
        """As many rows as there are, each by another way."""

        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(10, 5), torch.nn.Linear(10, 5)

        def forward(self, x):
            parts: List[torch.Tensor] = []
            for i in range(x.shape[1]):
                row = x[:, i]
                if i % 2 == 0:
                    parts.append(self.a(row))
                else:
                    parts.append(torch.tanh(self.b(row)))
            y = torch.cat(parts, 0)
            if bool(y.sum() > 0):
                y = y * 2
            return y
    return torch.jit.script({"voice": Voice, "steps": Steps, "halved": Halved, "rows": Rows}[kind]().eval())


def voice(batch):
    n, length = (1, 512) if batch else (2, 256)
    return {"x": onnx_models.sounds((n, length)), "state": np.zeros((2, n, 8), "float32"), "rate": np.array(16000 if batch else 8000)}


SCRIPTED = {"voice": (voice, {"x": {0: "n", 1: "t"}, "state": {1: "n"}}, 2),
            "steps": (lambda batch: {"h": draw("h").normal(size=(batch or 3, 16)).astype("float32")}, {"h": {0: "n"}}, 2),
            "halved": (lambda batch: {"x": 9 * draw("x").normal(size=(batch or 3, 7)).astype("float32")}, {"x": {0: "n"}}, 2),
            "rows": (lambda batch: {"x": draw("r").normal(size=(2, 6 if batch else 9, 10)).astype("float32")}, {"x": {1: "t"}}, 1)}


def looped(kind, opset):
    inputs, free, outputs = SCRIPTED[kind]

    def make(folder, name):
        import torch
        torch.manual_seed(0)
        net = scripted(kind)
        given = inputs(1)
        with torch.no_grad():
            torch.onnx.export(net, tuple(torch.from_numpy(v) for v in given.values()), os.path.join(folder, name + ".onnx"), dynamo=False,
                              input_names=list(given), output_names=[f"y{i}" for i in range(outputs)], dynamic_axes=free,
                              opset_version=opset)
        return onnx_models.reference_of(folder, name)
    return make


# Quantized behind onnxruntime's optimizers, optimized behind the quantizer, and without padding.

def quantized_later(about, base, kind):
    def make(folder, name):
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic
        about.make(folder, base)
        source, between, path = (os.path.join(folder, n) for n in (base + ".onnx", name + ".part", name + ".onnx"))
        forms.optimized(source, kind).save_model_to_file(between)
        kinds = ["MatMul", "Attention", "EmbedLayerNormalization", "Gather"]
        quantize_dynamic(between, path, weight_type=QuantType.QInt8, op_types_to_quantize=kinds,
                         extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
        os.remove(source), os.remove(between)
        return onnx_models.reference_of(folder, name)
    return make


def optimized_later(base, form):
    def make(folder, name):
        onnx_models.quantized(base, form)(folder, name + ".part")
        source, path = (os.path.join(folder, name + e) for e in (".part.onnx", ".onnx"))
        forms.saved_by_session(source, path)
        os.remove(source)
        return onnx_models.reference_of(folder, name)
    return make


def without_padding(about, base):
    def make(folder, name):
        import onnx
        from onnxruntime.transformers.convert_to_packing_mode import PackingMode
        from onnxruntime.transformers.onnx_model import OnnxModel
        compute = about.make(folder, base)
        source = os.path.join(folder, base + ".onnx")
        made = OnnxModel(forms.optimized(source, "bert").model)
        PackingMode(made).convert(True)
        onnx.save(made.model, os.path.join(folder, name + ".onnx"))
        os.remove(source)
        return compute
    return make


def of_transformers(kind):
    names = ["input_ids", "attention_mask"]
    return Made("", onnx_models.exported(transformers_nets.transformer(kind, names), transformers_nets.text), transformers_nets.text, (1,))


def files(corpus):
    def put(name, family, make, inputs, **options):
        corpus["older." + name] = family, Made(family, make, inputs, (1,), **options)
    fixed = lambda inputs, opset: inputs if opset > 8 else lambda batch: inputs(2) if batch else None
    for opset in OPSETS:
        for net in NETS:
            options = {"init_weights": False, "aux_logits": False} if net == "googlenet" else {}
            x = onnx_models.photos(224 if net in ("alexnet", "vgg11_bn") else 64)
            put(f"{net}_{opset}", "torch, old opsets", older(onnx_models.vision(net, **options), x, opset), fixed(x, opset))
        if opset > 8:
            x16 = onnx_models.photos(16)
            put(f"upscaled_{opset}", "torch, old opsets", older(layered("upscaled"), x16, opset), x16)
        for kind in ("lstm", "gru", "rnn"):
            put(f"{kind}_{opset}", "torch, old opsets", older(layered(kind), rows, opset), fixed(rows, opset))
    for kind, (inputs, _, _) in SCRIPTED.items():
        for opset in (11, 13, 17)[kind == "rows":]:
            put(f"{kind}_{opset}", "torch, scripted", looped(kind, opset), inputs)
    for kind, word in (("bert", "bert"), ("roberta", "bert"), ("gpt2", "gpt2"), ("distilbert", "bert")):
        put(kind + "_optimized_dynamic", "transformers, quantized behind the optimizer",
            quantized_later(of_transformers(kind), kind, word), transformers_nets.text, quantized=True)
    for kind in ("bert", "roberta"):
        put(kind + "_packed", "transformers, without padding", without_padding(of_transformers(kind), kind), transformers_nets.text)
    for base in ("resnet18", "mobilenet_v2", "squeezenet1_1", "shufflenet_v2_x1_0", "efficientnet_b0"):
        for form in ("QDQ", "QOperator"):
            put(f"{base}_{form.lower()}_session", "quantized, saved by a session", optimized_later(base, form),
                onnx_models.MADE[base].inputs, quantized=True)
