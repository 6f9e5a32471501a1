#!/usr/bin/env python3
"""Single operators: this library and PyTorch in turn, in one run, against what the machine can do at most.

    ./dev bench kernels [--peers PYTHON] [--only WORD,...] [--clock wall|cpu] [--rounds N] [--check]

Before anything is timed, this library's results are compared with those of kernels_reference.py (NumPy, float64); one beyond its bound ends the program. --check does
only that. Printed for each operator: achieved GFLOP/s against the measured multiply-add peak, or GB/s (bytes that must be read and written once) against the measured
copying rate, and how many times faster this library is. Small arrays stay in the caches and can exceed the copying rate. 2-D convolutions and pooling get
channels-last arrays on both sides, as inside a network; here they run as hybridized blocks (weights packed once).
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys

import numpy as np

import kernels_reference as reference
import report
from alternate import Contestant, add_clock, alternate, answers, environments, ratio, repeat, serve

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
Case = collections.namedtuple("Case", "kind settings flops bytes")


def _conv(data, filters, kernel, stride=1, pad=0, dilate=1, groups=1):
    n = len(kernel)
    out = [(s + 2 * pad - dilate * (k - 1) - 1) // stride + 1 for s, k in zip(data[2:], kernel)]
    flops = 2 * data[0] * filters * np.prod(out) * np.prod(kernel) * data[1] // groups
    return Case("conv", dict(data=data, weight=(filters, data[1] // groups, *kernel), stride=(stride,) * n, pad=(pad,) * n, dilate=(dilate,) * n, groups=groups),
                int(flops), None)


def _pool(kind, data, kernel, stride, pad):
    out = (data[2] + 2 * pad - kernel) // stride + 1
    return Case("pool", dict(type=kind, data=data, kernel=kernel, stride=stride, pad=pad), None, 4 * data[0] * data[1] * (data[2] * data[3] + out * out))


def _dense(rows, outputs, inputs):
    flops = 2 * rows * outputs * inputs
    return Case("dense", dict(rows=rows, outputs=outputs, inputs=inputs), flops if rows > 8 else None, None if rows > 8 else 4 * outputs * inputs)


def _rows(kind, shape, passes=2, **settings):
    return Case(kind, dict(shape=shape, **settings), None, 4 * passes * int(np.prod(shape)))


def _rnn(kind, steps, batch, units):
    gates = {"lstm": 4, "gru": 3, "tanh": 1}[kind]
    return Case("rnn", dict(kind=kind, steps=steps, batch=batch, units=units, gates=gates), 2 * steps * batch * 2 * units * gates * units, None)


CASES = {
    "convolution 3x3, 64 to 64 @56": _conv((1, 64, 56, 56), 64, (3, 3), 1, 1),
    "convolution 1x1, 256 to 64 @56": _conv((1, 256, 56, 56), 64, (1, 1)),
    "convolution 1x1, 64 to 256 @56": _conv((1, 64, 56, 56), 256, (1, 1)),
    "convolution 1x1, 1024 to 256 @14": _conv((1, 1024, 14, 14), 256, (1, 1)),
    "convolution 1x1, 16 to 96 @112": _conv((1, 16, 112, 112), 96, (1, 1)),
    "convolution 1x1, 144 to 24 @56": _conv((1, 144, 56, 56), 24, (1, 1)),
    "convolution 1x1, 96 to 576 @14": _conv((1, 96, 14, 14), 576, (1, 1)),
    "convolution 1x1, 960 to 160 @7": _conv((1, 960, 7, 7), 160, (1, 1)),
    "convolution 1x1, 1280 to 1000 @1": _conv((1, 1280, 1, 1), 1000, (1, 1)),
    "strided 3x3 / 2, 3 to 32 @224": _conv((1, 3, 224, 224), 32, (3, 3), 2, 1),
    "strided 3x3 / 2, 128 to 128 @56": _conv((1, 128, 56, 56), 128, (3, 3), 2, 1),
    "strided 1x1 / 2, 256 to 512 @56": _conv((1, 256, 56, 56), 512, (1, 1), 2),
    "strided 7x7 / 2, 3 to 64 @224": _conv((1, 3, 224, 224), 64, (7, 7), 2, 3),
    "strided 11x11 / 4, 3 to 64 @224": _conv((1, 3, 224, 224), 64, (11, 11), 4, 2),
    "convolution 5x5, 64 to 192 @27": _conv((1, 64, 27, 27), 192, (5, 5), 1, 2),
    "convolution 1x7, 192 to 192 @17": Case("conv", dict(data=(1, 192, 17, 17), weight=(192, 192, 1, 7), stride=(1, 1), pad=(0, 3), dilate=(1, 1), groups=1),
                                            2 * 192 * 192 * 7 * 17 * 17, None),
    "depthwise 3x3, 144 @56": _conv((1, 144, 56, 56), 144, (3, 3), 1, 1, 1, 144),
    "depthwise 3x3 / 2, 96 @112": _conv((1, 96, 112, 112), 96, (3, 3), 2, 1, 1, 96),
    "depthwise 3x3, 960 @7": _conv((1, 960, 7, 7), 960, (3, 3), 1, 1, 1, 960),
    "grouped 3x3, 32 groups, 128 @56": _conv((1, 128, 56, 56), 128, (3, 3), 1, 1, 1, 32),
    "dilated 3x3, 256 @28": _conv((1, 256, 28, 28), 256, (3, 3), 1, 2, 2),
    "1-D, 5, 64 to 128 @1024, batch 8": _conv((8, 64, 1024), 128, (5,), 1, 2),
    "3-D, 3x3x3, 16 to 32 @16x56x56": _conv((1, 16, 16, 56, 56), 32, (3, 3, 3), 1, 1),
    "max pooling 3x3 / 2, 64 @112": _pool("max", (1, 64, 112, 112), 3, 2, 1),
    "max pooling 3x3 / 2, 64 @112, batch 16": _pool("max", (16, 64, 112, 112), 3, 2, 1),
    "avg pooling 3x3, 192 @35": _pool("avg", (1, 192, 35, 35), 3, 1, 1),
    "global avg pooling, 2048 @7": _pool("avg", (1, 2048, 7, 7), 7, 7, 0),
    "BatchNorm training, 256 @56, batch 8": _rows("batch_norm", (8, 256, 56, 56), 3, backward=False),
    "BatchNorm + relu, forward and backward": _rows("batch_norm", (8, 256, 56, 56), 10, backward=True),
    **{f"dense, {m} rows, 9216 to 4096": _dense(m, 4096, 9216) for m in (1, 2, 4, 8)},
    "dense, 1 row, 2048 to 1000": _dense(1, 1000, 2048),
    "dense, 128 rows, 768 to 3072": _dense(128, 3072, 768),
    "dense, 128 rows, 3072 to 768": _dense(128, 768, 3072),
    "dense, 49 rows, 512 to 2048": _dense(49, 2048, 512),
    "batch_dot, 12 x (128, 64) (64, 128)": Case("batch_dot", dict(batch=12, m=128, k=64, n=128), 2 * 12 * 128 * 64 * 128, None),
    "embedding, 4096 words of 768": Case("embedding", dict(words=30522, units=768, count=4096), None, 2 * 4 * 4096 * 768),
    "softmax, 1536 rows of 128": _rows("softmax", (1536, 128)),
    "softmax, 32 rows of 30522": _rows("softmax", (32, 30522)),
    "LayerNorm, 1024 rows of 768": _rows("layer_norm", (1024, 768)),
    "gelu, 128 rows of 3072": _rows("gelu", (128, 3072)),
    **{f"{kind}, 35 steps of 32 x 650": _rnn(kind, 35, 32, 650) for kind in ("lstm", "gru", "tanh")},
    "sgd with momentum, 160 arrays, 25 M": Case("sgd", dict(shapes=[(512, 312)] * 160), None, 5 * 4 * 160 * 512 * 312),
}


def _random(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype="float32") * np.float32(0.1)


def _rnn_parameters(s):
    """Weights by input and by state, and their biases: deviations of about units ** -0.5, so that states neither die nor become chaotic."""
    rows = s["gates"] * s["units"]
    return [_random(shape, seed) * np.float32(0.4) for seed, shape in enumerate([(rows, s["units"])] * 2 + [(rows,)] * 2, 2)]


def ours(case):
    """(a function of nothing that computes the case once, a function of nothing that gives its last result as reference_of does)"""
    import mxnet as mx
    nd, sym, s = mx.nd, mx.sym, case.settings

    def last(array):
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1)) if array.ndim == 4 else array

    def block(symbol, **parameters):
        net = mx.gluon.SymbolBlock(symbol, [sym.var("data")])
        for name, p in net.collect_params().items():
            p.shape, p.grad_req = parameters[name].shape, "null"
            p.initialize()
            p.data()[:] = parameters[name]
        net.hybridize(static_alloc=True, static_shape=True)
        return net
    if case.kind == "conv":
        n = len(s["stride"])
        net = block(sym.Convolution(sym.var("data"), sym.var("w"), kernel=s["weight"][2:], num_filter=s["weight"][0], stride=s["stride"], pad=s["pad"],
                                    dilate=s["dilate"], num_group=s["groups"], no_bias=True, layout=(None, "NCW", "NHWC", "NCDHW")[n]),
                    w=last(_random(s["weight"], 1)))
        x = nd.array(last(_random(s["data"])))
    elif case.kind == "dense":
        net = block(sym.FullyConnected(sym.var("data"), sym.var("w"), sym.var("b"), num_hidden=s["outputs"]),
                    w=_random((s["outputs"], s["inputs"]), 1), b=_random((s["outputs"],)))
        x = nd.array(_random((s["rows"], s["inputs"])))
    elif case.kind == "embedding":
        net = block(sym.Embedding(sym.var("data"), sym.var("w"), input_dim=s["words"], output_dim=s["units"]), w=_random((s["words"], s["units"])))
        x = nd.array(np.random.default_rng(0).integers(0, s["words"], (s["count"],)))
    elif case.kind == "pool":
        net = block(sym.Pooling(sym.var("data"), pool_type=s["type"], kernel=(s["kernel"],) * 2, stride=(s["stride"],) * 2, pad=(s["pad"],) * 2,
                                layout="NHWC"))
        x = nd.array(last(_random(s["data"])))
    elif case.kind == "layer_norm":
        net = block(sym.LayerNorm(sym.var("data"), sym.var("g"), sym.var("b")), g=_random(s["shape"][1:]), b=_random(s["shape"][1:]))
        x = nd.array(_random(s["shape"]))
    elif case.kind in ("softmax", "gelu"):
        net = block(sym.softmax(sym.var("data")) if case.kind == "softmax" else sym.LeakyReLU(sym.var("data"), act_type="gelu"))
        x = nd.array(_random(s["shape"]))
    elif case.kind == "batch_dot":
        a, b = nd.array(_random((s["batch"], s["m"], s["k"]))), nd.array(_random((s["batch"], s["n"], s["k"]), 1))
        net, x = (lambda a: nd.batch_dot(a, b, transpose_b=True)), a
    elif case.kind == "batch_norm":
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.BatchNorm(in_channels=s["shape"][1]))
        if s["backward"]:
            net.add(mx.gluon.nn.Activation("relu"))
        net.initialize()
        net.hybridize(static_alloc=True, static_shape=True)
        x, head = nd.array(_random(s["shape"])), nd.array(_random(s["shape"], 1))
        x.attach_grad()

        def step():
            with mx.autograd.record():
                y = net(x)
            if s["backward"]:
                y.backward(head)
            nd.waitall()
            return y

        def result():
            y = step()
            return (x.grad if s["backward"] else y).asnumpy()
        return step, result
    elif case.kind == "rnn":
        make = {"lstm": mx.gluon.rnn.LSTM, "gru": mx.gluon.rnn.GRU, "tanh": lambda *a, **k: mx.gluon.rnn.RNN(*a, activation="tanh", **k)}[s["kind"]]
        net = make(s["units"], input_size=s["units"])
        net.initialize()
        for p, value in zip((net.l0_i2h_weight, net.l0_h2h_weight, net.l0_i2h_bias, net.l0_h2h_bias), _rnn_parameters(s)):
            p.set_data(nd.array(value))
        net.hybridize(static_alloc=True, static_shape=True)
        x = nd.array(_random((s["steps"], s["batch"], s["units"])))
    elif case.kind == "sgd":
        arrays = [[nd.array(_random(shape)) for shape in s["shapes"]] for _ in range(3)]
        count = len(s["shapes"])

        def update():
            flat = [a for three in zip(*arrays) for a in three]
            nd.multi_sgd_mom_update(*flat, out=arrays[0], num_weights=count, lrs=[1e-3] * count, wds=[1e-4] * count, momentum=0.9)
            nd.waitall()

        def updated():
            update()
            return arrays[0][0].asnumpy()
        return update, updated

    def result():
        net(x).wait_to_read()      # packs weights; the second call uses what a network would
        y = net(x).asnumpy()
        return y.transpose(0, 3, 1, 2) if case.kind in ("conv", "pool") and y.ndim == 4 else y
    return lambda: net(x).wait_to_read(), result


def reference_of(case):
    """What `ours` should compute, in float64."""
    s = case.settings
    wide = lambda *args: _random(*args).astype("float64")
    if case.kind == "conv":
        return reference.convolution(wide(s["data"]), wide(s["weight"], 1), s["stride"], s["pad"], s["dilate"], s["groups"])
    if case.kind == "dense":
        return wide((s["rows"], s["inputs"])) @ wide((s["outputs"], s["inputs"]), 1).T + wide((s["outputs"],))
    if case.kind == "embedding":
        return wide((s["words"], s["units"]))[np.random.default_rng(0).integers(0, s["words"], (s["count"],))]
    if case.kind == "pool":
        return reference.pooling(wide(s["data"]), s["type"], s["kernel"], s["stride"], s["pad"])
    if case.kind == "layer_norm":
        return reference.layer_norm(wide(s["shape"]), wide(s["shape"][1:]), wide(s["shape"][1:]))
    if case.kind in ("softmax", "gelu"):
        return getattr(reference, case.kind)(wide(s["shape"]))
    if case.kind == "batch_dot":
        return wide((s["batch"], s["m"], s["k"])) @ wide((s["batch"], s["n"], s["k"]), 1).transpose(0, 2, 1)
    if case.kind == "batch_norm":
        return reference.batch_norm(wide(s["shape"]), wide(s["shape"], 1) if s["backward"] else None)
    if case.kind == "rnn":
        return reference.recurrent(s["kind"], wide((s["steps"], s["batch"], s["units"])), *(p.astype("float64") for p in _rnn_parameters(s)))
    first = wide(s["shapes"][0])       # weight, gradient and momentum begin alike
    return reference.momentum_sgd(first, first, first, 1e-3, 1e-4, 0.9)


def check(names):
    """{name: error} of this library's results, relative to the largest; ends the program where a bound is passed."""
    errors = {}
    for name in names:
        case = CASES[name]
        errors[name] = reference.error(ours(case)[1]().astype("float64"), reference_of(case))
        if errors[name] > reference.TOLERANCE[case.kind]:
            raise SystemExit(f"{name}: error {errors[name]:.1e} against float64; accepted: {reference.TOLERANCE[case.kind]:.0e}")
    return errors


def torch(case):
    import torch as t
    f, s = t.nn.functional, case.settings
    last = {3: t.contiguous_format, 4: t.channels_last, 5: t.channels_last_3d}

    def array(shape, seed=0):
        a = t.from_numpy(_random(shape, seed))
        return a.to(memory_format=last[a.ndim]) if a.ndim > 2 and case.kind != "rnn" else a

    def inference(function, *args):
        def run():
            with t.inference_mode():
                function(*args)
        return run
    if case.kind == "conv":
        conv = (f.conv1d, f.conv2d, f.conv3d)[len(s["stride"]) - 1]
        return inference(conv, array(s["data"]), array(s["weight"], 1), None, s["stride"], s["pad"], s["dilate"], s["groups"])
    if case.kind == "dense":
        return inference(f.linear, array((s["rows"], s["inputs"])), array((s["outputs"], s["inputs"]), 1), t.zeros(s["outputs"]))
    if case.kind == "embedding":
        return inference(f.embedding, t.from_numpy(np.random.default_rng(0).integers(0, s["words"], (s["count"],))), array((s["words"], s["units"])))
    if case.kind == "pool":
        return inference(f.max_pool2d if s["type"] == "max" else f.avg_pool2d, array(s["data"]), s["kernel"], s["stride"], s["pad"])
    if case.kind == "layer_norm":
        return inference(f.layer_norm, array(s["shape"]), s["shape"][1:], array(s["shape"][1:]), array(s["shape"][1:]))
    if case.kind == "softmax":
        return inference(f.softmax, array(s["shape"]), -1)
    if case.kind == "gelu":
        return inference(f.gelu, array(s["shape"]))
    if case.kind == "batch_dot":
        a, b = (t.from_numpy(_random((s["batch"], s[rows], s["k"]), seed)) for seed, rows in enumerate("mn"))
        return inference(lambda: t.bmm(a, b.transpose(1, 2)))
    if case.kind == "batch_norm":
        net = t.nn.Sequential(t.nn.BatchNorm2d(s["shape"][1]), *([t.nn.ReLU(inplace=True)] if s["backward"] else []))
        net = net.to(memory_format=t.channels_last)
        x, head = array(s["shape"]).requires_grad_(), array(s["shape"], 1)

        def step():
            x.grad = None
            y = net(x)
            if s["backward"]:
                y.backward(head)
        return step
    if case.kind == "rnn":
        net = {"lstm": t.nn.LSTM, "gru": t.nn.GRU, "tanh": t.nn.RNN}[s["kind"]](s["units"], s["units"])
        with t.no_grad():
            for p, value in zip((net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0, net.bias_hh_l0), _rnn_parameters(s)):
                p.copy_(t.from_numpy(value))
        return inference(net, array((s["steps"], s["batch"], s["units"])))
    weights = [t.nn.Parameter(t.from_numpy(_random(shape))) for shape in s["shapes"]]
    for w in weights:
        w.grad = t.from_numpy(_random(w.shape, 1))
    return t.optim.SGD(weights, lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True).step


class Lazy(dict):
    """Workloads that are made at their first call and dropped when the next one comes."""

    def __init__(self, make):
        self.make, self.current = make, (None, None)

    def __getitem__(self, name):
        if self.current[0] != name:
            self.current = None, None
            self.current = name, repeat(self.make(CASES[name]))
        return self.current[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="interpreter with torch")
    parser.add_argument("--only", default="", help="words, separated by commas; operators whose name holds one of them")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--slice", type=float, default=0.05, help="seconds of a contestant's turn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    add_clock(parser)
    parser.add_argument("--check", action="store_true", help="only compare results with the reference")
    parser.add_argument("--contestant", choices=("ours", "torch"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        if args.contestant == "torch":
            import torch as t
            t.set_num_threads(args.threads)
        serve(answers(), Lazy((lambda case: ours(case)[0]) if args.contestant == "ours" else torch))
        return
    chosen = [name for name in CASES if any(word in name for word in args.only.split(","))]
    if not chosen:
        parser.error(f"--only {args.only}: no operator's name holds that")
    if args.check:
        print(json.dumps(check(chosen)))
        return
    if args.clock == "cpu":
        args.threads = 1
    own, plain = environments(args.clock, args.threads)
    pythons = {"ours": (sys.executable, own), **({"torch": (args.peers, plain)} if args.peers else {})}
    checked = subprocess.run([sys.executable, __file__, "--check", "--only", args.only], env=own, stdout=subprocess.PIPE, text=True)   # a process of its own: its threads end
    if checked.returncode:
        raise SystemExit(checked.returncode)
    errors = json.loads(checked.stdout.splitlines()[-1])
    limits = report.measured_limits(ROOT, args.threads) or {"fma_gflops": float("nan"), "copy_gbs": float("nan")}
    print(f"{args.threads} threads: {limits['fma_gflops']:.0f} GFLOP/s, copying {limits['copy_gbs']:.1f} GB/s\n")
    names = list(pythons)
    print("| | " + " | ".join(names) + " | of the limit |" + (" ours ÷ torch |" if "torch" in names else "") + " error (bound) |")
    print("|---" * (3 + len(names) + ("torch" in names)) + "|")
    contestants = [Contestant(n, python, __file__, [n, "--threads", str(args.threads)], env) for n, (python, env) in pythons.items()]
    try:
        for c in contestants:
            c.ready()
        for name in chosen:
            case = CASES[name]
            calls = {c.name: max(1, int(args.slice / c.time(name, 1, 2)[0])) for c in contestants}
            times = alternate(contestants, {name: calls}, args.rounds, args.clock, 2)[name]
            work, unit, limit = (case.flops, "GFLOP/s", limits["fma_gflops"]) if case.flops else (case.bytes, "GB/s", limits["copy_gbs"])
            rates = [work / statistics.median(times[n]) / 1e9 for n in names]
            cells = [f"{r:.1f} {unit}" for r in rates] + [f"{rates[0] / limit:.0%}"] + ([f"{ratio(times, 'torch', 'ours'):.2f}"] if "torch" in names else [])
            cells.append(f"{errors[name]:.1e} ({reference.TOLERANCE[case.kind]:.0e})")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    finally:
        for c in contestants:
            c.end()


if __name__ == "__main__":
    main()
