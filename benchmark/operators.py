#!/usr/bin/env python3
"""Time of single eager operators on the CPU against PyTorch's and the 1.9.1 wheel's, in turn.

    ./dev bench operators [--torch PYTHON] [--oracle PYTHON] [--rows 128] [--dtype bfloat16] [--only
    NAME,...] [--parts PART,...] [--rounds N] [--below RATIO] [--clock cpu] [--json FILE]

With --torch: `calls`, the price of a call, on arrays of 20 numbers; `forward`, arrays of ROWS x
3072 and images; `gradient`, forward and backward pass; `vision`, boxes, regions and images, beside
torchvision; `linalg`, matrices, beside SciPy of the same interpreter as well; `vision-gradient` and
`linalg-gradient`. With --oracle: every operator that the wheel
has too, on the arrays of its test's case (`small`), on arrays that a core's cache holds (`cache`)
and on larger ones (`memory`); `small-gradient` and so on: forward and backward pass.

Printed: median microseconds and how many times faster this library is (above 1: faster); --below
leaves out what is at least that much faster. All use all processors (OMP_NUM_THREADS for others),
or with --clock cpu one each. With --dtype, cases that either does not take are left out.
"""
import argparse
import os
import sys
import tempfile

import operators_arrays
import operators_records
import report
from alternate import add_clock, answers, environments, printed, race, repeat, serve
from operators_cases import CALLS, FORWARD, GRADIENT, LINALG, VISION, VISION_GRADIENT

PARTS = {"calls": CALLS, "forward": FORWARD, "gradient": GRADIENT, "vision": VISION, "vision-gradient": VISION_GRADIENT,
         "linalg": LINALG, "linalg-gradient": LINALG}
CONTESTANTS = {"ours": 1, "torch": 2, "scipy": 3}   # their columns in the cases
RECORDS = [size + end for end in ("", "-gradient") for size in operators_records.SIZES]


def own_space(part, rows, usual="float32"):
    """Namespace of this library's expressions, with arrays of the usual dtype, and the function
    that waits for results."""
    import mxnet as mx

    def make(values, dtype, wanted=False):
        a = mx.nd.array(values, dtype=dtype or usual)
        if wanted and part.endswith("gradient"):
            a.attach_grad()
        return a
    return {**operators_arrays.of(part, make, rows), "nd": mx.nd, "mx": mx}, mx.nd.waitall


def torch_space(part, rows, usual="float32"):
    import torch

    def make(values, dtype, wanted=False):
        a = torch.tensor(values).to(getattr(torch, dtype or usual))
        return a.requires_grad_() if wanted and part.endswith("gradient") else a
    torch.set_grad_enabled(part.endswith("gradient"))
    space = {**operators_arrays.of(part, make, rows), "torch": torch, "F": torch.nn.functional}
    if part.startswith("vision"):
        import torchvision
        space.update(tv=torchvision.ops, TF=torchvision.transforms.functional)
    return space, lambda: None


class Stacked:
    """A module of functions of matrices: where one refuses a stack, as SciPy's did until 1.15, its
    caller goes over the matrices."""

    def __init__(self, module, stack):
        self.module, self.stack = module, stack

    def __getattr__(self, name):
        function, stack, refuses = getattr(self.module, name), self.stack, False

        def call(*arrays, **options):
            nonlocal refuses
            if arrays[0].ndim == 2:
                return function(*arrays, **options)
            if not refuses:
                try:
                    return function(*arrays, **options)
                except ValueError:
                    refuses = True
            results = [function(*matrices, **options) for matrices in zip(*arrays)]
            return tuple(map(stack, zip(*results))) if isinstance(results[0], tuple) else stack(results)
        setattr(self, name, call)
        return call


def scipy_space(part, rows, usual="float32"):
    import numpy as np
    import scipy.linalg
    make = lambda values, dtype, wanted=False: np.asarray(values, dtype or usual)   # noqa: E731
    return {**operators_arrays.of(part, make, rows), "np": np, "linalg": Stacked(scipy.linalg, np.stack)}, lambda: None


def with_backward(kind, call, space):
    """The function that calls and differentiates."""
    if kind == "torch":
        torch = space["torch"]
        leaves = [v for v in space.values() if isinstance(v, torch.Tensor) and v.is_leaf and v.requires_grad]
        head = torch.ones_like(call())

        def step():
            for v in leaves:
                v.grad = None
            call().backward(head)
    else:
        mx = space["mx"]
        head = mx.nd.ones_like(call())

        def step():
            with mx.autograd.record():
                y = call()
            y.backward(head)
    return step


def contestant(kind, part, rows, dtype):
    """Serves a part's cases."""
    space, wait = {"ours": own_space, "torch": torch_space, "scipy": scipy_space}[kind](part, rows, dtype)
    if part == "calls":
        few = [1, 0, 2, 1]
        space["few"] = space["torch"].tensor(few) if kind == "torch" else space["nd"].array(few, dtype="int64")

    def workload(expression):
        call = eval("lambda: " + expression, space)   # noqa: S307  (the cases' own text)
        step = None

        def run(calls):
            nonlocal step
            step = step or (with_backward(kind, call, space) if part.endswith("gradient") else call)
            for _ in range(calls):
                step()
            wait()
        return run

    def takes(run):
        try:
            run(1)
        except Exception:   # not of this dtype
            return False
        return True
    column = CONTESTANTS[kind]
    workloads = {case[0]: workload(case[column]) for case in PARTS[part]}
    if dtype != "float32":
        workloads = {name: run for name, run in workloads.items() if takes(run)}
    serve(answers(), workloads, info=list(workloads))


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
    parser.add_argument("--dtype", default="float32", help="of the arrays, beside PyTorch: bfloat16, float16, float64")
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
        return contestant(*args.contestant, args.rows, args.dtype)
    if not args.torch and not args.oracle:
        parser.error("--torch PYTHON or --oracle PYTHON says whom to compare with")
    allowed = list(PARTS) * bool(args.torch) + RECORDS * bool(args.oracle)
    parts = args.parts.split(",") if args.parts else [p for p in allowed if p in PARTS or not p.endswith("-gradient")]
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
                if part == "linalg":
                    runs["scipy"] = args.torch, plain
                names = [c[0] for c in PARTS[part] if not only or c[0] in only]
                arguments = lambda n: [n, part, "--rows", str(args.rows), "--dtype", args.dtype]   # noqa: E731, B023
            else:
                runs = {"ours": (sys.executable, ours), "wheel": (args.oracle, plain)}
                names = operators_records.write(folder, part.split("-")[0], only)
                arguments = lambda n: [folder, part]   # noqa: E731, B023
                recover = lambda error: operators_records.leave_out_last(folder, str(error))   # noqa: E731, B023
            if names:
                times = race(runs, __file__, arguments, names, args.rounds, args.clock, recover)
                figures[part] = printed(part, times, list(runs)[1:], args.below)
    if args.json:
        report.save(args.json, {"mode": "operators", "rows": args.rows, "dtype": args.dtype, "parts": figures})


if __name__ == "__main__":
    main()
