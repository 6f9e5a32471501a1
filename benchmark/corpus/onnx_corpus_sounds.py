"""Sounds in the corpus: streaming encoders with their caches, transducers, speakers, voice
detectors, separation with spectra in the graph and speech from text, of onnx_nets_sounds.py, and
torchaudio's nets."""
import importlib
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw, sounds

SPEECH = "speech, streaming"


def own(name, module="onnx_nets_sounds"):

    def build():
        return getattr(importlib.import_module(module), name)()

    return build


def small(shape, seed):
    return (0.3 * draw(seed, shape).normal(size=shape)).astype("float32")


def conformer(batch):
    n, frames = (batch, 32) if batch else (3, 56)
    return {
        "x": small((n, 80, frames), "x"), "lengths": frames - 3 * np.arange(n), "past": small(
            (3, n, 20, 96), "past"), "taps": small((3, n, 96, 8), "taps"), "filled":
        7 + 5 * np.arange(n)
    }


def zipformer(batch):
    n = batch or 3
    return {
        "x": small((n, 37, 80), "x"), "seen": 16 * np.arange(n), "keys0": small((32, n, 64), "a"),
        "taps0": small((n, 64, 3), "b"), "keys1": small((16, n, 64), "c"), "taps1": small(
            (n, 64, 3), "d")
    }


def nemo(batch):
    n, frames, words = (batch, 1, 1) if batch else (3, 9, 4)
    return {
        "sound": small((n, 96, frames), "s"), "targets":
        draw("t").integers(0, 129, (n, words)).astype("int32"), "length":
        np.full(n, words, "int32"), "h": small((2, n, 64), "h"), "c": small((2, n, 64), "c")
    }


def voice(batch):
    n, t = (batch, 24) if batch else (2, 31)
    return {
        "ids": draw("ids").integers(1, 100, (n, t)), "lengths": t - 4 * np.arange(n), "scales":
        np.array([0, 1.1, 0], "float32")
    }


def denoised(batch):
    n, frames = (batch, 1) if batch else (2, 40)
    return {"z": small((n, 1, frames, 96, 2), "z"), "h": small((1, n, 256), "h")}


def wave(*shape, longer=None):
    """With the batch in front, and another length in the second shape."""
    return lambda batch: {
        "x": sounds((batch or 2, *shape[:-1], shape[-1] if batch or not longer else longer))
    }


def own_nets(add):
    batch = lambda **axes: axes
    add("sounds.conformer",
        SPEECH,
        own("CachedConformer"),
        conformer,
        outputs=5,
        both=False,
        free=batch(x={0: "n", 2: "t"},
                   lengths={0: "n"},
                   past={1: "n"},
                   taps={1: "n"},
                   filled={0: "n"}))
    add("sounds.zipformer",
        SPEECH,
        own("Zipformer"),
        zipformer,
        outputs=6,
        both=False,
        free=batch(x={0: "n"},
                   seen={0: "n"},
                   keys0={1: "n"},
                   taps0={0: "n"},
                   keys1={1: "n"},
                   taps1={0: "n"}))
    add("sounds.stateless", SPEECH, own("StatelessDecoder"),
        lambda n: {"words": np.tile(np.array([[-1, 5], [7, 9]]), (n or 3, 1))[:n or 3]})
    add("sounds.joiner", SPEECH, own("Joiner"),
        lambda n: {"sound": small((n or 3, 96), "s"), "words": small((n or 3, 96), "w")})
    add("sounds.nemo_decoder",
        SPEECH,
        own("NemoDecoder"),
        nemo,
        outputs=4,
        free=batch(sound={0: "n", 2: "t"},
                   targets={0: "n", 1: "u"},
                   length={0: "n"},
                   h={1: "n"},
                   c={1: "n"}))
    add("sounds.segmentation",
        "speakers",
        own("SincNet"),
        wave(1, 16000, longer=24000),
        both=False,
        free=batch(x={0: "n", 2: "t"}))
    add("sounds.speaker",
        "speakers",
        own("Speaker"),
        lambda n: {"x": small((n or 2, 100 if n else 150, 80), "x")},
        free=batch(x={0: "n", 1: "t"}))
    add("sounds.log_mel",
        "spectra",
        own("LogMel"),
        wave(16000, longer=11200),
        both=False,
        free=batch(x={0: "n", 1: "t"}))
    add("sounds.separator",
        "spectra",
        own("HybridSeparator"),
        wave(1, 16384),
        free=batch(x={0: "n"}))
    add("sounds.denoiser",
        "spectra",
        own("Denoiser"),
        denoised,
        outputs=2,
        free=batch(z={0: "n", 2: "t"}, h={1: "n"}))
    add("sounds.voice",
        "speech from text",
        own("Voice", "onnx_nets_voices"),
        voice,
        both=False,
        free=batch(ids={0: "n", 1: "t"}, lengths={0: "n"}, scales={}))
    add("sounds.harmonics",
        "speech from text",
        own("Harmonics", "onnx_nets_voices"),
        lambda n:
        {"x": small((n or 2, 32, 30 if n else 47), "x"), "style": small((n or 2, 24), "s")},
        free=batch(x={0: "n", 2: "t"}, style={0: "n"}))
    add("sounds.repeated",
        "speech from text",
        own("Repeated", "onnx_nets_voices"),
        lambda n: {"ids": draw("ids").integers(0, 100, (1, 20 if n else 33))},
        outputs=2,
        free=batch(ids={1: "t"}))


def detector(batch):
    n, length, rate = (1, 576, 16000) if batch else (3, 288, 8000)
    return {
        "x": sounds((n, length)), "state": np.zeros((2, n, 64), "float32"), "rate": np.array(rate)
    }


def scripted(opset):

    def make(folder, name):
        import onnx_nets_sounds
        import torch
        torch.manual_seed(0)
        given = detector(1)
        with torch.no_grad():
            torch.onnx.export(onnx_nets_sounds.voice_detector(),
                              tuple(torch.from_numpy(v) for v in given.values()),
                              os.path.join(folder, name + ".onnx"),
                              dynamo=False,
                              input_names=list(given),
                              output_names=["output", "stateN"],
                              dynamic_axes={"x": {0: "n", 1: "t"}, "state": {1: "n"}},
                              opset_version=opset)
        return onnx_models.reference_of(folder, name)

    return make


def torchaudio_nets(add):

    def net(name, **options):

        def build():
            import torch
            import torchaudio.models
            inner = getattr(torchaudio.models, name)(**options)

            class Net(torch.nn.Module):

                def __init__(self):
                    super().__init__()
                    self.net = inner

                def forward(self, *x):
                    return self.net(*x)

            return Net()

        return build

    family = "torchaudio"

    def put(name, *what, **options):
        add("torchaudio." + name, family, *what, both=False, **options)

    lengths = lambda n, t: {"x": small((n, t, 80), "x"), "lengths": t - 5 * np.arange(n)}
    put("conformer",
        net("Conformer",
            input_dim=80,
            num_heads=4,
            ffn_dim=128,
            num_layers=2,
            depthwise_conv_kernel_size=31),
        lambda n: lengths(n or 3, 60 if n else 90),
        outputs=2,
        free={"x": {0: "n", 1: "t"}, "lengths": {0: "n"}})
    put("emformer",
        net("Emformer",
            input_dim=80,
            num_heads=4,
            ffn_dim=128,
            num_layers=2,
            segment_length=16,
            left_context_length=8,
            right_context_length=4),
        lambda n: lengths(n or 3, 52),
        outputs=2,
        free={"x": {0: "n"}, "lengths": {0: "n"}})
    put(
        "tasnet",
        net("ConvTasNet",
            msk_num_layers=3,
            msk_num_stacks=2,
            enc_num_feats=64,
            msk_num_feats=32,
            msk_num_hidden_feats=64), wave(1, 8000))
    put("wav2letter",
        net("Wav2Letter", num_classes=40, input_type="mfcc", num_features=40),
        lambda n: {"x": small((n or 2, 40, 100 if n else 160), "x")},
        free={"x": {0: "n", 2: "t"}})
    put("deepspeech", net("DeepSpeech", n_feature=80, n_hidden=128),
        lambda n: {"x": small((n or 2, 1, 50, 80), "x")})
    put("objective", net("squim_objective_base"), wave(8000))


def files(corpus, add):
    own_nets(add)
    for opset in (12, 16):
        corpus[f"sounds.detector_{opset}"] = "speakers", Made("speakers", scripted(opset),
                                                              detector, (1, ))
