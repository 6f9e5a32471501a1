#!/usr/bin/env python3
"""Text that decoders write with caches that grow, against onnxruntime, in turn.

    ./dev bench onnx_generate [MODEL.onnx ...] [--peers PYTHON] [--prompt N] [--steps N]
    [--rounds N] [--below RATIO] [--clock cpu] [--json FILE]

A call is one text: a prompt, and a step for each token behind it, by the interface of onnxruntime
(`mx.onnx.runtime` is ours). Each step has shapes of its own. Without models: those of the corpus
(`./dev bench onnx` makes it). Files as Optimum exports them serve, too. Printed: median
microseconds, how many times faster this library is (above 1: faster), whether both wrote the same
tokens, and what the first text took beyond the others, with loading.
"""
import argparse
import functools
import os
import sys
import time

import report
from alternate import add_clock, answers, environments, printed, race, repeat, serve

CORPUS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "onnx_models")
ENCODED = 1500   # columns of caches that do not grow


class Decoder:
    """A model, and what it is given in each step."""

    def __init__(self, runtime, path):
        self.session = runtime.InferenceSession(path)
        inputs, outputs = self.session.get_inputs(), [o.name for o in self.session.get_outputs()]
        self.caches = [i for i in inputs if len(i.shape) == 4]
        self.others = [i.name for i in inputs if len(i.shape) != 4]
        known = {o.replace("present", "past_key_values") for o in outputs[1:]}
        self.grown = [c.name for c in self.caches if c.name in known] or [c.name for c in self.caches]
        self.size = self.caches[0].shape[1], self.caches[0].shape[3]

    def filled(self, name, tokens, past):
        import numpy as np
        whole = past + tokens.shape[1]
        if "mask" in name:
            return np.ones((1, whole), "int64")
        if name == "cache_position":
            return np.arange(past, whole)
        return np.arange(past, whole)[None] if "position" in name else tokens

    def write(self, prompt, steps):
        """The tokens behind a prompt."""
        import numpy as np
        heads, width = self.size
        tokens, past, written = np.arange(3, 3 + prompt)[None], 0, []
        held = {c.name: np.zeros((1, heads, 0 if c.name in self.grown else ENCODED, width), "float32") for c in self.caches}
        for _ in range(steps + 1):
            feed = {**held, **{name: self.filled(name, tokens, past) for name in self.others}}
            results = self.session.run(None, feed)
            past += tokens.shape[1]
            tokens = results[0][:, -1:].argmax(-1)
            held.update(zip(self.grown, results[1:]))
            written.append(int(tokens[0, 0]))
        return written


def contestant(name, path, prompt, steps):
    """Serves one model."""
    if name == "ours":
        import mxnet.onnx.runtime as runtime
    else:
        import onnxruntime as runtime
    began = time.perf_counter()
    decoder = Decoder(runtime, path)
    first = decoder.write(prompt, steps)
    start = time.perf_counter() - began
    serve(answers(), {os.path.basename(path): repeat(lambda: decoder.write(prompt, steps))}, info=[os.path.basename(path)],
          numbers={"start": lambda: start, "tokens": lambda: first})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--peers", help="interpreter with onnxruntime")
    parser.add_argument("--prompt", type=int, default=12)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    parser.add_argument("--contestant", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        name, path, prompt, steps = args.contestant
        return contestant(name, path, int(prompt), int(steps))
    ours, plain = environments(args.clock)
    runs = {"ours": (sys.executable, ours), **({"onnxruntime": (args.peers, plain)} if args.peers else {})}
    figures = {}
    for path in args.models or [os.path.join(CORPUS, name + ".onnx") for name in ("gpt", "llama", "gpt_dynamic", "llama_4bit")]:
        if not os.path.exists(path):
            parser.error(f"{path} is not there; the corpus is made by ./dev bench onnx --peers PYTHON")
        held = {}
        arguments = functools.partial(lambda file, name: [name, file, str(args.prompt), str(args.steps)], path)
        ended = functools.partial(lambda held, c: held.update({c.name: (c.ask("start"), c.ask("tokens"))}), held)
        times = race(runs, __file__, arguments, [os.path.basename(path)], args.rounds, args.clock, ended=ended)
        figures[path] = printed("text", times, list(runs)[1:], args.below)
        starts = ", ".join(f"{n} {start:.2f} s" for n, (start, _) in held.items())
        same = len({tuple(tokens) for _, tokens in held.values()}) == 1
        print(f"loading and the first text: {starts}; {'the same tokens' if same else 'other tokens'}")
    if args.json:
        report.save(args.json, {"mode": "onnx_generate", "models": figures})


if __name__ == "__main__":
    main()
