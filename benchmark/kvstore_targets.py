"""Key-value stores beside their targets, each measured in turn with what it is compared with.

./dev bench kvstore_targets [--oracle python of 1.9.1] [--rounds 5]
                            [--only bits local loopback faster p3]

Run it on a machine that does nothing else; it takes less than five minutes. A line for each
target: what was measured, the target, and `ok` or `below`. Between processes, each round gives a
ratio of two jobs that ran one behind the other, and the median of these counts. The speed of a
shared machine changes by a third within minutes, so times of different rounds are not compared.

bits      dist_sync with 2 and 4 workers: the sums of two runs beside those in the order of the ranks
local     local and device between two CPU contexts: 100 MB beside copies of memory, 4 KB beside 20 us
loopback  dist_sync, push and pull, beside MPI's own ping-pong over TCP (mpicc compiles it)
faster    the stores of 1.9.1 (--oracle) in turn with ours
p3        dist_p3 beside dist_sync over slow links; this needs root, to make network namespaces
"""
import argparse
import contextlib
import hashlib
import io
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import kvstore
from alternate import Failed, die_with_parent, environments, ratio
from slow_links import slow_links

HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCH = [sys.executable, os.path.join(HERE, "..", "tools", "launch.py")]
SIZES = [4096, 8192, 65536, 1 << 20, 16 << 20, 100_000_000]
RESULT = "kvstore_targets: "
# The link and the network of p3: each layer's forward pass takes as long as its gradient's way.
LINK_MBIT, LAYERS, LAYER_BYTES, STEPS = 1600, 8, 4 << 20, 6


# ---- what the processes of a job run ----

def say(value):
    print(RESULT + json.dumps(value), flush=True)


def push_and_pull(sizes):
    """Microseconds of each push with a pull behind it, by bytes."""
    import mxnet as mx
    store, times = mx.kv.create("dist_sync"), {}
    for size in sizes:
        value, out = mx.nd.ones((size // 4,)), mx.nd.zeros((size // 4,))
        store.init(size, value)
        taken = []
        for _ in range(6 if size > 20_000_000 else 30 if size > 500_000 else 600):
            begin = time.perf_counter()
            store.push(size, value)
            store.pull(size, out=out)
            out.wait_to_read()
            taken.append((time.perf_counter() - begin) * 1e6)
        times[size] = taken
    if store.rank == 0:
        say(times)


def sums():
    """A digest of what three rounds give, and one of the sums in the order of the ranks."""
    import mxnet as mx
    store = mx.kv.create("dist_sync")
    got, right = hashlib.sha256(), hashlib.sha256()
    for key, size in enumerate((1000, 70_001, 1_500_000)):     # the last is split over the servers
        store.init(key, mx.nd.zeros((size,)))
        for step in range(3):
            values = [np.random.RandomState(100 * step + rank).randn(size).astype("float32") for rank in range(store.num_workers)]
            out = mx.nd.empty((size,))
            store.push(key, mx.nd.array(values[store.rank]))
            store.pull(key, out=out)
            got.update(out.asnumpy().tobytes())
            total = values[0]
            for value in values[1:]:
                total = total + value
            right.update(total.tobytes())
    say([got.hexdigest(), right.hexdigest()])


def steps_over_a_link(kind):
    """Seconds of each training step whose gradients cross the link."""
    import mxnet as mx
    store = mx.kv.create(kind)
    pause = LAYER_BYTES * 8 / (LINK_MBIT * 1e6)
    gradients = [mx.nd.ones((LAYER_BYTES // 4,)) for _ in range(LAYERS)]
    weights = [mx.nd.zeros((LAYER_BYTES // 4,)) for _ in range(LAYERS)]
    for key, gradient in enumerate(gradients):
        store.init(key, gradient)
    taken = []
    for _ in range(STEPS + 1):
        store._barrier()
        begin = time.perf_counter()
        for key in reversed(range(LAYERS)):           # backward
            store.pushpull(key, gradients[key], out=weights[key], priority=-key)
        for key in range(LAYERS):                     # forward
            weights[key].wait_to_read()
            time.sleep(pause)
        taken.append(time.perf_counter() - begin)
    if store.rank == 0:
        say(taken[1:])


# ---- jobs ----

def run(command, env=None, timeout=120):
    """The values that a command's processes say."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout, preexec_fn=die_with_parent)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: status {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return [json.JSONDecoder().raw_decode(said)[0] for said in done.stdout.split(RESULT)[1:]]     # ranks may share a line


def ours(workers, servers, program, *arguments, options=(), within=(), env=None):
    """What the workers of a job of this library say. `within` is a command that runs a command."""
    own = [sys.executable, os.path.abspath(__file__), "--contestant", program, *map(str, arguments)]
    return run([*within, *LAUNCH, "-n", str(workers), "-s", str(servers), *options, *own],
               env=dict(os.environ, OMP_NUM_THREADS="1", **(env or {})))


def of_oracle(python, program, *arguments):
    """Likewise of one worker and one server of 1.9.1."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    _, env = environments("wall", 1)
    env.update(DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(port), DMLC_NUM_WORKER="1", DMLC_NUM_SERVER="1")
    command = [python, os.path.abspath(__file__), "--contestant", program, *map(str, arguments)]
    others = [subprocess.Popen(command, env=dict(env, DMLC_ROLE=role), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=die_with_parent) for role in ("scheduler", "server")]
    try:
        return run(command, dict(env, DMLC_ROLE="worker"))
    finally:
        for process in others:
            process.kill()
            process.wait()


# ---- targets ----

class Report:
    """Lines, and whether all targets are reached."""
    def __init__(self):
        self.below = 0

    def line(self, what, found, ok, target):
        self.below += not ok
        print(f"{'ok   ' if ok else 'below'} {what}: {found}; target {target}", flush=True)


def bits(args, report):
    """dist_sync gives the sums in the order of the ranks."""
    for workers in (2, 4):
        said = [pair for _ in range(2) for pair in ours(workers, 2, "sums")]
        same = len(said) == 2 * workers and all(pair == said[0] and pair[0] == pair[1] for pair in said)
        report.line(f"dist_sync, {workers} workers, two runs", "the same bits" if same else f"other bits {said}", same,
                    "the bits of the sums in the order of the ranks")


def one_machine(args, report):
    """local and device beside copies, and beside 1.9.1 where it is asked for."""
    wanted = ["--bytes", "4096", "100000000", "--rounds", str(args.rounds + 2)]
    if "faster" in args.only and args.oracle:
        wanted += ["--oracle", args.oracle]
    options = kvstore.parse(wanted)
    with contextlib.redirect_stdout(io.StringIO()):
        times = kvstore.race(options)
    for name, seconds in times.items():
        kind, call, size = name.split()
        mine = statistics.median(seconds["ours"])
        if "local" in args.only and call == "push+pull":
            if size == "4096":
                report.line(f"{kind} push+pull of 4 KB", f"{1e6 * mine:.1f} us", mine < 20e-6, "less than 20 us")
            else:
                share = kvstore.share_of_copies(seconds, name, options.devices)
                report.line(f"{kind} push+pull of 100 MB", f"{1e3 * mine:.1f} ms, {100 * share:.0f} % of the speed of copies", share >= 0.8,
                            "at least 80 %")
        if "1.9.1" in seconds:
            times_as_fast = ratio(seconds, "1.9.1", "ours")
            report.line(f"{kind} {call} of {size} bytes", f"{times_as_fast:.2f} times as fast as 1.9.1", times_as_fast > 1, "more than 1")


def undisturbed(times):
    """The lower quartile: others on the machine only add time, and they add it to some calls."""
    return statistics.quantiles(times, n=4)[0]


def by_rounds(rounds, size):
    """A time of each round's calls with this many bytes."""
    return [undisturbed(times[str(size)]) for times in rounds]


def paired(others, mine):
    """Of the ratios of each round: the median, the lowest and the highest."""
    ratios = [other / own for other, own in zip(others, mine)]
    return statistics.median(ratios), min(ratios), max(ratios)


def between_processes(args, report):
    """dist_sync over TCP beside MPI, and as it is beside 1.9.1; jobs take turns."""
    tcp = ["--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "ping_pong")
        subprocess.run(["mpicc", "-O2", "-o", program, os.path.join(HERE, "mpi_ping_pong.c")], check=True)
        mpi = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", *tcp, "-n", "2", program, *map(str, SIZES)]
        takers = {}
        if "loopback" in args.only:
            takers["mpi"] = lambda: json.loads(subprocess.run(mpi, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
            takers["tcp"] = lambda: ours(1, 1, "push_and_pull", *SIZES, options=tcp)[0]
        if "faster" in args.only and args.oracle:
            takers["1.9.1"] = lambda: of_oracle(args.oracle, "push_and_pull", *SIZES)[0]
            takers["ours"] = lambda: ours(1, 1, "push_and_pull", *SIZES)[0]
        rounds = {name: [] for name in takers}
        for _ in range(args.rounds):
            for name, take in takers.items():
                rounds[name].append(take())
    for size in SIZES:
        if "mpi" in rounds:
            mpi, tcp = by_rounds(rounds["mpi"], size), by_rounds(rounds["tcp"], size)
            share, low, high = paired(mpi, tcp)
            report.line(f"dist_sync push+pull of {size} bytes over TCP", f"{statistics.median(tcp):.0f} us, MPI's ping-pong "
                        f"{statistics.median(mpi):.0f} us: {100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)",
                        share >= 0.7, "at least 70 %")
    for size in SIZES:
        if "1.9.1" in rounds:
            mine = by_rounds(rounds["ours"], size)
            share, _, _ = paired(by_rounds(rounds["1.9.1"], size), mine)
            report.line(f"dist_sync push+pull of {size} bytes", f"{statistics.median(mine):.0f} us, {share:.2f} times as fast as 1.9.1",
                        share > 1, "more than 1")


def over_slow_links(args, report):
    """dist_p3 beside dist_sync, each process behind a slow link of its own."""
    if os.geteuid() != 0:
        return print("      p3 was left out: it needs root")
    seconds = {kind: [] for kind in ("dist_sync", "dist_p3")}
    with slow_links(3, LINK_MBIT) as (options, within, env):
        for _ in range(max(1, args.rounds // 2)):
            for kind, taken in seconds.items():
                taken += ours(2, 1, "steps_over_a_link", kind, options=options, within=within, env=env)[0]
    plain, slices = (statistics.median(taken) for taken in seconds.values())
    report.line("a step over slow links", f"{slices:.2f} s with dist_p3, {plain:.2f} s with dist_sync: {100 * (1 - slices / plain):.0f} % "
                "shorter", slices <= 0.8 * plain, "at least 20 %")


TARGETS = {"bits": bits, "local": one_machine, "loopback": between_processes, "faster": None, "p3": over_slow_links}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--contestant", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        program, *rest = args.contestant
        {"push_and_pull": lambda: push_and_pull([int(n) for n in rest]), "sums": sums,
         "steps_over_a_link": lambda: steps_over_a_link(*rest)}[program]()
        return 0
    report = Report()
    measured = [TARGETS[name] for name in args.only if TARGETS[name]]
    if "faster" in args.only:
        measured += [m for m in (one_machine, between_processes) if m not in measured]
    try:
        for measure in measured:
            measure(args, report)
    except (Failed, subprocess.CalledProcessError) as error:
        raise SystemExit(f"kvstore_targets: {error}")
    return 1 if report.below else 0


if __name__ == "__main__":
    sys.exit(main())
