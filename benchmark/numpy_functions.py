#!/usr/bin/env python3
"""Time of mx.np functions on the CPU against NumPy's, PyTorch's and the 2.0 wheel's, in turn.

    ./dev bench numpy [--torch PYTHON] [--wheel PYTHON] [--numpy PYTHON] [--parts calls,large]
    [--only NAME,...] [--rounds N] [--below RATIO] [--json FILE]

`calls`: the price of a call, on arrays of 20 numbers; `large`: arrays of a million. Printed: median
microseconds, and how many times faster this library is than each (above 1: faster); --below leaves
out what is at least that much faster than all. NumPy is that of this interpreter, or of --numpy.
All use all processors as they see fit (OMP_NUM_THREADS for others).
"""
import argparse
import statistics
import sys

import report
from alternate import Contestant, Failed, alternate, answers, environments, ratio, serve
from numpy_cases import PARTS


def arrays(make):
    """The namespace of the cases. make(NumPy array) -> array of the same dtype."""
    import numpy as np
    rng = np.random.default_rng(0)
    floats = {"a": (4, 5), "b": (4, 5), "v": (5,), "g": (1024, 1024), "h": (1024, 1024), "row": (1, 1024), "flat": (1 << 20,),
              "stack": (64, 128, 128)}
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


def race(runs, part, only, rounds):
    """Seconds of the workloads by workload and contestant."""
    contestants = [Contestant(n, python, __file__, [n, part], env) for n, (python, env) in runs.items()]
    try:
        said = {c.name: c.ready() for c in contestants}
        calls = {}
        for w in [c[0] for c in PARTS[part] if (not only or c[0] in only) and c[0] in said["ours"]]:
            takers = [c for c in contestants if w in said[c.name]]
            once = max(c.time(w, 1, 2)[0] for c in takers)
            calls[w] = {c.name: max(1, min(2000, int(0.02 / once))) for c in takers}
        return alternate(contestants, calls, rounds, settle=2)
    except Failed as error:
        raise SystemExit(f"numpy: {error}")
    finally:
        for c in contestants:
            c.end()


def printed(part, times, others, below):
    """Prints a part's table and returns its figures."""
    figures = {}
    print(f"{part:24}{'ours us':>12}" + "".join(f"{n + ' us':>12}{'ratio':>8}" for n in others))
    for w, t in times.items():
        taken = {n: ratio(t, n, "ours") for n in others if n in t}
        figures[w] = {"us": {n: statistics.median(t[n]) * 1e6 for n in t}, "times_as_fast": taken}
        if not taken or min(taken.values()) < below:
            cells = [f"{figures[w]['us'][n]:12.2f}{taken[n]:8.2f}" if n in taken else " " * 20 for n in others]
            print(f"{w:24}{figures[w]['us']['ours']:12.2f}" + "".join(cells))
    for n in others:
        rates = [f["times_as_fast"][n] for f in figures.values() if n in f["times_as_fast"]]
        if rates:
            print(f"{n}: median {statistics.median(rates):.2f}, {sum(r < 0.97 for r in rates)} of {len(rates)} slower")
    print()
    return figures


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
    parser.add_argument("--contestant", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(*args.contestant)
    unknown = [p for p in args.parts.split(",") if p not in PARTS]
    if unknown:
        parser.error(f"--parts {unknown[0]}; accepted: {', '.join(PARTS)}")
    ours, plain = environments("wall")
    runs = {"ours": (sys.executable, ours), "numpy": (args.numpy, plain)}
    runs.update({n: (python, plain) for n, python in (("torch", args.torch), ("wheel", args.wheel)) if python})
    only = args.only.split(",") if args.only else None
    figures = {part: printed(part, race(runs, part, only, args.rounds), list(runs)[1:], args.below) for part in args.parts.split(",")}
    if args.json:
        report.save(args.json, {"mode": "numpy", "parts": figures})


if __name__ == "__main__":
    main()
