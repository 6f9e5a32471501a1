#!/usr/bin/env python3
"""Time per eager operator: this library, PyTorch and the 1.9.1 wheel in turn, in one run.

    ./dev bench eager [--torch PYTHON] [--oracle PYTHON] [--rounds N]

PYTHON are interpreters with torch or mxnet==1.9.1 installed; the rows of what is not given are left out. Each contestant is a process of its own that answers
one round after the other, so that the machine's drift falls on all of them. Printed: median nanoseconds per operator and the ratio to ours.
"""
import argparse
import statistics
import sys

from alternate import Contestant, alternate, answers, environments, ratio, serve

# name -> (calls in a slice, operators in a call: for a step forward and backward)
WORKLOADS = {"add 4": (10000, 1), "add 1000": (10000, 1), "mlp forward": (1000, 3), "mlp step": (300, 5 + 6)}


def contestant(kind):
    """Serves the workloads with torch or with mxnet, this library's or 1.9.1's."""
    import numpy as np
    rng = np.random.default_rng(0)
    x0, w0, v0 = rng.normal(size=(32, 64)), rng.normal(size=(64, 64)) * 0.1, rng.normal(size=(10, 64)) * 0.1
    if kind == "torch":
        import torch
        arrays = {n: torch.ones(n) for n in (4, 1000)}
        others = {n: torch.ones(n) for n in (4, 1000)}
        x, w, v = (torch.tensor(a, dtype=torch.float32) for a in (x0, w0, v0))
        b, c = torch.zeros(64), torch.zeros(10)
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

        def wait():
            pass

        def chain(n, calls):
            with torch.no_grad():
                a, b = arrays[n], others[n]
                for _ in range(calls):
                    a = a + b
    else:
        import mxnet as mx
        nd, ag = mx.nd, mx.autograd
        arrays = {n: nd.ones((n,)) for n in (4, 1000)}
        others = {n: nd.ones((n,)) for n in (4, 1000)}
        x, w, v = (nd.array(a) for a in (x0, w0, v0))
        params = [w, nd.zeros((64,)), v, nd.zeros((10,))]
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

    def chained(n):
        def run(calls):
            chain(n, calls)
            wait()
        return run

    def repeated(function):
        def run(calls):
            for _ in range(calls):
                function()
            wait()
        return run
    serve(answers(), {"add 4": chained(4), "add 1000": chained(1000), "mlp forward": repeated(predict), "mlp step": repeated(step)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        contestant(args.contestant)
        return
    ours, plain = environments("wall")
    runs = {"ours": (sys.executable, ours)}
    if args.torch:
        runs["torch"] = (args.torch, plain)
    if args.oracle:
        runs["1.9.1"] = (args.oracle, plain)
    contestants = [Contestant(n, python, __file__, ["torch" if n == "torch" else "mxnet"], env) for n, (python, env) in runs.items()]
    try:
        for c in contestants:
            c.ready()
        times = alternate(contestants, {w: dict.fromkeys(runs, calls) for w, (calls, _) in WORKLOADS.items()}, args.rounds)
    finally:
        for c in contestants:
            c.end()
    others = [n for n in runs if n != "ours"]
    print(f"{'workload':12}" + "".join(f"{n + ' ns/op':>16}" for n in runs) + "".join(f"{'ours / ' + n:>16}" for n in others))
    for w, (_, operators) in WORKLOADS.items():
        medians = [statistics.median(times[w][n]) * 1e9 / operators for n in runs]
        print(f"{w:12}" + "".join(f"{m:16.0f}" for m in medians) + "".join(f"{1 / ratio(times[w], n, 'ours'):16.2f}" for n in others))


if __name__ == "__main__":
    main()
