#!/usr/bin/env python3
"""Time of single eager operators on the CPU against PyTorch's and the 1.9.1 wheel's, in turn.

    ./dev bench operators [--torch PYTHON] [--oracle PYTHON] [--rows 128] [--only NAME,...] [--parts
    PART,...] [--rounds N] [--below RATIO] [--clock cpu] [--json FILE]

With --torch: `calls`, the price of a call, on arrays of 20 numbers; `forward`, arrays of ROWS x
3072 and images; `gradient`, forward and backward pass. With --oracle: every operator that the wheel
has too, on the arrays of its test's case (`small`), on arrays that a core's cache holds (`cache`)
and on larger ones (`memory`); `small-gradient` and so on: forward and backward pass.

Printed: median microseconds and how many times faster this library is (above 1: faster); --below
leaves out what is at least that much faster. All use all processors (OMP_NUM_THREADS for others),
or with --clock cpu one each.
"""
import argparse
import os
import sys
import tempfile

import operators_records
import report
from alternate import add_clock, answers, environments, printed, race, repeat, serve
from operators_cases import CALLS, FORWARD, GRADIENT

PARTS = {"calls": CALLS, "forward": FORWARD, "gradient": GRADIENT}
RECORDS = [size + end for end in ("", "-gradient") for size in operators_records.SIZES]


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


def record_contestant(folder, part):
    """Serves the operators of a folder that `operators_records.write` made."""
    import mxnet as mx
    if os.path.dirname(os.path.abspath(__file__)) in sys.path[:1]:
        sys.path.pop(0)
    steps = operators_records.workloads(folder, part.endswith("-gradient"))

    def workload(step):
        run = repeat(step)
        return lambda calls: (run(calls), mx.nd.waitall())
    serve(answers(), {name: workload(step) for name, step in steps.items()}, info=list(steps))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--oracle", help="interpreter with the 1.9.1 wheel")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--only", help="names of cases")
    parser.add_argument("--parts", help="default: all that the interpreters allow; of the wheel, those without gradient")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    parser.add_argument("--contestant", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        if args.contestant[1] in RECORDS:
            return record_contestant(*args.contestant)
        return contestant(*args.contestant, args.rows)
    if not args.torch and not args.oracle:
        parser.error("--torch PYTHON or --oracle PYTHON says whom to compare with")
    allowed = list(PARTS) * bool(args.torch) + RECORDS * bool(args.oracle)
    parts = args.parts.split(",") if args.parts else [p for p in allowed if not p.endswith("-gradient")]
    unknown = [p for p in parts if p not in allowed]
    if unknown:
        parser.error(f"--parts {unknown[0]}; accepted: {', '.join(allowed)}")
    ours, plain = environments(args.clock, awake=True)
    only = args.only.split(",") if args.only else None
    figures = {}
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            recover = lambda error: False   # noqa: E731
            if part in PARTS:
                runs = {"ours": (sys.executable, ours), "torch": (args.torch, plain)}
                names = [c[0] for c in PARTS[part] if not only or c[0] in only]
                arguments = lambda n: ["torch" if n == "torch" else "ours", part, "--rows", str(args.rows)]   # noqa: E731, B023
            else:
                runs = {"ours": (sys.executable, ours), "wheel": (args.oracle, plain)}
                names = operators_records.write(folder, part.split("-")[0], only)
                arguments = lambda n: [folder, part]   # noqa: E731, B023
                recover = lambda error: operators_records.leave_out_last(folder, str(error))   # noqa: E731, B023
            if names:
                times = race(runs, __file__, arguments, names, args.rounds, args.clock, recover)
                figures[part] = printed(part, times, list(runs)[1:], args.below)
    if args.json:
        report.save(args.json, {"mode": "operators", "rows": args.rows, "parts": figures})


if __name__ == "__main__":
    main()
