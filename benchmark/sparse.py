#!/usr/bin/env python3
"""Time of operators on sparse arrays against 1.9.1's, SciPy's and PyTorch's, in turn.

    ./dev bench sparse [--oracle PYTHON] [--scipy PYTHON] [--torch PYTHON] [--parts dot,kept,rows]
    [--only NAME,...] [--large] [--rounds N] [--below RATIO] [--clock cpu] [--ctx gpu]
    [--json FILE]

`dot`: a csr matrix, or its transpose, times a dense one; a name has the density in percent and the
number of columns. `kept`: products that keep only what elements take part in, csr transposed times
dense as row_sparse, and dense times csr as csr. `rows`: sums of row_sparse arrays. Printed: median
microseconds, and how many times faster this library is than each (above 1: faster). --large adds
matrices of a million rows.
All use all processors as they see fit (OMP_NUM_THREADS for others), or with --clock cpu one each.
With --ctx gpu this library and PyTorch compute on the first GPU; it takes a build with CUDA.
"""
import argparse
import functools
import sys

import numpy as np
import report
from alternate import add_clock, answers, environments, printed, race, serve

DENSITIES, COLUMNS = (0.1, 1, 10), (1, 8, 64, 512)
ROWS, INNER = 10_000, 10_000
LARGE = (1_000_000, 100_000, 0.01)  # rows, columns, percent
KEPT = ((10_000, 10_000, 1), (1_000, 10_000, 0.1), (1_024, 100_000, 0.1), (512, 1_000_000, 0.01))
SUMS = ((100_000, 64, 0.5), (100_000, 64, 0.05), (1_000_000, 1, 0.5), (20_000, 512, 0.5))


def dots(large):
    """name -> (rows, columns, percent, columns of the dense matrix, transposed)"""
    sizes = [(ROWS, INNER, d) for d in DENSITIES] + ([LARGE] if large else [])
    return {f"{'csrT' if t else 'csr'} {rows}x{inner} {d:g}% {n}": (rows, inner, d, n, t)
            for rows, inner, d in sizes for n in COLUMNS for t in (False, True)
            if rows == ROWS or n <= 64}


def sums():
    """name -> (operands, rows, columns, share of stored rows)"""
    return {f"{'add' if k == 2 else 'add_n'} {r}x{c} {p:g}": (k, r, c, p)
            for r, c, p in SUMS for k in (2, 3)}


def kept():
    """name -> (rows, columns, percent, columns of the dense matrix, is it on the left?)"""
    return {f"{'dense*csr' if left else 'csrT'} {rows}x{inner} {d:g}% {n}": (rows, inner, d, n, left)
            for rows, inner, d in KEPT for n in (1, 8, 64) for left in (False, True)}


# Who takes no part: SciPy has no row_sparse arrays, and results of its products are dense, as are
# those of torch.
ABSENT = {"rows": ("scipy",), "kept": ("scipy", "torch")}
PARTS = {"dot": dots, "kept": lambda large: kept(), "rows": lambda large: sums()}


def random_csr(rows, columns, percent):
    """(values, columns, ends of rows), about evenly filled."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(columns * percent / 100, rows)
    ends = np.concatenate([[0], np.cumsum(counts)]).astype("int64")
    step = columns / np.maximum(np.repeat(counts, counts), 1)
    place = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    first, behind = ((place + k) * step + 1e-6 for k in (0, 1))  # each column once in a row
    first = first.astype("int64")
    index = first + (rng.random(ends[-1]) * (behind.astype("int64") - first)).astype("int64")
    return rng.standard_normal(ends[-1]).astype("float32"), index, ends


def torch_on(device):
    """PyTorch, where its tensors are, and what waits for them."""
    import torch
    if device == "gpu":
        return torch, torch.device("cuda"), torch.cuda.synchronize
    return torch, torch.device("cpu"), lambda: None


def mxnet_on(device):
    """This library or 1.9.1, with a default context."""
    import mxnet as mx
    mx.Context._default_ctx.value = mx.gpu(0) if device == "gpu" else mx.cpu(0)
    return mx


@functools.lru_cache(maxsize=None)
def matrix_of(kind, device, rows, inner, percent):
    """The same matrix in a library."""
    values, index, ends = random_csr(rows, inner, percent)
    if kind == "scipy":
        import scipy.sparse
        return scipy.sparse.csr_matrix((values, index.astype("int32"), ends.astype("int32")),
                                       shape=(rows, inner))
    if kind == "torch":
        torch, place, _ = torch_on(device)
        return torch.sparse_csr_tensor(torch.tensor(ends), torch.tensor(index),
                                       torch.tensor(values), (rows, inner)).to(place)
    mx = mxnet_on(device)
    return mx.nd.sparse.csr_matrix((values, index, ends), shape=(rows, inner))


def dot_call(kind, device, rows, inner, percent, columns, transposed):
    """A function of nothing that computes one product, and what waits for it."""
    matrix = matrix_of(kind, device, rows, inner, percent)
    right = np.ones((rows if transposed else inner, columns), "float32")
    if kind == "scipy":
        return (lambda: matrix.T @ right) if transposed else (lambda: matrix @ right), lambda: None
    if kind == "torch":
        torch, place, wait = torch_on(device)
        matrix, right = matrix.t() if transposed else matrix, torch.tensor(right, device=place)
        return (lambda: matrix @ right), wait
    mx = mxnet_on(device)
    right = mx.nd.array(right)
    return (lambda: mx.nd.dot(matrix, right, transpose_a=transposed,
                              forward_stype="default")), mx.nd.waitall


def kept_call(kind, device, rows, inner, percent, columns, left):
    """The same of one product whose result is sparse."""
    mx, matrix = mxnet_on(device), matrix_of(kind, device, rows, inner, percent)
    dense = mx.nd.ones((columns, rows) if left else (rows, columns))
    if left:
        return (lambda: mx.nd.dot(dense, matrix)), mx.nd.waitall
    return (lambda: mx.nd.dot(matrix, dense, transpose_a=True)), mx.nd.waitall


def rows_call(kind, device, count, rows, columns, share):
    """The same of one sum of row_sparse arrays."""
    rng = np.random.default_rng(0)
    stored = [np.flatnonzero(rng.random(rows) < share) for _ in range(count)]
    values = [rng.standard_normal((len(s), columns)).astype("float32") for s in stored]
    if kind == "torch":
        torch, place, wait = torch_on(device)
        arrays = [torch.sparse_coo_tensor(torch.tensor(s[None]), torch.tensor(v), (rows, columns))
                  .to(place).coalesce() for s, v in zip(stored, values)]
        return (lambda: sum(arrays[1:], arrays[0]).coalesce()), wait
    mx = mxnet_on(device)
    arrays = [mx.nd.sparse.row_sparse_array((v, s), shape=(rows, columns))
              for s, v in zip(stored, values)]
    if count == 2:
        return (lambda: mx.nd.elemwise_add(*arrays)), mx.nd.waitall
    return (lambda: mx.nd.add_n(*arrays)), mx.nd.waitall


def contestant(kind, part, large, device):
    """Serves the cases that it can compute; arrays are made when a case is first asked for."""
    workloads = {}
    make = {"dot": dot_call, "kept": kept_call, "rows": rows_call}[part]
    for name, sizes in PARTS[part](large == "1").items():
        if kind == "1.9.1" and part == "dot" and sizes[0] * sizes[1] >= 2**31:
            continue    # its wheel refuses shapes of so many elements
        made = functools.lru_cache(maxsize=None)(functools.partial(make, kind, device, *sizes))

        def run(calls, made=made):
            call, wait = made()
            for _ in range(calls):
                call()
            wait()
        workloads[name] = run
    serve(answers(), workloads, info=list(workloads))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--scipy", help="interpreter with SciPy")
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", help="names of cases")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--ctx", choices=("cpu", "gpu"), default="cpu")
    add_clock(parser)
    parser.add_argument("--contestant", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(*args.contestant)
    unknown = [p for p in args.parts.split(",") if p not in PARTS]
    if unknown:
        parser.error(f"--parts {unknown[0]}; accepted: {', '.join(PARTS)}")
    ours, plain = environments(args.clock)
    runs = {"ours": (sys.executable, ours)}
    runs.update({n: (python, plain) for n, python in
                 (("1.9.1", args.oracle), ("scipy", args.scipy), ("torch", args.torch))
                 if python and (args.ctx == "cpu" or n == "torch")})
    only = args.only.split(",") if args.only else None
    figures = {}
    for part in args.parts.split(","):
        names = [n for n in PARTS[part](args.large) if not only or n in only]
        takers = {n: r for n, r in runs.items() if n not in ABSENT.get(part, ())}
        rest = [part, str(int(args.large)), args.ctx]
        times = race(takers, __file__, lambda n: [n, *rest],  # noqa: B023
                     names, args.rounds, args.clock)
        figures[part] = printed(part, times, list(takers)[1:], args.below)
    if args.json:
        report.save(args.json, {"mode": "sparse", "ctx": args.ctx, "parts": figures})


if __name__ == "__main__":
    main()
