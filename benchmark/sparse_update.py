#!/usr/bin/env python3
"""Time of a step of a table of rows: the gradient of an embedding and the lazy update of the
touched rows, on the CPU, against 1.9.1's and PyTorch's, in turn.

    ./dev bench sparse_update [--oracle PYTHON] [--torch PYTHON] [--only NAME,...] [--large]
    [--rounds N] [--below RATIO] [--clock cpu] [--json FILE]

A name has the optimizer, rows x columns of the table, and how many ids a batch has. The ids are
drawn anew for each step from ten batches. PyTorch has sparse=True with SparseAdam, or SGD. Printed:
median microseconds, and how many times faster this library is than each (above 1: faster). --large
adds tables of ten times the rows, for which the time should be the same.
All use all processors as they see fit (OMP_NUM_THREADS for others), or with --clock cpu one each.
"""
import argparse
import sys

import report
from alternate import add_clock, answers, environments, printed, race, serve

ROWS, BATCHES = 1_000_000, 10


def cases(large):
    """name -> (optimizer, rows, columns, ids)"""
    found = {}
    for rows in (ROWS, 10 * ROWS) if large else (ROWS,):
        for optimizer in ("sgd", "adam"):
            for columns, ids in ((64, 1_000), (64, 20_000), (1, 20_000)):
                if rows > ROWS and optimizer == "adam" and columns > 1:
                    continue  # more memory than a small machine has
                found[f"{optimizer} {rows}x{columns} {ids}"] = optimizer, rows, columns, ids
    return found


def batches(rows, ids):
    import numpy as np
    rng = np.random.default_rng(0)
    return [rng.integers(0, rows, ids) for _ in range(BATCHES)]


def torch_step(optimizer, rows, columns, ids):
    import torch
    table = torch.nn.Embedding(rows, columns, sparse=True)
    kind = torch.optim.SparseAdam if optimizer == "adam" else torch.optim.SGD
    update = kind(list(table.parameters()), lr=.01)
    inputs = [torch.tensor(b) for b in batches(rows, ids)]

    def step(i):
        update.zero_grad(set_to_none=True)
        table(inputs[i % BATCHES]).sum().backward()
        update.step()
    return step, lambda: None


def mxnet_step(optimizer, rows, columns, ids):
    import mxnet as mx
    weight = mx.nd.zeros((rows, columns))
    weight.attach_grad(stype="row_sparse")
    update = mx.optimizer.get_updater(mx.optimizer.create(optimizer, learning_rate=.01))
    inputs = [mx.nd.array(b, dtype="int64") for b in batches(rows, ids)]

    def step(i):
        with mx.autograd.record():
            y = mx.nd.Embedding(inputs[i % BATCHES], weight, input_dim=rows, output_dim=columns, sparse_grad=True).sum()
        y.backward()
        update(0, weight.grad, weight)
    return step, mx.nd.waitall


def contestant(kind, name):
    """Serves one case."""
    step, wait = (torch_step if kind == "torch" else mxnet_step)(*cases(True)[name])

    def run(calls):
        for i in range(calls):
            step(i)
        wait()
    serve(answers(), {name: run}, info=[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--only", help="names of cases")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    parser.add_argument("--contestant", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(*args.contestant)
    ours, plain = environments(args.clock)
    runs = {"ours": (sys.executable, ours)}
    runs.update({n: (python, plain) for n, python in (("1.9.1", args.oracle), ("torch", args.torch)) if python})
    only = args.only.split(",") if args.only else None
    times = {}
    for name in cases(args.large):
        if not only or name in only:    # each in processes of its own: a table is large
            times.update(race(runs, __file__, lambda n, name=name: [n, name], [name], args.rounds, args.clock))
    figures = printed("step", times, list(runs)[1:], args.below)
    if args.json:
        report.save(args.json, {"mode": "sparse_update", "step": figures})


if __name__ == "__main__":
    main()
