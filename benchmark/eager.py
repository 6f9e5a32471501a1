#!/usr/bin/env python3
"""Time per eager operator: this library, PyTorch and the 1.9.1 wheel in turn, in one run.

    ./dev bench eager [--torch PYTHON] [--oracle PYTHON] [--rounds N] [--ctx cpu|gpu [--write-docs]]

PYTHON are interpreters with torch or mxnet==1.9.1 installed; the rows of what is not given are left
out. Each contestant is a process of its own that answers one round after the other, so that the
machine's drift falls on all of them. Printed: median nanoseconds per operator and the ratio to
ours. With --ctx gpu this library and PyTorch compute on the first GPU, longer chains of several
operators too; the device is waited for behind each slice.
"""
import argparse
import os
import statistics
import sys

import report
from alternate import Contestant, add_ctx, alternate, answers, environments, need_gpu, ratio, serve

# name -> (calls in a slice, operators in a call: for a step forward and backward)
WORKLOADS = {"add 4": (10000, 1), "add 1000": (10000, 1), "mlp forward": (1000, 3), "mlp step": (300, 5 + 6)}
GPU_WORKLOADS = {**WORKLOADS, "add 1000000": (10000, 1), "mixed 1000": (2500, 4), "mixed 1000000": (2500, 4)}


def workloads(ctx):
    return GPU_WORKLOADS if ctx == "gpu" else WORKLOADS


def _torch_side(gpu, sizes, x0, w0, v0):
    """What `contestant` serves, with torch: one step, a forward pass, waiting, and the two chains
    of operators."""
    import torch
    if gpu and not torch.cuda.is_available():
        raise SystemExit("this torch has no CUDA; accepted with --ctx gpu: an interpreter whose torch.cuda.is_available()")
    device = "cuda" if gpu else "cpu"
    arrays = {n: torch.ones(n, device=device) for n in sizes}
    others = {n: torch.ones(n, device=device) for n in sizes}
    x, w, v = (torch.tensor(a, dtype=torch.float32, device=device) for a in (x0, w0, v0))
    b, c = torch.zeros(64, device=device), torch.zeros(10, device=device)
    params = [p.clone().requires_grad_() for p in (w, b, v, c)]

    def forward(p):
        return torch.nn.functional.linear(torch.relu(torch.nn.functional.linear(x, p[0], p[1])), p[2], p[3])

    def step():
        for p in params:
            p.grad = None
        (forward(params) ** 2).sum().backward()

    def predict():
        with torch.no_grad():
            forward(params)

    wait = torch.cuda.synchronize if gpu else lambda: None

    def chain(n, calls):
        with torch.no_grad():
            a, b = arrays[n], others[n]
            for _ in range(calls):
                a = a + b

    def mixed(n, calls):
        with torch.no_grad():
            a, b = arrays[n], others[n]
            for _ in range(calls):
                a = torch.tanh(torch.relu(a * b) + 1)
    return step, predict, wait, chain, mixed


def _mxnet_side(gpu, sizes, x0, w0, v0):
    """The same with mxnet, this library's or 1.9.1's."""
    import mxnet as mx
    nd, ag = mx.nd, mx.autograd
    device = mx.gpu(0) if gpu else mx.cpu()
    arrays = {n: nd.ones((n,), ctx=device) for n in sizes}
    others = {n: nd.ones((n,), ctx=device) for n in sizes}
    x, w, v = (nd.array(a, ctx=device) for a in (x0, w0, v0))
    params = [w, nd.zeros((64,), ctx=device), v, nd.zeros((10,), ctx=device)]
    for p in params:
        p.attach_grad()

    def forward(p):
        return nd.FullyConnected(nd.relu(nd.FullyConnected(x, p[0], p[1], num_hidden=64)), p[2], p[3], num_hidden=10)

    def step():
        with ag.record():
            loss = (forward(params) ** 2).sum()
        loss.backward()

    def predict():
        forward(params)

    wait = nd.waitall

    def chain(n, calls):
        a, b = arrays[n], others[n]
        for _ in range(calls):
            a = a + b

    def mixed(n, calls):
        a, b = arrays[n], others[n]
        for _ in range(calls):
            a = nd.tanh(nd.relu(a * b) + 1)
    return step, predict, wait, chain, mixed


def contestant(kind, ctx):
    """Serves the workloads with torch or with mxnet, this library's or 1.9.1's."""
    import numpy as np
    sizes = {int(w.split()[1]) for w in workloads(ctx) if w.startswith(("add", "mixed"))}
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(32, 64)), rng.normal(size=(64, 64)) * 0.1, rng.normal(size=(10, 64)) * 0.1
    side = _torch_side if kind == "torch" else _mxnet_side
    step, predict, wait, chain, mixed = side(ctx == "gpu", sizes, *weights)

    def chained(function, n):
        def run(calls):
            function(n, calls)
            wait()
        return run

    def repeated(function):
        def run(calls):
            for _ in range(calls):
                function()
            wait()
        return run
    kinds = {"add": chain, "mixed": mixed}
    serve(answers(), {"mlp forward": repeated(predict), "mlp step": repeated(step),
                      **{f"{kind} {n}": chained(f, n) for kind, f in kinds.items() for n in sizes}})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    add_ctx(parser)
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--write-docs", action="store_true", help="with --ctx gpu: the table into docs/gpu/figures.md")
    args = parser.parse_args()
    if args.contestant:
        contestant(args.contestant, args.ctx)
        return
    if args.ctx == "gpu":
        if args.oracle:
            parser.error("--ctx gpu goes with --torch alone")
        need_gpu("eager")
    elif args.write_docs:
        parser.error("--write-docs goes with --ctx gpu; docs/perf.md's table is copied by hand")
    ours, plain = environments("wall")
    runs = {"ours": (sys.executable, ours)}
    if args.torch:
        runs["torch"] = (args.torch, plain)
    if args.oracle:
        runs["1.9.1"] = (args.oracle, plain)
    contestants = [Contestant(n, python, __file__,
                              ["torch" if n == "torch" else "mxnet", "--ctx", args.ctx], env)
                   for n, (python, env) in runs.items()]
    wanted = workloads(args.ctx)
    try:
        for c in contestants:
            c.ready()
        times = alternate(contestants, {w: dict.fromkeys(runs, calls) for w, (calls, _) in wanted.items()}, args.rounds)
    finally:
        for c in contestants:
            c.end()
    others = [n for n in runs if n != "ours"]
    medians = {w: {n: statistics.median(times[w][n]) * 1e9 / operators for n in runs} for w, (_, operators) in wanted.items()}
    ratios = {w: {n: 1 / ratio(times[w], n, "ours") for n in others} for w in wanted}
    print(f"{'workload':14}" + "".join(f"{n + ' ns/op':>16}" for n in runs) + "".join(f"{'ours / ' + n:>16}" for n in others))
    for w in wanted:
        print(f"{w:14}" + "".join(f"{m:16.0f}" for m in medians[w].values()) + "".join(f"{r:16.2f}" for r in ratios[w].values()))
    if args.json:
        report.save(args.json, {"mode": "eager", "ctx": args.ctx, "ns_per_operator": medians, "ours_over": ratios})
    if args.write_docs:
        head = "| ns per operator | " + " | ".join(list(runs)
                                                   + [f"ours ÷ {n}"
                                                      for n in others]) + " |\n" + "|---" * (1 + len(runs) + len(others)) + "|\n"
        rows = "\n".join(f"| {w} | " + " | ".join([f"{m:.0f}" for m in medians[w].values()]
                                                  + [f"{r:.2f}" for r in ratios[w].values()])
                         + " |" for w in wanted)
        report.write_gpu(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "eager", f"GPU: {report.gpu()}.\n\n{head}{rows}")


if __name__ == "__main__":
    main()
