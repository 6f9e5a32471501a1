"""Stores of one machine beside 1.9.1 and beside copies of memory.

./dev bench kvstore [--oracle python of 1.9.1] [--types local device] [--devices 2] [--rounds 9]
                    [--bytes 4096 1048576 100000000] [--clock cpu]

A call sums one value of each CPU context and brings the sum back to each context: with push and
pull, and with pushpull. It waits for the results. The contestant `copy` copies an array of the same
size, on all cores; it has no threads to hand over to for less than 1 MB. Contestants take turns.

The last column compares the bytes that a call reads and writes per second with those of the copy:
values are read and results written once, and what is stored is written once, and read by a pull.
"""
import argparse
import ctypes
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from alternate import Contestant, Failed, add_clock, alternate, answers, environments, ratio, repeat, serve

OPERATIONS = ("push+pull", "pushpull")
SECONDS = 0.1   # of a contestant in a round, about


def arrays_touched(operation, devices):
    """Arrays that a call reads and writes."""
    return 2 * devices + (2 if operation == "push+pull" else 1)


def workload_names(args):
    return [f"{kind} {operation} {size}" for kind in args.types for operation in OPERATIONS for size in args.bytes]


def step(mx, name, devices):
    """A function of one call, and one that gives a result."""
    kind, operation, size = name.split()
    shape = (int(size) // 4,)
    store = mx.kv.create(kind)
    store.init("w", mx.nd.zeros(shape))
    contexts = [mx.cpu(i) for i in range(devices)]
    values = [mx.nd.ones(shape, ctx=c) * (i + 1) for i, c in enumerate(contexts)]
    outs = [mx.nd.zeros(shape, ctx=c) for c in contexts]

    def call():
        if operation == "pushpull":
            store.pushpull("w", values, out=outs)
        else:
            store.push("w", values)
            store.pull("w", out=outs)
        mx.nd.waitall()
    return call, lambda: float(outs[-1].asnumpy().sum(dtype="float64"))


def copy(size):
    """A function that copies so many bytes, a part on each core."""
    threads = os.cpu_count() if size >= 1 << 20 else 1
    source, target = np.ones(size, "uint8"), np.ones(size, "uint8")
    edges = [size * i // threads // 64 * 64 for i in range(threads)] + [size]
    parts = [(target.ctypes.data + a, source.ctypes.data + a, b - a) for a, b in zip(edges, edges[1:])]
    pool = ThreadPoolExecutor(threads)

    def call():
        if threads == 1:
            ctypes.memmove(*parts[0])
        else:
            list(pool.map(lambda part: ctypes.memmove(*part), parts))
        return source, target      # alive as long as this function
    return call


def contestant(args):
    send = answers()
    if args.kind == "copy":
        serve(send, {name: repeat(copy(int(name.split()[-1]))) for name in args.names})
        return
    import mxnet as mx
    calls, results = {}, {}
    for name in args.names:
        call, result = step(mx, name, args.devices)
        call()
        calls[name], results[name] = repeat(call), result()
    serve(send, calls, {"results": results})


def calls_of(running, names):
    """Calls of each contestant in a round, from the time of a few."""
    return {name: {c.name: max(1, min(2000, int(SECONDS / max(1e-7, c.time(name, 3, 2)[0])))) for c in running} for name in names}


def share_of_copies(seconds, name, devices):
    """Bytes that a call reads and writes per second, of what a copy reads and writes."""
    return ratio(seconds, "copy", "ours") * arrays_touched(name.split()[1], devices) / 2   # a copy reads one array and writes one


def table(times, args):
    oracle = "1.9.1" if args.oracle else None
    print(f"{args.devices} CPU contexts; microseconds of a call, median of {args.rounds} rounds")
    print("| store | call | bytes | ours | 1.9.1 | ours is faster | of the speed of copies |\n|---|---|---|---|---|---|---|")
    for name, seconds in times.items():
        kind, operation, size = name.split()
        ours = statistics.median(seconds["ours"])
        other = [f"{1e6 * statistics.median(seconds[oracle]):.1f}", f"{ratio(seconds, oracle, 'ours'):.2f} x"] if oracle else ["", ""]
        share = share_of_copies(seconds, name, args.devices)
        print(f"| {kind} | {operation} | {size} | {1e6 * ours:.1f} | {other[0]} | {other[1]} | {100 * share:.0f} % |")


def race(args):
    """Seconds of a call by name and contestant."""
    ours, plain = environments(args.clock)
    names = workload_names(args)
    entries = {"ours": (sys.executable, "store", ours), "copy": (sys.executable, "copy", ours)}
    if args.oracle:
        entries["1.9.1"] = args.oracle, "store", plain
    running = []
    try:
        for name, (python, kind, env) in entries.items():
            running.append(Contestant(name, python, __file__, ["--kind", kind, "--devices", str(args.devices), "--names", *names], env))
            running[-1].ready()
        results = {c.name: c.info["results"] for c in running if "results" in c.info}
        if any(r != results["ours"] for r in results.values()):
            raise Failed(f"sums differ: {results}")
        return alternate(running, calls_of(running, names), args.rounds, args.clock, settle=1)
    finally:
        for c in running:
            c.end()


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--types", nargs="+", default=["local", "device"])
    parser.add_argument("--bytes", type=int, nargs="+", default=[4096, 1 << 20, 100_000_000])
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    add_clock(parser)
    for hidden in ("--kind", "--names"):
        parser.add_argument(hidden, nargs="+" if hidden == "--names" else None, help=argparse.SUPPRESS)
    parser.add_argument("--contestant", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main():
    args = parse()
    if args.contestant:
        contestant(args)
    else:
        table(race(args), args)


if __name__ == "__main__":
    main()
