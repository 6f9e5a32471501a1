#!/usr/bin/env python3
"""Time of mx.np functions on the CPU against NumPy's, PyTorch's and the 2.0 wheel's, in turn.

    ./dev bench numpy [--torch PYTHON] [--wheel PYTHON] [--numpy PYTHON] [--parts calls,large]
    [--only NAME,...] [--rounds N] [--below RATIO] [--clock cpu] [--json FILE]

`calls`: the price of a call, on arrays of 20 numbers; `large`: arrays of a million. Printed: median
microseconds, and how many times faster this library is than each (above 1: faster); --below leaves
out what is at least that much faster than all. NumPy is that of this interpreter, or of --numpy.
All use all processors as they see fit (OMP_NUM_THREADS for others), or with --clock cpu one each.
"""
import argparse
import sys

import report
from alternate import add_clock, answers, environments, printed, race, serve
from numpy_cases import PARTS


def arrays(make):
    """The namespace of the cases. make(NumPy array) -> array of the same dtype."""
    import numpy as np
    rng = np.random.default_rng(0)
    floats = {"a": (4, 5), "b": (4, 5), "v": (5,), "g": (1024, 1024), "h": (1024, 1024), "row": (1, 1024), "flat": (1 << 20,),
              "stack": (64, 128, 128), "narrow": (1 << 16, 16), "sixteen": (16,), "thin": (1 << 18, 3), "three": (3,)}
    space = {name: make(rng.standard_normal(shape).astype("float32")) for name, shape in floats.items()}
    values = rng.standard_normal((256, 256)).astype("float32")
    space.update(few=make(np.array([1, 0, 2, 1])), rows=make(rng.integers(0, 1024, 64)), mask=make(rng.random((1024, 1024)) > 0.5),
                 p=make(np.abs(rng.standard_normal((1024, 1024))).astype("float32") + np.float32(0.1)),
                 g2=make(rng.standard_normal((1024, 1024)).astype("float32")), ints=make(rng.integers(0, 1000, 1 << 20)),
                 spd=make(values @ values.T + 256 * np.eye(256, dtype="float32")))
    return space


def library(kind):
    """(namespace of the cases, what waits for results) of a contestant."""
    if kind == "torch":
        import torch
        torch.set_grad_enabled(False)
        return {**arrays(torch.tensor), "torch": torch, "F": torch.nn.functional}, lambda: None
    if kind == "numpy":
        import numpy
        return {**arrays(lambda a: a.copy()), "np": numpy}, lambda: None
    from mxnet import np, npx
    npx.set_np()
    return {**arrays(lambda a: np.array(a, dtype=a.dtype)), "np": np}, npx.waitall


def contestant(kind, part):
    """Serves the cases that it can compute."""
    space, wait = library(kind)
    workloads = {}
    for name, own, other in PARTS[part]:
        text = other if kind == "torch" else own
        if not text:
            continue
        call = eval("lambda: " + text, space)   # noqa: S307  (the cases' own text)
        try:
            call()
            wait()
        except Exception as error:   # noqa: BLE001  (whatever a peer refuses, it does not take part in)
            print(f"{kind} {name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue

        def run(calls, call=call):
            for _ in range(calls):
                call()
            wait()
        workloads[name] = run
    serve(answers(), workloads, info=list(workloads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--wheel", help="interpreter with the 2.0 wheel")
    parser.add_argument("--numpy", default=sys.executable, help="interpreter with NumPy")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", help="names of cases")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    parser.add_argument("--contestant", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(*args.contestant)
    unknown = [p for p in args.parts.split(",") if p not in PARTS]
    if unknown:
        parser.error(f"--parts {unknown[0]}; accepted: {', '.join(PARTS)}")
    ours, plain = environments(args.clock, awake=True)
    runs = {"ours": (sys.executable, ours), "numpy": (args.numpy, plain)}
    runs.update({n: (python, plain) for n, python in (("torch", args.torch), ("wheel", args.wheel)) if python})
    only = args.only.split(",") if args.only else None
    figures = {}
    for part in args.parts.split(","):
        names = [c[0] for c in PARTS[part] if not only or c[0] in only]
        times = race(runs, __file__, lambda n: [n, part], names, args.rounds, args.clock)   # noqa: B023
        figures[part] = printed(part, times, list(runs)[1:], args.below)
    if args.json:
        report.save(args.json, {"mode": "numpy", "parts": figures})


if __name__ == "__main__":
    main()
