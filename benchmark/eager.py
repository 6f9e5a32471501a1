#!/usr/bin/env python3
"""Time per eager operator: this library, PyTorch and the 1.9.1 wheel in turn, in one run.

    ./dev bench eager [--torch PYTHON] [--oracle PYTHON] [--rounds N]

PYTHON are interpreters with torch or mxnet==1.9.1 installed; the rows of what is not given are left out. Each contestant is a process of its own that answers
one round after the other, so that the machine's drift falls on all of them. Printed: median nanoseconds per operator and the ratio to ours.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

WORKLOADS = ["add 4", "add 1000", "mlp forward", "mlp step"]


def contestant(kind):
    """Answers lines 'workload calls' with the nanoseconds per operator."""
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

    print("ready", flush=True)
    for line in sys.stdin:
        workload, calls = line.rsplit(" ", 1)
        calls = int(calls)
        begin = time.perf_counter()
        if workload.startswith("add"):
            chain(int(workload.split()[1]), calls)
            operators = calls
        else:
            run, operators = (predict, 3) if workload == "mlp forward" else (step, 5 + 6)   # operators forward; forward and backward
            for _ in range(calls):
                run()
            operators *= calls
        wait()
        print(json.dumps((time.perf_counter() - begin) / operators * 1e9), flush=True)


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
    runs = {"ours": (sys.executable, dict(os.environ))}
    plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}
    if args.torch:
        runs["torch"] = (args.torch, plain)
    if args.oracle:
        runs["1.9.1"] = (args.oracle, plain)
    processes = {}
    for name, (python, env) in runs.items():
        processes[name] = subprocess.Popen([python, os.path.abspath(__file__), "--contestant", "torch" if name == "torch" else "mxnet"], env=env,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if processes[name].stdout.readline().strip() != "ready":
            raise SystemExit(f"{name}: {python} did not start")
    calls = {"add 4": 10000, "add 1000": 10000, "mlp forward": 1000, "mlp step": 300}
    times = {w: {n: [] for n in runs} for w in WORKLOADS}
    for r in range(args.rounds + 1):
        for w in WORKLOADS:
            for n, p in processes.items():
                p.stdin.write(f"{w} {calls[w]}\n")
                p.stdin.flush()
                value = json.loads(p.stdout.readline())
                if r:   # the first round warms up
                    times[w][n].append(value)
    for p in processes.values():
        p.stdin.close()
        p.wait()
    print(f"{'workload':12}" + "".join(f"{n + ' ns/op':>16}" for n in runs) + "".join(f"{'ours / ' + n:>16}" for n in runs if n != "ours"))
    for w in WORKLOADS:
        ratios = [statistics.median(o / t for o, t in zip(times[w]["ours"], times[w][n])) for n in runs if n != "ours"]
        print(f"{w:12}" + "".join(f"{statistics.median(times[w][n]):16.0f}" for n in runs) + "".join(f"{q:16.2f}" for q in ratios))


if __name__ == "__main__":
    main()
