#!/usr/bin/env python3
"""Time of single eager operators on the CPU against PyTorch's, in turn, in one run.

    ./dev bench operators --torch PYTHON [--rows 128] [--only NAME,...] [--parts
    calls,forward,gradient] [--rounds N] [--below RATIO] [--json FILE]

calls: the price of a call, on arrays of 20 numbers. forward: arrays of ROWS x 3072 and images.
gradient: forward and backward pass. Printed: median microseconds and how many times faster this
library is (above 1: faster); --below leaves out what is at least that much faster. Both use all
processors (OMP_NUM_THREADS for others).
"""
import argparse
import statistics
import sys

import report
from alternate import Contestant, Failed, alternate, answers, environments, ratio, serve
from operators_cases import CALLS, FORWARD, GRADIENT

PARTS = {"calls": CALLS, "forward": FORWARD, "gradient": GRADIENT}


def arrays(make, rows):
    """The namespace of the cases. make(values, dtype or None, wanted) -> array; wanted: its
    gradient may be asked for."""
    import numpy as np
    rng = np.random.default_rng(0)

    def normal(*shape, **kwargs):
        return make(rng.standard_normal(shape), None, **kwargs)
    width = 3072
    few = rng.integers(0, rows, rows)
    space = {name: normal(*shape, wanted=True) for name, shape in {
        "g": (rows, width), "h": (rows, width), "row": (1, width), "col": (rows, 1), "w": (width,),
        "img": (8, 64, 56, 56), "q": (96, 128, 64), "k": (96, 128, 64), "dense": (768, width),
        "k3": (64, 64, 3, 3), "k3d": (64, 1, 3, 3), "sounds": (50, 16, 40)}.items()}
    space.update(c=make(np.abs(rng.standard_normal(64)), None, wanted=True),
                 one=make(np.ones(64), None), mean=make(np.zeros(64), None),
                 positive=make(np.abs(rng.standard_normal((rows, width))) + 0.1, None, wanted=True),
                 small=make(rng.uniform(-0.99, 0.99, (rows, width)), None),
                 half=make(rng.standard_normal((rows, width)), "float16"),
                 brain=make(rng.standard_normal((rows, width)), "bfloat16"),
                 labels=make(rng.integers(1, 39, (16, 10)), None), few=make(few, "int64"),
                 chosen=make(rng.random((rows, width)) > 0.5, "bool"),
                 a=make(np.ones((4, 5)), None), b=make(np.ones((4, 5)), None),
                 vector=make(np.ones(5), None), values=np.ones((4, 5), "float32"))
    return space


def contestant(kind, part, rows):
    """Serves a part's cases."""
    if kind == "torch":
        import torch

        def make(values, dtype, wanted=False):
            a = torch.tensor(values).to(getattr(torch, dtype or "float32"))
            return a.requires_grad_() if wanted and part == "gradient" else a
        space = {**arrays(make, rows), "torch": torch, "F": torch.nn.functional}
        torch.set_grad_enabled(part == "gradient")
        wait = lambda: None   # noqa: E731
    else:
        import mxnet as mx

        def make(values, dtype, wanted=False):
            a = mx.nd.array(values, dtype=dtype or "float32")
            if wanted and part == "gradient":
                a.attach_grad()
            return a
        space = {**arrays(make, rows), "nd": mx.nd}
        wait = mx.nd.waitall
    if part == "calls":
        space["few"] = make([1, 0, 2, 1], "int64")

    def workload(expression):
        call = eval("lambda: " + expression, space)   # noqa: S307  (the cases' own text)
        if part != "gradient":
            step = call
        elif kind == "torch":
            leaves = [v for v in space.values() if isinstance(v, torch.Tensor) and v.is_leaf and v.requires_grad]
            head = torch.ones_like(call())

            def step():
                for v in leaves:
                    v.grad = None
                call().backward(head)
        else:
            head = mx.nd.ones_like(call())

            def step():
                with mx.autograd.record():
                    y = call()
                y.backward(head)

        def run(calls):
            for _ in range(calls):
                step()
            wait()
        return run
    serve(answers(), {name: workload(other if kind == "torch" else own) for name, own, other in PARTS[part]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", required="--contestant" not in sys.argv, help="interpreter with torch")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--only", help="names of cases")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--contestant", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        contestant(*args.contestant, args.rows)
        return
    unknown = [p for p in args.parts.split(",") if p not in PARTS]
    if unknown:
        parser.error(f"--parts {unknown[0]}; accepted: {', '.join(PARTS)}")
    ours, plain = environments("wall")
    figures = {}
    for part in args.parts.split(","):
        names = [c[0] for c in PARTS[part] if not args.only or c[0] in args.only.split(",")]
        if not names:
            continue
        runs = {"ours": (sys.executable, ours), "torch": (args.torch, plain)}
        contestants = [Contestant(n, python, __file__,
                                  ["torch" if n == "torch" else "ours", part, "--rows",
                                   str(args.rows)], env) for n, (python, env) in runs.items()]
        try:
            for c in contestants:
                c.ready()
            calls = {}
            for w in names:
                once = max(c.time(w, 1, 2)[0] for c in contestants)
                calls[w] = dict.fromkeys(runs, max(1, min(2000, int(0.02 / once))))
            times = alternate(contestants, calls, args.rounds, settle=2)
        except Failed as error:
            raise SystemExit(f"operators: {error}")
        finally:
            for c in contestants:
                c.end()
        rows = [(ratio(times[w], "torch", "ours"), w, *(statistics.median(times[w][n]) * 1e6 for n in runs)) for w in names]
        figures[part] = {w: {"ours_us": o, "torch_us": t, "times_as_fast": r} for r, w, o, t in rows}
        print(f"{part:28}{'ours us':>12}{'torch us':>12}{'times as fast':>16}")
        for r, w, o, t in sorted(rows):
            if r < args.below:
                print(f"{w:28}{o:12.2f}{t:12.2f}{r:16.2f}")
        print(f"{'median':52}{statistics.median(r[0] for r in rows):16.2f}   ({sum(r[0] < 0.97 for r in rows)} of {len(rows)} slower)\n")
    if args.json:
        report.save(args.json, {"mode": "operators", "rows": args.rows, "parts": figures})


if __name__ == "__main__":
    main()
