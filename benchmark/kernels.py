#!/usr/bin/env python3
"""Single operators: this library and PyTorch in turn, in one run, against what the machine can do
at most.

    ./dev bench kernels [--peers PYTHON] [--only WORD,...] [--clock wall|cpu] [--rounds N] [--check]
    [--ctx cpu|gpu [--dtype TYPE] [--write-docs]]

Before anything is timed, this library's results are compared with those of kernels_reference.py
(NumPy, float64); one beyond its bound ends the program. --check does only that. Printed for each
operator: achieved GFLOP/s against the measured multiply-add peak, or GB/s (bytes that must be read
and written once) against the measured copying rate, and how many times faster this library is.
Small arrays stay in the caches and can exceed the copying rate. 2-D convolutions and pooling get
channels-last arrays on both sides, as inside a network; here they run as hybridized blocks (weights
packed once).

With --ctx gpu another list (kernels_gpu.py) is computed on the first GPU, float32, tf32, bfloat16
or float16; results are compared with those of this library on the CPU, and GB/s stand against what
a device copy reaches in the same run. float32's images lie in planes there.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys

import numpy as np

import kernels_gpu
import kernels_reference as reference
import report
from alternate import Contestant, add_clock, add_ctx, alternate, answers, environments, need_gpu, ratio, repeat, serve
from contestants_gpu import environment, paced, prepare_torch
from kernels_cases import CASES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _random(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype="float32") * np.float32(0.1)


def _rnn_parameters(s):
    """Weights by input and by state, and their biases: deviations of about units ** -0.5, so that
    states neither die nor become chaotic."""
    rows = s["gates"] * s["units"]
    return [_random(shape, seed) * np.float32(0.4) for seed, shape in enumerate([(rows, s["units"])] * 2 + [(rows,)] * 2, 2)]


def ours(case, dtype="float32", gpu=False):
    """(a function of nothing that computes the case once, a function of nothing that gives its last
    result as reference_of does). The first waits for the result on the CPU."""
    import mxnet as mx
    with mx.gpu(0) if gpu else contextlib.nullcontext():
        return _ours(mx, case, dtype, gpu)


def _ours_batch_norm(mx, s, put, wait):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.BatchNorm(in_channels=s["shape"][1]))
    if s["backward"]:
        net.add(mx.gluon.nn.Activation("relu"))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x, head = put(_random(s["shape"])), put(_random(s["shape"], 1))
    x.attach_grad()

    def step():
        with mx.autograd.record():
            y = net(x)
        if s["backward"]:
            y.backward(head)
        wait()
        return y

    def result():
        y = step()
        return (x.grad if s["backward"] else y).astype("float32").asnumpy()
    return step, result


def _ours_sgd(nd, s, wait):
    arrays = [[nd.array(_random(shape)) for shape in s["shapes"]] for _ in range(3)]
    count = len(s["shapes"])

    def update():
        flat = [a for three in zip(*arrays) for a in three]
        nd.multi_sgd_mom_update(*flat, out=arrays[0], num_weights=count, lrs=[1e-3] * count, wds=[1e-4] * count, momentum=0.9)
        wait()

    def updated():
        update()
        return arrays[0][0].asnumpy()
    return update, updated


def _ours(mx, case, dtype, gpu):
    nd, sym, s = mx.nd, mx.sym, case.settings
    half, channels_last = dtype in kernels_gpu.HALF, not gpu or dtype != "float32"
    wait = (lambda: None) if gpu else nd.waitall

    def put(array):
        return nd.array(array).astype(dtype) if half else nd.array(array)

    def last(array):
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1)) if array.ndim == 4 and channels_last else array

    if case.kind == "call":
        return kernels_gpu.call_ours(mx, case, put)

    def block(symbol, **parameters):
        net = mx.gluon.SymbolBlock(symbol, [sym.var("data")])
        for name, p in net.collect_params().items():
            p.shape, p.grad_req = parameters[name].shape, "null"
            p.initialize()
            p.data()[:] = parameters[name]
        if half:
            net.cast(dtype)
        net.hybridize(static_alloc=True, static_shape=True)
        return net
    if case.kind == "conv":
        n = len(s["stride"])
        net = block(sym.Convolution(sym.var("data"), sym.var("w"), kernel=s["weight"][2:],
                                    num_filter=s["weight"][0], stride=s["stride"], pad=s["pad"],
                                    dilate=s["dilate"], num_group=s["groups"], no_bias=True,
                                    layout=(None, "NCW", "NHWC" if channels_last else "NCHW",
                                            "NCDHW")[n]),
                    w=last(_random(s["weight"], 1)))
        x = put(last(_random(s["data"])))
    elif case.kind == "dense":
        net = block(sym.FullyConnected(sym.var("data"), sym.var("w"), sym.var("b"), num_hidden=s["outputs"]),
                    w=_random((s["outputs"], s["inputs"]), 1), b=_random((s["outputs"],)))
        x = put(_random((s["rows"], s["inputs"])))
    elif case.kind == "embedding":
        net = block(sym.Embedding(sym.var("data"), sym.var("w"), input_dim=s["words"],
                                  output_dim=s["units"]), w=_random((s["words"], s["units"])))
        x = nd.array(np.random.default_rng(0).integers(0, s["words"], (s["count"],)))
    elif case.kind == "pool":
        net = block(sym.Pooling(sym.var("data"), pool_type=s["type"], kernel=(s["kernel"],) * 2,
                                stride=(s["stride"],) * 2, pad=(s["pad"],) * 2,
                                layout="NHWC" if channels_last else "NCHW"))
        x = put(last(_random(s["data"])))
    elif case.kind == "layer_norm":
        net = block(sym.LayerNorm(sym.var("data"), sym.var("g"), sym.var("b")), g=_random(s["shape"][1:]), b=_random(s["shape"][1:]))
        x = put(_random(s["shape"]))
    elif case.kind in ("softmax", "gelu"):
        net = block(sym.softmax(sym.var("data")) if case.kind == "softmax" else sym.LeakyReLU(sym.var("data"), act_type="gelu"))
        x = put(_random(s["shape"]))
    elif case.kind == "batch_dot":
        a, b = put(_random((s["batch"], s["m"], s["k"]))), put(_random((s["batch"], s["n"], s["k"]), 1))
        net, x = (lambda a: nd.batch_dot(a, b, transpose_b=True)), a
    elif case.kind == "batch_norm":
        return _ours_batch_norm(mx, s, put, wait)
    elif case.kind == "rnn":
        layer = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN"}[s["kind"]]
        more = {"activation": "tanh"} if layer == "RNN" else {}
        net = getattr(mx.gluon.rnn, layer)(s["units"], input_size=s["units"], **more)
        net.initialize()
        for p, value in zip((net.l0_i2h_weight, net.l0_h2h_weight, net.l0_i2h_bias, net.l0_h2h_bias), _rnn_parameters(s)):
            p.set_data(nd.array(value))
        net.hybridize(static_alloc=True, static_shape=True)
        x = nd.array(_random((s["steps"], s["batch"], s["units"])))
    elif case.kind == "sgd":
        return _ours_sgd(nd, s, wait)

    def result():
        net(x).wait_to_read()      # packs weights; the second call uses what a network would
        y = net(x).astype("float32").asnumpy()
        return y.transpose(0, 3, 1, 2) if case.kind in ("conv", "pool") and y.ndim == 4 and channels_last else y
    return (lambda: net(x)) if gpu else (lambda: net(x).wait_to_read()), result


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
        return reference.recurrent(s["kind"], wide((s["steps"], s["batch"], s["units"])),
                                   *(p.astype("float64") for p in _rnn_parameters(s)))
    first = wide(s["shapes"][0])       # weight, gradient and momentum begin alike
    return reference.momentum_sgd(first, first, first, 1e-3, 1e-4, 0.9)


def check_on_gpu(names, dtype):
    """{name: error} of this library's results on the GPU against its own on the CPU."""
    errors = {}
    for name in names:
        case = kernels_gpu.CASES[name]
        # results of argmax are places, of which 16-bit arrays have several
        errors[name] = kernels_gpu.error(ours(case, dtype, True)[1]().astype("float64"),
                                         ours(case, dtype if "argmax" in name
                                              else "float32")[1]().astype("float64"))
        if errors[name] > kernels_gpu.TOLERANCE[dtype]:
            raise SystemExit(f"{name}, {dtype}: error {errors[name]:.1e} against the CPU; accepted: {kernels_gpu.TOLERANCE[dtype]:.0e}")
    return errors


def check(names):
    """{name: error} of this library's results, relative to the largest; ends the program where a
    bound is passed."""
    errors = {}
    for name in names:
        case = CASES[name]
        errors[name] = reference.error(ours(case)[1]().astype("float64"), reference_of(case))
        if errors[name] > reference.TOLERANCE[case.kind]:
            raise SystemExit(f"{name}: error {errors[name]:.1e} against float64; accepted: {reference.TOLERANCE[case.kind]:.0e}")
    return errors


def torch(case, dtype="float32", gpu=False):
    import torch as t
    f, s = t.nn.functional, case.settings
    channels_last = not gpu or dtype != "float32"
    last = {4: t.channels_last, 5: t.channels_last_3d} if channels_last else {}

    def put(tensor):
        tensor = tensor.cuda() if gpu else tensor
        return tensor.to(getattr(t, dtype)) if dtype in kernels_gpu.HALF else tensor

    def array(shape, seed=0):
        a = put(t.from_numpy(_random(shape, seed)))
        return a.to(memory_format=last[a.ndim]) if a.ndim in last else a

    def inference(function, *args):
        def run():
            with t.inference_mode():
                function(*args)
        return run
    if case.kind == "call":
        return inference(kernels_gpu.call_torch(t, case, put))
    if case.kind == "conv":
        conv = (f.conv1d, f.conv2d, f.conv3d)[len(s["stride"]) - 1]
        return inference(conv, array(s["data"]), array(s["weight"], 1), None, s["stride"], s["pad"], s["dilate"], s["groups"])
    if case.kind == "dense":
        return inference(f.linear, array((s["rows"], s["inputs"])), array((s["outputs"], s["inputs"]), 1), put(t.zeros(s["outputs"])))
    if case.kind == "embedding":
        words = t.from_numpy(np.random.default_rng(0).integers(0, s["words"], (s["count"],)))
        return inference(f.embedding, words.cuda() if gpu else words, array((s["words"], s["units"])))
    if case.kind == "pool":
        return inference(f.max_pool2d if s["type"] == "max" else f.avg_pool2d, array(s["data"]), s["kernel"], s["stride"], s["pad"])
    if case.kind == "layer_norm":
        return inference(f.layer_norm, array(s["shape"]), s["shape"][1:], array(s["shape"][1:]), array(s["shape"][1:]))
    if case.kind == "softmax":
        return inference(f.softmax, array(s["shape"]), -1)
    if case.kind == "gelu":
        return inference(f.gelu, array(s["shape"]))
    if case.kind == "batch_dot":
        a, b = (array((s["batch"], s[rows], s["k"]), seed) for seed, rows in enumerate("mn"))
        return inference(lambda: t.bmm(a, b.transpose(1, 2)))
    if case.kind == "batch_norm":
        net = t.nn.Sequential(t.nn.BatchNorm2d(s["shape"][1]), *([t.nn.ReLU(inplace=True)] if s["backward"] else []))
        net = net.cuda() if gpu else net.to(memory_format=t.channels_last)
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
    weights = [t.nn.Parameter(put(t.from_numpy(_random(shape)))) for shape in s["shapes"]]
    for w in weights:
        w.grad = put(t.from_numpy(_random(w.shape, 1)))
    return t.optim.SGD(weights, lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True).step


class Lazy(dict):
    """Workloads that are made at their first call and dropped when the next one comes."""

    def __init__(self, cases, make):
        self.cases, self.make, self.current = cases, make, (None, None)

    def __getitem__(self, name):
        if self.current[0] != name:
            self.current = None, None
            self.current = name, self.make(self.cases[name])
        return self.current[1]


def contestant(args):
    if args.ctx == "gpu":
        if args.contestant == "torch":
            t = prepare_torch(args.dtype)
            make, wait = (lambda case: torch(case, args.dtype, True)), t.cuda.synchronize
        else:
            import mxnet as mx
            make, wait = (lambda case: ours(case, args.dtype, True)[0]), mx.nd.waitall
        return serve(answers(), Lazy(kernels_gpu.CASES, lambda case: paced(make(case), wait, False)))
    if args.contestant == "torch":
        import torch as t
        t.set_num_threads(args.threads)
    make = (lambda case: ours(case)[0]) if args.contestant == "ours" else torch
    serve(answers(), Lazy(CASES, lambda case: repeat(make(case))))


def measure(args, chosen, cases, errors, pythons, limits, bound):
    """Prints a row for each operator, and gives its figures. `limits`: GFLOP/s and GB/s; those of a
    GPU are filled in from the row of the copy."""
    names, figures = list(pythons), {}
    lines = ["| | " + " | ".join(names) + " | of the limit |" + (" ours ÷ torch |" if "torch" in names else "") + " error (bound) |",
             "|---" * (3 + len(names) + ("torch" in names)) + "|"]
    print("\n".join(lines))
    contestants = [Contestant(n, python, __file__,
                              [n, "--threads", str(args.threads), "--ctx", args.ctx, "--dtype",
                               args.dtype], env) for n, (python, env) in pythons.items()]
    size = 0.5 if args.dtype in kernels_gpu.HALF else 1   # the cases count float32's bytes
    try:
        for c in contestants:
            c.ready()
        for name in chosen:
            case = cases[name]
            calls = {c.name: max(1, int(args.slice / c.time(name, 1, 2)[0])) for c in contestants}
            times = alternate(contestants, {name: calls}, args.rounds, args.clock, 2)[name]
            work, unit, limit = (case.flops, "GFLOP/s", "fma_gflops") if case.flops else (case.bytes * size, "GB/s", "copy_gbs")
            rates = [work / statistics.median(times[n]) / 1e9 for n in names]
            if name == "device copy":
                limits["copy_gbs"] = max(rates)
            share = rates[0] / limits[limit]
            cells = [f"{r:.1f} {unit}" for r in rates] + ["" if share != share
                                                          else f"{share:.0%}"] + ([
                                                              f"{ratio(times, 'torch', 'ours'):.2f}"] if "torch" in names else [])
            cells.append(f"{errors[name]:.1e} ({bound(case):.0e})" if name in errors else "")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
            figures[name] = {"unit": unit, "rates": dict(zip(names, rates)), "of_the_limit": None if share != share else share,
                             "ours_over_torch": ratio(times, "torch", "ours") if "torch" in names else None, "error": errors.get(name)}
    finally:
        for c in contestants:
            c.end()
    return lines, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="interpreter with torch")
    parser.add_argument("--only", default="", help="words, separated by commas; operators whose name holds one of them")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--slice", type=float, default=0.05, help="seconds of a contestant's turn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    add_clock(parser)
    add_ctx(parser)
    parser.add_argument("--dtype", choices=kernels_gpu.DTYPES, default="float32", help="other types than float32 on a GPU only")
    parser.add_argument("--check", action="store_true", help="only compare results with the reference")
    parser.add_argument("--no-check", action="store_true", help="only time")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--write-docs", action="store_true", help="with --ctx gpu: the table into docs/gpu/figures.md")
    parser.add_argument("--contestant", choices=("ours", "torch"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    gpu = args.ctx == "gpu"
    if args.contestant:
        return contestant(args)
    if not gpu and (args.dtype != "float32" or args.write_docs):
        parser.error("--dtype and --write-docs go with --ctx gpu")
    cases = {name: kernels_gpu.CASES[name] for name in kernels_gpu.names_for(args.dtype)} if gpu else CASES
    chosen = [name for name in cases if any(word in name for word in args.only.split(","))]
    if not chosen:
        parser.error(f"--only {args.only}: no operator's name holds that")
    if gpu:
        if args.clock == "cpu":
            parser.error("--ctx gpu goes with --clock wall alone")
        need_gpu("kernels")
    if args.check:
        print(json.dumps(check_on_gpu(chosen, args.dtype) if gpu else check(chosen)))
        return
    if args.clock == "cpu":
        args.threads = 1
    own, plain = environments(args.clock, None if gpu else args.threads)
    if gpu:
        own = dict(own, **environment(args.dtype))
        if "device copy" not in chosen:   # the limit of the others
            chosen.insert(0, "device copy")
    pythons = {"ours": (sys.executable, own), **({"torch": (args.peers, plain)} if args.peers else {})}
    errors = {}
    if not args.no_check:
        checked = subprocess.run([sys.executable, __file__, "--check", "--only", args.only, "--ctx",
                                  args.ctx, "--dtype", args.dtype], env=own,
                                 stdout=subprocess.PIPE, text=True)   # a process of its own: its threads end
        if checked.returncode:
            raise SystemExit(checked.returncode)
        errors = json.loads(checked.stdout.splitlines()[-1])
    nan = float("nan")
    limits = (None if gpu else report.measured_limits(ROOT, args.threads)) or {"fma_gflops": nan, "copy_gbs": nan}
    about = f"GPU: {report.gpu()}; {args.dtype}."
    if not gpu:
        about = f"{args.threads} threads: {limits['fma_gflops']:.0f} GFLOP/s, copying {limits['copy_gbs']:.1f} GB/s"
    print(about + "\n")
    bound = (lambda case: kernels_gpu.TOLERANCE[args.dtype]) if gpu else (lambda case: reference.TOLERANCE[case.kind])
    lines, figures = measure(args, chosen, cases, errors, pythons, limits, bound)
    if args.json:
        report.save(args.json, {"mode": "kernels", "ctx": args.ctx, "dtype": args.dtype, "about": about, "rows": figures})
    if args.write_docs:
        report.write_gpu(ROOT, f"kernels {args.dtype}", "\n".join([about, "", *lines]))


if __name__ == "__main__":
    main()
