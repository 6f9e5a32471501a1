"""Decoders of the transformers package in one file with two branches, as optimum merges them: with
keys and values of former words, and without. Also weights in bitsandbytes' numbers of 4 bits."""
import os

import numpy as np

import onnx_corpus_newer as newer
import onnx_corpus_transformers as older
import onnx_models
from onnx_models import Made

ALONE = ("gpt2", "llama", "opt", "bloom", "gpt_neox", "codegen", "qwen2", "falcon", "phi")
PAIRS = ("t5", "bart", "whisper", "marian")


def first_half(net):
    """Of a decoder alone, without keys and values."""
    import torch

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net.net

        def forward(self, ids, mask):
            found = self.net(input_ids=ids, attention_mask=mask, use_cache=True)
            return (found.logits, *(t for layer in found.past_key_values.layers for t in (layer.keys, layer.values)))
    return First()


def first_of_pair(net):
    import torch

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net.net

        def forward(self, ids, states):
            found = self.net(decoder_input_ids=ids, encoder_outputs=(states,), use_cache=True)
            own, other = found.past_key_values.self_attention_cache.layers, found.past_key_values.cross_attention_cache.layers
            return (found.logits, *(t for a, b in zip(own, other) for t in (a.keys, a.values, b.keys, b.values)))
    return First()


def write(net, given, free, outputs, path):
    import torch
    tensors = tuple(torch.from_numpy(v) for v in given.values())
    torch.onnx.export(net.eval(), tensors, path, input_names=list(given), output_names=outputs, dynamo=False, dynamic_axes=free,
                      opset_version=17)


def merged(one, halves):
    """halves: the first half of the net, how many names there are for a layer's present."""
    half, kinds = halves

    def make(folder, name):
        import onnx
        import torch
        from optimum.onnx.graph_transformations import merge_decoders
        torch.manual_seed(0)
        net = one.build().eval()
        given = {k: v for k, v in one.inputs(2).items()}
        short = {k: v for k, v in first_inputs(one).items() if not k.startswith(("k", "v", "self", "cross", "use"))}
        outputs = ["logits"] + [f"present.{i}.{kind}" for i in range(2) for kind in kinds]
        own = outputs if len(kinds) == 2 else [o for o in outputs if "cross" not in o]
        a, b = (os.path.join(folder, f"{name}.{i}.part") for i in (0, 1))
        free = one.free()
        with torch.no_grad():
            write(half(net), short, {k: free[k] if k == "states" else {**free[k], 1: "t"} for k in short}, outputs, a)
            write(net, given, free, own, b)
        merge_decoders(onnx.load(a), onnx.load(b), save_path=os.path.join(folder, name + ".onnx"), strict=False)
        os.remove(a), os.remove(b)
        return onnx_models.reference_of(folder, name)
    return make


def first_inputs(one):
    """Those of the branch without keys and values, which has some of length 1 all the same."""
    given = {k: v for k, v in one.inputs(None).items()}
    n = len(given["ids"])
    given["ids"] = older.ids(n, 9)
    if "mask" in given:
        given["mask"] = np.ones((n, 9), "int64")
    return {k: v[:, :, :1] if k.startswith(("k", "v", "self", "cross")) else v for k, v in given.items()}


def inputs_of(one):
    def inputs(batch):
        given = one.inputs(batch) if batch else first_inputs(one)
        return {**given, "use_cache_branch": np.array([bool(batch)])}
    return inputs


# Weights that bitsandbytes' types stand for, four bits each.

def table_weights(about, base, kind):
    def make(folder, name):
        import onnx
        from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer
        about.make(folder, base)
        source = os.path.join(folder, base + ".onnx")
        maker = MatMulBnb4Quantizer(onnx.load(source), kind, 64)
        maker.process()
        maker.model.save_model_to_file(os.path.join(folder, name + ".onnx"), False)
        os.remove(source)
        return onnx_models.reference_of(folder, name)
    return make


def files(corpus):
    for kind in ALONE:
        one = older.Cached(kind, older.CACHED[kind])
        made = Made("merged", merged(one, (first_half, ("key", "value"))), inputs_of(one), (1,))
        corpus[f"merged.{kind}"] = "transformers, merged decoders", made
    for kind in PAIRS:
        one = newer.PairCached(newer.PAIRS[kind])
        made = Made("merged", merged(one, (first_of_pair, ("key", "value", "cross.key", "cross.value"))), inputs_of(one), (1,))
        corpus[f"merged.{kind}"] = "transformers, merged decoders", made
    for base in ("bert", "gpt2", "llama", "qwen2", "phi"):
        about = Made("", onnx_models.exported(older.transformer(base, ["input_ids", "attention_mask"]), older.text), older.text, (1,))
        for kind, word in ((0, "fp4"), (1, "nf4")):
            name = f"merged.{base}_{word}"
            corpus[name] = "transformers, " + word, Made(word, table_weights(about, base, kind), older.text, (1,))
